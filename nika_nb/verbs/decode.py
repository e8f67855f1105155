"""From captured bytes to a value: what `decode:` declares, and nothing guessed."""

from __future__ import annotations

from typing import Any

from nika_nb import values
from nika_nb.errors import Fault, hidden

# Beside the two codes of the registry: the command went well, what it said cannot be used.
UNUSABLE_CODE = "NIKA-EXEC-003"


def decode(raw: bytes, how: str | None, stream: str) -> Any:
    """The value of one captured stream.

    how is `text` (also where the author wrote nothing), `json`, `jsonl` or `bytes`. Text loses its
    trailing newlines. Raises Fault where the bytes are not what was declared: they are never
    bent into shape.
    """
    how = how or "text"
    if how == "bytes":
        return raw
    text = _strict(raw, how, stream)
    if how == "json":
        return _parse(text, stream, "json")
    if how == "jsonl":
        lines = enumerate(text.split("\n"), start=1)  # the other line ends may stand inside a string
        return [_parse(line, stream, "jsonl", number) for number, line in lines if line.strip()]
    return text.rstrip("\r\n")


def lenient(raw: bytes, stream: str, trim: bool = True) -> tuple[str, str | None]:
    """The text of a stream that is only reported, and a warning when it was not UTF-8."""
    warning = None
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        text = raw.decode("utf-8", "replace")
        warning = f"{stream} is not UTF-8 (byte {error.start}): broken characters were replaced"
    return (text.rstrip("\r\n") if trim else text), warning


def _strict(raw: bytes, how: str, stream: str) -> str:
    try:
        return raw.decode("utf-8-sig" if how != "text" else "utf-8")
    except UnicodeDecodeError as error:
        raise Fault(
            UNUSABLE_CODE,
            f"{stream} is not UTF-8 (byte {error.start}), so `decode: {how}` cannot read it; "
            "write `decode: bytes` to keep the bytes",
            details={"decode": how, "byte": error.start},
        ) from None


def _parse(text: str, stream: str, how: str, line: int | None = None) -> Any:
    try:
        return values.loads(text)
    except (ValueError, RecursionError) as error:
        place = f" (line {line})" if line else ""
        shown = hidden(text).strip()[:120] or "nothing"
        why = "it is nested too deep" if isinstance(error, RecursionError) else error
        raise Fault(
            UNUSABLE_CODE,
            f"{stream} is not JSON{place}, so `decode: {how}` cannot read it: {why}; it says: {shown}",
            details={"decode": how} | ({"line": line} if line else {}),
        ) from None
