"""Processes that an earlier engine left: found by group and start time, so that no stranger is ended."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time

from nika_nb.engine.contract import Process

_POLITE_SECONDS = 0.3
_HARD_SECONDS = 2.0
_STEP_SECONDS = 0.02


def start_time(pid: int) -> str:
    """When a process started, as the system tells it, also of one that has ended and is not yet reaped."""
    return _look(pid)[1]


def _look(pid: int) -> tuple[str, str]:
    """(the state's letter, the start time); both empty when there is no such process."""
    if sys.platform == "linux":
        fields = _stat(pid)
        return (fields[0], fields[19]) if fields else ("", "")
    state, _, started = _ps("-o", "stat=,lstart=", "-p", str(pid)).partition(" ")
    return state[:1], " ".join(started.split())


def _stat(pid: int | str) -> list[str]:
    """The fields of /proc/<pid>/stat from the third on: state, parent, group, …; [] when gone."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
            return file.read().rpartition(")")[2].split()
    except OSError:
        return []


def _ps(*arguments: str) -> str:
    listed = subprocess.run(["ps", *arguments], capture_output=True, text=True, check=False)
    return listed.stdout.strip()


def is_alive(process: Process) -> bool:
    """Whether this very process still runs: the leader is there and started at the recorded time.

    This process and what started it are nobody's leftovers, whatever a journal says.
    """
    state, started = _look(process.pgid)
    same = started != "" and started == process.started and state not in "ZX"
    return same and process.pgid not in _own_groups()


def _own_groups() -> set[int]:
    """The groups of this process and of all that it descends from."""
    found, pid = {os.getpgrp()}, os.getppid()
    while pid > 1:
        with contextlib.suppress(OSError):
            found.add(os.getpgid(pid))
        pid = _parent(pid)
    return found


def _parent(pid: int) -> int:
    """The process that started one, 0 where there is none to be seen."""
    if sys.platform == "linux":
        fields = _stat(pid)
        return int(fields[1]) if fields else 0
    said = _ps("-o", "ppid=", "-p", str(pid))
    return int(said) if said.isdecimal() else 0


def end(process: Process) -> bool:
    """End the group if it is the recorded one: asked first, then killed. False when it was not there."""
    if not is_alive(process):
        return False
    for number, seconds in ((signal.SIGTERM, _POLITE_SECONDS), (signal.SIGKILL, _HARD_SECONDS)):
        with contextlib.suppress(OSError):
            os.killpg(process.pgid, number)
            os.killpg(process.pgid, signal.SIGCONT)
        if _gone(process.pgid, seconds):
            break
    return True


def _gone(group: int, seconds: float) -> bool:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if not has_members(group):
            return True
        time.sleep(_STEP_SECONDS)
    return False


def has_members(group: int) -> bool:
    """Whether a process of the group still runs; zombies do not count."""
    try:
        os.killpg(group, 0)
    except OSError:
        return False
    if sys.platform == "linux":
        rows = [_stat(name) for name in os.listdir("/proc") if name.isdigit()]
        return any(row[2] == str(group) and row[0] not in "ZX" for row in rows if row)
    pairs = (line.split() for line in _ps("-A", "-o", "pgid=,stat=").splitlines())
    return any(pair[0] == str(group) and not pair[1].startswith("Z") for pair in pairs if len(pair) == 2)
