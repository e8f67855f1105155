"""`exec`: one command, judged, started with a composed environment, captured as declared."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from nika_nb.authority import blocklist, env, paths
from nika_nb.authority.fixes import apart, words_apart
from nika_nb.authority.permits import Verdict, judge_program, judge_target
from nika_nb.authority.regate import judge_words
from nika_nb.engine.contract import Call, Permit, Reply
from nika_nb.errors import Fault, hidden
from nika_nb.language.model import Permits, Task
from nika_nb.tools.base import as_text, in_thread
from nika_nb.values import to_text
from nika_nb.verbs import pipes, process
from nika_nb.verbs.boundary import report
from nika_nb.verbs.decode import UNUSABLE_CODE, decode, lenient
from nika_nb.verbs.guard import Guard
from nika_nb.verbs.process import Finished, Spawn

_TAIL = 2000  # characters of the error stream that a failure carries
_LINE = 300  # characters of its last line that stand in the sentence
_SHELL = "/bin/sh"
_SCRIPTS = (".py", ".sh", ".r", ".R", ".jl", ".js", ".mjs", ".rb", ".pl", ".lua", ".sql", ".jq", ".awk")
_LONG = 1 << 12  # characters of a command that is not judged in passing
_LONGEST = 2 << 20  # and of one that no system takes
_LONGEST_WORD = (128 << 10) if sys.platform == "linux" else _LONGEST
_TOO_LONG = "its arguments are too long for the system; pass the data by `stdin:` or a file"


class Exec:
    """Runs `exec` bodies under one boundary, with one guard over all children.

    tasks: as written, to know which words of a command something untrusted decided. kernels: the PATH begins
    with what a kernel has of its own, and that is told.
    """

    def __init__(
        self,
        permits: Permits | None,
        environ: Mapping[str, str],
        guard: Guard,
        tasks: Mapping[str, Task] | None = None,
        kernels: bool = False,
    ) -> None:
        self._kernels = kernels
        self._permits = permits
        self._tasks = tasks or {}
        self._environ = environ
        self._guard = guard

    async def run(self, call: Call) -> Reply:
        """The captured output. Raises Fault NIKA-SEC-001/-004, NIKA-EXEC-001/-002/-003."""
        argv, shell = _command(call.body)
        report(call, judge_program(self._permits, None if shell is not None else argv[0]))
        for verdict in self._untrusted(call.task, argv) if shell is None else ():
            report(call, verdict)
        await _refuse_blocked(argv, shell)
        spawn = self._spawn(call, argv)
        for place in self._named(spawn, call.base) if shell is None else ():
            call.saw(place)
        try:
            done = await process.run(spawn, self._guard, call.witness, call.show)
        except process.NotStarted as refusal:
            raise _not_started(spawn, refusal.cause) from None
        except process.Broken as broken:
            raise _broken(broken) from None
        return _reply(call.body, spawn, done)

    def _spawn(self, call: Call, argv: list[str]) -> Spawn:
        composed = env.compose(self._permits, call.body.get("env"), self._environ)
        why = "composed of the floor, the declared passthrough and the task's own names"
        if self._kernels and self._environ.get("PATH") == composed.values.get("PATH"):
            why += "; its PATH begins with this kernel's own programs"
        call.permit(Permit("env", ",".join(composed.passed), True, why))
        cwd = call.body.get("cwd")
        return Spawn(
            argv=argv,
            cwd=paths.as_walked("" if cwd is None else as_text(cwd, "`cwd:`"), call.base),
            env=composed.values,
            stdin=_input(call.body.get("stdin")),
            merge=call.body.get("capture") == "combined",
        )

    def _named(self, spawn: Spawn, base: str) -> Iterator[str]:
        """The places of the files that its words name: scripts, and what the boundary lets be read."""
        for number, word in enumerate(spawn.argv):
            name = word.partition("=")[2] if word.startswith("-") else word
            if not name or "\0" in name or (number == 0 and "/" not in name):
                continue
            path = paths.as_walked(name, spawn.cwd)
            place = paths.effective(name, spawn.cwd)
            script = number == 0 or name.endswith(_SCRIPTS)
            if script or judge_target(self._permits, "read", path, base, place).allowed:
                yield place

    def _untrusted(self, task: str, argv: list[str]) -> Iterator[Verdict]:
        if task in self._tasks:
            yield from judge_words(self._permits, self._tasks[task], argv)


def _input(value: Any) -> bytes | None:
    """Text and structured values as UTF-8, bytes as they are."""
    if value is None or isinstance(value, bytes):
        return value
    return to_text(value).encode("utf-8", "surrogatepass")


def _command(body: Mapping[str, Any]) -> tuple[list[str], str | None]:
    """(what is started, the shell line where there is one)."""
    command = body["command"]
    if command.get("shell") is not None:
        line = as_text(command["shell"], "`shell:`")
        if not line.strip():
            raise Fault("NIKA-EXEC-002", "`shell:` is empty, so there is nothing to start")
        return [_SHELL, "-c", line], line
    argv = [as_text(part, "`command:`") for part in command["argv"]]
    if not argv or not argv[0].strip():
        raise Fault("NIKA-EXEC-002", "`command:` names no program; its first element is the program")
    return argv, None


async def _refuse_blocked(argv: list[str], shell: str | None) -> None:
    size = sum(map(len, argv))
    if size > _LONGEST or max(map(len, argv)) >= _LONGEST_WORD:
        raise Fault("NIKA-EXEC-002", f"`{argv[0]}` could not be started: {_TOO_LONG}")
    judge = partial(blocklist.judge_argv, argv) if shell is None else partial(blocklist.judge_shell, shell)
    # A long one takes its time, in which others go on.
    reason = judge() if size < _LONG else await in_thread(judge)
    if reason:
        raise Fault("NIKA-SEC-001", f"the command is blocked: {reason}", details={"program": argv[0]})


def _broken(broken: process.Broken) -> Exception:
    """Told by whoever tells of exhausted memory, or as a stream of which nothing can be made."""
    if not isinstance(broken.cause, OSError):
        return broken.cause
    return Fault(
        UNUSABLE_CODE,
        f"{broken.stream} of the command broke and the command was ended: {broken.cause}; run it again, or "
        "let it use a file instead",
        details={"stream": broken.stream, "errno": broken.cause.errno},
    )


def _not_started(spawn: Spawn, error: OSError | ValueError) -> Fault:
    """A spawn failure that names the program and what to do.

    A shell would have reported the same as exit 127 or 126, which is NIKA-EXEC-001: both codes
    can be found in the sentence.
    """
    program = spawn.argv[0]
    number = error.errno if isinstance(error, OSError) else None
    why, status = _why_not_started(spawn, program, number, error)
    return Fault(
        "NIKA-EXEC-002",
        f"`{program}` could not be started: {why} (in a shell: exit {status}, NIKA-EXEC-001)",
        details={"program": program, "errno": number, "exit_code": status},
    )


def _why_not_started(spawn: Spawn, program: str, number: int | None, error: Exception) -> tuple[str, int]:
    if not os.path.isdir(spawn.cwd):
        return f"its working folder {spawn.cwd} does not exist; make it or correct `cwd:`", 127
    place = os.path.join(spawn.cwd, program)
    if number == errno.ENOENT and "/" not in program:
        if len(apart(program)) > 1:
            return f"no such program on the PATH; {words_apart(program)}", 127
        return "no such program on the PATH; install it or name it by its path", 127
    if number == errno.ENOENT and os.path.exists(place):
        return "the interpreter in its first line does not exist; correct the `#!` line", 127
    if number == errno.ENOENT:
        return f"there is no file {place}; correct the path", 127
    if number == errno.EACCES:
        return f"{place} is not executable; run `chmod +x` on it", 126
    if number == errno.ENOEXEC:
        return "the system does not know how to run it; give it a `#!` line", 126
    if number == errno.E2BIG:
        return _TOO_LONG, 126
    if number in (errno.EMFILE, errno.ENFILE):
        return "no more files can be open at once; lower `max_parallel`, or raise `ulimit -n`", 126
    if number in (errno.EAGAIN, errno.ENOMEM):
        return "the system has no room for another process; lower `max_parallel`, or end something", 126
    if any("\0" in part for part in spawn.argv):
        return "one of its arguments holds a NUL, which no process can carry", 126
    return f"{error}", 126


def _reply(body: Mapping[str, Any], spawn: Spawn, done: Finished) -> Reply:
    if done.overflow:
        raise Fault(
            UNUSABLE_CODE,
            f"{done.overflow} went beyond {pipes.CAPTURE_BOUND >> 20} MiB and the command was ended; "
            "let it write into a file instead",
            details={"stream": done.overflow, "bound": pipes.CAPTURE_BOUND},
        )
    capture = body.get("capture") or "stdout"
    if capture == "structured":
        return _structured(done)
    if done.exit_code != 0:
        raise _exited(spawn, done)
    stream = "stderr" if capture == "stderr" else "stdout"
    return Reply(decode(done.stderr if stream == "stderr" else done.stdout, body.get("decode"), stream))


def _structured(done: Finished) -> Reply:
    """A non-zero exit is data here; the streams stay as they came."""
    out, out_warning = lenient(done.stdout, "stdout", trim=False)
    err, err_warning = lenient(done.stderr, "stderr", trim=False)
    warning = "; ".join(filter(None, (out_warning, err_warning))) or None
    return Reply({"stdout": out, "stderr": err, "exit_code": done.exit_code}, warning=warning)


def _exited(spawn: Spawn, done: Finished) -> Fault:
    said, _ = lenient(done.stderr or done.stdout, "stderr")
    tail = hidden(said)[-_TAIL:]
    how = f"exited with status {done.exit_code}"
    details: dict[str, Any] = {"exit_code": done.exit_code, "stderr": tail}
    if done.signal:
        how = f"was ended by {done.signal} (status {done.exit_code})"
        details["signal"] = done.signal
    return Fault("NIKA-EXEC-001", f"command {how}" + _said(tail, _which_python(spawn, tail)), details=details)


def _which_python(spawn: Spawn, tail: str) -> str:
    """Where a module is missing: whose it would have to be."""
    name, program = spawn.argv[0], os.path.basename(spawn.argv[0])
    if not program.startswith("python") or "ModuleNotFoundError: No module named" not in tail:
        return ""
    place = name if "/" in name else env.program_on(spawn.env.get("PATH", os.defpath), name)
    return f" (`{name}` was {place}; install it for that one, or name another)" if place else ""


def _said(tail: str, hint: str = "") -> str:
    """The last line first, for there a program says why; then all of it, where there is more."""
    lines = [line.strip() for line in tail.splitlines() if line.strip()]
    if not lines:
        return ""
    return f": {lines[-1][:_LINE]}{hint}" + (f"\n{tail}" if tail.strip() != lines[-1][:_LINE] else "")
