"""Wherever a trace is named, its run's id names the newest one of it; a wrong name is told a near one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import nika_nb
from nika_nb.errors import UsageError
from nika_nb.runs.naming import named
from nika_nb.trace.folder import TraceFolder
from tests.doors import Terminal, hits, newest, of, traces


@pytest.fixture
def done(terminal: Terminal, files: Path) -> str:
    """The id of a run that has completed."""
    assert terminal("run", files / "good.nika.yaml").code == 0
    return str(of(newest(files), "workflow_started")[0]["correlation"])


@pytest.fixture
def answered(terminal: Terminal, files: Path) -> str:
    """The id of a run of two traces: it asked, and was answered."""
    assert terminal("run", files / "asks.nika.yaml").code == 4
    assert terminal("answer", "ask=yes").code == 0
    return str(of(newest(files), "workflow_started")[0]["correlation"])


def test_a_run_is_resumed_by_its_id_through_every_door(terminal: Terminal, files: Path, done: str) -> None:
    """In a terminal, ahead of it, and in Python: what the run settled is skipped."""
    file = files / "good.nika.yaml"
    assert terminal("run", file, "--resume", done).code == 0
    assert hits(newest(files)) == {"a", "b"}
    assert b"2 skipped" in terminal("run", file, "--resume", done, "--plan").out
    assert nika_nb.plan_resume(str(file), done).count("skip") == 2
    assert nika_nb.run(str(file), resume=done).board.counts["cached"] == 2


@pytest.mark.parametrize(
    "words",
    ["trace verify", "trace show", "trace why", "trace replay", "trace doctor", "trace ledger", "trace diff"],
)
def test_the_terminal_takes_the_id(terminal: Terminal, files: Path, answered: str, words: str) -> None:
    """Wherever TRACE stands."""
    found = terminal(*words.split(), answered)
    assert found.code == 0, found.err


def test_a_reproduction_takes_the_id(terminal: Terminal, files: Path, done: str) -> None:
    """And says what it would do."""
    found = terminal("trace", "reproduce", done, "--plan")
    assert found.code == 0, found.err


@pytest.mark.parametrize("words", ["inspect", "checkpoints", "read --start 0 --limit 1", "follow"])
def test_what_takes_a_run_takes_a_trace_of_it(
    terminal: Terminal, files: Path, answered: str, words: str
) -> None:
    """Any of its traces."""
    word, *options = words.split()
    told = [terminal("runs", word, name, *options).out for name in (answered, traces(files)[0].name)]
    assert told[0] == told[1] != b""


def test_several_traces_are_removed_one_by_one(
    terminal: Terminal, files: Path, done: str, answered: str
) -> None:
    """A run of one trace goes by its id; of a run of several nothing goes, and their names are told."""
    assert terminal("trace", "rm", done).code == 0
    refused = terminal("trace", "rm", answered, "--force")
    assert refused.code == 3
    assert all(path.name in refused.err for path in traces(files))
    assert len(traces(files)) == 2


def test_a_wrong_name_is_told_by_the_near_one(terminal: Terminal, files: Path, done: str) -> None:
    """Of an id, of a file's name, and of an id that is cut off."""
    other = done[:-1] + ("0" if done[-1] != "0" else "1")
    name = newest(files).name
    for wrong, meant in ((other, done), (done[:-2], done), (name.replace("-", "_", 1), name)):
        with pytest.raises(UsageError, match=f"did you mean `{meant}`"):
            named(wrong, TraceFolder(files))
        told = terminal("run", files / "good.nika.yaml", "--resume", wrong)
        assert told.code == 3
        assert f"did you mean `{meant}`" in told.err
    assert f"did you mean `{done}`" in terminal("runs", "inspect", other).err
    assert json.loads(terminal("runs", "inspect", done, "--json").out)["run_id"] == done
