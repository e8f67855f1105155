"""One need against one boundary: what the permits say, also where only the run knows the target."""

from __future__ import annotations

from nika_nb.authority import globs
from nika_nb.authority.permits import (
    DENIED_CODE,
    Verdict,
    judge_host,
    judge_path,
    judge_program,
    judge_tool,
)
from nika_nb.catalog.builtins import BUILTINS
from nika_nb.check.needs import Need
from nika_nb.language.model import Permits


def verdict_of(permits: Permits | None, need: Need, base: str) -> Verdict | None:
    """The verdict; None where only the run can tell. `base` is the folder that paths count from."""
    effect = need.effect
    if permits is not None and (effect.dynamic or effect.target is None):
        return _closed(permits, need)
    target = effect.target or ""
    match effect.kind:
        case "exec" | "shell":
            return judge_program(permits, need.program)
        case "read":
            return _read(permits, target, base)
        case "write":
            return judge_path(permits, "write", target, base)
        case "tool":
            return _tool(permits, target)
        case "net":
            return judge_host(permits, target)
    return None


def _read(permits: Permits | None, target: str, base: str) -> Verdict:
    """A glob is covered as it is written, or by the folder that it starts in."""
    verdict = judge_path(permits, "read", target, base)
    head = _literal_head(target)
    if verdict.allowed or head == target:
        return verdict
    inside = judge_path(permits, "read", head, base)
    return inside if inside.allowed else verdict


def _literal_head(pattern: str) -> str:
    parts = pattern.split("/")
    wild = next((at for at, part in enumerate(parts) if any(sign in part for sign in "*?[")), None)
    return pattern if wild is None else "/".join(parts[:wild]) or "."


def _tool(permits: Permits | None, tool: str) -> Verdict:
    """A pattern of builtins is covered when every one that it admits is."""
    verdict = judge_tool(permits, tool)
    if verdict.allowed or not tool.startswith("nika:") or "*" not in tool:
        return verdict
    for name in BUILTINS:
        if globs.matches((tool,), name, stops="/:") and not judge_tool(permits, name).allowed:
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
