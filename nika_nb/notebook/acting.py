"""What a line wants done with a workflow: judged, looked ahead of, or run."""

from __future__ import annotations

from uuid import uuid4

from nika_nb.board import forecast_still
from nika_nb.check import check
from nika_nb.notebook.options import CellOptions
from nika_nb.notebook.session import Session
from nika_nb.notebook.shown import show
from nika_nb.runs.forecast import forecast
from nika_nb.runs.judging import lacking
from nika_nb.runs.request import Request
from nika_nb.runs.run import Run, ready


def act_on(session: Session, request: Request, options: CellOptions) -> Run | None:
    """The run, where there is one. Raises CheckRefused, UsageError, ResumeRefused or RunFailed."""
    if options.check:
        print(_judged(request))
        return None
    if options.plan:
        _look_ahead(request, options)
        return None
    run = ready(request)
    if options.into:
        session.names[options.into] = run
    return session.watch(run, run.begin, quiet=options.quiet)


def _judged(request: Request) -> str:
    place = request.place
    report = check(request.source, model=request.model, base=place.base, folder=place.root)
    return "\n".join([report.render(), *lacking(report, request)])


def _look_ahead(request: Request, options: CellOptions) -> None:
    """What the run would do; nothing is run."""
    ahead = forecast(request)
    if options.quiet:
        print(forecast_still.summary(ahead))
    else:
        show(ahead._repr_mimebundle_(), uuid4().hex)
