"""Where a command starts another program: the words that make a listed program run what it is told.

A program's own grammar decides: `-ec` is `-e -c` for a shell, the word behind `-c` is a program's
text, and what stands behind that text is data. Of a program that is not known here only words count
that mean this everywhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from nika_nb.authority.blocklist import CARRIERS, SHELLS, carried
from nika_nb.authority.shell import base
from nika_nb.catalog.environment import is_dangerous

# Flags behind which another command begins, and those that take one as their value.
_COMMANDS = frozenset({"-exec", "--exec", "-execdir", "--execdir", "-ok", "-okdir"})
_VALUES = frozenset(
    {
        "--eval", "--command", "--rsh", "--rsh-command", "--rmt-command", "--checkpoint-action",
        "--to-command", "--info-script", "--new-volume-script", "--use-compress-program", "--upload-pack",
        "--receive-pack", "--split-string", "--init-command", "--init-file", "--rcfile",
    }
)  # fmt: skip
# What is an everyday flag of other programs as well: the word behind it says nothing.
_EVERYDAY = frozenset({"-c", "-e", "eval", "exec", "source"})
_SHORTEST = 5  # characters of a long flag that is cut short: `--com` is `--command`
_OF_SSH = re.compile(r"(?:-o\s*)?(proxycommand|localcommand|knownhostscommand)\b", re.IGNORECASE)
_ASSIGNED = re.compile(r"([A-Za-z_]\w*)=")
_OF_POWERSHELL = ("command", "commandwithargs", "cwa", "encodedcommand", "ec")


@dataclass(frozen=True, slots=True)
class Grammar:
    """The flags of a program, one letter each.

    code: take a program's text, or the name of one. valued: take another value, from the next word where
    nothing is left of theirs; rest: take what is left of theirs. more: whether flags still count behind
    the text. anywhere: whether they count behind operands. apart: values are words of their own always.
    """

    code: str
    valued: str = ""
    rest: str = ""
    more: bool = True
    anywhere: bool = False
    apart: bool = False


_GRAMMARS = {
    **dict.fromkeys(SHELLS, Grammar("c", "oO", more=False, apart=True)),
    "fish": Grammar("cC", "dDfo"),
    "python": Grammar("cm", "WX", more=False),
    "pypy": Grammar("cm", "WX", more=False),
    "perl": Grammar("eEmMd", "I", "iFV"),
    "ruby": Grammar("er", "ICE", "iFKxTW"),
    "node": Grammar("epr", "C", apart=True),
    "nodejs": Grammar("epr", "C", apart=True),
    "bun": Grammar("epr", "c"),
    "php": Grammar("rBREd", "cfFStz"),
    "lua": Grammar("el"),
    "luajit": Grammar("el", "jOb"),
    "rscript": Grammar("e"),
    "julia": Grammar("eEL", "pCJ"),
    "osascript": Grammar("e", "ls"),
    "expect": Grammar("c", "f"),
    "tar": Grammar("IF", "CfTXbgHKLNV", anywhere=True),
    "rsync": Grammar("e", "fTBM", anywhere=True),
    "env": Grammar("S", "uC"),
}
_VERSION = re.compile(r"[\d.-]+\Z")


@dataclass(frozen=True, slots=True)
class Reentry:
    """number: of the word in the command. token: what makes it one, as a permit may list it."""

    number: int
    token: str


def reentries(argv: Sequence[str]) -> Iterator[Reentry]:
    """Every word by which this command comes to another program."""
    starts, seen, carriers = [0] if argv else [], {0}, False
    for at in starts:  # which grows by the commands that stand within this one
        name = base(argv[at]).lower()
        yield from _of(argv, at, _VERSION.sub("", name) or name)
        for inner in _carried(argv, at, name, carriers):
            if inner.number not in seen:
                seen.add(inner.number)
                starts.append(inner.number)
                yield inner
        carriers = carriers or name in CARRIERS
    for number, word in enumerate(argv[1:], 1):
        token = everywhere(word)
        if token is not None:
            yield Reentry(number, token)
            if token not in _EVERYDAY and "=" not in word and number + 1 < len(argv):
                yield Reentry(number + 1, base(argv[number + 1]) if token in _COMMANDS else token)


def everywhere(word: str) -> str | None:
    """The flag that a word is, where it makes some program run another one, whatever it is given to."""
    token = word.partition("=")[0]
    if token in _COMMANDS or token in _VALUES or token in _EVERYDAY:
        return token
    if token.startswith("--") and len(token) >= _SHORTEST:
        return next((known for known in sorted(_VALUES) if known.startswith(token)), None)
    found = _OF_SSH.match(word)
    return found[1] if found else None


def _of(argv: Sequence[str], at: int, name: str) -> Iterator[Reentry]:
    if name in ("pwsh", "powershell"):
        yield from _powershell(argv, at)
    elif name in _GRAMMARS:
        yield from _flags(argv, at, _GRAMMARS[name])
    if name == "env":
        yield from _assigned(argv, at)


def _flags(argv: Sequence[str], at: int, grammar: Grammar) -> Iterator[Reentry]:
    number, unsure = at + 1, False
    while number < len(argv):
        word = argv[number]
        if word == "--" or (not _is_flag(word) and not unsure and not grammar.anywhere):
            return
        letter, taken = _letter(word, grammar)
        if letter in grammar.code and letter:
            yield Reentry(number, f"-{letter}")
            yield from (Reentry(behind, f"-{letter}") for behind in _text(argv, number, taken, grammar))
            if not grammar.more:
                return
        unsure = word.startswith("--") and "=" not in word  # it may take the next word as its value
        number += 2 if taken else 1


def _is_flag(word: str) -> bool:
    return word[:1] in ("-", "+") and len(word) > 1


def _letter(word: str, grammar: Grammar) -> tuple[str, bool]:
    """(the flag of a cluster that decides what follows, whether its value is the next word)."""
    if not _is_flag(word) or word.startswith("--"):
        return "", False
    letters = word[1:]
    if grammar.apart:
        code = next((letter for letter in letters if letter in grammar.code), "")
        return code, any(letter in grammar.valued for letter in letters)
    for at, letter in enumerate(letters, 1):
        if letter in grammar.code + grammar.valued:
            return letter, at == len(letters)
        if letter in grammar.rest:
            break
    return "", False


def _text(argv: Sequence[str], number: int, taken: bool, grammar: Grammar) -> Iterator[int]:
    """The words that may hold the text: the next one; of a shell the first that is no flag of its own."""
    if not grammar.apart:
        yield from range(number + 1, min(number + 1 + taken, len(argv)))
        return
    values = int(taken)
    for behind in range(number + 1, len(argv)):
        yield behind
        if not _is_flag(argv[behind]):
            if not values:
                return
            values -= 1
        elif _letter(argv[behind], grammar)[1]:
            values += 1


def _powershell(argv: Sequence[str], at: int) -> Iterator[Reentry]:
    """Its flags may be cut short, and everything behind one is the text."""
    for number in range(at + 1, len(argv)):
        flag = argv[number].lower()
        name = flag.lstrip("-/")
        if name != flag and name and any(known.startswith(name) for known in _OF_POWERSHELL):
            yield from (Reentry(behind, "-c") for behind in range(number, len(argv)))
            return


def _assigned(argv: Sequence[str], at: int) -> Iterator[Reentry]:
    """Variables that make whatever is started load something else."""
    for number in range(at + 1, 1 + (carried(argv, at + 1) or len(argv) - 1)):
        found = _ASSIGNED.match(argv[number])
        if found and is_dangerous(found[1]):
            yield Reentry(number, found[1])


def _carried(argv: Sequence[str], at: int, name: str, outer: bool) -> Iterator[Reentry]:
    """Where the commands begin that stand within this one: of a carrier, and behind `-exec`.

    What may stand before a carrier's command is not known for all of them: every word that is an
    interpreter's name is looked at as well. outer: whether that was done for a carrier around this one.
    """
    if name in CARRIERS:
        first = carried(argv, at + 1)
        if first is not None:
            yield Reentry(first, base(argv[first]))
            if not outer:
                known = (n for n in range(first + 1, len(argv)) if _interprets(argv[n]))
                yield from (Reentry(number, base(argv[number])) for number in known)
    elif name == "find":
        yield from (
            Reentry(number, base(argv[number]))
            for number in range(at + 2, len(argv))
            if argv[number - 1] in _COMMANDS
        )


def _interprets(word: str) -> bool:
    name = base(word).lower()
    return (_VERSION.sub("", name) or name) in _GRAMMARS
