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

from nika_nb.authority.shell import base, pipelines, redirections, substitutions, without_data
from nika_nb.authority.shelltext import is_fork_bomb, runs_remote_text

_ESCALATION = frozenset({"sudo", "doas", "pkexec", "su", "runas"})
_POWER = frozenset({"shutdown", "reboot", "halt", "poweroff", "kexec", "init", "telinit"})
_KERNEL = frozenset({"insmod", "rmmod", "modprobe", "swapoff", "mount", "umount", "chroot", "nsenter"})
_ACCOUNTS = frozenset({"useradd", "userdel", "usermod", "passwd", "chpasswd", "visudo", "vipw"})
_DISKS = frozenset({"fdisk", "sfdisk", "gdisk", "sgdisk", "parted", "wipefs", "blkdiscard", "diskutil"})

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

_RAW_DEVICE = re.compile(r"/dev/(?:sd|hd|vd|xvd|nvme|mmcblk|disk|rdisk|md|dm-|loop|mem|kmem|port|mapper/)")
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
    return _identity(program, args) or _destruction(program, args) or _inner(program, args)


@dataclass(frozen=True, slots=True)
class _Given:
    """What a program is given: its flags (short ones one by one), its operands, and all words as written."""

    flags: set[str]
    operands: list[str]
    words: list[str]


def _given(words: list[str]) -> _Given:
    return _Given(_flags(words), [word for word in words if not word.startswith("-")], words)


def _identity(program: str, args: list[str]) -> str | None:
    if program in _ESCALATION:
        return f"`{program}` raises privileges"
    if program in _POWER:
        return f"`{program}` stops the machine"
    if program == "systemctl" and {"poweroff", "reboot", "halt", "kexec"} & set(args):
        return "`systemctl` would stop the machine"
    if program in _KERNEL:
        return f"`{program}` changes the system below every program"
    if program in _ACCOUNTS:
        return f"`{program}` changes who may log in"
    if program in _DISKS or program.startswith(("mkfs", "mke2fs")):
        return f"`{program}` writes to disks below the file system"
    return None


def _destruction(program: str, args: list[str]) -> str | None:
    judges = {
        "rm": _judge_rm,
        "chmod": _judge_chmod,
        "chown": _judge_owner,
        "chgrp": _judge_owner,
        "dd": _judge_dd,
        "find": _judge_find,
        "kill": _judge_kill,
        "nc": _judge_netcat,
        "ncat": _judge_netcat,
        "shred": _judge_device,
        "tee": _judge_device,
        "cp": _judge_device,
        "mv": _judge_device,
        "crontab": _judge_crontab,
    }
    judge = judges.get(program)
    return judge(_given(args)) if judge else None


def _judge_rm(given: _Given) -> str | None:
    if "--no-preserve-root" in given.words:
        return "`rm --no-preserve-root` can only mean the whole disk"
    if given.flags & {"r", "R", "--recursive"} and (wide := next(filter(_is_wide, given.operands), None)):
        return f"`rm -r {wide}` reaches beyond the project; name a relative path below it"
    return None


def _is_wide(path: str) -> bool:
    """An absolute path, a home, a parent, or everything here."""
    clean = path.strip("\"'")
    parts = clean.split("/")
    whole = clean in (".", "./", "*", "./*")
    return whole or ".." in parts or clean.startswith(("/", "~", "$HOME", "${HOME"))


def _judge_chmod(given: _Given) -> str | None:
    mode = given.operands[0] if given.operands else ""
    if re.fullmatch(r"[0-7]?777|[+=]rwx", mode) or _for_all(mode, "w"):
        return f"`chmod {mode}` lets everyone write"
    if re.fullmatch(r"[2467][0-7]{3}", mode) or _symbolic(mode, "s"):
        return f"`chmod {mode}` lets a file run as its owner"
    return _judge_owner(given)


def _symbolic(mode: str, grant: str) -> str | None:
    """Who is granted this by a symbolic mode; None where nobody is."""
    found = re.fullmatch(r"([ugoa]*+)[+=](\w*+)", mode)
    return found[1] if found and grant in found[2] else None


def _for_all(mode: str, grant: str) -> bool:
    who = _symbolic(mode, grant)
    return who is not None and ("a" in who or who in ("o", "ugo"))


def _judge_owner(given: _Given) -> str | None:
    if given.flags & {"R", "--recursive"} and any(
        path in ("/", "/*", "~", "~/") for path in given.operands[1:]
    ):
        return "a recursive change of owner or mode would take the whole disk"
    return None


def _judge_dd(given: _Given) -> str | None:
    if any(arg.startswith("of=") and _RAW_DEVICE.match(arg[3:]) for arg in given.words):
        return "`dd` would overwrite a disk"
    return None


def _judge_find(given: _Given) -> str | None:
    for command in _found(given.words):
        reason = judge_argv(command)
        if reason:
            return reason
    if (
        "-delete" in given.words
        and given.operands
        and given.operands[0] in ("/", "~", "$HOME", "${HOME}", "..")
    ):
        return f"`find {given.operands[0]} -delete` reaches beyond the project"
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


def _judge_kill(given: _Given) -> str | None:
    return "`kill -1` ends every process of the user" if given.words and given.words[-1] == "-1" else None


def _judge_netcat(given: _Given) -> str | None:
    if given.flags & {"e", "c", "--exec", "--sh-exec"}:
        return "netcat would hand a shell to the network"
    return None


def _judge_device(given: _Given) -> str | None:
    if any(_RAW_DEVICE.match(path) for path in given.operands):
        return "it would write to a disk below the file system"
    return None


def _judge_crontab(given: _Given) -> str | None:
    return "`crontab` starts work that nobody sees in the file" if given.flags != {"l"} else None


def _inner(program: str, args: list[str]) -> str | None:
    """What a shell's `-c` or a carrier such as `env` and `timeout` would start."""
    if program in SHELLS:
        at = next((i for i, arg in enumerate(args) if _takes_line(arg)), None)
        return judge_shell(args[at + 1]) if at is not None and at + 1 < len(args) else None
    if program == "eval":
        return judge_shell(" ".join(args))
    if program in CARRIERS:
        at = carried(args, 0)
        return judge_argv(args[at:]) if at is not None else None
    return None


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
        if _RAW_DEVICE.match(target):
            return f"writing to `{target}` destroys what is on it"
        if _SYSTEM_FILE.search(target):
            return f"writing to `{target}` changes the system"
    return None


def _flags(args: list[str]) -> set[str]:
    """Short flags one by one, long flags whole."""
    found: set[str] = set()
    for arg in args:
        if arg == "--":
            break
        if arg.startswith("--"):
            found.add(arg.split("=")[0])
        elif arg.startswith("-"):
            found.update(arg[1:])
    return found
