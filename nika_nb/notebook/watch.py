"""A run in a notebook: the panel while it works, the forms when it asks, the still when it is over."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from shlex import quote
from typing import Any

from nika_nb.board import question, text, tracepage
from nika_nb.board.state import Board
from nika_nb.errors import NikaError
from nika_nb.notebook.forms import Form
from nika_nb.notebook.paint import Painter
from nika_nb.notebook.panel import Panel
from nika_nb.notebook.surface import Surface
from nika_nb.runs.answered import AlreadyAnswered
from nika_nb.runs.run import Prompt, Run


class NikaInterrupted(KeyboardInterrupt):
    """The run was interrupted: shown as one line instead of a traceback into this package."""

    def _render_traceback_(self) -> list[str]:
        return [f"KeyboardInterrupt: {self}"]


class Watch:
    """Shows one run, over all its answers. `block()` from the cell that started it."""

    def __init__(self, run: Run, surface: Surface, *, quiet: bool = False) -> None:
        self.run = run
        self._surface = surface
        self._quiet = quiet
        self._panel: Panel | None = None
        self._forms: dict[str, Form] = {}
        self._answered_forms: list[Form] = []
        self._turn = threading.Lock()

    def block(self, begin: Callable[[], Any]) -> None:
        """Begins the run and paints until it stops. An interrupt ends it at once and is raised again."""
        try:
            begin()
            self._open()
            self._pump()
        except KeyboardInterrupt:
            self.run.end_now()
            self._close()
            raise NikaInterrupted(f"{self.run.workflow} was interrupted and its processes ended") from None
        self._close()
        self._ask()

    def draw(self) -> None:
        """Shows a run that is over, or was left by another kernel, from what is known of it."""
        self._open()
        self._close()
        self._ask()

    def _open(self) -> None:
        for notice in self.run.notices:
            print(notice)
        if self._quiet or not self._surface.has_widgets:
            return
        self._panel = Panel(self._begun())
        self._panel.show()

    def _begun(self) -> Board:
        """The board once it knows its tasks: what is shown first is what a killed kernel leaves behind."""
        for _ in range(20):
            board = self.run.catch_up()
            if board.rows or not self.run.running:
                break
            self.run.pause_a_moment()
        return board

    def _pump(self) -> None:
        if self._panel is not None:
            Painter(self.run, self._panel).pump()
        self.run.wait()

    def _close(self) -> None:
        """The still takes the panel's place."""
        board = self.run.catch_up()
        board.trace_data = self._packed()
        if self._panel is not None:
            self._panel.finish(board)
        else:
            print(text.meter(board).strip() if self._quiet else text.still(board))

    def _packed(self) -> bytes:
        """The journal as the still carries it; empty where it is too large, or gone."""
        trace = self.run.trace
        try:
            fits = trace is not None and trace.stat().st_size <= tracepage.CARRIED
            return tracepage.packed(self._journal()[1]) if fits else b""
        except OSError:
            return b""

    def _journal(self) -> tuple[str, bytes]:
        """The journal's name and bytes; empty where there is none."""
        trace = self.run.trace
        return (trace.name, trace.read_bytes()) if trace is not None else ("", b"")

    # -- prompts ---------------------------------------------------------------------------

    def _ask(self) -> None:
        """A form per open prompt, in the cell that runs now."""
        for prompt in self.run.prompts:
            if self._surface.has_widgets:
                self._form(prompt).show()
            else:
                print(question.question_text(prompt, self.run.id or "", self._lines(prompt)))

    def _form(self, prompt: Prompt) -> Form:
        run_id, lines = self.run.id or "", self._lines(prompt)
        self._forms[prompt.key] = Form(prompt, self._answered, run_id=run_id, lines=lines)
        return self._forms[prompt.key]

    def _lines(self, prompt: Prompt) -> list[str]:
        """The exact line that answers a prompt without a form."""
        trace = self.run.trace
        return [f"%nika answer {trace.name} {prompt.key}={quote(question.example(prompt))}"] if trace else []

    def _answered(self, prompt: Prompt, value: Any) -> None:
        """A click: judged and started here, watched from a thread of its own. Raises NikaError."""
        self.run.request = replace(self.run.request, door="a form")
        try:
            self.run.answer({prompt.key: value}, wait=False, shown={prompt.key: prompt.shown_hash})
        except AlreadyAnswered as answered:
            self._forms.pop(prompt.key).disable(str(answered))
            return
        self._resolved(prompt, value)
        threading.Thread(target=self._go_on, name="nika-painter", daemon=True).start()

    def _resolved(self, prompt: Prompt, value: Any) -> None:
        form = self._forms.pop(prompt.key, None)
        if form is not None:
            form.resolved(_said(prompt, value), self._panel.box if self._panel else None)
            self._answered_forms.append(form)

    def _ask_again(self) -> None:
        """Prompts that came up after an answer take the places of answered ones, as many as there are."""
        for prompt in self.run.prompts:
            if prompt.key not in self._forms and self._answered_forms:
                self._form(prompt).take_place(self._answered_forms.pop())

    def _go_on(self) -> None:
        """The run after an answer, in the same panel; what goes wrong is said there."""
        with self._turn:
            try:
                if self._panel is not None:
                    self._panel.reopen(self.run.catch_up(), self.run.cancel, self._journal)
                self._pump()
                self._close()
                self._ask_again()
            except NikaError as error:
                if self._panel is not None:
                    self._panel.failure(str(error))


def _said(prompt: Prompt, value: Any) -> str:
    if prompt.mode == "confirm":
        return "answered: yes" if value in (True, "yes") else "answered: no"
    return f"answered: {value}"
