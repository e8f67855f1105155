"""`nika-nb trace why|diff|ledger`: the same answers as in Python, in a terminal and without pandas."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

import nika_nb
from tests.doors import Terminal, program
from tests.test_imports import loaded

TEXT = """nika: small
permits: { exec: ["./say"] }
tasks:
  up: { exec: { command: ["./say", "one"] } }
  down: { with: { u: "${{ tasks.up.output }}" }, exec: { command: ["./say", "${{ with.u }}"] } }
"""


@pytest.fixture
def pair(terminal: Terminal, folder: Path) -> tuple[nika_nb.Run, nika_nb.Run]:
    """A run, and a resume of it with an edit."""
    program(folder, "say", 'printf %s "$1"')
    first = nika_nb.run(TEXT)
    return first, nika_nb.run(TEXT.replace('"one"', '"two"'), resume=first.trace)


def test_the_terminal_says_what_python_says(
    terminal: Terminal, pair: tuple[nika_nb.Run, nika_nb.Run]
) -> None:
    """By the file's name, its path or the run's id."""
    first, second = pair
    assert first.trace is not None
    assert second.trace is not None
    for name in (second.trace.name, second.trace, str(second.id)):
        found = terminal("trace", "why", name)
        assert (found.code, found.err) == (0, "")
        assert found.out.decode() == f"{nika_nb.why(second)!r}\n"
    found = terminal("trace", "diff", first.trace.name, second.trace.name)
    assert found.out.decode() == f"{nika_nb.diff(first, second)!r}\n"
    found = terminal("trace", "ledger", second.trace.name)
    ledger = nika_nb.ledger(second)
    assert found.out.decode() == f"{ledger!r}\n\n{ledger.text()}\n"


def test_as_json(terminal: Terminal, pair: tuple[nika_nb.Run, nika_nb.Run]) -> None:
    """One object each, whose numbers and names are those of the answer."""
    first, second = (str(run.trace) for run in pair)
    why = terminal("trace", "why", second, "--json").outputs
    assert [task["reason"] for task in why["tasks"]] == ["definition", "input"]
    assert why["tasks"][1]["causes"][0]["task"] == "up"
    diff = terminal("trace", "diff", first, second, "--json").outputs
    assert diff["tasks"][0]["edits"][0]["name"] == "exec.command"
    ledger = terminal("trace", "ledger", "--json").outputs
    assert len(ledger["entries"]) == 2
    assert json.dumps(ledger)


def test_a_ledger_as_a_picture(
    terminal: Terminal, pair: tuple[nika_nb.Run, nika_nb.Run], folder: Path
) -> None:
    assert terminal("trace", "ledger", "--svg", folder / "ledger.svg").code == 0
    assert ElementTree.parse(folder / "ledger.svg").getroot().tag.endswith("svg")


@pytest.mark.parametrize("words", [("why",), ("diff", "x"), ("ledger", "nowhere"), ("why", "nowhere")])
def test_wrong_words_are_refused(terminal: Terminal, words: tuple[str, ...]) -> None:
    """Usage, and what is not there: exit code 3 and a sentence, no traceback."""
    found = terminal("trace", *words)
    assert found.code == 3
    assert found.err
    assert "Traceback" not in found.err


def test_an_empty_folder_has_an_empty_ledger(terminal: Terminal) -> None:
    found = terminal("trace", "ledger")
    assert (found.code, found.err) == (0, "")
    assert "0 invocations" in found.out.decode()


def test_no_answer_needs_pandas(pair: tuple[nika_nb.Run, nika_nb.Run], folder: Path) -> None:
    """Neither pandas nor a notebook is loaded for it."""
    first, second = (str(run.trace) for run in pair)
    asked = [["why", second], ["diff", first, second], ["ledger"]]
    lines = [f"assert main({['trace', *words]!r}) == 0" for words in asked]
    found = loaded("\n".join(["from nika_nb.cli.main import main", *lines]), folder)
    assert not {"pandas", "numpy", "IPython", "ipywidgets", "nbformat"} & found
