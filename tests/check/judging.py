"""Texts whose faults are marked where they stand: `${{ inputs.«topik» }}`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from nika_nb.check import Report, check
from nika_nb.errors import Diagnostic, Source, Span

_MARK = re.compile("[«»]")


@dataclass(frozen=True)
class Case:
    """A workflow, and the codes that are found at its marks, in order; no others may be found."""

    name: str
    text: str
    codes: tuple[str, ...] = ()
    hint: str = ""
    says: str = ""

    def __str__(self) -> str:
        return self.name


def marked(text: str) -> tuple[str, list[Span]]:
    """The text without its marks, and the places that they enclosed."""
    places: list[Span] = []
    opened: list[int] = []
    plain = ""
    at = 0
    for mark in _MARK.finditer(text):
        plain += text[at : mark.start()]
        at = mark.end()
        if mark.group() == "«":
            opened.append(len(plain))
        else:
            places.append(Span(opened.pop(), len(plain)))
    return plain + text[at:], sorted(places, key=lambda span: span.start)


def judged(text: str, *, model: str | None = None, base: Path | None = None) -> Report:
    return check(Source(marked(text)[0]), model=model, base=base)


def assert_found(case: Case) -> None:
    """The errors of the text are exactly the marked ones."""
    text, places = marked(case.text)
    errors = check(Source(text)).errors
    assert [shown(error, text) for error in errors] == [
        (f"NIKA-{code}", text[place.start : place.end], place.start)
        for code, place in zip(case.codes, places, strict=True)
    ]
    assert case.hint in "\n".join(error.hint for error in errors)
    assert case.says in "\n".join(error.message for error in errors)


def shown(error: Diagnostic, text: str) -> tuple[str, str, int]:
    assert error.span is not None
    return error.code, text[error.span.start : error.span.end], error.span.start


def codes(report: Report) -> list[str]:
    return [error.code for error in report.errors]
