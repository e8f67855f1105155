"""A run watched and ended from outside: from the same process and from another one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio import to_thread
from jupyter_client.manager import start_new_kernel
from mcp import ClientSession

import nika_nb
from nika_nb import runs
from nika_nb.errors import NikaError, UsageError
from nika_nb.runs import calling_off
from tests.doors import PATIENCE, alive, environment, frames, launch, newest, of, program, started, wait_for
from tests.durable.project import ASK, DONE, GATE, Project
from tests.durable.talking import said, talked

pytestmark = pytest.mark.timeout(2 * PATIENCE)  # who follows a run that never ends would wait for ever

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
    """It ends in order, with exit code 130; nothing of the asking stays behind."""
    run_id, engine = working
    found = runs.cancel(run_id)
    assert (found.status, found.outcome) == ("failed", "cancelled")
    assert engine.wait(PATIENCE) == 130
    _ended_in_order(slow)


def test_cancel_asks_a_program_that_runs_it_from_python(slow: Project) -> None:
    """The run ends, the program goes on."""
    text = "import nika_nb; run = nika_nb.run(open('slow.nika.yaml').read()); print(run.state)"
    other = subprocess.Popen(
        [sys.executable, "-c", text], cwd=slow.root, env=environment(), stdout=subprocess.PIPE, text=True
    )
    trace = wait_for(started(slow.root, "slow"), "the slow program")
    found = runs.cancel(frames(trace)[0]["correlation"])
    assert (found.status, found.outcome) == ("failed", "cancelled")
    assert other.communicate(timeout=PATIENCE)[0] == "cancelled\n"
    _ended_in_order(slow)


@pytest.mark.parametrize("background", [False, True], ids=["in a cell", "in the background"])
def test_cancel_asks_a_kernel_that_runs_it(slow: Project, background: bool) -> None:
    """A cell that blocks comes back; a run that nobody waits for ends as well; the kernel lives."""
    run = f"import nika_nb; run = nika_nb.run(open('slow.nika.yaml').read(), background={background})"
    manager, client = start_new_kernel(cwd=str(slow.root), env=environment())
    try:
        asked = client.execute(run)
        trace = wait_for(started(slow.root, "slow"), "the slow program")
        found = runs.cancel(frames(trace)[0]["correlation"])
        assert (found.status, found.outcome) == ("failed", "cancelled")
        assert _reply(client, asked)["status"] == "ok"
        assert _reply(client, client.execute("run.wait(); assert run.state == 'cancelled'"))["status"] == "ok"
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    _ended_in_order(slow)


def test_cancel_asks_a_server_that_runs_it(slow: Project) -> None:
    """The client's call returns with what became of the run."""
    slow.deployed("slow", SLOW)

    async def talk(client: ClientSession) -> dict[str, Any]:
        found: dict[str, Any] = {}

        async def call() -> None:
            found.update(await said(client, "run_deployment", deployment="slow"))

        async with anyio.create_task_group() as group:
            group.start_soon(call)
            trace = await to_thread.run_sync(lambda: wait_for(started(slow.root, "slow"), "the program"))
            await to_thread.run_sync(lambda: runs.cancel(frames(trace)[0]["correlation"]))
        return found

    found = talked(slow.root, talk)
    assert (found["status"], found["outcome"]) == ("failed", "cancelled")
    _ended_in_order(slow)


def _reply(client: Any, asked: str) -> dict[str, Any]:
    while True:
        reply = client.get_shell_msg(timeout=PATIENCE)
        if reply["parent_header"]["msg_id"] == asked:
            return dict(reply["content"])


def _ended_in_order(slow: Project) -> None:
    (trace,) = slow.traces
    assert frames(trace)[-1]["kind"] == "workflow_cancelled"
    assert not alive(of(trace, "verb_invoked", task="slow")[0]["pgid"])
    assert [path.name for path in trace.parent.iterdir()] == [trace.name]


def test_cancelled_while_its_cleanups_run_it_ends_them_too_when_asked_again(
    slow: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a second interrupt does. Whoever asked first is told that it is still at it."""
    monkeypatch.setattr(calling_off, "_ENDING", 1.0)
    tidy = SLOW.replace("outputs:", '  tidy: {after: {slow: unwind}, exec: {command: ["./slow"]}}\noutputs:')
    (slow.root / "slow.nika.yaml").write_text(tidy, encoding="utf-8")
    engine = launch("run", "slow.nika.yaml", cwd=slow.root)
    trace = wait_for(started(slow.root, "slow"), "the slow program")
    run_id = frames(trace)[0]["correlation"]
    with pytest.raises(NikaError, match=f"process {engine.pid} was asked to end .* its cleanups run"):
        runs.cancel(run_id)
    assert runs.cancel(run_id).outcome == "cancelled"
    assert engine.wait(PATIENCE) == 130


def test_a_run_that_cannot_be_asked_is_named(
    slow: Project, working: tuple[str, subprocess.Popen[bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where nothing can be left beside its journal: the process, the reason, and what to do."""
    run_id, engine = working

    monkeypatch.setattr(calling_off, "_word", lambda journal: Path("/proc/no-such-folder/word"))
    told = f"at work in process {engine.pid}, which cannot be asked .*No such file.*: interrupt it there"
    with pytest.raises(UsageError, match=told):
        runs.cancel(run_id)
    assert runs.list_runs().unfinished[0].state == "running"


def test_whoever_ends_by_itself_meanwhile_is_not_told_to(slow: Project) -> None:
    """What was asked too late is taken back: the next run finds nothing that calls it off."""
    for _ in range(5):
        (slow.root / "go").unlink(missing_ok=True)
        found = slow.started(SLOW, wait=False)
        trace = wait_for(started(slow.root, "slow"), "the slow program")
        (slow.root / "go").touch()
        with suppress(UsageError):
            runs.cancel(found.run_id)
        assert runs.inspect_run(found.run_id).outcome in ("completed", "cancelled")
        assert not list(trace.parent.glob("*.cancel"))


def test_what_is_not_at_work_cannot_be_cancelled(here: Project) -> None:
    """Each in its own words."""
    done = here.started(DONE)
    with pytest.raises(UsageError, match=r"nothing of .* is at work: it is completed"):
        runs.cancel(done.run_id)
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
