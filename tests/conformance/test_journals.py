"""The public suite's journals: what `trace verify` and `run --resume` say to each."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import nika_nb
from nika_nb.catalog.frames import ENGINE_VERSION
from nika_nb.errors import ResumeRefused
from nika_nb.trace.verify import verify
from tests.conftest import CONFORMANCE
from tests.doors import Terminal, frames, hits, newest, of, reasons, rewritten

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


# -- what the reference engine wrote -----------------------------------------------------------

WRITTEN = sorted((CONFORMANCE / "reference-traces").glob("*.ndjson"))
ENGINE = "0.97.0"
ENDED = {
    "task_completed": "success",
    "task_failed": "failure",
    "task_skipped": "skipped",
    "task_cancelled": "cancelled",
}


def keyed(path: Path) -> dict[str, str]:
    """Task → its output as JSON text, of every success that carries both resume keys."""
    return {frame["task"]: frame["output"] for frame in frames(path) if "def_hash" in frame}


KEYED = [path for path in WRITTEN if keyed(path)]


@pytest.mark.usefixtures("conformance")
def test_all_sixty_one_are_here() -> None:
    """A run each; the successes of thirty-three carry keys."""
    assert (len(WRITTEN), len(KEYED), sum(len(keyed(path)) for path in KEYED)) == (61, 33, 77)


@pytest.mark.parametrize("path", WRITTEN, ids=lambda path: path.stem[-4:])
def test_each_is_read_verified_and_shown(path: Path, terminal: Terminal) -> None:
    """A row per task with the state and the output that its last frame tells; a row per frame; a verdict."""
    told, tables = frames(path), nika_nb.read_trace(path)
    assert list(tables.events["kind"]) == [frame["kind"] for frame in told]
    ends = {frame["task"]: frame for frame in told if frame["kind"] in ENDED}
    tasks = tables.tasks.set_index("task")
    assert list(tasks.index) == [frame["task"] for frame in told if frame["kind"] == "task_scheduled"]
    for task, row in tasks.iterrows():
        end = ends.get(str(task), {})
        assert row["state"] == ENDED.get(end.get("kind", ""), "pending")
        if "output" in end:
            assert row["output"] == json.loads(end["output"])
            assert (row["def_hash"], row["input_hash"]) == (end["def_hash"], end["input_hash"])
    assert tables.state == told[-1]["kind"].removeprefix("workflow_")
    verified = terminal("trace", "verify", path)
    assert (verified.code, verified.out.decode().split()[0] in ("OK", "FINDING")) == (0, True)
    shown = terminal("trace", "show", path)
    assert shown.code == 0
    assert all(str(task) in shown.out.decode() for task in tasks.index)


def alike(path: Path) -> str:
    """A workflow of today with the names of a trace: its text lies in no journal of that engine."""
    scheduled = [frame["task"] for frame in frames(path) if frame["kind"] == "task_scheduled"]
    lines = [f"nika: {frames(path)[0]['workflow']}", "tasks:"]
    lines += [
        f'  {task}: {{invoke: {{tool: "nika:log", args: {{message: "{task}"}}}}}}' for task in scheduled
    ]
    return "\n".join([*lines, ""])


@pytest.mark.parametrize("path", KEYED, ids=lambda path: path.stem[-4:])
def test_each_that_carries_keys_is_resumed_under_its_declared_version(path: Path, folder: Path) -> None:
    """Without the exact one it is refused by name; with it the keys decide: other work runs, and says why."""
    shutil.copy(path, folder / path.name)
    text = alike(path)
    for declared in (None, "0.98.0", ENGINE_VERSION):
        with pytest.raises(ResumeRefused, match=f"{ENGINE}.*{ENGINE_VERSION}"):
            nika_nb.run(text, resume=path.name, resume_compat=declared)
    run = nika_nb.run(text, resume=path.name, resume_compat=ENGINE)
    assert run.state == "completed"
    first, *_ = frames(newest(folder))
    assert (first["resumed_from_engine"], first["resume_compat"]) == (ENGINE, "declared")
    told = reasons(newest(folder))
    assert {task for task, why in told.items() if why[0] == "definition"} == set(keyed(path))
    assert {why[0] for why in told.values()} <= {"definition", "not-recorded"}


@pytest.mark.parametrize("path", KEYED, ids=lambda path: path.stem[-4:])
def test_each_recorded_output_comes_back_where_the_keys_are_the_same(path: Path, folder: Path) -> None:
    """Their recipe is pinned by the golden vectors; here the journal gets the keys of the work at hand."""
    text = alike(path)
    ours = {frame["task"]: frame for frame in of(_ran(text), "task_completed")}
    shutil.copy(path, folder / path.name)

    def rekeyed(shape: dict[str, Any]) -> None:
        fields = shape["fields"]
        if "def_hash" in fields:
            fields |= {key: ours[fields["task"]][key] for key in ("def_hash", "input_hash")}

    copy = rewritten(folder / path.name, rekeyed)
    run = nika_nb.run(text, resume=copy, resume_compat=ENGINE)
    assert hits(newest(folder)) == set(keyed(path))
    for task, output in keyed(path).items():
        assert run.tasks[task].output == json.loads(output)


def _ran(text: str) -> Path:
    trace = nika_nb.run(text).trace
    assert trace is not None
    return trace
