"""Children end with their task: when it ends, when it is cancelled, whatever they try."""

from __future__ import annotations

import asyncio
import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from nika_nb.engine.contract import Process
from nika_nb.verbs import process
from nika_nb.verbs.exec import Exec
from nika_nb.verbs.guard import Guard
from nika_nb.verbs.pipes import Pipes
from nika_nb.verbs.process import Spawn
from nika_nb.verbs.sweep import end, is_alive, start_time
from tests.verbs.calls import ANY_PROGRAM, Recorder, command, shell
from tests.verbs.processes import fresh_mark, gone, running


def run(guard: Guard, base: Path, line: str) -> str:
    recorder = Recorder(str(base))
    reply = asyncio.run(Exec(ANY_PROGRAM, os.environ, guard).run(recorder.call("exec", shell(line))))
    return str(reply.output)


def cancelled(guard: Guard, base: Path, line: str, ready: str, again: bool = False) -> None:
    """Cancel a line once it has said that it is ready; returns when the cancellation came through."""
    recorder = Recorder(str(base))
    verb = Exec(ANY_PROGRAM, os.environ, guard)

    async def scenario() -> None:
        task = asyncio.create_task(verb.run(recorder.call("exec", shell(line))))
        while ready not in recorder.text("stdout"):
            await asyncio.sleep(0.01)
        task.cancel()
        if again:
            await asyncio.sleep(0.05)
            task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(scenario())


def test_pipes_that_do_not_all_open_leave_none_open() -> None:
    """With room for three descriptors of five, nothing is left of the three."""
    before = os.listdir("/dev/fd")
    room = [os.dup(0) for _ in range(3)]
    for descriptor in room:
        os.close(descriptor)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(room) + 1, hard))
    try:
        with pytest.raises(OSError, match="Too many open files"):
            Pipes(fed=False, merge=False)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert os.listdir("/dev/fd") == before


def test_a_grandchild_that_holds_the_pipe(guard: Guard, tmp_path: Path) -> None:
    """The task ends with its leader; what was said is kept, and the grandchild is ended."""
    mark = fresh_mark()
    assert run(guard, tmp_path, f"sleep {mark} & echo said") == "said"
    assert gone(f"sleep {mark}")


def test_a_grandchild_that_still_talks_a_little(guard: Guard, tmp_path: Path) -> None:
    """Words that come right after the leader's exit are still heard."""
    assert run(guard, tmp_path, "(sleep 0.05; echo late) & echo early") == "early\nlate"


def test_a_grandchild_that_talks_for_ever(guard: Guard, tmp_path: Path) -> None:
    """A grandchild that keeps talking cannot keep the task from ending."""
    mark = fresh_mark()
    assert "first" in run(guard, tmp_path, f"(while true; do echo {mark}; sleep 0.02; done) & echo first")
    assert gone(mark)


def test_a_grandchild_without_the_pipe(guard: Guard, tmp_path: Path) -> None:
    """Work that was sent to the background is ended with its task too."""
    mark = fresh_mark()
    assert run(guard, tmp_path, f"nohup sleep {mark} >/dev/null 2>&1 & echo done") == "done"
    assert gone(f"sleep {mark}")


STUBBORN = {
    "an obedient child": "echo ready; sleep MARK",
    "children and grandchildren": "sleep MARK & (sleep MARK & sleep MARK) & echo ready; sleep MARK",
    "one that ignores the request": "trap '' TERM INT HUP; echo ready; while true; do sleep MARK; done",
    "one that is stopped": "echo ready; kill -STOP $$; sleep MARK",
    "a child that ignores the request": "(trap '' TERM; while true; do sleep MARK; done) & echo ready; wait",
    "one that talks without end": "echo ready; while true; do echo MARK; done",
}


@pytest.mark.parametrize("line", STUBBORN.values(), ids=STUBBORN.keys())
@pytest.mark.parametrize("again", [False, True], ids=["once", "twice"])
def test_a_cancellation_ends_the_whole_group(guard: Guard, tmp_path: Path, line: str, again: bool) -> None:
    """When the cancellation has come through, nothing of the group runs any more."""
    mark = fresh_mark()
    cancelled(guard, tmp_path, line.replace("MARK", mark), "ready", again)
    assert gone(mark)


@pytest.mark.parametrize("turns", range(6))
def test_a_cancellation_at_the_moment_it_was_heard(guard: Guard, tmp_path: Path, turns: int) -> None:
    """A cancellation that comes just as a child's last word does goes on as any other."""

    async def scenario() -> None:
        loop = asyncio.get_running_loop()

        def later(turns: int) -> None:
            if turns:
                loop.call_soon(later, turns - 1)
            else:
                task.cancel()

        def show(stream: str, text: str) -> None:
            if "late" in text:
                later(turns)

        spawn = Spawn(["/bin/sh", "-c", "(sleep 0.05; echo late; sleep 9) & echo early"], str(tmp_path), {})
        task = asyncio.create_task(process.run(spawn, guard, lambda _: None, show))
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(scenario())


def test_a_cancellation_while_a_child_is_ended_for_something_else(guard: Guard, tmp_path: Path) -> None:
    """It is kept until the child is gone, and then goes on: what had come up before does not hide it."""
    spawn = Spawn(["/bin/sh", "-c", "sleep 60"], str(tmp_path), {})

    async def scenario() -> None:
        def breaks(_: Process) -> None:
            asyncio.get_running_loop().call_soon(task.cancel)
            raise ValueError("it cannot be told")

        task = asyncio.create_task(process.run(spawn, guard, breaks, lambda *_: None))
        with pytest.raises(asyncio.CancelledError) as ended:
            await task
        assert isinstance(ended.value.__cause__, ValueError)

    asyncio.run(scenario())


def test_a_child_may_tidy_up_when_cancelled(guard: Guard, tmp_path: Path) -> None:
    """The group is asked before it is killed."""
    line = f"trap 'echo tidy > {tmp_path}/note; exit 0' TERM; echo ready; while true; do sleep 0.01; done"
    cancelled(guard, tmp_path, line, "ready")
    assert (tmp_path / "note").read_text() == "tidy\n"


def test_an_interrupt_of_the_engine_does_not_reach_a_child(guard: Guard, tmp_path: Path) -> None:
    """Children lead sessions of their own: the terminal's signals are the engine's to pass on."""
    session = run(guard, tmp_path, "ps -o sid= -p $$ | tr -d ' '; echo $$").split()
    assert session[0] == session[1] != str(os.getsid(0))


def test_a_timeout_is_a_cancellation(guard: Guard, tmp_path: Path) -> None:
    """A task that runs out of time leaves nothing behind."""
    recorder = Recorder(str(tmp_path))
    verb = Exec(ANY_PROGRAM, os.environ, guard)
    mark = fresh_mark()

    async def scenario() -> None:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.3):
                await verb.run(recorder.call("exec", shell(f"sleep {mark} & sleep {mark}")))

    asyncio.run(scenario())
    assert gone(mark)


def test_a_witness_that_fails_leaves_no_child(guard: Guard, tmp_path: Path) -> None:
    """An error on the engine's side ends the child before it goes on."""
    verb = Exec(ANY_PROGRAM, os.environ, guard)
    mark = fresh_mark()
    call = Recorder(str(tmp_path)).call("exec", command("sleep", mark))

    def broken(process: Process | None) -> None:
        raise RuntimeError("no journal")

    object.__setattr__(call, "witness", broken)
    with pytest.raises(RuntimeError, match="no journal"):
        asyncio.run(verb.run(call))
    assert gone(mark)


def test_a_left_process_is_found_and_ended() -> None:
    """A process is known by its group and its start time; then its whole group is ended."""
    mark = fresh_mark()
    with running(f"trap '' TERM; echo up; sleep {mark} & sleep {mark}; sleep {mark}") as popen:
        assert popen.stdout is not None
        popen.stdout.readline()
        left = Process(popen.pid, start_time(popen.pid))
        assert is_alive(left)
        assert end(left)
        assert popen.wait(5) == -signal.SIGKILL
        assert gone(mark)
        assert not is_alive(left)
        assert not end(left)


def test_a_stranger_is_never_ended() -> None:
    """The same number with another start time is somebody else."""
    with running(f"sleep {fresh_mark()}") as popen:
        for started in ("", "1", "not a time"):
            assert not is_alive(Process(popen.pid, started))
            assert not end(Process(popen.pid, started))
        assert popen.poll() is None


def test_a_polite_process_is_only_asked(tmp_path: Path) -> None:
    """One that ends when asked is not killed."""
    line = f"trap 'echo bye > {tmp_path}/note; exit 0' TERM; echo up; while true; do sleep 0.01; done"
    with running(line) as popen:
        assert popen.stdout is not None
        popen.stdout.readline()
        assert end(Process(popen.pid, start_time(popen.pid)))
        assert (tmp_path / "note").read_text() == "bye\n"


DESCENDANT = """
import os, subprocess, sys
from nika_nb.engine.contract import Process
from nika_nb.verbs.sweep import end, start_time
if len(sys.argv) > 1:
    tried = [os.getpgrp(), os.getppid(), int(sys.argv[1])]
    print([end(Process(pid, start_time(pid))) for pid in tried])
else:
    subprocess.run([sys.executable, "-c", os.environ["CODE"], str(os.getpid())], start_new_session=True)
"""


def test_nobody_ends_what_he_descends_from() -> None:
    """A journal may name any process: neither this one's group nor its parents' is ever a leftover."""
    done = subprocess.run(
        [sys.executable, "-c", DESCENDANT],
        env={**os.environ, "CODE": DESCENDANT},
        start_new_session=True,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "[False, False, False]\n")
