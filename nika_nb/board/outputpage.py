"""One output as something to read: indented where it has a shape, bounded whatever its size."""

from __future__ import annotations

import json
from typing import Any

from nika_nb.board.clean import block, clean, inline
from nika_nb.board.style import MONO, QUIET, TRACK, plain

SHOWN = 20_000  # characters


def mimebundle(unit: str, value: Any) -> dict[str, str]:
    """An output as HTML and as text. unit: whose it is, `rows` or `rows[3]`."""
    text, rest = _told(value)
    return {"text/html": output_html(unit, value), "text/plain": clean(text, SHOWN + 1) + rest}


def output_html(unit: str, value: Any) -> str:
    """The same, as HTML to stand in a panel."""
    text, rest = _told(value)
    style = f"{MONO};font-size:12px;line-height:1.45;white-space:pre-wrap;overflow-wrap:anywhere"
    frame = f"max-height:320px;overflow:auto;padding:4px 8px;border-left:2px solid {TRACK}"
    name = f'<div style="{QUIET};font-size:12px">output of {inline(unit, 80)}</div>'
    more = f'<div style="{QUIET};font-size:12px">{inline(rest)}</div>' if rest else ""
    return plain(f'{name}<div tabindex="0" style="{style};{frame}">{block(text, SHOWN + 1)}</div>{more}')


def _told(value: Any) -> tuple[str, str]:
    """(the beginning, what is said of the rest)."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)
    rest = len(text) - SHOWN
    return text[:SHOWN], f"\n… and {rest:,} more characters" if rest > 0 else ""
