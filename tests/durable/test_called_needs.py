"""What a called workflow needs: looked up at a start and an answer, for every task that has still to run."""

from __future__ import annotations

from pathlib import Path

import pytest

import nika_nb
from nika_nb import runs
from nika_nb.errors import UsageError
from nika_nb.runs.inspecting import Unrunnable
from tests.durable.project import Project

CHILD = """\
nika: child
inputs: {n: {type: integer, default: 0}}
permits: {exec: ["./once", "./say"]}
tasks:
  pre: {exec: {command: ["./once", "pre", "1"]}}
  ask: {after: {pre: success}, invoke: {tool: "nika:prompt", args: {message: "Go on?"}}}
  post:
    with: {go: "${{ tasks.ask.output }}"}
    when: ${{ with.go == true }}
    exec: {command: ["./say", "post", "1"]}
outputs: {go: "${{ tasks.ask.output }}"}
"""

TOP = """\
nika: top
permits: {exec: ["./once", "./say"]}
tasks:
  call: {invoke: {workflow: "./child.nika.yaml"}}
"""

MIDDLE = TOP.replace("nika: top", "nika: middle")
ABOVE = TOP.replace("child.nika", "middle.nika")
MANY = TOP.replace("{invoke:", "{for_each: {items: [0, 1, 2]}, with: {n: '${{ item }}'}, invoke:").replace(
    'nika.yaml"', "nika.yaml\", args: {n: '${{ with.n }}'}"
)


@pytest.fixture
def family(here: Project) -> Project:
    """A workflow that is called, in files, with two programs of its own."""
    once = here.root / "once"
    once.write_bytes((here.root / "say").read_bytes())
    once.chmod(0o755)
    for name, text in {"child": CHILD, "middle": MIDDLE}.items():
        Path(f"{name}.nika.yaml").write_text(text, encoding="utf-8")
    return here


@pytest.mark.parametrize(
    ("text", "answers"),
    [
        (TOP, {"call/ask": "no"}),
        (ABOVE, {"call/call/ask": "no"}),
        (MANY, {f"call[{n}]/ask": "no" for n in range(3)}),
    ],
    ids=["called", "called by what is called", "called per item"],
)
def test_what_a_settled_task_of_a_called_workflow_needed_is_not_needed_any_more(
    family: Project, text: str, answers: dict[str, str]
) -> None:
    """As one level up: the program of a task that is recorded may be gone."""
    started = family.started(text)
    (family.root / "once").unlink()
    assert runs.inspect_run(started.run_id).resume_readiness == "ready"
    assert runs.resume_run(started.run_id, answers).status == "completed"


@pytest.mark.parametrize("text", [TOP, ABOVE], ids=["called", "called by what is called"])
def test_what_a_called_workflow_has_still_to_run_is_looked_up_before_an_answer_is_consumed(
    family: Project, text: str
) -> None:
    """It blocks the run, named with its text and its task; the same answer is taken later."""
    started = family.started(text)
    (key,) = [prompt.key for prompt in started.prompts]
    before = family.bytes()
    family.without_say()
    found = runs.resume_run(started.run_id, {key: "yes"})
    assert (found.resume_readiness, [lack.task for lack in found.diagnostics]) == ("blocked", ["post"])
    assert "child.nika.yaml: `post`: there is no program at `./say`" in found.diagnostics[0].message
    assert {name: family.bytes()[name] for name in before} == before
    family.with_say()
    assert runs.resume_run(started.run_id, {key: "yes"}).status == "completed"


def test_an_item_that_is_done_needs_nothing_more_and_one_that_waits_does(family: Project) -> None:
    """Of three calls two are answered; what the third has still to run is looked up."""
    started = family.started(MANY)
    runs.resume_run(started.run_id, {"call[0]/ask": "no", "call[1]/ask": "yes"})
    (family.root / "once").unlink()
    family.without_say()
    assert [lack.task for lack in runs.inspect_run(started.run_id).diagnostics] == ["post"]
    family.with_say()
    assert runs.resume_run(started.run_id, {"call[2]/ask": "yes"}).status == "completed"
    assert family.marks == {"pre": 3, "post": 2}


@pytest.mark.parametrize("text", [TOP, ABOVE], ids=["called", "called by what is called"])
def test_what_a_called_workflow_needs_is_looked_up_before_a_start(family: Project, text: str) -> None:
    """There is no run, and nothing ran."""
    (family.root / "once").unlink()
    found = runs.start(text)
    assert isinstance(found, Unrunnable)
    assert [lack.task for lack in found.diagnostics] == ["pre"]
    assert "child.nika.yaml" in found.diagnostics[0].message
    assert not (family.root / ".nika").exists()


def test_a_task_that_was_edited_needs_what_it_needs_now(family: Project) -> None:
    """Today's text with an answer: a record of what it was is none of what it is, and its program counts."""
    text = CHILD.replace("inputs: {n: {type: integer, default: 0}}\n", "")
    nika_nb.run(text)
    edited = text.replace('["./once", "pre", "1"]', '["./once", "pre", "2"]')
    (family.root / "once").unlink()
    with pytest.raises(UsageError, match="`pre`: there is no program at"):
        nika_nb.run(edited, resume=True, answer={"ask": "no"})
    assert nika_nb.run(text, resume=True, answer={"ask": "no"}).state == "completed"
    assert family.marks == {"pre": 1}
