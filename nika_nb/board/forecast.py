"""What a run would do, as data: task by task, with what it may cost and touch; drawn by its twins."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

from nika_nb.board.framed import answer
from nika_nb.engine.seen import task_changed_said
from nika_nb.values import Named

if TYPE_CHECKING:
    from nika_nb.board.framed import DataFrame

Fate = Literal["skip", "run", "depends", "idle"]


@dataclass(frozen=True, slots=True)
class Ceiling:
    """The most that something can cost, in US dollars; None where no such figure is known, and why."""

    usd: float | None
    why: str = ""


@dataclass(frozen=True, slots=True)
class Touch:
    """One thing in the world that a task may touch.

    kind: exec, shell, read, write, net, tool or workflow. target: as written, with what is known filled
    in; empty where only the run knows it.
    """

    kind: str
    target: str

    def __str__(self) -> str:
        return f"{self.kind} · {self.target or 'only the run knows'}"

    @property
    def reads(self) -> bool:
        """Whether nothing is changed by it."""
        return self.kind == "read"


@dataclass(frozen=True, slots=True)
class TaskForecast:
    """One task of a workflow that may be run; of a called one as `call/task`.

    fate: `skip`: its record stands for it. `run`: it runs. `depends`: it is skipped if the tasks named
    in `upstream` give what they gave before, and runs otherwise. `idle`: it does no work.
    why: a phrase, empty on a first run. recorded, items: of a fan-out; items is None where it is no
    fan-out or how many there are is not known. models: those that it asks and that cost, of a called
    workflow each with its task. again: how it had ended, where effects of an earlier run are about to
    fire once more. asks: it puts a question to a human. saved_usd, saved_ms: what its records cost to
    make. files_changed: what its records were made from, and was written since.
    """

    task: str
    verb: str
    note: str
    fate: Fate
    why: str = ""
    upstream: tuple[str, ...] = ()
    recorded: int | None = None
    items: int | None = None
    ceiling: Ceiling = Ceiling(0.0)
    models: tuple[str, ...] = ()
    touches: tuple[Touch, ...] = ()
    again: str = ""
    asks: bool = False
    saved_usd: float = 0.0
    saved_ms: int = 0
    files_changed: tuple[str, ...] = ()

    @property
    def since(self) -> str:
        """The files that changed since, and what runs it again; empty where none did."""
        return task_changed_said(self.files_changed, self.task)

    @property
    def works(self) -> bool:
        """Whether it runs, or may."""
        return self.fate in ("run", "depends")

    @property
    def fires_again(self) -> tuple[Touch, ...]:
        """The effects of an earlier run that are about to happen once more."""
        return tuple(touch for touch in self.touches if not touch.reads) if self.again else ()


@dataclass(frozen=True, slots=True, repr=False)
class Forecast:
    """What a workflow would do if it were run now. Nothing was run to find it out.

    trace: the journal that it would resume from, None where it would start afresh. notices: what the run
    would say before it starts. widened: what its boundary admits that the recorded text's did not.
    cap_usd: `--max-cost-usd`.
    """

    workflow: str
    trace: str | None
    tasks: tuple[TaskForecast, ...]
    notices: tuple[str, ...] = ()
    widened: tuple[str, ...] = ()
    cap_usd: float | None = None

    def count(self, fate: Fate) -> int:
        return sum(task.fate == fate for task in self.tasks)

    @property
    def saved_usd(self) -> float:
        """What the records that stand for tasks and items cost to make."""
        return round(sum(task.saved_usd for task in self.tasks), 10)

    @property
    def ceiling(self) -> Ceiling:
        """Of everything that runs or may; unknown where it is for one task of them."""
        working = [task for task in self.tasks if task.works]
        blind = [task for task in working if task.ceiling.usd is None]
        if blind:
            more = f" and {len(blind) - 1} more" if len(blind) > 1 else ""
            return Ceiling(None, f"{blind[0].task}: {blind[0].ceiling.why}{more}")
        whys = [task.ceiling.why for task in working if task.ceiling.why]
        return Ceiling(round(sum(task.ceiling.usd or 0.0 for task in working), 10), whys[0] if whys else "")

    def __getitem__(self, task: str) -> TaskForecast:
        return Named({found.task: found for found in self.tasks}, "task")[task]

    def table(self) -> DataFrame:
        """A row per task; the columns of `TABLES["plan"]`."""
        return answer("plan", map(_row, self.tasks))

    def to_json(self) -> dict[str, Any]:
        """{workflow, trace, tasks, notices, widened, cap_usd, saved_usd, ceiling}."""
        return asdict(self) | {"saved_usd": self.saved_usd, "ceiling": asdict(self.ceiling)}

    def __repr__(self) -> str:
        from nika_nb.board.forecast_still import text

        return text(self)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        from nika_nb.board.forecast_still import html, text

        return {"text/plain": text(self), "text/html": html(self)}


def _row(task: TaskForecast) -> dict[str, Any]:
    return {
        "task": task.task,
        "verb": task.verb,
        "fate": task.fate,
        "why": task.why or None,
        "upstream": ", ".join(task.upstream) or None,
        "items": task.items,
        "items_recorded": task.recorded,
        "ceiling_usd": task.ceiling.usd,
        "ceiling_why": task.ceiling.why or None,
        "models": ", ".join(task.models) or None,
        "touches": "; ".join(map(str, task.touches)) or None,
        "again": task.again or None,
        "asks": task.asks,
        "saved_usd": task.saved_usd,
        "saved": task.saved_ms,
        "files_changed": ", ".join(task.files_changed) or None,
    }
