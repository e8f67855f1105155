"""What programs take out of a secret that is more than a credential: an address, JSON, a file of settings."""

from __future__ import annotations

import json
import re
from base64 import b64decode
from collections.abc import Iterator
from contextlib import suppress
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from nika_nb.authority.forms import SHORTEST_TELLING

_LONG_ENOUGH = 16  # characters of base64 that no password makes a text of by chance
_DEEPEST = 8  # levels of JSON that are looked through

_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://\S+")
_CALLED = re.compile(r"pass|pwd|secret|token|key|credential|auth$", re.IGNORECASE)
_SETTING = re.compile(r"""[\s"']*([\w.-]+)["']?\s*[=:]\s*["']?(.*)""")
_PAIR = re.compile(r"[^\s:=/]+:([^\s:]+)")  # a user's name and password
_SCHEME = re.compile(r"(?:Basic|Bearer|Token)\s+(\S+)", re.IGNORECASE)
_WORD = re.compile(r"[a-z._-]*|[a-z]+(?:[A-Z][a-z]+)+|v[0-9]+")  # stands in many an address


def parts(value: str) -> Iterator[str]:
    """The credentials that stand in a value, without the value itself. None is short."""
    found = [*_within(value)]
    for text in _unpacked(value):
        found += [*_lines(text), *_within(text)]
    yield from (part for part in dict.fromkeys(found) if len(part) >= SHORTEST_TELLING and part != value)


def _unpacked(value: str) -> Iterator[str]:
    """What a program reads where line ends are written `\\n`, or where a text is kept in base64."""
    if "\\n" in value and "\n" not in value.strip():
        yield value.replace("\\n", "\n")
    if len(value) >= _LONG_ENOUGH:
        with suppress(ValueError):
            text = b64decode("".join(value.split()), validate=True).decode("utf-8")
            yield from (text,) if "".join(text.splitlines()).isprintable() else ()


def _lines(text: str) -> Iterator[str]:
    return (line.strip() for line in text.splitlines())


def _within(text: str) -> Iterator[str]:
    yield from (*_of(text.strip()), *_of_json(text), *_of_settings(text))


def _of(text: str) -> Iterator[str]:
    """Of one value: an address, a name with its password, a scheme with its token."""
    if _ADDRESS.fullmatch(text):
        yield from _of_address(text)
    elif pair := _PAIR.fullmatch(text) or _SCHEME.fullmatch(text):
        yield pair[1]


def _of_address(url: str) -> Iterator[str]:
    """Its password; its path and its query, whole and in the pieces that are no plain words."""
    try:
        found = urlsplit(url)
    except ValueError:
        return
    who = found.password or found.username or ""
    yield from (who, unquote(who))
    pieces = [*found.path.split("/"), *(text for _, text in parse_qsl(found.query)), found.fragment]
    telling = [piece for piece in pieces if len(piece) >= SHORTEST_TELLING and not _WORD.fullmatch(piece)]
    for piece in telling:
        yield from (piece, unquote(piece))
    if telling:
        target = found.path + (f"?{found.query}" if found.query else "")
        yield from (target.lstrip("/"), found.path.strip("/"), found.query)


def _of_json(text: str) -> Iterator[str]:
    """What is called a key, a token, a secret or a password in it."""
    if text.lstrip()[:1] not in ("{", "["):
        return
    try:
        yield from _below(json.loads(text), "", _DEEPEST)
    except (ValueError, RecursionError):
        return


def _below(value: Any, name: str, levels: int) -> Iterator[str]:
    if isinstance(value, str):
        yield from _called(name, value)
    elif levels and isinstance(value, dict):
        for key, item in value.items():
            yield from _below(item, key, levels - 1)
    elif levels and isinstance(value, list):
        for item in value:
            yield from _below(item, name, levels - 1)


def _of_settings(text: str) -> Iterator[str]:
    """Of lines `password = …`, `token: …`, `export KEY=…`."""
    for line in _lines(text):
        setting = _SETTING.fullmatch(line.removeprefix("export "))
        if setting and not _ADDRESS.fullmatch(line):
            yield from _called(setting[1], setting[2].rstrip("\"', \t"))


def _called(name: str, value: str) -> Iterator[str]:
    """A value by its name; of an address, whatever its name, what stands in it."""
    if _ADDRESS.fullmatch(value):
        yield from _of_address(value)
    elif _CALLED.search(name):
        yield from (value, *_lines(value))
