"""A journal whose chain is broken: every look at it says so loudly, and shows what can be read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import nika_nb
from tests.doors import Terminal

FLOW = """\
nika: flow
permits: { exec: ["echo"] }
tasks:
  first: { exec: { command: ["echo", "alpha"] } }
  second: { with: { x: "${{ tasks.first.output }}" }, exec: { command: ["echo", "${{ with.x }}"] } }
outputs: { said: "${{ tasks.second.output }}" }
"""
SAID = "its chain is BROKEN at line "


@pytest.fixture
def traces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """(one that is whole, one of the same run in which a word was changed)."""
    monkeypatch.chdir(tmp_path)
    whole = nika_nb.run(FLOW).trace
    assert whole is not None
    broken = whole.with_name("broken.ndjson")
    broken.write_text(whole.read_text(encoding="utf-8").replace("alpha", "alphb", 2), encoding="utf-8")
    return whole, broken


LOOKS: list[tuple[str, Callable[[Path, Path], object], tuple[str, ...], str]] = [
    ("show", lambda whole, broken: nika_nb.attach(broken), ("show",), "✔  second"),
    ("why", lambda whole, broken: nika_nb.why(broken), ("why",), "second  first run"),
    ("ledger", lambda whole, broken: nika_nb.ledger(broken), ("ledger",), "broken.ndjson  flow"),
    ("diff", nika_nb.diff, ("diff",), "the same"),
]


@pytest.mark.parametrize(("name", "look", "words", "shown"), LOOKS, ids=[look[0] for look in LOOKS])
def test_a_look_at_a_broken_chain_says_so(
    traces: tuple[Path, Path],
    terminal: Terminal,
    name: str,
    look: Callable[[Path, Path], object],
    words: tuple[str, ...],
    shown: str,
) -> None:
    """Once, in Python and in a terminal; in HTML as well; a whole one is not doubted."""
    whole, broken = traces
    found = look(whole, broken)
    assert repr(found).count(SAID) == 1
    assert shown in repr(found)
    assert SAID in found._repr_mimebundle_()["text/html"]  # type: ignore[attr-defined]
    both = (whole, broken) if name == "diff" else (broken,)
    done = terminal("trace", *words, *map(str, both))
    assert (done.code, done.out.decode().count(SAID)) == (0, 1)
    assert "BROKEN" not in repr(look(whole, whole))


def test_an_answer_as_data_carries_the_doubt(traces: tuple[Path, Path]) -> None:
    """What is read by a program is doubted as well."""
    whole, broken = traces
    assert nika_nb.why(whole).to_json()["doubts"] == ()
    assert SAID in nika_nb.why(broken).doubts[0]
    assert nika_nb.diff(broken, whole).doubts[0].startswith("broken.ndjson: ")
    assert len(nika_nb.ledger(broken).doubts) == 1
