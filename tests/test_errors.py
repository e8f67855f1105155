"""Diagnostics as people read them."""

from __future__ import annotations

from importlib import import_module
from pkgutil import walk_packages

from hypothesis import given
from hypothesis import strategies as st

import nika_nb
from nika_nb.errors import CheckRefused, Diagnostic, NikaError, Source, Span, UsageError

# What only a terminal raises, what a form catches itself, and what a version that lies there damaged is.
_INSIDE = {"ReceiptRefused", "ArtifactRefused", "NothingToSalvage", "Unsure", "Broken"}
TEXT = "nika: demo\ntasks:\n  a: { exce: 1 }\n"


def test_a_diagnostic_says_code_what_where_and_what_to_do() -> None:
    """The line, a caret under the word, the hint; line numbers are those of the cell."""
    source = Source(TEXT, "cell [3]", first_line=2)
    at = TEXT.index("exce")
    found = Diagnostic(
        "NIKA-PARSE-005", "`exce` is not a task field", Span(at, at + 4), "did you mean `exec`?"
    )
    assert found.render(source) == (
        "NIKA-PARSE-005 · `exce` is not a task field\n"
        "  cell [3], line 4, column 8\n"
        "     4 │   a: { exce: 1 }\n"
        "       │        ^^^^\n"
        "  → did you mean `exec`?"
    )


def test_whatever_is_raised_on_purpose_can_be_caught_by_its_name() -> None:
    """Every kind of error is offered by the package."""
    for module in walk_packages(nika_nb.__path__, "nika_nb."):
        if not module.name.endswith("__main__"):
            import_module(module.name)
    found, level = set(), [NikaError]
    while level:
        level = [kind for above in level for kind in above.__subclasses__()]
        found |= {kind.__name__ for kind in level if kind.__module__.startswith("nika_nb.")}
    assert found - _INSIDE <= set(nika_nb.__all__)
    assert all(issubclass(getattr(nika_nb, name), NikaError) for name in found - _INSIDE)


def test_a_refusal_counts_errors_and_leaves_warnings_out() -> None:
    """What stopped the run is told, each problem once."""
    source = Source(TEXT)
    errors = [Diagnostic("A", "one"), Diagnostic("B", "two"), Diagnostic("C", "hm", severity="warning")]
    text = str(CheckRefused(errors, source))
    assert "2 problems" in text
    assert "hm" not in text


def test_a_text_under_judgment_cannot_steer_the_terminal() -> None:
    """Escapes, bidi marks and half pairs stand as one sign each, in the excerpt and in every sentence."""
    text = 'nika: "\x1b]0;x\x07\u202e\ud800"\n'
    drawn = Diagnostic("X", "`\x1b[2J` is no name", Span(6, 8), "not \x9b").render(Source(text))
    said = [
        drawn,
        str(UsageError("no file \x1b[31m\udcff")),
        str(CheckRefused([Diagnostic("A", text)], Source(text))),
    ]
    for sentence in said:
        sentence.encode("utf-8")
        assert not set(sentence) & set("\x1b\x07\x9b\u202e")
        assert "\ufffd" in sentence
    assert drawn.splitlines()[2].index("\ufffd") == drawn.splitlines()[3].index("^") + 1


@given(st.text(), st.integers(0, 400), st.integers(0, 400))
def test_every_place_can_be_drawn(text: str, start: int, length: int) -> None:
    """No text and no span breaks the drawing, and the caret stays under the line."""
    source = Source(text)
    start = min(start, len(text))
    drawn = Diagnostic("X", "y", Span(start, start + length)).render(source)
    assert "^" in drawn
    line, column = source.position(start)
    assert line >= 1
    assert column >= 1
