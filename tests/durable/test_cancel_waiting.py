"""A run that waits for an answer is cancelled: it is cleaned up after, and can be answered no more."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

import nika_nb
from nika_nb import runs
from nika_nb.errors import NikaError, NotPaused, ResumeRefused
from nika_nb.runs.lack import RunBlocked
from tests.doors import frames, launch, newest, nika, of, program, started, wait_for
from tests.durable.project import ASK, GATE, Project
from tests.notebook.conftest import notebook as notebook
from tests.notebook.shells import Notebook

# A question with something to clean up behind it, and beside it what has settled and was cleaned up.
TIDY = """\
nika: tidy
permits: {exec: ["./say", "./later"]}
tasks:
  prep: {exec: {command: ["./say", "prep", "ready"]}}
  sweep: {after: {prep: unwind}, exec: {command: ["./say", "sweep", "x"]}}
  ask: {after: {prep: success}, invoke: {tool: "nika:prompt", args: {mode: input, message: "Who?"}}}
  tidy:
    after: {ask: unwind}
    with: {how: "${{ tasks.ask.status }} ${{ tasks.ask.cause }}"}
    exec: {command: ["./say", "tidy", "${{ with.how }}"]}
  more: {after: {tidy: unwind}, exec: {command: ["./say", "more", "x"]}}
  next: {with: {who: "${{ tasks.ask.output }}"}, exec: {command: ["./later", "${{ with.who }}"]}}
"""


def waits(here: Project, text: str = TIDY) -> str:
    """The id of a run that waits and could not go on: the program behind the question is gone."""
    program(here.root, "later", "echo later >> marks")
    run_id = here.started(text).run_id
    (here.root / "later").unlink()
    assert run_id is not None
    return run_id


def by_run(run_id: str, trace: Path, here: Project) -> None:
    nika_nb.attach(trace).cancel()


def by_id(run_id: str, trace: Path, here: Project) -> None:
    found = runs.cancel(run_id)
    assert (found.status, found.outcome) == ("failed", "cancelled")


def by_terminal(run_id: str, trace: Path, here: Project) -> None:
    done = nika("runs", "cancel", run_id, cwd=here.root)
    assert done.code == 0, done.err
    assert b"cancelled" in done.out


@pytest.mark.parametrize("cancel", [by_run, by_id, by_terminal])
def test_every_door_ends_a_run_that_waits(
    here: Project, cancel: Callable[[str, Path, Project], None]
) -> None:
    """Its cleanups run, the journal says so, the record is failed as cancelled; `./later` is not needed."""
    run_id = waits(here)
    asked = newest(here.root)
    cancel(run_id, asked, here)
    ended(here, run_id, asked)


def test_a_line_of_a_notebook_ends_it_too(here: Project, notebook: Notebook) -> None:
    """The run in the variable is the one that ended, and its panel says so."""
    program(here.root, "later", "echo later >> marks")
    run = notebook.run(TIDY, "--into run").value
    asked = newest(here.root)
    said = notebook.python("%nika cancel")
    assert said.value is run
    assert run.state == "cancelled"
    assert "cancelled" in said.text
    assert frames(newest(here.root))[0]["door"] == "%nika"
    ended(here, run.id, asked)


def ended(here: Project, run_id: str, asked: Path) -> None:
    last = newest(here.root)
    told = frames(last)
    assert (told[0]["correlation"], told[0]["called_off"]) == (run_id, True)
    assert told[-1]["kind"] == "workflow_cancelled"
    assert here.marks == {"prep": 1, "sweep": 1, "tidy": 1, "more": 1}
    assert [frame["task"] for frame in of(last, "task_cache_hit")] == ["prep", "sweep"]
    tidied = json.loads(of(last, "task_completed", task="tidy")[0]["outcome"])
    assert tidied["payload"]["value"] == "cancelled operator"
    assert {frame["task"] for frame in of(last, "task_cancelled")} == {"ask", "next"}
    found = runs.inspect_run(run_id)
    assert (found.status, found.outcome, found.resume_readiness) == ("failed", "cancelled", "not_applicable")
    assert [point.reason for point in runs.checkpoints(run_id)] == ["interrupted", "failed"]
    with pytest.raises(NotPaused, match="cancelled: only an interrupted run is resumed"):
        runs.resume_run(run_id, {"ask": "Ann"})
    with pytest.raises(ResumeRefused, match=f"{asked.name} can be answered no more: .* was called off on"):
        nika_nb.attach(asked).answer("Ann")
    with pytest.raises(ResumeRefused, match="was called off on"):
        nika_nb.attach(asked).cancel()
    assert newest(here.root) == last


def test_what_was_settled_is_still_there_for_a_resume(here: Project) -> None:
    """A run that was cancelled while it waited is picked up like any other that was."""
    run_id = here.started(GATE).run_id
    runs.cancel(run_id)
    again = nika_nb.run(GATE, resume=newest(here.root), answer={"ask": "yes", "name": "Ann"})
    assert again.outputs == {"topic": "plain", "shipped": "Ann"}
    assert here.marks == {"prep": 1, "ship": 1}


def test_a_question_of_a_called_workflow_is_cleaned_up_after_down_there(here: Project) -> None:
    """Whether the run had paused over it or was still at work beside it."""
    (here.root / "child.nika.yaml").write_text(TIDY.replace("nika: tidy", "nika: child"), encoding="utf-8")
    text = 'nika: top\npermits: {exec: ["./say", "./slow", "./later"]}\ntasks:\n'
    program(here.root, "later", "echo later >> marks")
    text += "  call: {invoke: {workflow: ./child.nika.yaml}}\n"
    text += '  after_call: {after: {call: unwind}, exec: {command: ["./say", "after_call", "x"]}}\n'
    run_id = here.started(text).run_id
    runs.cancel(run_id)
    expected = {"prep": 1, "sweep": 1, "tidy": 1, "more": 1, "after_call": 1}
    assert here.marks == expected
    assert frames(newest(here.root))[-1]["kind"] == "workflow_cancelled"

    (here.root / "marks").unlink()
    program(here.root, "slow", "touch at_work; exec sleep 60")
    text += '  slow: {exec: {command: ["./slow"]}}\n'
    (here.root / "top.nika.yaml").write_text(text, encoding="utf-8")
    engine = launch("run", "top.nika.yaml", cwd=here.root)
    trace = wait_for(started(here.root, "slow"), "the slow program")
    wait_for(lambda: any("workflow_paused" in str(f) for f in of(trace, "nb_child")), "the child's question")
    assert runs.cancel(frames(trace)[0]["correlation"]).outcome == "cancelled"
    assert engine.wait(30) == 130
    assert here.marks == expected


def test_a_default_decides_nothing_when_a_run_is_cancelled(here: Project) -> None:
    """A question that would be decided without a human is open, and stays so."""
    text = ASK.replace('message: "Go on?"', 'message: "Go on?", default: true')
    run_id = here.started(text, interactive=True).run_id
    runs.cancel(run_id)
    assert {frame["task"] for frame in of(newest(here.root), "task_cancelled")} == {"ask"}


def test_what_cannot_be_recalled_is_not_run_again(here: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """A success whose output was withheld ran once; ending the run does not run it, nor what follows it."""
    monkeypatch.setenv("K", "s3cret-value")
    text = TIDY.replace(
        "tasks:\n", "secrets: {k: {source: env, key: K, egress: [{to: exec}]}}\ntasks:\n"
    ).replace('"prep", "ready"', '"prep", "${{ secrets.k }}"')
    runs.cancel(waits(here, text))
    assert here.marks["prep"] == 1


def test_a_recovery_that_waited_for_the_answer_is_cleaned_up_after(here: Project) -> None:
    """The failed task had begun, and its end came with the run's."""
    text = 'nika: wait\npermits: {exec: ["./say"]}\ntasks:\n'
    text += '  ask: {invoke: {tool: "nika:prompt", args: {mode: input, message: "Who?"}}}\n'
    text += (
        '  bad: {exec: {command: ["./say", "FAIL", "x"]}, on_error: {recover: "${{ tasks.ask.output }}"}}\n'
    )
    text += '  tidy: {after: {bad: unwind}, exec: {command: ["./say", "tidy", "x"]}}\n'
    runs.cancel(here.started(text).run_id)
    assert here.marks == {"FAIL": 1, "tidy": 1}


def test_a_cleanup_whose_other_producer_had_ended_before_the_pause_still_comes(here: Project) -> None:
    """Both when the question is answered so that nothing starts any more, and when the run is cancelled."""
    text = 'nika: pair\npermits: {exec: ["./say"]}\ntasks:\n'
    text += '  one: {exec: {command: ["./say", "one", "x"]}}\n'
    text += '  ask: {invoke: {tool: "nika:prompt", args: {message: "Go on?"}}}\n'
    text += '  two: {with: {go: "${{ tasks.ask.output }}"}, when: "${{ with.go == true }}", '
    text += 'exec: {command: ["./say", "two", "x"]}}\n'
    text += '  tidy: {after: {one: unwind, two: unwind}, exec: {command: ["./say", "tidy", "x"]}}\n'
    runs.resume_run(here.started(text).run_id, {"ask": "no"})
    assert here.marks == {"one": 1, "tidy": 1}
    runs.cancel(here.started(text).run_id)
    assert here.marks == {"one": 2, "tidy": 2}


def at_once(act: Callable[[], object], gate: threading.Barrier, refused: list[NikaError]) -> None:
    gate.wait()
    try:
        act()
    except NikaError as error:
        refused.append(error)


def test_cancelling_and_answering_at_once_have_one_winner(here: Project) -> None:
    """The other is told; the run goes on once, and ends as its one continuation says."""
    for _ in range(12):
        run_id = here.started(ASK).run_id
        refused: list[NikaError] = []
        gate = threading.Barrier(2)

        acts = (partial(runs.cancel, run_id), partial(runs.resume_run, run_id, {"ask": "yes"}))
        racing = [threading.Thread(target=at_once, args=(act, gate, refused)) for act in acts]
        for thread in racing:
            thread.start()
        for thread in racing:
            thread.join(30)
        mine = [path for path in here.traces if frames(path)[0]["correlation"] == run_id]
        assert len(mine) == 2
        outcome = runs.inspect_run(run_id).outcome
        if frames(mine[1])[0].get("called_off"):
            assert outcome == "cancelled"
            assert len(refused) == 1
        else:  # answered first: whoever cancels is refused, or had ended what was at work by then
            assert outcome in ("completed", "cancelled")
            assert len(refused) <= 1


def test_a_run_whose_trace_lacks_what_it_needs_waits_on(
    here: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The cleanups could not run: it says what is missing, and nothing was consumed."""
    monkeypatch.setenv("K", "s3cret-value")
    held = "inputs: {v: {type: string}}\nsecrets: {k: {source: env, key: K}}\ntasks:\n"
    text = ASK.replace("tasks:\n", held)
    run_id = here.started(text, vars={"v": "s3cret-value"}).run_id
    with pytest.raises(RunBlocked, match="does not hold `v`, for it is a secret"):
        runs.cancel(run_id)
    assert nika("runs", "cancel", run_id, cwd=here.root, K="s3cret-value").code == 3
    assert runs.inspect_run(run_id).status == "interrupted"


def test_a_cleanup_stays_due_over_any_number_of_pauses(here: Project) -> None:
    """Its producers had worked runs ago, one of them without ever being asked; it comes once, when it may."""
    text = 'nika: long\npermits: {exec: ["./say"]}\ntasks:\n'
    text += '  one: {exec: {command: ["./say", "one", "x"]}}\n'
    asks = 'invoke: {tool: "nika:prompt", args: {mode: input, message: "Who?"}}'
    text += f"  skips: {{on_error: {{skip: true}}, {asks}}}\n"
    text += "".join(f"  {name}: {{{asks}}}\n" for name in "abc")
    waits = "a: success, b: success, c: success"
    text += f'  tidy: {{after: {{one: unwind, {waits}}}, exec: {{command: ["./say", "tidy", "x"]}}}}\n'
    text += f'  sweep: {{after: {{skips: unwind, {waits}}}, exec: {{command: ["./say", "sweep", "x"]}}}}\n'
    run_id = here.started(text).run_id
    for name in ("a", "b", "c"):
        assert here.marks == {"one": 1}
        runs.resume_run(run_id, {name: "yes"})
    assert here.marks == {"one": 1, "tidy": 1, "sweep": 1}
