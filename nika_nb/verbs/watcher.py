"""The watcher: a small program of its own that ends an engine's children when the engine is gone.

Run as `python -I -S watcher.py <engine pid>` with the read end of a pipe as its input. The engine
holds the other end and writes lines:

    intent <n> <inode> <inode>   a child is about to start; its output pipes have these inodes
    start <n> <pgid>             it started, and leads this process group
    end <n>                      it and its group are gone

The end of the pipe means that the engine is gone, however it went. A changed parent means the
same: a forked copy of the engine may hold the pipe open without being the engine. It imports
nothing of the package, so that it starts fast and cannot break with it.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

POLL_SECONDS = 0.5
# A child caught between fork and exec shows its pipes on descriptors 1 and 2 a moment later.
HUNT_SECONDS = (0.0, 0.01, 0.03, 0.06, 0.1, 0.2, 0.3, 0.5)


class Ledger:
    """What is alive, as far as the engine could tell."""

    def __init__(self) -> None:
        self.groups: dict[str, int] = {}
        self.inodes: dict[str, set[int]] = {}
        self._rest = b""

    def feed(self, data: bytes) -> None:
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            self._note(line.decode("ascii", "replace").split())

    def _note(self, words: list[str]) -> None:
        if words[:1] == ["intent"]:
            self.inodes[words[1]] = {int(word) for word in words[2:]}
        elif words[:1] == ["start"]:
            self.groups[words[1]] = int(words[2])
        elif words[:1] == ["end"]:
            self.groups.pop(words[1], None)
            self.inodes.pop(words[1], None)

    def end_everything(self) -> None:
        for group in self.groups.values():
            _kill(os.killpg, group)
        wanted = {inode for inodes in self.inodes.values() for inode in inodes} - {0}
        unseen = self.inodes.keys() - self.groups.keys()
        for seconds in HUNT_SECONDS if unseen else HUNT_SECONDS[:1]:
            time.sleep(seconds)
            for pid in _holders(wanted):
                _kill(os.kill, pid)


def _kill(send: Callable[[int, int], None], target: int) -> None:
    try:
        send(target, signal.SIGKILL)
    except OSError:
        return


def _holders(inodes: set[int]) -> list[int]:
    """The processes that have one of these pipes as their output or error stream (Linux)."""
    if not inodes or not os.path.isdir("/proc/self/fd"):
        return []
    names = {f"pipe:[{inode}]" for inode in inodes}
    pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    return [pid for pid in pids if pid != os.getpid() and names & {_stream(pid, 1), _stream(pid, 2)}]


def _stream(pid: int, number: int) -> str:
    try:
        return os.readlink(f"/proc/{pid}/fd/{number}")
    except OSError:
        return ""


def watch(engine: int) -> None:
    """Read until the engine is gone, then end what it left."""
    ledger = Ledger()
    while True:
        ready, _, _ = select.select([0], [], [], POLL_SECONDS)
        data = os.read(0, 65536) if ready else b"\n"
        ledger.feed(data)
        if not data or (not ready and os.getppid() != engine):
            return ledger.end_everything()


if __name__ == "__main__":
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, signal.SIG_IGN)
    watch(int(sys.argv[1]))
