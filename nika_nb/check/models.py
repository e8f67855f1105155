"""Who answers: a model is `<provider>/<name>` of a known provider, and a task that needs one has one."""

from __future__ import annotations

from collections.abc import Iterator

from nika_nb.catalog.providers import MOCKS, PROVIDERS, is_no_mock, split_model
from nika_nb.check.folding import folded
from nika_nb.check.problem import is_open
from nika_nb.check.subject import Subject
from nika_nb.check.surfaces import envelope_model
from nika_nb.doors import option
from nika_nb.errors import Diagnostic, Span
from nika_nb.language.folding import constants, fold
from nika_nb.language.model import Task
from nika_nb.language.template import Plain
from nika_nb.values import nearest

CODE = "NIKA-PROVIDER-001"

# Model families by the start of their names, for those who leave the provider out.
_FAMILIES = {
    "claude": "anthropic", "gpt": "openai", "o1": "openai", "o3": "openai", "o4": "openai",
    "gemini": "gemini", "mistral": "mistral", "magistral": "mistral", "codestral": "mistral", "grok": "xai",
    "deepseek": "deepseek", "kimi": "moonshot", "nemotron": "nvidia", "echo": "mock", "llama": "ollama",
}  # fmt: skip
_OTHER_NAMES = {
    "google": "gemini", "claude": "anthropic", "gpt": "openai", "gpt-4o": "openai", "azure": "openai",
    "grok": "xai", "kimi": "moonshot", "hf": "huggingface", "lm-studio": "lmstudio",
    "llama.cpp": "llamacpp", "nim": "nvidia", "test": "mock",
}  # fmt: skip


def judge(subject: Subject) -> Iterator[Diagnostic]:
    """NIKA-PROVIDER-001: an error where a model is named wrongly, a warning where none is named."""
    if subject.model is not None:
        yield from _named(subject.model, None, None)
    elif subject.workflow.model is not None:
        yield from _envelope(subject)
    for task in subject.sound_tasks:
        if task.action.verb in ("infer", "agent"):
            yield from _task(subject, task)


def _envelope(subject: Subject) -> Iterator[Diagnostic]:
    value, faults = envelope_model(subject.workflow)
    resolved = fold(value, constants(subject.workflow))
    if isinstance(resolved, Plain) and not faults:
        yield from _named(resolved.raw, subject.place("model"), None)


def _task(subject: Subject, task: Task) -> Iterator[Diagnostic]:
    if task.action.get("model") is None:
        if subject.model is None and subject.workflow.model is None:
            yield _missing(task)
        return
    model = folded(subject.workflow, task).get("model")
    if isinstance(model, str) and not is_open(model):
        yield from _named(model, subject.place("tasks", task.id, task.action.verb, "model"), task.id)


def _named(model: object, span: Span | None, task: str | None) -> Iterator[Diagnostic]:
    if not isinstance(model, str):
        return
    provider, name = split_model(model)
    if is_no_mock(model):
        hint = nearest(model, MOCKS) or f"the mock models are {', '.join(MOCKS)}"
        yield Diagnostic(CODE, f"there is no mock model `{name}` (in `{model}`)", span, hint, task=task)
    if provider in PROVIDERS and name:
        return
    if not provider or not name:
        sentence = f"`{model}` names no model: a model is written `<provider>/<name>`"
        yield Diagnostic(CODE, sentence, span, _with_provider(provider or name), task=task)
        return
    other = _OTHER_NAMES.get(provider.lower())
    hint = f"write `{other}/{name}`" if other else nearest(provider, PROVIDERS)
    hint = hint or f"the providers are {', '.join(PROVIDERS)}"
    yield Diagnostic(CODE, f"`{provider}` is not a provider (in `{model}`)", span, hint, task=task)


def _with_provider(name: str) -> str:
    if name in PROVIDERS:
        return f"write `{name}/<model>`"
    if not name:
        return "write `ollama/<model>`, or `mock/echo` to try it out"
    start = next((start for start in _FAMILIES if name.lower().startswith(start)), "llama")
    return f"write `{_FAMILIES[start]}/{name}`"


def _missing(task: Task) -> Diagnostic:
    verb = task.action.verb
    sentence = f"`{task.id}` asks a model, and none is named"
    hint = f"write `model: <provider>/<name>`, or give one to the run (`{option('model', 'mock/echo')}`)"
    span = task.spans.get(verb, task.key_span)
    return Diagnostic(CODE, sentence, Span(span.start, span.start + len(verb)), hint, "warning", task.id)
