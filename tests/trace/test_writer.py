"""The journal's single writer: one file, whole lines, and no trouble that reaches the run."""

from __future__ import annotations

import errno
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
from nika_nb.trace.folder import TraceFolder
from nika_nb.trace.lock import ResumeLock
from nika_nb.trace.memory import JournalMemory
from nika_nb.trace.reader import is_running, read
from nika_nb.trace.retention import collect
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


def test_a_file_that_was_tidied_away_before_its_lock_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever tidies up right then takes an empty file for one that a killed writer left."""
    folder, lock = TraceFolder(tmp_path), writer._lock
    reasons: list[str] = []

    def tidied(fd: int) -> bool:
        monkeypatch.setattr(writer, "_lock", lock)
        reasons.extend(removal.reason for removal in collect(folder).removed)
        return lock(fd)

    monkeypatch.setattr(writer, "_lock", tidied)
    path = write(folder.path, story())
    assert (reasons, list(folder.path.iterdir())) == (["empty"], [path])
    assert verify(path).intact


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
    """The error is a sentence to be shown afterwards; nothing that comes later raises."""
    (tmp_path / ".nika").write_text("a file where the folder should be")
    journal = Journal(tmp_path / ".nika" / "traces")
    for event in story():
        journal(event)
    journal.close()
    assert journal.path is None
    assert journal.written == 0
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
    """The last line that fits is the last: no half of the next one; what is not told is named."""
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
        print(journal.written, journal.error, sep="\\n")
    """
    done = _python(program, tmp_path)
    events, error = done.splitlines()
    assert f"ends after {events} events: File too large — the run itself is unaffected" in error
    assert error.endswith("runs again on a resume: `fan`")
    (path,) = tmp_path.glob("*.ndjson")
    trace = read(path)
    assert path.stat().st_size <= 9000
    assert len(trace.frames) == int(events)
    assert not trace.torn
    assert verify(path).verdict == "incomplete"
    assert JournalMemory(trace).usable > 0


# -- room that comes back ----------------------------------------------------------------------


class Disk:
    """A disk that is full while `full` says so; `room` bytes of the next line still fit."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.full = False
        self.room = 0
        self._real = os.write
        monkeypatch.setattr(os, "write", self._write)

    def _write(self, fd: int, data: bytes) -> int:
        if not self.full:
            return self._real(fd, data)
        if self.room == 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        some, self.room = bytes(data)[: self.room], 0
        return self._real(fd, some)


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Disk:
    return Disk(monkeypatch)


@pytest.mark.parametrize("room", [0, 1, 50])
def test_what_found_no_room_is_written_when_there_is_some(tmp_path: Path, disk: Disk, room: int) -> None:
    """Full at each event in turn, for as long as three more: byte for byte what a free disk holds."""
    expected = write(tmp_path / "free", story()).read_bytes()
    for at in range(len(story())):
        journal = Journal(tmp_path / str(at), run="call-1", correlation="run-1")
        for number, event in enumerate(story()):
            disk.full = at <= number < at + 3
            disk.room = room
            journal(event)
            assert (journal.error is not None) == disk.full
            if journal.path is not None:
                data = journal.path.read_bytes()
                assert expected.startswith(data)
                assert data.endswith(b"\n"), "half a line lies there"
        disk.full = False
        journal.close()
        assert journal.error is None
        assert journal.path is not None
        assert journal.path.read_bytes() == expected


def test_a_file_without_its_first_line_is_none(tmp_path: Path, disk: Disk) -> None:
    """Nothing lies there that a reader would stumble over."""
    disk.full, disk.room = True, 10
    journal = Journal(tmp_path)
    journal(story()[0])
    assert journal.path is None
    assert list(tmp_path.iterdir()) == []
    assert "No space left on device" in (journal.error or "")


def test_a_closed_journal_can_still_be_completed(tmp_path: Path, disk: Disk) -> None:
    """The end of the run was kept back: room was made, and one more try brings everything to the file."""
    expected = write(tmp_path / "free", story()).read_bytes()
    for at in (0, 3, len(story()) - 1):
        disk.full = False
        journal = Journal(tmp_path / str(at), run="call-1", correlation="run-1")
        for number, event in enumerate(story()):
            disk.full = number >= at
            journal(event)
        journal.close()
        assert not journal.complete()
        disk.full = False
        assert journal.complete()
        assert journal.error is None
        assert journal.path is not None
        assert journal.path.read_bytes() == expected
        assert is_running(journal.path) == (False, None)


def test_a_journal_that_somebody_resumes_is_not_written_to(tmp_path: Path, disk: Disk) -> None:
    """After its run was over it belongs to whoever holds its lock, or has written to it."""
    journal = Journal(tmp_path)
    for number, event in enumerate(story()):
        disk.full = number >= 5
        journal(event)
    journal.close()
    disk.full = False
    assert journal.path is not None
    with ResumeLock(journal.path):
        assert not journal.complete()
    assert "somebody else is at work on it" in (journal.error or "")
    before = journal.path.read_bytes()
    journal.path.write_bytes(before + b"x")
    assert not journal.complete()
    journal.path.write_bytes(before)
    assert journal.complete()


def test_what_waits_is_bounded(tmp_path: Path, disk: Disk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond the bound the journal ends where it ends, whatever room there is later."""
    monkeypatch.setattr(writer, "_MOST_HELD", 4 << 10)
    journal = Journal(tmp_path)
    for number, event in enumerate(story()):
        disk.full = number >= 3
        journal(event)
    written = journal.written
    disk.full = False
    journal(story()[-1])
    journal.close()
    assert not journal.complete()
    assert journal.path is not None
    assert len(read(journal.path).frames) == written == journal.written
    assert "No space left on device, for too long" in (journal.error or "")
    assert "runs again on a resume: `" in (journal.error or "")


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


def test_a_line_interrupted_in_the_middle_is_written_anew(
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
    assert journal.error is None
    assert [frame.kind for frame in read(journal.path).frames] == [first.kind, second.kind, third.kind]
    assert verify(journal.path).verdict == "incomplete"


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
