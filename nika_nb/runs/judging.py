"""What this version could not run of a workflow, told by every door that judges one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from nika_nb.check import Report
from nika_nb.errors import Diagnostic, Span
from nika_nb.language.model import Workflow
from nika_nb.runs.lack import Lack
from nika_nb.runs.preflight import missing
from nika_nb.runs.request import Document, Request

_UNREAD = ("NIKA-PARSE-", "NIKA-YAML-")  # where these are, the tasks are not what the author meant


def with_lacks(report: Report, request: Request) -> Report:
    """The report with a warning for everything that a run of it would be refused for on this version.

    The text is not wrong, so that it stays sound.
    """
    if report.workflow is None or any(error.code.startswith(_UNREAD) for error in report.errors):
        return report
    found = [*report.diagnostics, *_warnings(report, report.workflow, request)]
    return replace(report, diagnostics=tuple(sorted(found, key=Diagnostic.sort_key)))


def bare(found: Document, model: str | None = None) -> Request:
    """A run of a document, of which nothing but the model is known yet."""
    return Request(found.source, found.place(), model=found.model(model))


def _warnings(report: Report, workflow: Workflow, request: Request) -> Iterator[Diagnostic]:
    """What the check has said itself is not said twice."""
    said = {(error.code, error.task) for error in report.errors}
    for lack in missing(workflow, request):
        if (lack.code, lack.task) not in said:
            place = _place(workflow, lack)
            yield Diagnostic(lack.code, lack.message, place, lack.hint, severity="warning", task=lack.task)


def _place(workflow: Workflow, lack: Lack) -> Span | None:
    """Where the task names it, or the task."""
    task = workflow.tasks.get(lack.task or "")
    if task is None:
        return None
    fields = ("model",) if lack.code.startswith("NIKA-PROVIDER-") else ("tool", "tools", "workflow")
    return next((task.action.spans[name] for name in fields if name in task.action.spans), task.span)
