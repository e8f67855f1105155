"""Glob lists as permits write them: anchored patterns, `*` within a segment, `**` across, `!` takes back."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache


def admits(patterns: Iterable[str], text: str, stops: str = "/") -> bool:
    """Whether a list of patterns lets a text through; a later entry overrides an earlier one.

    `*` and `?` never match one of the characters in `stops`.
    """
    verdict = False
    for pattern in patterns:
        negated = pattern.startswith("!")
        if matches(pattern[1:] if negated else pattern, text, stops):
            verdict = not negated
    return verdict


def matches(pattern: str, text: str, stops: str = "/") -> bool:
    """Whether one pattern (no `!`) covers the whole text. A pattern always covers itself."""
    return pattern == text or bool(_compiled(pattern, stops).fullmatch(text))


@lru_cache(maxsize=1024)
def _compiled(pattern: str, stops: str) -> re.Pattern[str]:
    within = f"[^{re.escape(stops)}]"
    out: list[str] = []
    at = 0
    while at < len(pattern):
        step, piece = _piece(pattern, at, within)
        out.append(piece)
        at += step
    return re.compile("".join(out), re.DOTALL)


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
        members = found.group(2).replace("\\", "\\\\").replace("[", "\\[").replace("^", "\\^")
        return found.end(), f"[{'^/' if found.group(1) else ''}{members}]"
    return 1, re.escape(rest[0])
