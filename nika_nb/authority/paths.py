"""Where a path leads: its lexical form, and the place on disk after every symlink."""

from __future__ import annotations

import os
from contextlib import suppress

_TRIES = 50


def lexical(path: str, base: str) -> str:
    """The absolute path with `~`, `.` and `..` resolved as text; the disk is not asked."""
    place = os.path.normpath(as_walked(path, base))
    return "/" + place.lstrip("/") if place.startswith("//") else place


def effective(path: str, base: str) -> str:
    """Where the path leads on disk.

    The longest existing ancestor is followed through its symlinks; what does not exist yet is
    carried as text. A link that goes away while it is followed is looked for again.
    """
    walked = as_walked(path, base)
    for _ in range(_TRIES):
        with suppress(OSError):
            return os.path.realpath(walked)
    return os.path.realpath(walked)


def as_walked(path: str, base: str) -> str:
    """The path that the system walks: `..` stays, because a symlink may stand before it."""
    return os.path.join(base, os.path.expanduser(path))


def below(place: str, folder: str) -> str | None:
    """What remains of an absolute path below a folder (`` for the folder itself), else None."""
    head = folder.rstrip("/") + "/"
    if place == folder:
        return ""
    return place[len(head) :] if place.startswith(head) else None
