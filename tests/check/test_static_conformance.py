"""The public suite's static verdicts, its examples and its header corpora, as the check decides them."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from nika_nb.check import Report, check
from nika_nb.errors import Source

# Fixtures whose judgment is not built yet, by what they expect. A fixture that passes must leave.
PENDING: dict[str, tuple[str, ...]] = {}

# Header files that contradict the prose, which is what is followed.
AGAINST_THE_PROSE = {
    "dag/foreach-fail-fast-false.nika.yaml": "it starts programs without declaring `permits:`",
    "dag/foreach-fail-fast-true.nika.yaml": "it starts programs without declaring `permits:`",
    "verbs/timeout-per-iteration.nika.yaml": "it has a dead key at the task",
    "envelope/permits-empty-default-deny.nika.yaml": "a tool that only computes needs no grant",
}

# The prose gives an unknown tool a code of its own; these files say NIKA-BUILTIN-001.
UNKNOWN_TOOL = {"document-to-fields.negative.yaml"}

FAMILIES = ("dag", "envelope", "variables", "verbs", "errors", "composition", "redteam")
_CODE = re.compile(r"NIKA-[A-Z]+(?:-[A-Z0-9_]+)?-\d+")


def judged(path: Path) -> Report:
    return check(Source(path.read_text("utf-8"), path.name), base=path.parent)


def matches(expected: dict[str, Any], errors: list[dict[str, Any]]) -> bool:
    """An expected error matches by its code, else by its namespace, else by its category."""
    if "code" in expected:
        return any(error["code"] == expected["code"] for error in errors)
    if "namespace" in expected:
        return any(error["code"].startswith(expected["namespace"]) for error in errors)
    return any(error["category"] == expected["category"] for error in errors)


def passes(folder: Path) -> bool:
    expected = json.loads((folder / "expected.json").read_text("utf-8"))
    shape = judged(folder / "input.yaml").to_json()
    if expected["valid"]:
        return bool(shape["valid"])
    return not shape["valid"] and all(matches(error, shape["errors"]) for error in expected.get("errors", []))


def static(conformance: Path) -> dict[str, Path]:
    folders = (
        path.parent
        for path in sorted(conformance.rglob("expected.json"))
        if (path.parent / "input.yaml").exists()
    )
    return {str(folder.relative_to(conformance)): folder for folder in folders}


def pending() -> set[str]:
    return {name for names in PENDING.values() for name in names}


def test_the_static_fixtures_get_their_verdict(conformance: Path) -> None:
    """All 248 static fixtures get their verdict, those of unbuilt judgments excepted."""
    folders = static(conformance)
    assert len(folders) == 248
    wrong = {name for name, folder in folders.items() if not passes(folder)}
    assert wrong == {name for name in pending() if name in folders}


def test_every_pending_fixture_names_the_code_that_it_waits_for(conformance: Path) -> None:
    """The list of unbuilt judgments says of every fixture which code it expects."""
    for code, names in PENDING.items():
        for name in names:
            path = conformance / name
            text = (path / "expected.json").read_text("utf-8") if path.is_dir() else path.read_text("utf-8")
            assert code in text


@pytest.mark.parametrize(
    "pattern",
    [
        "examples/*.nika.yaml",
        "examples/snippets/*.nika.yaml",
        "templates/*.nika.yaml",
        "tests/runtime/**/input.nika.yaml",
        "tests/stdlib/behavioral/**/input.nika.yaml",
    ],
)
def test_what_is_meant_to_run_is_sound(conformance: Path, pattern: str) -> None:
    """Examples, templates and everything with a run-time verdict pass the check."""
    paths = sorted(conformance.glob(pattern))
    assert paths
    refused = {
        str(path.relative_to(conformance)): judged(path).render() for path in paths if not judged(path).ok
    }
    assert not refused


def test_counterexamples_are_refused_with_their_code(conformance: Path) -> None:
    """Every template's counterexample is refused for the reason that it names."""
    paths = sorted(conformance.glob("templates/*.negative.yaml"))
    assert paths
    for path in paths:
        expected = set(_CODE.findall(path.read_text("utf-8").partition("nika:")[0]))
        found = {error.code for error in judged(path).errors}
        if path.name in UNKNOWN_TOOL:
            expected = {"NIKA-INVOKE-001"}
        assert expected & found, path.name


@dataclass(frozen=True)
class Header:
    """What the first comment of a corpus file expects."""

    line: str

    @classmethod
    def of(cls, text: str) -> Header:
        lines = [line for line in text.splitlines()[:30] if line.startswith("#")]
        return cls(next(line for line in lines if "expected:" in line.lower()).lower())

    def agrees(self, report: Report) -> bool:
        found = _CODE.search(self.line.upper())
        code = found.group() if found else ""
        if "exit 0" in self.line or "check-pass" in self.line:
            return report.ok
        if "check-reject" in self.line:
            return not report.ok
        if "at check" in self.line:
            return code in {error.code for error in report.errors}
        return report.ok or code in report.render()  # the run decides, or the check says it early


def test_the_header_corpora_agree(conformance: Path) -> None:
    """The files with an expectation in their header get the check that it asks for."""
    paths = [path for family in FAMILIES for path in sorted((conformance / family).rglob("*.yaml"))]
    assert len(paths) == 105
    wrong = {
        str(path.relative_to(conformance))
        for path in paths
        if not Header.of(path.read_text("utf-8")).agrees(judged(path))
    }
    waiting = {name for name in pending() if name.split("/")[0] in FAMILIES}
    assert wrong == waiting | AGAINST_THE_PROSE.keys()
