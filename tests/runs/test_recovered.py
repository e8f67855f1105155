"""A recovery that is recorded stands for as long as it would come to the same today."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import nika_nb
from nika_nb.runs.run import Run
from tests.doors import hits, newest, of, ran, reasons
from tests.runs.foretelling import assert_came_true

HEAD = """\
nika: recovers
permits: {exec: ["./say", "false"]}
inputs:
  v: {type: integer, default: 1}
  rows: {type: {array: string}, default: [a, b, c]}
tasks:
  x: {exec: {command: ["./say", "${{ inputs.v }}"]}}
"""
FAILS = 'exec: {command: ["false"]}'


@dataclass(frozen=True)
class Case:
    """A task that recovers, changed inputs, and what its reason says; empty where its record stands."""

    name: str
    task: str
    change: dict[str, Any] = field(default_factory=lambda: {"v": 2})
    reason: tuple[str, ...] = ()
    output: Any = None


CASES = [
    Case(
        "from a task",
        f't: {{{FAILS}, on_error: {{recover: "${{{{ tasks.x.output }}}}"}}}}',
        reason=("input", "on_error.recover (from x)"),
        output="2",
    ),
    Case(
        "from an input",
        f't: {{{FAILS}, on_error: {{recover: "${{{{ inputs.v }}}}"}}}}',
        reason=("input", "on_error.recover"),
        output=2,
    ),
    Case(
        "inside a text",
        f't: {{{FAILS}, on_error: {{recover: {{was: ["v ${{{{ inputs.v }}}}"]}}}}}}',
        reason=("input", "on_error.recover"),
        output={"was": ["v 2"]},
    ),
    Case(
        "to the same, whatever it reads",
        f't: {{{FAILS}, on_error: {{recover: "${{{{ inputs.v > 0 }}}}"}}}}',
        output=True,
    ),
    Case("with nothing to read", f"t: {{{FAILS}, on_error: {{recover: 7}}}}", output=7),
    Case(
        "of a task that did not have to",
        't: {exec: {command: ["./say", "fine"]}, on_error: {recover: "${{ inputs.v }}"}}',
        output="fine",
    ),
    Case(
        "of an element",
        f't: {{for_each: {{items: "${{{{ inputs.rows }}}}"}}, {FAILS}, '
        'on_error: {recover: "${{ item }}${{ inputs.v }}"}}',
        reason=("input", "on_error.recover"),
        output=["a2", "b2", "c2"],
    ),
    Case(
        "of elements, from a task",
        f't: {{for_each: {{items: "${{{{ inputs.rows }}}}"}}, {FAILS}, '
        'on_error: {recover: "${{ tasks.x.output }}"}}',
        reason=("input", "on_error.recover (from x)"),
        output=["2", "2", "2"],
    ),
]


def over(text: str, first: dict[str, Any], then: dict[str, Any]) -> tuple[Run, Run]:
    """A run and its resume with other inputs, which did what had been foretold of it."""
    one = nika_nb.run(text, vars=first)
    ahead = nika_nb.plan_resume(text, one, vars=then)
    two = nika_nb.run(text, vars=then, resume=one.trace)
    assert_came_true(ahead, two)
    told = {task.task: task.fate for task in ahead.tasks}
    assert told["t"] == "skip" if two.tasks["t"].state == "cached" else told["t"] in ("run", "depends")
    return one, two


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_recovery_is_recalled_while_it_comes_to_the_same(say: Path, case: Case) -> None:
    """What it resolved to counts; the reason names it, and what stands behind it runs again as well."""
    text = f"{HEAD}  {case.task}\n" + (
        '  u: {with: {o: "${{ tasks.t.output }}"}, exec: {command: ["./say", "${{ with.o }}"]}}\n'
    )
    _, again = over(text, {}, case.change)
    told = reasons(newest(say))
    assert again.tasks["t"].output == case.output
    assert told.get("t", ()) == case.reason
    assert ("u" in told) == bool(case.reason)
    over(text, case.change, case.change)
    assert {"x", "t", "u"} <= hits(newest(say))


def test_only_the_items_whose_recovery_moved_run_again(say: Path) -> None:
    """An item that succeeded by itself, and one that recovers to the same, are recalled."""
    text = (
        f'{HEAD}  t: {{for_each: {{items: ["./say", "false", "false"], max_parallel: 1}}, '
        'exec: {command: ["${{ item }}", "fine"]}, '
        'on_error: {recover: "${{ index > inputs.v }}"}}\n'
    ).replace('permits: {exec: ["./say", "false"]}', "permits: {exec: true}")
    one, two = over(text, {"v": 0}, {"v": 1})
    assert (one.tasks["t"].output, two.tasks["t"].output) == (["fine", True, True], ["fine", False, True])
    ended = {frame["item"]: "matched" in frame for frame in of(newest(say), "nb_item_completed")}
    assert ended == {0: True, 1: False, 2: True}
    found = nika_nb.why(two)["t"].items
    assert [(item.index, item.sentence) for item in found] == [(1, "input changed: on_error.recover")]


def test_a_recovery_to_null_is_one_as_well(say: Path) -> None:
    """An element that recovered to nothing is not taken for one that was skipped."""
    text = (
        f"{HEAD}  t: {{for_each: {{items: [1, 2]}}, {FAILS}, "
        'on_error: {recover: "${{ inputs.v == 1 ? null : item }}"}}\n'
    )
    _, two = over(text, {}, {"v": 2})
    assert two.tasks["t"].output == [1, 2]


def test_a_recovery_from_a_task_that_fails_today_does_not_stand(say: Path) -> None:
    """Its source has no value any more: the task runs, and fails as it would afresh."""
    text = (
        f"{HEAD}  y: {{exec: {{command: [\"${{{{ inputs.v == 1 ? './say' : 'false' }}}}\", y]}}}}\n"
        f'  t: {{{FAILS}, on_error: {{recover: "${{{{ tasks.y.output }}}}"}}}}\n'
    ).replace('permits: {exec: ["./say", "false"]}', "permits: {exec: true}")
    _, two = over(text, {}, {"v": 2})
    assert (two.tasks["t"].state, two.state) == ("failure", "failed")


def test_the_recoveries_of_a_called_workflow_are_held_to_the_same(say: Path) -> None:
    """The call runs for its changed argument, and what recovered below from it is not recalled."""
    (say / "child.nika.yaml").write_text(
        'nika: child\npermits: {exec: ["./say", "false"]}\ninputs: {v: {type: integer, default: 0}}\ntasks:\n'
        f'  r: {{{FAILS}, on_error: {{recover: "${{{{ inputs.v }}}}"}}}}\n'
        '  s: {exec: {command: ["./say", "still"]}}\n'
        'outputs: {o: "${{ tasks.r.output }}"}\n'
    )
    text = HEAD + '  t: {invoke: {workflow: ./child.nika.yaml, args: {v: "${{ inputs.v }}"}}}\n'
    (say / "w.nika.yaml").write_text(text)
    one = nika_nb.run("w.nika.yaml")
    two = nika_nb.run("w.nika.yaml", vars={"v": 2}, resume=one.trace)
    assert two.tasks["t"].output == {"o": 2}
    below = {task.task: task.sentence for task in nika_nb.why(two).tasks if task.task.startswith("t/")}
    assert below == {"t/r": "input changed: on_error.recover", "t/s": "nothing changed"}


def test_a_comparison_names_what_the_recovery_read(say: Path) -> None:
    """Two runs that recovered to different values were not asked the same."""
    text = f'{HEAD}  t: {{{FAILS}, on_error: {{recover: "${{{{ tasks.x.output }}}}"}}}}\n'
    one, two = over(text, {}, {"v": 2})
    found = nika_nb.diff(one, two)["t"]
    assert (found.kind, found.changed, found.upstream) == ("input", ("on_error.recover",), ("x",))


def test_a_recovery_waits_for_its_source_before_it_is_recalled(say: Path) -> None:
    """The source runs again, for it is written otherwise, and gives the same: then the record stands."""
    text = f'{HEAD}  t: {{{FAILS}, on_error: {{recover: "${{{{ tasks.x.output }}}}"}}}}\n'
    one = nika_nb.run(text)
    nika_nb.run(text.replace('v }}"]', 'v }}", more]'), resume=one.trace)
    assert (ran(newest(say)), hits(newest(say))) == ({"x"}, {"t"})


def test_a_recovery_before_the_verb_began_tells_its_duration(say: Path) -> None:
    """A secret that is not there, recovered: it took no time, and a resume knows no moment of it either."""
    text = """\
nika: early
permits: {exec: ["./say"]}
secrets: {k: {source: env, key: NOWHERE_TO_BE_FOUND, egress: [{to: exec}]}}
tasks:
  t:
    exec: {command: ["./say", "${{ secrets.k }}"]}
    on_error: {recover: saved}
  u: {with: {s: "${{ tasks.t.started_at }}"}, exec: {command: ["./say", "${{ with.s }}"]}}
"""
    one = nika_nb.run(text)
    [ended] = of(newest(say), "task_completed", task="t")
    assert (ended["duration_ms"], "started_ns" in ended) == (0, False)
    nika_nb.run(text, resume=one.trace)
    assert hits(newest(say)) == {"t", "u"}
