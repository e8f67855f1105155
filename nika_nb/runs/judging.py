"""What this version could not run of a sound workflow, told by every door that judges one."""

from __future__ import annotations

from nika_nb.check import Report
from nika_nb.runs.preflight import missing
from nika_nb.runs.request import Document, Request


def lacking(report: Report, request: Request) -> list[str]:
    """What this version or machine lacks to run a sound workflow, a line each."""
    if not report.ok or report.workflow is None:
        return []
    return [f"this version could not run it: {lack.sentence}" for lack in missing(report.workflow, request)]


def bare(found: Document, model: str | None = None) -> Request:
    """A run of a document, of which nothing but the model is known yet."""
    return Request(found.source, found.place(), model=found.model(model))
