"""`.nika` is no folder, or may not be read: every door says so in one sentence, and nothing is lost."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mcp import ClientSession

import nika_nb
from nika_nb import runs
from nika_nb.errors import UsageError
from nika_nb.runs.inspecting import Unrunnable
from tests.doors import Terminal
from tests.durable.cells import Cells, shell
from tests.durable.project import ASK, DONE, Project
from tests.durable.talking import talked
from tests.durable.test_hard_places import unprivileged

Place = Callable[[Path], str]  # spoils a project; what is said then


def file(root: Path) -> str:
    (root / ".nika").write_text("what somebody keeps", "utf-8")
    return f"{root}/.nika is a file, no folder: move it away"


def link(root: Path) -> str:
    (root / ".nika").symlink_to(root / "gone")
    return f"{root}/.nika is a link that leads nowhere: move it away"


def inside(root: Path) -> str:
    (root / ".nika").mkdir()
    (root / ".nika" / "traces").write_text("what somebody keeps", "utf-8")
    return f"{root}/.nika/traces is a file, no folder: move it away"


@pytest.fixture(params=[file, link, inside], ids=["a file", "a link", "a file inside"])
def said(request: pytest.FixtureRequest, here: Project) -> str:
    (here.root / "done.nika.yaml").write_text(DONE, "utf-8")
    return str(request.param(here.root))


LOOKS = [
    ("runs", "list"),
    ("runs", "inspect", "ask-00000000"),
    ("runs", "resume", "ask-00000000", "ask=yes"),
    ("runs", "cancel"),
    ("runs", "follow", "ask-00000000"),
    ("inbox",),
    ("answer", "ask=yes"),
    ("trace", "ls"),
    ("trace", "gc"),
    ("trace", "doctor"),
    ("trace", "verify"),
    ("show",),
    ("run", "done.nika.yaml", "--resume"),
    ("run", "done.nika.yaml", "--resume", "--plan"),
]


def test_a_terminal_says_what_stands_there(here: Project, said: str, terminal: Terminal) -> None:
    """Whatever is looked for, in the same sentence; nothing is run where it was to be resumed."""
    for words in LOOKS:
        done = terminal(*words)
        assert (done.code, done.out) == (3, b""), words
        (line,) = done.err.splitlines()
        assert said.removeprefix(f"{here.root}/") in line, words
    assert here.marks == {}


def test_from_python(here: Project, said: str) -> None:
    """A durable run is unrunnable and says what to do; an ordinary one goes on without its journal."""
    with pytest.raises(UsageError, match="no traces can be looked up"):
        runs.list_runs()
    found = runs.start(ASK)
    assert isinstance(found, Unrunnable)
    assert f"{found.diagnostics[0].message}: move it away" == f"no journal can be written: {said}"
    run = nika_nb.run(DONE)
    assert (run.state, said in str(run.journal_error)) == ("completed", True)


def test_a_deployment_is_refused_where_it_could_not_lie(here: Project, terminal: Terminal) -> None:
    """In a sentence as well, at every verb about them."""
    said = file(here.root)
    (here.root / "done.nika.yaml").write_text(DONE, "utf-8")
    for refused in (
        lambda: runs.deploy("d", "done.nika.yaml"),
        lambda: runs.run_deployment("d"),
        runs.list_deployments,
        lambda: runs.delete_deployment("d"),
    ):
        with pytest.raises(UsageError) as error:
            refused()
        assert said in str(error.value)
    assert said in terminal("runs", "deploy", "d", "done.nika.yaml").err


def test_in_a_notebook_and_through_mcp(here: Project) -> None:
    """The sentence, and no traceback."""
    said = file(here.root)
    with shell() as cells:
        _notebook(cells, said)

    async def talk(client: ClientSession) -> Any:
        return [
            await client.call_tool("list_runs", {}),
            await client.call_tool("inspect_run", {"run_id": "a-00000000"}),
        ]

    for result in talked(here.root, talk):
        assert (result.is_error, said in result.content[0].text) == (True, True)
    assert (here.root / ".nika").read_text("utf-8") == "what somebody keeps"


def _notebook(cells: Cells, said: str) -> None:
    for line in ("runs", "inbox", "traces", "attach", "answer ask=yes", "cancel"):
        assert said in cells.refused(line)


def test_once_it_is_moved_away_everything_is_there_again(here: Project) -> None:
    """A folder that was hidden by it has lost nothing."""
    asked = here.started(ASK).run_id
    kept = here.root / "kept"
    shutil.move(here.root / ".nika", kept)
    file(here.root)
    with pytest.raises(UsageError):
        runs.resume_run(asked, {"ask": "yes"})
    (here.root / ".nika").unlink()
    shutil.move(kept, here.root / ".nika")
    assert runs.resume_run(asked, {"ask": "yes"}).status == "completed"


def test_a_folder_that_may_not_be_read_is_no_empty_one(tmp_path_factory: pytest.TempPathFactory) -> None:
    """What waits there is not said to be none, and a bare resume does not run everything again."""
    root = Path(f"/tmp/nika-unread-{os.getpid()}")
    root.mkdir()
    try:
        (root / ".nika" / "traces").mkdir(parents=True)
        (root / ".nika" / "traces").chmod(0)
        root.chmod(0o777)

        def look() -> list[str]:
            os.chdir(root)
            found = []
            for refused in (runs.list_runs, lambda: nika_nb.run(ASK, resume=True)):
                try:
                    refused()
                except UsageError as error:
                    found.append(str(error))
            return found

        told = unprivileged(look)
        assert len(told) == 2, told
        assert all("traces may not be read: give yourself the right to" in line for line in told)
    finally:
        (root / ".nika" / "traces").chmod(0o700)
        shutil.rmtree(root)
