"""Tickets: an answer from a door that shows its question is bound to what was shown, and when."""

from __future__ import annotations

import time
from dataclasses import dataclass

from nika_nb.engine.contract import Prompt

TTL = 900.0  # seconds from a showing in which an answer to it counts without another look
STALE = (
    "This question has stood here for more than 15 minutes. Look at it once more: if your answer is still "
    "the same, give it again."
)


@dataclass(frozen=True, slots=True)
class Ticket:
    """One showing of one question. shown_hash: of what was shown; minted: unix seconds."""

    shown_hash: str
    minted: float

    @property
    def stale(self) -> bool:
        """Whether it has stood there for so long that whoever answers should look at it again."""
        return now() - self.minted > TTL


def mint(prompt: Prompt) -> Ticket:
    """A ticket for a question that is being shown now. A pause itself never expires."""
    return Ticket(prompt.shown_hash, now())


def now() -> float:
    """Unix seconds: the wall's clock, for a laptop that sleeps over night is to be noticed."""
    return time.time()
