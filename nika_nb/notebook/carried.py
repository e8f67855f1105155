"""A cell whose trace is not there any more: where its own saved output carries one, that is put back."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from nika_nb.books.book import Book, read_book
from nika_nb.books.cells import BookCell
from nika_nb.books.made import restored, traces
from nika_nb.errors import NikaError, UsageError
from nika_nb.notebook.session import Session
from nika_nb.runs.put_back import put_back
from nika_nb.runs.request import Request

_MOST = 20  # notebooks that are looked into


def with_its_trace(session: Session, request: Request) -> Request:
    """The request, its trace in place where that can be; what was done is told."""
    target = _missing(request)
    if target is None or not any(_put_back(path, session, request, target) for path in _books(session)):
        return request
    told = f"{request.resume} was gone, and was put back out of this cell's saved output"
    return replace(request, notices=(*request.notices, told))


def _books(session: Session) -> list[Path]:
    """The notebook that runs; where nobody tells which it is, those beside."""
    name = session.surface.notebook
    return [session.folder / name] if name else sorted(session.folder.glob("*.ipynb"))[:_MOST]


def _put_back(path: Path, session: Session, request: Request, target: Path) -> bool:
    try:
        cell = _cell(read_book(path), session.surface.cell_id, request)
        made = next(one for one in reversed(traces(path)) if one.cell == cell.number and one.carried)
        put_back(restored(made), made.head, target)
    except (NikaError, OSError, StopIteration):
        return False
    return True


def _missing(request: Request) -> Path | None:
    """Where the trace would lie that a first line names: below the notebook's folder, or nowhere."""
    if not isinstance(request.resume, str) or not request.resume.endswith(".ndjson"):
        return None
    with suppress(UsageError):
        request.place.folder.resolve(request.resume, request.place.base)
        return None
    target = (request.place.base / request.resume).resolve()
    return target if target.is_relative_to(request.place.base.resolve()) else None


def _cell(book: Book, cell_id: str | None, request: Request) -> BookCell:
    """The cell that runs, as it was saved. Raises StopIteration, UsageError where it is not there."""
    if cell_id is not None and any(cell.id == cell_id for cell in book.workflows):
        return book.find(cell_id)
    return next(cell for cell in book.workflows if cell.text.strip() == request.source.text.strip())
