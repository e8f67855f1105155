"""Short of memory or of threads: the task fails and says so; half an output is never a success."""

from __future__ import annotations

import asyncio
import errno
import os
import threading
from pathlib import Path
from typing import Any

import pytest

import nika_nb
from nika_nb.errors import Fault, NikaError, short_of
from nika_nb.verbs import pipes
from nika_nb.verbs.exec import Exec
from nika_nb.verbs.guard import Guard
from tests.doors import newest, of
from tests.verbs.calls import ANY_PROGRAM, Recorder, command
from tests.verbs.processes import fresh_mark, gone

WORKFLOW = """\
nika: w
permits: {exec: [seq, cat]}
tasks:
  t: {exec: {command: [seq, "1", "300"]}}
outputs: {said: "${{ tasks.t.output }}"}
"""
FAILURES = [
    (MemoryError(), "NIKA-IMPL-001", "memory that this process may use is exhausted"),
    (OSError(errno.EIO, "Input/output error"), "NIKA-EXEC-003", "stdout of the command broke"),
    (ZeroDivisionError("x"), "NIKA-IMPL-001", "defect of nika_nb"),
]


class Breaking:
    """`os`, of which one function breaks the n-th time it is called."""

    def __init__(self, name: str, error: Exception, at: int = 1) -> None:
        self._name, self._error, self._left = name, error, at

    def __getattr__(self, name: str) -> Any:
        if name != self._name:
            return getattr(os, name)
        self._left -= 1
        if self._left < 0:
            raise self._error
        return getattr(os, name)


@pytest.mark.parametrize("at", [0, 1])
@pytest.mark.parametrize(("error", "code", "says"), FAILURES, ids=["memory", "system", "defect"])
def test_a_stream_that_cannot_be_read_fails_its_task(
    folder: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, code: str, says: str, at: int
) -> None:
    """At the first piece and in the middle: no output is recorded, and a resume runs it again."""
    with monkeypatch.context() as patched:
        patched.setattr(pipes, "os", Breaking("read", error, at))
        run = nika_nb.run(WORKFLOW)
    assert run.state == "failed"
    (failed,) = of(newest(folder), "task_failed")
    assert code in str(failed)
    assert says in str(failed)
    again = nika_nb.run(WORKFLOW, resume=True)
    assert again.outputs == {"said": "\n".join(map(str, range(1, 301)))}
    assert not of(newest(folder), "task_cache_hit")


def test_a_program_without_end_that_cannot_be_read_is_ended(
    guard: Guard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing goes round: its group is gone when the task has failed."""
    mark = fresh_mark()
    monkeypatch.setattr(pipes, "os", Breaking("read", MemoryError(), 3))
    line = ["sh", "-c", f"yes {mark}"]
    with pytest.raises(MemoryError):
        asyncio.run(
            Exec(ANY_PROGRAM, os.environ, guard).run(Recorder(str(tmp_path)).call("exec", command(*line)))
        )
    assert gone(mark, 5)


def test_half_an_input_is_none(guard: Guard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that was handed a part of its input is ended, whatever it has made of that."""
    monkeypatch.setattr(pipes, "os", Breaking("write", OSError(errno.EIO, "Input/output error"), 1))
    body = {**command("wc", "-c"), "stdin": "x" * (1 << 20)}
    with pytest.raises(Fault, match="stdin of the command broke"):
        asyncio.run(Exec(ANY_PROGRAM, os.environ, guard).run(Recorder(str(tmp_path)).call("exec", body)))


def test_without_a_thread_an_exit_is_found_all_the_same(
    guard: Guard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The system grants none for the wait: the program runs to its end, and what it says is whole."""

    def refused(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refused)
    call = Recorder(str(tmp_path)).call("exec", command("sh", "-c", "sleep 0.1; echo done"))
    assert asyncio.run(Exec(ANY_PROGRAM, os.environ, guard).run(call)).output == "done"


def test_a_run_that_gets_no_thread_says_so_and_has_run_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No trace is begun, and nothing of this process stays at work."""

    def refused(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refused)
    with pytest.raises(NikaError, match="nothing was run: the system grants this process no further thread"):
        nika_nb.run(WORKFLOW)
    assert not list(folder.glob(".nika/traces/*.ndjson"))


def test_only_what_ran_short_is_told_as_that() -> None:
    """Another RuntimeError is a defect like any other."""
    assert short_of(RuntimeError("x")) is None
    assert short_of(MemoryError()) is not None
