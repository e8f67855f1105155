"""Models: the provider comes first, and one of the known ones."""

from __future__ import annotations

import pytest

from tests.check.judging import Case, assert_found, codes, judged


def asking(model: str, top: str = "") -> str:
    return f"nika: m\n{top}tasks:\n  a: {{ infer: {{ prompt: hi{model} }} }}\n"


CASES = [
    Case("a local one", asking(", model: 'ollama/qwen3.5:9b'")),
    Case("a name with a slash", asking(", model: openrouter/anthropic/claude-sonnet-4-6")),
    Case("at the top", asking("", "model: mock/echo\n")),
    Case(
        "an unknown provider",
        asking(", model: «nobody/thing»"),
        ("PROVIDER-001",),
        "the providers are ollama",
    ),
    Case(
        "a misspelled provider",
        asking(", model: «anthropc/claude»"),
        ("PROVIDER-001",),
        "did you mean `anthropic`?",
    ),
    Case(
        "the maker's name",
        asking(", model: «google/gemini-2.5»"),
        ("PROVIDER-001",),
        "write `gemini/gemini-2.5`",
    ),
    Case(
        "no provider",
        asking(", model: «claude-sonnet-4-6»"),
        ("PROVIDER-001",),
        "write `anthropic/claude-sonnet-4-6`",
    ),
    Case(
        "no provider and an unknown name", asking(", model: «zork»"), ("PROVIDER-001",), "write `ollama/zork`"
    ),
    Case("a misspelled mock", asking(", model: «mock/ehco»"), ("PROVIDER-001",), "did you mean `mock/echo`?"),
    Case(
        "no mock at all", asking(", model: «mock/gpt-5»"), ("PROVIDER-001",), "the mock models are mock/echo"
    ),
    Case("a mock", asking(", model: mock/mock-json")),
    Case("only a provider", asking(", model: «ollama/»"), ("PROVIDER-001",), "write `ollama/<model>`"),
    Case(
        "an unknown one at the top",
        asking("", "model: «gpt-4o/latest»\n"),
        ("PROVIDER-001",),
        "openai/latest",
    ),
    Case("a constant", asking(", model: «'${{ const.m }}'»", "const: { m: zork/x }\n"), ("PROVIDER-001",)),
    Case("what the caller gives", asking(", model: '${{ inputs.m }}'", "inputs: { m: { type: string } }\n")),
    Case(
        "an agent's", "nika: m\ntasks:\n  a: { agent: { prompt: hi, model: «zork/x» } }\n", ("PROVIDER-001",)
    ),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_model_is_named_with_a_known_provider(case: Case) -> None:
    """A model without a known provider is found where it is named, with the spelling that was meant."""
    assert_found(case)


def test_a_missing_model_is_a_warning() -> None:
    """The caller may still give a model, so the workflow is let through."""
    report = judged(asking(""))
    assert report.ok
    assert [warning.code for warning in report.warnings] == ["NIKA-PROVIDER-001"]
    assert judged(asking(""), model="mock/echo").warnings == ()


def test_the_model_of_the_caller_is_judged_too() -> None:
    """What `--model` names wrongly is refused, without a place in the text; the text's own is then unused."""
    report = judged(asking("", "model: zork/x\n"), model="gpt-5")
    assert codes(report) == ["NIKA-PROVIDER-001"]
    assert report.errors[0].span is None
    assert "openai/gpt-5" in report.errors[0].hint
    assert judged(asking("", "model: zork/x\n"), model="mock/echo").ok
