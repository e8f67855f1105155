"""What keeps a run from beginning or from going on: what it needs and this machine does not have, mostly."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from nika_nb.errors import CheckRefused, Diagnostic, NikaError, UsageError
from nika_nb.trace.trust import Untrusted

UNTRUSTED_CODE = "NIKA-NB-005"


@dataclass(frozen=True, slots=True)
class Lack:
    """One thing that is missing: what, and how to provide it. code: what a run would fail with."""

    code: str
    message: str
    hint: str = ""
    task: str | None = None

    @classmethod
    def of(cls, diagnostic: Diagnostic) -> Lack:
        """A finding about a text, without its place."""
        return cls(diagnostic.code, diagnostic.message, diagnostic.hint, diagnostic.task)

    @classmethod
    def from_json(cls, shape: Mapping[str, Any]) -> Lack:
        """Takes what is there: a journal may have been written by another version."""
        task = shape.get("task")
        texts = {name: str(shape.get(name) or "") for name in ("code", "message", "hint")}
        return cls(**texts, task=task if isinstance(task, str) else None)

    @property
    def sentence(self) -> str:
        return f"{self.message}; {self.hint}" if self.hint else self.message

    def within(self, name: str) -> Lack:
        """The same, said of a called workflow."""
        return replace(self, message=f"{name}: {self.message}") if name else self

    def to_json(self) -> dict[str, Any]:
        return {name: value for name, value in asdict(self).items() if value}


class Lacking(UsageError):
    """Something is missing, so nothing was run."""

    def __init__(self, lacks: Iterable[Lack]) -> None:
        self.lacks = tuple(dict.fromkeys(lacks))
        super().__init__("\n".join(["nothing was run:", *(f"  {lack.sentence}" for lack in self.lacks)]))


class RunBlocked(NikaError):
    """Something is in the way, so an answer was not consumed: the run waits as before.

    note: the trace that keeps what was missing; None where none could be written.
    """

    def __init__(self, run_id: str, lacks: Iterable[Lack], note: Path | None, exit_code: int = 3) -> None:
        self.exit_code = exit_code
        self.run_id = run_id
        self.lacks = tuple(lacks)
        self.note = note
        listing = "\n".join(f"  {lack.sentence}" for lack in self.lacks)
        super().__init__(
            f"{run_id} cannot go on here. Nothing was run and the answer was not consumed:\n{listing}"
        )


Refused = CheckRefused | Lacking | RunBlocked | Untrusted


def lacks_of(refused: Refused) -> tuple[Lack, ...]:
    """What a refusal says is in the way."""
    match refused:
        case CheckRefused():
            return tuple(Lack.of(found) for found in refused.diagnostics if found.severity == "error")
        case Untrusted():
            return (Lack(UNTRUSTED_CODE, refused.what, refused.how),)
        case _:
            return refused.lacks
