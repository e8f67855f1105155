"""Who comes second learns the same whichever door it is, and whichever process went on with the run."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator

import pytest

import nika_nb
from nika_nb import runs
from nika_nb.errors import NikaError, NotPaused, ResumeRefused
from nika_nb.runs.run import Run
from tests.doors import PATIENCE, Terminal, nika, program, started, wait_for
from tests.durable.cells import Cells
from tests.durable.project import GATE, SLOW, Project

pytestmark = pytest.mark.timeout(3 * PATIENCE)  # a door that does not refuse would wait for the slow program

WHEN = r"`ask` was already answered on \d{4}-\d\d-\d\d at \d\d:\d\d:\d\d UTC with nika-nb, in "


@pytest.fixture
def slow(here: Project) -> Iterator[Project]:
    """With a program that works until a file `go` is there; whatever works is let go at the end."""
    program(here.root, "slow", "echo slow >> marks\nwhile ! test -e go; do sleep 0.02; done\nprintf done")
    yield here
    (here.root / "go").touch()
    wait_for(lambda: "nika-engine" not in {t.name for t in threading.enumerate()}, "the end of the runs")


def works(slow: Project) -> int:
    """How often the slow program has begun."""
    return slow.marks.get("slow", 0)


def answered_elsewhere(here: Project, terminal: Terminal) -> str:
    """The id of a run that a terminal answered to its end."""
    run_id = here.started(GATE).run_id
    assert terminal("runs", "resume", run_id, "ask=yes", "name=Ann").code == 0
    return run_id


@pytest.mark.parametrize("line", ["answer {run} ask=no", "decline {run} ask", "decline {run}"])
def test_a_line_with_a_runs_id_says_when_and_by_which_door_it_was_answered(
    here: Project, terminal: Terminal, cells: Cells, line: str
) -> None:
    """As the run's id does at every other door."""
    run_id = answered_elsewhere(here, terminal)
    said = cells.refused(line.format(run=run_id))
    assert f"{run_id} is completed: only an interrupted run is resumed; `ask` was already answered on" in said
    assert "UTC with nika-nb, in " in said


def test_a_run_in_hand_and_the_last_trace_say_it_too(here: Project, terminal: Terminal) -> None:
    """Python holds the run, a terminal is given the trace of its end."""
    run_id = answered_elsewhere(here, terminal)
    last = here.traces[-1]
    for act in (lambda: nika_nb.attach(last).answer(ask="no"), lambda: nika_nb.attach(last).decline()):
        with pytest.raises(NotPaused, match=WHEN):
            act()
    refused = terminal("answer", last, "ask=no")
    assert (refused.code, run_id in refused.err, "already answered" in refused.err) == (3, True, True)


def test_a_line_with_the_id_of_a_run_at_work_names_its_process(slow: Project, cells: Cells) -> None:
    """Where it can be found, as the other doors name it."""
    run_id = slow.started(SLOW).run_id
    nika_nb.attach(slow.traces[0]).answer(True, wait=False)
    wait_for(started(slow.root, "slow"), "the slow program")
    assert f"{run_id} is at work in process {os.getpid()}" in cells.refused(f"answer {run_id} ask=no")


def test_who_started_a_run_and_answers_it_leaves_the_others_no_worse_told(slow: Project) -> None:
    """The process that paused it goes on with it: the paused trace says who answered, when, and where."""
    run = nika_nb.run(SLOW)
    paused = slow.traces[0]
    run.answer(True, wait=False)
    wait_for(started(slow.root, "slow"), "the slow program")
    told = rf"was already answered: `ask` on .* UTC from Python\. .* is at work in process {os.getpid()}"
    with pytest.raises(ResumeRefused, match=told):
        nika_nb.attach(paused).answer(False)
    refused = nika("answer", paused, "ask=no", cwd=slow.root)
    assert (refused.code, f"at work in process {os.getpid()}" in refused.err) == (3, True)
    assert "Try again" not in refused.err


def test_a_paused_trace_is_no_run_at_work_while_its_own_process_goes_on_from_it(slow: Project) -> None:
    """Whoever looks at it sees a pause, and is not kept waiting for what comes in another file."""
    run = nika_nb.run(SLOW)
    paused = slow.traces[0]
    run.answer(True, wait=False)
    wait_for(started(slow.root, "slow"), "the slow program")
    look = nika_nb.attach(paused)
    assert (look.running, look.state) == (False, "paused")


def test_who_follows_a_run_to_its_pause_is_let_go_there(slow: Project) -> None:
    """Also where its own process has taken the paused trace to go on from it."""
    text = SLOW.replace("tasks:\n", 'tasks:\n  first: {exec: {command: ["./slow"]}}\n').replace(
        "ask: {invoke", "ask: {after: {first: success}, invoke"
    )
    run = nika_nb.runs.start(text, wait=False)
    wait_for(lambda: works(slow) == 1, "the first program")
    follower: Run = nika_nb.attach(slow.traces[0])
    assert follower.running
    (slow.root / "go").touch()
    wait_for(lambda: runs.inspect_run(run.run_id or "").status == "interrupted", "the pause")
    (slow.root / "go").unlink()
    nika_nb.attach(slow.traces[0]).answer(True, wait=False)
    wait_for(lambda: works(slow) == 2, "the second program")
    assert follower.wait(PATIENCE)
    assert follower.state == "paused"


# -- a bare resume -------------------------------------------------------------------------------

WORKS = """\
nika: works
permits: {exec: ["./slow", "./say"]}
tasks:
  a: {exec: {command: ["./say", "a", "1"]}}
  s: {after: {a: success}, exec: {command: ["./slow"]}}
"""


def test_a_bare_resume_beside_the_first_run_at_work_is_told_so(slow: Project) -> None:
    """Nothing runs a second time: what it would resume from is being written, and by whom is said."""
    begun = runs.start(WORKS, wait=False)
    wait_for(lambda: works(slow) == 1, "the slow program")
    with pytest.raises(ResumeRefused, match="another thread of this process"):
        nika_nb.run(WORKS, resume=True, background=True)
    (slow.root / "works.nika.yaml").write_text(WORKS, encoding="utf-8")
    refused = nika("run", "works.nika.yaml", "--resume", cwd=slow.root)
    assert refused.code == 3
    assert f"{slow.traces[0].name} is being worked on by process {os.getpid()}" in refused.err
    assert "--resume" in refused.err
    assert (len(slow.traces), slow.marks) == (1, {"a": 1, "slow": 1})
    (slow.root / "go").touch()
    wait_for(lambda: runs.inspect_run(begun.run_id or "").status == "completed", "the end")
    assert nika_nb.run(WORKS, resume=True).state == "completed"
    assert slow.marks == {"a": 1, "slow": 1}


def test_a_bare_resume_takes_no_older_trace_while_the_newest_is_at_work(slow: Project) -> None:
    """The newest is what it means; an older one is named."""
    (slow.root / "go").touch()
    nika_nb.run(WORKS)
    (slow.root / "go").unlink()
    older = slow.traces[0]
    runs.start(WORKS, wait=False)
    wait_for(lambda: works(slow) == 2, "the slow program")
    with pytest.raises(NikaError, match="is being worked on"):
        nika_nb.run(WORKS, resume=True, background=True)
    assert nika_nb.run(WORKS, resume=older).state == "completed"
    other = nika_nb.run(WORKS.replace("nika: works", "nika: other").replace("./slow", "./say"), resume=True)
    assert other.state == "completed"
