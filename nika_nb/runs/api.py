"""From Python: check, run, answer, attach. Each returns what the notebook and the terminal show."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from nika_nb.check import Report
from nika_nb.check import check as check_source
from nika_nb.runs.arguments import cap, mapping, resumed
from nika_nb.runs.judging import bare, with_lacks
from nika_nb.runs.making_room import keep_more
from nika_nb.runs.request import Document, document
from nika_nb.runs.run import Run, ready
from nika_nb.runs.run import attach as attached
from nika_nb.runs.traced import Traced, trace_of
from nika_nb.trace.retention import Collection


def check(text_or_path: str | Path, *, model: str | None = None) -> Report:
    """Judges a workflow without running anything. What this version could not run of it is a warning.

    Raises UsageError for a file that cannot be read.
    """
    return judge(document(text_or_path), model)


def judge(given: Document, model: str | None) -> Report:
    """What the check says of a text, also of bytes that are none, and what this version could not run."""
    if given.diagnostics:
        return Report(given.source, None, given.diagnostics)
    place = given.place()
    report = check_source(given.source, model=given.model(model), base=place.base, folder=given.folder)
    return with_lacks(report, bare(given, model))


def run(
    text_or_path: str | Path,
    *,
    vars: Mapping[str, Any] | None = None,
    model: str | None = None,
    resume: str | Path | Run | bool | None = None,
    from_: str | Sequence[str] = (),
    ask_in_flight: bool = False,
    answer: Mapping[str, Any] | None = None,
    resume_compat: str | None = None,
    resume_unverified: bool = False,
    interactive: bool | None = None,
    max_cost_usd: float | None = None,
    gc: bool = True,
    background: bool = False,
) -> Run:
    """Checks and runs a workflow; returns once it has completed, failed or paused.

    text_or_path: a text, a file, or `book.ipynb::name`, which runs as its cell would.
    resume: True for the newest trace of this workflow, a trace's path or name, a run's id, or a Run; False
    for none, whatever a cell says on its first line. ask_in_flight: ask before what was running at the crash
    is run again. answer: values by prompt.
    max_cost_usd: start nothing more once the run has cost more than this. gc: old traces make room
    first. background: return at once. An interrupt ends the run and everything it started.

    Raises CheckRefused, UsageError or ResumeRefused before anything ran.
    """
    request = document(text_or_path).request(
        variables=mapping(vars, "vars", "vars={'topic': 'tea'}"),
        model=model,
        resume=resumed(resume),
        forced=(from_,) if isinstance(from_, str) else tuple(from_),
        ask_in_flight=ask_in_flight,
        answers=mapping(answer, "answer", "answer={'ask': 'yes'}"),
        compat=resume_compat,
        unverified=resume_unverified,
        interactive=interactive,
        max_cost_usd=cap(max_cost_usd),
        gc=gc,
    )
    made = ready(request)
    _warn_of_what_went(made.made_room)
    if background:
        made.begin()
    else:
        made.finish()
    return made


def _warn_of_what_went(found: Collection) -> None:
    """In one and the same sentence every time, so that a loop of runs warns once; notices tell each."""
    if more := keep_more(found):
        why = " or ".join(map(found.limits.words, found.reasons))
        warnings.warn(f"old traces were removed: {why}; {more}", stacklevel=3)


async def arun(text_or_path: str | Path, **options: Any) -> Run:
    """`run` for code that already runs on an event loop; cancelling the await cancels the run."""
    started = run(text_or_path, background=True, **options)
    try:
        while started.running:
            await asyncio.sleep(0.02)
    except asyncio.CancelledError:
        started.stop()
        raise
    started.wait()
    return started


def attach(trace: Traced) -> Run:
    """The run that a trace tells of, from the file alone; one that is at work is followed in it.

    trace: a path, a name in this folder's `.nika/traces`, or a run's id. Raises UsageError where there is
    none, and for a note.
    """
    return attached(trace_of(trace))


__all__ = ["Run", "arun", "attach", "check", "run"]
