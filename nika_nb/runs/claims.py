"""The right to be at work on a run whose id is known before it begins: one holder at a time."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from nika_nb.errors import ResumeRefused
from nika_nb.runs.lack import Lack, Lacking
from nika_nb.runs.namesakes import NAMESAKE_CODE
from nika_nb.runs.request import Request
from nika_nb.trace.lock import claim, holder, let_go

_TRIES = 20  # to get hold of a file that others take away when they stop


@contextmanager
def claimed(request: Request, run_id: str) -> Iterator[None]:
    """Holds an empty file's lock, which dies with its holder; what a killed one left of it is taken over.

    Raises ResumeRefused, or Lacking, naming the process that is at work on the run. Where no file can be
    made, no journal can either, and nothing is held.
    """
    folder = request.place.folder
    path = folder.path.parent / "starts" / f"{run_id}.{folder.shelf}"
    fd = _taken(path, request, run_id)
    try:
        yield
    finally:
        if fd is not None:
            _cleared(path)
            let_go(fd)


def _taken(path: Path, request: Request, run_id: str) -> int | None:
    """The open file whose lock is held; of one that went away meanwhile the lock is worth nothing."""
    for _ in range(_TRIES):
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except FileNotFoundError:  # whoever stopped just then took the folder away
            continue
        except OSError:
            return None
        if not claim(fd):
            os.close(fd)
            raise _refusal(request, run_id, holder(path)[1])
        with suppress(OSError):
            if os.path.samestat(os.fstat(fd), os.stat(path)):
                return fd
        let_go(fd)
    return None


def _cleared(path: Path) -> None:
    with suppress(OSError):
        path.unlink()
        path.parent.rmdir()


def _refusal(request: Request, run_id: str, pid: int | None) -> Lacking | ResumeRefused:
    """The refusal of whoever came second; a durable run is unrunnable."""
    who = f"process {pid}" if pid else "another process"
    said = f"{run_id} is at work in {'this process' if pid == os.getpid() else who}"
    hint = "a reproducible run has the id that its seed gives: try again when that one has stopped"
    if request.durable:
        return Lacking([Lack(NAMESAKE_CODE, said, hint)])
    return ResumeRefused(f"nothing was run: {said}; {hint}")
