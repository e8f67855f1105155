"""A run that declares its entropy writes the same bytes twice, whatever machine and moment it runs at."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import nika_nb
from nika_nb.runs.shelf import Shelf
from nika_nb.trace.retention import Limits, collect
from tests.doors import frame_of, frames, hits
from tests.runs.twins import Twin, twins

HEAD = """\
nika: twice
model: mock/echo
permits: {exec: ["./work", "./nowhere", "sh"], fs: {read: ["in/**"], write: ["out/**"]}, tools: ["nika:*"]}
"""

SEEDED = HEAD + "run: {entropy: {seeded: 42}, clock: virtual}\n"
STRICT = HEAD + "run: {entropy: none, clock: virtual}\n"

EVERYTHING = """\
inputs: {rows: {type: {array: string}, default: [ok, fail, ok]}, note: {type: string, default: "grüß 🦋"}}
const: {deep: {b: [1, 2.5, 1e21], a: null}}
tasks:
  plain: {exec: {command: ["./work", "ok"]}}
  beside: {exec: {command: ["./work", "ok"]}}
  fan: {for_each: {items: "${{ inputs.rows }}", max_parallel: 3, fail_fast: false},
        on_error: {recover: null}, exec: {command: ["./work", "${{ item }}"]}}
  flaky: {retry: {max_attempts: 4, backoff_ms: 700, on_codes: [NIKA-EXEC-001]},
          exec: {command: ["./work", "flaky", "count"]}}
  hung: {timeout: "300ms", on_error: {skip: true}, exec: {command: ["./work", "hang"]}}
  slept: {timeout: "5s", on_error: {recover: late}, invoke: {tool: "nika:wait", args: {duration: "1h"}}}
  waited: {invoke: {tool: "nika:wait", args: {duration: "90m"}}}
  asked: {with: {p: "${{ tasks.plain.output }}"}, infer: {prompt: "${{ with.p }} ${{ const.deep }}"}}
  shaped: {returns: {object: {n: integer}}, infer: {prompt: "a number"}}
  picked: {with: {f: "${{ tasks.fan.output }}"}, extract: {n: ". | tostring | length"},
           invoke: {tool: "nika:log", args: {message: "${{ with.f }}"}}}
  closed: {with: {n: "${{ tasks.picked.n }}"}, when: "${{ with.n == 77 }}", exec: {command: ["./work", "no"]}}
  missing: {on_error: {skip: true}, exec: {command: ["./nowhere"], cwd: "in"}}
  outside: {on_error: {recover: none}, with: {p: "${{ tasks.plain.output }}"},
            invoke: {tool: "nika:read", args: {path: "${{ with.p }}/else"}}}
  absent: {on_error: {recover: none}, invoke: {tool: "nika:read", args: {path: "in/none"}}}
  fails: {after: {waited: success}, exec: {command: ["./work", "fail", "for a reason"]}}
  blocked: {after: {fails: success}, exec: {command: ["./work", "never"]}}
  cleaned: {after: {fails: unwind}, exec: {command: ["./work", "clean"]}}
outputs: {n: "${{ tasks.picked.n }}"}
"""

ASKING = """\
tasks:
  before: {exec: {command: ["./work", "ok"]}}
  ask: {after: {before: success}, invoke: {tool: "nika:prompt", args: {message: "Go on?"}}}
  each: {for_each: {items: [x, y]},
         invoke: {tool: "nika:prompt", args: {message: "${{ item }}?", mode: input}}}
  beside: {exec: {command: ["./work", "ok"]}}
  then: {with: {go: "${{ tasks.ask.output }}", words: "${{ tasks.each.output }}"},
         when: "${{ with.go == true }}", exec: {command: ["./work", "${{ with.words }}"]}}
outputs: {said: "${{ tasks.then.output }}"}
"""

LOOP = """\
tasks:
  think: {agent: {model: "mock/echo", prompt: "think", tools: ["nika:log"], max_turns: 3}}
  list: {for_each: {items: [1, 2]}, infer: {prompt: "${{ item }}", temperature: 0.5}}
"""

STORIES: dict[str, dict[str, Any]] = {
    "everything, seeded": {"text": SEEDED + EVERYTHING},
    "everything, with values": {"text": SEEDED + EVERYTHING, "vars": {"rows": ["ok"] * 7, "note": "x"}},
    "questions, one answered after the other": {
        "text": SEEDED + ASKING,
        "then": [{"answer": {"each[1]": "why"}}, {"answer": {"ask": True, "each[0]": "zed"}}],
    },
    "questions, strict": {"text": STRICT + ASKING, "then": [{"answer": {"ask": False}}]},
    "resumed after a failure": {"text": SEEDED + EVERYTHING, "then": [{"resume": {}}, {"resume": {}}]},
    "resumed with another value": {
        "text": SEEDED + EVERYTHING,
        "then": [{"resume": {"vars": {"rows": ["ok", "ok", "fail"]}}}],
    },
    "forced": {"text": SEEDED + EVERYTHING, "then": [{"resume": {"from_": ["plain"]}}]},
    "an agent and a model": {"text": SEEDED + LOOP},
}


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Twin, Twin]]:
    found = twins(tmp_path_factory.mktemp("twins"))
    yield found
    for twin in found:
        twin.close()


def lines(journal: bytes) -> list[dict[str, Any]]:
    return [frame_of(line) for line in journal.splitlines()]


@pytest.mark.parametrize("story", STORIES.values(), ids=STORIES)
def test_two_runs_write_the_same_bytes(pair: tuple[Twin, Twin], story: dict[str, Any]) -> None:
    """Every journal of the story, the answers' and the resumes' included, in two engines."""
    first, second = (twin.tell(story) for twin in pair)
    assert first[0] == second[0]
    assert len(first[1]) == 1 + len(story.get("then", []))
    for mine, theirs in zip(first[1], second[1], strict=True):
        assert lines(mine) == lines(theirs)
        assert mine == theirs
    again = pair[0].tell(story)
    assert again == first, "and once more in the same engine"


def test_a_limit_is_no_race_with_this_machine(pair: tuple[Twin, Twin]) -> None:
    """A command that takes longer than its limit, by little, is at its end: the virtual clock stood still."""
    command = 'exec: {command: [sh, -c, "sleep 0.05; echo done"]}'
    task = f'tasks: {{a: {{timeout: "10ms", on_error: {{recover: slow}}, {command}}}}}'
    state, (journal,) = pair[0].tell({"text": SEEDED + task})
    [end] = [frame for frame in lines(journal) if frame["kind"] == "task_completed"]
    assert (state, end["output"], end["duration_ms"]) == ("completed", '"done"', 0)


def test_it_says_what_it_stands_on(pair: tuple[Twin, Twin]) -> None:
    """The seed and the clocks are declared; nothing of the machine and the moment is there."""
    _, (journal,) = pair[0].tell(STORIES["everything, seeded"])
    prologue = lines(journal)[0]
    assert (prologue["stamper_kind"], prologue["clock"], prologue["seed"]) == ("deterministic", "virtual", 42)
    assert not {"platform", "pid", "package_version", "notebook", "cell"} & set(prologue)
    assert b"pgid" not in journal
    text = journal.decode()
    assert "/tmp" not in text
    assert json.dumps(Path.cwd().name) not in text


def test_the_clock_counts_what_was_slept(pair: tuple[Twin, Twin]) -> None:
    """Work takes no time; waits, backoffs and limits take exactly theirs."""
    _, (journal,) = pair[0].tell(STORIES["everything, seeded"])
    timed = [frame for frame in lines(journal) if "duration_ms" in frame and "item" not in frame]
    ends = {frame["task"]: frame for frame in timed}
    assert ends["plain"]["duration_ms"] == 0
    assert ends["waited"]["duration_ms"] == 90 * 60_000
    assert ends["slept"]["duration_ms"] == 5000
    delays = [frame["delay_ms"] for frame in lines(journal) if frame["kind"] == "task_retrying"]
    assert len(delays) == 2
    assert ends["flaky"]["duration_ms"] == sum(delays)


def test_what_follows_a_journal_does_not_repeat_its_ids(pair: tuple[Twin, Twin]) -> None:
    """An answer goes on in the same run with ids of its own."""
    _, journals = pair[0].tell(STORIES["questions, one answered after the other"])
    ids = [frame["uuid"] for journal in journals for frame in lines(journal)]
    assert len(ids) == len(set(ids))
    assert len({frame["correlation"] for journal in journals for frame in lines(journal)}) == 1
    assert len({frame["run"] for journal in journals for frame in lines(journal)}) == 3


def test_another_seed_is_another_run(pair: tuple[Twin, Twin]) -> None:
    """Ids and delays come from the seed."""
    story = STORIES["everything, seeded"]
    _, (first,) = pair[0].tell(story)
    _, (other,) = pair[1].tell(story | {"text": story["text"].replace("seeded: 42", "seeded: 43")})
    delays = [[f["delay_ms"] for f in lines(j) if f["kind"] == "task_retrying"] for j in (first, other)]
    assert delays[0] != delays[1]
    assert not {f["uuid"] for f in lines(first)} & {f["uuid"] for f in lines(other)}


def test_a_resume_that_broke_off_finds_what_it_resumed(folder: Path) -> None:
    """By its bytes, for the names of such journals say nothing."""
    text = SEEDED + 'tasks:\n  a: {invoke: {tool: "nika:log", args: {message: a}}}\n'
    text += '  b: {invoke: {tool: "nika:log", args: {message: b}}}\n'
    nika_nb.run(text)
    first = nika_nb.run(text)
    second = first.resume(from_="a")
    assert first.trace is not None
    assert second.trace is not None
    assert "resumed_trace" not in frames(second.trace)[0]
    whole = second.trace.read_bytes().splitlines(keepends=True)
    second.trace.write_bytes(b"".join(whole[:4]))
    third = nika_nb.run(text, resume=second.trace)
    assert third.trace is not None
    assert hits(third.trace) == {"b"}
    assert any(f"is looked up in {first.trace.name[:20]}" in notice for notice in third.notices)


# -- any graph ---------------------------------------------------------------------------------

ACTIONS = (
    'exec: {command: ["./work", "ok"]}',
    'exec: {command: ["./work", "fail"]}, on_error: {recover: none}',
    'exec: {command: ["./work", "fail"]}',
    'exec: {command: ["./work", "fail"]}, retry: {max_attempts: 3, backoff_ms: 20}, on_error: {skip: true}',
    'invoke: {tool: "nika:wait", args: {duration: "3s"}}',
    'timeout: "1s", on_error: {recover: late}, invoke: {tool: "nika:wait", args: {duration: "3s"}}',
    'invoke: {tool: "nika:log", args: {message: hello}}, extract: {n: ". | tostring | length"}',
    'for_each: {items: [a, b, c], max_parallel: 2}, exec: {command: ["./work", "${{ item }}"]}',
    'infer: {prompt: "say something"}',
)


@st.composite
def graphs(draw: st.DrawFn) -> str:
    count = draw(st.integers(1, 7))
    tasks = []
    for number in range(count):
        above = draw(st.lists(st.integers(0, number - 1), unique=True, max_size=3)) if number else []
        gates = ", ".join(f"t{at}: {draw(st.sampled_from(('success', 'terminal')))}" for at in above)
        after = f"after: {{{gates}}}, " if gates else ""
        tasks.append(f"  t{number}: {{{after}{draw(st.sampled_from(ACTIONS))}}}\n")
    seed = draw(st.integers(0, 2**64 - 1))
    return HEAD + f"run: {{entropy: {{seeded: {seed}}}, clock: virtual}}\ntasks:\n" + "".join(tasks)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=graphs())
def test_any_graph_writes_the_same_bytes(pair: tuple[Twin, Twin], text: str) -> None:
    """Whatever depends on what, fails, waits or fans out."""
    first, second = (twin.tell({"text": text}) for twin in pair)
    assert first == second


def test_a_virtual_clock_does_not_make_a_run_old(folder: Path) -> None:
    """What was written last is the newest: for a bare resume, in lists and where old traces make room."""
    plain = 'nika: twice\npermits: {tools: ["nika:log"]}\ntasks:\n'
    plain += '  a: {invoke: {tool: "nika:log", args: {message: x}}}\n'
    seeded = plain.replace("tasks:", "run: {entropy: {seeded: 3}, clock: virtual}\ntasks:")
    paths = [_trace_of(plain), _trace_of(seeded), _trace_of(seeded.replace("seeded: 3", "seeded: 4"))]
    shelf = Shelf(folder / ".nika" / "traces")
    before = [path.read_bytes() for path in paths]
    for place in range(3):
        assert [entry.path for entry in shelf.entries()] == list(reversed(paths))
        assert [run.traces[0] for run in shelf.page(0, 9).runs] == [path.name for path in reversed(paths)]
        assert nika_nb.plan_resume(seeded).trace == paths[-1].name
        assert collect(shelf.folder, Limits(keep=2), dry_run=True).removed[0].entry.path == paths[0]
        moment = time.time_ns() + place * 10**9
        paths.append(paths.pop(1))  # the older of the two seeded ones is written once more
        os.utime(paths[-1], ns=(moment, moment))
    assert [path.read_bytes() for path in paths] == [before[0], *before[1:][::-1]]


def _trace_of(text: str) -> Path:
    trace = nika_nb.run(text).trace
    assert trace is not None
    return trace
