"""What callers in Python hand over, before anything is made of it: of the right kind, or told so."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nika_nb.errors import UsageError
from nika_nb.runs.run import Run


def mapping(given: Any, name: str, example: str) -> dict[str, Any]:
    """Values by name. Raises UsageError for what is no mapping."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise UsageError(f"{name} are values by name, as in {example}, not {type(given).__name__}")
    return dict(given)


def cap(given: Any) -> float | None:
    """An amount in US dollars. Raises UsageError for what is none."""
    if given is None:
        return None
    if (
        isinstance(given, bool)
        or not isinstance(given, (int, float))
        or not math.isfinite(given)
        or given < 0
    ):
        raise UsageError(f"max_cost_usd is an amount in US dollars, as in max_cost_usd=0.5, not {given!r}")
    return float(given)


def resumed(given: Any, name: str = "resume") -> str | Path | bool | None:
    """What to resume from: a run stands for its trace. Raises UsageError for what names none.

    name: what the caller calls it.
    """
    if isinstance(given, Run):
        if given.trace is None:
            raise UsageError(f"`{given.workflow}` wrote no trace, so there is nothing to resume from")
        return given.trace
    if given is None or isinstance(given, (bool, str)):
        return given
    if isinstance(given, os.PathLike):
        return str(os.fspath(given))
    raise UsageError(f"{name} is a trace, a run, True or False, not {type(given).__name__}")
