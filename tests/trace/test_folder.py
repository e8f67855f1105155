"""Where traces lie: the newest first, cheap to list, found by any name a person gives."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nika_nb.catalog.frames import LINE_BOUND
from nika_nb.engine.events import Event
from nika_nb.trace.folder import TraceFolder
from nika_nb.trace.writer import Journal
from tests.trace.journals import START, Events, started, story, uuid_at, write


def trace(folder: TraceFolder, second: int, end: str | None = "workflow_completed", **more: Any) -> Path:
    """A small journal that began at that second."""
    at = START + second * 10**9
    events = [Event("workflow_started", started(**more), at, uuid_at(second))]
    if end:
        events.append(Event(end, {"workflow": "w", "task": "ask"}, at + 1, uuid_at(second + 1)))
    return write(folder.path, events, correlation=f"run-{second}")


@pytest.fixture
def traces(folder: Path) -> TraceFolder:
    return TraceFolder(folder)


def test_an_absent_folder_is_empty(traces: TraceFolder) -> None:
    """Looking makes nothing."""
    assert traces.list() == ()
    assert traces.newest() is None
    assert not traces.path.exists()


def test_the_newest_first_with_what_is_known(traces: TraceFolder) -> None:
    """Workflow, run, state, size and time of each, from the ends of its file."""
    paths = [
        trace(traces, 3, "workflow_paused", workflow="b"),
        trace(traces, 1, "workflow_failed", workflow="a"),
        trace(traces, 2, None, workflow="a"),
    ]
    entries = traces.list()
    assert [entry.path for entry in entries] == [paths[0], paths[2], paths[1]]
    assert [(e.workflow, e.run, e.state) for e in entries] == [
        ("b", "run-3", "paused"),
        ("a", "run-2", "incomplete"),
        ("a", "run-1", "failed"),
    ]
    assert entries[0].stamp == "2026-08-13T17-55-57Z"
    assert (entries[0].size, entries[0].mtime) == (paths[0].stat().st_size, paths[0].stat().st_mtime_ns)


def test_files_that_are_no_traces_are_left_out(traces: TraceFolder) -> None:
    """Empty ones, foreign ones, torn first lines, other extensions."""
    path = trace(traces, 1)
    for name, content in [("a.ndjson", ""), ("b.ndjson", "{}\n"), ("c.ndjson", '{"chain"'), ("d.txt", "x")]:
        (traces.path / name).write_text(content)
    (traces.path / "gone.ndjson").symlink_to("nowhere")
    assert [entry.path for entry in traces.list()] == [path]


def test_a_copy_under_another_name_is_sorted_by_its_time(traces: TraceFolder) -> None:
    """A trace that somebody renamed still has its place."""
    first, second = trace(traces, 1), trace(traces, 2)
    renamed = first.rename(traces.path / "my-favourite.ndjson")
    os.utime(renamed, (1, 1))
    assert [entry.path for entry in traces.list()] == [second, renamed]


def test_within_a_second_the_one_that_began_later_is_the_newer(traces: TraceFolder) -> None:
    """Whatever the dates of the files: copying a folder changes them."""
    moments = [START + milliseconds * 10**6 for milliseconds in (10, 30, 20)]
    paths = [write(traces.path, [Event("workflow_started", started(), at, uuid_at(at))]) for at in moments]
    for at, path in zip((50, 60, 70), paths, strict=True):
        os.utime(path, (at, at))
    assert [entry.path for entry in traces.list()] == [paths[1], paths[2], paths[0]]


def test_runs_that_begin_alike_are_told_apart_by_their_writing(traces: TraceFolder) -> None:
    """Seeded runs share a stamp; the one written last is the newest."""
    paths = [trace(traces, 1) for _ in range(3)]
    for at, path in zip((50, 90, 70), paths, strict=True):
        os.utime(path, (at, at))
    assert [entry.path for entry in traces.list()] == [paths[1], paths[2], paths[0]]


@pytest.mark.parametrize("end", ["workflow_completed", "workflow_cancelled"])
@pytest.mark.parametrize("length", [10, 100_000, LINE_BOUND - 1000])
def test_the_state_of_a_journal_with_long_last_lines(traces: TraceFolder, end: str, length: int) -> None:
    """However long the last line is, and with half a line or a seal behind it."""
    make = Events()
    make("workflow_started", **started())
    make("task_completed", task="t", output="x" * (length % 60_000))
    make(end, workflow="w", text="y" * length)
    make("run_sealed", seal_format=1)
    path = write(traces.path, make.made)
    path.write_bytes(path.read_bytes() + b'{"chain":"to')
    assert traces.list()[0].state == end.removeprefix("workflow_")


def test_a_running_trace_is_seen_as_such(traces: TraceFolder) -> None:
    """It is listed as running and never chosen for a resume while it is."""
    older = trace(traces, 1)
    journal = Journal(traces.path)
    journal(Event("workflow_started", started(pid=os.getpid()), START + 10**11, uuid_at(77)))
    assert [entry.state for entry in traces.list()] == ["running", "completed"]
    assert traces.newest("naïve-archive") == older
    assert traces.newest("naïve-archive", resumable=False) == journal.path
    journal.close()
    assert traces.newest("naïve-archive") == journal.path


def test_the_newest_of_a_name(traces: TraceFolder) -> None:
    """Other workflows, and files that record no run, do not count."""
    mine = trace(traces, 1, workflow="mine")
    trace(traces, 2, workflow="other")
    blocked = [replace(story()[0], kind="nb_resume_blocked", fields={"workflow": "mine"}, at=START + 10**12)]
    write(traces.path, blocked)
    assert traces.newest("mine") == mine
    assert traces.newest("nobody's") is None


def test_a_trace_by_any_of_its_names(traces: TraceFolder, folder: Path) -> None:
    """A path from here or from a base, a file name in the folder, with or without its ending."""
    path = trace(traces, 1)
    elsewhere = write(folder / "elsewhere", story())
    assert traces.find(path) == path
    assert traces.find(path.name) == path
    assert traces.find(path.stem) == path
    assert traces.find(f".nika/traces/{path.name}") == path
    assert traces.find(elsewhere.name, folder / "elsewhere") == elsewhere
    assert traces.find(elsewhere.name) is None


def test_a_long_listing_reads_the_ends_only(traces: TraceFolder) -> None:
    """The middle of a file may be anything."""
    path = write(traces.path, story())
    lines = path.read_bytes().split(b"\n")
    path.write_bytes(b"\n".join([lines[0], b"rubbish " * 30_000, *lines[-2:]]))
    assert json.loads(lines[-2])["kind"] == "workflow_completed"
    assert traces.list()[0].state == "completed"
