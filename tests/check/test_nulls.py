"""What a skipped task gives is null: a warning where that would reach the world, and silence elsewhere."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from tests.check.judging import judged

FLOW = """\
nika: flow
model: mock/echo
permits: {{ exec: ["echo"], tools: ["nika:prompt"] }}
inputs: {{ go: {{ type: bool, default: false }} }}
tasks:
  other: {{ when: "${{{{ inputs.go == true }}}}", {echo} }}
  gate: {{ {gate} }}
  use: {{ {use} }}
"""
ECHO = 'exec: { command: ["echo", "x"] }'
GATE = f'when: "${{{{ inputs.go == true }}}}", {ECHO}'
SKIPS = f"on_error: {{ skip: true }}, {ECHO}"
READS = 'with: { a: "${{ tasks.gate.output }}" }'
ACTS = 'exec: { command: ["echo", "${{ with.a }}"] }'


@dataclass(frozen=True)
class Case:
    """A gate, and what reads it."""

    name: str
    gate: str
    use: str

    def __str__(self) -> str:
        return self.name


LOUD = [
    Case("a gate that may be closed", GATE, f"{READS}, {ACTS}"),
    Case("an error that skips", SKIPS, f"{READS}, {ACTS}"),
    Case(
        "in a text",
        GATE,
        f'with: {{ a: "for ${{{{ tasks.gate.output }}}}" }}, {ACTS}',
    ),
    Case("a when that null opens", GATE, f"{READS}, when: \"${{{{ with.a != 'no' }}}}\", {ACTS}"),
    Case("an after that a skip passes", GATE, f"{READS}, after: {{ gate: terminal }}, {ACTS}"),
    Case(
        "a question",
        GATE,
        f'{READS}, invoke: {{ tool: "nika:prompt", args: {{ message: "${{{{ with.a }}}}?" }} }}',
    ),
]

SILENT = [
    Case("a task that always runs", ECHO, f"{READS}, {ACTS}"),
    Case("a gate of its own", GATE, f"{READS}, after: {{ gate: success }}, {ACTS}"),
    Case("a when that null closes", GATE, f"{READS}, when: \"${{{{ with.a == 'yes' }}}}\", {ACTS}"),
    Case("a when that nobody can decide", GATE, f'{READS}, when: "${{{{ size(with.a) > 0 }}}}", {ACTS}'),
    Case(
        "an expression that makes something of it",
        GATE,
        f"with: {{ a: \"${{{{ tasks.gate.output == null ? 'x' : 'y' }}}}\" }}, {ACTS}",
    ),
    Case("its status", GATE, f'with: {{ a: "${{{{ tasks.gate.status }}}}" }}, {ACTS}'),
    Case("what acts on nothing", GATE, f'{READS}, infer: {{ prompt: "${{{{ with.a }}}}" }}'),
    Case("what does not stand in the act", GATE, f"{READS}, {ECHO}"),
    Case(
        "two branches that meet",
        GATE,
        'with: { a: "${{ tasks.gate.output }}", b: "${{ tasks.other.output }}" }, '
        'exec: { command: ["echo", "${{ with.a }}", "${{ with.b }}"] }',
    ),
    Case(
        "a fan-out that may be empty",
        f"for_each: {{ items: \"${{{{ ['a'] }}}}\" }}, on_error: {{ skip: true }}, {ECHO}",
        f"{READS}, {ACTS}",
    ),
]


def _warned(case: Case) -> list[tuple[str, str]]:
    report = judged(FLOW.format(echo=ECHO, gate=case.gate, use=case.use))
    assert report.ok, report.render()
    return [(found.message, found.hint) for found in report.warnings if found.task == "use"]


@pytest.mark.parametrize("case", LOUD, ids=str)
def test_a_null_that_reaches_the_world_is_warned_of(case: Case) -> None:
    """The reader runs all the same when its producer is skipped, and is told what to write."""
    [(message, hint)] = _warned(case)
    assert message == "`gate` may be skipped: `with.a` is null then, and `use` runs all the same"
    assert "`after: {gate: success}`" in hint


@pytest.mark.parametrize("case", SILENT, ids=str)
def test_where_it_does_no_harm_nothing_is_said(case: Case) -> None:
    """Whoever joins branches or looks before acting has thought of it."""
    assert _warned(case) == []
