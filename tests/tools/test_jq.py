"""`nika:jq`: one program, one value in, one value out, on the run's own evaluator."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from nika_nb.errors import Fault, Source
from nika_nb.language import load
from nika_nb.language.jq import JqWorker
from nika_nb.plan.plan import make_plan
from nika_nb.verbs.runner import LocalVerbs
from tests.tools.using import fault, use
from tests.verbs.calls import Recorder

VALUES: list[tuple[str, Any, Any]] = [
    (".a", {"a": 1}, 1),
    (".a", {"a": 2**63}, 2**63),
    ("[.items[].n] | add", {"items": [{"n": 1}, {"n": 2}, {"n": 3}]}, 6),
    (".[0] * .[1]", [{"a": {"b": 1}}, {"a": {"c": 2}}], {"a": {"b": 1, "c": 2}}),
    (".", None, None),
    ("[leaf_paths]", {"a": [1]}, [["a", 0]]),
]


@pytest.mark.parametrize(("program", "given", "expected"), VALUES, ids=[case[0] for case in VALUES])
def test_a_program_gives_its_value(recorder: Recorder, program: str, given: Any, expected: Any) -> None:
    """The value comes back with its type; the tool needs no grant."""
    assert use(recorder, "nika:jq", expression=program, input=given) == expected


def test_without_input_there_is_null(recorder: Recorder) -> None:
    """A program may make its value out of nothing."""
    assert use(recorder, "nika:jq", expression="[., 1]") == [None, 1]


BAD: list[tuple[str, Any, str, str]] = [
    (".a |", {}, "NIKA-VAR-005", ""),
    ("env", {}, "NIKA-VAR-005", "env"),
    (".a.b", {"a": "hello"}, "NIKA-BUILTIN-JQ-001", "in jq `.a.b`"),
    ('error("no rows")', {}, "NIKA-BUILTIN-JQ-001", "no rows"),
    (".[]", [1, 2], "NIKA-BUILTIN-JQ-001", "emits 2 values where one is needed: collect them"),
    ("empty", {}, "NIKA-BUILTIN-JQ-001", "emits no value"),
    (".", b"ab", "NIKA-VAR-007", "bytes"),
]


@pytest.mark.parametrize(("program", "given", "code", "sentence"), BAD, ids=[case[0] for case in BAD])
def test_how_it_fails(recorder: Recorder, program: str, given: Any, code: str, sentence: str) -> None:
    """What is no program, what fails, and what emits another number of values than one."""
    found = fault(recorder, "nika:jq", expression=program, input=given)
    assert found.code == code
    assert sentence in found.message


def test_the_expression_is_text(recorder: Recorder) -> None:
    """Anything else is an argument that does not fit."""
    assert fault(recorder, "nika:jq", expression=3).code == "NIKA-BUILTIN-001"
    assert "no argument `query`" in fault(recorder, "nika:jq", query=".").message


def test_the_evaluator_is_the_runs_own(tmp_path: Path) -> None:
    """The tool computes in the process that the run owns and closes, and in no other."""
    workflow = load(Source("nika: x\ntasks: { t: { infer: { prompt: hi } } }\n")).workflow
    assert workflow is not None
    worker = JqWorker()
    asked: list[str] = []

    async def counting(program: str, value: Any) -> list[Any]:
        asked.append(program)
        return [value]

    worker.run = counting  # type: ignore[method-assign]
    made = LocalVerbs(workflow=workflow, plan=make_plan(workflow), jq=worker)
    body = {"tool": "nika:jq", "args": {"expression": "[.]", "input": 1}}
    assert asyncio.run(made.run(Recorder(str(tmp_path)).call("invoke", body))).output == 1
    assert asked == ["[.]"]
    made.close()


def test_a_cancelled_program_ends(recorder: Recorder) -> None:
    """A program without end stops computing as soon as its task does."""
    worker = JqWorker()
    body = {"tool": "nika:jq", "args": {"expression": "[range(1000000000)] | length"}}

    async def scenario() -> None:
        from nika_nb.tools.base import Asking
        from nika_nb.verbs.invoke import Invoke

        running = asyncio.create_task(Invoke(None, Asking(), worker).run(recorder.call("invoke", body)))
        await asyncio.sleep(0.3)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert await worker.run("[.] | length", 1) == [1]

    asyncio.run(scenario())
    worker.close()


def test_a_fault_of_a_step_is_not_transient(recorder: Recorder) -> None:
    """The same program over the same value fails the same way."""
    found: Fault = fault(recorder, "nika:jq", expression=".a.b", input={"a": 1})
    assert found.transient is False
