"""The header of a corpus file: what its first comment block expects, and whether a check and a run agree."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

_CODE = re.compile(r"NIKA-[A-Z]+(?:-[A-Z0-9_]+)?-[0-9]+")


@dataclass(frozen=True)
class Said:
    """What one command said: its exit code, and its standard output and error together."""

    code: int
    text: str


@dataclass(frozen=True)
class Header:
    """`expected` is the line; `divergent` where it asserts the prose against the reference engine."""

    expected: str
    divergent: bool

    @classmethod
    def of(cls, path: Path) -> Header:
        lines = [line.lstrip("\ufeff") for line in path.read_text("utf-8").splitlines()[:30]]
        comments = [line for line in lines if line.startswith("#")]
        expected = next(line for line in comments if "expected:" in line.lower())
        return cls(expected, "divergence" in "\n".join(comments).lower())

    @property
    def code(self) -> str | None:
        found = _CODE.search(self.expected)
        return found.group() if found and not self._has("exit 0") else None

    @property
    def static(self) -> bool:
        """The check alone decides; a run is not attempted."""
        return self._has("check-pass") or self._has("check-reject")

    @property
    def runs(self) -> bool:
        """Whether it speaks of a run: that one ends well, or fails at run."""
        return self._has("exit 0") or self._has("at run")

    def disagreement(self, check: Said, run: Said | None) -> str:
        """How what was said is not what the header expects; empty where it is."""
        if self._has("check-reject"):
            return "" if check.code else "the check passed"
        if self.static:
            return "" if not check.code else "the check refused"
        if self.code is None or self.divergent:
            return "" if not check.code and run is not None and not run.code else "it did not end well"
        return self._refusal(check, run)

    def _refusal(self, check: Said, run: Said | None) -> str:
        last = run if run is not None and not check.code else check
        if self._has("at check") and not check.code:
            return "the check passed"
        if not last.code:
            return "it ended well"
        return "" if str(self.code) in last.text else f"{self.code} stands nowhere"

    def _has(self, words: str) -> bool:
        return words in self.expected.lower()
