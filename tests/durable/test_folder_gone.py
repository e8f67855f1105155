"""The folder that one stands in, or the project itself, is removed: what happened is told all the same."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import nika_nb
from nika_nb.errors import UsageError
from tests.doors import PATIENCE, ROOT, environment, program, wait_for
from tests.kernels import kernel

DONE = """\
nika: done
permits: {exec: [echo]}
tasks: {t: {exec: {command: [echo, hello]}}}
outputs: {said: "${{ tasks.t.output }}"}
"""
SLOW = """\
nika: slow
permits: {exec: ["./slow", echo]}
tasks:
  slow: {exec: {command: ["./slow"]}}
  then: {after: {slow: success}, exec: {command: [echo, after]}}
outputs: {said: "${{ tasks.then.output }}"}
"""


@pytest.fixture
def gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder is none; what is beside it is there."""
    (tmp_path / "away").mkdir()
    monkeypatch.chdir(tmp_path / "away")
    (tmp_path / "w.nika.yaml").write_text(DONE, encoding="utf-8")
    nika_nb.run(tmp_path / "w.nika.yaml")
    shutil.rmtree(tmp_path / "away")
    return tmp_path


def test_what_has_a_whole_path_is_looked_at_from_nowhere(gone: Path) -> None:
    """A trace is read, replayed, explained and continued; what counts from here is refused in a sentence."""
    made = sorted(gone.glob(".nika/traces/*.ndjson"))
    assert made
    trace = made[0]
    assert nika_nb.attach(trace).state == "completed"
    assert nika_nb.read_trace(trace).state == "completed"
    assert nika_nb.why(trace)
    assert nika_nb.replay(trace)
    for door in (lambda: nika_nb.run(DONE), lambda: nika_nb.read_trace("x"), lambda: nika_nb.attach("x")):
        with pytest.raises(UsageError, match=r"the current folder is gone|there is no trace"):
            door()


def test_a_cell_in_a_folder_that_went_keeps_its_run(folder: Path) -> None:
    """`os.chdir` into a folder that is removed: the cell has its run, its still and its trace."""
    with kernel(folder) as page:
        page.run("import os, tempfile; d = tempfile.mkdtemp(); os.chdir(d); os.rmdir(d)")
        cell = page.run(f"%%nika --into run\n{DONE}")
        assert not cell.error
        assert "1/1" in cell.text or "completed" in cell.text
        assert "hello" in page.run("run.outputs['said']").text
        lines = ("%nika why", "%nika replay", "%nika attach", "import nika_nb; nika_nb.read_trace(run).state")
        for line in (*lines, "nika_nb.why(run)", "%nika matters", "%nika inbox"):
            assert "FileNotFoundError" not in page.run(line).error, line
        assert not page.run(f"%%nika --resume --into again\n{DONE}").error
        assert "completed" in page.run("again.state").text


def test_a_project_that_is_removed_in_mid_run_is_told_to_its_end(tmp_path: Path) -> None:
    """The journal has no place any more; the run goes on, fails or not, and says which."""
    program(tmp_path, "slow", "touch ../started\nwhile ! test -e ../go; do sleep 0.02; done")
    root = tmp_path / "project"
    root.mkdir()
    shutil.move(tmp_path / "slow", root / "slow")
    (root / "w.nika.yaml").write_text(SLOW, encoding="utf-8")
    running = subprocess.Popen(
        [sys.executable, "-m", "nika_nb", "run", "w.nika.yaml"],
        cwd=root,
        env=environment(PYTHONPATH=str(ROOT)),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    wait_for(lambda: (tmp_path / "started").exists(), "the slow program")
    shutil.rmtree(root)
    (tmp_path / "go").touch()
    out, err = running.communicate(timeout=PATIENCE)
    assert "Errno" not in err
    assert "Traceback" not in err
    assert "then" in err
    assert running.returncode in (0, 1), (out, err)
