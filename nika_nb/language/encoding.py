"""Judges the characters of a text before anything is parsed: size, UTF-8, normal form."""

from __future__ import annotations

import re
import unicodedata

from nika_nb.errors import Span
from nika_nb.language.findings import Findings

DOCUMENT_CAP = 1 << 20  # UTF-8 bytes

_UNPRINTABLE = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def too_large(size: int, findings: Findings) -> bool:
    if size <= DOCUMENT_CAP:
        return False
    findings.error(
        "NIKA-YAML-010",
        f"the text is larger than the {DOCUMENT_CAP} bytes that a workflow may have",
        Span(0, 0),
        "move large values into files and read them with `nika:read`",
    )
    return True


def is_readable(text: str, findings: Findings) -> bool:
    """Judges the characters of the text; False where parsing makes no sense any more."""
    if len(text) > DOCUMENT_CAP and too_large(len(text), findings):
        return False
    odd = _UNPRINTABLE.search(text)
    if odd:
        findings.error(
            "NIKA-PARSE-001",
            f"the character U+{ord(odd.group()):04X} cannot stand in a workflow",
            Span(odd.start(), odd.end()),
            f'write it as an escape inside double quotes: "\\u{ord(odd.group()):04X}"',
        )
        return False
    if too_large(len(text.encode("utf-8")), findings):
        return False
    return _is_canonical(text, findings)


def _is_canonical(text: str, findings: Findings) -> bool:
    mark = text.find("\ufeff")
    if mark >= 0:
        findings.error(
            "NIKA-YAML-011",
            "a byte order mark (U+FEFF): an invisible character that two editors treat differently",
            Span(mark, mark + 1),
            "save the file as UTF-8 without BOM",
        )
        return False
    if not unicodedata.is_normalized("NFC", text):
        at = _first_difference(text, unicodedata.normalize("NFC", text))
        findings.error(
            "NIKA-YAML-011",
            "the text is not in Unicode normal form C: the same letters can be written in other bytes",
            Span(at, min(at + 2, len(text))),
            "normalize the file to NFC",
        )
    return True


def _first_difference(left: str, right: str) -> int:
    for at, (one, other) in enumerate(zip(left, right, strict=False)):
        if one != other:
            return at
    return min(len(left), len(right))
