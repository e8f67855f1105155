"""A question tells what its answer sets off with the values of this run; an answer holds for no others."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

import nika_nb
from nika_nb import runs
from nika_nb.authority.masking import MASK
from nika_nb.board import question
from nika_nb.errors import NikaError, UsageError
from nika_nb.tools.prompt import shown_hash
from tests.authority.test_told import SIGNS, read
from tests.doors import frames, hits, of, program, reasons
from tests.runs.test_forged import forged, paused_with

CONSENT = """\
nika: consent
permits: {tools: ["nika:prompt", "nika:write"], fs: {write: ["./out/**"]}, exec: ["./keep"]}
inputs: {name: {type: string}, unread: {type: string, default: ""}}
const: {kind: draft}
tasks:
  ask: {invoke: {tool: "nika:prompt", args: {message: "Do it?"}}}
  act:
    with: {go: "${{ tasks.ask.output }}", n: "${{ inputs.name }}"}
    when: ${{ with.go == true }}
    exec: {command: ["./keep", "${{ const.kind }}", "to-${{ with.n }}", "${{ with.go }}"]}
  put:
    with: {go: "${{ tasks.ask.output }}"}
    when: ${{ with.go == true }}
    invoke: {tool: "nika:write", args: {path: "./out/${{ inputs.name }}", content: x, create_dirs: true}}
"""
CALLS = """\
nika: calls
permits: {exec: ["./keep"], tools: ["nika:prompt"]}
inputs: {name: {type: string}}
tasks:
  prep: {exec: {command: ["./keep", "prep"]}}
  call:
    with: {before: "${{ tasks.prep.output }}"}
    invoke: {workflow: "./inner.nika.yaml", args: {who: "dr ${{ inputs.name }}", seen: "${{ with.before }}"}}
  last:
    after: {call: success}
    exec: {command: ["./keep", "last", "${{ inputs.name }}"]}
"""
INNER = """\
nika: inner
permits: {exec: ["./keep"], tools: ["nika:prompt"]}
inputs: {who: {type: string}, seen: {type: string}, more: {type: string, default: plain}}
tasks:
  ask: {invoke: {tool: "nika:prompt", args: {message: "Tell?"}}}
  tell:
    with: {go: "${{ tasks.ask.output }}"}
    when: ${{ with.go == true }}
    exec: {command: ["./keep", "${{ inputs.who }}", "${{ inputs.seen }}", "${{ inputs.more }}"]}
"""
FANS = """\
nika: fans
permits: {exec: ["./keep"], tools: ["nika:prompt"]}
inputs: {name: {type: string}}
tasks:
  each:
    for_each: {items: [1, 2]}
    invoke: {tool: "nika:prompt", args: {message: "Do ${{ item }}?", mode: input}}
  call:
    for_each: {items: [one, two]}
    invoke: {workflow: "./inner.nika.yaml", args: {who: "${{ item }}", seen: ""}}
  last:
    after: {call: success, each: success}
    exec: {command: ["./keep", "last", "${{ inputs.name }}"]}
"""
HARMLESS = "exec · ./keep draft to-ann ${{ with.go }}"


@pytest.fixture
def here(folder: Path) -> Path:
    """A folder with a program that keeps the words that it was called with."""
    program(folder, "keep", "python3 -c 'import json, sys; print(json.dumps(sys.argv))' \"$@\" >> kept")
    (folder / "inner.nika.yaml").write_text(INNER, encoding="utf-8")
    (folder / "calls.nika.yaml").write_text(CALLS, encoding="utf-8")
    return folder


def kept(here: Path) -> list[list[str]]:
    """What the program was called with, each time."""
    lines = (here / "kept").read_text(encoding="utf-8").splitlines() if (here / "kept").exists() else []
    return [json.loads(line)[1:] for line in lines]


def asks(text: str | Path = CONSENT, **inputs: str) -> nika_nb.Run:
    run = nika_nb.run(text, vars=inputs, interactive=False)
    assert run.state == "paused"
    return run


def effects(run: nika_nb.Run) -> tuple[str, ...]:
    return run.prompts[0].effects


def cut_off(run: nika_nb.Run, before: str, task: str) -> Path:
    """The journal of a run as it stood before it told of a task in a frame of this kind."""
    path = Path(str(run.trace))
    at = next(n for n, f in enumerate(frames(path)) if f["kind"] == before and f.get("task") == task)
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join(lines[:at]), encoding="utf-8")
    return path


def as_before(path: Path) -> Path:
    """A pause as an earlier version wrote it: effects as written, in what is shown and in its hash."""
    (prompt,) = json.loads(of(path, "workflow_paused")[0]["prompts"])
    prompt["effects"] = [
        "exec · ./keep ${{ const.kind }} to-${{ with.n }} ${{ with.go }}",
        "tool · nika:write",
        "write · ./out/${{ inputs.name }}",
    ]
    prompt["shown_hash"] = shown_hash(
        prompt["mode"], prompt["message"], (), tuple(prompt["gates"]), tuple(prompt["effects"])
    )
    made = forged(path, path.parent, "workflow_paused", "prompts", json.dumps([prompt]))
    return made.rename(path)


def test_inputs_constants_and_bindings_of_them_are_told(here: Path) -> None:
    """With what the run will make of them; what only a task gives stays as written."""
    run = asks(name="ann")
    assert effects(run) == (HARMLESS, "tool · nika:write", "write · ./out/ann")
    assert run.answer("yes").state == "completed"
    assert kept(here) == [["draft", "to-ann", "true"]]
    assert (here / "out" / "ann").exists()


def test_what_is_told_is_what_is_done(here: Path) -> None:
    """Whatever the inputs are: the words that the program gets, and the file that is there afterwards."""
    chance = random.Random(7)
    signs = [sign for sign in SIGNS.elements if sign.isprintable() and sign != "."]  # type: ignore[attr-defined]
    for number in range(12):
        name = f"{number}" + "".join(chance.choices(signs, k=6)) + "z"
        run = nika_nb.run(CONSENT, vars={"name": name}, interactive=False, gc=False)
        acted, _, wrote = effects(run)
        run.answer("yes")
        told = read(acted)
        assert kept(here)[-1][:2] == told[1:3]
        (path,) = read(wrote)
        assert [file.name for file in (here / "out").iterdir()] == [Path(path).name]
        (here / path).unlink()


def test_a_called_workflow_is_told_with_its_arguments(here: Path) -> None:
    """Those made of what is known, and its own defaults; also by its own questions, with what follows."""
    run = asks(here / "calls.nika.yaml", name="ann")
    (prompt,) = run.prompts
    assert prompt.key == "call/ask"
    assert prompt.effects == (
        'exec · ./keep "dr ann" ${{ inputs.seen }} plain',
        "exec · ./keep last ann",
    )
    assert run.answer("yes").state == "completed"
    assert kept(here) == [["prep"], ["dr ann", "", "plain"], ["last", "ann"]]


def test_a_question_in_front_of_a_call_tells_what_is_below_it(here: Path) -> None:
    """One step further down, where an argument is what the question gives."""
    prep = 'prep: {invoke: {tool: "nika:prompt", args: {message: "Who?", mode: input}}}'
    run = asks(CALLS.replace('prep: {exec: {command: ["./keep", "prep"]}}', prep), name="ann")
    assert effects(run) == (
        "workflow · ./inner.nika.yaml",
        'exec · ./keep "dr ann" ${{ inputs.seen }} plain',
        "exec · ./keep last ann",
    )


def test_every_door_shows_the_same(here: Path) -> None:
    """A page, a terminal, the payload of an inspection, a table; escaped as each needs it."""
    name = "<b>\u202e\x1b[31m"
    run = asks(name=name)
    told = 'write · "./out/<b>\\u202e\\u001b[31m"'
    assert effects(run)[2] == told
    assert told in runs.inspect_run(str(run.board.run_id)).to_json()["prompts"][0]["effects"]
    shown = told.replace("write · ", "write ")
    assert shown in question.asked(run.prompts[0])[0]
    bundle = question.mimebundle([question.Asked.in_cell(run.prompts[0], "t")], "")
    assert shown in bundle["text/plain"]
    assert "&lt;b&gt;\\u202e\\u001b[31m" in bundle["text/html"]
    assert "<b>\\u202e" not in bundle["text/html"]
    assert told in nika_nb.read_trace(Path(str(run.trace))).prompts["effects"].iloc[0]


def test_an_input_that_holds_a_secret_stays_as_written(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody is told it, and the answer goes through."""
    monkeypatch.setenv("TOKEN", "hunter2-hunter2")
    text = CONSENT.replace("const:", "secrets: {token: {source: env, key: TOKEN}}\nconst:")
    run = asks(text, name="a-hunter2-hunter2")
    assert effects(run)[2] == "write · ./out/${{ inputs.name }}"
    assert "hunter2" not in Path(str(run.trace)).read_text(encoding="utf-8")
    assert MASK not in effects(run)[0]
    given = {"vars": {"name": "a-hunter2-hunter2"}, "answer": {"ask": "yes"}}
    assert nika_nb.run(text, resume=run.trace, **given).state == "completed"
    assert kept(here) == [["draft", "to-a-hunter2-hunter2", "true"]]


@pytest.mark.parametrize(
    "told",
    [
        {"effects": [HARMLESS.replace("ann", "bob"), "tool · nika:write", "write · ./out/ann"]},
        {"effects": [HARMLESS, "tool · nika:write", "write · ./out/${{ inputs.name }}"]},
    ],
    ids=["another value", "half of it"],
)
def test_a_trace_that_tells_another_value_is_refused(here: Path, told: dict[str, Any]) -> None:
    """What really runs is made of the inputs that the trace holds."""
    path = paused_with(here, CONSENT, told, vars={"name": "ann"})
    with pytest.raises(NikaError, match=r"does not tell truly what waits for `ask`: .*to-ann"):
        nika_nb.attach(path).answer(ask="yes")
    (waits,) = runs.list_runs().runs
    assert runs.inspect_run(waits.run_id).resume_readiness == "blocked"
    assert not kept(here)


def test_a_trace_with_other_inputs_than_it_tells_of_is_refused(here: Path) -> None:
    """The question is left as it was, and the values behind it changed."""
    path = Path(str(asks(name="ann").trace))
    values = json.dumps({"name": "bob", "unread": ""})
    forged(path, here, "workflow_started", "input_values", values).rename(path)
    with pytest.raises(NikaError, match=r"does not tell truly what waits for `ask`: .*to-bob"):
        nika_nb.attach(path).answer(ask="yes")


@pytest.mark.parametrize("with_hash", [True, False])
def test_a_pause_of_an_earlier_version_is_answered(here: Path, with_hash: bool) -> None:
    """It tells effects as they are written, and its hash is of that: what was shown is attested."""
    path = as_before(Path(str(asks(name="ann").trace)))
    run = nika_nb.attach(path)
    (prompt,) = run.prompts
    assert "write · ./out/${{ inputs.name }}" in prompt.effects
    done = run.answer("yes", shown={"ask": prompt.shown_hash} if with_hash else None)
    assert done.state == "completed"
    (decided,) = of(Path(str(done.trace)), "approval_decided")
    assert (decided["shown_hash"] == prompt.shown_hash) is with_hash


def test_an_answer_to_what_was_shown_for_another_value_is_none(here: Path) -> None:
    """The hash that a form holds is of the values as well."""
    bob = asks(name="bob").prompts[0].shown_hash
    run = asks(name="ann")
    assert bob != run.prompts[0].shown_hash
    run.answer("yes", shown={"ask": bob})
    assert run.state == "failed"
    assert "approval.content_mismatch" in str(run.tasks["ask"].error)


def test_a_resume_with_another_value_asks_again(here: Path) -> None:
    """What was approved for one value is not done with another; with the same, or where nothing that is
    told has changed, the answer stands.
    """
    done = asks(name="ann").answer("yes")
    same = nika_nb.run(CONSENT, resume=done.trace, vars={"unread": "else"})
    assert (same.state, hits(Path(str(same.trace)))) == ("completed", {"ask", "act", "put"})
    again = nika_nb.run(CONSENT, resume=done.trace, vars={"name": "bob"})
    assert (again.state, len(kept(here))) == ("paused", 1)
    assert effects(again)[2] == "write · ./out/bob"
    answered = again.answer("yes")
    assert kept(here)[-1] == ["draft", "to-bob", "true"]
    assert reasons(Path(str(answered.trace)))["ask"][0] == "not-recorded"
    assert nika_nb.run(CONSENT, resume=answered.trace, vars={"name": "ann"}).state == "paused"


def test_the_plan_of_a_resume_says_that_it_asks_again(here: Path) -> None:
    """And why."""
    done = asks(name="ann").answer("yes")
    ahead = nika_nb.plan_resume(CONSENT, done.trace, vars={"name": "bob"})
    ask = next(task for task in ahead.tasks if task.task == "ask")
    assert (ask.fate, ask.why, ask.asks) == (
        "run",
        "input changed: an answer would set off something else",
        True,
    )


def test_an_edit_leaves_a_decided_gate_decided(here: Path) -> None:
    """The text changed, and whoever changed it knows: only another value asks again."""
    done = asks(name="ann").answer("yes")
    edited = nika_nb.run(CONSENT.replace("to-", "for-"), resume=done.trace)
    assert (edited.state, kept(here)[-1]) == ("completed", ["draft", "for-ann", "true"])


def test_a_question_in_a_called_workflow_is_asked_again(here: Path) -> None:
    """Its call is recorded and its arguments may be the same: what follows the call counts as well."""
    path = here / "calls.nika.yaml"
    text = CALLS.replace('"dr ${{ inputs.name }}"', '"dr x"')
    path.write_text(text, encoding="utf-8")
    done = asks(path, name="ann").answer("yes")
    assert done.state == "completed"
    same = nika_nb.run(path, resume=done.trace)
    assert hits(Path(str(same.trace))) == {"prep", "call", "last"}
    again = nika_nb.run(path, resume=done.trace, vars={"name": "bob"})
    assert (again.state, effects(again)[-1]) == ("paused", "exec · ./keep last bob")
    assert kept(here)[-1] == ["last", "ann"]


def test_every_item_is_asked_again(here: Path) -> None:
    """Of a fan-out that asks, and of calls of a workflow that does; an item stays as written."""
    path = here / "fans.nika.yaml"
    path.write_text(FANS, encoding="utf-8")
    done = asks(path, name="ann")
    assert {prompt.effects[-1] for prompt in done.prompts} == {"exec · ./keep last ann"}
    assert 'exec · ./keep ${{ inputs.who }} "" plain' in done.prompts[-1].effects
    keys = [prompt.key for prompt in done.prompts]
    assert keys == ["each[0]", "each[1]", "call[0]/ask", "call[1]/ask"]
    done.answer(dict.fromkeys(keys, "yes"))
    assert nika_nb.run(path, resume=done.trace).state == "completed"
    again = nika_nb.run(path, resume=done.trace, vars={"name": "bob"})
    assert [prompt.key for prompt in again.prompts] == keys
    assert {prompt.effects[-1] for prompt in again.prompts} == {"exec · ./keep last bob"}


def test_an_answer_with_other_inputs_is_refused(here: Path) -> None:
    """The question was asked for others: nothing is run, and it can be asked anew."""
    path = Path(str(asks(name="ann").trace))
    for trace in (path, as_before(path)):
        with pytest.raises(UsageError, match="an answer to `ask` would set off something else"):
            nika_nb.run(CONSENT, resume=trace, vars={"name": "bob"}, answer={"ask": "yes"})
    again = nika_nb.run(CONSENT, resume=path, vars={"name": "bob"})
    assert effects(again)[2] == "write · ./out/bob"
    assert not kept(here)


@pytest.mark.parametrize("older", [False, True])
def test_a_kept_answer_holds_for_the_values_that_were_shown(here: Path, older: bool) -> None:
    """Given to a run that broke off before it was consumed: it stands for these and not for others."""
    run = asks(name="ann")
    path = Path(str(run.trace))
    done = nika_nb.attach(as_before(path) if older else path).answer("yes")
    broken = cut_off(done, "task_scheduled", "act")
    assert "answers" in frames(broken)[0]
    assert nika_nb.run(CONSENT, resume=broken, vars={"name": "bob"}).state == "paused"
    assert nika_nb.run(CONSENT, resume=broken).state == "completed"


def test_what_was_asked_again_and_broke_off_is_asked_again(here: Path) -> None:
    """An older answer behind it was for another value; and for the older value it still holds."""
    done = asks(name="ann").answer("yes")
    again = nika_nb.run(CONSENT, resume=done.trace, vars={"name": "bob"})
    broken = cut_off(again, "workflow_paused", "ask")
    assert nika_nb.run(CONSENT, resume=broken).state == "paused"
    back = nika_nb.run(CONSENT, resume=broken, vars={"name": "ann"})
    assert (back.state, hits(Path(str(back.trace)))) == ("completed", {"ask", "act", "put"})
