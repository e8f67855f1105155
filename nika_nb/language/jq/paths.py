"""Plain paths (`.`, `.a.b[0]`) read without the evaluator: the same answers, for nearly nothing."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Final

_STEP = re.compile(r'\.([A-Za-z_][A-Za-z0-9_]*)|\[(-?[0-9]{1,18})\]|\["([^"\\]*)"\]')

UNANSWERED: Final = object()


def read(program: str, value: Any) -> Any:
    """What a plain path finds in a JSON value.

    UNANSWERED where the program is more than a plain path and where the evaluator has something
    to say about it: its errors are its own.
    """
    steps = _steps(program)
    if steps is None:
        return UNANSWERED
    for step in steps:
        value = _take(step, value)
    return UNANSWERED if isinstance(value, bytes) else value


def _take(step: str | int, value: Any) -> Any:
    if value is None:
        return None
    if isinstance(step, str):
        return value.get(step) if isinstance(value, dict) else UNANSWERED
    if not isinstance(value, list):
        return UNANSWERED
    return value[step] if -len(value) <= step < len(value) else None


@lru_cache(maxsize=1024)
def _steps(program: str) -> tuple[str | int, ...] | None:
    """The keys and indices of a plain path; None for any other program."""
    text = program.strip(" \t\r\n")
    if text[:1] != ".":
        return None
    at = 1 if text == "." or text[1:2] == "[" else 0
    steps: list[str | int] = []
    while at < len(text):
        match = _STEP.match(text, at)
        if match is None:
            return None
        name, index, key = match.groups()
        steps.append(int(index) if index is not None else name if name is not None else key)
        at = match.end()
    return tuple(steps)
