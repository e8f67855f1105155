"""What may be typed next on a `%%nika` or `%nika` line: options, commands, and the names they take."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from nika_nb.check.editing.complete import Completion, Completions
from nika_nb.check.editing.places import Document, models
from nika_nb.check.guide.topics import names as topic_names
from nika_nb.errors import UsageError
from nika_nb.notebook import commands
from nika_nb.notebook.options import cell_line
from nika_nb.notebook.session import Session
from nika_nb.runs.cancellable import candidates
from nika_nb.runs.deployments import Deployments
from nika_nb.runs.shelf import Shelf
from nika_nb.runs.vocabulary import tool_words
from nika_nb.settings import SETTINGS, short_name

_TRACES = 20  # the newest ones that are offered
_TAKE_A_TRACE = ("attach", "show", "verify", "resume", "trace", "why", "replay")
_TAKE_A_QUESTION = ("answer", "decline")


def cell_words(before: str, body: str, session: Session) -> Completions:
    """before: the line up to the cursor, `%%nika` left out. body: the cell's text below it."""
    *earlier, fragment = before.split(" ")
    words = [word for word in earlier if word]
    return _chosen(fragment, _of_cell(words, body, session), session)


def line_words(before: str, session: Session) -> Completions:
    """before: the line up to the cursor, `%nika` left out."""
    *earlier, fragment = before.split(" ")
    words = [word for word in earlier if word]
    return _chosen(fragment, _of_line(words, session), session)


def _chosen(fragment: str, offered: dict[str, str], session: Session) -> Completions:
    found = offered | _by_id(fragment, offered, session) | _variables(fragment, session)
    items = (Completion(text, "option", said) for text, said in found.items() if text.startswith(fragment))
    return Completions(fragment, tuple(items))


def _of_cell(words: list[str], body: str, session: Session) -> dict[str, str]:
    option = words[-1] if words else ""
    document = Document.read(body, tool_words())
    match option:
        case "--model":
            return models()
        case "--from":
            return document.tasks
        case "--answer":
            return {f"{task}=": about for task, about in document.tasks.items() if "prompt" in about}
        case "--var":
            return {f"{name}=": said for name, said in document.below("inputs").items()}
        case "--vars":
            dicts = {name: "a dict" for name in _names(session) if isinstance(session.names[name], dict)}
            return dicts | {f"{name}=": said for name, said in document.below("inputs").items()}
        case "--resume":
            return _options(words) | _traces(session)
    return {} if _wants_a_value(option) else _options(words)


def _wants_a_value(word: str) -> bool:
    """Whether what follows belongs to this option, and is a name or a text of the author's."""
    return any(word in action.option_strings and action.nargs is None for action in cell_line()._actions)


def _options(words: list[str]) -> dict[str, str]:
    """Every option that is not there yet, or may stand there twice."""
    found: dict[str, str] = {}
    for action in cell_line()._actions:
        twice = isinstance(action, argparse._AppendAction)
        for name in action.option_strings:
            if twice or name not in words:
                found[name] = action.help or ""
    return found


def _of_line(words: list[str], session: Session) -> dict[str, str]:
    if not words:
        return {name: one.help for name, one in commands.table().items()} | {
            "help": "all of this, or a topic: a key, a tool, a code"
        }
    name, rest = words[0], words[1:]
    if name == "help":
        return topic_names(tool_words())
    if name == "config":
        return {f"{short_name(one)}=": one.meaning for one in SETTINGS}
    first = {} if rest else _deployments(session) if name == "run" else _runs_for(name, session)
    return first | (_options(rest) if name in ("run", "resume") else {})


def _deployments(session: Session) -> dict[str, str]:
    try:
        found = Deployments(session.folder).all()
    except UsageError:  # of a folder that cannot be read there is nothing to offer
        return {}
    return {one.name: f"a deployment of {one.snapshot.workflow}" for one in found}


def _runs_for(command: str, session: Session) -> dict[str, str]:
    """The traces that a command may be given: those that ask, those that can be ended, or all."""
    folder = session.place.folder.path
    if command in _TAKE_A_QUESTION:
        waiting = Shelf(folder).page(0, _TRACES, "interrupted").runs
        return {run.traces[-1]: f"waits · {run.workflow}" for run in waiting if run.answered_by is None}
    if command == "cancel":
        found = [(one.path.name, one.heading) for one in candidates(folder) if one.path is not None]
        return dict(found[:_TRACES])
    return _traces(session) if command in _TAKE_A_TRACE else {}


def _traces(session: Session) -> dict[str, str]:
    found = session.place.folder.recent(_TRACES)
    return {entry.path.name: f"{entry.state} · {entry.workflow}" for entry in found}


def _by_id(fragment: str, offered: Mapping[str, str], session: Session) -> dict[str, str]:
    """The ids of the runs whose traces are offered, once one is begun: they would only stand there twice."""
    found = session.place.folder.recent(_TRACES) if fragment else ()
    return {
        entry.run: f"a run of {entry.workflow}" for entry in found if entry.run and entry.path.name in offered
    }


def _variables(fragment: str, session: Session) -> dict[str, str]:
    """The notebook's names behind a dollar sign."""
    head, sign, _ = fragment.rpartition("$")
    if not sign or head.endswith("$"):
        return {}
    return {f"{head}${name}": _kind(session.names[name]) for name in _names(session)}


def _names(session: Session) -> list[str]:
    hidden = session.shell.user_ns_hidden
    return [name for name in session.names if not name.startswith("_") and name not in hidden]


def _kind(value: Any) -> str:
    return type(value).__name__
