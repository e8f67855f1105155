"""A resume that would only ask again what its trace asks already: that run still waits, none begins."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path

from nika_nb.doors import command, option, together
from nika_nb.errors import ResumeRefused
from nika_nb.plan.graph import downstream
from nika_nb.plan.plan import Plan
from nika_nb.runs.ahead import foretold
from nika_nb.runs.answered import AlreadyAnswered, how_answered, refuse_answered
from nika_nb.runs.answers import Answers, task_of
from nika_nb.runs.children import pinned_texts, recorded
from nika_nb.runs.draft import Draft
from nika_nb.runs.kin import answered_elsewhere, refuse_twice, told_of_kin
from nika_nb.runs.recorded import cap_of, place_of
from nika_nb.runs.request import Request
from nika_nb.runs.resumption import Resumption
from nika_nb.trace.lineage import remember
from nika_nb.trace.trace import Trace
from nika_nb.values import dumps


class StillWaits(ResumeRefused):
    """Nothing but open questions would run, and they stand already: the run that asks them is the one.

    notices: what people are told of it.
    """

    def __init__(self, trace: Path, notices: tuple[str, ...]) -> None:
        self.trace = trace
        self.notices = notices
        super().__init__(notices[-1], exit_code=4)


def refuse_to_ask_again(
    request: Request, drafted: Draft, resumed: Resumption, answers: Answers, interactive: bool
) -> None:
    """Raises StillWaits, or AlreadyAnswered where the run went on from there.

    Where another run begins although one waits, that is told.
    """
    trace = resumed.trace
    if trace is None or not trace.prompts or resumed.run_id or request.continues or not trace.run_id:
        return
    again = not request.forced and not answers.all and _asks_again(request, drafted, resumed, interactive)
    if again:
        _refuse(request, trace, resumed.notices)
    resumed.notices.append(_told(request, trace))


def _refuse(request: Request, trace: Trace, notices: list[str]) -> None:
    try:
        refuse_answered(trace.path, request.place.folder)
    except AlreadyAnswered as answered:
        tasks = dict.fromkeys(task_of(prompt.key) for prompt in trace.prompts)
        again = together(option("from", task) for task in tasks)
        raise AlreadyAnswered(f"{answered}. To ask again, in another run: `{again}`") from None
    if trace.path in answered_elsewhere([trace.path], trace.path.parent):
        refuse_twice(trace.path, request.place.folder, [prompt.key for prompt in trace.prompts])
    said = f"{trace.run_id} still waits for an answer to {_asked(trace)}: nothing was run"
    kin = told_of_kin(trace.path, request.place.folder)
    raise StillWaits(trace.path, (*notices, *kin, said))


def _told(request: Request, trace: Trace) -> str:
    """What whoever begins another run has to know of the one that asked."""
    answered = how_answered(trace.path, request.place.folder)
    if answered is not None:
        return f"{answered}: this is another run, and what is behind {_asked(trace)} may happen once more"
    cancel = command("cancel", trace.run_id or "")
    return (
        f"this is another run: {trace.run_id} still waits for an answer to {_asked(trace)} in "
        f"{trace.path.name}. To end that one: `{cancel}`"
    )


def _asked(trace: Trace) -> str:
    return ", ".join(f"`{prompt.key}`" for prompt in trace.prompts)


def _asks_again(request: Request, drafted: Draft, resumed: Resumption, interactive: bool) -> bool:
    trace = resumed.trace
    assert trace is not None
    declared = {"resume_unverified", "resumed_from_engine"} & resumed.fields.keys()
    decided = any(prompt.has_default for prompt in trace.prompts) and not interactive
    if declared or decided or not _same(request, drafted, trace):
        return False
    return not any(_live(request, drafted, trace))


def _same(request: Request, drafted: Draft, trace: Trace) -> bool:
    """Whether it would be run as it was: the texts, the inputs, the model, the cap, the place."""
    texts = pinned_texts(request.source.name, drafted.plan, drafted.children)
    told = {name: value for name, value in drafted.inputs.items() if name not in trace.inputs_withheld}
    there, here = place_of(trace) or request.place, request.place
    return (
        trace.source == request.source.text
        and recorded(texts, trace)
        and dumps(told) == dumps(trace.input_values or {})
        and request.model == trace.prologue.get("model_override")
        and request.max_cost_usd in (None, cap_of(trace))
        and there.root.resolve() == here.root.resolve()
        and (trace.reproducible or there.base.resolve() == here.base.resolve())
    )


def _live(request: Request, drafted: Draft, trace: Trace) -> Iterator[str]:
    """The tasks that would run and are neither an open question nor behind one."""
    asked, behind = _open(drafted.plan, [prompt.key for prompt in trace.prompts])
    spared = asked | _unkept(trace) | {task.id for task in drafted.workflow.tasks.values() if task.is_cleanup}
    memory, _ = remember(trace, ())
    for task in foretold(request, drafted.plan, drafted.inputs, memory):
        above = {task.task, *_callers(task.task)}
        if task.fate == "run" and task.task not in spared and not above & behind:
            yield task.task


def _callers(name: str) -> Iterator[str]:
    """`a`, `a/b` of `a/b/c`."""
    while "/" in name:
        name = name.rpartition("/")[0]
        yield name


def _open(plan: Plan, keys: Collection[str]) -> tuple[set[str], set[str]]:
    """(the tasks that ask, those of called workflows as `call/task`; what waits for them)."""
    asked, behind = set[str](), set[str]()
    for name in {task_of(key) for key in keys}:
        inner = [key.partition("/")[2] for key in keys if task_of(key) == name and "/" in key]
        callee = plan.callees.get(plan.tasks[name].task.called or "") if name in plan.tasks else None
        below = _open(callee.plan, inner) if callee is not None and inner else (set[str](), set[str]())
        asked |= {name, *(f"{name}/{task}" for task in below[0])}
        behind |= {*downstream(plan.edges, name), *(f"{name}/{task}" for task in below[1])}
    return asked, behind


def _unkept(trace: Trace) -> set[str]:
    """What succeeded and cannot be taken from a trace: an answer runs it again as well."""
    return {str(frame.get("task")) for frame in trace.frames if frame.get("not_resumable")}
