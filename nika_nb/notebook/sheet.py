"""Where the questions of a run stand on a page: a still, and the forms that are read while they live."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from nika_nb.notebook.closing import close, root
from nika_nb.notebook.forms import WRAPPING
from nika_nb.notebook.living import hidable, until_it_dies, vanishes
from nika_nb.notebook.shown import EMPTY, Spots, blanks, show, update, view


class Sheet:
    """Two displays: the still, which a page without a kernel reads, and the forms.

    spots: where they stand, of a run that no cell waits for; None for the cell that runs then.
    widget: holds the forms; None before they are asked for.
    """

    def __init__(self, spots: Spots | None) -> None:
        self.widget: Any = None
        self._spots = spots or Spots()
        self._put = show if spots is None else update  # into the cell that runs now, or where room was kept
        self._name = f"nika-asks-{self._spots.forms}"
        self._above: Any = None  # says which run it is, and hides the still while the forms live
        self._below: Any = None  # says how many more there are, and what to do when no button works

    def make(self) -> Any:
        """The widget, made when it is asked for first."""
        if self.widget is None:
            self._above, self._below = blanks(2)
            self.widget = root()
            self.widget.add_class(self._name)
            vanishes(self.widget)
        return self.widget

    def fill(self, boxes: Sequence[Any]) -> None:
        """What the widget holds where nothing waits."""
        self.widget.children = tuple(boxes)

    def ask(self, forms: Sequence[Any], heading: str, more: str, panel: Sequence[Any]) -> None:
        """The forms of what waits, between two pieces of HTML; then the panel of the run."""
        style = f"{until_it_dies(self._name)}<style>.{self._name} {WRAPPING}</style>"
        self._above.value, self._below.value = style + heading, more
        self.fill((self._above, *forms, self._below, *panel))

    def show(self, still: dict[str, str], *, forms: bool) -> None:
        """Both displays, for the first time."""
        self._put(hidable(still, self._name), self._spots.still)
        if forms:
            self._put(view(self.widget) | EMPTY, self._spots.forms)

    def update(self, still: dict[str, str], *, forms: bool) -> None:
        """The same displays, as things stand."""
        update(hidable(still, self._name), self._spots.still)
        update(view(self.widget) | EMPTY if forms else EMPTY, self._spots.forms)

    def close(self) -> None:
        """Nobody sees it any more: its widgets go, and not what it held."""
        if self.widget is not None:
            self.fill(())
            close(self.widget, self._above, self._below)
