"""`nika-nb`: the doors of the runtime from a terminal. Parses words; the work is elsewhere."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import Any

from nika_nb import __version__
from nika_nb.cli import answers_words, book_words, replay_words, reproduce_words, runs_words
from nika_nb.cli.aliases import TOLD, commands_of, named, placed
from nika_nb.cli.interrupts import noted
from nika_nb.cli.streams import hush, open_all, tolerate
from nika_nb.doors import standing_at
from nika_nb.errors import NikaError, short_of
from nika_nb.runs.options import Parser, add_gc_option, add_plan_option, add_run_options, add_trust_options

EXIT_CODES = """\
exit codes: 0 success · 1 the workflow failed · 2 the file or the trace is refused ·
3 environment or usage · 4 paused: a prompt waits for an answer · 130 the run was cancelled"""


INTERRUPTED = 130

A_FILE = "a workflow file, book.ipynb::name for one in a notebook, or - for standard input"


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command; returns its exit code."""
    with noted(), standing_at("nika-nb"):
        return _main(argv)


def _main(argv: Sequence[str] | None) -> int:
    open_all()
    tolerate()
    options = command_line().parse_args(placed(sys.argv[1:] if argv is None else argv))
    try:
        code = _command(options.command)(options)
        sys.stdout.flush()
    except NikaError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:  # before there was a run that it could end, or behind one
        return INTERRUPTED
    except BrokenPipeError:
        hush()
        return 0
    except OSError as error:
        print(f"nika-nb: the system refuses: {error}", file=sys.stderr)
        hush()
        return 3
    except (MemoryError, RuntimeError) as error:
        short = short_of(error)
        if short is None:
            raise
        print(f"nika-nb: {short}", file=sys.stderr)
        return 3
    return code


def _command(name: str) -> Callable[[argparse.Namespace], int]:
    """The command's function; its module is imported only when it is the one to run."""
    from importlib import import_module

    module, _, function = name.partition(":")
    found: Callable[[argparse.Namespace], int] = getattr(import_module(f"nika_nb.cli.{module}"), function)
    return found


class _Parser(Parser):
    """Usage errors exit 3, as every other wrong request does."""

    def error(self, message: str) -> None:  # type: ignore[override]
        self.print_usage(sys.stderr)
        if message.endswith("required: file") and "--resume" in self.words:
            message += "; the word behind --resume is taken for a trace: write the file first"
        if message.endswith(("required: COMMAND", "required: ACTION")):
            message = f"which command? `{self.prog} --help` lists them"
        self.exit(3, f"{self.prog}: {message}\n")

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        groups = [group for group, parser in named(action).items() if value in commands_of(parser)]
        if groups and value not in named(action):
            whole = " or ".join(f"`{self.prog} {group} {value}`" for group in groups)
            raise argparse.ArgumentError(action, f"{value!r} stands in a group: {whole}")
        super()._check_value(action, value)


def command_line() -> argparse.ArgumentParser:
    """Every command and option of `nika-nb`."""
    parser = _Parser(
        prog="nika-nb",
        description="Check, run and resume Nika workflows.",
        epilog=f"{TOLD}\n\n{EXIT_CODES}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"nika-nb {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    _check(commands)
    _run(commands)
    _answer(commands)
    _inbox(commands)
    _trace(commands)
    runs_words.add(commands, EXIT_CODES)
    book_words.add(commands)
    _help(commands)
    return parser


def _check(commands: argparse._SubParsersAction[_Parser]) -> None:
    parser = commands.add_parser("check", help="judge a workflow without running it")
    parser.add_argument("file", help=A_FILE)
    parser.add_argument("--json", action="store_true", help="one JSON report on standard output")
    parser.add_argument("--model", help="the default model to assume")
    parser.set_defaults(command="check:check")


def _run(commands: argparse._SubParsersAction[_Parser]) -> None:
    parser = commands.add_parser("run", help="run a workflow", epilog=EXIT_CODES)
    parser.add_argument("file", help=A_FILE)
    add_run_options(parser)
    add_plan_option(parser)
    parser.add_argument(
        "--no-resume",
        dest="resume",
        action="store_const",
        const=False,
        help="run everything, also where the first line of a notebook's cell says --resume",
    )
    shown = parser.add_mutually_exclusive_group()
    shown.add_argument(
        "--json", action="store_true", help="the journal's lines on standard output, as they come"
    )
    shown.add_argument(
        "--output", choices=["json"], help="one line of JSON: the outputs, the pause or the error"
    )
    shown.add_argument("--quiet", action="store_true", help="only the outputs, and what failed")
    parser.set_defaults(command="run:run")


def _answer(commands: argparse._SubParsersAction[_Parser]) -> None:
    parser = commands.add_parser("answer", help="answer a paused run and continue it", epilog=EXIT_CODES)
    parser.add_argument(
        "trace", metavar="RUN", help="the paused run: its trace or its id (the newest one that waits)"
    )
    parser.add_argument(
        "answers", nargs="*", metavar="TASK=VALUE", help="ask=yes, ask[3]=yes, or a bare value"
    )
    add_gc_option(parser)
    add_trust_options(parser)
    parser.set_defaults(command="answer:answer")


def _help(commands: argparse._SubParsersAction[_Parser]) -> None:
    parser = commands.add_parser("help", help="explain a key, a tool, a type, an error code: help decode")
    parser.add_argument("topics", nargs="*", metavar="TOPIC")
    parser.set_defaults(command="help:help_command")


def _inbox(commands: argparse._SubParsersAction[_Parser]) -> None:
    parser = commands.add_parser("inbox", help="every run here and below that waits for an answer")
    parser.add_argument("folder", nargs="?", default=".")
    parser.set_defaults(command="inbox:inbox_command")


def _trace(commands: argparse._SubParsersAction[_Parser]) -> None:
    parser = commands.add_parser("trace", help="look at traces")
    actions = parser.add_subparsers(title="actions", required=True, metavar="ACTION")
    verify = actions.add_parser("verify", help="walk the chain of one or more traces")
    verify.add_argument("traces", nargs="*", metavar="TRACE", help="the newest where none is named")
    verify.add_argument(
        "--color", choices=["never", "auto"], default="auto", help="verdicts are never coloured"
    )
    verify.add_argument("--expect-head", metavar="HASH", help="the head that was printed when the run ended")
    verify.add_argument(
        "--public-key", metavar="FILE", help="judge the seal: PEM, or the 32 bytes of the key"
    )
    verify.add_argument("--require-seal", action="store_true", help="refuse a trace that is not sealed")
    verify.set_defaults(command="trace:verify_command")
    replay_words.add(actions)
    listing = actions.add_parser(
        "ls",
        help="list the traces of this folder, newest first",
        description="Newest first: age, size, state, workflow, file. "
        "`resume` marks what a bare --resume of that workflow takes.",
    )
    listing.add_argument("folder", nargs="?", default=".")
    listing.add_argument("--json", action="store_true")
    listing.set_defaults(command="trace:list_command")
    reproduce_words.add(actions)
    answers_words.add(actions)
    _care(actions)
    receipt = actions.add_parser("receipt", help="read a run's receipt")
    readings = receipt.add_subparsers(title="actions", required=True, metavar="ACTION")
    explain = readings.add_parser("explain", help="say what a receipt says: a reading, not a proof")
    explain.add_argument("receipt", help="a receipt, as JSON")
    explain.add_argument("--json", action="store_true")
    explain.set_defaults(command="trace:explain_command")


def _care(actions: argparse._SubParsersAction[_Parser]) -> None:
    collect = actions.add_parser("gc", help="remove the traces that retention lets go")
    collect.add_argument("folder", nargs="?", default=".")
    collect.add_argument("--dry-run", action="store_true", help="only say what would go, and why")
    collect.set_defaults(command="care:collect_command")
    remove = actions.add_parser("rm", help="remove traces")
    remove.add_argument("traces", nargs="*", metavar="TRACE")
    remove.add_argument("--older-than", metavar="AGE", help="all of this folder that are older: 30d, 12h")
    remove.add_argument("--all", action="store_true", help="all of this folder")
    remove.add_argument("--force", action="store_true", help="also what a run that waits for an answer needs")
    remove.set_defaults(command="care:remove_command")
    sweep = actions.add_parser("sweep", help="end the processes that dead runs of a folder left at work")
    sweep.add_argument("folder", nargs="?", default=".")
    sweep.set_defaults(command="care:sweep_command")
    doctor = actions.add_parser(
        "doctor",
        help="say what is wrong with a trace, or with all of a folder",
        epilog="exit codes: 0 sound · 1 findings · 3 a file that is no journal",
    )
    doctor.add_argument("path", nargs="?", default=".", metavar="TRACE|FOLDER")
    doctor.add_argument(
        "--repair", metavar="OUT", help="write what can be proved of the trace into a new file"
    )
    doctor.set_defaults(command="care:doctor_command")
    key = actions.add_parser("key", help="the keys that seal journals")
    making = key.add_subparsers(title="actions", required=True, metavar="ACTION")
    new = making.add_parser("new", help="make a signing key, and its public key beside it")
    new.add_argument("path", metavar="PATH")
    new.set_defaults(command="care:key_command")
