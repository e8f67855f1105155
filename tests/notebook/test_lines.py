"""The `%nika` lines, and what of Python goes into a line and comes out of a cell."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from nika_nb import runs
from nika_nb.notebook import commands
from nika_nb.settings import SETTINGS
from tests.doors import frames, newest
from tests.notebook.shells import Notebook
from tests.notebook.test_magic import ASK, HELLO, traces

ROWS = """nika: rows
model: mock/echo
inputs: { rows: { type: { array: { object: { name: string, age: integer } } } } }
tasks:
  each:
    for_each: { items: "${{ inputs.rows }}" }
    infer: { prompt: "${{ item.name }} is ${{ item.age }}" }
outputs: { said: "${{ tasks.each.output }}" }
"""
CHAIN = """nika: chain
model: mock/echo
permits: { exec: ["false", "true"] }
inputs: { word: { type: string, default: "hello" } }
tasks:
  one: { infer: { prompt: "one ${{ inputs.word }}" } }
  two: { after: { one: success }, exec: { command: ["false"] } }
outputs: { said: "${{ tasks.one.output }}" }
"""


@pytest.mark.parametrize("name", sorted(commands.table()))
def test_every_command_has_its_help(notebook: Notebook, folder: Path, name: str) -> None:
    """`--help` says how it is written and what it does, and does nothing."""
    said = notebook.python(f"%nika {name} --help")
    assert not said.failed
    assert said.text.startswith(f"%nika {commands.table()[name].usage}")
    assert not traces(folder)


def test_the_commands_are_all_there(notebook: Notebook) -> None:
    """What the guide names can be typed, and help lists it."""
    said = notebook.python("%nika").text
    shown = "check run resume answer decline inbox runs show why verify attach sweep config"
    for name in shown.split(" "):
        assert f"%nika {name}" in said
    assert "not a command" in notebook.python("%nika dance").error
    assert "did you mean `runs`?" in notebook.python("%nika rnus").error
    assert "not a command; in Python it is `nika_nb.ledger(…)`" in notebook.python("%nika ledger").error
    assert "in Python" not in notebook.python("%nika NikaError").error


def test_the_language_is_explained(notebook: Notebook) -> None:
    """By a tool, a key, a code; a word that is a command as well is told as both; a slip is told."""
    assert "the address; its host" in notebook.python("%nika help fetch").text
    assert "without it: text" in notebook.python("%nika help decode").text
    assert "NIKA-SEC-004" in notebook.python("%nika help sec-004").text
    both = notebook.python("%nika help run").text
    assert both.startswith("%nika run NAME|FILE")
    assert "of a workflow" in both
    assert notebook.python("%nika help attach").text.startswith("%nika attach [TRACE]")
    assert "did you mean `attach`?" in notebook.python("%nika help attch").error


def test_a_refusal_names_the_page_that_says_more(notebook: Notebook) -> None:
    """Of a type, a tool or an expression that is none."""
    refused = notebook.run(CHAIN.replace("type: string", "type: text")).error
    assert refused.endswith("`%nika help types` says more")


# (a line, what is said of it)
STRANGE_WORDS = [
    ("replay --fin", "%nika replay: there is no option --fin, did you mean `--fine`?"),
    ("attach --quiet", "%nika attach: there is no option --quiet; it is written `%nika attach [TRACE]`"),
    ("deploy nightly flow.nika.yaml --root x", "%nika deploy: there is no option --root"),
    ("answer --force yes", "%nika answer: there is no option --force"),
    ("why a b", "%nika why: 'b' is one word too many"),
    ("traces all", "%nika traces: 'all' is one word too many"),
    ("show a b c", "%nika show: 'c' is one word too many"),
    ("resume --quite", "%nika resume: there is no option --quite, did you mean `--quiet`?"),
    ("run flow.nika.yaml --resum", "%nika run flow.nika.yaml: there is no option --resum, did you mean"),
    ("run nightly --resume", "a deployment is run with inputs only, not with --resume"),
]


@pytest.mark.parametrize(("line", "said"), STRANGE_WORDS, ids=[line for line, _ in STRANGE_WORDS])
def test_a_word_that_a_command_cannot_take_is_told(
    notebook: Notebook, folder: Path, line: str, said: str
) -> None:
    """Never passed over in silence: what may have been meant, or how the line is written."""
    found = notebook.python(f"%nika {line}")
    assert said in found.error
    assert not traces(folder)


def test_a_variable_stands_in_the_line(notebook: Notebook) -> None:
    """`$name` is the value itself: no quoting, no reading of digits as a number, no second filling."""
    notebook.python("""name = "it's \\"me\\"\\n --check $x {1+1}"; digits = "007" """)
    said = notebook.run(HELLO, "--var name=$name").value.outputs["said"]
    assert said.endswith('hello it\'s "me"\n --check $x {1+1}')
    assert notebook.run(HELLO, "--var name=$digits").value.outputs["said"].endswith("007")
    assert notebook.run(HELLO, "--var 'name=$digits'").value.outputs["said"].endswith("$digits")
    assert notebook.run(HELLO, '--var "name=agent ${digits}"').value.outputs["said"].endswith("agent 007")


def test_a_variable_that_is_not_there_is_named(notebook: Notebook, folder: Path) -> None:
    """What is missing, a near name, and how a dollar sign is written; nothing runs."""
    notebook.python("topic = 'x'")
    found = notebook.run(HELLO, "--var name=$topix")
    assert found.failed
    for part in ("$topix", "`topix` is not defined", "did you mean `topic`", "$$"):
        assert part in found.error
    assert not traces(folder)


def test_a_frame_becomes_the_rows_of_a_fan_out(notebook: Notebook) -> None:
    """By its variable's name under --vars, or by `$df` under --var; whole numbers stay whole."""
    notebook.python("import pandas as pd; df = pd.DataFrame({'name': ['Ann', 'Bo'], 'age': [7, 8]})")
    told = ["mock(echo) · Ann is 7", "mock(echo) · Bo is 8"]
    for line in ("--vars rows=df", "--var rows=$df", "--vars rows=$df"):
        said = notebook.run(ROWS, line)
        assert said.value.outputs["said"] == told, line


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("--vars df", "`df` is list, not a dict; one input is given as INPUT=df"),
        ("--vars rows=nope", "--vars rows=nope: `nope` is not defined"),
        ("--vars nope", "--vars nope: `nope` is not defined"),
        ('--vars rows=df[["text"]]', "name of a variable, not an expression; write `few = …`"),
        ("--resume $df", "there is no trace"),
    ],
)
def test_wrong_variables_are_told(notebook: Notebook, folder: Path, line: str, told: str) -> None:
    """Which option, which name, what to write instead."""
    notebook.python("df = [1]")
    found = notebook.run(ROWS, line)
    assert found.failed
    assert told in found.error
    assert not traces(folder)


def test_answers_and_runs_are_variables_too(notebook: Notebook) -> None:
    """An answer is the value itself; a run stands for its trace."""
    notebook.python("yes = True")
    notebook.run(ASK, "--into run")
    answered = notebook.python("%nika answer $run ask=$yes")
    assert answered.value.outputs == {"go": True}
    assert "cache hit" in notebook.run(ASK, "--resume $run").text


@pytest.mark.parametrize(("line", "outputs"), [("answer ask=yes", {"go": True}), ("decline", {"go": False})])
def test_the_variable_that_holds_a_run_goes_on_with_it(
    notebook: Notebook, folder: Path, line: str, outputs: dict[str, bool]
) -> None:
    """Answered by a line, the run in the variable is the one that went on: nobody looks at an old state."""
    run = notebook.run(ASK, "--into run").value
    went_on = notebook.python(f"%nika {line}").value
    assert went_on is run
    assert notebook.shell.user_ns["run"].outputs == outputs
    assert frames(newest(folder))[0]["door"] == "%nika"


def test_a_cell_value_is_the_last_value(notebook: Notebook) -> None:
    """`_` and `Out[n]` hold the run, as of every cell."""
    shell = notebook.shell
    shell.run_cell(f"%%nika\n{HELLO}", store_history=True)
    number = shell.execution_count - 1
    assert shell.user_ns["Out"][number].outputs["said"].endswith("hello you")
    assert shell.user_ns["_"] is shell.user_ns["Out"][number]


def test_a_recorded_text_is_resumed_by_a_line(notebook: Notebook, folder: Path) -> None:
    """The text and its inputs come from the trace; what it settled is skipped, an input may be given anew."""
    assert notebook.run(CHAIN, "--var word=bye").failed
    again = notebook.python("%nika resume")
    assert "↷  one  cache hit (resume)" in again.text
    assert "two" in again.error
    other = notebook.python(f"%nika resume {traces(folder)[0].stem} --var word=new --plan")
    assert "input changed: inputs.word" in other.text
    assert "first word" in notebook.python("%nika resume --resume x").error


def test_a_run_that_is_named_amiss_is_no_answer(notebook: Notebook) -> None:
    """A bare word beside a named answer was meant for the run; nothing is consumed."""
    notebook.run(ASK)
    assert "there is no trace nope" in notebook.python("%nika answer nope ask=yes").error
    assert notebook.python("%nika answer ask=yes").value.state == "completed"


def test_a_line_deploys_with_what_a_terminal_binds(notebook: Notebook, folder: Path) -> None:
    """Inputs with --var or without, the model, the cap; an unknown option is told by the near one."""
    (folder / "hello.nika.yaml").write_text(HELLO, encoding="utf-8")
    notebook.python("who = 'them'")
    line = "%nika deploy daily hello.nika.yaml --model mock/mock-deterministic --max-cost-usd 0.5"
    for given in ("name=$who", "--var name=$who"):
        assert "daily · version 1" in notebook.python(f"{line} {given}").text
    [made] = runs.list_deployments()
    assert (made.snapshot.inputs, made.snapshot.model) == ({"name": "them"}, "mock/mock-deterministic")
    assert made.snapshot.max_cost_usd == 0.5
    assert "did you mean `--model`?" in notebook.python("%nika deploy daily hello.nika.yaml --modle x").error


def test_a_file_is_run_and_judged_by_a_line(notebook: Notebook, folder: Path) -> None:
    """With the options of a cell; the cell of another notebook by its address."""
    (folder / "hello.nika.yaml").write_text(HELLO, encoding="utf-8")
    assert "is sound: 1 task" in notebook.python("%nika check hello.nika.yaml").text
    run = notebook.python("%nika run hello.nika.yaml --var name=file --into made")
    assert run.value.outputs["said"].endswith("hello file")
    assert notebook.shell.user_ns["made"] is run.value
    assert "1 skipped" in notebook.python("%nika run hello.nika.yaml --var name=file --resume --plan").text
    assert "cannot be read" in notebook.python("%nika run nowhere.nika.yaml").error
    assert "takes one file" in notebook.python("%nika check").error


def test_a_trace_is_shown_and_verified_by_a_line(notebook: Notebook, folder: Path) -> None:
    """The newest, or the one that is named; a changed line is found."""
    notebook.run(HELLO)
    assert "1/1 done" in notebook.python("%nika show").text
    shown = notebook.python("%nika show greet").text
    assert traces(folder)[0].name in shown
    assert "hello you" in shown
    assert "nor is it a task of the newest one" in notebook.python("%nika show nobody").error
    assert "OK" in notebook.python("%nika verify").text
    path = traces(folder)[0]
    path.write_bytes(path.read_bytes().replace(b"hello you", b"hello yon"))
    assert "BROKEN at line 7" in notebook.python(f"%nika verify {path.name}").text


def test_a_line_says_why_a_task_ran(notebook: Notebook) -> None:
    """Of the newest run, or of the one that is named; as a value too."""
    notebook.run(HELLO)
    notebook.run(HELLO, "--resume --var name=you2")
    said = notebook.python("%nika why")
    assert "input changed: inputs.name" in said.text
    assert [task.task for task in said.value.tasks] == ["greet"]


def test_the_settings_are_shown_and_set(notebook: Notebook, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is in force and where it comes from; a value that says nothing changes nothing."""
    monkeypatch.setenv("NIKA_NB_MAX_PARALLEL", os.environ.get("NIKA_NB_MAX_PARALLEL", ""))
    assert _setting(notebook, "max_parallel") == ["max_parallel", "32", "default"]
    assert "max_parallel = 4" in notebook.python("%nika config max_parallel=4").text
    assert _setting(notebook, "max_parallel")[:4] == ["max_parallel", "4", "set", "here"]
    refused = notebook.python("%nika config NIKA_NB_MAX_PARALLEL=many")
    assert "is no whole number" in refused.error
    assert _setting(notebook, "max_parallel")[1] == "4"
    notebook.python("%nika config max_parallel=")
    assert _setting(notebook, "max_parallel") == ["max_parallel", "32", "default"]
    assert "did you mean `max_parallel`" in notebook.python("%nika config max_paralel=3").error
    assert notebook.python("%nika config max_parallel").text.split()[:3] == ["max_parallel", "32", "default"]


def test_a_setting_goes_back_to_its_default_by_the_word_that_the_list_shows(
    notebook: Notebook, monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    """`unset` is what stands there, so it can be typed; a name in capitals is the same name."""
    monkeypatch.setenv("NIKA_NB_SIGN_KEY", "")
    (folder / "mine.pem").write_text("a key", encoding="utf-8")
    assert "sign_key = mine.pem" in notebook.python("%nika config SIGN_KEY=mine.pem").text
    assert "sign_key = unset (default)" in notebook.python("%nika config sign_key=unset").text
    assert _setting(notebook, "sign_key") == ["sign_key", "unset", "default"]


STRANGE_SETTINGS = [
    ("interactive=maybe", "NIKA_NB_INTERACTIVE='maybe' is neither 1 nor 0"),
    ("on_pause=stop", "neither `return` nor `raise`"),
    ("sign_key=none.pem", "sign_key=none.pem: there is no such file"),
    ("mock=none.json", "there is no such file"),
    ("trace_keep=-1", "is no whole number from 1 on"),
]


@pytest.mark.parametrize(("word", "said"), STRANGE_SETTINGS, ids=[word for word, _ in STRANGE_SETTINGS])
def test_a_setting_that_says_nothing_changes_none(
    notebook: Notebook, monkeypatch: pytest.MonkeyPatch, word: str, said: str
) -> None:
    """It is told what may be said; what stands before it on the line is not set either."""
    for one in SETTINGS:
        monkeypatch.setenv(one.variable, "")
    refused = notebook.python(f"%nika config max_parallel=4 {word}")
    assert said in refused.error
    assert "nothing was changed" in refused.error
    assert _setting(notebook, "max_parallel") == ["max_parallel", "32", "default"]
    assert _setting(notebook, word.partition("=")[0])[-1] == "default"


def _setting(notebook: Notebook, name: str) -> list[str]:
    table = notebook.python("%nika config").text.splitlines()
    row = next(line for line in table if line.startswith(f"{name} "))
    return row.split("NIKA_")[0].split()


def test_a_pause_stops_run_all_where_it_is_told_to(
    notebook: Notebook, monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    """NIKA_NB_ON_PAUSE=raise: one sentence that says how to go on; the run waits all the same."""
    monkeypatch.setenv("NIKA_NB_ON_PAUSE", "raise")
    cell = notebook.run(ASK, "--into run")
    assert cell.failed
    assert cell.error.startswith("`ask` waits for an answer to `ask`: %nika answer 2")
    assert "\n" not in cell.error
    monkeypatch.delenv("NIKA_NB_ON_PAUSE")
    assert notebook.python("%nika answer ask=yes").value.outputs == {"go": True}


def test_what_is_open_is_told_when_the_extension_loads(
    notebook: Notebook, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A line each; and whatever is wrong with the folder, the magics are there."""
    notebook.run(ASK)
    assert notebook.python("%reload_ext nika_nb").text == "nika · 1 prompt waits: `%nika inbox`\n"

    def broken(folder: Any) -> Any:
        raise OSError("no such disk")

    monkeypatch.setattr("nika_nb.notebook.magic.open_matters", broken)
    assert "could not be looked up: OSError: no such disk" in notebook.python("%reload_ext nika_nb").text
    assert notebook.run(HELLO).value.state == "completed"
