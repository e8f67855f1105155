"""The cache of many traces: the same answers as the files, whatever becomes of it."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import nika_nb
from nika_nb import runs
from nika_nb.engine.events import Event
from nika_nb.runs import heads, index, index_tables, shelf
from nika_nb.runs.heads import Head, head_of
from nika_nb.runs.index import Index, Unusable
from nika_nb.runs.shelf import Shelf
from nika_nb.trace import ends as ends_module
from nika_nb.trace.folder import TraceFolder
from nika_nb.trace.retention import Limits, plan
from nika_nb.trace.writer import Journal
from tests.doors import rewritten
from tests.durable.project import ASK, DONE, GATE, Project
from tests.trace.journals import START, started, uuid_at

ENDS = ("workflow_completed", "workflow_failed", "workflow_paused", "workflow_cancelled", None)


@pytest.fixture
def always(monkeypatch: pytest.MonkeyPatch) -> None:
    """The cache is used however few files there are."""
    monkeypatch.setattr(index, "WORTH", 0)


@pytest.fixture
def looked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the files that are opened, as they are."""
    found: list[str] = []

    def look(path: Path) -> Head | None:
        found.append(path.name)
        return head_of(path)

    monkeypatch.setattr(index, "head_of", look)
    return found


def written(folder: Path, number: int, end: str | None = "workflow_completed", **more: Any) -> Path:
    """A small journal of the run `flow-<number>`."""
    journal = Journal(folder, run=f"i{number}", correlation=more.pop("run", f"flow-{number:08x}"))
    at, first = START + number * 10**9, {"workflow": "flow"} | more
    journal(Event("workflow_started", started(**first), at, uuid_at(number)))
    journal(Event("task_scheduled", {"task": "a"}, at + 1, uuid_at(number + 1)))
    if end is not None:
        journal(Event(end, {"workflow": "flow"}, at + 2, uuid_at(number + 2)))
    journal.close()
    assert journal.path is not None
    return journal.path


def settled(folder: Path) -> None:
    """As if nothing had changed in this folder for a while."""
    past = time.time() - 60
    os.utime(folder, (past, past))


@pytest.fixture
def traces(here: Project) -> Path:
    return here.root / ".nika" / "traces"


def without(monkeypatch: pytest.MonkeyPatch, ask: Callable[[], Any]) -> Any:
    """The same answer from the files alone."""
    with monkeypatch.context() as patch:
        patch.setattr(shelf, "Index", lambda path: _None())
        return ask()


class _None:
    def page(self, *_: Any) -> Any:
        raise Unusable

    def of(self, *_: str) -> Any:
        raise Unusable

    def resumers(self, *_: str) -> Any:
        raise Unusable


def listed(**options: Any) -> dict[str, Any]:
    return runs.list_runs(**options).to_json()


def test_few_files_need_no_cache(here: Project) -> None:
    """Nothing but traces lies in a small project."""
    here.started(DONE)
    runs.list_runs()
    assert not (here.root / ".nika" / "index.sqlite3").exists()


@pytest.mark.usefixtures("always")
def test_it_says_what_the_files_say(here: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """Through starts, answers, refusals, removals; whole and page by page, and run by run."""

    def same() -> None:
        for options in ({}, {"offset": 1, "limit": 2}, {"status": "interrupted"}, {"status": "failed"}):
            assert listed(**options) == without(monkeypatch, lambda options=options: listed(**options))
        for summary in runs.list_runs().runs:
            found = runs.inspect_run(summary.run_id)
            assert found == without(monkeypatch, lambda found=found: runs.inspect_run(found.run_id))

    same()
    gate, ask = here.started(GATE).run_id, here.started(ASK).run_id
    same()
    runs.resume_run(gate, {"ask": "yes"})
    same()
    here.without_say()
    runs.resume_run(gate, {"name": "x"})
    same()
    here.with_say()
    runs.resume_run(gate, {"name": "x"})
    runs.resume_run(ask, "no")
    same()
    here.traces[0].unlink()
    same()


@pytest.mark.usefixtures("always")
def test_what_has_not_changed_is_not_opened_again(traces: Path, looked: list[str]) -> None:
    """A second look opens nothing; a new file opens itself."""
    for number in range(20):
        written(traces, number)
    settled(traces)
    runs.list_runs()
    assert len(looked) == 20
    looked.clear()
    runs.list_runs()
    Shelf(traces).heads("flow-00000003")
    assert looked == []
    new = written(traces, 99)
    runs.list_runs()
    assert looked == [new.name]


@pytest.mark.usefixtures("always")
def test_a_folder_that_is_at_rest_is_not_even_walked(traces: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A page of it looks at the files of that page."""
    for number in range(20):
        written(traces, number)
    settled(traces)
    first = runs.list_runs(limit=3)
    monkeypatch.setattr(Index, "_listed", lambda self: pytest.fail("the folder was walked"))
    assert runs.list_runs(limit=3) == first


@pytest.mark.usefixtures("always")
def test_a_change_within_the_tick_of_a_clock_is_seen(traces: Path) -> None:
    """A folder that has just changed is not trusted to be at rest."""
    for number in range(5):
        written(traces, number)
        stamp = os.stat(traces).st_mtime_ns
        assert runs.list_runs().total == 2 * number + 1
        written(traces, number + 100)
        os.utime(traces, ns=(stamp, stamp))  # both in one tick
        assert runs.list_runs().total == 2 * number + 2


@pytest.mark.usefixtures("always")
def test_a_journal_that_grows_is_looked_at_again(traces: Path) -> None:
    """Its folder does not change by that; its end does."""
    path = written(traces, 1, None)
    settled(traces)
    assert (runs.list_runs().total, runs.list_runs().unfinished_total) == (0, 1)
    whole = written(traces, 2, run="flow-00000001")
    end = whole.read_bytes().splitlines(keepends=True)[-1]
    whole.unlink()
    settled(traces)
    runs.list_runs()
    with path.open("ab") as file:
        file.write(end)
    settled(traces)
    assert (runs.list_runs().total, runs.list_runs().unfinished_total) == (1, 0)


@pytest.mark.usefixtures("always")
def test_a_file_that_was_written_over_is_looked_at_again(traces: Path) -> None:
    """In its place, under its name, in a folder at rest."""
    path, other = written(traces, 1), written(traces, 2, "workflow_failed", run="flow-00000001")
    content = other.read_bytes()
    other.unlink()
    settled(traces)
    assert runs.list_runs().runs[0].status == "completed"
    path.write_bytes(content)
    settled(traces)
    assert runs.list_runs().runs[0].status == "failed"


def _garbage(path: Path) -> None:
    path.write_bytes(b"this is no database at all" * 1000)


def _empty(path: Path) -> None:
    path.write_bytes(b"")


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def _scribbled(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[4096:] = os.urandom(len(content) - 4096)
    path.write_bytes(content)


def _other_version(path: Path) -> None:
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA user_version = 4711")


def _no_tables(path: Path) -> None:
    with sqlite3.connect(path) as db:
        db.execute("DROP TABLE runs")


def _other_facts(path: Path) -> None:
    with sqlite3.connect(path) as db:
        db.execute("UPDATE traces SET facts = '[]'")


def _gone(path: Path) -> None:
    path.unlink()


@pytest.mark.usefixtures("always")
@pytest.mark.parametrize(
    "spoil", [_garbage, _empty, _cut, _scribbled, _other_version, _no_tables, _other_facts, _gone]
)
def test_a_broken_cache_is_built_anew(traces: Path, spoil: Callable[[Path], None]) -> None:
    """Whatever became of it: the answers are the same, and afterwards it is sound again."""
    for number in range(30):
        written(traces, number, ENDS[number % 4])
    before, head = listed(), Shelf(traces).heads("flow-00000003")
    settled(traces)
    spoil(traces.parent / "index.sqlite3")
    assert listed() == before
    assert Shelf(traces).heads("flow-00000003") == head
    with sqlite3.connect(traces.parent / "index.sqlite3") as db:
        assert db.execute("SELECT count(*) FROM traces").fetchone() == (30,)


@pytest.mark.usefixtures("always")
def test_a_cache_that_somebody_else_writes_is_done_without(
    traces: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody waits long, and nobody throws it away."""
    monkeypatch.setattr(index, "_PATIENCE", 0.05)
    for number in range(5):
        written(traces, number)
    runs.list_runs()
    db = sqlite3.connect(traces.parent / "index.sqlite3", isolation_level=None)
    db.execute("BEGIN EXCLUSIVE")
    written(traces, 77)
    assert runs.list_runs().total == 6
    db.execute("ROLLBACK")
    db.close()
    assert runs.list_runs().total == 6


@pytest.mark.usefixtures("always")
def test_two_that_make_it_at_once_make_it_once(traces: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever comes second finds what the first one filled, and does not empty it."""
    for number in range(5):
        written(traces, number)
    runs.list_runs()
    versions = iter([0])  # as the second one saw it before it got its turn
    real = index_tables.version
    monkeypatch.setattr(index_tables, "version", lambda db: next(versions, None) or real(db))
    monkeypatch.setattr(index.Index, "_refresh", lambda self, db: None)
    assert len(Shelf(traces).heads("flow-00000003")) == 1


@pytest.mark.usefixtures("always")
def test_many_may_use_it_at_once(traces: Path) -> None:
    """Threads that list while traces come: each sees at least what was there when it asked."""
    for number in range(20):
        written(traces, number)
    troubles: list[str] = []

    def look() -> None:
        for _ in range(10):
            texts = [path.read_bytes() for path in traces.glob("*.ndjson")]
            begun, ended = sum(map(bool, texts)), sum(b"workflow_completed" in text for text in texts)
            found = runs.list_runs()
            if found.total < ended:
                troubles.append(f"{found.total} ended of {ended}")
            if found.total + found.unfinished_total < begun:
                troubles.append(f"{found.total} and {found.unfinished_total} of {begun}")

    threads = [threading.Thread(target=look) for _ in range(4)]
    for thread in threads:
        thread.start()
    for number in range(20, 40):
        written(traces, number)
    for thread in threads:
        thread.join()
    assert troubles == []


@pytest.mark.usefixtures("always")
def test_a_run_that_ends_while_they_are_counted_is_counted_once(
    traces: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those that have stopped and those that have not are of one moment, whatever another look takes in."""
    path = written(traces, 1, None)
    whole = path.read_bytes() + written(traces, 2).read_bytes().splitlines(keepends=True)[-1]
    runs.list_runs()
    listed, refused = index_tables.listed, list[str]()

    def overtaken(*given: Any) -> index_tables.Listed:
        found = listed(*given)
        path.write_bytes(whole)
        other = sqlite3.connect(Index(traces).path, timeout=0, isolation_level=None)
        with contextlib.closing(other), contextlib.suppress(sqlite3.OperationalError):
            refused.append("the other look has to wait")
            Index(traces)._refresh(other)
            refused.pop()
        return found

    monkeypatch.setattr(index_tables, "listed", overtaken)
    (_, stopped), (_, unfinished) = Index(traces).page(0, 10, None)
    assert refused
    assert (stopped, unfinished) == (2, 0)


def test_a_slow_look_takes_nothing_back(traces: Path) -> None:
    """Of two looks at once, what the later state says stands, whichever is written last."""
    path = written(traces, 1, None)
    early = head_of(path)
    path.write_bytes(path.read_bytes() + b"\n")
    late, new = head_of(path), head_of(written(traces, 2))
    assert early
    assert late
    assert new
    before = {early.name: early.stamp}
    with contextlib.closing(sqlite3.connect(":memory:", isolation_level=None)) as db:
        index_tables.make(db)
        index_tables.write(db, {}, [], {early.name: early}, None)
        index_tables.write(db, {}, [], {early.name: late, new.name: new}, None)
        both = {late.name: late.stamp, new.name: new.stamp}
        for gone, changed in ([], {early.name: early}), ([early.name], {}), ([new.name], {}):
            index_tables.write(db, before, gone, changed, None)
            assert index_tables.known(db) == both
        index_tables.write(db, both, [new.name], {}, None)
        assert index_tables.known(db) == {late.name: late.stamp}


def test_what_the_cache_lacks_was_looked_for_first(
    traces: Path, monkeypatch: pytest.MonkeyPatch, always: None
) -> None:
    """A trace that another look takes in while this one walks the folder is not gone."""
    written(traces, 1)
    runs.list_runs()
    walk = Index._listed

    def slow(self: Index) -> index_tables.Stamps:
        found = walk(self)
        monkeypatch.setattr(Index, "_listed", walk)
        written(traces, 2)
        assert runs.list_runs().total == 2
        return found

    monkeypatch.setattr(Index, "_listed", slow)
    with contextlib.closing(sqlite3.connect(Index(traces).path, isolation_level=None)) as db:
        Index(traces)._refresh(db)
        assert len(index_tables.known(db)) == 2


# -- a folder of very many ---------------------------------------------------------------------


def mixed(traces: Path) -> None:
    """Traces in every state, of several workflows, some of them at one moment; foreigners among them."""
    for number in range(12):
        written(traces, number // 2, ENDS[number % 5], run=f"flow-{number:08x}")
        path = written(traces, 100 + number, ENDS[number % 4])
        changed = rewritten(path, lambda shape, n=number: shape["fields"].update(workflow=f"w{n % 3}"))
        path.write_bytes(changed.read_bytes())
        changed.unlink()
    written(traces, 300, None, run=None)  # of no durable run
    (traces / "empty.ndjson").write_bytes(b"")
    (traces / "foreign.ndjson").write_bytes(b"hello")


@pytest.mark.usefixtures("always")
def test_it_lists_the_traces_as_the_folder_does(traces: Path) -> None:
    """In the same order, with the same facts; the newest of a workflow is the same one."""
    mixed(traces)
    folder = TraceFolder(traces.parent.parent)
    for _ in range(2):
        assert Shelf(traces).entries() == list(folder.list())
        for workflow in ("flow", "w0", "w1", "w2", "nothing"):
            assert Shelf(traces).newest(workflow) == folder.newest(workflow)
    held = Journal(traces, run="r", correlation="held-00000001")
    held(Event("workflow_started", started(workflow="w1"), START + 10**12, uuid_at(9)))
    assert Shelf(traces).entries()[0].state == "running"
    assert Shelf(traces).newest("w1") == folder.newest("w1") != held.path
    held.close()


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    made=st.lists(st.tuples(st.integers(0, 2), st.integers(0, 4), st.integers(0, 60)), max_size=12),
    keep=st.integers(1, 5),
    days=st.integers(1, 50),
    budget=st.integers(0, 40_000),
)
def test_where_it_says_that_nothing_is_too_much_nothing_would_go(
    places: Iterator[Path],
    monkeypatch: pytest.MonkeyPatch,
    made: list[tuple[int, int, int]],
    keep: int,
    days: int,
    budget: int,
) -> None:
    """Whatever lies there: it may look in vain, but it never keeps what the rules take away."""
    traces, now = next(places), time.time_ns()
    traces.mkdir(parents=True)
    monkeypatch.setattr(index, "WORTH", 0)
    for number, (workflow, end, age) in enumerate(made):
        path = written(traces, number, ENDS[end], workflow=f"w{workflow}")
        os.utime(path, ns=(now - age * 86_400 * 10**9,) * 2)
    limits = Limits(keep, days, budget)
    due = index_tables.Due(limits.keep, limits.oldest(now), limits.budget)
    entries = Index(traces).entries(due)
    gone = plan(TraceFolder(traces.parent.parent).list(), limits, now)
    assert not gone if not entries else plan(entries, limits, now) == gone


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often the folder was walked, and how many files were opened to learn what they say."""
    found: Counter[str] = Counter()
    listed, ends = Index._listed, ends_module.ends

    def walk(self: Index) -> Any:
        found["walks"] += 1
        return listed(self)

    def opened(path: Path) -> Any:
        found["opened"] += 1
        return ends(path)

    monkeypatch.setattr(Index, "_listed", walk)
    for module in (ends_module, heads):
        monkeypatch.setattr(module, "ends", opened)
    return found


@pytest.mark.usefixtures("always")
def test_a_start_and_an_answer_cost_a_walk_and_open_nothing_old(
    here: Project, traces: Path, counted: Counter[str]
) -> None:
    """However many lie there: what they say is known, and old ones make room without being opened."""
    for number in range(300):
        written(traces, number, workflow=f"w{number}")
    settled(traces)
    runs.list_runs()
    counted.clear()
    (here.root / "gate.nika.yaml").write_text(GATE, encoding="utf-8")
    run = nika_nb.run(Path("gate.nika.yaml"))
    assert counted["walks"] <= 1
    settled(traces)
    runs.list_runs()
    counted.clear()
    assert runs.resume_run(run.id or "", {"ask": "yes", "name": "Ann"}).status == "completed"
    assert counted["walks"] <= 1
    settled(traces)
    counted.clear()
    nika_nb.run(Path("gate.nika.yaml"), resume=True)
    assert counted["walks"] <= 1
    assert counted["opened"] < 20


def test_only_a_folder_of_a_project_gets_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Journals that lie about elsewhere leave nothing beside them."""
    monkeypatch.setattr(index, "WORTH", 0)
    written(tmp_path / "somewhere", 1)
    assert len(Shelf(tmp_path / "somewhere").heads("flow-00000001")) == 1
    assert not (tmp_path / "index.sqlite3").exists()


# -- any folder --------------------------------------------------------------------------------

Step = tuple[str, int]


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    return (tmp_path_factory.mktemp("place") / ".nika" / "traces" for _ in iter(int, 1))


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    steps=st.lists(
        st.tuples(st.sampled_from(["run", "answer", "remove", "list"]), st.integers(0, 9)), max_size=14
    )
)
def test_any_history_of_a_folder_is_told_alike(
    places: Iterator[Path], monkeypatch: pytest.MonkeyPatch, steps: list[Step]
) -> None:
    """Runs, answers and removals in any order, with looks in between."""
    traces = next(places)
    traces.mkdir(parents=True)
    monkeypatch.setattr(index, "WORTH", 0)
    paths: list[Path] = []
    for number, (step, value) in enumerate(steps):
        if step == "run" or (step == "answer" and not paths):
            paths.append(written(traces, number, ENDS[value % len(ENDS)]))
        elif step == "answer":
            asked = head_of(paths[value % len(paths)])
            assert asked is not None
            paths.append(
                written(
                    traces,
                    number,
                    ENDS[value % 3],
                    run=asked.run,
                    resumed_trace=asked.name,
                    resumed_head=asked.head,
                )
            )
        elif step == "remove" and paths:
            paths.pop(value % len(paths)).unlink()
        else:
            Shelf(traces).page(0, 5)
        cached = Shelf(traces).page(0, 100)
        assert cached == without(monkeypatch, lambda: Shelf(traces).page(0, 100))
