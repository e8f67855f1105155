"""A reproducible run has the id that its seed gives: what is known of it from earlier starts."""

from __future__ import annotations

from nika_nb.runs.heads import Head
from nika_nb.runs.lack import Lack, Lacking
from nika_nb.runs.records import fold
from nika_nb.runs.request import Request
from nika_nb.runs.shelf import Shelf

NAMESAKE_CODE = "NIKA-NB-004"


def told_of_namesake(request: Request, run_id: str) -> list[str]:
    """What whoever starts it once more has to know: its newest start counts from now on.

    Raises Lacking where a durable run of this id is open: its question would be lost to whoever waits.
    """
    record = fold(Shelf(request.place.folder.path).heads(run_id))
    what = _open(record.latest, request) if record is not None else ""
    if record is None or not what:
        return []
    name = record.latest.name
    if request.durable:
        hint = "a reproducible run has the id that its seed gives: answer or decline that one, or let it end"
        raise Lacking([Lack(NAMESAKE_CODE, f"{run_id} {what} in {name}", hint)])
    return [f"{run_id} {what} in {name}: this start has the same seed, and so the same id, and counts now"]


def _open(head: Head, request: Request) -> str:
    state = head.state(request.place.folder.path)
    return {"paused": "waits for an answer", "running": "is at work"}.get(state, "")
