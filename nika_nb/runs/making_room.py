"""Old traces make room before a run: what went, and how it would have stayed."""

from __future__ import annotations

from functools import partial

from nika_nb.doors import option, setting
from nika_nb.runs.kin import answered_by
from nika_nb.runs.request import Request
from nika_nb.runs.shelf import Shelf
from nika_nb.settings import SETTINGS, Settings
from nika_nb.trace.retention import SETTING_OF, Collection, Limits


def made_room(request: Request, settings: Settings) -> Collection:
    """Makes room for the trace that is about to be written."""
    if not request.gc or not settings.trace_file:
        return Collection()
    path = request.place.folder.path
    return Shelf(path).tidied(Limits.of(settings), partial(answered_by, folder=path))


def went(found: Collection) -> list[str]:
    """A line where something went or could not."""
    if not found.removed and not found.trouble:
        return []
    return [" · ".join(filter(None, (found.sentence, keep_more(found))))]


def keep_more(found: Collection) -> str:
    """How what went would have stayed; empty where nothing went that anybody could miss."""
    variables = {one.field: one.variable for one in SETTINGS}
    names = [SETTING_OF[reason] for reason in found.reasons if reason in SETTING_OF]
    given = [*(setting(name, variables[name], "…") for name in names), option("no-gc")]
    return f"to keep more: {' or '.join(given)}" if names else ""
