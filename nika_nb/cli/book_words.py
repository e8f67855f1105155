"""The words of `nika-nb book …`."""

from __future__ import annotations

from typing import Any


def add(commands: Any) -> None:
    """Adds the command to the terminal's."""
    book = commands.add_parser("book", help="the workflows in a notebook: list, extract, embed, carry")
    actions = book.add_subparsers(title="actions", required=True, metavar="ACTION")
    _listing(actions)
    _extracting(actions)
    _embedding(actions)
    _carrying(actions)


def _listing(actions: Any) -> None:
    parser = actions.add_parser("ls", help="list the workflows of a notebook, and the traces its cells made")
    parser.add_argument("book", metavar="BOOK")
    parser.add_argument("--json", action="store_true")
    parser.set_defaults(command="book:list_command")


def _extracting(actions: Any) -> None:
    parser = actions.add_parser("extract", help="write workflows of a notebook into files of their own")
    parser.add_argument("book", metavar="BOOK[::NAME]")
    parser.add_argument("--to", metavar="FOLDER", help="instead of the notebook's folder")
    parser.add_argument("--force", action="store_true", help="replace files that hold something else")
    parser.set_defaults(command="book:extract_command")


def _embedding(actions: Any) -> None:
    parser = actions.add_parser(
        "embed",
        help="put a workflow into a notebook's cell",
        description="Into the cell of the workflow's name, or into a new one behind all others; everything "
        "else in the file keeps its bytes. A notebook that does not exist is made.",
    )
    parser.add_argument("book", metavar="BOOK[::CELL]", help="the cell to replace, where it is another one")
    parser.add_argument("file", metavar="FILE", help="a workflow file")
    parser.add_argument(
        "--options", metavar="WORDS", help="the cell's first line behind %%%%nika: --options='--resume'"
    )
    parser.set_defaults(command="book:embed_command")


def _carrying(actions: Any) -> None:
    parser = actions.add_parser(
        "carry",
        help="have a notebook take the trace of a run along: its readers then need no key",
        description="Copies the newest completed trace of the workflow to traces/NAME.ndjson beside the "
        "notebook and writes --resume traces/NAME.ndjson on the cell's first line.",
    )
    parser.add_argument("book", metavar="BOOK::NAME")
    parser.add_argument("--trace", metavar="TRACE", help="this trace instead")
    parser.set_defaults(command="carry:carry_command")
