"""One resume of one trace at a time; the right dies with its holder."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import pytest

from nika_nb.errors import ResumeRefused, UsageError
from nika_nb.trace import lock
from nika_nb.trace.lock import ResumeLock, holder
from nika_nb.trace.reader import is_running, read
from nika_nb.trace.verify import verify
from nika_nb.trace.writer import Journal
from tests.trace.journals import story, write


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return write(tmp_path, story()[:-1])


HOLD = """
    import sys, time
    from pathlib import Path
    from nika_nb.trace.lock import ResumeLock

    with ResumeLock(Path(sys.argv[1])):
        print("held", flush=True)
        time.sleep(600)
"""


def _hold(path: Path) -> subprocess.Popen[str]:
    return _python(HOLD, path)


def _python(program: str, *words: str | Path) -> subprocess.Popen[str]:
    environment = os.environ | {"PYTHONPATH": str(Path(lock.__file__).parents[2])}
    command = [sys.executable, "-c", textwrap.dedent(program), *map(str, words)]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    assert child.stdout is not None
    assert child.stdout.readline() == "held\n"
    return child


def test_the_second_is_refused_with_the_winner_s_pid(path: Path) -> None:
    """Two processes: one wins; killed the rude way, its right is free at once and nobody unlocks."""
    child = _hold(path)
    try:
        with (
            pytest.raises(ResumeRefused, match="nothing was run and nothing was consumed") as caught,
            ResumeLock(path),
        ):
            pass
        assert caught.value.exit_code == 3
        if Path("/proc/locks").exists():
            assert f"process {child.pid}" in str(caught.value)
            assert holder(path) == (True, child.pid)
    finally:
        child.kill()
        child.wait()
    with ResumeLock(path):
        assert holder(path)[0]
    assert holder(path) == (False, None)


LEFT = """
    import os, subprocess, sys, time
    from pathlib import Path
    from nika_nb.trace.lock import ResumeLock

    held = ResumeLock(Path(sys.argv[1])).__enter__()
    if sys.argv[2] == "fork":
        if os.fork() == 0:
            time.sleep(600)
    else:  # as a program that is about to be started holds it, only longer
        subprocess.Popen(["sleep", "0.6"], pass_fds=[held._fd])
    print("held", flush=True)
    time.sleep(600)
"""


@pytest.mark.parametrize("heir", ["fork", "program"])
def test_what_a_killed_holder_leaves_behind_is_no_lock(path: Path, heir: str) -> None:
    """A forked process never has it; a program that is being started has it for a moment: that is waited."""
    child = _python(LEFT, path, heir)
    try:
        assert holder(path)[0]
    finally:
        child.kill()
        child.wait()
    assert holder(path) == (False, None)
    assert not read(path).running
    with ResumeLock(path):
        assert holder(path)[0]


def test_a_forked_process_disturbs_nobody(tmp_path: Path) -> None:
    """Its copy of a journal writes nowhere, and the lock stays where it is when it ends."""
    journal = Journal(tmp_path)
    first, *rest = story()
    journal(first)
    assert journal.path is not None
    pid = os.fork()
    if pid == 0:
        journal(rest[0])
        journal.close()
        os._exit(0)
    os.waitpid(pid, 0)
    assert holder(journal.path)[0]
    for event in rest:
        journal(event)
    journal.close()
    assert verify(journal.path).verdict == "clean"


def test_two_threads_of_one_process_conflict_too(path: Path) -> None:
    """The right belongs to the holder, not to the process."""
    refused: list[str] = []

    def second() -> None:
        try:
            with ResumeLock(path):
                pass
        except ResumeRefused as error:
            refused.append(str(error))

    with ResumeLock(path):
        thread = threading.Thread(target=second)
        thread.start()
        thread.join()
    assert len(refused) == 1
    with ResumeLock(path):
        pass


def test_a_read_only_trace_can_be_locked(path: Path) -> None:
    """Resuming needs no right to write the old file, and does not touch it."""
    before = path.read_bytes()
    path.chmod(0o400)
    with ResumeLock(path):
        assert holder(path)[0]
    assert path.read_bytes() == before


def test_the_right_is_given_back_once(path: Path) -> None:
    """Also when the body fails; releasing again is harmless."""
    held = ResumeLock(path)
    with pytest.raises(ZeroDivisionError), held:
        raise ZeroDivisionError
    held.release()
    assert not holder(path)[0]


def test_children_do_not_inherit_the_right(path: Path) -> None:
    """A process started meanwhile, and outliving us, holds nothing."""
    with ResumeLock(path):
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], close_fds=False)
    try:
        with ResumeLock(path):
            assert child.poll() is None
    finally:
        child.kill()
        child.wait()


def test_a_trace_that_is_not_there(tmp_path: Path) -> None:
    """A mistake of the request, and no file is made."""
    with pytest.raises(UsageError, match="cannot be resumed"), ResumeLock(tmp_path / "none.ndjson"):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_look_does_not_get_in_the_way(path: Path) -> None:
    """Somebody who lists runs all the time never makes a resume fail."""
    stop = threading.Event()

    def look() -> None:
        while not stop.wait(0.0005):
            holder(path)

    threads = [threading.Thread(target=look) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(1000):
            with ResumeLock(path):
                pass
    finally:
        stop.set()
        for thread in threads:
            thread.join()


@pytest.mark.skipif(not Path("/proc/locks").exists(), reason="only /proc/locks tells who holds a lock")
def test_a_resumed_trace_is_not_a_running_one(tmp_path: Path) -> None:
    """The prologue names the writer's process: another holder is somebody who resumes."""
    from dataclasses import replace

    first, *rest = story()[:-1]
    path = write(tmp_path, [replace(first, fields=first.fields | {"pid": 1}), *rest])
    with ResumeLock(path):
        assert is_running(path) == (False, None)
        assert read(path).state == "incomplete"
