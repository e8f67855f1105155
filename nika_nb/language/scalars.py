"""Scalars under the YAML 1.2 core schema: `no` is text, `017` is 17, `12:30` is text."""

from __future__ import annotations

import math
import re

CORE = "tag:yaml.org,2002:"
SURROGATE = re.compile("[\ud800-\udfff]")  # half of a pair: no character, whatever escape spells it
HALF_A_PAIR = "half of a surrogate pair is not a character"

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


def endless(text: str) -> str:
    """What is said of a text that spells a number which is none."""
    largest = "" if _ENDLESS.fullmatch(text) else ": the largest one is about 1.8e308"
    return f"`{text[:40]}` is not a finite number{largest}"


class Misfit(ValueError):
    """A text that is no value of the tag that stands before it."""


def resolve(text: str) -> bool | int | float | str | None:
    """The value of a plain scalar. Raises NotFinite."""
    if text in _NULL:
        return None
    if text in _BOOL:
        return _BOOL[text]
    if text[0] in _NUMBER_START:
        number = _number(text)
        if number is not None:
            return number
    return text


def tagged(tag: str, text: str) -> bool | int | float | str | None:
    """The value of a text under an explicit tag. Raises Misfit and NotFinite."""
    kind = tag.removeprefix(CORE) if tag.startswith(CORE) else ""
    if kind == "str":
        return text
    if kind == "null" and text in _NULL:
        return None
    if kind == "bool" and text in _BOOL:
        return _BOOL[text]
    number = _number(text) if kind in ("int", "float") else None
    if number is None or (kind == "int" and isinstance(number, float)):
        raise Misfit(text)
    return number if kind == "int" else float(number)


def _number(text: str) -> int | float | None:
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
