"""The files that a task was about to read, and whether they are still what they were.

It is told beside a recalled success and never acted upon: what a task is recognised by is its text and its
values.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterable, Mapping

from nika_nb.doors import option
from nika_nb.engine.memory import Hit

MOST = 20  # files of one task or item
NAMED = 3  # of those that changed
_LOOKS = 10_000  # files that one run looks at
_HASHED = 8 << 20  # bytes up to which a file is known by what is in it

Mark = tuple[int, int, str | None]  # bytes, unix ns of the last change, a digest of what is in it


class Seen:
    """Marks files before work begins, and compares marks with what lies there now.

    base: the folder that names start from. watched: under a virtual clock nothing is marked or compared.
    """

    def __init__(self, base: str = "", *, watched: bool = True) -> None:
        self._base = os.path.realpath(base)
        self._watched = watched
        self._digests: dict[tuple[str, int, int], str | None] = {}
        self._now: dict[str, os.stat_result | None] = {}

    def mark(self, place: str) -> tuple[str, Mark] | None:
        """(its name, what it is now); None for what is no regular file."""
        found = _look(place) if self._watched else None
        if found is None:
            return None
        return self._name(place), (found.st_size, found.st_mtime_ns, self._digest(place, found))

    def changed(self, hit: Hit) -> tuple[str, ...]:
        """The files behind a record that were written since. What its own run wrote is none of them."""
        if not self._watched or hit.as_of is None:
            return ()
        return tuple(name for name, mark in hit.files.items() if self._differs(name, mark, hit.as_of))

    def _differs(self, name: str, mark: Mark, as_of: int) -> bool:
        size, changed, digest = mark
        place = os.path.join(self._base, name)
        now = self._look_once(place)
        if now is None or (now.st_size, now.st_mtime_ns) == (size, changed):
            return False
        if digest is not None and now.st_size == size and self._digest(place, now) == digest:
            return False
        return not changed < now.st_mtime_ns <= as_of

    def _look_once(self, place: str) -> os.stat_result | None:
        if place not in self._now and len(self._now) < _LOOKS:
            self._now[place] = _look(place)
        return self._now.get(place)

    def _digest(self, place: str, found: os.stat_result) -> str | None:
        key = (place, found.st_size, found.st_mtime_ns)
        if key not in self._digests:
            self._digests[key] = _digest(place) if found.st_size <= _HASHED else None
        return self._digests[key]

    def _name(self, place: str) -> str:
        head = self._base.rstrip("/") + "/"
        return place.removeprefix(head) if place.startswith(head) else place


def changed_said(names: Iterable[str], again: str) -> str:
    """`notes/monday.md changed since; --from hash_notes runs it again`; again: the option. Empty for none."""
    said = since_said(names)
    return f"{said}; {again} runs it again" if said else ""


def task_changed_said(names: Iterable[str], task: str) -> str:
    """The same of a task, or of one below it, with the option as it is written where the reader stands."""
    return changed_said(names, option("from", task.partition("/")[0]))


def since_said(names: Iterable[str]) -> str:
    """`notes/monday.md changed since`; empty for none."""
    files = list(dict.fromkeys(names))
    more = f" and {len(files) - NAMED:,} more" if len(files) > NAMED else ""
    return f"{', '.join(files[:NAMED])}{more} changed since" if files else ""


def marks_of(shape: Mapping[str, object]) -> dict[str, Mark]:
    """The marks that a journal holds; what is of no such form is none."""
    found: dict[str, Mark] = {}
    for name, mark in list(shape.items())[:MOST]:
        match mark:
            case [int(size), int(changed), str() | None as digest] if "\0" not in name:
                found[name] = (size, changed, digest)
    return found


def _look(place: str) -> os.stat_result | None:
    try:
        found = os.stat(place)
    except (OSError, ValueError):
        return None
    return found if stat.S_ISREG(found.st_mode) else None


def _digest(place: str) -> str | None:
    try:
        with open(place, "rb") as file:
            return hashlib.sha256(file.read(_HASHED)).hexdigest()[:16]
    except OSError:
        return None
