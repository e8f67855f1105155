"""A no stops what it was asked about, on every route."""

from __future__ import annotations

import pytest

from tests.check.judging import Case, assert_found, judged

HEAD = """\
nika: c
model: mock/echo
permits: { exec: [git], fs: { write: ['**'] }, net: { http: [a.example] }, tools: ['nika:*', 'mcp:x/*'] }
const: { yes: true }
inputs: { force: { type: bool, default: false } }
tasks:
  ask: { invoke: { tool: 'nika:prompt', args: { message: really? } } }
"""
GO = "    with: { go: '${{ tasks.ask.output }}', st: '${{ tasks.ask.status }}' }\n"
GIT = "    exec: { command: [git, push] }\n"


def gated(when: str, name: str = "push") -> str:
    return f'{HEAD}  {name}:\n{GO}    when: "${{{{ {when} }}}}"\n{GIT}'


BARE = f"{HEAD}  «push»:\n    after: {{ ask: success }}\n{GIT}"

CASES = [
    Case(
        "nothing reads the answer",
        BARE,
        ("SEC-014",),
        'with: { go: "${{ tasks.ask.output }}" }',
        "ask → push",
    ),
    Case(
        "the answer is only bound",
        f"{HEAD}  «push»:\n{GO}{GIT}",
        ("SEC-014",),
        "`when: ${{ with.go == true }}`",
    ),
    Case(
        "its cleanup",
        f"{HEAD}  «push»:\n    after: {{ ask: unwind }}\n{GIT}",
        ("SEC-014",),
        says="ask → push",
    ),
    Case(
        "its cleanup reads how it ended",
        HEAD + "  «push»:\n    after: { ask: unwind }\n    with: { s: '${{ tasks.ask.status }}' }\n" + GIT,
        ("SEC-014",),
    ),
    Case(
        "its cleanup, as the answer decides",
        gated("with.go == true").replace("    with", "    after: { ask: unwind }\n    with"),
    ),
    Case(
        "the cleanup of what the answer closes",
        gated("with.go == true") + "  tidy:\n    after: { push: unwind }\n" + GIT,
    ),
    Case(
        "the cleanup of what runs anyway",
        HEAD + "  on:\n    after: { ask: success }\n    infer: { prompt: hi }\n"
        "  «tidy»:\n    after: { on: unwind }\n" + GIT,
        ("SEC-014",),
        says="ask → on → tidy",
    ),
    Case("the answer decides", gated("with.go == true")),
    Case("the answer decides, with more", gated("with.go && inputs.force")),
    Case("the answer decides, negated", gated("!(with.go != true)")),
    Case("the answer is compared with a constant", gated("with.go == const.yes")),
    Case("either answer", gated("with.go == true || with.go == false", "«push»"), ("SEC-014",)),
    Case("the wrong answer", gated("!with.go", "«push»"), ("SEC-014",)),
    Case("the status is no answer", gated("with.st == 'success'", "«push»"), ("SEC-014",)),
    Case("a choice between branches", gated("with.st == 'success' ? with.go : true")),
    Case("never", f"{HEAD}  push:\n    after: {{ ask: success }}\n    when: false\n{GIT}"),
    Case("only a failure of the question", f"{HEAD}  push:\n    after: {{ ask: failure }}\n{GIT}"),
    Case(
        "closed on the way",
        HEAD + "  mid:\n" + GO + "    when: ${{ with.go == true }}\n    infer: { prompt: hi }\n"
        "  push:\n    with: { x: '${{ tasks.mid.output }}' }\n" + GIT,
    ),
    Case(
        "open on the way",
        HEAD
        + "  mid:\n"
        + GO
        + "    infer: { prompt: hi }\n  «push»:\n    with: { x: '${{ tasks.mid.output }}' }\n"
        + GIT,
        ("SEC-014",),
        says="ask → mid → push",
    ),
    Case(
        "one of two routes is open",
        HEAD + "  mid:\n" + GO + "    when: ${{ with.go == true }}\n    infer: { prompt: hi }\n"
        "  «push»:\n    after: { mid: terminal, ask: success }\n" + GIT,
        ("SEC-014",),
    ),
    Case(
        "a closer question",
        HEAD + "  again:\n    after: { ask: success }\n    invoke: { tool: 'nika:prompt', args: "
        "{ message: sure? } }\n"
        "  push:\n    with: { go: '${{ tasks.again.output }}' }\n    when: ${{ with.go == true }}\n" + GIT,
    ),
    Case(
        "a choice asks for words",
        BARE.replace("really?", "which?, mode: choice, choices: [a, b]").replace("«", "").replace("»", ""),
    ),
    Case(
        "a file",
        HEAD + "  «w»:\n    after: { ask: success }\n    invoke: { tool: 'nika:write', args: "
        "{ path: a, content: b } }\n",
        ("SEC-014",),
    ),
    Case(
        "a request",
        HEAD + "  «w»:\n    after: { ask: success }\n    invoke: { tool: 'nika:fetch', args: { url: "
        "'https://a.example/' } }\n",
        ("SEC-014",),
    ),
    Case(
        "a server",
        HEAD + "  «w»:\n    after: { ask: success }\n    invoke: { tool: 'mcp:x/y' }\n",
        ("SEC-014",),
    ),
    Case(
        "an agent with hands",
        HEAD + "  «w»:\n    after: { ask: success }\n    agent: { prompt: hi, tools: ['nika:w*'] }\n",
        ("SEC-014",),
    ),
    Case(
        "an agent without",
        HEAD + "  w:\n    after: { ask: success }\n    agent: { prompt: hi, tools: ['nika:jq'] }\n",
    ),
    Case("reading and thinking", HEAD + "  w:\n    after: { ask: success }\n    infer: { prompt: hi }\n"),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_refusal_closes_every_route(case: Case) -> None:
    """An effect that a no would not stop is refused at the task that has it."""
    assert_found(case)


@pytest.mark.parametrize(
    "when",
    ["inputs.force", "has(with.go)", "size(inputs) > 0 && with.st == 'success'", "with.go == 'yes'"],
)
def test_what_cannot_be_decided_is_only_hinted_at(when: str) -> None:
    """A condition beyond the fragment is no reason to refuse; the route is pointed out."""
    text = gated(when if when != "inputs.force" else "inputs.force == true")
    report = judged(text)
    assert report.ok
    assert [hint.code for hint in report.hints] == ["NIKA-SEC-014"]
    assert "ask → push" in report.hints[0].message
