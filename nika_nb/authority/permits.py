"""One judgment for check and run: may this workflow start a program, touch a path, use a tool, reach a host.

An absent block grants nothing, exactly as `permits: {}`. What the two surfaces share:

- programs: a list admits the argv form only, by the program's name exactly as written (`./x` is
  not `x`); a shell line needs `exec: true`, because a line may start anything.
- paths: globs anchored at the base folder, judged on the lexically normalized path (`judge_path`)
  and, where work is about to happen, on the place it leads to on disk too (`judge_target`).
  Writing below `.nika`, where the runtime keeps its journals, needs a pattern that names it.
- tools: an id that carries an effect (`mcp:…`, and every builtin that touches files or the
  network) needs a grant in `permits.tools`. A builtin that only computes needs none. A file tool
  needs both its tool grant and its path grant.
- hosts: exact names, or the bare `*`.
- a called workflow: what it declares and what its caller may do must both admit it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import groupby
from operator import itemgetter
from typing import Literal, NamedTuple

from nika_nb.authority import globs, paths
from nika_nb.authority.fixes import SHELL_FIX, or_meant, program_fix
from nika_nb.catalog.builtins import BUILTINS
from nika_nb.language.model import Bound, Permits

Mode = Literal["read", "write"]

ABSENT_CODE = "NIKA-AUTH-006"
DENIED_CODE = "NIKA-SEC-004"


@dataclass(frozen=True, slots=True)
class Verdict:
    """One decision at the boundary.

    plane: exec, regate, fs.read, fs.write, tool or net. gate: what was judged (a program, a path, a
    tool, a host, the place of an argument). why: the rule that decided.
    code: the wire code of a refusal at check time, empty when allowed; a refusal at run time is
    always NIKA-SEC-004. fix: what to write so that it would be allowed.
    """

    plane: str
    gate: str
    allowed: bool
    why: str
    code: str = ""
    fix: str = ""

    @property
    def sentence(self) -> str:
        """The refusal for people: what was refused, why, what to do."""
        refusal = f"{_NOUN[self.plane]} `{self.gate}` is refused: {self.why}"
        return f"{refusal}; {self.fix}" if self.fix else refusal


_NOUN = {
    "exec": "program",
    "regate": "argument",
    "fs.read": "reading",
    "fs.write": "writing",
    "tool": "tool",
    "net": "host",
}


def confined(permits: Permits | None, caller: Permits | None) -> Permits | None:
    """The boundary of a called workflow: what it declares, within what its caller may do.

    One that declares nothing may do nothing, whatever its caller may.
    """
    return None if permits is None else replace(permits, within=caller or _nothing(permits))


def _nothing(like: Permits) -> Permits:
    return Permits((), (), (), (), (), (), {}, like.span)


def judge_all(permits: Permits | None, judge: Callable[[Permits | None], Verdict]) -> Verdict:
    """The verdict of a boundary and of every boundary that it lies in: one refusal refuses."""
    verdict = judge(permits)
    if not verdict.allowed or permits is None or permits.within is None:
        return verdict
    above = judge_all(permits.within, judge)
    if above.allowed:
        return verdict
    fix = f"in the calling workflow: {above.fix}" if above.fix else ""
    return replace(above, why=f"the calling workflow may not do it ({above.why})", fix=fix)


def shared(permits: Permits | None, listed: Callable[[Permits], Iterable[Bound]]) -> list[str]:
    """What a boundary and every one around it list."""
    names = _texts(listed(permits)) if permits else []
    if permits is None or permits.within is None:
        return names
    above = shared(permits.within, listed)
    return [name for name in names if name in above]


def judge_program(permits: Permits | None, program: str | None) -> Verdict:
    """May a process be started? `program` is argv[0] as written, None for a shell line."""
    return judge_all(permits, lambda boundary: _program(boundary, program))


def _program(permits: Permits | None, program: str | None) -> Verdict:
    gate = program if program is not None else "sh"
    wanted = f'exec: ["{program}"]' if program is not None else "exec: true"
    if permits is None:
        return _absent("exec", gate, wanted)
    if permits.exec is True:
        return Verdict("exec", gate, True, "permits.exec is true")
    if not permits.exec:
        fix = f"declare `{wanted}` under permits" if program is None else program_fix(program, permits)
        return _refused("exec", gate, "permits.exec admits no program", fix)
    if program is None:
        why = "permits.exec lists programs, and a shell line may start any program"
        return Verdict("exec", gate, False, why, DENIED_CODE, SHELL_FIX)
    listed = _texts(permits.exec)
    if program in listed:
        return Verdict("exec", gate, True, "permits.exec lists the program")
    why = f"permits.exec lists only {', '.join(listed)}"
    return _refused("exec", gate, why, or_meant(program, listed, program_fix(program, permits)))


def judge_path(permits: Permits | None, mode: Mode, path: str, base: str) -> Verdict:
    """May this path be read or written, by its text alone?"""
    return judge_all(permits, lambda boundary: _path(boundary, mode, path, base))


def _path(permits: Permits | None, mode: Mode, path: str, base: str) -> Verdict:
    if permits is None:
        return _absent(f"fs.{mode}", path, f'fs: {{ {mode}: ["{path}"] }}')
    if "\0" in path:
        return Verdict(f"fs.{mode}", path, False, "a path cannot hold a NUL", DENIED_CODE)
    here = paths.lexical("", base)
    if _covered(permits, mode, paths.lexical(path, base), here, here, follow=False):
        return Verdict(f"fs.{mode}", path, True, f"permits.fs.{mode} covers the path")
    why = f"permits.fs.{mode} {'does not cover it' if _paths_of(permits, mode) else 'is not declared'}"
    return _refused(f"fs.{mode}", path, why, f'add "{path}" to permits.fs.{mode}')


def judge_target(permits: Permits | None, mode: Mode, path: str, base: str, place: str) -> Verdict:
    """The judgment right before the work: the text, and the place it leads to, must both be granted.

    `place` is `paths.effective(path, base)`, and what is judged is what the caller must open. A
    symlink inside a granted folder therefore opens nothing outside of the granted set.
    """
    return judge_all(permits, lambda boundary: _target(boundary, mode, path, base, place))


def _target(permits: Permits | None, mode: Mode, path: str, base: str, place: str) -> Verdict:
    verdict = _path(permits, mode, path, base)
    if not verdict.allowed or permits is None:
        return verdict
    if _covered(permits, mode, place, paths.lexical("", base), paths.effective("", base), follow=True):
        return verdict
    why = f"it leads to {place}, outside permits.fs.{mode}"
    return _refused(f"fs.{mode}", path, why, f'add "{place}" to permits.fs.{mode}')


def judge_tool(permits: Permits | None, tool: str) -> Verdict:
    """May this tool be called? File and network tools are judged on their targets besides."""
    return judge_all(permits, lambda boundary: _tool(boundary, tool))


def _tool(permits: Permits | None, tool: str) -> Verdict:
    if is_pure(tool):
        return Verdict("tool", tool, True, "the tool only computes and needs no grant")
    if permits is None:
        return _absent("tool", tool, f'tools: ["{tool}"]')
    if globs.admits(_texts(permits.tools), tool, stops="/:"):
        return Verdict("tool", tool, True, "permits.tools covers the tool")
    listed = [] if tool in BUILTINS else _texts(permits.tools)
    fix = or_meant(tool, listed, f'add "{tool}" to permits.tools')
    return _refused("tool", tool, "permits.tools does not cover it", fix)


def is_pure(tool: str) -> bool:
    """Whether a tool is a builtin that reaches nothing outside the run."""
    return tool in BUILTINS and BUILTINS[tool].pure


def judge_host(permits: Permits | None, host: str) -> Verdict:
    """May this host be reached? Names are compared in canonical form, without a port."""
    return judge_all(permits, lambda boundary: _host(boundary, host))


def _host(permits: Permits | None, host: str) -> Verdict:
    name = canonical_host(host)
    if permits is None:
        return _absent("net", name, f'net: {{ http: ["{name}"] }}')
    listed = [canonical_host(text) for text in _texts(permits.http)]
    if name in listed or "*" in listed:
        why = "permits.net.http lists the host" if name in listed else "permits.net.http is `*`"
        return Verdict("net", name, True, why)
    fix = or_meant(name, listed, f'add "{name}" to permits.net.http')
    return _refused("net", name, "permits.net.http does not list it", fix)


def canonical_host(host: str) -> str:
    """Lower case, punycode, no trailing dot, no port, no brackets."""
    name = host.strip().lower()
    if name.startswith("["):
        return name[1:].split("]")[0]
    if name.count(":") == 1:
        name = name.split(":")[0]
    name = name.rstrip(".")
    try:
        return name if name.isascii() else name.encode("idna").decode("ascii")
    except UnicodeError:
        return name


def _covered(permits: Permits, mode: Mode, place: str, base: str, root: str, follow: bool) -> bool:
    """Whether the path list admits an absolute place. `root` is the base folder as judged.

    A later entry overrides an earlier one, so the last that covers the place decides.
    """
    guarded = mode == "write" and _runtimes_own(place)
    for run in _runs(_paths_of(permits, mode), base, os.path.expanduser("~")):
        patterns = run.patterns
        if guarded and run.grants:
            patterns = tuple(pattern for pattern in patterns if _runtimes_own(pattern))
        if _covers(patterns, run.within, place, root, follow):
            return run.grants
    return False


class _Run(NamedTuple):
    """Entries of a path list that stand side by side and say the same: `within` the base folder, from
    which they count then, or elsewhere."""

    grants: bool
    within: bool
    patterns: tuple[str, ...]


@lru_cache(maxsize=64)
def _runs(listed: tuple[str, ...], base: str, home: str) -> tuple[_Run, ...]:
    """A path list from its end. `home` is what `~` stands for."""
    entries: list[tuple[bool, bool, str]] = []
    for text in reversed(listed):
        pattern = paths.lexical(text.removeprefix("!"), base)
        inner = paths.below(pattern, base)
        entries.append((not text.startswith("!"), inner is not None, pattern if inner is None else inner))
    runs = groupby(entries, key=itemgetter(0, 1))
    return tuple(
        _Run(grants, within, tuple(pattern for *_, pattern in run)) for (grants, within), run in runs
    )


def _runtimes_own(place: str) -> bool:
    """Whether a path leads below a folder where journals lie: who writes there answers for other runs."""
    return ".nika" in place.casefold().split("/")


def _covers(patterns: tuple[str, ...], within: bool, place: str, root: str, follow: bool) -> bool:
    """Whether one of several patterns covers a place.

    A pattern in the base folder counts from the base, so that a link planted at the head of a
    granted folder is seen; elsewhere the author named the place, links and all.
    """
    if not within:
        heads = tuple(_follow_head(pattern) for pattern in patterns) if follow else patterns
        return globs.matches(heads, place)
    inside = paths.below(place, root)
    return inside is not None and globs.matches(patterns, inside)


def _follow_head(pattern: str) -> str:
    """An absolute pattern with the symlinks of its literal head followed (`/tmp` may be one)."""
    parts = pattern.split("/")
    wild = next((i for i, part in enumerate(parts) if any(c in part for c in "*?[")), len(parts))
    head = paths.effective("/".join(parts[:wild]) or "/", "/")
    return "/".join([head.rstrip("/"), *parts[wild:]]) or "/"


def _paths_of(permits: Permits, mode: Mode) -> tuple[str, ...]:
    return permits.reads if mode == "read" else permits.writes


def _texts(bounds: Iterable[Bound]) -> list[str]:
    return [bound.text for bound in bounds]


def _absent(plane: str, gate: str, grant: str) -> Verdict:
    why = "the workflow declares no `permits:`, so it may touch nothing"
    return Verdict(plane, gate, False, why, ABSENT_CODE, f"declare `permits: {{ {grant} }}`")


def _refused(plane: str, gate: str, why: str, fix: str) -> Verdict:
    return Verdict(plane, gate, False, why, DENIED_CODE, fix)
