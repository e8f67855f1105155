"""The look that every HTML piece shares.

Colours are mid-tones that keep their contrast on white and on black; what is quiet is made so by
opacity. Only properties that JupyterLab's sanitiser lets through.
"""

from __future__ import annotations

from nika_nb.board.clean import inline
from nika_nb.board.rows import RunState, State

COLOUR: dict[State, str] = {
    "pending": "#868b94", "running": "#2f80ed", "retrying": "#c47a0a", "paused": "#a55fd0", "ok": "#279a5b",
    "cached": "#1d94a3", "skipped": "#868b94", "failed": "#e0454a", "cancelled": "#868b94",
}  # fmt: skip
RUN_TONE: dict[RunState, str] = {
    "running": COLOUR["running"], "completed": COLOUR["ok"], "failed": COLOUR["failed"],
    "cancelled": COLOUR["cancelled"], "paused": COLOUR["paused"], "incomplete": COLOUR["retrying"],
}  # fmt: skip

# What JupyterLab calls the same: its themes know their own background.
_THEMED = {
    COLOUR["running"]: "--jp-brand-color1",
    COLOUR["ok"]: "--jp-success-color1",
    COLOUR["failed"]: "--jp-error-color1",
}

MONO = "font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,DejaVu Sans Mono,monospace"
SANS = "font-family:system-ui,-apple-system,Segoe UI,Helvetica,Arial,sans-serif"
QUIET = "opacity:.68"
TRACK = "rgba(128,128,128,.22)"


PLAIN = f"max-width:1100px;text-align:left;font-size:13px;line-height:1.5;{SANS}"


# Pages with MathJax would typeset whatever stands between two dollar signs.
NO_MATH = "tex2jax_ignore mathjax_ignore"


def box(inner: str, tone: str, pad: int = 6) -> str:
    """A piece of its own, with a coloured edge at its left; `pad` is in pixels, above and below."""
    edge = f"margin:0;padding:{pad}px 12px;border-left:3px solid {tone}"
    return f'<div class="{NO_MATH}" style="{edge};{PLAIN}">{inner}</div>'


def plain(inner: str) -> str:
    """A piece inside something that has an edge already."""
    return f'<div class="{NO_MATH}" style="{PLAIN}">{inner}</div>'


def fact(label: str, said: str) -> str:
    """A line below something: what it is about, and what anybody wrote of it."""
    return (
        f'<div style="font-size:12px"><span style="{QUIET}">{inline(label)}</span> '
        f'<span style="{MONO};overflow-wrap:anywhere">{inline(said)}</span></div>'
    )


def ink(tone: str) -> str:
    """A tone as the colour of text: the theme's own where there is one. Sanitised away, text stays text."""
    themed = _THEMED.get(tone)
    return f"color:var({themed},{tone})" if themed else f"color:{tone}"


def signed(sign: str, tone: str) -> str:
    """A sign in a tone, for what stands behind it in the page's own colour, which all can read."""
    return f'<span style="{ink(tone)}">{sign}</span>'
