"""Calls as the engine makes them, and what the verbs said back through them."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

from nika_nb.engine.clock import Clock, SystemClock
from nika_nb.engine.contract import Call, Permit, Process, Usage
from nika_nb.errors import Span
from nika_nb.language.model import Bound, Permits

NOWHERE = Span(0, 0)


def permits(**lists: Any) -> Permits:
    """A permits block: `permits(exec=["echo"], read=["data/**"])`."""

    def bounds(name: str) -> tuple[Bound, ...]:
        return tuple(Bound(text, NOWHERE) for text in lists.get(name, ()))

    programs = lists.get("exec", False)
    return Permits(
        read=bounds("read"),
        write=bounds("write"),
        http=bounds("http"),
        exec=programs if isinstance(programs, bool) else bounds("exec"),
        tools=bounds("tools"),
        env=bounds("env"),
        raw={},
        span=NOWHERE,
    )


ANY_PROGRAM = permits(exec=True)


@dataclass
class Recorder:
    """Collects what a call reports."""

    base: str
    processes: list[Process | None] = field(default_factory=list)
    decisions: list[Permit] = field(default_factory=list)
    shown: list[tuple[str, str]] = field(default_factory=list)
    attached: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    told: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    spent: list[Usage] = field(default_factory=list)
    children: list[str] = field(default_factory=list)
    clock: Clock = field(default_factory=SystemClock)
    lifts: frozenset[str] = frozenset()

    def call(self, verb: str, body: dict[str, Any], task: str = "task", item: int | None = None) -> Call:
        return Call(
            task=task,
            item=item,
            attempt=1,
            verb=verb,
            body=body,
            base=self.base,
            witness=self.processes.append,
            permit=self.decisions.append,
            show=lambda stream, text: self.shown.append((stream, text)),
            attach=lambda kind, fields: self.attached.append((kind, fields)),
            tell=lambda kind, fields: self.told.append((kind, fields)),
            spend=self.spent.append,
            called=self.children.append,
            now=self.clock.now,
            sleep=self.clock.sleep,
            chance=random.Random(7),
            lifts=self.lifts,
        )

    def text(self, stream: str) -> str:
        return "".join(text for name, text in self.shown if name == stream)


def command(*argv: str, **body: Any) -> dict[str, Any]:
    """An exec body in argv form."""
    return {"command": {"argv": list(argv)}, **_REST, **body}


def shell(line: str, **body: Any) -> dict[str, Any]:
    """An exec body in shell form."""
    return {"command": {"shell": line}, **_REST, **body}


_REST: dict[str, Any] = {"cwd": None, "env": {}, "stdin": None, "capture": None}
