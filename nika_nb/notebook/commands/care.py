"""`%nika sweep|config`: what was left over, and the settings in force."""

from __future__ import annotations

import os
from collections.abc import Mapping

from nika_nb.errors import UsageError
from nika_nb.notebook.commands import command
from nika_nb.notebook.session import Session
from nika_nb.runs.orphans import swept
from nika_nb.settings import SETTINGS, Setting, Settings, short_name
from nika_nb.values import nearest


@command("sweep", "end the processes that dead runs of this folder left at work")
def sweep(session: Session, words: list[str]) -> None:
    """Only what a journal here saw begin and nobody watches any more is ended, never a stranger."""
    if words:
        raise UsageError("%nika sweep takes nothing: it looks at the runs of this folder")
    print(swept(session.place.folder.path))


@command("config [NAME=VALUE …]", "the settings in force and where they come from; set some for this kernel")
def config(session: Session, words: list[str]) -> None:
    """NAME is the variable, or the short name in the list: max_parallel=4. NAME= goes back to the default.

    What is set here lasts as long as the kernel; for good, set the variable where Jupyter starts.
    """
    for word in words:
        _set(word)
    if not words:
        print("\n".join(_table(session.environment)))


def _table(before: Mapping[str, str | None]) -> list[str]:
    """A row per setting: its name, what is in force, where that comes from, what it means."""
    rows = [(short_name(one), *_in_force(one, before), f"{one.variable} · {one.meaning}") for one in SETTINGS]
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    lines = ["  ".join([*map(str.ljust, row[:3], widths), row[3]]) for row in rows]
    return [*lines, *Settings.read().troubles]


def _in_force(one: Setting, before: Mapping[str, str | None]) -> tuple[str, str]:
    text = os.environ.get(one.variable)
    if not text or any(trouble.startswith(f"{one.variable}=") for trouble in Settings.read().troubles):
        return one.default, "default"
    return text, "environment" if text == before.get(one.variable) else "set here"


def _set(word: str) -> None:
    """Raises UsageError for a name or a value that says nothing; then nothing has changed."""
    name, sign, value = word.partition("=")
    one = _named(name)
    if not sign:
        raise UsageError(f"%nika config {word}: give a value, as in {short_name(one)}=…")
    kept = os.environ.pop(one.variable, None)
    before = set(Settings.read().troubles)
    if value:
        os.environ[one.variable] = value
    troubles = [trouble for trouble in Settings.read().troubles if trouble not in before]
    if troubles:
        del os.environ[one.variable]
        if kept is not None:
            os.environ[one.variable] = kept
        raise UsageError(f"%nika config: {troubles[0].partition(':')[0]}; nothing was changed")
    print(f"{short_name(one)} = {value or one.default}" + ("" if value else " (default)"))


def _named(name: str) -> Setting:
    known = {label: one for one in SETTINGS for label in (short_name(one), one.variable)}
    if name not in known:
        hint = nearest(name, known)
        listed = ", ".join(map(short_name, SETTINGS))
        raise UsageError(f"%nika config {name}: no such setting ({listed})" + (f", {hint}" if hint else ""))
    return known[name]
