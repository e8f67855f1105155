"""What a call is: the meaning of the called workflow and of everything below it."""

from __future__ import annotations

import json

from nika_nb.errors import Source
from nika_nb.language import load
from nika_nb.language.model import Workflow
from nika_nb.plan.meaning import closure_digest, semantic_hash
from nika_nb.plan.plan import Callee, TaskPlan, make_plan
from tests.engine.scripted import run

LEAF = "nika: leaf\npermits: {}\ntasks: {t: {invoke: {tool: 'nika:log', args: {message: m}}}}\n"
CALLER = "nika: top\ntasks: {call: {invoke: {workflow: ./leaf.yaml, args: {a: 1}}}}\n"


def workflow(text: str) -> Workflow:
    found = load(Source(text)).workflow
    assert found is not None
    return found


def digest(text: str, **calls: str) -> str:
    return closure_digest(workflow(text), calls)


def call(text: str, model: str | None = None) -> TaskPlan:
    """The call of a leaf with this text, as planned."""
    leaf = workflow(text)
    callee = Callee("/leaf.yaml", "./leaf.yaml", make_plan(leaf), closure_digest(leaf, {}))
    return make_plan(workflow(CALLER), model, {"./leaf.yaml": callee}).tasks["call"]


def test_layout_does_not_move_a_digest_and_meaning_does() -> None:
    """Comments and spelling do not count; a word of a message, an input, a permit, a child do."""
    assert digest(LEAF) == digest("# a comment\n" + LEAF.replace("{t: {", "{t:   {"))
    edits = {
        LEAF.replace("message: m", "message: n"),
        LEAF.replace("permits: {}", "permits: {exec: true}"),
        LEAF.replace("nika: leaf", "nika: other"),
        LEAF.replace("permits: {}", "permits: {}\ninputs: {a: {type: string, default: x}}"),
    }
    found = {digest(text) for text in edits} | {
        digest(LEAF),
        digest(LEAF, child="1"),
        digest(LEAF, child="2"),
    }
    assert len(found) == len(edits) + 3


def test_a_text_means_the_same_whatever_it_calls() -> None:
    """`semantic_hash` is of the text alone: what it calls is in the closure."""
    assert semantic_hash(workflow(CALLER)) == semantic_hash(workflow(CALLER))
    assert call(LEAF).def_hash != call(LEAF.replace("message: m", "message: n")).def_hash


def test_only_the_runs_own_model_reaches_into_a_call() -> None:
    """`--model` changes what a call does; without one nothing of it enters the definition."""
    assert "default_model" not in call(LEAF).definition
    assert call(LEAF, "mock/echo").def_hash != call(LEAF).def_hash


def test_the_part_that_differs_is_named_by_its_path() -> None:
    """So that a miss can say which file was edited."""
    assert "workflow ./leaf.yaml" in call(LEAF).definition_parts


def test_a_call_of_what_is_not_known_is_never_recognised_again() -> None:
    """It may do anything, so its success is no ground to skip it."""
    ran = run(CALLER)
    frame = ran.frame("task_completed", "call")
    assert frame.get("def_hash") is None
    assert "is not known" in frame.get("not_resumable")
    assert json.loads(frame.get("outcome"))["class"] == "success"
