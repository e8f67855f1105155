"""Words of a command that something untrusted decided are judged again when they are known."""

from __future__ import annotations

import pytest

from nika_nb.authority.regate import judge_words, untrusted
from nika_nb.errors import Source
from nika_nb.language import load
from nika_nb.language.model import Task
from tests.verbs.calls import permits

TEXT = """
nika: w
inputs:
  p: {{ type: string }}
const: {{ c: x }}
tasks:
  up:
    exec: {{ command: [echo, x] }}
  t:
    with: {{ fixed: "${{{{ const.c }}}}", given: "${{{{ inputs.p }}}}", made: "${{{{ tasks.up.output }}}}" }}
    {more}
    exec: {{ command: [find, ".", "{word}"] }}
"""
LIFT = "lift: [{law: taint, from: inputs.p, because: reviewed}]"


def task(word: str, more: str = "timeout: 5s") -> Task:
    workflow = load(Source(TEXT.format(word=word, more=more))).workflow
    assert workflow is not None
    return workflow.tasks["t"]


ORIGINS = [
    ("plain", None),
    ("${{ const.c }}", None),
    ("${{ with.fixed }}", None),
    ("${{ inputs.p }}", "inputs.p"),
    ("a ${{ with.given }} b", "inputs.p"),
    ("${{ with.made }}", "tasks.up"),
    ("${{ with.fixed }}${{ with.made }}", "tasks.up"),
]


@pytest.mark.parametrize(("word", "origin"), ORIGINS)
def test_where_a_word_comes_from(word: str, origin: str | None) -> None:
    """Constants and secrets are the author's; inputs and what tasks returned are not."""
    written = task(word).action.value("command")
    assert untrusted(task(word), written) == origin


@pytest.mark.parametrize("items", ["${{ inputs.p }}", "[a, '${{ inputs.p }}']"])
def test_items_carry_their_origin(items: str) -> None:
    """An item is as trusted as the collection; the index is the engine's own."""
    more = f"for_each: {{ items: {items if items.startswith('[') else repr(items)} }}"
    one = task("${{ item }}", more)
    assert untrusted(one, one.action.value("command")) == "inputs.p"
    assert untrusted(task("${{ index }}", more), task("${{ index }}", more).action.value("command")) is None
    fixed = task("${{ item }}", "for_each: { items: [a, b] }")
    assert untrusted(fixed, fixed.action.value("command")) is None


JUDGED = [
    ("a name", "${{ inputs.p }}", "report", ["find"], "", True),
    ("a way to run another program", "${{ inputs.p }}", "--exec", ["find"], "", False),
    ("the same with a value", "${{ with.made }}", "--exec=sh", ["find"], "", False),
    ("listed on purpose", "${{ inputs.p }}", "--exec", ["find", "--exec"], "", True),
    ("any program is granted", "${{ inputs.p }}", "--exec", True, "", True),
    ("lifted by the author", "${{ inputs.p }}", "--exec", ["find"], LIFT, True),
    ("lifted for something else", "${{ with.made }}", "--exec", ["find"], LIFT, False),
]


@pytest.mark.parametrize(
    ("name", "word", "resolved", "programs", "more", "allowed"), JUDGED, ids=[case[0] for case in JUDGED]
)
def test_words_are_judged(
    name: str, word: str, resolved: str, programs: list[str] | bool, more: str, allowed: bool
) -> None:
    """A listed program stands for itself, not for what an untrusted argument makes it start."""
    one = task(word, more or "timeout: 5s")
    (verdict,) = judge_words(permits(exec=programs), one, ["find", ".", resolved])
    assert (verdict.plane, verdict.gate, verdict.allowed) == ("regate", "exec.argv[2]", allowed)
    assert verdict.code == ("" if allowed else "NIKA-SEC-004")


def test_what_the_author_wrote_is_not_judged_again() -> None:
    """A literal argument is the author's own."""
    assert list(judge_words(permits(exec=["find"]), task("--exec"), ["find", ".", "--exec"])) == []
