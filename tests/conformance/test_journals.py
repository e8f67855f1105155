"""The public suite's journals: what `trace verify` and `run --resume` say to each."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from nika_nb.catalog.frames import ENGINE_VERSION
from nika_nb.trace.verify import verify
from tests.conftest import CONFORMANCE
from tests.doors import Terminal, frames, hits, newest, reasons

TRACES = {folder.name: folder for folder in sorted((CONFORMANCE / "tests/runtime/trace").glob("*"))}
RESUMES = {folder.name: folder for folder in sorted((CONFORMANCE / "tests/runtime/resume").glob("*"))}

# verdict → (exit code, the first word): what the suite's driver reads.
SAID = {
    "clean": (0, "OK"),
    "finding": (0, "FINDING"),
    "incomplete": (0, "INCOMPLETE"),
    "forged": (2, "BROKEN"),
    "refused": (2, "line"),
}


@pytest.mark.usefixtures("conformance")
def test_every_journal_is_here() -> None:
    """Seven verdicts and three resumes."""
    assert (len(TRACES), len(RESUMES)) == (7, 3)


@pytest.mark.parametrize("name", TRACES)
def test_a_journal_is_judged_as_published(name: str, terminal: Terminal) -> None:
    """Exit code, first word, the cost replay, and the prologue's fields where they are named."""
    expected = json.loads((TRACES[name] / "expected-verify.json").read_bytes())
    path = TRACES[name] / "trace.ndjson"
    done = terminal("trace", "verify", path, "--color", "never")
    assert (done.code, done.out.decode().split()[0]) == SAID[expected["verdict"]]
    if expected["verdict"] == "refused":
        assert b"beyond the verifier's line bound (1048576 bytes)" in done.out
    verdict = verify(path)
    assert verdict.cost_replay == expected.get("cost_replay", verdict.cost_replay)
    prologue = expected.get("prologue", {})
    assert set(prologue.get("present", ())) <= set(verdict.prologue)
    assert not set(prologue.get("absent", ())) & set(verdict.prologue)


@pytest.mark.parametrize("name", RESUMES)
def test_a_resume_is_judged_as_published(name: str, folder: Path, terminal: Terminal) -> None:
    """Refused with both versions named, or proceeding with the declaration on the new run's first frame."""
    expected = json.loads((RESUMES[name] / "expected-resume.json").read_bytes())
    workflow = RESUMES["001-cross-version-refused"] / "golden.nika.yaml"
    shutil.copy(workflow, folder / "golden.nika.yaml")
    shutil.copy(RESUMES[name] / "trace.ndjson", folder / "trace.ndjson")
    declared = expected["resume_compat"]
    words = ["--resume-compat", declared] if declared else []
    done = terminal("run", "golden.nika.yaml", "--resume", "trace.ndjson", *words)
    assert done.code == expected["exit"], done.err
    if expected["verdict"] == "refused":
        assert ENGINE_VERSION in done.err
        assert "0.99.0-ancien" in done.err
        assert not (folder / ".nika").exists()
        return
    first = frames(newest(folder))[0]
    assert (first["resumed_from_engine"], first["resume_compat"]) == (declared, "declared")
    assert reasons(newest(folder)) == {"dire": ("input",)}, "the recorded run had another value of `qui`"
    assert not hits(newest(folder))


def test_sixty_journals_of_the_reference_engine(conformance: Path, terminal: Terminal) -> None:
    """Whatever that engine wrote is read: each gets a verdict, none a traceback."""
    paths = sorted((conformance / "reference-traces").rglob("*.ndjson"))
    assert len(paths) == 61
    done = terminal("trace", "verify", *paths)
    lines = done.out.decode().splitlines()
    assert len(lines) == 61
    assert all("traceback" not in line.lower() for line in lines)
    for path in paths[:5]:
        assert terminal("trace", "show", path).code == 0
