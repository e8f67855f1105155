"""What is open in a project, told to whoever comes in: runs that stopped, questions, what still runs."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from nika_nb.board.clean import one_line
from nika_nb.board.rows import Row
from nika_nb.board.state import board_of
from nika_nb.errors import NikaError
from nika_nb.money import money
from nika_nb.runs.kin import told_in
from nika_nb.runs.orphans import LARGEST, newest_traces, orphans
from nika_nb.runs.records import Summary
from nika_nb.runs.shelf import Shelf
from nika_nb.trace.folder import TraceFolder
from nika_nb.trace.lineage import remember
from nika_nb.trace.reader import is_running, read
from nika_nb.trace.trace import Trace
from nika_nb.values import plural

_LOOKED_AT = 50  # runs of each kind; older ones are in the list of runs
_TOLD = 5  # runs that stopped, each with a line of its own

_DONE = ("ok", "cached", "skipped")
_STOPPED = {"incomplete": "stopped", "failed": "failed", "cancelled": "was cancelled"}


def open_matters(folder: TraceFolder) -> Iterator[str]:
    """A line per matter, the most pressing first, each with what to do about it. Runs nothing."""
    if not folder.path.is_dir():
        return
    shelf = Shelf(folder.path)
    recent = shelf.page(0, _LOOKED_AT)
    waiting = shelf.page(0, _LOOKED_AT, "interrupted")
    asking = [run for run in told_in(waiting.runs, folder.path) if run.answered_by is None]
    yield from _prompts(folder.path, asking, waiting.total - len(waiting.runs) + len(asking))
    working = {run.run_id for run in recent.unfinished if is_running(folder.path / run.traces[-1])[0]}
    dead = [run for run in recent.unfinished if run.run_id not in working]
    yield from _processes(folder.path, dead)
    yield from (_at_work(folder.path, run) for run in recent.unfinished if run.run_id in working)
    yield from _stopped(folder.path, _newest_of_each((*recent.unfinished, *recent.runs)), working)


def _prompts(folder: Path, runs: Sequence[Summary], total: int) -> Iterator[str]:
    if not runs:
        return
    asked = 0
    for path in newest_traces(folder, runs):
        with suppress(NikaError, OSError):
            asked += len(read(path).prompts) if path.stat().st_size <= LARGEST else 1
    if total > len(runs):
        yield f"{plural(total, 'run')} wait for an answer: `%nika inbox`"
    elif asked:
        yield f"{plural(asked, 'prompt')} {'waits' if asked == 1 else 'wait'}: `%nika inbox`"


def _processes(folder: Path, dead: Sequence[Summary]) -> Iterator[str]:
    small = [path for path in newest_traces(folder, dead) if _size(path) <= LARGEST]
    found = list(orphans(small))
    if found:
        runs = "a dead run" if len({orphan.trace for orphan in found}) == 1 else "dead runs"
        verb, them = ("runs", "it") if len(found) == 1 else ("run", "them")
        count = "1 process" if len(found) == 1 else f"{len(found)} processes"
        units = ", ".join(f"`{orphan.unit}`" for orphan in found[:_TOLD])
        yield f"{count} of {runs} still {verb} ({units}): `%nika sweep` ends {them}"


def _at_work(folder: Path, run: Summary) -> str:
    name = run.traces[-1]
    pid = is_running(folder / name)[1]
    where = f" in process {pid}" if pid else ""
    return f"{one_line(run.workflow)} is at work{where}: `%nika attach {name}`"


def _newest_of_each(runs: Sequence[Summary]) -> list[Summary]:
    """The newest run of each workflow's name, the newest first."""
    found: dict[str, Summary] = {}
    for run in sorted(runs, key=lambda run: run.created, reverse=True):
        found.setdefault(run.workflow, run)
    return list(found.values())


def _stopped(folder: Path, runs: Sequence[Summary], working: set[str]) -> Iterator[str]:
    stopped = [run for run in runs if run.run_id not in working and (run.outcome or "incomplete") in _STOPPED]
    yield from (_how_far(folder / run.traces[-1], run) for run in stopped[:_TOLD])
    if len(stopped) > _TOLD:
        yield f"… and {plural(len(stopped) - _TOLD, 'run')} more that stopped: `%nika runs`"


def _how_far(path: Path, run: Summary) -> str:
    """`nightly-archive stopped at 2/4; --resume would skip 2 and save $0.31`."""
    said = f"{one_line(run.workflow)} {_STOPPED[run.outcome or 'incomplete']}"
    try:
        trace = read(path) if _size(path) <= LARGEST else None
    except NikaError:
        trace = None
    if trace is None:
        return f"{said}; `--resume` skips what it has done"
    rows = board_of(trace.frames).rows
    done = sum(row.state in _DONE for row in rows.values())
    return f"{said} at {done}/{len(rows)}; {_would_skip(trace, rows.values())}"


def _would_skip(trace: Trace, rows: Collection[Row]) -> str:
    recorded = remember(trace, ())[0].recorded()
    begun = [
        row for row in rows if row.id not in recorded and row.items and row.items.done > row.items.failed
    ]
    items = sum(row.items.done - row.items.failed for row in begun if row.items)
    saved = sum(hit.cost_usd or 0.0 for hit in recorded.values()) + sum(
        row.cost_usd or 0.0 for row in begun if row.items and not row.items.failed
    )
    what = [str(len(recorded))] if recorded else []
    what += [f"{plural(items, 'item')} of {', '.join(f'`{row.id}`' for row in begun)}"] if begun else []
    if not what:
        return "`--resume` would skip nothing: no success of it is recorded"
    return f"`--resume` would skip {' and '.join(what)}" + (f" and save {money(saved)}" if saved else "")


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return LARGEST + 1
