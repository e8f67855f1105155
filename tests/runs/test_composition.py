"""One workflow calls another: typed, within both boundaries, in one journal, resumed like any task."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import nika_nb
from nika_nb.errors import CheckRefused, UsageError
from nika_nb.providers.registry import MAKERS
from nika_nb.runs.run import Run
from nika_nb.trace.reader import read
from nika_nb.trace.verify import verify
from tests.doors import (
    PATIENCE,
    alive,
    frames,
    hits,
    launch,
    marks,
    newest,
    nika,
    of,
    program,
    started,
    wait_for,
)
from tests.providers.scripted import Scripted, says
from tests.runs.crashing import Crasher

CHILD = """\
nika: child
permits: {exec: ["./say"]}
inputs: {word: {type: string, required: true}, times: {type: integer, default: 1}}
tasks:
  first: {exec: {command: ["./say", "first", "${{ inputs.word }}"]}}
  second: {with: {f: "${{ tasks.first.output }}"}, exec: {command: ["./say", "second", "${{ with.f }}!"]}}
  third: {exec: {command: ["./say", "third", "x"]}}
outputs:
  said: {value: "${{ tasks.second.output }}", type: string}
  times: {value: "${{ inputs.times }}", type: integer}
"""

PARENT = """\
nika: parent
permits: {exec: ["./say"]}
inputs: {word: {type: string, default: hello}}
tasks:
  call:
    invoke: {workflow: ./child.nika.yaml, args: {word: "${{ inputs.word }}"}}
    returns: {object: {said: string, times: integer}}
  after:
    with: {c: "${{ tasks.call.output }}"}
    exec: {command: ["./say", "after", "${{ with.c.said }}"]}
outputs: {said: "${{ tasks.after.output }}", call: "${{ tasks.call.output }}"}
"""

Write = Callable[..., Path]


@pytest.fixture
def write(folder: Path) -> Write:
    """Writes workflow files by name; their program leaves marks."""
    program(folder, "say", 'echo "$1" >> marks\nprintf %s "$2"')

    def texts(**named: str) -> Path:
        for name, text in named.items():
            (folder / f"{name}.nika.yaml").write_text(text, encoding="utf-8")
        return folder / "parent.nika.yaml"

    return texts


def told(path: Path, **wanted: Any) -> list[dict[str, Any]]:
    """The events of called workflows: {kind, by: (task, item, attempt), child, **fields} each."""
    found = []
    for frame, text in read(path).texts():
        if frame.kind == "nb_child" and text is not None:
            event = json.loads(text)
            by = (frame.get("task"), frame.get("item"), frame.get("attempt"))
            found.append({"kind": event["kind"], "by": by, "child": frame.get("child")} | event["fields"])
    return [event for event in found if all(event.get(name) == value for name, value in wanted.items())]


def called(path: Path) -> list[str]:
    """The kinds of the events of called workflows, in order."""
    return [event["kind"] for event in told(path)]


def trace_of(run: Run) -> Path:
    assert run.trace is not None
    return run.trace


def head_of(path: Path, task: str, attempt: int = 1) -> str:
    """The head of what a child said in one attempt, from its frames alone."""
    head = hashlib.sha256(b"nika-trace-v1").hexdigest()
    for frame, text in read(path).texts():
        if frame.kind == "nb_child" and (frame.get("task"), frame.get("attempt")) == (task, attempt):
            head = hashlib.sha256(f"{head}\n{text}".encode()).hexdigest()
    return head


# -- the call ----------------------------------------------------------------------------------


def test_the_childs_outputs_are_the_tasks_output(write: Write) -> None:
    """Bound to its typed inputs from `args:`, defaults included; what it declares comes back."""
    run = nika_nb.run(write(parent=PARENT, child=CHILD), vars={"word": "hi"})
    assert run.state == "completed", run
    assert run.outputs == {"said": "hi!", "call": {"said": "hi!", "times": 1}}
    assert marks(Path("marks")) == {"first": 1, "second": 1, "third": 1, "after": 1}


def test_everything_is_in_one_journal(write: Write) -> None:
    """The child's frames as they happen, its text after its caller's, what became of it at the end."""
    run = nika_nb.run(write(parent=PARENT, child=CHILD))
    path = trace_of(run)
    assert list(path.parent.iterdir()) == [path]
    assert verify(path).intact
    kinds = [frame["kind"] for frame in frames(path)]
    assert kinds[:3] == ["workflow_started", "nb_source_page", "nb_source_page"]
    assert read(path).sources() == {"parent.nika.yaml": PARENT, "./child.nika.yaml": CHILD}
    assert read(path).source == PARENT
    assert set(kinds[kinds.index("verb_invoked") + 1 : kinds.index("task_started")]) == {"nb_child"}
    events = told(path)
    assert {event["by"] for event in events} == {("call", None, 1)}
    assert {event["child"] for event in events} == {"child"}
    assert [e["task"] for e in events if e["kind"] == "task_completed"] in (
        ["first", "third", "second"],
        ["third", "first", "second"],
        ["first", "second", "third"],
    )
    assert any(event["kind"] == "permit_checked" and event["gate"] == "./say" for event in events)
    (ended,) = of(path, "task_completed", task="call")
    child = json.loads(ended["child"])
    assert (child["workflow"], child["outcome"]) == ("child", {"class": "success", "cause": "normal"})
    assert {len(child[name]) for name in ("semantic_hash", "plan_id", "chain_head")} == {64}
    (decision,) = of(path, "permit_checked", task="call")
    assert (decision["plane"], decision["gate"], decision["decision"]) == (
        "workflow",
        "./child.nika.yaml",
        "allow",
    )


def test_a_child_chains_what_it_says(write: Write) -> None:
    """Its head can be computed again from its frames alone."""
    path = trace_of(nika_nb.run(write(parent=PARENT, child=CHILD)))
    (ended,) = of(path, "task_completed", task="call")
    assert json.loads(ended["child"])["chain_head"] == head_of(path, "call")


def test_children_lie_beside_their_callers(
    write: Write, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Calls count from the file that calls; files and programs from where the run happens."""
    deep = folder / "deep" / "er"
    deep.mkdir(parents=True)
    middle = CHILD.replace("nika: child", "nika: middle").replace(
        '{exec: {command: ["./say", "third", "x"]}}', "{invoke: {workflow: er/leaf.nika.yaml}}"
    )
    (folder / "deep" / "middle.nika.yaml").write_text(middle)
    (deep / "leaf.nika.yaml").write_text(
        'nika: leaf\npermits: {exec: ["./say"]}\ntasks: {l: {exec: {command: ["./say", "leaf", "x"]}}}\n'
    )
    parent = write(parent=PARENT.replace("./child.nika.yaml", "deep/middle.nika.yaml"))
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    shutil.copy(folder / "say", elsewhere / "say")
    monkeypatch.chdir(elsewhere)
    run = nika_nb.run(parent)
    assert run.state == "completed", run
    assert marks(elsewhere / "marks")["leaf"] == 1
    assert list(read(trace_of(run)).sources()) == [
        "parent.nika.yaml",
        "deep/er/leaf.nika.yaml",
        "deep/middle.nika.yaml",
    ]
    grand = [frame for frame in of(trace_of(run), "nb_child") if "within" in frame]
    assert {(f["task"], f["child"], f["within"]) for f in grand} == {("call", "leaf", '[["third",null,1]]')}


def test_a_cell_calls_beside_its_notebook(write: Write, folder: Path) -> None:
    """A text without a file: its folder is where it runs."""
    write(child=CHILD)
    assert nika_nb.run(PARENT).state == "completed"


def test_what_a_child_costs_its_caller_costs(write: Write) -> None:
    """Tokens of the child are the task's, and the run's."""
    child = "nika: child\nmodel: mock/echo\npermits: {}\ntasks:\n"
    child += "  a: {infer: {prompt: one}}\n  b: {infer: {prompt: two}}\n"
    run = nika_nb.run(
        write(parent="nika: p\ntasks: {c: {invoke: {workflow: ./child.nika.yaml}}}\n", child=child)
    )
    (ended,) = of(trace_of(run), "task_completed", task="c")
    inner = sum(event["tokens"] for event in told(trace_of(run), kind="task_completed"))
    assert ended["tokens"] == inner > 0
    (end,) = of(trace_of(run), "workflow_completed")
    assert (end["total_tokens"], end["unpriced_calls"]) == (inner, 2)


def test_a_model_for_the_whole_run_reaches_the_child(write: Write) -> None:
    """`--model` does; the caller's own default does not."""
    child = "nika: child\nmodel: openai/gpt-x\npermits: {}\ntasks: {a: {infer: {prompt: one}}}\n"
    parent = write(
        parent="nika: p\nmodel: mock/echo\ntasks: {c: {invoke: {workflow: ./child.nika.yaml}}}\n", child=child
    )
    run = nika_nb.run(parent, model="mock/echo")
    assert run.state == "completed"
    assert told(trace_of(run), kind="task_completed")[0]["model"] == "mock/echo"
    with pytest.raises(UsageError, match=r"\./child\.nika\.yaml: `a`: "):
        nika_nb.run(parent)


def test_a_childs_costs_count_against_the_cap(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """As they come: the child starts nothing more, and neither does its caller."""
    provider = Scripted(says("ok", cost=0.6))
    monkeypatch.setitem(MAKERS, "xai", lambda: provider)
    tasks = "\n".join(
        f"  t{n}: {{{'' if not n else f'after: {{t{n - 1}: success}}, '}infer: {{prompt: go}}}}"
        for n in range(4)
    )
    child = f"nika: child\nmodel: xai/house\npermits: {{}}\ntasks:\n{tasks}\n"
    parent = "nika: p\ntasks:\n  c: {invoke: {workflow: ./child.nika.yaml}}\n"
    parent += "  d: {invoke: {tool: 'nika:log', args: {message: never}}, after: {c: terminal}}\n"
    path = write(parent=parent, child=child)
    run = nika_nb.run(path, max_cost_usd=1)
    assert run.state == "failed"
    assert len(provider.requests) == 2
    (ended,) = of(trace_of(run), "task_cancelled", task="c")
    assert (ended["note"], ended["cost_usd"]) == ("over budget", 1.2)
    assert json.loads(ended["child"])["outcome"] == {"class": "cancelled", "cause": "budget"}
    assert run.tasks["d"].state == "cancelled"
    more = nika_nb.run(path, resume=run.trace, max_cost_usd=2)
    assert more.state == "completed", more
    assert len(provider.requests) == 4, "what the child had paid for is not paid again"


def test_a_cap_is_nothing_to_recover_from(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """A call that the cap cut off, however deep, has no end: its recovery would stand in every resume."""
    provider = Scripted(says("ok", cost=0.6))
    monkeypatch.setitem(MAKERS, "xai", lambda: provider)
    child = "nika: child\nmodel: xai/house\npermits: {}\ntasks:\n"
    child += "  t: {for_each: {items: [1, 2, 3], max_parallel: 1}, infer: {prompt: go}}\n"
    child += 'outputs: {o: "${{ tasks.t.output }}"}\n'
    middle = "nika: middle\npermits: {}\ntasks:\n  m: {invoke: {workflow: ./child.nika.yaml}, "
    middle += 'on_error: {recover: {o: m}}}\noutputs: {o: "${{ tasks.m.output.o }}"}\n'
    parent = "nika: p\ntasks:\n  c: {invoke: {workflow: ./middle.nika.yaml}, on_error: {recover: {o: c}}}\n"
    path = write(parent=parent + 'outputs: {o: "${{ tasks.c.output.o }}"}\n', middle=middle, child=child)
    run = nika_nb.run(path, max_cost_usd=1)
    assert (run.state, run.tasks["c"].state) == ("failed", "cancelled")
    more = nika_nb.run(path, resume=run.trace, max_cost_usd=2)
    assert more.outputs == {"o": ["ok", "ok", "ok"]}
    assert len(provider.requests) == 3


# -- authority ---------------------------------------------------------------------------------


def test_nothing_flows_down(write: Write) -> None:
    """A child without permits may do nothing, however much its caller may: refused before it runs."""
    with pytest.raises(CheckRefused, match="NIKA-COMP-002"):
        nika_nb.run(write(parent=PARENT, child=CHILD.replace('permits: {exec: ["./say"]}\n', "")))


DYNAMIC = """\
nika: child
permits: {exec: ["./say"], fs: {read: ["**"]}, tools: ["nika:read"]}
inputs: {path: {type: string, required: true}}
tasks:
  look: {invoke: {tool: "nika:read", args: {path: "${{ inputs.path }}"}}}
outputs: {text: "${{ tasks.look.output }}"}
"""


@pytest.mark.parametrize(
    ("permits", "allowed"),
    [
        ('permits: {fs: {read: ["open/*"]}, tools: ["nika:read"]}', True),
        ('permits: {fs: {read: ["shut/*"]}, tools: ["nika:read"]}', False),
        ('permits: {fs: {read: ["open/*", "!open/a"]}, tools: ["nika:read"]}', False),
    ],
)
def test_the_run_holds_both_boundaries(write: Write, folder: Path, permits: str, allowed: bool) -> None:
    """What only the run knows is judged by the child's boundary and by its caller's."""
    (folder / "open").mkdir()
    (folder / "open" / "a").write_text("read me")
    parent = f"nika: p\n{permits}\ninputs: {{path: {{type: string, required: true}}}}\ntasks:\n"
    parent += '  c: {invoke: {workflow: ./child.nika.yaml, args: {path: "${{ inputs.path }}"}}}\n'
    run = nika_nb.run(write(parent=parent, child=DYNAMIC), vars={"path": "open/a"})
    assert run.state == ("completed" if allowed else "failed"), run
    if not allowed:
        error = run.tasks["c"].error
        assert error is not None
        assert error["code"] == "NIKA-SEC-004"
        assert "the calling workflow may not do it" in error["message"]
        refused = told(trace_of(run), kind="permit_checked", decision="deny")
        assert [decision["plane"] for decision in refused] == ["regate", "fs.read"]


def test_a_childs_secrets_are_masked_in_its_callers_journal(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where only the child declares them."""
    monkeypatch.setenv("CHILDS_TOKEN", "s3cr3t-of-the-child")
    child = """\
nika: child
permits: {exec: ["./say"]}
secrets: {token: {source: env, key: CHILDS_TOKEN, egress: [{to: exec}]}}
tasks: {a: {exec: {command: ["./say", "a", "${{ secrets.token }}"]}}}
"""
    parent = "nika: p\npermits: {exec: ['./say']}\ntasks: {c: {invoke: {workflow: ./child.nika.yaml}}}\n"
    run = nika_nb.run(write(parent=parent, child=child))
    assert run.state == "completed", run
    assert b"s3cr3t-of-the-child" not in trace_of(run).read_bytes()
    (ended,) = told(trace_of(run), kind="task_completed")
    assert "a secret stands in the output" in ended["not_resumable"]


# -- failure -----------------------------------------------------------------------------------


FAILING = CHILD.replace('["./say", "second", "${{ with.f }}!"]', '["./fail", "second"]').replace(
    '["./say"]}', '["./say", "./fail"]}'
)


FAILED = {"class": "failure", "cause": "verb_error"}


def test_a_child_that_was_cut_off_is_recorded_all_the_same(write: Write) -> None:
    """Which it was, and that it was called off; its head is that of the frames which it left."""
    parent = """\
nika: p
permits: {exec: [sleep]}
tasks: {call: {timeout: "200ms", invoke: {workflow: ./child.nika.yaml}}}
"""
    child = 'nika: child\npermits: {exec: [sleep]}\ntasks: {long: {exec: {command: [sleep, "60"]}}}\n'
    path = trace_of(nika_nb.run(write(parent=parent, child=child)))
    (ended,) = of(path, "task_failed", task="call")
    recorded = json.loads(ended["child"])
    assert json.loads(ended["outcome"])["cause"] == "timeout"
    assert (recorded["workflow"], recorded["outcome"]) == (
        "child",
        {"class": "cancelled", "cause": "operator"},
    )
    assert recorded["chain_head"] == head_of(path, "call")


def test_a_child_that_timed_out_says_so_by_its_cause(write: Write) -> None:
    """The cause is that of the task by which it failed."""
    parent = "nika: p\npermits: {exec: [sleep]}\ntasks: {call: {invoke: {workflow: ./child.nika.yaml}}}\n"
    child = (
        "nika: child\npermits: {exec: [sleep]}\n"
        'tasks: {long: {timeout: "100ms", exec: {command: [sleep, "60"]}}}\n'
    )
    (ended,) = of(trace_of(nika_nb.run(write(parent=parent, child=child))), "task_failed", task="call")
    assert json.loads(ended["child"])["outcome"] == {"class": "failure", "cause": "timeout"}


def test_of_several_attempts_the_last_child_is_recorded(write: Write, folder: Path) -> None:
    """A child is one of an attempt: what is recorded is that of the last."""
    program(folder, "fail", "exit 7")
    parent = PARENT.replace('exec: ["./say"]', 'exec: ["./say", "./fail"]').replace(
        "    returns:", "    retry: {max_attempts: 2, backoff_ms: 1, on_codes: [NIKA-EXEC-001]}\n    returns:"
    )
    path = trace_of(nika_nb.run(write(parent=parent, child=FAILING)))
    (ended,) = of(path, "task_failed", task="call")
    assert json.loads(ended["child"])["chain_head"] == head_of(path, "call", attempt=2)


def test_its_failure_is_the_tasks_failure(write: Write, folder: Path) -> None:
    """Code and sentence are kept; which task of which workflow it was stands beside them."""
    program(folder, "fail", "echo broken >&2; exit 7")
    parent = PARENT.replace('exec: ["./say"]', 'exec: ["./say", "./fail"]')
    run = nika_nb.run(write(parent=parent, child=FAILING))
    assert run.state == "failed"
    error = run.tasks["call"].error
    assert error is not None
    assert (error["code"], error["task_id"]) == ("NIKA-EXEC-001", "call")
    assert error["message"] == "command exited with status 7: broken"
    assert error["details"]["exit_code"] == 7
    child = error["details"]["child"]
    assert (child["workflow"], child["task"], child["outcome"]) == ("child", "second", FAILED)
    (ended,) = of(trace_of(run), "task_failed", task="call")
    assert json.loads(ended["child"])["outcome"] == FAILED
    assert run.tasks["after"].state == "cancelled"
    assert marks(Path("marks"))["third"] == 1, "the child's other tasks come to their ends"


def test_a_failure_is_retried_and_recovered_like_any_other(write: Write, folder: Path) -> None:
    """A whole new child per attempt; `on_error` sees the child's code."""
    program(folder, "fail", 'echo "$1" >> marks; exit 7')
    parent = PARENT.replace('exec: ["./say"]', 'exec: ["./say", "./fail"]').replace(
        "    returns: {object: {said: string, times: integer}}\n",
        "    retry: {max_attempts: 3, backoff_ms: 1, on_codes: [NIKA-EXEC-001]}\n"
        "    on_error: {recover: {said: recovered, times: 0}, on_codes: [NIKA-EXEC-001]}\n",
    )
    run = nika_nb.run(write(parent=parent, child=FAILING))
    assert run.outputs["said"] == "recovered"
    assert marks(Path("marks")) == {"first": 3, "second": 3, "third": 3, "after": 1}
    assert {event["by"][2] for event in told(trace_of(run))} == {1, 2, 3}


def test_arguments_are_judged_by_the_run_too(write: Write) -> None:
    """What the check could not know: the child is not begun."""
    parent = """\
nika: p
permits: {exec: ["./say"]}
tasks:
  any: {exec: {command: ["./say", "any", "[1]"], decode: json}}
  c:
    with: {x: "${{ tasks.any.output }}"}
    invoke: {workflow: ./child.nika.yaml, args: {word: "${{ with.x }}"}}
"""
    run = nika_nb.run(write(parent=parent, child=CHILD))
    error = run.tasks["c"].error
    assert error is not None
    assert error["code"] == "NIKA-COMP-004"
    assert "input `word` does not fit its type" in error["message"]
    assert marks(Path("marks")) == {"any": 1}
    assert called(trace_of(run)) == []


def test_outputs_that_do_not_fit_fail_the_task(write: Write) -> None:
    """The child's own `outputs:` types hold, with their own code."""
    child = CHILD.replace('times: {value: "${{ inputs.times }}", type: integer}',
                          'times: {value: "${{ tasks.first.output }}", type: integer}')  # fmt: skip
    run = nika_nb.run(write(parent=PARENT, child=child))
    error = run.tasks["call"].error
    assert error is not None
    assert error["code"] == "NIKA-VAR-009"
    assert error["details"]["child"]["outcome"] == FAILED


def test_there_is_no_registry(write: Write) -> None:
    """A pinned reference is sound, and nothing here can resolve it."""
    with pytest.raises(UsageError, match="no registry is part of this version"):
        nika_nb.run("nika: p\ntasks: {c: {invoke: {workflow: 'registry:acme/audit@1.2.0'}}}\n")


def test_calls_are_eight_deep(write: Write, folder: Path) -> None:
    """The ninth is refused by the run, and the failure comes up through all of them."""
    leaf = "nika: l\npermits: {}\ntasks: {t: {invoke: {tool: 'nika:log', args: {message: deep}}}}\n"

    def chain(depth: int) -> Run:
        for level in range(1, depth):
            text = (
                f"nika: l\npermits: {{}}\ntasks: {{t: {{invoke: {{workflow: ./c{level + 1}.nika.yaml}}}}}}\n"
            )
            write(**{f"c{level}": text})
        write(**{f"c{depth}": leaf})
        return nika_nb.run("nika: top\npermits: {}\ntasks: {t: {invoke: {workflow: ./c1.nika.yaml}}}\n")

    assert chain(8).state == "completed"
    run = chain(9)
    error = run.tasks["t"].error
    assert error is not None
    assert error["code"] == "NIKA-SEC-003"
    depth, child = 0, error["details"].get("child")
    while child:
        depth, child = depth + 1, child.get("child")
    assert depth == 8


def test_a_fan_out_of_calls(write: Write) -> None:
    """A child per item, each with its item in the journal."""
    parent = """\
nika: p
permits: {exec: ["./say"]}
tasks:
  each:
    for_each: {items: [a, b, c]}
    invoke: {workflow: ./child.nika.yaml, args: {word: "${{ item }}"}}
    extract: {said: .said}
outputs: {said: "${{ tasks.each.said }}"}
"""
    run = nika_nb.run(write(parent=parent, child=CHILD))
    assert run.outputs == {"said": ["a!", "b!", "c!"]}
    assert {event["by"] for event in told(trace_of(run))} == {("each", n, 1) for n in range(3)}
    assert all("child" in frame for frame in of(trace_of(run), "nb_item_completed"))


def test_narrow_runs_still_call(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """A call takes no turn of its own: it works also where only one task may work at a time."""
    monkeypatch.setenv("NIKA_NB_MAX_PARALLEL", "1")
    assert nika_nb.run(write(parent=PARENT, child=CHILD)).state == "completed"


# -- resume ------------------------------------------------------------------------------------


def test_a_call_is_recalled_by_what_it_means(write: Write) -> None:
    """Layout and comments of the child re-run nothing; its meaning does, and the reason names it."""
    parent = write(parent=PARENT, child=CHILD)
    first = nika_nb.run(parent)
    write(child="# a comment\n" + CHILD.replace("nika: child", "nika:   child"))
    again = nika_nb.run(parent, resume=first.trace)
    assert hits(trace_of(again)) == {"call", "after"}
    assert called(trace_of(again)) == []
    write(child=CHILD.replace('"third", "x"', '"third", "y"'))
    edited = nika_nb.run(parent, resume=first.trace)
    assert hits(trace_of(edited)) == {"after"}, "its outputs are the same"
    (began,) = of(trace_of(edited), "task_started", task="call")
    assert (began["reason"], began["parts"]) == ("definition", '["workflow ./child.nika.yaml"]')
    ran = {event["task"] for event in told(trace_of(edited), kind="task_started")}
    assert ran == {"third"}, "inside, only the edited task ran"
    assert marks(Path("marks")) == {"first": 1, "second": 1, "third": 2, "after": 1}


def test_a_grandchilds_edit_counts(write: Write) -> None:
    """The whole closure is what a call is."""
    call = "{workflow: ./child.nika.yaml, args: {word: w}}"
    middle = f'nika: m\npermits: {{exec: ["./say"]}}\ntasks: {{t: {{invoke: {call}}}}}\n'
    parent = write(
        parent="nika: p\npermits: {exec: ['./say']}\ntasks: {c: {invoke: {workflow: ./middle.nika.yaml}}}\n",
        middle=middle,
        child=CHILD,
    )
    first = nika_nb.run(parent)
    write(child=CHILD.replace('"third", "x"', '"third", "y"'))
    again = nika_nb.run(parent, resume=first.trace)
    assert hits(trace_of(again)) == set()
    assert marks(Path("marks")) == {"first": 1, "second": 1, "third": 2}


def test_a_crash_inside_a_child_loses_nothing_that_settled(write: Write, crasher: Crasher) -> None:
    """What the child had settled is recalled inside the call; the rest of it runs."""
    ordered = CHILD.replace("third: {exec", "third: {after: {second: success}, exec")
    parent = write(parent=PARENT, child=ordered)
    whole = crasher.run(parent)
    at = next(
        number
        for number, frame in enumerate(frames(Path(whole["trace"])), 1)
        if frame["kind"] == "nb_child"
        and '"task_completed"' in frame["event"]
        and '"task":"first"' in frame["event"]
    )
    Path(whole["trace"]).unlink()
    Path("marks").unlink()
    assert crasher.run(parent, lines=at)["status"] == -signal.SIGKILL
    before = marks(Path("marks"))
    run = nika_nb.run(parent, resume=True)
    assert run.state == "completed", run
    assert run.outputs["said"] == "hello!"
    assert {event["task"] for event in told(trace_of(run), kind="task_cache_hit")} >= {"first"}
    assert marks(Path("marks"))["first"] == before["first"] == 1
    again = nika_nb.run(parent, resume=True)
    assert hits(trace_of(again)) == {"call", "after"}


def test_from_runs_the_whole_child_again(write: Write) -> None:
    """A forced call recalls nothing inside either."""
    parent = write(parent=PARENT, child=CHILD)
    first = nika_nb.run(parent)
    again = nika_nb.run(parent, resume=first.trace, from_="call")
    assert "task_cache_hit" not in called(trace_of(again))
    assert marks(Path("marks"))["first"] == 2


def test_a_childs_large_output_survives(write: Write, folder: Path) -> None:
    """Beyond the bound of a line: paged, and recalled after the call itself had to run again."""
    program(folder, "say", 'echo "$1" >> marks\nhead -c 3000000 /dev/zero | tr "\\0" q')
    large = CHILD.replace(
        '["./say", "second", "${{ with.f }}!"]', '["./say", "second"], stdin: "${{ with.f }}"'
    )
    parent = PARENT.replace('["./say", "after", "${{ with.c.said }}"]', '["./say", "after"]')
    parent = write(parent=parent.replace("with: {c", "with: {d"), child=large)
    first = nika_nb.run(parent)
    assert verify(trace_of(first)).intact
    assert len(first.outputs["call"]["said"]) == 3_000_000
    write(child=large.replace('"third", "x"', '"third", "y"'))
    again = nika_nb.run(parent, resume=first.trace)
    assert again.outputs == first.outputs
    assert marks(Path("marks")) == {"first": 1, "second": 1, "third": 2, "after": 1}


# -- questions ---------------------------------------------------------------------------------


ASKING = """\
nika: asking
permits: {exec: ["./say"]}
inputs: {what: {type: string, default: it}}
tasks:
  prep: {exec: {command: ["./say", "prep", "x"]}}
  ask: {after: {prep: success}, invoke: {tool: "nika:prompt", args: {message: "Do ${{ inputs.what }}?"}}}
  act:
    with: {go: "${{ tasks.ask.output }}"}
    when: ${{ with.go == true }}
    exec: {command: ["./say", "act", "done"]}
outputs: {went: "${{ tasks.ask.output }}"}
"""

CALLS_ASKING = """\
nika: parent
permits: {exec: ["./say"]}
tasks:
  one: {invoke: {workflow: ./asking.nika.yaml, args: {what: this}}}
  each:
    for_each: {items: [x, y]}
    invoke: {workflow: ./asking.nika.yaml, args: {what: "${{ item }}"}}
  then: {after: {one: success}, exec: {command: ["./say", "then", "x"]}}
outputs: {one: "${{ tasks.one.output }}", each: "${{ tasks.each.output }}"}
"""


def test_a_question_in_a_child_pauses_the_run(write: Write) -> None:
    """Its key says where it is asked; it lists what waits inside and outside; siblings finish."""
    run = nika_nb.run(write(parent=CALLS_ASKING, asking=ASKING))
    assert run.state == "paused", run
    assert [prompt.key for prompt in run.prompts] == ["one/ask", "each[0]/ask", "each[1]/ask"]
    assert [prompt.message for prompt in run.prompts] == ["Do this?", "Do x?", "Do y?"]
    assert run.prompts[0].gates == ("act", "then")
    assert run.prompts[0].effects == ("exec · ./say act done", "exec · ./say then x")
    assert marks(Path("marks")) == {"prep": 3}


def test_answers_go_where_they_are_meant(write: Write) -> None:
    """One after the other, in any order; nothing that had settled inside runs again."""
    run = nika_nb.run(write(parent=CALLS_ASKING, asking=ASKING))
    run.answer({"each[1]/ask": "no"})
    assert [prompt.key for prompt in run.prompts] == ["one/ask", "each[0]/ask"]
    with pytest.raises(UsageError, match="no open prompt is called `ask`"):
        run.answer({"ask": "yes"})
    run.answer({"one/ask": "yes", "each[0]/ask": True})
    assert run.state == "completed", run
    assert run.outputs == {"one": {"went": True}, "each": [{"went": True}, {"went": False}]}
    assert marks(Path("marks")) == {"prep": 3, "act": 2, "then": 1}


def test_a_question_tells_what_a_call_behind_it_may_do(write: Write) -> None:
    """The effects of the called workflow stand among those that wait for the answer."""
    parent = """\
nika: p
permits: {exec: ["./say"]}
tasks:
  ask: {invoke: {tool: "nika:prompt", args: {message: "Go?"}}}
  call:
    with: {go: "${{ tasks.ask.output }}"}
    when: ${{ with.go == true }}
    invoke: {workflow: ./child.nika.yaml, args: {word: w}}
"""
    run = nika_nb.run(write(parent=parent, child=CHILD))
    (prompt,) = run.prompts
    assert prompt.effects[0] == "workflow · ./child.nika.yaml"
    assert "exec · ./say third x" in prompt.effects


def test_a_paused_call_goes_on_from_its_pinned_text(write: Write, folder: Path) -> None:
    """Whatever became of the files: what was asked is what goes on."""
    parent = write(parent=CALLS_ASKING.replace("items: [x, y]", "items: [x]"), asking=ASKING)
    path = trace_of(nika_nb.run(parent))
    (folder / "asking.nika.yaml").write_text(ASKING.replace('"act", "done"', '"act", "something else"'))
    parent.unlink()
    run = nika_nb.attach(path)
    assert [prompt.key for prompt in run.prompts] == ["one/ask", "each[0]/ask"]
    (folder / "asking.nika.yaml").unlink()
    run.answer({"one/ask": "yes", "each[0]/ask": "no"})
    assert run.state == "completed", run
    assert told(trace_of(run), kind="task_completed", task="act")[0]["output"] == '"done"'


def test_the_terminal_answers_a_child(write: Write, folder: Path) -> None:
    """By the key that it was told."""
    write(parent=CALLS_ASKING.replace("items: [x, y]", "items: [x]"), asking=ASKING)
    paused = nika("run", "parent.nika.yaml", cwd=folder)
    assert paused.code == 4
    assert "one/ask=yes" in paused.err
    done = nika("answer", newest(folder), "one/ask=yes", "each[0]/ask=no", cwd=folder)
    assert done.outputs == {"one": {"went": True}, "each": [{"went": False}]}


def test_answers_of_the_edit_door(write: Write, folder: Path) -> None:
    """Given with a fresh run or a resume; a decided one is not taken back; an unknown one is refused."""
    write(parent=CALLS_ASKING.replace("items: [x, y]", "items: [x]"), asking=ASKING)
    fresh = nika("run", "parent.nika.yaml", "--answer", "one/ask=yes", cwd=folder)
    assert fresh.code == 4
    taken = nika("run", "parent.nika.yaml", "--resume", "--answer", "one/ask=no", cwd=folder)
    assert taken.code == 3
    unknown = nika("run", "parent.nika.yaml", "--answer", "one/nobody=no", cwd=folder)
    assert unknown.code == 3
    assert "its prompts: one/ask, each/ask" in unknown.err
    done = nika("run", "parent.nika.yaml", "--resume", "--answer", "each[0]/ask=no", cwd=folder)
    assert done.outputs == {"one": {"went": True}, "each": [{"went": False}]}


def test_an_edited_question_in_a_child_asks_again(write: Write, folder: Path) -> None:
    """Today's text runs through the edit door, and an answer to another text is refused."""
    parent = write(
        parent="nika: p\npermits: {exec: ['./say']}\ntasks: {c: {invoke: {workflow: ./asking.nika.yaml}}}\n",
        asking=ASKING,
    )
    path = trace_of(nika_nb.run(parent))
    write(asking=ASKING.replace("Do ${{", "Really do ${{"))
    run = nika_nb.run(parent, resume=path)
    assert [prompt.message for prompt in run.prompts] == ["Really do it?"]
    assert marks(Path("marks")) == {"prep": 1}


def test_failed_siblings_inside_stay_failed(write: Write, folder: Path) -> None:
    """An answer retries nothing behind anyone's back, also not in a child."""
    program(folder, "fail", "echo fail >> marks; exit 7")
    asking = ASKING.replace('["./say"]}', '["./say", "./fail"]}').replace(
        "outputs:", '  bad: {exec: {command: ["./fail"]}}\noutputs:'
    )
    parent = "nika: p\npermits: {exec: ['./say', './fail']}\n"
    parent += "tasks: {c: {invoke: {workflow: ./asking.nika.yaml}}}\n"
    run = nika_nb.run(write(parent=parent, asking=asking))
    assert run.state == "paused"
    run.answer("yes")
    assert run.state == "failed"
    assert marks(Path("marks")) == {"prep": 1, "fail": 1, "act": 1}
    assert run.tasks["c"].error is not None
    assert run.tasks["c"].error["details"]["child"]["task"] == "bad"


# -- ends --------------------------------------------------------------------------------------


SLEEPING = 'nika: s\npermits: {exec: ["./sleeper"]}\ntasks: {t: {exec: {command: ["./sleeper"]}}}\n'
CALLS_SLEEPING = (
    'nika: p\npermits: {exec: ["./sleeper"]}\ntasks:\n  c: {TIMEOUTinvoke: {workflow: ./s.nika.yaml}}\n'
)


def sleeper(folder: Path) -> None:
    program(folder, "sleeper", "echo $$ > pid; sleep 600 & wait")


def pid_of(folder: Path) -> int:
    path = folder / "pid"
    wait_for(lambda: path.exists() and path.read_text().strip(), "the sleeper's id")
    return int(path.read_text())


def test_a_timeout_reaches_the_childs_processes(write: Write, folder: Path) -> None:
    """The task fails by its own timeout; the child is told that it was called off."""
    sleeper(folder)
    run = nika_nb.run(write(parent=CALLS_SLEEPING.replace("TIMEOUT", 'timeout: "700ms", '), s=SLEEPING))
    assert run.tasks["c"].error is not None
    assert run.tasks["c"].error["code"] == "NIKA-TIMEOUT-001"
    assert not alive(pid_of(folder))
    assert called(trace_of(run))[-1] == "workflow_cancelled"


def test_a_limit_holds_inside_on_the_virtual_clock(write: Write) -> None:
    """The caller's limit ends the child's long wait, in no time."""
    child = "nika: s\npermits: {}\ntasks: {t: {invoke: {tool: 'nika:wait', args: {duration: 1h}}}}\n"
    parent = CALLS_SLEEPING.replace("TIMEOUT", 'timeout: "5m", ').replace(
        "permits", "run: {entropy: {seeded: 1}, clock: virtual}\npermits"
    )
    run = nika_nb.run(write(parent=parent, s=child))
    assert run.tasks["c"].error is not None
    assert run.tasks["c"].error["code"] == "NIKA-TIMEOUT-001"
    assert run.tasks["c"].duration_ms == 300_000


def test_an_interrupt_reaches_the_childs_processes(write: Write, folder: Path) -> None:
    """Cancelled from outside: the group is gone, the journal ends."""
    sleeper(folder)
    write(parent=CALLS_SLEEPING.replace("TIMEOUT", ""), s=SLEEPING)
    engine = launch("run", "parent.nika.yaml", cwd=folder)
    pid = pid_of(folder)
    os.kill(engine.pid, signal.SIGINT)
    assert engine.wait(PATIENCE) == 130
    assert not alive(pid)
    assert frames(newest(folder))[-1]["kind"] == "workflow_cancelled"


def test_a_killed_engines_child_is_swept_and_told(write: Write, folder: Path) -> None:
    """What the child had running at the crash is looked for by its caller's resume."""
    sleeper(folder)
    write(parent=CALLS_SLEEPING.replace("TIMEOUT", ""), s=SLEEPING)
    engine = launch("run", "parent.nika.yaml", cwd=folder)
    trace = wait_for(started(folder, "c"), "the call")
    wait_for(lambda: "verb_invoked" in called(trace), "the child's own witness")
    pid = pid_of(folder)
    os.kill(engine.pid, signal.SIGKILL)
    engine.wait(PATIENCE)
    wait_for(lambda: not alive(pid), "the end of the sleeper")
    program(folder, "sleeper", "echo done")
    done = nika("run", "parent.nika.yaml", "--resume", cwd=folder)
    assert done.code == 0
    assert "`c/t` was" in done.err


def test_a_reproducible_run_has_reproducible_children(write: Write, folder: Path) -> None:
    """One clock and one seed: the caller's, whatever the child declares."""
    child = CHILD.replace("inputs:", "run: {entropy: ambient, clock: system}\ninputs:")
    parent = PARENT.replace("inputs:", "run: {entropy: {seeded: 5}, clock: virtual}\ninputs:")
    write(parent=parent, child=child)
    journals = [trace_of(nika_nb.run(folder / "parent.nika.yaml")).read_bytes() for _ in range(2)]
    assert journals[0] == journals[1]
    assert b"pgid" not in journals[0]


# -- the public examples -----------------------------------------------------------------------


@pytest.mark.parametrize("name", ["10-compose-child", "10-compose-pipeline"])
def test_the_examples_run(conformance: Path, folder: Path, name: str) -> None:
    """As their files say, offline."""
    for path in (conformance / "examples").glob("10-*.yaml"):
        shutil.copy(path, folder)
    run = nika_nb.run(folder / f"{name}.nika.yaml")
    assert run.state == "completed", run
    assert "brief" in run.outputs or "summary" in run.outputs


@pytest.mark.parametrize(
    ("name", "code"),
    [("child-static-echo", None), ("parent-child-acyclic", None), ("self-launch-cycle", "NIKA-COMP-003")],
)
def test_the_header_corpus(conformance: Path, folder: Path, name: str, code: str | None) -> None:
    """Three files with what becomes of them in their first line."""
    for path in (conformance / "composition").glob("*.yaml"):
        shutil.copy(path, folder)
    path = folder / f"{name}.nika.yaml"
    assert ("exit 0" if code is None else code) in path.read_text().splitlines()[0]
    if code is None:
        assert nika_nb.run(path).state == "completed"
    else:
        with pytest.raises(CheckRefused, match=code):
            nika_nb.run(path)
