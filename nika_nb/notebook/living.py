"""Styles by which a page itself shows what is of use: a live piece or its still, as its kernel lives or not.

No kernel can say that it has gone: the page knows. Where a page takes no styles, all is shown.
"""

from __future__ import annotations

from typing import Any

from nika_nb.board.html import GONE

_DEAD = "jupyter-widgets-disconnected"  # front-ends give it to widgets whose kernel was killed or restarted
_LIVES = "nika-live"
VANISHING = f"<style>.{_LIVES}.{_DEAD}{{display:none}}</style>"


def vanishes(widget: Any) -> None:
    """It is of no use without its kernel: a page that holds VANISHING shows it no longer then."""
    widget.add_class(_LIVES)


def stays(widget: Any) -> None:
    """What it holds by now can be read without a kernel."""
    widget.remove_class(_LIVES)


def until_it_dies(name: str) -> str:
    """While a piece of that name lives, the still of that name is hidden. Older browsers show both."""
    return f"{VANISHING}<style>body:has(.{name}:not(.{_DEAD})) .{name}-still{{display:none}}</style>"


def instead_of_still(name: str) -> str:
    """The piece tells more than the still that was sent last, also when it has stopped moving; then it says
    that it has.
    """
    dead = f".{name}.{_DEAD}"
    marks = f"{dead}::before,.{name} .{_DEAD}::before{{content:none}}"  # broken chains
    stopped = f"{dead} .{GONE}{{display:block !important}} {dead} svg[aria-hidden]{{display:none}}"
    return f"{VANISHING}<style>.{name}-still{{display:none}} {marks} {stopped}</style>"


def hidable(still: dict[str, str], name: str) -> dict[str, str]:
    """The mimebundle of a still under its name."""
    return still | {"text/html": f'<div class="{name}-still">{still["text/html"]}</div>'}
