"""Text or bytes → a workflow and everything that is wrong with them. Nothing here raises."""

from __future__ import annotations

from dataclasses import dataclass

from nika_nb.errors import Diagnostic, Source, Span
from nika_nb.language import yaml
from nika_nb.language.determinism import find_randomness
from nika_nb.language.encoding import too_large
from nika_nb.language.envelope import read_workflow
from nika_nb.language.findings import Findings
from nika_nb.language.model import Workflow


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
        find_randomness(workflow, findings)
    return Loaded(workflow, findings.by_place())


def load_bytes(raw: bytes, name: str = "workflow") -> tuple[Source, Loaded]:
    """The workflow of a file's content, and the source that its diagnostics are placed in."""
    findings = Findings(Source("", name))
    if too_large(len(raw), findings):
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
