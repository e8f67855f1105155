"""A list of runs as lines of text, the same in a terminal and in a notebook."""

from __future__ import annotations

from nika_nb.board.clean import one_line
from nika_nb.runs.records import Summary
from nika_nb.runs.service import RunList


def lines_of(found: RunList) -> list[str]:
    """A line per run: id, state, readiness, when it changed, deployment or workflow."""
    lines = [_line(summary, summary.outcome or "", summary.resume_readiness) for summary in found.runs]
    lines += [_line(run.summary, run.state, "") for run in found.unfinished]
    more = found.total - found.offset - len(found.runs)
    lines += [f"… and {more} more, from {found.offset + found.limit} on"] if more > 0 else []
    return lines or ["no runs here"]


def _line(summary: Summary, state: str, readiness: str) -> str:
    ready = readiness if readiness != "not_applicable" else ""
    name = f"{summary.deployment} v{summary.deployment_version}" if summary.deployment else summary.workflow
    at = summary.to_json()["updated_at"][:19].replace("T", " ")
    return f"{summary.run_id:<32}  {state:<11}  {ready:<7}  {at}  {one_line(name)}".rstrip()
