"""A notebook as a shelf of workflows: what is in it, and the one that is meant."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from nika_nb.books.cells import MAGIC, BookCell, misplaced, workflow_cells
from nika_nb.books.file import BookFile, read_file
from nika_nb.errors import Source, UsageError
from nika_nb.openers import SEPARATOR, Opened
from nika_nb.values import nearest

_PYTHONS = re.compile("python|sage")  # languages of kernels that are IPython


@dataclass(frozen=True, slots=True)
class Book:
    """The workflows of one notebook, in the order of their cells."""

    file: BookFile
    workflows: tuple[BookCell, ...]

    @property
    def name(self) -> str:
        return self.file.path.name

    def find(self, name: str | None = None) -> BookCell:
        """The workflow called so: by its name, by its cell's id, or by its cell's number.

        Without a name the only one. Raises UsageError that says what there is.
        """
        if name is None:
            return self._only()
        for found in (self._named(name), [c for c in self.workflows if name in (c.id, str(c.number))]):
            if len(found) == 1:
                return found[0]
            if found:
                raise UsageError(self._ambiguous(name, found))
        raise UsageError(self._absent(name))

    def source(self, cell: BookCell) -> Source:
        """The text of a workflow, called so that its diagnostics name the cell and its lines."""
        name = f"{self.name}{SEPARATOR}{cell.name}" if cell.name else self.name
        return Source(cell.text, f"{name} (cell {cell.number})", first_line=cell.line)

    def _named(self, name: str) -> list[BookCell]:
        return [cell for cell in self.workflows if cell.name == name]

    def _only(self) -> BookCell:
        if len(self.workflows) == 1:
            return self.workflows[0]
        if not self.workflows:
            raise UsageError(self._nothing())
        listing = _lines(self._address(cell) for cell in self.workflows)
        raise UsageError(f"{self.name} holds {len(self.workflows)} workflows; say which one:\n{listing}")

    def _ambiguous(self, name: str, found: list[BookCell]) -> str:
        listing = _lines(f"{self._address(cell)}  cell {cell.number}" for cell in found)
        return f"`{name}` stands in {len(found)} cells of {self.name}; name the one that is meant:\n{listing}"

    def _absent(self, name: str) -> str:
        if not self.workflows:
            return self._nothing()
        names = list(dict.fromkeys(cell.name for cell in self.workflows if cell.name))
        hint = nearest(name, names) or f"it has {', '.join(names) or 'workflows without a name'}"
        return f"there is no workflow `{name}` in {self.name}; {hint}{self._slips()}"

    def _nothing(self) -> str:
        return f"{self.name} holds no workflow: no code cell begins with {MAGIC}{self._slips()}"

    def _slips(self) -> str:
        """Magics that nobody sees: Jupyter looks for them on the first line only."""
        slips = _lines(
            f"cell {number}, line {line}: {MAGIC} has to be the cell's first line"
            for number, line in misplaced(self.file.cells)
        )
        return f"\n{slips}" if slips else ""

    def _address(self, cell: BookCell) -> str:
        alone = len(self._named(cell.name)) == 1
        return f"{self.file.path}{SEPARATOR}{cell.name if cell.name and alone else cell.id or cell.number}"


def read_book(path: str | Path) -> Book:
    """Raises UsageError for what is no notebook, and for one whose kernel knows no Python."""
    file = read_file(Path(path))
    _judge_kernel(file)
    return Book(file, tuple(workflow_cells(file.cells)))


def workflows(path: str | Path) -> tuple[BookCell, ...]:
    """The workflows of a notebook. Raises UsageError for what is no notebook."""
    return read_book(path).workflows


def opened(path: Path, name: str | None) -> Opened:
    """One workflow of a notebook, to be checked, run or deployed. Raises UsageError."""
    book = read_book(path)
    cell = book.find(name)
    return Opened(book.source(cell), path, cell.id, cell.options)


def _judge_kernel(file: BookFile) -> None:
    """Raises UsageError where no cell can be a workflow: the magic exists in Python only."""
    metadata = file.shape.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    kernel, info = (_dict(metadata.get(name)) for name in ("kernelspec", "language_info"))
    language = kernel.get("language") or info.get("name")
    if isinstance(language, str) and language and not _PYTHONS.search(language.lower()):
        shown = kernel.get("display_name") or kernel.get("name") or language
        raise UsageError(
            f"{file.path.name} is a notebook for {shown}: {MAGIC} is a magic of Python kernels, so no cell "
            "of it is a workflow"
        )


def _dict(value: object) -> dict[str, object]:
    return value if isinstance(value, dict) else {}


def _lines(lines: Iterable[str]) -> str:
    return "\n".join(f"  {line}" for line in lines)
