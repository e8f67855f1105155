"""A shell line taken apart, as far as a judge of commands has to see into it."""

from __future__ import annotations

import re
import shlex

_OPERATOR = re.compile(r"[;&|()]+")
_KEYWORDS = frozenset({"{", "}", "!", "if", "elif", "then", "else", "fi", "while", "until", "do", "done"})


def pipelines(line: str) -> list[list[list[str]]]:
    """The line as pipelines of commands of words; quotes are taken off, operators divide."""
    found: list[list[list[str]]] = [[[]]]
    for word in _words(line):
        command = found[-1][-1]
        if word in ("|", "|&"):
            found[-1].append([])
        elif _OPERATOR.fullmatch(word) or (not command and word in _KEYWORDS):
            found.append([[]])
        else:
            command.append(word)
    return found


def _words(line: str) -> list[str]:
    text = line.replace("\\\n", " ").replace("\n", " ; ")
    lexer = shlex.shlex(text, posix=True, punctuation_chars="();<>|&")
    lexer.whitespace_split = True
    lexer.commenters = ""
    try:
        return list(lexer)
    except ValueError:
        return text.split()


def substitutions(line: str) -> list[str]:
    """The lines inside `$(…)` and backticks, where single quotes do not make them data."""
    bare = without_data(line)
    return re.findall(r"\$\(((?:[^()]|\([^()]*\))*)\)", bare) + re.findall(r"`([^`]*)`", bare)


def without_data(line: str) -> str:
    """The line without what stands in single quotes."""
    return re.sub(r"'[^']*'", "", line)


def redirections(words: list[str]) -> tuple[list[str], list[str]]:
    """(the command without its output redirections, the files they name)."""
    argv: list[str] = []
    targets: list[str] = []
    follows = False
    for word in words:
        if re.fullmatch(r"\d?[>&|]++", word) and ">" in word.partition("|")[0]:
            follows = True
        elif follows:
            targets.append(word)
            follows = False
        else:
            argv.append(word)
    return argv, targets


def base(program: str) -> str:
    """A program's name without its path."""
    return program.lstrip("\\").rsplit("/", 1)[-1]
