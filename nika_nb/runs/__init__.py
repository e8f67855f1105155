"""Durable runs: started, deployed, listed, inspected, read, resumed, cancelled and followed.

from nika_nb import runs, then runs.list_runs(), runs.resume_run(…). Loads what is used, when it is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nika_nb.runs.operations import cancel as cancel
    from nika_nb.runs.operations import checkpoints as checkpoints
    from nika_nb.runs.operations import delete_deployment as delete_deployment
    from nika_nb.runs.operations import deploy as deploy
    from nika_nb.runs.operations import follow as follow
    from nika_nb.runs.operations import inspect_run as inspect_run
    from nika_nb.runs.operations import list_deployments as list_deployments
    from nika_nb.runs.operations import list_runs as list_runs
    from nika_nb.runs.operations import read_run_trace as read_run_trace
    from nika_nb.runs.operations import resume_run as resume_run
    from nika_nb.runs.operations import run_deployment as run_deployment
    from nika_nb.runs.operations import start as start

__all__ = [
    "cancel",
    "checkpoints",
    "delete_deployment",
    "deploy",
    "follow",
    "inspect_run",
    "list_deployments",
    "list_runs",
    "read_run_trace",
    "resume_run",
    "run_deployment",
    "start",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'nika_nb.runs' has no attribute {name!r}")
    from nika_nb.runs import operations

    value = getattr(operations, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
