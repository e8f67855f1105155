"""Scripted runs: events by hand, in the order an engine says them."""

from __future__ import annotations

import json
from typing import Any

from nika_nb.engine.events import Event

MS = 10**6
START = 1_800_000_000 * 10**9


class Script:
    """Collects events; `after` moves the clock by milliseconds."""

    def __init__(self, workflow: str = "nightly-archive", **started: Any) -> None:
        self.at = START
        self.events: list[Event] = []
        permits = started.pop("permits", "declared boundary · default-deny")
        self.say("workflow_started", workflow=workflow, permits=permits, **started)

    def after(self, ms: int) -> Script:
        self.at += ms * MS
        return self

    def say(self, kind: str, **fields: Any) -> Script:
        self.events.append(Event(kind, fields, self.at))
        return self

    def task(self, task: str, note: str, *needs: str) -> Script:
        edges = [[producer, "control", "success"] for producer in needs]
        return self.say(
            "task_scheduled", task=task, verb=note.split(" ")[0], note=note, needs=json.dumps(edges)
        )

    def go(self, task: str, note: str, attempt: int = 1, **more: Any) -> Script:
        return self.say("verb_invoked", task=task, note=note, attempt=attempt, **more)

    def ok(self, task: str, note: str, ms: int, **more: Any) -> Script:
        started = {key: more.pop(key) for key in ("reason", "parts", "detail") if key in more}
        self.say("task_started", task=task, note=note, **started)
        fields = {"duration_ms": ms, "attempts": 1, "outcome": "{}"} | more
        return self.say("task_completed", task=task, note=note, **fields)

    def hit(self, task: str, **more: Any) -> Script:
        return self.say("task_cache_hit", task=task, note="cache hit (resume)", outcome="{}", **more)


NOTES = {
    "hash_notes": "exec · shasum",
    "count_notes": "exec · wc",
    "pack_assets": "exec · gzip",
    "manifest": "exec · echo",
}


def scheduled(script: Script) -> Script:
    script.task("hash_notes", NOTES["hash_notes"]).task("count_notes", NOTES["count_notes"])
    script.task("pack_assets", NOTES["pack_assets"], "hash_notes", "count_notes")
    return script.task("manifest", NOTES["manifest"], "pack_assets")


def crash() -> Script:
    """The night's run, killed five seconds in."""
    script = scheduled(Script())
    script.go("hash_notes", "exec · shasum").go("count_notes", "exec · wc")
    script.after(27).ok("hash_notes", "exec · shasum", 27).ok("count_notes", "exec · wc", 3)
    return script.after(1).go("pack_assets", "exec · gzip")


def resume() -> Script:
    """The same run picked up from its journal."""
    script = scheduled(Script(resumed_trace="2026-07-10T10-41-21Z-0672.ndjson"))
    script.hit("hash_notes", saved_ms=27).hit("count_notes", saved_ms=3)
    script.go("pack_assets", "exec · gzip").after(13_200)
    script.ok("pack_assets", "exec · gzip", 13_200, reason="not-recorded", detail="was running")
    script.go("manifest", "exec · echo").after(8)
    script.ok("manifest", "exec · echo", 8, reason="not-recorded")
    return script.say("workflow_completed", workflow="nightly-archive")
