"""Secrets that are hard to hide: the forms that programs say them in, and a search for all of them."""

from __future__ import annotations

import base64
import html
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, quote_plus

# Says a value in every form, on the streams that it is told: STREAMS is `out`, `err` or `both`.
TELL = """\
#!{python} -IS
import json, os, sys
sys.path.insert(0, {here!r})
from saying import forms
how, streams, code = sys.argv[1], sys.argv[2], int(sys.argv[3])
value = os.environ["V"]
text = "\\n".join(f"{{name}}: {{form}}" for name, form in forms(value).items())
if how == "keys":
    text = json.dumps({{value: 1, "list": [{{"x " + value: [value, {{"in": json.dumps(value)}}]}}]}})
if how == "json":
    text = json.dumps(forms(value), ensure_ascii=False)
if how == "padded":
    text = "y" * 50 + " " + value + " " + "z" * (2000 - len(value) // 2)
if how == "long":
    text = "l" * 262140 + value + "\\n" + value
for stream in [sys.stdout] * (streams != "err") + [sys.stderr] * (streams != "out"):
    print(text, file=stream)
sys.exit(code)
"""


@dataclass(frozen=True)
class Hostile:
    """name → value. short: a value of a few characters, which is looked for as it is and escaped."""

    values: dict[str, str]
    short: frozenset[str] = frozenset()

    def leaks(self, text: str) -> list[str]:
        """`name, form: …around it…` for everything of a secret that stands in a text."""
        found = []
        for name, value in self.values.items():
            for form, needle in _looked_for(value, whole=name in self.short):
                at = text.find(needle)
                if at >= 0:
                    found.append(f"{name}, {form}: {text[max(0, at - 40) : at + 20]!r}")
        return found


def forms(value: str) -> dict[str, str]:
    """What programs make of a value, alone and inside something else."""
    raw = value.encode()
    return {
        "raw": value,
        "JSON": json.dumps({"k": value}),
        "JSON without escapes": json.dumps(value, ensure_ascii=False),
        "JSON in JSON": json.dumps(json.dumps({"k": value})),
        "JSON with escaped slashes": json.dumps(value).replace("/", "\\/"),
        "repr": repr(value),
        "ascii": ascii(value),
        "bytes": repr(raw),
        "quoted": quote(value, safe=""),
        "quoted but slashes": quote(value),
        "form": quote_plus(value),
        "HTML": html.escape(value),
        "base64": base64.b64encode(raw).decode(),
        "base64 of a header": base64.b64encode(b"Bearer " + raw).decode(),
        "base64 for addresses": base64.urlsafe_b64encode(b"k" + raw).decode(),
        "base64 in lines": base64.encodebytes(raw + b"\n").decode(),
        "base64 of a header in lines": base64.encodebytes(b"Authorization: Basic " + raw).decode(),
        "hex": raw.hex(),
        "upper hex": raw.hex().upper(),
        "hex dump": raw.hex(" "),
    }


def _looked_for(value: str, *, whole: bool) -> Iterator[tuple[str, str]]:
    """Whole forms, and so that nothing is half hidden, pieces of nine characters of every form."""
    escaped = json.dumps(value)[1:-1]
    yield from (("raw", value), ("JSON", escaped), ("JSON in JSON", json.dumps(escaped)[1:-1]))
    if whole:
        return
    raw = value.encode()
    texts = {
        "raw": value,
        "base64": base64.b64encode(raw).decode(),
        "hex": raw.hex(),
        "hex dump": raw.hex(" "),
    }
    texts |= {"base64 of a header": base64.b64encode(b"Authorization: Basic " + raw).decode()[30:]}
    for name, text in texts.items():
        size = 9 if name == "raw" else 16
        for at in range(8 if name != "raw" else 0, len(text) - size, 5):
            piece = text[at : at + size]
            if "\n" not in piece:
                yield f"{name}, from {at}", piece


def install(folder: Path, python: str) -> None:
    """The program `./tell` in a folder."""
    (folder / "saying.py").write_text(_saying(), encoding="utf-8")
    tell = folder / "tell"
    tell.write_text(TELL.format(python=python, here=str(folder)), encoding="utf-8")
    tell.chmod(0o755)


def _saying() -> str:
    """The function `forms` as a module of its own."""
    lines = Path(__file__).read_text(encoding="utf-8").split("\n\n\n")
    body = next(part for part in lines if part.startswith("def forms("))
    return f"import base64, html, json\nfrom urllib.parse import quote, quote_plus\n\n{body}\n"
