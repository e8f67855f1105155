"""The top level: names, inputs, constants, secrets, permits, determinism, outputs."""

from __future__ import annotations

import pytest

from nika_nb.catalog import grammar
from nika_nb.language.model import RunSpec
from nika_nb.language.template import Text
from tests.language.reading import codes, envelope, found, loaded, only, workflow_of

FULL = """\
nika: everything
model: ollama/qwen3:4b
inputs:
  topic:
    type: string
    required: true
    description: What to look for
  limit: { type: { integer: { min: 1 } }, default: 5 }
const:
  folder: ./out
  settings: { type: custom, depth: 2 }
  window: { type: integer, value: 30 }
secrets:
  token:
    source: env
    key: TOKEN
    egress:
      - { to: "nika:fetch", host: api.example.org }
      - { to: outputs }
  pem: { source: file, path: ~/key.pem }
permits:
  fs: { read: ["./data/**"], write: ["./out/**"] }
  net: { http: [api.example.org] }
  exec: [git]
  tools: ["nika:fetch"]
  env: [CI_COMMIT]
run: { entropy: { seeded: 7 }, clock: virtual }
tasks:
  one:
    infer: { prompt: "${{ inputs.topic }}" }
outputs:
  plain: ${{ tasks.one.output }}
  typed:
    value: ${{ tasks.one.output }}
    type: string
    description: What it said
"""


def test_a_whole_envelope_is_read() -> None:
    """Every block arrives in the model, in the document's order, with its places."""
    flow = workflow_of(FULL)
    assert (flow.id, flow.model) == ("everything", "ollama/qwen3:4b")
    assert list(flow.inputs) == ["topic", "limit"]
    topic, limit = flow.inputs.values()
    assert (topic.required, topic.has_default, topic.description) == (True, False, "What to look for")
    assert (limit.required, limit.has_default, limit.default) == (False, True, 5)
    assert limit.type.schema == {"type": "integer", "minimum": 1}
    assert {name: const.value for name, const in flow.consts.items()} == {
        "folder": "./out",
        "settings": {"type": "custom", "depth": 2},
        "window": 30,
    }
    assert flow.consts["window"].type is not None
    assert flow.consts["settings"].type is None
    token, pem = flow.secrets.values()
    assert (token.source, token.key, pem.source, pem.key) == ("env", "TOKEN", "file", "~/key.pem")
    assert [(rule.to, rule.host, rule.host_from_self) for rule in token.egress] == [
        ("nika:fetch", "api.example.org", False),
        ("outputs", None, False),
    ]
    assert flow.run.entropy == "seeded"
    assert (flow.run.seed, flow.run.clock) == (7, "virtual")
    assert isinstance(flow.outputs["plain"].value, Text)
    assert flow.outputs["typed"].type is not None
    assert flow.outputs["typed"].description == "What it said"
    for key, span in flow.spans.items():
        assert FULL[span.start : span.end].startswith(f"{key}:")


def test_permits_are_literal_bounds_with_places() -> None:
    """Each bound knows where it stands; an absent category admits nothing."""
    permits = workflow_of(FULL).permits
    assert permits is not None
    for bounds in (permits.read, permits.write, permits.http, permits.tools, permits.env, permits.exec):
        assert isinstance(bounds, tuple)
        for bound in bounds:
            assert bound.text in FULL[bound.span.start : bound.span.end]
    assert permits.raw["exec"] == ["git"]
    empty = workflow_of(envelope("permits: {}")).permits
    assert empty is not None
    assert (empty.read, empty.write, empty.http, empty.tools, empty.env) == ((), (), (), (), ())
    assert empty.exec is False
    assert workflow_of(envelope("")).permits is None


def test_a_bare_star_permits_every_host() -> None:
    """The one wildcard there is, and it is visible."""
    permits = workflow_of(envelope("permits: {net: {http: ['*']}}")).permits
    assert permits is not None
    assert [bound.text for bound in permits.http] == ["*"]


FINDINGS: list[tuple[str, str, str, str]] = [
    # block, code, the text pointed at begins with, a part of the sentence
    ("nothing: 1", "NIKA-PARSE-005", "nothing", "not a key of a workflow"),
    ("input: {}", "NIKA-PARSE-005", "input", "not a key"),
    ("vars: {a: 1}", "NIKA-VALUES-001", "vars", "`vars:` is gone"),
    ("env: {A: b}", "NIKA-VALUES-002", "env", "`env:` is gone"),
    ("config: {a: {default: 1}}", "NIKA-PARSE-005", "config", "`config:` is gone"),
    ("workflow: {id: x}", "NIKA-PARSE-005", "workflow", "`workflow:` is gone"),
    ("types: {A: string}", "NIKA-PARSE-005", "types", "`types:` is gone"),
    ("policy: {endorsement: solo}", "NIKA-PARSE-005", "policy", "`policy:` is gone"),
    ("description: hello", "NIKA-PARSE-005", "description", "no `description:`"),
    ("name: hello", "NIKA-PARSE-005", "name", "stands in `nika:`"),
    ("version: 1", "NIKA-PARSE-005", "version", "no version"),
    ("provider: openai", "NIKA-PARSE-005", "provider", "first part of the model"),
    ("model: 3", "NIKA-PARSE-019", "3", "`model:` must be text"),
    ("model: ''", "NIKA-PARSE-019", "''", "`model:` is empty"),
    ("inputs: [a]", "NIKA-PARSE-019", "[a]", "`inputs:` must be a mapping"),
    ("inputs:", "NIKA-PARSE-019", "", "`inputs:` must be a mapping, not nothing"),
    ("inputs: {a: string}", "NIKA-PARSE-019", "string", "the input `a` must be a mapping"),
    ("inputs: {a: {required: true}}", "NIKA-PARSE-019", "{required", "has no `type:`"),
    ("inputs: {a: {type: string, requird: true}}", "NIKA-PARSE-005", "requird", "not a key of the input `a`"),
    ("inputs: {a: {type: string, required: yes}}", "NIKA-PARSE-019", "yes", "must be true or false"),
    ("inputs: {a: {type: text}}", "NIKA-TYPE-001", "text", "`text` is not a type"),
    ("inputs: {a: {type: boolean}}", "NIKA-TYPE-001", "boolean", "`boolean` is not a type"),
    ("inputs: {a: {type: integer, default: abc}}", "NIKA-DEFAULT-001", "abc", "does not fit its type"),
    ("inputs: {a: {type: string, default: null}}", "NIKA-DEFAULT-001", "null", "does not fit its type"),
    ("inputs: {a: {type: string, default: '${{ inputs.b }}'}}", "NIKA-VAR-005", "'${{", "is a literal"),
    ("const: {a: {type: integer, value: x}}", "NIKA-DEFAULT-001", "x", "does not fit its type"),
    ("const: {a: {type: integer, value: 1, note: x}}", "NIKA-PARSE-005", "note", "not a key"),
    ("const: {a: ['${{ inputs.b }}']}", "NIKA-VAR-005", "'${{", "is a literal"),
    ("secrets: {a: hunter2}", "NIKA-PARSE-014", "hunter2", "must be a mapping"),
    ("secrets: {a: {value: hunter2}}", "NIKA-PARSE-014", "value", "stands here in clear"),
    ("secrets: {a: {key: A}}", "NIKA-PARSE-014", "{key", "has no `source:`"),
    ("secrets: {a: {source: consul, key: A}}", "NIKA-PARSE-014", "consul", "is one of env, file, vault"),
    ("secrets: {a: {source: env}}", "NIKA-PARSE-014", "{source", "has no `key:`"),
    ("secrets: {a: {source: file, path: p, key: k}}", "NIKA-PARSE-014", "key", "takes a `path:`"),
    ("secrets: {a: {source: env, key: '${{ inputs.k }}'}}", "NIKA-PARSE-014", "'${{", "is a literal"),
    ("secrets: {a: {source: env, key: A, egress: [{host: h}]}}", "NIKA-PARSE-019", "{host", "has no `to:`"),
    ("secrets: {a: {source: env, key: A, egress: {to: exec}}}", "NIKA-PARSE-019", "{to", "must be a list"),
    ("secrets: {a: {source: env, key: A, egress: [{to: outputs, host: h}]}}", "NIKA-PARSE-019", "{to",
     "`to: outputs` has no address"),
    ("secrets: {a: {source: env, key: A, egress: [{to: exec, host_from_self: true}]}}", "NIKA-PARSE-019",
     "{to", "`to: exec` has no address"),
    ("secrets: {a: {source: env, key: A, egress: [{to: exce}]}}", "NIKA-PARSE-019", "exce",
     "no place that a secret can go to"),
    ('secrets: {a: {source: env, key: A, egress: [{to: "nika:*"}]}}', "NIKA-PARSE-019", '"nika:*"',
     "no place that a secret can go to"),
    ("secrets: {a: {source: env, key: A, egress: [{to: x, host: h, host_from_self: true}]}}",
     "NIKA-PARSE-019", "{to", "exclude each other"),
    ("permits:", "NIKA-PARSE-019", "", "`permits:` must be a mapping"),
    ("permits: {files: []}", "NIKA-PARSE-005", "files", "not a key of `permits:`"),
    ("permits: {fs: {exec: []}}", "NIKA-PARSE-005", "exec", "not a key of `permits.fs`"),
    ("permits: {fs: [a]}", "NIKA-PARSE-019", "[a]", "`permits.fs` must be a mapping"),
    ("permits: {fs: {read: ./x}}", "NIKA-PARSE-019", "./x", "`permits.fs.read` must be a list"),
    ("permits: {exec: git}", "NIKA-PARSE-019", "git", "true, false or a list"),
    ("permits: {exec: [1]}", "NIKA-PARSE-019", "1", "must be text"),
    ("permits: {tools: ['']}", "NIKA-PARSE-019", "''", "is empty"),
    ("permits: {net: {http: ['${{ inputs.host }}']}}", "NIKA-AUTH-007", "'${{", "that a value could move"),
    ("permits: {exec: ['${{ const.p }}']}", "NIKA-AUTH-007", "'${{", "that a value could move"),
    ("permits: {env: ['${{ inputs.e }}']}", "NIKA-AUTH-007", "'${{", "that a value could move"),
    ("permits: {env: [LD_PRELOAD]}", "NIKA-AUTH-009", "LD_PRELOAD", "never passed on"),
    ("permits: {env: ['CI_*']}", "NIKA-PARSE-019", "'CI_*'", "not the name of one environment variable"),
    ("permits: {net: {http: ['*.example.org']}}", "NIKA-AUTH-010", "'*.ex", "not an exact host"),
    ("run: {entropy: ambient, clock: virtual}", "NIKA-PARSE-026", "{entropy", "live and reproducible"),
    ("run: {entropy: none, clock: system}", "NIKA-PARSE-027", "{entropy", "wall clock"),
    ("run: {entropy: {seeded: 1}, clock: system}", "NIKA-PARSE-027", "{entropy", "wall clock"),
    ("run: {entropy: {seeded: -1}}", "NIKA-PARSE-019", "-1", "at least 0"),
    ("run: {entropy: {seeded: 18446744073709551616}}", "NIKA-PARSE-019", "{seeded", "at most 64 bits"),
    ("run: {entropy: random}", "NIKA-PARSE-019", "random", "none, ambient, { seeded: 42 }"),
    ("run: {clock: wall}", "NIKA-PARSE-019", "wall", "one of system, virtual"),
    ("run: {seed: 3}", "NIKA-PARSE-005", "seed", "not a key of `run:`"),
    ("outputs: [a]", "NIKA-PARSE-019", "[a]", "`outputs:` must be a mapping"),
    ("outputs: {a: 3}", "NIKA-PARSE-019", "3", "the output `a` must be text"),
    ("outputs: {a: {type: string}}", "NIKA-PARSE-019", "{type", "has no `value:`"),
    ("outputs: {a: {value: x, kind: y}}", "NIKA-PARSE-005", "kind", "not a key of the output"),
    ("outputs: {a: '${{ tasks.one.output'}", "NIKA-VAR-008", "${{", "never closed"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("block", "code", "pointed", "sentence"), FINDINGS, ids=[case[0][:60] for case in FINDINGS]
)
def test_the_envelope_is_strict(block: str, code: str, pointed: str, sentence: str) -> None:
    """One mistake is one finding, with its code, under its text, and nothing else."""
    only(envelope(block), code, pointed, sentence)


NAMES: list[tuple[str, bool]] = [
    ("my-flow", True),
    ("a", True),
    ("a1-2", True),
    ("v1", False),
    ("v12", False),
    ("My_Flow", False),
    ("1.0", False),
    ('"1.0"', False),
    ("-a", False),
    ("a_b", False),
    ('"a\\n"', False),
    ("", False),
    ("[a]", False),
]


@pytest.mark.parametrize(("name", "admitted"), NAMES, ids=[case[0] or "nothing" for case in NAMES])
def test_the_name_is_kebab_case(name: str, admitted: bool) -> None:
    """`nika:` names the workflow: no version, no capitals, no underscore."""
    text = f"nika: {name}\ntasks: {{ one: {{ infer: {{ prompt: x }} }} }}\n"
    assert codes(found(text)) == ([] if admitted else ["NIKA-PARSE-003"])


TASKS: list[tuple[str, str, str]] = [
    ("tasks: {one: {infer: {prompt: x}}}", "NIKA-PARSE-002", "`nika:` is missing"),
    ("nika: x", "NIKA-PARSE-002", "`tasks:` is missing"),
    ("nika: x\ntasks:", "NIKA-PARSE-002", "`tasks:` is empty"),
    ("nika: x\ntasks: {}", "NIKA-PARSE-002", "`tasks:` is empty"),
    ("nika: x\ntasks: []", "NIKA-PARSE-022", "`tasks:` is a list"),
    ("nika: x\ntasks:\n  - id: a\n    infer: {prompt: x}", "NIKA-PARSE-022", "`tasks:` is a list"),
    ("nika: x\ntasks: soon", "NIKA-PARSE-019", "`tasks:` must be a mapping"),
]


@pytest.mark.parametrize(("text", "code", "sentence"), TASKS, ids=[case[0][:30] for case in TASKS])
def test_a_workflow_has_a_name_and_tasks(text: str, code: str, sentence: str) -> None:
    """What is missing is said once, and what kind of file it looks like."""
    [diagnostic] = found(text)
    assert diagnostic.code == code
    assert sentence in diagnostic.message


def test_a_typo_is_answered_with_the_key_that_was_meant() -> None:
    """The hint names the nearest key of that level."""
    for block, word in (("ouputs: {}", "outputs"), ("secret: {}", "secrets"), ("permit: {}", "permits")):
        [diagnostic] = found(envelope(block))
        assert diagnostic.hint == f"did you mean `{word}`?"


def test_every_dead_word_teaches_and_none_is_alive() -> None:
    """A dead key has a sentence and a way out, and is no key of its level."""
    levels = (
        (grammar.DEAD_ENVELOPE, grammar.ENVELOPE),
        (grammar.DEAD_TASK, grammar.TASK),
        (grammar.DEAD_ON_ERROR, grammar.ON_ERROR),
    )
    for dead, alive in levels:
        assert not dead.keys() & set(alive)
        for word in dead.values():
            assert word.code.startswith("NIKA-")
            assert word.sentence
            assert word.hint


def test_many_mistakes_are_found_at_once_in_the_order_of_the_text() -> None:
    """Reading goes on: the sound part of the workflow is built, and every finding is placed."""
    text = (
        "nika: Bad\nextra: 1\ninputs: {a: {type: strin}, b: {type: string}}\n"
        "tasks:\n  One: {infer: {promt: x}}\n  two: {exec: {command: ls}, timeout: 5}\n"
        "  three: {infer: {prompt: hi}}\n"
    )
    result = loaded(text)
    assert codes(result.diagnostics) == [
        "NIKA-PARSE-003", "NIKA-PARSE-005", "NIKA-TYPE-001", "NIKA-PARSE-006", "NIKA-PARSE-005",
        "NIKA-PARSE-019", "NIKA-PARSE-010",
    ]  # fmt: skip
    starts = [d.span.start for d in result.diagnostics if d.span]
    assert starts == sorted(starts)
    assert result.workflow is not None
    assert list(result.workflow.inputs) == ["b"]
    assert list(result.workflow.tasks) == ["three"]
    assert [d.task for d in result.diagnostics][3:] == ["One", "One", "two", "two"]


def test_a_finding_beside_the_tasks_names_none() -> None:
    """What stands after the tasks belongs to no task."""
    [diagnostic] = found(envelope("") + "outputs: {a: 3}\n")
    assert diagnostic.task is None


def test_a_flood_of_mistakes_is_cut_off() -> None:
    """Nobody reads past the first two hundred."""
    assert len(found("".join(f"key{n}: 1\n" for n in range(1000)))) == 200


DETERMINISM: list[tuple[str, RunSpec]] = [
    ("", RunSpec()),
    ("run: {}", RunSpec()),
    ("run: {clock: virtual}", RunSpec("ambient", "virtual")),
    ("run: {entropy: none}", RunSpec("none", "virtual")),
    ("run: {entropy: {seeded: 0}}", RunSpec("seeded", "virtual", 0)),
    ("run: {entropy: ambient, clock: system}", RunSpec()),
]


@pytest.mark.parametrize(("block", "spec"), DETERMINISM, ids=[case[0] or "nothing" for case in DETERMINISM])
def test_determinism_is_declared(block: str, spec: RunSpec) -> None:
    """A deterministic entropy implies the virtual clock; nothing declared is the world as it is."""
    run = workflow_of(envelope(block)).run
    assert (run.entropy, run.clock, run.seed) == (spec.entropy, spec.clock, spec.seed)


RANDOM: list[tuple[str, str, bool]] = [
    ("none", "retry: {max_attempts: 2}", False),
    ("none", "retry: {max_attempts: 2, jitter: true}", False),
    ("none", "retry: {max_attempts: 2, jitter: false}", True),
    ("none", "retry: {max_attempts: 2, backoff_ms: 0}", True),
    ("none", "retry: {max_attempts: 1}", True),
    ("{seeded: 1}", "retry: {max_attempts: 2}", True),
]


@pytest.mark.parametrize(("entropy", "retry", "admitted"), RANDOM)
def test_no_entropy_means_none(entropy: str, retry: str, admitted: bool) -> None:
    """Under `entropy: none` nothing may wait a random time."""
    text = f"nika: x\nrun: {{entropy: {entropy}}}\ntasks:\n  one:\n    infer: {{prompt: x}}\n    {retry}\n"
    assert codes(found(text)) == ([] if admitted else ["NIKA-PARSE-028"])


def test_no_entropy_means_no_random_ids() -> None:
    """`nika:uuid` is random by what it is for."""
    text = "nika: x\nrun: {entropy: none}\ntasks: {one: {invoke: {tool: 'nika:uuid'}}}\n"
    assert codes(found(text)) == ["NIKA-PARSE-028"]


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (r"\${{ x }}", "${{ x }}"),
        (r"a \${{ b \${{ c", "a ${{ b ${{ c"),
        (r"\\\${{ x }}", r"\${{ x }}"),
        (r"a\b\\c", r"a\b\\c"),
    ],
)
def test_a_literal_uses_up_the_backslash_that_escapes(written: str, meant: str) -> None:
    """In constants, typed or not, in defaults and schemas, and deep inside; the type judges what is meant."""
    text = f"""\
nika: literal
inputs: {{d: {{type: {{enum: [{meant!r}, other]}}, default: {written!r}}}}}
const:
  plain: {written!r}
  deep: {{in: [{written!r}]}}
  typed: {{type: string, value: {written!r}}}
tasks: {{t: {{infer: {{prompt: p, model: mock/echo, schema: {{const: {written!r}}}}}}}}}
""".replace("\\\\", "\\")
    found = workflow_of(text)
    assert found.inputs["d"].default == meant
    assert [const.value for const in found.consts.values()] == [meant, {"in": [meant]}, meant]
    assert found.tasks["t"].action.get("schema") == {"const": meant}
