"""Masking: a known value is found and blotted out in text, in nested JSON and in a stream of chunks.

A value is looked for as it is, line by line, and in the forms it takes on its way through programs:
escaped for JSON, Python or HTML, quoted for a shell, a table or a query, percent-encoded, in base64 in all
alignments and in hexadecimal, also where these are broken over lines or escaped again and again. So are the
credentials that stand in it.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator, Mapping
from functools import cached_property, lru_cache
from typing import Any

from nika_nb.authority import forms
from nika_nb.authority.forms import BROKEN, ESCAPED, QUOTED, SHORTEST_TELLING, UNSEEN, Loose
from nika_nb.authority.needles import Needles
from nika_nb.authority.parts import parts
from nika_nb.authority.pieces import is_opaque, stretches

MASK = "••••••"


class Masker:
    """Knows values and blots them out. Values may be added while others are masked.

    in_data: it is given what others go on to work with, so a short value is taken for a secret only
    where it stands as a word of its own.
    """

    def __init__(self, *, in_data: bool = False) -> None:
        self._in_data = in_data
        self._lock = threading.Lock()
        self._names: dict[str, str] = {}
        self._values: set[str] = set()
        self._needles = Needles()
        self._opaque = Needles()
        self._loose = {way: Needles() for way in (UNSEEN, BROKEN, QUOTED, ESCAPED)}

    def add(self, name: str, value: str) -> None:
        """Make a value known. The name is for people who ask what is masked."""
        with self._lock:
            self._names[name] = value
            self._values.add(value)
            self._opaque.add((value,) if is_opaque(value) else ())
            for text in (value, *parts(value)):
                self._know(text)

    def _know(self, text: str) -> None:
        self._needles.add(forms.exact(text))
        for way, more in forms.loose(text).items():
            self._loose[way].add(more)

    def learn(self, made: Any, source: Any) -> None:
        """Make known what of an opaque secret is left in what was computed of it."""
        whole = {one for text in _texts(source) for one in self._opaque.within(text)} if self._opaque else ()
        with self._lock:
            for piece in {piece for one in whole for text in _texts(made) for piece in stretches(text, one)}:
                self._know(piece)
        if not self._in_data:
            self.inside.learn(made, source)

    @cached_property
    def inside(self) -> Masker:
        """Knows those of them that may not leave the run with its outputs either."""
        return Masker(in_data=True)

    @property
    def names(self) -> list[str]:
        return list(self._names)

    @property
    def needles(self) -> tuple[str, ...]:
        """Every form that is looked for, longest first."""
        return self._needles.all

    def mask(self, value: Any) -> Any:
        """The value with every known secret replaced, in text, keys, numbers and bytes alike."""
        if not self._needles or value is None or isinstance(value, bool):
            return value
        if isinstance(value, str):
            return self.mask_text(value)
        if isinstance(value, (int, float)):
            return MASK if self._needles.within(json.dumps(value)) else value
        if isinstance(value, (bytes, bytearray)):
            return self._mask_bytes(bytes(value))
        if isinstance(value, Mapping):
            return {self.mask(key): self.mask(item) for key, item in value.items()}
        if isinstance(value, (list, tuple)):
            return [self.mask(item) for item in value]
        return value

    def mask_text(self, text: str) -> str:
        text = self._mask_loose(BROKEN, self._mask_loose(UNSEEN, text))
        present = self._needles.within(text)
        text = _pattern(present, self._in_data).sub(MASK, text) if present else text
        return self._mask_loose(QUOTED, self._mask_loose(ESCAPED, text))

    def _mask_loose(self, way: Loose, text: str) -> str:
        apart = way.present(self._loose[way], text)
        return way.blotted(apart, text, MASK) if apart else text

    def found(self, value: Any) -> bool:
        """Whether any known secret is somewhere in the value."""
        return bool(self._needles) and any(map(self._stands_in, _texts(value)))

    def reveals(self, value: Any) -> bool:
        """Whether a value gives a secret away: by holding a long one, or by being one."""
        return bool(self._needles) and any(map(self._told_by, _texts(value)))

    def _stands_in(self, text: str) -> bool:
        loose = (way.present(known, text) for way, known in self._loose.items())
        return bool(self._needles.within(text)) or any(loose)

    def _told_by(self, text: str) -> bool:
        longest = self._needles.within(text)[:1]
        return text in self._values or any(len(needle) >= SHORTEST_TELLING for needle in longest)

    def _mask_bytes(self, raw: bytes) -> bytes:
        text = raw.decode("utf-8", "surrogateescape")
        masked = self.mask_text(text)
        return raw if masked == text else masked.encode("utf-8", "surrogateescape")


def _texts(value: Any) -> Iterator[str]:
    """Every text, key, number and bytes anywhere in a value, as text."""
    if value is None or isinstance(value, bool):
        return
    if isinstance(value, str):
        yield value
    elif isinstance(value, (int, float)):
        yield json.dumps(value)
    elif isinstance(value, (bytes, bytearray)):
        yield bytes(value).decode("utf-8", "surrogateescape")
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield str(key)
            yield from _texts(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _texts(item)


@lru_cache(maxsize=256)
def _pattern(needles: tuple[str, ...], in_data: bool) -> re.Pattern[str]:
    return re.compile("|".join(_word(needle) if in_data else re.escape(needle) for needle in needles))


def _word(needle: str) -> str:
    exact = re.escape(needle)
    return exact if len(needle) >= SHORTEST_TELLING else rf"(?<!\w){exact}(?!\w)"
