"""Binding inputs: what Python hands over is taken as JSON, or refused in a sentence."""

from __future__ import annotations

from typing import Any

import pytest

from nika_nb.language.binding import bound
from tests.language.reading import workflow_of

DECLARED = """\
nika: inputs
inputs: { text: { type: string, required: false }, list: { type: { array: null }, required: false } }
tasks: { a: { exec: { command: [echo] } } }
"""


def _nested(levels: int) -> list[Any]:
    found: list[Any] = []
    for _ in range(levels):
        found = [found]
    return found


REFUSED = [
    ("half a pair", {"text": "a\ud800"}, "half of a surrogate pair"),
    ("half a pair in a key", {"list": [{"\udcff": 1}]}, "half of a surrogate pair"),
    ("deeper than validators go", {"list": _nested(300)}, "nests deeper than"),
    ("deeper than recursion goes", {"list": _nested(5000)}, "nests deeper than"),
    ("a name that is no text", {7: 1}, "`7` is not an input"),
]


@pytest.mark.parametrize(("given", "sentence"), [case[1:] for case in REFUSED], ids=[c[0] for c in REFUSED])
def test_what_no_json_can_hold_is_refused(given: dict[Any, Any], sentence: str) -> None:
    """A value that would break the run later is told as a trouble with its input, never raised."""
    _, troubles = bound(workflow_of(DECLARED), given, _how)
    assert len(troubles) == 1
    assert sentence in troubles[0]


def test_what_fits_is_bound_and_nothing_is_said() -> None:
    """What was not given is null where it need not be."""
    assert bound(workflow_of(DECLARED), {"list": [None]}, _how) == ({"text": None, "list": [None]}, [])


def test_what_does_not_fit_is_told_with_how_it_would() -> None:
    """A number for a text is most likely a text that was read as a number."""
    _, [trouble] = bound(workflow_of(DECLARED), {"text": 5}, _how)
    assert trouble.startswith("input `text` does not fit its type: ")
    assert trouble.endswith('; as a text it is written text="…"')


def _how(name: str, value: str) -> str:
    return f"{name}={value}"
