"""The words of `nika-nb runs …` and `nika-nb mcp`."""

from __future__ import annotations

import argparse
from typing import Any

from nika_nb.runs.options import add_binding_options, add_gc_option, add_input_option, add_trust_options


def add(commands: Any, exit_codes: str) -> None:
    """Adds both commands to the terminal's."""
    runs = commands.add_parser(
        "runs", help="durable runs: list, inspect, read, resume, cancel, follow, deploy, run"
    )
    actions = runs.add_subparsers(title="actions", required=True, metavar="ACTION")
    _looking(actions)
    _going_on(actions, exit_codes)
    _deploying(actions, exit_codes)
    server = commands.add_parser(
        "mcp", help="offer durable runs to an MCP client, over standard input and output"
    )
    _root(server)
    server.set_defaults(command="mcp:serve")


def _looking(actions: Any) -> None:
    listing = _action(actions, "list", "a page of the runs, the newest first")
    listing.add_argument("--offset", type=int, default=0, metavar="N")
    listing.add_argument("--limit", type=int, default=50, metavar="N")
    listing.add_argument("--status", choices=["interrupted", "completed", "failed"], help="only these")
    _of_run(actions, "inspect", "what a run is, asks and returned")
    read = _of_run(actions, "read", "a bounded piece of a run's trace")
    read.add_argument("--start", type=int, required=True, metavar="N", help="the first frame, counted from 0")
    read.add_argument("--limit", type=int, required=True, metavar="N", help="how many frames at most")
    _of_run(actions, "checkpoints", "where a run has stopped so far")
    follow = _of_run(actions, "follow", "a run's frames as they land, across its answers")
    follow.add_argument("--until-pause", action="store_true", help="end at a pause instead of waiting there")


def _going_on(actions: Any, exit_codes: str) -> None:
    resume = _of_run(actions, "resume", "answer an interrupted run and go on with it", epilog=exit_codes)
    resume.add_argument(
        "answers", nargs="*", metavar="TASK=VALUE", help="ask=yes, ask[3]=yes, or a bare value"
    )
    resume.add_argument(
        "--decline", action="store_true", help="do not answer: the prompts named, or every open one"
    )
    add_gc_option(resume)
    add_trust_options(resume)
    cancel = _action(actions, "cancel", "end a run that is at work or waits for an answer")
    cancel.add_argument(
        "run",
        nargs="?",
        metavar="RUN",
        help="the id of a run, or a trace of it (the only one that can be ended)",
    )


def _deploying(actions: Any, exit_codes: str) -> None:
    deploy = _action(
        actions,
        "deploy",
        "keep a workflow and what it is bound to: a new version, unless nothing differs",
        root=False,
    )
    deploy.add_argument("name")
    deploy.add_argument("file", help="a workflow file, or book.ipynb::name for one in a notebook")
    _inputs(deploy)
    add_binding_options(deploy)
    run = _action(actions, "run", "start a run of a deployment", epilog=exit_codes)
    run.add_argument("name")
    _inputs(run)
    run.add_argument("--version", type=int, metavar="N", help="this version instead of the newest")
    add_gc_option(run)
    _action(
        actions,
        "deployments",
        "list the deployments: version, the inputs that each needs, whether it could start now",
    )
    undeploy = _action(actions, "undeploy", "remove a deployment; its runs keep all they need")
    undeploy.add_argument("name")
    undeploy.add_argument("--version", type=int, metavar="N", help="only this version")


def _action(
    actions: Any, name: str, help: str, *, root: bool = True, epilog: str | None = None
) -> argparse.ArgumentParser:
    formatter = argparse.RawDescriptionHelpFormatter
    found: argparse.ArgumentParser = actions.add_parser(
        name, help=help, epilog=epilog, formatter_class=formatter
    )
    found.add_argument("--json", action="store_true", help="JSON on standard output")
    if root:
        _root(found)
    found.set_defaults(command=f"runs:{name}_command")
    return found


def _of_run(actions: Any, name: str, help: str, *, epilog: str | None = None) -> argparse.ArgumentParser:
    found = _action(actions, name, help, epilog=epilog)
    found.add_argument("run", metavar="RUN", help="the id of a run, or a trace of it")
    return found


def _root(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--root",
        metavar="FOLDER",
        default=".",
        help="the folder whose .nika holds the runs (the current one)",
    )


def _inputs(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("inputs", nargs="*", metavar="NAME=VALUE", help="an input, as under --var")
    add_input_option(parser)
