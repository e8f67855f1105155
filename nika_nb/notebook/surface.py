"""What the front-end can do, as far as the kernel can know."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from importlib import import_module
from pathlib import Path, PurePath
from typing import Any

from nika_nb.files import here


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
        """The notebook's file name, where the server or the editor tells it."""
        path = self._file or os.environ.get("JPY_SESSION_NAME")
        return PurePath(path).name if path else None

    @property
    def folder(self) -> Path:
        """The notebook's folder: a server starts its kernels there, VS Code may start them elsewhere."""
        if self._file and Path(self._file).is_file():
            return Path(self._file).parent
        return here()

    @property
    def _file(self) -> str | None:
        """The notebook's path as VS Code leaves it in the notebook's own names."""
        path = self._shell.user_ns.get("__vsc_ipynb_file__")
        return path if isinstance(path, str) and path else None

    def prepare(self) -> None:
        """What a front-end wants done before it shows a widget: Colab its own manager for ipywidgets 8."""
        if "google.colab" in sys.modules:
            with suppress(Exception):  # a front-end that cannot is no reason to do without the magics
                import_module("google.colab.output").enable_custom_widget_manager()

    @property
    def cell_id(self) -> str | None:
        """The id of the cell that runs, where the front-end tells it."""
        found = self._parent.get("metadata", {}).get("cellId")
        return found if isinstance(found, str) else None

    @property
    def execution(self) -> str:
        """Which execution of a cell this is; empty outside of any."""
        return str(self._parent.get("header", {}).get("msg_id", ""))

    @property
    def _parent(self) -> dict[str, Any]:
        """The message that is being dealt with."""
        return getattr(self._kernel, "get_parent", dict)() or {}

    @property
    def cell_name(self) -> str:
        """How diagnostics call the cell."""
        seen = self._shell.history_manager.input_hist_parsed
        return f"cell [{max(len(seen) - 1, 1)}]"
