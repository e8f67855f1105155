"""What the word under the cursor means; ¦ stands in it."""

from __future__ import annotations

import pytest

from nika_nb.check.editing.explain import Explanation, explain
from tests.check.editing.test_complete import HEAD, TOOLS

TAIL = """\
  next:
    with: { l: "${{ tasks.load.output }}" }
    after: { hash: success }
    infer: { prompt: "${{ with.l }} on ${{ inputs.topic }}", model: openai/gpt-4o }
"""

CASES = [
    ("a key", "    gro¦up: sources", "group", "under one name"),
    ("a verb, with its keys", "    inv¦oke:", "invoke", "keys: tool, workflow, args"),
    ("a key of a verb", "inv¦oke: {", "invoke", "Calls a tool"),
    ("a key within braces", '{ tool: "nika:read", ar¦gs:', "invoke.args", "by name"),
    ("a tool, with its arguments", '"nika:re¦ad"', "nika:read", "  path  needed"),
    ("an argument", "pa¦th: ", "invoke.args.path", "needed"),
    ("a task", "  ha¦sh:\n", "task hash", "waited for by next"),
    ("a task that is read", "tasks.lo¦ad.output", "task load", "read by next"),
    ("a part of one", "tasks.load.out¦put", "tasks.load.output", "what it returned"),
    ("an input", "inputs.to¦pic", "input topic", "required: true"),
    ("an input where it is declared", "  to¦pic: {", "input topic", "type: string"),
    ("a binding", "with.l¦ }}", "with.l", "tasks.load.output"),
    ("where a path begins", "inp¦uts.topic", "inputs", "what the caller gave"),
    ("a state", "{ hash: succ¦ess", "success", "succeeded"),
    ("a model", "openai/gp¦t-4o", "openai/gpt-4o", "$2.5 in"),
    ("a model that cannot run", "openai/gp¦t-4o", "openai/gpt-4o", "only mock/… runs"),
]


def at(marked: str) -> Explanation | None:
    text = HEAD + TAIL
    plain = marked.replace("¦", "")
    assert plain in text
    return explain(text, text.index(plain) + marked.index("¦"), TOOLS)


@pytest.mark.parametrize(("name", "marked", "title", "line"), CASES, ids=[case[0] for case in CASES])
def test_what_a_word_means(name: str, marked: str, title: str, line: str) -> None:
    """Its name in full, and a line that helps."""
    found = at(marked)
    assert found is not None
    assert found.title == title
    assert line in "\n".join(found.lines)


@pytest.mark.parametrize("marked", ["mock/nobo¦dy", "bri¦ef", "shas¦um"])
def test_what_means_nothing_says_nothing(marked: str) -> None:
    """A name, an argument, a text: no help is better than a wrong one."""
    text = HEAD.replace("mock/echo", "mock/nobody")
    plain = marked.replace("¦", "")
    assert explain(text, text.index(plain) + marked.index("¦"), TOOLS) is None


@pytest.mark.parametrize("offset", range(0, len(HEAD + TAIL), 5))
def test_it_may_be_asked_anywhere(offset: int) -> None:
    """At blanks, at signs, at both ends."""
    explain(HEAD + TAIL, offset, TOOLS)
