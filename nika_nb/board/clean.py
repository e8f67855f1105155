"""Text that came from a task, made safe to show: no control codes, no bidi marks, one line, bounded."""

from __future__ import annotations

import re
from html import escape as _escape

from nika_nb.errors import UNSHOWN

_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])")
_SCAN = 8192  # characters that are looked at: more is never shown


def clean(text: str, limit: int = 4000) -> str:
    """The text without escape sequences and invisible signs; newlines and tabs stay.

    At most `limit` characters, the cut marked by an ellipsis.
    """
    cut = text[: limit * 2 + _SCAN]
    shown = UNSHOWN.sub("", _ANSI.sub("", cut.replace("\r\n", "\n").replace("\r", "\n")))
    return shown if len(shown) <= limit and len(cut) == len(text) else shown[: limit - 1] + "…"


def one_line(text: str, limit: int = 200) -> str:
    """The text on one line: every run of blanks is one blank."""
    return clean(" ".join(clean(text, limit * 4).split()), limit)


def last_line(text: str, limit: int = 200) -> str:
    """The last line that says something; of a very long line, its end."""
    lines = [line for line in clean(text[-_SCAN:], _SCAN).split("\n") if line.strip()]
    if not lines:
        return ""
    line = " ".join(lines[-1].split())
    return line if len(line) <= limit else "…" + line[1 - limit :]


def error_line(text: str, limit: int = 240) -> str:
    """An error on one line: its first, and after a colon the last one, for there a program says why."""
    first, _, rest = text.strip().partition("\n")
    first, last = one_line(first, limit), last_line(rest)
    return f"{one_line(first, limit // 2)} … {last}" if last and first.endswith(":") else first


def error_text(text: str, limit: int = 4000) -> str:
    """An error with its lines; of a long one its first line and its end."""
    text = text.strip()
    if len(text) > limit:
        text = f"{error_line(text, limit // 4)}\n…{text[-limit // 2 :]}"
    return clean(text, limit)


def inline(text: str, limit: int = 400) -> str:
    """One line, escaped for HTML text and for double-quoted attributes."""
    return _escape(one_line(text, limit), quote=True)


def block(text: str, limit: int = 4000) -> str:
    """Several lines, escaped for HTML."""
    return _escape(clean(text, limit), quote=True)
