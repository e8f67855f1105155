"""Where a secret may go: each place it reaches, against what its owner wrote in `egress:`."""

from __future__ import annotations

from collections.abc import Iterator

from nika_nb.authority.effects import host_of
from nika_nb.authority.permits import canonical_host
from nika_nb.check.folding import argument
from nika_nb.check.subject import Subject
from nika_nb.check.taint import Arrival, Flow
from nika_nb.errors import Diagnostic
from nika_nb.language.cel.syntax import as_reference
from nika_nb.language.model import Egress, Secret, Task
from nika_nb.language.template import Value, only_island

# The argument that addresses a network sink.
_ADDRESS = {"nika:fetch": "url", "nika:notify": "target"}


def judge(subject: Subject) -> Iterator[Diagnostic]:
    """NIKA-SEC-006 and -007."""
    if not subject.workflow.secrets:
        return
    flow = Flow(subject.workflow, subject.edges)
    for task in subject.tasks:
        arrivals = list(flow.into_body(task))
        for arrival in arrivals:
            if not _sanctioned(subject, task, arrival, alone=len(arrivals) == 1):
                yield _leak(subject, task, arrival)
    for output in subject.workflow.outputs.values():
        for arrival in flow.into_output(output.value):
            rules = subject.workflow.secrets[arrival.secret].egress
            if all(rule.to != "outputs" for rule in rules):
                yield _boundary(subject, output.name, arrival)


def sink_of(task: Task) -> str:
    """The id of the place into which a task sends: its verb, its tool, or the workflow it calls."""
    action = task.action
    if action.verb != "invoke":
        return action.verb
    return str(action.get("tool") or action.get("workflow"))


def _sanctioned(subject: Subject, task: Task, arrival: Arrival, *, alone: bool) -> bool:
    secret = subject.workflow.secrets[arrival.secret]
    rules = [rule for rule in secret.egress if rule.to == sink_of(task)]
    return any(_clears(subject, task, secret, rule, alone) for rule in rules)


def _clears(subject: Subject, task: Task, secret: Secret, rule: Egress, alone: bool) -> bool:
    """Whether one rule lets the secret go where the task sends it."""
    if rule.host is not None:
        host = _static_host(subject, task)
        return host is not None and host == canonical_host(rule.host)
    if rule.host_from_self:
        return alone and _addressed_by(task, secret)
    return True


def _static_host(subject: Subject, task: Task) -> str | None:
    """The host that the text itself decides."""
    address = argument(subject.workflow, task, _ADDRESS.get(sink_of(task), ""))
    return host_of(address)[0] if isinstance(address, str) else None


def _addressed_by(task: Task, secret: Secret) -> bool:
    """Whether the address is this secret and nothing else, directly or through one binding."""
    path = _only_path(task.action.arguments.get(_ADDRESS.get(sink_of(task), "")))
    if path is not None and path[0] == "with" and len(path) == 2:
        path = _only_path(task.with_.get(path[1]))
    return path == ("secrets", secret.name)


def _only_path(value: Value | None) -> tuple[str, ...] | None:
    island = only_island(value)
    path = as_reference(island.expr) if island is not None else None
    return (path.root, *map(str, path.steps)) if path is not None else None


def _leak(subject: Subject, task: Task, arrival: Arrival) -> Diagnostic:
    sink = sink_of(task)
    way = " → ".join((*arrival.trail, sink))
    secret = subject.workflow.secrets[arrival.secret]
    return Diagnostic(
        "NIKA-SEC-006",
        f"`secrets.{arrival.secret}` reaches `{sink}`, and {_why(secret, sink)}: {way}",
        arrival.span,
        _sanction(subject, task, secret, sink),
        task=task.id,
        related=((f"`{arrival.secret}` is declared here", secret.span),),
    )


def _why(secret: Secret, sink: str) -> str:
    if not secret.egress:
        return "its owner lets it go nowhere"
    rule = next((rule for rule in secret.egress if rule.to == sink), None)
    if rule is None:
        return f"its `egress:` names only {', '.join(dict.fromkeys(rule.to for rule in secret.egress))}"
    if rule.host is not None:
        return f"its `egress:` lets it go to `{rule.host}` only"
    return "its `egress:` lets it go only where it is the whole address and the only secret"


def _sanction(subject: Subject, task: Task, secret: Secret, sink: str) -> str:
    if task.action.get("workflow") is not None:
        return "declare the secret in the workflow that is called, instead of passing it on"
    host = _static_host(subject, task) if sink in _ADDRESS else None
    own = sink in _ADDRESS and _addressed_by(task, secret)
    rule = Egress(sink, host, host is None and own, secret.span)
    return f"{_clause(secret, rule)}, or keep the secret out of this task"


def _clause(secret: Secret, new: Egress) -> str:
    """The whole `egress:` to write, the new rule at its end."""
    rules = [rule for rule in secret.egress if rule.to != new.to or (new.host and rule.host)]
    shown = ", ".join(map(_rule, (*rules, new)))
    return f"to allow it, write in `secrets.{secret.name}` `egress: [{shown}]`"


def _rule(rule: Egress) -> str:
    more = f', host: "{rule.host}"' if rule.host else ", host_from_self: true" if rule.host_from_self else ""
    return f'{{ to: "{rule.to}"{more} }}'


def _boundary(subject: Subject, output: str, arrival: Arrival) -> Diagnostic:
    secret = subject.workflow.secrets[arrival.secret]
    way = " → ".join((*arrival.trail, f"outputs.{output}"))
    return Diagnostic(
        "NIKA-SEC-007",
        f"`secrets.{arrival.secret}` may leave the run in the output `{output}`: {way}",
        arrival.span,
        f"{_clause(secret, Egress('outputs', None, False, secret.span))}, or return something else",
        related=((f"`{arrival.secret}` is declared here", secret.span),),
    )
