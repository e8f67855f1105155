"""Everything a run is handed, and the pipeline that is made of it."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from nika_nb.engine.attempts import Attempts
from nika_nb.engine.budget import Budget
from nika_nb.engine.clock import Clock, VirtualClock
from nika_nb.engine.contract import Extractor, Verbs
from nika_nb.engine.emit import Emitter, Mask
from nika_nb.engine.events import Sink
from nika_nb.engine.halt import Halt
from nika_nb.engine.identify import Identifier
from nika_nb.engine.memory import Memory
from nika_nb.engine.pipeline import Pipeline
from nika_nb.engine.places import Places
from nika_nb.engine.scope import Scopes
from nika_nb.engine.seen import Seen
from nika_nb.engine.settle import Settler
from nika_nb.engine.turns import Turns
from nika_nb.engine.unit import AwaitTask, UnitRunner
from nika_nb.engine.waits import Waits
from nika_nb.plan.plan import Plan


@dataclass(frozen=True, slots=True)
class Setup:
    """The plan, its values, its surroundings, what to say first.

    inputs: bound values by name. markers: what stands for each secret in an identity.
    manifest: the fields of the first frame. preamble: frames right after it.
    width: how many items of a fan-out may work at once; turns: how many units of the whole run.
    serial: one task at a time from its beginning to its end, and nothing of this machine or this
    moment in the frames. seed: of ids and jitter, None for real chance.
    budget: what the run may cost. halt: that it was ended. called_off: it goes on with a run that paused,
    only to end it: what is recorded is recalled, and what stood open is cancelled and cleaned up after.
    """

    plan: Plan
    inputs: Mapping[str, Any]
    secrets: Mapping[str, str]
    markers: Mapping[str, str]
    verbs: Verbs
    extractor: Extractor
    memory: Memory
    clock: Clock
    mask: Mask
    sink: Sink
    base: str
    manifest: Mapping[str, Any]
    preamble: Sequence[tuple[str, dict[str, Any]]] = ()
    width: int = 32
    serial: bool = False
    seed: int | None = None
    budget: Budget = field(default_factory=Budget)
    turns: Turns = field(default_factory=Turns)
    halt: Halt = field(default_factory=Halt)
    called_off: bool = False


def looks(setup: Setup) -> Seen:
    """What looks at the files of a run; under a virtual clock nothing has a moment to be compared with."""
    return Seen(setup.base, watched=not (setup.serial or isinstance(setup.clock, VirtualClock)))


def pipeline(
    setup: Setup,
    emitter: Emitter,
    settler: Settler,
    scopes: Scopes,
    waits: Waits,
    await_task: AwaitTask,
    seen: Seen,
) -> Pipeline:
    """What takes each task of the run from its start to its end."""
    chance = random.SystemRandom() if setup.seed is None else random.Random(setup.seed)
    attempts = Attempts(
        setup.verbs,
        setup.extractor,
        setup.clock,
        emitter,
        chance,
        setup.base,
        setup.budget,
        setup.halt,
        Places(setup.base if setup.serial else None),
        seen,
    )
    units = UnitRunner(
        scopes,
        attempts,
        Identifier(scopes, setup.mask),
        setup.memory,
        settler,
        setup.clock,
        setup.turns,
        waits,
        await_task,
        setup.budget,
    )
    return Pipeline(scopes, units, setup.memory, settler, setup.clock, setup.width)
