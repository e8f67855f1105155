"""A model with a price, so that journals hold costs: it answers as told and bills a cent a call."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest

from nika_nb.errors import Fault
from nika_nb.providers import registry
from nika_nb.providers.base import ChatReply, ChatRequest, Say

CENT = 0.01
TOKENS = 10  # of one call


class Priced:
    """Gives the prompt back. `fails N …` is billed and says nothing N times, `breaks …` always.

    `refuses …` fails without a bill. calls: every prompt that was paid for.
    """

    def __init__(self) -> None:
        self.calls: list[str] = []
        self._seen: Counter[str] = Counter()

    async def chat(self, request: ChatRequest, say: Say) -> ChatReply:
        prompt = request.prompt
        if prompt.startswith("refuses"):
            raise Fault("NIKA-INFER-001", "nothing was billed", transient=False)
        self.calls.append(prompt)
        self._seen[prompt] += 1
        word = prompt.split()
        broken = word[0] == "breaks" or (word[0] == "fails" and self._seen[prompt] <= int(word[1]))
        return ChatReply("" if broken else prompt, 6, TOKENS - 6, cost_usd=CENT)


@pytest.fixture
def priced(monkeypatch: pytest.MonkeyPatch) -> Priced:
    """The model `mock/echo`, with a price."""
    provider = Priced()
    make: Callable[[], Priced] = lambda: provider  # noqa: E731
    monkeypatch.setitem(registry.MAKERS, "mock", make)
    return provider
