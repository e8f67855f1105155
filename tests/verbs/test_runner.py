"""The verbs of one invocation, together, as the engine gets them."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from nika_nb.engine.contract import Answer, Asks
from nika_nb.errors import Fault, Source
from nika_nb.language import load
from nika_nb.plan.plan import make_plan
from nika_nb.verbs.runner import LocalVerbs
from tests.verbs.calls import Recorder, command
from tests.verbs.processes import fresh_mark, gone

TEXT = """
nika: ship
permits: { exec: [git, sleep], tools: ["nika:write"], fs: { write: ["out/**"] } }
tasks:
  before:
    infer: { prompt: hi }
  ask:
    after: { before: success }
    invoke: { tool: "nika:prompt", args: { message: "Ship?" } }
  push:
    with: { go: "${{ tasks.ask.output }}" }
    when: ${{ with.go == true }}
    exec: { command: [git, push] }
  note:
    after: { push: terminal }
    invoke: { tool: "nika:write", args: { path: out/note, content: x } }
  tidy:
    after: { push: unwind }
    exec: { command: [git, gc] }
  aside:
    infer: { prompt: hi }
"""


def verbs(**options: Any) -> LocalVerbs:
    workflow = load(Source(TEXT)).workflow
    assert workflow is not None
    return LocalVerbs(workflow=workflow, plan=make_plan(workflow), **options)


def run(made: LocalVerbs, recorder: Recorder, verb: str, body: dict[str, Any], task: str = "task") -> Any:
    return asyncio.run(made.run(recorder.call(verb, body, task))).output


def test_each_verb_has_its_runner(tmp_path: Path) -> None:
    """Calls go where their verb says, under the workflow's permits, with the run's model."""
    made, recorder = verbs(model="mock/echo"), Recorder(str(tmp_path))
    assert run(made, recorder, "infer", {"prompt": "hi"}) == "mock(echo) · hi"
    assert run(made, recorder, "exec", command("git", "--version")).startswith("git version")
    body = {"tool": "nika:write", "args": {"path": "out/a", "content": "x"}}
    assert run(made, recorder, "invoke", body) == "out/a"
    assert run(made, recorder, "agent", {"prompt": "hi"}) == "mock(echo) · hi"
    made.close()


def test_a_question_shows_what_waits_for_it(tmp_path: Path) -> None:
    """The prompt names every task downstream of it, and what those may do; nothing upstream or aside."""
    made, recorder = verbs(), Recorder(str(tmp_path))
    body = {"tool": "nika:prompt", "args": {"message": "Ship?"}}
    with pytest.raises(Asks) as caught:
        run(made, recorder, "invoke", body, "ask")
    prompt = caught.value.prompt
    assert prompt.gates == ("push", "note")
    assert prompt.effects == ("exec · git push", "tool · nika:write", "write · out/note")
    answered = verbs(answers={"ask": Answer("yes", shown_hash=prompt.shown_hash)})
    assert run(answered, recorder, "invoke", body, "ask") is True


def test_closing_ends_what_is_left(tmp_path: Path) -> None:
    """A close in the middle of a command ends it."""
    made, recorder, mark = verbs(), Recorder(str(tmp_path)), fresh_mark()

    async def scenario() -> None:
        task = asyncio.create_task(made.run(recorder.call("exec", command("sleep", mark))))
        while not recorder.processes:
            await asyncio.sleep(0.01)
        await asyncio.to_thread(made.close)
        with pytest.raises(Fault, match="SIGKILL"):
            await task

    asyncio.run(scenario())
    assert gone(mark)


REGATE = """
nika: w
permits: { exec: [find] }
inputs: { p: { type: string } }
tasks:
  t: { exec: { command: [find, ".", "${{ inputs.p }}"] } }
"""


def test_an_untrusted_word_is_judged_at_run(tmp_path: Path) -> None:
    """A word that the caller decided is witnessed, and refused where it would start something else."""
    workflow = load(Source(REGATE)).workflow
    assert workflow is not None
    made, recorder = LocalVerbs(workflow=workflow, plan=make_plan(workflow)), Recorder(str(tmp_path))
    assert run(made, recorder, "exec", command("find", ".", "-empty"), "t") == "."
    assert [decision.plane for decision in recorder.decisions] == ["exec", "regate", "env"]
    with pytest.raises(Fault, match="makes a program run another one") as caught:
        run(made, recorder, "exec", command("find", ".", "-exec"), "t")
    assert caught.value.code == "NIKA-SEC-004"
    made.close()


def test_rendered_values_that_are_not_text(tmp_path: Path) -> None:
    """A value of another type becomes text; bytes are kept as input and refused elsewhere."""
    made, recorder = verbs(model="mock/echo"), Recorder(str(tmp_path))
    hashing = ("git", "hash-object", "--stdin")
    assert run(made, recorder, "exec", command(*hashing, stdin=b"")).startswith("e69de29")
    assert run(made, recorder, "exec", command(*hashing, stdin={"a": 1})).startswith("daa5053")
    for verb, body in [
        ("exec", command("git", b"x")),  # type: ignore[arg-type]
        ("exec", command("git", cwd=b"x")),
        ("infer", {"prompt": b"x"}),
        ("infer", {"prompt": "x", "system": b"x"}),
        ("invoke", {"tool": "nika:prompt", "args": {"message": b"x"}}),
        ("invoke", {"tool": "nika:assert", "args": {"condition": False, "message": b"x"}}),
    ]:
        with pytest.raises(Fault, match="bytes cannot stand in") as caught:
            run(made, recorder, verb, body)
        assert caught.value.code == "NIKA-VAR-007"
    made.close()
