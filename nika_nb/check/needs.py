"""What the tasks require of the world: their effects with everything fixed written out, and their places."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from nika_nb.authority.effects import Effect, effects
from nika_nb.check.folding import folded_each
from nika_nb.check.problem import is_unknown
from nika_nb.check.subject import Subject
from nika_nb.errors import Span
from nika_nb.language.model import Action, Task, Workflow

_VERBS = {"exec": "start", "shell": "run the shell line", "read": "read", "write": "write", "net": "reach"}


@dataclass(frozen=True, slots=True)
class Need:
    """One effect of one task; `action` is the task's action with everything fixed written out."""

    task: Task
    action: Action
    effect: Effect

    @property
    def program(self) -> str | None:
        """The first word of a command, None for a shell line."""
        return self.words[0] if self.effect.kind == "exec" and self.words else None

    @property
    def words(self) -> list[str]:
        argv = (self.action.get("command") or {}).get("argv")
        return [str(word) for word in argv or ()]

    def __str__(self) -> str:
        target = self.program or self.effect.target
        if target is None:
            return "reach a host that only the run knows"
        shown = target if len(target) <= 60 else f"{target[:57]}…"
        if self.effect.kind == "tool":
            return f"use the tool `{shown}`"
        return f"{_VERBS[self.effect.kind]} `{shown}`"


def needs_of(workflow: Workflow, task: Task, *, defaults: bool = False) -> Iterator[Need]:
    """Every need once. `defaults`: count an input as its default. A called workflow has its own needs."""
    seen: set[tuple[Effect, str | None]] = set()
    for action in folded_each(workflow, task, defaults=defaults):
        for effect in effects(action):
            need = Need(task, action, effect)
            key = (effect, need.program)
            # A builtin that does not exist needs no grant: it is refused for that alone.
            nothing = effect.kind == "tool" and is_unknown(effect.target or "")
            if effect.kind != "workflow" and key not in seen and not nothing:
                seen.add(key)
                yield need


def place(subject: Subject, need: Need) -> Span:
    """Where the target of a need stands in the text."""
    steps = [int(step) if step.isdigit() else step for step in need.effect.argument]
    if need.effect.kind == "exec":
        steps = ["command", 0]
    elif need.effect.kind == "shell":
        steps = ["shell"]
    return subject.place("tasks", need.task.id, need.task.action.verb, *steps)
