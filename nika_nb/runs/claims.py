"""The right to be at work on a run whose id is known before it begins: one holder at a time."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial

from nika_nb.errors import ResumeRefused
from nika_nb.runs.lack import Lack, Lacking
from nika_nb.runs.namesakes import NAMESAKE_CODE
from nika_nb.runs.request import Request
from nika_nb.trace.lock import Turn


@contextmanager
def claimed(request: Request, run_id: str) -> Iterator[None]:
    """Raises ResumeRefused, or Lacking, naming the process that is at work on the run."""
    folder = request.place.folder
    path = folder.path.parent / "starts" / f"{run_id}.{folder.shelf}"
    try:
        with Turn(path, partial(_refusal, request, run_id)):
            yield
    finally:
        with suppress(OSError):
            path.parent.rmdir()


def _refusal(request: Request, run_id: str, pid: int | None) -> Lacking | ResumeRefused:
    """The refusal of whoever came second; a durable run is unrunnable."""
    who = f"process {pid}" if pid else "another process"
    said = f"{run_id} is at work in {'this process' if pid == os.getpid() else who}"
    hint = "a reproducible run has the id that its seed gives: try again when that one has stopped"
    if request.durable:
        return Lacking([Lack(NAMESAKE_CODE, said, hint)])
    return ResumeRefused(f"nothing was run: {said}; {hint}")
