"""The fold: every kind of frame, and what it makes of a row and of the run."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pytest

from nika_nb.board.fold import HANDLERS
from nika_nb.board.rows import Row, why
from nika_nb.board.state import Board, board_of
from nika_nb.engine.events import Event
from nika_nb.trace.frame import Frame
from tests.board.scripted import START, Script, crash, resume


def one(script: Script) -> Board:
    return board_of(script.events, live=True)


@dataclass(frozen=True)
class Fold:
    """The last event said about task `t`, and what its row must then say."""

    name: str
    kind: str
    fields: dict[str, Any]
    expected: dict[str, Any]


ERROR = {"class": "failure", "cause": "verb_error", "payload": {"error": {"code": "E-1", "message": "no"}}}
FOLDS = [
    Fold(
        "scheduled",
        "task_scheduled",
        {"verb": "exec", "note": "exec · ls"},
        {"state": "pending", "verb": "exec"},
    ),
    Fold("dispatched", "verb_invoked", {"attempt": 1}, {"state": "running", "attempts": 1, "started": START}),
    Fold("second attempt", "verb_invoked", {"attempt": 2}, {"state": "running", "attempts": 2}),
    Fold(
        "retry waits",
        "task_retrying",
        {"attempt": 1, "max_attempts": 3, "delay_ms": 500, "code": "E-9"},
        {"state": "retrying", "detail": "attempt 1 of 3 failed · E-9"},
    ),
    Fold(
        "completed",
        "task_completed",
        {"duration_ms": 7, "attempts": 2, "tokens": 11, "cost_usd": 0.5, "output": '"a\\nb"'},
        {"state": "ok", "duration_ms": 7, "attempts": 2, "tokens": 11, "cost_usd": 0.5, "preview": "a b"},
    ),
    Fold(
        "cache hit",
        "task_cache_hit",
        {"saved_ms": 5, "saved_tokens": 9, "saved_usd": 0.25, "output": "[1,2]"},
        {"state": "cached", "saved_ms": 5, "saved_tokens": 9, "saved_usd": 0.25, "preview": "[1,2]"},
    ),
    Fold("failed", "task_failed", {"detail": "E-1 · no"}, {"state": "failed", "detail": "E-1 · no"}),
    Fold("gate closed", "task_skipped", {"when": "${{ x }}"}, {"state": "skipped", "when": "${{ x }}"}),
    Fold("blocked", "task_cancelled", {"blocked_by": "a"}, {"state": "cancelled", "blocked_by": "a"}),
    Fold("recovered", "task_recovered", {"code": "E-2"}, {"recovered": "E-2"}),
    Fold(
        "decided", "approval_decided", {"decision": "deny", "source": "form"}, {"decided": "refused · form"}
    ),
    Fold("live text", "live_output", {"text": "one\ntwo\n"}, {"tail": "two"}),
    Fold(
        "reason",
        "task_started",
        {"reason": "input", "parts": '["with.a"]'},
        {"reason": "input", "parts": ("with.a",)},
    ),
]


@pytest.mark.parametrize("case", FOLDS, ids=lambda case: case.name)
def test_every_frame_makes_its_change(case: Fold) -> None:
    """Each kind of frame changes what it is about, and the row tells it."""
    board = one(Script().say(case.kind, task="t", **case.fields))
    row = board.rows["t"]
    assert {name: getattr(row, name) for name in case.expected} == case.expected


@pytest.mark.parametrize("kind", ["nika_next", "permit_checked", "run_sealed"])
def test_a_kind_that_the_board_does_not_show_is_passed_over(kind: str) -> None:
    """A newer journal may hold kinds that this version does not know."""
    assert one(Script().say(kind, task="t")).rows == {}


@pytest.mark.parametrize("fields", [{}, {"task": "t", "attempt": "x"}, {"task": "t", "needs": "[1]"}])
@pytest.mark.parametrize("kind", sorted(HANDLERS))
def test_a_frame_that_is_not_of_its_shape_does_no_harm(kind: str, fields: dict[str, Any]) -> None:
    """A journal may come from anywhere; what cannot be read is passed over, and the rest is told."""
    script = Script().say(kind, **fields).ok("b", "exec · ls", 1)
    assert one(script).rows["b"].state == "ok"


def test_a_journal_frame_and_an_event_make_the_same_board() -> None:
    """One fold serves the live view and the journal."""
    events = resume().events
    frames = [Frame(event.kind, event.fields, timestamp=event.at) for event in events]
    assert board_of(frames) == board_of(events)


@pytest.mark.parametrize(
    ("kind", "state"),
    [("workflow_completed", "completed"), ("workflow_failed", "failed"), ("workflow_cancelled", "cancelled")],
)
def test_the_end_frame_names_the_run_state(kind: str, state: str) -> None:
    """The run's state is that of its last frame."""
    assert board_of(Script().say(kind, detail="x").events).state == state


def test_a_journal_without_an_end_is_incomplete_and_says_what_was_running() -> None:
    """After a kill the board neither runs on nor loses what was in flight."""
    board = board_of(crash().events)
    assert board.state == "incomplete"
    assert board.rows["pack_assets"].unfinished == "was running"
    assert one(crash()).state == "running"


def test_hits_and_live_runs_are_counted_apart() -> None:
    """`hits` counts cache hits; `ran_live` what started, whether its two frames came or one."""
    board = board_of(resume().events)
    assert (board.hits, board.ran_live, board.done, board.resumed) == (2, 2, 4, True)


def test_a_run_that_resumed_nothing_still_says_that_it_is_a_resume() -> None:
    """The prologue names the trace; a hit is not needed."""
    board = board_of(Script(resumed_trace="x.ndjson").go("t", "exec · ls").ok("t", "exec · ls", 1).events)
    assert (board.resumed, board.hits, board.ran_live) == (True, 0, 1)


def test_a_task_that_starts_while_another_runs_goes_alongside_it() -> None:
    """The sign ∥ stands at the later of two that overlap, and at no task that ran alone."""
    board = board_of(crash().events)
    assert [row.id for row in board.tasks if row.parallel] == ["count_notes"]


def test_the_figures_of_a_fan_out_add_up_while_it_goes_on() -> None:
    """Items count as done, cached or failed; what cached items had cost is saved, not spent."""
    script = Script().task("all", "infer · mock/echo · 4 items")
    script.go("all", "", item=0).go("all", "", item=1).go("all", "", item=1, attempt=2)
    script.say(
        "nb_item_completed", task="all", item=3, status="success", matched="{}", saved_usd=0.5, saved_ms=9
    )
    script.say("nb_item_completed", task="all", item=0, status="success", tokens=10, cost_usd=0.125)
    script.say("nb_item_completed", task="all", item=1, status="failure", outcome=json.dumps(ERROR))
    board = one(script)
    items = board.rows["all"].items
    assert items is not None
    assert (items.total, items.done, items.cached, items.failed, items.running) == (4, 3, 1, 1, 0)
    assert items.faults == ["[1] E-1 · no"]
    assert (board.cost_usd, board.tokens, board.saved) == (0.125, 10, (0.5, 0, 9))


def test_the_total_of_a_task_replaces_what_its_items_added_up_to() -> None:
    """The terminal frame's figures are the truth, not a second helping."""
    script = Script().say("nb_item_completed", task="t", item=0, status="success", tokens=10, cost_usd=0.1)
    board = one(script.ok("t", "infer · m", 5, tokens=10, cost_usd=0.1))
    assert (board.tokens, board.cost_usd) == (10, 0.1)


def test_what_a_cached_fan_out_saved_is_counted_once() -> None:
    """The items tell what they had cost, and then the task tells the sum."""
    script = Script().say(
        "nb_item_completed", task="t", item=0, status="success", matched="{}", saved_usd=0.5
    )
    board = one(script.hit("t", saved_usd=0.5, saved_ms=7))
    assert board.saved == (0.5, 0, 7)


def test_an_open_prompt_pauses_its_task_and_is_listed() -> None:
    """A pause lists every prompt with what hangs on it."""
    asked = {
        "task": "ask",
        "item": 3,
        "mode": "choice",
        "message": "Which?",
        "choices": ["a"],
        "gates": ["go"],
    }
    script = Script().task("ask", "invoke · nika:prompt").go("ask", "invoke · nika:prompt")
    board = board_of(
        script.say("workflow_paused", task="ask", mode="choice", prompts=json.dumps([asked])).events
    )
    (prompt,) = board.prompts
    assert (board.state, board.rows["ask"].state) == ("paused", "paused")
    assert (prompt.key, prompt.choices, prompt.gates, prompt.has_default) == (
        "ask[3]",
        ("a",),
        ("go",),
        False,
    )


def test_a_pause_frame_of_the_bare_dialect_is_a_prompt_too() -> None:
    """Without our list of prompts the frame's own fields are the question."""
    script = Script().say("workflow_paused", task="ask", mode="choice", message="Which?", choices='["a","b"]')
    (prompt,) = board_of(script.events).prompts
    assert (prompt.task, prompt.mode, prompt.message, prompt.choices) == (
        "ask",
        "choice",
        "Which?",
        ("a", "b"),
    )


WHYS = [
    (("new",), "new task"),
    (("definition", ("exec.command", "retry")), "definition changed: exec.command, retry"),
    (("input", ("with.sums (from hash_notes)",)), "input changed: with.sums (from hash_notes)"),
    (("not-recorded", (), "was running"), "not recorded: was running"),
    (("not-recorded",), "not recorded"),
    (("forced",), "forced by --from"),
    (("not-resumable", (), "the output is bytes"), "not resumable: the output is bytes"),
    (("",), ""),
    (("first-run",), ""),
]


@pytest.mark.parametrize(
    ("given", "sentence"), WHYS, ids=[sentence or str(given) for given, sentence in WHYS]
)
def test_a_live_task_says_why_it_ran(given: tuple[Any, ...], sentence: str) -> None:
    """Every reason of the engine is one short sentence."""
    reason, parts, detail = (*given, *((), "")[len(given) - 1 :])
    assert why(Row("t", 0, reason=reason, parts=parts, why_detail=detail)) == sentence


def test_time_runs_on_only_by_a_clock_that_runs() -> None:
    """A running task counts up to now; under a virtual clock the journal's own time is all there is."""
    now = START + 5 * 10**9
    assert one(crash()).elapsed_ms(now) == 5000
    assert one(crash()).rows["pack_assets"].elapsed_ms(now) == 4972
    virtual = one(Script(clock="virtual").go("t", "").after(40).say("live_progress", task="t", done=1))
    assert virtual.elapsed_ms(now) == 40
    assert board_of(resume().events).elapsed_ms(now * 2) == 13208


def test_a_painter_can_tell_that_something_changed() -> None:
    """`version` grows with every event that is shown, and with no other."""
    board = one(crash())
    before = board.version
    board.apply(Event("permit_checked", {"task": "pack_assets"}, START))
    assert board.version == before
    board.apply(Event("live_output", {"task": "pack_assets", "text": "x\n"}, START))
    assert board.version == before + 1


class Counting(dict[str, Any]):
    """Fields that count how often they are looked at."""

    looks = 0

    def get(self, key: str, default: Any = None) -> Any:
        Counting.looks += 1
        return super().get(key, default)


@pytest.mark.parametrize("kind", ["nb_item_completed", "live_output", "task_completed"])
def test_folding_costs_the_same_for_every_event(kind: str) -> None:
    """Ten thousand events cost ten thousand times one: nothing that was folded is looked at again."""
    board = Board()
    Counting.looks = 0
    for at in range(10_000):
        task = f"t{at}" if kind == "task_completed" else "t"
        fields = Counting(task=task, item=at, status="success", text="x\n", duration_ms=1)
        board.apply(Event(kind, fields, START + at))
    assert Counting.looks < 10_000 * 30
    assert len(board.recent) <= 64
    assert len(board.log) <= 120


def test_a_called_workflow_shows_as_the_rows_tail() -> None:
    """What the child is at, and how far; in a fan-out with its item; nothing once the task has settled."""
    script = Script().task("call", "invoke · ./child.yaml").go("call", "invoke · ./child.yaml")

    def child(kind: str, item: int | None = None, **fields: Any) -> None:
        event = json.dumps({"kind": kind, "fields": fields})
        script.say("nb_child", task="call", item=item, attempt=1, child="child", event=event)

    child("workflow_started", workflow="child")
    for name in ("a", "b", "c"):
        child("task_scheduled", task=name)
    child("verb_invoked", task="a")
    assert board_of(script.events, live=True).rows["call"].tail == "a ◐ 0/3"
    child("task_completed", task="a")
    child("task_failed", task="b\x1b[2J")
    assert board_of(script.events, live=True).rows["call"].tail == "b ✖ 2/3"
    script.say(
        "nb_child", task="call", attempt=1, child="leaf", within='[["c",null,1]]', event='{"kind":"x"}'
    )
    script.say("nb_child", task="call", attempt=1, child="child", event="no json")
    assert board_of(script.events, live=True).rows["call"].tail == "b ✖ 2/3"
    child("task_scheduled", item=4, task="z")
    child("task_cache_hit", item=4, task="z")
    assert board_of(script.events, live=True).rows["call"].tail == "[4] z ↷ 1/1"
    script.ok("call", "invoke · ./child.yaml", 5)
    assert board_of(script.events).rows["call"].tail == ""
