"""What a task recovers with is what its readers get: it fits the declared type, or the check warns."""

from __future__ import annotations

import pytest

from nika_nb.check import check
from nika_nb.errors import Source

HEAD = """\
nika: rescue
permits: { exec: ["x"] }
inputs: { s: { type: string, default: a }, n: { type: integer, default: 1 } }
const: { c: { rows: x } }
tasks:
"""
ROWS = "{ object: { rows: integer } }"


def warned(task: str, more: str = "") -> list[tuple[str, str]]:
    """(code, where) of each warning, and no error."""
    text = f'{HEAD}  t: {{ exec: {{ command: ["x"], decode: json }}, {task} }}\n{more}'
    report = check(Source(text))
    assert report.errors == ()
    return [(w.code, text[w.span.start : w.span.end]) for w in report.warnings if w.span]


@pytest.mark.parametrize(
    ("returns", "value"),
    [
        (ROWS, "{ rows: many }"),
        (ROWS, "{ rows: 1, more: 2 }"),
        (ROWS, '"${{ const.c }}"'),
        ("integer", '"${{ inputs.s }}"'),
        ("{ integer: { max: 3 } }", "4"),
        ("string", "7"),
    ],
)
def test_a_recovery_of_another_type(returns: str, value: str) -> None:
    """It is told where it stands: a run would end with the same code."""
    assert warned(f"returns: {returns}, on_error: {{ recover: {value} }}") == [("NIKA-TYPE-101", value)]


@pytest.mark.parametrize(
    ("returns", "value"),
    [
        (ROWS, "{ rows: 1 }"),
        (ROWS, "null"),
        (ROWS, '{ rows: "${{ inputs.s }}" }'),
        ("integer", '"${{ inputs.n }}"'),
        ("number", '"${{ inputs.n }}"'),
        ("integer", '"${{ inputs.n > 0 ? 1 : 2 }}"'),
        ("string", '"n ${{ inputs.n }}"'),
    ],
)
def test_a_recovery_that_fits_or_that_only_the_run_can_judge(returns: str, value: str) -> None:
    """Silence; null says that there is no value."""
    assert warned(f"returns: {returns}, on_error: {{ recover: {value} }}") == []


def test_without_a_declared_type_any_value_recovers() -> None:
    assert warned("on_error: { recover: { rows: many } }") == []


@pytest.mark.parametrize("read", ["tasks.t.output.rows", "tasks.t.output[0]"])
def test_a_path_into_a_recovery_to_null(read: str) -> None:
    """It cannot be read then, wherever it stands."""
    rescued = "on_error: { recover: null }"
    task = f'  u: {{ with: {{ v: "${{{{ {read} }}}}" }}, exec: {{ command: ["x", "${{{{ with.v }}}}"] }} }}\n'
    outputs = f'outputs: {{ o: "${{{{ {read} }}}}" }}\n'
    for reader in (task, outputs):
        assert warned(rescued, reader) == [("NIKA-VAR-001", read)]


@pytest.mark.parametrize(
    ("policy", "read"),
    [
        ("on_error: { recover: null }", "tasks.t.output"),
        ("on_error: { recover: null }", "tasks.t.output == null ? 0 : tasks.t.output.rows"),
        ("on_error: { recover: null }", "tasks.t.status"),
        ("on_error: { recover: { rows: 1 } }", "tasks.t.output.rows"),
        ("for_each: { items: [1] }, on_error: { recover: null }", "tasks.t.output[0]"),
    ],
)
def test_reads_that_a_null_does_not_break(policy: str, read: str) -> None:
    """The whole, one that looks first, another field, an element of a fan-out's list."""
    assert warned(policy, f'outputs: {{ o: "${{{{ {read} }}}}" }}\n') == []
