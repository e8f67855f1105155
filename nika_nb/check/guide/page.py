"""A page of the guide: sentences, tables and samples, written as plain text."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

_WIDTH = 100
_BESIDE = 60  # characters of the columns before the last one, which else stands below them
_INDENT = "  "


@dataclass(frozen=True, slots=True)
class Table:
    """rows: each as long as head; cells may hold Markdown's backquotes."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Sample:
    """A piece of a workflow, or of what stands around one."""

    text: str
    language: str = "yaml"


Block = str | Table | Sample


@dataclass(frozen=True, slots=True)
class Page:
    """name: what it is asked by. about: one sentence. also: other topics, where there is more."""

    name: str
    about: str
    blocks: tuple[Block, ...] = ()
    also: tuple[str, ...] = ()

    def __str__(self) -> str:
        parts = [f"{self.name}\n{_INDENT}{_folded(self.about, len(_INDENT))}" if self.about else self.name]
        parts += map(_plain, self.blocks)
        parts += [f"see also: {', '.join(self.also)}"] if self.also else []
        return "\n\n".join(parts)


def _plain(block: Block) -> str:
    match block:
        case Table():
            return "\n".join(_lines(block))
        case Sample():
            return textwrap.indent(block.text.rstrip(), _INDENT * 2)
    return _folded(block, 0)


def _lines(table: Table) -> list[str]:
    """A line per row, below the heads where there are any; the last column is folded below itself."""
    rows = [*([table.head] if any(table.head) else []), *table.rows]
    widths = [max(len(row[column]) for row in rows) for column in range(len(table.head) - 1)]
    shown = rows if sum(widths) <= _BESIDE else table.rows
    return [_line(row, widths) for row in shown]


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    start = _INDENT + "".join(f"{cell:<{width}}  " for cell, width in zip(row, widths, strict=False))
    if sum(widths) <= _BESIDE:
        return f"{start}{_folded(row[-1], len(start))}".rstrip()
    return f"{start.rstrip()}\n{_INDENT * 4}{_folded(row[-1], len(_INDENT) * 4)}"


def _folded(text: str, indent: int) -> str:
    width = max(_WIDTH - indent, 30)
    folded = textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False)
    return f"\n{' ' * indent}".join(folded)
