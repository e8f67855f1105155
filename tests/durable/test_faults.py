"""Faults of every kind on a whole run: nothing is lost, nothing that settled runs twice, nothing hangs."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path

import pytest

import nika_nb
from nika_nb import runs
from nika_nb.runs.care import checkup
from nika_nb.trace.verify import verify
from tests.doors import (
    PATIENCE,
    alive,
    environment,
    frames,
    hits,
    launch,
    newest,
    of,
    program,
    ran,
    traces,
    wait_for,
)
from tests.durable.project import DONE, Project
from tests.durable.test_hard_places import locked as locked
from tests.durable.test_hard_places import unprivileged
from tests.runs.crashing import Crasher

CHAIN = """\
nika: chain
permits: {exec: ["./say"]}
tasks:
  one: {exec: {command: ["./say", "one", "1"]}}
  each:
    with: {one: "${{ tasks.one.output }}"}
    for_each: {items: ["a", "b", "c", "d"], max_parallel: 2}
    exec: {command: ["./say", "each-${{ item }}", "${{ with.one }}${{ item }}"]}
  last:
    with: {all: "${{ tasks.each.output }}"}
    exec: {command: ["./say", "last", "${{ with.all }}"]}
outputs: {said: "${{ tasks.last.output }}"}
"""
NOTHING = 'nika: nothing\ntasks: {a: {invoke: {tool: "nika:jq", args: {input: 1, expression: "."}}}}\n'
WHOLE = {"said": '["1a","1b","1c","1d"]'}


@pytest.fixture
def chain(here: Project) -> Path:
    path = here.root / "chain.nika.yaml"
    path.write_text(CHAIN, encoding="utf-8")
    return path


def settled(trace: Path) -> set[str]:
    """The marks of everything that a journal holds as a success."""
    told = nika_nb.read_trace(trace).events  # a last line that only lacks its newline is a whole one
    done = set(told["task"][told["kind"].isin(["task_completed", "task_cache_hit"])]) - {"each"}
    return done | {f"each-{'abcd'[item]}" for item in told["item"][told["kind"] == "nb_item_completed"]}


def resumed_rightly(here: Project, trace: Path) -> None:
    """A resume completes with the same outputs, and of what had settled nothing runs."""
    kept, before = settled(trace), dict(here.marks)
    assert nika_nb.run(CHAIN, resume=trace).outputs == WHOLE
    again = {name for name, count in here.marks.items() if count > before.get(name, 0)}
    assert again == {"one", "last", "each-a", "each-b", "each-c", "each-d"} - kept


# -- killed, cut -------------------------------------------------------------------------------


def test_killed_at_any_moment(here: Project, chain: Path) -> None:
    """SIGKILL by the clock and not by the journal, wherever that strikes."""
    program(here.root, "say", 'echo "$1" >> marks\nsleep 0.05\nprintf %s "$2"')
    chance = random.Random("any moment")
    for _ in range(4):
        engine = launch("run", chain.name, cwd=here.root)
        wait_for(lambda: any(b"\n" in path.read_bytes() for path in here.journals), "a journal")
        time.sleep(chance.uniform(0, 0.5))
        os.kill(engine.pid, signal.SIGKILL)
        engine.wait(PATIENCE)
        crash = newest(here.root)
        groups = [frame["pgid"] for frame in of(crash, "verb_invoked") if "pgid" in frame]
        wait_for(lambda left=groups: not any(map(alive, left)), "the end of its programs")
        resumed_rightly(here, crash)
        for trace in here.traces:
            trace.unlink()
        (here.root / "marks").unlink()


def test_cut_off_at_any_byte(here: Project, chain: Path) -> None:
    """Whatever is left of the file: what it tells of is not run again; it is not touched."""
    run = nika_nb.run(chain)
    whole = Path(str(run.trace)).read_bytes()
    cut = here.root / "cut.ndjson"
    for size in range(whole.index(b"\n") + 1, len(whole), 397):
        cut.write_bytes(whole[:size])
        resumed_rightly(here, cut)
        assert cut.read_bytes() == whole[:size]


# -- room and rights -----------------------------------------------------------------------------


@pytest.mark.parametrize("blocks", [1, 4, 8, 16])
def test_a_limit_on_the_size_of_a_file(here: Project, chain: Path, blocks: int) -> None:
    """The kernel's own: the run ends as it would, says so loudly, and its resume knows what is kept."""
    line = f"ulimit -f {blocks}; exec {sys.executable} -m nika_nb run {chain.name}"
    done = subprocess.run(
        ["sh", "-c", line], cwd=here.root, env=environment(), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0
    assert WHOLE["said"].replace('"', '\\"') in done.stdout
    assert "File too large — the run itself is unaffected" in done.stderr
    kept = traces(here.root)
    if not kept:  # not even its first line had found room
        assert "ends after 0 events" in done.stderr
        return
    assert verify(kept[0]).verdict == "incomplete"
    resumed_rightly(here, kept[0])


def test_an_ordinary_run_in_a_read_only_folder(locked: Project) -> None:
    """Begun or resumed: it ends as it would, says that nothing is kept, and touches nothing."""
    before = locked.bytes()
    done = next(path for path in locked.traces if frames(path)[0]["workflow"] == "done")
    program_there = (locked.root / "say").read_text(encoding="utf-8")
    assert "marks" in program_there

    def run() -> list[object]:
        fresh = nika_nb.run(
            'nika: f\ntasks: {a: {invoke: {tool: "nika:jq", args: {input: 1, expression: "."}}}}'
        )
        resumed = nika_nb.run(DONE, resume=done)
        return [
            fresh.state,
            fresh.journal_error,
            resumed.outputs,
            sorted(resumed.tasks),
            resumed.journal_error,
        ]

    fresh, told, outputs, tasks, also = unprivileged(run)
    assert (fresh, outputs, tasks) == ("completed", {"said": "hello"}, ["say"])
    for error in (told, also):
        assert "ends after 0 events: Permission denied — the run itself is unaffected" in error
    assert locked.bytes() == before


# -- the clock -----------------------------------------------------------------------------------


def test_a_clock_that_goes_back_while_a_run_works(
    here: Project, chain: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By an hour, at every task: order, durations and chain hold, and it is resumed like any other."""
    real, off = time.time_ns, [0]
    monkeypatch.setattr(time, "time_ns", lambda: real() - off[0])
    run = nika_nb.run(chain, background=True)

    def turn(event: object) -> None:
        off[0] += 3600 * 10**9

    while run.running:
        run.catch_up(turn)
        run.pause_a_moment()
    run.catch_up()
    assert run.outputs == WHOLE
    trace = Path(str(run.trace))
    assert checkup(trace).findings == ()
    ids = [frame["uuid"] for frame in frames(trace)]
    assert all(earlier < later for earlier, later in pairwise(ids))
    table = nika_nb.read_trace(trace).tasks
    assert (table["duration"].dt.total_seconds() >= 0).all()
    for total in (2, 3):  # by its stamp each of these lies before the one it resumes
        off[0] += 3600 * 10**9
        again = nika_nb.run(CHAIN, resume=True)
        assert f"resuming from {trace.name}" in again.notices
        trace = Path(str(again.trace))
        assert hits(trace) == {"one", "each", "last"}
        assert runs.list_runs().total == total
    assert set(here.marks.values()) == {1}


# -- size ----------------------------------------------------------------------------------------

BIG = """\
nika: big
permits: {exec: ["./make", "./size"]}
tasks:
  make: {exec: {command: ["./make"]}}
  size:
    with: {text: "${{ tasks.make.output }}"}
    exec: {command: ["./size"], stdin: "${{ with.text }}"}
outputs: {size: "${{ tasks.size.output }}"}
"""
MEGABYTES = 50


def test_an_output_of_fifty_megabytes(here: Project, crasher: Crasher) -> None:
    """Killed once it was kept, the run goes on from it: read back byte by byte, and made once."""
    here.root.joinpath("big.nika.yaml").write_text(BIG, encoding="utf-8")
    program(
        here.root,
        "make",
        f"echo make >> marks\nyes 0123456789abcdef | tr -d '\\n' | head -c {MEGABYTES}000000",
    )
    program(here.root, "size", "echo size >> marks\nwc -c | tr -d ' \\n'")
    pages = 2 + 2 + 1 + 2 + MEGABYTES * 10**6 // (64 << 10) + 2  # until `make` has settled
    workflow = here.root / "big.nika.yaml"
    killed = crasher.run(workflow, lines=pages + 2)
    assert killed["status"] == -9, killed
    crash = newest(here.root)
    assert {frame["task"] for frame in of(crash, "task_completed")} == {"make"}
    run = nika_nb.run(workflow, resume=crash)
    assert run.outputs == {"size": f"{MEGABYTES}000000"}
    assert (hits(newest(here.root)), ran(newest(here.root))) == ({"make"}, {"size"})
    assert here.marks["make"] == 1
    assert run.tasks["make"].output == "0123456789abcdef" * (MEGABYTES * 10**6 // 16)
    assert verify(newest(here.root)).verdict == "clean"


MANY = """\
nika: many
inputs: {rows: {type: {array: integer}}}
tasks:
  each:
    for_each: {items: "${{ inputs.rows }}", max_parallel: 8}
    invoke: {tool: "nika:jq", args: {input: "${{ item }}", expression: ". * 2"}}
outputs: {all: "${{ tasks.each.output }}"}
"""


def test_ten_thousand_items(here: Project, crasher: Crasher) -> None:
    """Killed in the middle, then resumed: what had settled is not touched, the rest is done once."""
    workflow = here.root / "many.nika.yaml"
    workflow.write_text(MANY, encoding="utf-8")
    rows = list(range(10_000))
    killed = crasher.run(workflow, lines=12_345, rows=rows)
    assert killed["status"] == -9, killed
    crash = newest(here.root)
    kept = {frame["item"] for frame in of(crash, "nb_item_completed")}
    assert 6000 < len(kept) < 6300
    run = nika_nb.run(workflow, vars={"rows": rows}, resume=crash)
    assert run.outputs == {"all": [2 * row for row in rows]}
    invoked = [frame["item"] for frame in of(newest(here.root), "verb_invoked")]
    assert sorted(invoked) == sorted(set(rows) - kept)
