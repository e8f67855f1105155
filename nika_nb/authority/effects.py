"""What an action may do to the world outside the run, read from the action as written.

A target is static where the author wrote it out, dynamic where a template decides it at run time.
The check judges the static ones early; a prompt shows all of them to whoever must decide.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import urlsplit

from nika_nb.authority.permits import canonical_host, is_pure
from nika_nb.catalog.builtins import BUILTINS
from nika_nb.language.model import Action

Place = tuple[str, ...]  # keys, from the outside in
Kind = Literal["exec", "shell", "read", "write", "tool", "net", "workflow"]

_KINDS: dict[str, Kind] = {"fs.read": "read", "fs.write": "write", "net": "net"}


@dataclass(frozen=True, slots=True)
class Effect:
    """One thing an action may do.

    target: the program, shell line, path, host or tool as written; None when nothing is written.
    dynamic: a template stands in it, so that only the run knows the target.
    pattern: the target is a glob, and what is read is everything below its literal head.
    argument: where it is written, as a path of keys below the verb's body.
    """

    kind: Kind
    target: str | None
    dynamic: bool = False
    argument: Place = ()
    pattern: bool = False

    def __str__(self) -> str:
        return f"{self.kind} · {self.target}" if self.target else str(self.kind)


def effects(action: Action) -> tuple[Effect, ...]:
    """The effects of one action. A model call alone has none; an agent has those of its tools."""
    found = {
        "exec": _of_exec,
        "invoke": _of_invoke,
        "agent": _of_agent,
        "infer": _of_infer,
    }[action.verb](action)
    return tuple(dict.fromkeys(found))


def described(actions: Iterable[Action]) -> Place:
    """The effects of several actions as short lines for people, each once."""
    return tuple(dict.fromkeys(str(effect) for action in actions for effect in effects(action)))


def _of_exec(action: Action) -> Iterator[Effect]:
    command = action.get("command") or {}
    if command.get("shell") is not None:
        line = str(command["shell"])
        yield Effect("shell", line, _is_dynamic(line), ("command", "shell"))
    elif argv := command.get("argv"):
        words = [str(word) for word in argv]
        yield Effect("exec", " ".join(words), _is_dynamic(words[0]), ("command", "argv"))


def _of_invoke(action: Action) -> Iterator[Effect]:
    if action.get("workflow") is not None:
        target = str(action.get("workflow"))
        yield Effect("workflow", target, _is_dynamic(target), ("workflow",))
        return
    tool = str(action.get("tool"))
    yield from _of_tool(tool, ("tool",))
    builtin = BUILTINS.get(tool)
    for wanted in builtin.targets if builtin else ():
        for place, value in _found(action.get("args"), wanted.path, ("args",)):
            yield from _target(_KINDS[wanted.effect], value, place, wanted.pattern)


def _of_agent(action: Action) -> Iterator[Effect]:
    for number, tool in enumerate(action.get("tools") or ()):
        yield from _of_tool(str(tool), ("tools", str(number)))
    for number, path in enumerate(action.get("skills") or ()):
        yield Effect("read", str(path), _is_dynamic(path), ("skills", str(number)))


def _of_infer(action: Action) -> Iterator[Effect]:
    """Images that are read from files or fetched from hosts."""
    for number, image in enumerate(action.get("vision") or ()):
        if isinstance(image, dict):
            place = ("vision", str(number))
            if image.get("source") == "file":
                yield from _target("read", image.get("path"), (*place, "path"))
            elif image.get("source") == "url":
                yield from _target("net", image.get("url"), (*place, "url"))


def _of_tool(tool: str, place: Place) -> Iterator[Effect]:
    if not is_pure(tool) and not tool.startswith("!"):
        yield Effect("tool", tool, _is_dynamic(tool), place)


def _target(kind: Kind, value: Any, place: Place, pattern: bool = False) -> Iterator[Effect]:
    if not isinstance(value, str):
        return
    if kind != "net":
        yield Effect(kind, value, _is_dynamic(value), place, pattern)
        return
    host, dynamic = host_of(value)
    yield Effect("net", host, dynamic, place)


def host_of(url: str) -> tuple[str | None, bool]:
    """(the host of a URL as written, whether a template decides it)."""
    head = url.split("${{", 1)[0]
    if "${{" in url and "/" not in head.partition("://")[2]:
        return None, True
    try:
        host = urlsplit(head).hostname
    except ValueError:
        return None, False
    return (canonical_host(host) if host else None), False


def _found(value: Any, keys: Place, place: Place) -> Iterator[tuple[Place, Any]]:
    """Every value at a path of keys."""
    if not keys:
        yield place, value
    elif keys[0] == "*" and isinstance(value, list):
        for number, item in enumerate(value):
            yield from _found(item, keys[1:], (*place, str(number)))
    elif isinstance(value, dict) and keys[0] in value:
        yield from _found(value[keys[0]], keys[1:], (*place, keys[0]))


def _is_dynamic(text: Any) -> bool:
    return "${{" in str(text)
