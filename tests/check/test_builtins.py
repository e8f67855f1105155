"""Builtins as they are called: the tool exists, and what is written of its arguments fits."""

from __future__ import annotations

import pytest

from nika_nb.catalog.arguments import ARGUMENTS, MEANT
from nika_nb.catalog.builtins import BUILTINS
from nika_nb.catalog.codes import CODES
from nika_nb.tools.registry import TOOLS
from tests.check.judging import Case, assert_found

PERMITS = "permits: { fs: { read: ['**'], write: ['**'] }, net: { http: ['*'] }, tools: ['nika:*'] }\n"
ENVELOPE = (
    "inputs: { x: { type: string } }\nconst: { mode: choice }\nsecrets: { k: { source: env, key: K } }\n"
)


def call(tool: str, args: str = "") -> str:
    with_args = f", args: {{ {args} }}" if args else ""
    return f"nika: b\n{PERMITS}{ENVELOPE}tasks:\n  t: {{ invoke: {{ tool: 'nika:{tool}'{with_args} }} }}\n"


def whole(tool: str, args: str) -> str:
    """A call whose fault is the call as a whole."""
    return call(tool, args).replace("{ tool:", "«{ tool:").replace("} } }\n", "} }» }\n")


A = "BUILTIN-001"
CASES = [
    Case(
        "an unknown builtin",
        call("«raed»", "path: a").replace("'nika:«raed»'", "«'nika:raed'»"),
        ("INVOKE-001",),
        "did you mean `nika:read`?",
    ),
    Case(
        "a builtin that was folded into another",
        call("«x»").replace("'nika:«x»'", "«'nika:csv_to_json'»"),
        ("INVOKE-001",),
        "nika:convert with `from: csv, to: json`",
    ),
    Case(
        "a builtin that others have for calling a workflow",
        call("x").replace("'nika:x'", "«'nika:run'»"),
        ("INVOKE-001",),
        "use `invoke: { workflow: … }`",
    ),
    Case(
        "a name like none of them",
        call("x").replace("'nika:x'", "«'nika:mail'»"),
        ("INVOKE-001",),
        "the builtins are assert, done",
    ),
    Case(
        "done outside an agent",
        call("x").replace("'nika:x'", "«'nika:done'»"),
        ("BUILTIN-DONE-001",),
        "grant it to an agent",
    ),
    Case(
        "compose outside an agent",
        call("x").replace("'nika:x'", "«'nika:compose'»"),
        ("BUILTIN-COMPOSE-001",),
    ),
    Case(
        "an unknown tool of an agent",
        f"nika: b\nmodel: mock/echo\n{PERMITS}tasks:\n  t: {{ agent: {{ prompt: hi, tools: "
        f"['nika:done', «'nika:raed'»] }} }}\n",
        ("INVOKE-001",),
    ),
    Case("a missing argument", whole("jq", "input: 1"), (A,), "write `args: { expression: … }`"),
    Case(
        "no arguments at all",
        call("read").replace("{ tool: 'nika:read' }", "«{ tool: 'nika:read' }»"),
        (A,),
        "path",
    ),
    Case(
        "an argument of another tool", call("jq", "input: 1, «query»: ."), (A,), "it is called `expression`"
    ),
    Case(
        "a misspelled argument",
        call("write", "path: a, «contnt»: x, content: y"),
        (A,),
        "did you mean `content`?",
    ),
    Case(
        "an argument of the wrong kind",
        call("write", "path: a, content: x, create_dirs: «yes»"),
        (A,),
        says="is true or false, not `yes`",
    ),
    Case(
        "an argument that only the run knows",
        call("write", "path: a, content: x, create_dirs: '${{ inputs.x }}'"),
    ),
    Case(
        "a word outside its list", call("log", "message: x, level: «warning»"), (A,), "did you mean `warn`?"
    ),
    Case("a log", call("log", "message: 1, level: info, data: { a: [1] }")),
    Case("an event", call("emit", "event_type: a.b-c, payload: 1")),
    Case("an event without a name", call("emit", "event_type: «Done»"), ("BUILTIN-EMIT-001",)),
    Case("an assertion", call("assert", "condition: \"${{ inputs.x == 'a' }}\"")),
    Case("an assertion that holds", call("assert", "condition: true")),
    Case(
        "an assertion without braces",
        call("assert", "condition: «inputs.x»"),
        (A,),
        "write `${{ inputs.x }}`",
    ),
    Case(
        "an assertion inside a text",
        call("assert", "condition: «'is ${{ inputs.x }}'»"),
        (A,),
        "inside the braces",
    ),
    Case(
        "an assertion inside a text, whose value is known",
        call("assert", "condition: «'is ${{ 1 == 1 }}'»"),
        (A,),
        "inside the braces",
    ),
    Case("a question", call("prompt", "message: hi, default: false")),
    Case(
        "a default that is like no choice",
        call("prompt", "message: hi, mode: choice, choices: [left, right], default: «zzz»"),
        ("BUILTIN-PROMPT-002",),
        "write one of left, right",
    ),
    Case("a choice", call("prompt", "message: hi, mode: choice, choices: [a, b], default: b")),
    Case(
        "a choice whose mode is a constant",
        call("prompt", "message: hi, mode: '${{ const.mode }}', choices: [a], default: «c»"),
        ("BUILTIN-PROMPT-002",),
    ),
    Case("a choice among nothing", whole("prompt", "message: hi, mode: choice"), ("BUILTIN-PROMPT-002",)),
    Case(
        "a default that is no choice",
        call("prompt", "message: hi, mode: choice, choices: [left, right], default: «rihgt»"),
        ("BUILTIN-PROMPT-002",),
        "did you mean `right`?",
    ),
    Case(
        "a default that might be a choice",
        call("prompt", "message: hi, mode: choice, choices: ['${{ inputs.x }}'], default: c"),
    ),
    Case(
        "a confirmation that defaults to a word",
        call("prompt", "message: hi, default: «nope»"),
        ("BUILTIN-PROMPT-002",),
    ),
    Case(
        "an input that defaults to a number",
        call("prompt", "message: hi, mode: input, default: «5»"),
        ("BUILTIN-PROMPT-002",),
        'put it in quotes: "5"',
    ),
    Case("an input that defaults to nothing", call("prompt", "message: hi, mode: input, default: ''")),
    Case(
        "choices without a choice",
        call("prompt", "message: hi, choices: «[a]»"),
        (A,),
        "write `mode: choice`",
    ),
    Case("a wait", call("wait", "duration: 48h")),
    Case("a wait for a moment", call("wait", "until: '2026-05-23T09:00:00Z', timeout: 1h")),
    Case("a wait without an end", whole("wait", "timeout: 1h"), ("BUILTIN-WAIT-003",)),
    Case(
        "a wait with two ends",
        call("wait", "duration: 5s, until: «'2026-05-23T09:00:00Z'»"),
        ("BUILTIN-WAIT-003",),
    ),
    Case("a wait of a number", call("wait", "duration: «5»"), (A,)),
    Case("a wait of days", call("wait", "duration: «2d»"), (A,), '"30s"'),
    Case("a wait for no moment", call("wait", "until: «tomorrow»"), (A,)),
    Case("a conversion", call("convert", "input: x, from: csv, to: json, has_header: true")),
    Case(
        "a conversion into itself",
        call("convert", "input: x, from: csv, to: «csv»"),
        ("BUILTIN-CONVERT-001",),
    ),
    Case(
        "an unknown format",
        call("convert", "input: x, from: «xml», to: json"),
        (A,),
        says="one of json, yaml, toml, csv",
    ),
    Case("a difference", call("json_diff", "before: 1, after: 2")),
    Case("half a difference", whole("json_diff", "before: 1"), (A,)),
    Case("a validation", call("validate", "data: 1, schema: { type: x }, format: yaml")),
    Case("a validation against a number", call("validate", "data: 1, schema: «3»"), (A,)),
    Case(
        "a patch of a list",
        call("json_merge_patch", "target: «[1]», patch: {}"),
        ("BUILTIN-JSON_MERGE_PATCH-001",),
    ),
    Case("a date", call("date", "op: add, base: x, duration: 1h")),
    Case("half a date", whole("date", "op: diff, start: x"), ("BUILTIN-DATE-001",), "write `end: …`"),
    Case("a view", call("inspect", "view: cost")),
    Case("an unknown view", call("inspect", "view: «costs»"), (A,)),
    Case("a broken digest", call("hash", "content: x, algo: «md5»"), (A,)),
    Case("a signature", call("hash", "content: x, op: sign, key: '${{ secrets.k }}'")),
    Case(
        "a signature with a key in clear",
        call("hash", "content: x, op: sign, key: «abc»"),
        ("BUILTIN-HASH-001",),
        "${{ secrets.<name> }}",
    ),
    Case("a signature without a key", whole("hash", "content: x, op: sign"), ("BUILTIN-HASH-001",)),
    Case(
        "an argument of another operation",
        call("hash", "content: x, signature: «y»"),
        ("BUILTIN-HASH-001",),
        "write `op: verify`",
    ),
    Case(
        "a picture to edit",
        whole("image_generate", "prompt: x, output_dir: y, mode: edit"),
        ("BUILTIN-IMAGE_GENERATE-001",),
    ),
    Case(
        "a step like no image step",
        call("image_fx", "input: a.png, out: b.png, ops: [«{ zzz: {} }»]"),
        ("BUILTIN-IMAGE_FX-001",),
        "the steps are resize",
    ),
    Case("an image step", call("image_fx", "input: a.png, out: b.png, ops: [{ grayscale: {} }]")),
    Case(
        "an unknown image step",
        call("image_fx", "input: a.png, out: b.png, ops: [«{ grayscal: {} }»]"),
        ("BUILTIN-IMAGE_FX-001",),
        "did you mean `grayscale`?",
    ),
    Case(
        "a chart that is no SVG",
        call("chart", "data: x, chart: { type: bar }, out: «a.png»"),
        ("BUILTIN-CHART-004",),
    ),
    Case(
        "speech without words",
        call("tts_generate", "text: «''», output_dir: x"),
        ("BUILTIN-TTS_GENERATE-001",),
    ),
]

URL = "url: 'https://a.example/'"
FETCHES = [
    Case("a page", call("fetch", f"{URL}, mode: article")),
    Case("an address without a scheme", call("fetch", "url: «a.example/x»"), (A,), "https://host/path"),
    Case("an address of another kind", call("fetch", "url: «'file:///etc/passwd'»"), (A,)),
    Case("an address without a host", call("fetch", "url: «'https:///x'»"), (A,)),
    Case("an address that only the run knows", call("fetch", "url: '${{ inputs.x }}'")),
    Case("a host that only the run knows", call("fetch", "url: 'https://${{ inputs.x }}:22/'")),
    Case("a path that only the run knows", call("fetch", "url: 'https://a.example/${{ inputs.x }}'")),
    Case("a kind that has no host", call("fetch", "url: «'ftp://${{ inputs.x }}'»"), (A,)),
    Case("two hosts in one address", call("fetch", r"url: «'https://a.example\@b.example/x'»"), (A,)),
    Case("a password in an address", call("fetch", "url: «'https://u:p@a.example/x'»"), (A,), "headers"),
    Case("a closed port", call("fetch", "url: «'https://a.example:5432/${{ inputs.x }}'»"), ("SEC-005",)),
    Case("an unknown mode", call("fetch", f"{URL}, mode: «html»"), (A,)),
    Case("a program with its mode", call("fetch", f"{URL}, mode: jq, jq: .a")),
    Case("a program without its mode", call("fetch", f"{URL}, jq: «.a»"), (A,), "write `mode: jq`"),
    Case("a mode without its program", call("fetch", f"{URL}, mode: «jq»"), (A,)),
    Case("a selector without its mode", call("fetch", f"{URL}, mode: markdown, selector: «div»"), (A,)),
    Case("a form", call("fetch", f"{URL}, method: POST, form: {{ a: 1, b: true }}")),
    Case("a form without a body", call("fetch", f"{URL}, form: «{{ a: 1 }}»"), (A,), "write `method: POST`"),
    Case("two payloads", call("fetch", f"{URL}, method: POST, body: x, form: «{{ a: 1 }}»"), (A,)),
    Case("a nested form", call("fetch", f"{URL}, method: POST, form: {{ a: «[1]» }}"), (A,), "nika:jq"),
    Case(
        "a form with a content type",
        call("fetch", f"{URL}, method: POST, headers: {{ «Content-Type»: x }}, form: {{ a: 1 }}"),
        (A,),
    ),
    Case(
        "parts",
        call("fetch", f"{URL}, method: POST, multipart: [{{ name: a, value: 1 }}, {{ name: f, path: x }}]"),
    ),
    Case(
        "a part with two contents",
        call("fetch", f"{URL}, method: POST, multipart: [«{{ name: a, value: 1, path: x }}»]"),
        (A,),
    ),
    Case(
        "a part with an unknown key",
        call("fetch", f"{URL}, method: POST, multipart: [{{ name: a, value: 1, «size»: 2 }}]"),
        (A,),
    ),
    Case("a crawl", call("fetch", f"{URL}, traverse: {{ max_pages: 25 }}")),
    Case("a crawl without an end", call("fetch", f"{URL}, traverse: «{{ respect_robots: true }}»"), (A,)),
    Case("a crawl that is too long", call("fetch", f"{URL}, traverse: {{ max_pages: «26» }}"), (A,)),
    Case("a crawl with a mode", call("fetch", f"{URL}, mode: «raw», traverse: {{ max_pages: 2 }}"), (A,)),
    Case("a crawl that writes", call("fetch", f"{URL}, method: «POST», traverse: {{ max_pages: 2 }}"), (A,)),
]


@pytest.mark.parametrize("case", [*CASES, *FETCHES], ids=str)
def test_a_call_is_judged_as_far_as_it_is_written_out(case: Case) -> None:
    """What a builtin would refuse at run time is found at the argument, before anything runs."""
    assert_found(case)


def test_every_builtin_has_its_arguments() -> None:
    """The table covers the 28 builtins, and what people write instead leads to arguments that exist."""
    assert ARGUMENTS.keys() == BUILTINS.keys()
    for (tool, wrong), right in MEANT.items():
        assert wrong not in ARGUMENTS[tool]
        assert right in ARGUMENTS[tool]


@pytest.mark.parametrize("name", sorted(TOOLS))
def test_the_check_and_the_tool_agree_on_the_arguments(name: str) -> None:
    """A builtin takes exactly the arguments that the check lets through, and needs the same ones."""
    tool, table = TOOLS[name], ARGUMENTS[name]
    assert {*tool.required, *tool.optional} == table.keys()
    assert set(tool.required) == {argument for argument, of in table.items() if of.required}


def test_every_code_of_a_case_is_registered() -> None:
    """No judgment of a builtin makes up a code."""
    assert {f"NIKA-{code}" for case in (*CASES, *FETCHES) for code in case.codes} <= CODES.keys()
