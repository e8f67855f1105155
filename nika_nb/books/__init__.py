"""Workflows in notebook files: listed, opened, extracted, embedded; and the traces that their cells left.

from nika_nb import books, then books.workflows("book.ipynb"). Loads what is used, when it is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

_HOMES = {
    "BookCell": "nika_nb.books.cells",
    "Embedded": "nika_nb.books.edit",
    "Extracted": "nika_nb.books.edit",
    "MadeTrace": "nika_nb.books.made",
    "carried": "nika_nb.books.made",
    "embed": "nika_nb.books.edit",
    "extract": "nika_nb.books.edit",
    "opened": "nika_nb.books.book",
    "traces": "nika_nb.books.made",
    "workflows": "nika_nb.books.book",
}

__all__ = [*_HOMES]

if TYPE_CHECKING:
    from nika_nb.books.book import opened as opened
    from nika_nb.books.book import workflows as workflows
    from nika_nb.books.cells import BookCell as BookCell
    from nika_nb.books.edit import Embedded as Embedded
    from nika_nb.books.edit import Extracted as Extracted
    from nika_nb.books.edit import embed as embed
    from nika_nb.books.edit import extract as extract
    from nika_nb.books.made import MadeTrace as MadeTrace
    from nika_nb.books.made import carried as carried
    from nika_nb.books.made import traces as traces


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'nika_nb.books' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
