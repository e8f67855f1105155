"""What a journal keeps of an end, by which a later resume recognises it, or why it cannot."""

from __future__ import annotations

from typing import Any

from nika_nb.engine.emit import Mask
from nika_nb.engine.outcome import Outcome
from nika_nb.errors import Fault
from nika_nb.plan.identity import Identity
from nika_nb.plan.plan import TaskPlan
from nika_nb.values import dumps, holds_bytes


def success(mask: Mask, identity: Identity | Fault, output: Any) -> dict[str, Any]:
    """The fields by which a success is recognised, or `not_resumable`: why it cannot be."""
    why = withheld(mask, output)
    if isinstance(identity, Fault):
        return {"not_resumable": why or identity.message}
    if why:
        return {"not_resumable": why}
    return {
        "def_hash": identity.def_hash,
        "input_hash": identity.input_hash,
        "output": dumps(output),
        "definition_parts": dumps(identity.definition_parts) if identity.definition_parts else None,
        "input_parts": dumps(identity.input_parts),
    }


def cleanup(mask: Mask, planned: TaskPlan, outcome: Outcome) -> dict[str, Any]:
    """The fields by which the end of a cleanup stands as long as what it follows does; of others none."""
    if not planned.task.is_cleanup:
        return {}
    shown = outcome.status == "success" and not withheld(mask, outcome.value)
    return {"def_hash": planned.def_hash, "output": dumps(outcome.value) if shown else None}


def withheld(mask: Mask, output: Any) -> str:
    """Why an output may not stand in a journal; empty where it may."""
    if holds_bytes(output):
        return "the output is bytes"
    return "a secret stands in the output, which is withheld" if mask.found(output) else ""


def hashes(identity: Identity | Fault) -> dict[str, str]:
    """What an item is recognised by when a paused run goes on, though it gave nothing."""
    if isinstance(identity, Fault):
        return {}
    return {"def_hash": identity.def_hash, "input_hash": identity.input_hash}
