"""`nika-nb trace verify|show|ls|receipt explain`."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from nika_nb.board import still_text
from nika_nb.board.clean import one_line
from nika_nb.cli.meant import folder as named_folder
from nika_nb.cli.meant import meant, meant_with_task
from nika_nb.cli.streams import print_json, print_lines
from nika_nb.errors import UsageError
from nika_nb.files import at_home
from nika_nb.runs.run import attach
from nika_nb.runs.trace_list import ListedTrace, listed
from nika_nb.settings import Settings
from nika_nb.trace.folder import Entry, TraceFolder
from nika_nb.trace.receipt import Reading, explain
from nika_nb.trace.verify import Demands, verify

if TYPE_CHECKING:
    from nika_nb.trace.keys import PublicKey


def verify_command(options: argparse.Namespace) -> int:
    """The verdict of each trace, a line each; the worst exit code wins."""
    demands = _demands(options)
    paths = [meant(name) for name in options.traces or [None]]
    verdicts = [verify(path, demands) for path in paths]
    for name, verdict in zip(options.traces or paths, verdicts, strict=True):
        print_lines(verdict.sentence if len(verdicts) == 1 else f"{name}: {verdict.sentence}")
    return max(verdict.exit_code for verdict in verdicts)


def _demands(options: argparse.Namespace) -> Demands:
    if options.expect_head and len(options.traces) > 1:
        raise UsageError("--expect-head is the head of one trace: name one")
    return Demands(options.expect_head, _key(options), options.require_seal)


def _key(options: argparse.Namespace) -> PublicKey | None:
    """Whose seal it has to be; under --require-seal the public half of the own key, where none is given."""
    from nika_nb.trace.keys import public_key, signing_key

    if options.public_key:
        return public_key(Path(options.public_key))
    own = Settings.read().sign_key if options.require_seal else None
    return signing_key(at_home(own)).public if own else None


def show_command(options: argparse.Namespace) -> int:
    """The run that a trace tells of, as it ended or stood at a step of its replay; or one task of it."""
    trace, task = meant_with_task([word for word in (options.trace, options.task) if word is not None])
    if task is not None and (options.at is not None or options.fine):
        raise UsageError("--at and --fine show a step of the whole run: name no task")
    if task is not None:
        return _show_task(trace, task)
    if options.at is not None:
        from nika_nb.cli.replay import show_step

        return show_step(trace, options)
    if options.fine:
        raise UsageError("--fine counts finer steps: say which one with --at")
    print_lines(still_text(attach(trace).board))
    return 0


def _show_task(trace: Path, task: str) -> int:
    from nika_nb.board.outputpage import page_text
    from nika_nb.runs.results import sections_of

    print_lines(page_text(sections_of(trace, task)))
    return 0


def list_command(options: argparse.Namespace) -> int:
    """Newest first: age, size, state, and which one a bare --resume of its workflow takes."""
    folder, now = TraceFolder(named_folder(options.folder)).path, time.time_ns()
    found = listed(folder)
    candidates = {entry.path for entry in _candidates(one.entry for one in found)}
    if options.json:
        print_json([_shape(one, now, one.entry.path in candidates) for one in found], indent=2)
        return 0
    print_lines(
        "\n".join(_line(one, now, one.entry.path in candidates) for one in found) or f"no traces in {folder}"
    )
    return 0


def _line(one: ListedTrace, now: int, candidate: bool) -> str:
    """A pause that was answered tells how its run stands."""
    entry, mark = one.entry, "resume" if candidate else ""
    facts = f"{_ago(now - entry.mtime):>4}  {_bytes(entry.size):>8}  {one.state:<10}  {mark:<6}"
    return f"{facts}  {one_line(entry.workflow or '-')}  {one_line(entry.path.name)}{one.how}"


def explain_command(options: argparse.Namespace) -> int:
    """A receipt read aloud; that it can be read says nothing about whether it is true."""
    reading = explain(Path(options.receipt))
    if options.json:
        fields = [{"field": where, "text": said} for where, said in reading.fields]
        print_json({"fields": fields, "unprojected": list(reading.unprojected)}, indent=2)
    else:
        print_lines(*_read_aloud(reading))
    return 0


def _read_aloud(reading: Reading) -> Iterator[str]:
    yield "A reading, not a proof: no digest is computed again here. The proof is `nika-nb trace verify`."
    yield from (f"  {one_line(where)}: {one_line(said, 1000)}" for where, said in reading.fields)
    if reading.unprojected:
        yield "unprojected fields (no sentence is known for them, so the schema refuses them):"
        yield from (f"  {one_line(where)}" for where in reading.unprojected)


def _candidates(entries: Iterable[Entry]) -> Iterator[Entry]:
    """The newest trace of each workflow that can be resumed."""
    seen: set[str | None] = set()
    for entry in entries:
        if entry.resumable and entry.workflow not in seen:
            seen.add(entry.workflow)
            yield entry


def _ago(nanoseconds: int) -> str:
    """`12s`, `5m`, `3h`, `41d`."""
    seconds = max(0, nanoseconds // 10**9)
    for size, unit in ((86_400, "d"), (3600, "h"), (60, "m")):
        if seconds >= size:
            return f"{seconds // size}{unit}"
    return f"{seconds}s"


def _bytes(size: int) -> str:
    for factor, unit in ((10**6, "MB"), (10**3, "kB")):
        if size >= factor:
            return f"{size / factor:.1f} {unit}"
    return f"{size} B"


def _shape(one: ListedTrace, now: int, candidate: bool) -> dict[str, object]:
    entry = one.entry
    onward = {"went_on_in": one.onward, "run_state": one.run} if one.onward else {}
    onward |= {"answered_by": one.by} if one.by else {}
    return {
        "trace": str(entry.path),
        "workflow": entry.workflow,
        "run_id": entry.run,
        "state": one.state,
        "stamp": entry.stamp,
        "bytes": entry.size,
        "age_seconds": max(0, (now - entry.mtime) // 10**9),
        "resumable": entry.resumable,
        "resume_candidate": candidate,
        **onward,
    }
