"""How many of the runs in a list still wait: the line above them, true also when they are answered there."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any
from uuid import uuid4

from nika_nb.notebook.shown import show, update


class Count:
    """A display of its own. said: the line, where so many of them wait no more."""

    def __init__(self, said: Callable[[int], str]) -> None:
        self._said = said
        self._over = set[Any]()
        self._own = uuid4().hex
        self._turn = threading.Lock()

    def show(self) -> None:
        """In the cell that runs now."""
        show(self._bundle, self._own)

    def told(self, one: Any, waits: bool) -> None:
        """Whether one of them still waits."""
        with self._turn:
            before = len(self._over)
            (self._over.discard if waits else self._over.add)(one)
            if len(self._over) != before:
                update(self._bundle, self._own)

    def __str__(self) -> str:
        return self._said(len(self._over))

    @property
    def _bundle(self) -> dict[str, str]:
        return {"text/plain": str(self)}
