"""The difference of two recorded JSON texts, line by line."""

from __future__ import annotations

import json
from difflib import unified_diff

from nika_nb.values import Json, loads

_LINES = 2000  # of each side: comparing more would take longer than it helps
_CONTEXT = 2


def text_diff(before: str | None, after: str | None) -> tuple[str, ...]:
    """The lines that went (-) and came (+), with some around them; a text by its lines, else indented JSON.

    None: nothing is recorded. Of very long values only their sizes are told.
    """
    if before == after:
        return ()
    old, new = _lines(before), _lines(after)
    if max(len(old), len(new)) > _LINES:
        return (f"- {len(before or ''):,} characters", f"+ {len(after or ''):,} characters")
    found = list(unified_diff(old, new, n=_CONTEXT, lineterm=""))[3:]  # without files and the first place
    return tuple("…" if line.startswith("@@ ") else line for line in found)


def _lines(text: str | None) -> list[str]:
    if text is None:
        return []
    value = _value(text)
    if isinstance(value, str):
        return value.splitlines() or [""]
    indented = json.dumps(value, ensure_ascii=False, indent=1).splitlines()
    return [line.removesuffix(",") for line in indented]  # a new last element does not change the one before


def _value(text: str) -> Json:
    try:
        return loads(text)
    except (ValueError, RecursionError):
        return text
