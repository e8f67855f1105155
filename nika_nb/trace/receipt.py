"""A run's receipt, read aloud: a sentence per field, and by name every field that has none.

A reading is no proof. Nothing here computes a digest again or believes what it reads.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nika_nb.catalog.receipt import ARTIFACT_BOUND, PROJECTIONS, RECEIPT_FORMAT, WHOLE
from nika_nb.errors import NikaError, UsageError
from nika_nb.trace.artifact import ArtifactRefused, decode_artifact
from nika_nb.values import dumps, to_text


class ReceiptRefused(NikaError):
    """A file that is no receipt, or one that may not be opened."""

    exit_code = 2


@dataclass(frozen=True, slots=True)
class Reading:
    """fields: (where, the sentence), in the receipt's own order. unprojected: where no sentence is known."""

    fields: tuple[tuple[str, str], ...]
    unprojected: tuple[str, ...]


def explain(path: Path) -> Reading:
    """A receipt's reading. Raises UsageError where there is no file, ReceiptRefused for what is none."""
    found = list(_walk(_receipt(path), "", ""))
    return Reading(
        tuple((where, said) for where, said in found if said is not None),
        tuple(where for where, said in found if said is None),
    )


def _receipt(path: Path) -> dict[str, Any]:
    try:
        if not path.is_file():
            raise UsageError(f"there is no receipt at {path}: it is no file")
        with path.open("rb") as stream:
            raw = stream.read(ARTIFACT_BOUND + 1)
    except OSError as error:
        raise UsageError(f"there is no receipt at {path}: {error.strerror}") from None
    try:
        value = decode_artifact(raw)
    except ArtifactRefused as refused:
        raise _refused(path, f"{refused.why} ({refused.refusal})") from None
    if not isinstance(value, dict) or value.get("receipt_format") != RECEIPT_FORMAT:
        raise _refused(path, f"it is no object whose `receipt_format` is {RECEIPT_FORMAT}")
    return value


def _refused(path: Path, why: str) -> ReceiptRefused:
    return ReceiptRefused(f"{path} cannot be read as a receipt: {why}")


def _walk(value: Any, where: str, shape: str) -> Iterator[tuple[str, str | None]]:
    """(where, the sentence or None) of everything in a value; `shape` is its place as the catalog has it."""
    said = _said(value, whole=shape in WHOLE) if shape in PROJECTIONS else None
    if said is not None:
        yield where, PROJECTIONS[shape].replace("{}", said)
    elif isinstance(value, dict) and _inside(shape):
        for key, inner in value.items():
            yield from _walk(inner, _dotted(where, key), _dotted(shape, key))
    elif isinstance(value, list) and _inside(f"{shape}[]"):
        for number, inner in enumerate(value):
            yield from _walk(inner, f"{where}[{number}]", f"{shape}[]")
    else:
        yield where, None


def _inside(shape: str) -> bool:
    """Whether the catalog knows anything below that place."""
    return not shape or any(known.startswith(f"{shape}.") for known in PROJECTIONS)


def _dotted(place: str, key: str) -> str:
    return f"{place}.{key}" if place else key


def _said(value: Any, *, whole: bool) -> str | None:
    """A value in a sentence: a bound by its number, a list by its elements; None where it says more."""
    match value:
        case []:
            return "nothing"
        case _ if whole:
            return dumps(value)
        case {"constant": int(constant), "terms": list(terms)} if len(value) == 2:
            return f"{constant} + {dumps(terms)}" if terms else str(constant)
        case {"known": int(count)} if len(value) == 1:
            return str(count)
        case list():
            return ", ".join(value) if all(isinstance(item, str) for item in value) else None
        case bool():
            return "yes" if value else "no"
        case dict():
            return None
    return to_text(value)
