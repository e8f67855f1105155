"""The bodies of the four verbs: canonical shape, and what each field refuses."""

from __future__ import annotations

from typing import Any

import pytest

from nika_nb.language.template import Fields, islands
from tests.language.reading import only, task_of, with_task

BODIES: list[tuple[str, str, Any]] = [
    (
        "infer, nothing but a prompt",
        "infer: { prompt: hi }",
        {"prompt": "hi", "system": None, "model": None, "temperature": None, "max_tokens": None,
         "schema": None, "thinking": None, "vision": []},
    ),
    (
        "infer, everything",
        "infer: { prompt: hi, system: be brief, model: mock/echo, temperature: 0.30, max_tokens: 9,"
        " schema: {type: object}, thinking: {enabled: true},"
        " vision: [{source: file, path: a.png}, {source: url, url: 'https://a.example/x'}] }",
        {"prompt": "hi", "system": "be brief", "model": "mock/echo", "temperature": "0.3", "max_tokens": 9,
         "schema": {"type": "object"}, "thinking": {"enabled": True, "budget_tokens": None},
         "vision": [{"source": "file", "path": "a.png"}, {"source": "url", "url": "https://a.example/x"}]},
    ),
    (
        "exec, a program",
        "exec: { command: [echo, '1'] }",
        {"command": {"argv": ["echo", "1"]}, "cwd": None, "env": {}, "stdin": None, "capture": None},
    ),
    (
        "exec, a line of the shell",
        "exec: { shell: 'a | b', cwd: ./x, env: {A: b}, stdin: s, capture: combined, decode: json }",
        {"command": {"shell": "a | b"}, "cwd": "./x", "env": {"A": "b"}, "stdin": "s", "capture": "combined",
         "decode": "json"},
    ),
    ("invoke, no arguments", "invoke: { tool: 'nika:log' }", {"tool": "nika:log", "args": {}}),
    (
        "invoke, a server's tool",
        "invoke: { tool: 'mcp:my-server/do_thing', args: { a: [1, null] } }",
        {"tool": "mcp:my-server/do_thing", "args": {"a": [1, None]}},
    ),
    (
        "invoke, a workflow",
        "invoke: { workflow: ./child.nika.yaml, args: { a: 1 } }",
        {"workflow": "./child.nika.yaml", "args": {"a": 1}},
    ),
    (
        "agent, nothing but a prompt",
        "agent: { prompt: go }",
        {"prompt": "go", "system": None, "model": None, "tools": [], "skills": [], "max_turns": None,
         "max_tokens_total": None, "temperature": None, "schema": None},
    ),
    (
        "agent, everything",
        "agent: { prompt: go, system: s, model: a/b, tools: ['nika:*', '!nika:write', 'mcp:x/*'],"
        " skills: [docs/SKILL.md], max_turns: 3, max_tokens_total: 100, temperature: 1.0, schema: {} }",
        {"prompt": "go", "system": "s", "model": "a/b", "tools": ["nika:*", "!nika:write", "mcp:x/*"],
         "skills": ["docs/SKILL.md"], "max_turns": 3, "max_tokens_total": 100, "temperature": "1",
         "schema": {}},
    ),
]  # fmt: skip


@pytest.mark.parametrize(("block", "body"), [case[1:] for case in BODIES], ids=[case[0] for case in BODIES])
def test_a_body_has_one_canonical_shape(block: str, body: Any) -> None:
    """Every key of the verb is there, null where nothing was written, so that identities are stable."""
    action = task_of(block).action
    assert action.verb == block.split(":", 1)[0]
    assert action.body.raw == body


TEMPERATURES = [("0", "0"), ("0.3", "0.3"), ("0.30", "0.3"), ("1", "1"), ("1.0", "1"), ("1.50", "1.5"),
                ("2", "2"), ("1e-1", "0.1"), ("1e-7", "0.0000001"),
                ("5e-324", "0." + "0" * 323 + "5")]  # fmt: skip


@pytest.mark.parametrize(("written", "text"), TEMPERATURES)
def test_a_temperature_has_one_spelling(written: str, text: str) -> None:
    """The same number is the same text in an identity, however it was typed."""
    assert task_of(f"infer: {{ prompt: x, temperature: {written} }}").action.get("temperature") == text


def test_islands_keep_their_places_in_a_body() -> None:
    """A body with islands is a tree of fields; each can be asked for by its name."""
    text = with_task(
        "exec: { command: [echo, '${{ with.a }}'], env: { B: 'x ${{ inputs.b }}' } }\nwith: {a: 1}"
    )
    action = task_of(
        "exec: { command: [echo, '${{ with.a }}'], env: { B: 'x ${{ inputs.b }}' } }\nwith: {a: 1}"
    ).action
    assert isinstance(action.body, Fields)
    shown = [text[island.span.start : island.span.end] for island in islands(action.body)]
    assert shown == ["${{ with.a }}", "${{ inputs.b }}"]
    assert action.get("env") == {"B": "x ${{ inputs.b }}"}
    assert action.value("cwd") is not None
    assert text[action.spans["env"].start : action.spans["env"].end].startswith("env:")


def test_numbers_may_come_from_an_island() -> None:
    """Where a number stands, one `${{ }}` may stand instead."""
    action = task_of(
        "agent: { prompt: x, temperature: '${{ inputs.t }}', max_turns: '${{ inputs.n }}',"
        " max_tokens_total: '${{ inputs.m }}' }"
    ).action
    assert action.get("max_turns") == "${{ inputs.n }}"
    assert len(list(islands(action.body))) == 3


FINDINGS: list[tuple[str, str, str, str]] = [
    # infer
    ("infer: hello", "NIKA-PARSE-019", "hello", "`infer:` must be a mapping"),
    ("infer: {}", "NIKA-PARSE-018", "{}", "has no `prompt:`"),
    ("infer: {model: a/b}", "NIKA-PARSE-018", "{model", "has no `prompt:`"),
    ("infer: {prompt: 3}", "NIKA-PARSE-019", "3", "`prompt` must be text"),
    ("infer: {prompt: [a]}", "NIKA-PARSE-019", "[a]", "`prompt` must be text, not a list"),
    ("infer: {prompt: x, temp: 1}", "NIKA-PARSE-005", "temp", "not a key of `infer:`"),
    ("infer: {prompt: x, timeout: 3s}", "NIKA-PARSE-005", "timeout", "belongs to the task"),
    ("infer: {prompt: x, provider: openai}", "NIKA-PARSE-005", "provider", "first part of the model"),
    ("infer: {prompt: x, temperature: 3}", "NIKA-PARSE-019", "3", "a number from 0 to 2"),
    ("infer: {prompt: x, temperature: -1}", "NIKA-PARSE-019", "-1", "a number from 0 to 2"),
    ("infer: {prompt: x, temperature: '0.3'}", "NIKA-PARSE-019", "'0.3'", "a number from 0 to 2"),
    ("infer: {prompt: x, temperature: true}", "NIKA-PARSE-019", "true", "a number from 0 to 2"),
    ("infer: {prompt: x, max_tokens: 0}", "NIKA-PARSE-019", "0", "at least 1"),
    ("infer: {prompt: x, max_tokens: '9'}", "NIKA-PARSE-019", "'9'", "a whole number"),
    ("infer: {prompt: x, schema: string}", "NIKA-PARSE-019", "string", "`schema` must be a mapping"),
    ("infer: {prompt: x, schema: {type: objet}}", "NIKA-PARSE-019", "{type", "not a JSON Schema"),
    (
        "infer: {prompt: x, schema: {$ref: 'file:///etc/passwd'}}",
        "NIKA-PARSE-019",
        "{$ref",
        "not a JSON Schema",
    ),
    (
        "infer: {prompt: x, schema: {const: '${{ inputs.a }}'}}",
        "NIKA-VAR-005",
        "'${{",
        "a schema is a literal",
    ),
    ("infer: {prompt: x, thinking: true}", "NIKA-PARSE-019", "true", "`thinking` must be a mapping"),
    ("infer: {prompt: x, thinking: {on: true}}", "NIKA-PARSE-005", "on", "not a key of `thinking`"),
    ("infer: {prompt: x, vision: a.png}", "NIKA-PARSE-019", "a.png", "`vision` must be a list"),
    ("infer: {prompt: x, vision: [{path: a}]}", "NIKA-PARSE-019", "{path", "has no `source:`"),
    ("infer: {prompt: x, vision: [{source: file}]}", "NIKA-PARSE-019", "{source", "needs a `path:`"),
    (
        "infer: {prompt: x, vision: [{source: file, path: a, url: b}]}",
        "NIKA-PARSE-019",
        "url",
        "from its `path:` alone",
    ),
    (
        "infer: {prompt: x, vision: [{source: url, path: a, url: b}]}",
        "NIKA-PARSE-019",
        "path",
        "from its `url:` alone",
    ),
    ("infer: {prompt: x, max_tokens: 1.5}", "NIKA-PARSE-019", "1.5", "a whole number, not `1.5`"),
    ("infer: {prompt: x, vision: [{source: blob, path: a}]}", "NIKA-PARSE-019", "blob", "one of file, url"),
    ("infer: {prompt: '${{ a'}", "NIKA-VAR-008", "${{", "never closed"),
    ("infer: {prompt: '${{ a.matches(1) }}'}", "NIKA-VAR-005", "matches", "is not one of"),
    # exec
    ("exec: {}", "NIKA-PARSE-018", "{}", "has no `command:`"),
    ("exec: {command: ls -l}", "NIKA-PARSE-019", "ls -l", "`command` is a list"),
    ("exec: {command: []}", "NIKA-PARSE-019", "[]", "`command` is empty"),
    ("exec: {command: [' ', a]}", "NIKA-PARSE-019", "' '", "is the program, and it is empty"),
    ("exec: {command: [sleep, 5]}", "NIKA-PARSE-019", "5", "an item of `command` must be text"),
    ("exec: {command: {a: b}}", "NIKA-PARSE-019", "{a: b}", "`command` must be a list"),
    ("exec: {command: [a], shell: b}", "NIKA-PARSE-019", "shell", "exclude each other"),
    ("exec: {shell: ''}", "NIKA-PARSE-019", "''", "`shell` is empty"),
    ("exec: {shell: [a]}", "NIKA-PARSE-019", "[a]", "`shell` must be text"),
    ("exec: {command: [a], env: {A: 1}}", "NIKA-PARSE-019", "1", "`env.A` must be text"),
    ("exec: {command: [a], env: [A]}", "NIKA-PARSE-019", "[A]", "`env` must be a mapping"),
    ("exec: {command: [a], capture: all}", "NIKA-PARSE-019", "all", "one of stdout"),
    ("exec: {command: [a], decode: yaml}", "NIKA-PARSE-019", "yaml", "one of text"),
    (
        "exec: {command: [a], capture: structured, decode: json}",
        "NIKA-PARSE-025",
        "decode",
        "is an object already",
    ),
    ("exec: {command: [a], args: [b]}", "NIKA-PARSE-005", "args", "not a key of `exec:`"),
    # invoke
    ("invoke: {}", "NIKA-PARSE-018", "{}", "neither `tool:` nor `workflow:`"),
    ("invoke: {tool: 'nika:log', workflow: ./x}", "NIKA-PARSE-019", "{tool", "exclude each other"),
    ("invoke: {tool: 'mcp:postgres'}", "NIKA-PARSE-019", "'mcp", "names no tool of its server"),
    ("invoke: {tool: 'custom:thing'}", "NIKA-PARSE-019", "'custom", "no namespace that exists"),
    ("invoke: {tool: 'x-acme:thing'}", "NIKA-PARSE-019", "'x-acme", "no namespace that exists"),
    ("invoke: {tool: log}", "NIKA-PARSE-019", "log", "no namespace that exists"),
    ("invoke: {tool: 'nika:a b'}", "NIKA-PARSE-019", "'nika", "not the name of a builtin"),
    ("invoke: {tool: '${{ inputs.t }}'}", "NIKA-PARSE-019", "'${{", "named before the run"),
    ("invoke: {tool: 'nika:log', args: [a]}", "NIKA-PARSE-019", "[a]", "`args` must be a mapping"),
    ("invoke: {tool: 'nika:log', arg: {}}", "NIKA-PARSE-005", "arg", "not a key of `invoke:`"),
    ("invoke: {workflow: 3}", "NIKA-PARSE-019", "3", "`workflow` must be text"),
    # agent
    ("agent: {tools: ['nika:read']}", "NIKA-PARSE-018", "{tools", "has no `prompt:`"),
    ("agent: {prompt: x, tools: 'nika:read'}", "NIKA-PARSE-019", "'nika:read'", "`tools` must be a list"),
    ("agent: {prompt: x, tools: [read]}", "NIKA-PARSE-019", "read", "names no tool"),
    ("agent: {prompt: x, tools: [1]}", "NIKA-PARSE-019", "1", "must be text"),
    ("agent: {prompt: x, skills: ['skills/*.md']}", "NIKA-AGENT-003", "'skills", "is not one file"),
    ("agent: {prompt: x, skills: ['${{ inputs.s }}']}", "NIKA-AGENT-003", "'${{", "is not one file"),
    ("agent: {prompt: x, max_turns: 0}", "NIKA-PARSE-019", "0", "at least 1"),
    ("agent: {prompt: x, workflows: [a]}", "NIKA-PARSE-005", "workflows", "reaches tools only"),
]


@pytest.mark.parametrize(
    ("block", "code", "pointed", "sentence"), FINDINGS, ids=[case[0][:70] for case in FINDINGS]
)
def test_a_body_is_strict(block: str, code: str, pointed: str, sentence: str) -> None:
    """One mistake is one finding, with its code, under its text."""
    assert only(with_task(block), code, pointed, sentence).task == "one"
