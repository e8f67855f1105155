"""Entries of `permits:` that admit nothing, or more than they say: their author believes otherwise."""

from __future__ import annotations

from collections.abc import Iterator

from nika_nb.authority import globs
from nika_nb.authority.hosts import read_site
from nika_nb.authority.permits import DENIED_CODE, canonical_host
from nika_nb.catalog.builtins import BUILTINS
from nika_nb.check.subject import Subject
from nika_nb.errors import Diagnostic
from nika_nb.language.model import Bound
from nika_nb.values import nearest


def judge(subject: Subject) -> Iterator[Diagnostic]:
    """Warnings, NIKA-SEC-004."""
    permits = subject.workflow.permits
    if permits is None:
        return
    for entry in permits.http:
        yield from _host(entry)
    for entry in permits.tools:
        yield from _tool(entry)
    for entry in permits.exec if not isinstance(permits.exec, bool) else ():
        yield from _program(entry)


def _host(entry: Bound) -> Iterator[Diagnostic]:
    name, meant = canonical_host(entry.text), _meant(entry.text)
    if "*" in name:
        return
    hint = f"write `{meant}`" if meant else "write a name like `api.example.com`"
    if name != meant:
        yield _warning(entry, f"`{entry.text}` is not the name of a host, and permits nothing", hint)
    elif entry.text.count(":") == 1 or "]:" in entry.text:
        sentence = f"`{entry.text}` permits every port of this host: a port is no part of a permit"
        yield _warning(entry, sentence, hint)


def _meant(text: str) -> str:
    """The host that an address or a name leads to; empty where there is none."""
    try:
        return read_site(f"https://{_without_port(text.partition('://')[2] or text)}").host
    except ValueError:
        return ""


def _without_port(text: str) -> str:
    authority = text.partition("/")[0].strip()
    if authority.startswith("["):
        return authority.partition("]")[0] + "]"
    return f"[{authority}]" if authority.count(":") > 1 else authority.partition(":")[0]


def _tool(entry: Bound) -> Iterator[Diagnostic]:
    pattern = entry.text.removeprefix("!")
    if pattern.startswith("mcp:") or any(globs.matches((pattern,), name, stops="/:") for name in BUILTINS):
        return
    hint = nearest(pattern, BUILTINS) or "builtins are `nika:…`, tools of servers `mcp:server/tool`"
    yield _warning(entry, f"`{entry.text}` in `permits.tools` matches no tool", hint)


def _program(entry: Bound) -> Iterator[Diagnostic]:
    if any(sign in entry.text for sign in "*?") or entry.text.startswith("!"):
        sentence = f"`permits.exec` lists programs by their names, and none is called `{entry.text}`"
        yield _warning(entry, sentence, "write each by its name; `exec: true` admits any program")
    elif " " in entry.text.strip() and "/" not in entry.text:
        sentence = f"`permits.exec` lists programs without their arguments, and none is called `{entry.text}`"
        yield _warning(entry, sentence, f"write `{entry.text.split()[0]}`")


def _warning(entry: Bound, sentence: str, hint: str) -> Diagnostic:
    return Diagnostic(DENIED_CODE, sentence, entry.span, hint, "warning")
