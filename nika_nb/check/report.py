"""`check`: a text → everything that is wrong with it, as people and as programs read it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nika_nb.catalog.codes import category_of
from nika_nb.check.children import Family
from nika_nb.check.judgments import judge
from nika_nb.errors import Diagnostic, Severity, Source, told, visible
from nika_nb.language.load import load
from nika_nb.language.model import Workflow
from nika_nb.values import plural

# The array of the JSON report in which the errors of a namespace stand; `conformance` for the others.
_ARRAYS = {"SEC": "findings", "AUTH": "findings", "PROVIDER": "model_findings", "AGENT": "skill_findings"}
_NAMES = ("conformance", "findings", "model_findings", "skill_findings", "hints")


@dataclass(frozen=True, slots=True, repr=False)
class Report:
    """What the check found. `workflow` is None where the text holds none.

    diagnostics: by place; those of a lower severity do not keep the workflow from running.
    """

    source: Source
    workflow: Workflow | None
    diagnostics: tuple[Diagnostic, ...]

    @property
    def ok(self) -> bool:
        """Whether the workflow may run."""
        return self.workflow is not None and not self.errors

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        return self._of("error")

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        return self._of("warning")

    @property
    def hints(self) -> tuple[Diagnostic, ...]:
        return self._of("hint")

    def _of(self, severity: Severity) -> tuple[Diagnostic, ...]:
        return tuple(found for found in self.diagnostics if found.severity == severity)

    def render(self) -> str:
        """The report as people read it: a verdict, then every diagnostic with its line and caret."""
        parts = [self._verdict(), *(found.render(self.source) for found in told(self.diagnostics))]
        return "\n\n".join(parts)

    def __str__(self) -> str:
        return self.render()

    def __repr__(self) -> str:
        return self.render()

    def _verdict(self) -> str:
        counts = [
            _count(told(self.errors), "problem"),
            _count(self.warnings, "warning"),
            _count(self.hints, "hint"),
        ]
        said = ", ".join(count for count in counts if count)
        if not self.ok:
            return f"✖ {visible(self.source.name)} is refused: {said}"
        tasks = len(self.workflow.tasks) if self.workflow else 0
        sound = f"✔ {visible(self.source.name)} is sound: {tasks} task{'' if tasks == 1 else 's'}"
        return f"{sound} · {said}" if said else sound

    def to_json(self) -> dict[str, Any]:
        """{clean, valid, errors, conformance, findings, model_findings, skill_findings, hints}.

        `errors` are {code, namespace, category, detail}; the arrays hold {code, severity, message,
        detail, why, line, column, task?}. Errors stand in the array of their namespace, warnings and
        hints in `hints`: it is `clean` exactly when the other four are empty.
        """
        arrays: dict[str, list[dict[str, Any]]] = {name: [] for name in _NAMES}
        for found in self.diagnostics:
            arrays[_array(found)].append(self._entry(found))
        errors = [_error(found) for found in self.errors]
        return {"clean": self.ok, "valid": self.ok, "errors": errors, **arrays}

    def _entry(self, found: Diagnostic) -> dict[str, Any]:
        entry: dict[str, Any] = {
            "code": found.code,
            "severity": found.severity,
            "message": found.message,
            "detail": found.message,
            "why": found.hint,
        }
        if found.span:
            entry["line"], entry["column"] = self.source.position(found.span.start)
        return entry | ({"task": found.task} if found.task else {})


def check(
    source: Source,
    *,
    model: str | None = None,
    base: Path | None = None,
    folder: Path | None = None,
    family: Family | None = None,
) -> Report:
    """Read and judge a text; nothing is run and no network is touched. Never raises on any text.

    model: what the caller sets for the whole run (`--model`). base: the folder that relative paths
    count from, the current one by default. folder: where the workflow's file lies, from which the
    workflows that it calls are found; the base by default. family: reads those.
    """
    loaded = load(source)
    found = list(loaded.diagnostics)
    if loaded.workflow is not None:
        found += judge(
            loaded.workflow, model=model, base=base, folder=folder, family=family, found=loaded.diagnostics
        )
    return Report(source, loaded.workflow, tuple(sorted(found, key=Diagnostic.sort_key)))


def _count(found: tuple[Diagnostic, ...], noun: str) -> str:
    return plural(len(found), noun) if found else ""


def _namespace(code: str) -> str:
    parts = code.split("-")
    return parts[1] if len(parts) > 1 else ""


def _array(found: Diagnostic) -> str:
    return "hints" if found.severity != "error" else _ARRAYS.get(_namespace(found.code), "conformance")


def _error(found: Diagnostic) -> dict[str, str]:
    return {
        "code": found.code,
        "namespace": f"NIKA-{_namespace(found.code)}",
        "category": category_of(found.code),
        "detail": found.message,
    }
