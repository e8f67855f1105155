"""The operations step by step: a test per sentence of the contract, named after it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from nika_nb import runs
from nika_nb.errors import UsageError
from nika_nb.runs import shelf
from nika_nb.runs.inspecting import Inspection
from nika_nb.runs.service import Runs, request_of
from tests.doors import frames, of, ran
from tests.durable.project import ASK, DONE, FAILS, GATE, Project, words_in

ANSWERS = {"ask": "yes", "name": "Ann"}
NOWHERE = "gate-00000000"
_RANGES = "start counts from 0|limit is how many are wanted|is a whole number"


@pytest.fixture
def unopened(monkeypatch: pytest.MonkeyPatch) -> None:
    """From here on nothing may be looked up."""

    def look(*_: Any) -> Any:
        raise AssertionError("something was opened")

    monkeypatch.setattr(shelf.Shelf, "heads", look)
    monkeypatch.setattr(shelf.Shelf, "page", look)


# -- a range, before anything else ---------------------------------------------------------------


@pytest.mark.usefixtures("unopened")
@pytest.mark.parametrize("wanted", [(-1, 1), (0, 0), ("0", 1)])
def test_a_range_that_is_none_is_refused_before_anything_is_opened(here: Project, wanted: Any) -> None:
    """By every operation that takes one: the file, the deployment and the run may be nowhere."""
    with pytest.raises(UsageError, match=_RANGES):
        runs.start("/nowhere.nika.yaml", trace_range=wanted)
    with pytest.raises(UsageError, match=_RANGES):
        runs.run_deployment("nowhere", trace_range=wanted)
    with pytest.raises(UsageError, match=_RANGES):
        runs.resume_run(NOWHERE, "yes", trace_range=wanted)
    with pytest.raises(UsageError, match=_RANGES):
        runs.read_run_trace(NOWHERE, *wanted)


def test_whoever_holds_the_runs_of_a_project_is_refused_as_early(here: Project) -> None:
    """Nothing runs for a range that is none."""
    here.deployed("done", DONE)
    held = Runs(here.root)
    with pytest.raises(UsageError, match=_RANGES):
        held.start(request_of(DONE), trace_range=(0, 0))
    with pytest.raises(UsageError, match=_RANGES):
        held.run_deployment("nowhere", trace_range=(0, 0))
    assert (here.traces, here.marks) == ([], {})


# -- run_deployment ----------------------------------------------------------------------------


def test_run_deployment_takes_a_deployment_id_workflow_input_and_an_optional_trace_range(
    here: Project,
) -> None:
    """Inputs go over what is bound; the range adds a piece of the trace to the payload."""
    here.deployed(
        "done",
        DONE.replace("permits", "inputs: {a: {type: integer}, b: {type: integer, default: 2}}\npermits"),
        a=1,
    )
    found = runs.run_deployment("done", {"b": 3}, trace_range=(0, 1))
    assert isinstance(found, Inspection)
    assert found.trace is not None
    (first,) = found.trace.frames
    assert first["fields"]["input_values"] == '{"a":1,"b":3}'
    with pytest.raises(UsageError, match="limit is how many are wanted"):
        runs.run_deployment("done", trace_range=(0, 0))
    assert len(here.traces) == 1


def test_load_deployment_and_artifact_from_the_configured_artifact_store(here: Project) -> None:
    """From the folder that is named, whatever the current one is; the newest version unless one is named."""
    here.deployed(topic="a")
    here.deployed(topic="b")
    for version, topic in ((None, "b"), (1, "a"), (2, "b")):
        found = runs.run_deployment("gate", version=version, root=here.root)
        assert isinstance(found, Inspection)
        assert f'"{topic}"' in str(frames(here.traces[-1])[0]["input_values"])
    with pytest.raises(UsageError, match="has no version 9"):
        runs.run_deployment("gate", version=9)
    with pytest.raises(UsageError, match="did you mean `gate`"):
        runs.run_deployment("gat")


def test_resolve_saved_child_artifact_tree(here: Project) -> None:
    """What the called workflows call is kept as well."""
    Path("one.nika.yaml").write_text(
        'nika: one\npermits: {}\ntasks:\n  call: {invoke: {workflow: "./two.nika.yaml"}}\n', encoding="utf-8"
    )
    Path("two.nika.yaml").write_text(ASK.replace("nika: ask", "nika: two"), encoding="utf-8")
    top = 'nika: top\npermits: {}\ntasks:\n  call: {invoke: {workflow: "./one.nika.yaml"}}\n'
    here.deployed("top", top)
    for name in ("one", "two", "top"):
        Path(f"{name}.nika.yaml").unlink()
    started = here.ran("top")
    assert [prompt.key for prompt in started.prompts] == ["call/call/ask"]
    assert runs.resume_run(started.run_id, {"call/call/ask": "no"}).status == "completed"


@pytest.mark.parametrize(
    ("text", "code", "named"),
    [
        (DONE, "NIKA-EXEC-002", "./say"),
        (DONE.replace("./say", "no-such-program-anywhere"), "NIKA-EXEC-002", "no-such-program-anywhere"),
        (
            "nika: s\nsecrets: {key: {source: env, key: NO_SUCH_SECRET, egress: [{to: infer}]}}\n"
            'tasks:\n  a: {infer: {model: mock/echo, prompt: "${{ secrets.key }}"}}\n',
            "NIKA-VAR-001",
            "NO_SUCH_SECRET",
        ),
        ("nika: m\ntasks:\n  a: {infer: {model: some-cloud/large, prompt: x}}\n", "", "some-cloud"),
        ('nika: t\npermits: {tools: ["mcp:x/y"]}\ntasks:\n  a: {invoke: {tool: "mcp:x/y"}}\n', "", "mcp:x/y"),
        (
            'nika: c\npermits: {}\ntasks:\n  a: {invoke: {workflow: "./none.nika.yaml"}}\n',
            "",
            "none.nika.yaml",
        ),
        (
            'nika: k\npermits: {fs: {read: ["./*.md"]}}\nmodel: mock/echo\n'
            'tasks:\n  a: {agent: {prompt: x, skills: ["./none.md"]}}\n',
            "",
            "none.md",
        ),
    ],
    ids=["program by path", "program on PATH", "secret", "provider", "tool", "child file", "skill"],
)
def test_if_validation_has_blocking_diagnostics_return_status_unrunnable_and_run_id_none(
    here: Project, text: str, code: str, named: str
) -> None:
    """Whatever is missing: it is named, with what to do."""
    here.without_say()
    found = runs.start(text)
    assert (found.status, found.run_id) == ("unrunnable", None)
    first = found.diagnostics[0]
    assert first.code.startswith(code or "NIKA-")
    assert named in first.message + first.hint
    assert first.hint


def test_if_validation_has_blocking_diagnostics_do_not_create_a_run_record_do_not_write_a_checkpoint(
    here: Project,
) -> None:
    """No file is made, not even an empty one."""
    here.deployed()
    here.without_say()
    runs.run_deployment("gate")
    assert here.traces == []
    assert runs.list_runs().to_json() | {"limit": 0} == {
        "runs": [], "offset": 0, "limit": 0, "total": 0, "unfinished": [], "unfinished_total": 0,
    }  # fmt: skip


def test_what_a_task_provides_for_is_not_missing(here: Project) -> None:
    """A task with its own `on_error`, a closed gate, a program that an earlier task may write."""
    text = """\
nika: provided
permits: {exec: ["./nowhere", "./made", "sh"], fs: {write: ["./made"]}}
tasks:
  skips: {on_error: {skip: true}, exec: {command: ["./nowhere"]}}
  never: {when: false, exec: {command: ["./nowhere"]}}
  makes: {exec: {command: ["sh", "-c", "printf '#!/bin/sh\\necho made' > made; chmod +x made"]}}
  uses: {after: {makes: success}, exec: {command: ["./made"]}}
outputs: {said: "${{ tasks.uses.output }}"}
"""
    assert here.started(text).output == {"said": "made"}


def test_if_validation_passes_create_pinned_environment_execute_persist_stopped_run_and_checkpoint(
    here: Project,
) -> None:
    """One file with the pinned text and one stop."""
    here.deployed()
    started = here.ran()
    (trace,) = here.traces
    assert of(trace, "nb_source_page")[0]["text"] == GATE
    assert [checkpoint.trace for checkpoint in runs.checkpoints(started.run_id)] == [trace.name]


def test_return_compact_run_payload(here: Project) -> None:
    """Identity, status, prompts; no inputs, no task outputs, no text of the workflow."""
    here.deployed(topic="a-word-of-the-inputs")
    shape = here.ran().to_json()
    assert {"run_id", "status", "resume_readiness", "prompts", "diagnostics", "trace_count"} <= set(shape)
    assert "a-word-of-the-inputs" not in words_in(shape)
    assert "nika: gate" not in words_in(shape)


# -- inspect_run -------------------------------------------------------------------------------


def test_return_compact_summary_status_run_id_resume_readiness_interrupt_payload_when_present(
    here: Project,
) -> None:
    """The prompts whole: what is asked, how, and what hangs on it."""
    started = here.started(GATE)
    shape = runs.inspect_run(started.run_id).to_json()
    assert (shape["run_id"], shape["status"], shape["resume_readiness"]) == (
        started.run_id,
        "interrupted",
        "ready",
    )
    ask, name = shape["prompts"]
    assert (ask["key"], ask["mode"], ask["message"], ask["gates"]) == ("ask", "confirm", "Ship it?", ["ship"])
    assert (name["key"], name["mode"]) == ("name", "input")


def test_return_outcome_error_output_when_present_diagnostics_trace_count(here: Project) -> None:
    """Each where there is one; how many frames there are to read."""
    done, failed = here.started(DONE), here.started(FAILS)
    shape = runs.inspect_run(done.run_id).to_json()
    assert (shape["outcome"], shape["output"], shape["diagnostics"]) == ("completed", {"said": "hello"}, [])
    assert shape["trace_count"] == len(frames(here.traces[0]))
    assert "error" not in shape
    shape = runs.inspect_run(failed.run_id).to_json()
    assert shape["outcome"] == "failed"
    assert (shape["error"]["code"], shape["error"]["task"]) == ("NIKA-EXEC-001", "say")
    assert "output" not in shape


def test_do_not_return_trace_entries(here: Project) -> None:
    """However it stopped."""
    for text in (DONE, FAILS, GATE):
        found = runs.inspect_run(here.started(text).run_id)
        assert found.trace is None
        assert "frames" not in found.to_json()


def test_a_run_that_is_not_here_is_told(here: Project) -> None:
    """With where to look."""
    with pytest.raises(UsageError, match="there is no run gate-00000000 in"):
        runs.inspect_run(NOWHERE)


# -- read_run_trace ----------------------------------------------------------------------------


@pytest.mark.parametrize(("start", "limit"), [(-1, 5), (0, 0), (0, -3), (0, True), ("0", 5), (0, 2.5)])
@pytest.mark.usefixtures("unopened")
def test_validate_trace_range_before_store_lookup(here: Project, start: Any, limit: Any) -> None:
    """A range that is none is refused before anything is opened, also for a run that is not there."""
    with pytest.raises(UsageError, match=r"start|limit"):
        runs.read_run_trace(NOWHERE, start, limit)


def test_return_compact_run_summary_plus_the_bounded_trace_slice(here: Project) -> None:
    """Counted on over all invocations, in their order."""
    started = here.started(GATE)
    whole = runs.resume_run(started.run_id, ANSWERS)
    every = [frame["uuid"] for path in here.traces for frame in frames(path)]
    found, start = [], 0
    while True:
        read = runs.read_run_trace(started.run_id, start, 7)
        assert read.trace is not None
        assert read.to_json() | {"frames": 0} == whole.to_json() | {
            "trace_start": start, "trace_limit": 7, "trace_truncated": read.trace.truncated, "frames": 0,
        }  # fmt: skip
        assert len(read.trace.frames) <= 7
        found += [frame["id"] for frame in read.trace.frames]
        start += len(read.trace.frames)
        if not read.trace.truncated:
            break
    assert found == every


def test_return_trace_metadata_trace_start_trace_limit_trace_truncated_trace_count(here: Project) -> None:
    """At the beginning, at the end, and beyond it."""
    started = here.started(DONE)
    count = len(frames(here.traces[0]))
    for start, limit, truncated in ((0, 2, True), (count - 2, 2, False), (count + 5, 2, False)):
        shape = runs.read_run_trace(started.run_id, start, limit).to_json()
        assert (shape["trace_start"], shape["trace_limit"], shape["trace_count"]) == (start, limit, count)
        assert shape["trace_truncated"] is truncated


def test_a_piece_is_bounded_in_bytes_as_well(here: Project) -> None:
    """Frames of a megabyte each do not all come at once; reading on brings the rest."""
    text = 'nika: big\npermits: {exec: ["sh"]}\ntasks:\n'
    line = "head -c 900000 /dev/zero | tr '\\\\0' x"
    text += "".join(f'  t{n}: {{exec: {{command: ["sh", "-c", "{line}"]}}}}\n' for n in range(8))
    started = here.started(text)
    read = runs.read_run_trace(started.run_id, 0, 10_000)
    assert read.trace is not None
    assert read.trace.truncated
    assert len(words_in(read.to_json())) < 8 << 20
    rest = runs.read_run_trace(started.run_id, len(read.trace.frames), 10_000)
    assert rest.trace is not None
    assert len(rest.trace.frames) > 0


# -- list_runs ---------------------------------------------------------------------------------


def test_returns_paged_compact_summaries_for_stopped_durable_runs(here: Project) -> None:
    """The newest first; the pages are disjoint and make up the whole; the rest stands apart."""
    ids = [here.started(DONE).run_id for _ in range(5)]
    whole = here.traces[2].read_bytes().splitlines(keepends=True)
    here.traces[2].write_bytes(b"".join(whole[:3]))
    pages = [runs.list_runs(offset=offset, limit=2) for offset in (0, 2, 4)]
    listed = [summary.run_id for page in pages for summary in page.runs]
    assert listed == [run_id for run_id in reversed(ids) if run_id != ids[2]]
    assert {page.total for page in pages} == {4}
    assert [(run.summary.run_id, run.state) for run in pages[0].unfinished] == [(ids[2], "incomplete")]


def test_the_list_payload_contains_run_deployment_and_artifact_ids_status_readiness_count_and_timestamps(
    here: Project,
) -> None:
    """Exactly that."""
    here.deployed()
    here.ran()
    (shape,) = runs.list_runs().to_json()["runs"]
    assert set(shape) == {
        *("run_id", "deployment", "deployment_version", "workflow", "workflow_version", "status", "outcome"),
        *("resume_readiness", "diagnostic_count", "created_at", "updated_at", "parent_run"),
    }
    assert (shape["deployment"], shape["deployment_version"], shape["workflow"]) == ("gate", 1, "gate")


def test_it_never_returns_trace_entries_checkpoint_state_runtime_output_or_pinned_environment_bodies(
    here: Project,
) -> None:
    """None of the words of the inputs, of the text, of what was said."""
    here.deployed("done", DONE.replace("hello", "a-word-of-the-output"))
    here.ran("done")
    here.started(GATE, vars={"topic": "a-word-of-the-inputs"})
    said = words_in(runs.list_runs().to_json())
    for word in ("a-word-of-the-output", "a-word-of-the-inputs", "tasks:", "Ship it?", "workflow_started"):
        assert word not in said


@pytest.mark.parametrize(("offset", "limit"), [(-1, 5), (0, 0), (0, 1001)])
def test_a_page_is_a_page(here: Project, offset: int, limit: int) -> None:
    """Of a bounded size, from the beginning on."""
    with pytest.raises(UsageError, match=r"offset|limit|at most 1000"):
        runs.list_runs(offset=offset, limit=limit)


def test_runs_are_listed_by_status(here: Project) -> None:
    """What waits for an answer, for example."""
    asks = here.started(ASK)
    here.started(DONE)
    found = runs.list_runs(status="interrupted")
    assert ([summary.run_id for summary in found.runs], found.total) == ([asks.run_id], 1)
    with pytest.raises(UsageError, match="one of interrupted, completed, failed"):
        runs.list_runs(status="paused")


# -- resume_run --------------------------------------------------------------------------------


def test_reject_if_stored_run_status_is_not_interrupted(here: Project) -> None:
    """Completed, failed, incomplete, at work: each in its own words."""
    done, broken = here.started(DONE), here.started(DONE)
    whole = here.traces[1].read_bytes().splitlines(keepends=True)
    here.traces[1].write_bytes(b"".join(whole[:3]))
    with pytest.raises(UsageError, match="is completed: only an interrupted run is resumed"):
        runs.resume_run(done.run_id, "yes")
    with pytest.raises(UsageError, match=f'broke off .* `resume="{here.traces[1].name}"`'):
        runs.resume_run(broken.run_id, "yes")


def test_if_validation_has_blocking_diagnostics_keep_status_interrupted_set_blocked_save_diagnostics(
    here: Project,
) -> None:
    """As the resume returns it, so it is found afterwards; attempt after attempt."""
    started = here.started(GATE)
    here.without_say()
    for attempt in (1, 2, 3):
        blocked = runs.resume_run(started.run_id, ANSWERS)
        assert (blocked.status, blocked.resume_readiness) == ("interrupted", "blocked")
        found = runs.inspect_run(started.run_id)
        assert found.diagnostics == blocked.diagnostics
        assert found.summary == blocked.summary
        assert of(here.traces[-1], "nb_resume_blocked")[0]["attempt"] == attempt


def test_blocked_resume_does_not_write_a_new_execution_checkpoint_does_not_apply_resume_payload(
    here: Project,
) -> None:
    """Nothing ran, nothing was decided."""
    started = here.started(GATE)
    here.without_say()
    runs.resume_run(started.run_id, ANSWERS)
    assert len(runs.checkpoints(started.run_id)) == 1
    assert here.marks == {"prep": 1}
    assert not any(of(path, "approval_decided") for path in here.traces)


def test_if_validation_passes_resume_and_persist_next_stopped_run_checkpoint_with_same_run_id(
    here: Project,
) -> None:
    """What had settled is not run again."""
    started = here.started(GATE)
    found = runs.resume_run(started.run_id, ANSWERS)
    assert (found.run_id, found.status) == (started.run_id, "completed")
    assert ran(here.traces[-1]) == {"ask", "name", "ship"}
    assert here.marks == {"prep": 1, "ship": 1}


def test_what_a_settled_task_needed_is_not_needed_any_more(here: Project) -> None:
    """Only what has still to run is looked up."""
    text = GATE.replace('permits: {exec: ["./say"]}', 'permits: {exec: ["./say", "./once"]}')
    text = text.replace('["./say", "prep"', '["./once", "prep"')
    once = here.root / "once"
    once.write_bytes((here.root / "say").read_bytes())
    once.chmod(0o755)
    started = here.started(text)
    once.unlink()
    assert runs.resume_run(started.run_id, ANSWERS).status == "completed"


@pytest.mark.parametrize(
    ("answers", "why"),
    [
        ({"ask": "perhaps"}, "takes yes or no"),
        ({"nobody": "yes"}, "no open prompt is called `nobody`"),
        ("yes", "2 prompts are open"),
        (None, "waits for an answer"),
        ({}, "waits for an answer"),
    ],
    ids=["wrong kind", "unknown", "bare", "none", "empty"],
)
def test_a_wrong_payload_consumes_nothing(here: Project, answers: Any, why: str) -> None:
    """Refused in a sentence; the right answer still counts."""
    started, before = here.started(GATE), here.bytes()
    with pytest.raises(UsageError, match=why):
        runs.resume_run(started.run_id, answers)
    assert here.bytes() == before
    assert runs.resume_run(started.run_id, ANSWERS).status == "completed"


# -- resume outcome, default submitted -----------------------------------------------------------


def test_a_declined_confirmation_settles_as_false(here: Project) -> None:
    """Its gate decides: nothing is shipped, and the run completes."""
    started = here.started(GATE)
    found = runs.resume_run(started.run_id, ["ask"], "declined")
    assert [prompt.key for prompt in found.prompts] == ["name"]
    found = runs.resume_run(started.run_id, {"name": "Ann"})
    assert found.output == {"topic": "plain", "shipped": None}
    (decided,) = of(here.traces[1], "approval_decided")
    assert (decided["decision"], decided["why"]) == ("deny", "declined")


def test_any_other_declined_prompt_settles_failure_nika_cancel_001(here: Project) -> None:
    """Its `on_error` decides: here it provides a value; without one the run fails."""
    started = here.started(GATE)
    runs.resume_run(started.run_id, {"ask": "yes"})
    assert runs.resume_run(started.run_id, None, "declined").output == {"topic": "plain", "shipped": "nobody"}
    bare = here.started(GATE.replace("    on_error: {recover: nobody, on_codes: [NIKA-CANCEL-001]}\n", ""))
    found = runs.resume_run(bare.run_id, None, "declined")
    assert (found.status, found.error["code"] if found.error else "") == ("failed", "NIKA-CANCEL-001")


def test_declining_names_prompts_or_all_of_them_and_gives_no_values(here: Project) -> None:
    """A value for what is declined is a contradiction; an unknown outcome is none."""
    started = here.started(GATE)
    with pytest.raises(UsageError, match="leave out the value of `ask`"):
        runs.resume_run(started.run_id, {"ask": "yes"}, "declined")
    with pytest.raises(UsageError, match="no open prompt is called `nobody`"):
        runs.resume_run(started.run_id, "nobody", "declined")
    with pytest.raises(UsageError, match="`submitted` or `declined`"):
        runs.resume_run(started.run_id, ANSWERS, "cancelled")  # type: ignore[arg-type]
    assert runs.resume_run(started.run_id, outcome="declined").status == "completed"
