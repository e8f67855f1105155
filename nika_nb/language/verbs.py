"""The bodies of the four verbs, brought into canonical shape: every key present, null where unwritten."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

from nika_nb.catalog import grammar
from nika_nb.errors import Span
from nika_nb.language import toolnames
from nika_nb.language.findings import Findings
from nika_nb.language.model import Action, Verb
from nika_nb.language.nodes import Map, Node, Scalar, to_json
from nika_nb.language.shape import Shape
from nika_nb.language.template import Fields, Plain, Value
from nika_nb.language.types import schema_fault
from nika_nb.language.written import fields_of, has_island, islands_in, value_of

_REQUIRED = "NIKA-PARSE-018"


def read_action(verb: Verb, node: Node, findings: Findings) -> Action | None:
    """What a task does; None where the body is no mapping or lacks what it cannot do without."""
    body = _Body(verb, findings)
    found = body.shape.mapping(node, f"`{verb}:`", _EXAMPLES[verb])
    if found is None:
        return None
    readers: dict[Verb, Callable[[Map], dict[str, Value] | None]] = {
        "infer": body.infer, "exec": body.exec, "invoke": body.invoke, "agent": body.agent,
    }  # fmt: skip
    body.shape.closed(found, getattr(grammar, verb.upper()), f"`{verb}:`", grammar.DEAD_VERB)
    fields = readers[verb](found)
    if fields is None:
        return None
    spans = {key: entry.span for key, entry in found.entries.items()}
    return Action(verb, fields_of(fields, found), found.span, spans)


_EXAMPLES: dict[Verb, str] = {
    "infer": 'write `infer: { prompt: "…" }`',
    "exec": 'write `exec: { command: ["program", "argument"] }`',
    "invoke": 'write `invoke: { tool: "nika:read", args: { … } }`',
    "agent": 'write `agent: { prompt: "…", tools: [ … ] }`',
}


class _Body:
    """Reads the fields of one verb's body."""

    def __init__(self, verb: Verb, findings: Findings) -> None:
        self.verb = verb
        self.findings = findings
        self.shape = Shape(findings)

    def infer(self, found: Map) -> dict[str, Value] | None:
        if not self._has(found, "prompt"):
            return None
        return {
            "prompt": self._text(found, "prompt"),
            "system": self._text(found, "system"),
            "model": self._text(found, "model"),
            "temperature": self._temperature(found),
            "max_tokens": self._count(found, "max_tokens"),
            "schema": self._schema(found),
            "thinking": self._thinking(found),
            "vision": self._vision(found),
        }

    def exec(self, found: Map) -> dict[str, Value] | None:
        command = self._command(found)
        if command is None:
            return None
        fields = {
            "command": command,
            "cwd": self._text(found, "cwd"),
            "env": self._environment(found),
            "stdin": self._text(found, "stdin"),
            "capture": self._word(found, "capture", grammar.CAPTURES),
        }
        if "decode" in found.entries:
            fields["decode"] = self._word(found, "decode", grammar.DECODES)
            self._decodable(found, fields)
        return fields

    def invoke(self, found: Map) -> dict[str, Value] | None:
        target = self._target(found)
        return None if target is None else {**target, "args": self._args(found)}

    def agent(self, found: Map) -> dict[str, Value] | None:
        if not self._has(found, "prompt"):
            return None
        return {
            "prompt": self._text(found, "prompt"),
            "system": self._text(found, "system"),
            "model": self._text(found, "model"),
            "tools": self._tools(found),
            "skills": self._skills(found),
            "max_turns": self._count(found, "max_turns"),
            "max_tokens_total": self._count(found, "max_tokens_total"),
            "temperature": self._temperature(found),
            "schema": self._schema(found),
        }

    def _has(self, found: Map, key: str) -> bool:
        if key in found.entries:
            return True
        self._missing(found, f"`{self.verb}:` has no `{key}:`")
        return False

    def _missing(self, found: Map, sentence: str) -> None:
        self.findings.error(_REQUIRED, sentence, found.span, _EXAMPLES[self.verb])

    def _text(self, found: Map, key: str) -> Value:
        node = found.get(key)
        if node is None or self.shape.text(node, f"`{key}`") is None:
            return self._nothing(found)
        return value_of(node, self.findings)

    def _nothing(self, found: Map, value: list[None] | dict[str, None] | None = None) -> Plain:
        return Plain(value, Span(found.span.start, found.span.start))

    def _word(self, found: Map, key: str, known: tuple[str, ...]) -> Value:
        node = found.get(key)
        word = self.shape.one_of(node, f"`{key}`", known)
        return Plain(word, node.span if node is not None else self._nothing(found).span)

    def _count(self, found: Map, key: str) -> Value:
        node = found.get(key)
        if node is None:
            return self._nothing(found)
        if has_island(node):
            return value_of(node, self.findings)
        return Plain(self.shape.whole(node, f"`{key}`", 1), node.span)

    def _temperature(self, found: Map) -> Value:
        """The number as display text, so that 0.3 and 1.0 have one spelling in an identity."""
        node = found.get("temperature")
        if node is None:
            return self._nothing(found)
        if has_island(node):
            return value_of(node, self.findings)
        number = node.value if isinstance(node, Scalar) else None
        if isinstance(number, (int, float)) and not isinstance(number, bool) and 0 <= number <= 2:
            return Plain(_display(number), node.span)
        self.shape.refuse("`temperature` is a number from 0 to 2", node, "write it without quotes")
        return self._nothing(found)

    def _schema(self, found: Map) -> Value:
        node = found.get("schema")
        if node is None or self.shape.mapping(node, "`schema`", "write a JSON Schema") is None:
            return self._nothing(found)
        schema = to_json(node)
        for scalar in islands_in(node):
            sentence = "a schema is a literal: `${{ }}` is not resolved here"
            self.findings.error("NIKA-VAR-005", sentence, scalar.span, "write the schema out")
        problem = schema_fault(schema)
        if problem:
            self.shape.refuse(
                f"this is not a JSON Schema: {problem}", node, "`returns:` is the shorter way to a type"
            )
        return Plain(schema, node.span)

    def _thinking(self, found: Map) -> Value:
        node = found.get("thinking")
        inner = self.shape.mapping(node, "`thinking`", "write `{ enabled: true }`")
        if inner is None:
            return self._nothing(found)
        self.shape.closed(inner, grammar.THINKING, "`thinking`")
        enabled = self.shape.flag(inner.get("enabled"), "`enabled`")
        budget = self._count(inner, "budget_tokens")
        return Plain({"enabled": enabled, "budget_tokens": budget.raw}, inner.span)

    def _vision(self, found: Map) -> Value:
        node = found.get("vision")
        items = self.shape.items(node, "`vision`", "write `[{ source: file, path: … }]`")
        if node is None or items is None:
            return self._nothing(found, [])
        for item in items:
            self._picture(item)
        return value_of(node, self.findings)

    def _picture(self, node: Node) -> None:
        picture = self.shape.mapping(node, "an item of `vision`", "write `{ source: file, path: … }`")
        if picture is None:
            return
        self.shape.closed(picture, grammar.VISION, "`vision`")
        source_node = picture.get("source")
        if source_node is None:
            self.shape.refuse(
                "an item of `vision` has no `source:`", picture, "`source: file` or `source: url`"
            )
            return
        source = self.shape.one_of(source_node, "`source`", ("file", "url"))
        wanted = "path" if source == "file" else "url"
        if source is not None and wanted not in picture.entries:
            self.shape.refuse(f"`source: {source}` needs a `{wanted}:`", picture)
        for key in ("path", "url"):
            self._text(picture, key)

    def _command(self, found: Map) -> Value | None:
        """`{argv: […]}` for a program called directly, `{shell: …}` for a line of the shell."""
        command, shell = found.get("command"), found.get("shell")
        if command is not None and shell is not None:
            hint = "keep `command:` where no shell is needed"
            self.shape.refuse("`command` and `shell` exclude each other", found.entries["shell"].key, hint)
            return None
        if shell is not None:
            line = self.shape.text(shell, "`shell`", empty=False)
            return None if line is None else _wrap("shell", value_of(shell, self.findings))
        if command is None:
            self._missing(found, "`exec:` has no `command:`")
            return None
        return self._argv(command)

    def _argv(self, node: Node) -> Value | None:
        if isinstance(node, Scalar) and isinstance(node.value, str):
            hint = "write a list: [program, argument], or use `shell:` for a line with pipes"
            self.shape.refuse("`command` is a list: no shell splits a line into words", node, hint)
            return None
        items = self.shape.texts(node, "`command`")
        if items is None:
            return None
        if not items:
            self.shape.refuse("`command` is empty", node, "its first item is the program")
            return None
        return _wrap("argv", value_of(node, self.findings))

    def _environment(self, found: Map) -> Value:
        node = found.get("env")
        inner = self.shape.mapping(node, "`env`", "write `{ NAME: value }`")
        if inner is None:
            return self._nothing(found, {})
        for name, entry in inner.entries.items():
            self.shape.text(entry.value, f"`env.{name}`")
        return value_of(inner, self.findings)

    def _decodable(self, found: Map, fields: dict[str, Value]) -> None:
        if fields["capture"].raw == "structured":
            self.findings.error(
                "NIKA-PARSE-025",
                "`decode:` with `capture: structured`: that capture is an object already",
                found.entries["decode"].span,
                "remove `decode:`, and write the type of the object in `returns:`",
            )

    def _target(self, found: Map) -> dict[str, Value] | None:
        tool, workflow = found.get("tool"), found.get("workflow")
        if tool is not None and workflow is not None:
            self.shape.refuse(
                "`tool` and `workflow` exclude each other", found, "keep the one that is called"
            )
            return None
        if workflow is not None:
            text = self.shape.text(workflow, "`workflow`", empty=False)
            return None if text is None else {"workflow": value_of(workflow, self.findings)}
        if tool is None:
            self._missing(found, "`invoke:` has neither `tool:` nor `workflow:`")
            return None
        return {"tool": Plain(to_json(tool), tool.span)} if self._tool_name(tool) else None

    def _tool_name(self, node: Node) -> bool:
        text = self.shape.text(node, "`tool`", empty=False)
        if text is None:
            return False
        problem = toolnames.fault(text)
        if problem:
            self.shape.refuse(problem[0], node, problem[1])
        return problem is None

    def _args(self, found: Map) -> Value:
        node = found.get("args")
        inner = self.shape.mapping(node, "`args`", "write `{ name: value }`")
        return self._nothing(found, {}) if inner is None else value_of(inner, self.findings)

    def _tools(self, found: Map) -> Value:
        node = found.get("tools")
        items = self.shape.texts(node, "`tools`")
        if node is None or items is None:
            return self._nothing(found, [])
        for item in items:
            if not has_island(item) and not toolnames.is_grant(item.text):
                hint = "write `nika:<name>`, `mcp:<server>/<tool>`, or a pattern of one namespace"
                self.shape.refuse(f"`{item.text[:60]}` names no tool", item, hint)
        return value_of(node, self.findings)

    def _skills(self, found: Map) -> Value:
        node = found.get("skills")
        items = self.shape.texts(node, "`skills`")
        if node is None or items is None:
            return self._nothing(found, [])
        for item in items:
            if has_island(item) or any(sign in item.text for sign in "*?["):
                self.findings.error(
                    "NIKA-AGENT-003",
                    f"`{item.text[:80]}` is not one file: what an agent reads is fixed before the run",
                    item.span,
                    "list every SKILL.md by its path",
                )
        return Plain(to_json(node), node.span)


def _wrap(key: str, value: Value) -> Value:
    if isinstance(value, Plain):
        return Plain({key: value.raw}, value.span)
    return Fields({key: value}, value.span)


def _display(number: int | float) -> str:
    text = format(Decimal(repr(number)), "f")
    return text.rstrip("0").rstrip(".") if "." in text else text
