"""Styles by which a page itself shows a live piece while its kernel lives, and its still when it has gone.

No kernel can say that it has gone: the page knows. Where a page takes no styles, all is shown.
"""

from __future__ import annotations

from typing import Any

_GONE = "jupyter-widgets-disconnected"  # front-ends give it to widgets whose kernel was killed or restarted
_LIVES = "nika-live"
VANISHING = f"<style>.{_LIVES}.{_GONE}{{display:none}}</style>"


def vanishes(widget: Any) -> None:
    """It is of no use without its kernel: a page that holds VANISHING shows it no longer then."""
    widget.add_class(_LIVES)


def stays(widget: Any) -> None:
    """What it holds by now can be read without a kernel."""
    widget.remove_class(_LIVES)


def instead_of_still(name: str) -> str:
    """While a piece of that name lives, the still of that name is hidden. Older browsers show both."""
    return f"{VANISHING}<style>body:has(.{name}:not(.{_GONE})) .{_class(name)}{{display:none}}</style>"


def in_place_of_still(name: str) -> str:
    """The piece holds the still itself: the other one stays hidden, whatever becomes of the kernel."""
    marks = f".{name}.{_GONE}::before,.{name} .{_GONE}::before{{content:none}}"  # broken chains
    return f"{VANISHING}<style>.{_class(name)}{{display:none}} {marks}</style>"


def hidable(still: dict[str, str], name: str) -> dict[str, str]:
    """The mimebundle of a still under its name."""
    return still | {"text/html": f'<div class="{_class(name)}">{still["text/html"]}</div>'}


def _class(name: str) -> str:
    return f"{name}-still"
