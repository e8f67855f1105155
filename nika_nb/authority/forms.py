"""The forms that a value takes on its way through programs, and how each of them is looked for."""

from __future__ import annotations

import base64
import json
import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from urllib.parse import quote, quote_plus

from nika_nb.authority.needles import Needles

SHORTEST_TELLING = 8  # characters: what is shorter stands in many a text by chance

_SHORTEST = 4  # characters: what is shorter is looked for as it is and escaped, and in no other form
_SHORTEST_CORE = 5  # characters of base64 that belong to the value alone
_UNBROKEN = 16  # characters that no text has by chance where its blanks are left out

_PLAIN = re.compile(r"[\w%+,./:=@-]*", re.ASCII)  # what a shell reads as it is


@dataclass(frozen=True, slots=True)
class Loose:
    """A way in which forms come apart. gap: finds all of what may stand between any two characters."""

    gap: re.Pattern[str]

    def present(self, forms: Needles, text: str) -> tuple[str, ...]:
        """Those of the forms that stand in a text."""
        if not forms or len(text) < _SHORTEST:
            return ()
        return forms.within(self.gap.sub("", text))

    def blotted(self, forms: tuple[str, ...], text: str, mask: str) -> str:
        """The text with every one of the forms replaced, and what stands between their characters.

        A plain search in the text without the gaps: no text makes it go back and forth.
        """
        kept, starts, lost = _kept(self.gap, text)
        found = sorted({span for form in forms for span in _spans(form, kept)})
        pieces: list[str] = []
        end = 0
        for first, last in found:
            here, there = (at + lost[bisect_right(starts, at) - 1] for at in (first, last - 1))
            if here >= end:
                pieces += (text[end:here], mask)
            end = max(end, there + 1)
        return "".join((*pieces, text[end:]))


def _kept(gap: re.Pattern[str], text: str) -> tuple[str, list[int], list[int]]:
    """(the text without its gaps, where its pieces begin in that, how much was lost before each)."""
    pieces: list[str] = []
    starts, lost, end, length = [0], [0], 0, 0
    for found in gap.finditer(text):
        pieces.append(text[end : found.start()])
        length += found.start() - end
        end = found.end()
        starts.append(length)
        lost.append(end - length)
    pieces.append(text[end:])
    return "".join(pieces), starts, lost


def _spans(form: str, text: str) -> Iterator[tuple[int, int]]:
    at = text.find(form)
    while at >= 0:
        yield at, at + len(form)
        at = text.find(form, at + 1)


# Over several lines: base64, hexadecimal, whatever is long; the line ends as such or as escapes of JSON.
BROKEN = Loose(re.compile(r"(?:\s|\\[rn]?)++"))

# JSON within JSON, as deep as it goes: every level doubles the backslashes.
ESCAPED = Loose(re.compile(r"\\++"))

# Quoted for a shell, a table, a query, YAML or a page: quotes are doubled, led by backslashes, or are names.
QUOTED = Loose(re.compile(r"""(?:[\\'"]|&(?:quot|apos|#0*+3[49]|#[xX]0*+2[27]);)++"""))

# A value with something invisible between its characters: shown, it would stand there whole. What a display
# leaves out: control characters, terminal sequences, marks without a width.
UNSEEN = Loose(
    re.compile(
        r"(?:\x1b(?:\[[0-?]*+[ -/]*+[@-~]|\][^\x07\x1b]*+(?:\x07|\x1b\\)?+|[@-Z\\-_])"
        r"|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f"
        r"\ud800-\udfff\ufe00-\ufe0f\ufeff\ufff9-\ufffb\U000e0000-\U000e0fff])++"
    )
)


def _without_escapes(text: str) -> str:
    return text.replace("\\", "")


def _unquoted(text: str) -> str:
    return QUOTED.gap.sub("", text)


def _shown(text: str) -> Iterator[str]:
    """As it is, and on a page."""
    yield from (text, escape(text, quote=False))


def exact(value: str) -> set[str]:
    """Every text under which a value is looked for as it stands."""
    found = {value} | set(_lines(value))
    if len(value) >= SHORTEST_TELLING:  # as a host of an address is written
        found |= {value.lower(), value.upper()}
    for text in (value, *_lines(value)):
        found.update(_escapes(text))
        if len(text) >= _SHORTEST:
            found.update(_encoded(text))
    return {form for form in found if form.strip()}


def loose(value: str) -> dict[Loose, tuple[str, ...]]:
    """The forms that are looked for although they came apart."""
    raw = value.encode("utf-8", "surrogatepass")
    codes = (raw.hex(), raw.hex().upper(), *_base64(raw))
    escapes = {
        _without_escapes(form)
        for text in (value, *_lines(value))
        for form in _json(text)
        if "\\" in form or "/" in form
    }
    texts = (value, *_lines(value))
    unbroken = (BROKEN.gap.sub("", text) for text in texts if "\\" not in text)
    quoted = (_unquoted(form) for text in texts if not _PLAIN.fullmatch(text) for form in _shown(text))
    return {
        UNSEEN: tuple(text for text in texts if len(text) >= _SHORTEST),
        BROKEN: (
            *(form for form in codes if len(form) >= SHORTEST_TELLING),
            *(form for form in unbroken if len(form) >= _UNBROKEN),
        ),
        QUOTED: tuple(form for form in quoted if len(form.strip()) >= SHORTEST_TELLING),
        ESCAPED: tuple(sorted(form for form in escapes if len(form.strip()) >= _SHORTEST)),
    }


def _lines(value: str) -> Iterator[str]:
    """The lines of a multi-line value that are long enough to mean something, without their margins."""
    for line in value.splitlines():
        stripped = line.strip()
        if stripped != value and len(stripped) >= _SHORTEST:
            yield stripped


def _json(text: str) -> Iterator[str]:
    whole = json.dumps(text)[1:-1]
    yield whole
    yield re.sub(r"\\u[0-9a-f]{4}", lambda found: f"\\u{found.group()[2:].upper()}", whole)
    yield json.dumps(text, ensure_ascii=False)[1:-1]


def _escapes(text: str) -> Iterator[str]:
    """As a string of JSON, as one of Python, and in HTML."""
    for form in _json(text):
        yield from (form, form.replace("/", "\\/"))
    yield from (repr(text)[1:-1], ascii(text)[1:-1])
    yield from (escape(text), escape(text, quote=False))


def _encoded(text: str) -> Iterator[str]:
    for quoted in (quote(text, safe=""), quote(text), quote_plus(text), quote_plus(text, safe="/")):
        yield quoted
        yield re.sub(r"%[0-9A-F]{2}", lambda match: match.group().lower(), quoted)
    raw = text.encode("utf-8", "surrogatepass")
    yield from (repr(raw)[2:-1], raw.hex(), raw.hex().upper(), *_base64(raw))


def _base64(raw: bytes) -> Iterator[str]:
    """The part of the base64 text that only the value decides, wherever the value stands."""
    for offset in range(3):
        text = base64.b64encode(b"\0" * offset + raw).decode("ascii")
        end = (offset + len(raw)) * 8 // 6
        core = text[-(-offset * 8 // 6) : end]
        if len(core) >= _SHORTEST_CORE:
            yield core
            yield core.replace("+", "-").replace("/", "_")
