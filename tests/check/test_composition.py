"""Calls of workflows: found before the run, typed, and within the caller's authority."""

from __future__ import annotations

from pathlib import Path

import pytest

from nika_nb.check import check
from nika_nb.check.children import Family
from nika_nb.errors import Source
from tests.check.judging import codes, judged, marked, shown

CHILD = """\
nika: child
permits: { exec: [echo] }
inputs: { url: { type: string, required: true }, most: { type: integer, default: 3 } }
tasks:
  t: { exec: { command: [echo, '${{ inputs.url }}'] } }
outputs: { report: { value: '${{ tasks.t.output }}', type: string } }
"""

LEAF = "nika: l\ntasks:\n  t: { invoke: { tool: 'nika:uuid' } }\n"

UNSOUND = """\
nika: unsound
tasks:
  t: { invoke: { tool: 'nika:log', args: { message: '${{ inputs.a }} ${{ inputs.b }}' } } }
"""


def calling(path: str) -> str:
    return f"nika: calls\npermits: {{}}\ntasks:\n  t: {{ invoke: {{ workflow: {path} }} }}\n"


def parent(call: str, more: str = "", permits: str = "permits: { exec: [echo] }\n") -> str:
    return (
        f"nika: parent\n{permits}inputs: {{ n: {{ type: integer }}, s: {{ type: string }} }}\n"
        f"tasks:\n  t:\n    invoke: {call}\n{more}"
    )


def call(args: str, path: str = "./child.nika.yaml") -> str:
    return f"{{ workflow: {path}, args: {{ {args} }} }}"


def reads(path: str) -> str:
    return f"outputs: {{ o: '${{{{ tasks.t.{path} }}}}' }}\n"


CASES = [
    ("a call", parent(call("url: 'https://a.example'")), [], ""),
    (
        "a call with what a binding holds",
        parent(call("url: '${{ inputs.s }}', most: '${{ inputs.n }}'")),
        [],
        "",
    ),
    ("a pinned registry", parent("{ workflow: 'registry:acme/audit@1.2.0' }"), [], ""),
    (
        "a registry without a version",
        parent("{ workflow: «'registry:acme/audit'» }"),
        ["COMP-001"],
        "names no version",
    ),
    (
        "a computed target",
        parent("{ workflow: «'./${{ inputs.s }}.nika.yaml'» }"),
        ["COMP-001"],
        "by a fixed name",
    ),
    ("no such file", parent("{ workflow: «./none.nika.yaml» }"), ["COMP-001"], "there is no file"),
    ("a device", parent("{ workflow: «/dev/zero» }"), ["COMP-001"], "there is no file"),
    ("a broken file", parent("{ workflow: «./broken.nika.yaml» }"), ["COMP-001"], "NIKA-PARSE-002"),
    (
        "itself",
        parent("{ workflow: «./parent.nika.yaml» }"),
        ["COMP-003"],
        "parent.nika.yaml → parent.nika.yaml",
    ),
    (
        "a way back",
        parent("{ workflow: «./back.nika.yaml» }"),
        ["COMP-003"],
        "parent.nika.yaml → back.nika.yaml → ",
    ),
    ("a missing input", parent("«{ workflow: ./child.nika.yaml }»"), ["COMP-004"], "needs its input `url`"),
    ("an unknown input", parent(call("url: a, «ulr»: b")), ["COMP-004"], "has no input `ulr`"),
    ("a literal of another type", parent(call("url: «42»")), ["COMP-004"], "does not fit"),
    (
        "a value of another type",
        parent(call("url: «'${{ inputs.n }}'»")),
        ["COMP-004"],
        "its type is another one",
    ),
    ("what it returns", parent(call("url: a"), "    returns: { object: { report: string } }\n"), [], ""),
    (
        "what it does not return",
        parent(call("url: a"), "    returns: «{ object: { report: integer } }»\n"),
        ["COMP-004"],
        "",
    ),
    (
        "a program that the caller may not start",
        parent(call("url: a", "«./child.nika.yaml»"), permits="permits: {}\n"),
        ["COMP-002"],
        "this workflow does not permit",
    ),
    (
        "a caller without permits",
        parent(call("url: a", "«./child.nika.yaml»"), permits=""),
        ["COMP-002"],
        "declares no `permits:`",
    ),
    (
        "a child without permits",
        parent("{ workflow: «./bare.nika.yaml» }"),
        ["COMP-002"],
        "`bare` itself does not permit",
    ),
    (
        "a workflow that is refused on its own",
        parent("{ workflow: «./unsound.nika.yaml» }"),
        ["COMP-001"],
        "`./unsound.nika.yaml` has 2 problems: NIKA-",
    ),
    (
        "a child of a child that is refused on its own",
        parent("{ workflow: «./over.nika.yaml» }"),
        ["COMP-001"],
        "`./unsound.nika.yaml` has 2 problems",
    ),
    (
        "a child of a child",
        parent("{ workflow: «./middle.nika.yaml» }"),
        ["COMP-002"],
        "`bare` would start `git`",
    ),
    ("what a child returns", parent(call("url: a"), reads("output.report")), [], ""),
    (
        "what a child does not return",
        parent(call("url: a"), reads("output.«reprot»")),
        ["VAR-003"],
        "there is no field `reprot` in `tasks.t.output`",
    ),
    (
        "a field of a text that a child returns",
        parent(call("url: a"), "    for_each: { items: [1] }\n" + reads("output[0].report.«title»")),
        ["VAR-003"],
        "is text",
    ),
    (
        "what may stand in for what a child returns",
        parent(call("url: a"), "    on_error: { recover: { late: true } }\n" + reads("output.late")),
        [],
        "",
    ),
]


@pytest.fixture
def family(tmp_path: Path) -> Path:
    """A folder of workflows that can be called."""
    texts = {
        "child": CHILD,
        "bare": "nika: bare\ntasks:\n  t: { exec: { command: [git] } }\n",
        "broken": "nika: broken\n",
        "back": "nika: back\ntasks:\n  t: { invoke: { workflow: ./parent.nika.yaml } }\n",
        "unsound": UNSOUND,
        "over": calling("./unsound.nika.yaml"),
        "middle": "nika: middle\npermits: {}\ntasks:\n  t: { invoke: { workflow: ./bare.nika.yaml } }\n",
    }
    for name, text in texts.items():
        (tmp_path / f"{name}.nika.yaml").write_text(text)
    return tmp_path


@pytest.mark.parametrize(("name", "text", "expected", "says"), CASES, ids=[case[0] for case in CASES])
def test_a_call_is_judged_before_anything_runs(
    family: Path, name: str, text: str, expected: list[str], says: str
) -> None:
    """Targets, cycles, types and authority of a call are judged from the files alone."""
    plain, places = marked(text)
    (family / "parent.nika.yaml").write_text(plain)
    errors = check(Source(plain, "parent.nika.yaml"), base=family).errors
    assert [shown(error, plain) for error in errors] == [
        (f"NIKA-{code}", plain[place.start : place.end], place.start)
        for code, place in zip(expected, places, strict=True)
    ]
    assert says in "".join(error.message for error in errors)


@pytest.mark.parametrize(
    ("given", "hint"), [("ulr", "did you mean `url`?"), ("colour", "its inputs are url, most")]
)
def test_an_unknown_input_is_told_with_what_there_is(family: Path, given: str, hint: str) -> None:
    """The one that is meant where one is near, else all of them."""
    text = parent(call(f"url: a, {given}: b"))
    [error] = check(Source(text, "parent.nika.yaml"), base=family).errors
    assert error.hint == hint


def test_a_wide_family_is_read_once(tmp_path: Path) -> None:
    """Every level calls the next one twice; each file is still read and followed once."""
    for level in range(24):
        below = f"./l{level + 1}.nika.yaml"
        calls = f"  a: {{ invoke: {{ workflow: {below} }} }}\n  b: {{ invoke: {{ workflow: {below} }} }}\n"
        (tmp_path / f"l{level}.nika.yaml").write_text(f"nika: l\npermits: {{}}\ntasks:\n{calls}")
    (tmp_path / "l24.nika.yaml").write_text(LEAF)
    report = judged(
        "nika: top\npermits: {}\ntasks:\n  t: { invoke: { workflow: ./l0.nika.yaml } }\n", base=tmp_path
    )
    assert codes(report) == []


def test_a_child_lies_beside_the_file_that_calls_it(family: Path) -> None:
    """Not beside the folder that paths count from, wherever the run happens."""
    (family / "inner").mkdir()
    (family / "elsewhere").mkdir()
    (family / "inner" / "leaf.nika.yaml").write_text(LEAF)
    (family / "inner" / "middle.nika.yaml").write_text(calling("./leaf.nika.yaml"))
    top = Source(calling("inner/middle.nika.yaml"), "top.nika.yaml")
    assert check(top, base=family / "elsewhere", folder=family).ok
    assert not check(top, base=family / "elsewhere").ok


def test_pinned_texts_stand_for_the_files(family: Path) -> None:
    """What a journal holds is judged, whatever became of the files; what it does not hold is not found."""
    top = Source(parent(call("url: 'x'")), "parent.nika.yaml")
    place = str((family / "child.nika.yaml").resolve())
    (family / "child.nika.yaml").write_text("nika: broken\n")
    assert check(top, base=family, family=Family({place: CHILD})).ok
    (missing,) = check(top, base=family, family=Family({})).errors
    assert missing.code == "NIKA-COMP-001"
    assert "the journal does not hold" in missing.message


def test_a_long_chain_is_judged_to_an_end(tmp_path: Path) -> None:
    """A chain of calls that is far longer than any run would follow is no trouble for the check."""
    for level in range(300):
        (tmp_path / f"l{level}.nika.yaml").write_text(calling(f"./l{level + 1}.nika.yaml"))
    (tmp_path / "l300.nika.yaml").write_text(LEAF)
    assert codes(judged(calling("./l0.nika.yaml"), base=tmp_path)) == []
