"""What a walk over a journal found, and the line that says so."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from nika_nb.catalog.frames import FILE_BOUND, LINE_BOUND

Finding = Literal[
    "clean",
    "finding",
    "incomplete",
    "torn",
    "sealed",
    "unsealed",
    "seal-broken",
    "cut",
    "grown",
    "forged",
    "refused",
    "unchained",
    "empty",
    "unreadable",
]
CostReplay = Literal["unrecorded", "refused", "replayed"]

_EXIT = {
    "forged": 2,
    "refused": 2,
    "unsealed": 2,
    "seal-broken": 2,
    "cut": 2,
    "grown": 2,
    "unchained": 3,
    "empty": 3,
    "unreadable": 3,
}
_HASH = re.compile(r"[0-9a-f]{64}")
_WITNESS = "a command ran and no frame witnesses its permit"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the walk found.

    events: the lines that hold. head: the hash of the last of them. line: where the walk objects,
    with the recorded and the computed chain value of a forged line. why: the reason, of an unreadable
    line, a missing or a broken seal, a journal that ends elsewhere. size: bytes of a refused line or
    file. prologue: the field names of the first frame. cost_replay: whether the pricing table that
    the run was judged by is known here. unwitnessed: a command ran without a permit frame. key: the
    id of the key that the journal says sealed it; checked: its signature was judged, and holds.
    """

    verdict: Finding
    events: int = 0
    head: str | None = None
    line: int | None = None
    recorded: str | None = None
    computed: str | None = None
    why: str = ""
    size: int | None = None
    prologue: tuple[str, ...] = ()
    cost_replay: CostReplay = "unrecorded"
    unwitnessed: bool = False
    key: str | None = None
    checked: bool = False

    @property
    def exit_code(self) -> int:
        return _EXIT.get(self.verdict, 0)

    @property
    def intact(self) -> bool:
        """Every whole line is chained to the one before it, and no seal speaks against them."""
        return self.verdict in ("clean", "finding", "incomplete", "torn", "sealed", "unsealed")

    @property
    def sentence(self) -> str:
        """One line for people."""
        held = f"{self.events} {'event' if self.events == 1 else 'events'} · chain intact"
        whole = f"{held} · head {self.head}"
        match self.verdict:
            case "clean":
                return f"OK — {whole}{self._seal()}"
            case "sealed":
                return f"SEALED — {whole}{self._seal()}{f' · {_WITNESS}' if self.unwitnessed else ''}"
            case "torn":
                return (
                    f"OK — {whole} · the final line is TORN (a crash mid-write, not tampering){self._seal()}"
                )
            case "incomplete":
                return (
                    f"INCOMPLETE — {held} · no frame ends the run: it was killed, or its end was cut off; "
                    f"only a head that was kept (--expect-head) or a seal can tell which{self._seal()}"
                )
            case "finding":
                return f"FINDING — {whole} · {_WITNESS}{self._seal()}"
            case "unsealed":
                return f"NOT SEALED — {whole} · {self.why}"
            case "seal-broken":
                return f"SEAL BROKEN — {whole} · {self.why}"
            case "cut" | "grown":
                return f"{self.verdict.upper()} — {whole} · {self.why}"
        return self._objection()

    def _objection(self) -> str:
        match self.verdict:
            case "forged":
                recorded = "none" if self.recorded is None else _hash(self.recorded)
                return f"BROKEN at line {self.line} — recorded chain {recorded} · computed {self.computed}"
            case "refused":
                what, bound = (
                    ("the file", FILE_BOUND) if self.line is None else (f"line {self.line}", LINE_BOUND)
                )
                kind = "file" if self.line is None else "line"
                return (
                    f"{what} is {self.size} bytes — beyond the verifier's {kind} bound ({bound} bytes), "
                    "refused before any parse"
                )
            case "unchained":
                return f"UNCHAINED — {self.events} events · no line carries a chain: nothing can be verified"
            case "empty":
                return "EMPTY — there is no event in it"
        return f"UNREADABLE at line {self.line} — {self.why}"

    def _seal(self) -> str:
        """What is to be said of a seal that no verdict speaks of."""
        if self.key is None:
            return f" · {self.why}" if self.why else ""
        key = _hash(self.key)
        return f" · sealed with key {key}" if self.checked else f" · it says key {key} sealed it: not checked"


def _hash(text: str) -> str:
    """A hash as it may be shown: a journal can claim any text to be one."""
    return text if _HASH.fullmatch(text) else "(no hash)"
