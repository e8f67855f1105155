"""What the text of a shell line gives away, before it is taken apart."""

from __future__ import annotations

import re
from collections.abc import Iterator

from nika_nb.authority.shell import base

_FORK_BOMB = re.compile(r"\(\s*+\)\s*+\{\s*+([\w:.]++)\s*+\|\s*+\1(?![\w:.])\s*+&\s*+;?\s*+\}")
_RUNS_TEXT = re.compile(r"eval|source|\.|(?:ba|da|z|k|a)?sh|python[\d.]*|perl|ruby|node")
_REMOTE_TEXT = re.compile(r"(?:<\(|\$\(|`)\s*+(?:curl|wget)\b")


def is_fork_bomb(text: str) -> bool:
    """`name(){ name | name & }`; looked for from its bracket, for names stand everywhere."""
    for found in _FORK_BOMB.finditer(text):
        end = found.start()
        while end and text[end - 1].isspace():
            end -= 1
        if text.endswith(found[1], 0, end):
            return True
    return False


def runs_remote_text(text: str) -> bool:
    """Whether a command that runs text is given what a fetcher brings."""
    for command in re.split(r"[;|]", text):
        fetched = [found.start() for found in _REMOTE_TEXT.finditer(command)]
        if fetched and any(end <= fetched[-1] for end in _interpreters(command)):
            return True
    return False


def _interpreters(command: str) -> Iterator[int]:
    """Where the names end of what runs text."""
    for word in re.finditer(r"[^\s&(]++(?=\s)", command):
        if _RUNS_TEXT.fullmatch(base(word.group())):
            yield word.end()
