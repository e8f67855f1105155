"""Receipts read aloud: every field has a sentence, what has none is named, nothing is believed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import CONFORMANCE
from tests.doors import Terminal

RECEIPTS = {folder.name: folder for folder in sorted((CONFORMANCE / "tests/runtime/receipt").glob("*"))}


@pytest.mark.usefixtures("conformance")
def test_both_receipts_are_here() -> None:
    """A receipt, and the same with one field more."""
    assert len(RECEIPTS) == 2


@pytest.mark.parametrize("name", RECEIPTS)
def test_a_receipt_reads_as_published(name: str, terminal: Terminal) -> None:
    """The fields without a sentence are exactly those that the fixture lists; the others have one."""
    expected = json.loads((RECEIPTS[name] / "expected-explain.json").read_bytes())
    done = terminal("trace", "receipt", "explain", RECEIPTS[name] / "receipt.json", "--json")
    assert done.code == 0
    assert done.outputs["unprojected"] == expected["unprojected"]
    assert len(done.outputs["fields"]) == 28
    assert all(field["text"] and "{}" not in field["text"] for field in done.outputs["fields"])


@pytest.mark.parametrize("name", RECEIPTS)
def test_a_reading_says_that_it_is_no_proof(name: str, terminal: Terminal) -> None:
    """First of all; and what cannot be read is listed last, by its name alone."""
    said = terminal("trace", "receipt", "explain", RECEIPTS[name] / "receipt.json").out.decode().splitlines()
    assert said[0].startswith("A reading, not a proof")
    expected = json.loads((RECEIPTS[name] / "expected-explain.json").read_bytes())["unprojected"]
    if expected:
        assert [line.strip() for line in said[-len(expected) :]] == expected
        assert said[-len(expected) - 1].startswith("unprojected fields")
    else:
        assert "unprojected" not in "\n".join(said)


@pytest.fixture
def receipt(conformance: Path) -> dict[str, Any]:
    path = conformance / "tests/runtime/receipt/001-every-field-projects/receipt.json"
    return dict(json.loads(path.read_bytes()))


def deep(levels: int) -> Any:
    return [deep(levels - 1)] if levels else "x"


MORE: list[tuple[str, dict[str, Any], list[str]]] = [
    ("below a known one", {"trace_verdict": {"chain": "intact", "mood": "fine"}}, ["trace_verdict.mood"]),
    ("in a list", {"certificate": {"derivation": [{"hue": 1}]}}, ["certificate.derivation[0].hue"]),
    ("beside a bound", {"certificate": {"llm_calls": {"constant": 1, "x": 1}}}, ["certificate.llm_calls"]),
    ("an object for a text", {"digest": {"alg": "none"}}, ["digest"]),
    ("a list for an object", {"certificate": ["x"]}, ["certificate"]),
]  # fmt: skip


@pytest.mark.parametrize(("name", "change", "unprojected"), MORE, ids=[name for name, *_ in MORE])
def test_what_has_no_sentence_is_named(
    receipt: dict[str, Any],
    folder: Path,
    terminal: Terminal,
    name: str,
    change: dict[str, Any],
    unprojected: list[str],
) -> None:
    """Wherever it stands, and also where a known name holds something else than it should."""
    (folder / "r.json").write_text(json.dumps(receipt | change), encoding="utf-8")
    assert terminal("trace", "receipt", "explain", "r.json", "--json").outputs["unprojected"] == unprojected


REFUSED: list[tuple[str, bytes, str]] = [
    ("no JSON", b"{half", "it is not JSON"),
    ("no UTF-8", b'{"receipt_format": "\xff"}', "it is not JSON"),
    ("another format", b'{"receipt_format": 2}', "`receipt_format` is 1"),
    ("no object", b"[]", "`receipt_format` is 1"),
    ("too deep", json.dumps({"receipt_format": 1, "x": deep(32)}).encode(), "deeper than 32 levels"),
    ("far too deep", b'{"receipt_format": 1, "x": ' + b"[" * 100_000, "deeper than 32 levels"),
    ("too large", b'{"receipt_format": 1, "x": "' + b"y" * (1 << 20) + b'"}', "than the 1048576 bytes"),
    ("a long name", json.dumps({"receipt_format": 1, "n" * 257: 1}).encode(), "longer than 256 bytes"),
    ("a name twice", b'{"receipt_format": 1, "digest": "a", "digest": "b"}', "it is not JSON"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "raw", "why"), REFUSED, ids=[name for name, *_ in REFUSED])
def test_a_file_that_is_no_receipt(folder: Path, terminal: Terminal, name: str, raw: bytes, why: str) -> None:
    """Refused with exit code 2 and the reason: its bytes are somebody else's."""
    (folder / "r.json").write_bytes(raw)
    done = terminal("trace", "receipt", "explain", "r.json")
    assert done.code == 2
    assert why in done.err
    assert done.out == b""


def test_a_receipt_that_is_not_there(terminal: Terminal) -> None:
    """A mistake of the request."""
    assert terminal("trace", "receipt", "explain", "nowhere.json").code == 3


def test_a_hostile_receipt_paints_nothing(receipt: dict[str, Any], folder: Path, terminal: Terminal) -> None:
    """Control characters of names and values reach no terminal, and a value stays on its line."""
    hostile = {"lock_digest": "a\x1b[2J\nb", "evil\x1b]0;x\x07": 1}
    (folder / "r.json").write_text(json.dumps(receipt | hostile), encoding="utf-8")
    said = terminal("trace", "receipt", "explain", "r.json").out.decode()
    assert "\x1b" not in said
    assert "resolved under: a b" in said
