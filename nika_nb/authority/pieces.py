"""What is cut out of an opaque secret: the stretches that a text has in common with it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from nika_nb.authority.forms import SHORTEST_TELLING

# An address, JSON, settings, a key in lines: which parts of these are credentials is known.
_HAS_PARTS = re.compile(r"\s|://|^[{\[]")


def is_opaque(value: str) -> bool:
    """Whether every stretch of a value is as secret as the whole."""
    return len(value) > SHORTEST_TELLING and _HAS_PARTS.search(value) is None


def stretches(text: str, secret: str) -> Iterator[str]:
    """What stands in both, as far as it goes. None is short."""
    size = SHORTEST_TELLING
    known = {secret[at : at + size] for at in range(len(secret) - size + 1)}
    at = 0
    while at + size <= len(text):
        end = at + size
        if text[at:end] in known:
            while end < len(text) and text[end - size + 1 : end + 1] in known:
                end += 1
            yield text[at:end]
            at = end
        else:
            at += 1
