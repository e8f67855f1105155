"""`nika-nb trace why|diff|ledger`: answers about runs, from their traces."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any, Protocol

from nika_nb.cli.meant import meant, pair
from nika_nb.cli.streams import print_json, print_lines


class Answer(Protocol):
    """What is printed as it draws itself, or as data."""

    def to_json(self) -> dict[str, Any]: ...


def why_command(options: argparse.Namespace) -> int:
    from nika_nb.runs.why import why

    return _say(why(meant(options.trace)), options)


def diff_command(options: argparse.Namespace) -> int:
    """Exit code 0 whether they differ or not."""
    from nika_nb.runs.diff import diff

    return _say(diff(*pair([word for word in (options.a, options.b) if word is not None])), options)


def ledger_command(options: argparse.Namespace) -> int:
    from nika_nb.runs.ledger import ledger

    found = ledger(*options.runs)
    if options.svg:
        Path(options.svg).write_text(found.svg(), encoding="utf-8")
    _say(found, options)
    if not options.json and found.entries:
        print_lines(f"\n{found.text()}")
    return 0


def _say(found: Answer, options: argparse.Namespace) -> int:
    if options.json:
        print_json(found.to_json(), indent=2)
    else:
        print_lines(repr(found))
    return 0
