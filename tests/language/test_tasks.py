"""Tasks: what surrounds the verb, read into the model or refused by name."""

from __future__ import annotations

from typing import Any

import pytest

from nika_nb.errors import Source
from nika_nb.language import load
from nika_nb.language.model import After, ForEach, OnError, Retry
from nika_nb.language.template import only_island, references
from tests.language.reading import codes, found, loaded, only, task_of, under, with_task, workflow_of

WORK = "infer: { prompt: x }"

FULL = """\
nika: sample
tasks:
  prepare:
    exec: { command: [prepare] }
  one:
    with:
      rows: ${{ tasks.prepare.output }}
      style: plain
    after: { prepare: success }
    group: legs
    when: ${{ size(with.rows) > 0 }}
    for_each:
      items: ${{ with.rows }}
      max_parallel: 4
      fail_fast: false
    retry:
      max_attempts: 3
      backoff_ms: 10
      backoff_strategy: linear
      backoff_max_ms: 100
      jitter: false
      on_codes: [NIKA-EXEC-001, NIKA-BUILTIN-FETCH-001]
    on_error:
      recover: ${{ tasks.prepare.output }}
      on_codes: [NIKA-TIMEOUT-001]
    timeout: 1m30s
    infer: { prompt: "${{ item }}" }
    returns: { object: { summary: string } }
    extract: { title: .summary }
    lift:
      - { law: taint, from: inputs.path, because: reviewed }
  tidy:
    after: { one: unwind }
    exec: { command: [rm, -f, x] }
"""


def test_a_whole_task_is_read() -> None:
    """Every field arrives in the model with its place."""
    flow = workflow_of(FULL)
    task = flow.tasks["one"]
    assert list(task.with_) == ["rows", "style"]
    assert [str(reference) for reference in references(task.with_["rows"])] == ["tasks.prepare.output"]
    [edge] = task.after
    assert isinstance(edge, After)
    assert (edge.producer, edge.predicate) == ("prepare", "success")
    assert FULL[edge.span.start : edge.span.end] == "prepare: success"
    assert FULL[edge.predicate_span.start : edge.predicate_span.end] == "success"
    assert task.group == "legs"
    assert only_island(task.when if not isinstance(task.when, bool) else None) is not None
    fan = task.for_each
    assert isinstance(fan, ForEach)
    assert (fan.max_parallel, fan.fail_fast) == (4, False)
    retry = task.retry
    assert isinstance(retry, Retry)
    assert (retry.max_attempts, retry.backoff_ms, retry.backoff_strategy) == (3, 10, "linear")
    assert (retry.backoff_max_ms, retry.jitter) == (100, False)
    assert retry.on_codes == ("NIKA-EXEC-001", "NIKA-BUILTIN-FETCH-001")
    policy = task.on_error
    assert isinstance(policy, OnError)
    assert policy.recover is not None
    assert (policy.skip, policy.on_codes) == (False, ("NIKA-TIMEOUT-001",))
    assert task.timeout_ms == 90_000
    assert task.returns is not None
    assert task.extract == {"title": ".summary"}
    [lift] = task.lift
    assert (lift.law, lift.origin, lift.because) == ("taint", "inputs.path", "reviewed")
    assert not task.is_cleanup
    assert flow.tasks["tidy"].is_cleanup
    for key, span in task.spans.items():
        assert FULL[span.start : span.end].startswith(f"{key}:")
    assert FULL[task.key_span.start : task.key_span.end] == "one"
    assert FULL[task.span.start : task.span.end].startswith("one:\n    with:")


def test_what_is_not_written_is_absent() -> None:
    """A task with a verb alone has no policy of its own."""
    task = task_of(WORK)
    assert (task.with_, task.after, task.extract, task.lift) == ({}, (), {}, ())
    assert (task.when, task.for_each, task.retry, task.on_error) == (None, None, None, None)
    assert (task.timeout_ms, task.returns, task.group) == (None, None, None)


FINDINGS: list[tuple[str, str, str, str]] = [
    ("id: one", "NIKA-PARSE-023", "id", "the key of a task is its id"),
    ("depends_on: [a]", "NIKA-PARSE-024", "depends_on", "`depends_on:` is gone"),
    ("output: {a: .b}", "NIKA-PARSE-005", "output", "is called `extract:`"),
    ("max_parallel: 3", "NIKA-PARSE-005", "max_parallel", "belongs to the fan-out"),
    ("fail_fast: true", "NIKA-PARSE-005", "fail_fast", "belongs to the fan-out"),
    ("on_finally: []", "NIKA-PARSE-005", "on_finally", "cleanup is a task of its own"),
    ("inert: because", "NIKA-PARSE-005", "inert", "`inert:` is gone"),
    ("declassify: []", "NIKA-PARSE-005", "declassify", "`declassify:` is gone"),
    ("description: x", "NIKA-PARSE-005", "description", "has no `description:`"),
    ("needs: [a]", "NIKA-PARSE-005", "needs", "no `needs:`"),
    ("retries: 3", "NIKA-PARSE-005", "retries", "is called `retry:`"),
    ("while: true", "NIKA-PARSE-005", "while", "no `while:`"),
    ("finally: x", "NIKA-PARSE-005", "finally", "no `finally:`"),
    ("on_failure: x", "NIKA-PARSE-005", "on_failure", "no `on_failure:`"),
    ("permits: {}", "NIKA-PARSE-005", "permits", "belongs to the workflow"),
    ("whn: true", "NIKA-PARSE-005", "whn", "not a key of a task"),
    ("with: [a]", "NIKA-PARSE-019", "[a]", "`with:` must be a mapping"),
    ("with: {a: {'${{ inputs.k }}': 1}}", "NIKA-VAR-005", "'${{", "is not resolved in a key"),
    ("with: {status: 1}", "NIKA-PARSE-013", "status", "a name that every task has already"),
    ("extract: {error: .x}", "NIKA-PARSE-013", "error", "a name that every task has already"),
    ("extract: {cause: .x}", "NIKA-PARSE-013", "cause", "a name that every task has already"),
    ("extract: {a: 3}", "NIKA-PARSE-019", "3", "`extract.a` must be text"),
    ("extract: {a: ''}", "NIKA-PARSE-019", "''", "is empty"),
    ("extract: {a: '.x[${{ inputs.i }}]'}", "NIKA-VAR-005", "'.x", "cannot stand inside a jq program"),
    ("after: [a]", "NIKA-PARSE-019", "[a]", "`after:` must be a mapping"),
    ("after: {a: [success]}", "NIKA-PARSE-019", "[success]", "the state of `a` must be text"),
    ("group: My-Group", "NIKA-PARSE-019", "My-Group", "cannot name a group"),
    ("group: [a]", "NIKA-PARSE-019", "[a]", "`group:` must be text"),
    # when
    ("when: 'a == b'", "NIKA-VAR-005", "'a == b'", "takes an expression"),
    ("when: 'true'", "NIKA-VAR-005", "'true'", "takes an expression"),
    ("when: 1", "NIKA-VAR-005", "1", "takes an expression"),
    ("when: [true]", "NIKA-VAR-005", "[true]", "takes an expression"),
    ("when:", "NIKA-VAR-005", "", "takes an expression, not nothing"),
    ("when: ${{ inputs.a }}", "NIKA-VAR-005", "${{ inputs.a }}", "is a value, not a condition"),
    ("when: ${{ 'production' }}", "NIKA-VAR-005", "${{", "is a value, not a condition"),
    ("when: ${{ 1 }}", "NIKA-VAR-005", "${{", "is a value, not a condition"),
    ("when: ${{ null }}", "NIKA-VAR-005", "${{", "is a value, not a condition"),
    ("when: ${{ size(inputs.a) }}", "NIKA-VAR-005", "${{", "is a value, not a condition"),
    ("when: ${{ [true] }}", "NIKA-VAR-005", "${{", "is a value, not a condition"),
    ("when: '${{ a > 1 ? \"x\" : b == c }}'", "NIKA-VAR-005", "${{", "is a value, not a condition"),
    ("when: '${{ a > 1 ? b : c }}'", "NIKA-VAR-005", "${{", "is a value, not a condition"),
    ("when: '${{ a == 1 }} && ${{ b == 1 }}'", "NIKA-VAR-005", "'${{", "one `${{ }}` and nothing around it"),
    ("when: ${{ a == 1 }} yes", "NIKA-VAR-005", "${{", "one `${{ }}` and nothing around it"),
    ("when: ${{ a + 1 == 2 }}", "NIKA-VAR-005", "+", "arithmetic"),
    ("when: '${{ a == 1'", "NIKA-VAR-008", "${{", "never closed"),
    # for_each
    ("for_each: ${{ with.a }}", "NIKA-PARSE-019", "${{", "`for_each:` must be a mapping"),
    ("for_each: [1, 2]", "NIKA-PARSE-019", "[1, 2]", "`for_each:` must be a mapping"),
    ("for_each: {max_parallel: 2}", "NIKA-PARSE-019", "{max", "has no `items:`"),
    ("for_each: {items: 3}", "NIKA-PARSE-019", "3", "a list or a `${{ }}` that yields one"),
    ("for_each: {items: {a: 1}}", "NIKA-PARSE-019", "{a: 1}", "a list or a `${{ }}` that yields one"),
    ("for_each: {items: [1], max_parallel: 0}", "NIKA-PARSE-019", "0", "at least 1"),
    ("for_each: {items: [1], max_parallel: '2'}", "NIKA-PARSE-019", "'2'", "a whole number"),
    ("for_each: {items: [1], fail_fast: no}", "NIKA-PARSE-019", "no", "true or false"),
    ("for_each: {items: [1], parallel: 2}", "NIKA-PARSE-005", "parallel", "not a key of `for_each:`"),
    # retry
    ("retry: 3", "NIKA-PARSE-011", "3", "`retry:` must be a mapping"),
    ("retry: {}", "NIKA-PARSE-011", "{}", "has no `max_attempts:`"),
    ("retry: {max_attempts: 0}", "NIKA-PARSE-011", "0", "at least 1"),
    ("retry: {max_attempts: 2.5}", "NIKA-PARSE-011", "2.5", "a whole number"),
    ("retry: {max_attempts: true}", "NIKA-PARSE-011", "true", "a whole number"),
    ("retry: {max_attempts: 2, backoff_ms: -1}", "NIKA-PARSE-011", "-1", "at least 0"),
    ("retry: {max_attempts: 2, backoff_strategy: slow}", "NIKA-PARSE-011", "slow", "one of fixed"),
    ("retry: {max_attempts: 2, jitter: maybe}", "NIKA-PARSE-011", "maybe", "true or false"),
    ("retry: {max_attempts: 2, on_codes: [503]}", "NIKA-PARSE-011", "503", "must be text"),
    ("retry: {max_attempts: 2, on_codes: [EXEC-001]}", "NIKA-PARSE-011", "EXEC-001", "not an error code"),
    ("retry: {max_attempts: 2, on_codes: []}", "NIKA-PARSE-011", "[]", "is empty"),
    ("retry: {max_attempts: 2, attempts: 2}", "NIKA-PARSE-005", "attempts", "not a key of `retry:`"),
    # on_error
    ("on_error: skip", "NIKA-PARSE-012", "skip", "`on_error:` must be a mapping"),
    ("on_error: {}", "NIKA-PARSE-012", "{}", "does nothing"),
    ("on_error: {on_codes: [NIKA-EXEC-001]}", "NIKA-PARSE-012", "{on", "does nothing"),
    ("on_error: {skip: true, recover: 1}", "NIKA-PARSE-012", "{skip", "exclude each other"),
    ("on_error: {skip: false}", "NIKA-PARSE-012", "{skip", "does nothing"),
    ("on_error: {skip: 1}", "NIKA-PARSE-012", "1", "true or false"),
    ("on_error: {skip: true, on_codes: []}", "NIKA-PARSE-012", "[]", "is empty"),
    # lift
    ("lift: {law: taint}", "NIKA-PARSE-019", "{law", "`lift:` must be a list"),
    ("lift: []", "NIKA-PARSE-019", "[]", "is empty"),
    ("lift: [{law: taint, from: inputs.a}]", "NIKA-PARSE-019", "{law", "has no `because:`"),
    ("lift: [{law: taint, from: inputs.a, because: ' '}]", "NIKA-PARSE-019", "' '", "is empty"),
    ("lift: [{law: taint, because: x}]", "NIKA-PARSE-019", "{law", "needs the binding"),
    ("lift: [{law: taint, from: nothing, because: x}]", "NIKA-PARSE-019", "nothing", "is not a binding"),
    (
        "lift: [{law: data-as-code, from: inputs.a, because: x}]",
        "NIKA-PARSE-019",
        "inputs.a",
        "does not belong",
    ),
    ("lift: [{law: ssrf, because: x}]", "NIKA-PARSE-019", "ssrf", "one of taint"),
    # returns
    ("returns: Thing", "NIKA-TYPE-001", "Thing", "is not a type"),
    ("returns: {string: {pattern: '(?=x)'}}", "NIKA-TYPE-006", "'(?=x)'", "lies outside the dialect"),
]


@pytest.mark.parametrize(
    ("block", "code", "pointed", "sentence"), FINDINGS, ids=[case[0][:60] for case in FINDINGS]
)
def test_a_task_is_strict(block: str, code: str, pointed: str, sentence: str) -> None:
    """One mistake is one finding, with its code, under its text, and it names its task."""
    assert only(with_task(f"{WORK}\n{block}"), code, pointed, sentence).task == "one"


HINTS = [
    ("retries: 3", "write `retry: {max_attempts: 3}`"),
    ("when: ${{ inputs.a }}", "compare it, also where it is true or false: `== true`"),
    (
        "when: with.go == true && size(with.rows) > 0",
        "write `when: ${{ with.go == true && size(with.rows) > 0 }}`",
    ),
    ("when: 'true'", "write `when: true`, without quotes"),
    ("when: soon", "write `when: ${{ a == b }}`"),
    ("when: it is done", "write `when: ${{ a == b }}`"),
]


@pytest.mark.parametrize(("block", "hint"), HINTS, ids=[case[0] for case in HINTS])
def test_a_hint_that_is_followed_ends_the_mistake(block: str, hint: str) -> None:
    """It names what is meant, not what is merely spelled alike."""
    assert found(with_task(f"{WORK}\n{block}"))[0].hint.startswith(hint)


def test_the_program_is_called_command() -> None:
    """`cmd` is nearer to `cwd` by its letters only."""
    text = "nika: x\ntasks:\n  a: { exec: { cmd: [ls] } }\n"
    hints = [one.hint for one in found(text)]
    assert "write `command: [program, argument]`" in hints
    assert not any("cwd" in hint for hint in hints)


NO_IDS = [("each-city", ": each_city"), ("Load", ": load"), ("é", "letter")]


@pytest.mark.parametrize(("name", "meant"), NO_IDS, ids=[case[0] for case in NO_IDS])
def test_an_id_that_is_none_is_told_what_it_would_be(name: str, meant: str) -> None:
    """Where something of it is left."""
    text = f"nika: x\ntasks:\n  {name}: {{ infer: {{ prompt: x }} }}\n"
    assert found(text)[0].hint.endswith(meant)


ON_ERROR_WORDS = ["fail_workflow: true", "fallback: 1", "value: 1"]


@pytest.mark.parametrize("word", ON_ERROR_WORDS)
def test_old_error_actions_are_taught(word: str) -> None:
    """A dead action says what replaced it, and that nothing is left to do."""
    diagnostics = found(with_task(f"{WORK}\non_error: {{{word}}}"))
    assert set(codes(diagnostics)) == {"NIKA-PARSE-012"}
    assert any("is called `recover:`" in d.message or "is gone" in d.message for d in diagnostics)


CONDITIONS = [
    "true",
    "false",
    "${{ inputs.a == 1 }}",
    "${{ !inputs.a }}",
    "${{ inputs.a && inputs.b }}",
    "${{ has(inputs.a) }}",
    "${{ inputs.a.contains('x') }}",
    "${{ inputs.a in ['x'] }}",
    "${{ true }}",
    "'${{ inputs.a > 1 ? true : inputs.b }}'",
    "${{ (inputs.a < 3) }}",
]


@pytest.mark.parametrize("text", CONDITIONS)
def test_a_condition_is_true_false_or_a_question(text: str) -> None:
    """What has the shape of a yes or no is admitted."""
    assert task_of(f"{WORK}\nwhen: {text}").when is not None


TIMEOUTS: list[tuple[str, int | None]] = [
    ('"500ms"', 500),
    ('"30s"', 30_000),
    ("30s", 30_000),
    ('"1h30m"', 5_400_000),
    ('"2.5s"', 2_500),
    ('"24h"', 86_400_000),
    ('"1us"', 1),
    ('"0s"', None),
    ('"25h"', None),
    ('"2d"', None),
    ('"30m1h"', None),
    ('"1s1s"', None),
    ('"-5s"', None),
    ('"5"', None),
    ("30", None),
    ("1.5", None),
    ("true", None),
    ("[1s]", None),
    ('"30 s"', None),
    ('"30S"', None),
    ("", None),
]


@pytest.mark.parametrize(("text", "milliseconds"), TIMEOUTS, ids=[case[0] or "nothing" for case in TIMEOUTS])
def test_a_timeout_is_a_duration(text: str, milliseconds: int | None) -> None:
    """Units from large to small, above 0, at most a day; a number alone is never one."""
    result = loaded(with_task(f"{WORK}\ntimeout: {text}"))
    assert codes(result.diagnostics) == ([] if milliseconds else ["NIKA-PARSE-010"])
    assert result.workflow is not None
    assert result.workflow.tasks["one"].timeout_ms == milliseconds


def test_recovering_with_any_value() -> None:
    """A literal, null included, is a recovery like a reference is."""
    values: list[tuple[str, Any]] = [("0", 0), ("null", None), ("{stale: true}", {"stale": True}), ("[]", [])]
    for text, value in values:
        policy = task_of(f"{WORK}\non_error: {{recover: {text}}}").on_error
        assert policy is not None
        assert policy.recover is not None
        assert policy.recover.raw == value


IDS: list[tuple[str, bool]] = [
    ("a", True),
    ("build_2", True),
    ("item", True),
    ("Build", False),
    ("build-it", False),
    ("2build", False),
    ("_a", False),
    ("é", False),
    ("'a b'", False),
]


@pytest.mark.parametrize(("name", "admitted"), IDS, ids=[case[0] for case in IDS])
def test_an_id_is_one_word_in_an_expression(name: str, admitted: bool) -> None:
    """Task ids are snake_case: `tasks.build-it` would be a subtraction."""
    text = f"nika: x\ntasks:\n  {name}: {{ infer: {{ prompt: x }} }}\n"
    assert codes(found(text)) == ([] if admitted else ["NIKA-PARSE-006"])


def test_two_tasks_of_one_name() -> None:
    """The second is refused by all three codes that know it, and the first one's place is told."""
    text = "nika: x\ntasks:\n  a: {infer: {prompt: x}}\n  a: {infer: {prompt: y}}\n"
    result = load(Source(text))
    assert set(codes(result.diagnostics)) == {"NIKA-PARSE-007", "NIKA-PARSE-017", "NIKA-YAML-004"}
    for diagnostic in result.diagnostics:
        assert diagnostic.span is not None
        assert diagnostic.span.start == text.rindex("a: {infer")
        assert diagnostic.related[0][1].start == text.index("a: {infer")
    assert result.workflow is not None
    assert result.workflow.tasks["a"].action.get("prompt") == "x"


VERBS: list[tuple[str, str]] = [
    ("with: {a: 1}", "NIKA-PARSE-008"),
    ("infer: {prompt: x}\nexec: {command: [a]}", "NIKA-PARSE-009"),
    ("infer: {prompt: x}\nagent: {prompt: x}\ninvoke: {tool: 'nika:log'}", "NIKA-PARSE-009"),
    ("fetch: {url: x}\ninfer: {prompt: x}", "NIKA-PARSE-005"),
]


@pytest.mark.parametrize(("block", "code"), VERBS, ids=[case[0][:30] for case in VERBS])
def test_a_task_has_exactly_one_verb(block: str, code: str) -> None:
    """None and several are both refused."""
    assert codes(found(with_task(block))) == [code]


def test_a_task_without_a_body_has_no_verb() -> None:
    """An empty task, and one that is not even a mapping."""
    assert codes(found("nika: x\ntasks:\n  one:\n")) == ["NIKA-PARSE-008"]
    assert codes(found("nika: x\ntasks:\n  one: soon\n")) == ["NIKA-PARSE-019"]


def test_one_contract_for_one_output() -> None:
    """`returns:` and `schema:` on one task are refused at the second of them."""
    text = with_task("infer: {prompt: x, schema: {type: object}}\nreturns: string")
    [diagnostic] = found(text)
    assert diagnostic.code == "NIKA-TYPE-003"
    assert under(text, diagnostic) == "returns"
    assert text[diagnostic.related[0][1].start :].startswith("schema")
