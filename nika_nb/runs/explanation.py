"""Why every task of a run ran or did not, as data; drawn by its twins."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from nika_nb.board.framed import answer
from nika_nb.board.rows import State, reason_said
from nika_nb.board.sheet import Drawn, Line, Sheet
from nika_nb.engine.seen import task_changed_said
from nika_nb.runs.causes import Cause, elsewhere
from nika_nb.trace.unit import UnitState
from nika_nb.values import Named, plural

if TYPE_CHECKING:
    from nika_nb.board.framed import DataFrame

SIGNS: dict[str, State] = {
    "pending": "pending", "running": "running", "success": "ok", "failure": "failed", "skipped": "skipped",
    "cancelled": "cancelled", "paused": "paused", "incomplete": "retrying",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class ItemWhy:
    """One item of a fan-out that ran, and why; the reason is empty where nobody knows."""

    index: int
    state: UnitState
    reason: str = ""
    changed: tuple[str, ...] = ()
    detail: str = ""

    @property
    def sentence(self) -> str:
        """`input changed: item`."""
        words = {"new": "new", "gone": "gone", "output": "another output"}
        return words.get(self.reason) or reason_said(self.reason, self.changed, self.detail)


@dataclass(frozen=True, slots=True)
class TaskWhy:
    """One task; of a called workflow as `call/task`.

    reason: new, definition, input, not-recorded, forced or not-resumable; `cached` where a record stood
    in for it; `first-run` where there was nothing to compare with; empty where it did not run, and
    detail says why. changed: the fields (`exec.command`), bindings (`with.rows`) and inputs that differ.
    upstream: the tasks that these come from. causes: where the changes began.
    items: of a fan-out, those that ran; recalled: how many did not have to. nulls: which of its bindings
    read null, for the task behind them was skipped. recovered: what it had failed with, where its output
    stands in for one. files_changed: what was recalled was made from these, and they were written since.
    """

    task: str
    state: UnitState
    reason: str
    changed: tuple[str, ...] = ()
    upstream: tuple[str, ...] = ()
    causes: tuple[Cause, ...] = ()
    detail: str = ""
    items: tuple[ItemWhy, ...] = ()
    recalled: int = 0
    sentence: str = ""
    nulls: tuple[str, ...] = ()
    files_changed: tuple[str, ...] = ()
    recovered: str = ""

    @property
    def ran(self) -> bool:
        return self.reason not in ("", "cached")

    @property
    def because(self) -> str:
        """Where it began, if that is somewhere else."""
        return elsewhere(self.causes, self.changed)

    @property
    def since(self) -> str:
        """The files that changed since what was recalled was made, and what runs it again."""
        return task_changed_said(self.files_changed, self.task)

    @property
    def items_said(self) -> str:
        """`1 of 40 items ran: [3] input changed: item`; empty where all ran or all were recalled."""
        total = plural(len(self.items) + self.recalled, "item")
        ran = self.items and self.recalled
        return f"{len(self.items)} of {total} ran: {items_said(self.items)}" if ran else ""


def items_said(items: Iterable[ItemWhy]) -> str:
    """`[1], [3] input changed: item; [4] new`."""
    told: dict[str, list[str]] = {}
    for item in items:
        told.setdefault(item.sentence, []).append(f"[{item.index}]")
    return "; ".join(f"{_listed(indices)} {sentence}".strip() for sentence, indices in told.items())


def _listed(names: list[str], most: int = 8) -> str:
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")


@dataclass(frozen=True, slots=True, repr=False)
class Why(Drawn):
    """Why each task of one invocation ran or did not.

    trace: the file; resumed: the trace that it resumed, None where it started afresh. doubts: what speaks
    against believing it.
    """

    workflow: str
    trace: str
    resumed: str | None
    tasks: tuple[TaskWhy, ...]
    doubts: tuple[str, ...] = ()

    def __getitem__(self, task: str) -> TaskWhy:
        return Named({found.task: found for found in self.tasks}, "task")[task]

    def to_json(self) -> dict[str, Any]:
        """{workflow, trace, resumed, tasks, doubts}."""
        return asdict(self)

    def table(self) -> DataFrame:
        """A row per task; the columns of `TABLES["why"]`."""
        return answer("why", map(_row, self.tasks))

    def sheet(self) -> Sheet:
        about = f"resumed {self.resumed}" if self.resumed else "a first run: nothing to compare with"
        ran = sum(task.ran for task in self.tasks)
        cached = sum(task.reason == "cached" for task in self.tasks)
        return Sheet(
            title=f"why {self.workflow} ran what it ran",
            about=f"{self.trace} · {about}",
            lines=[_line(task) for task in self.tasks],
            closing=f"{ran} ran · {cached} skipped (cache hit)",
            doubts=self.doubts,
        )


def _line(task: TaskWhy) -> Line:
    sign: State = "cached" if task.reason == "cached" else SIGNS[task.state]
    under = [f"because {task.because}"] if task.because else []
    under += [task.items_said] if task.items_said else []
    under += [task.recovered] if task.recovered else []
    under += task.nulls
    under += [task.since] if task.files_changed else []
    return Line(sign, (task.task, task.sentence), tuple(under))


def _row(task: TaskWhy) -> dict[str, Any]:
    return {
        "task": task.task,
        "state": task.state,
        "cached": task.reason == "cached",
        "reason": task.reason or None,
        "changed": ", ".join(task.changed) or None,
        "upstream": ", ".join(task.upstream) or None,
        "cause": "; ".join(cause.sentence for cause in task.causes) or None,
        "detail": task.detail or None,
        "items_ran": len(task.items) if task.items or task.recalled else None,
        "items_cached": task.recalled if task.items or task.recalled else None,
        "items": task.items_said or None,
    }
