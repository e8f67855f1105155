"""Every judgment of a workflow, in one list: a new one is a module with a `judge` and a line here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from nika_nb.check import (
    authority,
    builtins,
    code_files,
    composition,
    consent,
    decoding,
    graph,
    lifts,
    liveness,
    models,
    order,
    programs,
    references,
    regate,
    secrets,
    shared_writes,
    skills,
    statuses,
    trifecta,
)
from nika_nb.check.subject import Subject, subject_of
from nika_nb.errors import Diagnostic
from nika_nb.language.model import Workflow

Judgment = Callable[[Subject], Iterator[Diagnostic]]

JUDGMENTS: tuple[Judgment, ...] = (
    references.judge,
    graph.judge,
    liveness.judge,
    statuses.judge,
    decoding.judge,
    models.judge,
    builtins.judge,
    programs.judge,
    authority.judge,
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

MOST = 200  # diagnostics of one judgment; nobody reads further


def judge(
    workflow: Workflow,
    *,
    model: str | None = None,
    base: Path | None = None,
    found: Iterable[Diagnostic] = (),
) -> list[Diagnostic]:
    """What is wrong with a workflow beyond its text, by place.

    model: what the caller sets for the whole run. base: the folder that relative paths count from.
    found: what reading the text has brought to light already; parts that could not be read are
    then not judged for being incomplete.
    """
    subject = subject_of(workflow, found, model, base)
    made: list[Diagnostic] = []
    for judgment in JUDGMENTS:
        for diagnostic, _ in zip(judgment(subject), range(MOST), strict=False):
            made.append(diagnostic)
    return sorted(dict.fromkeys(made), key=Diagnostic.sort_key)
