"""A run as its trace tells it: the place, the text and the inputs it was started with, to continue it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from nika_nb.doors import option, together
from nika_nb.errors import Source
from nika_nb.runs.lack import Lack, RunBlocked
from nika_nb.runs.request import Deployed, Place, Request
from nika_nb.runs.rows import labelled
from nika_nb.trace.fields import name_of
from nika_nb.trace.folder import REPRODUCTIONS, TRACES
from nika_nb.trace.reader import read
from nika_nb.trace.trace import Trace
from nika_nb.values import loads

UNKEPT_CODE = "NIKA-NB-003"


def shown_path(path: Path) -> str:
    """A path as people are shown it: from the current folder where it lies below, else whole."""
    try:
        return str(path.resolve().relative_to(Path.cwd()))
    except (ValueError, OSError):  # elsewhere; or the current folder is gone
        return str(path)


def place_of(trace: Trace) -> Place | None:
    """The place a journal was written at, from where it lies; None where it lies nowhere in particular."""
    folder = trace.path.resolve().parent
    if folder.name not in (TRACES, REPRODUCTIONS) or folder.parent.name != ".nika":
        return None
    root = folder.parent.parent
    way = trace.prologue.get("base")
    base = Path(os.path.normpath(root / way)) if isinstance(way, str) else root
    return Place(base, root, shelf=folder.name)


def _deployed(trace: Trace) -> Deployed | None:
    """The deployment that the run is one of."""
    said = [trace.prologue.get(f"deployment{part}") for part in ("", "_version", "_digest")]
    match said:
        case [str(name), int(version), str(digest)]:
            return Deployed(name, version, digest)
    return None


def recorded_request(trace: Trace, place: Place) -> Request:
    prologue = trace.prologue
    text = trace.source
    name = name_of(prologue.get("source_name") or "workflow")
    return Request(
        source=Source(text or "", name),
        children={child: text for child, text in trace.sources().items() if child != name},
        place=replace(place, notebook=prologue.get("notebook"), cell=prologue.get("cell")),
        variables=trace.input_values or {},
        model=prologue.get("model_override"),
        max_cost_usd=cap_of(trace),
        deployment=_deployed(trace),
        origins={name: str(origin) for name, origin in trace.inputs.items()},
    )


def cap_of(trace: Trace) -> float | None:
    """The run's cap in US dollars; None where it has none."""
    cap = _budget_of(trace).get("max_cost_usd")
    return float(cap) if isinstance(cap, (int, float)) else None


def _budget_of(trace: Trace) -> dict[str, Any]:
    """What the prologue says of the run's cap, empty where there is none."""
    text = trace.prologue.get("budget")
    found = loads(text) if isinstance(text, str) else None
    return found if isinstance(found, dict) else {}


def _spent(trace: Trace) -> float:
    """USD that the run has cost up to the end of a trace."""
    here = trace.end.get("total_cost_usd") if trace.end else None
    return float(_budget_of(trace).get("spent_usd", 0.0)) + float(here or 0.0)


def _unkept(trace: Trace, recorded: Request, request: Request) -> Lack | None:
    """What the run cannot be continued without and the trace does not hold."""
    name = trace.path.name
    how = [option("resume", name)]
    if not recorded.source.text:
        return Lack(UNKEPT_CODE, f"{name} does not hold the text that was run", _by_hand(how))
    if trace.masked_sources:
        texts = ", ".join(f"`{text}`" for text in trace.masked_sources)
        what = f"{name} does not hold the exact text of {texts}, for a secret stands in it"
        return Lack(UNKEPT_CODE, what, _by_hand(how))
    lacking = [held for held in trace.inputs_withheld if held not in request.variables]
    if lacking:
        what = f"{name} does not hold {', '.join(f'`{held}`' for held in lacking)}, for it is a secret"
        return Lack(UNKEPT_CODE, what, _by_hand([*how, *(option("var", f"{held}=…") for held in lacking)]))
    return None


def _by_hand(options: list[str]) -> str:
    return f"go on with the workflow at hand: `{together([*options, option('answer', '…')])}`"


def continuation(
    path: Path, request: Request, answers: Mapping[str, Any], shown: Mapping[str, str]
) -> Request:
    """The request that continues a paused trace: its pinned text, its inputs, the answers.

    Raises RunBlocked where the trace does not hold all of that.
    """
    trace = read(path)
    recorded = recorded_request(trace, place_of(trace) or request.place)
    unkept = _unkept(trace, recorded, request)
    if unkept is not None:
        raise RunBlocked(trace.run_id or path.name, [unkept], None)
    withheld = {name: request.variables[name] for name in trace.inputs_withheld}
    return replace(
        recorded,
        variables=labelled({**recorded.variables, **withheld}, request.variables),
        resume=path,
        answers=dict(answers),
        shown=dict(shown),
        continues=True,
        spent_usd=_spent(trace),
        gc=request.gc,
        interactive=request.interactive,
        origin=request.origin,
        door=request.door,
    )
