"""Binds the declared inputs: what the caller gave, else the default; refused before anything runs."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nika_nb.authority.secrets import hidden_before_a_run
from nika_nb.doors import option
from nika_nb.errors import UsageError, hidden
from nika_nb.language.binding import How, bound
from nika_nb.language.model import Workflow
from nika_nb.runs.rows import Rows as Rows
from nika_nb.runs.rows import rows_of as rows_of
from nika_nb.values import dumps, loads

_ENVIRONMENT = "@env:"  # before the name of a variable that gives an input its value


def parse_variable(text: str) -> tuple[str, Any]:
    """`K=V` → (K, value): JSON where V parses as JSON, else the text itself. Raises UsageError."""
    name, sign, raw = text.partition("=")
    if not sign or not name.strip():
        raise UsageError(f"an input is given as NAME=VALUE, not {text!r}")
    return name.strip(), parse_value(raw)


@dataclass(frozen=True, slots=True)
class FromEnvironment:
    """A variable of the environment that gives an input its value, `@env:NAME`, once a run is asked for."""

    name: str


def parse_value(raw: str) -> Any:
    """JSON where it parses, else the text; a variable of the environment by `@env:NAME`."""
    if raw.startswith(_ENVIRONMENT) and raw != _ENVIRONMENT:
        return FromEnvironment(raw.removeprefix(_ENVIRONMENT))
    return _read(raw)


def _read(raw: str) -> Any:
    try:
        return loads(raw)
    except (ValueError, RecursionError):
        return raw


def looked_up(given: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """The inputs with what the environment gives them, and the origin of those; both by name.

    A variable is read as what stands behind `=` is. Raises UsageError for one that is not set.
    """
    values, origins = dict(given), {}
    for name, value in given.items():
        if isinstance(value, FromEnvironment):
            if value.name not in os.environ:
                how = option("var", f"{name}={_ENVIRONMENT}{value.name}")
                raise UsageError(
                    f"nothing was run: {how}, and the environment has no variable `{value.name}`"
                )
            values[name], origins[name] = _read(os.environ[value.name]), "env"
    return values, origins


def bind(
    workflow: Workflow, given: Mapping[str, Any], base: Path, *, deployed: bool = False
) -> dict[str, Any]:
    """Every declared input with its value. Raises UsageError naming each name that does not fit.

    base: where secrets that are files are found. deployed: the workflow is one of a deployment, whose inputs
    some doors take in a way of their own.
    """
    how = how_given("input" if deployed else "var")
    values, troubles = bound(workflow, given, how)
    if troubles:
        troubles = [*misfits(workflow, given, base, how), *_columns(workflow, given)]
        raise UsageError("nothing was run:\n" + "\n".join(f"  {trouble}" for trouble in troubles))
    return values


def misfits(workflow: Workflow, given: Mapping[str, Any], base: Path, how: How) -> list[str]:
    """A sentence per name that does not fit, without the workflow's secrets: what is given may be one."""
    with hidden_before_a_run([workflow], base):
        return [hidden(trouble) for trouble in bound(workflow, given, how)[1]]


def _columns(workflow: Workflow, given: Mapping[str, Any]) -> Iterator[str]:
    """How the rows of a DataFrame with more columns than are declared are made to fit."""
    for name, rows in given.items():
        fields = _fields(workflow, name)
        held = list(rows[0]) if isinstance(rows, Rows) and rows and isinstance(rows[0], dict) else []
        kept = [column for column in held if column in fields]
        if fields and len(kept) < len(held):
            yield f"of a DataFrame keep the columns that `{name}` declares: df[{dumps(kept)}]"


def _fields(workflow: Workflow, name: str) -> dict[str, Any]:
    """The fields of one row of an input; none where any may come."""
    match workflow.inputs[name].type.canonical if name in workflow.inputs else None:
        case {"array": {"object": dict() as fields, **more}} if not more:
            return fields
    return {}


def unfilled(workflow: Workflow, values: Mapping[str, Any]) -> list[str]:
    """A sentence where null stands in for what nobody gave, though the declared type does not say so."""
    names = [
        f"`{declared.name}`"
        for declared in workflow.inputs.values()
        if declared.name in values and values[declared.name] is None and declared.type.conforms(None)
    ]
    are, have = ("is", "has") if len(names) == 1 else ("are", "have")
    said = f"{', '.join(names)} {are} not given and {have} no default: null stands in"
    return [said] if names else []


def how_given(by: str) -> How:
    """How an input is given by an option, in the words of the door."""
    return lambda name, value: option(by, f"{name}={value}")


def origins(workflow: Workflow, given: Mapping[str, Any], origin: str) -> dict[str, str]:
    """Where each bound input came from: the caller's door, or `file` for a declared default."""
    return {
        declared.name: origin if declared.name in given else "file"
        for declared in workflow.inputs.values()
        if declared.name in given or declared.has_default
    }
