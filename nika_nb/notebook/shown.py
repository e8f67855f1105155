"""Displays that can be replaced later: the one place that talks to IPython's display machinery."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

EMPTY = {"text/html": "", "text/plain": ""}


def show(bundle: Mapping[str, Any], display_id: str) -> None:
    """Put a mimebundle into the cell that runs now."""
    from IPython import display

    display.display(dict(bundle), raw=True, display_id=display_id)  # type: ignore[no-untyped-call]


def update(bundle: Mapping[str, Any], display_id: str) -> None:
    """Replace what was shown under this id, from any thread. Does nothing where there is no kernel."""
    from IPython import display

    display.update_display(dict(bundle), raw=True, display_id=display_id)  # type: ignore[no-untyped-call]


def view(widget: Any) -> dict[str, Any]:
    """The mimebundle by which a front-end finds a widget."""
    found = widget._repr_mimebundle_()
    return dict(found[0] if isinstance(found, tuple) else found)
