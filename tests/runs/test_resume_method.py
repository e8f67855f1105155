"""`run.resume()`: another run of the same text, changed in what is said, by the names of `nika_nb.run`."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

import nika_nb
from nika_nb.errors import UsageError
from tests.doors import frames, hits, newest, ran, reasons

TEXT = """nika: two
model: mock/echo
inputs:
  topic: { type: string, required: true }
  size: { type: integer, default: 1 }
permits: { tools: ["nika:prompt"] }
tasks:
  draft: { infer: { prompt: "${{ inputs.topic }}" } }
  count: { infer: { prompt: "${{ inputs.size }}" } }
  ask:
    with: { draft: "${{ tasks.draft.output }}" }
    invoke: { tool: "nika:prompt", args: { mode: input, message: "${{ with.draft }}?" } }
"""


def test_it_takes_what_a_run_takes() -> None:
    """Whoever knows the one knows the other."""
    own = set(inspect.signature(nika_nb.Run.resume).parameters) - {"self", "background"}
    assert own == set(inspect.signature(nika_nb.plan_resume).parameters) - {"workflow", "trace"}
    assert own < set(inspect.signature(nika_nb.run).parameters)


def test_inputs_are_changed_one_by_one(folder: Path) -> None:
    """What is not given anew stays as it was; only who reads the changed one runs."""
    first = nika_nb.run(TEXT, vars={"topic": "a"}, answer={"ask": "x"})
    second = first.resume(vars={"size": 2})
    assert (hits(newest(folder)), ran(newest(folder))) == ({"draft", "ask"}, {"count"})
    assert second.tasks["draft"].output == "mock(echo) · a"


def test_a_cap_and_a_model_stay(folder: Path) -> None:
    """They are of the run, and another may be said."""
    first = nika_nb.run(
        TEXT, vars={"topic": "a"}, answer={"ask": "x"}, model="mock/mock-deterministic", max_cost_usd=1
    )
    first.resume()
    assert frames(newest(folder))[0]["model_override"] == "mock/mock-deterministic"
    assert '"max_cost_usd":1' in frames(newest(folder))[0]["budget"]
    first.resume(model="mock/mock-streaming", max_cost_usd=2)
    assert frames(newest(folder))[0]["model_override"] == "mock/mock-streaming"
    assert '"max_cost_usd":2' in frames(newest(folder))[0]["budget"]


def test_from_a_task(folder: Path) -> None:
    """Forced once, not for ever: a resume of the resume takes what it finds."""
    first = nika_nb.run(TEXT, vars={"topic": "a"}, answer={"ask": "x"})
    second = first.resume(from_="draft", answer={"ask": "y"})
    assert {task for task, (why, *_) in reasons(newest(folder)).items() if why == "forced"} == {
        "draft",
        "ask",
    }
    assert second.tasks["ask"].output == "y"
    second.resume()
    assert hits(newest(folder)) == {"draft", "count", "ask"}


def test_a_task_that_is_not_there(folder: Path) -> None:
    """Told as by `nika_nb.run`, and nothing runs."""
    first = nika_nb.run(TEXT, vars={"topic": "a"}, answer={"ask": "x"})
    with pytest.raises(UsageError, match="drafts"):
        first.resume(from_="drafts")
    assert len(list((folder / ".nika" / "traces").iterdir())) == 1


def test_inputs_are_taken_from_the_trace(folder: Path) -> None:
    """What was given then need not be given again; what is given now counts, and the rest stays."""
    nika_nb.run(TEXT, vars={"topic": "a", "size": 5}, answer={"ask": "x"})
    second = nika_nb.run(TEXT, resume=True)
    assert hits(newest(folder)) == {"draft", "count", "ask"}
    assert any(notice.endswith("`topic`, `size`") for notice in second.notices)
    nika_nb.run(TEXT, resume=True, vars={"topic": "b"})
    assert hits(newest(folder)) == {"count"}
    assert [task.fate for task in nika_nb.plan_resume(TEXT).tasks] == ["skip", "skip", "run"]


def test_a_default_is_not_taken_from_the_trace(folder: Path) -> None:
    """It stands in the text, so that an edit of it counts; so does an input that is there no more."""
    nika_nb.run(TEXT, vars={"topic": "a"}, answer={"ask": "x"})
    nika_nb.run(TEXT.replace("default: 1", "default: 2"), resume=True)
    assert (hits(newest(folder)), ran(newest(folder))) == ({"draft", "ask"}, {"count"})
    without = TEXT.replace("  topic: { type: string, required: true }\n", "").replace(
        "${{ inputs.topic }}", "a"
    )
    assert nika_nb.run(without, resume=True).state == "completed"


def test_a_secret_is_given_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A trace does not hold it: which one is said, and nothing is run."""
    monkeypatch.setenv("TOKEN", "s3cret-value")
    text = TEXT.replace("permits:", "secrets: { key: { source: env, key: TOKEN } }\npermits:")
    nika_nb.run(text, vars={"topic": "s3cret-value"})
    trace = newest(folder)
    with pytest.raises(UsageError, match=r"does not hold `topic`, for it is a secret") as refused:
        nika_nb.run(text, resume=True)
    assert 'vars={"topic": …}' in str(refused.value)
    assert newest(folder) == trace
    assert nika_nb.run(text, resume=True, vars={"topic": "s3cret-value"}).state == "paused"
