"""How a step looks: the words and the page of it, the slider's marks, an output to look into; all inert."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nika_nb.board import stepped, stepped_html, tree
from nika_nb.board.replay import Replay
from nika_nb.board.tape import Tape
from nika_nb.values import dumps
from tests.board.test_hostile import ALLOWED, NASTY, UNSEEN, Judge, inert, nasty_events
from tests.board.test_replay import answered, paused, replayed
from tests.trace.journals import Events, completed, item, started, story, write


def test_the_steps_as_lines(tmp_path: Path) -> None:
    """A sign, what settled, when, what was spent by then; over an answer in one count."""
    paths = write(tmp_path / "1", paused(Events())), write(tmp_path / "2", answered(Events()))
    assert stepped.listing(list(replayed(*paths))) == [
        "  0      +0ms      $0.00  ▷ the run begins",
        "  1      +2ms      $0.25  ✔ a ok",
        "  2      +3ms      $0.25  ✖ bad failed",
        "  3      +4ms      $0.25  ◇ the run pauses",
        "  4      +1ms      $0.25  ▷ ask answered, the run goes on",
        "  5      +4ms      $0.25  ✔ ask ok",
        "  6      +6ms      $0.75  ✔ b ok",
        "  7      +7ms      $0.75  ✔ the run completes",
    ]


@pytest.mark.parametrize(
    ("end", "said"),
    [
        ("workflow_failed", "✖ the run fails"), ("workflow_cancelled", "⊘ the run is cancelled"),
        ("", "… the run breaks off"),
    ],
)  # fmt: skip
def test_how_a_run_stops_is_said(tmp_path: Path, end: str, said: str) -> None:
    """In words, not by a colour alone."""
    make = Events()
    make("workflow_started", **started())
    if end:
        make(end, workflow="w")
    last = replayed(write(tmp_path, make.made))[-1]
    assert f"{stepped.sign(last)} {stepped.what(last)}" == said
    assert said.split(" ", 1)[1] in stepped_html.status(last)


def test_a_step_tells_screen_readers_by_itself(tmp_path: Path) -> None:
    """The status is a live region; the marks, which only repeat it, are hidden from them."""
    replay = replayed(write(tmp_path, story()))
    status = stepped_html.status(replay.at("broken"))
    assert 'role="status" aria-live="polite"' in status
    assert "broken failed</span>" in status
    assert "step 4 of 7" in status
    assert stepped_html.marks(replay).startswith('<div aria-hidden="true"')
    assert 'alt="graph: ' in stepped_html.state(replay[2])
    assert "aria-label='graph of 6 tasks: " in stepped_html.state(replay[2], live=True)


def test_a_step_shows_the_state_by_then(tmp_path: Path) -> None:
    """What has not happened yet is nowhere on the page."""
    replay = replayed(write(tmp_path, story()))
    early, late = stepped_html.state(replay.at("hash")), stepped_html.state(replay.at("broken"))
    assert "1/6 done" in early
    assert "NIKA-EXEC-001" not in early
    assert "3 ok · 1 failed · 2 left" in late
    assert "NIKA-EXEC-001" in late
    text = replay.at("hash")._repr_mimebundle_()["text/plain"]
    assert "step 1 of 7 · ✔ hash ok" in text
    assert "1/6 done" in text


def test_the_slider_is_marked_with_what_settled(tmp_path: Path) -> None:
    """Every step has its mark and its name where there is room for them."""
    marks = stepped_html.marks(replayed(write(tmp_path, story())))
    for name in ("begins", "hash", "big", "fan", "broken", "late", "gone", "completes"):
        assert f">{name}</span>" in marks
    assert "left:0.00%" in marks
    assert "left:100.00%" in marks


def test_many_steps_have_few_marks_and_the_failures_keep_theirs(tmp_path: Path) -> None:
    """Ten thousand items stay a small page; no failure is hidden behind what went well."""
    make = Events()
    make("workflow_started", **started())
    for at in range(10_000):
        make("nb_item_completed", **item("fan", at, at) | ({"status": "failure"} if at == 5003 else {}))
    replay = replayed(write(tmp_path, make.made), fine=True)
    marks = stepped_html.marks(replay)
    assert len(marks) < 60_000
    assert 'title="fan[5003] failed"' in marks
    assert len(stepped.listing(list(replay))) == 201
    assert len(stepped_html.still(replay)) < 100_000


# -- outputs -------------------------------------------------------------------------------------


def shown(replay: Replay, at: int | str, name: str | None) -> str:
    page = stepped_html.known(replay.at(at), name)
    inert_tree(page)
    return page


def inert_tree(page: str) -> None:
    """As inert as every page, with the one attribute that opens a fold."""
    judged = Judge(page)
    assert set(judged.tags) <= ALLOWED
    assert judged.attributes <= {"class", "style", "open"}
    assert judged.open == 0
    assert not UNSEEN.search(page)


def test_what_is_known_of_a_name(tmp_path: Path) -> None:
    """Its output, its failure, or why there is none; where the run itself stops, what it returns or asks."""
    replay = replayed(write(tmp_path, story()), fine=True)
    assert "e3b0 ✔" in shown(replay, -1, "hash")
    assert "β" in shown(replay, "fan[1]", "fan[1]")
    assert "not settled yet" in shown(replay, 0, "hash")
    assert "command exited with status 1" in shown(replay, "broken", "broken")
    assert "no output: skipped" in shown(replay, "late", "late")
    assert "sum" in shown(replay, -1, None)
    asked = replayed(write(tmp_path / "p", paused(Events())))
    assert "◇ ask · ?" in shown(asked, -1, None)
    assert shown(asked, 0, None) == ""


def test_a_failed_item_says_why(tmp_path: Path) -> None:
    """The journal holds the error of each item; a step of the finer replay shows it."""
    make = Events()
    make("workflow_started", **started())
    error = {"code": "NIKA-X-1", "message": "no such row"}
    outcome = json.dumps({"class": "failure", "cause": "verb_error", "payload": {"error": error}})
    make("nb_item_completed", task="fan", item=3, status="failure", outcome=outcome)
    make("task_failed", task="t")
    replay = replayed(write(tmp_path, make.made), fine=True)
    assert replay.at("fan[3]").error == error
    assert "no such row" in shown(replay, "fan[3]", "fan[3]")
    assert replay.at("t").error is None
    assert "the journal does not say how" in shown(replay, "t", "t")


def test_a_value_unfolds(tmp_path: Path) -> None:
    """Objects and lists with their counts; the first levels stand open."""
    page = tree.html({"a": [1, {"b": None}], "text": "two\nlines", "none": {}})
    inert_tree(page)
    assert page.count("<details") == 3
    assert page.count("<details open>") == 2
    assert "{…} 3 entries" in page
    assert "[…] 2 entries" in page
    assert "two\nlines" in page
    assert tree.lines({"a": [1, {"b": None}], "none": {}}, 20) == [
        "{", '  "a": [', "    1,", "    {", '      "b": null', "    }", "  ],", '  "none": {}', "}",
    ]  # fmt: skip
    assert tree.lines("two\nlines", 20) == ["two", "lines"]


HUGE: dict[str, Any] = {
    "text": "x" * 3_000_000,
    "list": list(range(1_000_000)),
    "keys": {f"k{n}" * 50: n for n in range(50_000)},
    "texts": ["y" * 9_000] * 1000,
    "wide and deep": [[[n] * 50] * 50 for n in range(200)],
}


@pytest.mark.parametrize("name", HUGE)
def test_what_is_huge_is_cut_and_says_so(name: str) -> None:
    """A page stays small whatever the output, and nobody takes the beginning for the whole."""
    page = tree.html(HUGE[name])
    inert_tree(page)
    assert len(page) < 150_000
    assert re.search(r"and [\d,]+ more|cut: it has [\d,]+ characters", page)
    lines = tree.lines(HUGE[name], 12, 100)
    assert len(lines) <= 12
    assert max(map(len, lines)) <= 100
    assert "…" in lines[-1]


def test_a_value_that_nests_without_end_is_cut(tmp_path: Path) -> None:
    """As deep as JSON can be read."""
    value: Any = 1
    for _ in range(500):
        value = {"in": [value]}
    page = tree.html(value)
    inert_tree(page)
    assert "nested too deeply" in page
    assert tree.lines(value, 1000)


@given(st.recursive(st.text() | st.none() | st.integers(), lambda inside: st.dictionaries(st.text(), inside)))
def test_no_value_escapes_its_place(value: Any) -> None:
    """Whatever the keys and texts: our markup only, and lines without controls."""
    inert_tree(tree.html(value))
    assert not UNSEEN.search("\n".join(tree.lines(value, 30)))


# -- hostile -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NASTY)
def test_a_hostile_journal_is_shown_and_does_nothing(name: str, tmp_path: Path) -> None:
    """The text in every field that a task or an author has a say in; at every step, on every surface."""
    text = NASTY[name] if name not in ("long", "lines") else NASTY[name][:20_000]
    make = Events()
    for event in nasty_events(text):
        make(event.kind, **event.fields)
    make("task_completed", **completed("out", {text[:1000]: [text]}))
    make(
        "nb_child", task=text[:1000], event=dumps({"kind": "task_completed", "fields": {"task": text[:1000]}})
    )
    path = write(tmp_path, make.made)
    replay = Replay(Tape([(path, text[:1000])]), [text], [text], fine=True)
    for step in replay:
        for page in (stepped_html.status(step), stepped_html.state(step), stepped_html.step(step)):
            judged = Judge(page)
            assert set(judged.tags) <= ALLOWED
            assert not {name for name in judged.attributes if name.startswith("on")}
            assert not UNSEEN.search(page)
            assert len(page) < 250_000
        live = Judge(stepped_html.state(step, live=True))
        assert set(live.tags) <= ALLOWED | {"svg", "g", "title", "rect", "text", "path"}
        assert not {name for name in live.attributes if name.startswith("on") or "href" in name}
        shown(replay, step.index, step.task)
        lines = [stepped.line(step), stepped.spoken(step), stepped.whole(step)]
        assert not UNSEEN.search("\n".join(lines))
    inert_tree(stepped_html.known(replay[-1], "out"))
    for page in (stepped_html.marks(replay), stepped_html.head(replay), stepped_html.still(replay)):
        assert not {name for name in Judge(page).attributes if name.startswith("on")}
        assert not UNSEEN.search(page)
    assert not UNSEEN.search(stepped.still(replay))
    inert(stepped_html.still(replay))
