"""A value of the caller is judged again where it reaches the world, by the default that it declares."""

from __future__ import annotations

from collections.abc import Iterator

from nika_nb.authority import paths
from nika_nb.authority.lifts import lifted
from nika_nb.authority.regate import escape, tokens_of
from nika_nb.check.fit import verdict_of
from nika_nb.check.needs import Need, needs_of, place
from nika_nb.check.problem import is_open
from nika_nb.check.subject import Subject
from nika_nb.check.untrusted import Way, part, ways_into
from nika_nb.errors import Diagnostic, Span
from nika_nb.language.model import Permits, Task

CODE = "NIKA-AUTH-008"


def judge(subject: Subject) -> Iterator[Diagnostic]:
    """NIKA-AUTH-008. What has no default is left to the same judgment at run time (NIKA-SEC-004)."""
    permits = subject.workflow.permits
    if permits is None or "permits" in subject.damaged:
        return
    for task in subject.sound_tasks:
        written = {_key(need) for need in needs_of(subject.workflow, task)}
        for need in needs_of(subject.workflow, task, defaults=True):
            if _key(need) not in written and not need.effect.dynamic:
                yield from _judge_need(subject, permits, need)


def _key(need: Need) -> tuple[object, ...]:
    return need.effect.kind, need.effect.argument, need.effect.target


def _judge_need(subject: Subject, permits: Permits, need: Need) -> Iterator[Diagnostic]:
    if need.effect.kind == "exec":
        yield from _words(subject, permits, need)
        if not _decided(need.task, ("command", "argv", "0")):
            return
    value = part(need.task.action.body, need.effect.argument)
    way = next(iter(ways_into(need.task, value)), None)
    verdict = verdict_of(permits, need, subject.base)
    if way is None or verdict is None or verdict.allowed:
        return
    resolved = need.program or need.effect.target or ""
    seen = _canonical(subject, need, resolved)
    why = f"{verdict.why}: {' → '.join((*way, _argument(need)))}"
    sentence = f"by its default `{way[0]}` is `{resolved}`{seen}, and {why}"
    # A lifted value is matched like a literal: the boundary itself is never lifted.
    code = "NIKA-SEC-004" if way[0] in lifted(need.task) else CODE
    yield Diagnostic(code, sentence, place(subject, need), _hint(verdict.fix, need, way), task=need.task.id)


def _decided(task: Task, path: tuple[str, ...]) -> bool:
    """Whether an input decides a part of the body."""
    return next(iter(ways_into(task, part(task.action.body, path))), None) is not None


def _canonical(subject: Subject, need: Need, resolved: str) -> str:
    if need.effect.kind not in ("read", "write"):
        return ""
    real = paths.lexical(resolved, subject.base)
    inside = paths.below(real, paths.lexical("", subject.base))
    shown = real if inside is None else f"./{inside}"
    return "" if shown == resolved else f" (that is `{shown}`)"


def _argument(need: Need) -> str:
    return "command[0]" if need.effect.kind == "exec" else ".".join(need.effect.argument)


def _hint(fix: str, need: Need, way: Way) -> str:
    """Whatever a shell line says, it is refused: another default would not help."""
    return fix if need.effect.kind == "shell" else f"{fix}, or choose another default for `{way[0]}`"


def _words(subject: Subject, permits: Permits, need: Need) -> Iterator[Diagnostic]:
    """An argument that turns a listed program into a way to run any other."""
    tokens = tokens_of(need.words)
    for number, resolved in enumerate(need.words[1:], start=1):
        if is_open(resolved):
            continue  # judged when the run knows it
        value = part(need.task.action.body, ("command", "argv", str(number)))
        way = next(iter(ways_into(need.task, value)), None)
        token = escape(permits, tokens.get(number, ())) if way is not None else None
        if way is None or token is None or way[0] in lifted(need.task):
            continue
        route = " → ".join((*way, f"command[{number}]"))
        why = f"and that makes `{need.program}` run another program: {route}"
        sentence = f"by its default `{way[0]}` is `{resolved}`, {why}"
        hint = f'choose another default, or list "{token}" in permits.exec to mean it'
        yield Diagnostic(CODE, sentence, _word(subject, need, number), hint, task=need.task.id)


def _word(subject: Subject, need: Need, number: int) -> Span:
    return subject.place("tasks", need.task.id, "exec", "command", number)
