"""A run watched and ended from outside: from the same process and from another one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

import nika_nb
from nika_nb import runs
from nika_nb.errors import NikaError, UsageError
from tests.doors import PATIENCE, alive, environment, frames, launch, newest, of, program, started, wait_for
from tests.durable.project import ASK, DONE, GATE, Project

SLOW = """\
nika: slow
permits: {exec: ["./say", "./slow"]}
tasks:
  one: {exec: {command: ["./say", "one", "1"]}}
  slow: {after: {one: success}, exec: {command: ["./slow"]}}
outputs: {said: "${{ tasks.slow.output }}"}
"""


@pytest.fixture
def slow(here: Project) -> Project:
    """With a program that works until a file `go` is there."""
    program(here.root, "slow", "while ! test -e go; do sleep 0.02; done\nprintf done")
    (here.root / "slow.nika.yaml").write_text(SLOW, encoding="utf-8")
    return here


@pytest.fixture
def working(slow: Project) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """The id of a run at work in another `nika-nb`, and its process."""
    engine = launch("run", "slow.nika.yaml", cwd=slow.root)
    trace = wait_for(started(slow.root, "slow"), "the slow program")
    yield frames(trace)[0]["correlation"], engine
    if engine.poll() is None:
        engine.kill()
    engine.wait(PATIENCE)


# -- follow ------------------------------------------------------------------------------------


def test_frames_come_as_they_land_from_a_second_process_too(
    slow: Project, working: tuple[str, subprocess.Popen[bytes]]
) -> None:
    """What is there at once, the rest once it is written; then it says how the run ended."""
    run_id, _ = working
    following = runs.follow(run_id)
    seen = [next(following).kind for _ in range(len(frames(newest(slow.root))))]
    assert seen[-1] == "verb_invoked"
    assert following.state == "running"
    (slow.root / "go").touch()
    seen += [frame.kind for frame in following]
    assert seen == [frame["kind"] for frame in frames(newest(slow.root))]
    assert following.state == "completed"


def test_a_writer_that_crashes_ends_it_as_incomplete(
    slow: Project, working: tuple[str, subprocess.Popen[bytes]]
) -> None:
    """After everything that it had written."""
    run_id, engine = working
    following = runs.follow(run_id)
    first = next(following)
    os.kill(engine.pid, signal.SIGKILL)
    rest = list(following)
    assert [first.id, *(frame.id for frame in rest)] == [f["uuid"] for f in frames(newest(slow.root))]
    assert following.state == "incomplete"


def test_it_goes_on_across_the_answers_of_the_run(here: Project) -> None:
    """One stream over three files, whoever answers meanwhile."""
    run_id = here.started(GATE).run_id

    def answer() -> None:
        runs.resume_run(run_id, {"ask": "yes"})
        runs.resume_run(run_id, {"name": "Ann"})

    following = runs.follow(run_id)
    seen = [next(following) for _ in range(len(frames(here.traces[0])))]
    answering = threading.Thread(target=answer)
    answering.start()
    seen += list(following)
    answering.join(PATIENCE)
    assert [frame.id for frame in seen] == [f["uuid"] for path in here.traces for f in frames(path)]
    assert following.state == "completed"
    assert {frame.correlation for frame in seen} == {run_id}


def test_it_may_end_at_a_pause(here: Project) -> None:
    """For whoever does not want to wait for people."""
    run_id = here.started(ASK).run_id
    following = runs.follow(run_id, through_pauses=False)
    assert [frame.kind for frame in following][-1] == "workflow_paused"
    assert following.state == "paused"


def test_an_answer_that_is_at_work_is_followed_while_its_question_is_held(slow: Project) -> None:
    """The one who answers holds the answered trace: that keeps nobody from reading on."""
    text = 'nika: held\npermits: {exec: ["./slow"]}\ntasks:\n'
    text += '  ask: {invoke: {tool: "nika:prompt", args: {message: "Go on?"}}}\n'
    text += '  slow: {with: {go: "${{ tasks.ask.output }}"}, when: "${{ with.go == true }}", '
    text += 'exec: {command: ["./slow"]}}\n'
    run_id = slow.started(text).run_id
    assert runs.resume_run(run_id, "yes", wait=False).state == "running"
    following = runs.follow(run_id)
    for frame in following:
        if frame.kind == "verb_invoked" and frame.get("task") == "slow":
            break
    assert following.state == "running"
    (slow.root / "go").touch()
    assert [frame.kind for frame in following][-1] == "workflow_completed"


def test_a_run_that_is_over_is_told_to_its_end(here: Project) -> None:
    """Nothing is waited for."""
    run_id = here.started(DONE).run_id
    following = runs.follow(run_id)
    assert len(list(following)) == len(frames(here.traces[0]))
    assert following.state == "completed"


def test_on_a_terminal(slow: Project, working: tuple[str, subprocess.Popen[bytes]]) -> None:
    """A line per frame; the exit code of the run."""
    run_id, _ = working
    out = slow.root / "followed"
    follower = launch("runs", "follow", run_id, cwd=slow.root, out=out)
    wait_for(lambda: b"verb_invoked         slow" in out.read_bytes(), "the frames so far")
    (slow.root / "go").touch()
    assert follower.wait(PATIENCE) == 0
    assert b"workflow_completed" in out.read_bytes()


# -- cancel ------------------------------------------------------------------------------------


def test_cancel_ends_a_run_of_this_process_with_its_children(slow: Project) -> None:
    """Its journal ends as cancelled, and the program is gone."""
    started_run = slow.started(SLOW, wait=False)
    trace = wait_for(started(slow.root, "slow"), "the slow program")
    pid = of(trace, "verb_invoked", task="slow")[0]["pgid"]
    found = runs.cancel(started_run.run_id)
    assert (found.status, found.outcome) == ("failed", "cancelled")
    assert not alive(pid)
    assert frames(trace)[-1]["kind"] == "workflow_cancelled"


def test_cancel_asks_another_nika_nb_to_end_its_run(
    slow: Project, working: tuple[str, subprocess.Popen[bytes]]
) -> None:
    """By its process: it ends in order, with exit code 130."""
    run_id, engine = working
    found = runs.cancel(run_id)
    assert (found.status, found.outcome) == ("failed", "cancelled")
    assert engine.wait(PATIENCE) == 130


def test_a_run_in_somebody_elses_process_is_not_ours_to_end(slow: Project) -> None:
    """A kernel, a server: the sentence says which process it is, and nothing is signalled."""
    program_text = "import nika_nb; nika_nb.run(open('slow.nika.yaml').read())"
    other = subprocess.Popen([sys.executable, "-c", program_text], cwd=slow.root, env=environment())
    try:
        trace = wait_for(started(slow.root, "slow"), "the slow program")
        run_id = frames(trace)[0]["correlation"]
        with pytest.raises(UsageError, match=f"at work in process {other.pid} \\(started from Python\\)"):
            runs.cancel(run_id)
    finally:
        (slow.root / "go").touch()
        assert other.wait(PATIENCE) == 0
    assert runs.inspect_run(run_id).status == "completed"


def test_what_is_not_at_work_cannot_be_cancelled(here: Project) -> None:
    """Each in its own words; a question is declined instead."""
    done, asks = here.started(DONE), here.started(ASK)
    with pytest.raises(UsageError, match=r"nothing of .* is at work: it is completed"):
        runs.cancel(done.run_id)
    with pytest.raises(UsageError, match=r"it waits for an answer\. To end it, decline"):
        runs.cancel(asks.run_id)
    whole = here.traces[0].read_bytes().splitlines(keepends=True)
    here.traces[0].write_bytes(b"".join(whole[:3]))
    with pytest.raises(UsageError, match="it is incomplete"):
        runs.cancel(done.run_id)
    with pytest.raises(NikaError, match="there is no run"):
        runs.cancel("gate-00000000")


def test_a_start_that_nobody_waits_for_is_at_work(slow: Project) -> None:
    """Its status is none yet; it is listed apart until it stops."""
    found = slow.started(SLOW, wait=False)
    assert (found.status, found.state) == (None, "running")
    (unfinished,) = runs.list_runs().unfinished
    assert (unfinished.summary.run_id, unfinished.state) == (found.run_id, "running")
    Path("go").touch()
    list(runs.follow(found.run_id))
    assert runs.inspect_run(found.run_id).status == "completed"
    assert nika_nb.attach(newest(slow.root)).outputs == {"said": "done"}
