"""Loading as a whole: it never raises, every place lies in the text, and the public data agrees."""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nika_nb.catalog.codes import CODES, category_of
from nika_nb.errors import Diagnostic, Source
from nika_nb.language import load, load_bytes
from nika_nb.plan.identity import definition, definition_hash, input_hash
from tests.language.reading import codes, loaded, workflow_of

# What reading a text finds out; everything else is found by the check.
OURS = (
    "NIKA-PARSE", "NIKA-YAML", "NIKA-VALUES-001", "NIKA-VALUES-002", "NIKA-TYPE-001", "NIKA-TYPE-003",
    "NIKA-TYPE-006", "NIKA-DEFAULT", "NIKA-VAR-008", "NIKA-AUTH-007", "NIKA-AUTH-009", "NIKA-AUTH-010",
)  # fmt: skip
SAMPLE = """\
nika: sample
model: mock/echo
inputs:
  topic: { type: string, default: "tea é" }
permits:
  exec: [echo]
tasks:
  one:
    infer:
      prompt: |
        Tell ${{ inputs.topic }}
  two:
    with: { text: "${{ tasks.one.output }}" }
    when: ${{ with.text != '' }}
    exec: { command: [echo, "${{ with.text }}"] }
    timeout: "5s"
outputs:
  all: ${{ tasks.two.output }}
"""


def sound(text: str, diagnostics: tuple[Diagnostic, ...]) -> None:
    """Every finding has a registered code, a sentence, and places inside the text, in order."""
    for diagnostic in diagnostics:
        assert diagnostic.code in CODES
        assert diagnostic.message
        places = [diagnostic.span, *(span for _, span in diagnostic.related)]
        for span in places:
            assert span is not None
            assert 0 <= span.start <= span.end <= max(len(text), 1)
        assert diagnostic.render(Source(text))
    assert [d.sort_key() for d in diagnostics] == sorted(d.sort_key() for d in diagnostics)


@given(st.text(max_size=200))
def test_any_text_loads(text: str) -> None:
    """Whatever stands in a cell, loading it answers and does not raise."""
    result = loaded(text)
    sound(text, result.diagnostics)
    assert result.workflow is not None or result.diagnostics


@given(st.binary(max_size=200))
def test_any_bytes_load(raw: bytes) -> None:
    """Whatever stands in a file, loading it answers and does not raise."""
    source, result = load_bytes(raw)
    sound(source.text, result.diagnostics)


_BITS = st.sampled_from(
    ["\n", "  ", ": ", "- ", "[", "]", "{", "}", '"', "'", "|", ">", "#", "&a ", "*a ", "<<", "!t ", "\t",
     "${{", "}}", "? ", "~", "null", "1", "\u00e9", "e\u0301", "\U0001d11e", "\ud800", "\x00", "\ufeff",
     "---\n", "%YAML 1.2\n", "nika", "tasks", "infer", "prompt", "when", "type", "union", "object", ".nan",
     "1e999", "\\"]
)  # fmt: skip


@given(st.lists(_BITS, max_size=40).map("".join))
def test_any_pile_of_yaml_signs_loads(text: str) -> None:
    """Texts made of what YAML and the language give a meaning to."""
    sound(text, loaded(text).diagnostics)


@settings(max_examples=200)
@given(st.integers(0, len(SAMPLE)), st.integers(0, 12), _BITS)
def test_any_edit_of_a_workflow_loads(at: int, gone: int, put: str) -> None:
    """Half-typed workflows, as an editor sees them with every key stroke."""
    text = SAMPLE[:at] + put + SAMPLE[at + gone :]
    result = loaded(text)
    sound(text, result.diagnostics)
    if not result.diagnostics:
        assert result.workflow is not None
        assert result.workflow.tasks


_LEAVES = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(max_size=8))
_KEYS = st.sampled_from(
    ["nika", "model", "inputs", "const", "secrets", "permits", "run", "tasks", "outputs", "type", "default",
     "required", "source", "key", "fs", "read", "exec", "net", "http", "infer", "prompt", "command", "when",
     "for_each", "items", "retry", "max_attempts", "on_error", "skip", "returns", "union", "array", "object",
     "string", "lift", "law", "a"]
)  # fmt: skip


@given(
    st.recursive(
        _LEAVES,
        lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(_KEYS, inner, max_size=4)),
        max_leaves=25,
    )
)
def test_any_structure_loads(value: Any) -> None:
    """Every shape in every place: lists where mappings belong, numbers where text belongs."""
    text = json.dumps(
        {"nika": "x", "tasks": {"one": value}, "inputs": {"a": value}, "run": value, "permits": value}
    )
    sound(text, loaded(text).diagnostics)


def test_json_is_a_workflow_too() -> None:
    """YAML contains JSON: the same document, written by a program."""
    text = json.dumps({"nika": "x", "tasks": {"one": {"infer": {"prompt": "hé\n"}}}})
    assert workflow_of(text).tasks["one"].action.get("prompt") == "hé\n"


def test_loading_does_not_need_a_deep_stack() -> None:
    """In a notebook the stack is deep already; the deepest legal text still loads."""
    nested = "[" * 60 + "]" * 60
    types = "{array: " * 28 + "string" + "}" * 28
    cel = "(" * 31 + "true" + ")" * 31
    text = (
        f"nika: x\nconst: {{a: {nested}}}\ntasks:\n  one:\n    infer: {{prompt: x}}\n"
        f"    returns: {types}\n    when: ${{{{ {cel} }}}}\n"
    )
    depth = len(_frames())
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(depth + 700)
    try:
        assert loaded(text).diagnostics == ()
    finally:
        sys.setrecursionlimit(before)


def _frames() -> list[object]:
    frame, frames = sys._getframe(), []
    while frame is not None:
        frames.append(frame)
        frame = frame.f_back  # type: ignore[assignment]
    return frames


def test_a_legal_text_of_a_mebibyte_loads() -> None:
    """The largest workflow there can be: thousands of tasks, each bound to the one before."""
    lines = ["nika: large\ntasks:\n  t0: { infer: { prompt: go } }\n"]
    size = 0
    while size < (1 << 20) - 400:
        n = len(lines)
        lines.append(
            f"  t{n}:\n    with: {{ a: '${{{{ tasks.t{n - 1}.output }}}}' }}\n"
            "    exec: { command: [echo, '${{ with.a }}'] }\n"
        )
        size += len(lines[-1])
    flow = workflow_of("".join(lines))
    assert len(flow.tasks) == len(lines)


HOSTILE: list[tuple[str, str]] = [
    ("brackets", "a: " + "[" * 500_000),
    ("dashes", "- " * 400_000),
    ("indentation", "".join(" " * n + "a:\n" for n in range(1200))),
    ("unknown keys", "".join(f"key{n}: 1\n" for n in range(80_000))),
    ("one key over and over", "a: 1\n" * 150_000),
    ("aliases", "nika: x\nconst:\n" + "".join(f"  k{n}: *x\n" for n in range(60_000))),
    ("one huge value", "nika: " + "x" * 1_000_000),
    ("escapes", 'nika: "' + "\\x41" * 250_000 + '"'),
    ("accents not composed", "# " + "e\u0301" * 300_000),
    ("islands that never close", "nika: |\n" + " ${{ a\n" * 8_000),
    ("a long negation", "nika: x\ntasks: {a: {when: '${{ " + "!" * 60_000 + "a }}', infer: {prompt: x}}}"),
    ("a long chain", "nika: x\ntasks: {a: {when: '${{ " + "a || " * 12_000 + "a }}', infer: {prompt: x}}}"),
    ("a union of thousands", "nika: x\ntasks: {a: {infer: {prompt: x}, returns: {union: ["
     + ", ".join(f"{{enum: [a{n}]}}" for n in range(20_000)) + "]}}}"),
]  # fmt: skip


@pytest.mark.timeout(20)
@pytest.mark.parametrize("text", [case[1] for case in HOSTILE], ids=[case[0] for case in HOSTILE])
def test_hostile_texts_are_refused_at_little_cost(text: str) -> None:
    """What would cost memory, recursion or quadratic time elsewhere is refused."""
    result = loaded(text)
    assert result.diagnostics
    assert len(result.diagnostics) <= 200


def static_fixtures(conformance: Path) -> Iterator[tuple[str, bytes, dict[str, Any]]]:
    for folder in ("tests/core", "tests/deep", "tests/stdlib", "values", "types", "gates"):
        for verdict in sorted((conformance / folder).rglob("expected.json")):
            text = verdict.parent / "input.yaml"
            if text.exists():
                yield (
                    str(verdict.parent.relative_to(conformance)),
                    text.read_bytes(),
                    json.loads(verdict.read_text()),
                )


def test_valid_public_fixtures_load_clean(conformance: Path) -> None:
    """No fixture that the public suite calls valid is refused by reading alone."""
    valid = [(name, raw) for name, raw, verdict in static_fixtures(conformance) if verdict["valid"]]
    assert len(valid) > 60
    refused = {name: codes(load_bytes(raw, name)[1].diagnostics) for name, raw in valid}
    assert {name: found for name, found in refused.items() if found} == {}


def test_invalid_public_fixtures_report_our_codes(conformance: Path) -> None:
    """Where the public suite expects a code or namespace of reading, it is reported, with its category."""
    asked = 0
    for name, raw, verdict in static_fixtures(conformance):
        found = codes(load_bytes(raw, name)[1].diagnostics)
        for expected in [] if verdict["valid"] else verdict.get("errors", []):
            wanted = expected.get("code") or expected.get("namespace", "")
            if wanted.startswith(OURS):
                asked += 1
                hits = [code for code in found if code == wanted or code.startswith(f"{wanted}-")]
                assert hits, (name, wanted, found)
    assert asked > 65


DEEP_VAR_005 = [
    "001-cel-chained-relation", "002-cel-unknown-function", "003-when-not-boolean", "007-bare-when-string",
    "008-expr-in-output-binding",
]  # fmt: skip


@pytest.mark.parametrize("name", DEEP_VAR_005)
def test_expressions_are_judged_while_reading(conformance: Path, name: str) -> None:
    """Grammar and the shape of `when:` need no knowledge of the graph."""
    raw = (conformance / "tests/deep" / name / "input.yaml").read_bytes()
    found = codes(load_bytes(raw, name)[1].diagnostics)
    assert found == ["NIKA-VAR-005"]
    assert category_of(found[0]) == "validation_error"


def test_public_examples_load_clean(conformance: Path) -> None:
    """Every example, snippet and template is read without a finding, and has tasks."""
    paths = [
        path
        for folder in ("examples", "examples/snippets", "templates")
        for path in sorted((conformance / folder).glob("*.nika.yaml"))
    ]
    assert len(paths) > 60
    for path in paths:
        _, result = load_bytes(path.read_bytes(), path.name)
        assert codes(result.diagnostics) == [], path.name
        assert result.workflow is not None
        assert result.workflow.tasks


def test_header_corpus_codes_of_reading(conformance: Path) -> None:
    """The texts whose header asks for a code of reading report it."""
    asked = 0
    for folder in ("envelope", "dag", "errors", "variables", "verbs", "composition", "redteam"):
        for path in sorted((conformance / folder).glob("*.yaml")):
            raw = path.read_bytes()
            expected = raw.split(b"Expected: ", 1)[-1].split(maxsplit=1)[0].decode().rstrip(":")
            if expected.startswith(OURS):
                asked += 1
                assert expected in codes(load_bytes(raw, path.name)[1].diagnostics), path.name
    assert asked >= 10


def recorded(trace: Path) -> dict[str, tuple[str, str]]:
    """(def_hash, input_hash) by task, as the reference engine wrote them."""
    found = {}
    for line in trace.read_text().splitlines():
        fields = {field["key"]: field["value"] for field in json.loads(line)["fields"]}
        if "def_hash" in fields:
            found[fields["task"]] = (fields["def_hash"], fields["input_hash"])
    return found


@pytest.mark.parametrize("number", ["001", "007"])
def test_definitions_give_the_golden_hashes(conformance: Path, number: str) -> None:
    """A task read from the golden workflow has byte for byte the identity that the reference recorded."""
    [folder] = (conformance / "tests/runtime/trace").glob(f"{number}*")
    vectors = recorded(folder / "trace.ndjson")
    flow = workflow_of((folder / "golden.nika.yaml").read_text())
    assert vectors.keys() == flow.tasks.keys()
    for task in flow.tasks.values():
        verb = task.action.verb
        assert definition_hash(task.id, verb, definition(task, flow)) == vectors[task.id][0]
        body = json.loads(
            json.dumps({verb: task.action.body.raw}).replace(
                "${{ inputs.qui }}", "depuis-la-ligne-de-commande"
            )
        )
        assert input_hash(body, {}, None) == vectors[task.id][1]


def hashes(text: str) -> dict[str, str]:
    flow = workflow_of(text)
    return {
        task.id: definition_hash(task.id, task.action.verb, definition(task, flow))
        for task in flow.tasks.values()
    }


RESTYLED = """\
# a comment
nika: sample

"outputs":
  all: "${{ tasks.two.output }}"   # another
tasks: {two: {timeout: 5s, exec: {"command": ['echo', '${{ with.text }}']},
  when: "${{ with.text != '' }}", with: {text: '${{ tasks.one.output }}'}},
  one: {infer: {prompt: "Tell ${{ inputs.topic }}\\n"}}}
permits: {exec: ['echo']}
inputs: {topic: {default: 'tea é', type: string}}
model: 'mock/echo'
"""


def test_style_does_not_reach_an_identity() -> None:
    """Comments, quotes, blank lines, block or flow, the order of keys: the same tasks."""
    assert hashes(RESTYLED) == hashes(SAMPLE)


def test_loading_twice_gives_the_same_order() -> None:
    """Findings do not depend on hashing or on what was loaded before."""
    chance = random.Random(3)
    keys = [f"key{chance.randrange(10**6)}" for _ in range(50)]
    text = "".join(f"{key}: 1\n" for key in keys)
    assert load(Source(text)).diagnostics == load(Source(text)).diagnostics
