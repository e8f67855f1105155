"""The rows of a board as an HTML table: a sign and a word for the state, figures aligned, prose last."""

from __future__ import annotations

from collections.abc import Sequence

from nika_nb.board.clean import block, error_line, error_text, inline, one_line
from nika_nb.board.items import opened, summary
from nika_nb.board.rows import BUSY, Row, why
from nika_nb.board.style import COLOUR, MONO, QUIET, TRACK, ink, signed
from nika_nb.board.text import UNICODE, cost_said, duration, items_said, result_of, said
from nika_nb.money import money

_ANY = "padding:2px 14px 2px 0;white-space:nowrap"
_CELL = f"text-align:left;{_ANY}"
_CUT = "overflow:hidden;text-overflow:ellipsis"
_NUMBER = f"text-align:right;{_ANY}"
# On a narrow page this column folds away; it is as wide as the wrapper says. Of a still some pages clean off
# what has a variable in it: the padding before it stays.
_NARROWING = "padding:2px var(--g,14px) 2px 0;max-width:var(--w,18vw)"
_CLEANED = "padding:2px 14px 2px 0;"
_DOES = f"text-align:left;{_NARROWING};white-space:nowrap;overflow:hidden"
_ROOM = "(100cqw - 460px)*99"
_WRAPPER = (
    f"container-type:inline-size;overflow-x:auto;padding-top:4px;--w:clamp(0px,{_ROOM},min(64ch,24cqw));"
    f"--g:clamp(0px,{_ROOM},14px)"
)
_LAST = f"text-align:left;padding:2px 0;width:100%;max-width:0;{_CUT};white-space:nowrap"
_TABLE = (
    "width:100%;table-layout:auto;border-collapse:collapse;margin:0;border:0;"
    f"font-size:12px;line-height:normal;{MONO}"
)
_SHORT = 12  # characters that any page has room for
_SUMMARY = f"cursor:pointer;{QUIET}"
_BAR = 96  # pixels of a fan-out's bar


_HEADS = ("state", "task", "does", "time", "cost", "last line, result, why")
_RULE = f"border:0;border-bottom:1px solid {TRACK}"
_RIGHT = ("time", "cost")
_HEAD = f"{QUIET};padding:0 14px 2px 0;white-space:nowrap;font-weight:400;border:0;background:none"


def table(rows: Sequence[Row], now: int | None = None, deep: int = 0, *, asked: bool = False) -> str:
    """One line a task, its failure or question below it.

    deep: so many failures and so many fan-outs can be unfolded; none in a live view, for it is drawn
    again and again. asked: the questions themselves are told elsewhere.
    """
    paid = any(row.cost_usd or row.tokens or row.unpriced for row in rows)
    whole = {row.id for row in [row for row in rows if row.state == "failed"][:deep]}
    whole |= {row.id for row in [row for row in rows if row.items][:deep]}
    body = "".join(
        _row(row, now, paid, deep > 0) + _under(row, 5 if paid else 4, row.id in whole, asked) for row in rows
    )
    inner = f'<thead style="{_RULE}">{_heads(paid)}</thead><tbody>{body}</tbody>'
    # On a page that is too narrow even so the table scrolls, and nothing is cut off.
    return f'<div style="{_WRAPPER}"><table aria-label="tasks" style="{_TABLE}">{inner}</table></div>'


def _heads(paid: bool) -> str:
    cells = "".join(
        f'<th scope="col" style="{_HEAD};{_of(name)}">{name}</th>'
        for name in _HEADS
        if paid or name != "cost"
    )
    return f'<tr style="background:none">{cells}</tr>'


def _of(name: str) -> str:
    """How a column's heading stands."""
    if name == _HEADS[-1]:
        return f"text-align:left;padding-right:0;max-width:0;min-width:60px;{_CUT}"
    if name == "does":
        return f"{_DOES};padding-top:0"
    return f"text-align:{'right' if name in _RIGHT else 'left'}"


def _row(row: Row, now: int | None, paid: bool, titled: bool) -> str:
    faint = f";{QUIET}" if row.state in ("pending", "skipped", "cancelled") else ""
    strong = ";font-weight:600" if row.state in ("running", "retrying", "failed", "paused") else ""
    sign = f'<span style="{ink(COLOUR[row.state])}">{UNICODE[row.state]}</span>'
    beside = ' <span title="ran beside another task">∥</span>' if row.beside else ""
    does = row.does if row.state in ("skipped", "cancelled") and row.does else said(row)
    fit = ";text-overflow:ellipsis" if len(does) > _SHORT else ""
    kept, title = _CLEANED if titled else "", _title(does, 2 * _SHORT, titled)
    cells = [
        f'<td style="{_CELL}{faint}">{sign}&nbsp;{"blocked" if row.blocked_by else row.state}</td>',
        _task(row, f"{faint}{strong}", titled),
        f'<td style="{kept}{_DOES}{fit};{QUIET}"{title}>{inline(does, 64)}{beside}</td>',
        f'<td style="{_NUMBER}">{_time(row, now)}</td>',
        *([f'<td style="{_NUMBER};{QUIET}">{_cost(row)}</td>'] if paid else []),
        _last(row, titled),
    ]
    return f'<tr style="background:none">{"".join(cells)}</tr>'


def _task(row: Row, look: str, titled: bool) -> str:
    """The name, which a narrow page cuts off. Only where there is something to cut: a live table is sent
    often.
    """
    room = f";max-width:min(48ch,max(22cqw,110px));{_CUT}" if len(row.id) > _SHORT else ""
    return f'<td style="{_CELL}{room}{look}"{_title(row.id, 2 * _SHORT, titled)}>{inline(row.id, 48)}</td>'


def _time(row: Row, now: int | None) -> str:
    """A running task counts whole seconds, so that a live table is sent once a second."""
    ms = row.elapsed_ms(now)
    if ms is None:
        return ""
    return f"{ms // 1000}s" if row.state in BUSY and ms < 60_000 else duration(ms)


def _cost(row: Row) -> str:
    parts = [f"{row.tokens:,} tok"] if row.tokens else []
    parts += [cost_said(row)] if cost_said(row) else []
    return " · ".join(parts)


def _last(row: Row, titled: bool) -> str:
    """The widest cell: what does not fit is cut by the page, and in a still told in full by its title."""
    words = [text for text in (row.tries, *_words(row)) if text]
    said_ = inline(" · ".join(words))
    bar = _items(row) if row.items else ""
    joint = " · " if said_ and bar and not bar.endswith("</span>") else " "
    title = _title(" · ".join(words), 40, titled)
    return f'<td style="{_LAST};{QUIET}"{title}>{(bar + joint + said_).strip()}</td>'


def _title(text: str, fits: int, titled: bool) -> str:
    """What a page may cut off, in full to whoever points at it."""
    return f' title="{inline(text)}"' if titled and len(text) > fits else ""


def _words(row: Row) -> list[str]:
    """What is worth saying of a row in its state: live text, why it ran, what came out."""
    match row.state:
        case "running" | "retrying":
            return [row.detail, row.tail]
        case "skipped":
            return [f"when: {row.when} is not true" if row.when else row.detail]
        case "cancelled":
            return [said(row).removeprefix("blocked · ")]
        case "paused":
            return ["waits for an answer"]
        case "cached":
            saved = [duration(row.saved_ms)] if row.saved_ms else []
            saved += [money(row.saved_usd)] if row.saved_usd else []
            return [f"saved {', '.join(saved)}" if saved else "", row.handled, result_of(row)]
        case "ok":
            kept = f"not resumable: {row.not_resumable}" if row.not_resumable else ""
            return [row.decided or why(row), row.handled, kept, result_of(row)]
    return [why(row)]


def _items(row: Row) -> str:
    """A fan-out in one line: its bar and how far it is."""
    items = row.items
    if items is None or not items.total or not items_said(row):
        return inline(items_said(row))
    good = max(0, items.done - items.failed - items.cached - items.skipped)
    tones = (
        (good, COLOUR["ok"]),
        (items.cached, COLOUR["cached"]),
        (items.failed, COLOUR["failed"]),
        (items.skipped, COLOUR["skipped"]),
    )
    parts = "".join(
        f'<span style="display:inline-block;height:6px;width:{max(3, _BAR * count / items.total):.1f}px;'
        f'background-color:{tone}"></span>'
        for count, tone in tones
        if count
    )
    track = f"display:inline-block;width:{_BAR}px;height:6px;line-height:0;border-radius:2px;overflow:hidden"
    return f'<span style="{track};background-color:{TRACK}">{parts}</span> {inline(items_said(row))}'.rstrip()


def _under(row: Row, columns: int, whole: bool, asked: bool) -> str:
    inner = _beneath(row, whole, asked) + (_opened(row) if whole else "")
    if not inner:
        return ""
    style = "text-align:left;padding:0 0 4px 0;white-space:normal"
    told = f'<div style="max-width:calc(100cqw - 100px)">{inner}</div>'
    cells = f'<td></td><td colspan="{columns}" style="{style}">{told}</td>'
    return f'<tr style="background:none">{cells}</tr>'


def _beneath(row: Row, whole: bool, asked: bool) -> str:
    if row.state == "failed":
        apart = row.items is not None and bool(row.items.faults)  # each is told whole where items unfold
        return (_foldable(row.detail, whole and not apart) if row.detail else "") + _warned(row)
    if row.state == "paused" and row.detail and not asked:
        return f"<div>{signed('◇', COLOUR['paused'])} {inline(row.detail)}</div>"
    return _warned(row)


def _warned(row: Row) -> str:
    sign = signed("⚠", COLOUR["retrying"])
    words = [*row.nulls, row.since, f"warning: {row.warning}" if row.warning else ""]
    return "".join(f"<div>{sign} {inline(said)}</div>" for said in words if said)


def _opened(row: Row) -> str:
    """The items of a fan-out, folded until they are asked for."""
    inner = opened(row, whole=True)
    return f'<details><summary style="{_SUMMARY}">{summary(row)}</summary>{inner}</details>' if inner else ""


def _foldable(text: str, whole: bool) -> str:
    """A failure on one line; what is longer unfolds, in a still."""
    tone = ink(COLOUR["failed"])
    first = error_line(text)
    if not whole or one_line(text, 400) == first:
        return f'<div style="{tone}">{inline(first)}</div>'
    style = "white-space:pre-wrap;overflow-wrap:anywhere;padding:4px 0 4px 14px"
    body = error_text(text).removeprefix(f"{first}\n")  # that line stands above already
    return (
        f'<details style="{tone}"><summary style="cursor:pointer">{inline(first)}</summary>'
        f'<div style="{style}">{block(body)}</div></details>'
    )
