"""What the caller decides is judged by its default, and a lift opens exactly one law."""

from __future__ import annotations

import pytest

from nika_nb.check.code_files import class_of
from tests.check.judging import Case, assert_found

HEAD = """\
nika: g
permits: { exec: [find, git], fs: { read: ['./data/**'] }, net: { http: [a.example] }, tools: ['nika:*'] }
const: { p: ./data/c.csv }
"""


def task(default: str, body: str, more: str = "") -> str:
    return f"{HEAD}inputs: {{ p: {{ type: string{default} }} }}\ntasks:\n  t:\n{more}    {body}\n"


def given(value: str) -> str:
    return f", default: '{value}'"


READ = "invoke: { tool: 'nika:read', args: { path: «'${{ inputs.p }}'» } }"
SOUND = READ.replace("«", "").replace("»", "")
FETCH = "invoke: { tool: 'nika:fetch', args: { url: %s } }"
LIFT = "    lift: [%s]\n"
TAINT = "{ law: taint, from: inputs.p, because: reviewed }"
CODE = "{ law: data-as-code, because: stored }"

CASES = [
    Case("a path inside", task(given("./data/a.csv"), SOUND)),
    Case("a path that comes back inside", task(given("./data/../data/a.csv"), SOUND)),
    Case(
        "a path outside",
        task(given("./data/../a.csv"), READ),
        ("AUTH-008",),
        "another default",
        "inputs.p → args.path",
    ),
    Case(
        "the canonical form is shown",
        task(given("data/../x/./a.csv"), READ),
        ("AUTH-008",),
        says="`./x/a.csv`",
    ),
    Case("a path that only the caller knows", task("", SOUND)),
    Case(
        "through a binding",
        task(given("../x"), READ.replace("inputs.p", "with.q"), "    with: { q: '${{ inputs.p }}' }\n"),
        ("AUTH-008",),
        says="inputs.p → with.q → args.path",
    ),
    Case("as a part", task(given("../.."), READ.replace("'${{", "'./data/${{")), ("AUTH-008",)),
    Case("a host outside", task(given("b.example"), FETCH % "«'https://${{ inputs.p }}/x'»"), ("AUTH-008",)),
    Case("a host inside", task(given("A.example"), FETCH % "'https://${{ inputs.p }}/x'")),
    Case("a program outside", task(given("rm"), "exec: { command: [«'${{ inputs.p }}'»] }"), ("AUTH-008",)),
    Case("a program inside", task(given("git"), "exec: { command: ['${{ inputs.p }}', log] }")),
    Case(
        "an argument that starts another program",
        task(given("-exec"), "exec: { command: [find, ., «'${{ inputs.p }}'»] }"),
        ("AUTH-008",),
        says="command[2]",
    ),
    Case(
        "a text behind a written flag",
        task(given("x"), "exec: { command: [sh, -c, «'echo ${{ inputs.p }}'»] }").replace("[find", "[sh"),
        ("AUTH-008",),
        says="command[2]",
    ),
    Case(
        "a flag with its text in one word",
        task(given("-cimport os"), "exec: { command: [python3, «'${{ inputs.p }}'»] }").replace(
            "[find", "[python3"
        ),
        ("AUTH-008",),
        says="-c",
    ),
    Case(
        "a text that only the caller knows",
        task("", "exec: { command: [sh, -c, 'echo ${{ inputs.p }}'] }").replace("[find", "[sh"),
    ),
    Case(
        "an argument like any other",
        task(given("*.md"), "exec: { command: [find, ., -name, '${{ inputs.p }}'] }"),
    ),
    Case("an author's own argument", task("", "exec: { command: [find, ., -exec, echo] }")),
    Case("a lifted path inside", task(given("./data/x"), SOUND, LIFT % TAINT)),
    Case("a lift does not move the boundary", task(given("../x"), READ, LIFT % TAINT), ("SEC-004",)),
    Case(
        "a lifted argument",
        task(given("-exec"), "exec: { command: [find, ., '${{ inputs.p }}'] }", LIFT % TAINT),
    ),
    Case(
        "a lift of what is not used",
        task("", SOUND.replace("inputs.p", "const.p"), LIFT % f"«{TAINT}»"),
        ("AUTH-011",),
        says="does not reach",
    ),
    Case(
        "a lift of what is trusted",
        task("", SOUND.replace("inputs.p", "const.p"), LIFT % f"«{TAINT.replace('inputs', 'const')}»"),
        ("AUTH-011",),
        says="trusted",
    ),
    Case(
        "a script",
        task("", FETCH % "«'https://a.example/x/setup.sh'»"),
        ("SEC-008",),
        "data-as-code",
        "a script",
    ),
    Case(
        "a script by default",
        task(given("setup.sh"), FETCH % "«'https://a.example/${{ inputs.p }}'»"),
        ("SEC-008",),
    ),
    Case("a file that only the caller knows", task("", FETCH % "'https://a.example/${{ inputs.p }}'")),
    Case("a script that is only stored", task("", FETCH % "'https://a.example/x.sh'", LIFT % CODE)),
    Case(
        "a lift for data",
        task("", FETCH % "'https://a.example/x.csv'", LIFT % f"«{CODE}»"),
        ("AUTH-011",),
        says="is data",
    ),
    Case("a lift for no fetch", task("", SOUND, LIFT % f"«{CODE}»"), ("AUTH-011",), says="fetches nothing"),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_value_of_the_caller_is_judged_where_it_reaches_the_world(case: Case) -> None:
    """A default that escapes is refused with the way it takes; a lift must open something."""
    assert_found(case)


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("https://a.example/model.pkl", "serialized"),
        ("https://a.example/MODEL.PKL", "serialized"),
        ("https://a.example/model.pkl?x=y.csv", "serialized"),
        ("https://a.example/model%2epkl%2e", "serialized"),
        ("https://a.example/model%252epkl", "serialized"),
        ("https://a.example/lib.so.1.2.3", "executable"),
        ("https://a.example/a.tar.sh", "script"),
        ("https://a.example/a.csv?file=x.sh", None),
        ("https://a.example/a.sh/", None),
        ("https://a.example/sh", None),
        ("https://a.example", None),
        ("https://a.example/so.1.2.csv", None),
        ("https://a.example/${{ inputs.p }}.sh", None),
    ],
)
def test_the_final_extension_decides(url: str, kind: str | None) -> None:
    """The path's last extension names the class, however it is encoded; the query says nothing."""
    found = class_of(url)
    assert found is None if kind is None else found is not None and kind in found
