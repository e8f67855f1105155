"""A disk without room, at the start of a run, in the middle of one, behind an answer: nothing is lost unsaid.

The disk is full for whatever this process writes into journals; programs and their marks are not touched.
"""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

import nika_nb
from nika_nb import runs
from nika_nb.errors import UsageError
from nika_nb.runs.lack import RunBlocked
from nika_nb.runs.needs import journals
from nika_nb.trace.verify import verify
from nika_nb.trace.writer import Journal
from tests.doors import Terminal, frames, hits, newest, of, program, ran, traces
from tests.durable.project import ASK, DONE, GATE, Project

ANSWERS = {"ask": "yes", "name": "Ann"}

CHAIN = """\
nika: chain
permits: {exec: ["./say"]}
tasks:
  one: {exec: {command: ["./say", "one", "1"]}}
  two: {after: {one: success}, exec: {command: ["./say", "two", "2"]}}
  three: {after: {two: success}, exec: {command: ["./say", "three", "3"]}}
outputs: {said: "${{ tasks.three.output }}"}
"""


class Disk:
    """full: nothing more fits. lines: so many lines of journals still do, and half of the next one."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.lines: int | None = None
        self._append = Journal._append
        monkeypatch.setattr(Journal, "_append", lambda journal, line: self._written(journal, line))
        # What is looked up before a run begins finds room: it went in between.
        monkeypatch.setattr(journals.os, "fsync", lambda fd: None)

    def _written(self, journal: Journal, line: bytes) -> None:
        if self.lines is None or self.lines > 0:
            self._append(journal, line)
            self.lines = None if self.lines is None else self.lines - 1
            return
        assert journal._fd is not None
        journal._whole = False
        os.write(journal._fd, line[: len(line) // 2])
        raise OSError(errno.ENOSPC, "No space left on device")

    def fill(self, lines: int = 0) -> None:
        self.lines = lines

    def empty(self) -> None:
        self.lines = None


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Disk:
    return Disk(monkeypatch)


# -- a run ---------------------------------------------------------------------------------------


def test_a_run_is_not_touched_by_it_and_says_so_loudly(here: Project, disk: Disk) -> None:
    """Its outputs are those of any other; the still, the error and the list of what is not kept tell it."""
    disk.fill(11)
    run = nika_nb.run(CHAIN)
    assert (run.state, run.outputs) == ("completed", {"said": "3"})
    assert run.journal_error is not None
    assert "No space left on device — the run itself is unaffected" in run.journal_error
    assert run.journal_error.endswith("runs again on a resume: `two`, `three`")
    assert run.journal_error in repr(run)
    assert "No space left on device" in run._repr_mimebundle_()["text/html"]
    assert (len(frames(here.traces[0])), verify(here.traces[0]).verdict) == (11, "incomplete")


@pytest.mark.parametrize("lines", range(1, 22))
def test_a_resume_runs_what_is_not_kept_and_nothing_else(here: Project, disk: Disk, lines: int) -> None:
    """Full after each line in turn: what the journal holds stands, what it does not is what was named."""
    disk.fill(lines)
    run = nika_nb.run(CHAIN)
    disk.empty()
    kept = {frame["task"] for frame in of(here.traces[0], "task_completed")}
    named = {name for name in ("one", "two", "three") if f"`{name}`" in (run.journal_error or "")}
    assert named == {"one", "two", "three"} - kept
    again = nika_nb.run(CHAIN, resume=here.traces[0])
    assert again.outputs == {"said": "3"}
    assert (hits(newest(here.root)), ran(newest(here.root))) == (kept, named)
    assert here.marks == {name: 1 + (name in named) for name in ("one", "two", "three")}


def test_room_that_comes_back_in_time_leaves_no_trace_of_the_trouble(here: Project, disk: Disk) -> None:
    """What waited is written, in order; the next line finds it."""
    program(here.root, "free", "touch freed; while ! test -e go; do sleep 0.01; done; echo free")
    text = CHAIN.replace('["./say"]', '["./say", "./free"]').replace('["./say", "two", "2"]', '["./free"]')
    disk.fill(9)
    run = nika_nb.run(text, background=True)
    while not Path("freed").exists():
        run.pause_a_moment()
    assert "No space left" in (run.journal_error or "")
    disk.empty()
    Path("go").touch()
    run.wait()
    assert run.journal_error is None
    assert "No space left" not in repr(run)
    assert verify(here.traces[0]).verdict == "clean"


def test_a_durable_start_without_its_first_line_is_unrunnable(here: Project, disk: Disk) -> None:
    """Nothing is run: nobody could ever find it. The words are those of a folder that takes nothing."""
    disk.fill()
    found = runs.start(DONE)
    assert (found.status, found.run_id) == ("unrunnable", None)
    assert "takes no journal (No space left on device)" in found.diagnostics[0].message
    assert here.marks == {}
    assert here.traces == []


# -- a pause -------------------------------------------------------------------------------------


def test_a_question_that_is_not_kept_is_answered_once_it_is(here: Project, disk: Disk) -> None:
    """Answered before that it is refused and nothing is consumed; once there is room it is written first."""
    for lines in (0, 3, 12):
        disk.fill(lines)
        run = nika_nb.run(GATE)
        assert run.state == "paused"
        with pytest.raises(UsageError, match=r"cannot go on: journal .* No space left .* then answer again"):
            run.answer(ANSWERS)
        assert run.state == "paused"
        disk.empty()
        assert run.answer(ANSWERS).outputs == {"topic": "plain", "shipped": "Ann"}
        paused, answered = here.traces[-2:]
        assert (frames(paused)[-1]["kind"], verify(paused).verdict) == ("workflow_paused", "clean")
        assert frames(answered)[0]["resumed_trace"] == paused.name
        assert runs.inspect_run(run.id or "").status == "completed"


def test_on_a_terminal_no_line_is_taught_that_cannot_work(
    here: Project, disk: Disk, terminal: Terminal
) -> None:
    """The process ends with the question: it is asked again by a run that resumes what is kept."""
    Path("gate.nika.yaml").write_text(GATE, encoding="utf-8")
    disk.fill(12)
    done = terminal("run", "gate.nika.yaml")
    assert done.code == 4
    assert "No space left on device" in done.err
    assert "nika-nb answer" not in done.err
    (trace,) = here.traces
    assert f"put that right, then run it again with `--resume .nika/traces/{trace.name}`" in done.err
    disk.empty()
    again = terminal("run", "gate.nika.yaml", "--resume", trace)
    assert "nika-nb answer" in again.err


# -- an answer -----------------------------------------------------------------------------------


def test_an_answer_that_is_not_kept_is_not_consumed(here: Project, disk: Disk) -> None:
    """Whichever way it was given: blocked, nothing ran, no file; later the same answer is taken."""
    started = here.started(GATE)
    before = here.bytes()
    disk.fill()
    found = runs.resume_run(started.run_id, ANSWERS)
    assert (found.status, found.resume_readiness) == ("interrupted", "blocked")
    assert "takes no journal (No space left on device)" in found.diagnostics[0].message
    run = nika_nb.attach(here.traces[0])
    for wait in (True, False):
        with pytest.raises(RunBlocked, match="the answer was not consumed"):
            run.answer(ANSWERS, wait=wait)
        assert run.state == "paused"
    with pytest.raises(RunBlocked, match="takes no journal"):
        nika_nb.run(GATE, resume=here.traces[0], answer=ANSWERS)
    assert here.bytes() == before
    assert here.marks == {"prep": 1}
    disk.empty()
    assert run.answer(ANSWERS).outputs == {"topic": "plain", "shipped": "Ann"}
    assert here.marks == {"prep": 1, "ship": 1}


def test_an_answer_is_not_consumed_at_any_door(here: Project, disk: Disk, terminal: Terminal) -> None:
    """The exit code and the words of what is missing."""
    started = here.started(ASK)
    disk.fill()
    for words in (("answer", here.traces[0], "ask=yes"), ("runs", "resume", started.run_id, "ask=yes")):
        done = terminal(*words)
        assert done.code == 3
        assert "takes no journal (No space left on device)" in done.err
    done = terminal("runs", "resume", started.run_id, "ask=yes", "--json")
    assert (done.code, done.outputs["resume_readiness"]) == (3, "blocked")
    assert len(here.traces) == 1


@pytest.mark.parametrize("lines", [1, 2, 6, 10, 12, 14, 16, 18])
def test_an_answer_that_is_kept_is_never_asked_for_again(here: Project, disk: Disk, lines: int) -> None:
    """From the first line on it stands: the run goes on to its end, and its resume asks nobody."""
    started = here.started(GATE)
    disk.fill(lines)
    found = runs.resume_run(started.run_id, ANSWERS)
    disk.empty()
    assert found.status is None
    assert "No space left on device" in found.notices[-1]
    assert here.marks == {"prep": 1, "ship": 1}
    with pytest.raises(UsageError, match=f'broke off .* `resume="{here.traces[1].name}"`'):
        runs.resume_run(started.run_id, ANSWERS)
    shipped = bool(of(here.traces[1], "task_completed", task="ship"))
    again = nika_nb.run(GATE, resume=here.traces[1])
    assert again.outputs == {"topic": "plain", "shipped": "Ann"}
    assert here.marks == {"prep": 1, "ship": 1 if shipped else 2}
    assert len(traces(here.root)) == 3
