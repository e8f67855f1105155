"""The journal: a folder that takes one. What a durable run did lives there and nowhere else."""

from __future__ import annotations

import os
import tempfile

from nika_nb.runs.lack import Lack
from nika_nb.trace.folder import TraceFolder

JOURNAL_CODE = "NIKA-NB-001"

_WHY = "a durable run lives in its journal"
_ROOM = 64 << 10  # bytes below which a disk counts as full


def tried(folder: TraceFolder, wanted: bool) -> list[Lack]:
    """Why no journal could be written there, found out by writing. wanted: they are not turned off."""
    if not wanted:
        return [_turned_off()]
    try:
        folder.path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder.path) as file:
            file.write(b"\n" * 4096)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        return [unwritable(folder, error.strerror or str(error))]
    return []


def looked_at(folder: TraceFolder, wanted: bool) -> list[Lack]:
    """The same of a folder that is there, without touching anything."""
    if not wanted:
        return [_turned_off()]
    if not os.access(folder.path, os.W_OK | os.X_OK):
        return [unwritable(folder, "Permission denied")]
    disk = os.statvfs(folder.path)
    full = disk.f_bavail * disk.f_frsize < _ROOM
    return [unwritable(folder, "No space left on device")] if full else []


def unwritable(folder: TraceFolder, why: str) -> Lack:
    """What is said where a journal could not be written into a folder."""
    what = f"the folder {folder.shown} takes no journal ({why})"
    return Lack(JOURNAL_CODE, what, f"{_WHY}: make the folder writable, and room on the disk")


def _turned_off() -> Lack:
    what = "journals are turned off (NIKA_NO_TRACE_FILE)"
    return Lack(JOURNAL_CODE, what, f"{_WHY}: unset the variable")
