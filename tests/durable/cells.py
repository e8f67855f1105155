"""Lines of a notebook, in a shell without a kernel."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

from nika_nb.notebook import magic


class Cells:
    """A shell without a kernel, with the magics of the current folder."""

    def __init__(self) -> None:
        InteractiveShell.clear_instance()
        magic._loaded.clear()
        self.shell = InteractiveShell.instance()
        self.shell.run_line_magic("load_ext", "nika_nb")

    def __call__(self, line: str, *, fails: str = "") -> str:
        with capture_output() as seen:
            result = self.shell.run_cell(f"%nika {line}", store_history=False)
        error = str(result.error_in_exec or "")
        assert bool(fails) == bool(error), (line, error)
        assert fails in error
        return str(seen.stdout)

    def refused(self, line: str) -> str:
        """What a line that is refused says."""
        with capture_output():
            result = self.shell.run_cell(f"%nika {line}", store_history=False)
        assert result.error_in_exec is not None, line
        return str(result.error_in_exec)


@contextmanager
def shell() -> Iterator[Cells]:
    """A shell whose magics are those of the current folder, gone afterwards."""
    try:
        yield Cells()
    finally:
        magic._loaded.clear()
        InteractiveShell.clear_instance()
