"""The open questions of one run on a page: asked, answered in turn, and closed when others answer them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from nika_nb.board import question
from nika_nb.board.question import Asked
from nika_nb.doors import standing_at
from nika_nb.errors import NikaError
from nika_nb.interrupts import undisturbed
from nika_nb.notebook.forms import Form, Given
from nika_nb.notebook.lookout import lookout
from nika_nb.notebook.sheet import Sheet
from nika_nb.notebook.shown import Spots, thread
from nika_nb.notebook.stage import Listed, Stage
from nika_nb.notebook.surface import Surface
from nika_nb.runs.answered import AlreadyAnswered, when
from nika_nb.runs.kin import answered_elsewhere
from nika_nb.runs.onward import Onward, stamp, went_on
from nika_nb.runs.run import Prompt, Run, interactive

MOST = 20  # forms of one run that stand on a page at a time; the next ones follow
GONE = "the trace that asked is not there any more: it was removed"
KEPT = "Taken. The run is at work on another answer; this one is given when it waits again."


class Questions:
    """One still that a page without a kernel reads, one display with a form for each open question.

    Answers are given one after the other, for a run that is at work on one waits for no other.
    spots: where they stand, of a run that no cell waits for; None for the cell that runs then.
    """

    def __init__(
        self,
        run: Run,
        surface: Surface,
        stage: Stage,
        listed: Listed | None = None,
        spots: Spots | None = None,
    ) -> None:
        self.run = run
        self.forms: dict[str, Form] = {}  # every question that was shown here, in the order it came up
        self._surface = surface
        self._stage = stage
        self._listed = listed
        self._sheet = Sheet(spots)
        self._kept: dict[str, Given] = {}  # given while the run was at work
        self._at_work = False
        self._trace: Path | None = None  # the one that asks
        self._own: Path | None = None  # the one that an answer from here began
        self._latest: Path | None = None  # one behind it, written by somebody else who is at work
        self._turn = stage.turn

    @property
    def open(self) -> dict[str, Form]:
        """The forms of what still waits."""
        return {key: form for key, form in self.forms.items() if form.open}

    def ask(self) -> None:
        """Shows what the run asks, in the cell that runs now."""
        if not self.run.prompts:
            return
        if not self._surface.has_widgets:
            print(self._still()["text/plain"])
            return
        with undisturbed(), self._turn:
            self.sheet()  # shown or not: it hears of an answer, and then the still tells of it
            answers = self._surface.interactive or interactive(self.run.request)
            self._sheet.show(self._still(), forms=answers)

    def sheet(self) -> Any:
        """The forms of what the run asks, as a widget to be shown."""
        with self._turn:
            widget = self._sheet.make()
            self._take_in(self.run.trace)
            self._fill()
            if self.look():
                lookout.watch(self)
            return widget

    @property
    def roots(self) -> list[Any]:
        """What stands in a display of its own."""
        return [self._sheet.widget] if self._sheet.widget is not None else []

    def close(self) -> None:
        """Nobody sees them any more: their widgets go, and it is not looked whether somebody answers them."""
        lookout.forget(self)
        self._sheet.close()
        while self.forms:
            self.forms.popitem()[1].leave()

    # -- a click ---------------------------------------------------------------------------

    def _answered(self, prompt: Prompt, value: Any) -> None:
        self._take(prompt, Given(value))

    def _declined(self, prompt: Prompt) -> None:
        self._take(prompt, Given(declined=True))

    def _take(self, prompt: Prompt, given: Given) -> None:
        """Judged and started here, watched from a thread of its own. Raises NikaError."""
        with self._turn:
            if not self._stands(prompt):
                return
            if self._at_work:
                self._kept[prompt.key] = given
                self.forms[prompt.key].hold(KEPT)
                return
            self._look()
            if not self._stands(prompt) or self._latest is not None:
                return  # the form says why
            self._hand_over({prompt.key: given})
            if not self._at_work:
                return
        thread(self._go_on).start()

    def _stands(self, prompt: Prompt) -> bool:
        """Whether this very question is open: meanwhile another one may be asked under its name."""
        form = self.open.get(prompt.key)
        return form is not None and form.prompt is prompt

    def _hand_over(self, given: Mapping[str, Given]) -> None:
        """Begins the next invocation. Raises NikaError; then nothing was consumed."""
        declined = [key for key, one in given.items() if one.declined]
        try:
            with standing_at("a form"):
                self._continue(given, declined)
        except AlreadyAnswered:
            self._look()
            if any(key in self.open for key in given):
                raise
            return
        self._at_work, self._own = True, self.run.trace
        self._stage.appear()
        for key in declined or given:
            self.forms[key].close(given[key].said(self.forms[key].prompt))
            self._kept.pop(key, None)
        self._update()

    def _continue(self, given: Mapping[str, Given], declined: list[str]) -> None:
        """Through this door, and no other one: whoever calls the run from Python comes from there."""
        before = self.run.request.door
        self.run.request = replace(self.run.request, door="a form")
        try:
            if declined:
                self.run.decline(*declined, wait=False)
            else:
                shown = {key: self.forms[key].prompt.shown_hash for key in given}
                values = {key: one.value for key, one in given.items()}
                self.run.answer(values, wait=False, shown=shown)
        finally:
            self.run.request = replace(self.run.request, door=before)

    def _go_on(self) -> None:
        """The run after an answer, and after those that were given meanwhile."""
        while True:
            self._stage.follow()
            with self._turn:
                self._at_work = False
                if not self._take_in(self._own):
                    self._look()
                self._hand_over_kept()
                self._update()
                if not self._at_work:
                    return

    def _hand_over_kept(self) -> None:
        """What was answered while the run was at work; who was refused is asked again."""
        kept = {key: given for key, given in self._kept.items() if key in self.open}
        self._kept.clear()
        declined = {key: given for key, given in kept.items() if given.declined}
        answers = {key: given for key, given in kept.items() if not given.declined}
        first, later = (declined, answers) if declined else (answers, {})
        if not first:
            return
        try:
            self._hand_over(first)
            self._kept |= later
        except NikaError as error:
            for key in kept:
                self.forms[key].refuse(str(error))

    # -- answered elsewhere ----------------------------------------------------------------

    def stamp(self) -> tuple[int, ...]:
        """When the folders that an answer would be written to were written to last."""
        if self._at_work or self._trace is None:
            return ()
        return (*stamp(self._trace, self.run.request.place.folder, self._latest), self.run.running)

    def look(self) -> bool:
        """Closes what was answered elsewhere; whether there is more to look for."""
        with self._turn:
            if not self._at_work:
                self._look()
            return self._at_work or bool(self.open) or self._latest is not None

    @standing_at("a form")
    def _look(self) -> None:
        trace = self._trace
        if trace is None:
            return
        onward = went_on(trace, self.run.request.place.folder)
        if onward is not None:
            self._went_on(onward)
            self._update()
        elif not trace.is_file():
            self._close(GONE)
            self._update()
        elif (found := answered_elsewhere([trace], trace.parent).get(trace)) is not None:
            self._close(f"already answered elsewhere: {when(found.by)}, in another run: {found.by.run}")
            self._update()

    def _went_on(self, onward: Onward) -> None:
        for key, form in self.open.items():
            told = onward.told(key)
            if told is not None:
                what, at = told
                own = self.run.trace == onward.latest  # this very run went on, by a line or a call
                form.close(f"{what} {at}" if own else f"already {what} elsewhere: {at}")
        self.run.catch_up()
        here = self.run.running  # by a line or a call of this kernel, or not quite over yet
        working = here or onward.state == "running"
        self._latest = (self.run.trace if here else onward.latest) if working else None
        if working:
            since = onward.since if onward.state == "running" else "is at work"
            self._hold(f"The run {since}. This question opens again when it waits.")
            return
        if self.run.trace != onward.latest:
            self.run.recall(onward.latest)
        if onward.state != "paused":
            self._close(f"not asked any more: the run {onward.since}")
        self._take_in(onward.latest)
        self._stage.redraw()

    def _close(self, said: str) -> None:
        for form in self.open.values():
            form.close(said)

    def _hold(self, said: str) -> None:
        for form in self.open.values():
            form.hold(said)

    # -- what stands on the page -----------------------------------------------------------

    def _take_in(self, stopped: Path | None) -> bool:
        """A form for every question that waits now, as many as there is room for.

        False where the run stands in that trace no more: a line or a call of this kernel went on with it.
        """
        waiting = {prompt.key: prompt for prompt in self.run.prompts}
        if self.run.trace != stopped:
            return False
        self._trace = stopped
        for key, form in self.open.items():
            if key in waiting:
                form.release()
            else:
                form.close(f"not asked any more: the run is {self.run.state}")
        for key, prompt in waiting.items():
            known = self.forms.get(key)
            again = known is None or not known.open or known.prompt.shown_hash != prompt.shown_hash
            if again and len(self.open) < MOST:
                if known is not None:
                    known.leave()
                    self._kept.pop(key, None)
                self.forms[key] = self._form(prompt, len(waiting))
        return True

    def _form(self, prompt: Prompt, waiting: int) -> Form:
        decline = self._declined if prompt.mode != "confirm" else None
        folded = waiting > question.UNFOLDED or self._brief
        head = question.above_form(prompt, alone=waiting == 1, folded=folded)
        return Form(prompt, self._answered, decline, run_id=self.run.id or "", head=head)

    def _update(self) -> None:
        """The same displays, as things stand."""
        if self._sheet.widget is None:
            return
        self._fill()
        self._sheet.update(
            self._still(), forms=bool(self.open) or (self._listed is not None and self._at_work)
        )
        if self._listed is not None:
            self._listed.told(bool(self.open))

    def _fill(self) -> None:
        """What waits; where nothing does, how it went, and what a reloaded page shows from here on.

        Such a page no longer knows the displays and hears only the widgets.
        """
        panel = [self._stage.widget] if self._stage.widget is not None else []
        forms = [form.box for form in self.forms.values()]
        if self.open:
            beside = panel if self._listed and self._at_work else []
            left = sum(prompt.key not in self.forms for prompt in self.run.prompts)
            above = question.above_forms(len(self.run.prompts), self.run.id or "", self._heading)
            below = question.below_forms(left, alone=self._listed is None)
            self._sheet.ask(forms, above, below, beside)
        else:
            self._sheet.fill([*forms, *panel])

    @property
    def _heading(self) -> str:
        return self._listed.heading if self._listed else ""

    @property
    def _brief(self) -> bool:
        return self._listed is not None and self._listed.brief

    def _still(self) -> dict[str, str]:
        shown = [form.prompt for form in self.forms.values()]
        rest = [prompt for prompt in self.run.prompts if prompt.key not in self.forms]
        asked = [self._asked(prompt) for prompt in (*shown, *rest)]
        found = question.mimebundle(asked, self.run.id or "", self._heading, brief=self._brief)
        result = self._stage.result if shown else None
        if result is None:
            return found
        return {
            "text/html": found["text/html"] + result["text/html"],
            "text/plain": f"{found['text/plain']}\n\n{result['text/plain']}",
        }

    def _asked(self, prompt: Prompt) -> Asked:
        form, trace = self.forms.get(prompt.key), self.run.trace
        if form is not None and form.said:
            return Asked(prompt, said=form.said)
        if trace is None:
            return Asked(prompt)
        return Asked.in_cell(prompt, self._listed.name(trace) if self._listed else trace.name)
