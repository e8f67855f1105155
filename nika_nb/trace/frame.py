"""One line of a journal: how a frame becomes bytes, how bytes become a frame, how lines are chained."""

from __future__ import annotations

import hashlib
import json
import math
import re
from dataclasses import dataclass
from typing import Any, NoReturn

from nika_nb.catalog.frames import GENESIS
from nika_nb.engine.events import Event
from nika_nb.trace.fields import said

_ID = re.compile(r"[!-~]{1,200}")
GENESIS_CHAIN = hashlib.sha256(GENESIS.encode("ascii")).hexdigest()


@dataclass(frozen=True, slots=True)
class Frame:
    """A line as it was read.

    fields: names and JSON values in written order. timestamp: unix nanoseconds. run: the
    invocation, correlation: the durable run. line: its number in the file, from 1; 0 when unknown.
    """

    kind: str
    fields: dict[str, Any]
    id: str = ""
    timestamp: int = 0
    run: str | None = None
    correlation: str | None = None
    chain: str | None = None
    line: int = 0

    def get(self, name: str, default: Any = None) -> Any:
        return self.fields.get(name, default)


def link(line: bytes) -> str:
    """The chain value of the line that follows this one (given without its newline)."""
    return hashlib.sha256(line).hexdigest()


def encode(event: Event, chain: str, run: str | None, correlation: str | None) -> bytes:
    """The bytes of one line, without its newline: keys sorted, compact, UTF-8.

    Never refuses a value: a number that is not finite becomes null, a lone surrogate `?`.
    """
    shape = {
        "chain": chain,
        "correlation": correlation,
        "fields": [{"key": key, "value": value} for key, value in event.fields.items()],
        "id": {"uuid": event.id},
        "kind": event.kind,
        "run": run,
        "timestamp": event.at,
    }
    try:
        text = _ENCODER.encode(shape)
    except (TypeError, ValueError):
        text = _ENCODER.encode(_plain(shape))
    return text.encode("utf-8", "replace")


def decode(line: bytes, number: int = 0) -> Frame:
    """The frame in a line; unknown members and fields are tolerated. Raises ValueError with why not.

    A number beyond 64 bits reads as null.
    """
    shape = _json(line)
    if not isinstance(shape, dict) or not isinstance(shape.get("kind"), str):
        raise ValueError("it is JSON but no frame: it names no kind")
    identity = shape.get("id")
    stamp = shape.get("timestamp")
    return Frame(
        kind=shape["kind"],
        fields=_fields(shape.get("fields")),
        id=said(identity.get("uuid")) or "" if isinstance(identity, dict) else "",
        timestamp=stamp if isinstance(stamp, int) else 0,
        run=_id(shape.get("run")),
        correlation=_id(shape.get("correlation")),
        chain=said(shape.get("chain")),
        line=number,
    )


def _id(value: Any) -> str | None:
    """An id that people can be told to write on a line; anything else is none."""
    return value if isinstance(value, str) and _ID.fullmatch(value) else None


def _json(line: bytes) -> Any:
    try:
        return _DECODER.decode(line.decode("utf-8"))
    except UnicodeDecodeError:
        raise ValueError("it is not UTF-8") from None
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    except ValueError as error:
        raise ValueError(_why(line, error)) from None


def _why(line: bytes, error: ValueError) -> str:
    if b"\0" in line:
        return "it holds a block of NUL bytes"
    if isinstance(error, json.JSONDecodeError) and error.msg == "Extra data":
        return "it holds more than one object: two lines are fused"
    return "it is not a whole JSON object"


def _fields(pairs: Any) -> dict[str, Any]:
    if not isinstance(pairs, list):
        return {}
    return {
        pair["key"]: pair.get("value")
        for pair in pairs
        if isinstance(pair, dict) and isinstance(pair.get("key"), str)
    }


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return str(value)


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _whole(text: str) -> int | None:
    """A number that no counter of a run reaches says nothing, and much that reads it would break."""
    value = int(text)
    return value if -_BEYOND <= value < _BEYOND else None


def _finite(text: str) -> float | None:
    value = float(text)
    return value if math.isfinite(value) else None


_BEYOND = 1 << 63

# Built once: json.dumps and json.loads with options build an object per call.
_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), sort_keys=True, allow_nan=False)
_DECODER = json.JSONDecoder(parse_constant=_no_constant, parse_int=_whole, parse_float=_finite)
