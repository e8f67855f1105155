"""Why a task runs live on a resume, as its frame says it."""

from __future__ import annotations

from typing import Any

from nika_nb.engine.memory import Miss
from nika_nb.plan.plan import TaskPlan
from nika_nb.values import dumps


def reason_fields(planned: TaskPlan, miss: Miss) -> dict[str, Any]:
    """Why the task runs live on a resume: the reason, the parts that differ, where they come from."""
    if miss.reason == "first-run":
        return {}
    parts = parts_of(planned, miss)
    return {
        "reason": miss.reason,
        "parts": dumps(parts) if parts else None,
        "detail": miss.detail or None,
    }


def parts_of(planned: TaskPlan, miss: Miss) -> list[str]:
    """What differs, each with the tasks that it comes from."""
    return [with_origins(planned, name) for name in miss.parts]


def with_origins(planned: TaskPlan, name: str) -> str:
    """`with.rows (from load)`: a part of an input as people read it."""
    origins = planned.origins_of(name)
    return f"{name} (from {', '.join(origins)})" if origins else name
