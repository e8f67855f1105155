"""`nika-nb trace reproduce`: a recorded run once more, with a verdict on each of its tasks."""

from __future__ import annotations

import argparse

from nika_nb.board.text import narrate
from nika_nb.cli.console import say
from nika_nb.cli.run import EXIT, ended_by_signals
from nika_nb.cli.streams import print_json
from nika_nb.runs.inputs import parse_variable
from nika_nb.runs.reproduce import Reproducing
from nika_nb.runs.request import document
from nika_nb.runs.run import Event, Run
from nika_nb.runs.traced import trace_of


def reproduce_command(options: argparse.Namespace) -> int:
    """0 where nothing speaks against the record, else 1; 130 where it was ended on the way."""
    made = Reproducing(
        trace_of(options.trace),
        document(options.file) if options.file else None,
        dict(parse_variable(text) for text in options.var),
        options.folder,
        options.max_cost_usd,
        "nika-nb",
    )
    if options.plan:
        print_json(made.ahead.to_json(), indent=2) if options.json else print(made.ahead)
        return 0
    if not options.yes:
        made.refuse_effects()
    found = made.run(None if options.json else _narrated, ended_by_signals)
    print_json(found.to_json(), indent=2) if options.json else print(found)
    if found.state == "cancelled":
        return EXIT["cancelled"]
    return 0 if found.ok else 1


def _narrated(run: Run, event: Event) -> None:
    say(*narrate(run.board, event))
