"""The inputs of a resume: those that are given with it, else those that its trace recorded."""

from __future__ import annotations

from dataclasses import replace

from nika_nb.doors import option, together
from nika_nb.errors import UsageError
from nika_nb.language.model import Workflow
from nika_nb.runs.draft import Draft
from nika_nb.runs.inputs import bind
from nika_nb.runs.request import Request
from nika_nb.runs.resumption import Resumption
from nika_nb.runs.truly import given_to, reopened
from nika_nb.trace.memory import JournalMemory
from nika_nb.trace.trace import Trace


def with_inputs(request: Request, drafted: Draft, resumed: Resumption) -> tuple[Request, Draft]:
    """The request and its draft with all their inputs; what is taken from the trace is told.

    Questions of the trace that were answered for other inputs are open again.

    Raises UsageError for one that the trace withheld, and for one that does not fit.
    """
    if request.resume is None or request.continues:
        return request, drafted
    if resumed.trace is not None:
        request = _with_recorded(request, drafted.workflow, resumed.trace, resumed.notices)
    drafted = replace(drafted, inputs=bind(drafted.workflow, request.variables, request.place.base))
    if isinstance(resumed.memory, JournalMemory):
        values = given_to(drafted, request.place.base)
        resumed.memory.reopen(lambda trace: reopened(drafted.plan, trace.input_values, values))
    return request, drafted


def _with_recorded(request: Request, workflow: Workflow, trace: Trace, notices: list[str]) -> Request:
    """A default is not taken: it stands in the text, and may have been edited there."""
    given = [name for name, origin in trace.inputs.items() if origin != "file" and name in workflow.inputs]
    open_ = [name for name in given if name not in request.variables]
    withheld = [name for name in open_ if name in trace.inputs_withheld]
    if withheld:
        again = together(option("var", f"{name}=…") for name in withheld)
        raise UsageError(
            f"nothing was run: {trace.path.name} does not hold {_listed(withheld)}, for it is a secret; give "
            f"it again with {again}"
        )
    values = trace.input_values or {}
    taken = {name: values[name] for name in open_ if name in values}
    if not taken:
        return request
    notices.append(f"inputs as recorded in {trace.path.name}: {_listed(list(taken))}")
    origins = {name: str(trace.inputs[name]) for name in taken}
    variables = {**request.variables, **taken}
    return replace(request, variables=variables, origins={**request.origins, **origins})


def _listed(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
