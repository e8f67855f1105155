"""What makes a cell resume one trace wherever its notebook goes: its first line, and the files."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from shlex import quote
from typing import Any

from nika_nb.board.forecast import Forecast
from nika_nb.errors import UsageError
from nika_nb.language.binding import bound
from nika_nb.runs.draft import Draft, draft
from nika_nb.runs.first_line import first_line
from nika_nb.runs.forecast import forecast
from nika_nb.runs.inputs import how_given, parse_value
from nika_nb.runs.request import Document
from nika_nb.trace.trace import Trace
from nika_nb.trace.trust import judge
from nika_nb.values import dumps

LONGEST = 500  # characters of an input that is written into a first line

# A word as it is written: its quotes and its `$name` stay what they are.
_WORD = re.compile(r"""(?:[^\s'"\\]|\\.|'[^']*'|"(?:\\.|[^"\\])*")+""")

# What belongs to another resume than the one that is carried, and how many words follow it.
_DROPPED = {
    "--resume": 1, "--from": 1, "--answer": 1, "--resume-compat": 1,
    "--ask-in-flight": 0, "--resume-unverified": 0,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Carried:
    """How a cell resumes a trace.

    line: its first line behind the magic. ahead: what a reader's run of it will do. files: what the
    workflow is made of besides its text, as ways from the notebook's folder.
    """

    line: str
    ahead: Forecast
    files: tuple[str, ...]


def carried(document: Document, options: str, path: Path, way: str) -> Carried:
    """way: how the first line will name the trace. Runs nothing.

    Raises ResumeRefused for a trace that no reader could resume, CheckRefused or UsageError where the
    cell could not be run.
    """
    trust = judge(path)
    if trust.trace is None:
        raise UsageError("\n".join(trust.notices))
    line = " ".join(_fitted(document, list(_kept(_WORD.findall(options))), trust.trace))
    fitting = replace(document, line=first_line(line, document.source.name))
    request = fitting.request(variables=trust.trace.input_values or {}, resume=path)
    line = f"{line} --resume {quote(way)}".lstrip()
    return Carried(line, forecast(request), tuple(_files(draft(request))))


def _kept(words: list[str]) -> Iterator[str]:
    """The words that are not about another resume."""
    rest = iter(enumerate(words))
    for at, word in rest:
        name, sign, _ = word.partition("=")
        if name not in _DROPPED:
            yield word
        elif _DROPPED[name] and not sign and at + 1 < len(words) and not words[at + 1].startswith("--"):
            next(rest)


def _fitted(document: Document, words: list[str], trace: Trace) -> list[str]:
    """The words with the model and the inputs that the recorded run was given besides."""
    said = first_line(" ".join(words), document.source.name)
    model = trace.prologue.get("model_override")
    if isinstance(model, str) and not said.told.get("model"):
        words = [*words, "--model", quote(model)]
    if said.dicts:  # its own kernel has the values
        return words
    recorded = trace.input_values or {}
    workflow = draft(replace(document, line=said).request(variables=recorded, resume=trace.path)).workflow
    today, _ = bound(workflow, said.variables, how_given("var"))
    differing = {name: value for name, value in recorded.items() if today.get(name) != value}
    return [
        *words,
        *(word for name, value in differing.items() for word in ("--var", quote(_written(name, value)))),
    ]


def _written(name: str, value: Any) -> str:
    """`name=value`, to be read as what it is. Raises UsageError for what does not fit a line."""
    text = value if isinstance(value, str) and parse_value(value) == value else dumps(value)
    if len(text) > LONGEST or "\n" in text:
        raise UsageError(
            f"the recorded run was given `{name}`, which is too long for a cell's first line: take it from a "
            "dict of the notebook (--vars), or give it a default in the workflow"
        )
    return f"{name}={text}"


def _files(drafted: Draft) -> Iterator[str]:
    """The called workflows, and everybody's skills."""
    plans = {"": drafted.plan} | {callee.name: callee.plan for callee in drafted.children}
    for name, plan in plans.items():
        ways = [name, *(os.path.join(os.path.dirname(name), skill) for skill in plan.skills)]
        yield from (os.path.normpath(way) for way in ways if way)
