"""What to write where the boundary refuses: the name that may be meant, how a program is admitted."""

from __future__ import annotations

from collections.abc import Iterable

from nika_nb.language.model import Permits
from nika_nb.values import nearest

# What a shell line needs, and what needs none; either of them is all there is to do.
SHELL_FIX = (
    "one program without a shell is written `command: [program, argument]`; for a line of the shell declare "
    "`exec: true` under permits, which admits any program"
)


def or_meant(wanted: str, listed: Iterable[str], fix: str) -> str:
    """Before a boundary is widened: the name in it that may be meant."""
    meant = nearest(wanted, listed)
    return f"{meant} otherwise {fix}" if meant else fix


def program_fix(program: str, permits: Permits) -> str:
    """How a program is admitted; a line in one word is no program, and `*` no pattern."""
    listed = [bound.text for bound in permits.exec] if isinstance(permits.exec, tuple) else []
    name, *arguments = apart(program)
    grant = f'add "{name}" to permits.exec' if listed else f'declare `exec: ["{name}"]` under permits'
    if arguments:
        return words_apart(program) if name in listed else f"{words_apart(program)}, and {grant}"
    return f"{grant}; `exec: true` admits any program" if "*" in listed else grant


def apart(program: str) -> list[str]:
    """What stands where one program belongs, word by word; a path may hold blanks."""
    is_line = program.strip() and "/" not in program and "${{" not in program
    return program.split() if is_line else [program]


def words_apart(program: str) -> str:
    """How a program is written together with its arguments."""
    listed = ", ".join(f'"{word}"' for word in apart(program))
    return f"a program and its arguments are words of their own: `command: [{listed}]`"
