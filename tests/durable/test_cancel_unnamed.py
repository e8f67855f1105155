"""A cancel that names no run ends the only one that can be ended; of several it ends none and lists them."""

from __future__ import annotations

from pathlib import Path

import pytest

import nika_nb
from nika_nb import runs
from tests.doors import frames, nika, traces
from tests.durable.project import Project
from tests.notebook.conftest import notebook as notebook
from tests.notebook.shells import Notebook

ASKS = """\
nika: asker
permits: {tools: ["nika:prompt"]}
tasks:
  ask: {invoke: {tool: "nika:prompt", args: {message: "Keep me?"}}}
"""
WORKS = """\
nika: slow
permits: {exec: [sleep]}
tasks:
  a: {exec: {command: [sleep, "60"]}}
"""


def test_a_run_at_work_and_one_that_waits_are_both_named(here: Project, notebook: Notebook) -> None:
    """Neither is ended; each has its line, and the line ends that one alone."""
    asker = notebook.run(ASKS, "--into asker").value
    slow = notebook.shell.user_ns["slow"] = nika_nb.run(WORKS, background=True)
    said = str(notebook.python("%nika cancel").error)
    assert "2 runs can be cancelled: say which. Nothing was cancelled" in said
    assert f"%nika cancel {asker.id}  asker · asked 2" in said
    assert f"%nika cancel {slow.id}  slow · at work in this process" in said
    assert (asker.state, slow.state) == ("paused", "running")
    notebook.python(f"%nika cancel {slow.id}")
    assert (asker.state, slow.state) == ("paused", "cancelled")
    assert notebook.python("%nika cancel").value is asker
    assert asker.state == "cancelled"
    nothing = str(notebook.python("%nika cancel").error)
    assert nothing == "nothing is at work here, and nothing waits for an answer"


def test_the_only_run_at_work_is_the_one(here: Project, notebook: Notebook) -> None:
    """It has just begun, and need not be named; beside it lies one that is over."""
    notebook.run('nika: over\ntasks:\n  a: {infer: {model: mock/echo, prompt: "x"}}')
    slow = notebook.shell.user_ns["slow"] = nika_nb.run(WORKS, background=True)
    assert notebook.python("%nika cancel").value is slow
    assert slow.state == "cancelled"


@pytest.mark.parametrize("how", ["id", "name", "path", "nothing"])
def test_a_terminal_takes_a_run_a_trace_or_nothing(here: Project, how: str) -> None:
    run_id = here.started(ASKS).run_id
    [trace] = traces(here.root)
    word = {"id": [run_id], "name": [trace.stem], "path": [str(trace)], "nothing": []}[how]
    where = here.root if how != "path" else here.root.parent
    done = nika("cancel", *map(str, word), cwd=where)
    assert done.code == 0, done.err
    assert b"cancelled" in done.out
    assert runs.inspect_run(str(run_id)).outcome == "cancelled"


def test_a_terminal_lists_several(here: Project, tmp_path: Path) -> None:
    """With the folder in each line, where the reader stands elsewhere."""
    both = [here.started(ASKS).run_id, here.started(ASKS).run_id]
    done = nika("cancel", "--root", str(here.root), cwd=here.root.parent)
    assert done.code == 3
    for run_id in both:
        assert f"nika-nb runs cancel --root {here.root} {run_id}  asker · asked" in done.err
    assert [frames(trace)[-1]["kind"] for trace in traces(here.root)] == ["workflow_paused"] * 2


def test_what_is_no_run_is_said(here: Project) -> None:
    done = nika("cancel", "nightly", cwd=here.root)
    assert done.code == 3
    assert "there is no trace nightly" in done.err
