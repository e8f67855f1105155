"""The words of `nika-nb trace why|diff|ledger`."""

from __future__ import annotations

from typing import Any


def add(actions: Any) -> None:
    """Adds the three commands to those about traces."""
    why = actions.add_parser("why", help="say of each task why it ran on a resume, and what caused it")
    why.add_argument("trace", nargs="?", help="a trace, or a run's id (the newest trace)")
    diff = actions.add_parser("diff", help="compare two runs: text, inputs, outputs, costs, times, causes")
    diff.add_argument("a", metavar="TRACE", nargs="?", help="a trace, or a run's id (the one before OTHER)")
    diff.add_argument("b", metavar="OTHER", nargs="?", help="what it is compared with (the newest trace)")
    ledger = actions.add_parser("ledger", help="say what runs have spent, wasted, and saved by resuming")
    ledger.add_argument(
        "runs",
        nargs="*",
        metavar="TRACE|FOLDER",
        help="a trace or a run's id with all that it goes back to; a folder with all traces of it (.)",
    )
    for parser, command in ((why, "why"), (diff, "diff"), (ledger, "ledger")):
        parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
        parser.set_defaults(command=f"answers:{command}_command")
    ledger.add_argument("--svg", metavar="FILE", help="also draw it, a bar per run")
