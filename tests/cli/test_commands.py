"""Words of a terminal line: of no command or folder, before and behind options; what may have been meant."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.doors import Terminal


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ((), "nika-nb: which command? `nika-nb --help` lists them"),
        (("runs",), "nika-nb runs: which command? `nika-nb runs --help` lists them"),
        (("checkpoints", "x"), "'checkpoints' stands in a group: `nika-nb runs checkpoints`"),
        (("ls",), "'ls' stands in a group: `nika-nb trace ls` or `nika-nb book ls`"),
        (("chek", "flow.nika.yaml"), "'chek' is none of check, run, answer"),
        (("chek", "flow.nika.yaml"), "did you mean `check`?"),
    ],
)
def test_a_line_without_a_command_says_what_to_write(
    words: tuple[str, ...], told: str, terminal: Terminal
) -> None:
    ended = terminal(*words)
    assert ended.code == 3
    assert told in ended.err


@pytest.mark.parametrize(
    "words",
    ["trace ls", "trace gc", "trace sweep", "inbox", "runs list --root", "deployments --root", "mcp --root"],
)
def test_a_folder_that_is_not_there_is_told(terminal: Terminal, folder: Path, words: str) -> None:
    """It would hold nothing, and whoever mistyped it would believe that."""
    (folder / "project").mkdir()
    ended = terminal(*words.split(), "projct")
    assert (ended.code, ended.out) == (3, b"")
    assert ended.err == "there is no folder projct, did you mean `project`?\n"


def test_a_file_that_is_not_there_is_told_by_the_near_one(terminal: Terminal, files: Path) -> None:
    """Of a workflow, wherever one is taken."""
    for words in (("run",), ("check",), ("deploy", "daily")):
        assert "did you mean `good.nika.yaml`?" in terminal(*words, "god.nika.yaml").err


def test_words_stand_before_or_behind_options(terminal: Terminal, files: Path) -> None:
    """Also where a command takes any number of them, or one that may be left out."""
    assert terminal("deploy", "daily", files / "asks.nika.yaml", "--model", "mock/echo").code == 0
    assert terminal("deploy", "good", files / "good.nika.yaml", "--model", "mock/echo", "word=x").code == 0
    assert terminal("runs", "run", "good", "--no-gc", "word=y", "word=z").outputs == {"said": "z!"}
    assert terminal("run", files / "asks.nika.yaml").code == 4
    [run] = terminal("runs", "list", "--json", "--status", "interrupted").outputs["runs"]
    assert "one word too many" not in terminal("show", run["run_id"], "--fine", "a").err
    assert terminal("runs", "resume", run["run_id"], "--decline", "aks").err.count("did you mean `ask`") == 1
    assert terminal("answer", run["run_id"], "--no-gc", "ask=yes").code == 0
    assert "'more' is one word too many" in terminal("trace", "ls", ".", "--json", "more").err
