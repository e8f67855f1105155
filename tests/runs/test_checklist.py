"""What a run, its journal and a resume owe, statement by statement (T1 … T32)."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

import pytest

import nika_nb
from nika_nb.catalog.frames import ENGINE_VERSION
from nika_nb.errors import ResumeRefused, UsageError
from tests.doors import (
    Terminal,
    frames,
    hits,
    kinds,
    marks,
    newest,
    of,
    program,
    ran,
    reasons,
    rewritten,
    traces,
)
from tests.runs.crashing import Crasher

CHAIN = """\
nika: chain
permits: {exec: ["./say"]}
inputs:
  word: {type: string, default: "w"}
tasks:
  a:
    exec: {command: ["./say", "a", "${{ inputs.word }}"]}
  b:
    with: {a: "${{ tasks.a.output }}"}
    exec: {command: ["./say", "b", "${{ with.a }}b"]}
  c:
    after: {b: success}
    exec: {command: ["./say", "c", "c"]}
  side:
    exec: {command: ["./say", "side", "s"]}
outputs:
  all: "${{ tasks.b.output }}${{ tasks.c.output }}"
"""


@pytest.fixture
def say(folder: Path) -> Path:
    """A folder with a program that marks its first argument and says its second."""
    program(folder, "say", 'echo "$1" >> marks\nprintf %s "$2"')
    (folder / "w.nika.yaml").write_text(CHAIN, encoding="utf-8")
    return folder


def wrote(folder: Path, text: str) -> str:
    (folder / "w.nika.yaml").write_text(text, encoding="utf-8")
    return "w.nika.yaml"


def test_t01_one_file_per_run_named_by_its_first_event(say: Path, terminal: Terminal) -> None:
    """<UTC stamp>-<last 4 hex of the first id>.ndjson, mode 0600; a second run writes a second file."""
    for _ in range(2):
        assert terminal("run", "w.nika.yaml").code == 0
    assert len(traces(say)) == 2
    for trace in traces(say):
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ-[0-9a-f]{4}\.ndjson", trace.name)
        first = frames(trace)[0]
        assert trace.stem[-4:] == first["uuid"][-4:]
        assert trace.stat().st_mode & 0o777 == 0o600


def test_t01_a_refused_run_leaves_no_file(say: Path, terminal: Terminal) -> None:
    """Refused by the check or by its inputs: no folder, no file, nothing run."""
    wrote(say, CHAIN.replace("exec: [", "exec: [ ").replace('"./say"]}\ninputs', '"ls"]}\ninputs'))
    assert terminal("run", "w.nika.yaml").code == 2
    wrote(say, CHAIN)
    assert terminal("run", "w.nika.yaml", "--var", "nobody=1").code == 3
    assert not (say / ".nika").exists()
    assert not marks(say / "marks")


def test_t01_a_journal_that_cannot_be_written_changes_nothing_else(say: Path, terminal: Terminal) -> None:
    """Exit code and outputs stay; the trouble is said."""
    (say / ".nika").write_text("a file in the way", encoding="utf-8")
    done = terminal("run", "w.nika.yaml")
    assert (done.code, done.outputs) == (0, {"all": "wbc"})
    assert "the run itself is unaffected" in done.err


def test_t02_the_manifest_then_every_task(say: Path, terminal: Terminal) -> None:
    """Line 1 is workflow_started with all it must say; then one task_scheduled per task in document order."""
    terminal("run", "w.nika.yaml", "--var", "word=x")
    first, *rest = frames(newest(say))
    assert first["kind"] == "workflow_started"
    required = {
        "workflow", "permits", "workflow_sha256", "semantic_hash", "permits_json", "sandbox", "inputs",
        "trace_format", "engine_version", "platform", "spec_pin", "stamper_kind", "clock",
    }  # fmt: skip
    assert required <= set(first)
    assert first["trace_format"] == 2
    assert json.loads(first["inputs"]) == {"word": "ci-context"}
    assert first["workflow_sha256"] == hashlib.sha256(CHAIN.encode()).hexdigest()
    scheduled = [frame["task"] for frame in rest if frame["kind"] == "task_scheduled"]
    assert scheduled == ["a", "b", "c", "side"]
    at = [frame["kind"] for frame in rest]
    assert set(at[: at.index("verb_invoked")]) == {"nb_source_page", "task_scheduled"}


def test_t03_the_chain_can_be_computed_again(say: Path, terminal: Terminal) -> None:
    """chain(1) is the hash of the genesis tag, chain(n) that of line n-1, the printed head of the last."""
    done = terminal("run", "w.nika.yaml")
    expected = hashlib.sha256(b"nika-trace-v1").hexdigest()
    assert expected == "7466341540fd02fca9ec21937862176b7821a52495b86d81bb5f30d16c8462dc"
    for line in newest(say).read_bytes().splitlines():
        assert json.loads(line)["chain"] == expected
        expected = hashlib.sha256(line).hexdigest()
    assert f"chain {expected}" in done.err


# verdict → exit code and first word.
VERDICTS = {
    "clean": (0, b"OK"),
    "finding": (0, b"FINDING"),
    "incomplete": (0, b"INCOMPLETE"),
    "forged": (2, b"BROKEN"),
    "refused": (2, b"line"),
}


def test_t03_published_journals_are_judged_as_published(conformance: Path, terminal: Terminal) -> None:
    """Fixtures 001 to 007, each with the verdict beside it."""
    found = sorted((conformance / "tests/runtime/trace").glob("00*"))
    assert [path.name[:3] for path in found] == [f"{number:03}" for number in range(1, 8)]
    for path in found:
        expected = json.loads((path / "expected-verify.json").read_bytes())["verdict"]
        done = terminal("trace", "verify", path / "trace.ndjson")
        assert (done.code, done.out.split()[0]) == VERDICTS[expected], path.name


def test_t04_what_settled_is_on_the_disk_before_the_next_begins(say: Path, crasher: Crasher) -> None:
    """Killed at the dispatch of b: a's completion, written at its settle, is there."""
    one_after_the_other = CHAIN.replace("  side:\n", "  side:\n    after: {c: success}\n")
    whole = nika_nb.run(say / wrote(say, one_after_the_other))
    at = [(frame["kind"], frame.get("task")) for frame in frames(Path(str(whole.trace)))]
    crasher.run(say / "w.nika.yaml", lines=at.index(("verb_invoked", "b")) + 1)
    assert of(newest(say), "task_completed", task="a")
    assert not of(newest(say), "task_completed", task="b")


def test_t04_a_half_written_last_line_is_a_tear(say: Path, terminal: Terminal) -> None:
    """Verified OK and named torn; the resume uses what stands before it, and says so."""
    terminal("run", "w.nika.yaml")
    trace = newest(say)
    trace.write_bytes(trace.read_bytes()[:-40])
    verdict = terminal("trace", "verify", trace)
    assert verdict.code == 0
    assert b"TORN" in verdict.out
    resumed = terminal("run", "w.nika.yaml", "--resume", trace)
    assert resumed.code == 0
    assert "is torn, as a crash leaves it" in resumed.err
    assert hits(newest(say)) == {"a", "b", "c", "side"}


def test_t05_a_record_of_the_reference_engine_is_a_hit(
    conformance: Path, folder: Path, terminal: Terminal
) -> None:
    """Its own journal, resumed here under a declared compatibility: the same identity, so nothing runs."""
    found = conformance / "tests/runtime/trace/007-boot-manifest-and-known-pin"
    (folder / "w.nika.yaml").write_bytes((found / "golden.nika.yaml").read_bytes())
    recorded = of(found / "trace.ndjson", "task_completed", task="dire")[0]
    version = frames(found / "trace.ndjson")[0]["engine_version"]
    word = f"qui={json.loads(recorded['output'])}"
    words = ("--resume", found / "trace.ndjson", "--resume-compat", version, "--var", word)
    resumed = terminal("run", "w.nika.yaml", *words)
    assert resumed.code == 0, resumed.err
    hit = of(newest(folder), "task_cache_hit", task="dire")[0]
    assert (hit["def_hash"], hit["input_hash"]) == (recorded["def_hash"], recorded["input_hash"])


def test_t06_hit_tasks_are_not_started(say: Path, crasher: Crasher, terminal: Terminal) -> None:
    """After a kill: hits for what completed, live for the rest, outputs as without the kill."""
    whole = terminal("run", "w.nika.yaml")
    lines = next(n for n, f in enumerate(frames(newest(say)), 1) if f["kind"] == "task_completed")
    for _ in range(20):  # tasks that run side by side write their lines in any order
        crasher.run(say / "w.nika.yaml", lines=lines)
        crash = newest(say)
        completed = {frame["task"] for frame in of(crash, "task_completed")}
        if len(completed) == 1:
            break
    (done,) = completed
    resumed = terminal("run", "w.nika.yaml", "--resume", crash)
    assert resumed.out == whole.out
    assert hits(newest(say)) == {done}
    assert not of(newest(say), "task_started", task=done)
    assert not of(newest(say), "verb_invoked", task=done)
    assert ran(newest(say)) == {"a", "b", "c", "side"} - {done}


@pytest.mark.parametrize("mode", [(), ("--json",), ("--output", "json")], ids=["plain", "json", "one line"])
def test_t07_the_counters(say: Path, terminal: Terminal, mode: tuple[str, ...]) -> None:
    """Exactly this line, beside standard output, on a resume and only on one."""
    first = terminal("run", "w.nika.yaml", *mode)
    assert "resumed" not in first.err
    resumed = terminal("run", "w.nika.yaml", "--resume", newest(say), "--var", "word=x", *mode)
    lines = [line.removeprefix("nika-nb: ").strip() for line in resumed.err.splitlines()]
    assert "resumed · 2 skipped (cache hit) · 2 ran live" in lines
    assert b"resumed \xc2\xb7" not in resumed.out
    if not mode:
        at = resumed.err.splitlines().index("  resumed · 2 skipped (cache hit) · 2 ran live")
        assert resumed.err.splitlines()[at - 1] == ""


def test_t08_an_edit_runs_its_task_and_the_consumers_of_a_changed_output(say: Path) -> None:
    """Its sibling hits; a comment, a blank line, another order of keys run nothing."""
    first = nika_nb.run(say / "w.nika.yaml")
    edited = nika_nb.run(CHAIN.replace("${{ with.a }}b", "${{ with.a }}B"), resume=first.trace)
    assert reasons(Path(str(edited.trace))) == {"b": ("definition", "exec.command")}
    assert edited.outputs == {"all": "wBc"}
    cosmetic = CHAIN.replace("  side:\n", "\n  # beside\n  side:\n").replace(
        '    with: {a: "${{ tasks.a.output }}"}\n    exec: {command: ["./say", "b", "${{ with.a }}b"]}\n',
        "    exec:\n      command: [ './say', b, '${{ with.a }}b' ]\n"
        "    with: {a: '${{ tasks.a.output }}'}\n",
    )
    assert cosmetic.count("# beside") == cosmetic.count("'./say', b") == 1
    same = nika_nb.run(cosmetic, resume=first.trace)
    assert hits(Path(str(same.trace))) == {"a", "b", "c", "side"}


def test_t09_a_variable_runs_its_consumers(say: Path, terminal: Terminal) -> None:
    """Changed: the consumers alone. The same value, or the default said out loud: all hit."""
    terminal("run", "w.nika.yaml")
    trace = newest(say)
    terminal("run", "w.nika.yaml", "--resume", trace, "--var", "word=x")
    assert ran(newest(say)) == {"a", "b"}
    terminal("run", "w.nika.yaml", "--resume", trace, "--var", "word=w")
    assert hits(newest(say)) == {"a", "b", "c", "side"}


def test_t10_an_identical_output_stops_the_cascade(say: Path) -> None:
    """The consumer of what ran again hits where the value is the same; order alone cascades nothing."""
    first = nika_nb.run(say / "w.nika.yaml")
    text = CHAIN.replace('"a", "${{ inputs.word }}"', '"a", "${{ inputs.word }}", "unused"')
    again = nika_nb.run(text, resume=first.trace)
    assert reasons(Path(str(again.trace))) == {"a": ("definition", "exec.command")}
    assert hits(Path(str(again.trace))) == {"b", "c", "side"}


def test_t11_a_renamed_task_runs(say: Path) -> None:
    """Its id is its identity; who orders after it is edited by that."""
    first = nika_nb.run(say / "w.nika.yaml")
    text = CHAIN.replace("  side:\n", "  aside:\n")
    assert reasons(Path(str(nika_nb.run(text, resume=first.trace).trace))) == {"aside": ("new",)}


MODELS = """\
nika: models
model: mock/echo
tasks:
  own: {infer: {prompt: "p", model: mock/mock-streaming}}
  none: {infer: {prompt: "p"}}
  tool: {invoke: {tool: "nika:log", args: {message: "m"}}}
"""


def test_t12_another_model_runs_who_has_none_of_its_own(folder: Path) -> None:
    """By --model and by the envelope alike."""
    first = nika_nb.run(MODELS)
    swapped = nika_nb.run(MODELS, resume=first.trace, model="mock/mock-deterministic")
    edited = nika_nb.run(MODELS.replace("mock/echo", "mock/mock-deterministic"), resume=first.trace)
    for run in (swapped, edited):
        assert reasons(Path(str(run.trace))) == {"none": ("definition", "model")}
        assert run.tasks["none"].output == "mock(mock-deterministic) · p"


SKILLED = """\
nika: skilled
model: mock/echo
permits: {fs: {read: ["skills/**"]}}
tasks:
  review: {agent: {prompt: "look", skills: ["skills/a.md"]}}
  other: {infer: {prompt: "p"}}
"""


def test_t13_an_edited_skill_runs_its_agent(folder: Path, terminal: Terminal) -> None:
    """What the file says is part of the agent; where it cannot be read nothing starts, and no key is made."""
    (folder / "skills").mkdir()
    skill = folder / "skills" / "a.md"
    skill.write_text("---\nname: a\ndescription: d\n---\nBe kind.\n", encoding="utf-8")
    first = nika_nb.run(SKILLED)
    assert hits(Path(str(nika_nb.run(SKILLED, resume=first.trace).trace))) == {"review", "other"}
    skill.write_text(skill.read_text(encoding="utf-8").replace("kind", "strict"), encoding="utf-8")
    edited = nika_nb.run(SKILLED, resume=first.trace)
    assert reasons(Path(str(edited.trace))) == {"review": ("definition", "agent.skills skills/a.md")}
    count = len(traces(folder))
    skill.unlink()
    refused = terminal("run", wrote(folder, SKILLED), "--resume", edited.trace)
    assert (refused.code, "NIKA-AGENT-003" in refused.err) == (2, True)
    assert len(traces(folder)) == count


SECRETS = """\
nika: secrets
permits: {exec: ["./say"]}
secrets:
  token: {source: env, key: NIGHT_TOKEN, egress: [{to: exec}]}
tasks:
  quiet:
    exec: {command: ["./say", "quiet", "fine"], env: {TOKEN: "${{ secrets.token }}"}}
  loud:
    exec: {command: ["./tell", "loud"], env: {TOKEN: "${{ secrets.token }}"}}
  plain:
    exec: {command: ["./say", "plain", "p"]}
"""


@pytest.fixture
def secret(say: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    program(say, "tell", 'echo "$1" >> marks\nprintf "it is %s" "$TOKEN"')
    monkeypatch.setenv("NIGHT_TOKEN", "s3cr3t-of-the-night")
    return SECRETS.replace('exec: ["./say"]', 'exec: ["./say", "./tell"]')


def test_t14_a_rotated_secret_hits_and_a_renamed_reference_runs(
    secret: str, say: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What takes part in an identity is where the secret is kept, never its value."""
    first = nika_nb.run(secret)
    monkeypatch.setenv("NIGHT_TOKEN", "quite-another-one")
    assert "quiet" in hits(Path(str(nika_nb.run(secret, resume=first.trace).trace)))
    monkeypatch.setenv("DAY_TOKEN", "quite-another-one")
    moved = nika_nb.run(secret.replace("NIGHT_TOKEN", "DAY_TOKEN"), resume=first.trace)
    assert reasons(Path(str(moved.trace)))["quiet"] == ("input", "secrets.token")
    assert "plain" in hits(Path(str(moved.trace)))


def test_t14_a_secret_in_an_output_is_withheld_and_the_task_never_hits(secret: str, say: Path) -> None:
    """No keys and no output in the journal, a reason there and on the resume; the value stands nowhere."""
    first = nika_nb.run(secret)
    trace = Path(str(first.trace))
    (loud,) = of(trace, "task_completed", task="loud")
    assert not {"def_hash", "input_hash", "output"} & set(loud)
    assert "secret" in loud["not_resumable"]
    resumed = nika_nb.run(secret, resume=trace)
    assert reasons(Path(str(resumed.trace))) == {"loud": ("not-resumable",)}
    for path in traces(say):
        assert b"s3cr3t-of-the-night" not in path.read_bytes()
    assert marks(say / "marks") == {"quiet": 1, "plain": 1, "loud": 2}


ENDS = """\
nika: ends
permits: {exec: ["./say", "false"]}
inputs: {on: {type: bool, default: false}}
tasks:
  closed:
    when: ${{ inputs.on == true }}
    exec: {command: ["./say", "closed", "c"]}
  dropped:
    on_error: {skip: true}
    exec: {command: ["false"]}
  rescued:
    on_error: {recover: "r"}
    exec: {command: ["false"]}
  broken:
    exec: {command: ["false"]}
  behind:
    after: {broken: success}
    exec: {command: ["./say", "behind", "b"]}
"""


def test_t15_only_a_success_is_a_hit(say: Path) -> None:
    """Closed, dropped, failed and cancelled tasks are worked out anew; a recovered one hits."""
    first = nika_nb.run(ENDS)
    assert first.state == "failed"
    again = nika_nb.run(ENDS, resume=first.trace)
    trace = Path(str(again.trace))
    assert hits(trace) == {"rescued"}
    assert again.tasks["rescued"].output == "r"
    assert reasons(trace) == {"dropped": ("not-recorded",), "broken": ("not-recorded",)}
    assert of(trace, "task_started", task="broken")[0]["detail"] == "failed (NIKA-EXEC-001)"
    opened = nika_nb.run(ENDS, resume=first.trace, vars={"on": True})
    assert "closed" in ran(Path(str(opened.trace)))


def test_t15_a_when_that_turned_false_beats_the_hit(say: Path) -> None:
    """The condition is asked before the memory is."""
    first = nika_nb.run(ENDS, vars={"on": True})
    assert first.tasks["closed"].state == "success"
    again = nika_nb.run(ENDS, resume=first.trace, vars={"on": False})
    assert again.tasks["closed"].state == "skipped"
    assert "closed" not in hits(Path(str(again.trace)))


def test_t16_a_resumed_trace_can_be_resumed(say: Path) -> None:
    """A hit is a record: three resumes in a row run nothing."""
    run = nika_nb.run(say / "w.nika.yaml")
    for _ in range(3):
        run = nika_nb.run(say / "w.nika.yaml", resume=run.trace)
        assert hits(Path(str(run.trace))) == {"a", "b", "c", "side"}
    assert marks(say / "marks") == {"a": 1, "b": 1, "c": 1, "side": 1}


def test_t16_the_last_record_wins(say: Path) -> None:
    """Of two runs in one file the later one's success counts."""
    first, second = (nika_nb.run(say / "w.nika.yaml", vars={"word": word}) for word in ("x", "y"))
    both = say / "both.ndjson"
    both.write_bytes(Path(str(first.trace)).read_bytes() + Path(str(second.trace)).read_bytes())
    for word, expected in (("x", {"c", "side"}), ("y", {"a", "b", "c", "side"})):
        run = nika_nb.run(say / "w.nika.yaml", vars={"word": word}, resume=both, resume_unverified=True)
        assert hits(Path(str(run.trace))) == expected


def test_t16_records_that_cannot_be_used_are_counted(say: Path, terminal: Terminal) -> None:
    """Without keys, or with an output that is no JSON: said, and those tasks run."""
    terminal("run", "w.nika.yaml")

    def damage(line: dict[str, dict[str, str]]) -> None:
        if line["fields"].get("task") == "a":
            line["fields"].pop("def_hash", None)
        if line["fields"].get("task") == "c" and "output" in line["fields"]:
            line["fields"]["output"] = "{half"

    resumed = terminal("run", "w.nika.yaml", "--resume", rewritten(newest(say), damage))
    assert resumed.code == 0
    assert "2 records without a usable resume key; those tasks run live" in resumed.err
    assert ran(newest(say)) == {"a", "c"}
    assert hits(newest(say)) == {"b", "side"}


def test_t16_nothing_to_resume_is_a_notice(say: Path, terminal: Terminal) -> None:
    """A trace without a usable success: everything runs, and nothing is refused."""
    terminal("run", "w.nika.yaml")
    empty = rewritten(newest(say), lambda line: line["kind"] != "task_completed")
    resumed = terminal("run", "w.nika.yaml", "--resume", empty)
    assert resumed.code == 0
    assert "holds no success that can be used again: everything runs live" in resumed.err
    assert "resumed · 0 skipped (cache hit) · 4 ran live" in resumed.err


def test_t17_from_runs_a_task_and_everything_downstream(say: Path, terminal: Terminal) -> None:
    """Edges of order included; what lies upstream or beside still hits."""
    terminal("run", "w.nika.yaml")
    terminal("run", "w.nika.yaml", "--resume", newest(say), "--from", "b")
    assert ran(newest(say)) == {"b", "c"}
    assert hits(newest(say)) == {"a", "side"}
    assert {reason for reason, *_ in reasons(newest(say)).values()} == {"forced"}


def test_t17_from_an_unknown_task_is_refused(say: Path, terminal: Terminal) -> None:
    """Before anything runs, with the names that there are."""
    terminal("run", "w.nika.yaml")
    refused = terminal("run", "w.nika.yaml", "--resume", newest(say), "--from", "nobody")
    assert refused.code == 3
    assert "--from nobody: unknown task" in refused.err
    assert "a · b · c · side" in refused.err
    assert len(traces(say)) == 1
    assert terminal("run", "w.nika.yaml", "--from", "a").code == 3


def test_t18_another_engine_is_refused_unless_declared_exactly(say: Path, terminal: Terminal) -> None:
    """Both versions are named; the exact one proceeds and is attested on the new run's first frame."""
    terminal("run", "w.nika.yaml")

    def aged(line: dict[str, dict[str, str]]) -> None:
        if "engine_version" in line["fields"]:
            line["fields"]["engine_version"] = "0.99.0-old"

    trace = rewritten(newest(say), aged)
    for words in ((), ("--resume-compat", "0.1.0")):
        refused = terminal("run", "w.nika.yaml", "--resume", trace, *words)
        assert refused.code == 3
        assert "0.99.0-old" in refused.err
        assert ENGINE_VERSION in refused.err
    known = set(traces(say))
    proceeds = terminal("run", "w.nika.yaml", "--resume", trace, "--resume-compat", "0.99.0-old")
    assert proceeds.code == 0
    (made,) = set(traces(say)) - known
    first = frames(made)[0]
    assert (first["resumed_from_engine"], first["resume_compat"]) == ("0.99.0-old", "declared")
    assert hits(made) == {"a", "b", "c", "side"}


def test_t19_a_tampered_trace_is_refused_unless_somebody_answers_for_it(
    say: Path, terminal: Terminal
) -> None:
    """A broken chain: exit code 2, or used and attested. One that has no chain: used, said and attested."""
    terminal("run", "w.nika.yaml")
    trace, raw = newest(say), newest(say).read_bytes()
    trace.write_bytes(raw.replace("exec · say".encode(), "exec · Say".encode(), 1))
    refused = terminal("run", "w.nika.yaml", "--resume", trace)
    assert (refused.code, "BROKEN" in refused.err) == (2, True)
    assert len(traces(say)) == 1
    assert terminal("run", "w.nika.yaml", "--resume", trace, "--resume-unverified").code == 0
    first = frames(newest(say))[0]
    assert first["resume_unverified"] == "declared"
    assert first["resume_unverified_finding"].startswith("BROKEN")
    lines = (json.loads(line) for line in raw.splitlines())
    bare = [json.dumps({key: value for key, value in line.items() if key != "chain"}) for line in lines]
    trace.write_text("\n".join(bare) + "\n", encoding="utf-8")
    resumed = terminal("run", "w.nika.yaml", "--resume", trace)
    assert (resumed.code, "WITHOUT verification" in resumed.err) == (0, True)
    assert frames(newest(say))[0]["resume_unverified"] == "unchained"


NUMBERS = """\
nika: numbers
inputs: {n: {type: {union: [integer, number, bool]}, default: 0}}
tasks:
  t: {invoke: {tool: "nika:log", args: {message: "${{ inputs.n }}", data: "${{ inputs.n }}"}}}
"""


@pytest.mark.parametrize(
    ("one", "other"), [(2**53, 2**53 + 1), (1, 1.0), (0, False), (10**30, 10**30 + 1)], ids=str
)
def test_t20_numbers_that_differ_are_different(folder: Path, one: object, other: object) -> None:
    """Beyond what a double holds, and 1 against 1.0."""
    first = nika_nb.run(NUMBERS, vars={"n": one})
    assert hits(Path(str(nika_nb.run(NUMBERS, vars={"n": one}, resume=first.trace).trace))) == {"t"}
    assert hits(Path(str(nika_nb.run(NUMBERS, vars={"n": other}, resume=first.trace).trace))) == set()


ASK = """\
nika: asks
permits: {exec: ["./say"]}
tasks:
  prep:
    exec: {command: ["./say", "prep", "p"]}
  ask:
    after: {prep: success}
    invoke: {tool: "nika:prompt", args: {MODE message: "Well?"}}
  beside:
    exec: {command: ["./say", "beside", "s"]}
  then:
    with: {said: "${{ tasks.ask.output }}"}
    when: ${{ with.said GATE }}
    exec: {command: ["./say", "then", "${{ with.said }}"]}
outputs:
  said: "${{ tasks.ask.output }}"
  then: "${{ tasks.then.output }}"
"""

CONFIRM = ASK.replace("MODE ", "").replace("GATE", "== true")
ASK = ASK.replace("GATE", '!= "never"')
INPUT = ASK.replace("MODE", "mode: input,")
CHOICE = ASK.replace("MODE", 'mode: choice, choices: ["red", "blue"],')


def test_t21_a_prompt_that_nobody_answers_pauses(say: Path, terminal: Terminal) -> None:
    """workflow_paused stands last, exit code 4; no failure, nothing downstream; what could run has run."""
    paused = terminal("run", wrote(say, CONFIRM))
    assert paused.code == 4
    assert paused.out == b""
    trace = newest(say)
    assert frames(trace)[-1]["kind"] == "workflow_paused"
    assert not {"task_failed", "workflow_failed", "workflow_completed"} & set(kinds(trace))
    assert ran(trace) == {"prep", "beside"}
    assert {frame["task"] for frame in of(trace, "task_completed")} == {"prep", "beside"}
    assert "nika-nb answer" in paused.err


@pytest.mark.parametrize(
    ("text", "answer", "value"),
    [
        (CONFIRM, "yes", True), (CONFIRM, "y", True), (CONFIRM, "no", False), (CONFIRM, "n", False),
        (CONFIRM, "true", True), (CONFIRM, "false", False), (INPUT, "yes", "yes"), (INPUT, "42", "42"),
        (INPUT, "", ""), (INPUT, "a=b", "a=b"), (CHOICE, "blue", "blue"),
    ],
)  # fmt: skip
def test_t22_an_answer_is_read_by_its_mode(
    say: Path, terminal: Terminal, text: str, answer: str, value: object
) -> None:
    """A confirmation yields true or false, an input the text as it is, a choice the chosen one."""
    terminal("run", wrote(say, text))
    paused = newest(say)
    answered = terminal("run", "w.nika.yaml", "--resume", paused, "--answer", f"ask={answer}")
    assert answered.code == 0, answered.err
    assert answered.outputs["said"] == value
    assert hits(newest(say)) == {"prep", "beside"}
    terminal("run", "w.nika.yaml")
    by_door = terminal("answer", newest(say), f"ask={answer}")
    assert by_door.out == answered.out


@pytest.mark.parametrize(
    ("text", "answer"),
    [(CHOICE, "green"), (CONFIRM, "maybe"), (CONFIRM, "2")],
    ids=["choice", "word", "number"],
)
def test_t22_a_wrong_answer_consumes_nothing(say: Path, terminal: Terminal, text: str, answer: str) -> None:
    """Refused with what it takes; the prompt still waits and the right answer completes."""
    terminal("run", wrote(say, text))
    paused = newest(say)
    for words in (
        ("answer", paused, f"ask={answer}"),
        ("run", "w.nika.yaml", "--resume", paused, "--answer", f"ask={answer}"),
    ):
        refused = terminal(*words)
        assert refused.code == 3
        assert "it still waits" in refused.err
    assert traces(say) == [paused]
    right = "red" if text is CHOICE else "yes"
    assert terminal("answer", paused, f"ask={right}").code == 0


def test_t23_an_answer_to_what_is_no_prompt_is_refused(say: Path, terminal: Terminal) -> None:
    """An unknown task, a task that asks nothing, a gate that is settled."""
    terminal("run", wrote(say, CONFIRM))
    paused = newest(say)
    for key in ("nobody", "prep"):
        for words in (("run", "w.nika.yaml", "--resume", paused, "--answer"), ("answer", paused)):
            refused = terminal(*words, f"{key}=yes")
            assert refused.code == 3
            assert key in refused.err
            assert "ask" in refused.err
    assert traces(say) == [paused]
    terminal("answer", paused, "ask=no")
    settled = newest(say)
    for words in (("run", "w.nika.yaml", "--resume", settled, "--answer"), ("answer", settled)):
        refused = terminal(*words, "ask=yes")
        assert refused.code == 3, refused.err
    assert len(traces(say)) == 2


def test_t24_a_default_answers_where_nobody_can(say: Path, terminal: Terminal) -> None:
    """No pause; the decision is witnessed with its source."""
    text = CONFIRM.replace("message:", "default: true, message:")
    done = terminal("run", wrote(say, text))
    assert (done.code, done.outputs["said"]) == (0, True)
    assert of(newest(say), "approval_decided")[0]["source"] == "default"


@pytest.mark.parametrize(
    ("policy", "said", "code"),
    [
        ("{recover: true, on_codes: [NIKA-BUILTIN-PROMPT-001]}", True, 0),
        ("{recover: true}", True, 0),
        ("{recover: true, on_codes: [NIKA-TIMEOUT-001]}", None, 4),
    ],
    ids=["its code", "any code", "another code"],
)
def test_t24_what_the_author_provided_for_goes_before_the_pause(
    say: Path, terminal: Terminal, policy: str, said: object, code: int
) -> None:
    """`on_error` handles that nobody can answer; where it does not, the run pauses."""
    text = CONFIRM.replace("    invoke:", f"    on_error: {policy}\n    invoke:")
    done = terminal("run", wrote(say, text))
    assert done.code == code, done.err
    assert (done.outputs["said"] if code == 0 else None) == said


TELLING = """\
nika: telling
secrets:
  token: {source: env, key: NIGHT_TOKEN, egress: [{to: "nika:prompt"}]}
tasks:
  ask:
    invoke: {tool: "nika:prompt", args: {message: "Use ${{ secrets.token }}?"}}
"""


def test_t25_a_question_shows_no_secret(
    say: Path, terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the frame, on the console and in the one line of JSON stands the mask."""
    monkeypatch.setenv("NIGHT_TOKEN", "s3cr3t-of-the-night")
    for mode in ((), ("--json",), ("--output", "json")):
        paused = terminal("run", wrote(say, TELLING), *mode)
        assert paused.code == 4, paused.err
        said = paused.out + paused.err.encode() + newest(say).read_bytes()
        assert b"s3cr3t-of-the-night" not in said
        assert of(newest(say), "workflow_paused")[0]["message"] == "Use ••••••?"


def test_t26_an_answer_to_another_question_opens_nothing(say: Path) -> None:
    """The text was edited after it was shown: NIKA-SEC-010, and the gated task never starts."""
    first = nika_nb.run(CONFIRM)
    (prompt,) = first.prompts
    edited = CONFIRM.replace("Well?", "Delete everything?")
    from nika_nb.runs.request import Place, Request
    from nika_nb.runs.run import start

    request = Request(
        source=nika_nb.errors.Source(edited),
        place=Place.here(),
        resume=first.trace,
        answers={"ask": "yes"},
        shown={"ask": prompt.shown_hash},
    )
    run = start(request)
    run.wait()
    trace = Path(str(run.trace))
    assert run.state == "failed"
    assert of(trace, "task_failed", task="ask")[0]["detail"].startswith("NIKA-SEC-010")
    assert of(trace, "approval_decided", task="ask")[0]["why"] == "approval.content_mismatch"
    assert "then" not in ran(trace)


def test_t26_an_edited_question_asks_again(say: Path) -> None:
    """Without an answer, a decided gate whose question changed is open again."""
    answered = nika_nb.run(CONFIRM).answer("yes")
    assert answered.state == "completed"
    again = nika_nb.run(CONFIRM.replace("Well?", "Really?"), resume=answered.trace)
    assert again.state == "paused"
    assert reasons(Path(str(again.answer("yes").trace)))["ask"][0] in ("definition", "not-recorded")


def test_t27_a_question_never_expires_and_a_showing_does(say: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The pause of last year is answered today; what was shown 15 minutes ago is to be looked at again."""
    from nika_nb.runs import ticket

    run = nika_nb.run(CONFIRM)

    def aged(line: dict[str, int]) -> None:
        line["timestamp"] -= 365 * 86_400 * 10**9

    paused = rewritten(Path(str(run.trace)), aged, "2025-01-01T00-00-00Z-0001.ndjson")
    Path(str(run.trace)).unlink()
    old = nika_nb.attach(paused)
    shown = ticket.mint(old.prompts[0])
    assert (shown.shown_hash, shown.stale) == (old.prompts[0].shown_hash, False)
    monkeypatch.setattr(ticket, "now", lambda: shown.minted + 15 * 60 + 1)
    assert shown.stale
    assert not ticket.mint(old.prompts[0]).stale
    assert old.answer("yes").state == "completed"


TWO = """\
nika: two
permits: {exec: ["./say"]}
tasks:
  one: {invoke: {tool: "nika:prompt", args: {message: "One?", mode: input}}}
  two: {invoke: {tool: "nika:prompt", args: {message: "Two?", mode: input}}}
  both:
    with: {a: "${{ tasks.one.output }}", b: "${{ tasks.two.output }}"}
    exec: {command: ["./say", "both", "${{ with.a }} ${{ with.b }}"]}
outputs: {both: "${{ tasks.both.output }}"}
"""


def test_t28_two_questions_at_once_are_both_open(say: Path, terminal: Terminal) -> None:
    """One pause lists both, neither is a failure; a bare answer is refused, one answer leaves the other."""
    assert terminal("run", wrote(say, TWO)).code == 4
    first = newest(say)
    assert [one["task"] for one in json.loads(frames(first)[-1]["prompts"])] == ["one", "two"]
    assert not kinds(first)["task_failed"]
    assert terminal("answer", first, "x").code == 3
    assert terminal("answer", first, "two=b").code == 4
    assert [one["task"] for one in json.loads(frames(newest(say))[-1]["prompts"])] == ["one"]
    done = terminal("answer", newest(say), "one=a")
    assert (done.code, done.outputs) == (0, {"both": "a b"})


def test_t29_old_traces_go_and_questions_stay(
    say: Path, terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Paused ones and the newest of each workflow survive, one line says what went, --force is asked for."""
    monkeypatch.setenv("NIKA_TRACE_KEEP", "1")
    terminal("run", wrote(say, CONFIRM))
    paused = newest(say)
    wrote(say, CHAIN)
    for _ in range(3):
        assert terminal("run", "w.nika.yaml", "--no-gc").code == 0
    assert len(traces(say)) == 4
    said = [line for line in terminal("run", "w.nika.yaml").err.splitlines() if "trace gc" in line]
    assert len(said) == 1
    assert "removed 2 (more than 1 of one workflow)" in said[0]
    assert paused in traces(say)
    refused = terminal("trace", "rm", paused)
    assert (refused.code, "`ask`" in refused.err, "--force" in refused.err) == (3, True, True)
    assert terminal("trace", "rm", paused, "--force").code == 0
    assert paused not in traces(say)


def test_t30_looking_at_a_run_runs_nothing(say: Path, terminal: Terminal) -> None:
    """Shown and stepped through, the outputs are those that were settled by then."""
    terminal("run", "w.nika.yaml")
    ran_once, trace = marks(say / "marks"), newest(say)
    assert terminal("trace", "show", trace).code == 0
    settled: dict[str, object] = {}
    for step in nika_nb.replay(trace):
        if step.task is not None and step.kind == "task_completed":
            settled[step.task] = {"a": "w", "b": "wb", "c": "c", "side": "s"}[step.task]
        assert dict(step.outputs) == settled
    assert len(settled) == 4
    assert marks(say / "marks") == ran_once
    assert traces(say) == [trace]


def test_t31_a_fresh_run_never_hits(say: Path, terminal: Terminal) -> None:
    """A memory is asked only under --resume, however many traces lie there."""
    for count in (1, 2):
        terminal("run", "w.nika.yaml")
        assert not hits(newest(say))
        assert marks(say / "marks")["a"] == count


FAN = """\
nika: fan
permits: {exec: ["./say"]}
inputs: {rows: {type: {array: string}, default: ["p", "q", "r"]}}
tasks:
  fan:
    for_each: {items: "${{ inputs.rows }}"}
    exec: {command: ["./say", "${{ item }}", "${{ item }}!"]}
outputs: {all: "${{ tasks.fan.output }}"}
"""


def test_t32_a_fan_out_hits_as_a_whole_and_item_by_item(say: Path, crasher: Crasher) -> None:
    """Equal items and definition: one hit. A changed item, or a kill in the middle: only what is missing."""
    first = nika_nb.run(say / wrote(say, FAN))
    assert hits(Path(str(nika_nb.run(say / "w.nika.yaml", resume=first.trace).trace))) == {"fan"}
    assert marks(say / "marks") == {"p": 1, "q": 1, "r": 1}
    changed = nika_nb.run(say / "w.nika.yaml", resume=first.trace, vars={"rows": ["p", "x", "r"]})
    assert changed.outputs == {"all": ["p!", "x!", "r!"]}
    assert marks(say / "marks") == {"p": 1, "q": 1, "r": 1, "x": 1}
    (say / "marks").unlink()
    at = [frame["kind"] for frame in frames(Path(str(first.trace)))].index("nb_item_completed")
    crasher.run(say / "w.nika.yaml", lines=at + 1)
    (done,) = [frame["item"] for frame in of(newest(say), "nb_item_completed")]
    before = marks(say / "marks")
    resumed = crasher.run(say / "w.nika.yaml", resume=newest(say))
    assert resumed["outputs"] == {"all": ["p!", "q!", "r!"]}
    assert marks(say / "marks") - before == {name: 1 for at, name in enumerate("pqr") if at != done}


def test_a_bare_resume_takes_the_newest_and_says_which(say: Path, terminal: Terminal) -> None:
    """Of this workflow's name, under this folder; another workflow's trace is passed over."""
    terminal("run", "w.nika.yaml")
    terminal("run", "w.nika.yaml", "--var", "word=x")
    wanted = newest(say)
    (say / "o.nika.yaml").write_text(CHAIN.replace("nika: chain", "nika: other"), encoding="utf-8")
    terminal("run", "o.nika.yaml")
    resumed = terminal("run", "w.nika.yaml", "--var", "word=x", "--resume")
    assert f"resuming from {wanted.name}" in resumed.err
    assert hits(newest(say)) == {"a", "b", "c", "side"}


def test_the_python_door_raises_what_the_terminal_says(say: Path) -> None:
    """UsageError for a wrong request, ResumeRefused for a trace that cannot be used."""
    first = nika_nb.run(say / "w.nika.yaml")
    with pytest.raises(UsageError, match="unknown task"):
        nika_nb.run(say / "w.nika.yaml", resume=first.trace, from_="nobody")
    trace = Path(str(first.trace))
    trace.write_bytes(
        trace.read_bytes().replace(b'"note":"exec', b'"note":"EXEC', 1).replace(b"say", b"sya", 1)
    )
    with pytest.raises(ResumeRefused) as refused:
        nika_nb.run(say / "w.nika.yaml", resume=trace)
    assert refused.value.exit_code == 2
