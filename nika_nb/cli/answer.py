"""`nika-nb answer`: answers a paused run's prompts and continues it."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

from nika_nb.cli.asking import attended, converse
from nika_nb.cli.console import say
from nika_nb.cli.run import console, ended_by_signals, follow
from nika_nb.errors import UsageError
from nika_nb.files import here
from nika_nb.runs.answers import distinct, parse_answer
from nika_nb.runs.inbox import inbox
from nika_nb.runs.run import attach
from nika_nb.runs.traced import trace_of


def _is_answer(options: argparse.Namespace) -> bool:
    """Whether the first word is an answer already, and no run is named."""
    return "=" in options.trace and not Path(options.trace).exists()


def _asking(options: argparse.Namespace) -> Path:
    """Raises UsageError where nothing waits, and where nothing is answered."""
    if not _is_answer(options):
        if not options.answers:
            raise UsageError("nika-nb answer takes an answer as well: nika-nb answer RUN ask=yes")
        return trace_of(options.trace)
    waiting = [one for one in inbox(here()).waiting if not one.where]
    if not waiting:
        raise UsageError("nothing waits for an answer here")
    say(f"nika-nb: {waiting[0].heading}")
    return waiting[0].path


def _given(options: argparse.Namespace) -> list[str]:
    return [*([options.trace] if _is_answer(options) else []), *options.answers]


def answer(options: argparse.Namespace) -> int:
    """The exit code of the run, continued from its pinned text."""
    run = attach(_asking(options))
    run.request = replace(run.request, interactive=attended(), door="nika-nb", gc=not options.no_gc)
    with ended_by_signals(run):
        run.answer(
            distinct(map(parse_answer, _given(options))),
            wait=False,
            resume_compat=options.resume_compat,
            resume_unverified=options.resume_unverified,
        )
    say(*(f"nika-nb: {notice}" for notice in run.notices))
    return converse(run, lambda: console(run), follow)
