"""Durable runs where things are not as they should be: clocks, folders, files, leftovers."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import nika_nb
from nika_nb import runs
from nika_nb.errors import NikaError, ResumeRefused
from nika_nb.runs import index
from nika_nb.runs.answered import AlreadyAnswered
from nika_nb.runs.deployments import Deployments
from nika_nb.runs.snapshots import Snapshot
from tests.doors import PATIENCE, frames, launch, marks, newest, nika, program, rewritten, wait_for
from tests.durable.project import ASK, DONE, GATE, Project, project

HOUR = 3600 * 10**9
NOBODY = 65534


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Sets the wall clock off by so many nanoseconds."""
    real, off = time.time_ns, [0]
    monkeypatch.setattr(time, "time_ns", lambda: real() + off[0])

    def turn(by: int) -> None:
        off[0] = by

    return turn


# -- the clock moved back ----------------------------------------------------------------------


def test_a_clock_that_goes_back_does_not_turn_a_run_around(
    here: Project, clock: Callable[[int], None]
) -> None:
    """The order of the answers is that of what they continue, whatever the stamps say."""
    started = here.started(GATE)
    clock(-HOUR)
    half = runs.resume_run(started.run_id, {"ask": "yes"})
    assert (half.status, [prompt.key for prompt in half.prompts]) == ("interrupted", ["name"])
    clock(-2 * HOUR)
    whole = runs.resume_run(started.run_id, {"name": "Ann"})
    assert whole.status == "completed"
    found = runs.inspect_run(started.run_id)
    assert found.status == "completed"
    assert [c.reason for c in runs.checkpoints(started.run_id)] == ["interrupted", "interrupted", "completed"]
    assert [c.sequence for c in runs.checkpoints(started.run_id)] == [1, 2, 3]
    assert [frame.kind for frame in runs.follow(started.run_id)][-1] == "workflow_completed"
    assert found.summary.created == started.summary.created


def test_a_clock_that_goes_back_opens_no_answered_question(
    here: Project, clock: Callable[[int], None]
) -> None:
    """The answer lies before its question by the clock, and counts all the same."""
    here.started(ASK)
    paused = here.traces[0]
    clock(-HOUR)
    nika_nb.attach(paused).answer("yes")
    for by in (-2 * HOUR, 0, HOUR):
        clock(by)
        with pytest.raises(AlreadyAnswered):
            nika_nb.attach(paused).answer("no")


def test_a_clock_that_goes_back_keeps_the_newest_refusal(here: Project, clock: Callable[[int], None]) -> None:
    """What was missing last is what is told."""
    text = DONE.replace("tasks:", "inputs: {}\ntasks:").replace("nika: done", "nika: two")
    text = text.replace('["./say"]', '["./say", "./more"]').replace(
        "outputs:", '  ask: {invoke: {tool: "nika:prompt", args: {message: m}}}\n'
        '  more: {with: {go: "${{ tasks.ask.output }}"}, when: "${{ with.go == true }}", '
        'exec: {command: ["./more"]}}\noutputs:'
    )  # fmt: skip
    more = here.root / "more"
    more.write_bytes((here.root / "say").read_bytes())
    more.chmod(0o755)
    started = here.started(text)
    more.unlink()
    assert len(runs.resume_run(started.run_id, "yes").diagnostics) == 1
    clock(-HOUR)
    assert runs.resume_run(started.run_id, "yes").summary.diagnostic_count == 1
    notes = [
        frames(path)[0]["attempt"] for path in here.traces if frames(path)[0]["kind"] == "nb_resume_blocked"
    ]
    assert sorted(notes) == [1, 2]
    assert runs.inspect_run(started.run_id).summary.updated < started.summary.updated


# -- a folder that takes nothing ---------------------------------------------------------------


@pytest.fixture
def locked() -> Iterator[Project]:
    """A project whose folders nobody may write to, with an interrupted and a completed run in it."""
    root = Path(tempfile.mkdtemp(prefix="nika-locked-"))
    before = Path.cwd()
    os.chdir(root)
    try:
        made = project(root)
        made.started(GATE)
        made.started(DONE)
        for path in (root, *root.rglob("*")):
            if os.geteuid() == 0:
                os.chown(path, NOBODY, NOBODY)
            if path.is_dir():
                path.chmod(0o555)
        yield made
    finally:
        for path in (root, *root.rglob("*")):
            if path.is_dir():
                path.chmod(0o755)
        os.chdir(before)
        shutil.rmtree(root)


def unprivileged(work: Callable[[], Any]) -> Any:
    """What the work returns in a process that may not write everywhere."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            if os.geteuid() == 0:
                os.setgid(NOBODY)
                os.setuid(NOBODY)
            os.write(write, json.dumps(work()).encode())
            code = 0
        except BaseException as error:  # noqa: BLE001 - told to whoever waits
            os.write(write, json.dumps({"error": repr(error)}).encode())
        finally:
            os._exit(code)
    os.close(write)
    with os.fdopen(read, "rb") as stream:
        said = stream.read()
    os.waitpid(child, 0)
    return json.loads(said)


def test_a_read_only_folder_is_listed_inspected_and_read(locked: Project) -> None:
    """Looking needs no leave to write, with or without a cache; what waits is blocked while it is so."""
    expected = runs.list_runs().to_json()
    ids = [run["run_id"] for run in expected["runs"]]
    looked = [runs.read_run_trace(run_id, 0, 5).to_json() for run_id in ids]
    (waiting,) = [shape for shape in looked if shape["status"] == "interrupted"]
    no_journal = unprivileged(lambda: runs.start(DONE).to_json())["diagnostics"]
    waiting |= {"resume_readiness": "blocked", "diagnostics": no_journal, "diagnostic_count": 1}

    def look() -> Any:
        index.WORTH = 0
        return [runs.list_runs().to_json(), [runs.read_run_trace(run_id, 0, 5).to_json() for run_id in ids]]

    assert unprivileged(look) == [expected, looked]
    assert not (locked.root / ".nika" / "index.sqlite3").exists()


def test_an_answer_that_could_not_be_written_down_is_not_consumed(locked: Project) -> None:
    """Blocked, in a sentence; without a note, for that could not be written either."""
    (waiting,) = [summary for summary in runs.list_runs().runs if summary.status == "interrupted"]
    before = locked.bytes()
    found = unprivileged(lambda: runs.resume_run(waiting.run_id, {"ask": "yes", "name": "x"}).to_json())
    assert (found["status"], found["resume_readiness"]) == ("interrupted", "blocked"), found
    assert "takes no journal" in found["diagnostics"][0]["message"]
    assert "make the folder writable" in found["diagnostics"][0]["hint"]
    assert locked.bytes() == before


def test_a_start_in_a_read_only_folder_is_unrunnable(locked: Project) -> None:
    """A durable run lives in its journal; an ordinary run goes on without one."""
    found = unprivileged(lambda: runs.start(DONE).to_json())
    assert found["status"] == "unrunnable"
    assert "takes no journal" in found["diagnostics"][0]["message"]


def test_without_journals_there_are_no_durable_runs(here: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """Turned off by the environment: said by name, also when it is about an answer."""
    waiting = here.started(ASK)
    monkeypatch.setenv("NIKA_NO_TRACE_FILE", "1")
    assert "NIKA_NO_TRACE_FILE" in runs.start(DONE).diagnostics[0].message  # type: ignore[union-attr]
    assert runs.resume_run(waiting.run_id, "yes").resume_readiness == "blocked"
    assert len(here.traces) == 1


# -- leftovers and foreigners ------------------------------------------------------------------


def test_whatever_lies_between_the_traces_is_left_out(here: Project) -> None:
    """Empty, torn, foreign, huge lines, folders, links to nowhere: none of them is a run or a trouble."""
    started = here.started(GATE)
    folder = here.root / ".nika" / "traces"
    for name, content in (
        ("empty", b""),
        ("torn", newest(here.root).read_bytes()[:40]),
        ("foreign", b'{"kind":"workflow_started","fields":[]}\n'),
        ("wrong", b'{"kind":"workflow_started","correlation":7,"fields":{"a":1}}\n'),
        ("long", b"x" * (3 << 20)),
        ("nul", b"\0" * 5000),
    ):
        (folder / f"{name}.ndjson").write_bytes(content)
    (folder / "folder.ndjson").mkdir()
    (folder / "nowhere.ndjson").symlink_to("gone")
    assert [summary.run_id for summary in runs.list_runs().runs] == [started.run_id]
    assert runs.list_runs().unfinished_total == 0
    assert runs.resume_run(started.run_id, {"ask": "no", "name": "x"}).status == "completed"


def test_a_torn_or_damaged_trace_is_told_as_far_as_it_goes(here: Project) -> None:
    """A cut at every byte of the end: the run is listed in one of its states, and can be inspected."""
    started = here.started(DONE)
    trace = here.traces[0]
    whole = trace.read_bytes()
    first = whole.index(b"\n") + 1
    for size in range(len(whole), first, -7):
        trace.write_bytes(whole[:size])
        found = runs.inspect_run(started.run_id)
        assert found.state in ("completed", "incomplete")
        assert found.trace_count >= 1
        listed = runs.list_runs()
        assert listed.total + listed.unfinished_total == 1
        assert runs.read_run_trace(started.run_id, 0, 1000).trace is not None


SEEDED = ASK.replace("tasks:", "run: {entropy: {seeded: 7}, clock: virtual}\ntasks:")


def test_reproducible_runs_share_an_id_and_the_newest_one_counts(here: Project) -> None:
    """The same seed is the same run: started again, it asks again; answered, it is answered."""
    first = here.started(SEEDED)
    assert runs.resume_run(first.run_id, "yes").status == "completed"
    again = here.started(SEEDED)
    assert again.run_id == first.run_id
    assert runs.inspect_run(first.run_id).status == "interrupted"
    assert runs.resume_run(first.run_id, "no").output == {"go": False}
    with pytest.raises(NikaError, match="only an interrupted run is resumed"):
        runs.resume_run(first.run_id, "no")


def test_a_reproducible_run_that_is_open_is_not_started_over_unsaid(here: Project) -> None:
    """A durable start of it is unrunnable while its question waits; an ordinary one says what it replaces."""
    first = here.started(SEEDED)
    before = here.bytes()
    again = runs.start(SEEDED)
    assert (again.status, again.run_id) == ("unrunnable", None)
    assert again.diagnostics[0].message == f"{first.run_id} waits for an answer in {here.traces[0].name}"
    assert "answer or decline that one" in again.diagnostics[0].hint
    assert here.bytes() == before
    run = nika_nb.run(SEEDED)
    questions = here.traces
    assert f"{first.run_id} waits for an answer in {here.traces[0].name}: this start" in run.notices[0]
    assert here.traces[0].read_bytes() == here.traces[1].read_bytes()
    assert runs.resume_run(first.run_id, "yes").output == {"go": True}
    for question in questions:  # the same bytes are the same question, and have one answer
        with pytest.raises(AlreadyAnswered):
            nika_nb.attach(question).answer("no")


SLOW = SEEDED.replace("nika: ask", "nika: ask\npermits: {exec: [./slow]}").replace(
    "tasks:", "tasks:\n  slow: {exec: {command: [./slow]}}"
)


def test_a_reproducible_run_is_at_work_once(here: Project) -> None:
    """One id, one writer: a second start is refused and told who was first; a durable one is unrunnable."""
    program(here.root, "slow", "echo $$ >> pids\nwhile ! test -e go; do sleep 0.02; done")
    first = nika_nb.run(SLOW, background=True)
    wait_for(lambda: len(marks(here.root / "pids")) == 1, "the program")
    with pytest.raises(ResumeRefused, match=rf"nothing was run: {first.id} is at work in this process"):
        nika_nb.run(SLOW)
    assert runs.start(SLOW).status == "unrunnable"
    runs.cancel(first.id or "")
    assert first.state == "cancelled"
    assert len(here.traces) == 1
    assert not (here.root / ".nika" / "starts").exists()
    (here.root / "go").touch()
    assert nika_nb.run(SLOW).state == "paused"


def test_of_two_processes_that_start_it_at_once_one_runs(here: Project) -> None:
    """The other one names it; where the winner is killed, the next start finds nothing in its way."""
    program(here.root, "slow", "echo $$ >> pids\nwhile ! test -e go; do sleep 0.02; done")
    (here.root / "w.nika.yaml").write_text(SLOW, encoding="utf-8")
    said = [here.root / f"said-{number}" for number in range(3)]
    engines = [launch("run", "w.nika.yaml", cwd=here.root, out=out) for out in said]
    wait_for(lambda: sum(engine.poll() is not None for engine in engines) == 2, "the refusals")
    (winner,) = [engine for engine in engines if engine.poll() is None]
    for engine, out in zip(engines, said, strict=True):
        if engine is not winner:
            assert engine.returncode == 3
            assert f"is at work in process {winner.pid}" in out.read_text(encoding="utf-8")
    wait_for(lambda: len(marks(here.root / "pids")) == 1, "the program of the winner")
    winner.kill()
    winner.wait(PATIENCE)
    (here.root / "go").touch()
    assert nika("run", "w.nika.yaml", cwd=here.root).code == 4


def test_two_deploy_at_once_and_each_gets_a_version(here: Project) -> None:
    """Twenty threads, twenty versions, each whole."""
    store = Deployments(here.root)
    made: list[int] = []

    def deploy(number: int) -> None:
        made.append(store.add("many", Snapshot("w", "w", f"nika: w{number}")).version)

    threads = [threading.Thread(target=deploy, args=(number,)) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(made) == list(range(1, 21))
    texts = {store.get("many", version).snapshot.text for version in made}
    assert texts == {f"nika: w{number}" for number in range(20)}
    assert not list((here.root / ".nika" / "deployments" / "many").glob(".*"))


@pytest.mark.parametrize("name", ["", "../x", "Nightly", "a/b", ".hidden", "x" * 49, "a b"])
def test_a_deployment_has_a_safe_name(here: Project, name: str) -> None:
    """No path, no surprise in a shell."""
    with pytest.raises(NikaError, match="cannot be called"):
        runs.deploy(name, ASK)
    with pytest.raises(NikaError, match="cannot be called"):
        runs.run_deployment(name)


def test_a_run_started_elsewhere_goes_on_where_its_paths_start(here: Project) -> None:
    """The folder of the workflow and the folder it was started from are two, also for its answer."""
    (here.root / "flows").mkdir()
    (here.root / "flows" / "gate.nika.yaml").write_text(GATE, encoding="utf-8")
    started = runs.start(Path("flows/gate.nika.yaml"))
    assert started.run_id is not None
    os.chdir(here.root / "flows")
    found = runs.resume_run(started.run_id, {"ask": "yes", "name": "Ann"})
    assert found.output == {"topic": "plain", "shipped": "Ann"}
    os.chdir(here.root)
    assert runs.list_runs(root="flows").total == 1


def test_an_answer_kept_in_the_journal_outlives_the_package_of_its_deployment(here: Project) -> None:
    """A pinned text that today's check refuses blocks the run, by the check's own finding."""
    started = here.started(ASK)
    trace = here.traces[0]
    text = trace.read_text(encoding="utf-8")
    assert "Go on?" in text

    def older(shape: dict[str, Any]) -> None:
        fields = shape["fields"]
        if shape["kind"] == "nb_source_page":
            fields["text"] = fields["text"].replace("nika:prompt", "nika:prompts")
        if shape["kind"] == "workflow_started":
            changed = ASK.replace("nika:prompt", "nika:prompts")
            fields["workflow_sha256"] = hashlib.sha256(changed.encode()).hexdigest()

    changed = rewritten(trace, older)
    trace.write_bytes(changed.read_bytes())
    changed.unlink()
    found = runs.resume_run(started.run_id, "yes")
    assert (found.status, found.resume_readiness) == ("interrupted", "blocked")
    assert "nika:prompts" in found.diagnostics[0].message
