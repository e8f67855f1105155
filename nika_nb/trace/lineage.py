"""A resume that did not get through: what it had not reached stands in the trace that it resumed."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePath

from nika_nb.errors import NikaError
from nika_nb.trace.fields import names_of
from nika_nb.trace.folder import with_head
from nika_nb.trace.memory import JournalMemory
from nika_nb.trace.reader import read
from nika_nb.trace.trace import Trace
from nika_nb.trace.verify import verify

_DEPTH = 100  # resumes that did not get through, one after the other
_UNFINISHED = {"incomplete": "broke off", "failed": "failed", "cancelled": "was cancelled"}


def remember(
    trace: Trace, forced: Iterable[str], *, carry_failures: bool = False
) -> tuple[JournalMemory, list[str]]:
    """(the memory of a trace and of what it left unfinished, what people have to be told about that)."""
    chain, notices = [trace], list[str]()
    while len(chain) < _DEPTH and (label := _resumed(chain[-1])):
        later, earlier = chain[-1].path.name, _earlier(chain[-1], label)
        if earlier is None:
            notices.append(f"{later} had resumed {label}, which does not lie beside it as it was")
            break
        how = _UNFINISHED[chain[-1].state]
        notices.append(f"{later} {how}: what it had not reached is looked up in {earlier.path.name}")
        chain.append(earlier)
    return _memory(chain, frozenset(forced), carry_failures), notices


def _memory(chain: list[Trace], forced: frozenset[str], carry_failures: bool) -> JournalMemory:
    """What an unfinished resume was told to run again is not taken from behind it either."""
    forces = [forced]
    for trace in chain[:-1]:
        forces.append(forces[-1] | _forced(trace))
    found: JournalMemory | None = None
    for trace, names in reversed(list(zip(chain, forces, strict=True))):
        carries = carry_failures and trace is chain[0]
        found = JournalMemory(trace, names, carry_failures=carries, earlier=found)
    assert found is not None
    return found


def _resumed(trace: Trace) -> str | None:
    """The label of what an unfinished resume resumed; None for a trace that says all there is."""
    label = trace.prologue.get("resumed_trace") or trace.prologue.get("resumed_head")
    return (
        label
        if trace.state in _UNFINISHED and isinstance(label, str) and PurePath(label).name == label
        else None
    )


def _earlier(trace: Trace, label: str) -> Trace | None:
    """The resumed trace, where it is still what it was and would be trusted without a word."""
    path = trace.path.with_name(label)
    if "resumed_trace" not in trace.prologue:
        path = with_head(trace.path.parent, label) or path
    try:
        found = read(path) if path.is_file() and verify(path).intact else None
    except NikaError:
        return None
    if found is None or found.head != trace.prologue.get("resumed_head"):
        return None
    return found if found.engine_version == trace.engine_version else None


def _forced(trace: Trace) -> frozenset[str]:
    return frozenset(names_of(trace.prologue.get("forced")))
