"""What an action may do, as a question tells it: with everything written out that is known when it is asked.

A line tells one thing only, however it is shown: words that a blank or an unseen sign would blur are quoted
as JSON quotes them, what only looks like a template is escaped, and of a long line its digest is told.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace

from nika_nb.authority.effects import Effect, effects
from nika_nb.errors import UNSHOWN
from nika_nb.language.folding import Fixed, fold
from nika_nb.language.model import Action
from nika_nb.language.template import Fields, Items, Plain, Text, Value, escaped
from nika_nb.values import digest, dumps, to_text

LONGEST = 300  # characters of a line that is told whole
_HEAD, _TAIL, _DIGEST = 160, 60, 32

_UNSEEN = re.compile(rf"{UNSHOWN.pattern}|[^\S ]|(?<= ) |^ | $")  # what a shown line would not show as it is
_BLURRED = re.compile(rf'[\s"]|^$|{UNSHOWN.pattern}')
_ISLAND = re.compile(r"(?<!\\)\$\{\{(?:'[^']*'|\"[^\"]*\"|[^'\"])*?\}\}")
_CUT = re.compile(r"… .* \([\d,]+ characters, blake3 [0-9a-f]+\)$", re.DOTALL)

Mask = Callable[[str], str]


def told(action: Action, known: Fixed, mask: Mask) -> Iterator[str]:
    """The effects of one action as lines for people. mask: blots out secrets."""
    body = fold(action.body, known)
    for effect in effects(replace(action, body=body)):
        yield _bounded(mask(str(replace(effect, target=_target(effect, _at(body, effect.argument))))))


def _target(effect: Effect, written: Value | None) -> str | None:
    if effect.kind == "net":
        return effect.target and _word(effect.target)
    if written is None:
        return effect.target
    if effect.kind == "shell":
        return _line(_text(written))
    if effect.kind == "exec":
        return " ".join(_word(_text(word)) for word in _elements(written))
    return _word(_text(written))


def _at(value: Value | None, place: tuple[str, ...]) -> Value | None:
    """What stands at a path of keys."""
    for key in place:
        match value:
            case Fields(fields=fields):
                value = fields.get(key)
            case Items() | Plain(raw=list()):
                value = _elements(value)[int(key)]
            case Plain(raw=dict() as raw):
                value = Plain(raw.get(key), value.span)
            case _:
                return None
    return value


def _elements(value: Value) -> tuple[Value, ...]:
    if isinstance(value, Items):
        return value.items
    raw = value.raw if isinstance(value.raw, list) else []
    return tuple(Plain(item, value.span) for item in raw)


def _text(value: Value) -> str:
    """A value in a text as it would be written: its islands open, everything else letter for letter."""
    if not isinstance(value, Text):
        return escaped(to_text(value.raw))
    found, literal = "", ""
    for part in value.parts:
        if isinstance(part, str):
            literal += part
            continue
        slashes = len(literal) - len(literal.rstrip("\\"))
        found += escaped(literal) + "\\" * slashes + f"${{{{ {part.text} }}}}"
        literal = ""
    return found + escaped(literal)


def _word(text: str) -> str:
    return _quoted(text) if _BLURRED.search(_ISLAND.sub("x", text)) else text


def _line(text: str) -> str:
    return _quoted(text) if text.startswith('"') or _UNSEEN.search(_ISLAND.sub("x", text)) else text


def _quoted(text: str) -> str:
    return _UNSEEN.sub(lambda sign: _escape(sign.group()), dumps(text))


def _escape(sign: str) -> str:
    raw = sign.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{raw[at : at + 4]}" for at in range(0, len(raw), 4))


def _bounded(line: str) -> str:
    """Of a long line its beginning, its end, and what no other line has."""
    if len(line) <= LONGEST and not _CUT.search(line):
        return line
    return f"{line[:_HEAD]}… {line[-_TAIL:]} ({len(line):,} characters, blake3 {digest(line)[:_DIGEST]})"
