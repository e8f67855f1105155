"""The panel as HTML: what it says, what it leaves out, how large it may grow."""

from __future__ import annotations

import json
import re
from html import unescape

import pytest

from nika_nb.board import mimebundle
from nika_nb.board.graph import graph_svg
from nika_nb.board.html import LIVE_BOUND, live_body, live_head, still
from nika_nb.board.picture import live_picture, still_picture
from nika_nb.board.rows import STATES
from nika_nb.board.state import Board, board_of
from nika_nb.board.style import COLOUR
from nika_nb.board.svg import FILL, INK, SOLID, data_uri
from nika_nb.board.text import UNICODE
from nika_nb.board.timeline import timeline_html, timeline_svg
from nika_nb.board.window import WINDOW, window
from tests.board.scripted import START, Script, crash, resume


def words(page: str) -> str:
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]*>", " ", page)).replace("\xa0", " "))


def row(page: str, task: str) -> str:
    """The words of the table row of one task."""
    found = next(part for part in page.split("<tr")[1:] if f">{task}</td>" in part)
    return words("<tr" + found.split("</tr>")[0]).strip()


def test_the_still_tells_the_whole_run() -> None:
    """Name, state, time, permits, counts, money spent and saved, the journal and its head."""
    board = board_of(resume().events)
    board.trace_path, board.trace_events, board.trace_head = ".nika/traces/a.ndjson", 14, "ab" * 32
    said = words(still(board))
    for fact in (
        "nightly-archive", "4 tasks", "resumed · 2 skipped (cache hit) · 2 ran live", "✔ completed", "13.2s",
        "permits ✓ declared boundary · default-deny", "4/4 done", "$0.00 spent · saved 30ms",
        "trace .nika/traces/a.ndjson · 14 events what happened", "chain " + "ab" * 32,
    ):  # fmt: skip
        assert fact in said


def test_a_row_says_its_state_its_time_and_why_it_ran() -> None:
    """A sign and a word, the figures, and on a resume the reason."""
    page = still(board_of(resume().events))
    assert row(page, "pack_assets") == "✔ ok pack_assets exec · gzip 13.2s not recorded: was running"
    assert row(page, "hash_notes") == "↷ cached hash_notes cache hit (resume) saved 27ms"


@pytest.mark.parametrize("state", STATES)
def test_no_state_is_told_by_colour_alone(state: str) -> None:
    """Each state has a sign, a word and a colour of its own table."""
    board = board_of([], live=True)
    board.become(board.row("t"), state)  # type: ignore[arg-type]
    said = row(still(board), "t")
    assert f"{UNICODE[state]} {state}" in said  # type: ignore[index]
    assert COLOUR[state] in still(board)  # type: ignore[index]


def test_what_unfolds_below_a_failure_repeats_no_line() -> None:
    """The sentence stands above, what the program said below it, line by line."""
    script = Script("w").task("a", "exec · x").go("a", "exec · x")
    script.say("task_failed", task="a", note="exec · x", detail="E-1 · it ended: boom\n  at one\n  at two")
    page = still(board_of(script.say("workflow_failed").events)).split("</table>")[0]
    assert ">E-1 · it ended: boom</summary>" in page
    assert ">  at one\n  at two</div>" in page


def test_a_long_failure_unfolds_in_the_still_and_is_one_line_live() -> None:
    """A live table is repainted, so nothing in it may need unfolding."""
    script = Script().say("task_failed", task="t", note="exec · x", detail="E-1 · first\nsecond line")
    board = board_of(script.say("workflow_failed").events)
    assert "<details" in still(board).split("</table>")[0]
    assert "second line" in still(board)
    assert "<details" not in live_body(board)
    assert "E-1 · first" in live_body(board)


def test_a_fan_out_is_one_row_with_its_bar() -> None:
    """Forty items make one line: how many are done, cached, failed."""
    script = Script().task("all", "exec · curl · 40 items")
    for at in range(10):
        script.say(
            "nb_item_completed", task="all", item=at, status="success", matched="{}" if at < 4 else None
        )
    script.say("nb_item_completed", task="all", item=10, status="failure")
    page = live_body(board_of(script.events, live=True))
    assert page.count("<tr") == 2  # the heads of the columns, and the one row
    assert "11/40 · 4 cached · 1 failed" in row(page, "all")


def test_money_and_tokens_have_a_column_only_where_they_occur() -> None:
    """A run of commands has no empty column."""
    free = board_of(Script().ok("a", "exec · ls", 1).events, live=True)
    paid = board_of(Script().ok("a", "infer · m", 1, tokens=1843, cost_usd=0.0031).events, live=True)
    assert live_body(free).count("<td") + 1 == live_body(paid).count("<td")
    assert "1,843 tok · $0.0031" in words(live_body(paid))


def test_a_live_view_is_sent_only_as_often_as_it_changes() -> None:
    """Within one second of a running task its table is byte for byte the same."""
    board = board_of(crash().events, live=True)
    second = START + 3 * 10**9 + 28 * 10**6
    assert live_body(board, second) == live_body(board, second + 900 * 10**6)
    assert live_body(board, second) != live_body(board, second + 1000 * 10**6)
    assert live_head(board, second) != live_head(board, second + 1000 * 10**6)


def many(count: int) -> Board:
    script = Script()
    for at in range(count):
        script.task(f"task_{at:05}", "exec · curl")
    for at in range(count):
        script.go(f"task_{at:05}", "exec · curl")
        if at % 1000 == 7:
            script.say("task_failed", task=f"task_{at:05}", note="exec · curl", detail="E-1 · no")
        elif at < count - 3:
            script.ok(f"task_{at:05}", "exec · curl", 9, output=json.dumps("x" * 500))
    return board_of(script.events, live=True)


def test_a_live_view_of_ten_thousand_tasks_is_a_window() -> None:
    """Failed and running tasks stay in sight, the newest fill the rest, the others are counted."""
    board = many(10_000)
    rows = window(board)
    states = [row_.state for row_ in rows]
    assert len(rows) == WINDOW
    assert (states.count("failed"), states.count("running")) == (10, 3)
    assert [row_.index for row_ in rows] == sorted(row_.index for row_ in rows)
    assert rows[-4].id == "task_09996"
    assert len(live_head(board)) + len(live_body(board)) < LIVE_BOUND
    assert "and 9,960 more: 3 running, 9,987 ok, 10 failed in all" in words(live_body(board))


def test_a_fan_out_of_ten_thousand_items_is_small() -> None:
    """Items are folded into figures and a few hundred marks: they take little room."""
    script = Script().task("all", "exec · x · 10000 items")
    for at in range(10_000):
        script.go("all", "exec · x · 10000 items", item=at)
        script.say("nb_item_completed", task="all", item=at, status="failure" if at % 9 == 0 else "success")
    board = board_of(script.events, live=True)
    assert len(still(board)) < 36_000
    assert len(live_body(board)) < 4_000
    assert "10,000/10,000 · 1112 failed" in words(live_body(board))


def test_the_still_of_very_many_tasks_keeps_the_failures() -> None:
    """Beyond a thousand rows a saved notebook keeps what matters and counts the rest."""
    page = still(many(3000))
    assert page.count("E-1 · no") >= 3
    assert "and 2,000 more" in words(page)
    assert len(page) < 1_500_000


def test_only_what_a_sanitiser_keeps_is_used() -> None:
    """No style sheet, no script, no event handler, no id: an untrusted notebook shows the same.

    A theme's own colour is used for text alone, with a fallback; where it is cut away, text stays text. Nor
    does a measure of the page lack one.
    """
    page = still(board_of(resume().events))
    assert not re.search(r"<(style|script|svg|button)|\son\w+=|\sid=", page)
    colours = len(re.findall(r"[;\"]color:var\(--jp-[\w-]+,#[0-9a-f]{6}\)", page))
    assert page.count("var(") == colours + len(re.findall(r"var\(--[wg],\d+(?:vw|px)\)", page))
    assert colours > 0


def test_dollar_signs_are_never_typeset() -> None:
    """Whatever stands between two of them is text: the outermost element tells MathJax to pass by."""
    page = still(board_of(resume().events))
    classes = set(re.findall(r'class="([^"]*)"', page))
    assert page.startswith("<div class=")
    assert classes == {"tex2jax_ignore mathjax_ignore"}


def test_the_graph_is_an_image_and_the_timeline_a_table_inside_the_still() -> None:
    """Beside each other; the image has its words for those who do not see it, the table is words."""
    board = board_of(resume().events)
    page = still(board)
    assert f'src="{data_uri(graph_svg(board))}"' in page
    assert not re.search(r"[<>\"#]", data_uri(graph_svg(board)))
    assert "⇠ pack_assets" in " ".join(re.findall('alt="([^"]*)"', page))
    assert timeline_html(board) in page
    assert "✔ pack_assets 13.2s ✔ manifest 8ms" in words(timeline_html(board))


def test_no_word_of_an_image_stands_on_the_page_itself() -> None:
    """No grey can be read on white and on a dark theme's black: words stand on boxes that are dark enough."""
    board = Board(workflow="many")
    for at in range(600):
        row = board.row(f"task_{at:03}")
        board.become(row, STATES[at % len(STATES)])
    for drawn in (
        graph_svg(board),
        graph_svg(board_of(resume().events)),
        graph_svg(board_of(crash().events)),
    ):
        assert set(re.findall("<text [^>]*fill='([^']*)'", drawn)) == {"#fff"}
    boxes = {SOLID, *(fill for fill in FILL.values() if fill != "none")}
    assert all(contrast(fill, "#ffffff") >= 4.5 for fill in boxes)
    assert min(contrast(INK, page) for page in ("#ffffff", "#000000")) >= 4.5


def contrast(one: str, other: str) -> float:
    """WCAG's ratio of two colours."""
    faint, bright = sorted((_light(one), _light(other)))
    return (bright + 0.05) / (faint + 0.05)


def _light(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (
        part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_what_happened_is_kept_in_short() -> None:
    """The still tells the events without the journal, and how many it left out."""
    assert "+13.200s task_completed pack_assets exec · gzip" in words(still(board_of(resume().events)))
    assert re.search(r"and [\d,]+ more in the trace", words(still(many(300))))


def test_both_twins_are_in_the_bundle() -> None:
    """A page without kernel finds HTML and text, and no widget."""
    assert set(mimebundle(board_of(resume().events))) == {"text/html", "text/plain"}


def test_the_first_failures_of_a_long_run_stand_at_its_top() -> None:
    """Nobody has to look for them among hundreds of rows; of a short run they are seen at once."""
    board = Board(workflow="long")
    for at in range(300):
        board.row(f"step_{at:03}")
    assert "failed" not in words(still(board))
    for at in (17, 88, 151, 200):
        row = board.rows[f"step_{at:03}"]
        row.detail = f"E-1 · no <photo> {at}"
        board.become(row, "failed")
    top, _, _ = words(still(board)).partition("graph and timeline")
    assert "✖ step_017 · E-1 · no <photo> 17" in top
    assert "step_151" in top
    assert "step_200" not in top
    assert "and 1 more failed task" in top


def test_every_state_has_its_share_of_a_bar() -> None:
    """One failure of thousands is as good as unseen at its true width."""
    board = Board(workflow="long")
    for at in range(5000):
        board.become(board.row(f"t{at}"), "ok")
    board.become(board.rows["t7"], "failed")
    (share,) = re.findall(f'<div style="([^"]*)background-color:{COLOUR["failed"]}"></div>', still(board))
    assert "min-width:3px" in share


def test_a_drawing_shrinks_a_little_before_it_is_scrolled() -> None:
    """Down to a size at which it can be read; live and still."""
    board = board_of(resume().events)
    for drawn in (still_picture(board), live_picture(board)):
        widths = re.findall(r"max-width:100%;min-width:([\d.]+)px", drawn)
        assert len(widths) == 2
        assert all(float(width) > 0 for width in widths)


def test_what_is_to_be_read_has_the_colour_of_the_page() -> None:
    """Tones stand for signs: as text they are too faint on white or on black. A failure alone is toned."""
    board = Board(workflow="toned")
    for state in STATES:
        row = board.row(state)
        row.detail, row.warning = f"what is said of {state}", f"a warning of {state}"
        board.become(row, state)
    toned = re.findall(r"color:(?:var[(][-a-z0-9]+,)?(#[0-9a-f]{6})[^>]*>([^<]*)<", still(board))
    assert {tone for tone, said in toned if len(said.strip()) > 1} == {COLOUR["failed"]}
    assert "what is said of paused" in words(still(board))
    assert "a warning of ok" in words(still(board))


def test_a_row_that_did_not_run_says_why_in_plain_words() -> None:
    """What it would have done stands in its column, and why it did not where others say how it went."""
    script = Script("w").task("a", "exec · x").task("b", "exec · y", "a").task("c", "exec · z")
    script.task("d", "exec · v").task("e", "infer · m")
    script.say("task_failed", task="a", note="exec · x", detail="E-1 · no")
    script.say("task_cancelled", task="b", note="upstream failed", blocked_by="a")
    script.say("task_skipped", task="c", note="when: gate closed", when="${{ 1 > 2 }}")
    script.say("task_cancelled", task="d", note="operator").say(
        "task_cancelled", task="e", note="over budget"
    )
    script.task("f", "infer · m · 9 items").say("verb_invoked", task="f", item=0)
    script.say("task_cancelled", task="f", note="over budget")
    said = words(still(board_of(script.say("workflow_failed").events)))
    for row_ in (
        "⊘ blocked b exec · y a failed",
        "↷ skipped c exec · z when: ${{ 1 > 2 }} is not true",
        "⊘ cancelled d exec · v not started: the run was cancelled",
        "⊘ cancelled e infer · m not started: the run is over its cap",
        " · stopped: the run is over its cap",
    ):
        assert row_ in said


def test_a_question_that_is_told_below_is_not_told_in_its_row() -> None:
    """Elsewhere the row is all that tells it."""
    script = Script("w").task("ask", "invoke · nika:prompt")
    script.say("workflow_paused", task="ask", mode="confirm", message="Ship it?")
    board = board_of(script.events)
    assert "◇ paused ask invoke · nika:prompt waits for an answer ◇ Ship it?" in words(still(board))
    assert "waits for an answer" in still(board, asked=True)
    assert "Ship it?" not in still(board, asked=True)


def test_a_run_in_which_nothing_has_begun_has_no_axis() -> None:
    """Ticks over nothing would look like a drawing that broke."""
    board = board_of(Script("w").task("a", "exec · x").events)
    assert "<text" not in timeline_svg(board)
    assert timeline_html(board) == ""
