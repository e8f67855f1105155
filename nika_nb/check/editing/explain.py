"""What the word under the cursor means: a key, a tool, a task, an input, a model."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from nika_nb.check.editing.complete import island_before
from nika_nb.check.editing.keys import ROOTS, Key
from nika_nb.check.editing.outline import Path, Spot, spot
from nika_nb.check.editing.places import (
    Document,
    Tools,
    about_model,
    fields_of,
    key_at,
    keys_below,
    words_for,
)

_WORD = re.compile(r"[\w.:/*\-]+")


@dataclass(frozen=True, slots=True)
class Explanation:
    """title: the word with what it is; lines: what there is to say about it."""

    title: str
    lines: tuple[str, ...] = ()


def explain(text: str, offset: int, tools: Tools) -> Explanation | None:
    """None where nothing is known of the word there."""
    found = next((word for word in _WORD.finditer(text) if word.start() <= offset <= word.end()), None)
    if found is None:
        return None
    document = Document.read(text, tools)
    island = island_before(text[: found.start()])
    if island is not None:
        return _name(text, found, offset, document)
    end = found.end() - (1 if found[0].endswith(":") else 0)
    return _word(spot(text, end), document)


# -- keys and words ------------------------------------------------------------------------------


def _word(here: Spot, document: Document) -> Explanation | None:
    parent = key_at(here.path, document)
    if parent is None or not here.fragment:
        return None
    if here.kind == "key" or (here.kind == "item" and parent.kind == "level"):
        return _key(here, parent, document)
    if parent.kind == "model" and (known := about_model(here.fragment)):
        return Explanation(here.fragment, (known,))
    said = words_for(parent, here.path, document).get(here.fragment)
    if here.fragment in document.tools and parent.kind in ("tool", "tools"):
        return _tool(here.fragment, document)
    return None if said is None else Explanation(here.fragment, (said,) if said else ())


def _key(here: Spot, parent: Key, document: Document) -> Explanation | None:
    name, path = here.fragment, here.path
    key = keys_below(parent, path, document).get(name)
    if key is None:
        return _chosen(name, path, document)
    place = ".".join([*_shown(path), name])
    return Explanation(place, tuple(_about(key, (*path, name), document)))


def _shown(path: Path) -> Path:
    """The way to a key without the names that the author chose."""
    return path[2:] if path[:1] == ("tasks",) else path


def _about(key: Key, path: Path, document: Document) -> Iterator[str]:
    if key.help:
        yield key.help
    below = keys_below(key, path, document)
    words = words_for(key, path, document) if key.kind in ("words", "flag") else {}
    if below:
        yield f"keys: {', '.join(below)}"
    elif words:
        yield f"one of: {', '.join(words)}"
    if key.default:
        yield f"without it: {key.default}"


def _chosen(name: str, path: Path, document: Document) -> Explanation | None:
    """A name that the author gave."""
    if path == ("tasks",):
        return _task(name, document)
    if path[:1] == ("inputs",) and len(path) == 1:
        return _input(name, document)
    return None


def _tool(name: str, document: Document) -> Explanation:
    tool = document.tools[name]
    arguments = [f"  {one}  {said}".rstrip() for one, said in tool.arguments.items()]
    return Explanation(
        name, (*([tool.says] if tool.says else []), *(["args:", *arguments] if arguments else []))
    )


def _task(name: str, document: Document) -> Explanation:
    read = sorted(
        entry.path[1]
        for entry in document.entries
        if entry.path[2:3] == ("with",) and f"tasks.{name}." in entry.value
    )
    behind = sorted(
        entry.path[1]
        for entry in document.entries
        if entry.path[2:] == ("after", name) and entry.path[0] == "tasks"
    )
    lines = [document.about(name)]
    lines += [f"read by {', '.join(dict.fromkeys(read))}"] if read else []
    lines += [f"waited for by {', '.join(behind)}"] if behind else []
    return Explanation(f"task {name}", tuple(lines))


def _input(name: str, document: Document) -> Explanation:
    facts = {
        key: document.value("inputs", name, key) for key in ("type", "required", "default", "description")
    }
    return Explanation(f"input {name}", tuple(f"{key}: {value}" for key, value in facts.items() if value))


# -- expressions ---------------------------------------------------------------------------------


def _name(text: str, found: re.Match[str], offset: int, document: Document) -> Explanation | None:
    """The step of a path that the cursor stands on."""
    steps = found[0][: _step_end(found[0], offset - found.start())].split(".")
    path = spot(text, text.rfind("${{", 0, found.start())).path
    task = path[1] if len(path) > 1 and path[0] == "tasks" else ""
    match steps:
        case ["tasks", name] if name in document.tasks:
            return _task(name, document)
        case ["tasks", name, step]:
            return _said(f"tasks.{name}.{step}", fields_of(name, document).get(step))
        case ["inputs", name] if name in document.below("inputs"):
            return _input(name, document)
        case ["with", name]:
            return _said(f"with.{name}", document.below("tasks", task, "with").get(name))
        case ["const" | "secrets" as root, name]:
            return _said(f"{root}.{name}", document.below(root).get(name))
        case [root]:
            return _said(root, ROOTS.get(root))
    return None


def _step_end(chain: str, at: int) -> int:
    """Where the step ends that a place in a path belongs to."""
    end = chain.find(".", at)
    return len(chain) if end < 0 else end


def _said(title: str, said: str | None) -> Explanation | None:
    return None if said is None else Explanation(title, (said,) if said else ())
