"""The bodies of the four verbs, brought into canonical shape: every key present, null where unwritten."""

from __future__ import annotations

from collections.abc import Callable

from nika_nb.catalog import grammar
from nika_nb.catalog.grammar import Verb
from nika_nb.language import toolnames
from nika_nb.language.body import Body
from nika_nb.language.findings import Findings
from nika_nb.language.model import Action
from nika_nb.language.nodes import Node, Scalar, Seq, to_json
from nika_nb.language.shape import Shape
from nika_nb.language.shellwords import words_of
from nika_nb.language.template import Fields, Plain, Value
from nika_nb.language.written import fields_of, has_island, value_of
from nika_nb.values import dumps

_EXAMPLES: dict[Verb, str] = {
    "infer": 'write `infer: { prompt: "…" }`',
    "exec": 'write `exec: { command: ["program", "argument"] }`',
    "invoke": 'write `invoke: { tool: "nika:read", args: { … } }`',
    "agent": 'write `agent: { prompt: "…", tools: [ … ] }`',
}

_QUOTED = 80  # characters of a line that a hint repeats


def read_action(verb: Verb, node: Node, findings: Findings) -> Action | None:
    """What a task does; None where the body is no mapping or lacks what it cannot do without."""
    shape = Shape(findings)
    found = shape.mapping(node, f"`{verb}:`", _example(verb, node))
    if found is None:
        return None
    readers: dict[Verb, Callable[[Body], dict[str, Value] | None]] = {
        "infer": _infer, "exec": _exec, "invoke": _invoke, "agent": _agent,
    }  # fmt: skip
    shape.closed(found, grammar.OF_VERB[verb], f"`{verb}:`", grammar.DEAD_VERB)
    fields = readers[verb](Body(verb, found, shape, _EXAMPLES[verb]))
    if fields is None:
        return None
    spans = {key: entry.span for key, entry in found.entries.items()}
    return Action(verb, fields_of(fields, found), found.span, spans)


def _infer(body: Body) -> dict[str, Value] | None:
    if not body.has("prompt"):
        return None
    return {
        "prompt": body.text("prompt"),
        "system": body.text("system"),
        "model": body.text("model"),
        "temperature": body.temperature(),
        "max_tokens": body.count("max_tokens"),
        "schema": body.schema(),
        "thinking": _thinking(body),
        "vision": _vision(body),
    }


def _exec(body: Body) -> dict[str, Value] | None:
    command = _command(body)
    if command is None:
        return None
    fields = {
        "command": command,
        "cwd": body.text("cwd"),
        "env": _environment(body),
        "stdin": body.text("stdin"),
        "capture": body.word("capture", grammar.CAPTURES),
    }
    if "decode" in body.found.entries:
        fields["decode"] = body.word("decode", grammar.DECODES)
        _decodable(body, fields)
    return fields


def _invoke(body: Body) -> dict[str, Value] | None:
    target = _target(body)
    return None if target is None else {**target, "args": _args(body)}


def _agent(body: Body) -> dict[str, Value] | None:
    if not body.has("prompt"):
        return None
    return {
        "prompt": body.text("prompt"),
        "system": body.text("system"),
        "model": body.text("model"),
        "tools": _tools(body),
        "skills": _skills(body),
        "max_turns": body.count("max_turns"),
        "max_tokens_total": body.count("max_tokens_total"),
        "temperature": body.temperature(),
        "schema": body.schema(),
    }


def _thinking(body: Body) -> Value:
    node = body.found.get("thinking")
    inner = body.shape.mapping(node, "`thinking`", "write `{ enabled: true }`")
    if inner is None:
        return body.nothing()
    body.shape.closed(inner, grammar.THINKING, "`thinking`")
    enabled = body.shape.flag(inner.get("enabled"), "`enabled`")
    budget = body.within(inner).count("budget_tokens")
    return Plain({"enabled": enabled, "budget_tokens": budget.raw}, inner.span)


def _vision(body: Body) -> Value:
    node = body.found.get("vision")
    items = body.shape.items(node, "`vision`", "write `[{ source: file, path: … }]`")
    if node is None or items is None:
        return body.nothing([])
    for item in items:
        _picture(body, item)
    return value_of(node, body.findings)


def _picture(body: Body, node: Node) -> None:
    picture = body.shape.mapping(node, "an item of `vision`", "write `{ source: file, path: … }`")
    if picture is None:
        return
    body.shape.closed(picture, grammar.VISION, "`vision`")
    source_node = picture.get("source")
    if source_node is None:
        sentence, hint = "an item of `vision` has no `source:`", "`source: file` or `source: url`"
        body.shape.lacks(picture, ("source",), sentence, hint)
        return
    source = body.shape.one_of(source_node, "`source`", ("file", "url"))
    wanted = "path" if source == "file" else "url"
    if source is not None and wanted not in picture.entries:
        body.shape.lacks(picture, (wanted,), f"`source: {source}` needs a `{wanted}:`")
    other = picture.entries.get("url" if wanted == "path" else "path")
    if source is not None and other is not None:
        body.shape.refuse(f"`source: {source}` is read from its `{wanted}:` alone", other.key, "remove this")
    for key in ("path", "url"):
        body.within(picture).text(key)


def _command(body: Body) -> Value | None:
    """`{argv: […]}` for a program called directly, `{shell: …}` for a line of the shell."""
    command, shell = body.found.get("command"), body.found.get("shell")
    if command is not None and shell is not None:
        hint = f"keep one: {_as_words(_text(command) or _text(shell))}"
        body.shape.refuse("`command` and `shell` exclude each other", body.found.entries["shell"].key, hint)
        return None
    if shell is not None:
        line = body.shape.text(shell, "`shell`", empty=False)
        return None if line is None else _wrap("shell", value_of(shell, body.findings))
    if command is None:
        body.missing("`exec:` has no `command:`", "command", "shell")
        return None
    return _argv(body, command)


def _example(verb: Verb, node: Node) -> str:
    """How a verb is written; where a text stands in its place, how that text is."""
    if verb != "exec":
        return _EXAMPLES[verb]
    words = [_text(item) for item in node.items] if isinstance(node, Seq) else []
    if words and all(words):
        return f"write `exec: {{ {_listed(words)} }}`"
    return f"write {_as_words(line, 'exec: {{ {} }}')}" if (line := _text(node)) else _EXAMPLES[verb]


def _text(node: Node) -> str:
    return node.value if isinstance(node, Scalar) and isinstance(node.value, str) else ""


def _as_words(line: str, around: str = "{}") -> str:
    """A line of a terminal as it is written here: the list of its words, or the shell that it needs."""
    if words := words_of(line):
        return f"`{around.format(_listed(words))}`"
    shell = around.format(f"shell: {dumps(line) if len(line) <= _QUOTED else '…'}")
    return f"`{shell}`; a line of the shell needs `permits: {{ exec: true }}`, which admits any program"


def _listed(words: list[str]) -> str:
    return f"command: [{', '.join(map(dumps, words))}]"


def _argv(body: Body, node: Node) -> Value | None:
    if isinstance(node, Scalar) and isinstance(node.value, str):
        hint = f"write {_as_words(node.value)}"
        body.shape.refuse("`command` is a list: no shell splits a line into words", node, hint)
        return None
    items = body.shape.texts(node, "`command`")
    if items is None:
        return None
    if not items:
        body.shape.refuse("`command` is empty", node, "its first item is the program")
        return None
    if not str(items[0].value).strip():
        body.shape.refuse("the first item of `command` is the program, and it is empty", items[0])
        return None
    return _wrap("argv", value_of(node, body.findings))


def _environment(body: Body) -> Value:
    node = body.found.get("env")
    inner = body.shape.mapping(node, "`env`", "write `{ NAME: value }`")
    if inner is None:
        return body.nothing({})
    for name, entry in inner.entries.items():
        body.shape.text(entry.value, f"`env.{name}`")
    return value_of(inner, body.findings)


def _decodable(body: Body, fields: dict[str, Value]) -> None:
    if fields["capture"].raw == "structured":
        body.findings.error(
            "NIKA-PARSE-025",
            "`decode:` with `capture: structured`: that capture is an object already",
            body.found.entries["decode"].span,
            "remove `decode:`, and write the type of the object in `returns:`",
        )


def _target(body: Body) -> dict[str, Value] | None:
    tool, workflow = body.found.get("tool"), body.found.get("workflow")
    if tool is not None and workflow is not None:
        body.shape.refuse(
            "`tool` and `workflow` exclude each other", body.found, "keep the one that is called"
        )
        return None
    if workflow is not None:
        text = body.shape.text(workflow, "`workflow`", empty=False)
        return None if text is None else {"workflow": value_of(workflow, body.findings)}
    if tool is None:
        body.missing("`invoke:` has neither `tool:` nor `workflow:`", "tool", "workflow")
        return None
    return {"tool": Plain(to_json(tool), tool.span)} if _tool_name(body, tool) else None


def _tool_name(body: Body, node: Node) -> bool:
    text = body.shape.text(node, "`tool`", empty=False)
    if text is None:
        return False
    problem = toolnames.fault(text)
    if problem:
        body.shape.refuse(problem[0], node, problem[1])
    return problem is None


def _args(body: Body) -> Value:
    node = body.found.get("args")
    inner = body.shape.mapping(node, "`args`", "write `{ name: value }`")
    return body.nothing({}) if inner is None else value_of(inner, body.findings)


def _tools(body: Body) -> Value:
    node = body.found.get("tools")
    items = body.shape.texts(node, "`tools`")
    if node is None or items is None:
        return body.nothing([])
    for item in items:
        if not has_island(item) and not toolnames.is_grant(item.text):
            hint = "write `nika:<name>`, `mcp:<server>/<tool>`, or a pattern of one namespace"
            body.shape.refuse(f"`{item.text[:60]}` names no tool", item, hint)
    return value_of(node, body.findings)


def _skills(body: Body) -> Value:
    node = body.found.get("skills")
    items = body.shape.texts(node, "`skills`")
    if node is None or items is None:
        return body.nothing([])
    for item in items:
        if has_island(item) or any(sign in item.text for sign in "*?["):
            body.findings.error(
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
