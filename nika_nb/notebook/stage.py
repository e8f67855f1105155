"""Where the questions of a run stand: the run beside them, and the list that they may be part of."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from nika_nb.runs.request import Place


class Stage(Protocol):
    """Where the run itself is drawn."""

    turn: threading.RLock

    @property
    def widget(self) -> Any:
        """The live panel; None where there is none."""
        ...

    @property
    def result(self) -> dict[str, str] | None:
        """How a run stands that has no display of its own; None where it has one, or is not over."""
        ...

    def appear(self) -> None:
        """Gives a run that has no panel one among its questions, for it is about to go on."""
        ...

    def follow(self) -> None:
        """Paints a run that goes on until it stops. Raises nothing."""
        ...

    def redraw(self) -> None:
        """The run was taken further elsewhere: draws it as it is now."""
        ...


@dataclass(frozen=True, slots=True)
class Listed:
    """What a list says of a run.

    home: the folder that names of traces are given from. brief: what hangs on a question is folded. told:
    hears whether it still waits, whenever that may have changed.
    """

    heading: str
    home: Path
    brief: bool = False
    told: Callable[[bool], None] = lambda waits: None

    def name(self, trace: Path) -> str:
        """A trace as it is named from there."""
        here = Place(self.home, self.home).folder.path
        return trace.name if trace.parent == here else os.path.relpath(trace, self.home)
