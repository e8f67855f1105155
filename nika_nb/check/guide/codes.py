"""A page per error code, and the list of all."""

from __future__ import annotations

from nika_nb.catalog.codes import CODES, category_of, title_of, transient_of
from nika_nb.catalog.ways import OF_LATER_TOOLS, OURS, UNUSED, way_out
from nika_nb.check.guide.page import Page, Table

TOPIC = "codes"
_TOPICS = {"VAR": "expressions", "TYPE": "types", "SEC": "permits", "AUTH": "permits", "INVOKE": "tools"}


def raised_codes() -> tuple[str, ...]:
    """Every code that this version's own tools may raise, the language's first."""
    return (*(code for code in CODES if way_out(code) not in ("", OF_LATER_TOOLS)), *OURS)


def title(code: str) -> str:
    """What a code means, in a few words."""
    return OURS[code][0] if code in OURS else title_of(code)


def code_page(code: str) -> Page:
    """What one code means, and what to do."""
    if code in UNUSED:
        return Page(code, f"{title(code)}: registered, and raised by nothing in this version.", (), (TOPIC,))
    kind = category_of(code).replace("_", " ")
    again = (
        "`retry:` tries it again"
        if transient_of(code)
        else "`retry:` tries it only where `on_codes:` lists it"
    )
    topic = _TOPICS.get(code.split("-")[1])
    lines = Table(("", ""), (("what to do", way_out(code)), ("kind", f"{kind}; {again}")))
    return Page(code, f"{title(code)}.".capitalize(), (lines,), (topic, TOPIC) if topic else (TOPIC,))


def codes_table() -> Table:
    """All that may be raised: code, meaning, what to do."""
    return Table(
        ("code", "meaning", "what to do"),
        tuple((code.removeprefix("NIKA-"), title(code), way_out(code)) for code in raised_codes()),
    )
