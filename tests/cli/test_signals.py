"""An interrupt of the terminal: everything the run started ends, and the journal says who ended it."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.doors import (
    PATIENCE,
    Terminal,
    alive,
    frames,
    kinds,
    launch,
    marks,
    newest,
    nika,
    of,
    program,
    started,
    wait_for,
)

TREE = """\
nika: tree
permits: {exec: ["./tree", "./say"]}
tasks:
  before:
    exec: {command: ["./say", "before"]}
  left:
    after: {before: success}
    exec: {command: ["./tree", "left"]}
  right:
    after: {before: success}
    exec: {command: ["./tree", "right"]}
  tidy:
    after: {left: unwind}
    exec: {command: ["./say", "tidy"]}
  behind:
    after: {left: success}
    exec: {command: ["./say", "behind"]}
"""


@pytest.fixture
def tree(folder: Path) -> Path:
    """Programs with children and grandchildren, each of which leaves its process id."""
    program(folder, "say", 'echo "$1" >> marks')
    body = ["echo $$ >> pids", "(echo $(sh -c 'echo $PPID') >> pids; sleep 60) &"]
    program(folder, "tree", "\n".join([*body, "sleep 60 &", "echo $! >> pids", "wait"]))
    (folder / "tree.nika.yaml").write_text(TREE, encoding="utf-8")
    return folder


def pids(folder: Path) -> list[int]:
    return [int(pid) for pid in marks(folder / "pids")]


def at_work(folder: Path, out: Path) -> subprocess.Popen[bytes]:
    """The run, once both trees stand."""
    engine = launch("run", "tree.nika.yaml", cwd=folder, out=out)
    wait_for(started(folder, "right"), "the dispatch of the second tree")
    wait_for(lambda: len(pids(folder)) == 6, "six processes")
    assert all(map(alive, pids(folder)))
    return engine


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["SIGINT", "SIGTERM"])
def test_an_interrupt_ends_the_tree_and_is_journaled(tree: Path, number: int) -> None:
    """Exit code 130, which no failure has; cancelled tasks, a cleanup that ran, nothing left alive."""
    said = tree / "console"
    engine = at_work(tree, said)
    engine.send_signal(number)
    assert engine.wait(PATIENCE) == 130
    assert not [pid for pid in pids(tree) if alive(pid)]
    trace = newest(tree)
    assert frames(trace)[-1]["kind"] == "workflow_cancelled"
    cancelled = {frame["task"]: frame["note"] for frame in of(trace, "task_cancelled")}
    assert cancelled == {"left": "operator", "right": "operator", "behind": "operator"}
    assert {frame["task"] for frame in of(trace, "task_completed")} == {"before", "tidy"}
    assert marks(tree / "marks") == {"before": 1, "tidy": 1}
    assert "⊘ cancelled" in said.read_text(encoding="utf-8")
    assert "Traceback" not in said.read_text(encoding="utf-8")


def test_an_interrupted_run_resumes(tree: Path) -> None:
    """What had settled hits; what was ended runs again."""
    engine = at_work(tree, tree / "console")
    engine.send_signal(signal.SIGINT)
    engine.wait(PATIENCE)
    trace = newest(tree)
    program(tree, "tree", "exit 0")
    resumed = nika("run", "tree.nika.yaml", "--resume", trace, cwd=tree)
    assert resumed.code == 0
    assert "resumed · 1 skipped (cache hit) · 4 ran live" in resumed.err
    assert "left    not recorded: cancelled" in resumed.err


def test_a_second_interrupt_does_not_wait_for_cleanups(tree: Path) -> None:
    """The first ends the work, the second what tidies up after it."""
    program(tree, "say", 'echo "$1" >> marks\n[ "$1" = tidy ] && { echo $$ >> pids; exec sleep 60; }\nexit 0')
    engine = at_work(tree, tree / "console")
    engine.send_signal(signal.SIGINT)
    wait_for(lambda: marks(tree / "marks")["tidy"], "the cleanup")
    wait_for(lambda: len(pids(tree)) == 7, "the cleanup's process")
    engine.send_signal(signal.SIGINT)
    assert engine.wait(PATIENCE) == 130
    assert not [pid for pid in pids(tree) if alive(pid)]
    assert kinds(newest(tree))["workflow_cancelled"] == 1


def test_a_hard_death_leaves_no_child(tree: Path) -> None:
    """SIGKILL to the engine alone: trees and grandchildren end, and a resume says what was running."""
    engine = at_work(tree, tree / "console")
    os.kill(engine.pid, signal.SIGKILL)
    engine.wait(PATIENCE)
    wait_for(lambda: not any(map(alive, pids(tree))), "the end of the trees")
    program(tree, "tree", "exit 0")
    resumed = nika("run", "tree.nika.yaml", "--resume", cwd=tree)
    assert resumed.code == 0
    for task in ("left", "right"):
        assert f"`{task}` was running when the last run broke off" in resumed.err
        assert f"{task:<6}  not recorded: was running" in resumed.err


def test_a_run_that_goes_on_is_not_resumed(tree: Path) -> None:
    """While its writer lives a trace is refused, with the process that holds it."""
    engine = at_work(tree, tree / "console")
    refused = nika("run", "tree.nika.yaml", "--resume", newest(tree), cwd=tree)
    assert refused.code == 3
    assert f"is being worked on by process {engine.pid}" in refused.err
    engine.send_signal(signal.SIGTERM)
    assert engine.wait(PATIENCE) == 130


def test_two_resumes_of_one_trace(tree: Path) -> None:
    """One wins; the other is refused with the winner's process; nobody has to unlock anything afterwards."""
    engine = at_work(tree, tree / "console")
    os.kill(engine.pid, signal.SIGKILL)
    engine.wait(PATIENCE)
    crash = newest(tree)
    wait_for(lambda: not any(map(alive, pids(tree))), "the end of the trees")
    (tree / "pids").unlink()
    winner = launch("run", "tree.nika.yaml", "--resume", crash, cwd=tree)
    wait_for(lambda: len(pids(tree)) == 6, "the winner's processes")
    loser = nika("run", "tree.nika.yaml", "--resume", crash, cwd=tree)
    assert loser.code == 3
    assert f"process {winner.pid}" in loser.err
    os.kill(winner.pid, signal.SIGKILL)
    winner.wait(PATIENCE)
    program(tree, "tree", "exit 0")
    again = nika("run", "tree.nika.yaml", "--resume", crash, cwd=tree)
    assert again.code == 0, again.err


def test_an_interrupt_that_python_loses_still_ends_the_run(
    tree: Path, terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It strikes while an object is being forgotten, before the run begins: nobody can catch it there."""
    from nika_nb.cli import run as door

    class Forgotten:
        def __del__(self) -> None:
            signal.raise_signal(signal.SIGINT)

    def interrupted(request: Any) -> Any:
        Forgotten()
        return ready(request)

    ready = door.ready
    monkeypatch.setattr(door, "ready", interrupted)
    assert terminal("run", "tree.nika.yaml").code == 130
    assert frames(newest(tree))[-1]["kind"] == "workflow_cancelled"
    assert not marks(tree / "pids")
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    monkeypatch.undo()
    monkeypatch.chdir(tree)
    (tree / "tree.nika.yaml").write_text(TREE.replace("./tree", "./say"), encoding="utf-8")
    assert terminal("run", "tree.nika.yaml").code == 0
