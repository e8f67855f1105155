"""What the front-end can do, as far as the kernel can know."""

from __future__ import annotations

import os
from pathlib import PurePath
from typing import Any


class Surface:
    """One shell: a kernel behind a notebook, a headless executor, or a plain terminal."""

    def __init__(self, shell: Any) -> None:
        self._shell = shell
        self._kernel = getattr(shell, "kernel", None)

    @property
    def interactive(self) -> bool:
        """Whether a human can answer: a front-end that lets a kernel ask for input has one."""
        return bool(getattr(self._kernel, "_allow_stdin", False))

    @property
    def has_widgets(self) -> bool:
        """Whether comms exist: only behind a kernel."""
        return self._kernel is not None

    @property
    def notebook(self) -> str | None:
        """The notebook's file name, where the server tells it."""
        path = os.environ.get("JPY_SESSION_NAME")
        return PurePath(path).name if path else None

    @property
    def cell_id(self) -> str | None:
        """The id of the cell that runs, where the front-end tells it."""
        parent = self._kernel.get_parent() if self._kernel is not None else None
        found = (parent or {}).get("metadata", {}).get("cellId")
        return found if isinstance(found, str) else None

    @property
    def cell_name(self) -> str:
        """How diagnostics call the cell."""
        seen = self._shell.history_manager.input_hist_parsed
        return f"cell [{max(len(seen) - 1, 1)}]"
