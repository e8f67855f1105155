"""What the file that NIKA_NB_MOCK names says: how mock models answer, what that costs, how long it takes."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from nika_nb.catalog.prices import Price
from nika_nb.catalog.providers import MOCKED, is_no_mock
from nika_nb.errors import Fault
from nika_nb.files import plain_bytes
from nika_nb.settings import Settings
from nika_nb.values import loads, nearest

_LARGEST = 64 << 20  # bytes
_RATES = {"input", "output"}


def rehearsed(form: str) -> Any:
    """What the file says for one form of `MOCKED`, None where it says nothing.

    Raises Fault where nobody can read the file, or another form of it.
    """
    path = Settings.read().mock
    if path is None:
        return None
    try:
        found = loads(plain_bytes(path, _LARGEST))
    except OSError as error:
        raise _unusable(error.strerror or str(error)) from None
    except (ValueError, RecursionError) as error:
        raise _unusable(str(error)) from None
    if not isinstance(found, dict):
        raise _unusable(f"it holds an object with {', '.join(f'`{name}`' for name in MOCKED)}")
    for name, value in found.items():
        if name not in MOCKED:
            hint = nearest(name, MOCKED) or f"there are {', '.join(f'`{known}`' for known in MOCKED)}"
            raise _unusable(f"there is no `{name}`; {hint}")
        if value is not None and not _FITS[name](value):
            raise _unusable(f"`{name}` is {MOCKED[name]}")
    return found.get(form)


def prices() -> dict[str, Price]:
    """What mock models are said to cost, by `mock/<name>`. Raises Fault where nobody can read it."""
    return {f"mock/{name}": Price(**rates) for name, rates in (rehearsed("prices") or {}).items()}


def _unusable(why: str) -> Fault:
    named = f"NIKA_NB_MOCK={Settings.read().mock}"
    return Fault("NIKA-INFER-001", f"{named} cannot be used: {why}", transient=False)


def _failure(value: Any) -> bool:
    texts = {"code": str, "message": str, "transient": bool}
    return isinstance(value, dict) and all(
        isinstance(held, texts.get(key, ())) for key, held in value.items()
    )


def _pieces(value: Any) -> bool:
    return isinstance(value, str) or (isinstance(value, list) and all(isinstance(one, str) for one in value))


def _priced(value: Any) -> bool:
    known = isinstance(value, dict) and not any(is_no_mock(f"mock/{name}") for name in value)
    return known and all(map(_rates, value.values()))


def _rates(value: Any) -> bool:
    return isinstance(value, dict) and set(value) == _RATES and all(map(_amount, value.values()))


def _amount(value: Any) -> bool:
    return type(value) in (int, float) and math.isfinite(value) and value >= 0


_FITS: dict[str, Callable[[Any], bool]] = {
    "error": _failure,
    "streaming": _pieces,
    "json": lambda value: isinstance(value, (dict, bool)),
    "prices": _priced,
    "delay_ms": _amount,
}
