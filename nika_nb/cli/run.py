"""`nika-nb run`: the run on a terminal. The outputs go to standard output, everything else beside it."""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from nika_nb.board import forecast_still, text
from nika_nb.cli.asking import attended, can_ask, converse
from nika_nb.cli.check import given
from nika_nb.cli.console import Plain, how_to_answer, journal_trouble, say
from nika_nb.cli.interrupts import seen
from nika_nb.cli.live import Live, paintable
from nika_nb.cli.streams import hush, print_json, print_lines, unread
from nika_nb.errors import CheckRefused, NikaError
from nika_nb.runs.api import judge
from nika_nb.runs.forecast import forecast
from nika_nb.runs.inputs import parse_variable
from nika_nb.runs.options import fields_of
from nika_nb.runs.request import Request
from nika_nb.runs.run import Event, Run, ready
from nika_nb.trace.chain import Chain

EXIT = {"completed": 0, "failed": 1, "cancelled": 130, "paused": 4, "incomplete": 1}


def run(options: argparse.Namespace) -> int:
    """The exit code of the run."""
    if options.plan:
        return _plan(options)
    try:
        made = ready(_request(options))
    except CheckRefused as refused:
        return _refused(options, refused)
    except NikaError as error:
        if options.output:
            print_json({"error": {"code": None, "message": str(error)}})
        raise
    say(*(f"nika-nb: {notice}" for notice in made.notices))
    if options.json:
        return follow(made, Lines(made, Chain(made.invocation, made.id)))
    if options.output:
        return follow(made, OneLine(made))
    return converse(made, lambda: console(made, quiet=options.quiet), follow)


def _plan(options: argparse.Namespace) -> int:
    """What the run would do, on standard output."""
    found = forecast(_request(options))
    if options.json or options.output:
        print_json(found.to_json(), indent=2 if options.json else None)
    else:
        print_lines(forecast_still.summary(found) if options.quiet else str(found))
    return 0


def _request(options: argparse.Namespace) -> Request:
    return given(options.file).request(
        variables=dict(parse_variable(text) for text in options.var),
        origin="cli-operator" if sys.stdin.isatty() else "ci-context",
        interactive=attended() and not (options.json or options.output),
        door="nika-nb",
        **fields_of(options),
    )


def _refused(options: argparse.Namespace, refused: CheckRefused) -> int:
    if options.json:
        report = judge(given(options.file), options.model)
        print_json(report.to_json(), indent=2)
    elif options.output:
        first = next(d for d in refused.diagnostics if d.severity == "error")
        print_json({"error": {"code": first.code, "message": first.message}})
    print(refused, file=sys.stderr)
    return refused.exit_code


class Lines:
    """`--json`: the journal's own lines on standard output as they come, notes beside them.

    Of a run that waits already they are those that it has.
    """

    def __init__(self, run: Run, chain: Chain) -> None:
        self._run = run
        self._chain = chain

    def see(self, event: Event) -> None:
        for _, line in self._chain.lines(event):
            sys.stdout.buffer.write(line + b"\n")
        sys.stdout.buffer.flush()

    def tick(self) -> None:
        pass

    def end(self) -> None:
        if self._run.invocation is None and self._run.trace is not None:
            sys.stdout.buffer.write(self._run.trace.read_bytes())
            sys.stdout.buffer.flush()
        _notes(self._run)


class OneLine:
    """`--output json`: one line, the outputs or what stands in their place."""

    def __init__(self, run: Run) -> None:
        self._run = run

    def see(self, event: Event) -> None:
        pass

    def tick(self) -> None:
        pass

    def end(self) -> None:
        print_json(self._shape())
        _notes(self._run)

    def _shape(self) -> dict[str, Any]:
        board = self._run.board
        if board.state == "completed":
            return self._run.outputs
        if board.state == "paused":
            prompts = [prompt.to_json() for prompt in self._run.prompts]
            return {"paused": prompts[0] | {"prompts": prompts, "trace": board.trace_path}}
        failed = next((r.error for r in self._run.tasks.values() if r.error), None)
        if failed is not None:
            return {
                "error": {"code": failed["code"], "message": failed["message"], "task": failed["task_id"]}
            }
        code, _, message = board.detail.partition(" · ")
        return {"error": {"code": code or None, "message": message or board.state}}


Surface = Plain | Lines | OneLine


def console(started: Run, *, quiet: bool = False) -> Plain:
    """The console that fits the terminal."""
    asks = can_ask(started)
    return Live(started, asks=asks) if paintable() and not quiet else Plain(started, quiet=quiet, asks=asks)


def follow(started: Run, surface: Surface) -> int:
    """Begins a run that has not, and shows it until it stops. A reader that goes away ends it as well."""
    with ended_by_signals(started):
        try:
            started.begin()
            while started.running:
                started.catch_up(surface.see)
                surface.tick()
                if unread():
                    raise BrokenPipeError
                started.pause_a_moment()
            started.catch_up(surface.see)
            started.wait()
        except BrokenPipeError:
            hush()
            started.stop()
            started.wait()
            return EXIT[started.state]
    surface.end()
    return EXIT[started.state]


@contextmanager
def ended_by_signals(run: Run) -> Iterator[None]:
    """SIGINT and SIGTERM end the run; a second one ends its cleanups too.

    One that comes before there is anything to end does so once there is, also one that got lost.
    """
    wanted: list[int] = []
    if seen():
        run.stop()

    def stop(number: int, frame: Any) -> None:
        if run.running:
            run.stop()
        else:
            wanted.append(number)

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        if wanted:
            run.stop()
        for number, handler in before.items():
            signal.signal(number, handler)


def _notes(run: Run) -> None:
    board = run.board
    if board.trace_path:
        say(f"nika-nb: {text.trace_line(board).strip()}")
    if board.resumed:
        say(f"nika-nb: {text.resumed(board).strip()}", *(f"nika-nb: {said}" for said in text.saved(board)))
    say(*journal_trouble(run), *how_to_answer(run))
