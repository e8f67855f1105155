"""What the first line of a notebook's cell tells a run that is started through another door."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

from nika_nb.doors import option
from nika_nb.errors import UsageError
from nika_nb.runs.inputs import parse_variable
from nika_nb.runs.options import add_run_options, fields_of
from nika_nb.runs.words import split


@dataclass(frozen=True, slots=True)
class FirstLine:
    """The options of a cell, as far as they concern its run.

    told: fields of a Request. variables: its `--var`s. dicts: what is written under `--vars`, and the
    names behind a `$`, whose values only the notebook's own kernel knows. rest: the words that are about
    the notebook.
    """

    told: Mapping[str, Any] = field(default_factory=dict)
    variables: Mapping[str, Any] = field(default_factory=dict)
    dicts: tuple[str, ...] = ()
    rest: tuple[str, ...] = ()

    def inputs(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The cell's inputs with the caller's over them.

        Raises UsageError where the cell takes them from its notebook's memory and the caller gives none.
        """
        if self.dicts and not given:
            names = ", ".join(f"`{name}`" for name in self.dicts)
            how = "" if all(name[0] == "$" for name in self.dicts) else " (--vars)"
            raise UsageError(
                f"nothing was run: the cell takes its inputs from {names} of the running notebook{how}, "
                f"which is not known here. Give them with {option('var', 'NAME=…')}"
            )
        return {**self.variables, **given}

    @property
    def notices(self) -> tuple[str, ...]:
        """What the line says and another door does not follow."""
        words = " ".join([*(name if name[0] == "$" else f"--vars {name}" for name in self.dicts), *self.rest])
        said = f"of the cell's first line, `{words}` concerns the notebook and is not followed here"
        return (said,) if words else ()


def first_line(options: str, where: str) -> FirstLine:
    """Reads what stands behind `%%nika`. where: how people call the cell. Raises UsageError."""
    if not options:
        return FirstLine()
    foreign: list[str] = []  # names of the notebook's memory, as they are written

    def value_of(name: str) -> str:
        foreign.append(f"${name}")
        return foreign[-1]

    parser = _Parser(where)
    add_run_options(parser)
    parser.add_argument("--vars", action="append", default=[])
    try:
        found, rest = parser.parse_known_args(split(options, value_of))
    except UsageError as error:
        raise UsageError(f"{where}, first line: %%nika {options}: {error}") from None
    known = [text for text in found.var if not any(name in text for name in foreign)]
    given = [name for name in foreign if any(name in text for text in found.var)]
    for name in foreign:
        if name not in given:
            raise UsageError(
                f"{where}, first line: {name} is a variable of the running notebook, not known here"
            )
    dicts = (*found.vars, *dict.fromkeys(given))
    return FirstLine(fields_of(found), dict(parse_variable(text) for text in known), dicts, tuple(rest))


class _Parser(argparse.ArgumentParser):
    def __init__(self, where: str) -> None:
        super().__init__(add_help=False, allow_abbrev=False)
        self._where = where

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{self._where}, first line: {message}")
