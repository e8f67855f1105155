"""Where a change began: followed from a changed binding to the task, or the input, that started it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from nika_nb.board.rows import reason_said
from nika_nb.language.model import Workflow
from nika_nb.runs.feeding import fed_by

_FROM = " (from "  # how a journal names the tasks that a changed binding comes from
_CALLED = "workflow "  # how it names a called workflow among the parts of a definition


@dataclass(frozen=True, slots=True)
class Reason:
    """Why one task ran, or differs.

    kind: as the journal says it (definition, input, new, not-recorded, forced, not-resumable), `cached`
    where a record stood in for it, empty where it did not run. parts: what differs, `with.u (from up)`.
    """

    task: str
    kind: str
    parts: tuple[str, ...] = ()
    detail: str = ""

    @property
    def changed(self) -> tuple[str, ...]:
        """The fields, bindings and inputs that differ."""
        return tuple(part.partition(_FROM)[0] for part in self.parts)

    @property
    def upstream(self) -> tuple[str, ...]:
        """The tasks that changed bindings come from; a group as `group name`."""
        came = [part.partition(_FROM)[2].removesuffix(")") for part in self.parts]
        return tuple(dict.fromkeys(name for names in came if names for name in names.split(", ")))

    @property
    def calls(self) -> bool:
        """Whether what differs is the workflow that it calls."""
        return any(part.startswith(_CALLED) for part in self.parts)

    @property
    def sentence(self) -> str:
        return reason_said(self.kind, self.parts, self.detail)


@dataclass(frozen=True, slots=True)
class Cause:
    """Where a change began: a task with its own reason; or an input, constant or secret, with no task."""

    task: str
    kind: str
    changed: tuple[str, ...] = ()
    detail: str = ""

    @property
    def sentence(self) -> str:
        """`load: definition changed: exec.command`, or `inputs.topic changed`."""
        if not self.task:
            return f"{', '.join(self.changed)} changed"
        if self.kind == "cached":
            return f"{self.task}: recalled with another output than before"
        return f"{self.task}: {reason_said(self.kind, self.changed, self.detail) or 'another output'}"


def elsewhere(causes: Iterable[Cause], changed: Collection[str]) -> str:
    """The causes as a sentence, without those that are told already as what has changed."""
    others = [cause for cause in causes if cause.task or cause.changed[0] not in changed]
    return "; ".join(cause.sentence for cause in others)


class Causes:
    """The causes of many reasons. workflow: whose tasks they are, None where its text is not known."""

    def __init__(self, reasons: Mapping[str, Reason], workflow: Workflow | None) -> None:
        self._reasons = reasons
        self._workflow = workflow
        self._found: dict[str, tuple[Cause, ...]] = {}

    def of(self, task: str) -> tuple[Cause, ...]:
        """Where the changes of a task's input, or of the workflow that it calls, began; else empty."""
        if task not in self._found:
            self._found[task] = ()  # a recovery may look back on itself
            self._found[task] = tuple(dict.fromkeys(self._causes(self._reasons[task])))
        return self._found[task]

    def _causes(self, reason: Reason) -> Iterator[Cause]:
        if reason.calls:
            prefix = f"{reason.task}/"
            for name, inner in self._reasons.items():
                if name.startswith(prefix) and "/" not in name.removeprefix(prefix) and _own(inner):
                    yield from self._origin(name)
        elif reason.kind == "input":
            for part, name in zip(reason.parts, reason.changed, strict=True):
                if name.partition(".")[0] in ("inputs", "const", "secrets"):
                    yield Cause("", "input", (name,))
                elif name == "for_each.items" and not reason.upstream:
                    yield from self._collected(reason.task)
                for upstream in Reason(reason.task, "input", (part,)).upstream:
                    yield from self._upstream(reason.task, upstream)

    def _upstream(self, task: str, name: str) -> Iterator[Cause]:
        above = task.rpartition("/")[0]
        for member in self._members(name):
            key = f"{above}/{member}" if above else member
            if key in self._reasons and (_own(self._reasons[key]) or member == name):
                yield from self._origin(key)

    def _members(self, name: str) -> tuple[str, ...]:
        group = name.removeprefix("group ")
        if group == name:
            return (name,)
        return self._workflow.groups.get(group, ()) if self._workflow is not None else ()

    def _collected(self, task: str) -> Iterator[Cause]:
        """The input that the items of a fan-out are the elements of."""
        name = fed_by(self._workflow, task) if self._workflow is not None else None
        if name is not None:
            yield Cause("", "input", (f"inputs.{name}",))

    def _origin(self, task: str) -> tuple[Cause, ...]:
        """Where the change of a task's output began, as those behind it see it."""
        reason = self._reasons[task]
        return self.of(task) or (Cause(task, reason.kind, reason.changed, reason.detail),)


def _own(reason: Reason) -> bool:
    """Whether it has a reason of its own to be another one."""
    return reason.kind not in ("", "cached", "first-run", "same")
