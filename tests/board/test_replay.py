"""Replay: every step, forward and back, is the board folded from the prefix; outputs are read when wanted."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nika_nb.board import kept
from nika_nb.board.replay import Replay, Step
from nika_nb.board.state import Board
from nika_nb.board.tape import Tape
from nika_nb.catalog.frames import RUN_STOPS, TASK_ENDS
from nika_nb.engine.events import Event
from nika_nb.engine.outcome import Outcome
from nika_nb.errors import UsageError
from nika_nb.trace.frame import Frame
from nika_nb.trace.lines import TraceUnreadable
from nika_nb.trace.paging import with_texts
from nika_nb.trace.reader import read
from nika_nb.values import dumps, loads
from tests.trace.journals import Events, completed, edited, failure, item, started, story, success, write

GOLDEN = Path(__file__).resolve().parents[1] / "pains" / "golden"


def replayed(*paths: Path, fine: bool = False) -> Replay:
    return Replay(Tape([(path, path.name) for path in paths]), fine=fine)


def folded(step: Step) -> Board:
    """The board of the journal's prefix, by the fold alone."""
    trace = read(step.trace)
    board = Board(run_id=trace.run_id or "")
    events = step.board.trace_events
    for frame in trace.frames[:events]:
        board.apply(frame)
    if step.kind == "incomplete":
        board.close()
    board.trace_path, board.trace_events = step.trace.name, events
    board.trace_head = trace.head if events == len(trace.frames) else ""
    return board


def there_and_back(replay: Replay) -> Iterator[Step]:
    """Every step forward, every step back, then here and there."""
    yield from replay
    yield from reversed(replay)
    order = list(range(len(replay)))
    random.Random(len(order)).shuffle(order)
    yield from (replay.at(index) for index in order)


def holds(*paths: Path) -> None:
    """What every replay of whatever journals has to be."""
    for fine in (False, True):
        replay = replayed(*paths, fine=fine)
        expected = [folded(step) for step in replay]
        for step in there_and_back(replay):
            assert step.board == expected[step.index]
        _settles_are_steps(replay)


def _settles_are_steps(replay: Replay) -> None:
    """In a journal that continues no other, every settle has its step, right behind its frame."""
    path = replay.traces[0]
    found = [s.board.trace_events for s in replay if s.trace == path and s.state and "/" not in str(s.task)]
    kinds = TASK_ENDS | ({"nb_item_completed"} if replay.fine else frozenset())
    assert found == [at for at, frame in enumerate(read(path).frames, 1) if frame.kind in kinds]


def known(frames: tuple[Frame, ...]) -> dict[str, Any]:
    """The outputs of tasks that a prefix of a journal holds, by a plain look at it."""
    found: dict[str, Any] = {}
    for frame, text in with_texts(frames):
        if frame.kind in ("task_completed", "task_cache_hit"):
            value = loads(text) if text is not None else loads(frame.fields["outcome"])["payload"]["value"]
            found[frame.fields["task"]] = value
    return found


# -- generated journals ------------------------------------------------------------------------

TASKS = ("a", "b", "fan", "call", "ask")
FRAMES = st.tuples(
    st.sampled_from(TASKS),
    st.sampled_from(
        ["verb", "start", "ok", "hit", "fail", "skip", "cancel", "retry", "item", "child", "permit"]
    ),
    st.integers(0, 3),
)


def told(make: Events, task: str, what: str, number: int) -> None:
    """One or two events of a task, of whatever kind."""
    cost = {"cost_usd": number / 10, "tokens": number}
    match what:
        case "verb":
            make("verb_invoked", task=task, attempt=number + 1, **({"item": number} if task == "fan" else {}))
        case "start":
            make("task_started", task=task, note=f"infer · m · {number + 2} items", reason="new")
        case "ok":
            make("task_completed", **completed(task, {"n": number}, **cost))
        case "hit":
            make("task_cache_hit", **completed(task, [number], saved_usd=0.5))
        case "fail":
            make("task_failed", task=task, detail="E · no", outcome=failure(), **cost)
        case "skip":
            make("task_skipped", task=task, when="${{ x }}")
        case "cancel":
            make("task_cancelled", task=task, blocked_by="a")
        case "retry":
            make("task_retrying", task=task, attempt=number, max_attempts=3, code="E")
        case "item":
            make("nb_item_completed", **item(task, number, f"v{number}", **cost))
        case "child":
            fields = {"task": "inner", "output": dumps(number), "outcome": success(number)}
            event = dumps({"kind": "task_completed", "fields": fields})
            make("nb_child", task=task, attempt=1, child="c", event=event)
        case _:
            make("permit_checked", task=task, plane="exec", decision="allow")


@st.composite
def journals(draw: st.DrawFn) -> list[Event]:
    make = Events()
    make("workflow_started", **started())
    for task in TASKS[: draw(st.integers(1, len(TASKS)))]:
        make("task_scheduled", task=task, verb="exec", note=f"exec · {task}", needs="[]")
    for what in draw(st.lists(FRAMES, max_size=40)):
        told(make, *what)
    end = draw(st.sampled_from(["", *sorted(RUN_STOPS)]))
    if end:
        make(end, workflow="w", task="ask", mode="confirm", message="?")
        if draw(st.booleans()):
            make("notify_delivered", to="x")
    return make.made


@given(events=journals(), most=st.sampled_from([2, 3, 5, kept.MOST]))
@settings(max_examples=80, deadline=None)
def test_every_step_of_a_generated_journal_is_the_fold_of_its_prefix(
    events: list[Event], most: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Forward, back, and in any order; whatever the events, and however few boards are kept on the way."""
    path = write(tmp_path_factory.mktemp("t"), events)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(kept, "MOST", most)
        holds(path)
    trace = read(path)
    for step in replayed(path):
        expected = known(trace.frames[: step.board.trace_events])
        assert dict(step.outputs) == expected
        assert step.spent_usd == pytest.approx(step.board.cost_usd)


# -- journals of all kinds ---------------------------------------------------------------------


def test_every_step_of_every_stored_journal(conformance: Path) -> None:
    """The reference's journals and the golden ones of every epoch, items and called workflows included."""
    journals = [*sorted(conformance.rglob("*.ndjson")), *sorted(GOLDEN.rglob("*.ndjson"))]
    assert len(journals) > 60
    for path in journals:
        holds(path)


def test_a_golden_journal_replays_without_the_conformance_data() -> None:
    """Every kind of frame of this engine, in a journal that an earlier version wrote."""
    for path in sorted(GOLDEN.rglob("*.ndjson")):
        holds(path)


def test_a_journal_torn_anywhere_is_replayed_up_to_the_tear(tmp_path: Path) -> None:
    """After a crash the prefix is what there is: its last step is where the run broke off."""
    whole = write(tmp_path, story())
    data = whole.read_bytes()
    steps = len(replayed(whole))
    first = data.index(b"\n") + 1
    for cut in range(first, len(data), 211):
        torn = tmp_path / "torn.ndjson"
        torn.write_bytes(data[:cut])
        holds(torn)
        replay = replayed(torn)
        assert replay[-1].kind == "incomplete"
        assert len(replay) <= steps
        assert bool(replay.tape.reels[0].trouble) == (data[cut - 1 : cut] != b"\n")


def test_what_cannot_be_read_in_the_middle_ends_the_replay(tmp_path: Path) -> None:
    """Everything in front of the unreadable line is shown, and why it ends there."""
    lines = write(tmp_path, story()).read_bytes().splitlines(keepends=True)
    broken = tmp_path / "broken.ndjson"
    broken.write_bytes(b"".join([*lines[:12], b"{nonsense\n", *lines[12:]]))
    holds(broken)
    (reel,) = replayed(broken).tape.reels
    assert "line 13 cannot be read" in reel.trouble


@pytest.mark.parametrize("content", [b"", b"{}\n", b"\x00\x01\n", b'{"kind":"x"'])
def test_what_is_no_journal_is_refused(tmp_path: Path, content: bytes) -> None:
    """With the same words as by whoever else reads it."""
    path = tmp_path / "x.ndjson"
    path.write_bytes(content)
    with pytest.raises(TraceUnreadable, match="cannot be read as a journal"):
        replayed(path)
    with pytest.raises(UsageError, match="there is no trace"):
        replayed(tmp_path / "none.ndjson")


def test_a_file_that_changed_meanwhile_is_told_of(tmp_path: Path) -> None:
    """Boards and outputs are made from the file: what it no longer holds is not made up."""
    path = write(tmp_path, story())
    replay = replayed(path)
    outputs = replay[-1].outputs
    path.write_bytes(path.read_bytes()[:900])
    with pytest.raises(TraceUnreadable, match="has changed since"):
        _ = outputs["hash"]
    path.unlink()
    with pytest.raises(UsageError, match="there is no trace"):
        _ = outputs["hash"]


# -- what a step says --------------------------------------------------------------------------


def test_the_steps_of_a_run_in_order(tmp_path: Path) -> None:
    """It begins, each task settles, it ends; the finer replay has the items as well."""
    replay = replayed(write(tmp_path, story()))
    said = [(step.kind, step.task, step.state) for step in replay]
    assert said == [
        ("workflow_started", None, None),
        ("task_completed", "hash", "success"),
        ("task_completed", "big", "success"),
        ("task_completed", "fan", "success"),
        ("task_failed", "broken", "failure"),
        ("task_skipped", "late", "skipped"),
        ("task_cancelled", "gone", "cancelled"),
        ("workflow_completed", None, None),
    ]
    assert replay.has_finer
    fine = replay.with_fine(True)
    assert [step.task for step in fine][3:7] == ["fan[0]", "fan[1]", "fan[2]", "fan"]
    assert (len(replay), len(fine)) == (8, 11)


def test_the_first_step_shows_all_there_is_to_do_and_the_last_all_there_is(tmp_path: Path) -> None:
    """Nothing has happened, then everything has, the frames behind the end included."""
    events = story()
    make = Events()
    path = write(tmp_path, [*events, make("notify_delivered", to="x")])
    replay = replayed(path)
    assert {row.state for row in replay[0].board.tasks} == {"pending"}
    assert replay[-1].board.trace_events == len(read(path).frames)
    assert replay[-1].board.trace_head == read(path).head
    assert replay[-1].returned == {"sum": "e3b0 ✔"}
    assert replay[-2].returned is None


def test_outputs_are_those_known_by_then_and_read_when_wanted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A large output in pages comes back whole; looking at the names opens no file."""
    replay = replayed(write(tmp_path, story(large=400_000)))
    assert [list(step.outputs) for step in replay[1:5]] == [
        ["hash"],
        ["hash", "big"],
        ["hash", "big", "fan"],
        ["hash", "big", "fan"],
    ]
    last = replay[-1]
    assert last.outputs["big"] == 'ä"\n🦋' * 100_000
    assert last.outputs["fan"] == ["α", "β", "γ"]
    assert dict(replay.at("big").within) == {}
    assert dict(replay.at("fan").within) == {"fan[0]": "α", "fan[1]": "β", "fan[2]": "γ"}
    assert "broken" not in last.outputs
    with pytest.raises(KeyError):
        _ = last.outputs["broken"]
    monkeypatch.setattr("nika_nb.board.tape.between", lambda *_: pytest.fail("a file was opened"))
    assert (len(last.outputs), "hash" in last.outputs, repr(last.outputs)) == (
        3, True, "Outputs(hash, big, fan)",
    )  # fmt: skip


def test_an_output_that_is_not_journaled_apart_comes_from_the_outcome(tmp_path: Path) -> None:
    """A withheld output is known as the journal shows it, secrets blotted out."""
    make = Events()
    make("workflow_started", **started())
    fields = {"task": "t", "not_resumable": "a secret stands in the output, which is withheld"}
    make("task_completed", **fields, outcome=success("key ***"))
    make("task_completed", task="none", outcome=Outcome("success", "normal").to_text())
    make("task_completed", task="strange", output="{no json", outcome=success(1))
    make("task_completed", task="bare")
    outputs = replayed(write(tmp_path, make.made))[-1].outputs
    assert dict(outputs) == {"t": "key ***", "none": None, "strange": "{no json"}


def test_steps_are_found_by_number_and_by_task(tmp_path: Path) -> None:
    """As a sequence is, with errors that say what there is."""
    replay = replayed(write(tmp_path, story()))
    assert replay.at(1) == replay[1] == replay.at("hash") == replay[-7]
    assert [step.index for step in replay[2:4]] == [2, 3]
    with pytest.raises(UsageError, match="the steps 0 to 7"):
        replay.at(8)
    with pytest.raises(IndexError):
        _ = replay[8]
    with pytest.raises(UsageError, match=r"`hsh` settles at no step.*did you mean `hash`"):
        replay.at("hsh")
    with pytest.raises(UsageError, match="with fine=True it may"):
        replay.at("fan[1]")
    fine = replay.with_fine(True)
    assert fine.at("fan[1]").index == 4
    assert replay.same(fine.at("fan[1]")) == replay.at("big")
    assert fine.same(replay.at("fan")) == fine.at("fan")


def test_what_a_step_says_of_time_and_money(tmp_path: Path) -> None:
    """UTC moments, and dollars over the whole run; a total replaces what its items added up to."""
    make = Events()
    make("workflow_started", **started())
    make("nb_item_completed", **item("fan", 0, 1, cost_usd=0.1))
    make("nb_item_completed", **item("fan", 1, 2, cost_usd=0.2))
    make("task_completed", **completed("fan", [1, 2], cost_usd=0.3))
    make("task_completed", **completed("t", 1, cost_usd=0.05))
    replay = replayed(write(tmp_path, make.made), fine=True)
    assert [step.spent_usd for step in replay] == [0, 0.1, 0.3, 0.3, 0.35, 0.35]
    times = [step.time for step in replay]
    assert times == sorted(times)
    assert replay[1].time.isoformat() == "2026-08-13T17:55:54.490000+00:00"


# -- called workflows --------------------------------------------------------------------------


def test_what_a_called_workflow_did_is_known_by_its_way(tmp_path: Path) -> None:
    """`call/draft`, an item of it, and a call in a call; large events in pages as well."""
    make = Events()
    make("workflow_started", **started())
    make("task_scheduled", task="call", verb="invoke", note="invoke · ./c.yaml", needs="[]")

    def child(kind: str, item_: int | None = None, within: Any = None, **fields: Any) -> None:
        event = dumps({"kind": kind, "fields": fields})
        more = {"within": dumps(within)} if within else {}
        make("nb_child", task="call", item=item_, attempt=1, child="c", event=event, **more)

    child("task_completed", task="draft", output=dumps("d" * 200_000), outcome=success("d"))
    child("nb_item_completed", task="fan", item=2, status="failure", outcome=failure())
    child("task_cache_hit", 3, task="draft", output="1", outcome=success(1))
    child("task_completed", None, [["deep", 4, 1]], task="leaf", output='"x"', outcome=success("x"))
    make("nb_child", task="call", attempt=1, child="c", event="no json")
    path = write(tmp_path, make.made)
    holds(path)
    replay = replayed(path, fine=True)
    assert [(step.task, step.state) for step in replay if step.task] == [
        ("call/draft", "success"),
        ("call/fan[2]", "failure"),
        ("call[3]/draft", "cached"),
        ("call/deep[4]/leaf", "success"),
    ]
    assert dict(replay[-1].within) == {
        "call/draft": "d" * 200_000, "call[3]/draft": 1, "call/deep[4]/leaf": "x",
    }  # fmt: skip
    assert dict(replay[-1].outputs) == {}


# -- a run in several journals -----------------------------------------------------------------


def paused(make: Events) -> list[Event]:
    make("workflow_started", **started())
    for task in ("a", "bad", "ask", "b"):
        make("task_scheduled", task=task, verb="exec", note="exec · x", needs="[]")
    make("verb_invoked", task="a", attempt=1)
    make("task_completed", **completed("a", "first", cost_usd=0.25))
    make("task_failed", task="bad", detail="E · no", outcome=failure())
    make("workflow_paused", workflow="w", task="ask", mode="confirm", message="?")
    return make.made


def answered(make: Events) -> list[Event]:
    make("workflow_started", **started(answered=dumps(["ask"]), sequence=2))
    for task in ("a", "bad", "ask", "b"):
        make("task_scheduled", task=task, verb="exec", note="exec · x", needs="[]")
    make("task_cache_hit", **completed("a", "first", saved_usd=0.25))
    make("verb_invoked", task="ask", attempt=1)
    make("task_failed", task="bad", detail="E · no", outcome=failure(), note="failed before the pause")
    make("task_completed", **completed("ask", True))
    make("verb_invoked", task="b", attempt=1)
    make("task_completed", **completed("b", "second", cost_usd=0.5))
    make("workflow_completed", workflow="w", outputs=dumps({"b": "second"}))
    return make.made


def test_one_timeline_over_an_answer(tmp_path: Path) -> None:
    """What the answer's journal only tells again is no step; money and outputs go on over the pause."""
    paths = write(tmp_path / "1", paused(Events())), write(tmp_path / "2", answered(Events()))
    holds(*paths)
    replay = replayed(*paths)
    assert [(s.kind, s.task, s.spent_usd, list(s.outputs)) for s in replay] == [
        ("workflow_started", None, 0.0, []),
        ("task_completed", "a", 0.25, ["a"]),
        ("task_failed", "bad", 0.25, ["a"]),
        ("workflow_paused", None, 0.25, ["a"]),
        ("workflow_started", None, 0.25, ["a"]),
        ("task_completed", "ask", 0.25, ["a", "ask"]),
        ("task_completed", "b", 0.75, ["a", "ask", "b"]),
        ("workflow_completed", None, 0.75, ["a", "ask", "b"]),
    ]
    begins = replay[4]
    assert (begins.goes_on, begins.answered, begins.trace) == (True, ("ask",), paths[1])
    assert begins.board.rows["a"].state == "cached"
    assert not replay[0].goes_on
    assert replay[5].board.rows["bad"].state == "failed"


def test_what_ran_again_after_an_answer_is_a_step(tmp_path: Path) -> None:
    """A task that had settled and was run anew did something."""
    make = Events()
    make("workflow_started", **started(sequence=2))
    make("verb_invoked", task="a", attempt=1)
    make("task_completed", **completed("a", "again"))
    replay = replayed(write(tmp_path / "1", paused(Events())), write(tmp_path / "2", make.made))
    assert [step.task for step in replay if step.goes_on or step.trace.parent.name == "2"][1] == "a"
    assert replay[-1].outputs["a"] == "again"
    assert replay[3].outputs["a"] == "first"


def test_a_resume_shows_its_hits_first(tmp_path: Path) -> None:
    """On its own a journal that resumed is a run like any other: each hit is a step."""
    replay = replayed(write(tmp_path, answered(Events())))
    assert [step.task for step in replay if step.task] == ["a", "bad", "ask", "b"]
    assert replay.at("a").state == "cached"


def test_an_edited_journal_is_replayed_as_it_stands(tmp_path: Path) -> None:
    """The replay shows what the file says; that its chain is broken is said elsewhere."""
    path = edited(write(tmp_path, story()), "α", "forged")
    assert replayed(path)[-1].outputs["fan"] in (["α", "β", "γ"], ["forged", "β", "γ"])
    holds(path)


def test_many_steps_keep_few_boards(tmp_path: Path) -> None:
    """Whatever the length of a journal, what is kept of it stays small, and no step is far from it."""
    make = Events()
    make("workflow_started", **started())
    for at in range(1500):
        make("nb_item_completed", **item("fan", at, at))
    path = write(tmp_path, make.made)
    tape = Tape([(path, path.name)])
    numbers = tape._far._numbers
    assert len(numbers) <= kept.MOST
    assert (
        max(later - earlier for earlier, later in pairwise(numbers)) <= 2 * len(tape.stops) // kept.MOST + 2
    )
    for number in range(len(tape.stops) - 1, 0, -97):
        items = tape.board(number).rows["fan"].items
        assert items is not None
        assert items.done == min(number, 1500)
