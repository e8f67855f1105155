"""What a boundary admits that an earlier one did not: told entry by entry, as it is written."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from nika_nb.authority import globs
from nika_nb.authority.permits import Mode, canonical_host, judge_path
from nika_nb.language.model import Bound, Permits


def widened(before: Permits | None, now: Permits | None, base: str) -> tuple[str, ...]:
    """Every grant that is new, and every exclusion that is gone: `fs.write: ./out/**`.

    An entry that an older one covers is not new; a pattern counts as covered only where it stands there
    as written. base: the folder that relative paths start from.
    """
    if now is None:
        return ()
    old = (
        before
        if before is not None
        else replace(now, read=(), write=(), http=(), exec=False, tools=(), env=())
    )
    return tuple(_found(old, now, base))


def _found(old: Permits, now: Permits, base: str) -> Iterator[str]:
    yield from _paths(old, now, "read", base)
    yield from _paths(old, now, "write", base)
    hosts = {canonical_host(text) for text in _texts(old.http)}
    if "*" not in hosts:
        yield from (f"net.http: {text}" for text in _texts(now.http) if canonical_host(text) not in hosts)
    yield from _programs(old.exec, now.exec)
    tools = _texts(old.tools)
    yield from (f"tools: {text}" for text in _texts(now.tools) if not _admitted(tools, text))
    yield from (f"env: {text}" for text in _texts(now.env) if text not in _texts(old.env))


def _paths(old: Permits, now: Permits, mode: Mode, base: str) -> Iterator[str]:
    before, after = (_texts(p.read if mode == "read" else p.write) for p in (old, now))
    for text in after:
        if text in before or text.startswith("!"):
            continue
        if _is_pattern(text) or not judge_path(old, mode, text, base).allowed:
            yield f"fs.{mode}: {text}"
    for text in before:
        if text.startswith("!") and text not in after:
            yield f"fs.{mode}: {text.removeprefix('!')} is no longer left out"


def _programs(old: bool | tuple[Bound, ...], now: bool | tuple[Bound, ...]) -> Iterator[str]:
    if old is True or now is False:
        return
    if now is True:
        yield "exec: any program"
        return
    listed = _texts(old) if old else []
    yield from (f"exec: {text}" for text in _texts(now) if text not in listed)


def _admitted(patterns: list[str], tool: str) -> bool:
    return tool in patterns or (not _is_pattern(tool) and globs.admits(patterns, tool, stops="/:"))


def _is_pattern(text: str) -> bool:
    return any(sign in text for sign in "*?[")


def _texts(bounds: tuple[Bound, ...] | bool) -> list[str]:
    return [bound.text for bound in bounds] if isinstance(bounds, tuple) else []
