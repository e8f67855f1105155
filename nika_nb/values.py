"""JSON values: strict reading, canonical bytes, digests, and how a value becomes text."""

from __future__ import annotations

import base64
import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import pairwise
from keyword import iskeyword
from typing import Any, NoReturn, TypeVar

from nika_nb.errors import Fault, NoSuchName

Json = Any  # None | bool | int | float | str | list[Json] | dict[str, Json]

MARK = "\uf8ff"  # private-use: marks numbers, secrets and items where text could collide
_FOLDED = (f"{MARK}num:", f"{MARK}text:")
V = TypeVar("V")
_TOLD = 20  # names that a sentence lists
BYTES_CODE = "NIKA-VAR-007"
LEVELS = 128  # how deep a value that comes from outside may nest: every walk over it is recursive


def loads(text: str | bytes) -> Json:
    """Strict JSON: no NaN or Infinity, no duplicate keys, no lone surrogates. Raises ValueError."""
    value = json.loads(text, parse_constant=_no_constant, parse_float=_finite, object_pairs_hook=_unique)
    if "\\u" in (text if isinstance(text, str) else text.decode("utf-8", "replace")):
        dumps(value).encode("utf-8")  # UnicodeEncodeError is a ValueError
    return value


def too_deep(value: Json, levels: int = LEVELS) -> bool:
    """Whether lists and objects nest deeper. Looks level by level, so that any depth can be judged."""
    level = _containers([value])
    for _ in range(levels):
        level = [found for outer in level for found in _containers(_inside(outer))]
    return bool(level)


def _inside(outer: Json) -> Iterable[Json]:
    return outer.values() if isinstance(outer, dict) else outer


def _containers(values: Iterable[Json]) -> list[Json]:
    return [value for value in values if isinstance(value, (list, tuple, dict))]


def dumps(value: Json) -> str:
    """Compact JSON in document order, not ASCII-escaped; refuses NaN and Infinity."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def dumps_sorted(value: Json) -> str:
    """Compact JSON with sorted keys: how an object or array is rendered into a string."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True, allow_nan=False)


def digest(value: Json) -> str:
    """64 hex characters: blake3 over the canonical JSON (RFC 8785) of the value.

    Every number becomes a marked string first, so that 2**53 and 2**53 + 1 stay apart and 1 is
    not 1.0. A text that reads like a marked number is marked itself, so that it is none.
    """
    import blake3

    return blake3.blake3(canonical(value)).hexdigest()


def canonical(value: Json) -> bytes:
    """RFC 8785 bytes of a value whose numbers are folded into marked strings."""
    wide: list[bool] = []
    folded = _fold(value, wide)
    if wide:
        import rfc8785

        return bytes(rfc8785.dumps(folded))
    # Without numbers and without astral keys the standard library writes the same bytes,
    # hundreds of times faster than a pure-Python canonicalizer.
    return dumps_sorted(folded).encode("utf-8")


def _fold(value: Json, wide: list[bool]) -> Json:
    if isinstance(value, str):
        return f"{MARK}text:{value}" if value.startswith(_FOLDED) else value
    if value is None or isinstance(value, bool):
        return value
    if type(value) is int:
        return f"{MARK}num:{value}{MARK}"  # as below, many times faster
    if isinstance(value, (int, float)):
        return f"{MARK}num:{json.dumps(value, allow_nan=False)}{MARK}"
    if isinstance(value, (list, tuple)):
        return [_fold(item, wide) for item in value]
    if isinstance(value, Mapping):
        if any(max(key, default="") > "\uffff" for key in value):
            wide.append(True)
        return {key: _fold(item, wide) for key, item in value.items()}
    raise TypeError(f"not a JSON value: {type(value).__name__}")


def to_text(value: Json) -> str:
    """How a value is rendered into a string position: scalars naturally, the rest as JSON.

    Raises Fault NIKA-VAR-007 for bytes, wherever in it they stand.
    """
    if isinstance(value, str):
        return value
    if value is None or isinstance(value, (bool, int, float)):
        return json.dumps(value, allow_nan=False)
    return json.dumps(
        value, ensure_ascii=False, separators=(",", ":"), sort_keys=True, allow_nan=False, default=_no_text
    )


def _no_text(value: Any) -> NoReturn:
    if isinstance(value, (bytes, bytearray)):
        raise Fault(BYTES_CODE, "bytes cannot stand in a text: pass them by themselves")
    raise TypeError(f"not a JSON value: {type(value).__name__}")


def holds_bytes(value: Any) -> bool:
    """Whether bytes stand anywhere in a value, however deep."""
    waiting = [value]
    while waiting:
        found = waiting.pop()
        if isinstance(found, (bytes, bytearray)):
            return True
        if isinstance(found, (dict, list)):
            waiting += found.values() if isinstance(found, dict) else found
    return False


def portable(value: Any) -> Json:
    """The value as JSON can hold it: bytes are base64 text there."""
    if isinstance(value, (bytes, bytearray)):
        return base64.b64encode(value).decode("ascii")
    if isinstance(value, dict):
        return {key: portable(item) for key, item in value.items()}
    return [portable(item) for item in value] if isinstance(value, list) else value


def type_name(value: Json) -> str:
    """The name of a value's JSON type, as people say it."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    names: dict[type, str] = {int: "integer", float: "number", str: "string", bytes: "bytes"}
    if type(value) in names:
        return names[type(value)]
    return "array" if isinstance(value, (list, tuple)) else "object"


_UNIT_NS = {"ns": 1, "us": 10**3, "µs": 10**3, "ms": 10**6, "s": 10**9, "m": 60 * 10**9, "h": 3600 * 10**9}
_TERM = re.compile(r"(?<![0-9])([0-9]++(?:\.[0-9]++)?)(ns|us|µs|ms|s|m|h)")


def duration_ms(text: str) -> int | None:
    """Milliseconds of a Go duration (`500ms`, `1h30m`), at least 1; None when it is not one.

    Units must descend and the total must lie above 0 and at most 24 h.
    """
    terms = _terms(text)
    if any(later >= earlier for (_, earlier), (_, later) in pairwise(terms)):
        return None
    total = sum(count * size for count, size in terms)
    if not 0 < total <= 24 * _UNIT_NS["h"]:
        return None
    return max(1, round(total / 10**6))


def duration_seconds(text: str) -> float | None:
    """Seconds of such a duration, its units in any order and however long it is."""
    terms = _terms(text)
    return sum(count * size for count, size in terms) / 10**9 if terms else None


def _terms(text: str) -> list[tuple[float, int]]:
    """(how many, of how many nanoseconds) of each part; none where anything else stands in the text."""
    found = list(_TERM.finditer(text))
    whole = "".join(term.group() for term in found) == text
    return [(float(term[1]), _UNIT_NS[term[2]]) for term in found] if whole else []


def unequal(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[str, ...]:
    """The names whose values are not the same in both, in the order of the second."""
    names = dict.fromkeys([*after, *before])
    return tuple(name for name in names if before.get(name) != after.get(name))


def plural(count: int, noun: str) -> str:
    """`1 task`, `1,200 tasks`."""
    return f"1 {noun}" if count == 1 else f"{count:,} {noun}s"


def closest(word: str, known: Iterable[str]) -> str | None:
    """The known name that a mistyped one is most like; None where none is close."""
    from difflib import get_close_matches

    found = get_close_matches(word, [name for name in known if name != word], n=1)
    return found[0] if found else None


def nearest(word: str, known: Iterable[str]) -> str:
    """A hint: ` did you mean «x»?` when one known name is close, else an empty string."""
    found = closest(word, known)
    return f"did you mean `{found}`?" if found else ""


class Named(dict[str, V]):
    """Values by name; asked for one that is not there, it tells which are, and which may be meant."""

    def __init__(self, values: Mapping[str, V], what: str) -> None:
        super().__init__(values)
        self._what = what

    def __missing__(self, name: str) -> V:
        raise NoSuchName(no_such(self._what, name, self))


def no_such(what: str, name: object, known: Iterable[str]) -> str:
    """`there is no output «x»; there are «a», «b»: did you mean «a»?`."""
    return f"there is no {what} `{name}`; {among(str(name), known)}"


def among(name: str, known: Iterable[str]) -> str:
    """What there is instead of a name that nothing has, and which of them may be meant."""
    names = list(known)
    shown = ", ".join(f"`{one}`" for one in names[:_TOLD]) + (" …" if len(names) > _TOLD else "")
    hint = nearest(name, names)
    return f"there {'is' if len(names) < 2 else 'are'} {shown or 'none'}" + (f": {hint}" if hint else "")


def _finite(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise ValueError(f"{text} is too large for a number")
    return value


def _no_constant(name: str) -> Json:
    raise ValueError(f"{name} is not JSON")


def _unique(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    result = dict(pairs)
    if len(result) != len(pairs):
        double = Counter(key for key, _ in pairs).most_common(1)[0][0]
        raise ValueError(f"duplicate key {double!r}")
    return result


def is_name(text: str) -> bool:
    """Whether a variable of Python can be called so."""
    return text.isidentifier() and not iskeyword(text)
