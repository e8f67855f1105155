"""Paths inside `${{ }}`: what is declared, what exists at a place, and what a contract allows."""

from __future__ import annotations

import pytest

from tests.check.judging import Case, assert_found, codes, judged

HEAD = """\
nika: paths
model: mock/echo
inputs:
  topic: { type: string }
  place: { type: { object: { host: string, ports: { array: integer } } } }
const:
  limits: { most: 10, hosts: [a, b] }
  typed: { type: { map: integer }, value: { a: 1 } }
secrets:
  token: { source: env, key: TOKEN, egress: [{ to: infer }] }
"""


def infer(prompt: str, more: str = "") -> str:
    return f"{HEAD}tasks:\n  ask:\n    infer: {{ prompt: '{prompt}' }}\n{more}"


CASES = [
    Case(
        "a declared value of each authority",
        infer("${{ inputs.topic }} ${{ const.limits }} ${{ secrets.token }}"),
    ),
    Case("an undeclared input", infer("${{ inputs.«topik» }}"), ("VAR-001",), "did you mean `topic`?"),
    Case("an undeclared constant", infer("${{ const.«zzz» }}"), ("VAR-001",), "`const: { zzz: … }`"),
    Case("an undeclared secret", infer("${{ secrets.«zzz» }}"), ("VAR-001",), "source: env, key: ZZZ"),
    Case(
        "a value of another authority",
        infer("${{ const.«topic» }}"),
        ("VAR-001",),
        "declared as `inputs.topic`",
    ),
    Case(
        "two undeclared values in one text", infer("${{ inputs.«aaa» }} ${{ const.«bbb» }}"), ("VAR-001",) * 2
    ),
    Case("a name in brackets", infer('${{ inputs["«topik»"] }}'), ("VAR-001",)),
    Case("a computed name is left to the run", infer("${{ inputs[const.limits.hosts[0]] }}")),
    Case("an unknown root", infer("${{ «foo».bar }}"), ("VAR-001",), "a path starts with one of"),
    Case("a misspelled root", infer("${{ «input».topic }}"), ("VAR-001",), "did you mean `inputs`?"),
    Case("a name without its root", infer("${{ «topic» }}"), ("VAR-001",), "write `inputs.topic`"),
    Case("the root of a dead block", infer("${{ «vars».topic }}"), ("VALUES-001",), "write `inputs.topic`"),
    Case("the environment", infer("${{ «env».HOME }}"), ("VALUES-002",), "`inputs.HOME`"),
    Case("a foreign namespace", infer("${{ «params».topic }}"), ("VALUES-003",), "write `inputs.topic`"),
    Case("the dead config namespace", infer("${{ «config».topic }}"), ("VALUES-003",)),
    Case(
        "steps of another language",
        infer("${{ «steps».ask.outputs }}"),
        ("VAR-001",),
        "write `tasks.ask.output`",
    ),
    Case("a field of a typed input", infer("${{ inputs.place.host }} ${{ inputs.place.ports[3] }}")),
    Case(
        "a field that a type excludes",
        infer("${{ inputs.place.«hots» }}"),
        ("VAR-003",),
        "did you mean `host`?",
    ),
    Case(
        "a field of a text", infer("${{ inputs.topic.«name» }}"), ("VAR-003",), says="`inputs.topic` is text"
    ),
    Case("an index into an object", infer("${{ inputs.place[«0»] }}"), ("VAR-003",), says="is an object"),
    Case("a field of a secret", infer("${{ secrets.token.«value» }}"), ("VAR-003",)),
    Case("any key of a map", infer("${{ const.typed.whatever }}")),
    Case(
        "a field that a constant lacks",
        infer("${{ const.limits.«least» }}"),
        ("VAR-001",),
        "its fields are `most`",
    ),
    Case(
        "an index beyond a constant",
        infer("${{ const.limits.hosts[«2»] }}"),
        ("VAR-001",),
        says="a list of 2",
    ),
    Case(
        "a field that an expression asks for",
        infer("${{ has(const.limits.least) ? const.limits.least : 3 }}"),
    ),
    Case(
        "the envelope's model",
        "nika: m\ninputs: { llm: { type: string } }\nmodel: ${{ inputs.«lmm» }}\n"
        "tasks:\n  a:\n    infer: { prompt: hi }\n",
        ("VAR-001",),
        "did you mean `llm`?",
    ),
    Case(
        "an expression in the envelope's model that does not parse",
        "nika: m\nmodel: ${{ inputs.a «+» 1 }}\ntasks:\n  a:\n    infer: { prompt: hi }\n",
        ("VAR-005",),
    ),
    *(
        Case(f"the constant `{name}`", infer(f"${{{{ [«{name}»] }}}}"), ("VAR-001",), f"write `{meant}`")
        for name, meant in (("True", "true"), ("False", "false"), ("None", "null"))
    ),
    Case(
        "a gate with a constant of Python alone",
        infer("hi", "    when: «${{ True }}»\n"),
        ("VAR-005",),
        "write `true`",
    ),
    Case(
        "a binding that does not exist",
        infer("${{ with.«stile» }}", "    with: { style: short }\n"),
        ("VAR-001",),
        "did you mean `style`?",
    ),
    Case("a binding named like an input", infer("${{ with.«topic» }}"), ("VAR-001",), "write `inputs.topic`"),
    Case(
        "a binding that reads a sibling",
        infer("${{ with.b }}", "    with: { a: 1, b: '${{ «with».a }}' }\n"),
        ("VAR-001",),
        says="a binding cannot read another binding",
    ),
    Case(
        "a field of a literal binding",
        infer("${{ with.a.«c» }}", "    with: { a: { b: 1 } }\n"),
        ("VAR-001",),
        "its fields are `b`",
    ),
    Case("a binding in an output", f"{infer('hi')}outputs: {{ x: '${{{{ «with».a }}}}' }}\n", ("VAR-001",)),
    Case(
        "an element outside a fan-out", infer("${{ «item» }} ${{ «index» }}"), ("VAR-001",) * 2, "`for_each:"
    ),
    Case(
        "an element inside a fan-out",
        infer(
            "${{ item }} ${{ index }} ${{ with.x }}",
            "    for_each: { items: [1] }\n    with: { x: '${{ item }}' }\n",
        ),
    ),
    Case(
        "an element where its collection is computed",
        infer("${{ item }}", "    for_each: { items: '${{ «item».more }}' }\n"),
        ("VAR-001",),
        says="does not exist yet",
    ),
    Case(
        "an element on the way to its collection",
        infer(
            "hi", "    with: { rows: '${{ item.rows }}' }\n    for_each: { items: '${{ «with».rows }}' }\n"
        ),
        ("VAR-005",),
        "bind the list without `item`",
    ),
    Case(
        "a field of an element that its type excludes",
        infer("${{ item.«name» }}", "    for_each: { items: '${{ inputs.place.ports }}' }\n"),
        ("VAR-003",),
    ),
    Case(
        "a name that is declared although it could not be read",
        "nika: x\ninputs: { a: { type: «sting» } }\ntasks:\n  t:\n    infer: { prompt: '${{ inputs.a }}' }\n",
        ("TYPE-001",),
    ),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_every_path_is_judged_where_it_stands(case: Case) -> None:
    """A path that cannot be resolved is found at the exact word, with what to write instead."""
    assert_found(case)


def test_a_path_in_a_block_text_is_placed_in_its_line() -> None:
    """The place of a path inside a long literal text is its own line and column."""
    report = judged(
        "nika: x\nmodel: mock/echo\ntasks:\n  a:\n    infer:\n      prompt: |\n        one\n"
        "        ${{ inputs.b }}\n"
    )
    (error,) = report.errors
    assert error.span is not None
    assert report.source.position(error.span.start) == (8, 20)


def test_a_path_that_an_escape_moves_is_placed_at_its_expression() -> None:
    """Where escapes keep the text from standing letter for letter the whole island is the place."""
    report = judged(
        'nika: x\nmodel: mock/echo\ntasks:\n  a:\n    infer: { prompt: "${{ inputs[\\"b\\"] }}" }\n'
    )
    (error,) = report.errors
    assert error.code == "NIKA-VAR-001"
    assert error.span is not None
    assert report.source.position(error.span.start)[0] == 5


@pytest.mark.parametrize("kind", ["{}", "[{}]", "{ a: b }", "7"])
def test_a_schema_that_is_none_is_told_where_it_stands_alone(kind: str) -> None:
    """What reads the output is not judged by it."""
    report = judged(
        f"nika: a\nmodel: mock/echo\ntasks:\n  a: {{ infer: {{ prompt: x, schema: {{ type: {kind} }} }} }}\n"
        '  b: { with: { x: "${{ tasks.a.output.b }}" }, infer: { prompt: "${{ with.x }}" } }\n'
    )
    assert codes(report) == ["NIKA-PARSE-019"]


def test_braces_in_a_step_are_told_as_they_are() -> None:
    report = judged(
        "nika: a\ninputs: { a: { type: { object: { b: string } } } }\n"
        "outputs: { o: \"${{ inputs.a['{c}'] }}\" }\n"
        "tasks: { t: { infer: { model: mock/echo, prompt: x } } }\n"
    )
    assert [error.message for error in report.errors] == ["there is no field `{c}` in `inputs.a`"]
