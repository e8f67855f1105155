"""`infer`: one call of one model, its reply judged against the schema where there is one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nika_nb import values
from nika_nb.engine.contract import Call, Reply, Usage
from nika_nb.errors import Fault
from nika_nb.providers.base import ChatReply, ChatRequest, Provider
from nika_nb.providers.mock import Mock
from nika_nb.tools.base import as_text


class Infer:
    """Runs `infer` bodies; `model` stands in for a task without its own."""

    def __init__(self, model: str | None = None, providers: Mapping[str, Provider] | None = None) -> None:
        self._model = model
        self._providers: dict[str, Provider] = {"mock": Mock(), **(providers or {})}

    async def run(self, call: Call) -> Reply:
        """The reply: text, or a value where a schema is declared. Raises Fault NIKA-INFER-001/-002/-004."""
        full = str(call.body.get("model") or self._model or "")
        provider, name = self._choose(full)
        request = _request(name, call.body)
        call.witness(None)
        reply = await provider.chat(request)
        return Reply(_output(reply, request), usage=_usage(full, reply))

    def _choose(self, full: str) -> tuple[Provider, str]:
        prefix, slash, name = full.partition("/")
        if not full:
            why = "the task names no model; write `model: <provider>/<name>` here or in the envelope"
        elif not slash or not name:
            why = f"`{full}` names no provider; write it as `<provider>/{full}`"
        elif prefix in self._providers:
            return self._providers[prefix], name
        else:
            known = ", ".join(self._providers)
            why = f"the provider `{prefix}` is not built in yet ({known} is); try it with `--model mock/echo`"
        raise Fault("NIKA-INFER-001", why, details={"model": full}, transient=False)


def _request(name: str, body: Mapping[str, Any]) -> ChatRequest:
    temperature = body.get("temperature")
    return ChatRequest(
        model=name,
        prompt=as_text(body["prompt"], "`prompt:`"),
        system=as_text(body["system"], "`system:`") if body.get("system") is not None else None,
        temperature=float(temperature) if temperature is not None else None,
        max_tokens=body.get("max_tokens"),
        schema=body.get("schema"),
        thinking=body.get("thinking"),
        vision=tuple(body.get("vision") or ()),
    )


def _output(reply: ChatReply, request: ChatRequest) -> Any:
    if request.schema is None:
        return reply.text
    try:
        value = values.loads(reply.text)
    except (ValueError, RecursionError) as error:
        raise _misfit(f"it is not JSON ({error})", reply.text) from None
    trouble = _trouble(request.schema, value)
    if trouble:
        raise _misfit(trouble, reply.text)
    return value


def _trouble(schema: dict[str, Any], value: Any) -> str | None:
    """Why a value does not fit, or None."""
    import jsonschema_rs

    try:
        error = next(jsonschema_rs.validator_for(schema).iter_errors(value), None)
    except (ValueError, jsonschema_rs.ValidationError) as broken:
        return f"the schema itself cannot be used: {broken}"
    if error is None:
        return None
    place = "/".join(str(step) for step in error.instance_path)
    return f"{error.message}" + (f" (at {place})" if place else "")


def _misfit(why: str, text: str) -> Fault:
    return Fault(
        "NIKA-INFER-002",
        f"the model's reply does not fit the schema: {why}",
        details={"reply": text[:2000]},
    )


def _usage(full: str, reply: ChatReply) -> Usage:
    return Usage(
        input_tokens=reply.input_tokens,
        output_tokens=reply.output_tokens,
        cost_usd=reply.cost_usd,
        unpriced=reply.unpriced,
        model=full,
    )
