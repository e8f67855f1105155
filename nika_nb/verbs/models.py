"""Which provider answers for a model, and what a call of it cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nika_nb.catalog import prices
from nika_nb.catalog.providers import split_model
from nika_nb.engine.contract import Call, Usage
from nika_nb.errors import Fault
from nika_nb.providers import registry
from nika_nb.providers.base import ChatReply, ChatRequest, Provider

# What a priced model cost when its provider does not say what it used: not known, and not zero.
UNCOUNTED = "usage_unreported"


@dataclass(frozen=True, slots=True)
class Model:
    """A model and who serves it. full: as written, with its provider; name: without it."""

    full: str
    name: str
    provider: Provider

    async def ask(self, request: ChatRequest, call: Call) -> ChatReply:
        """The reply; what it cost is counted at once. Raises Fault NIKA-INFER-001."""
        reply = await self.provider.chat(request, lambda text: call.show("model", text))
        call.spend(self._usage(reply))
        return reply

    def unbilled(self, reply: ChatReply) -> bool:
        """Whether a priced call came back without what it is billed by."""
        return prices.price_of(self.full) is not None and reply.cost_usd is None and not reply.counted

    def _usage(self, reply: ChatReply) -> Usage:
        cost = self._cost(reply)
        unpriced = None
        if cost is None:
            unpriced = UNCOUNTED if self.unbilled(reply) else prices.why_unpriced(self.full)
        return Usage(reply.input_tokens, reply.output_tokens, cost, unpriced, self.full)

    def _cost(self, reply: ChatReply) -> float | None:
        if reply.cost_usd is not None or reply.input_tokens is None or reply.output_tokens is None:
            return reply.cost_usd
        return prices.cost_of(self.full, reply.input_tokens, reply.output_tokens)


class Models:
    """The models of one run.

    default: stands in for a task without its own. providers: beside the built-in ones.
    """

    def __init__(self, default: str | None = None, providers: Mapping[str, Provider] | None = None) -> None:
        self._default = default
        self._made: dict[str, Provider] = dict(providers or {})

    def choose(self, written: Any) -> Model:
        """The model of a task. Raises Fault NIKA-INFER-001 where nobody serves it."""
        full = str(written or self._default or "")
        prefix, name = split_model(full)
        if not full:
            why = "the task names no model; write `model: <provider>/<name>` here or in the envelope"
        elif not prefix or not name:
            why = f"`{full}` names no provider; write it as `<provider>/{name or prefix}`"
        else:
            provider = self._provider(prefix)
            if provider is not None:
                return Model(full, name, provider)
            known = ", ".join({**self._made, **dict.fromkeys(registry.known())})
            why = (
                f"the provider `{prefix}` is not built in yet ({known} is); try it with the model `mock/echo`"
            )
        raise Fault("NIKA-INFER-001", why, details={"model": full}, transient=False)

    def _provider(self, prefix: str) -> Provider | None:
        maker = registry.MAKERS.get(prefix)
        if prefix not in self._made and maker is not None:
            self._made[prefix] = maker()
        return self._made.get(prefix)
