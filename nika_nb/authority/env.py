"""A child's environment: composed from the floor, the declared passthrough and the task; never inherited."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nika_nb.authority.permits import shared
from nika_nb.catalog.environment import FLOOR, is_dangerous
from nika_nb.errors import Fault
from nika_nb.language.model import Permits
from nika_nb.values import to_text

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True)
class Composed:
    """values: what the child gets. passed: the declared names that the engine's environment had."""

    values: dict[str, str]
    passed: tuple[str, ...]


def compose(permits: Permits | None, task: Mapping[str, Any] | None, environ: Mapping[str, str]) -> Composed:
    """The environment of one child.

    The task's own map wins over the passthrough, which wins over the floor; the names that can
    make a tool run something unwritten are taken out last. Raises Fault NIKA-EXEC-002 for a name
    or a value that no process can carry.
    """
    declared = shared(permits, lambda boundary: boundary.env)
    passed = tuple(name for name in declared if name in environ and not is_dangerous(name))
    values = {name: environ[name] for name in (*FLOOR, *passed) if name in environ}
    values |= {_name(name): _value(name, value) for name, value in (task or {}).items()}
    return Composed({name: value for name, value in values.items() if not is_dangerous(name)}, passed)


def _name(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise Fault(
            "NIKA-EXEC-002",
            f"`env:` has the name {name!r}, which no process can carry; use letters, digits and `_`",
        )
    return name


def _value(name: str, value: Any) -> str:
    text = to_text(value)
    if "\0" in text:
        raise Fault("NIKA-EXEC-002", f"the value of `env: {name}` holds a NUL, which no process can carry")
    return text
