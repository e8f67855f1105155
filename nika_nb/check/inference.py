"""The boundary that a workflow needs, read from its own text: what to paste where `permits:` is missing."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from nika_nb.authority import floor
from nika_nb.authority.fixes import apart, words_apart
from nika_nb.check.needs import Need, needs_of
from nika_nb.language.model import Workflow


def infer_permits(workflow: Workflow) -> dict[str, Any]:
    """The `permits:` block, as JSON, under which every effect that the text decides is admitted.

    A path that ends in a template becomes the folder before it; an input counts as its default.
    Hosts that the floor blocks are left out: opening them is the author's own act. What only the
    run knows is not guessed (see `open_ends`).
    """
    needs = list(_needs(workflow))
    block: dict[str, Any] = {}
    fs = {
        mode: _unique(_path(need) for need in needs if need.effect.kind == mode) for mode in ("read", "write")
    }
    if any(fs.values()):
        block["fs"] = {mode: paths for mode, paths in fs.items() if paths}
    if hosts := _unique(_host(need) for need in needs):
        block["net"] = {"http": hosts}
    if programs := _programs(needs):
        block["exec"] = programs
    if tools := _unique(need.effect.target for need in needs if need.effect.kind == "tool"):
        block["tools"] = tools
    return block


def as_block(permits: dict[str, Any]) -> str:
    """The block as YAML to paste at the top level."""
    if not permits:
        return "permits: {}"
    return "\n".join(["permits:", *(f"  {key}: {_flow(value)}" for key, value in permits.items())])


def open_ends(workflow: Workflow) -> str:
    """What the block does not make good, or '': a line in one word, and what only the run knows."""
    lines = [need for need in _needs(workflow) if need.program and len(apart(need.program)) > 1]
    said = f"\nand {words_apart(lines[0].program or '')}" if lines else ""
    unknown = [need for need in _needs(workflow) if need.effect.kind == "net" and need.effect.target is None]
    names = ", ".join(dict.fromkeys(f"`{need.task.id}`" for need in unknown))
    hosts = f"\nand list the hosts that {names} may reach in `net: {{ http: […] }}`" if unknown else ""
    return said + hosts


def _needs(workflow: Workflow) -> Iterable[Need]:
    for task in workflow.tasks.values():
        yield from needs_of(workflow, task, defaults=True)


def _path(need: Need) -> str | None:
    target = need.effect.target
    if target is None or not need.effect.dynamic:
        return target
    head = target.split("${{", 1)[0]
    folder = head.rpartition("/")[0]
    return f"{folder}/**" if folder or head.startswith("/") else "./**"


def _host(need: Need) -> str | None:
    host = need.effect.target
    if need.effect.kind != "net" or host is None or floor.blocked(host):
        return None
    return host


def _programs(needs: list[Need]) -> bool | list[str]:
    running = [need for need in needs if need.effect.kind in ("exec", "shell")]
    if any(need.effect.kind == "shell" or need.effect.dynamic for need in running):
        return True
    return _unique(apart(need.program)[0] if need.program else None for need in running)


def _unique(found: Iterable[str | None]) -> list[str]:
    return list(dict.fromkeys(text for text in found if text))


def _flow(value: Any) -> str:
    """A value in YAML's flow style, the way people write it."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key}: {_flow(item)}" for key, item in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(_flow(item) for item in value) + "]"
    return json.dumps(value, ensure_ascii=False)
