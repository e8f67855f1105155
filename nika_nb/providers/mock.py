"""The mock provider: no network, no bill, the same answer every time; for tests and rehearsals.

`echo`             gives the prompt back; with a schema, the smallest value that has its shape
`mock-deterministic`  the same by its longer name
`mock-error`       fails, as configured
`mock-streaming`   says a configured text piece by piece
`mock-json`        the smallest value that has a configured shape

What is configured stands in the file of NIKA_NB_MOCK: see `catalog.providers.MOCKED`.
"""

from __future__ import annotations

import asyncio
import re
from typing import Any

from nika_nb.catalog.providers import MOCKS, is_no_mock
from nika_nb.errors import Fault
from nika_nb.providers.base import ChatReply, ChatRequest, Say, ToolCall
from nika_nb.providers.rehearsal import prices, rehearsed
from nika_nb.providers.sample import smallest
from nika_nb.values import dumps, nearest

# With tools at hand it calls the first of them so often, and then answers: enough to use up a
# small budget of turns, and to come to an end within the usual one.
CALLS = 2

_CHARACTERS_PER_TOKEN = 4


class Mock:
    """Answers from the request alone, so that two runs are alike."""

    async def chat(self, request: ChatRequest, say: Say) -> ChatReply:
        if is_no_mock(model := f"mock/{request.model}"):
            hint = nearest(model, MOCKS) or f"there are {', '.join(MOCKS)}"
            raise Fault("NIKA-INFER-001", f"there is no mock model `{model}`; {hint}", transient=False)
        price = prices().get(model)
        await asyncio.sleep((rehearsed("delay_ms") or 0) / 1000)
        if request.model == "mock-error":
            raise _error(rehearsed("error") or {})
        text = _text(request)
        for piece in _pieces(request, text):
            say(piece)
        calls = _calls(request)
        asked = "".join([request.system or "", *(message.text for message in request.messages)])
        said = "".join([text, *(dumps(call.arguments) for call in calls)])
        usage = _tokens(asked), _tokens(said)
        return ChatReply(text, *usage, calls, price.of(*usage) if price is not None else None)


def _text(request: ChatRequest) -> str:
    if request.model == "mock-json":
        configured = rehearsed("json")
        return dumps(smallest((request.schema or {"type": "object"}) if configured is None else configured))
    if request.model == "mock-streaming" and (configured := rehearsed("streaming")) is not None:
        return "".join(configured)
    if request.schema is not None and not _calls(request):
        return dumps(smallest(request.schema))
    return f"mock({request.model}) · {request.prompt}"


def _pieces(request: ChatRequest, text: str) -> list[str]:
    """What is shown while it comes: only `mock-streaming` takes its time."""
    if request.model != "mock-streaming":
        return []
    configured = rehearsed("streaming")
    return configured if isinstance(configured, list) else re.findall(r"\S+\s*|\s+", text)


def _calls(request: ChatRequest) -> tuple[ToolCall, ...]:
    """The first granted tool, with the smallest arguments that fit it."""
    made = sum(1 for message in request.messages if message.calls)
    if not request.tools or made >= CALLS:
        return ()
    tool = request.tools[0]
    arguments = smallest(tool.parameters)
    return (ToolCall(f"call-{made + 1}", tool.name, arguments if isinstance(arguments, dict) else {}),)


def _error(configured: dict[str, Any]) -> Fault:
    return Fault(
        configured.get("code", "NIKA-INFER-001"),
        configured.get("message", "`mock/mock-error` answered with its error, as it always does"),
        details={"provider": "mock", "model": "mock-error"},
        transient=configured.get("transient"),
    )


def _tokens(text: str) -> int:
    return -(-len(text) // _CHARACTERS_PER_TOKEN)
