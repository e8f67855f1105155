"""YAML text → nodes, under the profile of the language: what is not plain data is refused.

Only the parser's events are used; nothing is ever composed or constructed.
"""

from __future__ import annotations

from typing import Any

from nika_nb.errors import Span
from nika_nb.language import scalars
from nika_nb.language.breaks import explain
from nika_nb.language.encoding import is_readable
from nika_nb.language.findings import Findings
from nika_nb.language.nodes import Entry, Map, Node, Scalar, Seq
from nika_nb.language.scalars import CORE, HALF_A_PAIR, SURROGATE

SCALAR_CAP = 1 << 16  # UTF-8 bytes
DEPTH_CAP = 64  # the root collection is level 1


class _Stop(Exception):
    """Reading cannot go on; the diagnostic has been recorded."""


def read(text: str, findings: Findings) -> Node | None:
    """The root node of the one document in `text`, or None; what is wrong goes to `findings`."""
    if not is_readable(text, findings):
        return None
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)(text)
    try:
        return _Walker(text, loader, findings).document()
    except _Stop:
        return None
    except yaml.YAMLError as error:
        code, message, hint, span, related = explain(error, text)
        findings.error(code, message, span, hint, related)
        return None
    finally:
        loader.dispose()


class _Walker:
    """Pulls events and builds nodes; one method per kind of event."""

    def __init__(self, text: str, loader: Any, findings: Findings) -> None:
        import yaml

        self._text = text
        self._next = loader.get_event
        self._findings = findings
        self._events = yaml.events
        self._depth = 0

    def document(self) -> Node | None:
        """The first document's root; a second document is refused."""
        self._next()  # stream start
        event = self._next()
        if isinstance(event, self._events.StreamEndEvent):
            return None
        root = self._node(self._next())
        self._next()  # document end
        event = self._next()
        if not isinstance(event, self._events.StreamEndEvent):
            self._findings.error(
                "NIKA-PARSE-001",
                "a second document starts here: one text holds one workflow",
                self._span(event),
                "remove this `---` or put the second workflow into a text of its own",
            )
        return root

    def _span(self, event: Any) -> Span:
        return Span(event.start_mark.index, event.end_mark.index)

    def _node(self, event: Any) -> Node:
        kind = type(event)
        if kind is self._events.ScalarEvent:
            return self._scalar(event)
        if kind is self._events.AliasEvent:
            return self._alias(event)
        self._anchor(event)
        self._depth += 1
        if self._depth > DEPTH_CAP:
            self._too_deep(event)
        node = self._map(event) if kind is self._events.MappingStartEvent else self._seq(event)
        self._depth -= 1
        return node

    def _too_deep(self, event: Any) -> None:
        self._findings.error(
            "NIKA-YAML-009",
            f"nested deeper than {DEPTH_CAP} levels",
            self._span(event),
            "move the inner structure into a file",
        )
        raise _Stop

    def _seq(self, start: Any) -> Seq:
        self._collection_tag(start, "seq")
        items: list[Node] = []
        event = self._next()
        while type(event) is not self._events.SequenceEndEvent:
            items.append(self._node(event))
            event = self._next()
        return Seq(items, self._extent(start, event, items[-1].span if items else None))

    def _extent(self, start: Any, end: Any, last: Span | None) -> Span:
        """A block collection ends with its last child; its end event lies at the next token."""
        at = start.start_mark.index
        return Span(at, end.end_mark.index if start.flow_style or last is None else max(at, last.end))

    def _map(self, start: Any) -> Map:
        self._collection_tag(start, "map")
        found = Map({}, Span(0, 0))
        last: Span | None = None
        event = self._next()
        while type(event) is not self._events.MappingEndEvent:
            key = self._node(event)
            value = self._node(self._next())
            last = value.span
            self._enter(found, key, value)
            event = self._next()
        found.span = self._extent(start, event, last)
        return found

    def _enter(self, into: Map, key: Node, value: Node) -> None:
        if not isinstance(key, Scalar) or not isinstance(key.value, str):
            self._not_a_name(key)
        elif key.value == "<<" and key.style == "":
            self._findings.error(
                "NIKA-YAML-003",
                "merge keys (`<<`) do not exist here",
                key.span,
                "write the fields out where they are used",
            )
        elif key.value in into.entries:
            into.repeated.append(key)
            self._twice(key, into.entries[key.value].key)
        else:
            into.entries[key.value] = Entry(key, value)

    def _not_a_name(self, key: Node) -> None:
        if not isinstance(key, Scalar) and self._text.startswith("{{", key.span.start - 1):
            what, hint = "`{{ }}` is a mapping in a mapping", 'an expression is written "${{ … }}", in quotes'
        elif not isinstance(key, Scalar):
            what, hint = "a collection stands here", "keep lists and mappings to the right of `:`"
        elif key.text:
            what, hint = f"`{key.text}` is read as {_reading(key)}", f'write "{key.text}" with quotes'
        else:
            what, hint = "nothing stands here", "write the key before `:`"
        self._findings.error("NIKA-YAML-007", f"a key must be text, and {what}", key.span, hint)

    def _twice(self, key: Scalar, first: Scalar) -> None:
        related = ((f"`{key.text}` stands here first", first.span),)
        for code, sentence in (
            ("NIKA-YAML-004", f"the key `{key.text}` is written twice in one mapping"),
            ("NIKA-PARSE-017", f"`{key.text}` appears again: neither value silently wins"),
        ):
            self._findings.error(code, sentence, key.span, "remove or rename one of them", related)

    def _alias(self, event: Any) -> Scalar:
        span = self._span(event)
        self._findings.error(
            "NIKA-YAML-002",
            f"aliases do not exist here: `{self._text[span.start : span.end]}`",
            span,
            "repeat the value, or quote it if it is meant as text",
        )
        return Scalar(None, "", "", span)

    def _anchor(self, event: Any) -> None:
        if event.anchor is not None:
            at = event.start_mark.index
            self._findings.error(
                "NIKA-YAML-001",
                f"anchors do not exist here: `&{event.anchor}`",
                Span(at, at + len(event.anchor) + 1),
                "remove it, or quote the value if it is meant as text",
            )

    def _collection_tag(self, event: Any, kind: str) -> None:
        if event.tag is not None and event.tag != CORE + kind:
            self._wrong_tag(event)

    def _wrong_tag(self, event: Any) -> None:
        shown = event.tag.replace(CORE, "!!")
        at = event.start_mark.index
        self._findings.error(
            "NIKA-YAML-006",
            f"the tag `{shown}` does not fit here: only the tags of plain data exist",
            Span(at, event.end_mark.index),
            "remove the tag",
        )

    def _scalar(self, event: Any) -> Scalar:
        self._anchor(event)
        text = event.value
        style = event.style or ""
        span = self._span(event)
        if style in ("|", ">"):
            span = Span(span.start, span.start + len(self._text[span.start : span.end].rstrip()))
        self._judge_text(text, span)
        try:
            value = text if style and event.tag is None else self._resolve(event)
        except scalars.NotFinite:
            self._findings.error(
                "NIKA-YAML-008",
                scalars.endless(text),
                span,
                "use a number that JSON can hold, or put it in quotes",
            )
            value = None
        return Scalar(value, text, style, span)

    def _judge_text(self, text: str, span: Span) -> None:
        if len(text) > SCALAR_CAP // 4 and len(text.encode("utf-8", "replace")) > SCALAR_CAP:
            self._findings.error(
                "NIKA-YAML-005",
                f"one value has more than {SCALAR_CAP} bytes",
                span,
                "move it into a file and read it with `nika:read`",
            )
        if SURROGATE.search(text):
            self._findings.error(
                "NIKA-PARSE-001",
                HALF_A_PAIR,
                span,
                'write the character itself, or "\\U0001F600" with eight digits',
            )

    def _resolve(self, event: Any) -> bool | int | float | str | None:
        text: str = event.value
        if event.tag is None:
            return scalars.resolve(text)
        try:
            return scalars.tagged(event.tag, text)
        except scalars.Misfit:
            self._wrong_tag(event)
            return text


def _reading(key: Scalar) -> str:
    if key.value is None:
        return "nothing (null)"
    return "true or false" if isinstance(key.value, bool) else "a number"
