"""`nika-nb answer`: answers a paused run's prompts and continues it."""

from __future__ import annotations

import argparse
from dataclasses import replace

from nika_nb.cli.asking import attended, converse
from nika_nb.cli.console import say
from nika_nb.cli.run import console, ended_by_signals, follow
from nika_nb.files import here
from nika_nb.runs.answers import distinct, parse_answer
from nika_nb.runs.run import attach
from nika_nb.trace.folder import TraceFolder


def answer(options: argparse.Namespace) -> int:
    """The exit code of the run, continued from its pinned text."""
    run = attach(TraceFolder(here()).resolve(options.trace))
    run.request = replace(run.request, interactive=attended(), door="nika-nb", gc=not options.no_gc)
    with ended_by_signals(run):
        run.answer(
            distinct(map(parse_answer, options.answers)),
            wait=False,
            resume_compat=options.resume_compat,
            resume_unverified=options.resume_unverified,
        )
    say(*(f"nika-nb: {notice}" for notice in run.notices))
    return converse(run, lambda: console(run), follow)
