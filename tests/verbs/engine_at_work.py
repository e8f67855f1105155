"""An engine for tests that kill it: runs children without end. Arguments: the mark, what to run, how."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys

from nika_nb.verbs.exec import Exec
from nika_nb.verbs.guard import Guard
from tests.verbs.calls import ANY_PROGRAM, Recorder, shell

LINES = {
    "brief": "sleep {mark}",
    "long": "sleep {mark}",
    "deep": "sleep {mark} & (sleep {mark} & sleep {mark})",
    "busy": "gzip -9 < /dev/zero > /dev/null # {mark}",
    "stubborn": "trap '' TERM INT HUP; while true; do sleep {mark}; done",
    "escaped": "setsid sleep {mark}; sleep {mark}",
}


async def main(mark: str, kind: str, how: str) -> None:
    guard = Guard()
    verb = Exec(ANY_PROGRAM, os.environ, guard)
    line = LINES[kind].format(mark=mark)

    async def again() -> None:
        # Cut off soon, `brief` spawns all the time: a kill lands anywhere between two instructions.
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(0.02 if kind == "brief" else None):
                    await verb.run(Recorder("/tmp").call("exec", shell(line)))

    workers = [asyncio.create_task(again()) for _ in range(6)]
    if kind != "brief":
        await asyncio.sleep(0.3)
    if how == "forked" and os.fork() == 0:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(20)
        signal.pause()
    print("ready", flush=True)
    await asyncio.gather(*workers)


asyncio.run(main(*sys.argv[1:4]))
