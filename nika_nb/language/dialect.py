"""The locked regular-expression dialect of `string: {pattern: …}`: regular, so linear to match."""

from __future__ import annotations

import re

LONGEST = 512

# One construct of the dialect at a time; what matches none of them lies outside.
_ATOM = re.compile(
    r"""\\[dDwWsS]
      | \\x[0-9A-Fa-f]{2}
      | \\[nrtfv]
      | \\[^A-Za-z0-9\s]
      | \[\^?(?:\\[dDwWsSnrtfv]|\\x[0-9A-Fa-f]{2}|\\[^A-Za-z0-9\s]|[^\]\\\[])+\]
      | \((?!\?)
      | \(\?:
      | \)
      | \|
      | [.^$]
      | [^\\\[\](){}*+?|.^$]
    """,
    re.VERBOSE,
)
_QUANTIFIER = re.compile(r"[*+?]|\{[0-9]{1,4}(?:,[0-9]{0,4})?\}")
_NAMED: tuple[tuple[str, str], ...] = (
    (r"\\[1-9]", "a backreference"),
    (r"\\k", "a backreference by name"),
    (r"\(\?<?[=!]", "lookaround"),
    (r"\(\?P?<", "a named group"),
    (r"\(\?", "an inline flag"),
    (r"\\[bB]", "a word boundary"),
    (r"\\[pP]", "a Unicode property class"),
    (r"\\0", "an octal escape"),
    (r"\\[A-Za-z]", "an escape that the dialect does not know"),
)
_WORD = r"\p{Alphabetic}\p{M}\p{Nd}\p{Pc}"
_CLASSES = {
    r"\d": r"\p{Nd}", r"\D": r"\P{Nd}", r"\w": f"[{_WORD}]", r"\W": f"[^{_WORD}]",
}  # fmt: skip
_IN_BRACKETS = _CLASSES | {r"\w": _WORD, r"\W": r"\W"}


def fault(pattern: str) -> str | None:
    """What keeps a pattern out of the dialect, as a phrase; None when it lies inside."""
    if len(pattern) > LONGEST:
        return f"it is longer than {LONGEST} characters"
    at, repeatable = 0, False
    while at < len(pattern):
        quantifier = _QUANTIFIER.match(pattern, at)
        if quantifier:
            at = quantifier.end()
            if not repeatable:
                return f"`{quantifier.group()}` has nothing to repeat"
            if pattern[at : at + 1] in ("?", "+", "*"):
                return f"`{quantifier.group()}{pattern[at]}` is a lazy or possessive quantifier"
            repeatable = False
            continue
        atom = _ATOM.match(pattern, at)
        if atom is None:
            return _outside(pattern, at)
        repeatable = atom.group() not in ("(", "(?:", "|", "^")
        at = atom.end()
    return _does_not_compile(pattern)


def _outside(pattern: str, at: int) -> str:
    for shape, name in _NAMED:
        found = re.compile(shape).match(pattern, at)
        if found:
            return f"`{found.group()}` is {name}"
    return f"`{pattern[at : at + 8]}` is not a construct of the dialect"


def _does_not_compile(pattern: str) -> str | None:
    try:
        re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        return f"it does not compile: {error}"
    return None


def unicode_aware(pattern: str) -> str:
    """The same pattern with classes that know every script, for a validator that takes ASCII."""
    parts: list[str] = []
    at = 0
    while at < len(pattern):
        atom = _ATOM.match(pattern, at)
        text = atom.group() if atom else pattern[at]
        if text.startswith("["):
            text = re.sub(r"\\.", lambda found: _IN_BRACKETS.get(found.group(), found.group()), text)
        parts.append(_CLASSES.get(text, text))
        at += len(atom.group()) if atom else 1
    return "".join(parts)
