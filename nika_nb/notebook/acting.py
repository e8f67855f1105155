"""What a line wants done with a workflow: judged, looked ahead of, or run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any
from uuid import uuid4

from nika_nb.board import forecast_still
from nika_nb.board.forecast import Forecast
from nika_nb.check import check
from nika_nb.errors import NikaError
from nika_nb.notebook.options import CellOptions
from nika_nb.notebook.proposal import Proposal
from nika_nb.notebook.session import Session
from nika_nb.notebook.shown import Spots, show
from nika_nb.notebook.watch import Watch
from nika_nb.runs.forecast import forecast
from nika_nb.runs.ids import is_run_id
from nika_nb.runs.judging import with_lacks
from nika_nb.runs.request import NEWEST, Request
from nika_nb.runs.run import Run, interactive, ready


def act_on(session: Session, request: Request, options: CellOptions, begins: str = "%%nika") -> Run | None:
    """The run, where there is one. begins: how the line does.

    Raises CheckRefused, UsageError, ResumeRefused or RunFailed.
    """
    if options.check:
        print(_judged(request))
        return None
    if options.plan:
        _look_ahead(session, request, options, begins)
        return None
    with held_by_no_older(session, options):
        run = ready(request)
    if options.into:
        session.names[options.into] = run
    if options.background:
        return session.leave(run, quiet=options.quiet)
    return session.watch(run, run.begin, quiet=options.quiet)


@contextmanager
def held_by_no_older(session: Session, options: CellOptions) -> Iterator[None]:
    """What is refused meanwhile leaves no older run in the variable that would have got the new one."""
    try:
        yield
    except NikaError:
        name = options.into or ""
        if isinstance(session.names.get(name), Run) and not (options.check or options.plan):
            del session.names[name]
            print(f"`{name}` is unset: it held an older run, and there is no new one")
        raise


def _judged(request: Request) -> str:
    place = request.place
    report = check(request.source, model=request.model, base=place.base, folder=place.root)
    return with_lacks(report, request).render()


def _look_ahead(session: Session, request: Request, options: CellOptions, begins: str) -> None:
    """What the run would do; nothing is run until the button is pressed."""
    ahead = forecast(request)
    if options.quiet:
        print(forecast_still.summary(ahead))
    elif not session.surface.has_widgets:
        print(ahead)
    elif not interactive(request):
        show(ahead._repr_mimebundle_(), uuid4().hex)  # nobody is there to press a button
    else:
        carry = partial(_carry_out, session, request, options, ahead)
        Proposal(ahead, _line(begins, options, ahead), carry).show(session.surface)


def _line(begins: str, options: CellOptions, ahead: Forecast) -> str:
    """What the button does, as a line."""
    trace = ahead.trace if options.resume is NEWEST else options.resume
    return f"{begins} --resume {trace}" if trace else begins


def _carry_out(
    session: Session, request: Request, options: CellOptions, ahead: Forecast, spots: Spots
) -> Any:
    """Begins what was foretold: from the very trace that was looked at. Returns the panel's widget."""
    if ahead.trace is not None and (request.resume is NEWEST or is_run_id(request.resume)):
        request = replace(request, resume=request.place.folder.path / ahead.trace)
    run = ready(request)
    if options.into:
        session.names[options.into] = run
    watch = Watch(run, session.surface, spots=spots)
    watch.background(run.begin)
    return watch.widget
