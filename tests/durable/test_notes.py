"""The note of a resume that was refused, wherever somebody meets it: it is no run's trace."""

from __future__ import annotations

from pathlib import Path

import pytest

import nika_nb
from nika_nb import runs
from nika_nb.errors import UsageError
from tests.doors import Terminal
from tests.durable.project import GATE, Project

ANSWERS = {"ask": "yes", "name": "Ann"}


@pytest.fixture
def note(here: Project) -> Path:
    """Beside a run that waits."""
    (here.root / "gate.nika.yaml").write_text(GATE, encoding="utf-8")
    started = here.started(GATE)
    here.without_say()
    runs.resume_run(started.run_id, ANSWERS)
    here.with_say()
    return here.traces[-1]


def test_a_listing_shows_it_as_what_it_is(here: Project, note: Path, terminal: Terminal) -> None:
    """Blocked, and nothing that a bare --resume takes."""
    rows = [line.split() for line in terminal("trace", "ls").out.decode().splitlines()]
    waiting = here.traces[0].name
    assert {row[-1]: row[3:-1] for row in rows} == {
        note.name: ["blocked", "gate"],
        waiting: ["paused", "resume", "gate"],
    }
    shapes = {Path(shape["trace"]).name: shape for shape in terminal("trace", "ls", "--json").outputs}
    assert (shapes[note.name]["state"], shapes[note.name]["resumable"]) == ("blocked", False)
    assert f"resuming from {waiting}" in terminal("run", "gate.nika.yaml", "--resume").err


def test_nobody_takes_it_for_a_run(here: Project, note: Path, terminal: Terminal) -> None:
    """Attached, read, answered, shown, resumed: the trace that waits is named, nothing is run."""
    waiting, before = here.traces[0].name, here.bytes()
    told = f"is a note of what kept gate-.* from going on, .* waits in {waiting}, give that one"
    with pytest.raises(UsageError, match=told):
        nika_nb.attach(note)
    with pytest.raises(UsageError, match=told):
        nika_nb.read_trace(note)
    with pytest.raises(UsageError, match=told):
        nika_nb.run(GATE, resume=note)
    for words in (("answer", note, "ask=yes"), ("trace", "show", note)):
        done = terminal(*words)
        assert done.code == 3
        assert f"the run waits in {waiting}" in done.err
    assert here.bytes() == before
    assert here.marks == {"prep": 1}


def test_it_is_a_sound_journal_that_may_be_removed(here: Project, note: Path, terminal: Terminal) -> None:
    """No question is lost with it, and no answer: it needs no force."""
    assert terminal("trace", "verify", note).code == 0
    found = terminal("trace", "doctor", note)
    assert (found.code, found.out.decode()) == (0, f"{note.name} · sound · blocked · 1 event\n")
    assert terminal("trace", "rm", note).code == 0
    assert not note.exists()
    assert runs.list_runs().runs[0].resume_readiness == "ready"
