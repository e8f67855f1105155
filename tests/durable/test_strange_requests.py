"""Requests that make no sense: a sentence each, and nothing happens."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mcp import ClientSession

from nika_nb import runs
from nika_nb.errors import UsageError
from nika_nb.runs.inspecting import Unrunnable
from tests.doors import Terminal
from tests.durable.cells import Cells
from tests.durable.project import ASK, DONE, GATE, Project
from tests.durable.talking import said, talked

TEXT = """\
nika: text
tasks:
  q: {invoke: {tool: "nika:prompt", args: {message: "Who?", mode: input}}}
outputs: {q: "${{ tasks.q.output }}"}
"""

OPERATIONS: dict[str, Callable[[Any], Any]] = {
    "inspect": runs.inspect_run,
    "read": lambda one: runs.read_run_trace(one, 0, 1),
    "checkpoints": runs.checkpoints,
    "resume": lambda one: runs.resume_run(one, "yes"),
    "cancel": runs.cancel,
    "follow": lambda one: list(runs.follow(one)),
}


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("given", [5, None, b"gate-00000000", ["gate-00000000"]], ids=str)
def test_what_is_no_id_is_said_to_be_none(here: Project, operation: str, given: Any) -> None:
    """By every operation on a run."""
    here.started(ASK)
    with pytest.raises(UsageError, match="is not a run id"):
        OPERATIONS[operation](given)


@pytest.mark.parametrize("given", [5, None, b"gate", "../gate"], ids=str)
def test_what_is_no_deployments_name_is_said_to_be_none(here: Project, given: Any) -> None:
    """By what runs it and by what removes it."""
    for act in (runs.run_deployment, runs.delete_deployment):
        with pytest.raises(UsageError, match="cannot be called"):
            act(given)


@pytest.mark.parametrize("given", [0, -1, True, "1", "../other/1"], ids=repr)
def test_what_is_no_version_is_said_to_be_none(here: Project, given: Any) -> None:
    """No other file is opened or removed for it."""
    here.deployed("done", DONE)
    here.deployed("other", DONE)
    for act in (
        lambda: runs.run_deployment("done", version=given),
        lambda: runs.delete_deployment("done", given),
    ):
        with pytest.raises(UsageError, match="a version is a whole number from 1 on"):
            act()
    assert sorted(path.parent.name for path in Path(".nika/deployments").rglob("*.json")) == ["done", "other"]
    assert here.traces == []


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "\ud800x", b"x", None, {"a": 1}], ids=repr)
def test_an_answer_that_no_journal_can_keep_is_refused(here: Project, value: Any) -> None:
    """In a sentence, nothing is consumed, and nothing of it becomes something else."""
    started, before = here.started(TEXT), here.bytes()
    with pytest.raises(UsageError, match="`q` takes text"):
        runs.resume_run(started.run_id, {"q": value})
    assert here.bytes() == before
    assert runs.resume_run(started.run_id, {"q": "Zoë 🙂"}).output == {"q": "Zoë 🙂"}


@pytest.mark.parametrize("names", [[], {}, ()], ids=repr)
def test_names_that_came_out_empty_decline_nothing(here: Project, names: Any) -> None:
    """All prompts are declined by whoever names none, not by a list that is empty by mistake."""
    started, before = here.started(GATE), here.bytes()
    with pytest.raises(UsageError, match="no prompt is named"):
        runs.resume_run(started.run_id, names, "declined")
    assert here.bytes() == before
    assert runs.resume_run(started.run_id, outcome="declined").status == "completed"


def test_a_program_whose_folder_is_missing_is_not_said_to_be_missing_itself(here: Project) -> None:
    """The folder is what has to be made."""
    text = DONE.replace('"hello"]', '"hello"], cwd: "./nowhere"')
    found = runs.start(text)
    assert isinstance(found, Unrunnable)
    (lack,) = found.diagnostics
    assert "there is no folder at `./nowhere`" in lack.message
    assert lack.hint == "make the folder"


@pytest.mark.parametrize(
    ("tool", "hint"),
    [
        ("mcp:github/list", "tools of `mcp:` come with a later version"),
        ("nika:wiat", "did you mean `nika:wait`?"),
    ],
)
def test_a_tool_that_is_not_there_says_what_to_do_instead(here: Project, tool: str, hint: str) -> None:
    """As everything that is missing does."""
    permits, task = f'{{tools: ["{tool}"]}}', f'{{invoke: {{tool: "{tool}"}}}}'
    found = runs.start(f"nika: t\npermits: {permits}\ntasks:\n  a: {task}\n")
    assert isinstance(found, Unrunnable)
    assert hint in found.diagnostics[0].hint, found.diagnostics


# -- old traces, and what makes room ---------------------------------------------------------------


def python_starts(here: Project, terminal: Terminal, cells: Cells) -> None:
    runs.start(DONE, gc=False)


def python_runs(here: Project, terminal: Terminal, cells: Cells) -> None:
    runs.run_deployment("done", gc=False)


def terminal_runs(here: Project, terminal: Terminal, cells: Cells) -> None:
    assert terminal("runs", "run", "done", "--no-gc").code == 0


def cell_runs(here: Project, terminal: Terminal, cells: Cells) -> None:
    cells("run done --no-gc")


def mcp_runs(here: Project, terminal: Terminal, cells: Cells) -> None:
    async def talk(client: ClientSession) -> Any:
        return await said(client, "run_deployment", deployment="done", gc=False)

    assert talked(here.root, talk)["status"] == "completed"


STARTS = [python_starts, python_runs, terminal_runs, cell_runs, mcp_runs]


@pytest.fixture
def crowded(here: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    """More traces than are kept, and one that waits."""
    here.started(ASK)
    here.deployed("done", DONE)
    for _ in range(3):
        runs.run_deployment("done")
    monkeypatch.setenv("NIKA_TRACE_KEEP", "1")
    return here


@pytest.mark.parametrize("start", STARTS, ids=lambda start: start.__name__)
def test_a_start_can_be_told_to_remove_nothing(
    crowded: Project, terminal: Terminal, cells: Cells, start: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Through every door; told nothing, it makes room."""
    if start is mcp_runs:  # its server reads an environment of its own
        monkeypatch.setattr("tests.durable.talking.environment", keeping_one)
    before = set(crowded.bytes())
    start(crowded, terminal, cells)
    assert before < set(crowded.bytes())
    runs.run_deployment("done")
    assert not before < set(crowded.bytes())


def keeping_one() -> dict[str, str]:
    from tests.doors import environment

    return environment(NIKA_TRACE_KEEP="1")


@pytest.mark.parametrize("door", ["Python", "runs resume", "answer", "%nika answer", "%nika decline"])
def test_an_answer_can_be_told_to_remove_nothing(
    crowded: Project, terminal: Terminal, cells: Cells, door: str
) -> None:
    """As a start can."""
    before, paused = set(crowded.bytes()), crowded.traces[0]
    run_id = runs.list_runs(status="interrupted").runs[0].run_id
    match door:
        case "Python":
            runs.resume_run(run_id, "yes", gc=False)
        case "runs resume":
            assert terminal("runs", "resume", run_id, "yes", "--no-gc").code == 0
        case "answer":
            assert terminal("answer", paused, "yes", "--no-gc").code == 0
        case "%nika answer":
            cells(f"answer --no-gc {run_id} ask=yes")
        case "%nika decline":
            cells(f"decline {run_id} --no-gc")
    assert before < set(crowded.bytes())


def test_a_setting_that_says_nothing_is_told_by_what_goes_by_it(
    crowded: Project, terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`trace gc` removes by a default: it says so, and what it stands in for."""
    monkeypatch.setenv("NIKA_TRACE_MAX_AGE_DAYS", "abc")
    done = terminal("trace", "gc", "--dry-run")
    assert (done.code, "NIKA_TRACE_MAX_AGE_DAYS='abc' is no whole number" in done.err) == (0, True)
