"""Every judgment of a workflow, in one list: a new one is a module with a `judge` and a line here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from os.path import dirname
from pathlib import Path

from nika_nb.check import (
    authority,
    builtins,
    code_files,
    comparisons,
    composition,
    consent,
    decoding,
    environment,
    foreign,
    graph,
    idle_permits,
    lifts,
    liveness,
    models,
    nulls,
    order,
    printed,
    programs,
    recoveries,
    references,
    regate,
    secrets,
    shared_writes,
    skills,
    statuses,
    trifecta,
)
from nika_nb.check.children import DEEPEST, Child, Family
from nika_nb.check.subject import Subject, subject_of
from nika_nb.errors import Diagnostic
from nika_nb.language.model import Workflow

Judgment = Callable[[Subject], Iterator[Diagnostic]]

JUDGMENTS: tuple[Judgment, ...] = (
    references.judge,
    foreign.judge,
    graph.judge,
    liveness.judge,
    statuses.judge,
    nulls.judge,
    decoding.judge,
    recoveries.judge,
    printed.judge,
    comparisons.judge,
    models.judge,
    builtins.judge,
    programs.judge,
    authority.judge,
    idle_permits.judge,
    environment.judge,
    skills.judge,
    secrets.judge,
    regate.judge,
    code_files.judge,
    lifts.judge,
    order.judge,
    shared_writes.judge,
    trifecta.judge,
    consent.judge,
    composition.judge,
)

_CALLS = frozenset({"NIKA-COMP-001", "NIKA-COMP-002", "NIKA-COMP-003", "NIKA-COMP-004"})
MOST = 200  # diagnostics of one judgment; nobody reads further


def judge(
    workflow: Workflow,
    *,
    model: str | None = None,
    base: Path | None = None,
    folder: Path | None = None,
    family: Family | None = None,
    found: Iterable[Diagnostic] = (),
) -> list[Diagnostic]:
    """What is wrong with a workflow beyond its text, by place.

    model: what the caller sets for the whole run. base: the folder that relative paths count from.
    folder: where the workflow's file lies; family: reads the workflows that it calls. found: what
    reading the text has brought to light already; parts that could not be read are then not judged
    for being incomplete.
    """
    subject = subject_of(workflow, found, model, base, folder, family)
    made: list[Diagnostic] = []
    for judgment in JUDGMENTS:
        for diagnostic, _ in zip(judgment(subject), range(MOST), strict=False):
            made.append(diagnostic)
    made += _called(subject, {diagnostic.task for diagnostic in made if diagnostic.code in _CALLS})
    return sorted(dict.fromkeys(made), key=Diagnostic.sort_key)


def _called(subject: Subject, told: set[str | None]) -> Iterator[Diagnostic]:
    """Called workflows that would be refused on their own; `told` are the calls that are refused already."""
    for task in subject.sound_tasks:
        child = subject.family.called(task, subject.folder)
        found = _wrong(subject, child) if child is not None and task.id not in told else ()
        if child is not None and found:
            first = found[0]
            count = "a problem" if len(found) == 1 else f"{len(found)} problems"
            sentence = f"`{task.called}` has {count}: {first.code} · {first.message}"
            place = subject.place("tasks", task.id, "invoke", "workflow")
            hint = f"check that file first: {child.path}"
            yield Diagnostic("NIKA-COMP-001", sentence, place, hint, task=task.id)


def _wrong(subject: Subject, child: Child) -> tuple[Diagnostic, ...]:
    """What is wrong with a called workflow, found once."""
    judged, above = subject.family.judged, subject.family.above
    if child.path not in judged and child.workflow is not None and len(above) < DEEPEST:
        judged[child.path] = ()  # it may call itself
        above.append(child.path)
        made = judge(
            child.workflow,
            model=subject.model,
            base=Path(subject.base),
            folder=Path(dirname(child.path)),
            family=subject.family,
        )
        above.pop()
        judged[child.path] = tuple(diagnostic for diagnostic in made if diagnostic.severity == "error")
    return judged.get(child.path, ())
