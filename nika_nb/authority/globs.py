"""Glob lists as permits write them: anchored patterns, `*` within a segment, `**` across, `!` takes back."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from itertools import groupby


def admits(patterns: Iterable[str], text: str, stops: str = "/") -> bool:
    """Whether a list of patterns lets a text through; a later entry overrides an earlier one.

    `*` and `?` never match one of the characters in `stops`.
    """
    for takes_back, listed in groupby(reversed([*patterns]), key=lambda pattern: pattern.startswith("!")):
        if matches(tuple(pattern[takes_back:] for pattern in listed), text, stops):
            return not takes_back
    return False


def matches(patterns: tuple[str, ...], text: str, stops: str = "/") -> bool:
    """Whether one of the patterns (no `!`) covers the whole text. A pattern always covers itself."""
    return bool(_compiled(patterns, stops).fullmatch(text))


@lru_cache(maxsize=256)
def _compiled(patterns: tuple[str, ...], stops: str) -> re.Pattern[str]:
    """All patterns in one expression: a list of thousands is asked as often as there are tasks."""
    within = f"[^{re.escape(stops)}]"
    literal = [re.escape(pattern) for pattern in patterns]
    wild = [_expression(pattern, within) for pattern in patterns]
    return re.compile("|".join(dict.fromkeys(literal + wild)) or "(?!)", re.DOTALL)


def _expression(pattern: str, within: str) -> str:
    out: list[str] = []
    at = 0
    while at < len(pattern):
        step, piece = _piece(pattern, at, within)
        out.append(piece)
        at += step
    return "".join(out)


def _piece(pattern: str, at: int, within: str) -> tuple[int, str]:
    """(characters consumed, their regular expression)."""
    rest = pattern[at:]
    if rest == "/**":
        return 3, "(?:/.*)?"
    if rest.startswith("/**/"):
        return 3, "(?:/.*)?"
    if rest.startswith("**/") and at == 0:
        return 3, "(?:.*/)?"
    if rest.startswith("**"):
        return 2, ".*"
    if rest[0] == "*":
        return 1, f"{within}*"
    if rest[0] == "?":
        return 1, within
    if rest[0] == "[" and (found := re.match(r"\[([!^]?)([^\]/]+)\]", rest)):
        return found.end(), _class(found.group(2), others=bool(found.group(1)))
    return 1, re.escape(rest[0])


def _class(members: str, others: bool) -> str:
    """A class of characters. A range that runs backwards holds none."""
    out = ""
    for first, last, single in re.findall(r"(.)-(.)|(.)", members, re.DOTALL):
        if single or first <= last:
            out += re.escape(single) if single else f"{re.escape(first)}-{re.escape(last)}"
    if others:
        return f"[^/{out}]"
    return f"[{out}]" if out else "(?!)"
