"""A run that is ended from outside, at any moment: nothing lives on, cleanups ran, the journal says so."""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

import pytest

import nika_nb
from nika_nb.catalog.frames import TASK_ENDS
from nika_nb.providers.registry import MAKERS
from nika_nb.trace.verify import verify
from tests.doors import PATIENCE, alive, frames, marks, program, traces, wait_for
from tests.pains.forking import Forking, Slow

BUSY = """\
nika: busy
model: xai/slow
permits: {exec: ["./tree", "./item", "./fails", "./tidy"]}
tasks:
  tree: {exec: {command: ["./tree"]}}
  tidy_tree: {after: {tree: unwind}, exec: {command: ["./tidy", "tree"]}}
  each:
    for_each: {items: [1, 2, 3, 4, 5, 6, 7, 8, 9], max_parallel: 3}
    exec: {command: ["./item", "${{ item }}"]}
  tidy_each: {after: {each: unwind}, exec: {command: ["./tidy", "each"]}}
  retried:
    retry: {max_attempts: 99, backoff_ms: 150, backoff_strategy: fixed, on_codes: [NIKA-EXEC-001]}
    exec: {command: ["./fails"]}
  tidy_retried: {after: {retried: unwind}, exec: {command: ["./tidy", "retried"]}}
  computes: {invoke: {tool: "nika:jq", args: {expression: "[range(1000000000)] | length"}}}
  waits: {invoke: {tool: "nika:wait", args: {duration: "1h"}}}
  talks: {agent: {prompt: p, tools: ["nika:log"]}}
  tidy_talks: {after: {talks: unwind}, exec: {command: ["./tidy", "talks"]}}
  asks: {invoke: {tool: "nika:prompt", args: {message: "Well?", mode: input}}}
  behind: {after: {tree: success}, exec: {command: ["./tidy", "behind"]}}
"""
TIDIED = ("tree", "each", "retried", "talks")
MOMENTS = 8  # of each kind


@pytest.fixture
def busy(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work of every kind that does not come to an end by itself; every process leaves its id."""
    grown = ["trap '' TERM INT", "echo $$ >> pids", "(echo $(sh -c 'echo $PPID') >> pids; sleep 61) &"]
    program(folder, "tree", "\n".join([*grown, "sleep 62 & echo $! >> pids", "wait"]))
    program(folder, "item", 'echo $$ >> pids\n[ "$1" -lt 5 ] && { sleep 0.1; exit; }\nexec sleep 63')
    program(folder, "fails", "echo $$ >> pids\nexit 7")
    program(folder, "tidy", 'echo "$1" >> marks')
    (folder / "busy.nika.yaml").write_text(BUSY, encoding="utf-8")
    monkeypatch.setitem(MAKERS, "xai", Slow)
    return folder


@pytest.fixture(scope="module")
def forking() -> Iterator[Forking]:
    found = Forking()
    yield found
    found.close()


def moments(seed: str) -> list[float]:
    """Seconds after the start, most of them while everything is under way; the same ones every time."""
    chance = random.Random(seed)
    return sorted(chance.choice([chance.uniform(0, 0.12), chance.uniform(0, 1.2)]) for _ in range(MOMENTS))


def ended_well(folder: Path) -> None:
    """What must hold after every end, wherever it struck; the folder is empty for the next one."""
    left = [int(pid) for pid in marks(folder / "pids")]
    wait_for(lambda: not any(map(alive, left)), "the end of every process")
    for trace in traces(folder):
        _journal_ended_well(trace, marks(folder / "marks"))
        trace.unlink()
    for name in ("pids", "marks"):
        (folder / name).unlink(missing_ok=True)


def _journal_ended_well(trace: Path, tidied: Counter[str]) -> None:
    found = frames(trace)
    assert found[-1]["kind"] == "workflow_cancelled", found[-1]
    assert verify(trace).exit_code == 0
    ends = Counter(frame["task"] for frame in found if frame["kind"] in TASK_ENDS)
    scheduled = {frame["task"] for frame in found if frame["kind"] == "task_scheduled"}
    assert ends == dict.fromkeys(scheduled, 1)
    begun = {frame["task"] for frame in found if frame["kind"] == "verb_invoked"}
    told = {frame["task"] for frame in found if frame["kind"] == "task_started"}
    assert begun <= told
    for task in TIDIED:
        assert tidied[task] <= 1
        assert tidied[task] == 1 or task not in begun, f"{task} was not tidied up"
    assert not tidied["behind"]


def saw_everything(seen: set[str]) -> None:
    """Over all moments every kind of work was met in flight; else the moments are badly chosen."""
    assert {"tree", "each", "retried", "computes", "waits", "talks"} <= seen


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["SIGINT", "SIGTERM"])
def test_a_signal_at_any_moment(busy: Path, forking: Forking, number: int) -> None:
    """Exit code 130, or that of a process which a signal ended before anything had begun."""
    seen: set[str] = set()
    for at, delay in enumerate(moments(f"signal {number}")):
        out = busy / "said"
        out.write_text("", encoding="utf-8")  # a process that ends at once has not opened it
        pid = forking.start("run", "busy.nika.yaml", cwd=busy, out=out)
        time.sleep(delay)
        os.kill(pid, number)
        if at % 3 == 2:  # an impatient one
            time.sleep(0.05)
            os.kill(pid, number)
        code = forking.wait(pid)
        said = out.read_text(encoding="utf-8")
        assert "Traceback" not in said, said
        written = [frame for trace in traces(busy) for frame in frames(trace)]
        assert code == 130 or (code == -number and not written), said
        seen |= {frame["task"] for frame in written if frame["kind"] == "verb_invoked"}
        if at % 3 == 2:
            (busy / "marks").unlink(missing_ok=True)
            _without_cleanups(busy)
        else:
            ended_well(busy)
    saw_everything(seen)


def _without_cleanups(folder: Path) -> None:
    """A second signal may cut the cleanups off; everything else holds."""
    for trace in traces(folder):
        assert frames(trace)[-1]["kind"] == "workflow_cancelled"
        trace.unlink()
    ended_well(folder)


def test_a_call_at_any_moment(busy: Path) -> None:
    """`Run.cancel` from another thread; the state is told, and `wait` comes back."""
    seen: set[str] = set()
    for delay in moments("call"):
        run = nika_nb.run(BUSY, background=True)
        threading.Timer(delay, run.cancel).start()
        assert run.wait(PATIENCE)
        assert run.state == "cancelled"
        assert run.trace is not None
        seen |= {f["task"] for f in frames(Path(str(run.trace))) if f["kind"] == "verb_invoked"}
        assert {task.state for task in run.tasks.values()} <= {"cancelled", "success", "skipped"}
        ended_well(busy)
    saw_everything(seen)


def test_an_interrupt_at_any_moment(busy: Path) -> None:
    """A KeyboardInterrupt in the thread that waits is raised once more, after all has ended."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        for delay in moments("interrupt"):
            signal.setitimer(signal.ITIMER_REAL, delay + 0.02)
            with pytest.raises(KeyboardInterrupt):
                nika_nb.run(BUSY)
            ended_well(busy)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


SHORT = """\
nika: short
permits: {exec: ["true"]}
tasks: {t: {exec: {command: ["true"]}}}
"""


def test_a_signal_within_a_signal(folder: Path) -> None:
    """One that comes while another one is being obeyed is obeyed too: neither waits for the other."""
    run = nika_nb.run(SHORT.replace('"true"', '"sleep", "60"', 2).replace(', "60"', "", 1), background=True)
    session = run._session
    assert session is not None
    with session._turn:
        run.cancel()
    assert run.wait(PATIENCE)
    assert run.state == "cancelled"


def test_an_end_that_comes_too_late(folder: Path) -> None:
    """The run is over and its loop is closed, only its last threads are not: nothing breaks any more."""
    run = nika_nb.run(SHORT, background=True)
    session = run._session
    assert session is not None
    closed: list[bool] = []
    session.prepared.closers[:0] = [run.cancel, lambda: closed.append(True)]
    assert run.wait(PATIENCE)
    assert (run.state, session.error, closed) == ("completed", None, [True])
