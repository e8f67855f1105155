"""A recorded run once more: what is asked before, what is run, and the verdict on every task."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import nika_nb
from nika_nb import runs
from nika_nb.board.reproduction import Reproduction
from nika_nb.errors import NikaError, ResumeRefused, UsageError
from nika_nb.providers.registry import MAKERS
from nika_nb.runs.acting import EffectsWithheld
from nika_nb.runs.reproduce import Reproducing
from nika_nb.runs.run import Event, Run
from nika_nb.tables import TABLES
from nika_nb.trace.folder import TraceFolder
from tests.doors import Terminal, frames, marks, newest, program, rewritten, traces
from tests.providers.scripted import Scripted

READS = """\
nika: reads
permits: { fs: { read: ["./data/**"] }, tools: ["nika:read", "nika:jq", "nika:prompt"] }
tasks:
  read: { invoke: { tool: "nika:read", args: { path: "./data/a.txt" } } }
  size:
    with: { text: "${{ tasks.read.output }}" }
    invoke: { tool: "nika:jq", args: { input: "${{ with.text }}", expression: length } }
outputs: { size: "${{ tasks.size.output }}" }
"""


READ = '  read: { invoke: { tool: "nika:read", args: { path: ./data/a.txt } } }\n'


@pytest.fixture
def desk(folder: Path) -> Path:
    """A file to read, and a program that says its word and leaves a mark."""
    (folder / "data").mkdir()
    (folder / "data" / "a.txt").write_text("there", encoding="utf-8")
    program(folder, "say", 'echo "$1" >> marks\nprintf %s "$1"')
    return folder


def recorded(text: str, **options: Any) -> Path:
    """The trace of a run."""
    trace = nika_nb.run(text, **options).trace
    assert trace is not None
    return trace


def verdicts(found: Reproduction) -> dict[str, str]:
    return {task.task: task.verdict for task in found.tasks}


# -- before anything runs ----------------------------------------------------------------------


def test_what_only_reads_needs_no_consent(desk: Path) -> None:
    """Files, pure tools, questions with a recorded answer, models that cost nothing."""
    found = nika_nb.reproduce(recorded(READS))
    assert verdicts(found) == {"read": "reproduced", "size": "reproduced"}
    assert (found.ok, found.outputs, found.effects, found.state) == (True, True, (), "completed")
    assert nika_nb.reproduce(recorded("nika: m\nmodel: mock/echo\ntasks: {a: {infer: {prompt: hi}}}\n")).ok


@pytest.mark.parametrize(
    ("task", "act"),
    [
        ("exec: { command: [./say, x] }", "exec · ./say x"),
        ("exec: { shell: 'cat data/a.txt' }", "shell · cat data/a.txt"),
        ("invoke: { tool: 'nika:write', args: { path: ./out.txt, content: x } }", "write · ./out.txt"),
        (
            "invoke: { tool: 'nika:fetch', args: { url: 'https://example.com/x', mode: raw } }",
            "net · example.com",
        ),
        ("infer: { model: xai/grok, prompt: hi, max_tokens: 5 }", "model · xai/grok"),
        ("agent: { model: xai/grok, prompt: hi, max_turns: 2 }", "act: model · xai/grok"),
        (
            "{ for_each: { items: [1, 2] }, invoke: { workflow: ./asks.nika.yaml } }",
            "model · xai/grok for act/s",
        ),
        ("invoke: { workflow: ./asks.nika.yaml }", "act/s: model · xai/grok"),
        ("agent: { model: mock/echo, prompt: hi, tools: ['nika:write'] }", "tool · nika:write"),
        ("{ for_each: { items: [1, 2] }, invoke: { workflow: ./below.nika.yaml } }", "workflow · ./below"),
        ("invoke: { workflow: ./below.nika.yaml }", "exec · ./say below"),
    ],
)
def test_everything_beyond_reading_has_to_be_allowed(
    desk: Path, monkeypatch: pytest.MonkeyPatch, task: str, act: str
) -> None:
    """It is told task by task; until then nothing is run, and nothing is written."""
    permits = """\
permits:
  fs: { read: ["./data/**"], write: ["./**"] }
  exec: true
  net: { http: ["example.com"] }
  tools: ["nika:*"]
"""
    monkeypatch.setitem(MAKERS, "xai", lambda: Scripted("hello"))
    below = "tasks: { s: { exec: { command: [./say, below] } } }\n"
    asks = "model: xai/grok\ntasks: { s: { infer: { prompt: hi } } }\n"
    (desk / "asks.nika.yaml").write_text(f"nika: asks\n{permits}{asks}", encoding="utf-8")
    (desk / "below.nika.yaml").write_text(f"nika: below\n{permits}{below}", encoding="utf-8")
    task = task if task.startswith("{") else f"{{ {task} }}"
    trace = recorded(f"nika: acts\n{permits}tasks:\n{READ}  act: {task}\n")
    before = marks(desk / "marks")
    with pytest.raises(EffectsWithheld) as refused:
        nika_nb.reproduce(trace)
    assert act in str(refused.value)
    assert "read:" not in str(refused.value)
    assert {found.task for found in refused.value.ahead.tasks} >= {"read", "act"}
    assert marks(desk / "marks") == before
    assert not (desk / ".nika" / "reproductions").exists()


def test_allowed_effects_happen_once_more_and_are_told(desk: Path) -> None:
    """Those of the tasks that began; what stands behind a failure did not."""
    text = """\
nika: acts
permits: { exec: ["./say", "false"] }
tasks:
  first: { exec: { command: [./say, first] } }
  broken: { after: { first: success }, exec: { command: ["false"] } }
  never: { after: { broken: success }, exec: { command: [./say, never] } }
"""
    found = nika_nb.reproduce(recorded(text), effects=True)
    assert found.effects == ("exec · ./say first", "exec · false")
    assert marks(desk / "marks") == {"first": 2}
    assert found.ok
    assert (found.outputs, found.state) == (None, "failed")
    assert found["broken"].why == "fails alike (NIKA-EXEC-001)"
    assert found["never"].why == "cancelled alike"


# -- verdicts ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """A workflow, what happens to the world before it is run once more, and the verdicts then."""

    name: str
    tasks: str
    wanted: dict[str, str]
    said: dict[str, str] = field(default_factory=dict)
    change: str = ""  # what the file holds then; "-" removes it
    program: str | None = None  # what the program does then; "" removes it
    lines: tuple[str, ...] = ()  # what the model says, one call after the other


ASKS = '  asks: { infer: { model: xai/grok, prompt: "say" } }\n'
ON = '  on: { with: { x: "${{ tasks.%s.output }}" }, invoke: { tool: "nika:jq", args: { input: "${{ with.x }}", expression: . } } }\n'  # noqa: E501

CASES = [
    Case("nothing", READ + ON % "read", {"read": "reproduced", "on": "reproduced"}),
    Case(
        "a file",
        READ + ON % "read",
        {"read": "environment", "on": "environment"},
        {"read": "`nika:read` gives something else", "on": "its input `with.x` comes from `read`"},
        change="elsewhere",
    ),
    Case(
        "a file that is gone",
        READ + ON % "read",
        {"read": "environment", "on": "unverifiable"},
        {"read": "fails now: NIKA-", "on": "what it waits for did not succeed"},
        change="-",
    ),
    Case(
        "a model",
        ASKS + ON % "asks",
        {"asks": "nature", "on": "nature"},
        {"asks": "a model answers anew", "on": "its input `with.x` comes from `asks`"},
        lines=("one", "two"),
    ),
    Case("a model that says the same", ASKS, {"asks": "reproduced"}, lines=("one", "one")),
    Case(
        "a program",
        "  say: { exec: { command: [./say, x] } }\n" + ON % "say",
        {"say": "environment", "on": "environment"},
        {"say": "its program, a file or a variable that it reads differs"},
        program="printf other",
    ),
    Case(
        "a program that is gone",
        "  say: { exec: { command: [./say, x] } }\n  well: { exec: { command: [echo, x] } }\n",
        {"say": "environment", "well": "reproduced"},
        {"say": "missing: `./say` could not be started"},
        program="",
    ),
    Case(
        "a failure that is none any more",
        "  say: { exec: { command: [./say, x], cwd: data } }\n  no: { exec: { command: ['false'] } }\n",
        {"say": "reproduced", "no": "reproduced"},
        {"no": "fails alike"},
    ),
    Case(
        "a closed gate",
        '  shut: { with: { x: "${{ tasks.read.output }}" }, when: "${{ with.x == \'elsewhere\' }}", '
        "exec: { command: [./say, x] } }\n" + READ,
        {"read": "environment", "shut": "environment"},
        {"shut": "skipped then, succeeds now; `read` before it differs"},
        change="elsewhere",
    ),
    Case(
        "a gate that stays closed",
        "  shut: { when: false, exec: { command: [./say, x] } }\n",
        {"shut": "reproduced"},
        {"shut": "skipped alike"},
    ),
    Case(
        "some items",
        "  each: { for_each: { items: [a, b, c] }, exec: { command: [./say, '${{ item }}'] } }\n",
        {"each": "environment"},
        {"each": "(1 of 3 differ: 1)"},
        program='[ "$1" = b ] && printf other || printf %s "$1"',
    ),
    Case(
        "a call below which a model answers",
        "  call: { invoke: { workflow: ./below.nika.yaml } }\n",
        {"call": "nature"},
        {"call": "in the workflow that it calls, of `asks`: a model answers anew"},
        lines=("one", "two"),
    ),
    Case(
        "a call below which a program says something else, beside a model that does not",
        "  call: { invoke: { workflow: ./below.nika.yaml } }\n",
        {"call": "environment"},
        {"call": "in the workflow that it calls, of `say`: the same command gives something else"},
        program="printf other",
        lines=("one",) * 4,
    ),
    Case(
        "the same, item by item",
        "  each: { for_each: { items: [a, b] }, invoke: { workflow: ./below.nika.yaml } }\n",
        {"each": "environment"},
        {"each": "(2 of 2 differ: 0, 1)"},
        program="printf other",
        lines=("one",) * 4,
    ),
    Case(
        "a call below which a program fails now, beside a model",
        "  call: { invoke: { workflow: ./below.nika.yaml } }\n",
        {"call": "environment"},
        {"call": "fails now: NIKA-EXEC-001"},
        program="exit 3",
        lines=("one",) * 2,
    ),
]


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_every_difference_is_owed_to_something(
    desk: Path, monkeypatch: pytest.MonkeyPatch, case: Case
) -> None:
    """The verdict on each task, and why."""
    permits = (
        'permits: { fs: { read: ["./data/**"] }, exec: ["./say", "echo", "false"], tools: ["nika:*"] }\n'
    )
    below = f"nika: below\n{permits}tasks:\n{ASKS}  say: {{ exec: {{ command: [./say, x] }} }}\n"
    outputs = 'outputs: { asked: "${{ tasks.asks.output }}", said: "${{ tasks.say.output }}" }\n'
    (desk / "below.nika.yaml").write_text(below + outputs, "utf-8")
    provider = Scripted(*case.lines or ("",))
    monkeypatch.setitem(MAKERS, "xai", lambda: provider)
    text = f"nika: case\n{permits}tasks:\n{case.tasks}"
    program(desk / "data", "say", 'printf %s "$1"')
    trace = recorded(text)
    change(desk, case)
    found = nika_nb.reproduce(trace, effects=True)
    for task, verdict in case.wanted.items():
        assert found[task].verdict in verdict.split(" or "), found
    for task, said in case.said.items():
        assert said in found[task].why
    assert found.ok is all(verdict in ("reproduced", "nature") for verdict in verdicts(found).values())


def change(desk: Path, case: Case) -> None:
    if case.change == "-":
        (desk / "data" / "a.txt").unlink()
    elif case.change:
        (desk / "data" / "a.txt").write_text(case.change, encoding="utf-8")
    if case.program:
        program(desk, "say", case.program)
    elif case.program is not None:
        (desk / "say").unlink()


def test_a_time_that_is_passed_on_is_measured_anew(desk: Path) -> None:
    """The task it comes from is reproduced, and yet it differs: nothing else can be behind it."""
    text = """\
nika: timed
permits: { exec: ["./say"], tools: ["nika:jq"] }
tasks:
  first: { exec: { command: [./say, x] } }
  took:
    with: { ms: "${{ tasks.first.duration_ms }}" }
    invoke: { tool: "nika:jq", args: { input: "${{ with.ms }}", expression: . } }
"""
    program(desk, "say", "[ -e twice ] && sleep 0.2; : > twice; printf x")
    found = nika_nb.reproduce(recorded(text), effects=True)
    assert verdicts(found) == {"first": "reproduced", "took": "nature"}
    assert found["took"].why == "its input `with.ms` is measured anew in every run"


def test_a_secret_leaves_nothing_to_compare(desk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither an output that held one nor a task whose secret is not here."""
    text = """\
nika: keyed
secrets: { key: { source: env, key: THE_KEY, egress: [{ to: exec }] } }
permits: { exec: ["./say"], env: [K] }
tasks:
  tells: { exec: { command: [./say, "${{ secrets.key }}"] } }
  keeps: { exec: { command: [./say, fine], env: { K: "${{ secrets.key }}" } } }
"""
    monkeypatch.setenv("THE_KEY", "a-very-secret-value")
    trace = recorded(text)
    found = nika_nb.reproduce(trace, effects=True)
    assert verdicts(found) == {"tells": "unverifiable", "keeps": "reproduced"}
    assert found["tells"].why.startswith("no output in the record: a secret stands in the output")
    monkeypatch.delenv("THE_KEY")
    found = nika_nb.reproduce(trace, effects=True)
    assert verdicts(found) == {"tells": "unverifiable", "keeps": "unverifiable"}
    assert found["keeps"].why.startswith("a secret is not here")
    assert not found.ok


def test_a_record_that_broke_off_is_judged_as_far_as_it_goes(desk: Path) -> None:
    """What it has no end of cannot be verified."""
    trace = recorded(READS)
    lines = trace.read_bytes().splitlines(keepends=True)
    ends = [at for at, frame in enumerate(frames(trace)) if frame["kind"] == "task_completed"]
    trace.write_bytes(b"".join(lines[: ends[0] + 1]))
    found = nika_nb.reproduce(trace)
    assert verdicts(found) == {"read": "reproduced", "size": "unverifiable"}
    assert found["size"].why == "the record has no end of it"
    assert found.outputs is None


def test_what_this_version_lacks_shows_in_its_tasks(desk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A provider that is gone does not keep the rest from being judged."""
    text = f"nika: x\npermits: {{ fs: {{ read: ['./data/**'] }}, tools: ['nika:*'] }}\ntasks:\n{READ}{ASKS}"
    with monkeypatch.context() as here:
        here.setitem(MAKERS, "xai", lambda: Scripted("one"))
        trace = recorded(text)
    found = nika_nb.reproduce(trace, effects=True)
    assert verdicts(found) == {"read": "reproduced", "asks": "environment"}
    assert found["asks"].why.startswith("fails now: NIKA-INFER-001")


# -- today's text ------------------------------------------------------------------------------


def test_todays_text_is_held_against_the_recorded_one(desk: Path) -> None:
    """What was edited is named, part by part; the recorded text is run, and its verdict told beside."""
    trace = recorded(READS)
    (desk / "flow.nika.yaml").write_text(
        READS.replace("expression: length", "expression: .").replace(
            "  size:", "  new: { invoke: { tool: 'nika:jq', args: { input: 1, expression: . } } }\n  size:"
        ),
        encoding="utf-8",
    )
    found = nika_nb.reproduce(trace, workflow="flow.nika.yaml")
    assert verdicts(found) == {"read": "reproduced", "size": "edited", "new": "edited"}
    assert found["size"].parts == ("invoke.args",)
    assert found["size"].why == "today's text differs: invoke.args; as it was recorded, it is reproduced"
    assert found["new"].why == "today's text has it, the recorded one does not"
    assert not found.ok
    (desk / "flow.nika.yaml").write_text("# a comment\n" + READS, encoding="utf-8")
    assert nika_nb.reproduce(trace, workflow=desk / "flow.nika.yaml").ok
    (desk / "flow.nika.yaml").write_text(READS.replace("size", "long"), encoding="utf-8")
    (desk / "data" / "a.txt").write_text("elsewhere", encoding="utf-8")
    found = nika_nb.reproduce(trace, workflow="flow.nika.yaml")
    assert found["size"].why.split("; ") == [
        "today's text does not have it",
        "as it was recorded, environment: its input `with.text` comes from `read`",
    ]


# -- answers -----------------------------------------------------------------------------------


def test_what_was_answered_is_answered_the_same(desk: Path) -> None:
    """A question, one of an item, one in a called workflow; also a refusal, and in a later invocation."""
    (desk / "below.nika.yaml").write_text(
        "nika: below\npermits: {}\n"
        'tasks: { ask: { invoke: { tool: "nika:prompt", args: { message: Below? } } } }\n'
        'outputs: { said: "${{ tasks.ask.output }}" }\n',
        encoding="utf-8",
    )
    text = """\
nika: asks
permits: { tools: ["nika:prompt"] }
tasks:
  ask: { invoke: { tool: "nika:prompt", args: { message: "Go on?" } } }
  name: { invoke: { tool: "nika:prompt", args: { message: "Who?", mode: input } } }
  each:
    for_each: { items: [a, b] }
    invoke: { tool: "nika:prompt", args: { message: "${{ item }}?" } }
  call: { invoke: { workflow: ./below.nika.yaml } }
outputs: { ask: "${{ tasks.ask.output }}", call: "${{ tasks.call.output }}" }
"""
    run = nika_nb.run(text)
    run.answer(ask="no", name="Ann")
    run.answer({"each[0]": "yes", "each[1]": "no", "call/ask": "yes"})
    assert run.state == "completed"
    found = nika_nb.reproduce(run)
    assert verdicts(found) == dict.fromkeys(("ask", "name", "each", "call"), "reproduced")
    assert found.outputs is True
    assert json.loads(found["each"].again or "") == [True, False]


def test_what_stood_in_for_an_answer_is_none(desk: Path) -> None:
    """A recovered prompt recovers once more; a default is taken once more."""
    text = """\
nika: asks
permits: { tools: ["nika:prompt"] }
tasks:
  name:
    on_error: { recover: nobody }
    invoke: { tool: "nika:prompt", args: { message: "Who?", mode: choice, choices: [ann, bob] } }
  ask: { invoke: { tool: "nika:prompt", args: { message: "Go?", default: true } } }
"""
    found = nika_nb.reproduce(recorded(text))
    assert verdicts(found) == {"name": "reproduced", "ask": "reproduced"}
    assert found["name"].again == '"nobody"'


def test_what_nobody_answered_is_not_made_up(desk: Path) -> None:
    """A record that waits stays one; what stands before the question is judged."""
    text = READS.replace(
        "outputs:", '  ask: { invoke: { tool: "nika:prompt", args: { message: "Go on?" } } }\noutputs:'
    )
    found = nika_nb.reproduce(recorded(text))
    assert verdicts(found) == {"read": "reproduced", "size": "reproduced", "ask": "unverifiable"}
    assert found["ask"].why == "the record has no end of it: it waited for an answer"
    assert found.state == "paused"


# -- where and from what -----------------------------------------------------------------------


def test_the_new_journal_lies_where_no_resume_looks(desk: Path) -> None:
    """It is a whole one, names its record, and stands in nobody's way."""
    trace = recorded(READS)
    found = nika_nb.reproduce(trace.name)
    assert found.again is not None
    assert found.again.parent == Path(".nika/reproductions")
    assert frames(found.again)[0]["reproduces"] == nika_nb.attach(trace).board.trace_head
    assert traces(desk) == [trace]
    assert TraceFolder(desk).newest("reads") == trace
    assert runs.list_runs().total == 1
    again = nika_nb.attach(found.again)
    assert again.state == "completed"
    assert again.request.place.base == desk


def test_without_a_journal_it_is_judged_all_the_same(desk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Journals may be turned off."""
    trace = recorded(READS)
    monkeypatch.setenv("NIKA_NO_TRACE_FILE", "1")
    found = nika_nb.reproduce(trace)
    assert (found.ok, found.outputs, found.again) == (True, True, None)
    assert not (desk / ".nika" / "reproductions").exists()


def test_a_record_runs_where_it_lies(desk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From any folder; or where it is told to."""
    trace = recorded(READS)
    copy = desk / "copy"
    (copy / "data").mkdir(parents=True)
    (copy / "data" / "a.txt").write_text("other", encoding="utf-8")
    (desk / "else").mkdir()
    monkeypatch.chdir(desk / "else")
    assert nika_nb.reproduce(trace).ok
    assert os.listdir(desk / "else") == []
    assert nika_nb.reproduce(trace, folder=copy)["read"].verdict == "environment"
    assert (copy / ".nika" / "reproductions").is_dir()
    with pytest.raises(UsageError, match="there is no folder nowhere"):
        nika_nb.reproduce(trace, folder="nowhere")


def test_inputs_come_from_the_record(desk: Path) -> None:
    """With the model and the cap that it was given; another value would be another run."""
    text = READS.replace("tasks:", "inputs: { n: { type: integer, default: 1 } }\ntasks:", 1)
    trace = recorded(text, vars={"n": 7}, model="mock/echo", max_cost_usd=3)
    found = nika_nb.reproduce(trace)
    assert found.again is not None
    first = frames(found.again)[0]
    assert (first["input_values"], first["model_override"]) == ('{"n":7}', "mock/echo")
    assert json.loads(first["budget"]) == {"max_cost_usd": 3}
    with pytest.raises(UsageError, match="`n` is given by the record"):
        nika_nb.reproduce(trace, vars={"n": 8})


def test_a_secret_input_has_to_be_given_again(desk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The record does not hold it."""
    monkeypatch.setenv("THE_KEY", "a-very-secret-value")
    text = READS.replace(
        "tasks:",
        "inputs: { n: { type: string } }\nsecrets: { key: { source: env, key: THE_KEY } }\ntasks:",
        1,
    )
    trace = recorded(text, vars={"n": "a-very-secret-value"})
    with pytest.raises(UsageError, match="does not hold `n`, for it is a secret"):
        nika_nb.reproduce(trace)
    assert nika_nb.reproduce(trace, vars={"n": "a-very-secret-value"}).ok


def test_a_reproducible_run_writes_the_same_bytes(desk: Path) -> None:
    """The strongest of all verdicts."""
    found = nika_nb.reproduce(recorded(READS.replace("tasks:", "run: { entropy: { seeded: 3 } }\ntasks:", 1)))
    assert found.identical
    assert "byte-identical journals" in str(found)
    assert not nika_nb.reproduce(recorded(READS)).identical


def test_what_is_no_record_is_not_run(desk: Path) -> None:
    """A chain that is broken, a journal without its text, a file that is none."""
    trace = recorded(READS)
    bare = rewritten(trace, lambda line: line["kind"] != "nb_source_page", "bare.ndjson")
    with pytest.raises(NikaError, match="does not hold the text that was run"):
        nika_nb.reproduce(bare)
    lines = trace.read_bytes().splitlines(keepends=True)
    trace.write_bytes(b"".join(lines[:3] + lines[4:]))
    with pytest.raises(ResumeRefused, match="is no record of what happened") as refused:
        nika_nb.reproduce(trace)
    assert refused.value.exit_code == 2
    with pytest.raises(UsageError, match="there is no trace"):
        nika_nb.reproduce("nothing.ndjson")
    assert not (desk / ".nika" / "reproductions").exists()


def test_another_engines_record_is_run_and_told(desk: Path) -> None:
    """To see whether this engine gives the same is what it is good for."""
    other = rewritten(
        recorded(READS),
        lambda line: (
            line["fields"].update(engine_version="9.9") if "engine_version" in line["fields"] else None
        ),
    )
    found = nika_nb.reproduce(other)
    assert found.ok
    assert any("recorded by engine 9.9" in notice for notice in found.notices)


def test_an_interrupt_ends_the_run(desk: Path) -> None:
    """Nothing goes on behind the back of who called it off."""
    program(desk, "say", "sleep 60")
    trace = recorded(
        "nika: x\npermits: { exec: [./say] }\ntasks: { a: { timeout: 100ms, exec: { command: [./say] } } }\n"
    )
    seen: list[Run] = []

    def interrupt(run: Run, event: Event) -> None:
        if event.kind == "verb_invoked":
            seen.append(run)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Reproducing(trace).run(interrupt)
    assert not seen[0].running


# -- how it looks ------------------------------------------------------------------------------


def test_its_twins_tell_the_same(desk: Path) -> None:
    """A line a task, what differs below it, what was done once more; nothing of it is markup or steers."""
    (desk / "data" / "a.txt").write_text("<b>one</b>\x1b[31m", encoding="utf-8")
    trace = recorded(READS)
    (desk / "data" / "a.txt").write_text("<script>two</script>", encoding="utf-8")
    found = nika_nb.reproduce(trace)
    text = str(found)
    assert text.splitlines()[0] == f"  🦋 nika · reads · reproducing {trace.name}"
    assert "  ✖  read  environment" in text
    assert '       again     "<script>two</script>"' in text
    assert "2 environment · other outputs · $0.00" in text
    assert "\x1b" not in text
    bundle = found._repr_mimebundle_()
    assert bundle["text/plain"] == text
    assert "&lt;script&gt;two" in bundle["text/html"]
    assert "<script>" not in bundle["text/html"]
    assert str(desk) not in text + bundle["text/html"]
    shape = json.loads(json.dumps(found.to_json()))
    assert (shape["ok"], shape["outputs"], shape["tasks"][0]["verdict"]) == (False, False, "environment")
    table = found.table()
    assert list(table.columns) == [column.name for column in TABLES["reproduce"]]
    assert [str(kind) for kind in table.dtypes] == [column.dtype for column in TABLES["reproduce"]]
    read = table.set_index("task").loc["read"]
    assert (read["verdict"], read["state_before"], read["again"]) == (
        "environment",
        "success",
        shape["tasks"][0]["again"],
    )
    with pytest.raises(NikaError, match="did you mean `read`"):
        _ = found["raed"]


def test_the_terminal_says_it_in_its_exit_code(desk: Path, terminal: Terminal) -> None:
    """0 for what holds, 1 for what does not, 3 where consent is missing, 2 for what is no record."""
    trace = recorded(READS)
    done = terminal("trace", "reproduce", trace.name)
    assert (done.code, "2 reproduced · the same outputs" in done.out.decode()) == (0, True)
    assert "✔  read" in done.err
    (desk / "data" / "a.txt").write_text("elsewhere", encoding="utf-8")
    assert terminal("trace", "reproduce", trace.name).code == 1
    shape = terminal("trace", "reproduce", trace, "--json")
    assert (shape.code, shape.outputs["ok"], shape.err) == (1, False, "")
    acting = recorded(
        "nika: acts\npermits: { exec: [./say] }\ntasks: { a: { exec: { command: [./say, x] } } }\n"
    )
    held = terminal("trace", "reproduce", acting)
    assert (held.code, held.out, "a: exec · ./say x" in held.err) == (3, b"", True)
    assert "run  a  " in " ".join(terminal("trace", "reproduce", acting, "--plan").out.decode().split("   "))
    assert marks(desk / "marks") == {"x": 1}
    assert terminal("trace", "reproduce", acting, "--yes").code == 0
    assert marks(desk / "marks") == {"x": 2}
    acting.write_bytes(acting.read_bytes()[:50] + b"!" + acting.read_bytes()[51:])
    assert terminal("trace", "reproduce", acting, "--yes").code in (2, 3)
    assert newest(desk)
