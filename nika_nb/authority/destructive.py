"""The programs that destroy a machine or climb out of it, each judged by what it is given."""

from __future__ import annotations

import re
from dataclasses import dataclass

_ESCALATION = frozenset({"sudo", "doas", "pkexec", "su", "runas"})
_POWER = frozenset({"shutdown", "reboot", "halt", "poweroff", "kexec", "init", "telinit"})
_KERNEL = frozenset({"insmod", "rmmod", "modprobe", "swapoff", "mount", "umount", "chroot", "nsenter"})
_ACCOUNTS = frozenset({"useradd", "userdel", "usermod", "passwd", "chpasswd", "visudo", "vipw"})
_DISKS = frozenset({"fdisk", "sfdisk", "gdisk", "sgdisk", "parted", "wipefs", "blkdiscard", "diskutil"})

RAW_DEVICE = re.compile(r"/dev/(?:sd|hd|vd|xvd|nvme|mmcblk|disk|rdisk|md|dm-|loop|mem|kmem|port|mapper/)")


def destroys(program: str, args: list[str]) -> str | None:
    """Why a program is not started with these words, or None. Of commands among them it knows nothing."""
    return _identity(program, args) or _destruction(program, args)


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
    if any(arg.startswith("of=") and RAW_DEVICE.match(arg[3:]) for arg in given.words):
        return "`dd` would overwrite a disk"
    return None


def _judge_find(given: _Given) -> str | None:
    if (
        "-delete" in given.words
        and given.operands
        and given.operands[0] in ("/", "~", "$HOME", "${HOME}", "..")
    ):
        return f"`find {given.operands[0]} -delete` reaches beyond the project"
    return None


def _judge_kill(given: _Given) -> str | None:
    return "`kill -1` ends every process of the user" if given.words and given.words[-1] == "-1" else None


def _judge_netcat(given: _Given) -> str | None:
    if given.flags & {"e", "c", "--exec", "--sh-exec"}:
        return "netcat would hand a shell to the network"
    return None


def _judge_device(given: _Given) -> str | None:
    if any(RAW_DEVICE.match(path) for path in given.operands):
        return "it would write to a disk below the file system"
    return None


def _judge_crontab(given: _Given) -> str | None:
    return "`crontab` starts work that nobody sees in the file" if given.flags != {"l"} else None


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
