"""A status is compared with what a task may end in, and with nothing else."""

from __future__ import annotations

import pytest

from tests.check.judging import Case, assert_found
from tests.check.test_graph import graph

BOUND = "with: { s: '${{ tasks.a.status }}', o: '${{ tasks.a.output }}' }\n    "

CASES = [
    Case("the four words", graph(a="", b=BOUND + "when: ${{ with.s == 'success' || with.s != 'failure' }}")),
    Case(
        "another word",
        graph(a="", b=BOUND + "when: ${{ with.s != «'done'» }}"),
        ("DAG-007",),
        "write 'success'",
    ),
    Case(
        "on the other side",
        graph(a="", b=BOUND + "when: ${{ «'failed'» != with.s }}"),
        ("DAG-007",),
        "write 'failure'",
    ),
    Case(
        "a misspelled word",
        graph(a="", b=BOUND + "when: ${{ with.s != «'succes'» }}"),
        ("DAG-007",),
        "did you mean `success`?",
    ),
    Case("in a list", graph(a="", b=BOUND + "when: ${{ with.s in ['success', «'ok'»] }}"), ("DAG-007",)),
    Case(
        "in a body",
        graph(a="", b=BOUND.rstrip()).replace(
            "  b:\n    infer: { prompt: hi }",
            "  b:\n    infer: { prompt: \"${{ with.s == «'ok'» ? 1 : 2 }}\" }",
        ),
        ("DAG-007",),
    ),
    Case("in an output", graph(a="") + "outputs: { x: \"${{ tasks.a.status == «'ok'» }}\" }\n", ("DAG-007",)),
    Case("null compares with everything", graph(a="", b=BOUND + "when: ${{ with.s != null }}")),
    Case("an output is no status", graph(a="", b=BOUND + "when: ${{ with.o == 'done' }}")),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_status_is_one_of_four_words(case: Case) -> None:
    """A word that no task ends in is found where it stands."""
    assert_found(case)
