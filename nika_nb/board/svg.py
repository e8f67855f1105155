"""What the drawings of a board share: shapes as SVG text, without ids, styles, scripts or references."""

from __future__ import annotations

import re
from urllib.parse import quote

from nika_nb.board.clean import inline
from nika_nb.board.rows import State

PAGE = "currentColor"  # the page's own: of a drawing that stands in it
INK = "#70767e"  # text and lines where nobody tells the page's own colour: 4.5 to 1 on white and on black
SOLID = "#666b74"  # a box whose words are white on any page
FILL: dict[State, str] = {
    "pending": "none", "running": "#1f6fd6", "retrying": "#a36508", "paused": "#8e4bbd", "ok": "#1e7e46",
    "cached": "#157a87", "skipped": "none", "failed": "#c9363c", "cancelled": "none",
}  # fmt: skip
LEAST = 0.7  # of its size that a drawing may shrink to
CHAR = 6.65  # pixels of one character
FONT = "font-family='ui-monospace,SFMono-Regular,Menlo,Consolas,DejaVu Sans Mono,monospace' font-size='11'"


def data_uri(svg: str) -> str:
    """A drawing as an address that an `<img>` can show without asking anyone."""
    return "data:image/svg+xml," + quote(svg, safe=" ='/:;,()")


def image(svg: str, words: str, style: str = "max-width:100%") -> str:
    """A drawing as an `<img>`, with its words for those who do not see it."""
    return f'<img alt="{inline(words, 1200)}" src="{data_uri(svg)}" style="{style}">'


def document(width: float, height: float, label: str, inner: str) -> str:
    """The drawing; `label` is what a screen reader says of it."""
    size = f"{number(width)} {number(height)}"
    return (
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {size}' width='{number(width)}' "
        f"height='{number(height)}' {FONT} role='img' aria-label='{inline(label, 600)}'>{inner}</svg>"
    )


def fitting(svg: str) -> str:
    """The style by which a drawing shrinks with a narrow page, as long as its words can be read."""
    width = re.search(r" width='([\d.]+)'", svg)
    least = number(LEAST * float(width[1])) if width else "0"
    return f"max-width:100%;min-width:{least}px;height:auto;margin:0;flex:0 1 auto"


def fitted(svg: str) -> str:
    """The drawing itself with that style."""
    return svg.replace("<svg ", f"<svg style='{fitting(svg)}' ", 1)


def text(x: float, y: float, content: str, fill: str, more: str = "") -> str:
    return f"<text x='{number(x)}' y='{number(y)}' fill='{fill}'{more}>{inline(content, 200)}</text>"


def rect(x: float, y: float, width: float, height: float, look: str) -> str:
    place = f"x='{number(x)}' y='{number(y)}' width='{number(width)}' height='{number(height)}'"
    return f"<rect {place} {look}/>"


def number(value: float) -> str:
    return f"{round(value, 1):g}"
