"""How two runs differ, as data: text, inputs, outputs, costs, times, task by task; drawn by its twins."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

from nika_nb.board.framed import answer
from nika_nb.board.rows import State
from nika_nb.board.sheet import Drawn, Line, Sheet
from nika_nb.board.text import duration
from nika_nb.money import adding_up, cost, spent
from nika_nb.runs.causes import Cause, elsewhere
from nika_nb.runs.explanation import SIGNS, ItemWhy, items_said
from nika_nb.trace.unit import UnitState
from nika_nb.values import Json, Named, dumps

if TYPE_CHECKING:
    from nika_nb.board.framed import DataFrame

Kind = Literal["same", "new", "gone", "definition", "input", "output", "outcome"]
Say = Callable[[float], str]  # a sum of money in words
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
    """One task in one of the runs. cost_usd, tokens, duration_ms: of making its output, there or earlier.

    unpriced: what some of it cost nobody knows.
    """

    state: UnitState
    cached: bool
    cost_usd: float | None
    tokens: int | None
    duration_ms: int | None
    error_code: str | None
    unpriced: bool = False


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
    what each of the two invocations paid, and how long it took; unpriced: of how many tasks nobody knows
    what they cost. doubts: what speaks against believing one.
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
    unpriced: tuple[int, int] = (0, 0)

    def __getitem__(self, task: str) -> TaskDiff:
        return Named({found.task: found for found in self.tasks}, "task")[task]

    @property
    def differing(self) -> tuple[TaskDiff, ...]:
        """The tasks that are not the same."""
        return tuple(task for task in self.tasks if task.kind != "same")

    def to_json(self) -> dict[str, Any]:
        """{a, b, workflow, edits, layout, tasks, outputs, cost_usd, duration_ms, doubts, unpriced}."""
        return asdict(self)

    def table(self) -> DataFrame:
        """A row per task, also of those that are the same; the columns of `TABLES["diff"]`."""
        return answer("diff", map(_row, self.tasks))

    def sheet(self) -> Sheet:
        differing, say = self.differing, self._say()
        paid = any(map(_costs, differing))
        heads = ("task", "time", *(["cost"] if paid else []), "what differs")
        return Sheet(
            title=f"{self.workflow}: what differs",
            about=f"{self.a} → {self.b}",
            heads=heads if differing else (),
            lines=[_line(task, say if paid else None) for task in differing],
            closing=" · ".join(self._closing(say)),
            notes=tuple(self._notes()),
            doubts=self.doubts,
        )

    def _closing(self, say: Say) -> Iterator[str]:
        """How many differ and what these cost, as the lines above add up; then the others; then the runs."""
        same = [task for task in self.tasks if task.kind == "same"]
        count = len(self.differing)
        yield f"{count} {'differs' if count == 1 else 'differ'}{_cost_of(self.differing, say)}"
        yield f"{len(same)} the same{_cost_of(same, say)}"
        if any(self.cost_usd) or any(self.unpriced):
            paid = zip(self.cost_usd, self.unpriced, strict=True)
            yield f"paid {_pair(*(spent(usd or 0.0, unpriced, say) for usd, unpriced in paid))}"
        yield _pair(*map(duration, self.duration_ms))

    def _say(self) -> Say:
        sides = (_sides(self.differing, name) for name in ("a", "b"))
        return adding_up(*([*map(_usd, column), sum(map(_usd, column))] for column in map(list, sides)))

    def _notes(self) -> Iterator[tuple[str, str]]:
        yield from (("changed", edit.sentence) for edit in self.edits)
        if self.layout:
            yield "text", "the texts differ in their layout only: they mean the same"
        yield from (("outputs", row) for row in self.outputs[:20])


def _line(task: TaskDiff, say: Say | None) -> Line:
    """say: how money is told, None where none was paid."""
    side = task.b or task.a
    assert side is not None
    sign: State = "cached" if side.cached else SIGNS[side.state]
    under = [edit.sentence for edit in task.edits]
    under += [f"because {task.because}"] if task.because else []
    under += [f"items {items_said(task.items)}"] if task.items else []
    paid = [_cost_cell(task, say)] if say is not None else []
    cells = (task.task, _both(task, _time), *paid, task.sentence)
    return Line(sign, cells, tuple(under), task.output)


def _time(side: Side) -> str:
    return duration(side.duration_ms) if side.duration_ms is not None else ""


def _called(task: TaskDiff) -> bool:
    """Whether it is one of a called workflow: what it cost is in the cost of its call."""
    return "/" in task.task


def _costs(task: TaskDiff) -> bool:
    return any(side and (side.cost_usd or side.unpriced) for side in (task.a, task.b)) and not _called(task)


def _cost_cell(task: TaskDiff, say: Say) -> str:
    return "" if _called(task) else _both(task, lambda side: cost(side.cost_usd, side.unpriced, say))


def _cost_of(tasks: Iterable[TaskDiff], say: Say) -> str:
    """`: $0.02 → $0.03`: what tasks cost together in each of the runs; empty where that is nothing."""
    found = [task for task in tasks if _costs(task)]
    sums = [list(_sides(found, name)) for name in ("a", "b")]
    whole = ((sum(map(_usd, sides)), sum(map(_unpriced, sides))) for sides in sums)
    told = (spent(usd, unpriced, say) if usd or unpriced else "" for usd, unpriced in whole)
    return f": {_pair(*told)}" if found else ""


def _sides(tasks: Iterable[TaskDiff], name: Literal["a", "b"]) -> Iterator[Side | None]:
    return (task.a if name == "a" else task.b for task in tasks if not _called(task))


def _usd(side: Side | None) -> float:
    return (side.cost_usd if side is not None else None) or 0.0


def _unpriced(side: Side | None) -> bool:
    return side is not None and side.unpriced


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
