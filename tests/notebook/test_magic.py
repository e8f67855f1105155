"""The magics in IPython's own shell: what a cell returns, binds, refuses and leaves behind."""

from __future__ import annotations

import gzip
import os
import threading
from pathlib import Path
from typing import Any

import pytest
from IPython.utils.capture import capture_output

import nika_nb
from nika_nb.board import tracepage
from nika_nb.notebook.watch import Watch
from nika_nb.runs.run import Run
from tests.notebook.shells import Notebook

HELLO = """nika: hello
model: mock/echo
inputs: { name: { type: string, default: "you" } }
tasks:
  greet: { infer: { prompt: "hello ${{ inputs.name }}" } }
outputs: { said: "${{ tasks.greet.output }}" }
"""

ASK = """nika: ask
permits: { tools: ["nika:prompt"] }
tasks:
  ask: { invoke: { tool: "nika:prompt", args: { message: "Go on?" } } }
outputs: { go: "${{ tasks.ask.output }}" }
"""


def traces(folder: Path) -> list[Path]:
    return sorted((folder / ".nika" / "traces").glob("*.ndjson"))


def test_a_cell_runs_and_its_value_is_the_run(notebook: Notebook, folder: Path) -> None:
    """The panel's still is shown once, the run comes back, the trace lies beside the notebook."""
    cell = notebook.run(HELLO)
    assert cell.value.outputs == {"said": "mock(echo) · hello you"}
    assert cell.text.count("1/1 done") == 1
    assert cell.value.trace == traces(folder)[0]


def test_variables_come_by_name_by_dict_and_into_a_name(notebook: Notebook) -> None:
    """--vars gives a dict, --var goes over it, --into binds the run."""
    notebook.python("facts = {'name': 'dict'}")
    assert notebook.run(HELLO, "--vars facts").value.outputs["said"].endswith("dict")
    notebook.run(HELLO, "--vars facts --var name=word --into run")
    assert notebook.shell.user_ns["run"].outputs["said"].endswith("hello word")


def test_a_trace_that_is_gone_is_told_in_a_notebook_of_another_kind(
    notebook: Notebook, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A notebook that is kept as Markdown carries no trace: there is nothing to put it back from."""
    monkeypatch.setenv("JPY_SESSION_NAME", "notes.md")
    said = notebook.run(HELLO, "--resume .nika/traces/gone.ndjson").text
    assert "gone.ndjson" in said
    assert "KeyError" not in said


def test_the_body_is_never_expanded(notebook: Notebook) -> None:
    """Dollar signs and braces of a body are the workflow's own."""
    notebook.python("inputs = 'python'")
    said = notebook.run(HELLO.replace("hello ${{ inputs.name }}", "{inputs} $inputs !ls ${{ inputs.name }}"))
    assert said.value.outputs["said"] == "mock(echo) · {inputs} $inputs !ls you"


def test_resume_skips_by_name(notebook: Notebook) -> None:
    """--resume takes the newest trace of this workflow and says which."""
    notebook.run(HELLO)
    cell = notebook.run(HELLO, "--resume")
    assert "resuming from" in cell.text
    assert "↷  greet  cache hit (resume)" in cell.text


def test_check_runs_nothing(notebook: Notebook, folder: Path) -> None:
    """--check judges, prints, and leaves no trace."""
    cell = notebook.run(HELLO, "--check")
    assert cell.value is None
    assert "is sound: 1 task" in cell.text
    assert not traces(folder)


def test_quiet_says_one_line(notebook: Notebook) -> None:
    """--quiet leaves the panel out."""
    assert notebook.run(HELLO, "--quiet").text.count("\n") == 1


def test_help_lists_the_options(notebook: Notebook) -> None:
    """--help prints every option and runs nothing."""
    text = notebook.run(HELLO, "--help").text
    assert all(option in text for option in ("--var", "--vars", "--resume", "--from", "--answer", "--into"))


def test_a_pause_returns_at_once_and_is_answered_in_python(notebook: Notebook) -> None:
    """The cell's value waits; outputs say so in a sentence; an answer goes on in the same run."""
    run = notebook.run(ASK).value
    assert run.state == "paused"
    shown = notebook.python("_x = 1").value
    assert shown is None
    notebook.shell.user_ns["run"] = run
    cell = notebook.python("run.outputs")
    assert cell.error == (
        "`ask` waits for an answer to `ask`: it has no outputs yet; "
        "its form, or `run.answer(…)`, goes on with it"
    )
    before = run.id
    assert run.answer("yes") is run
    assert (run.state, run.outputs, run.id) == ("completed", {"go": True}, before)


def test_a_line_answers_and_draws_what_a_trace_tells(notebook: Notebook, folder: Path) -> None:
    """%nika attach shows the question from the file alone, %nika answer continues it."""
    notebook.run(ASK)
    attached = notebook.python("%nika attach")
    assert "Go on?" in attached.text
    assert attached.value.state == "paused"
    answered = notebook.python("%nika answer ask=no")
    assert answered.value.outputs == {"go": False}
    assert len(traces(folder)) == 2


def test_a_failed_workflow_stops_run_all_with_one_sentence(notebook: Notebook) -> None:
    """The cell fails shortly; the panel has told the rest."""
    text = HELLO.replace(
        'infer: { prompt: "hello ${{ inputs.name }}" }',
        "invoke: {tool: 'nika:assert', args: {condition: false, message: no}}",
    )
    cell = notebook.run(text.replace("model: mock/echo", "permits: {tools: ['nika:assert']}"))
    assert cell.failed
    assert cell.error.startswith("`hello` failed at `greet` (NIKA-BUILTIN-ASSERT-001")
    assert "\n" not in cell.error


def test_chdir_does_not_move_the_traces(notebook: Notebook, folder: Path) -> None:
    """Where traces lie is fixed when the extension loads."""
    (folder / "elsewhere").mkdir()
    notebook.python("import os; os.chdir('elsewhere')")
    notebook.run(HELLO)
    assert len(traces(folder)) == 1


CYCLE = """nika: x
model: mock/echo
tasks:
  a: { after: {b: success}, infer: {prompt: p} }
  b: { after: {a: success}, infer: {prompt: p} }
"""

BAD = [
    ("blank", "   \n", "", ["NIKA-PARSE-002"]),
    ("not YAML", "nika: [", "", ["NIKA-PARSE-001", "line 3"]),
    ("a list", "- nika: x", "", ["NIKA-PARSE-"]),
    ("an unknown key", "nika: x\ntaks: {}\n", "", ["NIKA-PARSE-005", "line 3", "did you mean `tasks`"]),
    (
        "a permit missing",
        "nika: x\ntasks: {a: {exec: {command: [ls]}}}\n",
        "",
        ["NIKA-AUTH-006", 'exec: ["ls"]'],
    ),
    (
        "a cycle",
        CYCLE,
        "",
        ["NIKA-DAG-001", "a"],
    ),
    (
        "an undeclared variable",
        HELLO.replace("inputs.name", "inputs.nam"),
        "",
        ["NIKA-VAR-001", "did you mean `name`"],
    ),
    ("an unknown --var", HELLO, "--var nam=1", ["`nam` is not an input", "did you mean `name`"]),
    ("a trace that is not there", HELLO, "--resume nowhere.ndjson", ["nowhere.ndjson"]),
    ("an unknown option", HELLO, "--resum", ["no option --resum", "did you mean `--resume`", "%nika help"]),
    ("two things at once", HELLO, "--plan --background", ["not allowed with", "%nika help"]),
    ("an unbalanced quote", HELLO, "--var 'a", ["quotation"]),
    ("--vars without a dict", HELLO, "--vars nothing", ["`nothing` is not defined"]),
    ("--from without --resume", HELLO, "--from greet", ["--resume"]),
    ("an answer to no prompt", HELLO, "--answer greet=yes", ["not a prompt"]),
    ("an unknown task in --from", HELLO, "--resume --from gret", ["unknown task", "did you mean `greet`"]),
]


@pytest.mark.parametrize(("name", "cell", "line", "told"), BAD, ids=[b[0] for b in BAD])
def test_bad_input_is_told_and_loses_nothing(
    notebook: Notebook, folder: Path, name: str, cell: str, line: str, told: list[str]
) -> None:
    """A clear message that names what, where and what to do; nothing run, no trace, no traceback."""
    found = notebook.run(cell, line)
    assert found.failed
    assert all(part in found.error for part in told), found.error
    assert "Traceback" not in found.text + found.error
    assert not traces(folder)


def test_an_empty_cell_says_so(notebook: Notebook) -> None:
    """IPython itself refuses an empty body, in one sentence."""
    found = notebook.python("%%nika")
    assert found.failed
    assert "empty" in found.text + found.error


def test_a_program_that_is_not_there_is_named(notebook: Notebook) -> None:
    """The task fails with the program's name and a way out."""
    found = notebook.run(
        "nika: x\npermits: {exec: [nope-prog]}\ntasks: {a: {exec: {command: [nope-prog]}}}\n"
    )
    assert found.failed
    assert "nope-prog" in found.error
    assert "NIKA-EXEC-002" in found.error


def test_a_wrong_answer_is_refused_and_the_run_still_waits(notebook: Notebook, folder: Path) -> None:
    """Nothing is consumed by an answer of the wrong kind."""
    notebook.run(ASK)
    found = notebook.python("%nika answer ask=perhaps")
    assert found.failed
    assert "takes yes or no" in found.error
    assert len(traces(folder)) == 1
    assert notebook.python("%nika answer ask=yes").value.state == "completed"


def test_a_trace_that_is_no_journal_is_said_loudly_and_all_runs_live(
    notebook: Notebook, folder: Path
) -> None:
    """Never a guess, never an error: everything runs."""
    (folder / "poem.ndjson").write_text("roses are red\n")
    cell = notebook.run(HELLO, "--resume poem.ndjson")
    assert "everything runs live" in cell.text
    assert cell.value.state == "completed"


def test_a_journal_can_be_taken_away(notebook: Notebook, folder: Path) -> None:
    """The still of a small run carries its journal, packed, byte for byte; %nika trace shows it whole."""
    run = notebook.run(HELLO).value
    assert run.trace is not None
    lines = run.trace.read_bytes()
    assert "workflow_completed" in notebook.python("%nika trace").text
    packed = tracepage.packed(lines)
    assert gzip.decompress(packed) == lines
    assert tracepage.packed(os.urandom(200_000)) == b""


FORM = """nika: form
permits: { tools: ["nika:prompt"] }
tasks:
  name: { invoke: { tool: "nika:prompt", args: { mode: input, message: "Who?" } } }
  color:
    invoke: { tool: "nika:prompt", args: { mode: choice, message: "Which?", choices: [red, "dark blue"] } }
outputs: { name: "${{ tasks.name.output }}", color: "${{ tasks.color.output }}" }
"""


def test_answers_are_words_with_quotes(notebook: Notebook, folder: Path) -> None:
    """Quoted answers stay whole, a trace may be named with or without its ending."""
    run = notebook.run(FORM).value
    found = notebook.python(f"%nika answer {run.trace.stem} name='Ann Lee' color=\"dark blue\"")
    assert found.value.outputs == {"name": "Ann Lee", "color": "dark blue"}


def test_a_bare_answer_with_two_prompts_open_is_refused(notebook: Notebook, folder: Path) -> None:
    """Which one is meant has to be said, and nothing is consumed."""
    notebook.run(FORM)
    found = notebook.python("%nika answer red")
    assert found.failed
    assert "2 prompts are open (name, color)" in found.error
    assert "takes a trace" in notebook.python("%nika answer Bob the builder").error
    assert len(traces(folder)) == 1


def test_attach_goes_to_the_run_that_waits(notebook: Notebook) -> None:
    """Without a name it is the newest paused run, whatever ran since."""
    notebook.run(ASK)
    notebook.run(HELLO)
    assert notebook.python("%nika attach").value.state == "paused"


def test_a_run_is_drawn_when_it_is_asked_for_again(notebook: Notebook) -> None:
    """Only the cell's own value is left out, for its panel stands right above."""
    notebook.run(HELLO, "--into run")
    assert "1/1 done" in notebook.python("run").text


def test_a_cell_is_called_by_its_own_number(notebook: Notebook) -> None:
    """The number in a message is the one beside the cell."""
    shell = notebook.shell
    shell.run_cell("1", store_history=True)
    with capture_output():
        result = shell.run_cell("%%nika\nnika: [", store_history=True)
    assert f"cell [{shell.execution_count - 1}]" in str(result.error_in_exec)


@pytest.mark.parametrize(
    ("text", "line"),
    [(HELLO.replace("greet: {", "greet: { nope: 1,"), ""), (HELLO, "--vars nope"), (HELLO, "--var nope=1")],
    ids=["the check", "a variable", "an input"],
)
def test_what_is_refused_leaves_no_older_run_in_its_variable(
    notebook: Notebook, text: str, line: str
) -> None:
    """It is unset, and said; a look ahead and what is no run are left alone."""
    notebook.run(HELLO, "--into run")
    notebook.run(text, f"--into run --check {line}")
    assert notebook.shell.user_ns["run"].state == "completed"
    found = notebook.run(text, f"--into run {line}")
    assert found.failed
    assert "run" not in notebook.shell.user_ns
    assert "`run` is unset: it held an older run" in found.text
    notebook.shell.user_ns["run"] = 3
    notebook.run(text, f"--into run {line}")
    assert notebook.shell.user_ns["run"] == 3


def test_names_that_no_variable_can_have(notebook: Notebook) -> None:
    """--into needs a name that can be typed."""
    assert "not a name" in notebook.run(HELLO, "--into 9lives").error


def test_a_check_says_what_this_version_cannot_run(notebook: Notebook) -> None:
    """Sound is one thing, to be able to run it here is another."""
    cell = notebook.run(HELLO.replace("mock/echo", "openai/gpt-4o"), "--check")
    assert "is sound" in cell.text
    assert "NIKA-PROVIDER-001 · `greet`: the model `openai/gpt-4o` is not part of this version" in cell.text


def test_a_report_is_text_where_it_is_a_value(notebook: Notebook) -> None:
    """A cell that ends in a check shows the report."""
    assert repr(nika_nb.check(HELLO)).startswith("✔ workflow is sound")


SLEEPS = """nika: sleeps
permits: { exec: [sleep] }
tasks:
  t: { exec: { command: [sleep, "60"] } }
"""


@pytest.mark.parametrize("moment", ["begin", "_open", "_pump"])
def test_an_interrupt_at_any_moment_of_a_cell_ends_its_run(
    notebook: Notebook, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    """Whether the panel stands yet or not: nothing of the cell goes on working behind its back."""
    owner: Any = Run if moment == "begin" else Watch
    begin = Run.begin
    held: list[Run] = []

    def interrupted(this: Any) -> None:
        held.append(getattr(this, "run", this))
        begin(held[0])
        raise KeyboardInterrupt

    monkeypatch.setattr(owner, moment, interrupted)
    cell = notebook.run(SLEEPS)
    assert cell.failed
    assert "was interrupted and its processes ended" in cell.error
    assert not held[0].running
    assert held[0].state == "cancelled"


@pytest.mark.parametrize("door", ["run", "resume"])
def test_an_interrupt_in_python_ends_the_run(
    folder: Path, monkeypatch: pytest.MonkeyPatch, door: str
) -> None:
    """`nika_nb.run` and `run.resume` leave nothing running that nobody holds."""
    first = nika_nb.run(SLEEPS, background=True)
    first.cancel()
    first.wait()
    held: list[Run] = []
    real = Run.wait

    def interrupted(this: Run, timeout: float | None = None) -> bool:
        if not held:
            held.append(this)
            raise KeyboardInterrupt
        return real(this, timeout)

    monkeypatch.setattr(Run, "wait", interrupted)
    with pytest.raises(KeyboardInterrupt):
        nika_nb.run(SLEEPS) if door == "run" else first.resume()
    assert not held[0].running
    assert held[0].state == "cancelled"


def test_an_interrupt_before_anything_began_leaves_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The thread was never made: the run is over at once, and its trace is free for the next."""
    first = nika_nb.run(HELLO)

    def interrupted(this: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", interrupted)
        with pytest.raises(KeyboardInterrupt):
            first.resume()
    assert first.resume().state == "completed"


@pytest.mark.parametrize("line", ["--resume", "--resume --background", "--resume --into held"])
def test_a_cell_that_waits_is_not_run_again(notebook: Notebook, folder: Path, line: str) -> None:
    """Its value is the run that waits, and an answer in the notebook goes on with it."""
    first = notebook.run(ASK)
    again = notebook.run(ASK, line)
    assert again.value.id == first.value.id
    assert again.value.state == "paused"
    assert f"{first.value.id} still waits for an answer to `ask`: nothing was run" in again.text
    assert f"%nika answer {traces(folder)[0].name} ask=yes" in again.text
    assert len(traces(folder)) == 1
    notebook.python("%nika answer ask=yes")
    assert {nika_nb.attach(path).state for path in traces(folder)} == {"paused", "completed"}
    listed = notebook.python("%nika traces").text
    assert "answered" in listed
    assert "paused" not in listed
