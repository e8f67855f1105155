"""`nika-nb trace verify|show|ls`."""

from __future__ import annotations

import argparse
from pathlib import Path

from nika_nb.board import still_text
from nika_nb.cli.streams import print_json
from nika_nb.runs.run import attach
from nika_nb.trace.folder import Entry, TraceFolder
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
