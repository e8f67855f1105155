"""The look that every HTML piece shares.

Colours are mid-tones that keep their contrast on white and on black; what is quiet is made so by
opacity. Only properties that JupyterLab's sanitiser lets through.
"""

from __future__ import annotations

from nika_nb.board.rows import RunState, State

COLOUR: dict[State, str] = {
    "pending": "#868b94", "running": "#2f80ed", "retrying": "#c47a0a", "paused": "#a55fd0", "ok": "#279a5b",
    "cached": "#1d94a3", "skipped": "#868b94", "failed": "#e0454a", "cancelled": "#868b94",
}  # fmt: skip
RUN_TONE: dict[RunState, str] = {
    "running": COLOUR["running"], "completed": COLOUR["ok"], "failed": COLOUR["failed"],
    "cancelled": COLOUR["cancelled"], "paused": COLOUR["paused"], "incomplete": COLOUR["retrying"],
}  # fmt: skip

MONO = "font-family:var(--jp-code-font-family,ui-monospace,Menlo,Consolas,monospace)"
SANS = "font-family:system-ui,-apple-system,Segoe UI,Helvetica,Arial,sans-serif"
QUIET = "opacity:.68"
TRACK = "rgba(128,128,128,.22)"


def box(inner: str, tone: str, top: int = 6, bottom: int = 6) -> str:
    """A piece of a panel: a coloured edge at its left; `top` and `bottom` are pixels of padding."""
    style = (
        f"max-width:1000px;margin:0;padding:{top}px 0 {bottom}px 12px;border-left:3px solid {tone};"
        f"text-align:left;font-size:13px;line-height:1.5;{SANS}"
    )
    return f'<div style="{style}">{inner}</div>'
