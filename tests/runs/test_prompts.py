"""Questions of one run: several at once, inside a fan-out, and what happens to their answers on a resume."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest

import nika_nb
from tests.doors import Terminal, frames, hits, marks, newest, of, program, ran

ITEMS = """\
nika: items
permits: {exec: ["./say"]}
tasks:
  prep:
    exec: {command: ["./say", "prep", "p"]}
  pick:
    after: {prep: success}
    for_each: {items: ["one", "two", "three"]}
    invoke: {tool: "nika:prompt", args: {message: "Name ${{ item }}", mode: input}}
  tell:
    with: {names: "${{ tasks.pick.output }}"}
    exec: {command: ["./say", "tell", "${{ with.names }}"]}
outputs:
  names: "${{ tasks.pick.output }}"
"""

GATE = """\
nika: gate
permits: {exec: ["./say"]}
tasks:
  plan:
    exec: {command: ["./say", "plan", "p"]}
  ask:
    with: {plan: "${{ tasks.plan.output }}"}
    invoke: {tool: "nika:prompt", args: {message: "Do ${{ with.plan }}?"}}
  act:
    with: {go: "${{ tasks.ask.output }}"}
    when: ${{ with.go == true }}
    exec: {command: ["./say", "act", "done"]}
outputs:
  act: "${{ tasks.act.output }}"
"""


@pytest.fixture
def say(folder: Path) -> Path:
    program(folder, "say", 'echo "$1" >> marks\nprintf %s "$2"')
    return folder


def test_items_are_answered_one_by_one_each_its_own(say: Path, terminal: Terminal) -> None:
    """By task and index, in any order and in several goes; no answer reaches another item."""
    (say / "w.nika.yaml").write_text(ITEMS, encoding="utf-8")
    first = terminal("run", "w.nika.yaml")
    assert first.code == 4
    listed = json.loads(of(newest(say), "workflow_paused")[0]["prompts"])
    assert [(p["task"], p["item"], p["message"]) for p in listed] == [
        ("pick", 0, "Name one"),
        ("pick", 1, "Name two"),
        ("pick", 2, "Name three"),
    ]
    middle = terminal("answer", newest(say), "pick[1]=beta")
    assert middle.code == 4
    assert "pick[0]=" in middle.err
    assert "pick[1]=" not in middle.err
    last = terminal("answer", newest(say), "pick[2]=gamma", "pick[0]=alpha")
    assert (last.code, last.outputs) == (0, {"names": ["alpha", "beta", "gamma"]})
    assert marks(say / "marks") == {"prep": 1, "tell": 1}


def test_an_answered_item_is_not_asked_again(say: Path, terminal: Terminal) -> None:
    """Half answered, resumed without an answer: only what is open is asked."""
    (say / "w.nika.yaml").write_text(ITEMS, encoding="utf-8")
    terminal("run", "w.nika.yaml")
    terminal("answer", newest(say), "pick[1]=beta")
    again = terminal("run", "w.nika.yaml", "--resume", newest(say))
    assert again.code == 4
    listed = json.loads(of(newest(say), "workflow_paused")[0]["prompts"])
    assert [prompt["item"] for prompt in listed] == [0, 2]


def test_an_answer_is_kept_behind_and_asked_anew_before(say: Path) -> None:
    """--from a task upstream of the question asks again; from one downstream the answer stands."""
    done = nika_nb.run(GATE).answer("yes")
    assert done.outputs == {"act": "done"}
    behind = nika_nb.run(GATE, resume=done.trace, from_="act")
    assert behind.state == "completed"
    assert hits(Path(str(behind.trace))) == {"plan", "ask"}
    assert ran(Path(str(behind.trace))) == {"act"}
    before = nika_nb.run(GATE, resume=done.trace, from_="plan")
    assert before.state == "paused"
    assert not hits(Path(str(before.trace)))
    at = nika_nb.run(GATE, resume=done.trace, from_="ask", answer={"ask": "no"})
    assert at.tasks["act"].state == "skipped"
    assert marks(say / "marks") == {"plan": 2, "act": 2}


def test_another_question_upstream_output_asks_again(say: Path) -> None:
    """The plan changed, and with it what is asked: an old yes says nothing about it."""
    done = nika_nb.run(GATE).answer("yes")
    changed = nika_nb.run(GATE.replace('"plan", "p"', '"plan", "something else"'), resume=done.trace)
    assert changed.state == "paused"
    assert changed.prompts[0].message == "Do something else?"
    assert "act" not in ran(Path(str(changed.trace)))


def test_a_no_stays_a_no(say: Path) -> None:
    """Resumed as often as one likes, the refused gate stays shut without being asked."""
    run = nika_nb.run(GATE).answer("no")
    for _ in range(2):
        run = nika_nb.run(GATE, resume=run.trace)
        assert run.state == "completed"
        assert run.outputs == {"act": None}
    assert marks(say / "marks") == {"plan": 1}


def test_answers_given_in_advance(say: Path) -> None:
    """A fresh run takes them along and does not pause."""
    run = nika_nb.run(GATE, answer={"ask": True})
    assert run.outputs == {"act": "done"}
    assert of(Path(str(run.trace)), "approval_decided")[0]["source"] == "answer"


def test_an_answer_given_in_advance_of_the_wrong_kind_pauses(say: Path) -> None:
    """It is not consumed, and nothing behind the question runs."""
    run = nika_nb.run(GATE, answer={"ask": "perhaps"})
    assert run.state == "paused"
    assert run.answer("yes").outputs == {"act": "done"}


BEHIND = """\
nika: behind
model: mock/echo
permits: {exec: ["./say"]}
tasks:
  ask:
    invoke: {tool: "nika:prompt", args: {message: "Go?"}}
  act:
    with: {go: "${{ tasks.ask.output }}"}
    when: ${{ with.go == true }}
    exec: {command: ["./say", "act", "done"]}
  told:
    with: {said: "${{ tasks.ask.output }}", act: "${{ tasks.act.output }}"}
    after: {act: terminal, other: success}
    infer: {prompt: "${{ with.said }}"}
  never:
    after: {ask: failure}
    when: false
    infer: {prompt: "never"}
  other:
    exec: {command: ["./say", "other", "x"]}
"""


def question(message: str, after: str = "") -> str:
    gate = f"after: {{{after}: success}}, " if after else ""
    return f'{{{gate}invoke: {{tool: "nika:prompt", args: {{message: "{message}"}}}}}}'


def chain(first: str) -> str:
    """Five questions, one after the other and all behind a task."""
    names = [first, *(f"q{number}" for number in range(1, 6))]
    return "".join(f"  {name}: {question(f'{name}?', before)}\n" for before, name in pairwise(names))


def test_a_run_asks_for_five_confirmations_however_often_it_pauses(folder: Path) -> None:
    """Over all its answers: the sixth is refused by name. Another run counts anew, other questions do not."""
    text = f"nika: six\ntasks:\n  q0: {question('Q0?')}\n" + chain("q0")
    run = nika_nb.run(text)
    for _ in range(5):
        assert run.state == "paused"
        run = run.answer(True)
    assert run.state == "failed"
    assert run.tasks["q5"].error is not None
    assert run.tasks["q5"].error["code"] == "NIKA-SEC-010"
    assert "confirmation 6 of this run" in run.tasks["q5"].error["message"]
    assert len(json.loads(frames(newest(folder))[0]["approvals"])) == 5
    again = run.resume()
    assert [prompt.key for prompt in again.prompts] == ["q5"]
    assert again.answer(True).state == "completed"
    inputs = text.replace('?"', '?", mode: input')
    run = nika_nb.run(inputs)
    while run.state == "paused":
        run = run.answer("yes")
    assert run.state == "completed"


def test_the_confirmations_of_a_called_workflow_are_its_callers(folder: Path) -> None:
    """A child asks in its caller's name, and uses up what the caller may ask for."""
    child = f"nika: child\ntasks:\n  ask: {question('Deep?')}\n"
    (folder / "child.nika.yaml").write_text(child, encoding="utf-8")
    call = "  call: {invoke: {workflow: ./child.nika.yaml}}\n"
    run = nika_nb.run(f"nika: caller\ntasks:\n{call}{chain('call')}")
    while run.state == "paused":
        run = run.answer(True)
    assert run.tasks["q5"].error is not None
    assert run.tasks["q5"].error["code"] == "NIKA-SEC-010"


def test_what_waits_is_listed_with_the_gate_of_each(say: Path) -> None:
    """Whoever decides sees what runs always, what only on a yes, what only when something failed."""
    (prompt,) = nika_nb.run(BEHIND).prompts
    assert prompt.gates == ("act", "told", "never")
    assert prompt.conditions == ("when with.go == true", "after act: terminal", "after ask: failure · never")
    (listed,) = json.loads(of(newest(say), "workflow_paused")[0]["prompts"])
    assert listed["conditions"] == list(prompt.conditions)
    (again,) = nika_nb.attach(newest(say)).prompts
    assert again == prompt


@pytest.mark.parametrize("words", [["name=Ann", "Lee"], ["name=Ann", "name=Lee"], ["Ann", "Lee"]])
def test_two_answers_to_one_question_are_refused(folder: Path, terminal: Terminal, words: list[str]) -> None:
    """`name=Ann Lee` without quotes is two words: neither is taken, and it is said how to write one."""
    text = """
nika: naming
permits: { tools: ["nika:prompt"] }
tasks:
  name: { invoke: { tool: "nika:prompt", args: { message: "Who?", mode: input } } }
outputs: { name: "${{ tasks.name.output }}" }
"""
    run = nika_nb.run(text, interactive=True)
    refused = terminal("answer", str(run.trace), *words)
    assert refused.code == 3
    assert "two answers" in refused.err
    assert "'Ann Lee'" in refused.err
    assert run.answer(name="Ann Lee").outputs == {"name": "Ann Lee"}


EMPTY = """
nika: naming
permits: { tools: ["nika:prompt"] }
tasks:
  name: { invoke: { tool: "nika:prompt", args: { message: "Who?", mode: input } } }
  sure: { invoke: { tool: "nika:prompt", args: { message: "Sure?" } } }
outputs: { name: "${{ tasks.name.output }}" }
"""


def test_an_empty_answer_is_an_empty_text_and_is_told(folder: Path, terminal: Terminal) -> None:
    """`name=` is the same at every door; a confirmation takes none."""
    run = nika_nb.run(EMPTY, interactive=True)
    refused = terminal("answer", str(run.trace), "sure=")
    assert (refused.code, "`sure` takes yes or no, not ''" in refused.err) == (3, True)
    went_on = terminal("answer", str(run.trace), "name=", "sure=yes")
    assert (went_on.code, json.loads(went_on.out)) == (0, {"name": ""})
    assert "`name` is answered with an empty text" in went_on.err
    again = nika_nb.run(EMPTY, answer={"name": "", "sure": True})
    assert again.outputs == {"name": ""}
    assert "`name` is answered with an empty text" in again.notices


def test_more_questions_than_a_line_holds_are_all_asked(folder: Path, terminal: Terminal) -> None:
    """Each can be answered, from the file too; a terminal is told the first ones, and how many more."""
    many, words = 2500, "words " * 80
    prompt = f'{{tool: "nika:prompt", args: {{mode: input, message: "${{{{ item }}}} {words}"}}}}'
    items = list(range(many))
    text = f"nika: many\ntasks:\n  ask:\n    for_each: {{items: {items}}}\n    invoke: {prompt}\n"
    (folder / "w.nika.yaml").write_text(text, encoding="utf-8")
    asked = terminal("run", "w.nika.yaml")
    assert asked.code == 4
    assert f"and {many - 100:,} more: nika-nb runs inspect many-" in asked.err
    assert len(asked.err) < 200_000
    run = nika_nb.attach(newest(folder))
    assert [prompt.item for prompt in run.prompts] == items
    assert len(run.board.prompts) == many
    run.answer({f"ask[{many - 1}]": "the last", "ask[0]": "the first"})
    assert [prompt.item for prompt in nika_nb.attach(newest(folder)).prompts] == items[1:-1]
    assert len(nika_nb.read_trace(newest(folder)).prompts) == many
