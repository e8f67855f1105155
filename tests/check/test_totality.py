"""The check never raises, whatever the text; its places lie in the text and its codes are registered."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nika_nb.catalog.codes import CODES
from nika_nb.check import check
from nika_nb.errors import Source

SAMPLE = """\
nika: sample
model: ${{ const.m }}
const: { m: mock/echo, dirs: { out: ./out } }
inputs: { topic: { type: string, default: tea }, n: { type: { array: integer } } }
secrets: { key: { source: env, key: KEY, egress: [{ to: 'nika:fetch', host: a.example }] } }
permits: { exec: [echo], fs: { write: ['./out/**'] }, net: { http: [a.example] }, tools: ['nika:*'] }
tasks:
  ask: { invoke: { tool: 'nika:prompt', args: { message: hi, default: false } } }
  get:
    group: legs
    with: { go: '${{ tasks.ask.output }}' }
    when: ${{ with.go == true }}
    invoke: { tool: 'nika:fetch', args: { url: 'https://a.example/', headers: { k: '${{ secrets.key }}' } } }
    extract: { title: '.title' }
    on_error: { recover: '${{ tasks.ask.status }}' }
  each:
    with: { rows: '${{ inputs.n }}', s: '${{ tasks.get.status }}' }
    for_each: { items: '${{ with.rows }}' }
    infer: { prompt: '${{ item }} ${{ index }} ${{ with.s }}' }
    returns: { object: { a: string } }
  all:
    with: { legs: '${{ group.legs }}', one: '${{ tasks.each.output[0].a }}' }
    after: { each: terminal }
    when: ${{ size(with.legs) > 0 }}
    infer: { prompt: '${{ with.one }}' }
  run: { exec: { command: [echo, '${{ const.dirs.out }}'] } }
  end:
    after: { all: unwind }
    with: { x: '${{ tasks.all.output }}' }
    invoke: { tool: 'nika:write', args: { path: '${{ const.dirs.out }}/x', content: '${{ with.x }}' } }
outputs: { x: '${{ tasks.all.output }}' }
"""
WORDS = [
    "tasks", "with", "inputs", "secrets", "group", "item", ".", "[", "]", "output", "status", "ask", "get",
    "each", "a", "== 'success'", "&&", "!", "has(", ")", "${{ ", " }}", "'", '"', "{ ", " }", ": ", ", ",
    "when", "for_each", "nika:jq", "mcp:a/b", "exec", "true", "0", "~", "|", "\n  ", "\n    ", "unwind",
    "recover", "legs", "- ",
]  # fmt: skip


def total(text: str) -> None:
    report = check(Source(text))
    shown = report.render()
    assert isinstance(report.to_json(), dict)
    assert shown
    for found in report.diagnostics:
        assert found.code in CODES
        for span in (found.span, *(span for _, span in found.related)):
            if span is not None:
                assert 0 <= span.start <= span.end <= max(len(text), 1)


def test_the_sample_is_sound() -> None:
    """What the other tests mutilate is a workflow that passes."""
    assert check(Source(SAMPLE)).ok, check(Source(SAMPLE)).render()


@given(st.text(max_size=200))
@settings(max_examples=100, deadline=None)
def test_any_text_gets_a_report(text: str) -> None:
    """Text of any kind is judged, not raised at."""
    total(text)


@given(
    st.lists(st.tuples(st.integers(0, len(SAMPLE)), st.integers(0, 12), st.sampled_from(WORDS)), max_size=6)
)
@settings(max_examples=400, deadline=None)
def test_a_mutilated_workflow_gets_a_report(cuts: list[tuple[int, int, str]]) -> None:
    """A workflow with parts cut out and words put in is judged to its end."""
    text = SAMPLE
    for at, length, word in cuts:
        text = text[:at] + word + text[at + length :]
    total(text)


@pytest.mark.parametrize("seed", range(4))
def test_a_fixture_with_a_line_less_gets_a_report(conformance: Path, seed: int) -> None:
    """Every file of the suite is judged with any of its lines missing."""
    chance = random.Random(seed)
    for path in sorted(conformance.glob("examples/*.nika.yaml")):
        lines = path.read_text("utf-8").splitlines(keepends=True)
        del lines[chance.randrange(len(lines))]
        total("".join(lines))


def test_a_crowded_document_is_judged_in_bounds() -> None:
    """Thousands of faults yield a bounded report."""
    tasks = "".join(
        f"  t{n}: {{ after: {{ t{(n + 1) % 1500}: success }}, infer: {{ prompt: "
        f"'${{{{ inputs.a{n} }}}}' }} }}\n"
        for n in range(1500)
    )
    report = check(Source(f"nika: crowd\ntasks:\n{tasks}"))
    assert not report.ok
    assert len(report.diagnostics) < 3000
