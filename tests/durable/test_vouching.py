"""A pause that is not trusted: it is blocked, says how to vouch for it, and each door takes that."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mcp import ClientSession

import nika_nb
from nika_nb import runs
from nika_nb.errors import NikaError
from nika_nb.runs.lack import RunBlocked
from tests.doors import Terminal, frames
from tests.durable.cells import Cells
from tests.durable.project import GATE, Project
from tests.durable.talking import said, talked

OTHER = "nika-nb/7"
HANDS = {"ask": "yes", "name": "Ann"}
WORDS = ["ask=yes", "name=Ann"]


def broken(path: Path) -> None:
    """A journal in which somebody changed a figure."""
    text = path.read_bytes()
    changed = text.replace(b'"attempts","value":1', b'"attempts","value":2', 1)
    assert changed != text
    path.write_bytes(changed)


def foreign(path: Path) -> None:
    """A sound journal of another engine version."""
    head, found = hashlib.sha256(b"nika-trace-v1").hexdigest(), []
    for line in path.read_bytes().splitlines():
        shape = json.loads(line)
        shape["chain"] = head
        for pair in shape["fields"]:
            if pair["key"] == "engine_version":
                pair["value"] = OTHER
        said = json.dumps(shape, ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode()
        head = hashlib.sha256(said).hexdigest()
        found.append(said + b"\n")
    path.write_bytes(b"".join(found))


Change = Callable[[Path], None]
CASES = pytest.mark.parametrize(
    ("change", "why", "python", "words", "code"),
    [
        (broken, "cannot be trusted: BROKEN", {"resume_unverified": True}, ["--resume-unverified"], 2),
        (
            foreign,
            f"was written by engine {OTHER}",
            {"resume_compat": OTHER},
            ["--resume-compat", OTHER],
            3,
        ),
    ],
    ids=["broken chain", "other engine"],
)
CHANGES = pytest.mark.parametrize("change", [broken, foreign], ids=["broken chain", "other engine"])


@pytest.fixture
def paused(here: Project) -> str:
    """The id of a run that asks two questions."""
    return here.started(GATE).run_id


@CASES
def test_what_an_answer_would_be_refused_for_is_told_by_a_look(
    here: Project, paused: str, change: Change, why: str, python: dict[str, Any], words: list[str], code: int
) -> None:
    """Ready means that an answer would be taken; a look tells what stands against it, and how to vouch."""
    change(here.traces[0])
    before = here.bytes()
    found = runs.inspect_run(paused)
    assert (found.status, found.resume_readiness) == ("interrupted", "blocked")
    (lack,) = found.diagnostics
    assert why in lack.message
    assert next(iter(python)) in lack.hint
    assert here.bytes() == before


@CASES
def test_python_takes_what_its_refusal_points_to(
    here: Project, paused: str, change: Change, why: str, python: dict[str, Any], words: list[str], code: int
) -> None:
    """Blocked, listed as such, nothing consumed and no checkpoint; the same answer with the word is taken."""
    change(here.traces[0])
    found = runs.resume_run(paused, HANDS)
    assert (found.resume_readiness, here.marks) == ("blocked", {"prep": 1})
    assert runs.list_runs().runs[0].resume_readiness == "blocked"
    assert len(runs.checkpoints(paused)) == 1
    done = runs.resume_run(paused, HANDS, **python)
    assert (done.run_id, done.status, here.marks) == (paused, "completed", {"prep": 1, "ship": 1})
    assert frames(here.traces[-1])[0]["correlation"] == paused


@CASES
def test_a_run_object_takes_it_for_this_one_answer(
    here: Project, paused: str, change: Change, why: str, python: dict[str, Any], words: list[str], code: int
) -> None:
    """The next one is judged as any other; what was decided in a broken chain is asked again."""
    change(here.traces[0])
    run = nika_nb.attach(here.traces[0])
    with pytest.raises(RunBlocked, match="cannot go on here") as refused:
        run.answer(ask="yes")
    assert refused.value.exit_code == code
    run.answer(ask="yes", **python)
    assert run.state == "paused"
    change(here.traces[-1])
    with pytest.raises(RunBlocked):
        run.answer(name="Ann")
    run.decline("name", **python)
    assert [prompt.key for prompt in run.prompts] == (["ask"] if change is broken else [])


@CASES
@pytest.mark.parametrize("door", ["runs resume", "answer"])
def test_a_terminal_takes_what_its_refusal_points_to(
    here: Project,
    paused: str,
    terminal: Terminal,
    change: Change,
    why: str,
    python: dict[str, Any],
    words: list[str],
    code: int,
    door: str,
) -> None:
    """By the run's id, and by its trace."""
    change(here.traces[0])
    line = ["runs", "resume", paused] if door == "runs resume" else ["answer", here.traces[0]]
    refused = terminal(*line, *WORDS)
    assert (refused.code, why in refused.err, " ".join(words) in refused.err) == (code, True, True)
    assert terminal(*line, *WORDS, *words).code == 0
    assert here.marks == {"prep": 1, "ship": 1}


@CASES
def test_a_line_of_a_notebook_takes_it(
    here: Project,
    paused: str,
    cells: Cells,
    change: Change,
    why: str,
    python: dict[str, Any],
    words: list[str],
    code: int,
) -> None:
    """An answer, and to decline."""
    change(here.traces[0])
    cells(f"answer {paused} ask=yes", fails=" ".join(words))
    cells(f"answer {' '.join(words)} {paused} ask=yes")
    change(here.traces[-1])
    cells(f"decline {paused} name", fails=why)
    cells(f"decline {paused} name {' '.join(words)}")
    asked = [prompt.key for prompt in runs.inspect_run(paused).prompts]
    assert asked == (["ask"] if change is broken else [])


@CASES
def test_an_mcp_client_takes_it(
    here: Project, paused: str, change: Change, why: str, python: dict[str, Any], words: list[str], code: int
) -> None:
    """The refusal is a payload as any other one that blocks, and names the argument."""
    change(here.traces[0])

    async def talk(client: ClientSession) -> tuple[dict[str, Any], dict[str, Any]]:
        blocked = await said(client, "resume_run", run_id=paused, answers=HANDS)
        return blocked, await said(client, "resume_run", run_id=paused, answers=HANDS, **python)

    blocked, done = talked(here.root, talk)
    assert (blocked["resume_readiness"], done["status"]) == ("blocked", "completed")
    assert next(iter(python)) in blocked["diagnostics"][0]["hint"]


def test_a_wrong_version_vouches_for_nothing(here: Project, paused: str) -> None:
    """It has to be exactly the one that is recorded."""
    foreign(here.traces[0])
    with pytest.raises(NikaError, match="names the wrong version"):
        runs.resume_run(paused, HANDS, resume_compat="nika-nb/6")
    assert here.marks == {"prep": 1}


def test_a_key_that_seals_nothing_blocks_a_run(
    here: Project, paused: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An answer would be refused for it: a look says so, a resume too, and nothing begins without it."""
    monkeypatch.setenv("NIKA_NB_SIGN_KEY", str(here.root / "no-key"))
    assert runs.inspect_run(paused).resume_readiness == "blocked"
    found = runs.resume_run(paused, HANDS)
    assert "no-key" in found.diagnostics[0].message
    assert runs.start(GATE).status == "unrunnable"
    monkeypatch.delenv("NIKA_NB_SIGN_KEY")
    assert runs.resume_run(paused, HANDS).status == "completed"


def test_a_question_that_another_run_got_answered_blocks_this_one(here: Project, paused: str) -> None:
    """Both took up the same pause: a look at the one that still asks says which run has the answers."""
    other = nika_nb.run(GATE.replace("Ship it?", "Ship it now?"), resume=here.traces[0])
    assert other.state == "paused"
    assert runs.inspect_run(str(other.id)).resume_readiness == "ready"
    runs.resume_run(paused, HANDS)
    found = runs.inspect_run(str(other.id))
    assert found.resume_readiness == "blocked"
    assert paused in found.diagnostics[0].message
    with pytest.raises(NikaError, match="already answered"):
        runs.resume_run(str(other.id), HANDS)
