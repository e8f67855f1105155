"""SIGKILL after every line of a journal: a resume always ends the same, and nothing settled runs twice."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from nika_nb.trace.verify import verify
from tests.doors import alive, frames, hits, marks, newest, of, program, ran, reasons, traces, wait_for
from tests.runs.crashing import Crasher

MATRIX = """\
nika: matrix
permits: {exec: ["./mark", "./flaky", "./fail"]}
inputs: {who: {type: string, default: "world"}}
tasks:
  left:
    exec: {command: ["./mark", "left", "hello ${{ inputs.who }}"]}
  right:
    exec: {command: ["./mark", "right", "R"]}
  join:
    with: {l: "${{ tasks.left.output }}", r: "${{ tasks.right.output }}"}
    exec: {command: ["./mark", "join", "${{ with.l }}+${{ with.r }}"]}
  fan:
    with: {r: "${{ tasks.right.output }}"}
    for_each: {items: ["a", "b", "c", "d"], max_parallel: 2}
    exec: {command: ["./mark", "fan-${{ item }}", "${{ with.r }}${{ item }}"]}
  flaky:
    retry: {max_attempts: 3, backoff_ms: 1, jitter: false, on_codes: [NIKA-EXEC-001]}
    exec: {command: ["./flaky"]}
  rescued:
    on_error: {recover: "instead"}
    exec: {command: ["./fail", "rescued"]}
  dropped:
    on_error: {skip: true}
    exec: {command: ["./fail", "dropped"]}
  big:
    exec: {command: ["./mark", "big", "large"]}
  ask:
    after: {join: success}
    invoke: {tool: "nika:prompt", args: {message: "On?", default: true}}
  ship:
    with: {go: "${{ tasks.ask.output }}", all: "${{ tasks.fan.output }}"}
    when: ${{ with.go == true }}
    exec: {command: ["./mark", "ship", "${{ with.all }}"]}
outputs:
  join: "${{ tasks.join.output }}"
  fan: "${{ tasks.fan.output }}"
  flaky: "${{ tasks.flaky.output }}"
  rescued: "${{ tasks.rescued.output }}"
  big: "${{ tasks.big.output }}"
  ship: "${{ tasks.ship.output }}"
"""

PROGRAMS = {
    "mark": 'echo "$1" >> marks\n[ "$2" = large ] || { printf %s "$2"; exit; }\nseq -s, 30000',
    "flaky": "echo flaky >> marks\n[ -e tried ] || { touch tried; exit 1; }\nprintf steady",
    "fail": 'echo "$1" >> marks\nexit 1',
}

# What has run and ended well is never run again; a skip by error is no success to build on.
ONCE = ("left", "right", "join", "flaky", "rescued", "big", "ship")
ITEMS = ("fan-a", "fan-b", "fan-c", "fan-d")


@dataclass(frozen=True)
class Stage:
    """A folder with the workflow and its programs."""

    folder: Path

    @property
    def workflow(self) -> Path:
        return self.folder / "matrix.nika.yaml"

    @property
    def marks(self) -> dict[str, int]:
        return dict(marks(self.folder / "marks"))


def stage(folder: Path) -> Stage:
    folder.mkdir(parents=True, exist_ok=True)
    for name, body in PROGRAMS.items():
        program(folder, name, body)
    made = Stage(folder)
    made.workflow.write_text(MATRIX, encoding="utf-8")
    return made


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory, crasher: Crasher) -> tuple[dict[str, Any], int]:
    """The outputs of a run that nobody killed, and how many lines its journal has."""
    made = stage(tmp_path_factory.mktemp("whole"))
    done = crasher.run(made.workflow)
    assert done["state"] == "completed"
    assert made.marks == dict.fromkeys((*ONCE, *ITEMS, "dropped"), 1) | {"flaky": 2}
    return done["outputs"], len(frames(newest(made.folder)))


def settled(trace: Path) -> set[str]:
    """The marks of everything that the journal holds as a success."""
    tasks = {frame["task"] for frame in of(trace, "task_completed", "task_cache_hit")}
    items = {frame["item"] for frame in of(trace, "nb_item_completed", task="fan")}
    return {name for name in ONCE if name in tasks} | {ITEMS[item] for item in items}


def begun(folder: Path) -> set[str]:
    """The marks of everything that any journal so far says was dispatched."""
    found = set()
    for frame in (frame for trace in traces(folder) for frame in of(trace, "verb_invoked")):
        found.add(ITEMS[frame["item"]] if frame["task"] == "fan" else frame["task"])
    return found


def crashed(made: Stage) -> tuple[Path, dict[str, int], set[str]]:
    """(its journal, the marks, what was dispatched so far) once everything it had started is gone."""
    crash = newest(made.folder)
    groups = [frame["pgid"] for frame in of(crash, "verb_invoked") if "pgid" in frame]
    wait_for(lambda: not any(map(alive, groups)), "the end of what the killed run had started")
    return crash, made.marks, begun(made.folder)


def judge(made: Stage, crashes: list[Path], before: dict[str, int], told: set[str]) -> None:
    """Nothing settled ran again, nothing ran more often than it had to, and every reason is told."""
    again = {name: count - before.get(name, 0) for name, count in made.marks.items()}
    done = {name for crash in crashes for name in settled(crash)}
    for name in done:
        assert again.get(name, 0) == 0, f"{name} had settled and ran again"
    for name in {*ONCE, *ITEMS} - done - {"flaky"}:
        assert again[name] == 1, f"{name} was left and ran {again[name]} times"
        assert name in told or before.get(name, 0) == 0, f"{name} ran and no frame tells of it"
    last = newest(made.folder)
    assert set(reasons(last)) == ran(last)
    known = [of(crash, "task_completed", "task_cache_hit") for crash in crashes]
    assert hits(last) == {frame["task"] for found in known for frame in found}
    assert verify(last).verdict == "clean"


def test_killed_after_every_line(tmp_path: Path, crasher: Crasher, whole: tuple[dict[str, Any], int]) -> None:
    """Whatever the last line was, a resume completes with the same outputs."""
    outputs, total = whole
    for lines in range(1, total + 1):
        made = stage(tmp_path / str(lines))
        killed = crasher.run(made.workflow, lines=lines)
        assert killed["status"] == -9, killed
        crash, before, told = crashed(made)
        assert len(frames(crash)) == lines
        kept = crash.read_bytes()
        resumed = crasher.run(made.workflow, resume=crash)
        assert resumed.get("outputs") == outputs, (lines, resumed)
        judge(made, [crash], before, told)
        assert crash.read_bytes() == kept


def test_killed_again_while_resuming(
    tmp_path: Path, crasher: Crasher, whole: tuple[dict[str, Any], int]
) -> None:
    """A resume that dies is itself resumed, and what both settled stays settled."""
    outputs, total = whole
    for first, second in ((total // 2, step) for step in range(total // 6, total * 3 // 4, total // 8)):
        made = stage(tmp_path / f"{first}-{second}")
        assert crasher.run(made.workflow, lines=first)["status"] == -9
        earlier, _, _ = crashed(made)
        killed = crasher.run(made.workflow, lines=second, resume=earlier)
        crash, before, told = crashed(made)
        assert killed["status"] == -9, killed
        resumed = crasher.run(made.workflow, resume=crash)
        assert resumed.get("outputs") == outputs, (first, second, resumed)
        judge(made, [earlier, crash], before, told)


@pytest.mark.parametrize("cut", ["half", "newline", "one byte"])
def test_torn_in_the_middle_of_a_line(
    tmp_path: Path, crasher: Crasher, whole: tuple[dict[str, Any], int], cut: str
) -> None:
    """The last line cut off: what stands before it counts, the tear is said, the rest runs."""
    outputs, total = whole
    for lines in range(total // 4, total, total // 4):
        made = stage(tmp_path / str(lines))
        crasher.run(made.workflow, lines=lines)
        crash, before, _ = crashed(made)
        raw = crash.read_bytes()
        last = raw.rstrip(b"\n").rpartition(b"\n")[2]
        keep = {"half": len(last) // 2 + 1, "newline": 1, "one byte": len(last)}[cut]
        crash.write_bytes(raw[:-keep])
        resumed = crasher.run(made.workflow, resume=crash)
        assert resumed.get("outputs") == outputs, (lines, resumed)
        for name in settled(crash):
            assert made.marks[name] == before[name]
