"""Bytes flow from task to task as they are; nothing takes them for text, wherever in a value they stand."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

import nika_nb
from nika_nb.errors import UsageError
from tests.doors import newest, of

HEAD = """\
nika: bytes
model: mock/echo
permits: {exec: [printf, cat, echo], tools: ["nika:write"], fs: {write: ["out/*"]}}
tasks:
  r: {exec: {command: [printf, "a"], decode: bytes}, group: all}
"""
LIST = 'with: {b: ["${{ tasks.r.output }}"]}'
NESTED = 'with: {b: {in: [{deep: "${{ tasks.r.output }}"}]}}'
FOLD = 'with: {b: "${{ group.all }}"}'

PLACES = {
    "a word": 'exec: {command: [echo, "${{ with.b }}"]}',
    "part of a word": 'exec: {command: [echo, "x ${{ with.b }}"]}',
    "an environment": 'exec: {command: [echo], env: {A: "${{ with.b }}"}}',
    "an input stream": 'exec: {command: [cat], stdin: "${{ with.b }}"}',
    "a prompt": 'infer: {prompt: "${{ with.b }}"}',
    "an agent's prompt": 'agent: {prompt: "p ${{ with.b }}", tools: []}',
    "a file": 'invoke: {tool: "nika:write", args: {path: out/f, content: "${{ with.b }}"}}',
    "a program of jq": 'invoke: {tool: "nika:jq", args: {input: "${{ with.b }}", expression: "length"}}',
    "a jq that passes it on": 'invoke: {tool: "nika:jq", args: {input: "${{ with.b }}", expression: "."}}',
}


@pytest.mark.parametrize("value", [LIST, NESTED, FOLD], ids=["list", "nested", "fold"])
@pytest.mark.parametrize("place", PLACES)
def test_bytes_in_a_value_are_no_text(folder: Path, place: str, value: str) -> None:
    """The task fails by the code for it, whatever would have made text of the value."""
    (folder / "out").mkdir()
    run = nika_nb.run(f"{HEAD}  t: {{{value}, {PLACES[place]}}}\n")
    error = run.tasks["t"].error
    assert error is not None
    assert error["code"] == "NIKA-VAR-007", error["message"]
    assert not list((folder / "out").iterdir())


CALL = """\
nika: calls
permits: {exec: [printf]}
tasks:
  r: {exec: {command: [printf, 'a\\377'], decode: bytes}}
  c: {with: {b: "${{ tasks.r.output }}"}, invoke: {workflow: ./child.nika.yaml, args: {x: "${{ with.b }}"}}}
outputs: {got: "${{ tasks.c.output }}"}
"""
CHILD = """\
nika: child
inputs: {x: {type: TYPE, required: true}}
tasks: {e: {invoke: {tool: "nika:jq", args: {input: "${{ inputs.x }}", expression: "."}}}}
outputs: {x: "${{ tasks.e.output }}"}
"""


def test_bytes_reach_an_input_of_a_called_workflow(folder: Path) -> None:
    """As base64, which is what they are at every border to JSON; the call is recognised again."""
    (folder / "child.nika.yaml").write_text(CHILD.replace("TYPE", "bytes"), encoding="utf-8")
    (folder / "w.nika.yaml").write_text(CALL, encoding="utf-8")
    run = nika_nb.run("w.nika.yaml")
    assert run.outputs == {"got": {"x": base64.b64encode(b"a\xff").decode()}}
    assert [frame["task"] for frame in of(newest(folder), "task_failed")] == []


def test_bytes_do_not_reach_an_input_of_text(folder: Path) -> None:
    """Base64 is a text, and nobody asked for it."""
    (folder / "child.nika.yaml").write_text(CHILD.replace("TYPE", "string"), encoding="utf-8")
    (folder / "w.nika.yaml").write_text(CALL.replace("with: {b:", "with: {n: 1, b:"), encoding="utf-8")
    run = nika_nb.run("w.nika.yaml")
    error = run.tasks["c"].error
    assert error is not None
    assert (error["code"], "bytes do not fit" in error["message"]) == ("NIKA-COMP-004", True)


def test_bytes_are_given_from_python_as_well(folder: Path) -> None:
    """Where an input wants them, and nowhere else."""
    assert nika_nb.run(CHILD.replace("TYPE", "bytes"), vars={"x": b"ab"}).outputs == {"x": "YWI="}
    with pytest.raises(UsageError, match="bytes do not fit"):
        nika_nb.run(CHILD.replace("TYPE", "string"), vars={"x": b"ab"})
