"""What runs have spent, saved and wasted, as data; drawn by its twins."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

from nika_nb.board.bars import Bar, bars_html, bars_svg, bars_text
from nika_nb.board.framed import answer
from nika_nb.board.rows import RunState, State
from nika_nb.board.sheet import Drawn, Line, Sheet
from nika_nb.board.text import duration
from nika_nb.money import adding_up, spent
from nika_nb.trace.figures import Figures
from nika_nb.values import plural

if TYPE_CHECKING:
    from nika_nb.board.framed import DataFrame

Measure = Literal["usd", "tokens", "ms"]

_SIGNS: dict[RunState, State] = {
    "running": "running", "completed": "ok", "failed": "failed", "cancelled": "cancelled",
    "paused": "paused", "incomplete": "retrying",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Amount:
    """US dollars, tokens, and milliseconds of work; None where nothing is known."""

    usd: float | None = None
    tokens: int | None = None
    ms: int | None = None

    @classmethod
    def of(cls, figures: Figures) -> Amount:
        return cls(figures.usd, figures.tokens, figures.ms)


@dataclass(frozen=True, slots=True)
class Entry:
    """One invocation: the part of the ledger that one trace is.

    started: unix nanoseconds. resumed: the trace that it resumed. spent: what it paid itself; wasted: of
    that, what went into attempts that gave nothing. saved: what it would have paid again, had no record
    stood in for it. unpriced: tasks that called a model whose price is not known. cut_off: tasks and
    items at work when the journal broke off, whose cost nobody knows.
    """

    trace: str
    run_id: str | None
    workflow: str
    state: RunState
    started: int
    resumed: str | None
    spent: Amount
    wasted: Amount
    saved: Amount
    unpriced: int
    cut_off: int


@dataclass(frozen=True, slots=True)
class TaskEntry:
    """One task over all of these traces. runs: how often it ran; hits: how often a record stood in for it."""

    workflow: str
    task: str
    runs: int
    hits: int
    spent: Amount
    wasted: Amount
    saved: Amount


@dataclass(frozen=True, slots=True, repr=False)
class Ledger(Drawn):
    """What some runs have cost, the oldest invocation first; an invocation stands here once.

    Without resumes all would have cost spent + saved. skipped: (name, why) of files that are no traces.
    doubts: what speaks against believing one of them.
    """

    entries: tuple[Entry, ...]
    tasks: tuple[TaskEntry, ...]
    spent: Amount
    wasted: Amount
    saved: Amount
    skipped: tuple[tuple[str, str], ...] = ()
    doubts: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """{entries, tasks, spent, wasted, saved, skipped, doubts}."""
        return asdict(self)

    def table(self) -> DataFrame:
        """A row per invocation; the columns of `TABLES["ledger"]`."""
        return answer("ledger", map(_row, self.entries))

    def task_table(self) -> DataFrame:
        """A row per task of every workflow; the columns of `TABLES["ledger_tasks"]`."""
        return answer("ledger_tasks", map(_task_row, self.tasks))

    def svg(self) -> str:
        """A bar per invocation: in dollars, without any in tokens, without those in time."""
        return bars_svg(self._bars(), self._say())

    def text(self) -> str:
        """The same bars in lines."""
        return bars_text(self._bars(), self._say())

    @property
    def measure(self) -> Measure:
        """What bars are drawn by."""
        if self.spent.usd or self.saved.usd:
            return "usd"
        return "tokens" if self.spent.tokens or self.saved.tokens else "ms"

    def _bars(self) -> list[Bar]:
        def known(amount: Amount) -> float:
            return float(getattr(amount, self.measure) or 0)

        return [
            Bar(
                entry.trace.removesuffix(".ndjson"),
                entry.state,
                known(entry.spent),
                known(entry.wasted),
                known(entry.saved),
                entry.unpriced if self.measure == "usd" else 0,
            )
            for entry in self.entries
        ]

    def _column(self, name: str, total: Amount) -> list[float]:
        parts: list[Amount] = [getattr(entry, name) for entry in self.entries]
        return [amount.usd or 0.0 for amount in (*parts, total)]

    def _say(self) -> Callable[[float], str]:
        """How an amount is told, so that each column adds up to its sum."""
        if self.measure == "usd":
            return adding_up(*(self._column(name, total) for name, total in self._sums()))
        if self.measure == "tokens":
            return lambda count: f"{round(count):,} tok"
        return lambda ms: duration(round(ms))

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        bundle = Drawn._repr_mimebundle_(self)
        return bundle | {"text/html": bundle["text/html"] + bars_html(self._bars(), self._say())}

    def sheet(self) -> Sheet:
        say = self._say()
        closing = (
            f"{name} {self._said(amount, say, self.unpriced if name == 'spent' else 0)}"
            for name, amount in self._sums()
        )
        return Sheet(
            title="ledger",
            about=plural(len(self.entries), "invocation"),
            heads=("trace", "workflow", "spent", "wasted", "saved") if self.entries else (),
            numbers=frozenset({2, 3, 4}),
            lines=[self._line(entry, say) for entry in self.entries],
            closing=" · ".join(closing),
            notes=tuple(self._notes()),
            doubts=self.doubts,
        )

    @property
    def unpriced(self) -> int:
        """Tasks that called a model whose price is not known."""
        return sum(entry.unpriced for entry in self.entries)

    def _sums(self) -> Iterator[tuple[str, Amount]]:
        yield from (("spent", self.spent), ("wasted", self.wasted), ("saved", self.saved))

    def _line(self, entry: Entry, say: Callable[[float], str]) -> Line:
        amounts = ((entry.spent, entry.unpriced), (entry.wasted, 0), (entry.saved, 0))
        told = (self._said(amount, say, unpriced) for amount, unpriced in amounts)
        return Line(_SIGNS[entry.state], (entry.trace, entry.workflow, *told))

    def _said(self, amount: Amount, say: Callable[[float], str], unpriced: int) -> str:
        value, unpriced = getattr(amount, self.measure), unpriced if self.measure == "usd" else 0
        return spent(value or 0, unpriced, say) if value or unpriced else "–"

    def _notes(self) -> Iterator[tuple[str, str]]:
        if self.unpriced:
            yield "unpriced", f"{plural(self.unpriced, 'task')} called a model whose price is not known"
        cut_off = sum(entry.cut_off for entry in self.entries)
        if cut_off:
            yield (
                "cut off",
                f"{plural(cut_off, 'attempt')} broke off with the engine: their cost is not known",
            )
        yield from (("skipped", f"{name}: {why}") for name, why in self.skipped)


def _row(entry: Entry) -> dict[str, Any]:
    known = ("trace", "run_id", "workflow", "state", "started", "resumed", "unpriced", "cut_off")
    return {name: getattr(entry, name) for name in known} | _amounts(entry)


def _task_row(task: TaskEntry) -> dict[str, Any]:
    return {name: getattr(task, name) for name in ("workflow", "task", "runs", "hits")} | _amounts(task)


def _amounts(of: Entry | TaskEntry) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name in ("spent", "wasted", "saved"):
        amount: Amount = getattr(of, name)
        found |= {f"{name}_usd": amount.usd, f"{name}_tokens": amount.tokens, name: amount.ms}
    return found
