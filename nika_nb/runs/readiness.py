"""Whether a run that waits could go on right now: looked up, with nothing touched and nothing held."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from nika_nb.errors import CheckRefused, Source
from nika_nb.runs.answered import AlreadyAnswered
from nika_nb.runs.draft import Draft, draft
from nika_nb.runs.kin import refuse_twice
from nika_nb.runs.lack import Lack, Lacking, RunBlocked, lacks_of
from nika_nb.runs.needs import journals
from nika_nb.runs.preflight import lacking
from nika_nb.runs.recorded import continuation
from nika_nb.runs.request import Place, Request
from nika_nb.settings import Settings
from nika_nb.trace.folder import TraceFolder
from nika_nb.trace.lineage import remember
from nika_nb.trace.reader import read
from nika_nb.trace.trace import Trace
from nika_nb.trace.trust import Untrusted, weigh

ANSWERED_CODE = "NIKA-NB-006"


def lacks_now(path: Path) -> tuple[Lack, ...]:
    """What an answer to this paused trace would be refused for at this moment; empty where it would not."""
    try:
        weigh(path)
        request = continuation(path, Request(Source(""), Place.here()), {}, {})
        return _lacks(request, draft(request), read(path))
    except (CheckRefused, Lacking, RunBlocked, Untrusted) as refused:
        return lacks_of(refused)


def _lacks(request: Request, drafted: Draft, trace: Trace) -> tuple[Lack, ...]:
    memory, _ = remember(trace, (), carry_failures=True)
    found = drafted.lacking(memory) or lacking(drafted.plan, request.place.base, memory)
    found = found or journals.looked_at(request.place.folder, Settings.read())
    return tuple(found or _answered(trace, request.place.folder))


def _answered(trace: Trace, folder: TraceFolder) -> Iterator[Lack]:
    """Where every question has its answer in another run that took up the same pause: that it has."""
    told = [found for prompt in trace.prompts if (found := _elsewhere(trace.path, folder, prompt.key))]
    if len(told) == len(trace.prompts):
        yield from (Lack(ANSWERED_CODE, what) for what in told)


def _elsewhere(path: Path, folder: TraceFolder, key: str) -> str | None:
    try:
        refuse_twice(path, folder, [key])
    except AlreadyAnswered as answered:
        return str(answered)
    return None
