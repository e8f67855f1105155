"""Plain scalars under the YAML 1.2 core schema: `no` is text, `017` is 17, `12:30` is text."""

from __future__ import annotations

import math
import re

_NULL = frozenset({"", "~", "null", "Null", "NULL"})
_BOOL = {
    "true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False,
}  # fmt: skip
_NUMBER_START = frozenset("+-.0123456789")
_INT = re.compile(r"[-+]?[0-9]+")
_BASED = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_ENDLESS = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
_DIGITS = 308  # more digits than that may lie beyond a double


class NotFinite(ValueError):
    """A number that no JSON value can hold: NaN, an infinity, or one beyond a double."""


def resolve(text: str) -> bool | int | float | str | None:
    """The value of a plain scalar. Raises NotFinite."""
    if text in _NULL:
        return None
    if text in _BOOL:
        return _BOOL[text]
    if text[0] in _NUMBER_START:
        number = as_number(text)
        if number is not None:
            return number
    return text


def is_null(text: str) -> bool:
    return text in _NULL


def as_bool(text: str) -> bool | None:
    return _BOOL.get(text)


def as_number(text: str) -> int | float | None:
    """The number that a text spells, or None. Raises NotFinite."""
    if _INT.fullmatch(text):
        return _bounded(text)
    if _FLOAT.fullmatch(text):
        return _finite(float(text))
    if _BASED.fullmatch(text):
        return _based(text)
    if _ENDLESS.fullmatch(text):
        raise NotFinite(text)
    return None


def _bounded(text: str) -> int:
    if len(text) > _DIGITS and len(text.lstrip("+-").lstrip("0")) > _DIGITS:
        raise NotFinite(text)
    return int(text) if len(text) <= _DIGITS else int(text.lstrip("+-").lstrip("0") or "0") * _sign(text)


def _sign(text: str) -> int:
    return -1 if text.startswith("-") else 1


def _based(text: str) -> int:
    if len(text.lstrip("0xo")) > 250:
        raise NotFinite(text)
    return int(text, 0)


def _finite(number: float) -> float:
    if not math.isfinite(number):
        raise NotFinite(str(number))
    return number
