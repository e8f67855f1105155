"""`--var NAME=@env:VARIABLE`: an input from the environment, by the spelling that says so."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import nika_nb
from nika_nb.errors import UsageError
from nika_nb.runs.inputs import FromEnvironment, parse_variable
from nika_nb.runs.request import document
from nika_nb.runs.run import attach
from tests.doors import Terminal, newest, of

FLOW = """\
nika: told
inputs: {s: {type: string, required: true}, n: {type: integer, default: 1}}
tasks:
  t: {invoke: {tool: "nika:jq", args: {input: ["${{ inputs.s }}", "${{ inputs.n }}"], expression: "."}}}
outputs: {o: "${{ tasks.t.output }}"}
"""


def prologue(folder: Path) -> tuple[Any, Any]:
    [start] = of(newest(folder), "workflow_started")
    return json.loads(start["inputs"]), json.loads(start["input_values"])


@pytest.fixture
def flow(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("WORD", "from outside")
    monkeypatch.setenv("COUNT", "7")
    path = folder / "told.nika.yaml"
    path.write_text(FLOW, encoding="utf-8")
    return path


def test_an_input_is_read_from_the_environment(flow: Path, terminal: Terminal) -> None:
    """Read like what stands behind the sign otherwise; its origin is journaled as what it is."""
    done = terminal("run", flow, "--var", "s=@env:WORD", "--var", "n=@env:COUNT", "--output", "json")
    assert done.outputs == {"o": ["from outside", 7]}
    values = {"s": "from outside", "n": 7}
    assert prologue(flow.parent) == (dict.fromkeys(values, "env"), values)


def test_a_resume_keeps_the_origin(flow: Path, terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    """What goes on from a trace takes the value that is recorded, and from where that came."""
    terminal("run", flow, "--var", "s=@env:WORD")
    monkeypatch.delenv("WORD")
    trace = newest(flow.parent)
    attach(trace).resume()
    assert newest(flow.parent) != trace
    assert prologue(flow.parent)[0]["s"] == "env"


def test_a_variable_that_is_not_set_is_refused(flow: Path, terminal: Terminal) -> None:
    """Before anything runs, by both names."""
    done = terminal("run", flow, "--var", "s=@env:NOWHERE")
    assert done.code != 0
    assert "--var s=@env:NOWHERE" in done.err
    assert "no variable `NOWHERE`" in done.err
    assert not (flow.parent / ".nika").exists()


def test_the_text_itself_is_given_in_quotes(flow: Path, terminal: Terminal) -> None:
    """As JSON, and as it is from Python: nobody guesses there."""
    done = terminal("run", flow, "--var", 's="@env:WORD"', "--output", "json")
    assert done.outputs == {"o": ["@env:WORD", 1]}
    assert nika_nb.run(flow, vars={"s": "@env:WORD"}).outputs == {"o": ["@env:WORD", 1]}


def test_every_door_looks_it_up(flow: Path) -> None:
    """A request holds the value, whoever made it."""
    request = document(flow).request(variables=dict([parse_variable("s=@env:WORD")]), origin="notebook")
    assert (request.variables, request.origins) == ({"s": "from outside"}, {"s": "env"})
    line = replace(request, variables={"s": FromEnvironment("WORD")}, origins={"s": "notebook"})
    assert (line.variables, line.origins) == ({"s": "from outside"}, {"s": "env"}), "also on a cell's line"
    with pytest.raises(UsageError, match="no variable `NOWHERE`"):
        document(flow).request(variables=dict([parse_variable("s=@env:NOWHERE")]))
