"""Order on the scheduling edges."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from nika_nb.errors import Span
from nika_nb.plan.edges import Edge
from nika_nb.plan.graph import Reach, cycle, downstream, reached, topological

NOWHERE = Span(0, 0)


def edges(*pairs: tuple[str, str]) -> list[Edge]:
    return [Edge(a, b, "control", NOWHERE, predicate="success") for a, b in pairs]


def test_a_cycle_is_named_whole() -> None:
    """The tasks of one cycle in order, the first repeated at the end."""
    assert cycle("abc", edges(("a", "b"), ("b", "c"), ("c", "b"))) == ["b", "c", "b"]
    assert cycle("a", edges(("a", "a"))) == ["a", "a"]
    assert cycle("abc", edges(("a", "b"), ("a", "c"))) == []


def test_cleanup_and_recovery_edges_do_not_order_anything() -> None:
    """Only scheduling edges make waves."""
    back = [Edge("b", "a", "recovery", NOWHERE), Edge("b", "a", "finally", NOWHERE)]
    assert topological("ab", [*edges(("a", "b")), *back]) == ["a", "b"]


def test_downstream_follows_recovery_but_not_cleanup() -> None:
    """What a change can reach: data, control and recovery edges."""
    found = [*edges(("a", "b")), Edge("b", "c", "recovery", NOWHERE), Edge("b", "d", "finally", NOWHERE)]
    assert downstream(found, "a") == {"b", "c"}


def test_a_chain_of_ten_thousand_is_no_recursion() -> None:
    """Depth costs time in proportion, not stack."""
    names = [f"t{i}" for i in range(10_000)]
    chain = edges(*itertools.pairwise(names))
    assert cycle(names, chain) == []
    assert topological(names, chain) == names


@given(st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), max_size=40))
def test_an_order_exists_exactly_when_there_is_no_cycle(pairs: list[tuple[int, int]]) -> None:
    """A topological order holds every task and respects every edge; a cycle is a real one."""
    nodes = [f"t{i}" for i in range(12)]
    found = edges(*((f"t{a}", f"t{b}") for a, b in pairs))
    ring = cycle(nodes, found)
    order = topological(nodes, found)
    if ring:
        steps = {(edge.producer, edge.consumer) for edge in found}
        assert ring[0] == ring[-1]
        assert all(step in steps for step in itertools.pairwise(ring))
        assert len(order) < len(nodes)
    else:
        at = {name: i for i, name in enumerate(order)}
        assert sorted(order) == sorted(nodes)
        assert all(at[edge.producer] < at[edge.consumer] for edge in found)


@given(st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), max_size=40))
def test_what_comes_after_what_is_the_same_asked_at_once_or_one_by_one(pairs: list[tuple[int, int]]) -> None:
    """Also where some of the tasks wait for each other."""
    nexts: dict[str, list[str]] = {f"t{i}": [] for i in range(12)}
    for a, b in pairs:
        nexts[f"t{a}"].append(f"t{b}")
    reach = Reach(nexts)
    for first, second in itertools.product(nexts, nexts):
        assert reach.leads(first, second) == (second in reached(nexts, first))
