"""`nika-nb check`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from nika_nb.cli.streams import print_json
from nika_nb.runs.api import judge
from nika_nb.runs.request import Document, document, from_bytes


def check(options: argparse.Namespace) -> int:
    """0 for a sound workflow, 2 for one with problems."""
    report = judge(given(options.file), options.model)
    if options.json:
        print_json(report.to_json(), indent=2)
    else:
        print(report.render(), file=sys.stdout if report.ok else sys.stderr)
    return 0 if report.ok else 2


def given(file: str) -> Document:
    """The document of a path, of a notebook's `book.ipynb::name`, or of standard input for `-`."""
    if file == "-":
        return from_bytes(sys.stdin.buffer.read(), "standard input")
    return document(Path(file))
