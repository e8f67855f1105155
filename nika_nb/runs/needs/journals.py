"""The journal: a folder that takes one, and the key that seals it. What a durable run did lives there."""

from __future__ import annotations

import os
import tempfile

from nika_nb.errors import UsageError
from nika_nb.files import at_home, no_folder
from nika_nb.runs.lack import Lack
from nika_nb.settings import Settings
from nika_nb.trace.folder import TraceFolder
from nika_nb.trace.keys import SigningKey, signing_key

JOURNAL_CODE = "NIKA-NB-001"

_WHY = "a durable run lives in its journal"
_ROOM = 64 << 10  # bytes below which a disk counts as full


def tried(folder: TraceFolder, settings: Settings) -> list[Lack]:
    """Why no journal could be written there, found out by writing."""
    if refused := _settings(settings):
        return refused
    try:
        folder.path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder.path) as file:
            file.write(b"\n" * 4096)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        return [unwritable(folder, error.strerror or str(error))]
    return []


def looked_at(folder: TraceFolder, settings: Settings) -> list[Lack]:
    """The same without touching anything; of a folder that is not there yet, of the one it would lie in."""
    if refused := _settings(settings):
        return refused
    there = next(path for path in (folder.path, *folder.path.absolute().parents) if os.path.lexists(path))
    if not os.path.isdir(there):
        return [unwritable(folder, "Not a directory")]
    if not os.access(there, os.W_OK | os.X_OK):
        return [unwritable(folder, "Permission denied")]
    disk = os.statvfs(there)
    full = disk.f_bavail * disk.f_frsize < _ROOM
    return [unwritable(folder, "No space left on device")] if full else []


def unwritable(folder: TraceFolder, why: str) -> Lack:
    """What is said where a journal could not be written into a folder."""
    if (amiss := no_folder(folder.path)) is not None:
        return Lack(JOURNAL_CODE, f"no journal can be written: {amiss.what}", f"{_WHY}: {amiss.instead}")
    what = f"the folder {folder.shown} takes no journal ({why})"
    return Lack(JOURNAL_CODE, what, f"{_WHY}: make the folder writable, and room on the disk")


def _settings(settings: Settings) -> list[Lack]:
    """What the environment says against a journal: that there is none, or a key that seals nothing."""
    if not settings.trace_file:
        what = "journals are turned off (NIKA_NO_TRACE_FILE)"
        return [Lack(JOURNAL_CODE, what, f"{_WHY}: unset the variable")]
    try:
        sealing_key(settings)
    except UsageError as error:
        return [Lack(JOURNAL_CODE, f"no journal can be sealed: {error}", "or unset NIKA_NB_SIGN_KEY")]
    return []


def sealing_key(settings: Settings) -> SigningKey | None:
    """Raises UsageError where a seal is wanted and cannot be made."""
    if settings.sign_key is None or not settings.trace_file:
        return None
    return signing_key(at_home(settings.sign_key))
