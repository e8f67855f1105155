"""Durable runs from Python: each function is one operation on the runs of a project.

root: the folder of the workflow file or notebook, whose `.nika` holds the runs; None for the current
folder. Every result has `to_json()`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nika_nb.runs.deployments import Deployment, DeploymentList
from nika_nb.runs.following import Follow
from nika_nb.runs.inspecting import Inspection, Unrunnable
from nika_nb.runs.lack import lacks_of
from nika_nb.runs.records import Checkpoint
from nika_nb.runs.request import Vouched
from nika_nb.runs.service import Answered, Range, RunList, Runs, judge, request_of

Root = str | Path | None


def start(
    text_or_path: str | Path,
    *,
    vars: Mapping[str, Any] | None = None,
    model: str | None = None,
    max_cost_usd: float | None = None,
    interactive: bool | None = None,
    gc: bool = True,
    root: Root = None,
    wait: bool = True,
    trace_range: Range = None,
) -> Inspection | Unrunnable:
    """Starts a durable run and returns it once it has stopped; with `wait=False` at once.

    Everything that it needs is looked up first: where something is missing, or the check refuses the
    text, the status is `unrunnable`, and there is no run and no file. trace_range: (start, limit) of
    the frames to return with it. gc: old traces make room first. Raises UsageError for wrong inputs.
    """
    from nika_nb.errors import CheckRefused

    judge(trace_range)
    try:
        request = request_of(
            text_or_path,
            root,
            vars=vars,
            model=model,
            max_cost_usd=max_cost_usd,
            interactive=interactive,
            gc=gc,
        )
    except CheckRefused as refused:
        return Unrunnable(lacks_of(refused))
    return Runs(request.place.root).start(request, wait=wait, trace_range=trace_range)


def deploy(
    name: str,
    workflow: str | Path,
    bindings: Mapping[str, Any] | None = None,
    *,
    model: str | None = None,
    max_cost_usd: float | None = None,
    root: Root = None,
) -> Deployment:
    """Keeps a workflow, all that it calls, its bindings and its model as a new version of a deployment.

    Where nothing differs from the newest one, that stands. workflow: a text, a file or
    `book.ipynb::name`; of a cell's first line the inputs, the model and the cap are kept. bindings:
    values of its inputs. Secrets are kept by reference. Raises CheckRefused or UsageError.
    """
    request = request_of(workflow, root, vars=bindings, model=model, max_cost_usd=max_cost_usd)
    return Runs(request.place.root).deploy(name, request)


def run_deployment(
    name: str,
    inputs: Mapping[str, Any] | None = None,
    *,
    version: int | None = None,
    interactive: bool | None = None,
    gc: bool = True,
    root: Root = None,
    wait: bool = True,
    trace_range: Range = None,
) -> Inspection | Unrunnable:
    """Starts a run of a deployment's newest version, or of the one named. As `start` otherwise.

    inputs: go over what the deployment binds.
    """
    return Runs(root).run_deployment(
        name, inputs, version=version, interactive=interactive, gc=gc, wait=wait, trace_range=trace_range
    )


def list_deployments(root: Root = None) -> DeploymentList:
    """The newest version of every deployment, by name: a list that prints as a table.

    `required` of each names the inputs that a start has to be given, `lacks` what it would be `unrunnable`
    for right now. `.broken`: those whose newest version cannot be run.
    """
    return Runs(root).deployments.all()


def delete_deployment(name: str, version: int | None = None, root: Root = None) -> int:
    """Removes one version, or all; how many went. Its runs keep everything that they need."""
    return Runs(root).deployments.remove(name, version)


def list_runs(root: Root = None, offset: int = 0, limit: int = 50, *, status: str | None = None) -> RunList:
    """A page of compact summaries, the newest first; running and incomplete runs stand apart.

    status: only the runs that are interrupted, completed or failed. The readiness in a summary is what
    the last resume found; `answered_by` names the other run that has the answers to all it asks.
    """
    return Runs(root).list_runs(offset, limit, status)


def inspect_run(run_id: str, root: Root = None) -> Inspection:
    """A run's status, readiness, prompts, output or error, and diagnostics; never its trace.

    Whether a run that waits could go on is looked up anew: `blocked` and the diagnostics are of now.
    """
    return Runs(root).inspect_run(run_id)


def read_run_trace(run_id: str, start: int, limit: int, root: Root = None) -> Inspection:
    """The run and the frames `start` to `start + limit` of its trace, over all its invocations.

    Raises UsageError for a range that is none, before anything is opened.
    """
    return Runs(root).read_run_trace(run_id, start, limit)


def checkpoints(run_id: str, root: Root = None) -> tuple[Checkpoint, ...]:
    """The stops of a run, the first one first."""
    return Runs(root).checkpoints(run_id)


def resume_run(
    run_id: str,
    answers: Any = None,
    outcome: Answered = "submitted",
    *,
    interactive: bool | None = None,
    gc: bool = True,
    resume_compat: str | None = None,
    resume_unverified: bool = False,
    root: Root = None,
    wait: bool = True,
    trace_range: Range = None,
) -> Inspection:
    """Answers what an interrupted run asks and goes on with it, under the same id.

    answers: by prompt (`{"ask": "yes"}`), or a bare value where one is open. `declined`: a
    confirmation settles as false, any other prompt fails with NIKA-CANCEL-001; answers then names
    the prompts, all of them without. Something in the way: readiness `blocked`, nothing consumed.
    gc: old traces make room first. resume_compat, resume_unverified: as of `nika_nb.run`.

    Raises UsageError for a run that is not interrupted and for a wrong answer, ResumeRefused where
    somebody else was first.
    """
    return Runs(root).resume_run(
        run_id,
        answers,
        outcome,
        interactive=interactive,
        vouched=Vouched(resume_compat, resume_unverified),
        gc=gc,
        wait=wait,
        trace_range=trace_range,
    )


def cancel(run_id: str, root: Root = None) -> Inspection:
    """Ends a run that is at work, in whatever process of this machine, or that waits for an answer.

    Its cleanups still run; what it asked can be answered no more. Raises UsageError for a run that is
    over, ResumeRefused where somebody answers it just then, RunBlocked where its trace does not hold what
    its cleanups need, NikaError where it is still at work after a while.
    """
    return Runs(root).cancel(run_id)


def follow(run_id: str, root: Root = None, *, through_pauses: bool = True) -> Follow:
    """The frames of a run as they land, from any process; its `state` says how it ended.

    Waits at a pause for the answer; with `through_pauses=False` it ends there.
    """
    return Runs(root).follow(run_id, through_pauses=through_pauses)
