"""What no front end may change: a test per line of the contract, named after it, through every door."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from anyio import from_thread, to_thread
from mcp import ClientSession

from nika_nb import runs
from nika_nb.errors import NikaError
from tests.doors import Terminal, of
from tests.durable.project import DONE, FAILS, GATE, Project
from tests.durable.talking import talked

ANSWERS = {"ask": "yes", "name": "Ann"}

# Start, list, inspect, read, resume, by the name of the operation: what each returns, or {"refused": why}.
Ask = Callable[..., dict[str, Any]]


def _python(here: Project, terminal: Terminal, scenario: Callable[[Ask], None]) -> None:
    def ask(operation: str, *given: Any, **more: Any) -> dict[str, Any]:
        try:
            found = getattr(runs, operation)(*given, **more)
        except NikaError as refused:
            return {"refused": str(refused)}
        return dict(found.to_json())

    scenario(ask)


def _terminal(here: Project, terminal: Terminal, scenario: Callable[[Ask], None]) -> None:
    verbs = {"run_deployment": "run", "list_runs": "list", "inspect_run": "inspect", "resume_run": "resume"}

    def ask(operation: str, *given: Any, **more: Any) -> dict[str, Any]:
        first = [str(word) for word in given[:1]]
        words: list[str] = []
        if operation == "read_run_trace":
            words = ["--start", str(given[1]), "--limit", str(given[2])]
        elif operation == "resume_run":
            words = [f"{key}={value}" for key, value in given[1].items()]
        done = terminal("runs", verbs.get(operation, "read"), *first, *words, "--json")
        return dict(done.outputs) if done.out else {"refused": done.err}

    scenario(ask)


def _mcp(here: Project, terminal: Terminal, scenario: Callable[[Ask], None]) -> None:
    named = {
        "run_deployment": ("deployment",),
        "inspect_run": ("run_id",),
        "read_run_trace": ("run_id", "start", "limit"),
        "resume_run": ("run_id", "answers"),
    }

    async def talk(client: ClientSession) -> None:
        def ask(operation: str, *given: Any, **more: Any) -> dict[str, Any]:
            arguments = dict(zip(named.get(operation, ()), given, strict=False))
            result = from_thread.run(client.call_tool, operation, arguments)
            if result.is_error:
                return {"refused": result.content[0].text}
            return dict(result.structured_content or {})

        await to_thread.run_sync(scenario, ask)

    talked(here.root, talk)


DOORS = {"Python": _python, "nika-nb": _terminal, "MCP": _mcp}


@pytest.fixture(params=DOORS)
def through(
    request: pytest.FixtureRequest, here: Project, terminal: Terminal
) -> Callable[[Callable[[Ask], None]], None]:
    """Plays a scenario through one door."""
    return lambda scenario: DOORS[request.param](here, terminal, scenario)


Through = Callable[[Callable[[Ask], None]], None]


def test_status_meanings(here: Project, through: Through) -> None:
    """Each condition of the table has the one status and the one readiness."""
    for name, text in (("done", DONE), ("fails", FAILS), ("gate", GATE)):
        here.deployed(name, text)

    def scenario(ask: Ask) -> None:
        found = {name: ask("run_deployment", name) for name in ("done", "fails", "gate")}
        assert {name: (one["status"], one["resume_readiness"]) for name, one in found.items()} == {
            "done": ("completed", "not_applicable"),
            "fails": ("failed", "not_applicable"),
            "gate": ("interrupted", "ready"),
        }
        here.without_say()
        lacks = ask("run_deployment", "done")
        assert (lacks["status"], lacks["run_id"]) == ("unrunnable", None)
        blocked = ask("resume_run", found["gate"]["run_id"], ANSWERS)
        assert (blocked["status"], blocked["resume_readiness"]) == ("interrupted", "blocked")
        listed = {run["workflow"]: run["status"] for run in ask("list_runs")["runs"]}
        assert listed == {"done": "completed", "fails": "failed", "gate": "interrupted"}

    through(scenario)


def test_trace_range_requirement(here: Project, through: Through) -> None:
    """No frames unasked; a range that is none is refused before the run is looked for."""
    here.deployed()

    def scenario(ask: Ask) -> None:
        run_id = ask("run_deployment", "gate")["run_id"]
        assert "frames" not in ask("inspect_run", run_id)
        read = ask("read_run_trace", run_id, 1, 2)
        assert (len(read["frames"]), read["trace_start"], read["trace_limit"]) == (2, 1, 2)
        assert read["trace_truncated"] is True
        for start, limit, why in ((-1, 1, "start counts from 0"), (0, 0, "limit is how many are wanted")):
            assert why in ask("read_run_trace", "gate-00000000", start, limit)["refused"]

    through(scenario)


def test_blocked_resume_behavior(here: Project, through: Through) -> None:
    """Told with what to do, nothing consumed, no checkpoint; the same answer is taken later."""
    here.deployed()

    def scenario(ask: Ask) -> None:
        run_id = ask("run_deployment", "gate")["run_id"]
        here.without_say()
        blocked = ask("resume_run", run_id, ANSWERS)
        assert blocked["diagnostics"][0]["code"] == "NIKA-EXEC-002"
        assert blocked["diagnostics"][0]["hint"]
        assert len(runs.checkpoints(run_id)) == 1
        assert here.marks == {"prep": 1}
        assert ask("inspect_run", run_id)["resume_readiness"] == "blocked"
        here.with_say()
        assert ask("inspect_run", run_id)["resume_readiness"] == "ready"
        assert ask("resume_run", run_id, ANSWERS)["status"] == "completed"

    through(scenario)


def test_run_id_stability(here: Project, through: Through) -> None:
    """One id through every answer, for every operation."""
    here.deployed()

    def scenario(ask: Ask) -> None:
        run_id = ask("run_deployment", "gate")["run_id"]
        assert ask("resume_run", run_id, {"ask": "yes"})["run_id"] == run_id
        assert ask("resume_run", run_id, {"name": "Ann"})["run_id"] == run_id
        assert ask("inspect_run", run_id)["run_id"] == run_id
        assert [run["run_id"] for run in ask("list_runs")["runs"]] == [run_id]

    through(scenario)


def test_pinned_environment_semantics(here: Project, through: Through) -> None:
    """The file, the deployment: another one now, and gone; the run goes on as it was started."""
    path = here.deployed(topic="first")

    def scenario(ask: Ask) -> None:
        run_id = ask("run_deployment", "gate")["run_id"]
        here.deployed(topic="second")
        path.write_text(DONE.replace("nika: done", "nika: gate"), encoding="utf-8")
        runs.delete_deployment("gate")
        found = ask("resume_run", run_id, ANSWERS)
        assert found["output"] == {"topic": "first", "shipped": "Ann"}
        assert (found["deployment"], found["deployment_version"]) == ("gate", 1)

    through(scenario)


def test_no_implicit_pause_rule_for_dead_tools_and_sources(here: Project, through: Through) -> None:
    """What dies fails the run; a failed run is not resumed."""
    here.deployed("fails", FAILS)

    def scenario(ask: Ask) -> None:
        found = ask("run_deployment", "fails")
        assert (found["status"], found["error"]["code"]) == ("failed", "NIKA-EXEC-001")
        assert "only an interrupted run is resumed" in ask("resume_run", found["run_id"], ANSWERS)["refused"]
        assert of(here.traces[0], "workflow_paused") == []

    through(scenario)


# -- the store ---------------------------------------------------------------------------------


def test_a_store_saves_gets_and_lists_run_records_and_checkpoints_and_looks_up_the_latest(
    here: Project,
) -> None:
    """Folded from the files alone: in a copy of the folder, without any cache, they are the same."""
    started = here.started(GATE)
    runs.resume_run(started.run_id, {"ask": "yes"})
    here.started(DONE)
    listed = runs.list_runs().to_json()
    checkpoints = runs.checkpoints(started.run_id)
    assert runs.inspect_run(started.run_id).checkpoint == checkpoints[-1]
    elsewhere = here.root / "copy"
    folder = elsewhere / ".nika" / "traces"
    folder.mkdir(parents=True)
    for trace in here.traces:
        (folder / trace.name).write_bytes(trace.read_bytes())
    (elsewhere / "say").write_bytes((here.root / "say").read_bytes())
    (elsewhere / "say").chmod(0o755)
    assert runs.list_runs(root=elsewhere).to_json() == listed
    assert runs.checkpoints(started.run_id, root=elsewhere) == checkpoints
    assert runs.inspect_run(started.run_id, root=elsewhere) == runs.inspect_run(started.run_id)


def test_resume_run_takes_a_run_id_a_payload_an_outcome_and_an_optional_trace_range(here: Project) -> None:
    """The outcome is `submitted` unless it is said otherwise; the range is judged before anything happens."""
    started = here.started(GATE)
    before = here.bytes()
    with pytest.raises(NikaError, match="limit is how many"):
        runs.resume_run(started.run_id, ANSWERS, trace_range=(0, 0))
    assert here.bytes() == before
    found = runs.resume_run(started.run_id, ANSWERS, "submitted", trace_range=(0, 3))
    assert found.trace is not None
    assert (len(found.trace.frames), found.trace.truncated) == (3, True)


def test_mcp_clients_need_not_reload_dynamic_tools_to_run_workflows(here: Project) -> None:
    """What is deployed while they are connected is run by the tools that they know."""

    async def talk(client: ClientSession) -> None:
        before = {tool.name for tool in (await client.list_tools()).tools}
        here.deployed("late", DONE)
        result = await client.call_tool("run_deployment", {"deployment": "late"})
        assert (result.structured_content or {})["status"] == "completed"
        assert {tool.name for tool in (await client.list_tools()).tools} == before

    talked(here.root, talk)
    assert Path(".nika/deployments/late/1.json").exists()
