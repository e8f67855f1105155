"""`nika:prompt` never waits: it is answered, uses its default, or asks and lets the run pause."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from nika_nb.engine.contract import Answer, Asks, Prompt
from nika_nb.errors import Fault, UsageError
from nika_nb.tools.base import Asking, Behind
from nika_nb.tools.prompt import WrongAnswer, read_answer, shown_hash
from nika_nb.verbs.invoke import Invoke
from tests.verbs.calls import Recorder


@pytest.fixture
def recorder(tmp_path: Path) -> Recorder:
    return Recorder(str(tmp_path))


def ask(recorder: Recorder, asking: Asking | None = None, item: int | None = None, **arguments: Any) -> Any:
    arguments.setdefault("message", "Ship?")
    call = recorder.call("invoke", {"tool": "nika:prompt", "args": arguments}, "ask", item)
    return asyncio.run(Invoke(None, asking or Asking()).run(call)).output


def asked(
    recorder: Recorder, asking: Asking | None = None, item: int | None = None, **arguments: Any
) -> Prompt:
    with pytest.raises(Asks) as caught:
        ask(recorder, asking, item, **arguments)
    return caught.value.prompt


def behind(task: str) -> Behind:
    return Behind(("push",), ("exec · git push",), ("when with.go == true",))


def answered(value: Any, shown: str | None = None, key: str = "ask", **more: Any) -> Asking:
    return Asking(answers={key: Answer(value, "form", shown)}, **more)


def test_a_question_without_a_default_asks(recorder: Recorder) -> None:
    """Headless or not, a question that nobody answered pauses the run, and nothing has begun."""
    for interactive in (False, True):
        prompt = asked(recorder, Asking(interactive=interactive, behind=behind))
        assert (prompt.task, prompt.mode, prompt.message) == ("ask", "confirm", "Ship?")
        assert (prompt.gates, prompt.effects) == (("push",), ("exec · git push",))
        assert prompt.conditions == ("when with.go == true",)
        assert not prompt.has_default
    assert recorder.processes == []
    assert recorder.attached == []


def test_a_default_is_for_when_nobody_can_answer(recorder: Recorder) -> None:
    """Headless the default answers, and that is attested; with a human there it is only offered."""
    assert ask(recorder, default=False) is False
    assert recorder.attached[0][1] | {"shown_hash": ""} == {
        "mode": "confirm",
        "message": "Ship?",
        "decision": "deny",
        "source": "default",
        "shown_hash": "",
    }
    assert ask(recorder, mode="input", default="") == ""
    assert ask(recorder, mode="choice", choices=["a", "b"], default="b") == "b"
    prompt = asked(recorder, Asking(interactive=True), default=False)
    assert prompt.has_default
    assert prompt.default is False


def test_an_answer_wins_over_everything(recorder: Recorder) -> None:
    """A given answer is taken whether or not a human is there or a default is written."""
    assert ask(recorder, answered("yes", interactive=True), default=False) is True
    kind, fields = recorder.attached[0]
    assert kind == "approval_decided"
    assert (fields["decision"], fields["source"], fields["mode"]) == ("allow", "form", "confirm")
    assert ask(recorder, answered("some text"), mode="input") == "some text"
    assert ask(recorder, answered("b"), mode="choice", choices=["a", "b"]) == "b"


def test_a_refusal_is_a_value(recorder: Recorder) -> None:
    """No is an answer: the task succeeds with false, and the attestation says deny."""
    assert ask(recorder, answered("no")) is False
    assert recorder.attached[0][1]["decision"] == "deny"


def test_answers_are_keyed_by_item(recorder: Recorder) -> None:
    """Inside a fan-out each item is answered by itself; an answer for one is for no other."""
    asking = answered(True, key="ask[2]")
    assert ask(recorder, asking, item=2) is True
    assert asked(recorder, asking, item=1).key == "ask[1]"
    assert asked(recorder, asking).key == "ask"


def test_an_answer_for_another_text(recorder: Recorder) -> None:
    """An answer is bound to what was shown: an edited question, choice, gate or effect refuses it."""
    shown = asked(recorder, Asking(behind=behind)).shown_hash
    assert ask(recorder, answered(True, shown, behind=behind)) is True
    for asking, arguments in [
        (answered(True, shown, behind=behind), {"message": "Ship it?"}),
        (answered(True, shown, behind=behind), {"mode": "input"}),
        (answered(True, shown), {}),
    ]:
        recorder.attached.clear()
        with pytest.raises(Fault, match=r"approval\.content_mismatch") as caught:
            ask(recorder, asking, **arguments)
        assert caught.value.code == "NIKA-SEC-010"
        assert recorder.attached[0][1]["decision"] == "deny"
        assert recorder.attached[0][1]["why"] == "approval.content_mismatch"


def test_an_answer_to_what_an_older_journal_shows(recorder: Recorder) -> None:
    """It tells effects as they are written: such an answer is taken, and attested as what was shown."""
    waits = Behind(("push",), ("exec · git push main",), written=("exec · git push ${{ inputs.to }}",))
    older = shown_hash("confirm", "Ship?", (), waits.tasks, waits.written)
    assert ask(recorder, answered(True, older, behind=lambda task: waits)) is True
    fields = recorder.attached[0][1]
    assert (fields["shown_hash"], json.loads(fields["effects"])) == (older, list(waits.written))
    used_up = {older, *(f"{number}" for number in range(4))}
    prompt = asked(recorder, Asking(behind=lambda task: waits, approvals=used_up))
    assert prompt.effects == waits.effects


def test_a_wrong_answer_consumes_nothing(recorder: Recorder) -> None:
    """An answer of the wrong kind leaves the question open, and says so."""
    assert asked(recorder, answered("perhaps")).key == "ask"
    assert "takes yes or no, not 'perhaps'" in recorder.text("log")
    assert recorder.attached == []


def test_at_most_five_confirmations_in_a_run(recorder: Recorder) -> None:
    """The sixth different confirmation fails; the same one again, inputs and defaults do not count."""
    asking = Asking()
    for number in range(5):
        asked(recorder, asking, message=f"{number}?")
    asked(recorder, asking, message="0?")
    asked(recorder, asking, message="6?", mode="input")
    assert ask(recorder, asking, message="7?", default=True) is True
    with pytest.raises(Fault, match=r"approval\.rate_limited") as caught:
        ask(recorder, asking, message="8?")
    assert caught.value.code == "NIKA-SEC-010"


def test_secrets_are_not_shown(recorder: Recorder) -> None:
    """What people see, and what the hash binds, has secrets blotted out."""
    masking = Asking(mask=lambda text: text.replace("hunter22", "••••••"))
    prompt = asked(recorder, masking, message="Use hunter22?")
    assert prompt.message == "Use ••••••?"
    assert prompt.shown_hash == asked(recorder, message="Use ••••••?").shown_hash


def test_the_hash_of_what_was_shown() -> None:
    """The recipe is fixed: a change would make every open ticket stale."""
    known = "0aac998c5a68450e5d86034b35605b10d9d9c565fdca82cb61f5bc08940e8098"
    assert shown_hash("confirm", "Ship?", (), ("push",), ("exec · git push",)) == known


BAD = [
    ("NIKA-BUILTIN-001", {"mode": "chioce"}, "did you mean `choice`?"),
    ("NIKA-BUILTIN-001", {"mode": 3}, "`mode:` as a string"),
    ("NIKA-BUILTIN-001", {"titel": "x"}, "no argument `titel`"),
    ("NIKA-BUILTIN-PROMPT-002", {"mode": "choice"}, "needs `choices:`"),
    ("NIKA-BUILTIN-PROMPT-002", {"mode": "choice", "choices": []}, "at least one entry"),
    ("NIKA-BUILTIN-PROMPT-002", {"mode": "choice", "choices": [{"a": 1}]}, "not object"),
    ("NIKA-BUILTIN-PROMPT-002", {"mode": "choice", "choices": ["a"], "default": "z"}, "none of the choices"),
    (
        "NIKA-BUILTIN-PROMPT-002",
        {"mode": "choice", "choices": ["a", "b" * 5000]},
        "a choice has 5,000 characters",
    ),
    ("NIKA-BUILTIN-PROMPT-002", {"default": "yes"}, "true or false, not string"),
    ("NIKA-BUILTIN-PROMPT-002", {"mode": "input", "default": 3}, "text, not integer"),
]


@pytest.mark.parametrize(("code", "arguments", "sentence"), BAD, ids=[case[2] for case in BAD])
def test_bad_arguments(recorder: Recorder, code: str, arguments: dict[str, Any], sentence: str) -> None:
    """A question that cannot be asked fails with the reason, before anyone sees it."""
    with pytest.raises(Fault) as caught:
        ask(recorder, **arguments)
    assert caught.value.code == code
    assert sentence in caught.value.message


def prompt(mode: Any, *choices: str) -> Prompt:
    return Prompt("ask", mode, "?", choices)


READ = [
    *[(prompt("confirm"), word, True) for word in (True, "yes", "Y", "true", " TRUE ")],
    *[(prompt("confirm"), word, False) for word in (False, "no", "N", "false")],
    (prompt("input"), "any text ", "any text "),
    (prompt("input"), "", ""),
    (prompt("input"), 5, "5"),
    (prompt("choice", "a", "b c"), "b c", "b c"),
    (prompt("choice", "a", "1"), 1, "1"),
    (prompt("choice", "a ", "a"), "a ", "a "),
]


@pytest.mark.parametrize(("question", "given", "value"), READ, ids=lambda part: repr(part)[:20])
def test_answers_are_read(question: Prompt, given: Any, value: Any) -> None:
    """Each mode takes its own kind and the obvious words for it."""
    assert read_answer(question, given) == value
    assert type(read_answer(question, given)) is type(value)


def test_a_wrong_answer_is_quoted_in_short() -> None:
    """Neither a long answer nor very many choices make a sentence that nobody can read."""
    with pytest.raises(WrongAnswer) as caught:
        read_answer(prompt("choice", *map(str, range(500)), "y" * 4000), "x" * 10_000_000)
    assert len(str(caught.value)) < 600
    assert " · 19 · and 481 more" in str(caught.value)


WRONG = [
    (prompt("confirm"), "perhaps", "yes or no"),
    (prompt("confirm"), "", "yes or no"),
    (prompt("confirm"), 1, "yes or no"),
    (prompt("confirm"), None, "yes or no, not null"),
    (prompt("choice", "alpha", "beta"), "alpah", "did you mean `alpha`?"),
    (prompt("choice", "alpha", "beta"), "ALPHA", "(alpha · beta)"),
    (prompt("choice", "a"), ["a"], "text, not array"),
    (prompt("input"), {"a": 1}, "text, not object"),
]


@pytest.mark.parametrize(("question", "given", "sentence"), WRONG, ids=lambda part: repr(part)[:20])
def test_wrong_answers_are_refused(question: Prompt, given: Any, sentence: str) -> None:
    """A wrong answer is a usage error in one sentence that names the prompt and what it takes."""
    with pytest.raises(WrongAnswer) as caught:
        read_answer(question, given)
    assert isinstance(caught.value, UsageError)
    assert sentence in str(caught.value)
    assert str(caught.value).startswith("`ask` takes")
    assert "it still waits" in str(caught.value)
