"""What became of a task as something to read: indented where it has a shape, bounded whatever its size."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from nika_nb.board.clean import block, clean, inline
from nika_nb.board.style import MONO, QUIET, TRACK, plain
from nika_nb.board.text import without_item

SHOWN = 20_000  # characters


@dataclass(frozen=True, slots=True)
class Section:
    """One thing to read of a unit: its output, its error."""

    what: str
    value: Any


def mimebundle(unit: str, sections: Sequence[Section]) -> dict[str, str]:
    """All of it as HTML and as text. unit: whose it is, `rows` or `rows[3]`."""
    return {"text/html": page_html(unit, sections), "text/plain": page_text(sections)}


def page_text(sections: Sequence[Section]) -> str:
    """The same as text alone; several sections stand apart, each under its name."""
    told = [(section.what, *_told(section.value)) for section in sections]
    pieces = [(what, clean(text, SHOWN + 1) + rest) for what, text, rest in told]
    return "\n\n".join(f"{what}:\n{text}" if len(pieces) > 1 else text for what, text in pieces)


def page_html(unit: str, sections: Sequence[Section]) -> str:
    """The same, as HTML to stand in a panel."""
    return "".join(_section(unit, section) for section in sections)


def _section(unit: str, section: Section) -> str:
    text, rest = _told(section.value)
    style = f"{MONO};font-size:12px;line-height:1.45;white-space:pre-wrap;overflow-wrap:anywhere"
    frame = f"max-height:320px;overflow:auto;padding:4px 8px;border-left:2px solid {TRACK}"
    name = f'<div style="{QUIET};font-size:12px">{inline(section.what)} of {inline(unit, 80)}</div>'
    more = f'<div style="{QUIET};font-size:12px">{inline(rest)}</div>' if rest else ""
    return plain(f'{name}<div tabindex="0" style="{style};{frame}">{block(text, SHOWN + 1)}</div>{more}')


def whole_error(record: dict[str, Any]) -> str:
    """An error record as text, every line of it, and of a fan-out each item that failed."""
    first = f"{record.get('code')} · {record.get('message')}"
    details = record.get("details")
    items = details.get("items") if isinstance(details, dict) else None
    if not isinstance(items, list):
        return first
    told = [f"[{i.get('item')}] {i.get('code')} · {i.get('message')}" for i in items if isinstance(i, dict)]
    return "\n\n".join([without_item(first), *told]) if told else first


def _told(value: Any) -> tuple[str, str]:
    """(the beginning, what is said of the rest)."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)
    rest = len(text) - SHOWN
    return text[:SHOWN], f"\n… and {rest:,} more characters" if rest > 0 else ""
