"""Required ⊆ permitted: every effect that the text decides, against the declared boundary and the floor."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from nika_nb.authority import floor
from nika_nb.authority.blocklist import judge_argv, judge_shell
from nika_nb.authority.hosts import opening
from nika_nb.authority.permits import ABSENT_CODE
from nika_nb.check.fit import verdict_of
from nika_nb.check.inference import as_block, infer_permits, open_ends
from nika_nb.check.needs import Need, needs_of, place
from nika_nb.check.subject import Subject
from nika_nb.errors import Diagnostic, Severity
from nika_nb.language.model import Permits

_SHOWN = 6  # effects named in one sentence
_ADD = "add "  # how a hint begins that widens the boundary by one grant


def judge(subject: Subject) -> Iterator[Diagnostic]:
    """NIKA-SEC-001 -004 -005, NIKA-AUTH-006."""
    needs = [need for task in subject.sound_tasks for need in needs_of(subject.workflow, task)]
    yield from _dead_grants(subject)
    possible: list[Need] = []
    for need in needs:
        found = list(_never(subject, need))
        yield from found
        possible += [] if found else [need]
    if "permits" in subject.damaged:
        return
    permits = subject.workflow.permits
    if permits is None:
        yield from _undeclared(subject, possible)
        return
    yield from _together([found for need in possible for found in _outside(subject, permits, need)])


# what no boundary can open


def _dead_grants(subject: Subject) -> Iterator[Diagnostic]:
    permits = subject.workflow.permits
    for grant in permits.http if permits else ():
        reason = floor.blocked(grant.text)
        if reason and not floor.is_loopback(grant.text):
            sentence = f"`{grant.text}` is never reached, whatever is permitted: {reason}"
            yield Diagnostic(floor.BLOCKED_CODE, sentence, grant.span, "remove it: the grant has no effect")


def _never(subject: Subject, need: Need) -> Iterator[Diagnostic]:
    effect = need.effect
    reason = None
    if effect.kind == "exec":
        reason = judge_argv([_opaque(word) for word in need.words])
    elif effect.kind == "shell":
        reason = judge_shell(_opaque(effect.target or ""))
    if reason:
        hint = "let the task do only what the workflow needs; no permit opens this"
        sentence = f"this command is never run: {reason}"
        yield Diagnostic("NIKA-SEC-001", sentence, place(subject, need), hint, task=need.task.id)
    if effect.kind == "net" and effect.target and (reason := _floor(subject, effect.target)):
        hint = opening(effect.target)
        sentence = f"`{effect.target}` is never reached: {reason}"
        yield Diagnostic(floor.BLOCKED_CODE, sentence, place(subject, need), hint, task=need.task.id)


def _opaque(text: str) -> str:
    """The text with every island replaced by a harmless word: what it yields is judged at run time."""
    head, *rest = text.split("${{")
    return head + "".join(f"_{part.partition('}}')[2]}" for part in rest)


def _floor(subject: Subject, host: str) -> str | None:
    permits = subject.workflow.permits
    return floor.blocked(host, [grant.text for grant in permits.http] if permits else [])


# what the boundary of this workflow does not open


def _undeclared(subject: Subject, needs: list[Need]) -> Iterator[Diagnostic]:
    """One diagnostic for the whole workflow, with the block that would permit what it does."""
    if not needs:
        return
    first, *others = _telling(needs)
    shown = list(dict.fromkeys(str(need) for need in (first, *others)))
    more = f" and {len(shown) - _SHOWN} more" if len(shown) > _SHOWN else ""
    what = f"{', '.join(shown[:_SHOWN])}{more}"
    sentence = f"there is no `permits:`, so this workflow may touch nothing, and it would {what}"
    block = as_block(infer_permits(subject.workflow))
    hint = f"declare what it may touch:\n{block}{open_ends(subject.workflow)}"
    more_places = tuple((f"it would {need} here", place(subject, need)) for need in others[: _SHOWN - 1])
    yield Diagnostic(
        ABSENT_CODE, sentence, place(subject, first), hint, task=first.task.id, related=more_places
    )


def _telling(needs: list[Need]) -> list[Need]:
    """The needs without the tools whose targets say more than their names."""
    aimed = {need.task.id for need in needs if need.effect.kind != "tool"}
    return [need for need in needs if need.effect.kind != "tool" or need.task.id not in aimed]


def _together(found: list[Diagnostic]) -> Iterator[Diagnostic]:
    """The first finding of a task says all that has to be added for it: one thing to write, not several."""
    grants: dict[str | None, dict[str, None]] = {}
    for one in found:
        if one.hint.startswith(_ADD):
            grants.setdefault(one.task, {})[one.hint.removeprefix(_ADD)] = None
    for one in found:
        wanted = grants.pop(one.task, {}) if one.hint.startswith(_ADD) else {}
        yield replace(one, hint=_ADD + ", ".join(wanted)) if len(wanted) > 1 else one


def _outside(subject: Subject, permits: Permits, need: Need) -> Iterator[Diagnostic]:
    effect = need.effect
    verdict = verdict_of(permits, need, subject.base)
    if verdict is None or verdict.allowed:
        return
    # A part of an upload is judged by the run alone: the file may be written by the run itself.
    severity: Severity = "warning" if effect.argument[:2] == ("args", "multipart") else "error"
    yield Diagnostic(
        verdict.code,
        replace(verdict, fix="").sentence,
        place(subject, need),
        verdict.fix,
        severity=severity,
        task=need.task.id,
        related=(("the boundary is declared here", permits.span),),
    )
