"""Journals to test with: the events of one realistic run, and how to write them down."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from itertools import count
from pathlib import Path
from typing import Any

from nika_nb.catalog.frames import ENGINE_VERSION
from nika_nb.engine.events import Event
from nika_nb.engine.outcome import Outcome, TaskError
from nika_nb.plan.identity import Identity
from nika_nb.trace.writer import Journal
from nika_nb.values import dumps

START = 1_786_643_754_488_000_000  # 2026-08-13T17:55:54Z
SOURCE = 'nika: naïve-archive 🦋\ntasks:\n  hash: {exec: {command: ["shasum", "-a", "256"]}}\n'
ERROR = TaskError("NIKA-EXEC-001", "process_error", "command exited with status 1: ")


def uuid_at(number: int) -> str:
    return f"019ffc44-2df8-7510-b116-{number:012x}"


class Events:
    """Makes events with ids and times that follow each other."""

    def __init__(self) -> None:
        self.made: list[Event] = []
        self._numbers = count(1)

    def __call__(self, kind: str, **fields: Any) -> Event:
        number = next(self._numbers)
        event = Event(kind, fields, START + number * 1_000_000, uuid_at(number))
        self.made.append(event)
        return event


def success(value: Any, attempts: int = 1, error: TaskError | None = None) -> str:
    return Outcome("success", "recovered" if error else "normal", value, error, attempts).to_text()


def failure(error: TaskError = ERROR) -> str:
    return Outcome("failure", "verb_error", error=error).to_text()


def started(**more: Any) -> dict[str, Any]:
    """The fields of a prologue."""
    return {
        "workflow": "naïve-archive",
        "permits": "declared boundary · default-deny",
        "workflow_sha256": hashlib.sha256(SOURCE.encode()).hexdigest(),
        "semantic_hash": "0" * 64,
        "sandbox": "noop",
        "trace_format": 2,
        "engine_version": ENGINE_VERSION,
        "platform": "linux/x86_64",
    } | more


def completed(task: str, value: Any, **more: Any) -> dict[str, Any]:
    """The fields of a success that can be used again."""
    return {
        "task": task,
        "note": "exec · shasum",
        "duration_ms": 27,
        "def_hash": f"def-{task}",
        "input_hash": f"in-{task}",
        "output": dumps(value),
        "definition_parts": dumps({"exec.command": "c1", "retry": "r1", "after": "a1"}),
        "input_parts": dumps({"with.rows": "w1", "inputs.topic": "t1"}),
        "outcome": success(value),
    } | more


def item(task: str, index: int, value: Any, key: str | None = None, **more: Any) -> dict[str, Any]:
    """The fields of one settled item."""
    return {
        "task": task,
        "item": index,
        "status": "success",
        "duration_ms": 3,
        "attempts": 1,
        "def_hash": f"def-{task}",
        "input_hash": key or f"in-{task}-{index}",
        "output": dumps(value),
        "input_parts": dumps({"item": key or str(index)}),
        "outcome": success(value),
    } | more


def story(large: int = 200) -> list[Event]:
    """A whole run: every kind of frame that matters, text of every width, an output of `large` characters."""
    make = Events()
    make(
        "workflow_started", **started(inputs=dumps({"topic": "notebook"}), input_values=dumps({"topic": "é"}))
    )
    make("nb_source_page", name="archive.nika.yaml", page=0, pages=1, text=SOURCE)
    for task in ("hash", "big", "fan", "broken", "late", "gone"):
        make("task_scheduled", task=task, verb="exec", note="exec · shasum", needs="[]")
    make("verb_invoked", task="hash", attempt=1, note="exec · shasum", pgid=4711, started="99")
    make("task_started", task="hash", note="exec · shasum")
    make("permit_checked", task="hash", plane="exec", gate="shasum", decision="allow", why="listed")
    make("task_completed", **completed("hash", "e3b0 ✔ \u2028 🦋"))
    make("task_started", task="big", note="exec · cat")
    make("task_completed", **completed("big", 'ä"\n🦋' * (large // 4)))
    for index, value in enumerate(("α", "β", "γ")):
        make("nb_item_completed", **item("fan", index, value))
    make("task_completed", **completed("fan", ["α", "β", "γ"]))
    make("task_started", task="broken", note="exec · false")
    make("task_failed", task="broken", note="exec · false", detail=f"{ERROR.code} · x", outcome=failure())
    make("task_skipped", task="late", note="when: gate closed", outcome=Outcome("skipped", "gate").to_text())
    make(
        "task_cancelled",
        task="gone",
        note="upstream failed",
        blocked_by="broken",
        outcome=Outcome("cancelled", "upstream").to_text(),
    )
    make("workflow_completed", workflow="naïve-archive", outputs=dumps({"sum": "e3b0 ✔"}))
    return make.made


def write(folder: Path, events: Iterable[Event], correlation: str | None = "run-1") -> Path:
    """A journal file of these events."""
    journal = Journal(folder, run="call-1", correlation=correlation)
    for event in events:
        journal(event)
    journal.close()
    assert journal.error is None
    assert journal.path is not None
    return journal.path


def edited(path: Path, old: str, new: str, name: str = "edited.ndjson") -> Path:
    """A copy with a text replaced once, its chain left as it was."""
    text = path.read_text(encoding="utf-8")
    assert old in text
    copy = path.with_name(name)
    copy.write_text(text.replace(old, new, 1), encoding="utf-8")
    return copy


def unchained(path: Path, name: str = "plain.ndjson") -> Path:
    """A copy without chain members, as an old engine or a captured stream leaves it."""
    lines = [json.loads(line) for line in path.read_bytes().splitlines()]
    copy = path.with_name(name)
    copy.write_text(
        "".join(json.dumps({k: v for k, v in line.items() if k != "chain"}) + "\n" for line in lines),
        encoding="utf-8",
    )
    return copy


def identity(task: str, **other: Any) -> Identity:
    """The identity that `completed` recorded, with any part of it changed."""
    known: dict[str, Any] = {
        "def_hash": f"def-{task}",
        "input_hash": f"in-{task}",
        "definition_parts": {"exec.command": "c1", "retry": "r1", "after": "a1"},
        "input_parts": {"with.rows": "w1", "inputs.topic": "t1"},
    }
    return Identity(task, **(known | other))


def item_identity(task: str, key: str) -> Identity:
    return Identity(task, f"def-{task}", key, {}, {"item": key})
