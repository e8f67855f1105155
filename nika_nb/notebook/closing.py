"""Widgets that have served their time are closed, so that a kernel of a thousand runs holds those of one.

A closed widget goes from every page that shows it. So what rests under a still stays until another run
begins: a page that was loaded while the run worked, and knows no displays, asks for its widgets behind
the cell that is at work.
"""

from __future__ import annotations

import threading
from functools import cache
from typing import Any, Protocol


class Resting(Protocol):
    """What a page needs no widgets for, once another run begins."""

    def retire(self) -> None: ...


class Gone(Protocol):
    """What is on no page any more when its cell runs again."""

    def clear(self) -> None: ...


_resting: list[Resting] = []
_by_cell: dict[str, tuple[str, list[Gone]]] = {}  # of each cell: its last execution, and what that shows
_turn = threading.Lock()  # of both; nobody is told anything while it is held


def rest(shown: Resting) -> None:
    """It is over, and what stands below its still may be used until another run begins."""
    with _turn:
        if shown not in _resting:
            _resting.append(shown)


def wake(shown: Resting) -> bool:
    """It goes on. False where it did not rest: another run has begun, and it is retired or will be."""
    with _turn:
        rested = shown in _resting
        if rested:
            _resting.remove(shown)
        return rested


def retire() -> None:
    """Another run begins, or has ended: what rests is not needed any more."""
    with _turn:
        over, _resting[:] = _resting[::-1], []
    for shown in over:
        shown.retire()


def belongs(shown: Gone, cell: str | None, execution: str) -> None:
    """It stands in a cell; what an earlier execution of that cell has shown is gone from the page."""
    if cell is None:
        return
    with _turn:
        before, there = _by_cell.get(cell, ("", []))
        stays, gone = (there, []) if before == execution else ([], there)
        _by_cell[cell] = (execution, [*stays, shown])
    for one in gone:
        one.clear()


def close(*widgets: Any) -> None:
    """Closes widgets with all that is in them, their layouts and styles too."""
    for widget in widgets:
        close(*getattr(widget, "children", ()))
        for part in (getattr(widget, "layout", None), getattr(widget, "style", None), widget):
            if part is not None:
                part.close()


@cache
def _kind() -> type[Any]:
    from ipywidgets import VBox

    class Root(VBox):  # type: ignore[misc]
        loaded_anew = False

        def get_state(self, key: Any = None, drop_defaults: bool = False) -> Any:
            """All of it is asked for as it is made, then only by a page that was loaded since."""
            self.loaded_anew = self.loaded_anew or (key is None and self.comm is not None)
            return super().get_state(key, drop_defaults)

    return Root


def root(*children: Any, **layout: str) -> Any:
    """A box that stands in a display of its own. `loaded_anew`: a page shows it that knows no displays."""
    return _kind()(children, layout={"margin": "0", **layout})
