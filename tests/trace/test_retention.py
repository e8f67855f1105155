"""Which traces go and which stay, in real folders: the last ones, the age, the budget, what never goes."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nika_nb.catalog.frames import RESUME_BLOCKED
from nika_nb.engine.events import Event
from nika_nb.settings import Settings
from nika_nb.trace.folder import TraceFolder
from nika_nb.trace.kinship import Kinship
from nika_nb.trace.lock import ResumeLock
from nika_nb.trace.reader import read
from nika_nb.trace.retention import Collection, Limits, collect
from nika_nb.trace.writer import Journal
from tests.doors import command, environment
from tests.trace.journals import START, started, uuid_at, write

HERE = Path(__file__).parents[2]
DAY = 86_400
NOW = 1_800_000_000 * 10**9  # long after every trace of these tests

ENDS = {
    "completed": "workflow_completed",
    "failed": "workflow_failed",
    "cancelled": "workflow_cancelled",
    "paused": "workflow_paused",
    "incomplete": None,
    "blocked": None,
}


@dataclass
class Traces:
    """A folder that fills: each trace a second after the last, written `age` days before NOW."""

    root: Path
    count: int = 0
    open: list[Journal] = field(default_factory=list)

    @property
    def folder(self) -> TraceFolder:
        return TraceFolder(self.root)

    def add(
        self,
        state: str = "completed",
        *,
        workflow: str = "w",
        run: str | None = None,
        resumed: Path | None = None,
        age: float = 1,
        size: int = 0,
        **fields: Any,
    ) -> Path:
        self.count += 1
        at = START + self.count * 10**9
        if resumed is not None:
            fields |= {"resumed_trace": resumed.name, "resumed_head": read(resumed).head}
        first = started(workflow=workflow, filler="x" * size, **fields)
        kind = RESUME_BLOCKED if state == "blocked" else "workflow_started"
        events = [Event(kind, first, at, uuid_at(self.count))]
        run = f"run-{self.count}" if run is None else run or None
        if state == "running":
            return self._running(events[0], run)
        if ENDS[state]:
            prompts = json.dumps([{"task": "ask", "item": None, "mode": "confirm", "message": "Go?"}])
            end = {"workflow": workflow, "task": "ask", "mode": "confirm", "prompts": prompts}
            events.append(Event(ENDS[state], end, at + 1, uuid_at(self.count + 500_000)))
        path = write(self.folder.path, events, correlation=run)
        _age(path, age, self.count)
        return path

    def _running(self, first: Event, run: str | None) -> Path:
        journal = Journal(self.folder.path, run="r", correlation=run)
        journal(first)
        self.open.append(journal)
        assert journal.path is not None
        _age(journal.path, 400, self.count)
        return journal.path

    def left(self) -> set[Path]:
        return set(self.folder.path.iterdir())

    def collect(
        self, *, keep: int = 10, days: int = 30, budget: int = 256_000_000, **more: Any
    ) -> Collection:
        return collect(self.folder, Limits(keep, days, budget), now=NOW, **more)


def _age(path: Path, days: float, number: int) -> None:
    at = NOW // 10**9 - int(days * DAY)
    os.utime(path, ns=(at * 10**9 + number, at * 10**9 + number))


@pytest.fixture
def traces(tmp_path: Path) -> Iterator[Traces]:
    found = Traces(tmp_path)
    yield found
    for journal in found.open:
        journal.close()


def test_the_last_ten_finished_of_a_workflow_stay(traces: Traces) -> None:
    """However they ended; what was killed does not count, and another workflow has ten of its own."""
    old = [traces.add("failed"), traces.add("cancelled"), traces.add()]
    killed = traces.add("incomplete")
    kept = [traces.add(["completed", "failed"][n % 2]) for n in range(10)]
    other = [traces.add(workflow="v") for _ in range(10)]
    found = traces.collect()
    assert {removal.entry.path for removal in found.removed} == set(old)
    assert {removal.reason for removal in found.removed} == {"rotated"}
    assert traces.left() == {killed, *kept, *other}


def test_what_is_older_than_thirty_days_goes(traces: Traces) -> None:
    """By the time it was last written; a day less and it stays."""
    aged, killed = traces.add(age=30.1), traces.add("incomplete", age=31)
    young, newest = traces.add(age=29.9), traces.add(age=0)
    found = traces.collect()
    assert [(r.entry.path, r.reason) for r in found.removed] == [(aged, "aged"), (killed, "aged")]
    assert traces.left() == {young, newest}


def test_the_folder_stays_within_its_budget(traces: Traces) -> None:
    """The oldest go first, whatever their workflow, and no more than has to."""
    first = traces.add(age=9, size=40_000)
    second = traces.add(age=7, size=40_000, workflow="v")
    third = traces.add(age=8, size=40_000)
    last = [traces.add(age=1, size=40_000), traces.add(age=1, size=40_000, workflow="v")]
    assert sum(path.stat().st_size for path in traces.left()) > 200_000
    found = traces.collect(budget=135_000)
    assert [r.entry.path for r in found.removed] == [first, third]
    assert {r.reason for r in found.removed} == {"over-budget"}
    assert traces.left() == {second, *last}
    assert found.size <= 135_000


def test_a_paused_run_is_never_collected(traces: Traces) -> None:
    """Nor anything that it stands on: what its run had done before, and the traces those resumed from."""
    crashed = traces.add("incomplete", age=300)
    resumed = traces.add("incomplete", age=299, resumed=crashed)
    first = traces.add("paused", age=298, run="asking", resumed=resumed)
    second = traces.add("paused", age=297, run="asking", resumed=first)
    blocked = traces.add("incomplete", age=296, run="asking", resumed=second)
    unrelated = traces.add("incomplete", age=295)
    newest = traces.add(age=0)
    found = traces.collect(keep=1, days=1, budget=1)
    assert {r.entry.path for r in found.removed} == {unrelated}
    assert traces.left() == {crashed, resumed, first, second, blocked, newest}


def test_an_answered_question_goes_with_its_answer(traces: Traces) -> None:
    """And stays while the answer stays: alone it would wait again."""
    asked = traces.add("paused", age=60, run="r")
    again = traces.add("paused", age=59, run="r", resumed=asked)
    done = traces.add(age=20, run="r", resumed=again)
    newest = traces.add(age=0)
    assert not traces.collect().removed
    found = traces.collect(days=10)
    assert [r.entry.path for r in found.removed] == [asked, again, done]
    assert traces.left() == {newest}


def test_what_led_from_a_question_to_its_answer(traces: Traces) -> None:
    """An answer that broke off and was picked up again: the three of them stay, and go, together."""
    asked = traces.add("paused", age=90, run="r")
    broken = traces.add("incomplete", age=80, run="r", resumed=asked)
    done = traces.add(age=20, run="r", resumed=broken)
    after = traces.add(age=19, run="r", resumed=done)
    newest = traces.add(age=0)
    assert not traces.collect().removed
    assert [r.entry.path for r in traces.collect(keep=2).removed] == [asked, broken, done]
    assert traces.left() == {after, newest}


def test_the_notes_of_refused_answers_go_with_their_question(traces: Traces) -> None:
    """While it waits they stay as well; one whose question is gone goes by its age."""
    asked = traces.add("paused", age=90, run="r")
    notes = [traces.add("blocked", age=80, run="r", resumed=asked) for _ in range(2)]
    orphan = traces.add("blocked", age=40, run="gone")
    newest = traces.add(age=0)
    assert [r.entry.path for r in traces.collect(keep=1, budget=1).removed] == [orphan]
    done = traces.add(age=20, run="r", resumed=asked)
    last = traces.add(age=0)
    assert not traces.collect().removed
    found = traces.collect(days=10)
    assert [r.entry.path for r in found.removed] == [asked, *notes, done]
    assert traces.left() == {newest, last}


def test_a_question_that_was_answered_twice(traces: Traces) -> None:
    """Goes once, with the later of its answers; the earlier one goes alone."""
    asked = traces.add("paused", age=90, run="r")
    first = traces.add("failed", age=80, run="r", resumed=asked)
    second = traces.add(age=40, run="r", resumed=asked)
    newest = traces.add(age=0)
    assert [r.entry.path for r in traces.collect(days=60).removed] == [first]
    assert traces.left() == {asked, second, newest}
    assert [r.entry.path for r in traces.collect().removed] == [asked, second]


def test_questions_whose_answers_another_run_has(traces: Traces) -> None:
    """Each goes once, with the end of that run, though the second stands behind the first."""
    asked = traces.add("paused", age=60, run="r")
    again = traces.add("paused", age=59, run="r", resumed=asked)
    done = traces.add(age=50, run="other")
    newest = traces.add(age=0)
    found = traces.collect(elsewhere=lambda paused: dict.fromkeys(paused, "other"))
    assert [r.entry.path for r in found.removed] == [asked, again, done]
    assert traces.left() == {newest}


def test_a_question_that_is_held_keeps_its_answer(traces: Traces) -> None:
    """Somebody reads the question: the answer does not go alone."""
    asked = traces.add("paused", age=60, run="r")
    done = traces.add(age=50, run="r", resumed=asked)
    newest = traces.add(age=0)
    with ResumeLock(asked):
        assert not traces.collect().removed
    assert traces.left() == {asked, done, newest}


def test_a_pause_of_a_run_without_an_id(traces: Traces) -> None:
    """Another engine's journal names no run: what it resumed from stays with it."""
    behind = traces.add("failed", age=90)
    asked = traces.add("paused", age=89, run="", resumed=behind)
    newest = traces.add(age=0)
    traces.collect(keep=1, days=1, budget=1)
    assert traces.left() == {behind, asked, newest}


def test_an_answer_that_broke_off_keeps_its_question(traces: Traces) -> None:
    """The run has not ended: both are needed to go on."""
    asked = traces.add("paused", age=60, run="r")
    broken = traces.add("incomplete", age=59, run="r", resumed=asked)
    newest = traces.add(age=0)
    traces.collect(keep=1, days=1, budget=1)
    assert traces.left() == {asked, broken, newest}


def test_the_newest_of_every_workflow_stays(traces: Traces) -> None:
    """In any state, at any age, over any budget; and what an unfinished one resumed from."""
    done = traces.add(age=400)
    behind = traces.add("failed", workflow="v", age=402)
    failed = traces.add("failed", workflow="v", age=401, resumed=behind)
    killed = traces.add("incomplete", workflow="u", age=400)
    assert not traces.collect(keep=1, days=1, budget=1).removed
    assert traces.left() == {done, behind, failed, killed}


def test_a_completed_run_needs_nothing_behind_it(traces: Traces) -> None:
    """Its trace says all there is: what it resumed from may go."""
    crashed = traces.add("incomplete", age=40)
    done = traces.add(age=39, resumed=crashed)
    assert [r.entry.path for r in traces.collect().removed] == [crashed]
    assert traces.left() == {done}


def test_a_running_trace_is_never_collected(traces: Traces) -> None:
    """Its writer holds it; and what it resumed from stays as well."""
    behind = traces.add("failed", age=90)
    running = traces.add("running", resumed=behind)
    newest = traces.add(age=0)
    traces.collect(keep=1, days=1, budget=1)
    assert traces.left() == {behind, running, newest}
    traces.open.pop().close()
    traces.collect(keep=1, days=1, budget=1)
    assert traces.left() == {newest}


@pytest.mark.parametrize("how", ["resumed", "read", "renamed", "written"])
def test_a_trace_in_use_stays(traces: Traces, how: str) -> None:
    """Whoever holds its lock, to resume it or to read it, keeps it; a link and a changed file stay too."""
    old, newest = traces.add(age=90), traces.add(age=0)
    if how == "renamed":
        target = old.rename(traces.root / "elsewhere.ndjson")
        old.symlink_to(target)
        assert not traces.collect().removed
        assert (old.is_symlink(), target.exists()) == (True, True)
        return
    if how == "written":
        (entry,) = [e for e in traces.folder.list() if e.path == old]
        with old.open("ab") as stream:
            stream.write(b"\n")
        from nika_nb.trace.retention import remove

        assert not remove(entry)
    else:
        with ResumeLock(old) if how == "resumed" else old.open("rb") as held:
            if how == "read":
                fcntl.flock(held.fileno(), fcntl.LOCK_SH)
            assert not traces.collect().removed
    assert traces.left() == {old, newest}
    _age(old, 90, 1)
    assert traces.collect().removed
    assert traces.left() == {newest}


def test_files_that_are_no_traces_are_left_alone(traces: Traces) -> None:
    """A first line that cannot be read makes a file no trace: it neither counts nor goes."""
    traces.add(age=0)
    for name, content in [("a.ndjson", b"hello\n" * 9000), ("b.ndjson", b'{"chain"'), ("c.txt", b"x" * 9000)]:
        path = traces.folder.path / name
        path.write_bytes(content)
        _age(path, 400, 1)
    os.mkfifo(traces.folder.path / "pipe.ndjson")
    found = traces.collect(budget=5_000)
    assert (found.removed, found.kept) == ((), 1)
    assert len(traces.left()) == 5


KILLED = """
import os, signal, sys
from pathlib import Path
from nika_nb.trace.writer import Journal
from tests.trace.journals import story
Journal._append = lambda journal, line: os.kill(os.getpid(), signal.SIGKILL)
Journal(Path(sys.argv[1]))(story()[0])
"""


def test_what_a_writer_left_empty_goes(traces: Traces) -> None:
    """Killed between the making of its file and the first line, it leaves nothing that stays or counts."""
    kept = traces.add(age=0)
    killed = subprocess.run([sys.executable, "-c", KILLED, str(traces.folder.path)], cwd=HERE, check=False)
    (left,) = traces.left() - {kept}
    assert (killed.returncode, left.stat().st_size, traces.folder.list()[1:]) == (-signal.SIGKILL, 0, ())
    tried = traces.collect(dry_run=True)
    assert (tried.sentence, traces.left()) == (
        "trace gc · would remove 1 (empty) · kept 1 · 1kB",
        {kept, left},
    )
    assert traces.collect().sentence == "trace gc · removed 1 (empty) · kept 1 · 1kB"
    assert traces.left() == {kept}


def test_an_empty_file_of_anybody_else_stays(traces: Traces) -> None:
    """One with another name, one behind a link, one that a writer holds."""
    folder = traces.folder.path
    folder.mkdir(parents=True)
    held, link, linked = (folder / f"2026-01-0{n}T00-00-00Z-00aa.ndjson" for n in (1, 2, 3))
    for path in (folder / "notes.ndjson", folder.parent / linked.name, held):
        path.touch()
    link.symlink_to(folder.parent / linked.name)
    with ResumeLock(held):
        assert (traces.collect().removed, len(traces.left())) == ((), 3)


def test_the_line_that_is_said(traces: Traces) -> None:
    """How many and why, how many stay and how large they are."""
    assert traces.collect().sentence == "trace gc · nothing to remove · kept 0 · 0kB"
    for age in (90, 80, 3, 2, 1):
        traces.add(age=age, size=400_000)
    found = traces.collect(budget=1_000_000)
    assert found.sentence == "trace gc · removed 3 (2 older than 30 days · 1 beyond 1 MB) · kept 2 · 0.8MB"
    assert Collection((), 12, 41_900_000).sentence == "trace gc · nothing to remove · kept 12 · 41MB"


def test_a_dry_run_touches_nothing(traces: Traces) -> None:
    """The same line in the conditional, and nothing is gone."""
    for _ in range(4):
        traces.add()
    before = traces.left()
    tried = traces.collect(keep=2, dry_run=True)
    assert tried.sentence == "trace gc · would remove 2 (more than 2 of one workflow) · kept 2 · 2kB"
    assert traces.left() == before
    done = traces.collect(keep=2)
    assert [r.entry.path for r in done.removed] == [r.entry.path for r in tried.removed]


def test_trouble_is_told_and_raised_to_nobody(traces: Traces, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder that cannot be listed, a file that cannot go: the caller goes on."""
    traces.add(age=90)
    traces.add(age=0)
    with monkeypatch.context() as patch:
        patch.setattr(os, "unlink", _refuse)
        assert (traces.collect().removed, len(traces.left())) == ((), 2)
    monkeypatch.setattr(TraceFolder, "list", _refuse)
    found = traces.collect()
    assert found.sentence == "trace gc · nothing was removed: [Errno 5] no such luck"


def _refuse(*_: Any, **__: Any) -> None:
    raise OSError(5, "no such luck")


def test_what_the_environment_says(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whole numbers from 1 on; anything else is told, and the default holds."""
    for name, value in [("KEEP", "3"), ("MAX_AGE_DAYS", " 7 "), ("BUDGET_MB", "1")]:
        monkeypatch.setenv(f"NIKA_TRACE_{name}", value)
    said = Settings.read()
    assert (Limits.of(said), said.troubles) == (Limits(3, 7, 1_000_000), ())
    for name, value in [("KEEP", "0"), ("MAX_AGE_DAYS", "a\x1bweek"), ("BUDGET_MB", "9" * 5000)]:
        monkeypatch.setenv(f"NIKA_TRACE_{name}", value)
    said = Settings.read()
    assert Limits.of(said) == Limits(10, 30, 256_000_000)
    assert said.troubles[0] == "NIKA_TRACE_KEEP='0' is no whole number from 1 on: 10 is used"
    assert said.troubles[1].startswith("NIKA_TRACE_MAX_AGE_DAYS='a\\x1bweek' is no whole number")
    assert len(said.troubles[2]) < 200


def test_several_collectors_at_once(traces: Traces) -> None:
    """In processes of their own: every trace goes once, nobody fails."""
    for _ in range(40):
        traces.add(age=90)
    line = command("trace", "gc")
    at_work = [
        subprocess.Popen(line, cwd=traces.root, env=environment(), stdout=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    said = [process.communicate(timeout=60)[0] for process in at_work]
    assert [process.returncode for process in at_work] == [0, 0, 0]
    removed = [int(text.split("removed ")[1].split()[0]) for text in said if "removed" in text]
    assert (sum(removed), len(traces.left())) == (39, 1)


def test_a_resume_that_comes_while_traces_go(traces: Traces) -> None:
    """Whoever gets the lock first wins: a resumed trace is there, a removed one is refused in a sentence."""
    from nika_nb.errors import UsageError

    for _ in range(30):
        path = traces.add(age=90)
        traces.add(age=0)
        outcome: list[str] = []

        def resume(path: Path = path, outcome: list[str] = outcome) -> None:
            try:
                with ResumeLock(path):
                    outcome.append("held" if path.exists() else "lost")
            except UsageError:
                outcome.append("refused")

        other = threading.Thread(target=resume)
        other.start()
        traces.collect(keep=1000)
        other.join(30)
        assert outcome in (["held"], ["refused"], ["lost"])
        if outcome == ["lost"]:  # the lock of a file that has just gone: reading it says so
            with pytest.raises(UsageError):
                read(path)


STATES = st.sampled_from(["completed", "failed", "cancelled", "paused", "incomplete"])
TRACE = st.tuples(STATES, st.sampled_from("wv"), st.integers(0, 3), st.booleans(), st.integers(0, 60))


@settings(max_examples=100, deadline=None)
@given(st.lists(TRACE, max_size=14), st.integers(1, 4), st.integers(5, 50), st.integers(1, 6))
def test_whatever_lies_there(
    made: list[tuple[str, str, int, bool, int]], keep: int, days: int, thousands: int
) -> None:
    """What must stay stays, the limits hold as far as anything may go, and a second time nothing is left."""
    with tempfile.TemporaryDirectory() as folder:
        traces = Traces(Path(folder))
        last: dict[int, Path] = {}
        for state, workflow, run, goes_on, age in made:
            behind = last.get(run) if goes_on else None
            last[run] = traces.add(state, workflow=workflow, run=f"run-{run}", resumed=behind, age=age)
        before = Kinship(traces.folder.list())
        limits = Limits(keep, days, thousands * 1000)
        found = collect(traces.folder, limits, now=NOW)
        after = Kinship(traces.folder.list())
        gone = {removal.entry.path for removal in found.removed}
        assert not gone & before.standing
        assert {entry.path for entry in before.waiting} == {entry.path for entry in after.waiting}
        assert {e.path for e in before.newest()} == {e.path for e in after.newest()}
        _limits_hold(after, limits)
        assert not collect(traces.folder, limits, now=NOW).removed


def _limits_hold(after: Kinship, limits: Limits) -> None:
    free = [e for e in after.entries if e.path not in after.standing and e.path not in after.bound]
    assert not [e for e in free if NOW - e.mtime > limits.days * DAY * 10**9]
    for workflow in "wv":
        finished = [e for e in after.entries if e.workflow == workflow and e.state in ENDS and e.state not in
                    ("paused", "incomplete")]  # fmt: skip
        assert all(e.path in after.standing for e in finished[limits.keep :])
    assert sum(e.size for e in after.entries) <= limits.budget or not free
