"""Looking at real processes from tests."""

from __future__ import annotations

import os
import random
import secrets
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress


def fresh_mark() -> str:
    """A number of seconds that no other process on this machine sleeps for."""
    return f"{random.randrange(1000, 3000)}.{secrets.randbelow(10**12):012d}"


def marked(mark: str) -> dict[int, str]:
    """The processes that show a mark in their command line, by number; zombies are left out."""
    listing = ["ps", "-A", "-ww", "-o", "pid=,stat=,args="]
    listed = subprocess.run(listing, capture_output=True, text=True, check=True).stdout
    rows = [line.split(None, 2) for line in listed.splitlines()]
    return {int(row[0]): row[2] for row in rows if len(row) == 3 and row[1][0] != "Z" and mark in row[2]}


def gone(mark: str, seconds: float = 0.0) -> bool:
    """Whether no process shows this mark in its command line (within so many seconds)."""
    until = time.monotonic() + seconds
    while marked(mark):
        if time.monotonic() >= until:
            return False
        time.sleep(0.02)
    return True


@contextmanager
def running(line: str) -> Iterator[subprocess.Popen[bytes]]:
    """A shell line in a session of its own, ended afterwards."""
    popen = subprocess.Popen(["/bin/sh", "-c", line], stdout=subprocess.PIPE, start_new_session=True)
    try:
        yield popen
    finally:
        with suppress(ProcessLookupError):
            os.killpg(popen.pid, signal.SIGKILL)
        popen.wait()
        if popen.stdout:
            popen.stdout.close()
