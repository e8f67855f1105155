"""`%nika sweep|config`: what was left over, and the settings in force."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from nika_nb.errors import UsageError
from nika_nb.files import at_home
from nika_nb.notebook.commands import command
from nika_nb.notebook.session import Session
from nika_nb.runs.orphans import swept
from nika_nb.settings import SETTINGS, Setting, Settings, short_name
from nika_nb.values import nearest

_BACK = ("", "unset", "default")  # what goes back to the default


@command("sweep", "end the processes that dead runs of this folder left at work")
def sweep(session: Session, words: list[str]) -> None:
    """Only what a journal here saw begin and nobody watches any more is ended, never a stranger."""
    if words:
        raise UsageError("%nika sweep takes nothing: it looks at the runs of this folder")
    print(swept(session.place.folder.path))


@command("config [NAME=VALUE …]", "the settings in force and where they come from; set some for this kernel")
def config(session: Session, words: list[str]) -> None:
    """NAME is the variable, or the short name in the list: max_parallel=4. NAME=unset, or NAME= alone, goes
    back to the default; NAME without a sign shows that one.

    What is set here lasts as long as the kernel; for good, set the variable where Jupyter starts.
    """
    named = [(_named(word.partition("=")[0]), *word.partition("=")[1:]) for word in words]
    told = [one for one, sign, _ in named if not sign]
    _set({one: value for one, sign, value in named if sign})
    if told or not words:
        print("\n".join(_table(told or SETTINGS, session.environment)))


def _table(settings: Sequence[Setting], before: Mapping[str, str | None]) -> list[str]:
    """A row per setting: its name, what is in force, where that comes from, what it means."""
    rows = [(short_name(one), *_in_force(one, before), f"{one.variable} · {one.meaning}") for one in settings]
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    lines = ["  ".join([*map(str.ljust, row[:3], widths), row[3]]) for row in rows]
    return [*lines, *Settings.read().troubles]


def _in_force(one: Setting, before: Mapping[str, str | None]) -> tuple[str, str]:
    text = os.environ.get(one.variable)
    if not text or any(trouble.startswith(f"{one.variable}=") for trouble in Settings.read().troubles):
        return one.default, "default"
    return text, "environment" if text == before.get(one.variable) else "set here"


def _set(wanted: Mapping[Setting, str]) -> None:
    """Raises UsageError for a value that says nothing; then nothing has changed."""
    kept = {one: os.environ.get(one.variable) for one in wanted}
    before = set(Settings.read().troubles)
    for one, value in wanted.items():
        _put(one, None if value in _BACK else value)
    troubles = [trouble.partition(": ")[0] for trouble in Settings.read().troubles if trouble not in before]
    troubles += [trouble for one, value in wanted.items() if (trouble := _missing(one, value))]
    if troubles:
        for one, text in kept.items():
            _put(one, text)
        raise UsageError(f"%nika config: {troubles[0]}; nothing was changed")
    for one, value in wanted.items():
        print(f"{short_name(one)} = " + (f"{one.default} (default)" if value in _BACK else value))


def _put(one: Setting, text: str | None) -> None:
    if text is None:
        os.environ.pop(one.variable, None)
    else:
        os.environ[one.variable] = text


def _missing(one: Setting, value: str) -> str:
    """What is wrong with a value that has to be a file's path."""
    if not one.is_file or value in _BACK or at_home(value).is_file():
        return ""
    return f"{short_name(one)}={value}: there is no such file ({short_name(one)}=unset goes without)"


def _named(name: str) -> Setting:
    known = {label: one for one in SETTINGS for label in (short_name(one), one.variable)}
    found = known.get(name) or known.get(name.lower())
    if found is None:
        hint = nearest(name, known)
        listed = ", ".join(map(short_name, SETTINGS))
        raise UsageError(f"%nika config {name}: no such setting ({listed})" + (f", {hint}" if hint else ""))
    return found
