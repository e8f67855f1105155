"""Questions on a real terminal: asked after the pause is on the disk, answered in place, or left."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest

from tests.board.test_hostile import NASTY, UNSEEN
from tests.cli.terminals import END_OF_INPUT, INTERRUPT, Sitting
from tests.doors import environment, frames, kinds, marks, newest, nika, of, traces

PROMPTS = """\
nika: many
permits: {exec: ["./say"]}
tasks:
  ask: {invoke: {tool: "nika:prompt", args: {message: "Go on?\\nReally?"}}}
  pick:
    invoke: {tool: "nika:prompt", args: {message: "Which one?", mode: choice, choices: [red, "7", blue]}}
  name: {invoke: {tool: "nika:prompt", args: {message: "Your name?", mode: input, default: nobody}}}
  then:
    after: {pick: success, name: success}
    with: {go: "${{ tasks.ask.output }}"}
    when: ${{ with.go == true }}
    exec: {command: ["./say", "then", "x"]}
outputs: {ask: "${{ tasks.ask.output }}", pick: "${{ tasks.pick.output }}", name: "${{ tasks.name.output }}"}
"""


def many(folder: Path) -> None:
    (folder / "many.nika.yaml").write_text(PROMPTS, encoding="utf-8")


def test_the_pause_is_on_the_disk_before_anybody_is_asked(files: Path) -> None:
    """While the question stands there, the journal already ends with it."""
    sitting = Sitting("run", "asks.nika.yaml", cwd=files)
    sitting.expect("◇ ask · Go on?  [y/N] ")
    (trace,) = traces(files)
    assert frames(trace)[-1]["kind"] == "workflow_paused"
    sitting.type("yes\n")
    assert sitting.end() == 0
    assert '{"went": true}' in sitting.said
    first, second = traces(files)
    assert frames(second)[0]["resumed_trace"] == first.name
    assert frames(second)[0]["correlation"] == frames(first)[0]["correlation"]
    assert marks(files / "marks") == {"a": 1}, "what had settled did not run twice"


@pytest.mark.parametrize(
    ("typed", "went"), [("", "false"), ("n", "false"), ("Y", "true"), ("  yes  ", "true")]
)
def test_a_confirmation_takes_a_word_and_an_empty_line_is_no(files: Path, typed: str, went: str) -> None:
    """Consent is typed, never slipped into."""
    sitting = Sitting("run", "asks.nika.yaml", cwd=files)
    sitting.expect("[y/N] ")
    sitting.type(f"{typed}\n")
    assert sitting.end() == 0
    assert f'{{"went": {went}}}' in sitting.said


def test_several_questions_come_one_after_the_other(files: Path) -> None:
    """Each answer is taken at once; a choice by its number, an input by its default."""
    many(files)
    sitting = Sitting("run", "many.nika.yaml", cwd=files)
    sitting.expect("waiting for it: then")
    sitting.expect("they may: run ./say then x")
    sitting.expect("◇ ask · Go on?\r\nReally?  [y/N] ")
    sitting.type("y\n")
    sitting.expect("◇ pick · Which one?\r\n  1) red\r\n  2) 7\r\n  3) blue\r\n> ")
    assert of(newest(files), "task_completed", task="ask"), (
        "the first answer was taken before the second came"
    )
    sitting.type("3\n")
    sitting.expect("◇ name · Your name?\r\n> [nobody] ")
    sitting.type("\n")
    assert sitting.end() == 0
    assert '{"ask": true, "pick": "blue", "name": "nobody"}' in sitting.said
    assert marks(files / "marks") == {"then": 1}


def test_a_value_comes_before_a_number(files: Path) -> None:
    """`7` is a choice of its own here, and no place in the list."""
    many(files)
    sitting = Sitting("run", "many.nika.yaml", "--answer", "ask=yes", "--answer", "name=x", cwd=files)
    sitting.expect("3) blue\r\n> ")
    sitting.type("7\n")
    assert sitting.end() == 0
    assert '"pick": "7"' in sitting.said


def test_three_misses_leave_it_paused(files: Path) -> None:
    """Nothing was consumed; the line that answers is said."""
    many(files)
    sitting = Sitting("run", "many.nika.yaml", "--answer", "ask=yes", "--answer", "name=x", cwd=files)
    sitting.expect("3) blue\r\n> ")
    for typed in ("green", "4", ""):
        sitting.type(f"{typed}\n")
        sitting.expect("it still waits")
    assert sitting.end() == 4
    assert frames(newest(files))[-1]["kind"] == "workflow_paused"
    assert f"nika-nb answer .nika/traces/{newest(files).name} pick=red" in sitting.said
    assert len(traces(files)) == 1


HOSTILE = """\
nika: hostile
inputs: {text: {type: string, required: true}, choices: {type: {array: string}, required: true}}
tasks:
  pick:
    with: {text: "${{ inputs.text }}"}
    invoke:
      tool: "nika:prompt"
      args: {message: "${{ with.text }}", mode: choice, choices: "${{ inputs.choices }}"}
outputs: {picked: "${{ tasks.pick.output }}"}
"""


@pytest.mark.parametrize("name", ["ansi", "controls", "bidi", "unseen"])
def test_a_hostile_question_leaves_the_terminal_alone(files: Path, name: str) -> None:
    """Nothing in it moves the cursor, rings, colours or turns text; nor where a wrong answer quotes it."""
    text = NASTY[name]
    (files / "hostile.nika.yaml").write_text(HOSTILE, encoding="utf-8")
    words = ["--var", f"text={text}".replace("\0", ""), "--var", f"choices={json.dumps([text, 'b'])}"]
    sitting = Sitting("run", "hostile.nika.yaml", *words, cwd=files, TERM="dumb")
    sitting.expect("> ")
    sitting.type("neither\n")
    sitting.expect("it still waits")
    sitting.type("1\n")
    assert sitting.end() == 0
    shown = sitting.said.partition('{"picked"')[0].replace("\r\n", "\n")
    assert not UNSEEN.search(shown)
    assert json.loads(sitting.said[len(shown.replace("\n", "\r\n")) :])["picked"] == text


CLOCK = "import nika_nb.runs.ticket as t; t.now = lambda: float(open('clock').read())"


def test_a_question_that_stood_there_for_long_is_looked_at_once_more(files: Path) -> None:
    """The first answer is not taken, the question is shown anew, the second one counts."""
    (files / "sitecustomize.py").write_text(CLOCK)
    (files / "clock").write_text("1000")
    path = os.pathsep.join([str(files), environment()["PYTHONPATH"]])
    sitting = Sitting("run", "asks.nika.yaml", cwd=files, PYTHONPATH=path)
    sitting.expect("[y/N] ")
    (files / "clock").write_text("2000")
    sitting.type("y\n")
    sitting.expect("more than 15 minutes")
    assert len(traces(files)) == 1
    sitting.expect("◇ ask · Go on?  [y/N] ")
    sitting.type("y\n")
    assert sitting.end() == 0
    assert '{"went": true}' in sitting.said


@pytest.mark.parametrize("leave", [END_OF_INPUT, INTERRUPT, signal.SIGTERM], ids=["eof", "ctrl-c", "sigterm"])
def test_a_question_can_be_left(files: Path, leave: str | signal.Signals) -> None:
    """Ctrl-D, Ctrl-C and SIGTERM: it stays paused and can be answered later, from anywhere."""
    sitting = Sitting("run", "asks.nika.yaml", cwd=files)
    sitting.expect("[y/N] ")
    if isinstance(leave, str):
        sitting.type(leave)
    else:
        sitting.signal(leave)
    assert sitting.end() == 4
    assert "Traceback" not in sitting.said
    (trace,) = traces(files)
    assert frames(trace)[-1]["kind"] == "workflow_paused"
    assert f"nika-nb answer .nika/traces/{trace.name} ask=yes" in sitting.said
    done = nika("answer", trace, "ask=yes", cwd=files)
    assert (done.code, done.outputs) == (0, {"went": True})


@pytest.mark.parametrize("ending", [INTERRUPT, signal.SIGTERM], ids=["ctrl-c", "sigterm"])
def test_while_the_run_works_they_end_the_run(files: Path, ending: str | signal.Signals) -> None:
    """Also after an answer: what an interrupt means depends on what stands there."""
    text = PROMPTS.replace('["./say", "then", "x"]', '["sleep", "600"]').replace('["./say"]', '["sleep"]')
    (files / "many.nika.yaml").write_text(text, encoding="utf-8")
    sitting = Sitting("run", "many.nika.yaml", "--answer", "pick=red", "--answer", "name=x", cwd=files)
    sitting.expect("[y/N] ")
    sitting.type("y\n")
    sitting.expect("then")
    sitting.expect("exec · sleep")
    if isinstance(ending, str):
        sitting.type(ending)
    else:
        sitting.signal(ending)
    assert sitting.end() == 130
    assert frames(newest(files))[-1]["kind"] == "workflow_cancelled"


def test_nobody_answers_before_the_question_stands_there(files: Path) -> None:
    """What was typed while the run worked is no consent."""
    text = (files / "asks.nika.yaml").read_text().replace('["./say", "a", "ready"]', '["sleep", "1"]')
    (files / "asks.nika.yaml").write_text(text.replace('["./say"]', '["sleep"]'), encoding="utf-8")
    sitting = Sitting("run", "asks.nika.yaml", cwd=files)
    sitting.expect("exec · sleep")
    sitting.type("yes\n")
    sitting.expect("[y/N] ")
    sitting.type("n\n")
    assert sitting.end() == 0
    assert '{"went": false}' in sitting.said


@pytest.mark.parametrize("surface", [["--json"], ["--output", "json"]])
def test_machines_are_not_asked(files: Path, surface: list[str]) -> None:
    """Their standard output is theirs, also where a person sits at the terminal."""
    sitting = Sitting("run", "asks.nika.yaml", *surface, cwd=files)
    assert sitting.end() == 4
    assert "[y/N]" not in sitting.said


def test_the_environment_may_say_that_nobody_is_there(files: Path) -> None:
    """NIKA_NB_INTERACTIVE=0 goes over the terminal."""
    sitting = Sitting("run", "asks.nika.yaml", cwd=files, NIKA_NB_INTERACTIVE="0")
    assert sitting.end() == 4
    assert "[y/N]" not in sitting.said
    assert "nika-nb answer" in sitting.said


def test_an_answer_from_the_door_goes_on_asking(files: Path) -> None:
    """`nika-nb answer` on a terminal asks what is still open."""
    many(files)
    assert nika("run", "many.nika.yaml", cwd=files).code == 4
    sitting = Sitting("answer", newest(files), "ask=yes", cwd=files)
    sitting.expect("3) blue\r\n> ")
    sitting.type("red\n")
    assert sitting.end() == 0
    assert kinds(newest(files))["workflow_completed"] == 1


def test_a_hostile_question_cannot_paint(files: Path) -> None:
    """Control characters of a message reach no terminal."""
    message = "Go on?\\e[2J\\e]0;owned\\a\\rNo need"
    text = (files / "asks.nika.yaml").read_text().replace("Go on?", message)
    (files / "asks.nika.yaml").write_text(text, encoding="utf-8")
    sitting = Sitting("run", "asks.nika.yaml", cwd=files, TERM="dumb")
    sitting.expect("[y/N] ")
    sitting.type("n\n")
    assert sitting.end() == 0
    assert "\x1b" not in sitting.said
    assert "\a" not in sitting.said


def test_an_interrupt_right_behind_an_answer_ends_the_run(files: Path) -> None:
    """The answer was given: it counts, and what it started is ended."""
    sitting = Sitting("run", "asks.nika.yaml", cwd=files)
    sitting.expect("[y/N] ")
    sitting.type(f"yes\n{INTERRUPT}")
    code = sitting.end()
    assert "Traceback" not in sitting.said
    assert (code, frames(newest(files))[-1]["kind"]) in (
        (130, "workflow_cancelled"),
        (0, "workflow_completed"),  # it was over already
        (4, "workflow_paused"),  # the interrupt was felt before the line was read
    )
