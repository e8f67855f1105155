"""What a click sets off: no cell shows what it prints or raises, so what goes wrong is said in its place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nika_nb.errors import spoken

INTERRUPTED = "The kernel was interrupted before this was done."


def clicked(action: Callable[[], Any], say: Callable[[str], Any]) -> bool:
    """Does it; whether it went well. Never raises and never prints; `say` gets the sentence to be shown."""
    try:
        action()
    except KeyboardInterrupt:
        say(INTERRUPTED)
    except Exception as error:  # noqa: BLE001 - no cell would show it
        say(spoken(error))
    else:
        return True
    return False
