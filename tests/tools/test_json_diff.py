"""`nika:json_diff`: the patch that turns one value into another, short where values moved apart."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nika_nb.tools.json_diff import Step, steps
from nika_nb.values import dumps_sorted
from tests.tools.using import fault, use
from tests.verbs.calls import Recorder


def applied(document: Any, patch: list[Step]) -> Any:
    """RFC 6902, as far as the tool uses it."""
    for step in patch:
        names = [name.replace("~1", "/").replace("~0", "~") for name in step["path"].split("/")[1:]]
        if not names:
            document = step["value"]
            continue
        target = document
        for name in names[:-1]:
            target = target[int(name)] if isinstance(target, list) else target[name]
        _apply(target, names[-1], step)
    return document


def _apply(target: Any, name: str, step: Step) -> None:
    if isinstance(target, list):
        at = int(name)
        assert at <= len(target) if step["op"] == "add" else at < len(target)
        if step["op"] == "add":
            target.insert(at, step["value"])
        elif step["op"] == "remove":
            del target[at]
        else:
            target[at] = step["value"]
    elif step["op"] == "remove":
        del target[name]
    else:
        assert (name in target) is (step["op"] == "replace")
        target[name] = step["value"]


KEYS = st.sampled_from(["a", "b", "/", "~", "~1", "", "é"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-1, 2) | st.sampled_from([0.0, 1.0, "a", "b", 2**60, 2**60 + 1]),
    lambda inner: st.lists(inner, max_size=6) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=20,
)


@settings(max_examples=400, deadline=None)
@given(VALUES, VALUES)
def test_the_patch_turns_one_into_the_other(before: Any, after: Any) -> None:
    """Applied step by step, it gives exactly the second value; equal values need no step."""
    patch = list(steps(before, after))
    assert dumps_sorted(applied(copy.deepcopy(before), copy.deepcopy(patch))) == dumps_sorted(after)
    assert (patch == []) is (dumps_sorted(before) == dumps_sorted(after))


CASES: list[tuple[str, Any, Any, list[Step]]] = [
    ("nothing", {"a": [1]}, {"a": [1]}, []),
    ("the whole", 1, [], [{"op": "replace", "path": "", "value": []}]),
    ("true is not one", [True], [1], [{"op": "replace", "path": "/0", "value": 1}]),
    (
        "keys in order, escaped",
        {"b": 1, "a/b": 1, "m~n": 1},
        {"c": 2, "a/b": 2, "m~n": 2},
        [
            {"op": "replace", "path": "/a~1b", "value": 2},
            {"op": "remove", "path": "/b"},
            {"op": "add", "path": "/c", "value": 2},
            {"op": "replace", "path": "/m~0n", "value": 2},
        ],
    ),
    (
        "a list that has grown",
        {"features": ["a", "b"], "tiers": 3},
        {"features": ["a", "b", "c"], "tiers": 4},
        [
            {"op": "add", "path": "/features/2", "value": "c"},
            {"op": "replace", "path": "/tiers", "value": 4},
        ],
    ),
    (
        "a feed: new at the head, old off the end",
        [{"n": 3}, {"n": 2}, {"n": 1}],
        [{"n": 5}, {"n": 4}, {"n": 3}, {"n": 2}],
        [
            {"op": "add", "path": "/0", "value": {"n": 5}},
            {"op": "add", "path": "/1", "value": {"n": 4}},
            {"op": "remove", "path": "/4"},
        ],
    ),
    (
        "one item changed inside",
        [{"n": 1}, {"n": 2, "t": "x"}, {"n": 3}],
        [{"n": 1}, {"n": 2, "t": "y"}, {"n": 3}],
        [{"op": "replace", "path": "/1/t", "value": "y"}],
    ),
    ("several gone", [1, 2, 3, 4], [4], [{"op": "remove", "path": "/0"}] * 3),
]


@pytest.mark.parametrize(("name", "before", "after", "patch"), CASES, ids=[case[0] for case in CASES])
def test_patches(recorder: Recorder, name: str, before: Any, after: Any, patch: list[Step]) -> None:
    """As short as a reader expects: what stayed in a list is not named."""
    assert use(recorder, "nika:json_diff", before=before, after=after) == patch


def test_long_lists(recorder: Recorder) -> None:
    """Beyond a bound items are matched by position, which is longer and still right."""
    before, after = list(range(5000)), list(range(1, 5000, 2))
    patch = use(recorder, "nika:json_diff", before=before, after=after)
    assert applied(before[:], patch) == after
    head = use(recorder, "nika:json_diff", before=before, after=["new", *before])
    assert head == [{"op": "add", "path": "/0", "value": "new"}]


@pytest.mark.parametrize("value", [b"ab", {"a": b"x"}, [float("nan")], {1: 2}])
def test_what_is_no_json(recorder: Recorder, value: Any) -> None:
    """It has no difference from anything."""
    if isinstance(value, dict) and 1 in value:
        value = {"a": {1, 2}}
    found = fault(recorder, "nika:json_diff", before=1, after=value)
    assert found.code == "NIKA-BUILTIN-JSON_DIFF-001"
    assert "`after:` is not a JSON value" in found.message


def nested(leaf: int, levels: int) -> Any:
    value: Any = leaf
    for _ in range(levels):
        value = [value]
    return value


def test_deep_values(recorder: Recorder) -> None:
    """They are compared as deep as JSON comes, and refused where they cannot be walked."""
    patch = use(recorder, "nika:json_diff", before=nested(1, 200), after=nested(2, 200))
    assert patch == [{"op": "replace", "path": "/0" * 200, "value": 2}]
    for levels in (700, 5000):
        found = fault(recorder, "nika:json_diff", before=nested(1, levels), after=nested(2, levels))
        assert found.code == "NIKA-BUILTIN-JSON_DIFF-001"
