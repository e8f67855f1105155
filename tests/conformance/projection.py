"""The public suite's projection: a behavioural fixture, and the event stream it is judged by."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_ENDS = {"workflow_completed": "success", "workflow_failed": "failure", "workflow_cancelled": "cancelled"}
_TASKS = ("task_completed", "task_failed", "task_skipped", "task_cancelled")


@dataclass(frozen=True)
class Fixture:
    """One behavioural fixture: what is run, with what, and what is expected of it."""

    folder: Path

    @property
    def text(self) -> bytes:
        return (self.folder / "input.nika.yaml").read_bytes()

    @property
    def variables(self) -> dict[str, str]:
        """name → the word behind `--var name=`: strings raw, everything else as JSON."""
        given = self._invocation.get("vars", {}) | self._invocation.get("inputs", {})
        return {name: value if isinstance(value, str) else json.dumps(value) for name, value in given.items()}

    @property
    def environment(self) -> dict[str, str]:
        return dict(self._invocation.get("env", {}))

    @property
    def _invocation(self) -> dict[str, Any]:
        return dict(json.loads((self.folder / "run.json").read_bytes()))

    @property
    def expected(self) -> dict[str, Any]:
        return dict(json.loads((self.folder / "expected-run.json").read_bytes()))


@dataclass
class Observed:
    """What a stream of frames says: the workflow's end, a row per settled task, the events by name."""

    state: str | None = None
    tasks: dict[str, dict[str, Any]] = field(default_factory=dict)
    events: list[str] = field(default_factory=list)


def observe(frames: list[dict[str, Any]]) -> Observed:
    found = Observed()
    for frame in frames:
        if frame["kind"] in _ENDS:
            found.state = _ENDS[frame["kind"]]
        if "task" in frame:
            found.events.append(f"{frame['kind'].replace('_', '.')}:{frame['task']}")
        if frame["kind"] in _TASKS:
            outcome = json.loads(frame["outcome"])
            payload = outcome["payload"]
            found.tasks[frame["task"]] = {
                "status": outcome["class"],
                "output": payload.get("value"),
                "error_code": (payload.get("error") or {}).get("code"),
                "attempts": payload.get("attempts"),
            }
    return found


def differences(expected: dict[str, Any], seen: Observed) -> list[str]:
    """Every way in which a run is not what the fixture asks for."""
    found = []
    if expected["workflow_state"] != seen.state:
        found.append(f"the workflow: {expected['workflow_state']} expected, {seen.state} seen")
    for task, wanted in expected["tasks"].items():
        row = seen.tasks.get(task, {})
        for name, value in wanted.items():
            if name == "output_contains":
                if value not in str(row.get("output")):
                    found.append(f"{task}.output: {value!r} is not in {row.get('output')!r}")
            elif not _same(value, row.get(name)):
                found.append(f"{task}.{name}: {value!r} expected, {row.get(name)!r} seen")
    missing = [event for event in expected.get("events_include", ()) if event not in seen.events]
    return found + [f"no event {event}" for event in missing]


def _same(one: Any, other: Any) -> bool:
    """Equality of JSON values, types included: true is not 1."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)
