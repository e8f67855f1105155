"""The MCP server, asked by a real client over standard input and output."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import anyio
import pytest
from mcp import ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client

import nika_nb
from nika_nb import runs
from nika_nb.server.progress import BEAT, EVERY, Progress
from tests.doors import PATIENCE, alive, environment, frames, newest, of, program, started, wait_for
from tests.durable.project import ASK, DONE, GATE, Project
from tests.durable.talking import said, talked

SLOW = """\
nika: slow
permits: {exec: ["./slow"]}
tasks: {slow: {exec: {command: ["./slow"]}}}
"""


async def refused(client: ClientSession, tool: str, **arguments: Any) -> str:
    result = await client.call_tool(tool, arguments)
    assert result.is_error
    return str(result.content[0].text)


def test_it_offers_the_operations(here: Project) -> None:
    """Each described, with a schema for what it takes."""

    async def talk(client: ClientSession) -> Any:
        return (await client.list_tools()).tools

    tools = {tool.name: tool for tool in talked(here.root, talk)}
    assert list(tools) == [
        "run_deployment", "list_runs", "inspect_run", "read_run_trace", "resume_run", "cancel_run",
    ]  # fmt: skip
    assert all(tool.description for tool in tools.values())
    assert tools["read_run_trace"].input_schema["required"] == ["run_id", "start", "limit"]
    assert "context" not in str(tools["resume_run"].input_schema)


def test_a_story_from_the_start_to_the_end(here: Project) -> None:
    """Started, listed, inspected, read, half answered, answered: the payloads are those of Python."""
    here.deployed(topic="told")

    async def talk(client: ClientSession) -> None:
        begun = await said(client, "run_deployment", deployment="gate")
        run_id = begun["run_id"]
        assert (begun["status"], begun["resume_readiness"]) == ("interrupted", "ready")
        assert await said(client, "inspect_run", run_id=run_id) == begun == runs.inspect_run(run_id).to_json()
        assert (await said(client, "list_runs")) == runs.list_runs().to_json()
        read = await said(client, "read_run_trace", run_id=run_id, start=1, limit=2)
        assert read == runs.read_run_trace(run_id, 1, 2).to_json()
        half = await said(client, "resume_run", run_id=run_id, answers={"ask": "yes"})
        assert [prompt["key"] for prompt in half["prompts"]] == ["name"]
        whole = await said(
            client, "resume_run", run_id=run_id, outcome="declined", trace_start=0, trace_limit=1
        )
        assert (whole["status"], whole["output"]) == ("completed", {"topic": "told", "shipped": "nobody"})
        assert len(whole["frames"]) == 1

    talked(here.root, talk)
    assert {frames(path)[0]["door"] for path in here.traces} == {"MCP"}


STEPS = """\
nika: steps
permits: {exec: ["./step", "./say"]}
tasks:
  first: {exec: {command: ["./say", "first", "1"]}}
  rows:
    after: {first: success}
    for_each: {items: [0, 1, 2, 3], max_parallel: 1}
    with: {n: "${{ item }}"}
    exec: {command: ["./step", "${{ with.n }}"]}
"""


def test_progress_is_told_while_a_run_is_active(here: Project) -> None:
    """Task by task, a fan-out item by item: each step is taken only when the one before it was told."""
    program(here.root, "step", "while ! test -e go$1; do sleep 0.02; done\nprintf x")
    here.deployed("steps", STEPS)
    told: list[tuple[float, float | None, str | None]] = []

    async def heard(progress: float, total: float | None, message: str | None) -> None:
        told.append((progress, total, message))
        items = round((progress - 1) * 4)
        if 0 <= items < 4:
            (here.root / f"go{items}").touch()

    async def talk(client: ClientSession) -> Any:
        result = await client.call_tool("run_deployment", {"deployment": "steps"}, progress_callback=heard)
        return result.structured_content

    assert talked(here.root, talk)["status"] == "completed"
    steps = [progress for progress, *_ in told]
    assert steps == sorted(set(steps))
    assert {1, 1.25, 1.5, 1.75, 2} <= set(steps)
    assert {total for _, total, _ in told} == {2}
    said = [str(message) for *_, message in told]
    assert said[0].startswith("first: completed")
    assert any(line.startswith("rows: 2/4") for line in said)
    assert said[-1] == "rows: completed"


def test_a_task_that_works_long_is_told_of_again_and_again(here: Project) -> None:
    """So that a client does not give it up; always a little more, never as much as there is."""
    program(here.root, "step", "while ! test -e go$1; do sleep 0.02; done\nprintf x")
    run = nika_nb.run(
        STEPS.replace("for_each: {items: [0, 1, 2, 3], max_parallel: 1}", "for_each: {items: [0]}"),
        background=True,
    )
    now = [0.0]
    progress = Progress(run, lambda: now[0])
    wait_for(lambda: run.tasks and run.tasks["rows"].state == "running", "the long task")
    heard = [progress.news()]
    assert heard == [None]
    for seconds in (EVERY, EVERY, BEAT - EVERY, BEAT, BEAT / 2, BEAT):
        now[0] += seconds
        heard.append(progress.news())
    (here.root / "go0").touch()
    run.wait()
    told = [news for news in [*heard, progress.last()] if news]
    assert [news is None for news in heard] == [True, False, True, False, False, True, False]
    assert told[0] == (1, 2, "first: completed")
    assert told[1][2].startswith("rows: 0/1")
    steps = [done for done, *_ in told]
    assert steps == sorted(set(steps))
    assert [done < 2 for done in steps] == [True] * 4 + [False]
    assert progress.last() is None


def test_many_things_at_once_are_told_in_few_words(here: Project) -> None:
    """At most one word in a while, whatever happened in between."""
    text = "nika: many\ntasks:\n"
    text += "".join(f'  t{n}: {{invoke: {{tool: "nika:log", args: {{message: m}}}}}}\n' for n in range(50))
    run = nika_nb.run(text, background=True)
    now = [0.0]
    progress = Progress(run, lambda: now[0])
    run.wait()
    assert progress.news() is None
    now[0] += EVERY
    done, total, said = progress.news() or (0, 0, "")
    assert (done, total, said.endswith("completed and 49 more")) == (50, 50, True)


def test_refusals_are_errors_of_the_tool_in_the_same_words(here: Project) -> None:
    """Unknown runs, wrong ranges, wrong answers, runs that are over."""
    asks, done = here.started(ASK).run_id, here.started(DONE).run_id

    async def talk(client: ClientSession) -> None:
        assert "there is no run" in await refused(client, "inspect_run", run_id="gate-00000000")
        assert "start counts from 0" in await refused(
            client, "read_run_trace", run_id=asks, start=-1, limit=1
        )
        assert "takes yes or no" in await refused(client, "resume_run", run_id=asks, answers={"ask": "hm"})
        assert "only an interrupted run" in await refused(
            client, "resume_run", run_id=done, answers={"ask": "y"}
        )
        assert "there is no deployment" in await refused(client, "run_deployment", deployment="nothing")
        assert (await said(client, "resume_run", run_id=asks, answers={"ask": "yes"}))[
            "status"
        ] == "completed"

    talked(here.root, talk)


def test_what_is_missing_is_unrunnable_and_blocked(here: Project) -> None:
    """Payloads, not errors: the client can act on them."""
    here.deployed()
    run_id = here.ran().run_id
    here.without_say()

    async def talk(client: ClientSession) -> None:
        found = await said(client, "run_deployment", deployment="gate")
        assert (found["status"], found["run_id"]) == ("unrunnable", None)
        found = await said(client, "resume_run", run_id=run_id, answers={"ask": "yes", "name": "x"})
        assert (found["status"], found["resume_readiness"]) == ("interrupted", "blocked")
        assert found["diagnostics"][0]["hint"]

    talked(here.root, talk)


def test_a_run_ends_with_the_call_that_is_given_up(here: Project) -> None:
    """A cancelled call ends its run in order; so does a client that goes away."""
    program(here.root, "slow", "sleep 600")
    here.deployed("slow", SLOW)

    async def talk(client: ClientSession) -> int:
        async with anyio.create_task_group() as group:
            group.start_soon(client.call_tool, "run_deployment", {"deployment": "slow"})
            await anyio.to_thread.run_sync(lambda: wait_for(started(here.root, "slow"), "the program"))
            group.cancel_scope.cancel()
        pid: int = of(newest(here.root), "verb_invoked")[0]["pgid"]
        await anyio.to_thread.run_sync(lambda: wait_for(lambda: not alive(pid), "the end of the program"))
        return pid

    talked(here.root, talk)
    wait_for(lambda: runs.list_runs().total == 1, "the end of the run")
    (summary,) = runs.list_runs().runs
    assert (summary.status, summary.outcome) == ("failed", "cancelled")


def test_a_run_at_work_is_ended_while_the_call_that_started_it_waits(here: Project) -> None:
    """Both calls tell the same end, and its program is gone."""
    program(here.root, "slow", "sleep 600")
    here.deployed("slow", SLOW)

    async def talk(client: ClientSession) -> list[tuple[str, str]]:
        told: list[tuple[str, str]] = []

        async def begin() -> None:
            found = await said(client, "run_deployment", deployment="slow")
            told.append((found["status"], found["outcome"]))

        async with anyio.create_task_group() as group:
            group.start_soon(begin)
            await anyio.to_thread.run_sync(lambda: wait_for(started(here.root, "slow"), "the program"))
            listed = await said(client, "list_runs")
            ended = await said(client, "cancel_run", run_id=listed["unfinished"][0]["run_id"])
            told.append((ended["status"], ended["outcome"]))
        return told

    assert talked(here.root, talk) == [("failed", "cancelled")] * 2
    assert not alive(of(newest(here.root), "verb_invoked")[0]["pgid"])


def test_a_server_that_is_asked_to_end_ends_its_runs_in_order(here: Project) -> None:
    """Their programs are gone, their journals say that they were cancelled."""
    program(here.root, "slow", "sleep 600")
    here.deployed("slow", SLOW)
    server = subprocess.Popen(
        [sys.executable, "-m", "nika_nb", "mcp"],
        cwd=here.root,
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
    )
    assert server.stdin is not None
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    for message in (
        {"id": 1, "method": "initialize", "params": hello},
        {"method": "notifications/initialized"},
        {
            "id": 2,
            "method": "tools/call",
            "params": {"name": "run_deployment", "arguments": {"deployment": "slow"}},
        },
    ):
        server.stdin.write(json.dumps({"jsonrpc": "2.0"} | message).encode() + b"\n")
    server.stdin.flush()
    trace = wait_for(started(here.root, "slow"), "the program")
    server.terminate()
    assert server.wait(PATIENCE) == 143
    server.stdin.close()
    assert frames(trace)[-1]["kind"] == "workflow_cancelled"
    assert not alive(of(trace, "verb_invoked")[0]["pgid"])


def test_another_folder_can_be_served(here: Project, tmp_path_factory: pytest.TempPathFactory) -> None:
    """--root names it; the current folder stays out of it."""
    here.started(DONE)
    elsewhere = tmp_path_factory.mktemp("elsewhere")

    async def session() -> Any:
        args = ["-m", "nika_nb", "mcp", "--root", str(here.root)]
        server = StdioServerParameters(command=sys.executable, args=args, env=environment(), cwd=elsewhere)
        async with stdio_client(server) as streams, ClientSession(*streams) as client:
            await client.initialize()
            return await said(client, "list_runs")

    assert anyio.run(session)["total"] == 1


def test_without_the_sdk_it_says_what_to_install(here: Project) -> None:
    """The extra is an extra: everything else works without it."""
    code = "import sys; sys.modules['mcp'] = None; from nika_nb.cli.main import main; sys.exit(main(['mcp']))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=here.root,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 3
    assert "pip install 'mcp" in done.stderr


def test_no_other_command_loads_the_sdk(here: Project) -> None:
    """Only the server does."""
    here.started(GATE)
    code = "import sys; from nika_nb.cli.main import main; main(['runs', 'list']); "
    code += "sys.exit('mcp' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=here.root, env=environment(), check=False)
    assert done.returncode == 0
