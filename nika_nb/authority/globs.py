"""Glob lists as permits write them: anchored patterns, `*` within a segment, `**` across, `!` takes back."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import groupby

from nika_nb.authority.following import ABOVE, ANYTHING, BELOW, Follower

_MOST_STEPS = 10**7  # of a regular expression, which tries every length for every star


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
    affordable = next((stars for stars in range(8, 1, -1) if len(text) ** stars <= _MOST_STEPS), 1)
    plain, starry = _parted(patterns, affordable)
    return bool(_compiled(plain, stops).fullmatch(text)) or any(
        pattern == text or _follower(pattern, stops).covers(text) for pattern in starry
    )


@lru_cache(maxsize=256)
def _parted(patterns: tuple[str, ...], affordable: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """(those with so many stars at most, those with more)."""
    starry = tuple(pattern for pattern in patterns if len(re.findall(r"\*\*?", pattern)) > affordable)
    return tuple(pattern for pattern in patterns if pattern not in set(starry)), starry


@lru_cache(maxsize=256)
def _follower(pattern: str, stops: str) -> Follower:
    within = _within(stops)
    return Follower(_pieces(pattern, within), within)


def _within(stops: str) -> str:
    return f"[^{re.escape(stops)}]"


@lru_cache(maxsize=256)
def _compiled(patterns: tuple[str, ...], stops: str) -> re.Pattern[str]:
    """All patterns in one expression: a list of thousands is asked as often as there are tasks."""
    within = _within(stops)
    literal = [re.escape(pattern) for pattern in patterns]
    wild = ["".join(_pieces(pattern, within)) for pattern in patterns]
    return re.compile("|".join(dict.fromkeys(literal + wild)) or "(?!)", re.DOTALL)


def _pieces(pattern: str, within: str) -> Iterator[str]:
    """A star right behind one of its kind adds nothing."""
    at, before = 0, ""
    while at < len(pattern):
        step, piece = _piece(pattern, at, within)
        if piece != before or not piece.endswith(("*", ")?")):
            yield piece
        at, before = at + step, piece


def _piece(pattern: str, at: int, within: str) -> tuple[int, str]:
    """(characters consumed, their regular expression)."""
    rest = pattern[at:]
    if rest == "/**":
        return 3, BELOW
    if rest.startswith("/**/"):
        return 3, BELOW
    if rest.startswith("**/") and at == 0:
        return 3, ABOVE
    if rest.startswith("**"):
        return 2, ANYTHING
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
