"""The declared graph: ends of edges, cycles, recoveries, cleanups."""

from __future__ import annotations

import pytest

from tests.check.judging import Case, assert_found, judged


def graph(**tasks: str) -> str:
    """A workflow of tasks that do nothing but `model` calls, each with the given lines."""
    lines = "".join(f"  {name}:\n    infer: {{ prompt: hi }}\n    {more}\n" for name, more in tasks.items())
    return f"nika: graph\nmodel: mock/echo\ntasks:\n{lines}"


CASES = [
    Case("a chain", graph(a="", b="after: { a: success }", c="with: { x: '${{ tasks.b.output }}' }")),
    Case("an edge to nowhere", graph(a="", b="after: { «aa»: success }"), ("DAG-002",), "did you mean `a"),
    Case(
        "a cleanup of nothing",
        graph(a="", b="after: { «zzz»: unwind }"),
        ("DAG-002",),
        "the tasks are `a`, `b`",
    ),
    Case(
        "a state of another language",
        graph(a="", b="after: { a: «succeeded» }"),
        ("DAG-005",),
        "write `success`",
    ),
    Case("any end", graph(a="", b="after: { a: «always» }"), ("DAG-005",), "write `terminal`"),
    Case(
        "a misspelled state", graph(a="", b="after: { a: «sucess» }"), ("DAG-005",), "did you mean `success`?"
    ),
    Case(
        "a state that nobody knows",
        graph(a="", b="after: { a: «whatever» }"),
        ("DAG-005",),
        "the states are success",
    ),
    Case(
        "a task waits for itself",
        graph(a="after: { «a: success» }"),
        ("DAG-001",),
        says="`a` waits for itself",
    ),
    Case(
        "two tasks wait for each other",
        graph(a="with: { x: '${{ «tasks.b.output» }}' }", b="after: { a: success }"),
        ("DAG-001",),
        says="a → b → a",
    ),
    Case(
        "a whole cycle is named",
        graph(
            a="after: { «c: success» }",
            b="after: { a: success }",
            c="after: { b: terminal }",
            d="after: { a: success }",
        ),
        ("DAG-001",),
        says="a → b → c → a",
    ),
    Case(
        "two cycles",
        graph(a="after: { «a: success» }", b="after: { «c: success» }", c="after: { b: success }"),
        ("DAG-001", "DAG-001"),
    ),
    Case(
        "a fold of its own group",
        graph(a="group: legs", b="group: legs\n    with: { x: '${{ «group.legs» }}' }"),
        ("DAG-001",),
        says="`b` waits for itself",
    ),
    Case("a cleanup of itself", graph(c="after: { «c: unwind» }"), ("DAG-006",), says="`c` can never run"),
    Case(
        "a ring of cleanups",
        graph(
            p="", c="after: { p: unwind, «e: unwind» }", d="after: { c: unwind }", e="after: { d: unwind }"
        ),
        ("DAG-006",),
        "name the task",
        "it cleans up after itself (c → d → e → c)",
    ),
    Case("a chain of cleanups", graph(p="", c="after: { p: unwind }", d="after: { c: unwind, p: unwind }")),
    Case("a cleanup that waits as well", graph(p="", q="", c="after: { p: unwind, q: success }")),
    Case(
        "a cleanup that waits for what can never be",
        graph(p="", q="when: false", c="after: { p: unwind, «q: success» }"),
        ("DAG-006",),
    ),
    Case(
        "a cleanup of several elements",
        graph(p="", c="after: { p: unwind }\n    for_each: «{ items: [1, 2] }»"),
        ("PARSE-005",),
        "fan out in an ordinary task",
        "runs once",
    ),
    Case(
        "recovering from one's own cleanup",
        graph(a="on_error: { recover: '${{ «tasks.c.output» }}' }", c="after: { a: unwind }"),
        ("DAG-004",),
        says="`c`, which comes after `a`",
    ),
    Case(
        "recovering from the cleanup of another task",
        graph(a="on_error: { recover: '${{ tasks.c.output }}' }", b="", c="after: { b: unwind }"),
    ),
    Case("recovering from aside", graph(a="", b="on_error: { recover: '${{ tasks.a.output }}' }")),
    Case(
        "recovering from below",
        graph(
            a="on_error: { recover: '${{ «tasks.c.output» }}' }",
            b="after: { a: success }",
            c="after: { b: success }",
        ),
        ("DAG-004",),
        says="`c`, which comes after `a`",
    ),
    Case(
        "recovering from itself",
        graph(a="on_error: { recover: '${{ «tasks.a.output» }}' }"),
        ("DAG-004",),
        says="cannot recover from itself",
    ),
    Case("cleanups chain", graph(a="", b="after: { a: unwind }", c="after: { b: unwind }")),
    Case("a cleanup in a group", graph(a="", b="«group: legs»\n    after: { a: unwind }"), ("DAG-009",)),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_graph_is_judged_edge_by_edge(case: Case) -> None:
    """Every fault of the graph is found at the edge that makes it."""
    assert_found(case)


def test_a_cycle_shows_where_each_of_its_edges_stands() -> None:
    """The other edges of a cycle are listed with their places."""
    report = judged(graph(a="after: { c: success }", b="after: { a: success }", c="after: { b: terminal }"))
    (error,) = report.errors
    lines = [report.source.position(span.start)[0] for _, span in error.related]
    assert [text for text, _ in error.related] == ["`b` waits for `a` here", "`c` waits for `b` here"]
    assert lines == [9, 12]


def test_a_task_that_could_not_be_read_is_not_called_unknown() -> None:
    """A name that stands in `tasks:` is declared, whatever is wrong with its body."""
    report = judged(
        "nika: x\ntasks:\n  a: { exec: {} }\n  b:\n    after: { a: success }\n    infer: { prompt: hi }\n"
    )
    assert [error.code for error in report.errors] == ["NIKA-PARSE-018"]
