"""`infer`: one question to one model, its reply judged against the schema where there is one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nika_nb.engine.contract import Call, Reply
from nika_nb.errors import Fault
from nika_nb.language.model import Permits
from nika_nb.providers.base import ChatReply, ChatRequest, Message, Thinking
from nika_nb.tools.base import Use, as_text
from nika_nb.verbs import body
from nika_nb.verbs.models import Model, Models
from nika_nb.verbs.pictures import pictures
from nika_nb.verbs.structured import Fit, fitting
from nika_nb.verbs.talk import pump


class Infer:
    """Runs `infer` bodies under one boundary."""

    def __init__(self, models: Models, permits: Permits | None = None) -> None:
        self._models = models
        self._permits = permits

    async def run(self, call: Call) -> Reply:
        """The reply: text, or a value where a schema is declared. Raises Fault NIKA-INFER-001 to -004."""
        model = self._models.choose(call.body.get("model"))
        schema = call.body.get("schema")
        fit = Fit(schema) if schema is not None else None
        request = await self._request(call, model)
        call.witness(None)

        async def ask(request: ChatRequest) -> ChatReply:
            reply = await model.ask(request, call)
            if model.unbilled(reply):
                raise _unbilled(model)
            return reply

        return Reply(await pump(fitting(request, fit, call.affords), ask))

    async def _request(self, call: Call, model: Model) -> ChatRequest:
        written = call.body
        shown = await pictures(Use(call, self._permits), written.get("vision") or ())
        return ChatRequest(
            model=model.name,
            messages=(Message("user", as_text(written["prompt"], "`prompt:`"), shown),),
            system=body.text(written, "system"),
            temperature=body.temperature(written),
            max_tokens=body.whole(written, "max_tokens"),
            schema=written.get("schema"),
            thinking=_thinking(written.get("thinking")),
        )


def _thinking(written: Mapping[str, Any] | None) -> Thinking | None:
    if not written or written.get("enabled") is False:
        return None
    return Thinking(body.whole(written, "budget_tokens"))


def _unbilled(model: Model) -> Fault:
    return Fault(
        "NIKA-INFER-003",
        f"`{model.full}` has a price, and its provider did not say what the call used: what it cost is not "
        "known, so its reply is not taken",
        details={"model": model.full},
    )
