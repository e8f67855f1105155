"""What people bring along from Python and its neighbours, and how it is written here."""

from __future__ import annotations

_OPERATORS = {"and": "&&", "or": "||", "not": "!", "is": "=="}
_VALUES = {
    "True": "true", "TRUE": "true", "False": "false", "FALSE": "false",
    "None": "null", "NULL": "null", "nil": "null", "undefined": "null",
}  # fmt: skip
_FUNCTIONS = {"len": "size", "length": "size", "count": "size", "exists": "has", "defined": "has"}
_METHODS = {
    "startswith": "startsWith", "endswith": "endsWith", "includes": "contains", "__contains__": "contains",
    "len": "size", "length": "size", "count": "size",
}  # fmt: skip
_COMPUTED = frozenset({"int", "float", "str", "sum", "min", "max", "sorted", "any", "all", "abs", "round"})


def operator(word: str, following: str = "") -> str | None:
    """A sentence about a word that stands where an operator should; following: the word behind it."""
    if word in ("if", "else"):
        return "a choice is written `test ? this : that`, not `this if test else that`"
    if (word, following) == ("not", "in"):
        return "`a not in b` is written `!(a in b)`"
    if (word, following) == ("is", "not"):
        return "`is not` is written `!=`"
    return f"`{word}` is written `{_OPERATORS[word]}` here" if word in _OPERATORS else None


def value(name: str) -> str | None:
    """What a name stands for that is a constant elsewhere."""
    return _VALUES.get(name)


def function(name: str) -> str:
    """The end of a sentence about a function that does not exist."""
    if name in _FUNCTIONS:
        return f": write `{_FUNCTIONS[name]}(…)`"
    return ": compute it in a task, with `nika:jq` or a program" if name in _COMPUTED else ""


def method(name: str) -> str:
    """The same for a method."""
    return f": write `.{_METHODS[name]}(…)`" if name in _METHODS else ""
