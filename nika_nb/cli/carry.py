"""`nika-nb book carry`: a notebook takes the trace of a run along, so that its readers need no key."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from pathlib import Path

from nika_nb.board.clean import one_line
from nika_nb.books.book import Book, read_book
from nika_nb.books.cells import BookCell
from nika_nb.books.edit import replace_file, set_options
from nika_nb.books.made import MadeTrace, restored, traces
from nika_nb.cli.book import address, found
from nika_nb.cli.console import say
from nika_nb.cli.streams import print_lines
from nika_nb.errors import UsageError
from nika_nb.openers import SEPARATOR
from nika_nb.runs.carrying import Carried, carried
from nika_nb.runs.naming import named
from nika_nb.runs.put_back import put_back
from nika_nb.runs.request import document
from nika_nb.trace.folder import TraceFolder
from nika_nb.values import plural

FOLDER = "traces"  # beside the notebook: `.nika` is nobody's to commit


def carry_command(options: argparse.Namespace) -> int:
    """Copies a trace beside the notebook, and has the cell resume it; says what readers will still run."""
    path, name = address(options.book)
    book = read_book(path)
    cell = book.find(name)
    source = _trace(book, cell, options.trace)
    target = path.parent / FOLDER / _file_name(book, cell)
    given = document(f"{path}{SEPARATOR}{cell.id or cell.number}")
    fitting = carried(given, cell.options, source, f"{FOLDER}/{target.name}")
    target.parent.mkdir(exist_ok=True)
    replace_file(target, source.read_bytes())
    set_options(book, cell, fitting.line)
    print_lines(*_told(book, cell, fitting, target))
    return 0


def _file_name(book: Book, cell: BookCell) -> str:
    """After the workflow; after its cell as well where several have that name."""
    key = str(cell.id or cell.number)
    several = sum(other.name == cell.name for other in book.workflows) > 1
    name = f"{cell.name}-{key}" if several else cell.name or key
    return f"{name.replace(os.sep, '_')}.ndjson"


# -- which trace -------------------------------------------------------------------------------


def _trace(book: Book, cell: BookCell, trace: str | None) -> Path:
    """The one named, the newest that completed, or the one that the cell's output carries."""
    folder = TraceFolder(book.file.path.resolve().parent)
    if trace is not None:
        return named(trace, folder)
    for entry in folder.list():
        if entry.workflow == cell.name and entry.state == "completed":
            return entry.path
    for made in reversed(traces(book.file.path)):
        if made.cell == cell.number and made.carried:
            return found(book.file.path, made) or _put_back(made, folder)
    raise UsageError(
        f"no run of `{cell.name}` has completed beside {book.name}: run the cell to its end first, or name "
        "a trace with --trace"
    )


def _put_back(made: MadeTrace, folder: TraceFolder) -> Path:
    """The journal out of a cell's output, where it had been; it has to be what the output speaks of."""
    content, path = restored(made), folder.path / made.name
    put_back(content, made.head, path)
    say(f"nika-nb: {made.name} was gone, and was put back out of the output of cell {made.cell}")
    return path


# -- what is said ------------------------------------------------------------------------------


def _told(book: Book, cell: BookCell, fitting: Carried, target: Path) -> Iterator[str]:
    """How much a reader gets for nothing, what not, and what belongs into the repository."""
    tasks = [task for task in fitting.ahead.tasks if "/" not in task.task]
    live = [task for task in tasks if task.works]
    way = f"{FOLDER}/{target.name}"
    yield f"{one_line(f'{book.name}{SEPARATOR}{cell.name}')} · cell {cell.number} · --resume {way}"
    need = "needs" if len(tasks) == 1 else "need"
    yield f"  {len(tasks) - len(live)} of {plural(len(tasks), 'task')} {need} nothing of a reader"
    for task in live:
        does = "runs" if task.fate == "run" else "may run"
        yield f"  {one_line(task.task)} {does} for every reader: {one_line(task.why) or 'it is not recorded'}"
    yield f"  commit {' '.join(map(one_line, (book.name, way, *fitting.files)))}"
    yield "  whoever has the trace can read the inputs and outputs of its tasks"
