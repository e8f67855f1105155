"""Comparisons and indices that the declared types exclude are told of before the run; no others are."""

from __future__ import annotations

import pytest

import nika_nb
from tests.check.judging import judged

FLOW = """\
nika: flow
permits: {{ exec: ["echo"] }}
inputs:
  s: {{ type: string, default: "a" }}
  n: {{ type: integer, default: 1 }}
  b: {{ type: bool, default: true }}
  xs: {{ type: {{ array: string }}, default: ["a"] }}
  m: {{ type: {{ enum: [a, b] }}, default: a }}
  row: {{ type: {{ object: {{ k: number, o: {{ optional: string }} }} }}, default: {{ k: 1 }} }}
  u: {{ type: {{ union: [string, integer] }}, default: 1 }}
  z: {{ type: {{ union: [string, null] }}, default: null }}
const: {{ c: 3 }}
tasks:
  first: {{ exec: {{ command: ["echo", "2"], decode: json }}, returns: integer }}
  go:
    with: {{ w: "${{{{ inputs.s }}}}", f: "${{{{ tasks.first.output }}}}" }}
    when: ${{{{ {when} }}}}
    exec: {{ command: ["echo", "x"] }}
"""

LOUD = [
    ("inputs.s == 1", "text with a number"),
    ("inputs.s < 1", "text with a number"),
    ("1 != inputs.s", "a number with text"),
    ("inputs.b == 'true'", "true or false with text"),
    ("inputs.m == 1", "text with a number"),
    ("inputs.xs == 'a'", "a list with text"),
    ("inputs.xs[0] > 1", "text with a number"),
    ("inputs.row.k == '1'", "a number with text"),
    ("inputs.row == [1]", "an object with a list"),
    ("size(inputs.xs) == '1'", "a number with text"),
    ("const.c == '3'", "a number with text"),
    ("with.w == 1", "text with a number"),
    ("with.f == '2'", "a number with text"),
    ("inputs.n > null", "a number with null"),
    ("inputs.b == true && !(inputs.s == 1)", "text with a number"),
]
SILENT = [
    "inputs.s == 'a'", "inputs.s == null", "inputs.n == 1.0", "inputs.n < 2", "inputs.b == false",
    "inputs.xs == ['a']", "inputs.xs[0] == 'a'", "inputs.row.k >= 1",
    "inputs.row.o == 'x'", "inputs.u == 'a'",
    "inputs.z == 'a'", "size(inputs.xs) > 0", "(inputs.n > 0) == true", "'a' in inputs.xs", "const.c == 3",
    "with.w == 'a'", "with.f == 2", "inputs.m == 'a'",
]  # fmt: skip


@pytest.mark.parametrize(("when", "says"), LOUD, ids=[case[0] for case in LOUD])
def test_types_that_cannot_meet_are_a_warning(when: str, says: str) -> None:
    """It stands below the comparison, names both types, and refuses nothing."""
    report = judged(FLOW.format(when=when))
    assert not report.errors
    [found] = report.warnings
    assert found.code == "NIKA-VAR-006"
    assert says in found.message
    assert found.task == "go"


BACKWARDS = [
    ("inputs.xs[-1] == 'a'", 1),
    ("with.f == 2 && inputs.xs[0] == 'a'", 0),
    ("inputs.xs[-2] == 'a'", 1),
]


@pytest.mark.parametrize(("when", "count"), BACKWARDS, ids=[case[0] for case in BACKWARDS])
def test_an_index_from_behind_is_a_warning(when: str, count: int) -> None:
    """No list has such an element, however long it is."""
    report = judged(FLOW.format(when=when))
    assert [found.code for found in report.diagnostics] == ["NIKA-VAR-001"] * count
    for found in report.warnings:
        assert found.span is not None
        assert report.source.text[found.span.start : found.span.end] in ("-1", "-2")


@pytest.mark.parametrize("when", SILENT)
def test_types_that_may_meet_are_none(when: str) -> None:
    """What is of one type, may be null, or is not known."""
    assert not judged(FLOW.format(when=when)).diagnostics


@pytest.mark.parametrize("when", ["inputs.s == 1", "inputs.xs == 'a'", "inputs.n > null"])
def test_the_run_fails_as_it_was_told(folder: object, when: str) -> None:
    """The warning is true."""
    error = nika_nb.run(FLOW.format(when=when)).tasks["go"].error
    assert error is not None
    assert error["code"] == "NIKA-VAR-006"
