"""What came of running a recorded run once more, as data: a verdict per task; drawn by its twins."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from nika_nb.board.framed import answer
from nika_nb.values import Named

if TYPE_CHECKING:
    from nika_nb.board.framed import DataFrame

VerdictName = Literal["reproduced", "nature", "edited", "environment", "unverifiable"]

WORD: dict[VerdictName, str] = {
    "reproduced": "reproduced",
    "nature": "differs by nature",
    "edited": "edited",
    "environment": "environment",
    "unverifiable": "unverifiable",
}


@dataclass(frozen=True, slots=True)
class TaskReproduction:
    """One task of the recorded run, and what it came to this time.

    verdict: `reproduced`: the same came of it. `nature`: something else, and it is of a kind that may:
    a model, chance, the time. `edited`: today's text of it is another. `environment`: a file, a program,
    a variable or a server that it depends on differs or is missing. `unverifiable`: there is nothing to
    compare. why: a phrase. parts: what differs, as the author writes it. before, after: the states.
    recorded, again: the outputs as JSON text, None where there is none.
    """

    task: str
    verdict: VerdictName
    why: str = ""
    parts: tuple[str, ...] = ()
    before: str | None = None
    after: str | None = None
    recorded: str | None = None
    again: str | None = None

    @property
    def fine(self) -> bool:
        """Whether nothing speaks against the record."""
        return self.verdict in ("reproduced", "nature")


@dataclass(frozen=True, slots=True, repr=False)
class Reproduction:
    """A recorded run, run once more from its own text and inputs, with no memory of it.

    trace: the record. again: the journal of the new run, None where none is written. state: how that
    run stopped. outputs: whether it returned the same; None where that cannot be compared. identical:
    both journals have the same bytes, as those of a reproducible run have. cost_usd: of the new run;
    unpriced: of how many of its tasks nobody knows what they cost.
    effects: what its tasks may have done to the world once more.
    """

    workflow: str
    trace: Path
    again: Path | None
    state: str
    tasks: tuple[TaskReproduction, ...]
    outputs: bool | None = None
    identical: bool = False
    cost_usd: float = 0.0
    unpriced: int = 0
    effects: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether every task was reproduced, or differs only by its nature."""
        return all(task.fine for task in self.tasks)

    def count(self, verdict: VerdictName) -> int:
        return sum(task.verdict == verdict for task in self.tasks)

    def __getitem__(self, task: str) -> TaskReproduction:
        return Named({found.task: found for found in self.tasks}, "task")[task]

    def table(self) -> DataFrame:
        """A row per task; the columns of `TABLES["reproduce"]`."""
        return answer("reproduce", map(_row, self.tasks))

    def to_json(self) -> dict[str, Any]:
        """Its fields and `ok`, the paths as text."""
        shape = asdict(self) | {"trace": str(self.trace), "ok": self.ok}
        return shape | {"again": str(self.again) if self.again is not None else None}

    def __repr__(self) -> str:
        from nika_nb.board.reproduction_still import text

        return text(self)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        from nika_nb.board.reproduction_still import html, text

        return {"text/plain": text(self), "text/html": html(self)}


def _row(task: TaskReproduction) -> dict[str, Any]:
    return {
        "task": task.task,
        "verdict": task.verdict,
        "why": task.why or None,
        "changed": ", ".join(task.parts) or None,
        "state_before": task.before,
        "state_after": task.after,
        "recorded": task.recorded,
        "again": task.again,
    }
