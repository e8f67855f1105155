"""Large evidence in pages: nothing lost, nothing too long, nothing quadratic."""

from __future__ import annotations

import json
import uuid

from hypothesis import given
from hypothesis import strategies as st

from nika_nb.catalog.frames import LINE_BOUND, PAGE_BOUND
from nika_nb.trace.chain import Chain
from nika_nb.trace.frame import Frame, decode
from nika_nb.trace.paging import Asking, Joiner, paged_output, pages, with_texts
from nika_nb.trace.trace import prompts_of
from nika_nb.values import dumps
from tests.trace.journals import ERROR, Events, completed, failure, started, success

wide = st.text(st.sampled_from('a"\\\n\x01é€🦋\u2028'), max_size=400)


@given(wide, st.integers(min_value=4, max_value=64))
def test_pages_hold_the_whole_text_and_split_no_character(text: str, bound: int) -> None:
    """Joined they are the text; each is within the bound in bytes; an empty text is one empty page."""
    cut = pages(text, bound)
    assert "".join(cut) == text
    assert all(len(page.encode()) <= bound for page in cut)
    assert all(cut) or cut == [""]


def test_the_worst_page_fits_a_line() -> None:
    """A page of characters that JSON writes six times as long stays below the line bound."""
    event = Events()("task_completed", **completed("t", "x", output="\x01" * (3 * PAGE_BOUND)))
    lines = [line for _, line in Chain().lines(event)]
    assert len(lines) == 4
    assert max(map(len, lines)) <= LINE_BOUND


def test_a_large_output_leaves_its_frame() -> None:
    """Pages come first, then the frame with their number; its outcome keeps all but the value."""
    value = "ä🦋" * PAGE_BOUND
    *before, last = paged_output(
        Events()("task_completed", **completed("t", value, outcome=success(value, 3, ERROR)))
    )
    assert [e.kind for e in before] == ["nb_output_page"] * len(before)
    assert [e.fields["page"] for e in before] == list(range(len(before)))
    assert {e.fields["task"] for e in before} == {"t"}
    assert last.fields["output_pages"] == len(before) == before[0].fields["pages"]
    assert "output" not in last.fields
    outcome = json.loads(last.fields["outcome"])
    assert (outcome["class"], outcome["cause"], outcome["payload"]["attempts"]) == ("success", "recovered", 3)
    assert outcome["payload"]["recovered_from"]["code"] == ERROR.code
    assert "value" not in outcome["payload"]
    assert "".join(e.fields["text"] for e in before) == dumps(value)


def test_a_withheld_output_is_paged_from_its_outcome() -> None:
    """A value that is not resumable stands in the outcome only, and is paged from there."""
    value = ["x" * 100] * 1000
    fields = {"task": "t", "note": "n", "not_resumable": "why", "outcome": success(value)}
    *before, last = paged_output(Events()("task_completed", **fields))
    assert json.loads("".join(e.fields["text"] for e in before)) == value
    assert "def_hash" not in last.fields


def test_small_events_stay_as_they_are() -> None:
    """Up to the page bound nothing is paged, whatever the kind."""
    make = Events()
    small = make("task_completed", **completed("t", "x" * (PAGE_BOUND - 100)))
    other = make("task_failed", task="t", detail="x" * (2 * PAGE_BOUND))
    assert paged_output(small) == [small]
    assert paged_output(other) == [other]


def test_page_ids_are_uuids_of_the_same_moment_and_reproducible() -> None:
    """The same event gives the same pages; their ids sort with the event's and differ from it."""
    event = Events()("task_completed", **completed("t", "x" * (3 * PAGE_BOUND)))
    first, again = paged_output(event), paged_output(event)
    assert first == again
    ids = [uuid.UUID(e.id) for e in first]
    assert len(set(ids)) == len(ids)
    assert {i.version for i in ids} == {7}
    assert {i.bytes[:6] for i in ids} == {uuid.UUID(event.id).bytes[:6]}


def test_large_inputs_follow_the_prologue() -> None:
    """The first line stays the prologue; the values it is too small for come right behind it."""
    text = dumps({"rows": ["é"] * PAGE_BOUND})
    first, *rest = paged_output(Events()("workflow_started", **started(input_values=text)))
    assert first.kind == "workflow_started"
    assert first.fields["input_pages"] == len(rest)
    assert "".join(e.fields["text"] for e in rest) == text


def test_what_cannot_be_paged_is_cut_but_stays_json() -> None:
    """A failure with a huge message still makes a line, its outcome still parses, its code is kept."""
    from dataclasses import replace

    huge = replace(ERROR, message="é" * LINE_BOUND, details={"stderr": ["x" * LINE_BOUND] * 3})
    event = Events()("task_failed", task="t", note="exec · x", detail="y" * LINE_BOUND, outcome=failure(huge))
    ((_, line),) = Chain().lines(event)
    frame = decode(line)
    assert len(line) <= LINE_BOUND
    assert json.loads(frame.get("outcome"))["payload"]["error"]["code"] == ERROR.code
    assert "characters more" in frame.get("detail")


def test_an_output_is_never_cut() -> None:
    """Whatever else makes the line too long, what a resume gives back stays exact."""
    value = "x" * (PAGE_BOUND // 2)
    event = Events()("task_completed", **completed("t", value, warning="w" * LINE_BOUND))
    ((_, line),) = Chain().lines(event)
    assert json.loads(decode(line).get("output")) == value
    assert "characters more" in decode(line).get("warning")


def test_an_interrupted_set_of_pages_is_no_output() -> None:
    """Pages of a killed attempt never mix with the pages that came later, nor stand for an output."""
    make = Events()
    event = make("task_completed", **completed("t", "x" * (3 * PAGE_BOUND)))
    parts = [Frame(e.kind, e.fields, e.id) for e in paged_output(event)]
    joined = list(with_texts([parts[0], parts[1], *parts]))
    assert [text for _, text in joined] == [dumps("x" * (3 * PAGE_BOUND))]
    assert [text for _, text in with_texts([parts[0], parts[-1]])] == [None]


def test_pages_of_items_are_kept_apart() -> None:
    """Two items whose pages interleave both come back whole."""
    joiner = Joiner()
    for page in (0, 1):
        for index in (0, 1):
            joiner.feed(
                Frame("nb_output_page", {"task": "t", "item": index, "page": page, "text": f"{index}{page} "})
            )
    ends = [Frame("nb_item_completed", {"task": "t", "item": i, "output_pages": 2}) for i in (0, 1)]
    assert [joiner.text(end) for end in ends] == ["00 01 ", "10 11 "]


def pause(count: int) -> dict[str, object]:
    asked = [{"task": "ask", "item": at, "mode": "input", "message": "é" * 300} for at in range(count)]
    return {"task": "ask", "mode": "input", "message": "é" * 300, "prompts": dumps(asked)}


def test_a_pause_holds_its_prompts_while_a_line_has_room() -> None:
    """Every open prompt stands in the one frame; of very many, in pages right before it."""
    (frame,) = paged_output(Events()("workflow_paused", **pause(100)))
    assert "prompt_pages" not in frame.fields
    *before, last = paged_output(Events()("workflow_paused", **pause(3000)))
    assert {event.kind for event in before} == {"nb_prompt_page"}
    assert (last.kind, last.fields["prompt_pages"]) == ("workflow_paused", len(before))
    lines = [line for _, line in Chain().lines(Events()("workflow_paused", **pause(3000)))]
    assert max(map(len, lines)) <= LINE_BOUND


def test_a_pause_is_read_with_every_prompt_in_it() -> None:
    """Whoever reads frames finds them where they always stand; without all pages the first is left."""
    frames = [decode(line) for _, line in Chain().lines(Events()("workflow_paused", **pause(3000)))]
    asking = Asking()
    *_, last = map(asking.whole, frames)
    assert [prompt.item for prompt in prompts_of(last)] == list(range(3000))
    assert asking.pages == []
    *_, last = map(Asking().whole, frames[1:])
    assert len(prompts_of(last)) == 1
