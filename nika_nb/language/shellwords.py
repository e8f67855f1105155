"""A line as people type it at a terminal, taken apart where no shell is needed to understand it."""

from __future__ import annotations

import re
import shlex

_ISLAND = re.compile(r"\$\{\{.*?\}\}", re.DOTALL)
_STEERS = re.compile(r"[|&;<>$`*?()\n]|(?:^|\s)~|^\s*\w+=")  # what only a shell gives its meaning
_LONGEST = 4000  # characters of a line that is worth taking apart
_MARK = "\uf8ff{}\uf8ff"  # stands for an island while the line is split


def words_of(line: str) -> list[str]:
    """The words of a line, its islands whole; empty for one that only a shell can read."""
    if len(line) > _LONGEST:
        return []
    islands = _ISLAND.findall(line)
    for number, island in enumerate(islands):
        line = line.replace(island, _MARK.format(number), 1)
    if _STEERS.search(line):
        return []
    try:
        words = shlex.split(line)
    except ValueError:
        return []
    return [_restored(word, islands) for word in words]


def _restored(word: str, islands: list[str]) -> str:
    for number, island in enumerate(islands):
        word = word.replace(_MARK.format(number), island)
    return word
