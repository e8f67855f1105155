"""Reports (a): a resume that ran too much, too little, or could not say why.

Shown by other tests, where a report is not here:
  1  the same hashes in every surrounding   runs/test_same_hashes.py
  4  every field takes part in an identity   runs/test_reasons.py
  6  every miss has its reason               runs/test_reasons.py, runs/test_checklist.py (t15)
  9  a lock dies with its holder             trace/test_lock.py, cli/test_signals.py
 13  nobody is asked to unlock               trace/test_lock.py, cli/test_signals.py
 14  what makes a task run again             runs/test_reasons.py, story/test_resume_story.py
 16  exactly these tasks run                 runs/test_checklist.py (t06, t08, t10, t17)
 18  an old journal is not touched           trace/test_lock.py
 20  a hit if and only if both hashes equal  trace/test_memory.py
 21  hits are seen and can be forced away    runs/test_checklist.py (t07, t17)
 22  the line that is suggested works        story/test_adr_099.py
 23  the task is the atom, effects counted   runs/test_crash_matrix.py
 24  --from and the answers that stand       runs/test_prompts.py
 25  a notebook goes on where it stopped     notebook/test_headless.py
 27  killed between any two lines            runs/test_crash_matrix.py
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import nika_nb
from nika_nb.errors import ResumeRefused
from nika_nb.runs.care import checkup
from nika_nb.runs.lack import RunBlocked
from nika_nb.trace import trust
from tests.doors import (
    Terminal,
    alive,
    frames,
    hits,
    marks,
    newest,
    nika,
    of,
    program,
    reasons,
    rewritten,
    traces,
    wait_for,
)

MANY = 1000
FATAL = 613

ITEMS = """\
nika: items
permits: {exec: ["./mark"]}
inputs:
  rows: {type: {array: string}}
tasks:
  each:
    for_each: {items: "${{ inputs.rows }}", max_parallel: 4}
    exec: {command: ["./mark", "${{ item }}"]}
outputs:
  count: "${{ tasks.each.output.size() }}"
"""


@pytest.fixture
def many(folder: Path) -> Path:
    """A program that marks its item, and at one of them ends its engine the rude way, once."""
    deadly = f'[ "$1" = row{FATAL} ] && [ -e deadly ] && rm deadly && kill -9 $PPID && sleep 1'
    program(folder, "mark", f'echo $$ >> pids\necho "$1" >> marks\n{deadly}\nprintf %s "$1"')
    (folder / "w.nika.yaml").write_text(ITEMS, encoding="utf-8")
    return folder


def with_rows(folder: Path, rows: list[str]) -> Path:
    """The workflow with its rows as the default of its input."""
    text = ITEMS.replace(
        "{type: {array: string}}", f"{{type: {{array: string}}, default: {json.dumps(rows)}}}"
    )
    path = folder / "w.nika.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_03_per_item_resume_of_a_thousand(many: Path) -> None:
    """Killed at item 613 only what is missing runs; one changed item runs one, one more at the front one."""
    rows = [f"row{number}" for number in range(MANY)]
    path = with_rows(many, rows)
    (many / "deadly").touch()
    assert nika("run", path.name, "--quiet", cwd=many).code == -9
    at_work = [int(pid) for pid in (many / "pids").read_text(encoding="utf-8").split()[-4:]]
    wait_for(lambda: not any(map(alive, at_work)), "the end of what was in flight")
    crash = newest(many)
    done = {frame["item"] for frame in of(crash, "nb_item_completed")}
    assert 600 <= len(done) < 620
    before = marks(many / "marks")

    resumed = nika("run", path.name, "--resume", crash, "--quiet", cwd=many)
    assert (resumed.code, resumed.outputs) == (0, {"count": MANY}), resumed.err
    missing = {row: 1 for number, row in enumerate(rows) if number not in done}
    assert marks(many / "marks") - before == missing
    whole = newest(many)
    assert {frame["item"] for frame in of(whole, "nb_item_completed") if "matched" in frame} == done

    for changed, expected in (
        ([*rows[:500], "another", *rows[501:]], {"another": 1}),
        (["first", *rows], {"first": 1}),
        (rows[:300] + rows[301:], {}),
        (rows[::-1], {}),
    ):
        before = marks(many / "marks")
        run = nika_nb.run(with_rows(many, changed), resume=whole)
        assert dict(marks(many / "marks") - before) == expected
        assert run.outputs == {"count": len(changed)}


TWO = """\
nika: two
permits: {exec: ["./make", "./use"]}
tasks:
  make: {exec: {command: ["./make"]}}
  use:
    after: {make: success}
    exec: {command: ["./use"]}
"""


def test_a_05_a_name_of_a_file_is_no_part_of_an_identity(many: Path, tmp_path: Path) -> None:
    """The same workflow under another file name and in another folder hits; a renamed task runs."""
    first = nika_nb.run(with_rows(many, ["a"]))
    other = tmp_path / "deeper" / "other.nika.yaml"
    other.parent.mkdir()
    shutil.copy(many / "w.nika.yaml", other)
    assert nika_nb.run(other, resume=first.trace).tasks["each"].state == "cached"
    renamed = (
        (many / "w.nika.yaml")
        .read_text(encoding="utf-8")
        .replace("  each:", "  every:")
        .replace("tasks.each", "tasks.every")
    )
    assert reasons(Path(str(nika_nb.run(renamed, resume=first.trace).trace))) == {"every": ("new",)}


@pytest.mark.parametrize("when", ["before it wrote", "half way", "after it wrote"])
def test_a_07_a_08_killed_between_a_result_and_its_record(folder: Path, when: str) -> None:
    """The task runs once more, before anything behind it, whatever file it left; no process is left over."""
    die = "if [ -e deadly ]; then rm deadly; echo $$ > pid; kill -9 $PPID; sleep 60; fi"
    write = "printf 'half' > product; DIE; printf 'half and half' > product"
    steps = {
        "before it wrote": f"DIE; {write}".replace("DIE; printf 'half and", "printf 'half and"),
        "half way": write,
        "after it wrote": write.replace("DIE; ", "") + "; DIE",
    }
    program(folder, "make", "echo make >> marks\n" + steps[when].replace("DIE", die))
    program(folder, "use", "echo use >> marks\ncat product")
    (folder / "w.nika.yaml").write_text(TWO, encoding="utf-8")
    (folder / "deadly").touch()
    assert nika("run", "w.nika.yaml", cwd=folder).code == -9
    assert not of(newest(folder), "task_completed")
    pid = int((folder / "pid").read_text(encoding="utf-8"))
    wait_for(lambda: not alive(pid), "the end of the orphan")
    assert marks(folder / "marks") == {"make": 1}
    resumed = nika("run", "w.nika.yaml", "--resume", cwd=folder)
    assert resumed.code == 0
    assert (folder / "marks").read_text(encoding="utf-8").split() == ["make", "make", "use"]
    (used,) = of(newest(folder), "task_completed", task="use")
    assert json.loads(used["output"]) == "half and half"


SLOW = """\
nika: slow
permits: {exec: ["./wait"]}
tasks:
  quick: {exec: {command: ["./wait", "0"]}}
  slow: {exec: {command: ["./wait", "1"]}}
"""


def test_a_10_a_journal_can_be_read_while_it_is_written(folder: Path) -> None:
    """Its tables, the run drawn from it and its listing, as far as it has come."""
    program(folder, "wait", '[ "$1" = 0 ] || while [ ! -e go ]; do sleep 0.02; done; echo done')
    run = nika_nb.run(SLOW, background=True)
    wait_for(lambda: run.tasks.get("quick") and run.tasks["quick"].state == "success", "the quick task")
    tables = nika_nb.read_trace(newest(folder))
    assert dict(zip(tables.tasks["task"], tables.tasks["state"], strict=True)) == {
        "quick": "success",
        "slow": "running",
    }
    assert (tables.state, nika_nb.attach(newest(folder)).state) == ("running", "running")
    (folder / "go").touch()
    run.wait()
    assert nika_nb.read_trace(newest(folder)).state == "completed"


GOLDEN = Path(__file__).parent / "golden"


@dataclass
class Day:
    """What a resume of a golden journal comes to. skipped: the tasks that are not run again."""

    state: str
    outputs: dict[str, Any] | None
    skipped: set[str]


GOLDEN_DAYS = {
    "1/everything": Day(
        "completed", {"said": "wörd 1.5"}, {"plain", "asked", "shaped", "looped", "each", "last", "hidden"}
    ),
    "1/asks": Day("paused", None, {"prep"}),
    "1/items": Day(  # killed at its fourth item
        "completed",
        {"all": [f"{letter} [1,2.5,null]" for letter in ("a", "ä", "🦋", "d", "e")], "last": "done"},
        {"saved"},
    ),
    "1/calls": Day("paused", None, set()),
    "1/answered": Day("completed", {"told": "Ann goes right"}, set()),  # only its first line was written
    "1/seeded": Day("failed", None, {"one"}),
}


def golden(name: str, folder: Path) -> Path:
    """A journal of another day with all that lies beside it, copied into a folder."""
    epoch, _, journal = name.partition("/")
    for path in (GOLDEN / epoch).iterdir():
        shutil.copy(path, folder)
    return folder / f"{journal}.ndjson"


def test_a_11_every_golden_journal_is_known() -> None:
    """None lies there that no test resumes."""
    assert {f"{path.parent.name}/{path.stem}" for path in GOLDEN.rglob("*.ndjson")} == set(GOLDEN_DAYS)


@pytest.mark.parametrize("name", GOLDEN_DAYS)
def test_a_11_a_journal_of_another_day_still_hits(
    folder: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """What this engine wrote once, it recognises: no upgrade orphans a journal or a question."""
    monkeypatch.setenv("GOLDEN_TOKEN", "of another day, too")
    journal, day = golden(name, folder), GOLDEN_DAYS[name]
    assert checkup(journal).findings == ()
    if day.state == "paused":
        (folder / "answered.ndjson").unlink()
        workflow = journal.with_suffix(".nika.yaml")
        assert nika_nb.run(workflow, resume=journal).state == "paused"
        assert not traces(folder)  # it is the same run that still waits
        plan = nika_nb.plan_resume(workflow, journal)
        assert {
            task.task for task in plan.tasks if task.fate == "skip" and "/" not in task.task
        } == day.skipped
        return
    run = nika_nb.run(journal.with_suffix(".nika.yaml"), resume=journal)
    trace = newest(folder)
    assert run.state == day.state
    assert hits(trace) == day.skipped, reasons(trace)
    if day.outputs is not None:
        assert run.outputs == day.outputs
    kept = {frame["item"] for frame in of(journal, "nb_item_completed")}
    again = {frame["item"] for frame in of(trace, "nb_item_completed") if "matched" in frame}
    assert again == kept


@pytest.mark.parametrize(
    ("name", "answers", "outputs"),
    [
        ("1/asks", {"ask": "yes"}, {"go": True}),
        ("1/calls", {"call/ask": "left", "name": "Bo"}, {"told": "Bo goes left"}),
    ],
)
def test_a_11_a_question_of_another_day_is_still_answered(
    folder: Path, name: str, answers: dict[str, Any], outputs: dict[str, Any]
) -> None:
    """Continued from the text in the journal, whatever became of the files."""
    journal = golden(name, folder)
    for path in {*folder.iterdir()} - {journal}:
        path.unlink()
    assert nika_nb.attach(journal).answer(answers).outputs == outputs


@pytest.mark.parametrize("name", GOLDEN_DAYS)
def test_a_11_another_epoch_refuses_it_by_name_or_takes_it_where_told(
    folder: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Resumed and answered: both versions are named, nothing is run; declared exactly, it hits as before."""
    monkeypatch.setenv("GOLDEN_TOKEN", "of another day, too")
    recorded = f"nika-nb/{name.partition('/')[0]}"
    monkeypatch.setattr(
        trust.judge, "__kwdefaults__", trust.judge.__kwdefaults__ | {"engine_version": "nika-nb/99"}
    )
    journal = golden(name, folder)
    workflow = journal.with_suffix(".nika.yaml")
    with pytest.raises(ResumeRefused, match=f"engine {recorded}, this engine is nika-nb/99"):
        nika_nb.run(workflow, resume=journal)
    if GOLDEN_DAYS[name].state == "paused":
        (folder / "answered.ndjson").unlink()
        with pytest.raises(RunBlocked, match=f"engine {recorded}, this engine is nika-nb/99"):
            nika_nb.attach(journal).answer("yes")
    assert not traces(folder)
    run = nika_nb.run(workflow, resume=journal, resume_compat=recorded)
    assert run.state == GOLDEN_DAYS[name].state
    if run.state != "paused":
        assert hits(newest(folder)) == GOLDEN_DAYS[name].skipped


def test_a_11_what_no_reader_sees_changes_nothing(many: Path) -> None:
    """Anchors are refused, so only layout, quotes, comments and the order of keys are left to change."""
    first = nika_nb.run(TEXT.format(extra=""))
    for text in (
        TEXT.format(extra="\n# a remark\n"),
        TEXT.format(extra="").replace('"./mark"', "'./mark'"),
        TEXT.format(extra="").replace("    with: {b: 2, a: 1}\n", "    with:\n      a: 1\n      b: 2\n"),
        "\n\n" + TEXT.format(extra="").replace("  one:", "  one:   # here"),
    ):
        again = nika_nb.run(text, resume=first.trace)
        assert {task.state for task in again.tasks.values()} == {"cached"}, text


TEXT = """\
nika: layout
permits: {{exec: ["./mark"]}}
tasks:{extra}
  one:
    with: {{b: 2, a: 1}}
    exec: {{command: ["./mark", "${{{{ with.a }}}}"]}}
"""


def commands_in(text: str) -> list[list[str]]:
    """The command lines that a sentence gives in backticks or after a colon."""
    found = re.findall(r"`(nika-nb [^`]+|--resume[^`]*)`", text)
    return [shlex.split(line.removeprefix("nika-nb ")) for line in found]


def test_a_12_the_hint_against_a_refusal_is_one(many: Path, terminal: Terminal) -> None:
    """Each way out that a refused resume names is taken as it stands, and leads out."""
    with_rows(many, ["a"])
    terminal("run", "w.nika.yaml")
    whole = newest(many)

    def aged(line: dict[str, dict[str, str]]) -> None:
        if "engine_version" in line["fields"]:
            line["fields"]["engine_version"] = "0.99.0-old"

    old = rewritten(whole, aged, "old.ndjson")
    broken = whole.with_name("broken.ndjson")
    broken.write_bytes(
        whole.read_bytes().replace(b'"attempts":1', b'"attempts":2', 1).replace(b"1 items", b"2 items", 1)
    )
    for trace in (old, broken):
        refused = terminal("run", "w.nika.yaml", "--resume", trace)
        assert refused.code in (2, 3)
        tried = 0
        for words in commands_in(refused.err):
            if words[0] == "trace":
                assert terminal(*words).code in (0, 2)
            elif words != ["--resume"]:
                done = terminal("run", "w.nika.yaml", "--resume", trace, *words)
                assert done.code == 0, done.err
                tried += 1
        assert tried, refused.err


def test_a_17_the_newest_is_the_newest_also_of_resumes(many: Path, terminal: Terminal) -> None:
    """A bare --resume takes the trace that was started last, a resumed one too, three times in a row."""
    with_rows(many, ["a"])
    terminal("run", "w.nika.yaml")
    for _ in range(3):
        last = newest(many)
        assert f"resuming from {last.name}" in terminal("run", "w.nika.yaml", "--resume").err
        assert frames(newest(many))[0]["resumed_trace"] == last.name
    with_rows(many, ["a", "b"])
    os.utime(traces(many)[0])  # touched by somebody: when it was written does not change by that
    last = newest(many)
    again = terminal("run", "w.nika.yaml", "--resume")
    assert f"resuming from {last.name}" in again.err
    assert marks(many / "marks") == {"a": 1, "b": 1}


BYTES = """\
nika: raw
permits: {exec: ["./raw", "./count"]}
tasks:
  raw: {exec: {command: ["./raw"], decode: bytes}}
  count:
    with: {raw: "${{ tasks.raw.output }}", word: "${{ inputs.word }}"}
    exec: {command: ["./count", "${{ with.word }}"], stdin: "${{ with.raw }}"}
inputs: {word: {type: string, default: one}}
outputs: {count: "${{ tasks.count.output }}"}
"""


def test_a_19_what_cannot_be_hashed_is_never_recognised(folder: Path) -> None:
    """Bytes take part in no hash: who reads them runs, with the reason; no part of a key is kept."""
    program(folder, "raw", "printf '\\377\\000'")
    program(folder, "count", 'echo "$1" >> marks; wc -c')
    first = nika_nb.run(BYTES)
    trace = Path(str(first.trace))
    for task in ("raw", "count"):
        (frame,) = of(trace, "task_completed", task=task)
        assert frame["not_resumable"]
        assert not {"def_hash", "input_hash", "output", "input_parts"} & set(frame)
    for word in ("one", "two"):
        again = nika_nb.run(BYTES, resume=trace, vars={"word": word})
        assert again.outputs["count"].strip() == "2"
        assert {why[0] for why in reasons(Path(str(again.trace))).values()} == {"not-resumable"}
    assert marks(folder / "marks") == {"one": 2, "two": 1}
