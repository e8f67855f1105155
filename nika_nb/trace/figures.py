"""What work costs: dollars, tokens, time; counted where something is known, and never made up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from nika_nb.trace.fields import number, whole
from nika_nb.trace.frame import Frame

N = TypeVar("N", int, float)


@dataclass(slots=True)
class Figures:
    """US dollars, tokens and milliseconds; None where nothing is known, which is not the same as zero."""

    usd: float | None = None
    tokens: int | None = None
    ms: int | None = None

    def add(self, other: Figures) -> None:
        self.usd = _sum(self.usd, other.usd)
        self.tokens = _sum(self.tokens, other.tokens)
        self.ms = _sum(self.ms, other.ms)

    def copy(self) -> Figures:
        return Figures(self.usd, self.tokens, self.ms)

    def without(self, other: Figures) -> Figures:
        """What is left of it, never less than nothing."""
        return Figures(_left(self.usd, other.usd), _left(self.tokens, other.tokens), _left(self.ms, other.ms))

    @classmethod
    def of(cls, frame: Frame | Mapping[str, Any], usd: str, tokens: str, ms: str) -> Figures:
        return cls(
            number(frame.get(usd)),
            whole(frame.get(tokens)),
            whole(frame.get(ms)),
        )


def _sum(one: N | None, other: N | None) -> N | None:
    if one is None or other is None:
        return other if one is None else one
    return round(one + other, 10)


def _left(one: N | None, other: N | None) -> N | None:
    return one if one is None or other is None else max(round(one - other, 10), one - one)
