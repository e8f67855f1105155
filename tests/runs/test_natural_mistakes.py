"""What people write in Python at first: taken as it is meant, or refused in a sentence of ours."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import nika_nb
from nika_nb import runs
from nika_nb.errors import UsageError
from nika_nb.runs.shelf import judge_range
from nika_nb.values import is_name

TEXT = """\
nika: w
permits: {exec: [echo]}
inputs: {a: {type: string, default: x}}
tasks: {t: {exec: {command: [echo, "${{ inputs.a }}"]}}}
outputs: {said: "${{ tasks.t.output }}"}
"""


@pytest.fixture
def made(folder: Path) -> nika_nb.Run:
    return nika_nb.run(TEXT)


def test_a_table_is_a_trace(made: nika_nb.Run) -> None:
    """What `read_trace` gave may be asked about like the file."""
    table = nika_nb.read_trace(made)
    assert str(nika_nb.why(table)) == str(nika_nb.why(made))
    assert nika_nb.diff(table, table)
    assert nika_nb.read_trace(table).state == "completed"
    assert nika_nb.attach(table).state == "completed"
    assert nika_nb.run(TEXT, resume=table).outputs == {"said": "x"}


def test_several_traces_are_several_however_they_are_held(made: nika_nb.Run) -> None:
    """A sweep is a list of runs, a dict by what was varied, or a column of a table."""
    again = nika_nb.run(TEXT)
    alone = nika_nb.ledger(made, again)
    names = nika_nb.read_traces().runs["trace"]
    for several in ([made, again], {1: made, 2: again}, iter([made, again]), names):
        assert nika_nb.ledger(several) == alone
    for several in ([made, again], {1: made, 2: again}, names):
        assert list(nika_nb.read_traces(several).runs["trace"]) == list(names)


def test_a_trace_has_the_same_names_at_every_door(made: nika_nb.Run) -> None:
    """Its file's name and its run's id bring a run back as they bring its tables."""
    assert made.trace is not None
    for name in (made.trace.name, made.id, made):
        assert nika_nb.attach(name).trace == made.trace
        assert nika_nb.read_trace(name).run_id == made.id


def test_a_run_is_resumed_like_its_trace(made: nika_nb.Run) -> None:
    """As the magic takes `$run`."""
    again = nika_nb.run(TEXT, resume=made)
    assert again.outputs == {"said": "x"}
    assert "cache hit" in repr(again)


MISTAKES: list[tuple[Callable[[], Any], str]] = [
    (lambda: nika_nb.run(TEXT, vars=["a"]), "vars are values by name"),  # type: ignore[arg-type]
    (lambda: nika_nb.run(TEXT, answer="yes"), "answer are values by name"),  # type: ignore[arg-type]
    (lambda: nika_nb.run(TEXT, max_cost_usd="1"), "max_cost_usd is an amount in US dollars"),  # type: ignore[arg-type]
    (lambda: nika_nb.run(TEXT, max_cost_usd=float("nan")), "max_cost_usd is an amount"),
    (lambda: nika_nb.run(TEXT, resume=[]), "resume is a trace, a run"),  # type: ignore[arg-type]
    (lambda: nika_nb.attach([]), "a run's id, or a Run, not by list"),  # type: ignore[arg-type]
    (lambda: nika_nb.plan_resume(TEXT, []), "trace is a trace, a run"),  # type: ignore[arg-type]
    (lambda: nika_nb.ledger(None), "traces are a folder, a trace, a Run, or a list"),  # type: ignore[arg-type]
    (lambda: nika_nb.ledger([7]), "not by int"),  # type: ignore[list-item]
    (lambda: nika_nb.read_traces(None), "or a list of them, not NoneType"),  # type: ignore[arg-type]
    (lambda: nika_nb.read_traces(b"x"), "or a list of them, not bytes"),  # type: ignore[arg-type]
    (lambda: nika_nb.why(7), "not by int"),  # type: ignore[arg-type]
    (lambda: nika_nb.diff([], {}), "not by list"),  # type: ignore[arg-type]
    (lambda: nika_nb.plan_resume(TEXT, vars=7), "vars are values by name"),  # type: ignore[arg-type]
    (lambda: runs.start(TEXT, vars=7), "vars are values by name"),  # type: ignore[arg-type]
    (lambda: judge_range(10**23, 5), "there are not so many"),
]


@pytest.mark.parametrize(("door", "says"), MISTAKES, ids=[says for _, says in MISTAKES])
def test_what_means_nothing_is_refused(folder: Path, door: Callable[[], Any], says: str) -> None:
    """Before anything has run."""
    with pytest.raises(UsageError, match=says):
        door()
    assert not list(folder.glob(".nika/traces/*.ndjson"))


def test_a_keyword_is_no_name() -> None:
    """Nobody could read a variable that is called `class`."""
    assert [is_name(word) for word in ("run", "class", "None", "1a", "")] == [
        True,
        False,
        False,
        False,
        False,
    ]
