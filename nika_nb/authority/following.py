"""A pattern in pieces, followed through a text character by character: nothing goes back and forth.

All places of the pattern at which one may be are the bits of a number, so that a step costs little.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

ANYTHING = ".*"
BELOW = "(?:/.*)?"  # the end of a path, or nothing
ABOVE = "(?:.*/)?"  # the beginning of one, or nothing


class Follower:
    """Of one pattern. within: the class of the characters that a single star goes over."""

    def __init__(self, pieces: Iterable[str], within: str) -> None:
        self._within = re.compile(within)
        self._takes: dict[str, int] = {}  # what one character has to be → the places where it has to
        self._anything = self._inside = 0  # places at which one stays
        self._one = self._two = 0  # places from which so many are passed over
        self._known: dict[str, tuple[int, int]] = {}
        place = 0
        for piece in pieces:
            here, next_ = 1 << place, 2 << place
            if piece == ANYTHING:
                self._anything |= here
            elif piece == f"{within}*":
                self._inside |= here
            elif piece == BELOW:
                self._take("/", here)
                self._anything |= next_
                self._one |= next_
            elif piece == ABOVE:
                self._take("/", next_)
                self._anything |= next_
                self._one |= here
            else:
                self._take(piece, here)
                place += 1
            if piece in (BELOW, ABOVE):
                self._two |= here
                place += 2
        self._end = 1 << place

    def covers(self, text: str) -> bool:
        """Whether the pattern matches all of a text."""
        places = self._passed(1)
        for char in text:
            takes, stays = self._known.get(char) or self._looked_up(char)
            places = self._passed((places & takes) << 1 | places & stays)
            if not places:
                return False
        return bool(places & self._end)

    def _take(self, piece: str, place: int) -> None:
        self._takes[piece] = self._takes.get(piece, 0) | place

    def _passed(self, places: int) -> int:
        """These places, and those behind what may be left out."""
        while (further := places | (places & self._one) << 1 | (places & self._two) << 2) != places:
            places = further
        return places

    def _looked_up(self, char: str) -> tuple[int, int]:
        takes = 0
        for piece, places in self._takes.items():
            takes |= places if re.fullmatch(piece, char, re.DOTALL) else 0
        stays = self._anything | (self._inside if self._within.fullmatch(char) else 0)
        self._known[char] = takes, stays
        return takes, stays
