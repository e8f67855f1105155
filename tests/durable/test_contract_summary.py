"""The contract in short: a test per sentence, named after it."""

from __future__ import annotations

from pathlib import Path

import pytest

from nika_nb import runs
from nika_nb.errors import NotPaused
from nika_nb.runs.ids import RUN_ID_PATTERN
from nika_nb.runs.inspecting import Unrunnable
from tests.doors import frames, of
from tests.durable.project import ASK, DONE, FAILS, GATE, Project, words_in


def test_run_deployment_creates_a_durable_run_only_after_deployment_validation_passes(here: Project) -> None:
    """With something missing there is no run; with it back there is one."""
    here.deployed(text=DONE, name="done")
    here.without_say()
    refused = runs.run_deployment("done")
    assert isinstance(refused, Unrunnable)
    assert runs.list_runs().total == 0
    here.with_say()
    assert here.ran("done").status == "completed"
    assert runs.list_runs().total == 1


def test_every_started_run_receives_a_stable_run_id(here: Project) -> None:
    """The id of the start is the id after every answer, in every file."""
    here.deployed()
    started = here.ran()
    assert RUN_ID_PATTERN.fullmatch(started.run_id)
    half = runs.resume_run(started.run_id, {"ask": "yes"})
    whole = runs.resume_run(started.run_id, {"name": "Ann"})
    assert {half.run_id, whole.run_id} == {started.run_id}
    assert {frame["correlation"] for path in here.traces for frame in frames(path)} == {started.run_id}


@pytest.mark.parametrize(
    ("text", "status"),
    [(DONE, "completed"), (FAILS, "failed"), (ASK, "interrupted")],
    ids=["done", "fails", "asks"],
)
def test_stopped_runs_are_persisted_when_execution_returns_completed_failed_or_interrupted(
    here: Project, text: str, status: str
) -> None:
    """What the start returned is what is found again afterwards, from the files alone."""
    started = here.started(text)
    assert started.status == status
    assert runs.inspect_run(started.run_id).to_json() == started.to_json()
    assert [summary.status for summary in runs.list_runs().runs] == [status]


@pytest.mark.parametrize("text", [DONE, FAILS], ids=["completed", "failed"])
def test_resume_run_only_resumes_runs_whose_latest_stored_status_is_interrupted(
    here: Project, text: str
) -> None:
    """A stopped run is refused in a sentence that says what it is; nothing is written."""
    started, before = here.started(text), here.bytes()
    with pytest.raises(
        NotPaused, match=f"{started.run_id} is {started.status}: only an interrupted run is resumed"
    ):
        runs.resume_run(started.run_id, {"ask": "yes"})
    assert here.bytes() == before


def test_resume_validates_the_pinned_execution_environment_before_mutating_execution_state(
    here: Project,
) -> None:
    """Something missing is found before the answer is judged, and before anything is written."""
    started = here.started(GATE)
    before = here.bytes()
    here.without_say()
    found = runs.resume_run(started.run_id, {"ask": "neither yes nor no"})
    assert found.resume_readiness == "blocked"
    assert {name: content for name, content in here.bytes().items() if name in before} == before


def test_if_pinned_dependency_validation_fails_resume_returns_blocked_readiness_and_does_not_consume_the_resume_payload_or_write_a_new_execution_checkpoint(  # noqa: E501
    here: Project,
) -> None:
    """Blocked; the prompt still waits; one checkpoint as before; with the program back the answer counts."""
    started = here.started(GATE)
    checkpoints = runs.checkpoints(started.run_id)
    here.without_say()
    blocked = runs.resume_run(started.run_id, {"ask": "yes", "name": "Ann"})
    assert (blocked.status, blocked.resume_readiness) == ("interrupted", "blocked")
    assert [prompt.key for prompt in blocked.prompts] == ["ask", "name"]
    assert runs.checkpoints(started.run_id) == checkpoints
    here.with_say()
    assert runs.resume_run(started.run_id, {"ask": "yes", "name": "Ann"}).output == {
        "topic": "plain",
        "shipped": "Ann",
    }
    assert here.marks == {"prep": 1, "ship": 1}


def test_if_a_live_tool_or_source_fails_during_execution_the_run_fails_it_is_not_paused(
    here: Project,
) -> None:
    """A program that dies, and a tool that has nothing to read."""
    started = here.started(FAILS)
    assert (started.status, started.prompts) == ("failed", ())
    reads = 'nika: reads\npermits: {fs: {read: ["./**"]}, tools: ["nika:read"]}\ntasks:\n'
    reads += '  read: {invoke: {tool: "nika:read", args: {path: "./nowhere"}}}\n'
    assert here.started(reads).status == "failed"
    assert not any(of(path, "workflow_paused") for path in here.traces)


def test_trace_entries_are_never_returned_wholesale_by_default_callers_must_request_a_bounded_range(
    here: Project,
) -> None:
    """No operation but the bounded read says a frame."""
    here.deployed()
    started = here.ran()
    resumed = runs.resume_run(started.run_id, {"ask": "no", "name": "Ann"})
    said = [started, resumed, runs.inspect_run(started.run_id), runs.list_runs()]
    ids = [frame["uuid"] for path in here.traces for frame in frames(path)]
    for found in said:
        assert "frames" not in found.to_json()
        assert not any(one in words_in(found.to_json()) for one in ids)
    piece = runs.read_run_trace(started.run_id, 0, 3)
    assert piece.trace is not None
    assert [frame["id"] for frame in piece.trace.frames] == ids[:3]


def test_the_same_is_true_of_a_start_from_a_file(here: Project) -> None:
    """A start needs no deployment."""
    path = Path("w.nika.yaml")
    path.write_text(DONE, encoding="utf-8")
    found = runs.start(path)
    assert found.status == "completed"
    assert found.to_json()["deployment"] is None
