"""What stands on one line of a damaged journal: whole frames, half ones, blocks of zeros."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from nika_nb.trace.frame import Frame, decode
from nika_nb.trace.lines import Line

_MOST = 64  # pieces that are looked for on one line
_ZEROS = re.compile(rb"(\x00+)")
_START = '{"chain":'  # keys are sorted, and inside a string the quotes would be escaped
_DECODER = json.JSONDecoder()


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of a line: a frame, or bytes that are none.

    start: its offset in the file. frame is None of what is no frame; zeros: it is a block of NUL bytes.
    """

    start: int
    data: bytes
    frame: Frame | None = None
    zeros: bool = False


def pieces(line: Line) -> tuple[Piece, ...]:
    """The line as it is where it is a frame; else whatever can be told apart on it, without blanks.

    Of a line beyond the bound nothing is looked at.
    """
    if line.over or line.blank:
        return ()
    start = line.end - line.whole - line.size
    frame = _frame(line.data, line.number) if line.data == line.data.strip() else None
    if frame is not None:
        return (Piece(start, line.data, frame),)
    return tuple(_apart(line.data, start, line.number))


def _apart(data: bytes, start: int, number: int) -> Iterator[Piece]:
    left = _MOST
    for part in _ZEROS.split(data, maxsplit=_MOST):
        if part.startswith(b"\0"):
            yield Piece(start, part, zeros=True)
        else:
            for piece in _frames(part, start, number, left):
                left -= 1
                yield piece
        start += len(part)


def _frames(data: bytes, start: int, number: int, most: int) -> Iterator[Piece]:
    """The frames in a stretch without zeros, each with what stands before it."""
    text = data.decode("utf-8", "surrogateescape")
    at = 0
    while at < len(text):
        end = _object_end(text, at) if most > 0 else None
        frame = _frame(_bytes(text[at:end]), number) if end is not None else None
        if end is None or frame is None:
            found = text.find(_START, at + 1) if most > 0 else -1
            end = found if found >= 0 else len(text)
        piece = _bytes(text[at:end])
        if piece.strip():
            yield Piece(start, piece, frame)
        at, start, most = end, start + len(piece), most - 1


def _object_end(text: str, at: int) -> int | None:
    try:
        return _DECODER.raw_decode(text, at)[1]
    except (ValueError, RecursionError):
        return None


def _frame(data: bytes, number: int) -> Frame | None:
    try:
        return decode(data, number)
    except ValueError:
        return None


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
