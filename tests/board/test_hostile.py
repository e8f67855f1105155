"""Whatever comes from a task is shown and does nothing."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nika_nb.board import clean, question, tracepage
from nika_nb.board.graph import graph_svg, graph_text
from nika_nb.board.html import LIVE_BOUND, live_body, live_head, live_items
from nika_nb.board.html import still as still_html
from nika_nb.board.picture import live_picture
from nika_nb.board.state import Board, board_of
from nika_nb.board.text import still as still_text
from nika_nb.board.timeline import timeline_svg, timeline_text
from nika_nb.engine.contract import Prompt
from nika_nb.engine.events import Event
from nika_nb.trace.frame import Frame
from nika_nb.trace.units import Units
from tests.board.scripted import Script

NASTY = {
    "script": "<script>alert(1)</script>",
    "style": "</style></div></table><b onmouseover=alert(1)>",
    "attribute": "\" onmouseover=alert(1) x='",
    "ansi": "\x1b[31mred\x1b[0m\x1b]8;;http://evil\x07link\x1b]8;;\x07\x1b[2J\x9b31m",
    "controls": "a\x00b\x08\x08c\x7f\x85\r\nd",
    "bidi": "\u202eexe.fdp\u202c \u2066x\u2069 \u200f\u061c",
    "unseen": "a\u200b\u2060\ufeff\u2028b",
    "surrogate": "\ud800",
    "long": "x" * 10_000_000,
    "lines": "\n" * 100_000,
}
ALLOWED = {"div", "span", "table", "thead", "tbody", "tr", "th", "td", "details", "summary", "img", "b", "a"}
DRAWN = {"svg", "g", "title", "rect", "text", "path", "circle", "animatetransform"}  # in live views only
UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]"
)


class Judge(HTMLParser):
    """Collects every tag and attribute name of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: set[str] = set()
        self.open = 0
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}
        self.open += tag != "img"

    def handle_endtag(self, tag: str) -> None:
        self.open -= 1


SAFE = {
    "class", "style", "title", "role", "colspan", "scope", "open", "alt", "src", "href", "download",
    "aria-label", "aria-level", "aria-valuemin", "aria-valuemax", "aria-valuenow", "aria-valuetext",
}  # fmt: skip


def inert(page: str, *, drawn: bool = False) -> None:
    """Only our own tags and attributes, all closed, and nothing that turns or hides text.

    drawn: it may hold drawings; what they may hold is judged where they are drawn.
    """
    judged = Judge(page)
    assert set(judged.tags) <= (ALLOWED | DRAWN if drawn else ALLOWED)
    unsafe = judged.attributes - SAFE
    assert (
        not unsafe if not drawn else not {name for name in unsafe if name.startswith("on") or "href" in name}
    )
    assert judged.open == 0
    assert not UNSEEN.search(page)


def nasty_board(text: str) -> Board:
    """The board of such a run."""
    board = board_of(nasty_events(text))
    board.detail = board.trace_path = board.trace_head = text
    return board


def nasty_events(text: str) -> list[Event]:
    """The text in every field that a task or an author has a say in."""
    script = Script(text, permits=text).task(text, text).task("plain", text, text)
    script.go("plain", text).say("live_output", task="plain", text=text)
    script.say("task_retrying", task="plain", attempt=1, max_attempts=text, code=text)
    script.say("task_failed", task=text, note=text, detail=text)
    for name in ("ok", "gone", "shut", "kept"):
        script.task(name, text)
    script.ok("ok", text, 1, output=json.dumps(text), warning=text, reason="input", parts=json.dumps([text]))
    script.say("task_cancelled", task="gone", note=text, blocked_by=text)
    script.say("task_skipped", task="shut", note=text, when=text, detail=text)
    script.hit("kept", output=json.dumps(text))
    for index in (0, text, -1, 10**30):
        script.say("nb_item_completed", task="ok", item=index, status=text, output=json.dumps(text))
    script.say(
        "nb_item_completed",
        task="ok",
        item=text,
        status="failure",
        outcome=json.dumps({"payload": {"error": {"code": text, "message": text}}}),
    )
    script.say("approval_decided", task="ok", decision="allow", why=text)
    asked = {
        "task": "plain",
        "mode": "choice",
        "message": text,
        "choices": [text],
        "gates": [text],
        "effects": [text],
    }
    script.say("workflow_paused", task="plain", prompts=json.dumps([asked]))
    return script.events


@pytest.fixture(params=NASTY, name="text")
def _text(request: pytest.FixtureRequest) -> str:
    return NASTY[request.param]


def test_html_shows_it_and_runs_nothing(text: str) -> None:
    """The still and both live pieces hold our markup only, and stay of bounded size."""
    board = nasty_board(text)
    inert(still_html(board))
    board.state = "running"
    inert(live_head(board), drawn=True)
    inert(live_picture(board), drawn=True)
    inert(live_body(board))
    inert(live_items(board))
    assert len(still_html(board)) < 200_000


def test_text_shows_it_without_moving_the_cursor(text: str) -> None:
    """No escape sequence, no control code and no bidi mark reaches a terminal; no line is endless."""
    shown = still_text(nasty_board(text))
    assert not UNSEEN.search(shown)
    assert max(map(len, shown.split("\n"))) < 2200


@pytest.mark.parametrize("draw", [graph_svg, timeline_svg])
def test_a_drawing_stays_a_drawing(text: str, draw: Callable[[Board], str]) -> None:
    """It parses as XML, holds shapes and text only, refers to nothing, and fits an address."""
    drawn = ElementTree.fromstring(draw(nasty_board(text)))
    names = {node.tag.split("}")[1] for node in drawn.iter()}
    assert names <= {"svg", "g", "title", "rect", "text", "path"}
    attributes = {name for node in drawn.iter() for name in node.attrib}
    assert not {name for name in attributes if name.startswith("on") or "href" in name or name == "id"}
    assert not UNSEEN.search("".join(drawn.itertext()))
    assert len(draw(nasty_board(text))) < 20_000


@pytest.mark.parametrize("tell", [graph_text, timeline_text])
def test_the_twin_of_a_drawing_is_plain_text(text: str, tell: Callable[[Board], str]) -> None:
    """No sequence, no hidden sign, no endless line."""
    told = tell(nasty_board(text))
    assert not UNSEEN.search(told)
    assert max(map(len, told.split("\n"))) < 500


def test_a_question_shows_it_and_runs_nothing(text: str) -> None:
    """Message, choices, gates, effects and the line that answers are text."""
    prompt = Prompt(
        text, "choice", text, (text,) * 99, text, True, gates=(text,) * 99, effects=(text, f"exec · {text}"),
        shown_hash=text, inner=text, conditions=(text,) * 99,
    )  # fmt: skip
    asked = question.Asked(prompt, text, text)
    for several in ([asked], [asked] * 200, [asked, replace(asked, said=text)]):
        bundle = question.mimebundle(several, text, text)
        inert(bundle["text/html"])
        assert not UNSEEN.search(bundle["text/plain"])
        assert len(bundle["text/html"]) < 60_000 * min(len(several), question.MOST)
    assert not UNSEEN.search("".join(question.asked(prompt)))


def test_a_journal_shown_in_a_page_is_text(text: str) -> None:
    """A journal may hold anything."""
    inert(tracepage.trace_html(text, text.encode("utf-8", "replace")))


@given(st.text())
def test_no_text_escapes_its_cell(text: str) -> None:
    """Whatever the characters, one cell stays one line of escaped text."""
    shown = clean.inline(text)
    assert not re.search("[<>\"'\n\t]", shown)
    assert not UNSEEN.search(shown)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a\nb\n\n", "b"), ("10%\r20%\r30%", "30%"), ("\x1b[32mok\x1b[0m\n", "ok"), ("", ""), (" \n\t", ""),
        ("x" * 20_000 + "end", "…" + "x" * 196 + "end"),
    ],
)  # fmt: skip
def test_the_last_line_of_live_text_is_what_is_on_screen(text: str, line: str) -> None:
    """Progress bars overwrite themselves, colours vanish, a very long line shows its end."""
    assert clean.last_line(text) == line


def test_a_cut_is_marked() -> None:
    """Nobody takes the beginning of a text for the whole."""
    assert clean.one_line("a" * 300, 100) == "a" * 99 + "…"
    assert clean.one_line("a" * 100, 100) == "a" * 100
    assert clean.clean("a" * 10_000_000, 50).endswith("…")


def test_a_live_view_of_nothing_but_quotes_is_still_small() -> None:
    """Escaping can make text six times as long; the window gives way."""
    script = Script()
    for at in range(500):
        script.say("task_failed", task='"' * 40 + str(at), note='"' * 300, detail='"' * 4000)
    assert len(live_body(board_of(script.events, live=True))) < LIVE_BOUND


@pytest.mark.parametrize(
    "within",
    [json.dumps([["a", None, 1]] * 20_000), "[[[]]]", '{"a": 1}', "7", '[["a", 1]]'],
    ids=["no end to its calls", "no calls", "an object", "a number", "half a call"],
)
def test_a_called_workflow_that_cannot_be(within: str) -> None:
    """What it says it cost is counted by nobody, and nothing goes down without end."""
    paid = json.dumps({"kind": "task_completed", "fields": {"task": "a", "cost_usd": 1.0}})
    script = Script("w").task("call", "invoke · x").go("call", "invoke · x")
    script.say("nb_child", task="call", child="c", within=within, event=paid, attempt=1)
    assert board_of(script.events).cost_usd == 0
    units = Units()
    for event in script.events:
        frame = Frame(event.kind, dict(event.fields), timestamp=event.at)
        units.take(frame, paid if event.kind == "nb_child" else None)
    units.close(running=False)
    assert units.totals()[0].usd is None


@pytest.mark.parametrize("usd", [-1, -1e-5, -1e308, 1e308, 1e-300])
def test_a_cost_that_cannot_be(usd: float) -> None:
    """Page and console draw the run all the same."""
    script = Script("w").task("a", "infer · m").go("a", "infer · m")
    script.ok("a", "infer · m", 1, cost_usd=usd, saved_usd=usd)
    board = board_of(script.say("workflow_completed").events)
    assert "✔  a" in still_text(board)
    assert "✔" in still_html(board)
