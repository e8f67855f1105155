"""Settings: what the environment may say about how nika_nb behaves."""

from __future__ import annotations

import os
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Settings:
    """One reading of the environment.

    interactive: NIKA_NB_INTERACTIVE (1/0) says whether a human can answer; None lets the surface decide.
    max_parallel: NIKA_NB_MAX_PARALLEL, how many tasks and items may run at once (default 32).
    durability: NIKA_NB_DURABILITY, `process` (flush per frame) or `disk` (fsync per settled task).
    trace_file: NIKA_NO_TRACE_FILE=1 turns the journal off.
    mock: NIKA_NB_MOCK, a JSON file with what `mock/mock-error`, `mock/mock-streaming` and `mock/mock-json` answer.
    """

    interactive: bool | None = None
    max_parallel: int = 32
    durability: str = "process"
    trace_file: bool = True
    mock: str | None = None

    @classmethod
    def read(cls) -> Settings:
        env = os.environ
        return cls(
            interactive=_flag(env.get("NIKA_NB_INTERACTIVE")),
            max_parallel=_positive(env.get("NIKA_NB_MAX_PARALLEL"), 32),
            durability="disk" if env.get("NIKA_NB_DURABILITY") == "disk" else "process",
            trace_file=not _flag(env.get("NIKA_NO_TRACE_FILE")),
            mock=env.get("NIKA_NB_MOCK") or None,
        )


def _flag(text: str | None) -> bool | None:
    if text is None or text.strip() == "":
        return None
    return text.strip().lower() not in ("0", "false", "no", "off")


def _positive(text: str | None, default: int) -> int:
    return int(text) if text and text.isdecimal() and int(text) > 0 else default
