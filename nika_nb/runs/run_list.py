"""A page of a project's runs, as every door lists them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from nika_nb.runs.records import Summary


@dataclass(frozen=True, slots=True)
class Unfinished:
    """A run without an end: it works (`running`), or its writer died (`incomplete`)."""

    summary: Summary
    state: Literal["running", "incomplete"]

    def to_json(self) -> dict[str, Any]:
        return self.summary.to_json() | {"state": self.state}


@dataclass(frozen=True, slots=True, repr=False)
class RunList:
    """A page of the stopped runs, the newest first; apart from them the newest that have not stopped."""

    runs: tuple[Summary, ...]
    offset: int
    limit: int
    total: int
    unfinished: tuple[Unfinished, ...]
    unfinished_total: int

    def __repr__(self) -> str:
        from nika_nb.runs.lines import lines_of  # which draws what is declared here

        return "\n".join(lines_of(self))

    def to_json(self) -> dict[str, Any]:
        return {
            "runs": [summary.to_json() for summary in self.runs],
            "offset": self.offset,
            "limit": self.limit,
            "total": self.total,
            "unfinished": [run.to_json() for run in self.unfinished],
            "unfinished_total": self.unfinished_total,
        }
