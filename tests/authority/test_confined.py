"""The boundary of a called workflow: what it declares and what its caller may do, both."""

from __future__ import annotations

from pathlib import Path

import pytest

from nika_nb.authority import env, hosts, paths
from nika_nb.authority.permits import (
    confined,
    judge_host,
    judge_path,
    judge_program,
    judge_target,
    judge_tool,
)
from nika_nb.authority.regate import judge_words
from nika_nb.errors import Source
from nika_nb.language import load
from tests.verbs.calls import permits

WIDE = permits(
    exec=True, read=["**"], write=["**"], http=["*"], tools=["nika:*"], env=["HOME_OF_IT", "SECOND"]
)
NARROW = permits(
    exec=["echo"], read=["in/*"], write=["out/*"], http=["a.example"], tools=["nika:read"], env=["SECOND"]
)


@pytest.mark.parametrize(("inner", "outer"), [(WIDE, NARROW), (NARROW, WIDE), (NARROW, NARROW)])
def test_only_what_both_admit_is_admitted(inner: object, outer: object) -> None:
    """Whichever of the two is the narrow one, it decides."""
    both = confined(inner, outer)  # type: ignore[arg-type]
    assert judge_program(both, "echo").allowed
    assert not judge_program(both, "ls").allowed
    assert not judge_program(both, None).allowed
    assert judge_path(both, "read", "in/a", "/base").allowed
    assert not judge_path(both, "read", "else/a", "/base").allowed
    assert not judge_path(both, "write", "in/a", "/base").allowed
    assert judge_host(both, "a.example").allowed
    assert not judge_host(both, "b.example").allowed
    assert judge_tool(both, "nika:read").allowed
    assert not judge_tool(both, "nika:write").allowed
    assert judge_tool(both, "nika:log").allowed, "what only computes needs no grant from anybody"
    passed = env.compose(both, None, {"HOME_OF_IT": "1", "SECOND": "2"}).passed
    assert passed == ("SECOND",)


def test_nothing_flows_down() -> None:
    """A called workflow without permits may do nothing, however much its caller may."""
    assert confined(None, WIDE) is None
    assert not judge_program(confined(None, WIDE), "echo").allowed


def test_a_caller_without_permits_has_nothing_to_lend() -> None:
    """What the called workflow declares is worth nothing under a caller that may do nothing."""
    both = confined(WIDE, None)
    assert not judge_program(both, "echo").allowed
    assert not judge_path(both, "read", "in/a", "/base").allowed
    assert not judge_tool(both, "nika:read").allowed


def test_every_caller_up_to_the_first_counts() -> None:
    """The caller's caller decides as well, and the refusal says that it is not the workflow's own."""
    both = confined(WIDE, confined(WIDE, NARROW))
    verdict = judge_program(both, "ls")
    assert not verdict.allowed
    assert verdict.code == "NIKA-SEC-004"
    assert "the calling workflow may not do it" in verdict.sentence
    assert "permits.exec lists only echo" in verdict.sentence


def test_a_link_leads_nowhere_that_the_caller_may_not_go(tmp_path: Path) -> None:
    """The place on disk is judged by both boundaries as well."""
    (tmp_path / "in").mkdir()
    (tmp_path / "else").mkdir()
    (tmp_path / "in" / "link").symlink_to(tmp_path / "else" / "a")
    base = str(tmp_path)
    place = paths.effective("in/link", base)
    assert judge_target(WIDE, "read", "in/link", base, place).allowed
    assert not judge_target(confined(WIDE, NARROW), "read", "in/link", base, place).allowed


def test_the_floor_is_opened_only_by_all() -> None:
    """This machine is reached where every boundary names it, not where one of them does."""
    named, starred = permits(http=["localhost"]), permits(http=["*", "localhost"])
    assert hosts.judge(named, "localhost", 8080).allowed
    assert hosts.judge(confined(named, starred), "localhost", 8080).allowed
    assert not hosts.judge(confined(named, permits(http=["*"])), "localhost", 8080).allowed
    assert not hosts.judge(confined(permits(http=["*"]), named), "localhost", 8080).allowed


def test_untrusted_words_are_judged_by_the_caller_too() -> None:
    """A program list of the caller's holds for what the called workflow passes on."""
    command = '["find", "${{ inputs.w }}"]'
    text = f"nika: x\ninputs: {{w: {{type: string}}}}\ntasks:\n  t: {{exec: {{command: {command}}}}}"
    workflow = load(Source(text)).workflow
    assert workflow is not None
    task = workflow.tasks["t"]
    argv = ["find", "-exec"]
    assert all(verdict.allowed for verdict in judge_words(permits(exec=True), task, argv))
    both = confined(permits(exec=True), permits(exec=["find"]))
    assert not all(verdict.allowed for verdict in judge_words(both, task, argv))
