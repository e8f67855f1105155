"""The tasks whose needs are looked up, as every look-up gets them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from nika_nb.authority.files import read_plain
from nika_nb.language.model import Task, Workflow
from nika_nb.runs.lack import Lack


@dataclass(frozen=True, slots=True)
class Sought:
    """Tasks of one workflow that are to run.

    base: the folder that relative paths start from. folder: that of the workflow's own file. model: what
    the caller gave for the whole run. read: opens a file that the workflow names.
    """

    workflow: Workflow
    tasks: tuple[Task, ...]
    base: Path
    folder: Path
    model: str | None = None
    read: Callable[[str], bytes] = read_plain


LookUp = Callable[[Sought], Iterable[Lack]]


def handles(task: Task, code: str) -> bool:
    """Whether a task says what becomes of it when it fails with this code: then it can do without."""
    policy = task.on_error
    return policy is not None and (policy.on_codes is None or code in policy.on_codes)
