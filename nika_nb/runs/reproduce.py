"""`reproduce`: a recorded run once more, from its own text and inputs, compared with its record."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

from nika_nb.board.reproduction import Reproduction, TaskReproduction
from nika_nb.catalog.frames import ENGINE_VERSION, LIVE_ONLY
from nika_nb.doors import option
from nika_nb.errors import NikaError, ResumeRefused, UsageError
from nika_nb.runs.acting import EffectsWithheld, acting
from nika_nb.runs.decisions import decisions
from nika_nb.runs.draft import draft
from nika_nb.runs.forecast import forecast
from nika_nb.runs.recorded import place_of, recorded_request, shown_path
from nika_nb.runs.request import Document, Door, Place, Request, document
from nika_nb.runs.run import Event, Run, ready
from nika_nb.runs.traced import Traced, trace_of
from nika_nb.runs.verdicts import Verdicts
from nika_nb.trace.folder import REPRODUCTIONS
from nika_nb.trace.frame import Frame
from nika_nb.trace.paging import PAGED
from nika_nb.trace.reader import read_run
from nika_nb.trace.trace import Trace
from nika_nb.trace.units import Units
from nika_nb.trace.verify import verify
from nika_nb.values import dumps_sorted, unequal


def reproduce(
    trace: Traced,
    *,
    workflow: str | Path | None = None,
    effects: bool = False,
    vars: Mapping[str, Any] | None = None,
    folder: str | Path | None = None,
    max_cost_usd: float | None = None,
) -> Reproduction:
    """Runs a recorded run once more, from the text and the inputs in its trace, with no memory of it.

    Says of each task: reproduced, differs by nature (a model, chance, the time), edited, environment, or
    unverifiable. What was answered then is answered the same. The new journal lies in
    `.nika/reproductions`, where no resume looks.

    trace: a path, a name in .nika/traces, a run's id, or a Run. workflow: today's file or
    `book.ipynb::name`, to be told what was edited since; the recorded text is run all the same.
    effects: the run may do more than read files: start programs, write, reach hosts, ask models that cost.
    vars: inputs that the trace does not hold, for they are secret. folder: where it runs, instead of
    where the trace lies.

    Raises EffectsWithheld, a UsageError, where it would do more than it may; ResumeRefused for a trace
    whose chain is broken; UsageError for one without its text. Then nothing was run.
    """
    today = document(workflow) if workflow is not None else None
    made = Reproducing(trace_of(trace), today, vars or {}, folder, max_cost_usd)
    if not effects:
        made.refuse_effects()
    return made.run()


class Reproducing:
    """A reproduction that is about to begin: `ahead` tells what it would do."""

    def __init__(
        self,
        path: Path,
        today: Document | None = None,
        given: Mapping[str, Any] | None = None,
        folder: str | Path | None = None,
        max_cost_usd: float | None = None,
        door: Door = "Python",
    ) -> None:
        self.trace = _intact(path)
        place = _place(self.trace, today, folder)
        request = _request(self.trace, place, given or {})
        cap = max_cost_usd if max_cost_usd is not None else request.max_cost_usd
        self._request = replace(request, max_cost_usd=cap, door=door)
        self._edits = _edits(self._request, today) if today is not None else {}
        self.ahead = forecast(self._request)

    def refuse_effects(self) -> None:
        """Raises EffectsWithheld where it would do more than read."""
        if acting(self.ahead):
            raise EffectsWithheld(self.trace.path, self.ahead)

    def _done(self, now: Units) -> Iterator[str]:
        """What the tasks that began may have done beyond reading."""
        for task, acts in acting(self.ahead).items():
            unit = now.tasks.get(task.partition("/")[0])
            if unit is not None and unit.started is not None:
                yield from acts

    def run(
        self,
        seen: Callable[[Run, Event], None] | None = None,
        around: Callable[[Run], AbstractContextManager[object]] = nullcontext,
    ) -> Reproduction:
        """Runs it and judges it. An interrupt ends the run and is raised again.

        seen: gets every event as it comes. around: what is entered while it works.
        """
        run, now = ready(self._request), Units(outputs=True, below=True)
        with around(run):
            _to_its_end(run, now, seen)
        then = Units(outputs=True, below=True)
        for frame, text in self.trace.texts():
            then.take(frame, text)
        then.close(running=False)
        plan = draft(self._request).plan
        tasks = (*Verdicts(plan, then, now, self._edits), *_new(self._edits, plan.tasks))
        return Reproduction(
            workflow=plan.workflow.id,
            trace=Path(shown_path(self.trace.path)),
            again=Path(shown_path(run.trace)) if run.trace is not None else None,
            state=run.state,
            tasks=tasks,
            outputs=_outputs(self.trace, run),
            identical=_identical(self.trace, run),
            cost_usd=run.board.cost_usd,
            unpriced=run.board.unpriced,
            effects=tuple(dict.fromkeys(self._done(now))),
            notices=(*_crossed(self.trace), *run.notices, *filter(None, [run.journal_error])),
        )


def _crossed(trace: Trace) -> Iterator[str]:
    if trace.engine_version != ENGINE_VERSION:
        yield f"recorded by engine {trace.engine_version or 'unrecorded'}, run by {ENGINE_VERSION}"


# -- the request -------------------------------------------------------------------------------


def _intact(path: Path) -> Trace:
    trace = read_run(path)
    if trace.running:
        raise UsageError(f"{path.name} is still being written: reproduce it when its run has ended")
    verdict = verify(path)
    if not verdict.intact:
        why = f"{path.name} is no record of what happened: {verdict.sentence}. Nothing was run"
        raise ResumeRefused(why, exit_code=2)
    return trace


def _place(trace: Trace, today: Document | None, folder: str | Path | None) -> Place:
    """Where it runs: where it is told to, where the trace lies, where its notebook is, or here."""
    if folder is not None:
        chosen = _chosen(folder)
        if not chosen.is_dir():
            raise UsageError(f"there is no folder {folder}")
        found = Place(chosen, chosen)
    else:
        found = place_of(trace) or _beside_notebook(trace) or (today.place() if today else Place.here())
    return replace(found, shelf=REPRODUCTIONS)


def _beside_notebook(trace: Trace) -> Place | None:
    """The folder of the notebook that carries a trace."""
    notebook = trace.prologue.get("notebook")
    for folder in trace.path.resolve().parents[:2]:
        if isinstance(notebook, str) and (folder / notebook).is_file():
            return Place(folder, folder)
    return None


def _request(trace: Trace, place: Place, given: Mapping[str, Any]) -> Request:
    request = recorded_request(trace, place)
    if not request.source.text:
        raise NikaError(
            f"{trace.path.name} does not hold the text that was run, so it cannot be run once more"
        )
    lacking = [name for name in trace.inputs_withheld if name not in given]
    if lacking:
        names = ", ".join(f"`{name}`" for name in lacking)
        raise UsageError(
            f"{trace.path.name} does not hold {names}, for it is a secret: give it with "
            f"{option('var', f'{lacking[0]}=…')}"
        )
    unknown = [name for name in given if name not in trace.inputs_withheld]
    if unknown:
        raise UsageError(f"`{unknown[0]}` is given by the record: with another value it is another run")
    values = {**request.variables, **given}
    request = replace(request, variables=values, reproduces=trace.head, interactive=False, deployment=None)
    return replace(request, answers=decisions(trace, draft(request).plan))


def _edits(request: Request, today: Document) -> dict[str, tuple[str, ...]]:
    """What today's text says otherwise than the recorded one, by task; of a task that one lacks, nothing."""
    recorded = draft(request).plan.tasks
    wanted = today.request(variables=dict(request.variables), model=request.model, resume=False)
    current = draft(replace(wanted, reproduces=request.reproduces)).plan.tasks
    found: dict[str, tuple[str, ...]] = {}
    for name in dict.fromkeys([*recorded, *current]):
        if name not in recorded or name not in current:
            found[name] = ()
        elif parts := unequal(recorded[name].definition_parts, current[name].definition_parts):
            found[name] = parts
    return found


def _new(edits: Mapping[str, tuple[str, ...]], recorded: Mapping[str, Any]) -> Iterator[TaskReproduction]:
    """The tasks of today's text that the recorded one does not have."""
    for name in edits:
        if name not in recorded:
            yield TaskReproduction(name, "edited", "today's text has it, the recorded one does not")


# -- the run -----------------------------------------------------------------------------------


def _to_its_end(run: Run, now: Units, seen: Callable[[Run, Event], None] | None) -> None:
    """Every event goes into the fold as it comes; an interrupt ends the run and is raised again."""

    def see(event: Event) -> None:
        if event.kind not in LIVE_ONLY:
            text = event.get(PAGED[event.kind][0]) if event.kind in PAGED else None
            now.take(Frame(event.kind, event.fields, event.id, event.at), text)
        if seen is not None:
            seen(run, event)

    try:
        run.begin()
        while run.running:
            run.catch_up(see)
            run.pause_a_moment()
        run.catch_up(see)
        run.wait()
    except KeyboardInterrupt:
        run.end_now()
        raise
    now.close(running=False)


def _outputs(trace: Trace, run: Run) -> bool | None:
    """Whether both runs returned the same; None where one returned nothing, or what no journal may hold."""
    if trace.outputs is None or run.state != "completed":
        return None
    try:
        return dumps_sorted(trace.outputs) == dumps_sorted(run.outputs)
    except (TypeError, ValueError):
        return None


def _identical(trace: Trace, run: Run) -> bool:
    """Whether both journals are the same file, as those of a reproducible run are."""
    again = run.trace
    return trace.reproducible and again is not None and again.read_bytes() == trace.path.read_bytes()


def _chosen(folder: str | Path) -> Path:
    try:
        return Path(folder).resolve()
    except ValueError as error:  # a NUL, or half of a surrogate pair
        raise UsageError(f"{str(folder)!r} cannot be a path: {error}") from None
