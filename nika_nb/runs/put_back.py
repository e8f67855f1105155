"""A journal that a saved notebook carries, written where its cell looks for it."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from nika_nb.errors import NikaError, UsageError
from nika_nb.openers import carried_by
from nika_nb.runs.request import Request
from nika_nb.trace.verify import verify

_MOST = 20  # notebooks that are looked into


def out_of_its_cell(request: Request) -> Path | None:
    """The trace that a cell resumes and that is gone, put back out of its output; None where none was."""
    target = _named(request)
    if target is None:
        return None
    for book in _books(request):
        try:
            found = carried_by(book, request.place.cell, request.source.text)
            put_back(found.content, found.head, target)
        except (NikaError, OSError):
            continue
        return target
    return None


def _named(request: Request) -> Path | None:
    """Where the trace would lie: below the notebook's folder, or nowhere."""
    if not isinstance(request.resume, str) or not request.resume.endswith(".ndjson"):
        return None
    target = (request.place.base / request.resume).resolve()
    return target if target.is_relative_to(request.place.base.resolve()) else None


def _books(request: Request) -> list[Path]:
    """The notebook of the cell; where nobody tells a kernel which it is, those beside."""
    place = request.place
    if place.notebook:
        return [place.base / place.notebook]
    return sorted(place.base.glob("*.ipynb"))[:_MOST] if request.door == "%nika" else []


def put_back(content: bytes, head: str | None, target: Path) -> None:
    """Nothing that is there is written over. Raises UsageError for one that is not what its output says."""
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=target.parent, suffix=".ndjson")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        verdict = verify(Path(name))
        if not verdict.intact or verdict.head != head:
            raise UsageError(
                f"the journal that the saved output carries for {target.name} is not the one it names"
            )
        os.link(name, target)
    except FileExistsError:
        raise UsageError(
            f"{target} is not the journal that the saved output tells of: move it away, or name the trace "
            "that is meant"
        ) from None
    finally:
        os.unlink(name)
