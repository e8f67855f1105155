"""What a record, its checkpoints and its pinned environment promise: a test per invariant, named after it."""

from __future__ import annotations

import json
import shutil
from itertools import pairwise
from pathlib import Path

import pytest

from nika_nb import runs
from nika_nb.errors import UsageError
from nika_nb.runs import deployments
from nika_nb.runs.deployments import Deployments
from nika_nb.runs.ids import RUN_ID_PATTERN
from nika_nb.trace.frame import link
from nika_nb.trace.lock import ResumeLock
from nika_nb.trace.verify import verify
from tests.doors import frames
from tests.durable.project import ASK, DONE, FAILS, GATE, Project, kinds_of, touched

ANSWERS = {"ask": "yes", "name": "Ann"}

# -- the record --------------------------------------------------------------------------------


def test_id_is_a_safe_run_id_matching_run_id_pattern(here: Project) -> None:
    """Letters, digits and dashes: a file name, a word in a shell, a part of a URL."""
    assert RUN_ID_PATTERN.fullmatch(here.started(GATE).run_id)
    for wrong in ("../../etc/passwd", "gate", "gate-1234567", "Gate-12345678", "gate-12345678/x", "", "*"):
        with pytest.raises(UsageError, match="is not a run id"):
            runs.inspect_run(wrong)


def test_status_is_one_of_interrupted_completed_or_failed(here: Project) -> None:
    """Whatever runs: no other status is ever listed."""
    for text in (DONE, FAILS, ASK, GATE):
        here.started(text)
    assert {summary.status for summary in runs.list_runs().runs} == {"interrupted", "completed", "failed"}


def test_resume_readiness_is_ready_for_interrupted_runs_that_are_currently_resumable(here: Project) -> None:
    """And a resume of one that says so succeeds."""
    started = here.started(GATE)
    assert started.resume_readiness == "ready"
    assert runs.resume_run(started.run_id, ANSWERS).status == "completed"


def test_resume_readiness_is_blocked_for_interrupted_runs_whose_pinned_environment_is_currently_invalid(
    here: Project,
) -> None:
    """Whoever inspects it learns how it is now, tried or not; a list tells what the last resume found."""
    started = here.started(GATE)
    here.without_say()
    assert runs.inspect_run(started.run_id).resume_readiness == "blocked"
    assert runs.list_runs().runs[0].resume_readiness == "ready"
    runs.resume_run(started.run_id, ANSWERS)
    assert runs.inspect_run(started.run_id).resume_readiness == "blocked"
    assert runs.list_runs().runs[0].resume_readiness == "blocked"
    here.with_say()
    found = runs.inspect_run(started.run_id)
    assert (found.resume_readiness, found.diagnostics, found.summary.diagnostic_count) == ("ready", (), 0)
    assert runs.list_runs().runs[0].resume_readiness == "blocked"
    assert runs.resume_run(started.run_id, {"ask": "yes"}).resume_readiness == "ready"
    assert runs.list_runs().runs[0].resume_readiness == "ready"


def test_whatever_an_answer_would_be_refused_for_blocks_it(
    here: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A secret that is gone, a text that was not kept, an input that was none to write down: each is told."""
    monkeypatch.setenv("TOKEN", "s3cret-value")
    text = ASK.replace("nika: ask", "nika: ask\ninputs: {topic: {type: string}}\nsecrets: SECRETS")
    text = text.replace("SECRETS", '{key: {source: env, key: TOKEN, egress: [{to: "nika:log"}]}}')
    text = text.replace(
        "outputs:",
        "  after:\n    after: {ask: success}\n"
        '    invoke: {tool: "nika:log", args: {message: "${{ secrets.key }}"}}\noutputs:',
    )
    started = here.started(text, vars={"topic": "plain"})
    assert runs.inspect_run(started.run_id).resume_readiness == "ready"
    monkeypatch.delenv("TOKEN")
    (lack,) = runs.inspect_run(started.run_id).diagnostics
    assert (lack.code, lack.task) == ("NIKA-VAR-001", "after")
    monkeypatch.setenv("TOKEN", "s3cret-value")
    withheld = here.started(text, vars={"topic": "s3cret-value"})
    for found in (runs.inspect_run(withheld.run_id), runs.resume_run(withheld.run_id, "yes")):
        assert (found.status, found.resume_readiness) == ("interrupted", "blocked")
        assert "does not hold `topic`, for it is a secret" in found.diagnostics[0].message
        assert 'vars={"topic": …}' in found.diagnostics[0].hint
    monkeypatch.setenv("NIKA_NO_TRACE_FILE", "1")
    assert "NIKA_NO_TRACE_FILE" in runs.inspect_run(started.run_id).diagnostics[0].message


def test_looking_at_the_readiness_touches_nothing(here: Project) -> None:
    """No file is made, none is written to, and who answers at the same time is not in its way."""
    started = here.started(GATE)
    before = {path: touched(path) for path in Path(".nika").rglob("*")}
    with ResumeLock(here.traces[0]):
        assert runs.inspect_run(started.run_id).resume_readiness == "ready"
    assert {path: touched(path) for path in Path(".nika").rglob("*")} == before


@pytest.mark.parametrize("text", [DONE, FAILS], ids=["completed", "failed"])
def test_resume_readiness_is_not_applicable_for_completed_and_failed_runs(here: Project, text: str) -> None:
    """There is nothing to answer."""
    assert here.started(text).resume_readiness == "not_applicable"


def test_environment_pins_the_exact_deployment_root_artifact_and_child_artifacts_captured_at_run_start(
    here: Project,
) -> None:
    """The first trace holds the texts letter for letter, and says which version they come from."""
    child = 'nika: child\ntasks:\n  ask: {invoke: {tool: "nika:prompt", args: {message: "Really?"}}}\n'
    parent = 'nika: parent\npermits: {}\ntasks:\n  call: {invoke: {workflow: "./child.nika.yaml"}}\n'
    Path("child.nika.yaml").write_text(child, encoding="utf-8")
    here.deployed("family", parent)
    here.ran("family")
    first, *rest = frames(here.traces[0])
    assert (first["deployment"], first["deployment_version"]) == ("family", 1)
    assert first["deployment_digest"] == Deployments(here.root).get("family").snapshot.digest
    texts = {frame["name"]: frame["text"] for frame in rest if frame["kind"] == "nb_source_page"}
    assert texts == {"family.nika.yaml": parent, "./child.nika.yaml": child}


def test_latest_checkpoint_id_points_to_the_latest_stored_execution_checkpoint(here: Project) -> None:
    """Inspecting names the last of the listed ones."""
    started = here.started(GATE)
    for answers in ({"ask": "yes"}, {"name": "Ann"}):
        found = runs.resume_run(started.run_id, answers)
        assert found.checkpoint == runs.checkpoints(started.run_id)[-1]


def test_diagnostics_stores_control_plane_diagnostics_especially_blocked_resume_dependency_diagnostics(
    here: Project,
) -> None:
    """What is missing, in which task, and what to do; counted in the list."""
    started = here.started(GATE)
    here.without_say()
    runs.resume_run(started.run_id, ANSWERS)
    (lack,) = runs.inspect_run(started.run_id).diagnostics
    assert (lack.code, lack.task) == ("NIKA-EXEC-002", "ship")
    assert "./say" in lack.message
    assert lack.hint
    assert runs.list_runs().runs[0].diagnostic_count == 1


def test_created_at_is_stable_for_the_run_id(here: Project) -> None:
    """Through every answer, and when the first traces were tidied away."""
    started = here.started(GATE)
    first = here.traces[0]
    created = started.summary.created
    assert runs.resume_run(started.run_id, {"ask": "yes"}).summary.created == created
    assert runs.resume_run(started.run_id, {"name": "Ann"}).summary.created == created
    first.unlink()
    assert runs.inspect_run(started.run_id).summary.created == created
    assert runs.list_runs().runs[0].created == created


def test_updated_at_changes_when_the_summary_changes(here: Project) -> None:
    """At every stop and at every refusal, and at nothing else."""
    started = here.started(GATE)
    times = [started.summary.updated]
    assert runs.inspect_run(started.run_id).summary.updated == times[0]
    here.without_say()
    times.append(runs.resume_run(started.run_id, ANSWERS).summary.updated)
    here.with_say()
    times.append(runs.resume_run(started.run_id, {"ask": "yes"}).summary.updated)
    times.append(runs.resume_run(started.run_id, {"name": "Ann"}).summary.updated)
    assert all(earlier < later for earlier, later in pairwise(times))


# -- its checkpoints ---------------------------------------------------------------------------


def test_run_id_matches_the_owning_record(here: Project) -> None:
    """Of every checkpoint, among others' runs."""
    here.started(ASK)
    started = here.started(GATE)
    runs.resume_run(started.run_id, ANSWERS)
    assert {checkpoint.run_id for checkpoint in runs.checkpoints(started.run_id)} == {started.run_id}


def test_sequence_starts_at_1_and_increases_monotonically_per_run(here: Project) -> None:
    """One per stop; also where the first traces were tidied away."""
    started = here.started(GATE)
    runs.resume_run(started.run_id, {"ask": "yes"})
    runs.resume_run(started.run_id, {"name": "Ann"})
    assert [checkpoint.sequence for checkpoint in runs.checkpoints(started.run_id)] == [1, 2, 3]
    here.traces[0].unlink()
    assert [checkpoint.sequence for checkpoint in runs.checkpoints(started.run_id)] == [2, 3]


def test_reason_matches_the_stopped_runtime_status_that_caused_checkpoint_creation(here: Project) -> None:
    """Interrupted, interrupted, completed; and failed where it failed."""
    started = here.started(GATE)
    runs.resume_run(started.run_id, {"ask": "yes"})
    runs.resume_run(started.run_id, {"name": "Ann"})
    reasons = [checkpoint.reason for checkpoint in runs.checkpoints(started.run_id)]
    assert reasons == ["interrupted", "interrupted", "completed"]
    assert [c.reason for c in runs.checkpoints(here.started(FAILS).run_id)] == ["failed"]


def test_state_is_a_validated_persisted_run_state_not_an_untyped_dict(here: Project) -> None:
    """A checkpoint names a whole, chained journal and the hash of its last line."""
    started = here.started(GATE)
    runs.resume_run(started.run_id, ANSWERS)
    for checkpoint in runs.checkpoints(started.run_id):
        path = here.root / ".nika" / "traces" / checkpoint.trace
        assert verify(path).verdict == "clean"
        assert link(path.read_bytes().splitlines()[-1]) == checkpoint.head


def test_checkpoints_are_written_only_when_public_run_operations_return_stopped_states(here: Project) -> None:
    """A run that waits for nothing yet, and one whose writer died, has none."""
    started = here.started(DONE)
    assert len(runs.checkpoints(started.run_id)) == 1
    whole = here.traces[0].read_bytes().splitlines(keepends=True)
    here.traces[0].write_bytes(b"".join(whole[:-1]))
    assert runs.checkpoints(started.run_id) == ()


# -- what is pinned ----------------------------------------------------------------------------


def test_deployment_exact_deployment_binding_snapshot_used_at_start(here: Project) -> None:
    """Bound anew meanwhile, the run goes on with what it was bound to."""
    here.deployed(topic="first")
    started = here.ran()
    here.deployed(topic="second")
    found = runs.resume_run(started.run_id, ANSWERS)
    assert found.output is not None
    assert found.output["topic"] == "first"
    assert (found.summary.deployment, found.summary.deployment_version) == ("gate", 1)
    assert here.ran().summary.deployment_version == 2


def test_root_artifact_exact_root_artifact_snapshot_used_at_start(here: Project) -> None:
    """The file is another one now, or gone: the run goes on as it was asked."""
    path = here.deployed()
    first, second = here.ran(), here.ran()
    path.write_text(DONE.replace("done", "gate"), encoding="utf-8")
    assert runs.resume_run(first.run_id, ANSWERS).output == {"topic": "plain", "shipped": "Ann"}
    path.unlink()
    assert runs.resume_run(second.run_id, ANSWERS).output == {"topic": "plain", "shipped": "Ann"}


def test_child_artifacts_exact_saved_child_artifact_snapshots_used_at_start(here: Project) -> None:
    """A called workflow changed after the deployment, and once more after the start."""
    child = Path("child.nika.yaml")
    text = 'nika: child\ntasks:\n  ask: {invoke: {tool: "nika:prompt", args: {message: "M?"}}}\n'
    text += 'outputs: {go: "${{ tasks.ask.output }}"}\n'
    child.write_text(text, encoding="utf-8")
    parent = 'nika: parent\npermits: {}\ntasks:\n  call: {invoke: {workflow: "./child.nika.yaml"}}\n'
    here.deployed("family", parent + 'outputs: {go: "${{ tasks.call.output }}"}\n')
    child.write_text(text.replace("M?", "N?"), encoding="utf-8")
    started = here.ran("family")
    assert [prompt.message for prompt in started.prompts] == ["M?"]
    child.unlink()
    assert runs.resume_run(started.run_id, {"call/ask": "yes"}).output == {"go": {"go": True}}


def test_changing_or_deleting_a_deployment_after_a_run_starts_must_not_silently_redirect_or_erase_that_runs_resume_environment(  # noqa: E501
    here: Project,
) -> None:
    """Deleted, file by file and as a whole: the run is listed, inspected and resumed as before."""
    here.deployed()
    started = here.ran()
    runs.delete_deployment("gate")
    shutil.rmtree(Path(".nika/deployments"))
    assert runs.inspect_run(started.run_id).to_json() == started.to_json()
    assert runs.list_runs().runs[0].deployment == "gate"
    assert runs.resume_run(started.run_id, ANSWERS).status == "completed"
    with pytest.raises(UsageError, match="there is no deployment `gate`"):
        runs.run_deployment("gate")


def test_a_version_is_never_changed_and_never_given_out_twice(here: Project) -> None:
    """The same content is the same version; other content is the next one, whatever the file says now."""
    path = here.deployed(topic="a")
    first = Path(".nika/deployments/gate/1.json")
    before = touched(first)
    assert runs.deploy("gate", path, {"topic": "a"}).version == 1
    assert runs.deploy("gate", path, {"topic": "b"}).version == 2
    assert runs.deploy("gate", path, {"topic": "a"}).version == 3
    assert touched(first) == before


def test_the_number_of_a_version_that_was_removed_is_given_to_no_other(here: Project) -> None:
    """A run says which version it is of: that is one text, now and later, whatever was removed since."""
    path = here.deployed(topic="a")
    runs.deploy("gate", path, {"topic": "b"})
    ran = runs.run_deployment("gate")
    assert runs.delete_deployment("gate", 2) == 1
    with pytest.raises(UsageError, match="version 2 of the deployment `gate` was removed"):
        runs.run_deployment("gate", version=2)
    assert runs.deploy("gate", path, {"topic": "c"}).version == 3
    assert runs.delete_deployment("gate") == 2
    assert runs.list_deployments() == []
    with pytest.raises(UsageError, match="there is no deployment `gate`") as refused:
        runs.run_deployment("gate")
    assert "did you mean" not in str(refused.value)
    assert runs.deploy("gate", path, {"topic": "d"}).version == 4
    assert runs.inspect_run(ran.run_id or "").to_json()["deployment_version"] == 2


def test_whoever_deploys_while_a_version_is_removed_gets_another_number(
    here: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The number was free to look at just then: it had been somebody's."""
    path = here.deployed(topic="a")
    link = deployments._link

    def late(folder: Path, target: Path, content: bytes) -> bool:
        monkeypatch.setattr(deployments, "_link", link)
        runs.deploy("gate", path, {"topic": "b"})
        runs.delete_deployment("gate", 2)
        return link(folder, target, content)

    monkeypatch.setattr(deployments, "_link", late)
    assert runs.deploy("gate", path, {"topic": "c"}).version == 3
    assert sorted(file.name for file in Path(".nika/deployments/gate").iterdir()) == [
        "1.json",
        "2.removed",
        "3.json",
    ]


def test_a_version_that_was_tampered_with_does_not_run(here: Project) -> None:
    """By hand, or torn by a full disk: unrunnable, with what to do."""
    here.deployed()
    path = Path(".nika/deployments/gate/1.json")
    whole = path.read_text(encoding="utf-8")
    for content, why in ((whole.replace("plain", "other"), "was changed"), (whole[:100], "is no deployment")):
        path.write_text(content, encoding="utf-8")
        found = runs.run_deployment("gate")
        assert found.status == "unrunnable"
        assert why in found.diagnostics[0].message
        assert found.diagnostics[0].hint == "deploy it anew"


def test_a_deployment_keeps_a_secret_by_reference(here: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where it is kept, never what it is."""
    monkeypatch.setenv("TOKEN", "s3cret-value")
    text = DONE.replace("tasks:", "secrets: {token: {source: env, key: TOKEN}}\ntasks:")
    here.deployed("done", text)
    kept = Path(".nika/deployments/done/1.json").read_text(encoding="utf-8")
    assert "s3cret-value" not in kept
    snapshot = json.loads(kept)["snapshot"]
    assert snapshot["requires"]["secrets"] == {"token": {"source": "env", "key": "TOKEN"}}
    assert snapshot["requires"]["programs"] == ["./say"]


def test_a_note_is_a_whole_journal_of_one_frame(here: Project) -> None:
    """It verifies, belongs to the run, and nobody takes it for an invocation."""
    started = here.started(GATE)
    here.without_say()
    runs.resume_run(started.run_id, ANSWERS)
    note = here.traces[-1]
    assert kinds_of(note) == ["nb_resume_blocked"]
    assert verify(note).verdict == "clean"
    assert runs.inspect_run(started.run_id).summary.traces == (here.traces[0].name,)
    assert runs.inspect_run(started.run_id).trace_count == started.trace_count
