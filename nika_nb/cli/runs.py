"""`nika-nb runs …`: durable runs from a terminal; `--json` gives what the other doors give."""

from __future__ import annotations

import argparse
import os
import sys
from dataclasses import replace
from pathlib import Path
from shlex import quote
from typing import Any

from nika_nb.cli.asking import attended, converse
from nika_nb.cli.console import line_to_answer, say
from nika_nb.cli.meant import folder
from nika_nb.cli.run import EXIT, OneLine, console, follow
from nika_nb.cli.streams import json_text, print_json, print_lines
from nika_nb.errors import CheckRefused, UsageError, visible
from nika_nb.files import here
from nika_nb.runs.answers import distinct, parse_answer
from nika_nb.runs.cancellable import only_one, run_of
from nika_nb.runs.ids import is_run_id
from nika_nb.runs.inputs import parse_variable
from nika_nb.runs.inspecting import Inspection, Unrunnable
from nika_nb.runs.lack import RunBlocked
from nika_nb.runs.lines import deployed_line, deployment_lines, described, lines_of
from nika_nb.runs.request import Vouched
from nika_nb.runs.run import Run
from nika_nb.runs.service import Answered, Runs, request_of
from nika_nb.runs.snapshots import left_out
from nika_nb.runs.traced import trace_of
from nika_nb.values import plural

_MISSING = 3  # the exit code where something is missing


def _runs(options: argparse.Namespace, root: Path | None = None) -> Runs:
    return Runs(
        root or folder(options.root), "nika-nb", "cli-operator" if sys.stdin.isatty() else "ci-context"
    )


def _shown(options: argparse.Namespace, shape: Any, *lines: str) -> int:
    """The JSON or the lines, on standard output."""
    if options.json:
        print_json(shape, indent=2)
    else:
        print_lines(*lines)
    return 0


# -- to look at --------------------------------------------------------------------------------


def list_command(options: argparse.Namespace) -> int:
    found = _runs(options).list_runs(options.offset, options.limit, options.status)
    return _shown(options, found.to_json(), *lines_of(found))


def inspect_command(options: argparse.Namespace) -> int:
    runs, run = _meant(options)
    found = runs.inspect_run(run)
    return _shown(options, found.to_json(), *described(found), *_onward(found, runs.root))


def _onward(found: Inspection, root: Path) -> list[str]:
    """The line that answers what is asked."""
    name = quote(found.run_id)
    elsewhere = f"nika-nb runs resume --root {quote(os.path.relpath(root))} {name}"
    command = f"nika-nb answer {name}" if root == here() else elsewhere
    return line_to_answer(found.prompts, command) if found.prompts else []


def read_command(options: argparse.Namespace) -> int:
    runs, run = _meant(options)
    found = runs.read_run_trace(run, options.start, options.limit)
    assert found.trace is not None
    lines = [json_text(frame) for frame in found.trace.frames]
    end = options.start + len(lines)
    more = f"{found.trace_count - end} more from {end} on" if found.trace.truncated else "the end"
    return _shown(options, found.to_json(), *lines, f"… {more}")


def checkpoints_command(options: argparse.Namespace) -> int:
    runs, run = _meant(options)
    shapes = [checkpoint.to_json() for checkpoint in runs.checkpoints(run)]
    return _shown(
        options, shapes, *(f"{s['sequence']}  {s['reason']:<11}  {s['at']}  {s['trace']}" for s in shapes)
    )


def follow_command(options: argparse.Namespace) -> int:
    """One JSON frame a line under --json; else a line for each, and how it ended."""
    runs, run = _meant(options)
    following = runs.follow(run, through_pauses=not options.until_pause)
    try:
        for frame in following:
            shape = {"kind": frame.kind, "id": frame.id, "timestamp": frame.timestamp, "fields": frame.fields}
            task = frame.get("task")
            told = visible(f"{frame.kind:<20} {task or ''}".rstrip())
            print(json_text(shape) if options.json else told, flush=True)
    except KeyboardInterrupt:
        say("")
        return 130
    say(f"nika-nb: {run} · {following.state}")
    return EXIT[following.state]


# -- to begin and to go on ---------------------------------------------------------------------


class _Inspected(OneLine):
    """Shows nothing while the run works: the JSON at its end says it all."""

    def __init__(self, runs: Runs, run: Run) -> None:
        super().__init__(run)
        self._runs = runs

    def end(self) -> None:
        print_json(self._runs.attend(self._run).to_json(), indent=2)


def _inputs(options: argparse.Namespace) -> dict[str, Any]:
    return dict(parse_variable(text) for text in (*options.inputs, *options.var))


def run_command(options: argparse.Namespace) -> int:
    runs = _runs(options)
    request = runs.deployed(options.name, _inputs(options), options.version)
    if not isinstance(request, Unrunnable):
        request = replace(request, interactive=attended() and not options.json, gc=not options.no_gc)
    launched = request if isinstance(request, Unrunnable) else runs.launch(request)
    if isinstance(launched, Unrunnable):
        what = f"{options.name} · unrunnable: something is missing"
        return _lacking(options, launched, what)
    return _attend(options, runs, launched)


def resume_command(options: argparse.Namespace) -> int:
    runs, run_id = _meant(options)
    given: Any = distinct(map(parse_answer, options.answers))
    if options.decline:
        given = list(options.answers) or None
    outcome: Answered = "declined" if options.decline else "submitted"
    interactive = attended() and not options.json
    vouched = Vouched(options.resume_compat, options.resume_unverified)
    try:
        run = runs.go_on(
            run_id, given, outcome, interactive=interactive, vouched=vouched, gc=not options.no_gc
        )
    except RunBlocked as refused:
        found = runs.blocked(run_id, refused)
        return _lacking(options, found, f"{run_id} · blocked", refused.exit_code)
    return _attend(options, runs, run)


def _lacking(
    options: argparse.Namespace, found: Inspection | Unrunnable, what: str, code: int = _MISSING
) -> int:
    if options.json:
        print_json(found.to_json(), indent=2)
    else:
        say(what, *(f"  {lack.sentence}" for lack in found.diagnostics))
    return code


def _attend(options: argparse.Namespace, runs: Runs, run: Run) -> int:
    say(*(f"nika-nb: {notice}" for notice in run.notices))
    if not options.json:
        return converse(run, lambda: console(run), follow)
    return follow(run, _Inspected(runs, run))


def cancel_command(options: argparse.Namespace) -> int:
    runs, run_id = _meant(options)
    try:
        found = runs.cancel(run_id)
    except RunBlocked as refused:
        found = runs.blocked(run_id, refused)
        return _lacking(options, found, f"{run_id} · blocked", refused.exit_code)
    return _shown(options, found.to_json(), *described(found))


def _meant(options: argparse.Namespace) -> tuple[Runs, str]:
    """The run that is named by its id or by a trace of it; the only one where none is named."""
    runs = _runs(options)
    if options.run is not None and is_run_id(options.run):
        return runs, options.run
    root = () if options.root == "." else ("--root", options.root)
    path = trace_of(options.run, runs.root) if options.run else only_one(runs.folder.path, *root)
    project, run_id = run_of(path, runs.root)
    return _runs(options, project), run_id


# -- deployments -------------------------------------------------------------------------------


def deploy_command(options: argparse.Namespace) -> int:
    """The exit code 2 where the check refuses the workflow, and nothing is kept."""
    if options.file == "-":
        raise UsageError("a deployment is made from a file: what it calls lies beside it")
    try:
        request = request_of(
            Path(options.file),
            vars=_inputs(options),
            model=options.model,
            max_cost_usd=options.max_cost_usd,
        )
        made = Runs(request.place.root).deploy(options.name, request)
        say(*(f"nika-nb: {notice}" for notice in left_out(request)))
    except CheckRefused as refused:
        say(str(refused))
        return refused.exit_code
    return _shown(options, made.to_json(), deployed_line(made, here()))


def deployments_command(options: argparse.Namespace) -> int:
    found = _runs(options).deployments.all()
    return _shown(options, found.to_json(), *deployment_lines(found))


def undeploy_command(options: argparse.Namespace) -> int:
    gone = _runs(options).deployments.remove(options.name, options.version)
    said = f"{options.name}: {plural(gone, 'version')} removed"
    return _shown(options, {"name": options.name, "removed": gone}, said)
