"""The mock provider: no network, no bill, the same answer every time; for tests and rehearsals.

`echo`             gives the prompt back; with a schema, the smallest value that has its shape
`mock-deterministic`  the same by its longer name
`mock-error`       fails, as configured
`mock-streaming`   says a configured text piece by piece
`mock-json`        the smallest value that has a configured shape

What is configured stands in the JSON file that NIKA_NB_MOCK names, under `error` ({code, message,
transient}), `streaming` (a text or a list of pieces) and `json` (a schema). To rehearse a bill and a
wait: `prices` ({echo: {input, output}}, USD per million tokens) and `delay_ms`, the time of a reply.
"""

from __future__ import annotations

import asyncio
import math
import re
from typing import Any

from nika_nb.catalog.prices import Price
from nika_nb.errors import Fault
from nika_nb.files import plain_bytes
from nika_nb.providers.base import ChatReply, ChatRequest, Say, ToolCall
from nika_nb.providers.sample import smallest
from nika_nb.settings import Settings
from nika_nb.values import dumps, loads

# With tools at hand it calls the first of them so often, and then answers: enough to use up a
# small budget of turns, and to come to an end within the usual one.
CALLS = 2

_CHARACTERS_PER_TOKEN = 4

_RATES = {"input", "output"}


class Mock:
    """Answers from the request alone, so that two runs are alike."""

    async def chat(self, request: ChatRequest, say: Say) -> ChatReply:
        price = prices().get(f"mock/{request.model}")
        await asyncio.sleep(_delay())
        if request.model == "mock-error":
            raise _error(_configured("error") or {})
        text = _text(request)
        for piece in _pieces(request, text):
            say(piece)
        calls = _calls(request)
        asked = "".join([request.system or "", *(message.text for message in request.messages)])
        said = "".join([text, *(dumps(call.arguments) for call in calls)])
        usage = _tokens(asked), _tokens(said)
        return ChatReply(text, *usage, calls, price.of(*usage) if price is not None else None)


_LARGEST = 64 << 20  # bytes of the file that says what mock models answer


def prices() -> dict[str, Price]:
    """What mock models are said to cost, by `mock/<name>`. Raises Fault where nobody can read it."""
    configured = _configured("prices")
    if configured is None:
        return {}
    if not isinstance(configured, dict) or not all(map(_priced, configured.values())):
        raise _unusable("`prices` gives a model {input, output}, two numbers: USD per million tokens")
    return {f"mock/{name}": Price(**rates) for name, rates in configured.items()}


def _priced(rates: Any) -> bool:
    return isinstance(rates, dict) and set(rates) == _RATES and all(map(_amount, rates.values()))


def _delay() -> float:
    """Seconds that a reply takes. Raises Fault where nobody can read it."""
    configured = _configured("delay_ms")
    if configured is not None and not _amount(configured):
        raise _unusable("`delay_ms` is a number of milliseconds")
    return (configured or 0) / 1000


def _amount(value: Any) -> bool:
    return type(value) in (int, float) and math.isfinite(value) and value >= 0


def _text(request: ChatRequest) -> str:
    if request.model == "mock-json":
        configured = _configured("json")
        return dumps(smallest((request.schema or {"type": "object"}) if configured is None else configured))
    if request.model == "mock-streaming" and (configured := _configured("streaming")) is not None:
        return "".join(configured)
    if request.schema is not None and not _calls(request):
        return dumps(smallest(request.schema))
    return f"mock({request.model}) · {request.prompt}"


def _pieces(request: ChatRequest, text: str) -> list[str]:
    """What is shown while it comes: only `mock-streaming` takes its time."""
    if request.model != "mock-streaming":
        return []
    configured = _configured("streaming")
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


def _configured(form: str) -> Any:
    """What the file of NIKA_NB_MOCK says for one form, None where it says nothing."""
    path = Settings.read().mock
    if path is None:
        return None
    try:
        found = loads(plain_bytes(path, _LARGEST))
    except OSError as error:
        raise _unusable(error.strerror or str(error)) from None
    except (ValueError, RecursionError) as error:
        raise _unusable(str(error)) from None
    return found.get(form) if isinstance(found, dict) else None


def _unusable(why: str) -> Fault:
    named = f"NIKA_NB_MOCK={Settings.read().mock}"
    return Fault("NIKA-INFER-001", f"{named} cannot be used: {why}", transient=False)


def _tokens(text: str) -> int:
    return -(-len(text) // _CHARACTERS_PER_TOKEN)
