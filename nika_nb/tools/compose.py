"""`nika:compose`: the whole check of a workflow that an agent has drafted. The draft is never run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nika_nb.authority.permits import judge_target
from nika_nb.catalog.builtins import COMPOSE
from nika_nb.errors import Fault, Source
from nika_nb.tools.base import Tool, Use, in_thread, text_of


async def _compose(use: Use, arguments: Mapping[str, Any]) -> dict[str, Any]:
    if not use.in_loop:
        why = "checks what an agent drafts, and here is none; list it under `tools:` of an `agent:` task"
        raise Fault("NIKA-BUILTIN-COMPOSE-001", f"`{COMPOSE}` {why}")
    draft = text_of(arguments, "workflow_yaml", COMPOSE)
    verdict = await in_thread(lambda: _verdict(use, draft))
    told = {"valid": verdict["valid"], "violations": len(verdict["errors"])}
    use.call.attach("agent_compose_checked", told)
    return verdict


def _verdict(use: Use, draft: str) -> dict[str, Any]:
    """The files that a draft names are opened only where the run that drafts it may read them."""
    from nika_nb.check import check
    from nika_nb.check.children import Family

    base = Path(use.call.base)

    def readable(path: str) -> bool:
        return judge_target(use.permits, "read", path, use.call.base, path).allowed

    return check(Source(draft, "draft"), base=base, family=Family(readable=readable)).to_json()


TOOL = Tool(
    COMPOSE,
    _compose,
    required=("workflow_yaml",),
    says="Checks a complete Nika workflow without running it, and returns every problem with its code, "
    "its place and the way out. Repair the draft and check it again until `valid` is true.",
    shapes={"workflow_yaml": {"type": "string"}},
)
