"""Lists of runs and deployments as lines of text, the same in a terminal and in a notebook."""

from __future__ import annotations

import json
import os
from pathlib import Path

from nika_nb.board.clean import clean, error_line, one_line
from nika_nb.doors import deployment as started
from nika_nb.runs.deployments import Deployment, DeploymentList
from nika_nb.runs.inspecting import Inspection
from nika_nb.runs.lack import Lack
from nika_nb.runs.records import Summary, moment
from nika_nb.runs.run_list import RunList


def lines_of(found: RunList) -> list[str]:
    """A line per run: id, state, readiness, when it changed, deployment or workflow."""
    lines = [line_of(summary) for summary in found.runs]
    lines += [_line(run.summary, run.state, "") for run in found.unfinished]
    more = found.total - found.offset - len(found.runs)
    lines += [f"… and {more} more, from {found.offset + found.limit} on"] if more > 0 else []
    return lines or ["no runs here"]


def described(found: Inspection) -> list[str]:
    """One run: how it stands, what it asks, what came of it."""
    ready = found.resume_readiness
    lines = [f"{found.run_id} · {found.outcome or found.state}" + (f" · {ready}" if found.prompts else "")]
    lines += [f"  asks `{prompt.key}`: {one_line(prompt.message)}" for prompt in found.prompts]
    lines += [f"  blocked: {lack.sentence}" for lack in found.diagnostics]
    if found.error:
        lines.append(f"  {found.error['code']} · {error_line(str(found.error['message']), 400)}")
    if found.output is not None:
        lines.append(f"  {clean(json.dumps(found.output, ensure_ascii=False))}")
    lines += [f"  was running: `{task}`" for task in found.in_flight]
    times = f"{_second(found.summary.created)} to {_second(found.summary.updated)}"
    return [*lines, f"  {times} · {found.trace_count} frames"]


def deployed_line(made: Deployment, here: Path) -> str:
    """Which version was made, where it lies, and how it is started from a folder."""
    folder = "" if made.root == here.resolve() else os.path.relpath(made.root, here)
    where = os.path.join(folder, ".nika", "deployments")
    which = f"{made.name} · version {made.version} · {made.snapshot.workflow}"
    giving = f", giving {', '.join(made.required)}" if made.required else ""
    return f"{which} · in {where}; start it with `{started(made.name, folder)}`{giving}"


def deployment_lines(found: DeploymentList) -> list[str]:
    """A line per deployment: name, version, when it was made, workflow, the inputs it needs, readiness."""
    rows = [
        (
            one.name,
            f"version {one.version}",
            _second(one.created),
            one_line(one.snapshot.workflow),
            f"needs {', '.join(map(one_line, one.required))}" if one.required else "",
            _ready(one.lacks),
        )
        for one in found
    ]
    rows += [(one.name, f"version {one.version}", "", "", "", _ready((one.lack,))) for one in found.broken]
    widths = [max(len(row[at]) for row in rows) for at in range(5)] if rows else []
    lines = ["  ".join([*map(str.ljust, row, widths), row[-1]]) for row in sorted(rows)]
    return lines or ["no deployments here"]


def _ready(lacks: tuple[Lack, ...]) -> str:
    more = f" (and {len(lacks) - 1} more)" if len(lacks) > 1 else ""
    return f"unrunnable: {error_line(lacks[0].sentence, 400)}{more}" if lacks else "ready"


def line_of(summary: Summary) -> str:
    """A run that has stopped."""
    return _line(summary, summary.outcome or "", summary.resume_readiness)


def _line(summary: Summary, state: str, readiness: str) -> str:
    ready = readiness if readiness != "not_applicable" else ""
    name = f"{summary.deployment} v{summary.deployment_version}" if summary.deployment else summary.workflow
    at = _second(summary.updated)
    by = f"  answered by {summary.answered_by}" if summary.answered_by else ""
    return f"{summary.run_id:<32}  {state:<11}  {ready:<7}  {at}  {one_line(name)}{by}".rstrip()


def _second(nanoseconds: int) -> str:
    return moment(nanoseconds)[:19].replace("T", " ")
