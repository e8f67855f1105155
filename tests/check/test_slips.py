"""Slips of a first day: each is one problem, at its own place, with what to write."""

from __future__ import annotations

import pytest

from nika_nb.errors import CheckRefused, Source
from tests.check.judging import judged, marked

GOOD = """nika: job
inputs: { n: { type: string } }
permits:
  exec: ["echo", "python"]
  tools: ["nika:fetch", "mcp:files/list"]
  net: { http: ["api.example.com"] }
tasks:
  a:
    exec: { command: ["echo", "${{ inputs.n }}"] }
  b:
    with: { x: "${{ tasks.a.output }}" }
    exec: { command: ["echo", "hi"] }
outputs:
  o: ${{ tasks.b.output }}
"""

# What is written instead of what, how its problem is told (the place between marks), what to do.
SLIPS: list[tuple[str, str, str, str, str]] = [
    ("a task that is not indented", "  b:\n", "«b»:\n", "but a task", "indent it under `tasks:`"),
    ("tasks misspelt", "tasks:\n", "«taks»:\n", "not a key of a workflow", "did you mean `tasks`?"),
    ("inputs misspelt", "inputs:", "«input»:", "not a key of a workflow", "did you mean `inputs`?"),
    ("two tasks of one name", "  b:\n", "  «a»:\n", "two tasks are called `a`", "belongs to one task"),
    ("a key twice", "    exec: { command: [\"echo\", \"hi\"] }\n",
     "    exec: { command: [\"echo\", \"hi\"] }\n    «with»: {}\n", "neither value silently wins", "remove"),
    ("a program misspelt", '["echo", "hi"]', '[«"echoo"», "hi"]', "lists only echo, python",
     'did you mean `echo`? otherwise add "echoo" to permits.exec'),
    ("a tool of a server misspelt", 'exec: { command: ["echo", "hi"] }',
     'invoke: { tool: «"mcp:files/lst"» }', "does not cover it",
     "did you mean `mcp:files/list`? otherwise add"),
    ("a host misspelt", 'exec: { command: ["echo", "hi"] }',
     'invoke: { tool: "nika:fetch", args: { url: «"https://api.exmple.com"», mode: raw } }',
     "does not list it", 'did you mean `api.example.com`? otherwise add "api.exmple.com"'),
    ("a task's key misspelt in its verb", '["echo", "hi"]', '["echo", "hi"], «timout»: 3s',
     "`timout` is not a key of `exec:`",
     "did you mean `timeout`? `timeout:` belongs to the task: write it beside"),
    ("a task's key in its verb", '["echo", "hi"]', '["echo", "hi"], «returns»: string',
     "`returns:` belongs to the task", "write it beside the verb"),
    ("what a verb needs, misspelt", "exec: { command: [\"echo\", \"hi\"] }", "exec: { «comand»: [\"echo\"] }",
     "`comand` is not a key of `exec:`", "did you mean `command`?"),
    ("what a verb needs, as others call it", "exec: { command: [\"echo\", \"hi\"] }",
     "exec: { «cmd»: [\"echo\"] }", "`cmd:` is called `command:`", "write `command: ["),
    ("a verb misspelt", "exec: { command: [\"echo\", \"hi\"] }", "«exce»: { command: [\"echo\"] }",
     "`exce` is not a key of a task", "did you mean `exec`?"),
    ("a line of the shell as others write it", "exec: { command: [\"echo\", \"hi\"] }", "«run»: echo hi",
     "there is no `run:` in a task", "write `exec: {command: ["),
    ("the name misspelt", "nika: job", "«nkia»: job", "not a key of a workflow", "did you mean `nika`?"),
    ("the name as others call it", "nika: job", "«workflow»: job", "the name stands in `nika:`",
     "write `nika: <name>`"),
    ("what an input needs, misspelt", "n: { type: string }", "n: { «tpye»: string }",
     "`tpye` is not a key of the input `n`", "did you mean `type`?"),
    ("what an output needs, misspelt", "  o: ${{ tasks.b.output }}", "  o: { «valu»: 1 }",
     "`valu` is not a key of the output `o`", "did you mean `value`?"),
    ("a collection misspelt", "    exec: { command: [\"echo\", \"hi\"] }",
     "    for_each: { «itmes»: [1] }\n    exec: { command: [\"echo\", \"hi\"] }",
     "`itmes` is not a key of `for_each:`", "did you mean `items`?"),
    ("a recovery as others call it", "    exec: { command: [\"echo\", \"hi\"] }",
     "    on_error: { «fallback»: 1 }\n    exec: { command: [\"echo\", \"hi\"] }",
     "`fallback:` is called `recover:`", "write `recover:`"),
    ("a stream", "    exec: { command: [\"echo\", \"hi\"] }",
     "    infer: { prompt: hi, «stream»: true }", "there is no `stream:`", "remove it"),
    ("a name of several words", "nika: job", "nika: «My 2nd Job»", "is none", "my-2nd-job"),
    ("a name that cannot be helped", "nika: job", "nika: «42»", "is none", "my-workflow"),
    ("a quote left open in a list", '["echo", "hi"]', '["echo", «"»hi]', "opened here and not closed",
     "write the second quote"),
    ("a quote left open to the end", "  o: ", "  o: «\"»", "opened here and not closed", "second quote"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("instead", "written", "says", "hint"), [slip[1:] for slip in SLIPS], ids=[slip[0] for slip in SLIPS]
)
def test_a_slip_is_one_problem_with_a_way_out(instead: str, written: str, says: str, hint: str) -> None:
    """Nothing that only follows from it is told beside it."""
    assert instead in GOOD
    head, _, tail = GOOD.rpartition(instead)
    text, [place] = marked(head + written + tail)
    report = judged(text)
    told = report.render()
    assert "is refused: 1 problem\n" in told
    assert says in told
    assert hint in told
    assert all(error.span is not None and error.span.start == place.start for error in report.errors)
    assert "1 problem found" in str(CheckRefused(report.diagnostics, Source(text)))


@pytest.mark.parametrize(
    ("written", "hint"),
    [
        ('with: { x: "${{ tasks.aa.output }}" }', "did you mean `a`?"),
        ("after: { aa: success }", "did you mean `a`?"),
        ("after: { zzz: success }", "the tasks are `a`, `b`"),
    ],
)
def test_a_task_with_a_mistake_of_its_own_may_be_the_one_that_is_meant(written: str, hint: str) -> None:
    text = GOOD.replace("a:\n    exec: { command:", "a:\n    exec: { comand:")
    report = judged(text.replace('with: { x: "${{ tasks.a.output }}" }', written))
    assert [error.hint for error in report.errors] == ["did you mean `command`?", hint]


def test_an_input_with_a_mistake_of_its_own_may_be_the_one_that_is_meant() -> None:
    report = judged(
        GOOD.replace("n: { type: string }", "num: { tpye: string }").replace("inputs.n ", "inputs.nom ")
    )
    assert [error.hint for error in report.errors] == ["did you mean `type`?", "did you mean `num`?"]


def test_two_slips_are_two_problems() -> None:
    """What is not there under another name either is missed beside a key that nobody knows."""
    report = judged(GOOD.replace('command: ["echo", "hi"]', "foo: 1"))
    assert [error.code for error in report.errors] == ["NIKA-PARSE-018", "NIKA-PARSE-005"]


def test_a_key_twice_keeps_its_codes_for_programs() -> None:
    """People are told once; the report that programs read names every law."""
    report = judged(GOOD.replace("  b:\n", "  a:\n"))
    codes = [error["code"] for error in report.to_json()["errors"]]
    assert codes == ["NIKA-PARSE-007", "NIKA-PARSE-017", "NIKA-YAML-004"]


def test_the_open_quote_names_the_one_that_closed_it() -> None:
    """The lines in between were swallowed; both ends are told."""
    [error] = judged(GOOD.replace('["echo", "hi"]', '["echo", "hi]').replace("  o: ${{", '  o: "${{')).errors
    assert [text for text, _ in error.related] == ["the next quote stands here"]


def test_braces_without_quotes_are_told_as_an_expression() -> None:
    """YAML reads them as mappings; the hint says what was meant."""
    report = judged(GOOD.replace('["echo", "hi"]', '["echo", {{ with.x }}]'))
    assert 'an expression is written "${{ … }}", in quotes' in report.render()
