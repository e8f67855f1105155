"""A trace by what people call it: its path, its name in `.nika/traces`, or the id of its run."""

from __future__ import annotations

from pathlib import Path

from nika_nb.errors import UsageError
from nika_nb.files import kind_of
from nika_nb.runs.ids import is_run_id
from nika_nb.runs.shelf import Shelf
from nika_nb.trace.folder import TraceFolder
from nika_nb.values import nearest


def named(name: str | Path, folder: TraceFolder, base: Path | None = None) -> Path:
    """The trace that is meant, of a run's id the newest one of that run.

    base: from where a path leads, None for the current folder. Raises UsageError where nothing is called so.
    """
    found = folder.find(name, base)
    if found is not None:
        return found
    if is_run_id(str(name)):
        return newest_of(str(name), folder)
    raise UsageError(_absent(Path(name), folder, base))


def newest_of(run_id: str, folder: TraceFolder) -> Path:
    """The newest trace of a run. Raises UsageError where there is no such run."""
    return folder.path / Shelf(folder.path).find(run_id).latest.name


def _absent(name: Path, folder: TraceFolder, base: Path | None) -> str:
    strange = next(filter(None, map(kind_of, folder.places(name, base))), None)
    if strange is not None:
        return f"{name} {strange}, no trace: a trace is a file"
    what = f"there is no trace {name}, neither at that path nor in {folder.shown}"
    hint = nearest(name.name, Shelf(folder.path).names())
    return f"{what}; {hint}" if hint else what
