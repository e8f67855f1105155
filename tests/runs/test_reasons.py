"""Run, edit one thing, resume: exactly the right tasks run, and each says what differs.

One workflow holds every field of every verb and of a task. A case edits one of them and names the
tasks that must run live with their reasons; every other task must hit.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import nika_nb
from tests.doors import hits, marks, of, program, ran, reasons
from tests.runs.foretelling import assert_came_true

EVERYTHING = """\
nika: everything
model: mock/echo
permits:
  exec: ["./say", "cat"]
  tools: ["nika:read", "nika:write"]
  fs: {read: ["./*.txt", "./*.md"]}
inputs:
  city: {type: string, default: "Rome"}
  name: {type: string, default: "Ada"}
  rows: {type: {array: string}, default: ["r1", "r2"]}
const:
  unit: "km"
secrets:
  token: {source: env, key: FIRST_TOKEN, egress: [{to: exec}]}
tasks:
  up:
    exec: {command: ["./say", "up"]}
  other:
    exec: {command: ["./say", "other"]}

  cmd:
    after: {other: success}
    with: {u: "${{ tasks.up.output }}", n: "${{ inputs.name }}"}
    when: ${{ with.u != null }}
    retry:
      {max_attempts: 2, backoff_ms: 1, backoff_strategy: fixed, backoff_max_ms: 9,
       jitter: false, on_codes: [NIKA-EXEC-001]}
    on_error: {recover: "none", on_codes: [NIKA-EXEC-001]}
    timeout: 30s
    returns: string
    extract: {first: ".", second: "."}
    group: crowd
    exec:
      command: ["./say", "cmd", "${{ with.u }}", "${{ with.n }}"]
      cwd: "."
      env: {A: "1"}
      stdin: "in"
      capture: stdout
      decode: text
  after_cmd:
    with: {c: "${{ tasks.cmd.output }}"}
    exec: {command: ["./say", "after_cmd", "${{ with.c }}"]}

  think:
    infer: {prompt: "think", system: "be brief", model: mock/echo, temperature: 0.5, max_tokens: 64}
  shape:
    infer:
      prompt: "shape"
      schema: {type: string}
      thinking: {enabled: true, budget_tokens: 1024}
      vision: [{source: file, path: "./notes.txt"}]
  plain:
    infer: {prompt: "plain"}

  loop:
    agent:
      prompt: "go on"
      system: "be quick"
      model: mock/echo
      tools: ["nika:log"]
      skills: ["./skill.md"]
      max_turns: 8
      max_tokens_total: 90000
      temperature: 0.2
      schema: {type: string}

  tool:
    invoke: {tool: "nika:read", args: {path: "./notes.txt"}}

  fan:
    for_each: {items: ["a", "b"], max_parallel: 2, fail_fast: true}
    exec: {command: ["./say", "fan-${{ item }}"]}
  rows:
    for_each: {items: "${{ inputs.rows }}"}
    exec: {command: ["./say", "rows-${{ item }}"]}

  where:
    exec: {command: ["./say", "where", "${{ inputs.city }}"]}
  unit:
    exec: {command: ["./say", "unit", "${{ const.unit }}"]}
  hidden:
    exec: {command: ["./say", "hidden"], env: {TOKEN: "${{ secrets.token }}"}}

outputs:
  all: "${{ tasks.after_cmd.output }}"
"""

TASKS = frozenset(line[2:-1] for line in EVERYTHING.split("tasks:\n")[1].split("outputs:")[0].splitlines()
                  if line.startswith("  ") and line[2] != " ")  # fmt: skip


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with the workflow's programs and files, as the current one."""
    folder = tmp_path_factory.mktemp("everything")
    program(folder, "say", 'echo "$1" >> marks\nprintf %s "$1"')
    for name in ("notes.txt", "other.txt"):
        (folder / name).write_text("GIF89a, as pictures begin", encoding="utf-8")
    for name in ("skill", "skill2"):
        text = f"---\nname: {name}\ndescription: how to go on\n---\nJust go on.\n"
        (folder / f"{name}.md").write_text(text, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("FIRST_TOKEN", "tok-one-11")
        patch.setenv("SECOND_TOKEN", "tok-two-22")
        yield folder


@pytest.fixture(scope="module")
def recorded(stage: Path) -> Path:
    """The trace of the workflow as it stands above."""
    run = nika_nb.run(EVERYTHING)
    assert run.state == "completed", run
    assert {name for name, task in run.tasks.items() if task.state == "success"} == TASKS
    return Path(str(run.trace))


def definition(task: str, *parts: str) -> dict[str, tuple[str, ...]]:
    return {task: ("definition", *parts)}


def inputs(task: str, *parts: str) -> dict[str, tuple[str, ...]]:
    return {task: ("input", *parts)}


@dataclass(frozen=True)
class Case:
    """An edit of the text, or other variables or another model, and who has to run for what reason."""

    name: str
    old: str = ""
    new: str = ""
    live: dict[str, tuple[str, ...]] = field(default_factory=dict)
    request: dict[str, Any] = field(default_factory=dict)

    @property
    def text(self) -> str:
        assert EVERYTHING.count(self.old) == 1 or not self.old, self.old
        return EVERYTHING.replace(self.old, self.new) if self.old else EVERYTHING


NAMES = [
    # the fields of exec
    Case(
        "exec command",
        '"cmd", "${{ with.u }}"',
        '"cmd", "-v", "${{ with.u }}"',
        definition("cmd", "exec.command"),
    ),
    Case("exec cwd", 'cwd: "."', 'cwd: "./."', definition("cmd", "exec.cwd")),
    Case("exec env", 'A: "1"', 'A: "2"', definition("cmd", "exec.env")),
    Case("exec stdin", 'stdin: "in"', 'stdin: "new"', definition("cmd", "exec.stdin")),
    Case("exec capture", "capture: stdout", "capture: combined", definition("cmd", "exec.capture")),
    Case("exec decode", "      decode: text\n", "", definition("cmd", "exec.decode")),
    # the fields of infer
    Case("infer prompt", 'prompt: "think"', 'prompt: "ponder"', definition("think", "infer.prompt")),
    Case("infer system", "be brief", "be long", definition("think", "infer.system")),
    Case(
        "infer model",
        "model: mock/echo, temp",
        "model: mock/mock-deterministic, temp",
        definition("think", "infer.model"),
    ),
    Case("infer temperature", "0.5", "0.7", definition("think", "infer.temperature")),
    Case("infer max_tokens", "max_tokens: 64", "max_tokens: 65", definition("think", "infer.max_tokens")),
    Case(
        "infer schema",
        "schema: {type: string}\n      thinking",
        "schema: {type: string, minLength: 0}\n      thinking",
        definition("shape", "infer.schema"),
    ),
    Case(
        "infer thinking", "budget_tokens: 1024", "budget_tokens: 2048", definition("shape", "infer.thinking")
    ),
    Case(
        "infer vision",
        'source: file, path: "./notes.txt"',
        'source: file, path: "./other.txt"',
        definition("shape", "infer.vision"),
    ),
    # the fields of agent
    Case("agent prompt", 'prompt: "go on"', 'prompt: "stop"', definition("loop", "agent.prompt")),
    Case("agent system", "be quick", "be slow", definition("loop", "agent.system")),
    Case(
        "agent model",
        "model: mock/echo\n      tools",
        "model: mock/mock-deterministic\n      tools",
        definition("loop", "agent.model"),
    ),
    Case(
        "agent tools",
        'tools: ["nika:log"]',
        'tools: ["nika:log", "nika:done"]',
        definition("loop", "agent.tools"),
    ),
    Case(
        "agent skills",
        "./skill.md",
        "./skill2.md",
        definition("loop", "agent.skills ./skill2.md", "agent.skills", "agent.skills ./skill.md"),
    ),
    Case("agent max_turns", "max_turns: 8", "max_turns: 9", definition("loop", "agent.max_turns")),
    Case("agent max_tokens_total", "90000", "90001", definition("loop", "agent.max_tokens_total")),
    Case(
        "agent temperature", "temperature: 0.2", "temperature: 0.3", definition("loop", "agent.temperature")
    ),
    Case(
        "agent schema",
        "temperature: 0.2\n      schema: {type: string}",
        "temperature: 0.2\n      schema: {type: string, minLength: 0}",
        definition("loop", "agent.schema"),
    ),
    # the fields of invoke
    Case(
        "invoke args",
        'args: {path: "./notes.txt"}',
        'args: {path: "./other.txt"}',
        definition("tool", "invoke.args"),
    ),
    Case(
        "invoke tool",
        'tool: "nika:read", args: {path: "./notes.txt"}',
        'tool: "nika:log", args: {message: "m"}',
        definition("tool", "invoke.tool", "invoke.args"),
    ),
    # the fields of a task
    Case("after", "after: {other: success}", "after: {other: terminal}", definition("cmd", "after")),
    Case("when", "with.u != null", 'with.u != ""', definition("cmd", "when")),
    Case("retry max_attempts", "max_attempts: 2", "max_attempts: 3", definition("cmd", "retry")),
    Case("retry backoff_ms", "backoff_ms: 1", "backoff_ms: 2", definition("cmd", "retry")),
    Case("retry backoff_strategy", "fixed", "linear", definition("cmd", "retry")),
    Case("retry backoff_max_ms", "backoff_max_ms: 9", "backoff_max_ms: 8", definition("cmd", "retry")),
    Case(
        "retry jitter",
        "jitter: false, on_codes: [NIKA-EXEC-001]",
        "jitter: true, on_codes: [NIKA-EXEC-001]",
        definition("cmd", "retry"),
    ),
    Case(
        "retry on_codes",
        "jitter: false, on_codes: [NIKA-EXEC-001]",
        "jitter: false, on_codes: [NIKA-EXEC-002]",
        definition("cmd", "retry"),
    ),
    Case("on_error recover", 'recover: "none"', 'recover: "nothing"', definition("cmd", "on_error")),
    Case(
        "on_error skip",
        'on_error: {recover: "none", ',
        "on_error: {skip: true, ",
        definition("cmd", "on_error"),
    ),
    Case(
        "on_error on_codes",
        'recover: "none", on_codes: [NIKA-EXEC-001]',
        'recover: "none"',
        definition("cmd", "on_error"),
    ),
    Case("timeout", "timeout: 30s", "timeout: 31s", definition("cmd", "timeout")),
    Case("returns", "    returns: string\n", "", definition("cmd", "returns")),
    Case("extract", 'second: "."', 'second: "length"', definition("cmd", "extract.second")),
    Case("extract added", 'first: "."', 'zeroth: ".", first: "."', definition("cmd", "extract.zeroth")),
    Case("group", "group: crowd", "group: people", definition("cmd", "group")),
    Case("for_each items", 'items: ["a", "b"]', 'items: ["a", "c"]', definition("fan", "for_each.items")),
    Case(
        "for_each max_parallel",
        "max_parallel: 2",
        "max_parallel: 1",
        definition("fan", "for_each.max_parallel"),
    ),
    Case(
        "for_each fail_fast", "fail_fast: true", "fail_fast: false", definition("fan", "for_each.fail_fast")
    ),
    Case(
        "two fields",
        "timeout: 30s\n    returns: string\n",
        "timeout: 31s\n",
        definition("cmd", "timeout", "returns"),
    ),
    # bindings, as written
    Case("with, the text", 'n: "${{ inputs.name }}"', 'n: "${{ inputs.city }}"', definition("cmd", "with.n")),
    Case(
        "with added",
        'n: "${{ inputs.name }}"',
        'n: "${{ inputs.name }}", m: "${{ inputs.city }}"',
        definition("cmd", "with.m"),
    ),
    # what references resolve to
    Case(
        "input through a binding",
        live=inputs("cmd", "with.n", "inputs.name"),
        request={"vars": {"name": "Eve"}},
    ),
    Case("input, read directly", live=inputs("where", "inputs.city"), request={"vars": {"city": "Oslo"}}),
    Case(
        "input as a collection",
        live=inputs("rows", "for_each.items"),
        request={"vars": {"rows": ["r1", "r3"]}},
    ),
    Case("default of an input", 'default: "Rome"', 'default: "Oslo"', inputs("where", "inputs.city")),
    Case("const", 'unit: "km"', 'unit: "mi"', inputs("unit", "const.unit")),
    Case(
        "secret, another reference",
        "key: FIRST_TOKEN",
        "key: SECOND_TOKEN",
        inputs("hidden", "secrets.token"),
    ),
    Case(
        "upstream output",
        'command: ["./say", "up"]',
        'command: ["./say", "up2"]',
        definition("up", "exec.command") | inputs("cmd", "with.u (from up)"),
    ),
    Case(
        "upstream edited, same output",
        'command: ["./say", "up"]',
        'command: ["./say", "up", "-x"]',
        definition("up", "exec.command"),
    ),
    Case(
        "after-only upstream edited",
        'command: ["./say", "other"]',
        'command: ["./say", "other9"]',
        definition("other", "exec.command"),
    ),
    Case(
        "through two tasks",
        '["./say", "cmd", ',
        '["./say", "cmd9", ',
        definition("cmd", "exec.command") | inputs("after_cmd", "with.c (from cmd)"),
    ),
    # the model
    Case(
        "the run's model",
        live=definition("shape", "model") | definition("plain", "model"),
        request={"model": "mock/mock-deterministic"},
    ),
    Case(
        "the envelope's model",
        "model: mock/echo\npermits",
        "model: mock/mock-deterministic\npermits",
        definition("shape", "model") | definition("plain", "model"),
    ),
    # the identity of a task is its name
    Case(
        "a task renamed",
        '  unit:\n    exec: {command: ["./say", "unit", ',
        '  length:\n    exec: {command: ["./say", "length", ',
        {"length": ("new",)},
    ),
    Case(
        "a task added",
        "  where:\n",
        '  extra:\n    exec: {command: ["./say", "extra"]}\n  where:\n',
        {"extra": ("new",)},
    ),
]


@pytest.mark.parametrize("case", NAMES, ids=lambda case: case.name)
def test_one_edit_runs_what_it_changes(recorded: Path, stage: Path, case: Case) -> None:
    """The changed task names exactly the field or the binding; the others hit, unless data flows to them."""
    before = marks(stage / "marks")
    ahead = nika_nb.plan_resume(case.text, recorded, **case.request)
    assert marks(stage / "marks") == before
    run = nika_nb.run(case.text, resume=recorded, **case.request)
    assert run.state == "completed", run
    assert_came_true(ahead, run)
    trace = Path(str(run.trace))
    assert reasons(trace) == case.live
    assert ran(trace) == set(case.live)
    assert hits(trace) == set(run.tasks) - set(case.live)
    started = {mark.partition("-")[0] for mark in marks(stage / "marks") - before}
    assert {mark.rstrip("0123456789") for mark in started} <= set(case.live)


SAME = {
    "comments": ("  up:\n", "  # first\n  up: # the start\n"),
    "blank lines": ("  other:\n", "\n\n  other:\n\n"),
    "block instead of flow": (
        '    exec: {command: ["./say", "up"]}\n',
        "    exec:\n      command:\n        - ./say\n        - up\n",
    ),
    "quoting": ('prompt: "think"', "prompt: 'think'"),
    "no quotes": ('system: "be brief"', "system: be brief"),
    "key order in a body": (
        '{prompt: "think", system: "be brief", ',
        '{system: "be brief", prompt: "think", ',
    ),
    "key order in a task": (
        "    timeout: 30s\n    returns: string\n",
        "    returns: string\n    timeout: 30s\n",
    ),
    "order of bindings": (
        '{u: "${{ tasks.up.output }}", n: "${{ inputs.name }}"}',
        '{n: "${{ inputs.name }}", u: "${{ tasks.up.output }}"}',
    ),
    "order of tasks": (
        '  up:\n    exec: {command: ["./say", "up"]}\n  other:\n    exec: {command: ["./say", "other"]}\n',
        '  other:\n    exec: {command: ["./say", "other"]}\n  up:\n    exec: {command: ["./say", "up"]}\n',
    ),
    "the spelling of a duration": ("timeout: 30s", "timeout: 30000ms"),
    "what the workflow returns": ('all: "${{ tasks.after_cmd.output }}"', 'all: "${{ tasks.up.output }}"'),
    "a wider boundary": ('exec: ["./say", "cat"]', 'exec: ["./say", "cat", "ls"]'),
    "an unused input": ("const:\n", '  spare: {type: string, default: "s"}\nconst:\n'),
    "a description": ('default: "Ada"}', 'default: "Ada", description: "who"}'),
}


@pytest.mark.parametrize("name", SAME)
def test_an_edit_that_changes_nothing_runs_nothing(recorded: Path, stage: Path, name: str) -> None:
    """Layout, comments, quoting, order and what no task reads are no part of an identity."""
    old, new = SAME[name]
    assert EVERYTHING.count(old) == 1
    before = marks(stage / "marks")
    ahead = nika_nb.plan_resume(EVERYTHING.replace(old, new), recorded)
    assert {task.fate for task in ahead.tasks} == {"skip"}
    run = nika_nb.run(EVERYTHING.replace(old, new), resume=recorded)
    assert run.state == "completed", run
    assert {task.state for task in run.tasks.values()} == {"cached"}
    assert marks(stage / "marks") == before


def test_an_edited_skill_runs_its_agent(recorded: Path, stage: Path) -> None:
    """What a skill file says is part of the agent that reads it."""
    skill = stage / "skill.md"
    text = skill.read_text(encoding="utf-8")
    skill.write_text(text + "And on.\n", encoding="utf-8")
    try:
        run = nika_nb.run(EVERYTHING, resume=recorded)
    finally:
        skill.write_text(text, encoding="utf-8")
    assert reasons(Path(str(run.trace))) == definition("loop", "agent.skills ./skill.md")


def test_carriage_returns_change_nothing(recorded: Path, stage: Path) -> None:
    """The same text saved on another system is the same text."""
    run = nika_nb.run(EVERYTHING.replace("\n", "\r\n"), resume=recorded)
    assert {task.state for task in run.tasks.values()} == {"cached"}


def test_one_changed_element_runs_one_item(recorded: Path, stage: Path) -> None:
    """Of a fan-out whose list changed only the new element runs; the other is taken from the record."""
    before = marks(stage / "marks")
    run = nika_nb.run(EVERYTHING, resume=recorded, vars={"rows": ["r3", "r2"]})
    assert marks(stage / "marks") - before == {"rows-r3": 1}
    assert run.tasks["rows"].output == ["rows-r3", "rows-r2"]
    items = of(Path(str(run.trace)), "nb_item_completed", task="rows")
    assert {frame["item"]: "matched" in frame for frame in items} == {0: False, 1: True}


def test_a_secret_never_reaches_the_journal(recorded: Path) -> None:
    """Neither its value nor a hash of it: what stands in an identity is the reference."""
    assert b"tok-one-11" not in recorded.read_bytes()
    assert of(recorded, "task_completed", task="hidden")[0]["def_hash"]
