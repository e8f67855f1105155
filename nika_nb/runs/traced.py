"""The trace that somebody means: by its path, by its name, by a run's id, or by the Run itself."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from nika_nb.errors import Source, UsageError
from nika_nb.files import here
from nika_nb.language.load import load
from nika_nb.language.model import Workflow
from nika_nb.runs.naming import named
from nika_nb.runs.run import Run
from nika_nb.runs.shelf import Shelf
from nika_nb.trace.folder import TraceFolder
from nika_nb.trace.reader import opening

_BELOW = re.compile(r"[\[/]")  # what stands between a task and an item of it, or a task that it calls
Traced = str | os.PathLike[str] | Run


def trace_of(given: Traced, root: Path | None = None) -> Path:
    """The newest trace of what is given. root: the folder whose `.nika` is looked into and from where a path
    leads as well, None for this one.

    Raises UsageError where there is none.
    """
    if isinstance(given, Run):
        if given.trace is None:
            raise UsageError(f"`{given.workflow}` wrote no trace")
        return given.trace
    if not isinstance(given, (str, os.PathLike)):
        what = "a path, a name in .nika/traces, a run's id, or a Run"
        raise UsageError(f"a trace is named by {what}, not by {type(given).__name__}")
    name = os.fspath(given)
    if root is None and os.path.isabs(name) and os.path.isfile(name):
        return Path(name)
    return named(name, TraceFolder(root or here()), root if root and (root / name).is_file() else None)


def each_of(given: Traced | Iterable[Traced] | Mapping[Any, Traced]) -> list[Traced]:
    """One trace, or several: a list, a column of names, a dict by whatever name. Raises UsageError."""
    if isinstance(given, (str, os.PathLike, Run)):
        return [given]
    if isinstance(given, (bytes, bytearray)) or not isinstance(given, Iterable):
        raise UsageError(
            f"traces are a folder, a trace, a Run, or a list of them, not {type(given).__name__}"
        )
    return list(given.values() if isinstance(given, Mapping) else given)


def newest_in(root: Path | None = None) -> Path:
    """The newest trace in a folder's `.nika`. Raises UsageError where there is none."""
    folder = TraceFolder(root or here())
    Shelf(folder.path).judge()
    found = folder.recent(1)
    if not found:
        raise UsageError(f"there is no trace in {folder.shown}")
    return found[0].path


def of_words(words: Sequence[str], root: Path | None = None) -> tuple[Path, str | None]:
    """(the trace, the task) that `[TRACE] [TASK]` mean: the newest trace where none is named.

    One word alone is a trace, or else a task of the newest one. Raises UsageError.
    """
    if not words:
        return newest_in(root), None
    try:
        return trace_of(words[0], root), words[1] if len(words) > 1 else None
    except UsageError as error:
        newest = TraceFolder(root or here()).recent(1)
        if len(words) > 1 or not newest:
            raise
        found = workflow_of(newest[0].path)
        if found is not None and _BELOW.split(words[0])[0] in found.tasks:
            return newest[0].path, words[0]
        what = f"nor is it a task of the newest one, {newest[0].path.name}"
        raise UsageError(f"{error}; {what}") from None


def traces_in(folder: Path) -> list[Path]:
    """The files that may be traces: of a folder that holds a `.nika`, or of one that holds them itself.

    Raises UsageError where they cannot be looked up.
    """
    inside = TraceFolder(folder).path
    Shelf(inside).judge()
    return sorted((inside if inside.is_dir() else folder).glob("*.ndjson"))


def workflow_of(path: Path) -> Workflow | None:
    """The workflow that a trace pins; None where its text is not recorded, or is none today."""
    text = opening(path).source
    return load(Source(text)).workflow if text is not None else None
