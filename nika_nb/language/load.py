"""Text or bytes → a workflow and everything that is wrong with them. Nothing here raises."""

from __future__ import annotations

from dataclasses import dataclass

from nika_nb.errors import Diagnostic, Source, Span
from nika_nb.language import yaml
from nika_nb.language.envelope import read_workflow
from nika_nb.language.findings import Findings
from nika_nb.language.model import Retry, Workflow


@dataclass(frozen=True, slots=True)
class Loaded:
    """What a text holds: the sound part of its workflow, and its diagnostics by place.

    With any diagnostic the workflow is not fit to run; parts that could not be read are left out
    of it, and it is None where there is none at all.
    """

    workflow: Workflow | None
    diagnostics: tuple[Diagnostic, ...]


def load(source: Source) -> Loaded:
    """The workflow of a text."""
    findings = Findings(source)
    root = yaml.read(source.text, findings)
    if root is None and findings:
        return Loaded(None, findings.by_place())
    workflow = read_workflow(root, findings)
    if workflow is not None:
        _randomness(workflow, findings)
    return Loaded(workflow, findings.by_place())


def load_bytes(raw: bytes, name: str = "workflow") -> tuple[Source, Loaded]:
    """The workflow of a file's content, and the source that its diagnostics are placed in."""
    findings = Findings(Source("", name))
    if yaml.too_large(len(raw), findings):
        return findings.source, Loaded(None, findings.by_place())
    try:
        source = Source(raw.decode("utf-8"), name)
    except UnicodeDecodeError as error:
        source = Source(raw.decode("utf-8", "replace"), name)
        return source, Loaded(None, (_not_utf8(raw, error),))
    return source, load(source)


def _not_utf8(raw: bytes, error: UnicodeDecodeError) -> Diagnostic:
    at = len(raw[: error.start].decode("utf-8"))
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        sentence = "the file is UTF-16: a workflow is UTF-8 without a byte order mark"
    else:
        sentence = f"the byte {raw[error.start]:#04x} does not belong to UTF-8 text"
    return Diagnostic("NIKA-YAML-011", sentence, Span(at, at + 1), "save the file as UTF-8 without BOM")


def _randomness(workflow: Workflow, findings: Findings) -> None:
    """`entropy: none` promises that nothing random is used."""
    if workflow.run.entropy != "none":
        return
    for task in workflow.tasks.values():
        findings.task = task.id
        jitter = _jitters(task.retry)
        if jitter or task.action.get("tool") == "nika:uuid":
            what = "waits a random time between attempts" if jitter else "makes a random id"
            findings.error(
                "NIKA-PARSE-028",
                f"`entropy: none`, and this task {what}",
                task.spans.get("retry", task.span) if jitter else task.action.span,
                "write `jitter: false`" if jitter else "declare `entropy: {seeded: N}`",
            )
    findings.task = None


def _jitters(retry: Retry | None) -> bool:
    if retry is None or retry.max_attempts == 1 or retry.backoff_ms == 0:
        return False
    return retry.jitter is not False
