"""One story through every door: the same payloads and the same journals, ids and times aside."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client

from nika_nb import runs
from tests.doors import Terminal, environment, frames, program
from tests.durable.cells import Cells
from tests.durable.project import GATE, Project, project

# Of this moment, this machine, or whoever stood there.
ASIDE = {
    *("uuid", "run", "correlation", "pid", "pgid", "started", "duration_ms", "saved_ms"),
    *("started_ns", "ended_ns", "files_seen"),
    *("resumed_trace", "resumed_head", "run_created", "matched", "notebook", "cell"),
    "door",  # who came through which door is what differs
}
SAID_ASIDE = {"run_id", "created_at", "updated_at", "checkpoint", "id", "timestamp", "trace", "fields"}

Payloads = list[Any]


def told(path: Path) -> list[dict[str, Any]]:
    """A journal without what is set aside; where an input came from is the door's, too."""
    found = []
    for frame in frames(path):
        shape = {name: value for name, value in frame.items() if name not in ASIDE}
        if "inputs" in shape:
            shape["inputs"] = sorted(json.loads(shape["inputs"]))
        found.append(shape)
    return found


def story(root: Path) -> list[list[dict[str, Any]]]:
    """Every journal of the one run, in the order of the run; notes where they were made."""
    folder = root / ".nika" / "traces"
    return sorted((told(path) for path in folder.glob("*.ndjson")), key=_place)


def _place(journal: list[dict[str, Any]]) -> tuple[int, int]:
    first = journal[0]
    return (1, 1) if first["kind"] == "nb_resume_blocked" else (first.get("sequence", 1), 0)


def plain(shape: Any) -> Any:
    """A payload without what is set aside."""
    if isinstance(shape, dict):
        return {name: plain(value) for name, value in shape.items() if name not in SAID_ASIDE}
    return [plain(item) for item in shape] if isinstance(shape, list) else shape


# -- the doors ---------------------------------------------------------------------------------


def through_python(here: Project) -> Payloads:
    runs.deploy("gate", Path("gate.nika.yaml"))
    begun = runs.run_deployment("gate", {"topic": "told"})
    run_id = str(begun.run_id)
    here.without_say()
    blocked = runs.resume_run(run_id, {"ask": "yes"})
    here.with_say()
    half = runs.resume_run(run_id, {"ask": "yes"})
    whole = runs.resume_run(run_id, ["name"], "declined")
    looked = [runs.list_runs(), runs.inspect_run(run_id), runs.read_run_trace(run_id, 2, 3)]
    return [found.to_json() for found in (begun, blocked, half, whole, *looked)]


def through_the_terminal(here: Project, terminal: Terminal) -> Payloads:
    def say(*words: str, code: int) -> Any:
        done = terminal("runs", *words, "--json")
        assert done.code == code, done
        return done.outputs

    say("deploy", "gate", "gate.nika.yaml", code=0)
    begun = say("run", "gate", "--var", "topic=told", code=4)
    run_id = begun["run_id"]
    here.without_say()
    blocked = say("resume", run_id, "ask=yes", code=3)
    here.with_say()
    half = say("resume", run_id, "ask=yes", code=4)
    whole = say("resume", run_id, "name", "--decline", code=0)
    read = ("read", run_id, "--start", "2", "--limit", "3")
    looked = [say("list", code=0), say("inspect", run_id, code=0), say(*read, code=0)]
    return [begun, blocked, half, whole, *looked]


def through_mcp(here: Project) -> Payloads:
    runs.deploy("gate", Path("gate.nika.yaml"))

    async def session() -> Payloads:
        args = ["-m", "nika_nb", "mcp"]
        server = StdioServerParameters(command=sys.executable, args=args, env=environment(), cwd=here.root)
        async with stdio_client(server) as streams, ClientSession(*streams) as client:
            await client.initialize()

            async def say(tool: str, **arguments: Any) -> Any:
                result = await client.call_tool(tool, arguments)
                assert not result.is_error, result.content
                return result.structured_content

            begun = await say("run_deployment", deployment="gate", inputs={"topic": "told"})
            run_id = begun["run_id"]
            here.without_say()
            blocked = await say("resume_run", run_id=run_id, answers={"ask": "yes"})
            here.with_say()
            half = await say("resume_run", run_id=run_id, answers={"ask": "yes"})
            whole = await say("resume_run", run_id=run_id, answers=["name"], outcome="declined")
            looked = [await say("list_runs"), await say("inspect_run", run_id=run_id)]
            looked.append(await say("read_run_trace", run_id=run_id, start=2, limit=3))
            return [begun, blocked, half, whole, *looked]

    return anyio.run(session)


def through_cells(here: Project, cells: Cells) -> Payloads:
    """What a cell shows is drawn; the payloads are read from the files it left."""
    cells("deploy gate gate.nika.yaml")
    cells("run gate topic=told")
    run_id = runs.list_runs().runs[0].run_id
    found = [runs.inspect_run(run_id)]
    here.without_say()
    cells(f"answer {run_id} ask=yes", fails="cannot go on here")
    found.append(runs.inspect_run(run_id))
    here.with_say()
    assert "1 run waits for an answer" in cells("inbox")
    cells(f"answer {run_id} ask=yes")
    found.append(runs.inspect_run(run_id))
    cells("decline name")
    found.append(runs.inspect_run(run_id))
    assert f"{run_id}" in cells("runs")
    looked = [runs.list_runs(), runs.inspect_run(run_id), runs.read_run_trace(run_id, 2, 3)]
    return [one.to_json() for one in (*found, *looked)]


# -- the story ---------------------------------------------------------------------------------


@pytest.fixture
def through(here: Project, terminal: Terminal, cells: Cells, tmp_path_factory: Any) -> Callable[[str], Any]:
    """(payloads, journals) of the story through a door, in a project of its own."""

    def tell(door: str) -> Any:
        made = project(tmp_path_factory.mktemp("door"))
        os.chdir(made.root)
        (made.root / "gate.nika.yaml").write_text(GATE, encoding="utf-8")
        match door:
            case "Python":
                said = through_python(made)
            case "nika-nb":
                said = through_the_terminal(made, terminal)
            case "MCP":
                said = through_mcp(made)
            case _:
                said = through_cells(made, Cells())
        return plain(said), story(made.root)

    return tell


@pytest.mark.parametrize("door", ["nika-nb", "MCP", "%nika"])
def test_the_same_scripted_story_through_every_door_gives_the_same_journals_ids_and_times_aside(
    through: Callable[[str], Any], door: str
) -> None:
    """Run, blocked, answered, declined, looked at: what is returned and what is written."""
    expected_said, expected_story = through("Python")
    said, written = through(door)
    assert written == expected_story
    assert said == expected_said
    assert [journal[-1]["kind"] for journal in written] == [
        "workflow_paused",
        "nb_resume_blocked",
        "workflow_paused",
        "workflow_completed",
    ]


def test_each_journal_says_which_door_it_was(through: Callable[[str], Any]) -> None:
    """The only thing that differs is who came."""
    for door in ("Python", "nika-nb", "MCP", "%nika"):
        through(door)
        first = [frames(path)[0] for path in (Path.cwd() / ".nika" / "traces").glob("*.ndjson")]
        assert {frame["door"] for frame in first} == {door}


NEEDS = """\
nika: needs
inputs: {topic: {type: string, required: true}, level: {type: integer, required: true}}
permits: {exec: ["./gone"]}
tasks: {a: {exec: {command: ["./gone", "${{ inputs.topic }}"]}}}
"""


def test_every_door_lists_the_same_deployments(here: Project, terminal: Terminal, cells: Cells) -> None:
    """What each needs and lacks, one that was damaged included; looked up now, with nothing written."""
    here.deployed()
    here.deployed("needs", NEEDS, level=2)
    here.deployed("spoilt")
    Path(".nika/deployments/spoilt/1.json").write_text("{}", encoding="utf-8")
    found = runs.list_deployments()
    said = terminal("deployments")
    assert said.code == 0
    assert said.out.decode() == f"{found!r}\n"
    assert cells("deployments") == f"{found!r}\n"
    assert terminal("deployments", "--json").outputs == found.to_json()
    gate, needs, spoilt = repr(found).splitlines()
    assert (gate.split()[:3], gate.split()[-1]) == (["gate", "version", "1"], "ready")
    assert "needs topic" in needs
    assert "unrunnable: `a`: there is no program at `./gone`" in needs
    assert "unrunnable: version 1 of the deployment `spoilt` is no deployment" in spoilt
    assert [one.required for one in found] == [(), ("topic",)]
    assert not here.journals
    program(here.root, "gone", ":")
    assert [shape["readiness"] for shape in found.to_json()] == ["ready", "ready", "unrunnable"]
