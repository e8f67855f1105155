"""Status semantics, the external source failure rule, the non-goals: a test per sentence."""

from __future__ import annotations

import pytest

import nika_nb
from nika_nb import runs
from tests.doors import frames, of, ran
from tests.durable.project import ASK, DONE, FAILS, GATE, Project


def test_deployment_dependencies_invalid_before_start_is_unrunnable_with_no_run_id(here: Project) -> None:
    """A row of the table."""
    here.deployed()
    here.without_say()
    found = runs.run_deployment("gate")
    assert (found.status, found.run_id) == ("unrunnable", None)


@pytest.mark.parametrize(
    ("text", "status", "readiness"),
    [
        (ASK, "interrupted", "ready"),
        (DONE, "completed", "not_applicable"),
        (FAILS, "failed", "not_applicable"),
    ],
    ids=["reaches explicit interrupt", "completes", "fails during execution"],
)
def test_a_workflow_that_stops_has_the_status_and_readiness_of_the_table(
    here: Project, text: str, status: str, readiness: str
) -> None:
    """Three rows of the table."""
    found = here.started(text)
    assert (found.status, found.resume_readiness) == (status, readiness)


def test_interrupted_run_has_broken_pinned_dependency_before_resume_is_interrupted_and_blocked(
    here: Project,
) -> None:
    """A row of the table."""
    started = here.started(GATE)
    here.without_say()
    found = runs.resume_run(started.run_id, {"ask": "yes"})
    assert (found.status, found.resume_readiness) == ("interrupted", "blocked")


def test_unrunnable_is_not_a_stored_run_status_it_is_a_pre_start_response(here: Project) -> None:
    """Nothing is listed, and nobody finds anything."""
    here.without_say()
    assert runs.start(DONE).status == "unrunnable"
    assert runs.list_runs().total == runs.list_runs().unfinished_total == 0


def test_a_cancelled_run_is_failed_with_the_outcome_cancelled(here: Project) -> None:
    """The record knows three statuses; what became of the run is told beside."""
    text = 'nika: waits\npermits: {tools: ["nika:wait"]}\n'
    text += 'tasks:\n  wait: {invoke: {tool: "nika:wait", args: {duration: "1h"}}}\n'
    started = here.started(text, wait=False)
    found = runs.cancel(started.run_id)
    assert (found.status, found.outcome, found.resume_readiness) == ("failed", "cancelled", "not_applicable")
    assert found.error is None


def test_external_source_failure_during_execution_is_not_a_resumable_pause(here: Project) -> None:
    """Half of it may have happened: the run has failed, and no answer brings it back."""
    started = here.started(FAILS)
    assert (started.status, started.resume_readiness, started.prompts) == ("failed", "not_applicable", ())
    with pytest.raises(nika_nb.UsageError, match="is failed"):
        runs.resume_run(started.run_id, "yes")
    assert here.marks == {"FAIL": 1}


def test_do_not_add_automatic_retry_what_failed_before_the_pause_stays_failed(here: Project) -> None:
    """An answer is no second chance for a program that has failed beside the question."""
    text = GATE + "  \n"
    text = text.replace("outputs:", '  breaks: {exec: {command: ["./say", "FAIL", "x"]}}\noutputs:')
    started = here.started(text)
    assert started.status == "interrupted"
    found = runs.resume_run(started.run_id, {"ask": "yes", "name": "Ann"})
    assert found.status == "failed"
    assert here.marks == {"prep": 1, "FAIL": 1, "ship": 1}


def test_do_not_checkpoint_every_node(here: Project) -> None:
    """One per stop, however many tasks there are between."""
    text = "nika: many\ntasks:\n"
    text += "".join(f'  t{n}: {{invoke: {{tool: "nika:log", args: {{message: m}}}}}}\n' for n in range(30))
    assert len(runs.checkpoints(here.started(text).run_id)) == 1


def test_do_not_treat_source_death_as_an_interrupt(here: Project) -> None:
    """A program killed by a signal while a question is open: it failed, and that is what waits behind."""
    text = GATE.replace("outputs:", '  dies: {exec: {command: ["sh", "-c", "kill -9 $$"]}}\noutputs:')
    text = text.replace('exec: ["./say"]', 'exec: ["./say", "sh"]')
    started = here.started(text)
    assert [prompt.key for prompt in started.prompts] == ["ask", "name"]
    assert of(here.traces[0], "task_failed")[0]["task"] == "dies"
    assert runs.resume_run(started.run_id, {"ask": "no", "name": "x"}).status == "failed"


def test_a_run_that_pauses_writes_one_file_per_invocation_and_no_second_store(here: Project) -> None:
    """What is known of a run is folded from its traces: there is nothing else."""
    started = here.started(GATE)
    runs.resume_run(started.run_id, {"ask": "yes"})
    runs.resume_run(started.run_id, {"name": "Ann"})
    assert sorted(path.name for path in (here.root / ".nika").iterdir()) == ["traces"]
    assert len(here.traces) == 3
    assert [frames(path)[0].get("sequence") for path in here.traces] == [None, 2, 3]
    assert ran(here.traces[2]) == {"name", "ship"}


def test_a_run_started_in_a_cell_or_by_the_function_is_the_same_kind_of_run(here: Project) -> None:
    """Whoever started it: it is listed, and resumed by its id."""
    run = nika_nb.run(GATE)
    assert run.id is not None
    assert runs.list_runs().runs[0].run_id == run.id
    assert runs.resume_run(run.id, {"ask": "yes", "name": "Ann"}).status == "completed"
