"""The words of `nika-nb trace reproduce`."""

from __future__ import annotations

from typing import Any


def add(actions: Any) -> None:
    """Adds the words to those of `nika-nb trace`."""
    parser = actions.add_parser(
        "reproduce",
        help="run a recorded run once more, and say of each task whether the same comes of it",
        description="Runs the text and the inputs in a trace, with no memory of it. What was answered is "
        "answered the same. The new journal lies in .nika/reproductions, where no resume looks.",
        epilog="exit codes: 0 every task is reproduced, or differs by its nature · 1 one is edited, depends "
        "on what differs, or cannot be verified · 2 the trace is refused · 3 usage, or --yes is missing",
    )
    parser.add_argument("trace", metavar="TRACE")
    parser.add_argument(
        "--file", metavar="FILE", help="today's workflow, or book.ipynb::name: say what was edited since"
    )
    parser.add_argument(
        "--yes",
        action="store_true",
        help="it may start programs, write, reach hosts and ask models",
    )
    parser.add_argument("--plan", action="store_true", help="run nothing: tell what it would do")
    parser.add_argument(
        "--var", action="append", default=[], metavar="NAME=VALUE", help="an input that the trace withholds"
    )
    parser.add_argument("--in", dest="folder", metavar="FOLDER", help="where it runs")
    parser.add_argument("--max-cost-usd", type=float, metavar="USD", help="the run's cap")
    parser.add_argument("--json", action="store_true")
    parser.set_defaults(command="reproduce:reproduce_command")
