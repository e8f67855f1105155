"""YAML as data from outside: read under the core schema into JSON values, and written so that it reads back.

Unlike a workflow's own text it may share nodes by anchors, and it may name its documents. What no
JSON value can hold (a foreign tag, NaN, a key that is a collection) is refused.
"""

from __future__ import annotations

from typing import Any

from nika_nb.language import scalars
from nika_nb.language.scalars import CORE, HALF_A_PAIR, SURROGATE
from nika_nb.values import Json

_DEPTH = 100
_MOST_NODES = 1_000_000  # aliases counted as often as they are used


class NotData(ValueError):
    """A sentence about why a text is no YAML data, with its line."""


def read_yaml(text: str) -> Json:
    """The JSON value of the one document in a text; null for an empty one. Raises NotData."""
    import yaml

    if not text.isascii() and SURROGATE.search(text):
        raise NotData(HALF_A_PAIR)
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)(text)
    try:
        return _Reader(loader).document()
    except yaml.YAMLError as error:
        raise NotData(_explained(error)) from None
    finally:
        loader.dispose()


def write_yaml(value: Json) -> str:
    """The value as YAML text: block style, keys in their order, every text a text for any reader."""
    import yaml

    base: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    dumper: Any = type("Dumper", (base,), {"ignore_aliases": lambda self, data: True})
    dumper.add_representer(str, _represent_text)
    return str(yaml.dump(value, Dumper=dumper, sort_keys=False, allow_unicode=True, width=1 << 20))


def _represent_text(dumper: Any, text: str) -> Any:
    """Quoted where a reader of either schema would take it for something else."""
    try:
        plain = isinstance(scalars.resolve(text), str)
    except scalars.NotFinite:
        plain = False
    style = ("|" if "\n" in text else None) if plain else '"'
    return dumper.represent_scalar(CORE + "str", text, style=style)


def _explained(error: Any) -> str:
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or getattr(error, "reason", None) or "it cannot be read"
    place = f"line {mark.line + 1}: " if mark is not None else ""
    return place + " ".join(str(problem).split())


class _Reader:
    """Pulls events and builds values. A node is counted each time it is used."""

    def __init__(self, loader: Any) -> None:
        import yaml

        self._next = loader.get_event
        self._events = yaml.events
        self._anchors: dict[str, tuple[Json, int]] = {}
        self._count = 0
        self._depth = 0

    def document(self) -> Json:
        self._next()  # stream start
        if isinstance(self._next(), self._events.StreamEndEvent):
            return None
        value = self._value(self._next())
        self._next()  # document end
        after = self._next()
        if not isinstance(after, self._events.StreamEndEvent):
            raise self._not_data(after, "a second document starts here: one text is one value")
        return value

    def _value(self, event: Any) -> Json:
        if isinstance(event, self._events.AliasEvent):
            return self._shared(event)
        before = self._count
        self._counted(event, 1)
        value = self._scalar(event) if isinstance(event, self._events.ScalarEvent) else self._inside(event)
        if event.anchor is not None:
            self._anchors[event.anchor] = (value, self._count - before)
        return value

    def _shared(self, event: Any) -> Json:
        if event.anchor not in self._anchors:
            raise self._not_data(event, f"`*{event.anchor}` stands for nothing that is complete yet")
        value, nodes = self._anchors[event.anchor]
        self._counted(event, nodes)
        return value

    def _counted(self, event: Any, nodes: int) -> None:
        self._count += nodes
        if self._count > _MOST_NODES:
            raise self._not_data(event, f"it holds more than {_MOST_NODES:,} values")

    def _inside(self, event: Any) -> Json:
        self._depth += 1
        if self._depth > _DEPTH:
            raise self._not_data(event, f"it is nested deeper than {_DEPTH} levels")
        is_map = isinstance(event, self._events.MappingStartEvent)
        self._check_tag(event, "map" if is_map else "seq")
        value = self._map() if is_map else self._seq()
        self._depth -= 1
        return value

    def _seq(self) -> list[Json]:
        items: list[Json] = []
        while not isinstance(event := self._next(), self._events.SequenceEndEvent):
            items.append(self._value(event))
        return items

    def _map(self) -> dict[str, Json]:
        found: dict[str, Json] = {}
        while not isinstance(event := self._next(), self._events.MappingEndEvent):
            key = self._key(event)
            if key in found:
                raise self._not_data(event, f"the key `{key}` is written twice")
            found[key] = self._value(self._next())
        return found

    def _key(self, event: Any) -> str:
        """A key as it is written, whatever it would be as a value: JSON keys are text."""
        if isinstance(event, self._events.AliasEvent):
            shared = self._shared(event)
            if isinstance(shared, str):
                return shared
        elif isinstance(event, self._events.ScalarEvent):
            value = self._value(event)
            return value if isinstance(value, str) else str(event.value)
        raise self._not_data(event, "a key is text, not a collection")

    def _scalar(self, event: Any) -> Json:
        if not event.value.isascii() and SURROGATE.search(event.value):
            raise self._not_data(event, HALF_A_PAIR)
        try:
            if event.tag is not None and event.tag != "!":
                return scalars.tagged(event.tag, event.value)
            return event.value if event.style or event.tag else scalars.resolve(event.value)
        except scalars.NotFinite:
            raise self._not_data(event, scalars.endless(event.value)) from None
        except scalars.Misfit:
            raise self._foreign(event) from None

    def _check_tag(self, event: Any, kind: str) -> None:
        if event.tag not in (None, "!", CORE + kind):
            raise self._foreign(event)

    def _foreign(self, event: Any) -> NotData:
        shown = event.tag.replace(CORE, "!!")
        return self._not_data(event, f"the tag `{shown}` does not fit: JSON has no such value")

    def _not_data(self, event: Any, sentence: str) -> NotData:
        return NotData(f"line {event.start_mark.line + 1}: {sentence}")
