"""A human answered and the machine died: the answer stands from the first line on, nobody is asked twice."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import nika_nb
from nika_nb.errors import NikaError, UsageError
from tests.doors import frames, marks, newest, of, program, traces
from tests.runs.crashing import Crasher

GATE = """\
nika: gate
permits: {exec: ["./say"]}
tasks:
  prep:
    exec: {command: ["./say", "prep", "p"]}
  ask:
    after: {prep: success}
    invoke: {tool: "nika:prompt", args: {message: "Ship ${{ with.p }}?"}}
    with: {p: "${{ tasks.prep.output }}"}
  ship:
    with: {go: "${{ tasks.ask.output }}"}
    when: ${{ with.go == true }}
    exec: {command: ["./say", "ship", "shipped"]}
outputs:
  ship: "${{ tasks.ship.output }}"
"""


def test_killed_after_every_line_of_the_continuation(tmp_path: Path, crasher: Crasher) -> None:
    """No work that settled runs twice, and nobody is asked twice, however little had been written."""
    lines, total = 0, 1
    while lines < total:
        lines += 1
        folder = tmp_path / str(lines)
        program(folder, "say", 'echo "$1" >> marks\nprintf %s "$2"')
        workflow = folder / "gate.nika.yaml"
        workflow.write_text(GATE, encoding="utf-8")
        crasher.run(workflow)
        paused = newest(folder)
        if lines == 1:
            total = len(frames(Path(crasher.run(workflow, resume=paused, answer={"ask": "yes"})["trace"])))
            (folder / "marks").unlink()
            crasher.run(workflow)
            paused = newest(folder)
        killed = crasher.run(workflow, resume=paused, answer={"ask": "yes"}, lines=lines)
        assert killed["status"] == -9, killed
        crash = newest(folder)
        shipped = bool(of(crash, "task_completed", task="ship"))
        resumed = crasher.run(workflow, resume=crash)
        assert resumed["outputs"] == {"ship": "shipped"}, (lines, resumed)
        assert marks(folder / "marks")["prep"] == 1
        if shipped:
            assert marks(folder / "marks")["ship"] == 1
        assert marks(folder / "marks")["ship"] <= 2


@dataclass
class Case:
    """What is asked, what is answered, and what the run then returns. child: asked in a called workflow."""

    name: str
    ask: str
    answer: dict[str, Any]
    output: Any
    child: bool = False


CASES = [
    Case("a no", 'invoke: {tool: "nika:prompt", args: {message: m}}', {"ask": "no"}, False),
    Case("text", 'invoke: {tool: "nika:prompt", args: {message: m, mode: input}}', {"ask": "ä [1]"}, "ä [1]"),
    Case(
        "a choice",
        'invoke: {tool: "nika:prompt", args: {message: m, mode: choice, choices: [a, b]}}',
        {"ask": "b"},
        "b",
    ),
    Case(
        "each item",
        'for_each: {items: [1, 2]}\n    invoke: {tool: "nika:prompt", args: {message: m, mode: input}}',
        {"ask[0]": "x", "ask[1]": "y"},
        ["x", "y"],
    ),
    Case("in a call", 'invoke: {workflow: "./asks.nika.yaml"}', {"ask/q": "in"}, {"said": "in"}, child=True),
]
ASKS = """\
nika: asks
tasks:
  q: {invoke: {tool: "nika:prompt", args: {message: m, mode: input}}}
outputs: {said: "${{ tasks.q.output }}"}
"""
ONE = """\
nika: one
permits: {}
tasks:
  ask:
    ASK
outputs: {said: "${{ tasks.ask.output }}"}
"""


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_an_answer_of_every_kind_outlives_two_crashes(tmp_path: Path, crasher: Crasher, case: Case) -> None:
    """Killed after its first line, and so is the resume: the value is the one that was given."""
    (tmp_path / "asks.nika.yaml").write_text(ASKS, encoding="utf-8")
    workflow = tmp_path / "one.nika.yaml"
    workflow.write_text(ONE.replace("ASK", case.ask), encoding="utf-8")
    crasher.run(workflow)
    paused = newest(tmp_path)
    assert crasher.run(workflow, resume=paused, answer=case.answer, lines=1)["status"] == -9
    for _ in range(2):
        assert crasher.run(workflow, resume=newest(tmp_path), lines=1)["status"] == -9
    resumed = crasher.run(workflow, resume=newest(tmp_path))
    assert resumed["outputs"] == {"said": case.output}, resumed
    assert "answered" not in frames(newest(tmp_path))[0]


@pytest.fixture
def crash(folder: Path, crasher: Crasher) -> Path:
    """The first line of a continuation that was answered yes."""
    program(folder, "say", 'echo "$1" >> marks\nprintf %s "$2"')
    (folder / "gate.nika.yaml").write_text(GATE, encoding="utf-8")
    crasher.run(folder / "gate.nika.yaml")
    crasher.run(folder / "gate.nika.yaml", resume=newest(folder), answer={"ask": "yes"}, lines=1)
    return newest(folder)


def test_a_declined_question_stays_declined(folder: Path, crash: Path) -> None:
    """As an answer does."""
    for trace in traces(folder)[1:]:
        trace.unlink()
    run = nika_nb.attach(newest(folder))
    run.decline()
    whole = Path(str(run.trace))
    whole.write_bytes(whole.read_bytes().splitlines(keepends=True)[0])
    again = nika_nb.run(GATE, resume=whole)
    assert again.outputs == {"ship": None}
    assert of(newest(folder), "approval_decided")[0]["why"] == "declined"


def test_another_question_is_asked(folder: Path, crash: Path) -> None:
    """The text says something else today: the old yes is none to it, and no reason to fail."""
    run = nika_nb.run(GATE.replace("Ship", "Really ship"), resume=crash)
    assert (run.state, [prompt.message for prompt in run.prompts]) == ("paused", ["Really ship p?"])
    assert run.answer("no").outputs == {"ship": None}


def test_it_is_not_taken_back(folder: Path, crash: Path) -> None:
    """Another answer is refused; --from the question asks again."""
    told = r"`ask` was already answered \(true\) in .* resume with from_=\"ask\""
    with pytest.raises(UsageError, match=told):
        nika_nb.run(GATE, resume=crash, answer={"ask": "no"})
    with pytest.raises(NikaError, match=f'was already answered: `ask` .* `resume="{crash.name}"`'):
        nika_nb.attach(traces(folder)[0]).answer("no")
    assert nika_nb.run(GATE, resume=crash, from_="ask").state == "paused"
    assert nika_nb.run(GATE, resume=crash, from_="ask", answer={"ask": "no"}).outputs == {"ship": None}


def test_nobody_vouches_for_an_answer_in_a_broken_chain(folder: Path, crash: Path) -> None:
    """It is asked again."""
    paused = traces(folder)[0]
    lines = crash.read_bytes() + paused.read_bytes().splitlines(keepends=True)[2]
    crash.write_bytes(lines)
    run = nika_nb.run(GATE, resume=crash, resume_unverified=True)
    assert run.state == "paused"


def test_an_answer_that_is_a_secret_is_in_no_first_line(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is asked for again: nothing of it was written down."""
    monkeypatch.setenv("TOKEN", "s3cret-value")
    text = """\
nika: secret
secrets: {token: {source: env, key: TOKEN}}
tasks:
  ask: {invoke: {tool: "nika:prompt", args: {message: "Which?", mode: input}}}
"""
    run = nika_nb.run(text)
    run.answer("s3cret-value")
    whole = Path(str(run.trace))
    assert "s3cret-value" not in whole.read_text(encoding="utf-8")
    whole.write_bytes(whole.read_bytes().splitlines(keepends=True)[0])
    assert nika_nb.run(text, resume=whole).state == "paused"


def test_the_run_id_stays_with_the_answer_and_ends_with_the_crash(tmp_path: Path, crasher: Crasher) -> None:
    """An answer goes on in the same run; the resume of a crash is a run of its own that names its parent."""
    program(tmp_path, "say", 'printf %s "$2"')
    workflow = tmp_path / "gate.nika.yaml"
    workflow.write_text(GATE, encoding="utf-8")
    crasher.run(workflow)
    paused = newest(tmp_path)
    crasher.run(workflow, resume=paused, answer={"ask": "yes"}, lines=8)
    crash = newest(tmp_path)
    crasher.run(workflow, resume=crash)
    resumed = frames(newest(tmp_path))[0]
    first, answered = frames(paused)[0], frames(crash)[0]
    assert answered["correlation"] == first["correlation"]
    assert answered["run"] != first["run"]
    assert resumed["correlation"] != first["correlation"]
    assert resumed["parent_run"] == first["correlation"]
    assert (resumed["resumed_trace"], answered["resumed_trace"]) == (crash.name, paused.name)
