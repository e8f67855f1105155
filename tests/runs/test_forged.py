"""Journals that somebody made up: whatever their fields hold, no door breaks."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import nika_nb
from nika_nb import runs
from nika_nb.errors import NikaError
from nika_nb.trace.frame import GENESIS_CHAIN, link

TEXT = """nika: forged
permits: { tools: ["nika:prompt"], exec: [echo] }
tasks:
  good: { exec: { command: [echo, hi] } }
  bad: { exec: { command: [echo, x], decode: json } }
  ask: { invoke: { tool: "nika:prompt", args: { mode: confirm, message: "ok?" } } }
  open: { on_error: { recover: "${{ tasks.ask.output }}" }, exec: { command: [echo, x], decode: json } }
  seen: { with: { at: "${{ tasks.good.started_at }}" }, exec: { command: [echo, "${{ with.at }}"] } }
"""
PAUSE = "workflow_paused"
CONSENT = """nika: consent
permits: { tools: ["nika:prompt"], exec: [touch, echo] }
tasks:
  ask: { invoke: { tool: "nika:prompt", args: { mode: confirm, message: "Say hello?" } } }
  act:
    with: { go: "${{ tasks.ask.output }}" }
    when: ${{ with.go == true }}
    exec: { command: [touch, done] }
"""
TASKS = {"good", "bad", "ask", "open", "seen"}
DEEP = "[" * 900 + "]" * 900
BOTTOMLESS = "[" * 90_000 + "]" * 90_000

FORGERIES = [
    ("outcome of a list", "task_completed", "outcome", '{"payload":[]}'),
    ("outcome of text", "task_completed", "outcome", '"x"'),
    ("outcome of no JSON", "task_completed", "outcome", "{{{"),
    (
        "recovered from nonsense",
        "task_completed",
        "outcome",
        '{"payload":{"recovered_from":{"z":1},"value":1}}',
    ),
    ("failed with nonsense", "task_failed", "outcome", '{"cause":"x","payload":{"error":{"z":1}}}'),
    ("failed with a code of 1", "task_failed", "outcome", '{"payload":{"error":{"code":1,"message":2}}}'),
    ("a duration of ages", "task_completed", "duration_ms", 10**400),
    ("a duration of centuries", "task_completed", "duration_ms", 10**18),
    ("a duration of words", "task_completed", "duration_ms", "long"),
    ("a beginning beyond time", "task_completed", "started_ns", 10**400),
    ("an end of words", "task_completed", "ended_ns", "noon"),
    ("an end before its beginning", "task_completed", "ended_ns", -1),
    ("an open failure of nonsense", "nb_failed_open", "outcome", "{{{"),
    ("an open failure decided by nobody", "nb_failed_open", "decided", '[1, ["a"], {}]'),
    ("tokens beyond counting", "task_completed", "tokens", -(10**30)),
    ("costs of words", "task_completed", "cost_usd", "much"),
    ("needs of an object", "task_scheduled", "needs", '{"a":1}'),
    ("needs cut short", "task_scheduled", "needs", "[[1]]"),
    ("an output too deep to be walked", "task_completed", "output", DEEP),
    ("an output too deep to be read", "task_completed", "output", BOTTOMLESS),
    ("questions without end", "workflow_paused", "prompts", BOTTOMLESS),
    ("a note of objects", "task_completed", "note", {"a": []}),
]


def forged(trace: Path, folder: Path, kind: str, key: str, value: Any) -> Path:
    """The journal with one field of one kind replaced, its chain made whole again."""
    head, out = GENESIS_CHAIN, []
    for line in trace.read_text().splitlines():
        frame = json.loads(line)
        if frame["kind"] == kind:
            frame["fields"] = [field for field in frame["fields"] if field["key"] != key]
            frame["fields"].append({"key": key, "value": value})
        text = json.dumps(frame | {"chain": head}, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        out.append(text)
        head = link(text.encode())
    made = folder / "forged.ndjson"
    made.write_text("\n".join(out) + "\n")
    return made


@pytest.mark.parametrize(
    ("kind", "key", "value"), [case[1:] for case in FORGERIES], ids=[case[0] for case in FORGERIES]
)
def test_no_door_breaks_on_a_forged_journal(folder: Path, kind: str, key: str, value: Any) -> None:
    """Attached, resumed, answered and tabled: a journal of nonsense is read as far as it makes sense."""
    run = nika_nb.run(TEXT)
    assert run.trace is not None
    made = forged(run.trace, folder, kind, key, value)
    assert set(nika_nb.attach(made).tasks) == TASKS
    assert nika_nb.run(TEXT, resume=made).state == "paused"
    assert len(nika_nb.read_trace(made).tasks) == len(TASKS)
    with suppress(NikaError):
        assert nika_nb.attach(made).answer(True).state == "failed"


@pytest.mark.parametrize("end", [10**400, -1, True])
def test_an_end_without_a_beginning_is_a_moment_or_nothing(folder: Path, end: Any) -> None:
    """A task whose verb was never set to work has an end alone; it is one that a calendar has."""
    run = nika_nb.run(TEXT)
    assert run.trace is not None
    made = forged(run.trace, folder, "task_completed", "started_ns", None)
    again = nika_nb.run(TEXT, resume=forged(made, folder, "task_completed", "ended_ns", end))
    assert (again.state, again.tasks["good"].state) == ("paused", "cached")
    assert again.trace is not None
    assert f'"key":"ended_ns","value":{json.dumps(end)}' not in again.trace.read_text()


def test_a_value_too_deep_to_be_walked_is_not_recalled(folder: Path) -> None:
    """Such a record counts as unreadable: the task runs live."""
    run = nika_nb.run(TEXT)
    assert run.trace is not None
    made = forged(run.trace, folder, "task_completed", "output", DEEP)
    resumed = nika_nb.run(TEXT, resume=made)
    assert resumed.tasks["good"].state == "success"
    assert any(
        "without a usable resume key" in notice or "no success" in notice for notice in resumed.notices
    )


def test_a_number_beyond_64_bits_reads_as_nothing(folder: Path) -> None:
    """The moment that no calendar has is no moment; the frame itself stands."""
    run = nika_nb.run(TEXT)
    assert run.trace is not None
    made = forged(run.trace, folder, "task_completed", "attempts", 10**25)
    events = nika_nb.read_trace(made).events
    row = events[events["kind"] == "task_completed"].iloc[0]
    assert json.loads(row["fields"])["attempts"] is None


def paused_with(folder: Path, text: str, told: dict[str, Any], **more: Any) -> Path:
    """A journal that pauses over questions of which something else is told; its chain is whole."""
    run = nika_nb.run(text, interactive=False, **more)
    assert run.trace is not None
    pause = next(f for f in map(json.loads, run.trace.read_text().splitlines()) if f["kind"] == PAUSE)
    (said,) = (json.loads(field["value"]) for field in pause["fields"] if field["key"] == "prompts")
    path = forged(run.trace, folder, PAUSE, "prompts", json.dumps([prompt | told for prompt in said]))
    run.trace.unlink()
    return path.rename(run.trace)


@pytest.mark.parametrize(
    "told",
    [
        {"effects": ["exec · echo hello"]},
        {"effects": []},
        {"gates": []},
        {"gates": ["greet"], "effects": ["exec · echo hello"]},
        {"conditions": ["when go == false"]},
    ],
)
def test_what_waits_for_an_answer_is_what_the_text_says(folder: Path, told: dict[str, Any]) -> None:
    """A stranger's trace tells harmless things of what an answer sets off: nobody answers it unseen."""
    path = paused_with(folder, CONSENT, told)
    with pytest.raises(NikaError, match=r"does not tell truly what waits for `ask`: .*touch done"):
        nika_nb.attach(path).answer(ask="yes", wait=True)
    (waits,) = runs.list_runs().runs
    assert runs.inspect_run(waits.run_id).resume_readiness == "blocked"
    with pytest.raises(NikaError, match="does not tell truly"):
        nika_nb.run(CONSENT, resume=path, answer={"ask": "yes"})
    assert not (folder / "done").exists()
    assert nika_nb.attach(path).answer(ask="yes", resume_unverified=True).state == "completed"


def test_what_is_in_doubt_is_no_way_around_it(folder: Path) -> None:
    """A question is never in doubt itself: it cannot be told to be one about itself."""
    path = paused_with(folder, CONSENT, {"gates": ["ask"], "effects": ["tool · nika:prompt"]})
    path = forged(path, folder, "workflow_started", "in_doubt", '["ask"]').rename(path)
    with pytest.raises(NikaError, match="does not tell truly"):
        nika_nb.attach(path).answer(ask="yes")


def test_a_journal_that_tells_no_conditions_is_answered(folder: Path) -> None:
    """As those that an earlier version wrote."""
    path = paused_with(folder, CONSENT, {"conditions": []})
    assert nika_nb.attach(path).answer(ask="yes").state == "completed"
    assert (folder / "done").exists()
