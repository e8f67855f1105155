"""The check knows what builtins give back: a wrong contract and a slip in a path are told before a run."""

from __future__ import annotations

import pytest

from tests.check.judging import codes, judged

PERMITS = 'permits: { fs: { read: ["./a"], write: ["./a"] }, tools: ["nika:*"] }'
TOOLS = {
    "assert": ("condition: true", "bool"),
    "json_diff": ("before: 1, after: 2", "{ array: { map: string } }"),
    "log": ("message: a", "'null'"),
    "validate": ("data: 1, schema: true", "{ object: { valid: bool }, additional: true }"),
    "wait": ("duration: 1s", "'null'"),
    "write": ("path: ./a, content: b", "path"),
    "read": ("path: ./a", "{ enum: [yes, no] }"),
    "prompt": ("message: a", "bool"),
}


def workflow(tool: str, args: str, more: str, other: str = "") -> str:
    task = f'{{ invoke: {{ tool: "nika:{tool}", args: {{ {args} }} }}{more} }}'
    return f"nika: a\n{PERMITS}\ntasks:\n  t: {task}\n{other}"


@pytest.mark.parametrize("tool", TOOLS)
def test_a_contract_that_a_tool_can_keep(tool: str) -> None:
    """It may say more than the tool does, and another type beside it."""
    args, kept = TOOLS[tool]
    for returns in (kept, f"{{ union: [{kept}, integer] }}"):
        assert codes(judged(workflow(tool, args, f", returns: {returns}"))) == []


GIVEN = {
    "assert": "true or false",
    "json_diff": "a list",
    "log": "null",
    "validate": "an object",
    "wait": "null",
    "write": "text",
    "read": "text",
    "prompt": "true or false",
}


@pytest.mark.parametrize("tool", TOOLS)
def test_a_contract_that_no_value_of_a_tool_fits(tool: str) -> None:
    """It is refused where it is written."""
    report = judged(workflow(tool, TOOLS[tool][0], ", returns: integer"))
    assert codes(report) == ["NIKA-TYPE-004"]
    said = f"`nika:{tool}` gives {GIVEN[tool]}, never the type that `returns:` names"
    assert report.errors[0].message == said


@pytest.mark.parametrize(
    ("tool", "args", "returns"),
    [
        ("read", "path: ./a, binary: true", "bytes"),
        ("prompt", "message: a, mode: input", "string"),
        ("prompt", "message: a, mode: choice, choices: [a]", "string"),
        ("jq", "expression: '1'", "integer"),
    ],
)
def test_what_an_argument_decides(tool: str, args: str, returns: str) -> None:
    """The type follows the argument, or is open."""
    assert codes(judged(workflow(tool, args, f", returns: {returns}"))) == []


def reading(path: str, more: str = "") -> list[str]:
    other = f'  u: {{ with: {{ x: "${{{{ tasks.t.output{path} }}}}" }}, invoke: {{ tool: "nika:log" }} }}\n'
    return codes(judged(workflow("validate", "data: 1, schema: true", more, other)))


def test_a_path_into_what_a_tool_gives() -> None:
    """A slip is told; an element of a list is open, and so is what a recovery may have put there."""
    assert reading(".valid") == reading(".errors[0].path") == []
    assert reading(".vald") == ["NIKA-VAR-003"]
    assert reading(".vald", ", on_error: { recover: { vald: 1 } }") == []
    assert reading("[0].valid", ", for_each: { items: [1, 2] }") == []
    assert reading(".valid", ", for_each: { items: [1, 2] }") == ["NIKA-VAR-003"]
