"""A shell without a kernel, with the extension loaded: cells are run, and what they did is looked at."""

from __future__ import annotations

from typing import Any

from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output


class Cell:
    """What running a cell did: its value, its text, its error as it is shown."""

    def __init__(self, result: Any, text: str, error: str) -> None:
        self.value = result.result
        self.text = text
        self.error = error
        self.failed = not result.success


class Notebook:
    """A shell without a kernel, with the extension loaded."""

    def __init__(self, shell: InteractiveShell) -> None:
        self.shell = shell

    def run(self, cell: str, line: str = "") -> Cell:
        return self.python(f"%%nika {line}\n{cell}")

    def python(self, code: str) -> Cell:
        with capture_output() as seen:
            result = self.shell.run_cell(code, store_history=False)
        failure = result.error_before_exec or result.error_in_exec
        shown = getattr(failure, "_render_traceback_", lambda: [str(failure or "")])()
        displayed = "".join(output.data.get("text/plain", "") for output in seen.outputs)
        return Cell(result, seen.stdout + seen.stderr + displayed, "\n".join(shown))
