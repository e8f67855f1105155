"""Settings: what the environment may say about how nika_nb behaves."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

_DIGITS = 9  # of a number: what is longer is a slip of the hand


@dataclass(frozen=True, slots=True)
class Settings:
    """One reading of the environment.

    interactive: NIKA_NB_INTERACTIVE (1/0) says whether a human can answer; None lets the surface decide.
    max_parallel: NIKA_NB_MAX_PARALLEL, how many tasks and items may run at once (default 32).
    durability: NIKA_NB_DURABILITY, `process` (flush per frame) or `disk` (fsync per settled task).
    trace_file: NIKA_NO_TRACE_FILE=1 turns the journal off.
    mock: NIKA_NB_MOCK, a JSON file with what `mock/mock-error`, `mock/mock-streaming` and
    `mock/mock-json` answer.
    trace_keep: NIKA_TRACE_KEEP, how many finished traces of a workflow stay (default 10).
    trace_max_age_days: NIKA_TRACE_MAX_AGE_DAYS, after how many days a trace goes (default 30).
    trace_budget_mb: NIKA_TRACE_BUDGET_MB, millions of bytes that a folder of traces may hold (default 256).
    sign_key: NIKA_NB_SIGN_KEY, the file of the key that seals every journal.
    troubles: a sentence for every value that says nothing usable; the default stands in for it.
    """

    interactive: bool | None = None
    max_parallel: int = 32
    durability: str = "process"
    trace_file: bool = True
    mock: str | None = None
    trace_keep: int = 10
    trace_max_age_days: int = 30
    trace_budget_mb: int = 256
    sign_key: str | None = None
    troubles: tuple[str, ...] = ()

    @classmethod
    def read(cls) -> Settings:
        env = os.environ
        troubles: list[str] = []
        return cls(
            interactive=_flag(env.get("NIKA_NB_INTERACTIVE")),
            max_parallel=_positive(env, "NIKA_NB_MAX_PARALLEL", 32, troubles),
            durability=_durability(env, troubles),
            trace_file=not _flag(env.get("NIKA_NO_TRACE_FILE")),
            mock=env.get("NIKA_NB_MOCK") or None,
            trace_keep=_positive(env, "NIKA_TRACE_KEEP", 10, troubles),
            trace_max_age_days=_positive(env, "NIKA_TRACE_MAX_AGE_DAYS", 30, troubles),
            trace_budget_mb=_positive(env, "NIKA_TRACE_BUDGET_MB", 256, troubles),
            sign_key=env.get("NIKA_NB_SIGN_KEY") or None,
            troubles=tuple(troubles),
        )


def _flag(text: str | None) -> bool | None:
    if text is None or text.strip() == "":
        return None
    return text.strip().lower() not in ("0", "false", "no", "off")


def _positive(env: Mapping[str, str], name: str, default: int, troubles: list[str]) -> int:
    """A whole number from 1 on; of anything else it is said that the default is used."""
    text = env.get(name, "").strip()
    if not text:
        return default
    if text.isascii() and text.isdecimal() and len(text) <= _DIGITS and int(text) > 0:
        return int(text)
    troubles.append(f"{name}={_shown(text)} is no whole number from 1 on: {default} is used")
    return default


def _durability(env: Mapping[str, str], troubles: list[str]) -> str:
    text = env.get("NIKA_NB_DURABILITY", "").strip()
    if text not in ("", "process", "disk"):
        troubles.append(f"NIKA_NB_DURABILITY={_shown(text)} is neither `process` nor `disk`: process is used")
    return "disk" if text == "disk" else "process"


def _shown(text: str) -> str:
    return ascii(text[:40])
