"""A human answered and the machine died: an answer is kept once it is written, asked for again before."""

from __future__ import annotations

from pathlib import Path

from tests.doors import frames, marks, newest, of, program
from tests.runs.crashing import Crasher

GATE = """\
nika: gate
permits: {exec: ["./say"]}
tasks:
  prep:
    exec: {command: ["./say", "prep", "p"]}
  ask:
    after: {prep: success}
    invoke: {tool: "nika:prompt", args: {message: "Ship ${{ with.p }}?"}}
    with: {p: "${{ tasks.prep.output }}"}
  ship:
    with: {go: "${{ tasks.ask.output }}"}
    when: ${{ with.go == true }}
    exec: {command: ["./say", "ship", "shipped"]}
outputs:
  ship: "${{ tasks.ship.output }}"
"""


def test_killed_after_every_line_of_the_continuation(tmp_path: Path, crasher: Crasher) -> None:
    """No work that settled runs twice, and nobody is asked twice about what is written down."""
    lines, total = 0, 1
    while lines < total:
        lines += 1
        folder = tmp_path / str(lines)
        program(folder, "say", 'echo "$1" >> marks\nprintf %s "$2"')
        workflow = folder / "gate.nika.yaml"
        workflow.write_text(GATE, encoding="utf-8")
        crasher.run(workflow)
        paused = newest(folder)
        if lines == 1:
            total = len(frames(Path(crasher.run(workflow, resume=paused, answer={"ask": "yes"})["trace"])))
            (folder / "marks").unlink()
            crasher.run(workflow)
            paused = newest(folder)
        killed = crasher.run(workflow, resume=paused, answer={"ask": "yes"}, lines=lines)
        assert killed["status"] == -9, killed
        crash = newest(folder)
        decided = bool(of(crash, "task_completed", task="ask"))
        shipped = bool(of(crash, "task_completed", task="ship"))
        resumed = crasher.run(workflow, resume=crash)
        assert resumed["state"] == ("completed" if decided else "paused"), (lines, resumed)
        if not decided:
            resumed = crasher.run(workflow, resume=newest(folder), answer={"ask": "yes"})
        assert resumed["outputs"] == {"ship": "shipped"}
        assert marks(folder / "marks")["prep"] == 1
        if shipped:
            assert marks(folder / "marks")["ship"] == 1
        assert marks(folder / "marks")["ship"] <= 2


def test_the_run_id_stays_with_the_answer_and_ends_with_the_crash(tmp_path: Path, crasher: Crasher) -> None:
    """An answer goes on in the same run; the resume of a crash is a run of its own that names its parent."""
    program(tmp_path, "say", 'printf %s "$2"')
    workflow = tmp_path / "gate.nika.yaml"
    workflow.write_text(GATE, encoding="utf-8")
    crasher.run(workflow)
    paused = newest(tmp_path)
    crasher.run(workflow, resume=paused, answer={"ask": "yes"}, lines=8)
    crash = newest(tmp_path)
    crasher.run(workflow, resume=crash)
    resumed = frames(newest(tmp_path))[0]
    first, answered = frames(paused)[0], frames(crash)[0]
    assert answered["correlation"] == first["correlation"]
    assert answered["run"] != first["run"]
    assert resumed["correlation"] != first["correlation"]
    assert resumed["parent_run"] == first["correlation"]
    assert (resumed["resumed_trace"], answered["resumed_trace"]) == (crash.name, paused.name)
