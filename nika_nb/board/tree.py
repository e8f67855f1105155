"""A value to look into: as HTML that unfolds, as lines of JSON; cut where it is huge, and saying so."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from typing import Any

from nika_nb.board.clean import block, inline, one_line
from nika_nb.board.style import MONO, QUIET, plain
from nika_nb.values import type_name

MOST = 500  # values that are drawn, those inside others counted
ENTRIES = 100  # of one list or object
CHARACTERS = 4_000  # of one text
LETTERS = 40_000  # of all texts together
DEEPEST = 24  # levels
_UNFOLDED = 2  # levels that are open from the start


class _Budget:
    """How much may still be drawn of one value."""

    def __init__(self) -> None:
        self.values = MOST
        self.letters = LETTERS


def html(value: Any) -> str:
    """Objects and lists unfold; whatever stands in them is escaped text."""
    style = f"{MONO};font-size:12px;line-height:1.5;overflow-wrap:anywhere"
    return plain(f'<div style="{style}">{_drawn(value, "", 0, _Budget())}</div>')


def _drawn(value: Any, name: str, depth: int, left: _Budget) -> str:
    left.values -= 1
    label = f'<span style="{QUIET}">{inline(name, 120)}:</span> ' if name else ""
    if isinstance(value, (dict, list)) and value:
        return _container(value, label, depth, left)
    if isinstance(value, str):
        quote = f'<span style="{QUIET}">&quot;</span>' if depth else ""  # "12" is not 12
        return f"<div>{label}{quote}{_text(value, left, quote)}</div>"
    return f"<div>{label}{inline(_scalar(value))}</div>"


def _container(value: dict[str, Any] | list[Any], label: str, depth: int, left: _Budget) -> str:
    count = "1 entry" if len(value) == 1 else f"{len(value):,} entries"
    head = f'{label}<span style="{QUIET}">{"{…}" if isinstance(value, dict) else "[…]"} {count}</span>'
    if depth >= DEEPEST:
        return f"<div>{head} {_note('nested too deeply to be shown')}</div>"
    unfolded = " open" if depth < _UNFOLDED and len(value) <= ENTRIES else ""
    body = "".join(_entries(value, depth, left))
    style = "padding-left:16px"
    return (
        f'<details{unfolded}><summary style="cursor:pointer">{head}</summary>'
        f'<div style="{style}">{body}</div></details>'
    )


def _entries(value: dict[str, Any] | list[Any], depth: int, left: _Budget) -> Iterator[str]:
    shown = 0
    for name, inside in islice(_named(value), ENTRIES):
        if left.values <= 0 or left.letters <= 0:
            break
        yield _drawn(inside, name, depth + 1, left)
        shown += 1
    if shown < len(value):
        yield f"<div>{_note(f'and {len(value) - shown:,} more')}</div>"


def _named(value: dict[str, Any] | list[Any]) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        yield from ((str(name) or '""', inside) for name, inside in value.items())
    else:
        yield from ((str(at), inside) for at, inside in enumerate(value))


def _text(value: str, left: _Budget, quote: str) -> str:
    most = max(0, min(CHARACTERS, left.letters))
    left.letters -= min(len(value), most)
    shown = block(value, most) if most else ""
    note = f" {_note(f'cut: it has {len(value):,} characters')}" if len(value) > most else ""
    bare = "" if quote else _note("empty text")
    return f'<span style="white-space:pre-wrap">{shown or bare}</span>{quote}{note}'


def _note(words: str) -> str:
    return f'<span style="{QUIET};font-style:italic">{words}</span>'


def _scalar(value: Any) -> str:
    if isinstance(value, (dict, list)):
        return "{}" if isinstance(value, dict) else "[]"
    return json.dumps(value) if value is None or isinstance(value, (bool, int, float)) else type_name(value)


# -- as lines ----------------------------------------------------------------------------------


def lines(value: Any, most: int, width: int = 400) -> list[str]:
    """At most so many lines of at most so many characters: a text as it is, anything else as JSON."""
    all_lines = _text_lines(value) if isinstance(value, str) else _json_lines(value, "", "", 0)
    found = [_short(line, width) for line in islice(all_lines, most + 1)]
    return found if len(found) <= most else [*found[: most - 1], "… and more"]


def _text_lines(value: str) -> Iterator[str]:
    """The beginning of a text, line by line."""
    yield from value[:CHARACTERS].split("\n")
    if len(value) > CHARACTERS:
        yield f"… it has {len(value):,} characters"


def _json_lines(value: Any, label: str, comma: str, depth: int) -> Iterator[str]:
    indent = "  " * depth
    if not isinstance(value, (dict, list)) or not value or depth >= DEEPEST:
        yield f"{indent}{label}{_json(value)}{comma}"
        return
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    yield f"{indent}{label}{opening}"
    last = len(value) - 1
    for at, (name, inside) in enumerate(_named(value)):
        key = f"{json.dumps(name, ensure_ascii=False)}: " if isinstance(value, dict) else ""
        yield from _json_lines(inside, key, "," if at < last else "", depth + 1)
    yield f"{indent}{closing}{comma}"


def _json(value: Any) -> str:
    if isinstance(value, (dict, list)) and value:
        return "{…}" if isinstance(value, dict) else "[…]"
    if isinstance(value, str):
        return json.dumps(value[:CHARACTERS], ensure_ascii=False)
    return json.dumps(value, ensure_ascii=False)


def _short(line: str, width: int) -> str:
    """One line made safe, its indent kept."""
    bare = line.lstrip(" ")
    indent = line[: min(len(line) - len(bare), width // 2)]
    return indent + one_line(bare, max(8, width - len(indent)))
