"""`nika-nb check`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from nika_nb.check import Report
from nika_nb.cli.streams import print_json
from nika_nb.runs.api import judge
from nika_nb.runs.preflight import missing
from nika_nb.runs.request import Document, Request, document, from_bytes


def check(options: argparse.Namespace) -> int:
    """0 for a sound workflow, 2 for one with problems."""
    found = given(options.file)
    report = judge(found, options.model)
    if options.json:
        print_json(report.to_json(), indent=2)
    else:
        print(report.render(), file=sys.stdout if report.ok else sys.stderr)
        for line in lacking(report, found, options.model):
            print(f"this version could not run it: {line}", file=sys.stderr)
    return 0 if report.ok else 2


def lacking(report: Report, found: Document, model: str | None) -> list[str]:
    """What this version or machine lacks to run a sound workflow."""
    if not report.ok or report.workflow is None:
        return []
    request = Request(report.source, found.place(), model=found.model(model))
    return [lack.sentence for lack in missing(report.workflow, request)]


def given(file: str) -> Document:
    """The document of a path, of a notebook's `book.ipynb::name`, or of standard input for `-`."""
    if file == "-":
        return from_bytes(sys.stdin.buffer.read(), "standard input")
    return document(Path(file))
