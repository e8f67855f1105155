"""Workflows in notebook files: listed, opened, extracted, embedded; and the traces that their cells left.

from nika_nb import books, then books.workflows("book.ipynb"). Loads what is used, when it is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

_HOMES = {
    "BookCell": "nika_nb.books.cells",
    "opened": "nika_nb.books.book",
    "workflows": "nika_nb.books.book",
}

__all__ = [*_HOMES]

if TYPE_CHECKING:
    from nika_nb.books.book import opened as opened
    from nika_nb.books.book import workflows as workflows
    from nika_nb.books.cells import BookCell as BookCell


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'nika_nb.books' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
