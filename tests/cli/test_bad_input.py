"""Wrong requests through both doors: each says what, where, what to do; nothing runs, no file is made."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import nika_nb
from nika_nb.errors import NikaError
from tests.cli.conftest import ASKS, GOOD
from tests.doors import Terminal, hits, marks, newest, program, ran, traces


@dataclass(frozen=True)
class Text:
    """A text that is no sound workflow, and what has to be said about it: code, what, where, what to do."""

    name: str
    text: str
    code: str
    says: tuple[str, ...]


CYCLE = """\
nika: cycle
permits: {exec: ["./say"]}
tasks:
  a: {after: {c: success}, exec: {command: ["./say", "a"]}}
  b: {after: {a: success}, exec: {command: ["./say", "b"]}}
  c: {after: {b: success}, exec: {command: ["./say", "c"]}}
"""

TEXTS = [
    Text("empty", "", "NIKA-PARSE-002", ("the text is empty", "start with `nika: <name>`")),
    Text("only a comment", "# nothing\n", "NIKA-PARSE-002", ("the text is empty",)),
    Text("no YAML", "nika: x\ntasks: {a: [}\n", "NIKA-PARSE-001", ("line 2",)),
    Text("a tab", "nika: x\ntasks:\n\ta: {}\n", "NIKA-", ("line 3", "tab")),
    Text("a list", "- nika: x\n- tasks: {}\n", "NIKA-PARSE-002", ("this text is a list", "line 1")),
    Text("a word", "hello\n", "NIKA-PARSE-002", ("a workflow is a mapping",)),
    Text("an unknown key", GOOD.replace("outputs:", "outptus:"), "NIKA-PARSE-005",
         ("outptus", "line 7", "did you mean `outputs`?")),
    Text("an unknown key of a task", GOOD.replace("  b: {with:", "  b: {wiht:"), "NIKA-PARSE-005",
         ("wiht", "line 6", "did you mean `with`?")),
    Text("a permit missing", GOOD.replace('permits: {exec: ["./say"]}\n', ""), "NIKA-AUTH-006",
         ("./say", "line 4", "declare what it may touch", 'exec: ["./say"]')),
    Text("a program not permitted", GOOD.replace('exec: ["./say"]', 'exec: ["ls"]'), "NIKA-SEC-004",
         ("./say", 'add "./say" to permits.exec')),
    Text("a cycle", CYCLE, "NIKA-DAG-", ("a", "b", "c", "line ")),
    Text("an undeclared variable", GOOD.replace("inputs.word", "inputs.wrod"), "NIKA-VAR-",
         ("inputs.wrod", "line 5", "did you mean `word`?")),
    Text("an undeclared task", GOOD.replace("tasks.a.output", "tasks.z.output"), "NIKA-", ("z", "line 6")),
    Text("twice the same key", GOOD + "inputs: {}\n", "NIKA-YAML-004", ("inputs", "line 9")),
]  # fmt: skip


def nothing_happened(folder: Path) -> bool:
    return not (folder / ".nika").exists() and not marks(folder / "marks")


@pytest.mark.parametrize("case", TEXTS, ids=lambda case: case.name)
@pytest.mark.parametrize("command", ["check", "run"])
def test_a_text_that_is_refused_in_the_terminal(
    files: Path, terminal: Terminal, case: Text, command: str
) -> None:
    """Exit code 2; code, place and way out on standard error."""
    (files / "w.nika.yaml").write_text(case.text, encoding="utf-8")
    refused = terminal(command, "w.nika.yaml")
    assert (refused.code, refused.out) == (2, b"")
    assert case.code in refused.err
    for part in ("w.nika.yaml", *case.says):
        assert part in refused.err, refused.err
    assert "Traceback" not in refused.err
    assert nothing_happened(files)


@pytest.mark.parametrize("case", TEXTS, ids=lambda case: case.name)
def test_a_text_that_is_refused_in_python(files: Path, case: Text) -> None:
    """CheckRefused with the same sentence; a notebook shows it without a traceback."""
    with pytest.raises(nika_nb.CheckRefused) as refused:
        nika_nb.run(case.text)
    said = str(refused.value)
    assert case.code in said
    for part in case.says:
        assert part in said
    assert refused.value._render_traceback_() == [said]
    report = nika_nb.check(case.text)
    assert not report.ok
    assert case.code in report.render()
    assert nothing_happened(files)


def test_bytes_that_are_no_text(files: Path, terminal: Terminal) -> None:
    """Not UTF-8: the byte, the place, what to do."""
    (files / "w.nika.yaml").write_bytes(b"nika: x\n# caf\xe9\ntasks: {}\n")
    for command in ("check", "run"):
        refused = terminal(command, "w.nika.yaml")
        assert refused.code == 2
        for part in ("NIKA-YAML-011", "0xe9", "line 2, column 6", "save the file as UTF-8"):
            assert part in refused.err
    (files / "w.nika.yaml").write_bytes("nika: x\n".encode("utf-16"))
    assert "UTF-16" in terminal("run", "w.nika.yaml").err
    assert nothing_happened(files)


@dataclass(frozen=True)
class Wrong:
    """A request that cannot be carried out: words for the terminal, arguments for Python, what is said."""

    name: str
    words: tuple[str, ...]
    options: dict[str, Any]
    says: tuple[str, ...]
    exit_code: int = 3
    file: str = "good.nika.yaml"


REQUESTS = [
    Wrong("no such file", (), {}, ("nowhere.nika.yaml", "cannot be read"), file="nowhere.nika.yaml"),
    Wrong("an unknown input", ("--var", "wrod=x"), {"vars": {"wrod": "x"}},
          ("`wrod` is not an input", "declared: word", "did you mean `word`?")),
    Wrong("an input of the wrong type", ("--var", "word=3"), {"vars": {"word": 3}},
          ("`word` does not fit its type",)),
    Wrong("a trace that does not exist", ("--resume", "nowhere.ndjson"), {"resume": "nowhere.ndjson"},
          ("there is no trace nowhere.ndjson", ".nika/traces")),
    Wrong("a task that does not exist", ("--resume", "--from", "z"), {"resume": True, "from_": "z"},
          ("unknown task", "a · b")),
    Wrong("--from without --resume", ("--from", "a"), {"from_": "a"}, ("where a resume starts", "as well")),
    Wrong("an answer where nothing asks", ("--answer", "ask=yes"), {"answer": {"ask": "yes"}},
          ("ask", "not a prompt of this workflow")),
    Wrong("a model that is not there", ("--model", "nobody/none"), {"model": "nobody/none"},
          ("nobody/none",), file="thinks.nika.yaml"),
]  # fmt: skip


@pytest.mark.parametrize("case", REQUESTS, ids=lambda case: case.name)
def test_a_request_that_cannot_be_carried_out(files: Path, terminal: Terminal, case: Wrong) -> None:
    """The same sentence from the terminal and from Python; nothing runs and no file is made."""
    (files / "thinks.nika.yaml").write_text(
        "nika: thinks\nmodel: mock/echo\ntasks: {t: {infer: {prompt: p}}}\n", encoding="utf-8"
    )
    refused = terminal("run", case.file, *case.words)
    assert (refused.code in (2, 3), refused.out) == (True, b""), refused.err
    with pytest.raises(NikaError) as raised:
        nika_nb.run(files / case.file, **case.options)
    assert raised.value.exit_code == refused.code
    for part in case.says:
        assert part in refused.err, refused.err
        assert part in str(raised.value)
    assert "Traceback" not in refused.err
    assert nothing_happened(files)


def test_a_required_input_that_is_missing(files: Path, terminal: Terminal) -> None:
    """It is named with the words that give it."""
    text = GOOD.replace('{type: string, default: "grüß dich 🦋"}', "{type: string, required: true}")
    (files / "w.nika.yaml").write_text(text, encoding="utf-8")
    refused = terminal("run", "w.nika.yaml")
    assert refused.code == 3
    assert "input `word` is required: give it with --var word=…" in refused.err
    assert nothing_happened(files)


def test_a_program_that_does_not_exist(files: Path, terminal: Terminal) -> None:
    """Found out when it is to be started: the task fails by name, with what to do; nothing after it runs."""
    text = GOOD.replace("./say", "no-such-program-here")
    (files / "w.nika.yaml").write_text(text, encoding="utf-8")
    failed = terminal("run", "w.nika.yaml")
    assert (failed.code, failed.out) == (1, b"")
    for part in ("NIKA-EXEC-002", "NIKA-EXEC-001", "`no-such-program-here`", "no such program on the PATH"):
        assert part in failed.err
    assert "Traceback" not in failed.err
    run = nika_nb.run(text)
    with pytest.raises(nika_nb.RunFailed, match="no-such-program-here"):
        _ = run.outputs


# -- words that no command takes ---------------------------------------------------------------

MISTYPED = [
    (
        ("run", "good.nika.yaml", "--resum"),
        "nika-nb run: there is no option --resum, did you mean `--resume`?",
    ),
    (("run", "good.nika.yaml", "--modle=m/x"), "there is no option --modle, did you mean `--model`?"),
    (("run", "good.nika.yaml", "more"), "nika-nb run: 'more' is one word too many"),
    (("rnu", "good.nika.yaml"), "'rnu' is none of check, run, answer, "),
    (("rnu", "good.nika.yaml"), "did you mean `run`?"),
    (("run", "--resume", "good.nika.yaml"), "taken for a trace: write the file first"),
    (("trace", "shw", "x"), "did you mean `show`?"),
    (("runs", "list", "--status", "interupted"), "did you mean `interrupted`?"),
]


@pytest.mark.parametrize(("words", "said"), MISTYPED, ids=[" ".join(words) for words, _ in MISTYPED])
def test_a_mistyped_word_is_told_what_may_be_meant(
    files: Path, terminal: Terminal, words: tuple[str, ...], said: str
) -> None:
    """No option stands for a longer one, and the command that it was typed behind is the one that tells."""
    refused = terminal(*words)
    assert (refused.code, refused.out) == (3, b"")
    assert said in refused.err
    assert nothing_happened(files)


# -- answers -----------------------------------------------------------------------------------

TWO = """\
nika: two
permits: {exec: ["./say"]}
tasks:
  prep: {exec: {command: ["./say", "prep", "p"]}}
  first: {after: {prep: success}, invoke: {tool: "nika:prompt", args: {message: "One?"}}}
  second: {invoke: {tool: "nika:prompt", args: {message: "Which?", mode: choice, choices: ["red", "blue"]}}}
outputs:
  first: "${{ tasks.first.output }}"
  second: "${{ tasks.second.output }}"
"""


@pytest.fixture
def paused(files: Path) -> Callable[[str], Path]:
    """Runs a text until it pauses; the trace."""

    def run(text: str) -> Path:
        (files / "p.nika.yaml").write_text(text, encoding="utf-8")
        found = nika_nb.run(files / "p.nika.yaml")
        assert found.state == "paused"
        return newest(files)

    return run


@dataclass(frozen=True)
class Refusal:
    """An answer that is refused: to which text, the words, and what is said."""

    name: str
    text: str
    words: tuple[str, ...]
    says: tuple[str, ...] = field(default=())


REFUSALS = [
    Refusal(
        "a wrong kind", ASKS, ("ask=perhaps",), ("`ask` takes yes or no, not 'perhaps'", "it still waits")
    ),
    Refusal("not a choice", TWO, ("second=green",), ("red · blue", "'green'", "it still waits")),
    Refusal("nearly a choice", TWO, ("second=rde",), ("did you mean `red`?",)),
    Refusal("a bare answer to two", TWO, ("yes",), ("2 prompts are open (first, second)", "first=…")),
    Refusal(
        "an unknown prompt",
        TWO,
        ("frist=yes",),
        ("no open prompt is called `frist`", "did you mean `first`?"),
    ),
    Refusal("an item that there is not", TWO, ("first[3]=yes",), ("first[3]",)),
    Refusal("one right, one wrong", TWO, ("first=yes", "second=green"), ("it still waits",)),
]


@pytest.mark.parametrize("case", REFUSALS, ids=lambda case: case.name)
def test_an_answer_that_is_refused(
    files: Path, terminal: Terminal, paused: Callable[[str], Path], case: Refusal
) -> None:
    """By every door; it consumes nothing: the same prompts wait, and no trace is written."""
    trace = paused(case.text)
    before = marks(files / "marks")
    refused = terminal("answer", trace, *case.words)
    assert refused.code == 3
    run = nika_nb.attach(trace)
    given = dict(word.split("=") if "=" in word else ("", word) for word in case.words)
    with pytest.raises(nika_nb.UsageError) as raised:
        run.answer(given)
    for part in case.says:
        assert part in refused.err, refused.err
        assert part in str(raised.value)
    by_resume = terminal(
        "run", "p.nika.yaml", "--resume", trace, *(w for word in case.words for w in ("--answer", word))
    )
    assert by_resume.code == 3, by_resume.err
    assert run.state == "paused"
    assert traces(files) == [trace]
    assert marks(files / "marks") == before


def test_some_answers_leave_the_others_waiting(
    files: Path, terminal: Terminal, paused: Callable[[str], Path]
) -> None:
    """Answered one by one; a bare answer is enough once one is left."""
    trace = paused(TWO)
    half = terminal("answer", trace, "second=blue")
    assert half.code == 4
    assert "first=yes" in half.err
    whole = terminal("answer", newest(files), "no")
    assert whole.code == 0, whole.err
    assert whole.outputs == {"first": False, "second": "blue"}
    assert marks(files / "marks") == {"prep": 1}


def test_an_answer_to_a_settled_gate(files: Path, terminal: Terminal, paused: Callable[[str], Path]) -> None:
    """A decided gate stays decided: through the trace that decided it, and through a later one."""
    first = paused(ASKS)
    terminal("answer", first, "ask=no")
    settled = newest(files)
    (files / "p.nika.yaml").write_text(ASKS, encoding="utf-8")
    for words in (
        ("answer", settled, "ask=yes"),
        ("run", "p.nika.yaml", "--resume", settled, "--answer", "ask=yes"),
    ):
        refused = terminal(*words)
        assert refused.code == 3
        assert len(traces(files)) == 2
    assert "was already answered (false)" in refused.err
    assert "--from ask" in refused.err
    with pytest.raises(nika_nb.UsageError):
        nika_nb.attach(settled).answer("yes")


# -- traces ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "content",
    [b"", b"\n\n", b"hello\nworld\n", b"\x00\x01\x02", b"[]\n", b'{"a": 1}\n', b"nika: x\ntasks: {}\n"],
    ids=["empty", "blank", "text", "binary", "a list", "another object", "a workflow"],
)
def test_a_trace_that_is_no_journal(files: Path, terminal: Terminal, content: bytes) -> None:
    """Said loudly, and everything runs live: never a partial skip that was guessed."""
    program(files, "say", 'echo "$1" >> marks\nprintf %s "$2"')
    (files / "odd.ndjson").write_bytes(content)
    done = terminal("run", "good.nika.yaml", "--resume", "odd.ndjson")
    assert done.code == 0, done.err
    assert "odd.ndjson cannot be read as a journal" in done.err
    assert "everything runs live" in done.err
    assert ran(newest(files)) == {"a", "b"}
    assert not hits(newest(files))
    assert "resumed · 0 skipped (cache hit) · 2 ran live" in done.err
    assert (files / "odd.ndjson").read_bytes() == content


def test_a_folder_for_a_trace_and_a_trace_for_a_workflow(files: Path, terminal: Terminal) -> None:
    """Both are said by name."""
    (files / "folder").mkdir()
    refused = terminal("run", "good.nika.yaml", "--resume", "folder")
    assert refused.code == 3
    assert "folder" in refused.err
    terminal("run", "good.nika.yaml")
    assert terminal("run", newest(files)).code == 2
    assert terminal("run", "folder").code == 3
    assert terminal("trace", "verify", "nowhere.ndjson").code == 3
    assert terminal("trace", "show", "nowhere.ndjson").code == 3
    assert terminal("answer", "nowhere.ndjson", "ask=yes").code == 3


def test_answering_what_does_not_wait(files: Path, terminal: Terminal) -> None:
    """A completed run waits for nothing."""
    terminal("run", "good.nika.yaml")
    refused = terminal("answer", newest(files), "ask=yes")
    assert refused.code == 3
    assert "is completed: only an interrupted run is resumed" in refused.err
    assert len(traces(files)) == 1
