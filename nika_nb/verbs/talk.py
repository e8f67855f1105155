"""Conversations as plain generators: what is to be done next comes out, what came of it goes in."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator
from typing import TypeVar

Step = TypeVar("Step")
Came = TypeVar("Came")
End = TypeVar("End")


async def pump(talk: Generator[Step, Came, End], act: Callable[[Step], Awaitable[Came]]) -> End:
    """Carries out every step of a conversation; what it returns in the end. Whatever `act` raises ends it."""
    try:
        step = next(talk)
        while True:
            step = talk.send(await act(step))
    except StopIteration as done:
        end: End = done.value
        return end
    finally:
        talk.close()
