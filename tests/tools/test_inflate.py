"""What comes in packed is unpacked within its bound: a bomb goes off small."""

from __future__ import annotations

import gzip
import tracemalloc

import pytest

from nika_nb.tools.inflate import Body, TooLarge

MIB = 1 << 20


def test_a_bomb_never_unfolds() -> None:
    """Far more than the bound is never in memory, whatever one packet stands for."""
    bomb = gzip.compress(bytes(100 * MIB))
    body = Body("gzip", MIB)
    tracemalloc.start()
    with pytest.raises(TooLarge):
        body.feed(bomb)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 8 * MIB


def test_pieces_of_any_size() -> None:
    """However the bytes are cut, the same comes out; padding behind the last member is nothing."""
    packed = gzip.compress(b"first ") + gzip.compress(b"second") + bytes(7)
    for size in (1, 2, 3, 19, 1000):
        body = Body("x-gzip", MIB)
        for at in range(0, len(packed), size):
            body.feed(packed[at : at + size])
        assert body.whole() == b"first second"


def test_the_bound_is_a_bound() -> None:
    """Exactly so many bytes fit, plain or packed."""
    for coding, data in (("", bytes(MIB)), ("identity", bytes(MIB)), ("gzip", gzip.compress(bytes(MIB)))):
        body = Body(coding, MIB)
        body.feed(data)
        assert body.whole() == bytes(MIB)
        with pytest.raises(TooLarge):
            Body(coding, MIB - 1).feed(data)


def test_other_codings_are_not_read() -> None:
    """They are refused by name before anything is read."""
    with pytest.raises(ValueError, match="zstd"):
        Body("zstd", MIB)
