"""jq programs that are written out stay inside the grammar."""

from __future__ import annotations

import pytest

from tests.check.judging import Case, assert_found

HEAD = """\
nika: p
model: mock/echo
inputs: { n: { type: integer } }
const: { key: name, bad: '.a |' }
tasks:
  t:
"""
JQ = HEAD + "    invoke: { tool: 'nika:jq', args: { input: {}, expression: %s } }\n"

CASES = [
    Case("a program", JQ % "'.a | map(.b) | add'"),
    Case("a program that breaks off", JQ % "'.a «|»'", ("VAR-005",)),
    Case("a look at the environment", JQ % "'.a | «env».HOME'", ("VAR-005",), says="`env`"),
    Case("a program that a value completes", JQ % "'.[:${{ inputs.n }}]'"),
    Case("a program that a constant completes", JQ % "'.${{ const.key }}'"),
    Case("a program in a constant", JQ % "«'${{ const.bad }}'»", ("VAR-005",)),
    Case(
        "an extracted part",
        HEAD + "    infer: { prompt: hi }\n    extract: { x: '.a | «now»' }\n",
        ("VAR-005",),
        "NIKA-VAR-004",
    ),
    Case(
        "a program of a fetch",
        HEAD.replace("tasks:", "permits: { net: { http: [a.example] }, tools: ['nika:fetch'] }\ntasks:")
        + "    invoke: { tool: 'nika:fetch', args: { url: 'https://a.example/', mode: jq, jq: "
        "'«input»' } }\n",
        ("VAR-005",),
    ),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_program_is_judged_before_it_runs(case: Case) -> None:
    """What the gate refuses is found inside the program, wherever the program stands."""
    assert_found(case)
