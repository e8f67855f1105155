"""The trace or the folder that a line of the terminal means; of traces the newest, and it says which."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from nika_nb.board.clean import one_line
from nika_nb.cli.console import say
from nika_nb.errors import UsageError
from nika_nb.files import here
from nika_nb.runs.traced import newest_in, of_words, trace_of
from nika_nb.trace.folder import TraceFolder
from nika_nb.values import nearest


def meant(name: str | None) -> Path:
    """The trace of a name, a path or a run's id. Raises UsageError."""
    return trace_of(name) if name is not None else _told(newest_in())


def meant_with_task(words: Sequence[str]) -> tuple[Path, str | None]:
    """The trace and the task of `[TRACE] [TASK]`. Raises UsageError."""
    path, task = of_words(words)
    return path if words and task != words[0] else _told(path), task


def folder(name: str) -> Path:
    """The folder of a name; in one that is mistyped nothing would lie. Raises UsageError."""
    path = Path(name)
    if name != "." and not path.is_dir():
        siblings = [one.name for one in path.absolute().parent.glob("*") if one.is_dir()]
        hint = nearest(path.name, siblings)
        raise UsageError(f"there is no folder {name}" + (f", {hint}" if hint else ""))
    return path


def pair(words: Sequence[str]) -> tuple[str | Path, str | Path]:
    """The two of `[A [B]]`: one alone beside the newest; without one the newest beside the one before it.

    Raises UsageError.
    """
    if len(words) == 2:
        return words[0], words[1]
    newest = newest_in()
    if words:
        return words[0], _told(newest)
    folder = TraceFolder(here())
    workflow = folder.recent(1)[0].workflow
    before = next((one.path for one in folder.of_workflow(workflow) if one.path != newest), newest)
    return _told(before), _told(newest)


def _told(path: Path) -> Path:
    say(f"nika-nb: {one_line(path.name)}")
    return path
