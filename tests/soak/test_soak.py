"""Runs killed at random moments until they complete: nothing lost, nothing twice, no process, no lock left.

    pytest tests/soak --soak 1000 --soak-seed 1

So many random graphs (50 by default), each killed with SIGKILL up to four times at moments that the seed
decides, and resumed by a bare `resume=True` each time. `--soak-seed` draws other ones.
"""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

import nika_nb
from nika_nb.trace.lock import holder
from nika_nb.trace.verify import verify
from tests.doors import alive, of, traces, wait_for
from tests.runs.algebra import ends
from tests.runs.crashing import Crasher
from tests.runs.graphs import Graph, drawn, stage
from tests.runs.telling import Told, recallable, recalled, told

BATCH = 10
KILLS = 4
LATEST = 0.1  # seconds after which a run is killed at the latest
LONGEST = 0.015  # seconds that a unit of work takes at most


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    count = metafunc.config.getoption("--soak")
    seed = metafunc.config.getoption("--soak-seed")
    batches = [range(at, min(at + BATCH, count)) for at in range(0, count, BATCH)]
    metafunc.parametrize(
        ("seed", "batch"), [(seed, b) for b in batches], ids=[f"{seed}-{b.start}" for b in batches]
    )


@pytest.fixture(scope="module")
def crasher() -> Iterator[Crasher]:
    found = Crasher()
    yield found
    found.close()


def test_killed_at_random_moments(
    seed: int, batch: range, crasher: Crasher, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """Each resumed until it completes; a seed and a number repeat it, as far as a moment can be repeated."""
    kills = 0
    for number in batch:
        chance = random.Random(f"{seed}/{number}")
        folder = tmp_path / str(number)
        try:
            kills += soaked(chance, folder, crasher)
        except BaseException as error:
            error.add_note(f"--soak-seed {seed}, number {number}: {folder}")
            raise
        shutil.rmtree(folder)
    request.node.user_properties.append(("soak", (len(batch), kills)))
    assert kills, "not one run of the batch was killed: the moments are too late for this machine"


def soaked(chance: random.Random, folder: Path, crasher: Crasher) -> int:
    """Runs one graph to its end through kills. Returns how often it was killed."""
    graph = sound(chance)
    workflow, watched = stage(folder, graph), Told(graph, folder)
    kills = 0
    for turn in range(KILLS + 1):
        after = chance.uniform(0, LATEST) if turn < KILLS else None
        done = crasher.run(workflow, after=after, resume=True if traces(folder) else None)
        assert done["status"] in (0, -9), done
        nothing_left(folder)
        if traces(folder):
            watched.after(traces(folder)[-1])
        if done["status"] == 0:
            break
        kills += 1
    judge(graph, folder)
    return kills


def sound(chance: random.Random) -> Graph:
    """The next graph that the check lets pass."""
    while not nika_nb.check((graph := drawn(chance, longest=LONGEST)).text).ok:
        pass
    return graph


def nothing_left(folder: Path) -> None:
    """No process works in the folder any more, and nobody holds a lock of it."""
    journals = traces(folder)
    groups = [frame["pgid"] for path in journals for frame in of(path, "verb_invoked") if "pgid" in frame]
    wait_for(lambda: not any(map(alive, groups)), "the end of what the run had started")
    wait_for(lambda: not inhabitants(folder), "the end of everything that works in the folder")
    wait_for(lambda: not any(holder(path)[0] for path in journals), "the end of every lock")
    assert {path.suffix for path in (folder / ".nika").rglob("*") if path.is_file()} <= {".ndjson"}


def inhabitants(folder: Path) -> list[int]:
    """The processes whose working folder this is, where the system tells it."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            place = os.readlink(process / "cwd")
        except OSError:
            continue
        if place == str(folder) and alive(int(process.name)):
            found.append(int(process.name))
    return found


def judge(graph: Graph, folder: Path) -> None:
    """The last run ended as if nothing had happened, and holds all that any of them had settled."""
    *crashed, last = traces(folder)
    assert told(last) == ends(graph)
    assert recalled(graph, last) == recallable(graph, *crashed)
    assert verify(last).verdict == "clean"
