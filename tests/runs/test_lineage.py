"""A resume that broke off is itself resumed: what it had not reached is known from the trace before it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import nika_nb
from tests.doors import frames, hits, marks, newest, of, program, ran, reasons, traces
from tests.runs.crashing import Crasher

LINE = """\
nika: line
permits: {exec: ["./say"]}
tasks:
  a:
    exec: {command: ["./say", "a", "A"]}
  b:
    with: {a: "${{ tasks.a.output }}"}
    exec: {command: ["./say", "b", "${{ with.a }}B"]}
  fan:
    with: {b: "${{ tasks.b.output }}"}
    for_each: {items: ["x", "y", "z"], max_parallel: 1}
    exec: {command: ["./say", "fan-${{ item }}", "${{ with.b }}${{ item }}"]}
outputs:
  fan: "${{ tasks.fan.output }}"
"""

EDITED = LINE.replace('["./say", "a", "A"]', '["./say", "a", "A", "another flag"]')
OUTPUTS = {"fan": ["ABx", "ABy", "ABz"]}


@pytest.fixture
def line(folder: Path) -> Path:
    """The workflow's file, its program beside it."""
    program(folder, "say", 'echo "$1" >> marks\nprintf %s "$2"')
    path = folder / "line.nika.yaml"
    path.write_text(LINE, encoding="utf-8")
    return path


def crash_at(crasher: Crasher, path: Path, kind: str, task: str, resume: Path | None = None) -> Path:
    """The journal of a run that was killed at the first such frame."""
    whole = crasher.run(path, resume=resume)
    at = [(frame["kind"], frame.get("task")) for frame in frames(Path(whole["trace"]))]
    Path(whole["trace"]).unlink()
    assert crasher.run(path, resume=resume, lines=at.index((kind, task)) + 1)["status"] == -9
    return newest(path.parent)


def test_two_crashes_lose_nothing(line: Path, crasher: Crasher) -> None:
    """Edited at the head and killed there: what lay behind the edit is not run again."""
    first = nika_nb.run(line)
    line.write_text(EDITED, encoding="utf-8")
    crash = crash_at(crasher, line, "verb_invoked", "a", resume=first.trace)
    assert not of(crash, "task_completed", "task_cache_hit")
    before = marks(line.parent / "marks")
    resumed = nika_nb.run(line, resume=True)
    assert resumed.outputs == OUTPUTS
    assert ran(newest(line.parent)) == {"a"}
    assert marks(line.parent / "marks") - before == {"a": 1}
    for frame in of(newest(line.parent), "task_cache_hit"):
        assert json.loads(frame["matched"])["trace"] == Path(str(first.trace)).name
    assert f"{crash.name} broke off: what it had not reached is looked up in" in "\n".join(resumed.notices)
    assert reasons(newest(line.parent)) == {"a": ("definition", "exec.command")}


def test_what_each_of_several_crashes_settled_counts(line: Path, crasher: Crasher) -> None:
    """Tasks and single items alike, over three traces."""
    one = crash_at(crasher, line, "verb_invoked", "b")
    assert {frame["task"] for frame in of(one, "task_completed")} == {"a"}
    two = crash_at(crasher, line, "nb_item_completed", "fan", resume=one)
    line.write_text(LINE + "# later\n", encoding="utf-8")
    three = crash_at(crasher, line, "task_scheduled", "fan", resume=two)
    before = marks(line.parent / "marks")
    resumed = nika_nb.run(line, resume=three)
    assert resumed.outputs == OUTPUTS
    assert hits(newest(line.parent)) == {"a", "b"}
    assert marks(line.parent / "marks") - before == {"fan-y": 1, "fan-z": 1}


def test_what_was_forced_stays_forced(line: Path, crasher: Crasher) -> None:
    """A resume told to run a task again and killed before it could: its old result does not come back."""
    first = nika_nb.run(line)
    forced = nika_nb.run(line, resume=first.trace, from_="b")
    assert json.loads(frames(Path(str(forced.trace)))[0]["forced"]) == ["b", "fan"]
    kept = Path(str(forced.trace)).read_bytes().splitlines(keepends=True)
    broken = Path(str(forced.trace)).with_name("broken.ndjson")
    broken.write_bytes(b"".join(kept[:3]))
    again = nika_nb.run(line, resume=broken)
    assert hits(Path(str(again.trace))) == {"a"}
    assert ran(Path(str(again.trace))) == {"b", "fan"}


@pytest.mark.parametrize("damage", ["gone", "changed"])
def test_an_earlier_trace_that_is_not_what_it_was(line: Path, crasher: Crasher, damage: str) -> None:
    """It is not used, and that is said."""
    first = nika_nb.run(line)
    line.write_text(EDITED, encoding="utf-8")
    crash = crash_at(crasher, line, "verb_invoked", "a", resume=first.trace)
    path = Path(str(first.trace))
    if damage == "gone":
        path.unlink()
    else:
        path.write_bytes(path.read_bytes().replace(b'\\"AB\\"', b'\\"XY\\"'))
    resumed = nika_nb.run(line, resume=crash)
    assert resumed.outputs == OUTPUTS
    assert not hits(newest(line.parent))
    assert "does not lie beside it as it was" in "\n".join(resumed.notices)


def test_a_resume_that_came_to_its_end_says_all_there_is(line: Path) -> None:
    """Behind a completed trace nothing is looked up: what it did not settle runs."""
    gated = LINE.replace("  fan:\n", "  fan:\n    when: ${{ inputs.on == true }}\n").replace(
        "tasks:\n", "inputs: {on: {type: bool, default: true}}\ntasks:\n"
    )
    first = nika_nb.run(gated)
    second = nika_nb.run(gated, resume=first.trace, vars={"on": False})
    assert second.tasks["fan"].state == "skipped"
    third = nika_nb.run(gated, resume=second.trace, vars={"on": True})
    assert reasons(Path(str(third.trace))) == {"fan": ("not-recorded",)}
    assert len(traces(line.parent)) == 3


def test_a_resume_that_failed_is_not_told_to_have_broken_off(folder: Path) -> None:
    """It came to its end, a bad one; and what stood behind its failure was blocked, by nobody's hand."""
    text = """nika: blk
permits: { exec: ["./say"] }
tasks:
  a: { exec: { command: ["./say", "1"] } }
  b: { after: { a: success }, exec: { command: ["./say", "0"] } }
"""
    program(folder, "say", 'exit "$1"')
    first = nika_nb.run(text)
    second = nika_nb.run(text, resume=first.trace)
    third = nika_nb.run(text.replace('"1"', '"0"'), resume=second.trace)
    names = [Path(str(run.trace)).name for run in (first, second)]
    assert f"{names[1]} failed: what it had not reached is looked up in {names[0]}" in third.notices
    assert nika_nb.why(third)["b"].detail == "blocked (a failed)"
    assert "b  not recorded: blocked (a failed)" in str(third)
