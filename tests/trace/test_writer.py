"""The journal's single writer: one file, whole lines, and no trouble that reaches the run."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import textwrap
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest

from nika_nb.engine.events import Event
from nika_nb.trace import writer
from nika_nb.trace.memory import JournalMemory
from nika_nb.trace.reader import is_running, read
from nika_nb.trace.verify import verify
from nika_nb.trace.writer import Journal
from tests.trace.journals import START, Events, completed, identity, started, story, uuid_at, write


def test_no_event_no_file(tmp_path: Path) -> None:
    """A run that was refused leaves nothing, not even the folder."""
    journal = Journal(tmp_path / ".nika" / "traces")
    journal(Event("live_output", {"text": "hello"}, START))
    journal.close()
    assert journal.path is None
    assert list(tmp_path.iterdir()) == []


def test_the_file_is_named_by_its_first_event(tmp_path: Path) -> None:
    """UTC stamp of the first event, the last four digits of its id; owner only; parents made."""
    path = write(tmp_path / ".nika" / "traces", story())
    assert path == tmp_path / ".nika/traces/2026-08-13T17-55-54Z-0001.ndjson"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_taken_name_is_never_overwritten(tmp_path: Path) -> None:
    """The whole id distinguishes, then a number: seeded runs begin with the same event."""
    names = [write(tmp_path, story()).name for _ in range(4)]
    whole = uuid_at(1).replace("-", "")
    stamp = "2026-08-13T17-55-54Z"
    assert names == [
        f"{stamp}-0001.ndjson",
        f"{stamp}-{whole}.ndjson",
        f"{stamp}-{whole}-2.ndjson",
        f"{stamp}-{whole}-3.ndjson",
    ]
    assert len({(tmp_path / name).read_bytes() for name in names}) == 1


def test_what_the_journal_says_of_itself(tmp_path: Path) -> None:
    """Head, count and size are those of the file; live-only events are not in it."""
    journal = Journal(tmp_path, run="call-1")
    for event in story():
        journal(event)
        journal(Event("live_progress", {"task": "fan", "done": 1}, START))
    journal.close()
    assert journal.path is not None
    verdict = verify(journal.path)
    assert (journal.head, journal.events) == (verdict.head, verdict.events)
    assert journal.size == journal.path.stat().st_size
    assert b"live_" not in journal.path.read_bytes()


def test_every_event_is_in_the_file_at_once(tmp_path: Path) -> None:
    """Nothing waits in a buffer: after each call the file holds that many whole lines."""
    journal = Journal(tmp_path)
    for number, event in enumerate(story(), 1):
        journal(event)
        assert journal.path is not None
        data = journal.path.read_bytes()
        assert (data.count(b"\n"), data[-1:]) == (number, b"\n")
    journal.close()


def test_a_line_and_its_newline_are_one_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No other process can ever see or cut in between them."""
    seen: list[bytes] = []
    real = os.write

    def watched(fd: int, data: bytes) -> int:
        seen.append(bytes(data))
        return real(fd, data)

    monkeypatch.setattr(os, "write", watched)
    events = story()
    write(tmp_path, events)
    assert len(seen) == len(events)
    assert all(data.endswith(b"}\n") for data in seen)


def test_short_writes_are_completed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A system that takes only a part at a time still ends up with the whole line."""
    real = os.write
    monkeypatch.setattr(os, "write", lambda fd, data: real(fd, bytes(data)[:7]))
    path = write(tmp_path, story())
    assert verify(path).verdict == "clean"


@pytest.mark.parametrize(("durability", "syncs"), [("process", 1), ("disk", 7)])
def test_when_the_disk_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, durability: str, syncs: int
) -> None:
    """Once at the stop; with `disk` also after each settled task; closing adds nothing to that."""
    called: list[int] = []
    monkeypatch.setattr(os, "fsync", called.append)
    journal = Journal(tmp_path, durability=durability)
    for event in story():
        journal(event)
    assert len(called) == syncs
    journal.close()
    assert len(called) == syncs


def test_closing_an_unfinished_journal_reaches_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run that broke off without an end frame is synced when it is closed; closing twice is harmless."""
    called: list[int] = []
    monkeypatch.setattr(os, "fsync", called.append)
    journal = Journal(tmp_path)
    journal(story()[0])
    journal.close()
    journal.close()
    assert len(called) == 1


def test_a_folder_that_cannot_be_made_leaves_the_run_alone(tmp_path: Path) -> None:
    """The error is a sentence to be shown afterwards; later events are ignored quietly."""
    (tmp_path / ".nika").write_text("a file where the folder should be")
    journal = Journal(tmp_path / ".nika" / "traces")
    for event in story():
        journal(event)
    journal.close()
    assert journal.path is None
    assert journal.events == 0
    assert "the run itself is unaffected" in (journal.error or "")
    assert ".nika/traces" in (journal.error or "")


@pytest.mark.parametrize("taken", ["removed", "replaced"])
def test_a_journal_that_was_taken_away_says_so(tmp_path: Path, taken: str) -> None:
    """What is written into a file without a name is lost: that is told when the journal is closed."""
    journal = Journal(tmp_path)
    journal(story()[0])
    assert journal.path is not None
    journal.path.unlink()
    if taken == "replaced":
        journal.path.write_text("something else")
    journal.close()
    assert "was removed or moved while the run was at work" in (journal.error or "")


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may write anywhere")
def test_a_read_only_folder_leaves_the_run_alone(tmp_path: Path) -> None:
    """The same where the folder exists and does not let us in."""
    tmp_path.chmod(0o500)
    journal = Journal(tmp_path)
    journal(story()[0])
    assert "Permission denied" in (journal.error or "")


def test_a_full_disk_ends_the_journal_and_not_the_run(tmp_path: Path) -> None:
    """At the limit the last line is cut; nothing follows it; the prefix is read and resumed from."""
    program = """
        import resource, signal, sys
        from pathlib import Path
        from tests.trace.journals import story
        from nika_nb.trace.writer import Journal

        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (9000, 9000))
        journal = Journal(Path(sys.argv[1]))
        for event in story():
            journal(event)
        journal.close()
        print(journal.events, journal.error, sep="\\n")
    """
    done = _python(program, tmp_path)
    events, error = done.splitlines()
    assert error.endswith(f"ends after {events} events: File too large — the run itself is unaffected")
    (path,) = tmp_path.glob("*.ndjson")
    trace = read(path)
    assert path.stat().st_size == 9000
    assert len(trace.frames) == int(events)
    assert trace.torn
    assert verify(path).verdict == "torn"
    assert JournalMemory(trace).usable > 0


def test_a_journal_beyond_its_bound_stops_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The line that would cross the file bound is not begun, and the sentence says so."""
    monkeypatch.setattr(writer, "FILE_BOUND", 4 << 10)
    journal = Journal(tmp_path)
    for event in story():
        journal(event)
    journal.close()
    assert journal.path is not None
    assert "grow beyond" in (journal.error or "")
    assert journal.path.stat().st_size <= 4 << 10
    assert verify(journal.path).verdict == "incomplete"


def test_an_event_that_fits_no_line_ends_the_journal(tmp_path: Path) -> None:
    """Never a line that a verifier would have to refuse."""
    first, *_, last = story()
    journal = Journal(tmp_path)
    journal(first)
    journal(Event("task_failed", {"odd": ["x" * 1000] * 2000}, START, uuid_at(2)))
    journal(last)
    journal.close()
    assert journal.path is not None
    assert "fits no line" in (journal.error or "")
    assert verify(journal.path).events == 1


def test_a_line_interrupted_in_the_middle_is_the_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When an interrupt strikes between two parts of a line, nothing is fused to the torn half."""
    journal = Journal(tmp_path)
    first, second, third, *_ = story()
    journal(first)
    real = os.write

    def half(fd: int, data: bytes) -> int:
        real(fd, bytes(data)[:10])
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "write", half)
    with pytest.raises(KeyboardInterrupt):
        journal(second)
    monkeypatch.undo()
    journal(third)
    journal.close()
    assert journal.path is not None
    assert "interrupted" in (journal.error or "")
    assert len(read(journal.path).frames) == 1


def test_an_output_of_fifty_megabytes(tmp_path: Path) -> None:
    """It lives in the one file, in lines within the bound, and comes back exactly."""
    value = 'é"\n🦋 plain text and more of it' * (50_000_000 // 32)
    make = Events()
    make("workflow_started", **started())
    make("task_completed", **completed("big", value))
    make("workflow_completed", workflow="w")
    path = write(tmp_path, make.made)
    verdict = verify(path)
    assert verdict.verdict == "clean"
    assert verdict.events < 1100
    hit = JournalMemory(read(path)).recall(identity("big"))
    assert getattr(hit, "output", None) == value


def test_many_writers_never_meet(tmp_path: Path) -> None:
    """Eight processes that start with the same event at once: eight files, every line of each whole."""
    with ProcessPoolExecutor(8, mp_context=get_context("spawn")) as pool:
        paths = list(pool.map(_burst, [tmp_path] * 8))
    assert len(set(paths)) == 8
    assert {(verify(path).verdict, verify(path).events) for path in paths} == {("clean", 2002)}


def _burst(folder: Path) -> Path:
    make = Events()
    make("workflow_started", **started())
    for number in range(2000):
        make("task_scheduled", task=f"t{number}")
    make("workflow_completed", workflow="w")
    return write(folder, make.made)


def test_a_killed_writer_leaves_everything_it_said(tmp_path: Path) -> None:
    """While it lives it is known by its lock and process id; after kill -9 its lines are all there."""
    program = """
        import os, sys, time
        from pathlib import Path
        from dataclasses import replace
        from tests.trace.journals import story
        from nika_nb.trace.writer import Journal

        journal = Journal(Path(sys.argv[1]))
        first, *rest = story()
        journal(replace(first, fields=first.fields | {"pid": os.getpid()}))
        for event in rest[:-1]:
            journal(event)
        print(journal.path, flush=True)
        time.sleep(600)
    """
    child = _spawn(program, tmp_path)
    try:
        assert child.stdout is not None
        path = Path(child.stdout.readline().strip())
        assert is_running(path) == (True, child.pid)
        assert read(path).state == "running"
    finally:
        child.kill()
        child.wait()
    trace = read(path)
    assert is_running(path) == (False, None)
    assert trace.state == "incomplete"
    assert len(trace.frames) == len(story()) - 1
    assert not trace.torn


def _python(program: str, *arguments: Path) -> str:
    child = _spawn(program, *arguments)
    out, _ = child.communicate(timeout=60)
    assert child.returncode == 0
    return out


def _spawn(program: str, *arguments: Path) -> subprocess.Popen[str]:
    root = str(Path(writer.__file__).parents[2])
    command = [sys.executable, "-c", textwrap.dedent(program), *map(str, arguments)]
    environment = os.environ | {"PYTHONPATH": root}
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
