"""Reports (c): notebooks that are executed without a page: the kernel dies, nobody answers, nothing hangs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

import nika_nb
from tests.doors import environment, hits, marks, newest, program, ran

SLEEPS = """%%nika
nika: sleeps
permits: {exec: ["./say", "./die"]}
tasks:
  first: { exec: { command: ["./say", "first"] } }
  second: { after: { first: success }, exec: { command: ["./die"] } }
"""


def executed(folder: Path, *cells: str) -> subprocess.CompletedProcess[bytes]:
    """`jupyter execute` of a notebook with these cells, saved in place."""
    path = folder / "book.ipynb"
    made = [nbformat.v4.new_code_cell(text) for text in ("%load_ext nika_nb", *cells)]  # type: ignore[no-untyped-call]
    nbformat.write(nbformat.v4.new_notebook(cells=made), str(path))  # type: ignore[no-untyped-call]
    command = [sys.executable, "-m", "jupyter", "execute", "--inplace", "--timeout=60", path.name]
    return subprocess.run(
        command, cwd=folder, env=environment(), capture_output=True, timeout=120, check=False
    )


def test_c_56_a_runner_whose_kernel_is_killed_ends_and_the_trace_goes_on(folder: Path) -> None:
    """The job fails at once instead of waiting for a kernel that is gone; --resume skips what was done."""
    program(folder, "say", 'echo "$1" >> marks\nprintf %s "$1"')
    program(folder, "die", '[ -e alive ] && exit 0\nkill -9 "$(cat kernel.pid)"\nsleep 30')
    pid = "import os, pathlib; pathlib.Path('kernel.pid').write_text(str(os.getpid()))"
    ended = executed(folder, pid, SLEEPS, "'never'")
    assert ended.returncode != 0
    assert nika_nb.read_trace(newest(folder)).state == "incomplete"
    (folder / "alive").touch()
    again = executed(folder, SLEEPS.replace("%%nika", "%%nika --resume"))
    assert again.returncode == 0, again.stderr
    assert (hits(newest(folder)), ran(newest(folder))) == ({"first"}, {"second"})
    assert marks(folder / "marks") == {"first": 1}


@pytest.mark.parametrize("mode", ["confirm", "input"])
def test_c_52_57_a_question_without_anybody_pauses_and_the_next_cell_runs(folder: Path, mode: str) -> None:
    """No input is asked for, nothing waits; what is saved says how to answer."""
    cell = f"""%%nika
nika: asks
tasks:
  ask: {{ invoke: {{ tool: "nika:prompt", args: {{ message: "Well?", mode: {mode} }} }} }}
"""
    ended = executed(folder, cell, "print('went on')")
    assert ended.returncode == 0, ended.stderr
    saved = (folder / "book.ipynb").read_text()
    assert "went on" in saved
    assert f"%nika answer {newest(folder).name} ask=" in saved
    assert nika_nb.attach(newest(folder)).state == "paused"
