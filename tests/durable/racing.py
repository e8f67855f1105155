"""Processes that resume one run at the same moment. Started as a program: racing.py ROUNDS PROCESSES [KIN].

Each round pauses a run anew and lets the processes loose on it at once; a line of JSON per round tells
what each of them was told. The forks spare the time to import; the processes are real ones. KIN: how many
runs take up that pause; each of them gets its share of the processes.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from tests.doors import newest
from tests.durable.project import ASK


def _in_a_process(work: Callable[[], Any]) -> tuple[int, int]:
    """(the process, where its answer can be read)."""
    read, write = os.pipe()
    child = os.fork()
    if child:
        os.close(write)
        return child, read
    code = 1
    try:
        os.close(read)
        os.write(write, json.dumps(work()).encode())
        code = 0
    finally:
        os._exit(code)


def _answer(process: tuple[int, int]) -> Any:
    child, read = process
    with os.fdopen(read, "rb") as stream:
        said = stream.read()
    os.waitpid(child, 0)
    return json.loads(said) if said else None


def _start(kin: int) -> list[str]:
    import nika_nb
    from nika_nb import runs

    first = runs.start(ASK)
    trace = newest(Path.cwd())
    edited = (ASK.replace("Go on?", f"Go on, {number}?") for number in range(kin))
    return [str(first.run_id), *(str(nika_nb.run(text, resume=trace).id) for text in edited)]


def _resume(run_id: str, gate: int) -> dict[str, Any]:
    from nika_nb import runs
    from nika_nb.errors import NikaError

    os.read(gate, 1)  # until whoever holds the other end lets go
    try:
        found = runs.resume_run(run_id, "yes")
    except NikaError as error:
        return {"pid": os.getpid(), "won": False, "kind": type(error).__name__, "said": str(error)}
    return {"pid": os.getpid(), "won": True, "status": found.status}


def _round(processes: int, kin: int) -> dict[str, Any]:
    runs = _answer(_in_a_process(lambda: _start(kin)))
    gate, hold = os.pipe()

    def racer(run_id: str) -> dict[str, Any]:
        os.close(hold)
        return _resume(run_id, gate)

    racers = [_in_a_process(partial(racer, runs[number % len(runs)])) for number in range(processes)]
    os.close(gate)
    os.close(hold)
    return {"run": runs[0], "told": [_answer(racer) for racer in racers]}


if __name__ == "__main__":
    import_module("nika_nb.runs.operations")  # before the first fork
    for _ in range(int(sys.argv[1])):
        print(json.dumps(_round(int(sys.argv[2]), int((*sys.argv, 0)[3]))), flush=True)
