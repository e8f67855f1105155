"""Many texts looked for in others: the cost grows with what is looked through, not with how many they are."""

from __future__ import annotations

import threading
from collections.abc import Iterable

_FEW = 1000  # so many are found faster by one plain search each
_HEAD = 4  # characters


class Needles:
    """Texts that are looked for. More may be added while others look."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: set[str] = set()
        self._ordered: tuple[str, ...] | None = ()
        self._lengths: dict[str, tuple[int, ...]] = {}  # by the first characters of those that begin so
        self._heads: tuple[int, ...] = ()  # how many characters these have

    def __bool__(self) -> bool:
        return bool(self._known)

    def add(self, texts: Iterable[str]) -> None:
        with self._lock:
            for text in texts:
                if text and text not in self._known:
                    self._known.add(text)
                    head = text[:_HEAD]
                    self._lengths[head] = tuple({*self._lengths.get(head, ()), len(text)})
                    self._heads = tuple({*self._heads, len(head)})
            self._ordered = None

    @property
    def all(self) -> tuple[str, ...]:
        """Every one of them, longest first."""
        with self._lock:
            if self._ordered is None:
                self._ordered = _longest_first(self._known)
            return self._ordered

    def within(self, text: str) -> tuple[str, ...]:
        """Those that stand in a text, longest first."""
        if len(self._known) <= _FEW:
            return tuple(needle for needle in self.all if needle in text)
        return _longest_first(self._looked_up(text))

    def _looked_up(self, text: str) -> set[str]:
        """At each place the few lengths are tried that something beginning like this has."""
        known, lengths = self._known, self._lengths
        found: set[str] = set()
        for size in self._heads:
            for at in range(len(text) - size + 1):
                if text[at : at + size] in lengths:
                    here = (text[at : at + length] for length in lengths[text[at : at + size]])
                    found.update(piece for piece in here if piece in known)
        return found


def _longest_first(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(texts, key=lambda text: (-len(text), text)))
