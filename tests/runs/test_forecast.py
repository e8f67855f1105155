"""What a resume would do, told before it does it: and the resume then does that."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, note
from hypothesis import strategies as st

import nika_nb
from nika_nb.board.forecast import Ceiling, Forecast, TaskForecast
from nika_nb.errors import CheckRefused, NikaError, Source, UsageError
from nika_nb.language.load import load
from nika_nb.runs.run import Run
from nika_nb.runs.widening import widened
from nika_nb.tables import TABLES
from tests.doors import Terminal, program, traces
from tests.runs.crashing import Crasher
from tests.runs.foretelling import assert_came_true
from tests.runs.graphs import drawn
from tests.runs.test_gate_algebra import CHANCE, FEW, broken_off, staged

GRAPH = """\
nika: graph
model: mock/echo
permits: {exec: ["./say"], tools: ["nika:prompt"]}
inputs:
  topic: {type: string, default: tea}
  rows: {type: {array: string}, default: [a, b, c]}
  gate: {type: bool, default: true}
tasks:
  up: {exec: {command: ["./say", "up", "${{ inputs.topic }}"]}, extract: {whole: "."}}
  down: {with: {u: "${{ tasks.up.whole }}"}, exec: {command: ["./say", "down", "${{ with.u }}"]}}
  behind: {after: {up: success}, exec: {command: ["./say", "behind"]}}
  each: {for_each: {items: "${{ inputs.rows }}"}, exec: {command: ["./say", "${{ item }}"]}}
  sum: {with: {e: "${{ tasks.each.output }}"}, exec: {command: ["./say", "sum", "${{ with.e }}"]}}
  over:
    with: {e: "${{ tasks.each.output }}"}
    for_each: {items: "${{ with.e }}"}
    exec: {command: ["./say", "o"]}
  gated: {with: {g: "${{ inputs.gate }}"}, when: "${{ with.g == true }}", exec: {command: ["./say", "gated"]}}
  looks: {with: {s: "${{ tasks.gated.status }}"}, exec: {command: ["./say", "${{ with.s }}"]}}
  saves: {after: {up: failure}, exec: {command: ["./say", "saves"]}}
  tidy: {after: {behind: unwind}, exec: {command: ["./say", "tidy"]}}
outputs: {all: "${{ tasks.sum.output }}"}
"""


@dataclass(frozen=True)
class Case:
    """A change, and who meets which fate; everyone else is skipped, but for what is idle anyway."""

    name: str
    old: str = ""
    new: str = ""
    told: dict[str, str] = field(default_factory=dict)
    why: dict[str, str] = field(default_factory=dict)
    request: dict[str, Any] = field(default_factory=dict)


IDLE = {"saves": "idle"}
CASES = [
    Case("nothing"),
    Case(
        "an input",
        told={"up": "run", "down": "depends", "saves": "depends"},
        why={"up": "input changed: inputs.topic", "saves": "only if `up` fails"},
        request={"vars": {"topic": "milk"}},
    ),
    Case(
        "what has no data below it",
        '"behind"]',
        '"behind2"]',
        {"behind": "run", "tidy": "run"},
        {"behind": "definition changed: exec.command", "tidy": "cleans up behind `behind`"},
    ),
    Case(
        "a cleanup alone",
        '"tidy"]',
        '"tidy2"]',
        {"tidy": "idle"},
        {"tidy": "unwind · nothing started"},
    ),
    Case(
        "one element",
        told={"each": "run", "sum": "depends", "over": "depends"},
        why={"each": "input changed: for_each.items"},
        request={"vars": {"rows": ["a", "x", "c"]}},
    ),
    Case(
        "no element",
        told={"each": "idle", "sum": "run", "over": "idle"},
        why={"each": "empty collection", "over": "fails before it starts: NIKA-VAR-006"},
        request={"vars": {"rows": []}},
    ),
    Case(
        "a gate",
        told={"gated": "idle", "looks": "run"},
        why={"gated": "when: gate closed", "looks": "input changed: with.s (from gated)"},
        request={"vars": {"gate": False}},
    ),
    Case(
        "an edit behind what changed",
        '"down", ',
        '"down2", ',
        {"up": "run", "down": "run", "saves": "depends"},
        {"down": "definition changed: exec.command"},
        {"vars": {"topic": "milk"}},
    ),
    Case(
        "forced",
        told={"up": "run", "down": "run", "behind": "run", "saves": "depends", "tidy": "run"},
        why={"down": "forced by --from"},
        request={"from_": "up"},
    ),
]


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("stage")
    program(folder, "say", 'echo "$1"')
    return folder


@pytest.fixture(scope="module")
def recorded(stage: Path) -> Path:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(stage)
        return Path(str(nika_nb.run(GRAPH).trace))


def fates(ahead: Forecast) -> dict[str, str]:
    return {task.task: task.fate for task in ahead.tasks}


def row(ahead: Forecast, task: str) -> TaskForecast:
    return next(row for row in ahead.tasks if row.task == task)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_each_task_is_foretold_with_its_reason(
    stage: Path, recorded: Path, monkeypatch: pytest.MonkeyPatch, case: Case
) -> None:
    """Skip, run, depends or idle, and why; then the resume does exactly that."""
    monkeypatch.chdir(stage)
    text = GRAPH.replace(case.old, case.new) if case.old else GRAPH
    before = traces(stage)
    ahead = nika_nb.plan_resume(text, recorded, **case.request)
    assert traces(stage) == before
    everyone = dict.fromkeys(fates(ahead), "skip")
    assert fates(ahead) == everyone | IDLE | case.told
    for task, why in case.why.items():
        assert why in row(ahead, task).why
    assert_came_true(ahead, nika_nb.run(text, resume=recorded, **case.request))


def test_without_a_trace_everything_runs(stage: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fresh run has no reasons; what only an end decides is said to depend on it."""
    monkeypatch.chdir(stage)
    ahead = nika_nb.plan_resume(GRAPH, None)
    assert ahead.trace is None
    assert {name: fate for name, fate in fates(ahead).items() if fate != "run"} == {"saves": "depends"}
    assert row(ahead, "gated").why == row(ahead, "up").why == ""


def test_the_items_of_a_fan_out_are_counted(
    stage: Path, recorded: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One changed element of three leaves two with a record."""
    monkeypatch.chdir(stage)
    ahead = row(nika_nb.plan_resume(GRAPH, recorded, vars={"rows": ["a", "x", "c"]}), "each")
    assert (ahead.recorded, ahead.items) == (2, 3)


def test_effects_that_fire_again_are_told_apart(folder: Path, crasher: Crasher) -> None:
    """What ran, or was at it, is about to happen once more; what never began is not."""
    program(folder, "say", 'echo "$1"')
    workflow = folder / "w.nika.yaml"
    text = (
        "nika: w\npermits: {exec: ['./say'], tools: ['nika:write'], fs: {write: ['./out/*']}}\n"
        "inputs: {name: {type: string, default: note}}\n"
        "tasks:\n"
        "  one: {exec: {command: ['./say', one]}}\n"
        "  two: {after: {one: success}, invoke: {tool: 'nika:write', args: "
        "{path: './out/${{ inputs.name }}.md', content: x}}}\n"
        "  three: {after: {two: success}, exec: {command: ['./say', three]}}\n"
    )
    workflow.write_text(text, encoding="utf-8")
    whole = crasher.run(workflow)
    dispatched = [frame["kind"] for frame in _frames(Path(whole["trace"]))]
    second = [at for at, kind in enumerate(dispatched, 1) if kind == "verb_invoked"][1]
    for path in traces(folder):
        path.unlink()
    assert crasher.run(workflow, lines=second)["status"] == -9
    ahead = nika_nb.plan_resume(text.replace("'./say', one", "'./say', ONE"))
    again = {task.task: (task.again, [str(touch) for touch in task.fires_again]) for task in ahead.tasks}
    assert again == {
        "one": ("completed", ["exec · ./say ONE"]),
        "two": ("was running", ["tool · nika:write", "write · ./out/note.md"]),
        "three": ("", []),
    }
    assert "(was running before)" in repr(ahead)


def _frames(path: Path) -> list[dict[str, Any]]:
    from tests.doors import frames

    return frames(path)


PRICED = """\
nika: priced
tasks:
  t: {{ {retry}infer: {{ model: {model}, prompt: "12345678", {more} }} }}
"""

COSTS = [
    ("mock/echo", "", "", 0.0, ""),
    ("openai/gpt-4o", "", "", None, "no `max_tokens:`"),
    ("openai/unheard-of", "max_tokens: 10", "", None, "no price is known for openai/unheard-of"),
    ("openai/gpt-4o", "max_tokens: 1000", "", ((8 + 64) * 2.5 + 1000 * 10) / 1e6, ""),
    (
        "openai/gpt-4o",
        "max_tokens: 1000",
        "retry: {max_attempts: 3}, ",
        ((8 + 64) * 2.5 + 1000 * 10) * 3 / 1e6,
        "",
    ),
]


@pytest.mark.parametrize(("model", "more", "retry", "usd", "why"), COSTS)
def test_the_ceiling_of_a_model_call(model: str, more: str, retry: str, usd: float | None, why: str) -> None:
    """What it sends at a byte a token, all it may answer, all its attempts; or why nobody knows."""
    from nika_nb.runs.ceilings import ceiling

    workflow = load(Source(PRICED.format(model=model, more=more, retry=retry))).workflow
    assert workflow is not None
    task = workflow.tasks["t"]
    found = ceiling(task, task.action.body.raw, None, 1)
    assert found.usd == (pytest.approx(usd) if usd is not None else None)
    assert why in found.why
    if usd:
        assert ceiling(task, task.action.body.raw, None, 40).usd == pytest.approx(40 * usd)
        assert ceiling(task, task.action.body.raw, None, None).usd is None


def test_a_run_has_the_ceiling_of_its_tasks() -> None:
    """Their sum; unknown, and by whose fault, where one of them has none. What is skipped costs nothing."""
    known = TaskForecast("a", "infer", "", "run", ceiling=Ceiling(0.25))
    other = TaskForecast("b", "infer", "", "depends", ceiling=Ceiling(0.5))
    blind = TaskForecast("c", "infer", "", "run", ceiling=Ceiling(None, "no `max_tokens:`"))
    past = TaskForecast("d", "infer", "", "skip", ceiling=Ceiling(9.0), saved_usd=0.125)
    assert Forecast("w", None, (known, other, past)).ceiling == Ceiling(0.75)
    assert Forecast("w", None, (known, blind)).ceiling == Ceiling(None, "c: no `max_tokens:`")
    assert Forecast("w", None, (past,)).saved_usd == 0.125


NOW = """\
nika: w
permits:
  fs: {read: ["./a/*"], write: ["./out/**", "!./out/keep.md"]}
  net: {http: ["a.example"]}
  exec: ["ls"]
  tools: ["nika:write", "mcp:x/*"]
  env: ["LANG"]
tasks: {t: {invoke: {tool: "nika:log", args: {message: m}}}}
"""
WIDENINGS = [
    ("the same", "", "", []),
    ("a path", '["./a/*"]', '["./a/*", "./b.md"]', ["fs.read: ./b.md"]),
    ("a path that was covered", '["./a/*"]', '["./a/*", "./a/b.md"]', []),
    ("an exclusion", ', "!./out/keep.md"', "", ["fs.write: ./out/keep.md is no longer left out"]),
    ("a host", '["a.example"]', '["A.example.", "b.example"]', ["net.http: b.example"]),
    ("a program", '["ls"]', '["ls", "rm"]', ["exec: rm"]),
    ("any program", '["ls"]', "true", ["exec: any program"]),
    ("a tool", '"mcp:x/*"', '"mcp:x/*", "mcp:x/one", "mcp:y/*"', ["tools: mcp:y/*"]),
    ("a variable", '["LANG"]', '["LANG", "HOME"]', ["env: HOME"]),
    ("less", '["./out/**", "!./out/keep.md"]', '["./out/a.md"]', []),
]


@pytest.mark.parametrize(("name", "old", "new", "told"), WIDENINGS, ids=[w[0] for w in WIDENINGS])
def test_what_an_edit_widens(name: str, old: str, new: str, told: list[str]) -> None:
    """Every grant that is new, each as it is written; what was covered is not new."""
    before, now = (load(Source(text)).workflow for text in (NOW, NOW.replace(old, new) if old else NOW))
    assert before is not None
    assert now is not None
    gone = "./out/keep.md is no longer left out"
    found = list(widened(before.permits, now.permits, "/base"))
    assert [entry for entry in found if name != "less" or gone not in entry] == told


def test_a_boundary_where_there_was_none() -> None:
    """A text without `permits:` might do nothing: everything is new."""
    now = load(Source(NOW)).workflow
    assert now is not None
    assert len(widened(None, now.permits, "/base")) == 7
    assert widened(now.permits, None, "/base") == ()


def test_a_widened_boundary_is_told(stage: Path, recorded: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The texts are compared, today's with the recorded one."""
    monkeypatch.chdir(stage)
    ahead = nika_nb.plan_resume(GRAPH.replace('["./say"]', '["./say", "rm"]'), recorded)
    assert ahead.widened == ("exec: rm",)
    assert "the edit widened  exec: rm" in repr(ahead)


CALLER = """\
nika: caller
permits: {exec: ["./say"]}
inputs: {word: {type: string, default: hello}}
tasks:
  call: {invoke: {workflow: ./child.nika.yaml, args: {word: "${{ inputs.word }}"}}}
  end: {after: {call: success}, exec: {command: ["./say", "end"]}}
"""
CHILD = """\
nika: child
permits: {exec: ["./say"]}
inputs: {word: {type: string, required: true}}
tasks:
  first: {exec: {command: ["./say", "first"]}}
  second:
    with: {f: "${{ tasks.first.output }}"}
    exec: {command: ["./say", "${{ with.f }}", "${{ inputs.word }}"]}
"""


def test_the_tasks_of_a_called_workflow_are_told_one_by_one(folder: Path) -> None:
    """What the call had settled inside is skipped there; what its arguments change runs."""
    program(folder, "say", 'echo "$1"')
    (folder / "child.nika.yaml").write_text(CHILD, encoding="utf-8")
    nika_nb.run(CALLER)
    assert fates(nika_nb.plan_resume(CALLER)) == {"call": "skip", "end": "skip"}
    ahead = nika_nb.plan_resume(CALLER, vars={"word": "bye"})
    assert fates(ahead) == {"call": "run", "call/first": "skip", "call/second": "run", "end": "skip"}
    assert row(ahead, "call/second").why == "input changed: inputs.word"
    assert_came_true(ahead, nika_nb.run(CALLER, resume=True, vars={"word": "bye"}))


SECRET = """\
nika: secret
permits: {exec: ["./say"]}
secrets: {key: {source: env, key: PLAN_KEY, egress: [{to: exec}]}}
tasks:
  t: {exec: {command: ["./say", "${{ secrets.key }}"]}}
  u: {exec: {command: ["./say", "s3cr3t-value-77"]}}
"""


def test_a_fan_out_that_calls_tells_what_all_its_items_may_touch(folder: Path) -> None:
    """Its tasks are not told one by one: their programs are, once each, as they are written."""
    (folder / "child.nika.yaml").write_text(CHILD)
    text = CALLER.replace("  call: {", "  call: {for_each: {items: [a, b]}, ").replace("inputs.word", "item")
    (call,) = (task for task in nika_nb.plan_resume(text).tasks if task.task == "call")
    told = [str(touch) for touch in call.touches]
    assert told[0] == "workflow · ./child.nika.yaml"
    assert [one.partition(" · ")[0] for one in told[1:]] == ["exec", "exec"]
    assert all(one.startswith("exec · ./say ") for one in told[1:])


def test_a_secret_stands_in_no_forecast(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither by its reference nor where the text itself holds the value."""
    monkeypatch.setenv("PLAN_KEY", "s3cr3t-value-77")
    program(folder, "say", 'echo "$1"')
    ahead = nika_nb.plan_resume(SECRET, None)
    assert "s3cr3t" not in repr(ahead) + str(ahead.to_json()) + ahead._repr_mimebundle_()["text/html"]


def test_prompts_are_told(folder: Path) -> None:
    """Who will be asked something, unless the answer is given along."""
    text = (
        "nika: asks\npermits: {tools: ['nika:prompt']}\n"
        "tasks: {ask: {invoke: {tool: 'nika:prompt', args: {message: 'Go?'}}}}\n"
    )
    assert "asks you" in repr(nika_nb.plan_resume(text, None))
    assert "asks you" not in repr(nika_nb.plan_resume(text, None, answer={"ask": "yes"}))
    with pytest.raises(UsageError, match="not a prompt"):
        nika_nb.plan_resume(text, None, answer={"ax": "yes"})


def test_what_would_be_refused_is_refused(
    stage: Path, recorded: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A text that does not pass the check, a name that is no task, a trace that is not there."""
    monkeypatch.chdir(stage)
    with pytest.raises(CheckRefused):
        nika_nb.plan_resume("nika: x\ntaks: {}\n", None)
    with pytest.raises(UsageError, match="unknown task"):
        nika_nb.plan_resume(GRAPH, recorded, from_="nobody")
    with pytest.raises(UsageError, match="no trace"):
        nika_nb.plan_resume(GRAPH, "nowhere.ndjson")


def test_a_forecast_holds_no_lock(stage: Path, recorded: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever only looks keeps nobody from working."""
    monkeypatch.chdir(stage)
    held = [nika_nb.plan_resume(GRAPH, recorded) for _ in range(2)]
    assert isinstance(nika_nb.run(GRAPH, resume=recorded), Run)
    assert len(held) == 2


def test_hostile_names_are_inert(folder: Path) -> None:
    """What a text says is escaped, on one line, and steers nothing."""
    hostile = "<script>alert(1)</script>\\u202e\\u001b[31m\\nx"
    text = (
        "nika: x\npermits: {exec: ['./say']}\n"
        f'tasks: {{t: {{exec: {{command: ["./say", "{hostile}"]}}}}}}\n'
    )
    program(folder, "say", "true")
    ahead = nika_nb.plan_resume(text, None)
    html, plain = ahead._repr_mimebundle_()["text/html"], repr(ahead)
    assert "<script" not in html
    assert not {"\x1b", "\u202e"} & set(html + plain)


def test_the_terminal_tells_the_same(terminal: Terminal, folder: Path) -> None:
    """`run --plan` prints the forecast, as JSON too, and leaves no trace."""
    program(folder, "say", 'echo "$1"')
    (folder / "w.nika.yaml").write_text(GRAPH, encoding="utf-8")
    said = terminal("run", "w.nika.yaml", "--plan")
    assert said.code == 0
    assert b"nothing has run" in said.out
    assert terminal("run", "w.nika.yaml", "--plan", "--json").outputs["workflow"] == "graph"
    assert terminal("run", "w.nika.yaml", "--plan", "--quiet").out.count(b"\n") == 1
    assert not traces(folder)


@FEW
@given(chance=CHANCE, part=st.floats(0, 1), yes=st.booleans())
def test_any_forecast_comes_true(chance: random.Random, part: float, yes: bool) -> None:
    """Any graph, its journal broken off anywhere, an input changed or not: what was told comes about."""
    graph = drawn(chance)
    note(graph.text)
    assume(nika_nb.check(graph.text).ok)
    with staged(graph) as workflow:
        trace = Path(str(nika_nb.run(workflow).trace)).resolve()
        trace.write_bytes(broken_off(trace.read_bytes(), part))
        ahead = nika_nb.plan_resume(workflow, trace, vars={"yes": yes})
        assert_came_true(ahead, nika_nb.run(workflow, resume=trace, vars={"yes": yes}))


def test_a_run_stands_for_its_trace(folder: Path) -> None:
    """As at every other door: plan_resume takes the Run itself."""
    text = 'nika: one\npermits: { exec: ["echo"] }\ntasks:\n  say: { exec: { command: ["echo", "hi"] } }\n'
    run = nika_nb.run(text)
    assert [task.fate for task in nika_nb.plan_resume(text, run).tasks] == ["skip"]


def test_it_is_a_table_as_other_answers_are(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A row per task; a model that costs is named with the task that asks it, wherever that stands."""
    (folder / "prices.json").write_text('{"prices": {"echo": {"input": 3, "output": 15}}}', encoding="utf-8")
    monkeypatch.setenv("NIKA_NB_MOCK", str(folder / "prices.json"))
    child = "nika: child\nmodel: mock/echo\ntasks: { draft: { infer: { prompt: hi, max_tokens: 5 } } }\n"
    (folder / "child.nika.yaml").write_text(child, encoding="utf-8")
    ahead = nika_nb.plan_resume(
        """\
nika: parent
tasks:
  each: { for_each: { items: [1, 2] }, invoke: { workflow: ./child.nika.yaml } }
  one: { infer: { model: mock/echo, prompt: hi, max_tokens: 5 } }
""",
        None,
    )
    table = ahead.table()
    assert list(table.columns) == [column.name for column in TABLES["plan"]]
    assert [str(kind) for kind in table.dtypes] == [column.dtype for column in TABLES["plan"]]
    rows = table.set_index("task")
    assert list(rows["models"]) == ["mock/echo for each/draft", "mock/echo"]
    assert rows["ceiling_usd"].isna().tolist() == [True, False]
    assert rows.loc["each", "items"] == 2
    assert "asks    mock/echo for each/draft" in str(ahead)
    assert ahead["one"].ceiling.usd == rows.loc["one", "ceiling_usd"]
    with pytest.raises(NikaError, match="did you mean `one`"):
        _ = ahead["onee"]
