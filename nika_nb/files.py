"""Files and folders as people name them: opened only where they end, and where one stands."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import NamedTuple, NoReturn

from nika_nb.errors import UsageError

_KINDS = (
    (stat.S_ISDIR, "is a folder"),
    (stat.S_ISFIFO, "is a pipe"),
    (stat.S_ISSOCK, "is a socket"),
    (stat.S_ISCHR, "is a device"),
    (stat.S_ISBLK, "is a device"),
)
_AWAY = "move it away"
_PASSED = ("/dev/fd/", "/dev/stdin", "/proc/self/fd/")  # where a shell hands over `<(…)`


class NoFile(OSError):
    """What lies at a path is something else than a file; `strerror` says what."""


def plain_bytes(path: str | os.PathLike[str], most: int, *, passed: bool = False) -> bytes:
    """The bytes of a file, at most one more than `most`. Raises OSError, NoFile for a device or a pipe.

    passed: a pipe that a shell hands over may stand in its place; it is read as far as a file.
    """
    name = os.fspath(path)
    wait = passed and str(name).startswith(_PASSED)
    try:
        number = os.open(name, os.O_RDONLY | (0 if wait else os.O_NONBLOCK))  # to open a pipe is to wait
    except ValueError as error:  # a NUL, or half of a surrogate pair
        raise NoFile(errno.EINVAL, f"cannot be a path: {error}", name) from None
    with os.fdopen(number, "rb") if _ends(number, wait) else _refused(number, name) as file:
        return file.read(most + 1)


def _ends(number: int, wait: bool) -> bool:
    mode = os.fstat(number).st_mode
    return stat.S_ISREG(mode) or (wait and stat.S_ISFIFO(mode))


def _refused(number: int, name: str) -> NoReturn:
    mode = os.fstat(number).st_mode
    os.close(number)
    kind = next((said for test, said in _KINDS if test(mode)), "is something else")
    raise NoFile(errno.EINVAL, f"it {kind}, no file", name)


def opened(place: str | os.PathLike[str], flags: int = os.O_RDONLY) -> int:
    """A descriptor of a place whose links were followed before, and that was judged as it was then.

    Raises OSError, also where a link was put in its way since. Where the system does not tell what it opened,
    only one at the very end is noticed.
    """
    number = os.open(place, flags | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    wanted = os.fspath(place)
    if _leads_to(number) not in (None, wanted, f"{wanted} (deleted)"):  # so one is called that was replaced
        os.close(number)
        raise OSError(errno.ELOOP, "it is not any more what it was a moment ago", wanted)
    return number


def _leads_to(number: int) -> str | None:
    """Where an open file lies; None where the system does not tell."""
    try:
        return os.readlink(f"/proc/self/fd/{number}")
    except OSError:
        return None


def judged_bytes(place: str | os.PathLike[str], most: int = -1) -> bytes:
    """The bytes of a file as `opened`, at most so many. Raises OSError, NoFile for what is no file."""
    number = opened(place)
    with os.fdopen(number, "rb") if _ends(number, False) else _refused(number, str(place)) as file:
        return file.read(most)


def kind_of(path: str | os.PathLike[str]) -> str | None:
    """What lies at a path where that is no file (`is a folder`); None for a file, and where nothing is."""
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        loop = os.path.islink(path) and not os.path.exists(path)
        return "is a link that leads nowhere" if loop else None
    return next((said for test, said in _KINDS if test(mode)), None)


class Amiss(NamedTuple):
    """What is wrong with a place, and what to do about it; both in one sentence as text."""

    what: str
    instead: str

    def __str__(self) -> str:
        return f"{self.what}: {self.instead}"


def no_folder(path: Path, above: int = 1) -> Amiss | None:
    """Why nothing can be looked up in a folder although something stands in its place.

    above: how many folders above it are looked at as well. None where it can, and where nothing is there.
    """
    for place in (*reversed(path.parents[:above]), path):
        try:
            folder = stat.S_ISDIR(os.stat(place).st_mode)
        except OSError:
            return Amiss(f"{place} is a link that leads nowhere", _AWAY) if place.is_symlink() else None
        if not folder:
            return Amiss(f"{place} {kind_of(place) or 'is a file'}, no folder", _AWAY)
        if not os.access(place, os.X_OK | (os.R_OK if place == path else 0)):
            return Amiss(f"{place} may not be read", "give yourself the right to, as with chmod u+rwx")
    return None


def here() -> Path:
    """The current folder. Raises UsageError where it is gone."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        raise UsageError("the current folder is gone: change to one that exists") from None


def at_home(path: str | os.PathLike[str]) -> Path:
    """A path with its `~` resolved; where nobody is called so, as it stands."""
    return Path(os.path.expanduser(path))
