"""JSON that was taken for text: told before the run, and where a run dies of it, at its place."""

from __future__ import annotations

from pathlib import Path

import pytest

import nika_nb
from nika_nb.board import still_text

HEAD = """nika: a
permits: { exec: ["echo"] }
tasks:
  a: { exec: { command: ["echo", '{"total": 3, "rows": [1]}']{} } }
"""
RENDERED = '    exec: { command: ["echo", "${{ with.x.total }}"] }\n'
LOOP = '    for_each: { items: "${{ with.x }}" }\n'
READ = '  b:\n    with: { x: "${{ tasks.a.output }}" }\n'
ECHO = '    exec: { command: ["echo", "hi"] }\n'

# What a task does with the text, the stage that it dies in, and what stands over the carets.
WAYS = [
    (
        "a field",
        READ + '    exec: { command: ["echo", "${{ with.x.total }}"] }\n',
        "exec · echo",
        "with.x.total",
    ),
    ("an element", READ.replace(".output }", ".output[0] }") + ECHO, "with", "tasks.a.output[0]"),
    ("a comparison", READ + "    when: ${{ with.x > 2 }}\n" + ECHO, "when", "with.x > 2"),
    ("an equality", READ + "    when: ${{ with.x == 2 }}\n" + ECHO, "when", "with.x == 2"),
    (
        "a collection",
        READ + LOOP + ECHO,
        "for_each",
        '"${{ with.x }}"',
    ),
]


@pytest.mark.parametrize(("text", "stage", "place"), [way[1:] for way in WAYS], ids=[way[0] for way in WAYS])
def test_a_run_that_dies_of_it_says_where_and_what_to_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, stage: str, place: str
) -> None:
    """Line, caret and the key of the task; with `decode: json` written, the hint is gone."""
    monkeypatch.chdir(tmp_path)
    source = HEAD.replace("{}", "") + text
    run = nika_nb.run(source)
    error = run.tasks["b"].error
    assert error is not None
    sentence, where, line, carets = error["message"].split("\n")
    assert "write `decode: json` in the `exec:` of `a`" in sentence
    at = source.index(place)
    assert where == f"  line {source[:at].count(chr(10)) + 1}, column {at - source.rindex(chr(10), 0, at)}"
    assert line[carets.index("^") : carets.rindex("^") + 1] == place
    said = still_text(run.board)
    assert f"✖  b  {stage}" in said
    assert carets in said


def test_extracting_from_it_says_what_to_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The task itself is named; text that is no JSON is told as it is."""
    monkeypatch.chdir(tmp_path)
    for printed, hinted in (('{"total": 3}', True), ("three", False)):
        run = nika_nb.run(
            'nika: a\npermits: { exec: ["echo"] }\ntasks:\n'
            f"  a: {{ exec: {{ command: [\"echo\", '{printed}'] }}, extract: {{ t: .total }} }}\n"
        )
        error = run.tasks["a"].error
        assert error is not None
        assert error["code"] == "NIKA-VAR-004"
        assert ("write `decode: json` in the `exec:` of `a`" in error["message"]) is hinted


def test_an_output_that_does_not_resolve_tells_its_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the envelope as of a task."""
    monkeypatch.chdir(tmp_path)
    run = nika_nb.run(HEAD.replace("{}", ", decode: json") + "outputs:\n  o: ${{ tasks.a.output.nope }}\n")
    assert run.state == "failed"
    assert "line 6, column 10" in str(run.board.detail)


@pytest.mark.parametrize("text", [way[1] for way in WAYS], ids=[way[0] for way in WAYS])
def test_the_check_warns_of_it(text: str) -> None:
    """A warning at the place, for nothing declares what a program prints; decoded it is fine."""
    [warning] = nika_nb.check(HEAD.replace("{}", "") + text).warnings
    assert warning.hint == "write `decode: json` in the `exec:` of `a` when it prints JSON"
    assert not nika_nb.check(HEAD.replace("{}", ", decode: json") + text).warnings


def test_the_check_is_silent_where_it_is_asked_for_or_made_good() -> None:
    """`has()` looks first; a recovery may be anything."""
    asked = READ + '    exec: { command: ["echo", "${{ has(with.x.t) ? with.x.t : 1 }}"] }\n'
    assert not nika_nb.check(HEAD.replace("{}", "") + asked).warnings
    made = HEAD.replace("{} }", "}, on_error: { recover: { total: 1 } }")
    assert not nika_nb.check(made + WAYS[0][1]).warnings
