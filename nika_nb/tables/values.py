"""Recorded JSON texts as Python values."""

from __future__ import annotations

from typing import Any

from nika_nb.values import loads


def value_of(text: str | None) -> Any:
    """The value in a JSON text; None where there is none, or none that can be read."""
    try:
        return None if text is None else loads(text)
    except (ValueError, RecursionError):
        return None
