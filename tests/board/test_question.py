"""The still of open questions, and what takes its place."""

from __future__ import annotations

import re
from dataclasses import replace
from html import unescape

import pytest

from nika_nb.board.question import (
    DEAD,
    MOST,
    SILENT,
    UNFOLDED,
    Asked,
    above_form,
    below_forms,
    example,
    mimebundle,
)
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
    effects=("exec · pandoc -o x", "write · ./out/x", "net · example.com"),
    conditions=("", "when with.go == true"),
)
LINE, DECLINE = "%nika answer 2026.ndjson ask[2]=red", "%nika decline 2026.ndjson ask[2]"

TEXT = f"""\
  ◇ ask[2] · Which colour?
       It goes to print.
     choices: red · blue
     default: red
     waiting for it: render · publish (when with.go == true)
     they may: run pandoc -o x · write ./out/x · reach example.com
     run: 01J
     to answer: {LINE}
     to decline: {DECLINE}"""


def text(*asked: Asked, heading: str = "") -> str:
    return mimebundle(asked, "01J", heading)["text/plain"]


def page(*asked: Asked, heading: str = "") -> str:
    """What a reader sees of the HTML."""
    return unescape(re.sub(r"<[^>]*>", " ", mimebundle(asked, "01J", heading)["text/html"]))


def test_the_question_is_told_with_all_that_hangs_on_it() -> None:
    """What is asked, what may be said, which tasks wait and when they run, what they do, how to answer."""
    assert text(Asked(ASK, LINE, DECLINE)) == TEXT


def test_the_page_says_the_same_and_what_to_do_when_buttons_are_dead() -> None:
    """After a restart the buttons stand there and do nothing: the line does."""
    said = page(Asked(ASK, LINE, DECLINE))
    for line in (*TEXT.splitlines()[2:-3], LINE, DECLINE, DEAD):
        assert line.partition(": ")[2].strip() in said or line in said
    for fact in ("ask[2]", "Which colour?", "01J"):
        assert fact in said


EXAMPLES = [
    (Prompt("a", "confirm", "?"), "yes"),
    (Prompt("a", "input", "?"), "your answer"),
    (Prompt("a", "choice", "?", ("red", "blue")), "red"),
    (Prompt("a", "choice", "?", ("", "two\nlines", "a\u202eb", "x" * 4000, "it's $5")), "it's $5"),
    (Prompt("a", "choice", "?", ("two\nlines",)), ""),
]


@pytest.mark.parametrize(("prompt", "answer"), EXAMPLES, ids=[repr(case[1]) for case in EXAMPLES])
def test_an_example_is_an_answer_that_can_be_typed(prompt: Prompt, answer: str) -> None:
    """The line that is shown is to be copied: what a line cannot hold does not stand in it."""
    assert example(prompt) == answer


EFFECTS = [
    ("exec · git push", "run git push"),
    ("shell · a | b", "run in a shell: a | b"),
    ("read · ./x", "read ./x"),
    ("write · ./x", "write ./x"),
    ("net · example.com", "reach example.com"),
    ("net", "reach what the run decides"),
    ("tool · mcp:mail/send", "use mcp:mail/send"),
    ("workflow · ./audit.nika.yaml", "call ./audit.nika.yaml"),
    ("something new", "something new"),
]


@pytest.mark.parametrize(("effect", "said"), EFFECTS, ids=[case[1] for case in EFFECTS])
def test_effects_are_told_as_people_say_them(effect: str, said: str) -> None:
    """A program is run, a file written, a host reached: whoever approves reads verbs."""
    assert f"they may: {said}" in text(Asked(replace(ASK, effects=(effect,))))


def test_above_a_form_stands_what_its_fields_do_not_show() -> None:
    """Whoever has buttons needs no lines to type, and radio buttons are the choices."""
    said = unescape(re.sub(r"<[^>]*>", " ", above_form(ASK, alone=True, folded=False)))
    for fact in ("ask[2]", "Which colour?", "publish (when with.go == true)", "write ./out/x"):
        assert fact in said
    for shown in ("choices", "default", "to answer", DEAD):
        assert shown not in said


def test_a_question_that_gates_nothing_says_so() -> None:
    """Silence would leave the reader guessing."""
    assert "waiting for it: no other task" in text(Asked(Prompt("a", "input", "?")))


def test_an_old_journal_tells_no_conditions() -> None:
    """The tasks are listed as they are."""
    assert "waiting for it: render · publish\n" in text(Asked(replace(ASK, conditions=())))


def test_an_answered_question_becomes_one_line() -> None:
    """Question and answer stay in the saved notebook."""
    one = Asked(Prompt("a", "confirm", "Ship it?"), said="answered: yes")
    assert text(one) == "  ◆ a · Ship it?  → answered: yes"
    assert page(one).split() == text(one).split()


def test_several_questions_are_one_still() -> None:
    """How many wait, each with its lines, the answered ones beside them; many are folded."""
    asked = [Asked(replace(ASK, item=at), f"answer {at}") for at in range(UNFOLDED + 1)]
    some = [replace(asked[0], said="answered: red"), *asked[1:]]
    assert text(*some).startswith("  3 questions wait for an answer · run 01J\n  ◆ ask[0] ·")
    assert all(f"answer {at}" in page(*some) for at in range(1, UNFOLDED + 1))
    assert "<details>" not in mimebundle(some, "")["text/html"]
    assert mimebundle(asked, "")["text/html"].count("<details>") == UNFOLDED + 1
    assert page(*asked).count(DEAD) == 1


def test_very_many_of_anything_are_counted() -> None:
    """A page stays readable whatever a workflow asks."""
    many = tuple(f"t{at}" for at in range(1000))
    told = text(Asked(replace(ASK, gates=many, choices=many, effects=many, conditions=())))
    assert told.count(" · t29 · and 970 more") == 3
    assert text(*[Asked(ASK)] * (MOST + 2)).endswith("\n  and 2 more")


def test_a_heading_says_which_run_it_is() -> None:
    """Where no panel stands above."""
    assert text(Asked(ASK), heading="nightly · asked today").startswith("  nightly · asked today\n  ◇")
    assert "nightly · asked today" in page(Asked(ASK), heading="nightly · asked today")


def test_below_forms_stands_how_many_more_wait_and_what_to_do_without_a_kernel() -> None:
    """A list says the second once for all its runs."""
    more = "2 more questions will stand here as these are answered."
    assert SILENT in below_forms(0, alone=True)
    assert "will stand here" not in below_forms(0, alone=True)
    assert more in below_forms(2, alone=False)
    assert SILENT not in below_forms(2, alone=False)
    assert below_forms(0, alone=False) == ""


def test_the_lines_that_answer_are_quoted_for_a_cell() -> None:
    """A confirmation is declined by a no; of a choice that cannot be typed only the refusal is told."""
    asks = Prompt("ask", "confirm", "?")
    assert Asked.in_cell(asks, "a b.ndjson") == Asked(
        asks, "%nika answer 'a b.ndjson' ask=yes", "%nika answer 'a b.ndjson' ask=no"
    )
    unseen = replace(ASK, choices=("\u200b",))
    assert Asked.in_cell(unseen, "t").answer == ""
    assert Asked.in_cell(unseen, "t").decline == f"%nika decline t {unseen.key}"
