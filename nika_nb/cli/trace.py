"""`nika-nb trace verify|show|ls|receipt explain`."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from nika_nb.board import still_text
from nika_nb.board.clean import one_line
from nika_nb.cli.streams import print_json
from nika_nb.runs.run import attach
from nika_nb.trace.folder import Entry, TraceFolder
from nika_nb.trace.receipt import Reading, explain
from nika_nb.trace.verify import verify


def verify_command(options: argparse.Namespace) -> int:
    """The verdict of each trace, a line each; the worst exit code wins."""
    verdicts = [verify(Path(name)) for name in options.traces]
    for name, verdict in zip(options.traces, verdicts, strict=True):
        print(verdict.sentence if len(verdicts) == 1 else f"{name}: {verdict.sentence}")
    return max(verdict.exit_code for verdict in verdicts)


def show_command(options: argparse.Namespace) -> int:
    print(still_text(attach(TraceFolder(Path.cwd()).resolve(options.trace)).board))
    return 0


def list_command(options: argparse.Namespace) -> int:
    entries = TraceFolder(Path(options.folder)).list()
    if options.json:
        print_json([_shape(entry) for entry in entries], indent=2)
        return 0
    for entry in entries:
        print(f"{entry.stamp}  {entry.state:<10}  {entry.size:>9,} B  {entry.workflow}  {entry.path.name}")
    if not entries:
        print(f"no traces in {TraceFolder(Path(options.folder)).path}")
    return 0


def explain_command(options: argparse.Namespace) -> int:
    """A receipt read aloud; that it can be read says nothing about whether it is true."""
    reading = explain(Path(options.receipt))
    if options.json:
        fields = [{"field": where, "text": said} for where, said in reading.fields]
        print_json({"fields": fields, "unprojected": list(reading.unprojected)}, indent=2)
    else:
        print("\n".join(_read_aloud(reading)))
    return 0


def _read_aloud(reading: Reading) -> Iterator[str]:
    yield "A reading, not a proof: no digest is computed again here. The proof is `nika-nb trace verify`."
    yield from (f"  {one_line(where)}: {one_line(said, 1000)}" for where, said in reading.fields)
    if reading.unprojected:
        yield "unprojected fields (no sentence is known for them, so the schema refuses them):"
        yield from (f"  {one_line(where)}" for where in reading.unprojected)


def _shape(entry: Entry) -> dict[str, object]:
    return {
        "trace": str(entry.path),
        "workflow": entry.workflow,
        "run_id": entry.run,
        "state": entry.state,
        "stamp": entry.stamp,
        "bytes": entry.size,
        "resumable": entry.resumable,
    }
