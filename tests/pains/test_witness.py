"""Every decision at the boundary stands in the journal, granted or refused; some are made before the run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import nika_nb
from nika_nb.errors import CheckRefused
from nika_nb.providers.registry import MAKERS
from nika_nb.values import digest
from tests.doors import Terminal, frames, marks, newest, program, started, wait_for
from tests.providers.scripted import Scripted, calls, says


@dataclass(frozen=True)
class Case:
    """A task `t`, under a boundary. wants: (plane, gate, decision) of its frames, in order."""

    name: str
    permits: str
    task: str
    wants: list[tuple[str, str, str]]
    code: str = ""
    inputs: dict[str, Any] = field(default_factory=dict)


def exec_(command: str, more: str = "") -> str:
    return f"{{{more}exec: {{command: {command}}}}}"


def invoke(tool: str, args: str, more: str = "") -> str:
    return f"{{{more}invoke: {{tool: '{tool}', args: {args}}}}}"


ENV = ("env", "", "allow")
WORD = '"${{ inputs.word }}"'
PATH = ("regate", "args.path", "allow")
LIFT = 'lift: [{law: taint, from: inputs.word, because: "known"}], '
CODE = 'lift: [{law: data-as-code, because: "it is stored"}], '

CASES = [
    Case("a program", "exec: ['./say']", exec_('["./say", a]'), [("exec", "./say", "allow"), ENV]),
    Case("a shell line", "exec: true", "{exec: {shell: 'echo a'}}", [("exec", "sh", "allow"), ENV]),
    Case(
        "the names that pass into an environment",
        "exec: ['./say'], env: [HERE, MISSING]",
        exec_('["./say", a]'),
        [("exec", "./say", "allow"), ("env", "HERE", "allow")],
    ),
    Case(
        "a word of a command that the caller decides",
        "exec: ['./say']",
        exec_(f'["./say", {WORD}]'),
        [("exec", "./say", "allow"), ("regate", "exec.argv[1]", "allow"), ENV],
    ),
    Case(
        "a word that would start another program",
        "exec: ['./say']",
        exec_(f'["./say", {WORD}]'),
        [("exec", "./say", "allow"), ("regate", "exec.argv[1]", "deny")],
        "NIKA-SEC-004",
        {"word": "--exec=rm"},
    ),
    Case(
        "a word that the author lifts",
        "exec: ['./say']",
        exec_(f'["./say", {WORD}]', LIFT),
        [("exec", "./say", "allow"), ("regate", "exec.argv[1]", "allow"), ENV],
        "",
        {"word": "-c"},
    ),
    Case(
        "a program that only the run knows",
        "exec: ['./say']",
        exec_('["${{ with.program }}"]', "with: {program: '${{ tasks.before.output }}'}, "),
        [("exec", "./other", "deny")],
        "NIKA-SEC-004",
    ),
    Case("a tool that computes", "", invoke("nika:log", "{message: a}"), [("tool", "nika:log", "allow")]),
    Case(
        "a tool that reaches out",
        "tools: ['nika:read'], fs: {read: ['in/**']}",
        invoke("nika:read", f"{{path: {WORD}}}"),
        [("tool", "nika:read", "allow"), PATH, ("fs.read", "in/a", "allow")],
        "",
        {"word": "in/a"},
    ),
    Case(
        "a file that the author names",
        "tools: ['nika:write'], fs: {write: ['in/**']}",
        invoke("nika:write", "{path: in/c, content: x}"),
        [("tool", "nika:write", "allow"), ("fs.write", "in/c", "allow")],
    ),
    Case(
        "a file that the author lifts",
        "tools: ['nika:read'], fs: {read: ['in/**']}",
        invoke("nika:read", f"{{path: {WORD}}}", LIFT),
        [("tool", "nika:read", "allow"), PATH, ("fs.read", "in/a", "allow")],
    ),
    Case(
        "a file outside",
        "tools: ['nika:read'], fs: {read: ['in/**']}",
        invoke("nika:read", f"{{path: {WORD}}}"),
        [("tool", "nika:read", "allow"), ("regate", "args.path", "deny"), ("fs.read", "out/a", "deny")],
        "NIKA-SEC-004",
        {"word": "out/a"},
    ),
    Case(
        "a file outside, to be written",
        "tools: ['nika:write'], fs: {write: ['in/**']}",
        invoke("nika:write", f"{{path: {WORD}, content: x}}"),
        [
            ("tool", "nika:write", "allow"),
            ("regate", "args.path", "deny"),
            ("fs.write", "in/../out/a", "deny"),
        ],
        "NIKA-SEC-004",
        {"word": "in/../out/a"},
    ),
    Case(
        "a host outside",
        "tools: ['nika:fetch'], net: {http: [example.com]}",
        invoke("nika:fetch", f"{{url: {WORD}, mode: raw}}"),
        [("tool", "nika:fetch", "allow"), ("regate", "args.url", "deny"), ("net", "example.org", "deny")],
        "NIKA-SEC-004",
        {"word": "https://example.org/a"},
    ),
    Case(
        "an address that nothing opens",
        "tools: ['nika:fetch'], net: {http: ['*']}",
        invoke("nika:fetch", f"{{url: {WORD}, mode: raw}}"),
        [
            ("tool", "nika:fetch", "allow"),
            ("regate", "args.url", "deny"),
            ("net", "169.254.169.254", "deny"),
        ],
        "NIKA-SEC-005",
        {"word": "http://169.254.169.254/latest"},
    ),
    Case(
        "code fetched as data",
        "tools: ['nika:fetch'], net: {http: ['127.0.0.1']}",
        invoke("nika:fetch", f"{{url: {WORD}, mode: raw}}"),
        [
            ("tool", "nika:fetch", "allow"),
            ("regate", "args.url", "allow"),
            ("net", "127.0.0.1", "allow"),
            ("net", "http://127.0.0.1:59998/model.pkl", "deny"),
        ],
        "NIKA-SEC-004",
        {"word": "http://127.0.0.1:59998/model.pkl"},
    ),
    Case(
        "code fetched as data, lifted",
        "tools: ['nika:fetch'], net: {http: ['127.0.0.1']}",
        invoke("nika:fetch", "{url: 'http://127.0.0.1:59998/model.pkl', mode: raw}", CODE),
        [
            ("tool", "nika:fetch", "allow"),
            ("net", "127.0.0.1", "allow"),
            ("net", "http://127.0.0.1:59998/model.pkl", "allow"),
        ],
        "NIKA-BUILTIN-FETCH-001",
    ),
    Case(
        "a tool that an agent may not use",
        "tools: ['nika:*', '!nika:write']",
        "{agent: {prompt: p, tools: ['nika:*']}}",
        [("tool", "nika:write", "deny")],
        "NIKA-SEC-004",
    ),
    Case(
        "a tool that an agent was not given",
        "tools: ['nika:write'], fs: {write: ['in/**']}",
        "{agent: {prompt: p, tools: ['nika:log']}}",
        [("tool", "nika:write", "deny")],
        "NIKA-SEC-002",
    ),
    Case(
        "a tool that an agent uses",
        "tools: ['nika:write'], fs: {write: ['in/**']}",
        "{agent: {prompt: p, tools: ['nika:write']}}",
        [("tool", "nika:write", "allow"), ("fs.write", "in/b", "allow")],
    ),
]


def workflow(case: Case | Open) -> str:
    return f"""\
nika: witness
model: xai/scripted
permits: {{{case.permits}}}
inputs: {{word: {{type: string, default: in/a}}}}
tasks:
  before: {{invoke: {{tool: "nika:jq", args: {{input: x, expression: '"./other"'}}}}}}
  t: {case.task}
"""


@pytest.fixture
def world(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    program(folder, "say", 'echo "$1" >> marks')
    for name in ("in", "out"):
        (folder / name).mkdir()
        (folder / name / "a").write_text("a", encoding="utf-8")
    monkeypatch.setenv("HERE", "1")
    model = Scripted(calls("nika:write", path="in/b", content="x"), says("done"))
    monkeypatch.setitem(MAKERS, "xai", lambda: model)
    return folder


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_decision_stands_in_the_journal(case: Case, world: Path) -> None:
    """Its plane, what was judged, how and why; after the start of its task and before the end."""
    run = nika_nb.run(workflow(case), vars=case.inputs)
    error = run.tasks["t"].error
    assert (error["code"] if error else "") == case.code
    own = [frame for frame in frames(newest(world)) if frame.get("task") == "t"]
    decisions = [frame for frame in own if frame["kind"] == "permit_checked"]
    assert [(frame["plane"], frame["gate"], frame["decision"]) for frame in decisions] == case.wants
    assert all(frame["why"] for frame in decisions)
    kinds = [frame["kind"] for frame in own]
    assert kinds.index("task_started") < kinds.index("permit_checked")
    assert kinds[-1] in ("task_completed", "task_failed")
    if case.code.startswith("NIKA-SEC"):
        assert not marks(world / "marks")
        assert not (world / "out" / "b").exists()


@dataclass(frozen=True)
class Open:
    """A task `t` with a law that its author opened. wants: the fields of its `lift` frames."""

    name: str
    permits: str
    task: str
    wants: list[dict[str, Any]]
    inputs: dict[str, Any] = field(default_factory=dict)


def let_in(way: str, value: Any, origin: str = "inputs.word") -> dict[str, Any]:
    return {"law": "taint", "because": "known", "from": origin, "way": way, "value_digest": digest(value)}


READS = "tools: ['nika:read'], fs: {read: ['in/**']}"
OPEN = [
    Open(
        "of a path",
        READS,
        invoke("nika:read", f"{{path: {WORD}}}", LIFT),
        [let_in("inputs.word → args.path", "in/a")],
    ),
    Open(
        "through a binding",
        READS,
        invoke("nika:read", "{path: '${{ with.p }}'}", f"with: {{p: {WORD}}}, {LIFT}"),
        [let_in("inputs.word → with.p → args.path", "in/a")],
    ),
    Open(
        "of a word of a command",
        "exec: ['./say']",
        exec_(f'["./say", a, {WORD}]', LIFT),
        [let_in("inputs.word → command[2]", "-c")],
        {"word": "-c"},
    ),
    Open(
        "once over all elements",
        "exec: ['./say']",
        exec_(f'["./say", "${{{{ item }}}}", {WORD}]', "for_each: {items: [1, 2, 3]}, " + LIFT),
        [let_in("inputs.word → command[2]", "x")],
        {"word": "x"},
    ),
    Open(
        "of an element",
        "exec: ['./say']",
        exec_('["./say", "${{ item }}"]', f"for_each: {{items: [{WORD}, b]}}, {LIFT}"),
        [let_in("inputs.word → item → command[1]", "x")],
        {"word": "x"},
    ),
    Open(
        "of what a task gave",
        "exec: ['./say']",
        exec_(
            '["./say", "${{ with.b }}"]',
            "with: {b: '${{ tasks.before.output }}'}, " + LIFT.replace("inputs.word", "with.b"),
        ),
        [let_in("with.b → command[1]", "./other", "with.b")],
    ),
    Open(
        "of code that is data",
        "tools: ['nika:fetch'], net: {http: ['127.0.0.1']}",
        invoke("nika:fetch", "{url: 'http://127.0.0.1:59998/model.pkl', mode: raw}", CODE),
        [{"law": "data-as-code", "because": "it is stored"}],
    ),
]


@pytest.mark.parametrize("case", OPEN, ids=lambda case: case.name)
def test_an_opened_law_stands_in_the_journal(case: Open, world: Path) -> None:
    """Which it was, why, what it let in by which way, and the digest of what that was."""
    nika_nb.run(workflow(case), vars=case.inputs)
    own = [frame for frame in frames(newest(world)) if frame.get("task") == "t"]
    fields = ("law", "because", "from", "way", "value_digest")
    lifts = [frame for frame in own if frame["kind"] == "lift"]
    assert [{name: frame[name] for name in fields if name in frame} for frame in lifts] == case.wants
    kinds = [frame["kind"] for frame in own]
    assert kinds.index("task_started") < kinds.index("lift") < kinds.index("permit_checked")


def test_no_digest_of_an_opened_value_tells_a_secret(world: Path) -> None:
    """From the digest of a short value it could be guessed."""
    text = workflow(OPEN[2]).replace("tasks:", "secrets: {k: {source: env, key: HERE}}\ntasks:", 1)
    nika_nb.run(text, vars={"word": "1"})
    [lift] = [frame for frame in frames(newest(world)) if frame["kind"] == "lift"]
    assert (lift["from"], "value_digest" in lift) == ("inputs.word", False)


def test_what_was_called_off_has_its_decisions_too(world: Path) -> None:
    """They were made when the task was dispatched, and stand before its end."""
    program(world, "say", "exec sleep 60")
    run = nika_nb.run(workflow(CASES[0]), background=True)
    wait_for(started(world, "t"), "the dispatch")
    run.cancel()
    run.wait()
    own = [frame["kind"] for frame in frames(newest(world)) if frame.get("task") == "t"]
    assert own[-4:] == ["task_started", "permit_checked", "permit_checked", "task_cancelled"]


REFUSED = {
    "NIKA-SEC-006": """\
nika: leak
permits: {exec: ["./say"]}
secrets: {k: {source: env, key: HERE}}
tasks:
  first: {exec: {command: ["./say", "first"]}}
  t: {after: {first: success}, exec: {command: ["./say", "${{ secrets.k }}"]}}
""",
    "NIKA-SEC-007": """\
nika: leak
permits: {exec: ["./say"]}
secrets: {k: {source: env, key: HERE, egress: [{to: exec}]}}
tasks:
  t: {exec: {command: ["./say", "${{ secrets.k }}"]}}
outputs: {said: "${{ tasks.t.output }}"}
""",
    "NIKA-SEC-014": """\
nika: consent
permits: {exec: ["./say"]}
tasks:
  first: {exec: {command: ["./say", "first"]}}
  ask: {after: {first: success}, invoke: {tool: "nika:prompt", args: {message: "Go on?"}}}
  t: {after: {ask: success}, exec: {command: ["./say", "t"]}}
""",
}


def by_terminal(path: Path, terminal: Terminal) -> str:
    done = terminal("run", path)
    assert (done.code, done.out) == (2, b"")
    return done.err


def by_stream(path: Path, terminal: Terminal) -> str:
    done = terminal("run", path, "--json")
    assert done.code == 2
    return str(done.outputs["errors"])


def by_python(path: Path, terminal: Terminal) -> str:
    with pytest.raises(CheckRefused) as refused:
        nika_nb.run(path)
    return str(refused.value)


@pytest.mark.parametrize("door", [by_terminal, by_stream, by_python])
@pytest.mark.parametrize("code", REFUSED)
def test_what_is_known_before_the_run_stops_it_there(
    world: Path, terminal: Terminal, code: str, door: Callable[[Path, Terminal], str]
) -> None:
    """A secret that would leak, a refusal that would stop nothing: no task starts and no file is made."""
    path = world / "w.nika.yaml"
    path.write_text(REFUSED[code], encoding="utf-8")
    assert code in door(path, terminal)
    assert not marks(world / "marks")
    assert not (world / ".nika").exists()
