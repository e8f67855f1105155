"""What can be wrong with one call of a tool, and what the text leaves open."""

from __future__ import annotations

from typing import Any, NamedTuple

from nika_nb.catalog.builtins import BUILTINS

ARGUMENTS_CODE = "NIKA-BUILTIN-001"


class Problem(NamedTuple):
    """`path` leads to the argument (and into it), or to its name; empty for the call as a whole."""

    message: str
    hint: str
    path: tuple[str | int, ...] = ()
    code: str = ARGUMENTS_CODE
    about_name: bool = False


def is_open(value: Any) -> bool:
    """Whether only the run knows the value: a template stands in its place."""
    return isinstance(value, str) and "${{" in value


def is_unknown(tool: str) -> bool:
    """Whether this is the exact name of a builtin that does not exist."""
    exact = tool.startswith("nika:") and not any(sign in tool for sign in "*?[$")
    return exact and tool not in BUILTINS
