"""What runs paid, wasted and saved, one bar a run: as HTML, as SVG and as text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from nika_nb.board.clean import inline, one_line
from nika_nb.board.rows import RunState
from nika_nb.board.strips import NAME, Strip, framed, full, strips
from nika_nb.board.style import COLOUR, box
from nika_nb.board.svg import CHAR, FILL, INK, document, rect, text
from nika_nb.board.text import OF_RUN
from nika_nb.money import spent_said
from nika_nb.values import plural

DRAWN = 60  # runs: of more, the newest
_HIGH, _BAR, _WIDE, _TOP = 18, 10, 300, 18
_CELLS = 32  # characters of the longest bar as text

Said = Callable[[float], str]  # an amount, in the words of its unit


@dataclass(frozen=True, slots=True)
class Bar:
    """One run. wasted: the part of what was spent that gave nothing. saved stands apart from both.

    unpriced: of how many tasks nobody knows what they cost.
    """

    label: str
    state: RunState
    spent: float
    wasted: float
    saved: float
    unpriced: int = 0

    @property
    def good(self) -> float:
        return max(0.0, self.spent - self.wasted)

    @property
    def parts(self) -> tuple[float, float, float]:
        return self.good, self.wasted, self.saved

    @property
    def length(self) -> float:
        return sum(self.parts)

    def words(self, amount: Said) -> str:
        """`$0.30 spent, $0.10 of it wasted, $0.20 saved`."""
        parts = [spent_said(self.spent, self.unpriced, amount)]
        parts += [f"{amount(self.wasted)} of it wasted"] if self.wasted else []
        parts += [f"{amount(self.saved)} saved"] if self.saved else []
        return ", ".join(parts)


def bars_html(bars: Sequence[Bar], amount: Said) -> str:
    """Green what was paid for something, red what gave nothing, a frame what a resume did not pay again."""
    shown, rest = _drawn(bars)
    longest = max([1e-12, *(bar.length for bar in shown)])
    looks = (full(FILL["ok"]), full(FILL["failed"]), framed(FILL["cached"]))
    legend = "".join(_key(word, look) for word, look in zip(("paid", "wasted", "saved"), looks, strict=True))
    rows = [
        Strip(
            f"{OF_RUN[bar.state]} {one_line(bar.label, NAME)}",
            0,
            [(100 * part / longest, look) for part, look in zip(bar.parts, looks, strict=True) if part > 0],
            bar.words(amount),
        )
        for bar in shown
    ]
    table = f'<div style="overflow-x:auto">{strips(_label(bars), rows, legend)}</div>'
    return box(table + rest, COLOUR["running"]) if shown else ""


def _key(word: str, look: str) -> str:
    box = f'<span style="display:inline-block;width:9px;height:9px;margin-right:5px;{look}"></span>'
    return f'<span style="margin-right:14px">{box}{word}</span>'


def _label(bars: Sequence[Bar]) -> str:
    return f"what {plural(len(bars), 'run')} paid, wasted and saved"


def _drawn(bars: Sequence[Bar]) -> tuple[Sequence[Bar], str]:
    """The newest that have something to draw; how many others there are."""
    found = [bar for bar in bars if bar.length or bar.unpriced]
    shown = found[-DRAWN:]
    earlier, idle = len(found) - len(shown), len(bars) - len(found)
    rest = [f"and {plural(earlier, 'earlier run')}"] if earlier else []
    rest += [f"and {plural(idle, 'run')} that paid and saved nothing"] if idle else []
    return shown, " ".join(rest)


def bars_svg(bars: Sequence[Bar], amount: Said, ink: str = INK) -> str:
    """The same as a drawing by itself."""
    shown, rest = _drawn(bars)
    names = max([0, *(len(one_line(bar.label, NAME)) for bar in shown)]) * CHAR + 22
    scale = _WIDE / max([1e-12, *(bar.length for bar in shown)])
    aside = max([0, *(len(bar.words(amount)) for bar in shown)]) * CHAR + 12
    legend = "".join(_legend(at, names) for at in range(3))
    inner = legend.replace("INK", ink) + "".join(
        _bar(bar, names, _TOP + at * _HIGH, scale, amount, ink) for at, bar in enumerate(shown)
    )
    height = _TOP + len(shown) * _HIGH
    if rest:
        inner += text(0, height + 13, rest, ink)
        height += _HIGH
    return document(names + _WIDE + aside, height, _label(bars), inner)


def _legend(at: int, left: float) -> str:
    word, look = (
        ("paid", f"fill='{FILL['ok']}'"),
        ("wasted", f"fill='{FILL['failed']}'"),
        ("saved", f"fill='none' stroke='{FILL['cached']}'"),
    )[at]
    x = left + at * 70
    return rect(x, 3, 9, 9, look) + text(x + 14, 11, word, "INK", " font-size='9.5'")


def _bar(bar: Bar, left: float, top: float, scale: float, amount: Said, ink: str) -> str:
    middle, y = top + 12.5, top + (_HIGH - _BAR) / 2
    title = f"<title>{inline(f'{bar.label} · {bar.state} · {bar.words(amount)}', 200)}</title>"
    shapes, x = text(0, middle, f"{OF_RUN[bar.state]} {one_line(bar.label, NAME)}", ink), left
    looks = (f"fill='{FILL['ok']}'", f"fill='{FILL['failed']}'", f"fill='none' stroke='{FILL['cached']}'")
    for part, look in zip(bar.parts, looks, strict=True):
        if part > 0:
            shapes += rect(x, y, max(1.0, part * scale), _BAR, look)
            x += max(1.0, part * scale)
    return f"<g>{title}{shapes}{text(x + 6, middle, bar.words(amount), ink)}</g>"


def bars_text(bars: Sequence[Bar], amount: Said) -> str:
    """The same in lines: █ paid, ▒ wasted, ░ saved."""
    shown, rest = _drawn(bars)
    width = max([0, *(len(one_line(bar.label, NAME)) for bar in shown)])
    longest = max([1e-12, *(bar.length for bar in shown)])
    lines = [
        f"  {OF_RUN[bar.state]} {one_line(bar.label, NAME):<{width}} ▕{_cells(bar, longest):<{_CELLS}}▏ "
        f"{bar.words(amount)}"
        for bar in shown
    ]
    return "\n".join([*lines, *([f"  {rest}"] if rest else [])])


def _cells(bar: Bar, longest: float) -> str:
    parts = ((bar.good, "█"), (bar.wasted, "▒"), (bar.saved, "░"))
    drawn = "".join(sign * max(1, round(part / longest * _CELLS)) for part, sign in parts if part > 0)
    return drawn[:_CELLS]
