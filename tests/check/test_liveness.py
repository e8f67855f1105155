"""Tasks that can never run are refused; tasks that might run never are."""

from __future__ import annotations

import pytest

from nika_nb.check.liveness import MOST_ITEMS, MOST_TASKS
from tests.check.judging import Case, assert_found, codes, judged
from tests.check.test_graph import graph

STATUS = "with: { s: '${{ tasks.a.status }}' }\n    "

CASES = [
    Case(
        "each state that a skippable task may end in",
        graph(
            a="on_error: { skip: true }",
            b="after: { a: success }",
            c="after: { a: failure }",
            d="after: { a: skipped }",
            e="after: { a: terminal }",
        ),
    ),
    Case(
        "skipped without any way to skip",
        graph(a="", b="after: { «a: skipped» }"),
        ("DAG-006",),
        "write `terminal`",
    ),
    Case(
        "success of a task that never runs", graph(a="when: false", b="after: { «a: success» }"), ("DAG-006",)
    ),
    Case(
        "failure of a task that never runs", graph(a="when: false", b="after: { «a: failure» }"), ("DAG-006",)
    ),
    Case(
        "the value of a task that never runs is null",
        graph(a="when: false", b="with: { x: '${{ tasks.a.output }}' }"),
    ),
    Case(
        "the error of a task that never runs", graph(a="when: false", b="with: { x: '${{ tasks.a.error }}' }")
    ),
    Case("skipped by its condition", graph(a="when: ${{ 1 == 1 }}", b="after: { a: skipped }")),
    Case("skipped by an empty collection", graph(a="for_each: { items: [] }", b="after: { a: skipped }")),
    Case(
        "a collection that is never empty",
        graph(a="for_each: { items: [1] }", b="after: { «a: skipped» }"),
        ("DAG-006",),
    ),
    Case(
        "a fold of a task that never runs",
        graph(a="group: g\n    when: false", b="with: { x: '${{ group.g }}' }"),
    ),
    Case(
        "two edges that exclude each other",
        graph(a="", b="with: { x: '${{ «tasks.a.error» }}' }\n    after: { «a: success» }"),
        ("DAG-006",),
    ),
    Case(
        "a death is reported where it begins",
        graph(
            a="when: false",
            b="after: { «a: success» }",
            c="with: { x: '${{ tasks.b.output }}' }",
            d="after: { c: success }",
        ),
        ("DAG-006",),
    ),
    Case("what a condition leaves possible", graph(a="", b=STATUS + "when: ${{ with.s == 'failure' }}")),
    Case(
        "a condition on a state that its edge excludes",
        graph(a="", b=STATUS + "after: { a: success }\n    when: «${{ with.s == 'failure' }}»"),
        ("DAG-006",),
    ),
    Case(
        "a condition on a state that cannot occur",
        graph(a="", b=STATUS + "when: «${{ with.s == 'skipped' && with.s != 'success' }}»"),
        ("DAG-006",),
    ),
    Case(
        "a contradiction",
        graph(a="", b=STATUS + "when: «${{ with.s == 'success' && with.s == 'failure' }}»"),
        ("DAG-006",),
    ),
    Case(
        "a contradiction beside something unknown",
        graph(a="", b=STATUS + "when: ${{ with.s == 'skipped' || inputs.x == 1 }}").replace(
            "model: mock/echo", "model: mock/echo\ninputs: { x: { type: integer } }"
        ),
    ),
    Case("a constant condition is the author's own switch", graph(a="", b="when: ${{ false }}")),
    Case(
        "correlated branches are beyond the search",
        graph(
            a="", b="after: { a: success }", c="after: { a: failure }", d="after: { b: success, c: success }"
        ),
    ),
    Case(
        "waiting for a cleanup",
        graph(a="", b="after: { a: unwind }", c="after: { «b: success» }"),
        ("DAG-006",),
    ),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_task_is_dead_only_when_no_run_can_reach_it(case: Case) -> None:
    """A refused task is cancelled or skipped in every run; whatever may run is left alone."""
    if case.name == "two edges that exclude each other":
        report = judged(case.text)
        assert codes(report) == ["NIKA-DAG-006"]
        assert "only on" in report.errors[0].message
    else:
        assert_found(case)


def contradiction(tasks: int) -> str:
    """A condition on that many tasks that none of their states can make true."""
    names = [f"t{number}" for number in range(tasks)]
    bound = ", ".join(f"{name}: '${{{{ tasks.{name}.status }}}}'" for name in names)
    test = " || ".join(f"with.{name} == 'skipped'" for name in names)
    return graph(**dict.fromkeys(names, ""), last=f"with: {{ {bound} }}\n    when: ${{{{ {test} }}}}")


@pytest.mark.parametrize(("tasks", "dead"), [(MOST_TASKS, True), (MOST_TASKS + 1, False)])
def test_the_search_ends_at_its_declared_number_of_tasks(tasks: int, dead: bool) -> None:
    """The same contradiction is refused with six tasks and let through with seven."""
    assert ("NIKA-DAG-006" in codes(judged(contradiction(tasks)))) is dead


@pytest.mark.parametrize(("items", "dead"), [(MOST_ITEMS, True), (MOST_ITEMS + 1, False)])
def test_the_search_ends_at_its_declared_length_of_a_list(items: int, dead: bool) -> None:
    """A list of more than 256 items makes a condition count as satisfiable."""
    listed = ", ".join(["'skipped'"] * items)
    text = graph(a="", b=STATUS + f"when: ${{{{ with.s in [{listed}] }}}}")
    assert (codes(judged(text)) == ["NIKA-DAG-006"]) is dead
