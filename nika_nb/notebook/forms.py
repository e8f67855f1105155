"""The form of one open prompt: buttons and fields, what is wrong with an answer, a draft that is kept."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NoReturn

from nika_nb.board import question
from nika_nb.board.clean import block, clean, one_line
from nika_nb.board.question import Asked
from nika_nb.board.style import COLOUR, plain
from nika_nb.errors import NikaError
from nika_nb.notebook.clicks import clicked
from nika_nb.notebook.closing import close
from nika_nb.notebook.echo import Echoes
from nika_nb.runs.run import Prompt
from nika_nb.runs.ticket import STALE, mint

OnAnswer = Callable[[Prompt, Any], None]
OnDecline = Callable[[Prompt], None]

# Else a long choice lies over the next one, and has its button at its last line.
WRAPPING = (
    ".widget-radio-box label{height:auto;display:flex;flex-direction:row-reverse;justify-content:flex-end;"
    "align-items:flex-start}"
)
LISTED = 30  # choices that get a radio button each; more stand in a list that scrolls
EMPTY_TEXT = "The answer is empty. Write something, or Submit again to send an empty text."
DECLINING = (
    "Declined, `{key}` has no answer: it fails with NIKA-CANCEL-001, and what waits for it runs only where "
    "the workflow provides for that. Click Decline again to do it."
)

_drafts: dict[tuple[str, ...], Any] = {}  # what was begun and not sent, as long as this kernel lives


@dataclass(frozen=True, slots=True)
class Given:
    """An answer from a form, or that there will be none."""

    value: Any = None
    declined: bool = False

    def said(self, prompt: Prompt) -> str:
        """What the page keeps of it."""
        if self.declined:
            return "declined"
        if prompt.mode == "confirm":
            return "answered: yes" if self.value in (True, "yes") else "answered: no"
        return f"answered: {self.value}"


class Unsure(NikaError):
    """The click is to be repeated: there is a doubt whether it was meant."""


class Form:
    """Asks one prompt; `on_answer` gets the value, `on_decline` a refusal. Both must return at once.

    A callback's prints and exceptions belong to no cell, so everything that goes wrong is said inside
    the form. head: HTML of what is asked. run_id: the run whose draft it keeps.
    """

    def __init__(
        self,
        prompt: Prompt,
        on_answer: OnAnswer,
        on_decline: OnDecline | None = None,
        *,
        run_id: str = "",
        head: str = "",
    ) -> None:
        from ipywidgets import HTML, HBox, VBox

        self.prompt = prompt
        self.said = ""  # what became of it; empty while it is open
        self.buttons: list[Any] = []
        self._on_answer, self._on_decline = on_answer, on_decline
        self._draft = (run_id, prompt.key, prompt.shown_hash) if run_id else ()
        self._ticket = mint(prompt)
        self._turn = threading.RLock()
        self._open = True
        self._doubt = ""  # what the last click was asked about
        self._told = HTML(layout={"margin": "0 0 0 2px"})
        self._field: Any = None
        inputs = self._build()
        self._echoes = Echoes(*inputs)
        edge = {"border_left": f"3px solid {COLOUR['paused']}", "padding": "6px 12px 6px 10px", "margin": "0"}
        title = [HTML(plain(head), layout={"margin": "0 0 4px 2px"})] if head else []
        row = HBox(self.buttons, layout={"flex_flow": "row wrap"})
        self.box = VBox([*title, *inputs, row, self._told], layout=edge)

    @property
    def open(self) -> bool:
        """Whether the question still waits, though it may not be its turn to be clicked."""
        return not self.said

    def close(self, said: str) -> None:
        """The prompt is not ours to answer any more, and `said` is why: its answer, or who gave it."""
        with self._turn:
            self.said = said
            self._enable(False)
            self._told.value = plain(question.answered_html(Asked(self.prompt, said=said)))
        _drafts.pop(self._draft, None)
        self.box.layout.padding = "2px 12px 2px 10px"
        inputs, self.box.children = self.box.children, (self._told,)
        self._echoes.close()
        close(*(widget for widget in inputs if widget is not self._told))

    def leave(self) -> None:
        """Nobody sees it any more."""
        self._echoes.close()
        close(self.box)

    def hold(self, said: str) -> None:
        """It cannot be answered just now: `said` is why, and what was begun stays."""
        self._turned(False, said)

    def release(self) -> None:
        """It can be answered again."""
        with self._turn:
            if not self._open:
                self._turned(True, "")

    def refuse(self, text: str) -> None:
        """The answer was not taken, and nothing was consumed: say why and ask again."""
        self._turned(True, text, wrong=True)

    # -- inside ----------------------------------------------------------------------------

    def _turned(self, on: bool, said: str, *, wrong: bool = False) -> None:
        """On or off, and why; not where it was closed meanwhile."""
        with self._turn:
            if self.open:
                self._say(said, wrong)
                self._enable(on)

    def _build(self) -> list[Any]:
        if self.prompt.mode == "confirm":
            self._button("Yes, continue", lambda: self._answer(True), "success", "check")
            self._button("No", lambda: self._answer(False), "", "times")
            return []
        self._field = self._choices() if self.prompt.mode == "choice" else self._text()
        self._keep_draft()
        self._button("Submit", lambda: self._answer(self._value()), "primary", "check")
        if self._on_decline is not None:
            self._button("Decline", self._decline, "", "ban")
        return [self._field]

    def _choices(self) -> Any:
        from ipywidgets import RadioButtons, Select

        choices, default = self.prompt.choices, self.prompt.default
        options = [(label, at) for at, label in enumerate(labels(choices))]
        chosen = choices.index(default) if self.prompt.has_default and default in choices else None
        if len(options) > LISTED:
            return Select(options=options, value=chosen, rows=10, layout={"width": "min(640px, 98%)"})
        layout = {"width": "max-content", "max_width": "98%"}
        return RadioButtons(options=options, value=chosen, layout=layout)

    def _text(self) -> Any:
        from ipywidgets import Textarea

        default = str(self.prompt.default) if self.prompt.has_default else ""
        offered = default if clean(default) == default else ""  # what cannot be seen is not offered
        look = {"layout": {"width": "min(640px, 98%)"}, "style": {"description_width": "initial"}}
        return Textarea(value=offered, description="Your answer", rows=3, **look)

    def _keep_draft(self) -> None:
        """What was begun in another form of the same question goes on in this one."""
        if not self._draft:
            return
        self._field.value = _drafts.get(self._draft, self._field.value)
        self._field.observe(lambda change: _drafts.update({self._draft: change["new"]}), "value")

    def _button(self, label: str, action: Callable[[], None], style: str, icon: str) -> None:
        from ipywidgets import Button

        tooltip = f"{one_line(self.prompt.key)} · {one_line(self.prompt.message)}"
        button = Button(description=label, button_style=style, icon=icon, tooltip=tooltip)
        button.on_click(lambda _: self._clicked(action))
        self.buttons.append(button)

    def _clicked(self, action: Callable[[], None]) -> None:
        """The first click wins."""
        with self._turn:
            if not self._open:
                return
            self._enable(False)
        self._echoes.then(partial(clicked, action, self.refuse), self.refuse)

    def _answer(self, value: Any) -> None:
        self._look_again()
        self._doubt = ""
        self._on_answer(self.prompt, value)

    def _decline(self) -> None:
        assert self._on_decline is not None
        self._look_again()
        self._sure("decline", DECLINING.format(key=self.prompt.key))
        self._on_decline(self.prompt)

    def _look_again(self) -> None:
        """Raises Unsure where the question was shown too long ago; from now on it counts as shown anew."""
        if self._ticket.stale:
            self._ticket = mint(self.prompt)
            raise Unsure(STALE)

    def _sure(self, doubt: str, sentence: str) -> None:
        """Raises Unsure unless the click before was asked the same."""
        before, self._doubt = self._doubt, doubt
        if before != doubt:
            raise Unsure(sentence)
        self._doubt = ""

    def _value(self) -> Any:
        value = self._field.value
        if self.prompt.mode == "choice":
            return self.prompt.choices[value] if value is not None else _nothing_chosen()
        if not value:
            self._sure("empty", EMPTY_TEXT)
        return value

    def _enable(self, on: bool) -> None:
        self._open = on
        for widget in [*self.buttons, *([self._field] if self._field else [])]:
            widget.disabled = not on

    def _say(self, text: str, wrong: bool = False) -> None:
        sign = f'<span style="color:{COLOUR["failed"]}">✖</span> ' if wrong else ""
        role = "alert" if wrong else "status"
        style = "white-space:pre-wrap;line-height:1.4;padding-top:2px"
        said = f'<div role="{role}" style="{style}">{sign}{block(text)}</div>'
        self._told.value = plain(said) if text else ""


def labels(choices: tuple[str, ...]) -> list[str]:
    """The choices as they are shown: on one line each, none like another, none unseen."""
    found: list[str] = []
    taken: set[str] = set()
    for at, choice in enumerate(choices, 1):
        label = one_line(choice) or "(empty)"
        label = f"{label} ({at})" if label in taken else label
        taken.add(label)
        found.append(label)
    return found


def _nothing_chosen() -> NoReturn:
    raise NikaError("Nothing is chosen yet: pick one, then Submit.")
