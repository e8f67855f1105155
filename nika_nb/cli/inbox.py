"""`nika-nb inbox`: the runs that wait for an answer, each with the line that gives it."""

from __future__ import annotations

import argparse
from shlex import quote

from nika_nb.board.clean import one_line
from nika_nb.cli.console import to_answer
from nika_nb.cli.meant import folder
from nika_nb.cli.streams import print_lines
from nika_nb.errors import NikaError
from nika_nb.runs.inbox import Waiting, inbox
from nika_nb.runs.run import attach


def inbox_command(options: argparse.Namespace) -> int:
    """What asked last stands first."""
    found = inbox(folder(options.folder).absolute())
    for one in found.waiting:
        print_lines(*_told(one, options.folder))
    if not found.waiting:
        print("nothing waits for an answer here")
    if found.cut:
        print("not every folder below was looked into, there are too many")
    return 0


def _told(one: Waiting, place: str) -> list[str]:
    try:
        run = attach(one.path)
    except NikaError as error:  # removed meanwhile, or damaged: the others wait all the same
        return [one_line(one.heading), f"  {one_line(str(error), 400)}"]
    here = one.summary.run_id if not one.where and place == "." else str(one.path)
    return [one_line(one.heading), *to_answer(run.prompts, f"nika-nb answer {quote(here)}")]
