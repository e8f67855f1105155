"""Masking: a known value is found and blotted out in text, in nested JSON and in a stream of chunks.

A value is looked for as it is and in the forms it takes on its way through programs: base64 in
all alignments, percent-encoded, hexadecimal, escaped for JSON, and line by line.
"""

from __future__ import annotations

import base64
import json
import re
import threading
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any
from urllib.parse import quote, quote_plus

MASK = "••••••"
_SHORTEST = 4  # characters: what is shorter is masked as it is, but not looked for in other forms
_SHORTEST_CORE = 5  # characters of base64 that belong to the value alone


class Masker:
    """Knows values and blots them out. Values may be added while others are masked."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._names: dict[str, str] = {}
        self._needles: tuple[str, ...] = ()

    def add(self, name: str, value: str) -> None:
        """Make a value known. The name is for people who ask what is masked."""
        with self._lock:
            self._names[name] = value
            known = set(self._needles) | set(forms(value))
            self._needles = tuple(sorted(known, key=lambda form: (-len(form), form)))

    @property
    def names(self) -> list[str]:
        return list(self._names)

    @property
    def needles(self) -> tuple[str, ...]:
        """Every form that is looked for, longest first."""
        return self._needles

    def mask(self, value: Any) -> Any:
        """The value with every known secret replaced, in text, keys, numbers and bytes alike."""
        if not self._needles or value is None or isinstance(value, bool):
            return value
        if isinstance(value, str):
            return self.mask_text(value)
        if isinstance(value, (int, float)):
            return MASK if self._present(json.dumps(value)) else value
        if isinstance(value, (bytes, bytearray)):
            return self._mask_bytes(bytes(value))
        if isinstance(value, Mapping):
            return {self.mask(key): self.mask(item) for key, item in value.items()}
        if isinstance(value, (list, tuple)):
            return [self.mask(item) for item in value]
        return value

    def mask_text(self, text: str) -> str:
        present = self._present(text)
        return _pattern(present).sub(MASK, text) if present else text

    def found(self, value: Any) -> bool:
        """Whether any known secret is somewhere in the value."""
        if not self._needles or value is None or isinstance(value, bool):
            return False
        if isinstance(value, str):
            return bool(self._present(value))
        if isinstance(value, (int, float)):
            return bool(self._present(json.dumps(value)))
        if isinstance(value, (bytes, bytearray)):
            return bool(self._present(bytes(value).decode("utf-8", "surrogateescape")))
        if isinstance(value, Mapping):
            return any(self.found(key) or self.found(item) for key, item in value.items())
        if isinstance(value, (list, tuple)):
            return any(self.found(item) for item in value)
        return False

    def _present(self, text: str) -> tuple[str, ...]:
        # One plain search per form is many times faster than one pattern of all of them.
        return tuple(needle for needle in self._needles if needle in text)

    def _mask_bytes(self, raw: bytes) -> bytes:
        text = raw.decode("utf-8", "surrogateescape")
        masked = self.mask_text(text)
        return raw if masked == text else masked.encode("utf-8", "surrogateescape")


@lru_cache(maxsize=256)
def _pattern(needles: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(map(re.escape, needles)))


def forms(value: str) -> set[str]:
    """Every text under which a value is looked for."""
    found = {value} | set(_lines(value))
    for text in (value, *_lines(value)):
        if len(text) >= _SHORTEST:
            found.update(_encoded(text))
    return {form for form in found if form.strip()}


def _lines(value: str) -> Iterator[str]:
    """The lines of a multi-line value that are long enough to mean something, without their margins."""
    for line in value.splitlines():
        stripped = line.strip()
        if stripped != value and len(stripped) >= _SHORTEST:
            yield stripped


def _encoded(text: str) -> Iterator[str]:
    yield json.dumps(text, ensure_ascii=True)[1:-1]
    yield json.dumps(text, ensure_ascii=False)[1:-1]
    yield json.dumps(text, ensure_ascii=False).replace("/", "\\/")[1:-1]
    for quoted in (quote(text, safe=""), quote(text), quote_plus(text), quote_plus(text, safe="/")):
        yield quoted
        yield re.sub(r"%[0-9A-F]{2}", lambda match: match.group().lower(), quoted)
    raw = text.encode("utf-8", "surrogatepass")
    yield raw.hex()
    yield raw.hex().upper()
    yield from _base64(raw)


def _base64(raw: bytes) -> Iterator[str]:
    """The part of the base64 text that only the value decides, wherever the value stands."""
    for offset in range(3):
        text = base64.b64encode(b"\0" * offset + raw).decode("ascii")
        end = (offset + len(raw)) * 8 // 6
        core = text[-(-offset * 8 // 6) : end]
        if len(core) >= _SHORTEST_CORE:
            yield core
            yield core.replace("+", "-").replace("/", "_")
