"""One line: what is written, what is tolerated, how lines are chained."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nika_nb.engine.events import Event
from nika_nb.trace.frame import GENESIS_CHAIN, decode, encode, link

WHOLE = st.integers(-(2**63), 2**63 - 1)  # what no counter of a run reaches reads as null
json_values = st.recursive(
    st.none() | st.booleans() | WHOLE | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
events = st.builds(
    Event,
    kind=st.text(min_size=1),
    fields=st.dictionaries(st.text(), json_values, max_size=6),
    at=st.integers(min_value=0, max_value=2**63 - 1),
    id=st.uuids().map(str),
)


IDS = st.none() | st.from_regex(r"[!-~]{1,200}", fullmatch=True)


@given(events, IDS, IDS)
def test_a_frame_is_read_as_it_was_written(event: Event, run: str | None, correlation: str | None) -> None:
    """Kind, fields in their order, id, time and both run ids survive one line."""
    line = encode(event, GENESIS_CHAIN, run, correlation)
    frame = decode(line, 7)
    assert b"\n" not in line
    assert (frame.kind, frame.id, frame.timestamp) == (event.kind, event.id, event.at)
    assert list(frame.fields.items()) == list(event.fields.items())
    assert (frame.run, frame.correlation, frame.chain, frame.line) == (run, correlation, GENESIS_CHAIN, 7)


@pytest.mark.parametrize(
    "text", ["", "a b", "a\n", "a\x1b]0;title\x07", "a\N{RIGHT-TO-LEFT OVERRIDE}", "a" * 201]
)
def test_an_id_that_nobody_can_be_told_to_write_is_none(text: str) -> None:
    """It would stand in the lines that people copy."""
    frame = decode(encode(Event("live", {}, 1, ""), "c", text, text))
    assert (frame.run, frame.correlation) == (None, None)


def test_a_number_that_nothing_counts_to_is_null() -> None:
    """A made-up journal cannot bring a number that breaks who reads it."""
    line = encode(Event("live", {"big": 2**63, "edge": 2**63 - 1}, 1, ""), "c", None, None)
    assert dict(decode(line).fields) == {"big": None, "edge": 2**63 - 1}


@given(st.text(st.characters(categories=["Cs", "L", "Cc"])))
def test_lone_surrogates_never_refuse_a_line(text: str) -> None:
    """What UTF-8 cannot hold is written as `?`; the line stays JSON."""
    line = encode(Event("live", {"text": text}, 1, ""), "c", None, None)
    assert decode(line).get("text") == text.encode("utf-8", "replace").decode()


def test_the_bytes_of_a_line_are_canonical() -> None:
    """Members sorted, no blanks, raw UTF-8, fields in their own order."""
    event = Event("task_started", {"task": "é\u2028", "note": "a · b"}, 5, "id-1")
    assert encode(event, "c0", None, "r1").decode() == (
        '{"chain":"c0","correlation":"r1","fields":[{"key":"task","value":"é\u2028"},'
        '{"key":"note","value":"a · b"}],"id":{"uuid":"id-1"},"kind":"task_started","run":null,"timestamp":5}'
    )


def test_values_are_written_in_one_way() -> None:
    """Where a field holds an object, its members are sorted too: the same run, the same bytes."""
    one, other = ({"b": 1, "a": {"d": 2, "c": 3}}, {"a": {"c": 3, "d": 2}, "b": 1})
    lines = {encode(Event("x", {"v": value}, 1, ""), "", None, None) for value in (one, other)}
    assert len(lines) == 1


def test_numbers_that_json_lacks_become_null() -> None:
    """A cost that is not finite, or a value of no JSON type, never makes a line that others cannot read."""
    line = encode(
        Event("x", {"usd": float("inf"), "n": [float("nan"), 1.5], "p": Path("a")}, 1, ""), "", None, None
    )
    assert decode(line).fields == {"usd": None, "n": [None, 1.5], "p": "a"}


def test_unknown_members_and_odd_fields_are_tolerated() -> None:
    """A newer engine's line is read for what is known of it."""
    line = json.dumps(
        {
            "kind": "task_dreamt",
            "execution": {"id": 1},
            "fields": [{"key": "task", "value": "a", "unit": "x"}, "odd", {"key": 3}, {"key": "bare"}],
            "id": "old-style",
            "timestamp": "late",
            "run": 5,
        }
    )
    frame = decode(line.encode())
    assert frame.fields == {"task": "a", "bare": None}
    assert (frame.kind, frame.id, frame.timestamp, frame.run, frame.chain) == (
        "task_dreamt",
        "",
        0,
        None,
        None,
    )


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b'{"kind":"a"}{"kind":"b"}', "two lines are fused"),
        (b"\0" * 512, "NUL"),
        (b'{"kind":"a","fie', "not a whole JSON object"),
        (b'{"kind":"\xff"}', "not UTF-8"),
        (b'{"kind":"a","timestamp":NaN}', "not a whole JSON object"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"name":"something else"}', "names no kind"),
        (b"[1,2]", "names no kind"),
        (b'{"kind":"a","timestamp":' + b"9" * 5000 + b"}", "not a whole JSON object"),
    ],
)
def test_what_is_no_frame_says_why(line: bytes, why: str) -> None:
    """Every kind of damage has its own words, and none escapes as another exception."""
    with pytest.raises(ValueError, match=why):
        decode(line)


def test_the_chain_of_the_golden_journal(conformance: Path) -> None:
    """The published journal's chain follows from its exact bytes, from the genesis tag on."""
    lines = (
        (conformance / "tests/runtime/trace/001-golden-chained-journal/trace.ndjson")
        .read_bytes()
        .splitlines()
    )
    assert GENESIS_CHAIN == "7466341540fd02fca9ec21937862176b7821a52495b86d81bb5f30d16c8462dc"
    expected = GENESIS_CHAIN
    for line in lines:
        assert decode(line).chain == expected
        expected = link(line)
    assert expected == hashlib.sha256(lines[-1]).hexdigest()


def test_the_reference_engine_s_lines_are_written_byte_for_byte(conformance: Path) -> None:
    """A frame read from any stored journal and written again gives the same bytes."""
    traces = sorted((conformance / "reference-traces").glob("*.ndjson"))
    assert len(traces) == 61
    for path in traces:
        for line in path.read_bytes().splitlines():
            frame = decode(line)
            event = Event(frame.kind, frame.fields, frame.timestamp, frame.id)
            assert encode(event, frame.chain or "", frame.run, frame.correlation) == line
