"""Old traces that make room are told of from Python as well, and how to keep them."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

import nika_nb

TEXT = """nika: sweep
permits: { exec: ["./say"] }
tasks:
  one: { exec: { command: ["./say", "one"] } }
"""


def test_a_loop_of_runs_warns_once_and_notes_each(say: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The warning points at the caller's line; a notice says how many went each time."""
    monkeypatch.setenv("NIKA_TRACE_KEEP", "2")
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("default")
        made = [nika_nb.run(TEXT) for _ in range(6)]
    wanted = (
        "old traces were removed: more than 2 of one workflow; to keep more: NIKA_TRACE_KEEP=… or gc=False"
    )
    assert [str(one.message) for one in said] == [wanted]
    assert said[0].filename == __file__
    told = [[notice for notice in run.notices if "trace gc" in notice] for run in made]
    assert [len(lines) for lines in told] == [0, 0, 0, 1, 1, 1]
    assert told[-1][0].startswith("trace gc · removed 1 (more than 2 of one workflow) · kept 2 · ")
    assert told[-1][0].endswith(" · to keep more: NIKA_TRACE_KEEP=… or gc=False")


def test_what_it_names_keeps_them(say: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Either of the two ways, and then nothing warns."""
    monkeypatch.setenv("NIKA_TRACE_KEEP", "1")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(4):
            nika_nb.run(TEXT, gc=False)
        monkeypatch.setenv("NIKA_TRACE_KEEP", "10000")
        nika_nb.run(TEXT)
    assert len(nika_nb.read_traces(say).runs) == 5
