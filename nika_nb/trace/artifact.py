"""One JSON document that somebody else may have written: bounded before it is parsed, refused whole."""

from __future__ import annotations

import re
from typing import Any, Literal

from nika_nb.catalog.receipt import ARTIFACT_BOUND, DEPTH_BOUND, NAME_BOUND
from nika_nb.errors import NikaError
from nika_nb.values import Json, loads

NODE_BOUND = 64  # objects and arrays in what a signature covers

Refusal = Literal["Oversized", "TooDeep", "Malformed", "ProofFlood", "IdOverflow"]

_SHOWN = 200  # characters of what a parser says
_STRUCTURE = re.compile(rb'"(?:[^"\\]|\\.)*+"|[\[\]{}]', re.DOTALL)


class ArtifactRefused(NikaError):
    """A document beyond a bound, or no document. refusal: which bound; why: the rest of a sentence."""

    exit_code = 2

    def __init__(self, refusal: Refusal, why: str) -> None:
        self.refusal = refusal
        self.why = why
        super().__init__(f"{refusal} · {why}")


def decode_artifact(raw: bytes, *, nodes: int | None = None) -> Json:
    """The document's value. Raises ArtifactRefused.

    The order never changes: size, depth, parse, structure; so the same bytes are always refused for
    the same reason. nodes: how many objects and arrays there may be, None where that is no matter.
    """
    if len(raw) > ARTIFACT_BOUND:
        raise ArtifactRefused("Oversized", f"it is larger than the {ARTIFACT_BOUND} bytes of an artifact")
    if _depth(raw) > DEPTH_BOUND:
        raise ArtifactRefused("TooDeep", f"it is nested deeper than {DEPTH_BOUND} levels")
    try:
        value = loads(raw.decode("utf-8"))
    except ValueError as error:
        raise ArtifactRefused("Malformed", f"it is not JSON ({str(error)[:_SHOWN]})") from None
    _structure(value, nodes)
    return value


def _depth(raw: bytes) -> int:
    """The deepest nesting, without parsing; an unclosed string hides nothing, for it cannot be parsed."""
    depth = deepest = 0
    for found in _STRUCTURE.finditer(raw):
        if found[0] in (b"[", b"{"):
            depth += 1
            deepest = max(deepest, depth)
        elif found[0] in (b"]", b"}"):
            depth -= 1
    return deepest


def _structure(value: Json, nodes: int | None) -> None:
    left, count = [value], 0
    while left:
        found: Any = left.pop()
        if not isinstance(found, (dict, list)):
            continue
        count += 1
        if nodes is not None and count > nodes:
            raise ArtifactRefused("ProofFlood", f"it holds more than {nodes} objects and arrays")
        if isinstance(found, dict) and any(len(key.encode("utf-8", "replace")) > NAME_BOUND for key in found):
            raise ArtifactRefused("IdOverflow", f"a name in it is longer than {NAME_BOUND} bytes")
        left += found.values() if isinstance(found, dict) else found
