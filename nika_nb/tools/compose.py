"""`nika:compose`: the whole check of a workflow that an agent has drafted. The draft is never run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nika_nb.catalog.builtins import COMPOSE
from nika_nb.errors import Fault, Source
from nika_nb.tools.base import Tool, Use, in_thread, text_of


async def _compose(use: Use, arguments: Mapping[str, Any]) -> dict[str, Any]:
    if not use.in_loop:
        why = "checks what an agent drafts, and here is none; list it under `tools:` of an `agent:` task"
        raise Fault("NIKA-BUILTIN-COMPOSE-001", f"`{COMPOSE}` {why}")
    draft = text_of(arguments, "workflow_yaml", COMPOSE)
    verdict = await in_thread(lambda: _verdict(draft))
    told = {"valid": verdict["valid"], "violations": len(verdict["errors"])}
    use.call.attach("agent_compose_checked", told)
    return verdict


def _verdict(draft: str) -> dict[str, Any]:
    from nika_nb.check import check

    return check(Source(draft, "draft")).to_json()


TOOL = Tool(
    COMPOSE,
    _compose,
    required=("workflow_yaml",),
    says="Checks a complete Nika workflow without running it, and returns every problem with its code, "
    "its place and the way out. Repair the draft and check it again until `valid` is true.",
    shapes={"workflow_yaml": {"type": "string"}},
)
