"""What may be typed next, place by place; ¦ is the cursor, and the texts are half-written as people's are."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from nika_nb.catalog import grammar
from nika_nb.check.editing.complete import Completions, complete
from nika_nb.check.editing.keys import LEVELS, PREDICATE_HELP
from nika_nb.check.editing.outline import outline
from nika_nb.check.editing.places import ToolWords
from nika_nb.plan.gates import PREDICATES
from nika_nb.runs.vocabulary import tool_words

TOOLS = {
    tool.name: tool
    for tool in (
        ToolWords("nika:read", "Reads a file.", ("path",), ("binary",), {"binary": {"type": "boolean"}}),
        ToolWords(
            "nika:prompt", "Asks a human.", ("message",), ("mode",), {"mode": {"enum": ["confirm", "input"]}}
        ),
        ToolWords("nika:wait", "Waits.", ("duration",)),
    )
}

HEAD = """\
nika: brief
model: mock/echo
inputs:
  topic: { type: string, required: true }
  rows: { type: { array: string } }
const: { folder: "./out" }
secrets:
  key: { source: env, key: API_KEY }
tasks:
  load:
    group: sources
    invoke: { tool: "nika:read", args: { path: "./a.md" } }
    extract: { first: ".[0]" }
  hash:
    exec: { command: ["shasum", "-a", "256"] }
"""


@dataclass(frozen=True)
class Case:
    """text: behind HEAD where it begins with blanks. given: what is offered, never: what is not."""

    name: str
    text: str
    fragment: str
    given: tuple[str, ...]
    never: tuple[str, ...] = ()


CASES = [
    # keys by their place
    Case("the top level", "nika: x\nta¦", "ta", ("tasks:",)),
    Case("only what begins so", "nika: x\nin¦", "in", ("inputs:",), ("tasks:", "infer:")),
    Case("not what is there already", "nika: x\n¦", "", ("tasks:", "model: "), ("nika: ",)),
    Case("a task", "  new:\n    w¦", "w", ("with:", "when: ")),
    Case(
        "one verb is all that a task has",
        "  new:\n    exec:\n      shell: ls\n    ¦",
        "",
        ("with:",),
        ("infer:",),
    ),
    Case("a verb's body", "  new:\n    infer:\n      pro¦", "pro", ("prompt: ",)),
    Case("the body of another verb", "  new:\n    exec:\n      c¦", "c", ("command: ", "cwd: ", "capture: ")),
    Case(
        "keys above the cursor's are not offered",
        "  new:\n    infer:\n      prompt: x\n      m¦",
        "m",
        ("model: ",),
        ("prompt: ",),
    ),
    Case(
        "keys below it neither",
        "  new:\n    infer:\n      m¦\n      max_tokens: 3\n",
        "m",
        ("model: ",),
        ("max_tokens: ",),
    ),
    Case("in braces", '  new: { infer: { prompt: "a, b", mo¦', "mo", ("model: ",)),
    Case("in braces over lines", "  new: {\n    invoke: {\n      to¦", "to", ("tool: ",)),
    Case(
        "a key that is changed keeps its colon", "  new:\n    inf¦er:\n      prompt: x\n", "inf", ("infer",)
    ),
    Case("a list of mappings", "  new:\n    lift:\n      - la¦", "la", ("law: ",)),
    Case("its next key", "  new:\n    lift:\n      - law: taint\n        be¦", "be", ("because: ",)),
    Case("an input", "inputs:\n  a:\n    de¦", "de", ("default: ", "description: ")),
    Case("the boundary", "permits:\n  fs: { re¦", "re", ("read: ",)),
    Case(
        "what holds it, where nothing begins so",
        "  new:\n    infer:\n      tokens¦",
        "tokens",
        ("max_tokens: ",),
    ),
    Case("a name that the author chooses", "  new¦", "new", ()),
    Case("a free text", "  new:\n    infer:\n      prompt: ta¦", "ta", ()),
    Case("a block of text", "  new:\n    infer:\n      prompt: |\n        mod¦", "", ()),
    Case("a comment", "  new: # ta¦", "", ()),
    # words behind keys
    Case("a flag", "  new:\n    for_each:\n      fail_fast: ¦", "", ("true", "false")),
    Case("a closed set", "  new:\n    exec:\n      capture: st¦", "st", ("stdout", "stderr", "structured")),
    Case("a model", "  new:\n    infer: { model: moc¦", "moc", ("mock/echo",)),
    Case("no model that cannot run", "model: anthropic/claude-h¦", "anthropic/claude-h", ()),
    Case("every model that can", "model: ¦", "", ("mock/echo", "mock/mock-error"), ("openai/gpt-4o",)),
    Case("a tool", '  new:\n    invoke: { tool: "nika:re¦', "nika:re", ("nika:read",), ("nika:wait",)),
    Case("a tool without quotes", "  new:\n    invoke:\n      tool: ni¦", "ni", ("nika:read", "nika:prompt")),
    Case(
        "tools of an agent", '  new:\n    agent:\n      tools: [nika:read, "nika:w¦', "nika:w", ("nika:wait",)
    ),
    Case("tools of the boundary", "permits:\n  tools:\n    - nika:p¦", "nika:p", ("nika:prompt",)),
    Case(
        "arguments of a tool",
        "  new:\n    invoke:\n      tool: nika:prompt\n      args:\n        m¦",
        "m",
        ("message: ", "mode: "),
    ),
    Case("arguments in braces", "  new: { invoke: { tool: nika:read, args: { pa¦", "pa", ("path: ",)),
    Case(
        "a word of an argument", "  new: { invoke: { tool: nika:prompt, args: { mode: in¦", "in", ("input",)
    ),
    Case("a flag of an argument", "  new: { invoke: { tool: nika:read, args: { binary: t¦", "t", ("true",)),
    Case("the arguments of no tool", "  new: { invoke: { tool: nika:nope, args: { pa¦", "pa", ()),
    Case("a state", "  new:\n    after: { load: suc¦", "suc", ("success",)),
    Case("a type", "inputs:\n  a: { type: str¦", "str", ("string",)),
    Case("a type within one", "inputs:\n  a: { type: { arr¦", "arr", ("array: ",)),
    Case("what a boundary has to name", "permits: { exec: [sh¦", "sh", ()),
    Case("an error's code", "  new:\n    retry: { on_codes: [NIKA-EXEC¦", "NIKA-EXEC", ("NIKA-EXEC-001",)),
    # names of the document
    Case("tasks behind after", "  new:\n    after: { lo¦", "lo", ("load: ",)),
    Case(
        "tasks behind after, a line each",
        "  new:\n    after:\n      ¦x",
        "",
        ("load: ", "hash: "),
        ("new: ",),
    ),
    Case("tasks in an expression", '  new:\n    with: { a: "${{ tasks.¦', "", ("load", "hash"), ("new",)),
    Case("what a task has", '  new:\n    with: { a: "${{ tasks.load.¦', "", ("first", "output", "status")),
    Case("begun", '  new:\n    with: { a: "${{ tasks.load.ou¦ }}"', "ou", ("output",)),
    Case("inputs", '  new:\n    infer: { prompt: "about ${{ inputs.¦', "", ("topic", "rows")),
    Case("constants", '  new:\n    infer: { prompt: "${{ const.f¦', "f", ("folder",)),
    Case("secrets", '  new:\n    exec: { env: { K: "${{ secrets.¦', "", ("key",)),
    Case("groups", '  new:\n    with: { g: "${{ group.¦', "", ("sources",)),
    Case(
        "bindings, of this task alone",
        '  old:\n    with: { no: 1 }\n  new:\n    with: { a: 1, bee: 2 }\n    exec: { shell: "${{ with.¦',
        "",
        ("a", "bee"),
        ("no",),
    ),
    Case(
        "in a block of text",
        "  new:\n    with: { a: 1 }\n    infer:\n      prompt: |\n        see ${{ wi¦",
        "wi",
        ("with",),
    ),
    Case(
        "in a body no task is read",
        '  new:\n    infer: { prompt: "${{ ¦',
        "",
        ("with", "inputs"),
        ("tasks", "item"),
    ),
    Case(
        "item in a fan-out",
        '  new:\n    for_each: { items: [1] }\n    infer: { prompt: "${{ it¦',
        "it",
        ("item",),
    ),
    Case("in what is returned", "outputs:\n  a: ${{ ta¦", "ta", ("tasks",)),
    Case("behind an operator", "  new:\n    when: ${{ size(inputs.ro¦", "ro", ("rows",)),
    Case("two in one text", '  new:\n    infer: { prompt: "${{ inputs.topic }} ${{ inputs.¦', "", ("topic",)),
    Case(
        "outside again", '  new:\n    infer: { prompt: "${{ inputs.topic }} in¦', "${{ inputs.topic }} in", ()
    ),
]


def at(text: str) -> Completions:
    whole = (HEAD if text.startswith("  ") else "") + text
    offset = whole.index("¦")
    return complete(whole.replace("¦", ""), offset, TOOLS)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_what_may_be_typed(case: Case) -> None:
    """What is offered, what is not, and which letters it takes the place of."""
    found = at(case.text)
    texts = [item.text for item in found.items]
    assert found.fragment == case.fragment
    assert [text for text in case.given if text not in texts] == []
    assert [text for text in case.never if text in texts] == []
    if not case.given:
        assert texts == []


def test_programs_of_the_document_are_offered_to_its_boundary() -> None:
    """What tasks start, where the boundary is written below them."""
    found = at(HEAD + "permits:\n  exec: [¦".replace("  ", "  ", 1))
    assert [item.text for item in found.items] == ["shasum"]


def test_every_offer_says_what_it_is() -> None:
    """Keys and tools come with a sentence."""
    assert all(item.help for item in at("  new:\n    ¦").items)
    assert at("  new:\n    invoke: { tool: nika:re¦").items[0].help == "Reads a file."


CLOSED = {
    "workflow": grammar.ENVELOPE, "input": grammar.INPUT, "const": grammar.CONST, "secret": grammar.SECRET,
    "egress": grammar.EGRESS, "permits": grammar.PERMITS, "permits.fs": grammar.PERMITS_FS,
    "permits.net": grammar.PERMITS_NET, "run": grammar.RUN, "output": grammar.OUTPUT, "task": grammar.TASK,
    "for_each": grammar.FOR_EACH, "retry": grammar.RETRY, "on_error": grammar.ON_ERROR, "lift": grammar.LIFT,
    "infer": grammar.INFER, "thinking": grammar.THINKING, "vision": grammar.VISION, "exec": grammar.EXEC,
    "invoke": grammar.INVOKE, "agent": grammar.AGENT,
}  # fmt: skip


def test_the_keys_are_those_of_the_language() -> None:
    """Level by level the same closed sets; a new key of the grammar needs its help."""
    assert {level: set(keys) for level, keys in LEVELS.items()} == {
        level: set(keys) for level, keys in CLOSED.items()
    }
    assert tuple(PREDICATE_HELP) == PREDICATES


def test_the_tools_are_those_of_this_version() -> None:
    """Each with its arguments, as the run would take them."""
    tools = tool_words()
    assert tools["nika:read"].required == ("path",)
    assert "confirm" in tools["nika:prompt"].words("mode")


@pytest.mark.parametrize("end", range(0, len(HEAD), 7))
def test_no_text_is_too_broken(end: int) -> None:
    """Cut anywhere, asked anywhere: there is an answer, and no exception."""
    text = HEAD[:end]
    complete(text, len(text), TOOLS)
    complete(text + "}]}'\"\n\t- : ,", len(text) + 5, TOOLS)
    outline(text)
