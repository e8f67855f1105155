"""Children die with their engine, however it dies: `kill -9` of a real engine, again and again."""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from nika_nb.verbs.exec import Exec
from nika_nb.verbs.guard import Guard
from tests.verbs.calls import ANY_PROGRAM, Recorder, command, shell
from tests.verbs.processes import fresh_mark, gone, marked, running

ROOT = Path(__file__).resolve().parents[2]
WATCHER = ROOT / "nika_nb" / "verbs" / "watcher.py"
ENGINE = Path(__file__).with_name("engine_at_work.py")


@contextmanager
def engine(mark: str, kind: str, how: str = "plain") -> Iterator[subprocess.Popen[bytes]]:
    """A running engine that has said that it is ready, in a session of its own."""
    popen = subprocess.Popen(
        [sys.executable, str(ENGINE), mark, kind, how],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        start_new_session=True,
    )
    try:
        assert popen.stdout is not None
        assert popen.stdout.readline() == b"ready\n"
        yield popen
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(popen.pid, signal.SIGKILL)
        popen.wait()
        for pid in marked(mark):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        if popen.stdout:
            popen.stdout.close()


def survivors(mark: str) -> list[str]:
    return [line for line in marked(mark).values() if ENGINE.name not in line]


@pytest.mark.parametrize("kind", ["long", "deep", "busy", "stubborn"])
def test_a_killed_engine_leaves_no_child(kind: str) -> None:
    """After `kill -9` of the engine every process of every group is gone."""
    mark = fresh_mark()
    with engine(mark, kind) as popen:
        assert survivors(mark)
        popen.kill()
        popen.wait()
        assert gone(mark, 10)


def test_a_kill_at_any_moment() -> None:
    """Wherever in a spawn the kill lands, nothing survives: thirty engines, killed at random."""
    chance = random.Random(7)
    for _ in range(30):
        mark = fresh_mark()
        with engine(mark, "brief") as popen:
            time.sleep(chance.uniform(0, 0.12))
            popen.kill()
            popen.wait()
            assert gone(mark, 10)


ON_LINUX = pytest.mark.skipif(sys.platform != "linux", reason="others' pipes can be seen on Linux only")


@ON_LINUX
def test_a_child_that_was_never_announced() -> None:
    """A kill between the start of a child and its registration: the child is found by its pipe."""
    mark = fresh_mark()
    outlet, inlet = os.pipe()
    program = [sys.executable, "-I", "-S", str(WATCHER), str(os.getpid())]
    watcher = subprocess.Popen(program, stdin=subprocess.PIPE, start_new_session=True)
    child = subprocess.Popen(["sleep", mark], stdout=inlet, start_new_session=True)
    os.close(inlet)
    watcher.communicate(f"intent 1 {os.fstat(outlet).st_ino}\n".encode())
    assert child.wait(10) == -signal.SIGKILL
    os.close(outlet)


@ON_LINUX
def test_a_child_that_left_its_group() -> None:
    """A descendant in a session of its own still dies, as long as it holds the task's output."""
    mark = fresh_mark()
    with engine(mark, "escaped") as popen:
        popen.kill()
        popen.wait()
        assert gone(mark, 10)


def test_a_forked_copy_does_not_keep_children_alive() -> None:
    """A copy of the engine may hold the watcher's pipe; that the engine is gone is seen all the same."""
    mark = fresh_mark()
    with engine(mark, "long", "forked") as popen:
        assert survivors(mark)
        popen.kill()
        popen.wait()
        assert gone(f"sleep {mark}", 10)
        assert not gone(mark)  # the copy itself lives


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_to_the_engines_group(number: int) -> None:
    """The watcher does not die of what is sent to the engine's group, and ends the children after it."""
    mark = fresh_mark()
    with engine(mark, "stubborn") as popen:
        os.killpg(popen.pid, number)
        popen.wait(20)
        assert gone(mark, 10)


def run(guard: Guard, base: Path, line: str) -> str:
    call = Recorder(str(base)).call("exec", shell(line))
    return str(asyncio.run(Exec(ANY_PROGRAM, os.environ, guard).run(call)).output)


def watcher_of(guard: Guard) -> subprocess.Popen[bytes]:
    assert guard._watcher is not None
    return guard._watcher


def test_the_watcher_starts_with_the_first_child(tmp_path: Path) -> None:
    """No child, no watcher; after the close it is gone."""
    guard = Guard()
    assert guard._watcher is None
    run(guard, tmp_path, "true")
    watcher = watcher_of(guard)
    assert watcher.poll() is None
    guard.close()
    assert watcher.returncode == 0


def test_a_watcher_that_died_is_replaced(tmp_path: Path) -> None:
    """A killed watcher is noticed with the next child, and the new one knows what is alive."""
    guard = Guard()
    verb = Exec(ANY_PROGRAM, os.environ, guard)
    mark = fresh_mark()

    async def scenario() -> None:
        recorder = Recorder(str(tmp_path))
        long = asyncio.create_task(verb.run(recorder.call("exec", command("sleep", mark))))
        while not recorder.processes:
            await asyncio.sleep(0.01)
        watcher_of(guard).kill()
        watcher_of(guard).wait()
        await verb.run(Recorder(str(tmp_path)).call("exec", command("true")))
        assert watcher_of(guard).poll() is None
        guard.close()  # ends what is registered
        with pytest.raises(Exception, match="SIGKILL"):
            await long

    asyncio.run(scenario())
    assert gone(mark)


def test_a_finished_child_is_forgotten(tmp_path: Path) -> None:
    """The watcher is told of every end: it will never signal a number that belongs to a stranger."""
    guard = Guard()
    run(guard, tmp_path, "true")
    run(guard, tmp_path, "sleep 1000 & true")
    with pytest.raises(Exception, match="could not be started"):
        asyncio.run(
            Exec(ANY_PROGRAM, os.environ, guard).run(
                Recorder(str(tmp_path)).call("exec", command("no-such-program-xyz"))
            )
        )
    assert guard._alive == {}
    guard.close()


def test_a_forked_copy_cannot_speak_for_the_engine() -> None:
    """In a copy of the engine the guard does nothing: what it says changes nothing for the engine."""
    guard = Guard()
    with running(f"sleep {fresh_mark()}") as popen:
        assert popen.stdout is not None
        number = guard.intend(popen.stdout.fileno())
        guard.started(number, popen.pid)
        copy = os.fork()
        if copy == 0:
            guard.ended(number)
            guard.close()
            os._exit(0)
        assert os.waitpid(copy, 0)[1] == 0
        assert popen.poll() is None
        guard.close()
        assert popen.wait(10) == -signal.SIGKILL


def test_without_an_interpreter_there_is_no_watcher(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no interpreter can be started, work goes on without the watcher."""
    monkeypatch.setattr(sys, "executable", "")
    guard = Guard()
    assert run(guard, tmp_path, "echo works") == "works"
    guard.close()
