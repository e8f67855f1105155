"""Displays that can be replaced later: the one place that talks to IPython's display machinery."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from contextvars import copy_context
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

EMPTY = {"text/html": "", "text/plain": ""}


@dataclass(frozen=True, slots=True)
class Spots:
    """Displays of one cell, by id: for a run's still and its live panel, for the still of what it asks, for
    its forms.
    """

    panel: str = field(default_factory=lambda: uuid4().hex)
    live: str = field(default_factory=lambda: uuid4().hex)
    still: str = field(default_factory=lambda: uuid4().hex)
    forms: str = field(default_factory=lambda: uuid4().hex)

    def reserve(self) -> None:
        """Puts them, empty, into the cell that runs now: they are filled when it has returned."""
        for display_id in (self.panel, self.live, self.still, self.forms):
            show(EMPTY, display_id)


def blanks(count: int) -> list[Any]:
    """So many HTML widgets without margins, of one look: each look of its own is a message more."""
    from ipywidgets import HTML, Layout

    found = [HTML(layout=Layout(margin="0"))]
    while len(found) < count:
        found.append(HTML(layout=found[0].layout, style=found[0].style))
    return found


def show(bundle: Mapping[str, Any], display_id: str) -> None:
    """Put a mimebundle into the cell that runs now."""
    from IPython import display

    display.display(dict(bundle), raw=True, display_id=display_id)  # type: ignore[no-untyped-call]


def update(bundle: Mapping[str, Any], display_id: str) -> None:
    """Replace what was shown under this id, from any thread. Does nothing where there is no kernel."""
    from IPython import display

    display.update_display(dict(bundle), raw=True, display_id=display_id)  # type: ignore[no-untyped-call]


def thread(work: Callable[[], Any], name: str = "nika-painter") -> threading.Thread:
    """A thread, not started yet, that speaks for the cell or the click at hand.

    A kernel finds the cell that a widget's message belongs to by the context of the thread that sends it;
    the first ones of version 7 send nothing from a thread that has none.
    """
    return threading.Thread(target=copy_context().run, args=(work,), name=name, daemon=True)


def view(widget: Any) -> dict[str, Any]:
    """The mimebundle by which a front-end finds a widget."""
    found = widget._repr_mimebundle_()
    return dict(found[0] if isinstance(found, tuple) else found)
