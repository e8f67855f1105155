"""The console of a run: header, a line per settle, the meter; the outputs alone on standard output."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from shlex import quote

from nika_nb.board import question, text
from nika_nb.board.clean import one_line
from nika_nb.cli.streams import print_json
from nika_nb.errors import visible
from nika_nb.runs.run import Event, Prompt, Run

_BEFORE_THE_HEADER = ("workflow_started", "task_scheduled", "nb_source_page", "nb_input_page")


class Plain:
    """Lines that stay, each as soon as it is known. asks: somebody is asked next, instead of told how to."""

    def __init__(self, run: Run, *, quiet: bool = False, asks: bool = False) -> None:
        self.run = run
        self._quiet = quiet
        self._asks = asks
        self._opened = False

    def see(self, event: Event) -> None:
        if self._quiet:
            return
        board = self.run.board
        if event.kind not in _BEFORE_THE_HEADER and not self._opened:
            self._opened = True
            self.tell(*text.header(board), "")
        self.tell(*text.narrate(board, event))

    def tell(self, *lines: str) -> None:
        """Lines for people."""
        say(*lines)

    def tick(self) -> None:
        """Called again and again while the run works."""

    def end(self) -> None:
        board = self.run.board
        if not self._quiet and board.trace_path:
            say("", text.trace_line(board))
        if self._quiet and (board.state != "completed" or board.detail):
            say(*text.ending(board), *(line for row in board.rows.values() for line in text.under(row)))
        say(*journal_trouble(self.run))
        if not self._asks:
            say(*how_to_answer(self.run))
        if board.state == "completed":
            print_json(self.run.outputs)


def journal_trouble(run: Run) -> list[str]:
    return [f"nika-nb: {run.journal_error}"] if run.journal_error else []


def how_to_answer(run: Run) -> list[str]:
    """The open questions, of very many the first, and the one line that answers them all."""
    if not run.prompts:
        return []
    if run.journal_error:
        again = f" with `--resume {quote(run.board.trace_path)}`" if run.board.trace_path else ""
        return [
            "",
            f"  its questions are not kept: put that right, then run it again{again}, and it asks again",
        ]
    left = len(run.prompts) - question.MOST
    more = [f"  and {left:,} more: nika-nb runs inspect {quote(run.id or '')} lists them all"]
    command = f"nika-nb answer {quote(run.board.trace_path)}"
    return ["", *to_answer(run.prompts, command, *(more if left > 0 else []))]


def to_answer(prompts: Sequence[Prompt], command: str, *more: str) -> list[str]:
    """Questions, of very many the first, and the line that answers them, which begins with `command`."""
    told = prompts[: question.MOST]
    asked = [line for prompt in told for line in _question(prompt)]
    return [*asked, *more, *line_to_answer(prompts, command)]


def line_to_answer(prompts: Sequence[Prompt], command: str) -> list[str]:
    examples = [(prompt.key, question.example(prompt) or "…") for prompt in prompts[: question.MOST]]
    answers = " ".join(quote(f"{key}={example}") for key, example in examples)
    no = ", ".join(quote(f"{prompt.key}=no") for prompt in prompts if prompt.mode == "confirm")
    line = f"    {command} {answers}"
    return ["  to answer:", line, *([f"  to say no: {no}"] if no else [])]


def _question(prompt: Prompt) -> list[str]:
    choices = f"  ({' · '.join(one_line(choice) for choice in prompt.choices)})" if prompt.choices else ""
    return [f"  ◇ {one_line(prompt.key)} · {one_line(prompt.message, 400)}{choices}"]


def say(*lines: str) -> None:
    """Lines on standard error."""
    for line in lines:
        print(visible(line), file=sys.stderr, flush=True)
