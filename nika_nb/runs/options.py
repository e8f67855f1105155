"""The options of a run, spelled the same in a cell and in a terminal."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from typing import Any

from nika_nb.values import nearest


class Parser(argparse.ArgumentParser):
    """Takes no word for another one, and says of an unknown word what may have been meant.

    `error` is each door's own. words: those that are being read.
    """

    words: tuple[str, ...] = ()

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**{**kwargs, "allow_abbrev": False})

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Nothing is left over: a command judges its own words, so that its own options are told."""
        self.words = tuple(args or ())
        found, rest = super().parse_known_args(args, namespace)
        if rest := self._placed(found, rest):
            self.error(unknown(rest[0], self._option_string_actions))
        return found, rest

    def _placed(self, found: Any, rest: list[str]) -> list[str]:
        """What no place has been found for: words behind an option take the places that are still free.

        By itself a parser closes them all with the first word that stands before an option.
        """
        words = [word for word in rest if not word.startswith("-")]
        for action in self._get_positional_actions():
            given = getattr(found, action.dest, None)
            if action.nargs == "*":
                setattr(found, action.dest, [*(given or ()), *words])
                words.clear()
            elif action.nargs == "?" and words and given is None:
                setattr(found, action.dest, words.pop(0))
        return [word for word in rest if word.startswith("-")] or words

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            said = f"{value!r} is none of {', '.join(map(str, action.choices))}"
            hint = nearest(str(value), map(str, action.choices))
            raise argparse.ArgumentError(action, f"{said}; {hint}" if hint else said)


def unknown(word: str, options: Iterable[str]) -> str:
    """A word that a line cannot take, and the option that may have been meant."""
    if not word.startswith("-"):
        return f"{word!r} is one word too many"
    name = word.partition("=")[0]
    hint = nearest(name, options)
    return f"there is no option {name}" + (f", {hint}" if hint else "")


def add_binding_options(parser: argparse.ArgumentParser) -> None:
    """What a deployment is bound to besides its inputs."""
    add_model_option(parser)
    parser.add_argument("--max-cost-usd", type=float, metavar="USD", help="the cap of each run")


def add_run_options(parser: argparse.ArgumentParser) -> None:
    """What a run may be told, the same in every door."""
    add_input_option(parser)
    add_model_option(parser)
    parser.add_argument(
        "--resume",
        nargs="?",
        const=True,
        metavar="TRACE",
        help="skip what a trace settled: the newest one of this workflow, or the one named",
    )
    parser.add_argument(
        "--from",
        dest="from_",
        action="append",
        default=[],
        metavar="TASK",
        help="with --resume: run this task and all behind it live; rows[3] for one item of a fan-out",
    )
    parser.add_argument(
        "--ask-in-flight",
        action="store_true",
        help="with --resume: ask before what was running at the crash is run again",
    )
    parser.add_argument(
        "--answer",
        action="append",
        default=[],
        metavar="TASK=VALUE",
        help="answer a prompt: ask=yes, ask[3]=yes; ask= is an empty text",
    )
    parser.add_argument(
        "--max-cost-usd",
        type=float,
        metavar="USD",
        help="start nothing more once the run has cost more than this; what is under way is finished",
    )
    add_gc_option(parser)
    add_trust_options(parser)


def add_input_option(parser: argparse.ArgumentParser) -> None:
    """The inputs, one by one."""
    parser.add_argument(
        "--var",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="an input; JSON where it parses; @env:VARIABLE takes it from the environment",
    )


def add_model_option(parser: argparse.ArgumentParser) -> None:
    """The model of the tasks that name none."""
    parser.add_argument(
        "--model", metavar="PROVIDER/NAME", help="the default model, instead of the workflow's"
    )


def add_gc_option(parser: argparse.ArgumentParser) -> None:
    """Whether old traces make room."""
    parser.add_argument("--no-gc", action="store_true", help="remove no old traces before the run")


def add_trust_options(parser: argparse.ArgumentParser) -> None:
    """What is declared of a trace that is not trusted without."""
    parser.add_argument(
        "--resume-compat", metavar="VERSION", help="declare another engine's trace compatible"
    )
    parser.add_argument(
        "--resume-unverified", action="store_true", help="resume a trace whose chain is broken"
    )


def add_plan_option(parser: argparse._ActionsContainer) -> None:
    """To look ahead instead of running; a line that is run through another door does not carry it there."""
    parser.add_argument(
        "--plan",
        action="store_true",
        help="run nothing: tell what would be skipped and what would run, why, at what cost",
    )


def fields_of(options: Any) -> dict[str, Any]:
    """What the options above say, as fields of a Request; inputs are each door's own.

    Raises UsageError for an answer that is none.
    """
    from nika_nb.runs.answers import distinct, parse_answer  # a parser of options alone needs none of it
    from nika_nb.runs.words import told_pair

    return {
        "model": options.model,
        "resume": options.resume,
        "forced": tuple(options.from_),
        "ask_in_flight": options.ask_in_flight,
        "answers": distinct(told_pair(text, parse_answer) for text in options.answer),
        "compat": options.resume_compat,
        "unverified": options.resume_unverified,
        "max_cost_usd": options.max_cost_usd,
        "gc": not options.no_gc,
    }
