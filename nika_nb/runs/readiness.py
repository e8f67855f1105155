"""Whether a run could start, or go on, right now: looked up, with nothing touched and nothing held."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from nika_nb.engine.memory import NoMemory
from nika_nb.errors import CheckRefused, Source
from nika_nb.runs.draft import Draft, draft
from nika_nb.runs.lack import Lack, Lacking, RunBlocked, lacks_of
from nika_nb.runs.needs import journals
from nika_nb.runs.preflight import lacking
from nika_nb.runs.recorded import continuation
from nika_nb.runs.request import NEWEST, Place, Request
from nika_nb.runs.truly import refuse_untrue
from nika_nb.settings import Settings
from nika_nb.trace.lineage import remember
from nika_nb.trace.reader import read
from nika_nb.trace.trace import Trace
from nika_nb.trace.trust import Untrusted, weigh


def lacks_now(path: Path) -> tuple[Lack, ...]:
    """What an answer to this paused trace would be refused for at this moment; empty where it would not."""
    try:
        weigh(path)
        request = continuation(path, Request(Source(""), Place.here()), {}, {})
        return _lacks(request, draft(request), read(path))
    except (CheckRefused, Lacking, RunBlocked, Untrusted) as refused:
        return lacks_of(refused)


def lacks_at_start(request: Request) -> tuple[Lack, ...]:
    """What a durable run of this request would be `unrunnable` for at this moment, whatever it is given."""
    try:
        drafted = draft(replace(request, resume=NEWEST))  # then neither inputs nor lacks are refused yet
    except (CheckRefused, Lacking) as refused:
        return lacks_of(refused)
    found = drafted.lacking(NoMemory()) or lacking(drafted.plan, request.place.base)
    return tuple(found or journals.looked_at(request.place.folder, Settings.read()))


def _lacks(request: Request, drafted: Draft, trace: Trace) -> tuple[Lack, ...]:
    refuse_untrue(request, trace, drafted)
    memory, _ = remember(trace, (), carry_failures=True)
    found = drafted.lacking(memory) or lacking(drafted.plan, request.place.base, memory)
    return tuple(found or journals.looked_at(request.place.folder, Settings.read()))
