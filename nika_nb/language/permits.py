"""The `permits:` block: literal bounds, category by category."""

from __future__ import annotations

import re

from nika_nb.catalog import grammar
from nika_nb.catalog.environment import is_dangerous
from nika_nb.language.findings import Findings
from nika_nb.language.model import Bound, Permits
from nika_nb.language.nodes import Map, Node, Scalar, to_json
from nika_nb.language.shape import Shape

_ENV_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def read_permits(node: Node, findings: Findings) -> Permits | None:
    """The boundary; what is unsound in it is found and grants nothing."""
    shape = Shape(findings)
    found = shape.mapping(
        node, "`permits:`", "leave it out, and the check writes the block; `permits: {}` grants nothing"
    )
    if found is None:
        return None
    shape.closed(found, grammar.PERMITS, "`permits:`", grammar.DEAD_PERMITS)
    fs = _part(found, "fs", grammar.PERMITS_FS, shape)
    net = _part(found, "net", grammar.PERMITS_NET, shape)
    return Permits(
        read=_bounds(fs, "read", "permits.fs.read", shape),
        write=_bounds(fs, "write", "permits.fs.write", shape),
        http=_hosts(net, shape),
        exec=_exec(found, shape),
        tools=_bounds(found, "tools", "permits.tools", shape),
        env=_env(found, shape),
        raw=to_json(node),
        span=node.span,
    )


def _part(found: Map, key: str, keys: tuple[str, ...], shape: Shape) -> Map | None:
    node = found.get(key)
    if node is None:
        return None
    part = shape.mapping(node, f"`permits.{key}`", f"write `{key}: {{ {keys[0]}: [] }}`")
    if part is not None:
        shape.closed(part, keys, f"`permits.{key}`")
    return part


def _bounds(found: Map | None, key: str, what: str, shape: Shape) -> tuple[Bound, ...]:
    node = found.get(key) if found else None
    if node is None:
        return ()
    items = shape.items(node, f"`{what}`", "write it in brackets: [ … ]") or []
    return tuple(bound for item in items if (bound := _bound(item, what, shape)) is not None)


def _bound(node: Node, what: str, shape: Shape) -> Bound | None:
    text = shape.text(node, f"an entry of `{what}`", empty=False)
    if text is None:
        return None
    if "${{" in text:
        shape.findings.error(
            "NIKA-AUTH-007",
            f"`{what}` holds `{text[:60]}`: a boundary that a value could move is none",
            node.span,
            "write the literal that you want to permit",
        )
        return None
    return Bound(text, node.span)


def _hosts(net: Map | None, shape: Shape) -> tuple[Bound, ...]:
    hosts = _bounds(net, "http", "permits.net.http", shape)
    for host in hosts:
        if "*" in host.text and host.text != "*":
            shape.findings.error(
                "NIKA-AUTH-010",
                f"`{host.text}` is not an exact host: whoever runs that zone would decide what is permitted",
                host.span,
                "list every host by its name; a bare `*` is the visible way to permit all",
            )
    return hosts


def _exec(found: Map, shape: Shape) -> bool | tuple[Bound, ...]:
    node = found.get("exec")
    if node is None:
        return False
    if isinstance(node, Scalar):
        if isinstance(node.value, str):
            what = "true, false or a list of programs"
            shape.wrong("`permits.exec`", what, node, _meant(node.value[:40]))
            return False
        return bool(shape.flag(node, "`permits.exec`"))
    return _bounds(found, "exec", "permits.exec", shape)


def _meant(text: str) -> str:
    """What a text under `exec:` stands for."""
    if text.lower() in ("true", "*", "all", "any", "yes", "shell"):
        return "write `exec: true`: it admits any program, lines of the shell included"
    return f'write `exec: ["{text}"]`'


def _env(found: Map, shape: Shape) -> tuple[Bound, ...]:
    kept: list[Bound] = []
    for bound in _bounds(found, "env", "permits.env", shape):
        if not _ENV_NAME.fullmatch(bound.text):
            shape.findings.error(
                shape.code,
                f"`{bound.text[:60]}` is not the name of one environment variable",
                bound.span,
                "write exact names: letters, digits and `_`",
            )
        elif is_dangerous(bound.text):
            shape.findings.error(
                "NIKA-AUTH-009",
                f"`{bound.text}` can make a process run other code, so it is never passed on",
                bound.span,
                "remove it: the grant has no effect",
            )
        else:
            kept.append(bound)
    return tuple(kept)
