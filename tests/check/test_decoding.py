"""The type that a program's task returns can come out of how its output is read."""

from __future__ import annotations

import pytest

from tests.check.judging import codes, judged


@pytest.mark.parametrize(
    ("reading", "returns", "sound"),
    [
        ("", "string", True),
        ("", "uri", True),
        ("", "{ enum: [a, b] }", True),
        ("", "{ union: [integer, string] }", True),
        ("", "integer", False),
        ("", "{ object: { a: string } }", False),
        ("decode: text", "{ array: string }", False),
        ("decode: json", "{ object: { a: string } }", True),
        ("decode: json", "bytes", False),
        ("decode: jsonl", "{ array: integer }", True),
        ("decode: jsonl", "integer", False),
        ("decode: bytes", "bytes", True),
        ("decode: bytes", "string", False),
        ("capture: structured", "{ object: { stdout: string, stderr: string, exit_code: integer } }", True),
        ("capture: structured", "{ object: { exit_code: integer }, additional: true }", True),
        ("capture: structured", "{ object: { exit_code: integer } }", False),
        ("capture: structured", "{ object: { a: string }, additional: true }", False),
        ("capture: structured", "string", False),
        ("capture: stderr", "string", True),
    ],
)
def test_a_type_is_reachable_or_refused(reading: str, returns: str, sound: bool) -> None:
    """A type that no output of the program could ever fit is refused where it is written."""
    more = f", {reading}" if reading else ""
    text = (
        "nika: d\npermits: { exec: [a] }\ntasks:\n  t:\n"
        f"    exec: {{ command: [a]{more} }}\n    returns: {returns}\n"
    )
    report = judged(text)
    assert codes(report) == ([] if sound else ["NIKA-TYPE-004"])
    if not sound:
        assert ("write `decode: bytes`" in report.errors[0].hint) == (returns == "bytes")
        span = report.errors[0].span
        assert span is not None
        assert text[span.start : span.end] == returns
