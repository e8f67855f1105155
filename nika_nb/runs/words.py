"""The words of a line of options: quotes as in a shell, `$name` for a variable of the notebook.

A variable is put in word by word, after the line was split: whatever stands in it stays in its word.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Iterator
from os import PathLike
from typing import Any

from nika_nb.errors import UsageError
from nika_nb.values import dumps, to_text

ValueOf = Callable[[str], Any]  # the value of a variable; raises UsageError where there is none

_KEPT = "\uf8fe"  # a dollar sign that is none: quoted, escaped or doubled
_NAME = r"\$(?:(?P<plain>[A-Za-z_]\w*)|\{(?P<braced>[A-Za-z_]\w*)\})"
_ANYWHERE = re.compile(_NAME)
_WHOLE = re.compile(rf"(?P<head>[^$]*=)?{_NAME}")


class Word(str):
    """A word that ends in one variable: its text, and the value itself."""

    value: Any

    def __new__(cls, text: str, value: Any) -> Word:
        found = super().__new__(cls, text)
        found.value = value
        return found


def split(line: str, value_of: ValueOf) -> list[str]:
    """The words of a line. Raises UsageError for an unbalanced quote and for what has no value.

    `$name` and `${name}` stand for a variable, `$$`, `\\$` and every `$` in single quotes for a dollar
    sign. `--option=…$name` comes back as two words, so that the value stays with what it is given to.
    """
    try:
        parts = shlex.split(_protected(line))
    except ValueError as error:
        raise UsageError(str(error)) from None
    return [word for part in parts for word in _expanded(part, value_of)]


def told_pair(word: str, parse: Callable[[str], tuple[str, Any]]) -> tuple[str, Any]:
    """`NAME=VALUE` read by `parse`; a variable of the notebook is the value itself, not its text."""
    name, value = parse(word)
    return (name, word.value) if isinstance(word, Word) else (name, value)


def _protected(line: str) -> str:
    """The line with a mark for every dollar sign that means itself."""
    found: list[str] = []
    quote, at = "", 0
    while at < len(line):
        sign, both = line[at], line[at : at + 2]
        if quote != "'" and both in ("\\$", "$$"):
            found.append(_KEPT)
            at += 2
            continue
        if sign in "'\"" and quote in ("", sign):
            quote = "" if quote else sign
        elif sign == "\\" and quote != "'":
            found.append(both)
            at += 2
            continue
        found.append(_KEPT if sign == "$" and quote == "'" else sign)
        at += 1
    return "".join(found)


def _expanded(part: str, value_of: ValueOf) -> Iterator[str]:
    whole = _WHOLE.fullmatch(part)
    if whole is None:
        text = _ANYWHERE.sub(lambda found: _text(_name(found), value_of(_name(found))), part)
        yield text.replace(_KEPT, "$")
        return
    name, head = _name(whole), (whole["head"] or "").replace(_KEPT, "$")
    option, sign, rest = head.partition("=")
    if option.startswith("--") and sign:
        yield option
        head = rest
    value = value_of(name)
    yield Word(f"{head}{_shown(value)}", value) if head else _text(name, value)


def _name(found: re.Match[str]) -> str:
    return found["plain"] or found["braced"]


def _text(name: str, value: Any) -> str:
    """A value in the middle of a text. Raises UsageError where it has no form there."""
    if isinstance(value, str):
        return value
    path = getattr(value, "trace", value)  # a run stands for its trace
    if isinstance(path, PathLike):
        return str(os.fspath(path))
    try:
        return to_text(value)
    except (TypeError, ValueError):
        kind = type(value).__name__
        raise UsageError(
            f"${name} is a {kind}, which cannot stand in a text: give it whole, as NAME=${name}"
        ) from None


def _shown(value: Any) -> str:
    """What stands for a value where only text goes; it is read again where JSON is."""
    try:
        return value if isinstance(value, str) else dumps(value)
    except (TypeError, ValueError):
        return f"<{type(value).__name__}>"
