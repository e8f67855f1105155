"""Lists of runs and deployments as lines of text, the same in a terminal and in a notebook."""

from __future__ import annotations

import os
from pathlib import Path

from nika_nb.board.clean import one_line
from nika_nb.doors import deployment as started
from nika_nb.runs.deployments import Deployment
from nika_nb.runs.records import Summary
from nika_nb.runs.run_list import RunList


def lines_of(found: RunList) -> list[str]:
    """A line per run: id, state, readiness, when it changed, deployment or workflow."""
    lines = [_line(summary, summary.outcome or "", summary.resume_readiness) for summary in found.runs]
    lines += [_line(run.summary, run.state, "") for run in found.unfinished]
    more = found.total - found.offset - len(found.runs)
    lines += [f"… and {more} more, from {found.offset + found.limit} on"] if more > 0 else []
    return lines or ["no runs here"]


def deployed_line(made: Deployment, here: Path) -> str:
    """Which version was made, where it lies, and how it is started from a folder."""
    folder = "" if made.root == here.resolve() else os.path.relpath(made.root, here)
    where = os.path.join(folder, ".nika", "deployments")
    which = f"{made.name} · version {made.version} · {made.snapshot.workflow}"
    return f"{which} · in {where}; start it with `{started(made.name, folder)}`"


def _line(summary: Summary, state: str, readiness: str) -> str:
    ready = readiness if readiness != "not_applicable" else ""
    name = f"{summary.deployment} v{summary.deployment_version}" if summary.deployment else summary.workflow
    at = summary.to_json()["updated_at"][:19].replace("T", " ")
    return f"{summary.run_id:<32}  {state:<11}  {ready:<7}  {at}  {one_line(name)}".rstrip()
