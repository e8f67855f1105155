"""A trace as a memory: hits only by both hashes, and a reason for everything else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nika_nb.engine.memory import Carried, Hit, Memory, Miss
from nika_nb.engine.outcome import Outcome, TaskError
from nika_nb.plan.identity import Identity
from nika_nb.trace.inflight import InFlight
from nika_nb.trace.memory import JournalMemory
from nika_nb.trace.reader import read
from nika_nb.values import dumps
from tests.trace.journals import (
    ERROR,
    Events,
    completed,
    failure,
    identity,
    item,
    item_identity,
    started,
    story,
    success,
    write,
)


def remembered(folder: Path, events: Events, **options: Any) -> JournalMemory:
    return JournalMemory(read(write(folder, events.made)), **options)


@pytest.fixture
def make() -> Events:
    events = Events()
    events("workflow_started", **started())
    return events


def test_a_hit_gives_back_what_was_recorded(tmp_path: Path) -> None:
    """Output, where it was found, and what running it had cost; only when both hashes are equal."""
    memory: Memory = JournalMemory(read(write(tmp_path, story())))
    hit = memory.recall(identity("hash"))
    assert isinstance(hit, Hit)
    assert hit.output == "e3b0 ✔ \u2028 🦋"
    assert (hit.trace, hit.attempts, hit.duration_ms, hit.error) == (
        "2026-08-13T17-55-54Z-0001.ndjson",
        1,
        27,
        None,
    )
    frame = next(
        f for f in read(next(tmp_path.iterdir())).frames if f.get("task") == "hash" and "output" in f.fields
    )
    assert hit.frame == frame.id
    assert memory.resuming


@given(st.sampled_from(["d", "other"]), st.sampled_from(["i", "other"]))
def test_hit_if_and_only_if_both_hashes_are_equal(
    tmp_path_factory: pytest.TempPathFactory, def_hash: str, input_hash: str
) -> None:
    """Equal parts never make a hit, and different parts never prevent one."""
    make = Events()
    make("workflow_started", **started())
    make("task_completed", **completed("a", 1, def_hash="d", input_hash="i"))
    memory = remembered(tmp_path_factory.mktemp("t"), make)
    found = memory.recall(identity("a", def_hash=def_hash, input_hash=input_hash, input_parts={"x": "y"}))
    assert isinstance(found, Hit) is ((def_hash, input_hash) == ("d", "i"))


def test_a_recovered_success_says_what_it_recovered_from(tmp_path: Path, make: Events) -> None:
    """The error and the attempts come back with the value."""
    make(
        "task_completed",
        **completed("a", "plan b", outcome=success("plan b", 3, ERROR), tokens=12, cost_usd=0.5),
    )
    hit = remembered(tmp_path, make).recall(identity("a"))
    assert isinstance(hit, Hit)
    assert hit.error is not None
    assert (hit.error["code"], hit.attempts, hit.tokens, hit.cost_usd) == (ERROR.code, 3, 12, 0.5)


def test_a_cache_hit_is_a_record_of_its_own(tmp_path: Path, make: Events) -> None:
    """A resumed trace can be resumed: its hits count, with what they once cost."""
    fields = completed("a", [1, 2], saved_ms=900, saved_tokens=7, matched=dumps({"trace": "x", "frame": "y"}))
    del fields["duration_ms"]
    make("task_cache_hit", **fields)
    hit = remembered(tmp_path, make).recall(identity("a"))
    assert isinstance(hit, Hit)
    assert (hit.output, hit.duration_ms, hit.tokens) == ([1, 2], 900, 7)


def test_a_cleanup_stands_by_its_definition(tmp_path: Path, make: Events) -> None:
    """Whatever it was given; a success that was withheld gives null back, and a failure its error."""
    kept = {"note": "n", "not_resumable": "a cleanup always runs", "def_hash": "d", "duration_ms": 5}
    make("task_completed", task="c", **kept, output="[1]", outcome=success([1]))
    make("task_completed", task="secret", **kept, outcome=success("***"))
    make("task_failed", task="bad", **kept, outcome=failure())
    memory = remembered(tmp_path, make)
    found = memory.cleaned("c", "d")
    assert isinstance(found, Hit)
    assert (found.output, found.duration_ms) == ([1], 5)
    withheld, failed = memory.cleaned("secret", "d"), memory.cleaned("bad", "d")
    assert isinstance(withheld, Hit)
    assert withheld.output is None
    assert isinstance(failed, Carried)
    assert failed.outcome.error == ERROR
    assert memory.cleaned("c", "other") is memory.cleaned("unknown", "d") is None
    assert memory.keyless == 0


def test_a_cleanup_of_an_older_journal_stands_where_the_text_is_pinned(tmp_path: Path, make: Events) -> None:
    """It holds no definition of a cleanup, and its output in the outcome or in pages alone."""
    make("task_completed", task="c", note="n", not_resumable="always", outcome=success({"n": 1}))
    make("task_completed", task="large", note="n", not_resumable="always", outcome=success("x" * 200_000))
    pinned = remembered(tmp_path, make, carry_failures=True)
    small, large = pinned.cleaned("c", "d"), pinned.cleaned("large", "d")
    assert isinstance(small, Hit)
    assert isinstance(large, Hit)
    assert (small.output, large.output) == ({"n": 1}, "x" * 200_000)
    assert JournalMemory(pinned.trace).cleaned("c", "d") is None
    assert JournalMemory(pinned.trace, {"c"}, carry_failures=True).cleaned("c", "d") is None


def test_the_last_usable_record_wins(tmp_path: Path, make: Events) -> None:
    """Of several successes of one task the latest that can be used."""
    make("task_completed", **completed("a", "old"))
    make("task_completed", **completed("a", "new"))
    make("task_completed", task="a", note="no keys", outcome=success("x"))
    memory = remembered(tmp_path, make)
    hit = memory.recall(identity("a"))
    assert isinstance(hit, Hit)
    assert hit.output == "new"
    assert (memory.usable, memory.keyless, memory.unparseable) == (2, 1, 0)


@dataclass
class Case:
    """What the trace says of task `a`, what is asked, and why it has to run."""

    name: str
    tell: Callable[[Events], object]
    miss: Miss
    asked: Identity = field(default_factory=lambda: identity("a"))


def _parts(**fields: Any) -> dict[str, Any]:
    return completed("a", 1, **fields)


def _keyless(**fields: Any) -> dict[str, Any]:
    return {"task": "a", "note": "exec · x", "outcome": success(1)} | fields


CHANGED = {"exec.command": "c2", "retry": "r1", "when": "w1"}

CASES = [
    Case("unknown task", lambda make: None, Miss("new")),
    Case(
        "definition edited",
        lambda make: make("task_completed", **_parts()),
        Miss("definition", ("exec.command", "when", "after")),
        identity("a", def_hash="d2", definition_parts=CHANGED, input_hash="i2"),
    ),
    Case(
        "input changed",
        lambda make: make("task_completed", **_parts()),
        Miss("input", ("with.rows",)),
        identity("a", input_hash="i2", input_parts={"with.rows": "w2", "inputs.topic": "t1"}),
    ),
    Case(
        "definition, no parts recorded",
        lambda make: make("task_completed", **_parts(definition_parts=None)),
        Miss("definition"),
        identity("a", def_hash="d2"),
    ),
    Case(
        "input, parts not parseable",
        lambda make: make("task_completed", **_parts(input_parts="{")),
        Miss("input"),
        identity("a", input_hash="i2"),
    ),
    Case(
        "scheduled only",
        lambda make: make("task_scheduled", task="a"),
        Miss("not-recorded", detail="never started"),
    ),
    Case(
        "in flight",
        lambda make: make("verb_invoked", task="a", attempt=1),
        Miss("not-recorded", detail="was running"),
    ),
    Case(
        "failed",
        lambda make: make("task_failed", task="a", note="exec · false", outcome=failure()),
        Miss("not-recorded", detail="failed (NIKA-EXEC-001)"),
    ),
    Case(
        "failed, as an old engine says it",
        lambda make: make(
            "task_failed", task="a", note="exec · false", detail="NIKA-VAR-001 · no such thing"
        ),
        Miss("not-recorded", detail="failed (NIKA-VAR-001)"),
    ),
    Case(
        "cancelled",
        lambda make: make("task_cancelled", task="a", note="operator"),
        Miss("not-recorded", detail="cancelled"),
    ),
    Case("skipped", lambda make: make("task_skipped", task="a"), Miss("not-recorded", detail="skipped")),
    Case(
        "output not parseable",
        lambda make: make("task_completed", **_parts(output='{"half":')),
        Miss("not-recorded", detail="output not parseable"),
    ),
    Case(
        "pages of the output lost",
        lambda make: make(
            "task_completed", **{k: v for k, v in _parts(output_pages=3).items() if k != "output"}
        ),
        Miss("not-recorded", detail="output not parseable"),
    ),
    Case(
        "keyless",
        lambda make: make("task_completed", **_keyless()),
        Miss("not-recorded", detail="recorded without keys"),
    ),
    Case(
        "not resumable",
        lambda make: make("task_completed", **_keyless(not_resumable="the output is bytes")),
        Miss("not-resumable", detail="the output is bytes"),
    ),
    Case(
        "waited for an answer",
        lambda make: (make("verb_invoked", task="a"), make("workflow_paused", workflow="w", task="a")),
        Miss("not-recorded", detail="waited for an answer"),
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_miss_has_its_reason(tmp_path: Path, make: Events, case: Case) -> None:
    """Reason, the parts that differ, and a phrase for people."""
    case.tell(make)
    assert remembered(tmp_path, make).recall(case.asked) == case.miss


def test_forced_tasks_run_whatever_is_recorded(tmp_path: Path, make: Events) -> None:
    """Whole tasks and items alike."""
    make("task_completed", **completed("a", 1))
    make("nb_item_completed", **item("b", 0, 1))
    memory = remembered(tmp_path, make, forced={"a", "b"})
    assert memory.recall(identity("a")) == Miss("forced")
    assert memory.recall_item(item_identity("b", "in-b-0"), 0) == Miss("forced")


def test_one_forced_item_runs_and_its_neighbours_are_recalled(tmp_path: Path, make: Events) -> None:
    """The whole is not recalled as one, and says for which item."""
    for index in range(3):
        make("nb_item_completed", **item("a", index, index))
    make("task_completed", **completed("a", [0, 1, 2]))
    memory = remembered(tmp_path, make, forced={"a[1]"})
    assert memory.recall(identity("a")) == Miss("forced", detail="a[1]")
    found = [memory.recall_item(item_identity("a", f"in-a-{index}"), index) for index in range(3)]
    assert [isinstance(hit, Hit) for hit in found] == [True, False, True]
    assert found[1] == Miss("forced")
    assert memory.items_of("a") == {0, 1, 2}


def items_asked(memory: JournalMemory, keys: list[str]) -> list[Any]:
    found = [memory.recall_item(item_identity("a", key), index) for index, key in enumerate(keys)]
    return [hit.output if isinstance(hit, Hit) else hit.reason for hit in found]


@pytest.mark.parametrize(
    ("name", "now", "found"),
    [
        ("the same", ["x", "y", "z"], ["X", "Y", "Z"]),
        ("one changed", ["x", "other", "z"], ["X", "input", "Z"]),
        ("one put in front", ["new", "x", "y", "z"], ["input", "X", "Y", "Z"]),
        ("one removed", ["x", "z"], ["X", "Z"]),
        ("reordered", ["z", "x", "y"], ["Z", "X", "Y"]),
        ("more of the same", ["x", "x", "y"], ["X", "input", "Y"]),
        ("one appended", ["x", "y", "z", "w"], ["X", "Y", "Z", "new"]),
    ],
)
def test_items_are_known_by_what_they_are(
    tmp_path: Path, make: Events, name: str, now: list[str], found: list[str]
) -> None:
    """A changed fan-out re-runs only what is missing or changed, wherever the items moved to."""
    for index, key in enumerate("xyz"):
        make("nb_item_completed", **item("a", index, key.upper(), key))
    make("task_completed", **completed("a", ["X", "Y", "Z"]))
    assert items_asked(remembered(tmp_path, make), now) == found


def test_equal_items_are_served_once_each_at_their_own_place(tmp_path: Path, make: Events) -> None:
    """Two recorded runs of the same item serve two items, each its own result; a third runs."""
    make("nb_item_completed", **item("a", 0, "first", "same"))
    make("nb_item_completed", **item("a", 1, "second", "same"))
    make("task_completed", **completed("a", ["first", "second"]))
    assert items_asked(remembered(tmp_path, make), ["same", "same", "same"]) == ["first", "second", "new"]


def test_a_changed_item_names_what_differs(tmp_path: Path, make: Events) -> None:
    """The parts of an item's input are compared like a task's."""
    make("nb_item_completed", **item("a", 0, 1, "x"))
    miss = remembered(tmp_path, make).recall_item(item_identity("a", "y"), 0)
    assert miss == Miss("input", ("item",))


def test_a_killed_fan_out(tmp_path: Path, make: Events) -> None:
    """Settled items hit; one in flight, one failed and one never begun each say so."""
    make("nb_item_completed", **item("a", 0, "X", "x"))
    make("verb_invoked", task="a", item=0, attempt=1)
    make("verb_invoked", task="a", item=1, attempt=1)
    make("nb_item_completed", task="a", item=2, status="failure", outcome=failure())
    make("nb_item_completed", task="a", item=3, status="success", not_resumable="bytes", outcome=success(1))
    memory = remembered(tmp_path, make)
    found = [memory.recall_item(item_identity("a", key), index) for index, key in enumerate("xyzvw")]
    assert isinstance(found[0], Hit)
    assert found[1:] == [
        Miss("not-recorded", detail="was running"),
        Miss("not-recorded", detail="failed (NIKA-EXEC-001)"),
        Miss("not-resumable", detail="bytes"),
        Miss("not-recorded", detail="never started"),
    ]
    assert memory.recall(identity("a")) == Miss("not-recorded", detail="was running")
    assert memory.recall_item(item_identity("zz", "x"), 0) == Miss("new")


def test_ten_thousand_equal_items(tmp_path: Path, make: Events) -> None:
    """A wide fan-out of one repeated item is recalled item by item, each from its own record."""
    for index in range(10_000):
        make("nb_item_completed", **item("a", index, index, "same"))
    memory = remembered(tmp_path, make)
    assert items_asked(memory, ["same"] * 10_000) == list(range(10_000))


def test_what_was_running_at_the_crash(tmp_path: Path, make: Events) -> None:
    """Dispatched and not ended: with its process where one is known; a retry that waits runs nothing."""
    make("verb_invoked", task="done", attempt=1, pgid=10, started="1")
    make("task_completed", **completed("done", 1))
    make("verb_invoked", task="lone", attempt=1)
    make("verb_invoked", task="again", attempt=1, pgid=11, started="2")
    make("task_retrying", task="again", attempt=1)
    make("verb_invoked", task="again", attempt=2, pgid=12, started="3")
    make("verb_invoked", task="waits", attempt=1, pgid=13, started="4")
    make("task_retrying", task="waits", attempt=1)
    make("verb_invoked", task="fan", item=0, attempt=1, pgid=14, started="5")
    make("nb_item_completed", **item("fan", 0, 1))
    make("verb_invoked", task="fan", item=1, attempt=1, pgid=15, started="6")
    make("verb_invoked", task="odd", attempt=1, pgid=1, started="7")
    assert remembered(tmp_path, make).running_at_crash() == [
        InFlight("lone", None, 1, None, None),
        InFlight("again", None, 2, 12, "3"),
        InFlight("fan", 1, 1, 15, "6"),
        InFlight("odd", None, 1, None, None),
    ]


def test_a_run_with_an_end_left_nothing_running(tmp_path: Path, make: Events) -> None:
    """A paused run had ended its processes itself."""
    make("verb_invoked", task="a", attempt=1, pgid=10, started="1")
    make("workflow_paused", workflow="w", task="a")
    assert remembered(tmp_path, make).running_at_crash() == []


def test_failures_are_carried_when_a_paused_run_goes_on(tmp_path: Path, make: Events) -> None:
    """Only then, and only what failed: nothing is retried behind anyone's back."""
    make("task_failed", task="a", note="exec · false", outcome=failure())
    make("task_completed", **completed("b", 1))
    make("task_failed", task="old", note="exec · false", detail="NIKA-EXEC-001 · no outcome recorded")
    make("workflow_paused", workflow="w", task="ask")
    memory = remembered(tmp_path, make, carry_failures=True)
    carried = memory.carried("a")
    assert carried is not None
    assert carried.outcome.to_text() == failure()
    assert [memory.carried(task) for task in ("b", "old", "unknown")] == [None] * 3
    assert remembered(tmp_path, make).carried("a") is None


def test_a_decided_question_is_known_by_its_definition(tmp_path: Path, make: Events) -> None:
    """The recorded answer stands while the question's text does."""
    make("task_completed", **completed("ask", False))
    memory = remembered(tmp_path, make)
    assert memory.decided("ask", "def-ask") is False
    assert memory.decided("ask", "edited") is None
    assert memory.decided("other", "def-ask") is None


@pytest.mark.parametrize(
    ("records", "said"),
    [
        ([], "everything runs live"),
        ([_keyless()], "everything runs live"),
        ([_parts(), _keyless()], "1 record without a usable resume key"),
        ([_parts(), _keyless(), _keyless()], "2 records without"),
        ([_parts()], None),
    ],
)
def test_what_is_said_before_a_resume(
    tmp_path: Path, make: Events, records: list[dict[str, Any]], said: str | None
) -> None:
    """Nothing to resume from is a notice, never an error."""
    for fields in records:
        make("task_completed", **fields)
    notice = remembered(tmp_path, make).notice()
    assert (notice is None) if said is None else (said in (notice or ""))


def test_golden_records_of_the_reference_engine(conformance: Path) -> None:
    """A journal of another engine is remembered by its own hashes, without parts to name."""
    path = conformance / "tests/runtime/trace/001-golden-chained-journal/trace.ndjson"
    memory = JournalMemory(read(path))
    frame = next(f for f in memory.trace.frames if f.kind == "task_completed" and f.get("task") == "stamp")
    known = Identity("stamp", frame.get("def_hash"), frame.get("input_hash"), {"retry": "x"}, {"with.a": "y"})
    hit = memory.recall(known)
    assert isinstance(hit, Hit)
    assert (hit.output, hit.frame) == ("sealed", frame.id)
    assert memory.recall(Identity("stamp", "no", "no", {"retry": "x"})) == Miss("definition")


def test_what_the_graph_decided_is_not_carried(tmp_path: Path, make: Events) -> None:
    """A closed gate and a dead path follow from the graph again; a skip because of an error does not."""
    dropped = Outcome("skipped", "error_skip", error=TaskError("NIKA-EXEC-001", "process_error", "no"))
    for task, kind, outcome in (
        ("dead", "task_cancelled", Outcome("cancelled", "upstream")),
        ("closed", "task_skipped", Outcome("skipped", "gate")),
        ("dropped", "task_skipped", dropped),
    ):
        make(kind, task=task, note="so it ended", outcome=outcome.to_text(), started_ns=5, ended_ns=7)
    memory = remembered(tmp_path, make, carry_failures=True)
    assert [memory.carried(task) for task in ("dead", "closed")] == [None, None]
    assert memory.carried("dropped") == Carried(dropped, 5, 7)


def test_an_item_is_carried_as_the_one_it_was(tmp_path: Path, make: Events) -> None:
    """By its index and its hashes: another element at that index runs."""
    keys = {"def_hash": "d", "input_hash": "i"}
    make("nb_item_completed", task="a", item=1, status="failure", outcome=failure(), **keys)
    memory = remembered(tmp_path, make, carry_failures=True)
    carried = memory.carried_item(Identity("a", "d", "i"), 1)
    assert carried is not None
    assert carried.outcome.to_text() == failure()
    assert memory.carried_item(Identity("a", "d", "other"), 1) is None
    assert memory.carried_item(Identity("a", "d", "i"), 0) is None
    assert remembered(tmp_path, make).carried_item(Identity("a", "d", "i"), 1) is None


def test_a_hit_knows_when_its_task_ran(tmp_path: Path, make: Events) -> None:
    """As recorded; of a record without times, as long before its frame as it took."""
    make("task_completed", **completed("a", 1), started_ns=5, ended_ns=7)
    make("task_completed", **completed("old", 1, duration_ms=3))
    memory = remembered(tmp_path, make)
    at = memory.trace.frames[-1].timestamp
    found = [memory.recall(identity(task)) for task in ("a", "old")]
    times = [(hit.started, hit.ended) for hit in found if isinstance(hit, Hit)]
    assert times == [(5, 7), (at - 3_000_000, at)]
