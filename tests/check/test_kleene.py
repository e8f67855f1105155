"""Three-valued logic: what is decided stays decided, and nothing else is."""

from __future__ import annotations

from typing import Any

import pytest

from nika_nb.check.kleene import UNKNOWN, truth
from nika_nb.language import cel
from nika_nb.language.cel.syntax import as_reference

KNOWN: dict[str, Any] = {"yes": True, "no": False, "word": "success", "five": 5, "nothing": None}


def resolve(expr: cel.Expr) -> Any:
    path = as_reference(expr)
    return KNOWN.get(path.root, UNKNOWN) if path is not None and not path.steps else UNKNOWN


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("yes", True),
        ("no", False),
        ("other", UNKNOWN),
        ("five", UNKNOWN),
        ("!no", True),
        ("!other", UNKNOWN),
        ("no && other", False),
        ("other && no", False),
        ("yes && other", UNKNOWN),
        ("yes || other", True),
        ("other || yes", True),
        ("no || other", UNKNOWN),
        ("word == 'success'", True),
        ("word != 'success'", False),
        ("word == five", UNKNOWN),
        ("word == null", False),
        ("nothing == null", True),
        ("five == 5.0", True),
        ("yes == true", True),
        ("yes == 1", UNKNOWN),
        ("word in ['failure', 'success']", True),
        ("word in ['failure', other]", UNKNOWN),
        ("word in ['success', other]", True),
        ("word in ['failure']", False),
        ("other in ['failure']", UNKNOWN),
        ("yes ? no : other", False),
        ("other ? no : no", False),
        ("other ? no : yes", UNKNOWN),
        ("five > 3", UNKNOWN),
        ("size(word) == 7", UNKNOWN),
        ("has(word)", UNKNOWN),
    ],
)
def test_a_condition_is_true_false_or_unknown(text: str, expected: object) -> None:
    """A condition is decided only where no unknown part could change it."""
    assert truth(cel.parse(text), resolve) is expected
