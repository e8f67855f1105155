"""What a place in a document takes: the keys below it, or the words that may stand there."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from nika_nb.catalog.codes import CODES, title_of
from nika_nb.catalog.grammar import VERBS
from nika_nb.catalog.prices import PRICES
from nika_nb.catalog.providers import MOCKS, SERVED, split_model
from nika_nb.catalog.purposes import PURPOSES
from nika_nb.check.editing.keys import FIELDS, LEVELS, PREDICATE_HELP, Key
from nika_nb.check.editing.outline import Entry, Path, outline
from nika_nb.language.lowering import PRIMITIVES

CONSTRUCTORS: dict[str, str] = {
    "array": "a list: { array: string }",
    "map": "any keys, one type: { map: number }",
    "object": "fields: { object: { name: string } }",
    "enum": "one of these: { enum: [a, b] }",
    "union": "one of these types: { union: [string, null] }",
    "string": "bounds of a text: { string: { max_len: 80 } }",
    "integer": "bounds of a whole number: { integer: { min: 0 } }",
    "number": "bounds of a number: { number: { max: 1 } }",
}
_SINKS: dict[str, str] = {
    "exec": "to a program",
    "infer": "to a model",
    "outputs": "with what the workflow returns",
}
_ROOT = Key("", "level", level="workflow")


@dataclass(frozen=True, slots=True)
class ToolWords:
    """A tool as an editor knows it. shapes: the JSON Schema of an argument, where there is one."""

    name: str
    says: str = ""
    required: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    shapes: Mapping[str, Any] = field(default_factory=dict)

    @property
    def arguments(self) -> dict[str, str]:
        """Each argument with a word about it, the ones that it needs first."""
        return {name: self._said(name, "needed") for name in self.required} | {
            name: self._said(name, "") for name in self.optional
        }

    def words(self, argument: str) -> tuple[str, ...]:
        """What an argument may be, where that is a closed set."""
        shape = self.shapes.get(argument, {})
        if shape.get("type") == "boolean":
            return ("true", "false")
        return tuple(str(word) for word in shape.get("enum", ()))

    def kind(self, argument: str) -> str:
        """What an argument takes: its words, or the name of its type; empty where anything may stand."""
        named = self.words(argument) or self.shapes.get(argument, {}).get("type", "")
        return named if isinstance(named, str) else " | ".join(named)

    def about(self, argument: str) -> str:
        """What an argument is for, and what it is where it is left out."""
        return PURPOSES.get(self.name, {}).get(argument, "")

    def _said(self, argument: str, need: str) -> str:
        return " · ".join(part for part in (need, self.kind(argument), self.about(argument)) if part)


Tools = Mapping[str, ToolWords]


@dataclass(frozen=True, slots=True)
class Document:
    """The names that a half-written document holds so far. inside: the keys right below each path."""

    entries: tuple[Entry, ...]
    inside: Mapping[Path, Mapping[str, str]]
    tools: Tools

    @classmethod
    def read(cls, text: str, tools: Tools) -> Document:
        entries = outline(text)
        inside: dict[Path, dict[str, str]] = {}
        for entry in entries:
            inside.setdefault(entry.path[:-1], {})[entry.path[-1]] = entry.value
        return cls(entries, inside, tools)

    def below(self, *path: str) -> dict[str, str]:
        """The keys right below a path, each with what stands behind it on its line."""
        return dict(self.inside.get(path, {}))

    def value(self, *path: str) -> str:
        """What stands behind a key, without quotes; empty where it is not written."""
        return self.inside.get(path[:-1], {}).get(path[-1], "").strip("\"' ")

    @property
    def tasks(self) -> dict[str, str]:
        """Every task with its verb and what that is about."""
        return {name: self.about(name) for name in self.below("tasks")}

    def about(self, task: str) -> str:
        """`invoke · nika:read`, as the panel shows it, as far as it is written."""
        written = self.inside.get(("tasks", task), {})
        verbs = [verb for verb in VERBS if verb in written]
        if not verbs:
            return "a task"
        named = self.value("tasks", task, verbs[0], "tool") or self.value("tasks", task, verbs[0], "model")
        program = re.match(r"[\[\s\"']*([^\s\"',\]]+)", self.value("tasks", task, "exec", "command"))
        named = named or (program[1] if program else "")
        return f"{verbs[0]} · {named}" if named else verbs[0]

    def tool_at(self, path: Path) -> ToolWords | None:
        """The tool whose arguments stand at a path."""
        task = path[1] if len(path) > 1 else ""
        return self.tools.get(self.value("tasks", task, "invoke", "tool"))

    @property
    def programs(self) -> dict[str, str]:
        """The programs that tasks start, as a boundary has to name them."""
        found: dict[str, str] = {}
        for entry in self.entries:
            name = re.match(r"\[\s*[\"']?([^\s\"',\]]+)", entry.value)
            if entry.path[0] == "tasks" and entry.path[2:] == ("exec", "command") and name:
                found.setdefault(name[1], f"`{entry.path[1]}` starts it")
        return found


def key_at(path: Path, document: Document) -> Key | None:
    """What stands behind the last key of a path; None where the language knows nothing of it."""
    key: Key | None = _ROOT
    for depth, name in enumerate(path):
        if key is None:
            return None
        key = _step(key, name, path[: depth + 1], document)
    return key


def _step(key: Key, name: str, path: Path, document: Document) -> Key | None:
    match key.kind:
        case "level":
            return LEVELS[key.level].get(name)
        case "names":
            return Key(key.help, "level", level=key.level) if key.level else Key("", "island")
        case "tasks":
            return Key("which state of it admits this task", "words", tuple(PREDICATE_HELP))
        case "args":
            tool = document.tool_at(path)
            return Key(tool.arguments.get(name, ""), "words", tool.words(name)) if tool else None
        case "type":
            return replace(key, help=CONSTRUCTORS.get(name, key.help))
        case "words" if name == "seeded":
            return Key("a whole number: two runs with the same one write the same bytes", "number")
    return None


def keys_below(key: Key, path: Path, document: Document) -> dict[str, Key]:
    """The keys that may stand below one; empty where the author chooses them, or there are none."""
    match key.kind:
        case "level":
            return dict(LEVELS[key.level])
        case "tasks":
            own = path[1] if len(path) > 1 else ""
            return {name: Key(about) for name, about in document.tasks.items() if name != own}
        case "args":
            tool = document.tool_at(path)
            return {name: Key(said) for name, said in tool.arguments.items()} if tool else {}
        case "type":
            return {name: Key(said) for name, said in CONSTRUCTORS.items()}
        case "words" if path[-1:] == ("entropy",):
            return {"seeded": Key("a whole number", "number")}
    return {}


def words_for(key: Key, path: Path, document: Document) -> dict[str, str]:
    """The words that may stand behind a key, each with a word about it."""
    match key.kind:
        case "words":
            return {word: PREDICATE_HELP.get(word, "") for word in key.words}
        case "flag":
            return {"true": "", "false": ""}
        case "model":
            return models()
        case "tool":
            sinks = _SINKS if path[-2:] == ("egress", "to") else {}
            return sinks | {name: tool.says for name, tool in document.tools.items()}
        case "tools":
            return {name: tool.says for name, tool in document.tools.items()}
        case "programs":
            return document.programs
        case "codes":
            return {code: title_of(code) for code in CODES}
        case "type":
            return dict.fromkeys(PRIMITIVES, "")
    return {}


def models() -> dict[str, str]:
    """The models that this version can call; others are checked and priced, and cannot run yet."""
    return MOCKS | {name: _price(name) for name in PRICES if split_model(name)[0] in SERVED}


def about_model(name: str) -> str:
    """What is known of a model; empty where nothing is."""
    if name in MOCKS or name not in PRICES:
        return MOCKS.get(name, "")
    served = split_model(name)[0] in SERVED
    return _price(name) + ("" if served else " · this version cannot call it: only mock/… runs")


def _price(name: str) -> str:
    price = PRICES[name]
    return f"${price.input:g} in, ${price.output:g} out, a million tokens"


def fields_of(task: str, document: Document) -> dict[str, str]:
    """What can be read of a task: its named parts first."""
    named = {name: f"by jq: {program}" for name, program in document.below("tasks", task, "extract").items()}
    return named | FIELDS
