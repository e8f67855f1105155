"""What a notebook tells; and without what differs from run to run, so that two runs can be compared."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

VARIES = "varies"  # the tag of a cell whose figures depend on the moment at which something was killed

_MOMENT = (
    (r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ-[0-9a-f]{4}", "TRACE"),
    (r"\d{4}-\d\d-\d\d (at )?\d\d:\d\d:\d\d(\.\d+)?( UTC)?", "MOMENT"),
    (r"\b[0-9a-f]{64}\b", "HASH"),
    (r"\b([a-z-]+)-[0-9a-f]{8}\b", r"\1-ID"),
    (r" \(it took [^)]*\)", ""),
    (r"\b\d+ days( \d\d:\d\d:\d\d(\.\d+)?)?", "TIME"),
    (r"\b\d+(\.\d+)?(ms|s|m|h)\b( \d+s)?", "TIME"),
    (r"TIME → TIME", "TIME"),  # of a pair that is alike only one is shown
    (r"(?m)^( *saved .+), TIME$", r"\1"),  # what took no time saved none
    (r"(?m)^ *saved TIME$", ""),
    (r" ∥", ""),  # whether two overlapped
    (r"─+", "─"),
)
_FIGURES = r"(TIME|–|<NA>|NaN|\d+(\.\d+)?)( ?(TIME|–|\d+(\.\d+)?))*"
_NOISE = {"TIME", "saved"}  # what took no time saved none


def said(notebook: Any) -> str:
    """The text of all outputs, in one line."""
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    return " ".join(" ".join(map(_text, outputs)).split())


def told(notebook: Any) -> list[str]:
    """One entry per output: the cell's id, the kind of output, its text without what is of the moment."""
    return [
        f"{cell.id} · {output.output_type} · {_masked(_text(output), cell)}"
        for cell in notebook.cells
        for output in cell.get("outputs", [])
    ]


def drawn(notebook: Any) -> list[tuple[str, set[str]]]:
    """The words of each output that is drawn, by its cell; what happened first differs from run to run."""
    return [
        (
            cell.id,
            {word.strip(",") for word in _masked(seen(output.data["text/html"]), cell).split()} - _NOISE,
        )
        for cell in notebook.cells
        for output in cell.get("outputs", [])
        if "text/html" in output.get("data", {})
    ]


def seen(html: str) -> str:
    """What a reader sees of a page, in one line."""
    body = html.partition("<body")[2] or html
    return " ".join(unescape(re.sub(r"<(script|style).*?</\1>|<[^>]*>", " ", body, flags=re.S)).split())


def _text(output: Any) -> str:
    if output.output_type == "stream":
        return str(output.text)
    if output.output_type == "error":
        return "\n".join(output.traceback)
    page = output.data.get("text/html", "")
    if 'class="dataframe"' in page:  # its text is cut to a width that figures change
        return seen(page)
    kinds = " ".join(sorted(output.data))
    return f"{kinds} · {output.data.get('text/plain', '')}"


def _masked(text: str, cell: Any) -> str:
    for pattern, word in _MOMENT:
        text = re.sub(pattern, word, text)
    lines = [" ".join(line.split()) for line in text.splitlines()]
    if VARIES in cell.metadata.get("tags", []):
        lines = list(dict.fromkeys(re.sub(_FIGURES, "N", line) for line in lines))
    return " ".join(filter(None, lines))
