"""Nika workflows in a notebook: checked, run, journaled, resumed from the journal.

    %load_ext nika_nb          then  %%nika  in a cell
    nika_nb.run(text_or_path)  → Run

Everything loads when it is first used: importing this package imports nothing heavy.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOMES = {
    "run": "nika_nb.runs.api",
    "arun": "nika_nb.runs.api",
    "check": "nika_nb.runs.api",
    "attach": "nika_nb.runs.api",
    "plan_resume": "nika_nb.runs.forecast",
    "reproduce": "nika_nb.runs.reproduce",
    "replay": "nika_nb.runs.replaying",
    "Run": "nika_nb.runs.run",
    "TaskResult": "nika_nb.runs.run",
    "Report": "nika_nb.check",
    "read_trace": "nika_nb.tables",
    "read_traces": "nika_nb.tables",
    "why": "nika_nb.runs.why",
    "Why": "nika_nb.runs.explanation",
    "Diff": "nika_nb.runs.difference",
    "ledger": "nika_nb.runs.ledger",
    "Ledger": "nika_nb.runs.accounts",
    "diff": "nika_nb.runs.diff",
    "NikaError": "nika_nb.errors",
    "CheckRefused": "nika_nb.errors",
    "UsageError": "nika_nb.errors",
    "ResumeRefused": "nika_nb.errors",
    "RunFailed": "nika_nb.errors",
    "RunPaused": "nika_nb.errors",
    "RunUnfinished": "nika_nb.errors",
    "AlreadyAnswered": "nika_nb.runs.answered",
    "EffectsWithheld": "nika_nb.runs.acting",
    "Lacking": "nika_nb.runs.lack",
    "NoSuchName": "nika_nb.errors",
    "NotPaused": "nika_nb.errors",
    "RunBlocked": "nika_nb.runs.lack",
    "StillWaits": "nika_nb.runs.waiting",
    "TraceUnreadable": "nika_nb.runs.refusals",
    "Untrusted": "nika_nb.runs.refusals",
    "WrongAnswer": "nika_nb.runs.refusals",
}

__all__ = ["__version__", "load_ipython_extension", *_HOMES]


class _Package(ModuleType):
    """This module: its room `check` must not hide the function of that name once it is imported."""

    def __setattr__(self, name: str, value: Any) -> None:
        if not (name in _HOMES and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package

if TYPE_CHECKING:
    from nika_nb.check import Report as Report
    from nika_nb.errors import CheckRefused as CheckRefused
    from nika_nb.errors import NikaError as NikaError
    from nika_nb.errors import NoSuchName as NoSuchName
    from nika_nb.errors import NotPaused as NotPaused
    from nika_nb.errors import ResumeRefused as ResumeRefused
    from nika_nb.errors import RunFailed as RunFailed
    from nika_nb.errors import RunPaused as RunPaused
    from nika_nb.errors import RunUnfinished as RunUnfinished
    from nika_nb.errors import UsageError as UsageError
    from nika_nb.runs.accounts import Ledger as Ledger
    from nika_nb.runs.acting import EffectsWithheld as EffectsWithheld
    from nika_nb.runs.answered import AlreadyAnswered as AlreadyAnswered
    from nika_nb.runs.api import arun as arun
    from nika_nb.runs.api import attach as attach
    from nika_nb.runs.api import check as check
    from nika_nb.runs.api import run as run
    from nika_nb.runs.diff import diff as diff
    from nika_nb.runs.difference import Diff as Diff
    from nika_nb.runs.explanation import Why as Why
    from nika_nb.runs.forecast import plan_resume as plan_resume
    from nika_nb.runs.lack import Lacking as Lacking
    from nika_nb.runs.lack import RunBlocked as RunBlocked
    from nika_nb.runs.ledger import ledger as ledger
    from nika_nb.runs.refusals import TraceUnreadable as TraceUnreadable
    from nika_nb.runs.refusals import Untrusted as Untrusted
    from nika_nb.runs.refusals import WrongAnswer as WrongAnswer
    from nika_nb.runs.replaying import replay as replay
    from nika_nb.runs.reproduce import reproduce as reproduce
    from nika_nb.runs.run import Run as Run
    from nika_nb.runs.run import TaskResult as TaskResult
    from nika_nb.runs.waiting import StillWaits as StillWaits
    from nika_nb.runs.why import why as why
    from nika_nb.tables import read_trace as read_trace
    from nika_nb.tables import read_traces as read_traces


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'nika_nb' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)


def load_ipython_extension(ipython: Any) -> None:
    """`%load_ext nika_nb`: adds the `%%nika` and `%nika` magics."""
    from nika_nb.notebook.magic import load

    load(ipython)
