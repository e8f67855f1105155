"""What may be typed next in a half-written workflow."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from nika_nb.catalog.grammar import VERBS
from nika_nb.check.editing.keys import ROOTS, Key
from nika_nb.check.editing.outline import Path, Spot, spot
from nika_nb.check.editing.places import Document, Tools, fields_of, key_at, keys_below, words_for

_OPENER = "${{"
_CHAIN = re.compile(r"[A-Za-z_][\w.\-]*\Z|\Z")
_READS_TASKS = ("with", "on_error")  # where a task may read another one


@dataclass(frozen=True, slots=True)
class Completion:
    """text: what takes the place of the fragment. kind: what it is, for an icon. help: a few words."""

    text: str
    kind: str
    help: str = ""


@dataclass(frozen=True, slots=True)
class Completions:
    """fragment: what was begun, right before the cursor; empty items: nothing is known here."""

    fragment: str
    items: tuple[Completion, ...] = ()


def complete(text: str, offset: int, tools: Tools) -> Completions:
    """What may stand at a place of a workflow's text."""
    document = Document.read(text, tools)
    island = island_before(text[:offset])
    if island is not None:
        return _in_island(island, spot(text, offset - len(island) - len(_OPENER)).path, document)
    here = spot(text, offset)
    if here.kind == "text":
        return Completions("")
    return _fitting(here.fragment, _at(here, text, offset, document))


def island_before(text: str) -> str | None:
    """What is written so far of the expression that the cursor stands in; None outside of one."""
    at = text.rfind(_OPENER)
    if at < 0 or "}}" in text[at:] or "\n\n" in text[at:]:
        return None
    return text[at + len(_OPENER) :]


def _fitting(fragment: str, found: Mapping[str, Completion]) -> Completions:
    """What begins so; where nothing does, what holds it."""
    wanted = fragment.lower()
    items = [one for name, one in found.items() if name.lower().startswith(wanted)]
    items = items or [one for name, one in found.items() if wanted in name.lower()]
    return Completions(fragment, tuple(items))


# -- keys and words ------------------------------------------------------------------------------


def _at(here: Spot, text: str, offset: int, document: Document) -> dict[str, Completion]:
    key = key_at(here.path, document)
    if key is None:
        return {}
    closed = keys_below(key, here.path, document)
    if here.kind == "key" or (here.kind == "item" and key.kind == "level"):
        return _keys(closed, here, text, offset, document)
    words = words_for(key, here.path, document)
    return {word: Completion(word, "value", said) for word, said in words.items()}


def _keys(
    closed: Mapping[str, Key], here: Spot, text: str, offset: int, document: Document
) -> dict[str, Completion]:
    """The keys that are not there yet. One verb is all that a task has."""
    taken = set() if here.kind == "item" else _taken(here, offset, document)
    verbs = set(VERBS) if taken & set(VERBS) and "infer" in closed else set()
    written = re.match(r"[\w\-]*\s*:", text[offset:]) is not None
    return {
        name: Completion(name + ("" if written else _colon(key, here)), "key", key.help)
        for name, key in closed.items()
        if name not in taken | verbs
    }


def _taken(here: Spot, offset: int, document: Document) -> set[str]:
    """The keys beside the cursor, without the one that it stands in."""
    begun = offset - len(here.fragment)
    depth = len(here.path)
    return {
        entry.path[depth]
        for entry in document.entries
        if len(entry.path) == depth + 1 and entry.path[:depth] == here.path and entry.start != begun
    }


def _colon(key: Key, here: Spot) -> str:
    """A mapping goes on below its key, anything else behind it."""
    return ":" if key.kind in ("level", "names", "tasks", "args") and not here.flow else ": "


# -- expressions ---------------------------------------------------------------------------------


def _in_island(written: str, path: Path, document: Document) -> Completions:
    found = _CHAIN.search(written)
    chain = found[0] if found else ""
    *steps, fragment = chain.split(".")
    names = _names(tuple(steps), path, document)
    return _fitting(fragment, {name: Completion(name, "name", said) for name, said in names.items()})


def _names(steps: tuple[str, ...], path: Path, document: Document) -> dict[str, str]:
    """What may follow the steps that are written."""
    task = path[1] if len(path) > 1 and path[0] == "tasks" else ""
    match steps:
        case ():
            return _roots(path, task, document)
        case ("tasks",):
            return {name: about for name, about in document.tasks.items() if name != task}
        case ("tasks", name):
            return fields_of(name, document)
        case ("with",):
            return document.below("tasks", task, "with")
        case ("inputs" | "const" | "secrets" as root,):
            return document.below(root)
        case ("group",):
            return _groups(document)
    return {}


def _roots(path: Path, task: str, document: Document) -> dict[str, str]:
    """What an expression may start with at this place."""
    place = path[2] if len(path) > 2 else ""
    wanted = ["inputs", "const", "size(", "has("]
    if path[:1] == ("outputs",) or place in _READS_TASKS:
        wanted = ["tasks", "group", *wanted] if place != "on_error" else ["tasks", *wanted]
    if task and place != "with":
        wanted = ["with", *wanted]
    if task:
        wanted += ["secrets"] if document.below("secrets") else []
        wanted += ["item", "index"] if "for_each" in document.below("tasks", task) else []
    return {name: ROOTS[name.rstrip("(")] for name in wanted}


def _groups(document: Document) -> dict[str, str]:
    named: dict[str, list[str]] = {}
    for task in document.below("tasks"):
        named.setdefault(document.value("tasks", task, "group"), []).append(task)
    return {name: ", ".join(tasks) for name, tasks in sorted(named.items()) if name}
