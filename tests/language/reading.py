"""Helpers of the language tests: a text in, codes and places out."""

from __future__ import annotations

from textwrap import dedent

from nika_nb.errors import Diagnostic, Source
from nika_nb.language import Loaded, load
from nika_nb.language.findings import Findings
from nika_nb.language.model import Task, Workflow
from nika_nb.language.nodes import to_json
from nika_nb.language.yaml import read
from nika_nb.values import Json


def parsed(text: str) -> tuple[Json, list[str]]:
    """The JSON of a YAML text (None where it does not parse), and the codes found."""
    findings = Findings(Source(text))
    node = read(text, findings)
    return (None if node is None else to_json(node)), codes(findings.by_place())


def found(text: str) -> tuple[Diagnostic, ...]:
    return load(Source(text)).diagnostics


def codes(diagnostics: tuple[Diagnostic, ...]) -> list[str]:
    return [diagnostic.code for diagnostic in diagnostics]


def under(text: str, diagnostic: Diagnostic) -> str:
    """The part of the text that a diagnostic points at."""
    assert diagnostic.span is not None
    return text[diagnostic.span.start : diagnostic.span.end]


def only(text: str, code: str, pointed: str, sentence: str) -> Diagnostic:
    """The one thing that is wrong with a text: of this code, under this part of it, in these words."""
    (diagnostic,) = found(text)
    assert diagnostic.code == code
    assert sentence in diagnostic.message
    assert under(text, diagnostic).startswith(pointed)
    return diagnostic


def envelope(block: str) -> str:
    """A workflow with one plain task, and `block` at its top level."""
    return f"nika: sample\n{dedent(block).strip()}\ntasks:\n  one:\n    infer: {{ prompt: hello }}\n"


def with_task(block: str) -> str:
    """A workflow whose only task is `one`, with `block` as its body."""
    body = "".join(f"    {line}\n" for line in dedent(block).strip().split("\n"))
    return f"nika: sample\ntasks:\n  one:\n{body}"


def loaded(text: str) -> Loaded:
    return load(Source(text))


def workflow_of(text: str) -> Workflow:
    """The workflow of a text in which nothing is wrong."""
    result = load(Source(text))
    assert result.diagnostics == (), [d.render(Source(text)) for d in result.diagnostics]
    assert result.workflow is not None
    return result.workflow


def task_of(block: str) -> Task:
    return workflow_of(with_task(block)).tasks["one"]
