"""`nika:json_diff`: what turns one JSON value into another, as an RFC 6902 patch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import SequenceMatcher
from typing import Any

from nika_nb.errors import Fault
from nika_nb.tools.base import Tool, Use, in_thread
from nika_nb.values import Json, dumps_sorted

NAME = "nika:json_diff"
NOT_JSON_CODE = "NIKA-BUILTIN-JSON_DIFF-001"

_MOST_ALIGNED = 1000  # items of a list that are matched by content; longer ones by position

Step = dict[str, Json]


async def _json_diff(use: Use, arguments: Mapping[str, Any]) -> list[Step]:
    before, after = (_json(arguments, name) for name in ("before", "after"))
    try:
        return await in_thread(lambda: list(steps(before, after)))
    except RecursionError:
        raise Fault(NOT_JSON_CODE, "`before:` and `after:` are nested too deeply to be compared") from None


def _json(arguments: Mapping[str, Any], name: str) -> Json:
    value = arguments[name]
    try:
        _text(value)
    except (TypeError, ValueError, RecursionError):
        raise Fault(NOT_JSON_CODE, f"`{name}:` is not a JSON value, so it has no difference") from None
    return value


def _text(value: Json) -> str:
    """One text per value: 1, 1.0 and true stay apart."""
    return dumps_sorted(value)


def steps(before: Json, after: Json, path: str = "") -> Iterator[Step]:
    """The steps, to be applied in order. Keys in sorted order; in a list what stayed is kept."""
    if isinstance(before, dict) and isinstance(after, dict):
        yield from _of_objects(before, after, path)
    elif isinstance(before, list) and isinstance(after, list):
        yield from _of_lists(before, after, path)
    elif _text(before) != _text(after):
        yield {"op": "replace", "path": path, "value": after}


def _of_objects(before: dict[str, Json], after: dict[str, Json], path: str) -> Iterator[Step]:
    for key in sorted(before.keys() | after.keys()):
        place = f"{path}/{key.replace('~', '~0').replace('/', '~1')}"
        if key not in after:
            yield {"op": "remove", "path": place}
        elif key not in before:
            yield {"op": "add", "path": place, "value": after[key]}
        else:
            yield from steps(before[key], after[key], place)


def _of_lists(before: list[Json], after: list[Json], path: str) -> Iterator[Step]:
    """`at` is where the old list has been carried over to, as the steps so far have left it."""
    for old, new, at in _stretches(before, after):
        common = min(len(old), len(new))
        for offset in range(common):
            yield from steps(old[offset], new[offset], f"{path}/{at + offset}")
        for _ in old[common:]:
            yield {"op": "remove", "path": f"{path}/{at + common}"}
        for offset in range(common, len(new)):
            yield {"op": "add", "path": f"{path}/{at + offset}", "value": new[offset]}


def _stretches(before: list[Json], after: list[Json]) -> Iterator[tuple[list[Json], list[Json], int]]:
    """The stretches that differ: what stood there, what stands there, and where in the new list."""
    old, new = [_text(item) for item in before], [_text(item) for item in after]
    shorter = min(len(old), len(new))
    head = next((at for at in range(shorter) if old[at] != new[at]), shorter)
    tail = next((at for at in range(shorter - head) if old[~at] != new[~at]), shorter - head)
    old, new = old[head : len(old) - tail], new[head : len(new) - tail]
    if max(len(old), len(new)) > _MOST_ALIGNED:
        yield before[head : head + len(old)], after[head : head + len(new)], head
        return
    for kind, left, right, low, high in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind != "equal":
            yield before[head + left : head + right], after[head + low : head + high], head + low


TOOL = Tool(
    NAME,
    _json_diff,
    required=("before", "after"),
    says="Compares two JSON values and returns the RFC 6902 patch that turns the first into the second.",
)
