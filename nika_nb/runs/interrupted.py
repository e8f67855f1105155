"""Whether a run waits for an answer, and what is said of one that does not."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

from nika_nb.doors import option
from nika_nb.errors import NotPaused, UsageError
from nika_nb.runs.answered import told_of
from nika_nb.runs.calling_off import process
from nika_nb.runs.records import Record
from nika_nb.runs.shelf import Shelf
from nika_nb.trace.ends import standing


def interrupted(folder: Path, record: Record) -> Record:
    """The record of a run that waits. Raises NotPaused for any other."""
    summary = record.summary
    if summary.status == "interrupted":
        return record
    rule = "only an interrupted run is resumed"
    if summary.status is not None:
        keys = dict.fromkeys(key for head in record.invocations for key in head.answered)
        told = "".join(f"; {told_of(record, key)}" for key in keys)
        raise NotPaused(f"{summary.run_id} is {summary.outcome}: {rule}{told}")
    found = standing(folder / record.latest.name)
    if found is not None and found.running:
        raise NotPaused(f"{summary.run_id} is at work in {process(found.pid)}: {rule}")
    if found is not None and found.ends.end is not None:  # it stopped after it had been looked at
        return interrupted(folder, Shelf(folder).find(summary.run_id))
    raise NotPaused(
        f"{summary.run_id} broke off without an end: {rule}. What it settled is not lost: run the "
        f"workflow again with `{option('resume', record.latest.name)}`"
    )


def nothing_to_cancel(record: Record) -> str:
    summary = record.summary
    return f"nothing of {summary.run_id} is at work: it is {summary.outcome or 'incomplete'}"


def declined_keys(answers: Any) -> tuple[str, ...]:
    """The prompts that are declined; None stands for all. Names that came out empty do not."""
    if answers is None:
        return ()
    if isinstance(answers, Collection) and not answers:
        raise UsageError("declined: no prompt is named; give no names at all to decline every open one")
    if isinstance(answers, str):
        return (answers,)
    if isinstance(answers, Mapping):
        valued = [key for key, value in answers.items() if value is not None]
        if valued:
            raise UsageError(f"a declined prompt has no answer: leave out the value of `{valued[0]}`")
        return tuple(answers)
    if isinstance(answers, Iterable):
        return tuple(str(key) for key in answers)
    raise UsageError("declined: name the prompts, or give nothing for all of them")
