"""How two runs differ, as data: text, inputs, outputs, costs, times, task by task; drawn by its twins."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

from nika_nb.board.rows import State
from nika_nb.board.sheet import Drawn, Line, Sheet
from nika_nb.board.text import duration, money
from nika_nb.runs.causes import Cause, elsewhere
from nika_nb.runs.framed import answer
from nika_nb.runs.why import SIGNS, ItemWhy, items_said
from nika_nb.trace.units import UnitState
from nika_nb.values import Json, Named, dumps

if TYPE_CHECKING:
    from nika_nb.runs.framed import DataFrame

Kind = Literal["same", "new", "gone", "definition", "input", "output", "outcome"]
_SHORT = 120  # characters of a value that are shown in one line


@dataclass(frozen=True, slots=True)
class Edit:
    """One thing that is written differently; None where nothing is written."""

    name: str
    before: Json
    after: Json

    @property
    def sentence(self) -> str:
        """`timeout: nothing → 30000`."""
        return f"{self.name}: {_shown(self.before)} → {_shown(self.after)}"


@dataclass(frozen=True, slots=True)
class Side:
    """One task in one of the runs. cost_usd, tokens, duration_ms: of making its output, there or earlier."""

    state: UnitState
    cached: bool
    cost_usd: float | None
    tokens: int | None
    duration_ms: int | None
    error_code: str | None


@dataclass(frozen=True, slots=True)
class TaskDiff:
    """One task in both runs; of a called workflow as `call/task`. a, b: None where it does not exist.

    kind: new, gone, definition or input; output: the same was asked, and another answer came; outcome:
    it ended otherwise; same. changed: the fields, bindings and inputs that differ. upstream: the tasks
    that these come from; causes: where the changes began. edits: fields as they were and are.
    output: the lines of its output's difference. items: of a fan-out, those that differ.
    """

    task: str
    kind: Kind
    a: Side | None
    b: Side | None
    changed: tuple[str, ...] = ()
    upstream: tuple[str, ...] = ()
    causes: tuple[Cause, ...] = ()
    edits: tuple[Edit, ...] = ()
    output: tuple[str, ...] = ()
    items: tuple[ItemWhy, ...] = ()
    sentence: str = ""

    @property
    def because(self) -> str:
        """Where it began, if that is somewhere else."""
        return elsewhere(self.causes, self.changed)


@dataclass(frozen=True, slots=True, repr=False)
class Diff(Drawn):
    """How run b differs from run a.

    edits: of inputs and of what the text says outside its tasks. layout: the texts differ, and mean the
    same. outputs: the lines of the difference of what the workflows returned. cost_usd, duration_ms:
    what each of the two invocations paid, and how long it took. doubts: what speaks against believing one.
    """

    a: str
    b: str
    workflow: str
    edits: tuple[Edit, ...]
    layout: bool
    tasks: tuple[TaskDiff, ...]
    outputs: tuple[str, ...]
    cost_usd: tuple[float | None, float | None]
    duration_ms: tuple[int, int]
    doubts: tuple[str, ...] = ()

    def __getitem__(self, task: str) -> TaskDiff:
        return Named({found.task: found for found in self.tasks}, "task")[task]

    @property
    def differing(self) -> tuple[TaskDiff, ...]:
        """The tasks that are not the same."""
        return tuple(task for task in self.tasks if task.kind != "same")

    def to_json(self) -> dict[str, Any]:
        """{a, b, workflow, edits, layout, tasks, outputs, cost_usd, duration_ms, doubts}."""
        return asdict(self)

    def table(self) -> DataFrame:
        """A row per task, also of those that are the same; the columns of `TABLES["diff"]`."""
        return answer("diff", map(_row, self.tasks))

    def sheet(self) -> Sheet:
        differing = self.differing
        paid = any(side and side.cost_usd for task in differing for side in (task.a, task.b))
        heads = ("task", "time", *(["cost"] if paid else []), "what differs")
        return Sheet(
            title=f"{self.workflow}: what differs",
            about=f"{self.a} → {self.b}",
            heads=heads if differing else (),
            lines=[_line(task, paid) for task in differing],
            closing=" · ".join(self._closing()),
            notes=tuple(self._notes()),
            doubts=self.doubts,
        )

    def _closing(self) -> Iterator[str]:
        count = len(self.differing)
        yield f"{count} {'differs' if count == 1 else 'differ'} · {len(self.tasks) - count} the same"
        if any(self.cost_usd):
            yield _pair(*(money(usd or 0.0) for usd in self.cost_usd))
        yield _pair(*map(duration, self.duration_ms))

    def _notes(self) -> Iterator[tuple[str, str]]:
        yield from (("changed", edit.sentence) for edit in self.edits)
        if self.layout:
            yield "text", "the texts differ in their layout only: they mean the same"
        yield from (("outputs", row) for row in self.outputs[:20])


def _line(task: TaskDiff, paid: bool) -> Line:
    side = task.b or task.a
    assert side is not None
    sign: State = "cached" if side.cached else SIGNS[side.state]
    under = [edit.sentence for edit in task.edits]
    under += [f"because {task.because}"] if task.because else []
    under += [f"items {items_said(task.items)}"] if task.items else []
    cells = (task.task, _both(task, _time), *([_both(task, _cost)] if paid else []), task.sentence)
    return Line(sign, cells, tuple(under), task.output)


def _time(side: Side) -> str:
    return duration(side.duration_ms) if side.duration_ms is not None else ""


def _cost(side: Side) -> str:
    return money(side.cost_usd) if side.cost_usd is not None else ""


def _both(task: TaskDiff, said: Callable[[Side], str]) -> str:
    return _pair(*(said(side) if side is not None else "" for side in (task.a, task.b)))


def _pair(before: str, after: str) -> str:
    return before if before == after else f"{before or '–'} → {after or '–'}"


def _shown(value: Json) -> str:
    text = "nothing" if value is None else dumps(value)
    return text if len(text) <= _SHORT else text[: _SHORT - 1] + "…"


def _row(task: TaskDiff) -> dict[str, Any]:
    return {
        "task": task.task,
        "kind": task.kind,
        "changed": ", ".join(task.changed) or None,
        "upstream": ", ".join(task.upstream) or None,
        "cause": "; ".join(cause.sentence for cause in task.causes) or None,
        "output": "\n".join(task.output) or None,
        "items": items_said(task.items) or None,
        **_side("a", task.a),
        **_side("b", task.b),
    }


def _side(name: str, side: Side | None) -> dict[str, Any]:
    if side is None:
        return {}
    return {
        f"state_{name}": side.state,
        f"cached_{name}": side.cached,
        f"error_{name}": side.error_code,
        f"duration_{name}": side.duration_ms,
        f"tokens_{name}": side.tokens,
        f"cost_usd_{name}": side.cost_usd,
    }
