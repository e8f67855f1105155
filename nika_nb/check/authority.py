"""Required ⊆ permitted: every effect that the text decides, against the declared boundary and the floor."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from nika_nb.authority import floor, globs
from nika_nb.authority.blocklist import judge_argv, judge_shell
from nika_nb.authority.permits import (
    ABSENT_CODE,
    DENIED_CODE,
    Verdict,
    judge_host,
    judge_path,
    judge_program,
    judge_tool,
)
from nika_nb.catalog.builtins import BUILTINS
from nika_nb.check.inference import as_block, infer_permits, open_ends
from nika_nb.check.needs import Need, needs_of, place
from nika_nb.check.subject import Subject
from nika_nb.errors import Diagnostic, Severity
from nika_nb.language.model import Permits

_SHOWN = 6  # effects named in one sentence


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
    for need in possible:
        yield from _outside(subject, permits, need)


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
        hint = _open_loopback(effect.target)
        sentence = f"`{effect.target}` is never reached: {reason}"
        yield Diagnostic(floor.BLOCKED_CODE, sentence, place(subject, need), hint, task=need.task.id)


def _opaque(text: str) -> str:
    """The text with every island replaced by a harmless word: what it yields is judged at run time."""
    head, *rest = text.split("${{")
    return head + "".join(f"_{part.partition('}}')[2]}" for part in rest)


def _floor(subject: Subject, host: str) -> str | None:
    permits = subject.workflow.permits
    return floor.blocked(host, [grant.text for grant in permits.http] if permits else [])


def _open_loopback(host: str) -> str:
    if floor.is_loopback(host):
        return f'to mean it, name exactly this host: `permits: {{ net: {{ http: ["{host}"] }} }}`'
    return "fetch from a public host; no permit opens this one"


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


def _outside(subject: Subject, permits: Permits, need: Need) -> Iterator[Diagnostic]:
    effect = need.effect
    known = effect.target is not None and not effect.dynamic
    verdict = verdict_of(subject, permits, need) if known else _closed(permits, need)
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


def verdict_of(subject: Subject, permits: Permits, need: Need) -> Verdict | None:
    """What the boundary says to a need whose target is known."""
    target = need.effect.target or ""
    match need.effect.kind:
        case "exec" | "shell":
            return judge_program(permits, need.program)
        case "read" | "write" as mode:
            return _path(permits, mode, target, subject.base)
        case "tool":
            return _tool(permits, target)
        case "net":
            return judge_host(permits, target)
    return None


def _path(permits: Permits, mode: str, target: str, base: str) -> Verdict:
    """A glob is covered as it is written, or by the folder that it starts in."""
    verdict = judge_path(permits, "read" if mode == "read" else "write", target, base)
    head = _literal_head(target)
    if verdict.allowed or head == target or mode == "write":
        return verdict
    inside = judge_path(permits, "read", head, base)
    return inside if inside.allowed else verdict


def _literal_head(pattern: str) -> str:
    parts = pattern.split("/")
    wild = next((at for at, part in enumerate(parts) if any(sign in part for sign in "*?[")), None)
    return pattern if wild is None else "/".join(parts[:wild]) or "."


def _tool(permits: Permits, tool: str) -> Verdict:
    """A pattern of builtins is covered when every one that it admits is."""
    verdict = judge_tool(permits, tool)
    if verdict.allowed or not tool.startswith("nika:") or "*" not in tool:
        return verdict
    for name in BUILTINS:
        if globs.matches(tool, name, stops="/:") and not judge_tool(permits, name).allowed:
            return verdict
    return Verdict("tool", tool, True, "permits.tools covers every tool of the pattern")


def _closed(permits: Permits, need: Need) -> Verdict | None:
    """A target that only the run knows is refused already where its whole category is closed."""
    kind = need.effect.kind
    gate = need.program or need.effect.target or "?"
    if kind in ("exec", "shell"):
        return judge_program(permits, None) if kind == "shell" or not permits.exec else None
    if kind == "net" and not permits.http:
        return Verdict("net", gate, False, "permits.net.http lists no host", DENIED_CODE, "list the hosts")
    grants = {"read": permits.read, "write": permits.write}.get(kind)
    if grants is not None and not grants:
        why = f"permits.fs.{kind} is not declared"
        return Verdict(f"fs.{kind}", gate, False, why, DENIED_CODE, f"list the paths in permits.fs.{kind}")
    return None
