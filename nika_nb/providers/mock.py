"""The mock provider: no network, no cost, the same answer every time; for tests and rehearsals."""

from __future__ import annotations

from nika_nb.errors import Fault
from nika_nb.providers.base import ChatReply, ChatRequest
from nika_nb.providers.sample import smallest
from nika_nb.values import dumps

UNPRICED = "mock_provider"
_CHARACTERS_PER_TOKEN = 4


class Mock:
    """`mock/echo` gives the prompt back; with a schema, the smallest value that has its shape."""

    async def chat(self, request: ChatRequest) -> ChatReply:
        if request.model == "mock-error":
            raise Fault("NIKA-INFER-001", "`mock/mock-error` answered with its error, as it always does")
        asked = f"{request.system or ''}{request.prompt}"
        text = self._answer(request)
        return ChatReply(text, _tokens(asked), _tokens(text), unpriced=UNPRICED)

    def _answer(self, request: ChatRequest) -> str:
        if request.schema is not None:
            return dumps(smallest(request.schema))
        return f"mock({request.model}) · {request.prompt}"


def _tokens(text: str) -> int:
    return -(-len(text) // _CHARACTERS_PER_TOKEN)
