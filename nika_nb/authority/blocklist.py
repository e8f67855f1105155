"""The floor under every permit: commands that destroy a machine or climb out of it (NIKA-SEC-001).

A tripwire, not a wall: it reads what is written and knows nothing of what a program does. It
takes a shell line apart into commands and judges each like an argv; text inside quotes is data.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TypeVar

from nika_nb.authority.destructive import RAW_DEVICE, destroys
from nika_nb.authority.shell import base, pipelines, redirections, substitutions, without_data
from nika_nb.authority.shelltext import is_fork_bomb, runs_remote_text

SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh", "ash", "fish", "csh", "tcsh"})
_INTERPRETERS = SHELLS | {"perl", "ruby", "node", "php", "lua", "pwsh"}
_FETCHERS = frozenset({"curl", "wget", "fetch", "aria2c", "http", "https"})
_DECODERS = frozenset({"base64", "base32", "xxd", "uudecode"})

# Programs that run another command named in their arguments: the inner one is judged too.
CARRIERS = frozenset(
    {
        "env", "xargs", "nohup", "nice", "ionice", "timeout", "time", "stdbuf", "setsid", "command",
        "exec", "builtin", "busybox", "watch", "strace", "caffeinate", "parallel",
    }
)  # fmt: skip

_SYSTEM_FILE = re.compile(
    r"/etc/(?:passwd|shadow|group|gshadow|sudoers|crontab|ld\.so\.preload|hosts)\b|/etc/(?:sudoers|cron)\.?\w*/"
    r"|/boot/|/proc/sysrq-trigger|/proc/sys/|/sys/|\.ssh/authorized_keys"
)
_DEPTH = 50  # commands within each other
_AGAIN, _SMALL = 20, 10_000  # how often all of a command is looked at; what is always looked at
_INVISIBLE = dict.fromkeys([0x200B, 0x200C, 0x200D, 0x2060, 0xFEFF, 0x00AD])
# What may stand between a carrier and its command: flags, assignments, numbers, signal names.
_SETTING = re.compile(r"-.*|[A-Za-z_]\w*=.*|[\d.]+[smhd]?|\{\}|[A-Z]+", re.DOTALL)
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")


@dataclass
class _Look:
    """How much of one command is still looked at, commands within commands included."""

    left: int
    depth: int = 0


_look: ContextVar[_Look | None] = ContextVar("nika_blocklist_look", default=None)
Command = TypeVar("Command")


def _bounded(judge: Callable[[Command], str | None], command: Command, size: int) -> str | None:
    """The judgment, unless it would go too deep or look at the same words again and again."""
    outer = _look.get()
    look = outer or _Look(_AGAIN * size + _SMALL)
    look.left -= size
    look.depth += 1
    _look.set(look)
    try:
        if look.left < 0 or look.depth > _DEPTH:
            return f"more than {_DEPTH} commands stand within each other in it"
        return judge(command)
    finally:
        look.depth -= 1
        _look.set(outer)


def judge_shell(line: str) -> str | None:
    """Why a shell line is refused, or None."""
    return _bounded(_judge_line, line, len(line))


def _judge_line(line: str) -> str | None:
    text = unicodedata.normalize("NFKC", line).translate(_INVISIBLE)
    if is_fork_bomb(text):
        return "a fork bomb fills the machine with processes"
    if "/dev/tcp/" in text or "/dev/udp/" in text:
        return "a shell's own network device opens a door around permits.net"
    if runs_remote_text(without_data(text)):
        return "text from the network would run as a program"
    for pipeline in pipelines(text):
        reason = _judge_pipeline(pipeline)
        if reason:
            return reason
    return next(filter(None, map(judge_shell, substitutions(text))), None)


def judge_argv(argv: Sequence[str]) -> str | None:
    """Why a command is refused, or None. The first element is the program."""
    return _bounded(_judge, argv, sum(map(len, argv)) + len(argv))


def _judge(argv: Sequence[str]) -> str | None:
    start = next((at for at, word in enumerate(argv) if not _ASSIGNMENT.match(word)), None)
    if start is None:
        return None
    program, args = base(argv[start]), list(argv[start + 1 :])
    return destroys(program, args) or _inner(program, args)


def _inner(program: str, args: list[str]) -> str | None:
    """What a shell's `-c` or a carrier such as `env` and `timeout` would start."""
    if program in SHELLS:
        at = next((i for i, arg in enumerate(args) if _takes_line(arg)), None)
        return judge_shell(args[at + 1]) if at is not None and at + 1 < len(args) else None
    if program == "eval":
        return judge_shell(" ".join(args))
    if program == "find":
        return next(filter(None, map(judge_argv, _found(args))), None)
    if program in CARRIERS:
        at = carried(args, 0)
        return judge_argv(args[at:]) if at is not None else None
    return None


def _found(words: list[str]) -> Iterator[list[str]]:
    """The commands behind `-exec` and its like, each up to its end."""
    at = 0
    while at < len(words):
        start, at = at + 1, at + 1
        if words[start - 1] in ("-exec", "-execdir", "-ok", "-okdir"):
            while at < len(words) and words[at] not in (";", "+", "\\;"):
                at += 1
            yield words[start:at]


def _takes_line(arg: str) -> bool:
    return re.fullmatch(r"-[a-z]++", arg) is not None and "c" in arg


def carried(words: Sequence[str], start: int) -> int | None:
    """Where the command stands that a carrier starts; None where it is given none."""
    return next((at for at in range(start, len(words)) if not _SETTING.fullmatch(words[at])), None)


def _judge_pipeline(commands: list[list[str]]) -> str | None:
    earlier: set[str] = set()
    for words in commands:
        argv, targets = redirections(words)
        reason = judge_argv(argv) or _judge_redirections(targets)
        if reason:
            return reason
        program = base(argv[0]) if argv else ""
        if program in _INTERPRETERS or program.startswith("python"):
            if earlier & _FETCHERS:
                return f"text from the network would run as a program in `{program}`"
            if earlier & _DECODERS:
                return f"hidden text would run as a program in `{program}`"
        earlier.add(program)
    return None


def _judge_redirections(targets: list[str]) -> str | None:
    for target in targets:
        if RAW_DEVICE.match(target):
            return f"writing to `{target}` destroys what is on it"
        if _SYSTEM_FILE.search(target):
            return f"writing to `{target}` changes the system"
    return None
