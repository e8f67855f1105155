"""A run that is asked to end from outside: by a file beside its journal, whatever process is at it."""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path

from nika_nb.errors import NikaError, UsageError
from nika_nb.trace.reader import is_running

_ENDING = 30.0  # seconds that a process gets to end a run that it was asked to end
_LOOK = 0.05  # seconds between looks whether it has


def call_off(run_id: str, journal: Path) -> None:
    """Asks the run that writes this journal to end. Raises UsageError where nothing can be left beside it."""
    try:
        _word(journal).touch()
    except OSError as error:
        where = process(is_running(journal)[1])
        raise UsageError(
            f"{run_id} is at work in {where}, which cannot be asked to end it ({error.strerror}): "
            "interrupt it there"
        ) from None


def end_elsewhere(run_id: str, journal: Path, pid: int | None) -> None:
    """Asks whoever is at work on a journal to end its run, and waits until that is over.

    Raises UsageError as `call_off` does, NikaError where it takes too long.
    """
    call_off(run_id, journal)
    until = time.monotonic() + _ENDING
    try:
        while is_running(journal)[0]:
            if time.monotonic() > until:
                raise NikaError(
                    f"{process(pid)} was asked to end {run_id} and is still at it: its cleanups run. Asked "
                    "once more, it ends them too"
                )
            time.sleep(_LOOK)
    finally:
        with suppress(OSError):  # nothing stays behind of what nobody obeyed
            _word(journal).unlink()


def process(pid: int | None) -> str:
    """A process as a sentence names it."""
    return f"process {pid}" if pid else "another process"


def called_off(journal: Path) -> bool:
    """Whether somebody has asked; each asking is heard once."""
    try:
        _word(journal).unlink()
    except OSError:
        return False
    return True


def _word(journal: Path) -> Path:
    return journal.with_name(f"{journal.name}.cancel")
