"""The still of an open question, and what takes its place."""

from __future__ import annotations

import re
from html import unescape

from nika_nb.board.question import DEAD, answered, mimebundle
from nika_nb.engine.contract import Prompt

ASK = Prompt(
    "ask",
    "choice",
    "Which colour?\nIt goes to print.",
    ("red", "blue"),
    default="red",
    has_default=True,
    item=2,
    gates=("render", "publish"),
    effects=("exec pandoc",),
)
LINE = "%nika answer 2026.ndjson ask[2]=red"

TEXT = f"""\
  ◇ ask[2] · Which colour?
       It goes to print.
     choices: red · blue
     default: red
     waiting for it: render · publish
     they may: exec pandoc
     run: 01J
     answer: {LINE}"""


def test_the_question_is_told_with_all_that_hangs_on_it() -> None:
    """What is asked, what may be said, which tasks wait, what they may do, which run, how to answer."""
    assert mimebundle(ASK, "01J", [LINE])["text/plain"] == TEXT


def test_the_page_says_the_same_and_what_to_do_when_buttons_are_dead() -> None:
    """After a restart the buttons stand there and do nothing: the line does."""
    page = mimebundle(ASK, "01J", [LINE])["text/html"]
    said = unescape(re.sub(r"<[^>]*>", " ", page))
    for fact in (
        "ask[2]",
        "Which colour?",
        "red · blue",
        "render · publish",
        "exec pandoc",
        "01J",
        LINE,
        DEAD,
    ):
        assert fact in said


def test_a_question_that_gates_nothing_says_so() -> None:
    """Silence would leave the reader guessing."""
    assert "waiting for it: no other task" in mimebundle(Prompt("a", "input", "?"), "", [])["text/plain"]


def test_an_answered_question_becomes_one_line() -> None:
    """Question and answer stay in the saved notebook."""
    assert (
        answered(Prompt("a", "confirm", "Ship it?"), "answered: yes")["text/plain"]
        == "  ◆ a · Ship it?  → answered: yes"
    )
