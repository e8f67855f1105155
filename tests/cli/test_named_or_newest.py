"""The terminal takes what a notebook takes: the newest trace where none is named, a run's id, bare names."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from nika_nb.trace.folder import TraceFolder
from tests.doors import Terminal


@pytest.fixture
def two(terminal: Terminal, files: Path) -> list[Path]:
    """Two runs of one workflow, the older first."""
    for word in ("x", "y"):
        assert terminal("run", files / "good.nika.yaml", "--var", f"word={word}").code == 0
    return [entry.path for entry in reversed(TraceFolder(files).list())]


@pytest.mark.parametrize("group", [("trace",), ()], ids=["trace", "bare"])
@pytest.mark.parametrize("word", ["why", "show", "verify", "replay", "diff"])
def test_without_a_name_the_newest_trace_is_taken(
    terminal: Terminal, two: list[Path], word: str, group: tuple[str, ...]
) -> None:
    """It says which, on standard error; with the group's name and without."""
    found = terminal(*group, word)
    assert found.code == 0, found.err
    assert two[1].name in found.err
    assert found.out


@pytest.mark.parametrize("word", ["why", "show", "verify", "replay", "diff", "answer ask=yes"])
def test_where_there_is_no_trace_it_is_said(terminal: Terminal, folder: Path, word: str) -> None:
    """A sentence and the exit code of a wrong request."""
    found = terminal(*word.split())
    assert found.code == 3
    assert "there is no trace" in found.err or "nothing waits" in found.err


def test_a_diff_of_one_is_with_the_newest_and_of_none_with_the_one_before(
    terminal: Terminal, two: list[Path]
) -> None:
    """In the order of time: what was, what is."""
    for words in ([two[0].name], []):
        shape = json.loads(terminal("diff", *words, "--json").out)
        assert [shape["a"], shape["b"]] == [path.name for path in two]


def test_a_task_alone_is_one_of_the_newest_trace(terminal: Terminal, two: list[Path]) -> None:
    """A word that is neither a trace nor a task of it is told as both."""
    found = terminal("show", "b")
    assert found.code == 0
    assert found.out.decode().strip() == "y!"
    assert two[1].name in found.err
    missing = terminal("show", "nope")
    assert missing.code == 3
    assert "there is no trace nope" in missing.err
    assert f"nor is it a task of the newest one, {two[1].name}" in missing.err


def waiting(terminal: Terminal, files: Path) -> str:
    """The id of a run that waits."""
    assert terminal("run", files / "asks.nika.yaml").code == 4
    [run] = json.loads(terminal("runs", "list", "--json", "--status", "interrupted").out)["runs"]
    return str(run["run_id"])


@pytest.mark.parametrize("named", [True, False], ids=["by its id", "the newest one that waits"])
def test_a_run_is_answered(terminal: Terminal, files: Path, named: bool) -> None:
    """By the id that lists and looks tell, or without any name."""
    name = waiting(terminal, files)
    found = terminal("answer", *([name] if named else []), "ask=yes")
    assert found.code == 0, found.err
    assert json.loads(found.out) == {"went": True}


@pytest.mark.parametrize("words", [("runs", "inspect"), ("inbox",)], ids=["inspect", "inbox"])
def test_who_looks_at_a_question_is_told_the_line_that_answers_it(
    terminal: Terminal, files: Path, words: tuple[str, ...]
) -> None:
    """The line works as it stands there."""
    name = waiting(terminal, files)
    said = terminal(*words, *([name] if len(words) > 1 else [])).out.decode()
    assert "Go on?" in said
    [line] = [line.strip() for line in said.splitlines() if "nika-nb answer" in line]
    assert name in line
    assert terminal(*line.split()[1:]).code == 0
    assert "nothing waits" in terminal("inbox").out.decode()


def test_an_answer_is_not_left_out(terminal: Terminal, files: Path) -> None:
    """A run alone answers nothing."""
    found = terminal("answer", waiting(terminal, files))
    assert found.code == 3
    assert "nika-nb answer RUN ask=yes" in found.err


def test_the_inputs_of_a_deployment_stand_as_in_a_notebook(terminal: Terminal, files: Path) -> None:
    """`deploy NAME FILE word=x`, and so a run of it."""
    assert terminal("deploy", "daily", files / "good.nika.yaml", "word=a").code == 0
    outputs: list[Any] = []
    for words in ([], ["word=b"]):
        found = terminal("runs", "run", "daily", *words)
        assert found.code == 0, found.err
        outputs.append(json.loads(found.out)["said"])
    assert outputs == ["a!", "b!"]


def test_help_tells_which_words_stand_alone(terminal: Terminal) -> None:
    """With an example."""
    assert "nika-nb why" in terminal("--help").out.decode()
