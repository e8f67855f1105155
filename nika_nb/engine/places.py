"""Sentences of a reproducible run: where it happens to lie does not stand in them."""

from __future__ import annotations

import os
import re
from typing import Any

from nika_nb.engine.contract import Permit
from nika_nb.errors import Fault


class Places:
    """Writes a folder as `.` wherever its absolute path stands; without a folder nothing changes."""

    def __init__(self, folder: str | None = None) -> None:
        names = {folder, os.path.realpath(folder)} - {"/"} if folder else set()
        found = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
        self._pattern = re.compile(rf"(?:{found})(?![\w.-])") if found else None

    def text(self, text: str) -> str:
        return self._pattern.sub(".", text) if self._pattern is not None else text

    def fault(self, fault: Fault) -> Fault:
        """The fault as every machine would tell it."""
        if self._pattern is None:
            return fault
        return Fault(
            fault.code,
            self.text(fault.message),
            details=self._value(fault.details),
            transient=fault.transient,
            span=fault.span,
        )

    def permit(self, decision: Permit) -> Permit:
        return Permit(decision.plane, self.text(decision.gate), decision.allowed, self.text(decision.why))

    def _value(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {key: self._value(item) for key, item in value.items()}
        return [self._value(item) for item in value] if isinstance(value, list) else value
