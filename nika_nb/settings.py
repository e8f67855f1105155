"""Settings: what the environment may say about how nika_nb behaves."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

_FLAGS = dict.fromkeys(("1", "true", "yes", "on"), True) | dict.fromkeys(("0", "false", "no", "off"), False)
_DIGITS = 9  # of a number: what is longer is a slip of the hand


@dataclass(frozen=True, slots=True)
class Setting:
    """One thing that the environment may say: the field of Settings, the variable, both in words.

    is_file: its value names a file that has to be there.
    """

    field: str
    variable: str
    default: str
    meaning: str
    is_file: bool = False


SETTINGS = (
    Setting("interactive", "NIKA_NB_INTERACTIVE", "the front-end says", "1 or 0: whether a human can answer"),
    Setting(
        "on_pause",
        "NIKA_NB_ON_PAUSE",
        "return",
        "what a cell does whose run waits for an answer: `return`, or `raise` to stop *Run All* there",
    ),
    Setting("max_parallel", "NIKA_NB_MAX_PARALLEL", "32", "how many tasks and items may run at once"),
    Setting(
        "durability",
        "NIKA_NB_DURABILITY",
        "process",
        "`process` hands every frame to the system, `disk` waits for the disk at each settled task",
    ),
    Setting("trace_file", "NIKA_NO_TRACE_FILE", "unset", "1 turns the journal off: nothing to resume from"),
    Setting(
        "mock",
        "NIKA_NB_MOCK",
        "unset",
        "a JSON file with what mock models answer and are said to cost",
        is_file=True,
    ),
    Setting("trace_keep", "NIKA_TRACE_KEEP", "10", "how many finished traces of a workflow stay"),
    Setting("trace_max_age_days", "NIKA_TRACE_MAX_AGE_DAYS", "30", "after how many days a trace goes"),
    Setting("trace_budget_mb", "NIKA_TRACE_BUDGET_MB", "256", "how many MB a folder of traces may hold"),
    Setting(
        "sign_key", "NIKA_NB_SIGN_KEY", "unset", "the file of the key that seals every journal", is_file=True
    ),
)


def short_name(one: Setting) -> str:
    """How a setting is called where the package is plain: `max_parallel`."""
    return one.variable.removeprefix("NIKA_").removeprefix("NB_").lower()


@dataclass(frozen=True, slots=True)
class Settings:
    """One reading of the environment; what each field says stands in SETTINGS.

    troubles: a sentence for every value that says nothing usable; the default stands in for it.
    """

    interactive: bool | None = None
    on_pause: str = "return"
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
            interactive=_flag(env, "NIKA_NB_INTERACTIVE", None, troubles),
            on_pause=_one_of(env, "NIKA_NB_ON_PAUSE", ("return", "raise"), troubles),
            max_parallel=_positive(env, "NIKA_NB_MAX_PARALLEL", 32, troubles),
            durability=_one_of(env, "NIKA_NB_DURABILITY", ("process", "disk"), troubles),
            trace_file=not _flag(env, "NIKA_NO_TRACE_FILE", True, troubles),
            mock=env.get("NIKA_NB_MOCK") or None,
            trace_keep=_positive(env, "NIKA_TRACE_KEEP", 10, troubles),
            trace_max_age_days=_positive(env, "NIKA_TRACE_MAX_AGE_DAYS", 30, troubles),
            trace_budget_mb=_positive(env, "NIKA_TRACE_BUDGET_MB", 256, troubles),
            sign_key=env.get("NIKA_NB_SIGN_KEY") or None,
            troubles=tuple(troubles),
        )


def _flag(env: Mapping[str, str], name: str, otherwise: bool | None, troubles: list[str]) -> bool | None:
    """Yes or no, None where nothing is said; of anything else it is said what stands in for it."""
    text = env.get(name, "").strip()
    if not text:
        return None
    if text.lower() in _FLAGS:
        return _FLAGS[text.lower()]
    used = "nothing" if otherwise is None else str(int(otherwise))
    troubles.append(f"{name}={_shown(text)} is neither 1 nor 0: {used} is used")
    return otherwise


def _positive(env: Mapping[str, str], name: str, default: int, troubles: list[str]) -> int:
    """A whole number from 1 on; of anything else it is said that the default is used."""
    text = env.get(name, "").strip()
    if not text:
        return default
    if text.isascii() and text.isdecimal() and len(text) <= _DIGITS and int(text) > 0:
        return int(text)
    troubles.append(f"{name}={_shown(text)} is no whole number from 1 on: {default} is used")
    return default


def _one_of(env: Mapping[str, str], name: str, words: tuple[str, str], troubles: list[str]) -> str:
    """One of two words, the first where nothing is said; of anything else it is said that it is used."""
    text = env.get(name, "").strip()
    if text not in ("", *words):
        first, second = words
        troubles.append(f"{name}={_shown(text)} is neither `{first}` nor `{second}`: {first} is used")
    return text if text in words else words[0]


def _shown(text: str) -> str:
    return ascii(text[:40])
