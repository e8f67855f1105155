"""What an action may do, as a question tells it: known values written out, so that no two look alike."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from nika_nb.authority.masking import MASK, Masker
from nika_nb.authority.told import LONGEST, told
from nika_nb.board.clean import one_line
from nika_nb.errors import UNSHOWN, Source
from nika_nb.language import load
from nika_nb.language.model import Action
from nika_nb.language.template import render, unescaped

WORDS = 'exec: { command: ["tool", "${{ inputs.a }}", "to-${{ inputs.b }}/x", "${{ tasks.t.output }}"] }'
KNOWN_WORDS = 'exec: { command: ["tool", "${{ inputs.a }}", "to-${{ inputs.b }}/x"] }'
LINE = 'exec: { shell: "echo ${{ inputs.a }} > ${{ inputs.b }}" }'
WRITE = "invoke: { tool: 'nika:write', args: { path: './${{ inputs.a }}/${{ inputs.b }}', content: x } }"
# What blurs a line: blanks, quotes, signs that nobody sees, and what looks like a template or like a cut.
SIGNS = st.sampled_from([*" \n\t\u00a0\u200b\u202e\x1b\"'\\$.·…", "${{", "}}", "a", "bc", "\U000e0041", "é"])
VALUES = st.lists(SIGNS, max_size=8).map("".join) | st.integers() | st.none() | st.booleans()
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|\S+')


def action(text: str) -> Action:
    """The action of a one-task workflow."""
    workflow = load(Source(f"nika: w\ninputs: {{a: {{}}, b: {{}}}}\ntasks:\n  t:\n    {text}\n")).workflow
    assert workflow is not None
    return workflow.tasks["t"].action


def lines(text: str, masker: Masker | None = None, **inputs: Any) -> list[str]:
    mask = (masker or Masker()).mask_text
    return list(told(action(text), {"inputs": inputs}, mask))


def read(words: str) -> list[str]:
    """The words that a line tells, without their quotes and escapes."""
    return [
        unescaped(json.loads(word) if word.startswith('"') else word)
        for word in _TOKEN.findall(words.partition(" · ")[2])
    ]


def text_of(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def test_what_is_known_is_written_out() -> None:
    """Beside what is not known, which stays a template."""
    assert lines(WORDS, a="x", b=3) == ["exec · tool x to-3/x ${{ tasks.t.output }}"]
    assert lines(WORDS, a="x") == ["exec · tool x to-${{ inputs.b }}/x ${{ tasks.t.output }}"]
    assert lines(LINE, a="hi", b="out") == ["shell · echo hi > out"]
    assert lines(WRITE, a="out", b="x y") == ["tool · nika:write", 'write · "./out/x y"']


def test_what_only_the_value_decides() -> None:
    """A host, a whole list of images: as written they tell nothing, and their values do."""
    fetch = "invoke: { tool: 'nika:fetch', args: { url: '${{ inputs.a }}' } }"
    assert lines(fetch) == ["tool · nika:fetch", "net"]
    assert lines(fetch, a="https://API.example.com:8443/x") == ["tool · nika:fetch", "net · api.example.com"]


def test_what_cannot_be_worked_out_stays_as_written() -> None:
    """A field that the value has not: the task will fail there, and does nothing."""
    odd = 'exec: { command: ["tool", "${{ inputs.a.b }}"] }'
    assert lines(odd, a="x") == ["exec · tool ${{ inputs.a.b }}"]


def test_a_value_that_looks_like_a_template_is_told_apart() -> None:
    """It is escaped, as the language writes what is no template."""
    assert lines(WORDS, a="${{ inputs.b }}", b="x") != lines(WORDS, b="x")
    assert lines(LINE, a="${{ inputs.b }}", b="x") == ["shell · echo \\${{ inputs.b }} > x"]
    assert lines(LINE, a="\\", b="x") == ["shell · echo \\ > x"]


@given(a=VALUES, b=VALUES)
@settings(deadline=None)
def test_the_words_that_are_told_are_those_of_the_process(a: Any, b: Any) -> None:
    """Whatever stands in them: read back, they are what the program is called with."""
    body = render(action(KNOWN_WORDS).body, {"inputs": {"a": a, "b": b}})
    (line,) = lines(KNOWN_WORDS, a=a, b=b)
    assert read(line) == [text_of(word) for word in body["command"]["argv"]]


@given(a=VALUES, b=VALUES)
@settings(deadline=None)
def test_the_path_that_is_told_is_the_one_that_is_written(a: Any, b: Any) -> None:
    """One word, whatever stands in it."""
    body = render(action(WRITE).body, {"inputs": {"a": a, "b": b}})
    assert read(lines(WRITE, a=a, b=b)[1]) == [body["args"]["path"]]


@pytest.mark.parametrize("text", [KNOWN_WORDS, LINE, WRITE, WORDS])
@given(a=VALUES, b=VALUES, c=VALUES, d=VALUES)
@settings(deadline=None)
def test_two_different_ones_never_look_alike(text: str, a: Any, b: Any, c: Any, d: Any) -> None:
    """Not even on the line of a terminal, which swallows blanks and unseen signs."""
    body = action(text).body
    scope = {"tasks": {"t": {"output": "later"}}}
    one = render(body, scope | {"inputs": {"a": a, "b": b}})
    other = render(body, scope | {"inputs": {"a": c, "b": d}})
    assume(json.dumps(one) != json.dumps(other) and _texts(one) != _texts(other))
    assert _shown(lines(text, a=a, b=b)) != _shown(lines(text, a=c, b=d))


def _texts(value: Any) -> Any:
    """Numbers and words as a program gets them: `1` is "1" to it."""
    if isinstance(value, dict):
        return {key: _texts(item) for key, item in value.items()}
    return [text_of(item) for item in value] if isinstance(value, list) else value


def _shown(effects: list[str]) -> list[str]:
    return [one_line(effect, 400) for effect in effects]


def test_a_long_one_is_cut_and_cannot_be_taken_for_another() -> None:
    """Its beginning, its end, its length, and a digest of all of it."""
    one, other = (lines(LINE, a=f"{'x' * 500}{sign}{'y' * 500}", b="z")[0] for sign in "12")
    assert one != other
    assert max(len(one), len(other)) <= LONGEST
    assert one_line(one, 400) == one
    assert one.startswith("shell · echo xxx")
    assert "yyy > z (1,018 characters, blake3 " in one


def test_nobody_writes_a_cut_by_hand() -> None:
    """A value that reads like a cut line is one of its own."""
    long = lines(LINE, a="x" * 500, b="z")[0]
    copied = long.removeprefix("shell · echo ")
    assert lines('exec: { shell: "echo ${{ inputs.a }}" }', a=copied) != [long]


def test_secrets_are_blotted_out_before_anything_is_cut() -> None:
    """Wherever in a line they stand."""
    masker = Masker()
    masker.add("key", "hunter2-hunter2")
    assert lines(LINE, masker, a="a hunter2-hunter2", b="z") == [f"shell · echo a {MASK} > z"]
    for place in range(140, 170):
        (line,) = lines(LINE, masker, a=f"{'x' * place}hunter2-hunter2{'y' * 500}", b="z")
        assert "hunt" not in line


@given(a=VALUES, b=VALUES)
@settings(deadline=None)
def test_nothing_that_steers_a_terminal_is_told(a: Any, b: Any) -> None:
    """It is spelled out."""
    assert not any(UNSHOWN.search(line) for text in (WORDS, LINE, WRITE) for line in lines(text, a=a, b=b))
