"""The options of a `%%nika` line."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import Any, Literal, NoReturn

from nika_nb.errors import UsageError
from nika_nb.runs.options import Parser, add_binding_options, add_plan_option, add_run_options
from nika_nb.runs.words import ValueOf, split
from nika_nb.values import is_name


@dataclass(frozen=True, slots=True)
class CellOptions:
    """What the first line of a cell says."""

    var: tuple[str, ...]
    vars: tuple[str, ...]
    model: str | None
    resume: str | Literal[True] | None
    from_: tuple[str, ...]
    ask_in_flight: bool
    answer: tuple[str, ...]
    resume_compat: str | None
    resume_unverified: bool
    max_cost_usd: float | None
    no_gc: bool
    plan: bool
    background: bool
    into: str | None
    check: bool
    quiet: bool
    help: bool


def cell_options(words: list[str], line: str = "%%nika") -> CellOptions:
    """What the words of a line say; line: how it begins. Raises UsageError in one sentence."""
    found = vars(cell_line(line).parse_args(words))
    if found["into"] is not None and not is_name(found["into"]):
        raise UsageError(f"{line} --into {found['into']}: not a name that a variable can have")
    return CellOptions(**{name: _frozen(value) for name, value in found.items()})


def deploy_options(words: list[str]) -> argparse.Namespace:
    """What the words of `%nika deploy` say: name, file, inputs, model, max_cost_usd. Raises UsageError."""
    parser = _Parser(prog="%nika deploy", add_help=False)
    parser.add_argument("name")
    parser.add_argument("file")
    parser.add_argument("inputs", nargs="*")
    parser.add_argument("--var", dest="inputs", action="extend", nargs=1)
    add_binding_options(parser)
    return parser.parse_args(words)


def words_of(line: str, magic: str, value_of: ValueOf) -> list[str]:
    """The words of a line, each variable in its place. Raises UsageError."""
    try:
        return split(line, value_of)
    except UsageError as error:
        raise UsageError(f"{magic} {line}: {error}") from None


def cell_help() -> str:
    return cell_line().format_help()


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


class _Parser(Parser):
    def error(self, message: str) -> NoReturn:
        topic = " deploy" if self.prog == "%nika deploy" else ""
        raise UsageError(f"{self.prog}: {message}; `%nika help{topic}` lists the options")


def cell_line(line: str = "%%nika") -> argparse.ArgumentParser:
    """The words that a `%%nika` line may hold."""
    parser = _Parser(
        prog=line,
        description="Check and run the workflow in this cell.",
        add_help=False,
    )
    add_run_options(parser)
    parser.add_argument(
        "--vars",
        action="append",
        default=[],
        metavar="DICT|NAME=VARIABLE",
        help="inputs from a dict of this notebook, or one from a variable: rows=df takes a DataFrame's rows",
    )
    one_of = parser.add_mutually_exclusive_group()
    one_of.add_argument(
        "--background",
        action="store_true",
        help="return at once: the run goes on behind the cell, with a Stop button, and ends with the kernel",
    )
    add_plan_option(one_of)
    one_of.add_argument("--check", action="store_true", help="only judge the workflow, run nothing")
    parser.add_argument("--into", metavar="NAME", help="the variable that gets the run")
    parser.add_argument("--quiet", action="store_true", help="no panel: one line at the end, and what failed")
    parser.add_argument(
        "--help", action="store_true", help="this text; without a workflow below it: %%nika help"
    )
    return parser
