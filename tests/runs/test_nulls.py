"""A task that ran with null, since what it reads was skipped, says so: row, page, plan and why."""

from __future__ import annotations

from pathlib import Path

import nika_nb
from tests.board.test_html import words

FLOW = """\
nika: flow
permits: { exec: ["echo", "false"] }
inputs: { go: { type: bool, default: false } }
tasks:
  ask: { when: "${{ inputs.go == true }}", exec: { command: ["echo", "full"] } }
  lost: { on_error: { recover: null }, exec: { command: ["false"] } }
  use:
    with: { how: "${{ tasks.ask.output }}", seen: "${{ tasks.ask.status }}" }
    exec: { command: ["echo", "${{ with.how }}", "${{ with.seen }}"] }
  saved:
    with: { it: "${{ tasks.lost.output }}" }
    exec: { command: ["echo", "${{ with.it }}"] }
  spread:
    with: { rows: "${{ tasks.ask.output }}" }
    for_each: { items: "${{ with.rows }}" }
    exec: { command: ["echo", "${{ item }}"] }
"""


def test_a_null_of_a_skipped_task_is_named(folder: Path) -> None:
    """By the binding that reads it and the task that gave none, in the row and on the page."""
    run = nika_nb.run(FLOW)
    assert run.tasks["use"].output == "null skipped"
    rows = run.board.rows
    assert rows["use"].nulls == ("how reads null: ask was skipped",)
    assert rows["saved"].nulls == ("it reads null: lost recovered from NIKA-EXEC-001",)
    assert "       how reads null: ask was skipped\n" in repr(run)
    assert "how reads null: ask was skipped" in words(run._repr_mimebundle_()["text/html"])
    assert nika_nb.why(run)["use"].nulls == ("how reads null: ask was skipped",)
    assert "how reads null: ask was skipped" in repr(nika_nb.why(run))


def test_what_null_broke_says_so_too(folder: Path) -> None:
    """A fan-out over null fails before it begins; the row tells where the null came from."""
    run = nika_nb.run(FLOW)
    assert run.tasks["spread"].state == "failure"
    assert run.board.rows["spread"].nulls == ("rows reads null: ask was skipped",)


def test_a_plan_tells_it_before(folder: Path) -> None:
    """What is certain to be skipped is seen without a run."""
    found = {task.task: task.why for task in nika_nb.plan_resume(FLOW, None).tasks}
    assert found["use"] == "how reads null: ask is skipped"
    assert (
        "null"
        not in {task.task: task.why for task in nika_nb.plan_resume(FLOW, None, vars={"go": True}).tasks}[
            "use"
        ]
    )


def test_a_value_is_not_called_null(folder: Path) -> None:
    """Where the gate was open nothing is said."""
    run = nika_nb.run(FLOW, vars={"go": True})
    assert run.board.rows["use"].nulls == ()
    assert nika_nb.why(run)["use"].nulls == ()
