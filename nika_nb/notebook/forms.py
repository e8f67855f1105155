"""The form of one open prompt: the question as a still, the buttons as widgets; an answer replaces both."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any
from uuid import uuid4

from nika_nb.board import question
from nika_nb.board.clean import block, one_line
from nika_nb.board.style import COLOUR
from nika_nb.errors import NikaError
from nika_nb.notebook.shown import EMPTY, show, update, view
from nika_nb.runs.run import Prompt

OnAnswer = Callable[[Prompt, Any], None]


class Form:
    """Asks one prompt in the cell that runs now; `on_answer` gets the value and must return at once.

    A callback's prints and exceptions belong to no cell, so everything that goes wrong is said
    inside the form. `lines` are what a person can type instead of clicking.
    """

    def __init__(
        self, prompt: Prompt, on_answer: OnAnswer, *, run_id: str = "", lines: Sequence[str] = ()
    ) -> None:
        from ipywidgets import HTML, HBox, VBox

        self.prompt = prompt
        self.question_id, self.form_id = uuid4().hex, uuid4().hex
        self._on_answer = on_answer
        self._still = question.mimebundle(prompt, run_id, lines)
        self._turn = threading.Lock()
        self._open = True
        self._asked_empty = False
        self._said = HTML()
        self._field: Any = None
        self.buttons: list[Any] = []
        inputs = self._build()
        edge = {"border_left": f"3px solid {COLOUR['paused']}", "padding": "0 0 6px 10px", "margin": "0"}
        self.box = VBox([*inputs, HBox(self.buttons), self._said], layout=edge)

    def show(self) -> None:
        """Two outputs: a page without the kernel still shows the first."""
        show(self._still, self.question_id)
        show(view(self.box) | EMPTY, self.form_id)

    def take_place(self, of: Form) -> None:
        """Stands where an answered form stood: a run that asks again has no cell of its own to draw in."""
        self.question_id, self.form_id = of.question_id, of.form_id
        update(self._still, self.question_id)
        update(view(self.box) | EMPTY, self.form_id)

    def resolved(self, text: str, panel: Any = None) -> None:
        """The prompt is answered: `text` says how. `panel` is what a reloaded page shows from here on.

        Such a page no longer knows the displays and hears only the widgets.
        """
        self._close(text, panel)
        update(question.answered(self.prompt, text), self.question_id)
        update(EMPTY, self.form_id)

    def disable(self, text: str) -> None:
        """The prompt is not ours to answer any more: answered elsewhere, or the run is gone."""
        self.resolved(text)

    def refuse(self, text: str) -> None:
        """The answer was not taken, and nothing was consumed: say why and ask again."""
        self._say(text, wrong=True)
        self._enable(True)

    # -- inside ----------------------------------------------------------------------------

    def _build(self) -> list[Any]:
        from ipywidgets import RadioButtons, Textarea

        if self.prompt.mode == "confirm":
            self._button("Yes, continue", lambda: True, "success", "check")
            self._button("No", lambda: False, "", "times")
            return []
        if self.prompt.mode == "choice":
            options = [(one_line(c), at) for at, c in enumerate(self.prompt.choices)]
            self._field = RadioButtons(options=options, value=None, layout={"width": "max-content"})
        else:
            self._field = Textarea(placeholder="Your answer", layout={"width": "min(600px, 100%)"}, rows=3)
        self._button("Submit", self._value, "primary", "check")
        return [self._field]

    def _button(self, label: str, value: Callable[[], Any], style: str, icon: str) -> None:
        from ipywidgets import Button

        button = Button(
            description=label, button_style=style, icon=icon, tooltip=one_line(self.prompt.message)
        )
        button.on_click(lambda _: self._clicked(value))
        self.buttons.append(button)

    def _clicked(self, value: Callable[[], Any]) -> None:
        """Never raises, never prints; the first click wins."""
        with self._turn:
            if not self._open:
                return
            self._enable(False)
        try:
            self._on_answer(self.prompt, value())
        except NikaError as error:
            self.refuse(str(error))
        except Exception as error:  # noqa: BLE001 - no cell would show it
            self.refuse(f"{type(error).__name__}: {error}")

    def _value(self) -> Any:
        if self.prompt.mode == "choice":
            if self._field.value is None:
                raise NikaError("Nothing is chosen yet: pick one, then Submit.")
            return self.prompt.choices[self._field.value]
        if not self._field.value and not self._asked_empty:
            self._asked_empty = True
            raise NikaError("The answer is empty. Write something, or Submit again to send an empty text.")
        return self._field.value

    def _enable(self, on: bool) -> None:
        self._open = on
        for widget in [*self.buttons, *([self._field] if self._field else [])]:
            widget.disabled = not on

    def _say(self, text: str, wrong: bool = False) -> None:
        tone = f"color:{COLOUR['failed']}" if wrong else "opacity:.66"
        self._said.value = f'<div style="{tone};white-space:pre-wrap;line-height:1.4">{block(text)}</div>'

    def _close(self, text: str, panel: Any) -> None:
        self._enable(False)
        self._said.value = question.answered(self.prompt, text)["text/html"]
        self.box.layout.border_left, self.box.layout.padding = "0", "0"
        self.box.children = (self._said, *([panel] if panel is not None else []))
