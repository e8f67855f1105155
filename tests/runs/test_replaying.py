"""Which journals a replay takes in, and what it says of them: real runs, real damage."""

from __future__ import annotations

import json
import os
import shutil
import time
from pathlib import Path
from typing import Any

import nbformat
import pytest

import nika_nb
from nika_nb import runs
from nika_nb.errors import UsageError
from nika_nb.trace.lock import claim
from tests.doors import rewritten

FLOW = """\
nika: flow
permits: { exec: ["echo"], tools: ["nika:prompt"] }
tasks:
  draft: { exec: { command: ["echo", "a note"] } }
  ask:
    with: { draft: "${{ tasks.draft.output }}" }
    invoke: { tool: "nika:prompt", args: { message: "Publish? ${{ with.draft }}" } }
  publish:
    with: { go: "${{ tasks.ask.output }}" }
    when: ${{ with.go == true }}
    exec: { command: ["echo", "published"] }
outputs: { said: "${{ tasks.publish.output }}" }
"""

PLAIN = 'nika: plain\npermits: { exec: ["echo"] }\ntasks: { a: { exec: { command: ["echo", "x"] } } }\n'


@pytest.fixture
def flow(folder: Path) -> Path:
    path = folder / "flow.nika.yaml"
    path.write_text(FLOW, encoding="utf-8")
    return path


@pytest.fixture
def plain(folder: Path) -> Path:
    """The trace of a small run of a file."""
    path = folder / "plain.nika.yaml"
    path.write_text(PLAIN, encoding="utf-8")
    trace = nika_nb.run(path).trace
    assert trace is not None
    return trace


def kinds(replay: Any) -> list[str]:
    return [step.task or step.kind for step in replay]


WHOLE = [
    *("workflow_started", "draft", "workflow_paused"),
    *("workflow_started", "ask", "publish", "workflow_completed"),
]


def test_a_paused_and_answered_run_is_one_timeline_from_either_trace(flow: Path) -> None:
    """By the trace that asked, by the one that answered, by the run's id and by the run itself."""
    run = nika_nb.run(flow)
    first, run_id = run.trace, run.id
    assert first is not None
    assert run_id is not None
    assert kinds(run.replay()) == WHOLE[:3]
    run.answer(True)
    assert run.trace is not None
    for trace in (first, run.trace, run.trace.name, first.stem, run_id):
        replay = nika_nb.replay(trace)
        assert kinds(replay) == WHOLE
        assert replay.traces == (first, run.trace)
        assert (replay.run_id, replay.workflow, replay.notes) == (run_id, "flow", ())
    assert kinds(run.replay()) == WHOLE
    assert replay[-1].returned == {"said": "published"} == run.outputs
    assert dict(replay.at("ask").outputs) == {"draft": "a note", "ask": True}


def test_two_answers_of_a_copied_pause_are_two_timelines(flow: Path) -> None:
    """A trace that another line of the run left behind is replayed with what it continues itself."""
    run = nika_nb.run(flow)
    paused = run.trace
    assert paused is not None
    kept = paused.read_bytes()
    run.answer(True)
    other = rewritten(paused, lambda frame: None, "other.ndjson")
    assert kinds(nika_nb.replay(other)) == WHOLE[:3]
    assert paused.read_bytes() == kept


def test_a_run_that_lost_its_first_trace_is_replayed_from_what_is_left(flow: Path) -> None:
    """On its own the answer's trace shows its hits first."""
    run = nika_nb.run(flow)
    first = run.trace
    assert first is not None
    run.answer(True)
    first.unlink()
    assert run.trace is not None
    replay = nika_nb.replay(run.trace)
    assert kinds(replay) == ["workflow_started", "draft", "ask", "publish", "workflow_completed"]
    assert replay.at("draft").state == "cached"


def test_a_resume_is_a_run_of_its_own(plain: Path) -> None:
    """What it skipped it shows as hits; the run that it resumed is not mixed in."""
    again = nika_nb.run("plain.nika.yaml", resume=plain)
    replay = again.replay()
    assert kinds(replay) == ["workflow_started", "a", "workflow_completed"]
    assert replay.at("a").state == "cached"
    assert replay.traces == (again.trace,)


def test_nothing_is_executed(flow: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No process, no prepared run, no journal: replaying and looking at every output only reads."""
    run = nika_nb.run(flow)
    run.answer(True)
    before = {path: path.stat().st_mtime_ns for path in Path(".nika/traces").iterdir()}
    monkeypatch.setattr("subprocess.Popen", lambda *_, **__: pytest.fail("a process was started"))
    monkeypatch.setattr("nika_nb.runs.run.prepare", lambda *_, **__: pytest.fail("a run was prepared"))
    assert run.trace is not None
    for step in nika_nb.replay(run.trace, fine=True):
        assert dict(step.outputs) is not None
        assert step.board.rows
    assert {path: path.stat().st_mtime_ns for path in Path(".nika/traces").iterdir()} == before


def test_a_run_that_wrote_nothing_says_so(folder: Path) -> None:
    """There is nothing to replay, and no guess at another trace."""
    with pytest.raises(UsageError, match="there is no trace"):
        nika_nb.replay("nothing")
    with pytest.raises(UsageError, match="there is no run flow-00000000"):
        nika_nb.replay("flow-00000000")
    assert not list(runs.list_runs().runs)


def test_a_note_of_a_refused_resume_is_no_run(flow: Path) -> None:
    """It says which trace to give instead."""
    run = nika_nb.run(flow)
    assert run.trace is not None
    note = rewritten(run.trace, _only_a_note, "note.ndjson")
    with pytest.raises(UsageError, match=r"is a note of what kept .* from going on"):
        nika_nb.replay(note)


def _only_a_note(frame: dict[str, Any]) -> bool:
    first = bool(frame["kind"] == "workflow_started")
    frame["kind"] = "nb_resume_blocked"
    return first


# -- what is said of a journal -----------------------------------------------------------------


def notes(trace: Path) -> str:
    return "\n".join(nika_nb.replay(trace).notes)


def test_a_sound_journal_has_no_notes_and_its_proof(plain: Path) -> None:
    """How far it proves itself is told in any case."""
    replay = nika_nb.replay(plain)
    assert replay.notes == ()
    (proof,) = replay.proofs
    assert proof.startswith("OK — ")
    assert proof.endswith("not sealed")


def test_a_tampered_journal_is_replayed_and_told_of(plain: Path) -> None:
    """The line is named; what is shown is what the file says now."""
    data = plain.read_bytes().replace(b'\\"x\\"', b'\\"y\\"')
    plain.write_bytes(data)
    replay = nika_nb.replay(plain)
    assert "its chain is BROKEN at line " in notes(plain)
    assert replay[-1].outputs["a"] == "y"
    assert replay.proofs[0].startswith("BROKEN at line ")


def test_a_torn_and_an_unchained_journal_are_told_of(plain: Path) -> None:
    """A crash is no tampering, and what carries no chain proves nothing."""
    whole = plain.read_bytes()
    plain.write_bytes(whole[:-9])
    assert "is torn, as a crash leaves it" in notes(plain)
    assert "BROKEN" not in notes(plain)
    lines = [json.loads(line) for line in whole.splitlines()]
    plain.write_text("".join(json.dumps({k: v for k, v in s.items() if k != "chain"}) + "\n" for s in lines))
    assert "UNCHAINED" in notes(plain)


def test_a_journal_without_an_end_and_one_whose_run_goes_on(plain: Path) -> None:
    """As long as the writer holds its lock the run is at work; after that it broke off."""
    whole = plain.read_bytes()
    plain.write_bytes(b"".join(whole.splitlines(keepends=True)[:-1]))
    assert "no frame ends the run" in notes(plain)
    assert nika_nb.replay(plain)[-1].kind == "incomplete"
    with _held(plain):
        assert "its run goes on" in notes(plain)
        assert nika_nb.replay(plain)[-1].kind == "running"


class _held:
    """A file under the lock of the writer, in this process."""

    def __init__(self, path: Path) -> None:
        self._fd = os.open(path, os.O_RDWR)

    def __enter__(self) -> None:
        claim(self._fd)

    def __exit__(self, *_: object) -> None:
        os.close(self._fd)


def test_a_seal_that_was_promised_and_is_missing_is_told_of(plain: Path) -> None:
    """By its first frame somebody was to sign it, and nobody did."""

    def change(frame: dict[str, Any]) -> None:
        if frame["kind"] == "workflow_started":
            frame["fields"]["seal_key"] = "k" * 8

    promised = rewritten(plain, change)
    assert "NOT SEALED" in notes(promised)
    assert nika_nb.replay(promised)[-1].outputs["a"] == "x"


def test_another_engines_journal_is_told_of(plain: Path) -> None:
    """By the version that it names, cut where that is no version; and by what it resumed."""

    def change(frame: dict[str, Any]) -> None:
        if frame["kind"] == "workflow_started":
            frame["fields"] |= {"engine_version": "nika/0.105.0", "resume_unverified": "declared"}

    said = notes(rewritten(plain, change))
    assert "it was written by an engine nika/0.105.0, this one is nika-nb/1" in said
    assert "resumed from a trace that was not verified" in said


def test_an_edited_file_is_told_of(plain: Path) -> None:
    """The file of the workflow, by its text; other line ends are no edit, and a file that is gone neither."""
    source = plain.parents[2] / "plain.nika.yaml"
    source.write_bytes(b"\xef\xbb\xbf" + PLAIN.replace("\n", "\r\n").encode())
    assert notes(plain) == ""
    source.write_text(PLAIN.replace('"x"', '"z"'), encoding="utf-8")
    assert notes(plain) == "plain.nika.yaml was edited since: this is the run of its text as it was"
    source.unlink()
    assert notes(plain) == ""


def test_an_edited_called_workflow_is_told_of(folder: Path) -> None:
    """Each file that took part, by its name."""
    permits = "permits: { fs: { read: [./c.nika.yaml] } }"
    caller = f"nika: caller\n{permits}\ntasks: {{ c: {{ invoke: {{ workflow: ./c.nika.yaml }} }} }}\n"
    child = folder / "c.nika.yaml"
    child.write_text('nika: c\ntasks: { t: { invoke: { tool: "nika:log", args: { message: m } } } }\n')
    (folder / "caller.nika.yaml").write_text(caller)
    trace = nika_nb.run(folder / "caller.nika.yaml").trace
    assert trace is not None
    assert notes(trace) == ""
    child.write_text(child.read_text() + "# more\n")
    assert notes(trace) == "./c.nika.yaml was edited since: this is the run of its text as it was"


def test_an_edited_cell_is_told_of_once_its_notebook_is_saved(folder: Path) -> None:
    """A notebook that was not saved since the run says nothing about its cell."""

    def save(text: str) -> None:
        cell = nbformat.v4.new_code_cell(f"%%nika\n{text}", id="c1")  # type: ignore[no-untyped-call]
        nbformat.write(nbformat.v4.new_notebook(cells=[cell]), "book.ipynb")  # type: ignore[no-untyped-call]

    save(PLAIN)
    trace = nika_nb.run("book.ipynb::plain").trace
    assert trace is not None
    save(PLAIN)
    assert notes(trace) == ""
    save(PLAIN.replace('"x"', '"z"'))
    assert notes(trace) == "its cell in book.ipynb was edited since: this is the run of the text as it was"
    os.utime("book.ipynb", (time.time() - 3600,) * 2)
    assert notes(trace) == ""


def test_a_journal_elsewhere_is_replayed_from_there(
    plain: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Copied out of its folder it knows of no file that could have been edited."""
    copy = tmp_path_factory.mktemp("else") / "copy.ndjson"
    shutil.copy(plain, copy)
    (plain.parents[2] / "plain.nika.yaml").write_text("nika: other\n")
    replay = nika_nb.replay(copy)
    assert replay.notes == ()
    assert replay[-1].outputs["a"] == "x"
