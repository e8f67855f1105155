"""One child process, from spawn to the end of its whole group, without ever blocking the loop.

Every child leads a session of its own, so that an interrupt of the engine does not reach it and
its group can be ended as one. Pipes are read as data comes; the exit is awaited on a thread of
its own, so that no child watcher is needed and any loop in any thread will do.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import signal
import subprocess
import threading
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from nika_nb.authority.env import program_on
from nika_nb.engine.contract import Process
from nika_nb.verbs.guard import Guard
from nika_nb.verbs.pipes import Feed, Pipes, Show, Stream
from nika_nb.verbs.sweep import has_members, start_time

_IDLE_SECONDS = 0.2  # what a leftover grandchild that holds the pipe may still have to say
_LINGER_SECONDS = 1.0
_POLITE_SECONDS = 0.3
_HARD_SECONDS = 2.0
_STEP_SECONDS = 0.02


@dataclass(frozen=True, slots=True)
class Spawn:
    """What to start. `merge` sends the error stream into the output, in the order it came."""

    argv: list[str]
    cwd: str
    env: Mapping[str, str]
    stdin: bytes | None = None
    merge: bool = False


@dataclass(frozen=True, slots=True)
class Finished:
    """How it went. An end by signal N has exit code 128+N and the signal's name.

    overflow names the stream that went beyond the bound; the command was ended for it.
    """

    exit_code: int
    stdout: bytes
    stderr: bytes
    signal: str = ""
    overflow: str = ""


class Broken(Exception):
    """The child was ended because a pipe of its could not be served; `cause` is what came up."""

    def __init__(self, stream: str, cause: Exception) -> None:
        self.stream = stream
        self.cause = cause
        super().__init__(f"{stream}: {cause}")


class NotStarted(Exception):
    """The system refused to start the child; `cause` is what it said."""

    def __init__(self, cause: OSError | ValueError) -> None:
        self.cause = cause
        super().__init__(str(cause))


async def run(spawn: Spawn, guard: Guard, witness: Callable[[Process], None], show: Show) -> Finished:
    """Run a child to its end. Raises NotStarted when it cannot be started, Broken when it cannot be heard.

    When cancelled, the group is asked to end, then killed, and is gone before the cancellation
    goes on. What the leader leaves running in its group is ended with it.
    """
    child = _Child(spawn, guard, show)
    try:
        child.watch()
        witness(child.process)
        await child.settle()
    except BaseException as error:
        await child.end()
        if child.called_off:
            raise asyncio.CancelledError from error
        raise
    finally:
        child.close()
    return child.finished()


class _Child:
    """A started child: its pipes on the loop, its exit on a thread."""

    def __init__(self, spawn: Spawn, guard: Guard, show: Show) -> None:
        self._loop = asyncio.get_running_loop()
        self._guard = guard
        self._exited = asyncio.Event()
        self._heard = asyncio.Event()
        self._reaped = False
        self.called_off = False  # while it was being ended
        self._overflow = ""
        self._streams: list[Stream] = []
        self._feed: Feed | None = None
        self._popen = self._start(spawn, show)
        self.process = Process(self._popen.pid, start_time(self._popen.pid))

    def _start(self, spawn: Spawn, show: Show) -> subprocess.Popen[bytes]:
        try:
            pipes = Pipes(fed=spawn.stdin is not None, merge=spawn.merge)
        except OSError as error:
            raise NotStarted(error) from None
        self._number = self._guard.intend(pipes.out[1], pipes.err[1])
        try:
            popen = subprocess.Popen(
                spawn.argv,
                executable=_program(spawn),
                cwd=spawn.cwd,
                env=dict(spawn.env),
                stdin=pipes.inp[0],
                stdout=pipes.out[1],
                stderr=pipes.err[1],
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            pipes.close_all()
            self._guard.ended(self._number)
            raise NotStarted(error) from None
        self._guard.started(self._number, popen.pid)
        pipes.close_childs()
        self._attach(spawn, pipes, show)
        return popen

    def _attach(self, spawn: Spawn, pipes: Pipes, show: Show) -> None:
        ends = {"stdout": pipes.out[0]} if spawn.merge else {"stdout": pipes.out[0], "stderr": pipes.err[0]}
        self._streams = [Stream(self._loop, name, end, show, self._on_data) for name, end in ends.items()]
        if spawn.stdin is not None:
            self._feed = Feed(self._loop, pipes.inp[1], spawn.stdin, self._give_up)

    def _on_data(self, stream: Stream) -> None:
        self._heard.set()
        if stream.error is not None:
            self._give_up()
        if stream.full and not self._overflow:
            self._overflow = stream.name
            self._signal(signal.SIGKILL)

    def _give_up(self) -> None:
        self._signal(signal.SIGKILL)

    def watch(self) -> None:
        try:
            threading.Thread(target=self._await_exit, name="nika-wait", daemon=True).start()
        except RuntimeError:  # the system grants no thread: looked at instead of waited for
            self._look_for_exit()

    def _look_for_exit(self) -> None:
        if self._has_exited():
            self._exited.set()
        else:
            self._loop.call_later(_STEP_SECONDS, self._look_for_exit)

    def _has_exited(self) -> bool:
        if not hasattr(os, "waitid"):
            return self._popen.poll() is not None
        try:
            return os.waitid(os.P_PID, self._popen.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is not None
        except OSError:
            return True

    def _await_exit(self) -> None:
        # The leader stays a zombie until its group is ended: its number cannot pass to a stranger.
        with contextlib.suppress(OSError):
            if hasattr(os, "waitid"):
                os.waitid(os.P_PID, self._popen.pid, os.WEXITED | os.WNOWAIT)
            else:
                self._popen.wait()
        with contextlib.suppress(RuntimeError):  # the loop may be closed by now
            self._loop.call_soon_threadsafe(self._exited.set)

    async def settle(self) -> None:
        """The leader has exited, what it said is read, and nothing of its group is left."""
        await self._exited.wait()
        until = self._loop.time() + _LINGER_SECONDS
        while any(stream.open for stream in self._streams) and self._loop.time() < until:
            self._heard.clear()
            try:
                async with asyncio.timeout(_IDLE_SECONDS):  # `wait_for` may lose a cancellation
                    await self._heard.wait()
            except TimeoutError:
                break
        self._signal(signal.SIGKILL)
        self._reap()
        await self._empty(self._loop.time() + _HARD_SECONDS, asyncio.sleep)

    async def end(self) -> None:
        """End the group: asked first, killed soon after; a cancellation meanwhile is kept for later."""
        if not self._reaped:
            self._signal(signal.SIGTERM)
            self._signal(signal.SIGCONT)
        polite = self._loop.time() + _POLITE_SECONDS
        await self._patiently(self._exited, polite)
        self._reap()
        if self._reaped and await self._empty(polite, self._doze):
            return
        self._signal(signal.SIGKILL)
        hard = self._loop.time() + _HARD_SECONDS
        await self._patiently(self._exited, hard)
        self._reap()
        await self._empty(hard, self._doze)

    async def _empty(self, until: float, pause: Callable[[float], Awaitable[None]]) -> bool:
        """Whether nothing of the group runs any more, once its leader is reaped."""
        while has_members(self._popen.pid):
            if self._loop.time() >= until:
                return False
            await pause(_STEP_SECONDS)
        return True

    async def _doze(self, seconds: float) -> None:
        await self._patiently(asyncio.Event(), self._loop.time() + seconds)

    async def _patiently(self, event: asyncio.Event, until: float) -> None:
        while not event.is_set() and (left := until - self._loop.time()) > 0:
            try:
                async with asyncio.timeout(left):
                    await event.wait()
            except TimeoutError:
                return
            except asyncio.CancelledError:
                self.called_off = True

    def _signal(self, number: int) -> None:
        with contextlib.suppress(OSError):
            os.killpg(self._popen.pid, number)

    def _reap(self) -> None:
        if self._exited.is_set() and not self._reaped:
            self._reaped = True
            self._popen.wait()

    def close(self) -> None:
        with contextlib.ExitStack() as closing:
            closing.callback(self._guard.ended, self._number)
            if self._feed:
                closing.callback(self._feed.close)
            for stream in self._streams:
                closing.callback(stream.close)

    def finished(self) -> Finished:
        served = [*((stream.name, stream.error) for stream in self._streams)]
        served += [("stdin", self._feed.error)] if self._feed else []
        for name, error in served:
            if error is not None:
                raise Broken(name, error)
        code = self._popen.returncode
        taken = {stream.name: stream.data() for stream in self._streams}
        return Finished(
            exit_code=code if code >= 0 else 128 - code,
            stdout=taken["stdout"],
            stderr=taken.get("stderr", b""),
            signal=signal_name(-code) if code < 0 else "",
            overflow=self._overflow,
        )


def _program(spawn: Spawn) -> str | None:
    """The file of a program named without a path, found on its PATH."""
    name = spawn.argv[0]
    if "/" in name:
        return None
    found = program_on(spawn.env.get("PATH", os.defpath), name)
    if found is None:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), name)
    return found


def signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
