"""What a resume may build on: the order of the judgments, and what each one says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nika_nb.catalog.frames import ENGINE_VERSION
from nika_nb.errors import ResumeRefused, UsageError
from nika_nb.trace.lock import ResumeLock
from nika_nb.trace.trust import judge
from nika_nb.trace.writer import Journal
from tests.trace.journals import Events, edited, started, story, unchained, write


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return write(tmp_path, story())


@pytest.mark.parametrize(
    "name", ["001-cross-version-refused", "002-exact-compat-discharges", "003-wrong-compat-still-refused"]
)
def test_the_published_resumes(conformance: Path, name: str) -> None:
    """Verdict, exit code, both versions named, the declaration put on the new run's first frame."""
    folder = conformance / "tests/runtime/resume" / name
    expected = json.loads((folder / "expected-resume.json").read_text())
    trace, compat = folder / "trace.ndjson", expected["resume_compat"]
    if expected["verdict"] == "refused":
        with pytest.raises(ResumeRefused) as caught:
            judge(trace, compat=compat)
        assert caught.value.exit_code == expected["exit"]
        assert "0.99.0-ancien" in str(caught.value)
        assert ENGINE_VERSION in str(caught.value)
        assert (compat or 'resume_compat="0.99.0-ancien"') in str(caught.value)
        return
    trust = judge(trace, compat=compat)
    assert trust.usable
    assert trust.fields == {"resumed_from_engine": "0.99.0-ancien", "resume_compat": "declared"}
    assert any("0.99.0-ancien" in notice and ENGINE_VERSION in notice for notice in trust.notices)


def test_a_trace_of_our_own_needs_no_words(path: Path) -> None:
    """The same engine, an intact chain: nothing to say, nothing to declare."""
    trust = judge(path)
    assert (trust.usable, trust.notices, trust.fields) == (True, (), {})
    assert trust.trace is not None
    assert trust.trace.state == "completed"


def test_flags_that_are_not_needed_declare_nothing(path: Path) -> None:
    """A vouching flag is consumed only where there is something to vouch for."""
    assert judge(path, unverified=True, compat="other").fields == {}


def test_no_such_trace(tmp_path: Path) -> None:
    """A path that is not there is a mistake of the request."""
    with pytest.raises(UsageError):
        judge(tmp_path / "none.ndjson")


@pytest.mark.parametrize("content", ["", "not a journal\n", '{"chain":"7466'])
def test_what_is_no_journal_runs_live_and_says_so(tmp_path: Path, content: str) -> None:
    """Nothing is taken from it, loudly, and nothing is refused."""
    path = tmp_path / "x.ndjson"
    path.write_text(content)
    trust = judge(path)
    assert (trust.usable, trust.trace, trust.fields) == (False, None, {})
    assert "everything runs live" in trust.notices[0]
    assert str(path) in trust.notices[0]


def test_a_broken_chain_is_refused(path: Path) -> None:
    """With the line, both values and the way out; the exit code is that of a refused file."""
    with pytest.raises(ResumeRefused, match="BROKEN at line 5") as caught:
        judge(edited(path, '"big"', '"bag"'))
    assert caught.value.exit_code == 2
    assert "resume_unverified=True" in str(caught.value)


def test_a_broken_chain_that_somebody_vouches_for(path: Path) -> None:
    """It is used, and the new run's first frame says on whose word and over which finding."""
    trust = judge(edited(path, '"big"', '"bag"'), unverified=True)
    assert trust.usable
    assert trust.fields["resume_unverified"] == "declared"
    assert trust.fields["resume_unverified_finding"].startswith("BROKEN at line 5")
    assert "UNVERIFIED" in trust.notices[0]


def test_rubbish_in_the_middle(path: Path) -> None:
    """It is refused like a broken chain; vouched for, the trace serves up to there."""
    lines = path.read_bytes().split(b"\n")
    path.write_bytes(b"\n".join([*lines[:12], b"rubbish", *lines[12:]]))
    with pytest.raises(ResumeRefused) as caught:
        judge(path)
    assert caught.value.exit_code == 2
    trust = judge(path, unverified=True)
    assert trust.trace is not None
    assert len(trust.trace.frames) == 12
    assert "line 13 cannot be read" in trust.notices[-1]


def test_a_trace_without_chain(path: Path) -> None:
    """It proceeds on trust, and both people and the new journal are told."""
    trust = judge(unchained(path))
    assert trust.fields == {"resume_unverified": "unchained"}
    assert "WITHOUT verification" in trust.notices[0]


def test_a_torn_tail_is_used_up_to_the_tear(path: Path) -> None:
    """A crash is what resuming is for."""
    path.write_bytes(path.read_bytes()[:-30])
    trust = judge(path)
    assert trust.trace is not None
    assert trust.trace.state == "incomplete"
    assert "line 23 is torn" in trust.notices[0]
    assert "22 events" in trust.notices[0]


def test_a_trace_that_names_no_version(tmp_path: Path) -> None:
    """Its version is called `unrecorded`, and declared by that word."""
    make = Events()
    fields = started()
    del fields["engine_version"]
    make("workflow_started", **fields)
    path = write(tmp_path, make.made)
    with pytest.raises(ResumeRefused, match='resume_compat="unrecorded"'):
        judge(path)
    assert judge(path, compat="unrecorded").fields["resumed_from_engine"] == "unrecorded"


def test_the_chain_is_judged_before_the_version(conformance: Path, tmp_path: Path) -> None:
    """A forged trace of another engine is refused as forged, also where compatibility was declared."""
    source = conformance / "tests/runtime/resume/001-cross-version-refused/trace.ndjson"
    path = tmp_path / "forged.ndjson"
    path.write_bytes(source.read_bytes().replace(b"exec", b"exex", 1))
    for compat in (None, "0.99.0-ancien"):
        with pytest.raises(ResumeRefused) as caught:
            judge(path, compat=compat)
        assert caught.value.exit_code == 2
    with pytest.raises(ResumeRefused) as caught:
        judge(path, unverified=True)
    assert caught.value.exit_code == 3


def test_a_trace_that_is_being_written(tmp_path: Path) -> None:
    """Who writes it is named; when the writer has closed it the same trace is fine."""
    journal = Journal(tmp_path)
    *before, end = story()
    for event in before:
        journal(event)
    assert journal.path is not None
    with pytest.raises(ResumeRefused, match="another thread of this process") as caught:
        judge(journal.path)
    assert caught.value.exit_code == 3
    journal(end)
    journal.close()
    assert judge(journal.path).usable


def test_a_trace_that_is_being_resumed(tmp_path: Path) -> None:
    """A second resume of what broke off is refused at once."""
    path = write(tmp_path, story()[:-1])
    with ResumeLock(path), pytest.raises(ResumeRefused, match="being worked on by"):
        judge(path)
