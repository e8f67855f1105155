"""A table of edits: `why` and `diff` name each of them right, and say where the change began.

The workflow is the one in which every field of every verb stands. A case edits one thing; expected is,
per task that has to run, what changed and what it came from, and what is edited outside the tasks.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import nika_nb
from tests.runs.test_reasons import EVERYTHING, recorded, stage

__all__ = ["recorded", "stage"]  # fixtures


@dataclass(frozen=True)
class Told:
    """What is to be said of one task: the kind of reason, what changed, from where, and where it began."""

    kind: str
    changed: tuple[str, ...]
    upstream: tuple[str, ...] = ()
    cause: str = ""


@dataclass(frozen=True)
class Edit:
    """One edit. outside: the names of what is edited outside the tasks; layout: it means the same."""

    name: str
    old: str = ""
    new: str = ""
    told: dict[str, Told] = field(default_factory=dict)
    outside: tuple[str, ...] = ()
    layout: bool = False
    request: dict[str, Any] = field(default_factory=dict)
    secret: str = ""

    @property
    def text(self) -> str:
        assert EVERYTHING.count(self.old) == 1 or not self.old, self.old
        return EVERYTHING.replace(self.old, self.new) if self.old else EVERYTHING


def written(*changed: str) -> Told:
    return Told("definition", changed)


EDITS = [
    # each field of each verb
    Edit(
        "exec.command",
        '"cmd", "${{ with.u }}"',
        '"cmd", "-v", "${{ with.u }}"',
        {"cmd": written("exec.command")},
    ),
    Edit("exec.cwd", 'cwd: "."', 'cwd: "./."', {"cmd": written("exec.cwd")}),
    Edit("exec.env", 'A: "1"', 'A: "2"', {"cmd": written("exec.env")}),
    Edit("exec.stdin", 'stdin: "in"', 'stdin: "new"', {"cmd": written("exec.stdin")}),
    Edit("exec.capture", "capture: stdout", "capture: combined", {"cmd": written("exec.capture")}),
    Edit("infer.prompt", 'prompt: "think"', 'prompt: "ponder"', {"think": written("infer.prompt")}),
    Edit("infer.system", "be brief", "be long", {"think": written("infer.system")}),
    Edit(
        "infer.model",
        "model: mock/echo, temp",
        "model: mock/mock-deterministic, temp",
        {"think": written("infer.model")},
    ),
    Edit("infer.temperature", "0.5", "0.7", {"think": written("infer.temperature")}),
    Edit("infer.max_tokens", "max_tokens: 64", "max_tokens: 65", {"think": written("infer.max_tokens")}),
    Edit(
        "infer.thinking", "budget_tokens: 1024", "budget_tokens: 2048", {"shape": written("infer.thinking")}
    ),
    Edit(
        "infer.vision",
        'file, path: "./notes.txt"',
        'file, path: "./other.txt"',
        {"shape": written("infer.vision")},
    ),
    Edit("agent.prompt", 'prompt: "go on"', 'prompt: "stop"', {"loop": written("agent.prompt")}),
    Edit("agent.system", "be quick", "be slow", {"loop": written("agent.system")}),
    Edit("agent.max_turns", "max_turns: 8", "max_turns: 9", {"loop": written("agent.max_turns")}),
    Edit("agent.tools", '"nika:log"]', '"nika:log", "nika:done"]', {"loop": written("agent.tools")}),
    Edit(
        "agent.skills",
        "./skill.md",
        "./skill2.md",
        {"loop": written("agent.skills ./skill2.md", "agent.skills", "agent.skills ./skill.md")},
    ),
    Edit(
        "invoke.args",
        'args: {path: "./notes.txt"}',
        'args: {path: "./other.txt"}',
        {"tool": written("invoke.args")},
    ),
    Edit(
        "invoke.tool",
        'tool: "nika:read", args: {path: "./notes.txt"}',
        'tool: "nika:log", args: {message: "m"}',
        {"tool": written("invoke.tool", "invoke.args")},
    ),
    # the fields of a task
    Edit("after", "after: {other: success}", "after: {other: terminal}", {"cmd": written("after")}),
    Edit("when", "with.u != null", 'with.u != ""', {"cmd": written("when")}),
    Edit("retry", "max_attempts: 2", "max_attempts: 3", {"cmd": written("retry")}),
    Edit("on_error", 'recover: "none"', 'recover: "nothing"', {"cmd": written("on_error")}),
    Edit("timeout", "timeout: 30s", "timeout: 31s", {"cmd": written("timeout")}),
    Edit("returns", "    returns: string\n", "", {"cmd": written("returns")}),
    Edit("extract", 'second: "."', 'second: "length"', {"cmd": written("extract.second")}),
    Edit("group", "group: crowd", "group: people", {"cmd": written("group")}),
    Edit("for_each.items", 'items: ["a", "b"]', 'items: ["a", "c"]', {"fan": written("for_each.items")}),
    Edit(
        "for_each.max_parallel",
        "max_parallel: 2",
        "max_parallel: 1",
        {"fan": written("for_each.max_parallel")},
    ),
    Edit(
        "two fields",
        "timeout: 30s\n    returns: string\n",
        "timeout: 31s\n",
        {"cmd": written("timeout", "returns")},
    ),
    Edit(
        "a binding's text", 'n: "${{ inputs.name }}"', 'n: "${{ inputs.city }}"', {"cmd": written("with.n")}
    ),
    # what references come out as
    Edit(
        "an upstream's output",
        '["./say", "up"]',
        '["./say", "up2"]',
        {
            "up": written("exec.command"),
            "cmd": Told("input", ("with.u",), ("up",), "up: definition changed: exec.command"),
        },
    ),
    Edit(
        "an upstream's text, its output the same",
        '["./say", "up"]',
        '["./say", "up", "-x"]',
        {"up": written("exec.command")},
    ),
    Edit(
        "an upstream that is only waited for",
        '["./say", "other"]',
        '["./say", "other9"]',
        {"other": written("exec.command")},
    ),
    Edit(
        "through two tasks",
        '["./say", "cmd", ',
        '["./say", "cmd9", ',
        {
            "cmd": written("exec.command"),
            "after_cmd": Told("input", ("with.c",), ("cmd",), "cmd: definition changed: exec.command"),
        },
    ),
    Edit(
        "a variable",
        request={"vars": {"city": "Oslo"}},
        outside=("inputs.city",),
        told={"where": Told("input", ("inputs.city",), cause="inputs.city changed")},
    ),
    Edit(
        "a variable through a binding",
        request={"vars": {"name": "Eve"}},
        outside=("inputs.name",),
        told={"cmd": Told("input", ("with.n", "inputs.name"), cause="inputs.name changed")},
    ),
    Edit(
        "a variable's default",
        'default: "Rome"',
        'default: "Oslo"',
        outside=("inputs.city",),
        told={"where": Told("input", ("inputs.city",), cause="inputs.city changed")},
    ),
    Edit(
        "an item",
        request={"vars": {"rows": ["r3", "r2"]}},
        outside=("inputs.rows",),
        told={"rows": Told("input", ("for_each.items",), cause="inputs.rows changed")},
    ),
    Edit(
        "a constant",
        'unit: "km"',
        'unit: "mi"',
        outside=("const.unit",),
        told={"unit": Told("input", ("const.unit",), cause="const.unit changed")},
    ),
    Edit(
        "a secret's reference",
        "key: FIRST_TOKEN",
        "key: SECOND_TOKEN",
        outside=("secrets.token",),
        told={"hidden": Told("input", ("secrets.token",), cause="secrets.token changed")},
    ),
    Edit("a secret rotated: no task can see it", secret="tok-three-33"),
    Edit(
        "the model of the run",
        request={"model": "mock/mock-deterministic"},
        outside=("--model",),
        told={"shape": written("model"), "plain": written("model")},
    ),
    Edit(
        "the model of the envelope",
        "model: mock/echo\npermits",
        "model: mock/mock-deterministic\npermits",
        {"shape": written("model"), "plain": written("model")},
        outside=("model",),
    ),
    # what is no part of any task
    Edit("permits", 'exec: ["./say", "cat"]', 'exec: ["./say", "cat", "ls"]', outside=("permits",)),
    Edit(
        "what is returned",
        'all: "${{ tasks.after_cmd.output }}"',
        'all: "${{ tasks.up.output }}"',
        outside=("outputs.all",),
    ),
    Edit(
        "an input nobody reads",
        "const:\n",
        '  spare: {type: string, default: "s"}\nconst:\n',
        outside=("inputs.spare",),
    ),
    Edit("a comment", "  up:\n", "  # first\n  up: # the start\n", layout=True),
    Edit(
        "the order of keys",
        'prompt: "think", system: "be brief", ',
        'system: "be brief", prompt: "think", ',
        layout=True,
    ),
    Edit("quotes", 'prompt: "think"', "prompt: 'think'", layout=True),
    Edit("the spelling of a duration", "timeout: 30s", "timeout: 30000ms", layout=True),
    Edit("nothing at all"),
]


@pytest.mark.parametrize("edit", EDITS, ids=lambda edit: edit.name)
def test_an_edit_is_named(edit: Edit, recorded: Path, stage: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By `why` of the resume that it caused, and by `diff` with the run before."""
    if edit.secret:
        monkeypatch.setenv("FIRST_TOKEN", edit.secret)
    run = nika_nb.run(edit.text, resume=recorded, **edit.request)
    assert run.state == "completed", run
    reasons = {
        task.task: Told(task.reason, task.changed, task.upstream, "; ".join(c.sentence for c in task.causes))
        for task in nika_nb.why(run).tasks
        if task.reason != "cached"
    }
    assert reasons == edit.told
    found = nika_nb.diff(recorded, run)
    differing = {
        task.task: Told(task.kind, task.changed, task.upstream, "; ".join(c.sentence for c in task.causes))
        for task in found.differing
    }
    assert differing == edit.told
    assert tuple(each.name for each in found.edits) == edit.outside
    assert found.layout == edit.layout


def test_there_are_thirty_and_more() -> None:
    assert len({edit.name for edit in EDITS}) == len(EDITS) >= 30


def test_a_comment_is_no_edit(folder: Path) -> None:
    """Another comment and other blanks: it is said calmly, and nothing runs; a real edit is told as one."""
    text = 'nika: calm\npermits: { exec: ["echo"] }\ntasks:\n  a: { exec: { command: ["echo", "x"] } }\n'
    first = nika_nb.run(text)
    assert first.trace is not None
    again = nika_nb.run(f"# more\n\n{text.replace('{ exec', '{  exec')}  # said\n", resume=first.trace)
    assert again.notices == [
        f"only comments or layout changed since {first.trace.name}: the text means the same"
    ]
    assert again.board.hits == 1
    edited = nika_nb.run(text.replace('"x"', '"y"'), resume=first.trace)
    assert edited.notices == [
        f"the text differs from the one recorded in {first.trace.name}: today's text runs"
    ]
