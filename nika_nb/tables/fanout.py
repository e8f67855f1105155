"""The items of a fan-out as a table, back on the index of the DataFrame that fed it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from nika_nb.errors import UsageError
from nika_nb.tables.build import Builder, typed
from nika_nb.tables.columns import FAN_OUT
from nika_nb.tables.rows import ordered, unit_values
from nika_nb.tables.values import value_of
from nika_nb.trace.frame import Frame
from nika_nb.trace.paging import with_texts
from nika_nb.trace.unit import Unit
from nika_nb.trace.units import Units
from nika_nb.values import nearest

if TYPE_CHECKING:
    import pandas as pd

_COUNT = re.compile(r" · (\d+) items?$")


@dataclass(frozen=True, slots=True)
class FanOut:
    """What a journal tells of one fan-out.

    units: what has begun, by index. count: how many items there are; exact: that this is known and not
    only the least that there can be.
    """

    task: Unit
    units: dict[int, Unit]
    count: int
    exact: bool

    @classmethod
    def of(cls, frames: Iterable[Frame], task: str, running: bool, given: Sequence[Any] | None) -> FanOut:
        """given: the collection, where it is known. Raises UsageError for a task that is no fan-out."""
        items: list[Unit] = []
        fold = Units(items.append, outputs=True)
        for frame, text in with_texts(frames):
            fold.take(frame, text)
        fold.close(running=running)
        unit = _task(fold, task)
        units = {item.item or 0: item for item in items if item.task == task}
        noted = _COUNT.search(unit.note or "")
        if not units and not noted and given is None:
            raise UsageError(f"`{task}` {_no_items(unit)}")
        least = max(units, default=-1) + 1
        count = len(given) if given is not None else int(noted[1]) if noted else _outputs(unit)
        return cls(unit, units, max(least, count or 0), count is not None)

    def values(self, index: int) -> dict[str, Any]:
        """One item, by column; of an engine that tells nothing of items, what the task tells."""
        unit = self.units.get(index)
        if unit is not None:
            return unit_values(unit)
        if not self.task.settled:
            return {"state": "pending"}
        found = value_of(self.task.output) if self.task.state == "success" else None
        output = found[index] if isinstance(found, list) and index < len(found) else None
        state = "success" if output is not None else "skipped" if found is not None else "cancelled"
        return {"state": state, "output": output, "cached": self.task.cached}


def _task(fold: Units, task: str) -> Unit:
    if task in fold.tasks:
        return fold.tasks[task]
    hint = nearest(task, fold.tasks) or f"there are {', '.join(fold.tasks) or 'none'}"
    raise UsageError(f"the trace knows no task `{task}`; {hint}")


def _no_items(unit: Unit) -> str:
    if unit.started is not None or unit.cached:
        return "is no fan-out: its output is one value"
    why = (unit.detail or unit.note) if unit.settled else None
    return f"has no items: it is {unit.state}" + (f" ({why})" if why else "")


def _outputs(unit: Unit) -> int | None:
    found = value_of(unit.output)
    return len(found) if isinstance(found, list) else None


def frame_of(found: FanOut, labels: Any, unpack: bool) -> pd.DataFrame:
    """The table. Raises UsageError for an index of another length."""
    index = _index(labels, found)
    rows = [found.values(at) for at in range(len(index))]
    builder = Builder(FAN_OUT)
    builder.extend(ordered(FAN_OUT, row) for row in rows)
    frame = builder.frame(index)
    return _unpacked(frame) if unpack else frame


def _index(labels: Any, found: FanOut) -> Any:
    import pandas as pd

    if labels is None:
        return pd.RangeIndex(found.count, name="item")
    index = labels.index if isinstance(labels, (pd.DataFrame, pd.Series)) else labels
    if not isinstance(index, pd.Index):  # of one with levels, `pd.Index` makes tuples
        index = pd.Index(index)
    if len(index) < found.count or (found.exact and len(index) > found.count):
        raise UsageError(
            f"`{found.task.task}` runs over {found.count} items, and that index has {len(index)} labels: "
            "give the DataFrame that its rows came from"
        )
    return index


def _unpacked(frame: pd.DataFrame) -> pd.DataFrame:
    """The members of outputs that are objects as columns; a name that is taken begins with `output.`."""
    import pandas as pd

    outputs = list(frame["output"])
    members = [value if isinstance(value, dict) else {} for value in outputs]
    names = dict.fromkeys(name for member in members for name in member)
    if not names:
        return frame
    made = {
        f"output.{name}" if name in frame.columns else name: typed([member.get(name) for member in members])
        for name in names
    }
    whole = any(value is not None and not isinstance(value, dict) for value in outputs)
    rest = frame if whole else frame.drop(columns="output")
    return pd.concat([pd.DataFrame(made).set_axis(frame.index), rest], axis="columns")
