"""A page per key of the language, and one per level of keys."""

from __future__ import annotations

from collections.abc import Iterator

from nika_nb.check.editing.keys import LEVELS, PREDICATE_HELP, Key
from nika_nb.check.guide.page import Block, Page, Sample, Table
from nika_nb.check.guide.samples import SAMPLES

# How the top of a level is called where it differs from its name.
_HEADS = {"workflow": "a workflow", "task": "a task"}


def key_pages() -> Iterator[Page]:
    """By the key's name; a key that stands at several places has one page that tells of each.

    A level comes before the key that is called like it.
    """
    places: dict[str, list[tuple[str, Key]]] = {}
    for level, keys in LEVELS.items():
        for name, key in keys.items():
            places.setdefault(name, []).append((level, key))
    for level in ("workflow", "task"):
        also = tuple(_told(*one) for one in places.get(level, ()))
        yield Page(level, f"The keys of {_HEADS[level]}.", (keys_table(level), *also))
    for name, found in places.items():
        yield _page(name, sorted(found, key=lambda one: one[0] != "task"))


def key_page(path: str) -> Page | None:
    """The page of a key by its way, as `permits.exec`: that place is told of first. None where it is none."""
    level, _, name = path.rpartition(".")
    if name not in LEVELS.get(level, {}):
        return None
    found = [(each, keys[name]) for each, keys in LEVELS.items() if name in keys]
    return _page(name, sorted(found, key=lambda one: one[0] != level))


def keys_table(level: str) -> Table:
    """The keys of one level, each with what it takes and what holds without it."""
    return Table(
        ("key", "takes", "without it", "meaning"), tuple(_row(*one) for one in LEVELS[level].items())
    )


def _row(name: str, key: Key) -> tuple[str, str, str, str]:
    return name, takes(key), key.default, key.help


def takes(key: Key) -> str:
    """What stands behind a key, in a word or two."""
    if key.kind in ("words", "flag"):
        return " | ".join(key.words) or "true | false"
    return _KINDS[key.kind]


_KINDS = {
    "text": "a text", "number": "a number", "level": "keys", "names": "names of yours", "tasks": "tasks",
    "island": "an expression", "type": "a type", "model": "a model", "models": "models", "tool": "a tool",
    "tools": "tools", "workflow": "a file", "args": "its arguments", "codes": "codes", "programs": "programs",
    "free": "a value",
}  # fmt: skip


def _page(name: str, found: list[tuple[str, Key]]) -> Page:
    first, *others = found
    blocks: list[Block] = [*_facts(first[1])]
    blocks += [keys_table(first[1].level)] if first[1].level else []
    blocks += [Table(("", ""), tuple(PREDICATE_HELP.items()))] if name == "after" else []
    blocks += [" · ".join([_told(*one), *_facts(one[1])]) for one in others]
    blocks += [Sample(text) for text in SAMPLES.get(name, ())]
    return Page(name, _told(*first), tuple(blocks))


def _facts(key: Key) -> Iterator[str]:
    if key.kind in ("words", "flag"):
        yield f"one of: {takes(key)}"
    if key.default:
        yield f"without it: {key.default}"


def _told(level: str, key: Key) -> str:
    """Where a key is written, and what it is for."""
    return f"of {_HEADS.get(level, f'`{level}`')} · {key.help}"
