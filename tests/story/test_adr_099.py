"""The three fixtures that the decision record on resume sketches, by their names."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any, Protocol

import pytest

import nika_nb
from nika_nb.errors import RunPaused
from tests.doors import (
    PATIENCE,
    Ended,
    hits,
    kinds,
    launch,
    marks,
    newest,
    nika,
    of,
    program,
    ran,
    reasons,
    started,
    traces,
    wait_for,
)

REMAINDER = """\
nika: three-steps
permits: {exec: ["./step"]}
tasks:
  a:
    exec: {command: ["./step", "a"]}
  b:
    with: {said: "${{ tasks.a.output }}"}
    exec: {command: ["./step", "b", "${{ with.said }}"]}
  c:
    with: {said: "${{ tasks.b.output }}"}
    exec: {command: ["./step", "c", "${{ with.said }}"]}
outputs:
  all: "${{ tasks.c.output }}"
"""


def test_001_kill_midrun_resume_completes_remainder(tmp_path: Path) -> None:
    """Killed after `a` completed: the resume hits `a`, runs the rest alone, ends as if nothing had been."""
    held = tmp_path / "held"
    body = f'echo "$1" >> marks\n[ "$1" = b ] && [ -e {held} ] && sleep 60\necho "$2>$1"'
    program(tmp_path, "step", body)
    (tmp_path / "w.nika.yaml").write_text(REMAINDER, encoding="utf-8")
    held.touch()
    engine = launch("run", "w.nika.yaml", cwd=tmp_path)
    crash = wait_for(started(tmp_path, "b"), "the dispatch of b")
    wait_for(lambda: marks(tmp_path / "marks")["b"], "the first act of b")
    os.kill(engine.pid, signal.SIGKILL)
    engine.wait(PATIENCE)
    held.unlink()
    resumed = nika("run", "w.nika.yaml", "--resume", crash, "--json", cwd=tmp_path)
    assert resumed.code == 0, resumed.err
    assert [event["task"] for event in resumed.events if event["kind"] == "task_cache_hit"] == ["a"]
    assert resumed.events[-1]["kind"] == "workflow_completed"
    assert ran(newest(tmp_path)) == {"b", "c"}
    assert marks(tmp_path / "marks") == {"a": 1, "b": 2, "c": 1}
    fresh = nika("run", "w.nika.yaml", "--json", cwd=tmp_path)
    assert resumed.events[-1]["outputs"] == fresh.events[-1]["outputs"]


CHANGE = """\
nika: one-change
permits: {exec: ["./step"]}
inputs:
  left: {type: string, default: "l"}
  right: {type: string, default: "r"}
tasks:
  consumer:
    exec: {command: ["./step", "consumer", "${{ inputs.left }}"]}
  sibling:
    exec: {command: ["./step", "sibling", "${{ inputs.right }}"]}
  after_consumer:
    with: {said: "${{ tasks.consumer.output }}"}
    exec: {command: ["./step", "after_consumer", "${{ with.said }}"]}
  after_sibling:
    with: {said: "${{ tasks.sibling.output }}"}
    exec: {command: ["./step", "after_sibling", "${{ with.said }}"]}
outputs:
  all: "${{ tasks.after_consumer.output }}+${{ tasks.after_sibling.output }}"
"""


def test_002_input_change_rehashes_and_reruns(tmp_path: Path) -> None:
    """One --var changed: its consumer runs again and what its output feeds; the other branch hits."""
    program(tmp_path, "step", 'echo "$1" >> marks\necho "$2>$1"')
    (tmp_path / "w.nika.yaml").write_text(CHANGE, encoding="utf-8")
    first = nika("run", "w.nika.yaml", "--var", "left=x", cwd=tmp_path)
    assert first.code == 0, first.err
    trace = newest(tmp_path)
    changed = nika("run", "w.nika.yaml", "--var", "left=y", "--resume", trace, cwd=tmp_path)
    assert changed.code == 0, changed.err
    assert hits(newest(tmp_path)) == {"sibling", "after_sibling"}
    assert reasons(newest(tmp_path)) == {
        "consumer": ("input", "inputs.left"),
        "after_consumer": ("input", "with.said (from consumer)"),
    }
    assert "consumer        input changed: inputs.left" in changed.err
    assert marks(tmp_path / "marks") == {"consumer": 2, "after_consumer": 2, "sibling": 1, "after_sibling": 1}
    assert changed.outputs == {"all": "y>consumer>after_consumer+r>sibling>after_sibling"}
    same = nika("run", "w.nika.yaml", "--var", "left=x", "--resume", trace, cwd=tmp_path)
    assert "resumed · 4 skipped (cache hit) · 0 ran live" in same.err
    assert same.out == first.out


GATE = """\
nika: gate
permits: {exec: ["./step"]}
tasks:
  prep:
    exec: {command: ["./step", "prep"]}
  ask:
    after: {prep: success}
    invoke: {tool: "nika:prompt", args: {message: "Ship it?"}}
  ship:
    with: {go: "${{ tasks.ask.output }}"}
    when: ${{ with.go == true }}
    exec: {command: ["./step", "ship"]}
outputs:
  go: "${{ tasks.ask.output }}"
"""


class Door(Protocol):
    """One way to run the gate: its exit code, its trace, and its outputs where it has any."""

    def __call__(self, resume: Path | None = None, answer: str | None = None) -> tuple[int, Any]: ...


@pytest.fixture(params=["cli", "python"])
def door(request: pytest.FixtureRequest, folder: Path) -> Door:
    """The same requests through the terminal and through Python."""
    program(folder, "step", 'echo "$1" >> marks\necho "$1"')
    workflow = folder / "w.nika.yaml"
    workflow.write_text(GATE, encoding="utf-8")

    def cli(resume: Path | None = None, answer: str | None = None) -> tuple[int, Any]:
        words = ["--resume", resume] if resume else []
        words += ["--answer", f"ask={answer}"] if answer else []
        done: Ended = nika("run", workflow.name, *words, cwd=folder)
        return done.code, done.outputs if done.code == 0 else done.err

    def python(resume: Path | None = None, answer: str | None = None) -> tuple[int, Any]:
        run = nika_nb.run(workflow, resume=resume, answer={"ask": answer} if answer else None)
        if run.state == "paused":
            with pytest.raises(RunPaused) as waiting:
                _ = run.outputs
            return waiting.value.exit_code, str(waiting.value)
        return 0, run.outputs

    return cli if request.param == "cli" else python


def test_003_paused_prompt_rearms(door: Door, folder: Path) -> None:
    """Without an answer it waits as before, however often; with one it completes; `prep` never runs again."""
    code, said = door()
    assert code == 4, said
    first = newest(folder)
    for _ in range(3):
        code, said = door(resume=newest(folder))
        assert code == 4, said
    assert traces(folder) == [first]
    paused = of(first, "workflow_paused")
    assert frames_end(first) == "workflow_paused"
    assert [(p["task"], p["mode"], p["message"]) for p in paused] == [("ask", "confirm", "Ship it?")]
    assert not {"task_failed", "workflow_failed"} & set(kinds(first))
    assert "ship" not in ran(first)
    code, outputs = door(resume=first, answer="yes")
    assert (code, outputs) == (0, {"go": True})
    assert hits(newest(folder)) == {"prep"}
    assert of(newest(folder), "approval_decided", task="ask")[0]["decision"] == "allow"
    assert marks(folder / "marks") == {"prep": 1, "ship": 1}


def test_003_a_refusal_is_an_answer_too(door: Door, folder: Path) -> None:
    """`no` is a value: the run completes and what the gate guards is skipped."""
    door()
    code, outputs = door(resume=newest(folder), answer="no")
    assert (code, outputs) == (0, {"go": False})
    assert [frame["note"] for frame in of(newest(folder), "task_skipped", task="ship")] == [
        "when: gate closed"
    ]
    assert marks(folder / "marks") == {"prep": 1}


def test_003_the_line_that_a_pause_prints_answers_it(folder: Path) -> None:
    """What the terminal suggests is run as it stands, and completes the run under the same run id."""
    program(folder, "step", 'echo "$1" >> marks\necho "$1"')
    (folder / "w.nika.yaml").write_text(GATE, encoding="utf-8")
    paused = nika("run", "w.nika.yaml", cwd=folder)
    assert paused.code == 4
    assert paused.out == b""
    line = next(line.strip() for line in paused.err.splitlines() if "nika-nb answer" in line)
    import shlex

    words = shlex.split(line)[1:]
    answered = nika(*words, cwd=folder)
    assert (answered.code, answered.outputs) == (0, {"go": True})
    first, second = traces(folder)
    assert of(first, "workflow_started")[0]["correlation"] == of(second, "workflow_started")[0]["correlation"]
    assert json.loads(of(second, "workflow_started")[0]["answered"]) == ["ask"]


def frames_end(trace: Path) -> str:
    from tests.doors import frames

    return str(frames(trace)[-1]["kind"])
