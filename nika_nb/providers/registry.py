"""The providers of this version, by the prefix of a model's name; each is made when it is first used."""

from __future__ import annotations

from collections.abc import Callable

from nika_nb.providers.base import Provider
from nika_nb.providers.mock import Mock

MAKERS: dict[str, Callable[[], Provider]] = {"mock": Mock}


def known() -> tuple[str, ...]:
    """The prefixes that this version serves."""
    return tuple(MAKERS)
