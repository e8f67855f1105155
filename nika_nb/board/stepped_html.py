"""A step of a replay as HTML: what settled, the state by then, an output; the slider's marks; the still."""

from __future__ import annotations

from collections.abc import Iterator

from nika_nb.board import html, stepped, tree
from nika_nb.board.clean import block, inline
from nika_nb.board.graph import Graph
from nika_nb.board.head import head as board_head
from nika_nb.board.picture import SMALL
from nika_nb.board.replay import Replay, Step
from nika_nb.board.rows import State
from nika_nb.board.state import Board
from nika_nb.board.style import COLOUR, MONO, QUIET, RUN_TONE, TRACK, box, plain, signed
from nika_nb.board.svg import INK, PAGE, image
from nika_nb.board.table import table
from nika_nb.board.timeline import timeline_html
from nika_nb.board.window import window

_MARKS = 240  # marks on the slider
_NAMES = 12  # of them with a name
_DRAWN = 60_000  # bytes of a drawing that is sent at every step
_URGENCY: dict[State, int] = {"failed": 5, "cancelled": 4, "skipped": 3, "cached": 2, "ok": 1}
_RUN_TONE: dict[str, str] = {
    "workflow_paused": RUN_TONE["paused"], "workflow_completed": RUN_TONE["completed"],
    "workflow_failed": RUN_TONE["failed"], "workflow_cancelled": RUN_TONE["cancelled"],
    "incomplete": RUN_TONE["incomplete"], "running": RUN_TONE["running"],
}  # fmt: skip


def tone(step: Step) -> str:
    """The colour of how something settled, or of what the run does."""
    return COLOUR[step.drawn] if step.drawn else _RUN_TONE.get(step.kind, COLOUR["pending"])


def status(step: Step) -> str:
    """Which step it is, in a line that a screen reader says whenever it changes."""
    said = (
        f'<span style="font-weight:600;font-size:15px">{signed(stepped.sign(step), tone(step))} '
        f"{inline(stepped.what(step), 200)}</span>"
    )
    where = f"step {step.index} of {len(step.replay) - 1}"
    rest = f"{stepped.after(step)} · {stepped.spending(step)}"
    look = "display:flex;flex-wrap:wrap;align-items:baseline;gap:0 14px;margin:6px 0"
    return plain(
        f'<div role="status" aria-live="polite" style="{look}">{said}'
        f'<span style="{QUIET}">{where} · {inline(rest)}</span></div>'
    )


def head(replay: Replay) -> str:
    """What is replayed, and what has to be said before one believes it."""
    title = f"{stepped.title(replay)} · nothing is executed"
    return plain(f'<div style="{QUIET};font-size:12px">{inline(title, 200)}</div>{_notes(replay)}')


def proofs(replay: Replay) -> str:
    """How far each of the journals proves itself."""
    lines = "".join(f"<div>{inline(proof)}</div>" for proof in replay.proofs)
    return plain(f'<div style="{QUIET};font-size:12px;overflow-wrap:anywhere">{lines}</div>')


def _notes(replay: Replay) -> str:
    sign = signed("⚠", COLOUR["retrying"])
    return "".join(f'<div style="font-size:12px">{sign} {inline(note)}</div>' for note in replay.notes)


def step(found: Step) -> str:
    """One step on its own: what settled, and the state by then."""
    return box(f"{status(found)}{state(found)}", tone(found))


def mimebundle_of(found: Step) -> dict[str, str]:
    """The same with its text twin."""
    return {"text/html": step(found), "text/plain": stepped.whole(found)}


# -- the marks of the slider ---------------------------------------------------------------------


def marks(replay: Replay) -> str:
    """A mark per step below the slider, some of them with their names; of very many, one for several."""
    last = max(1, len(replay) - 1)
    ticks = "".join(_tick(step, 100 * step.index / last) for step in _marked(replay))
    names = "".join(_name(step, 100 * step.index / last, 100 / last) for step in _named(replay))
    style = "position:relative;height:30px;margin:0 6px;font-size:11px;line-height:14px"
    return f'<div aria-hidden="true" style="{style}">{ticks}{names}</div>'


def _marked(replay: Replay) -> Iterator[Step]:
    """The step that matters most of every stretch that has one mark."""
    wide = -(-len(replay) // _MARKS)
    for start in range(0, len(replay), wide):
        yield max(replay[start : start + wide], key=lambda step: _URGENCY.get(step.drawn or "pending", 6))


def _tick(step: Step, at: float) -> str:
    high = 7 if step.task else 11
    place = f"position:absolute;left:{at:.2f}%;top:0;width:2px;height:{high}px;margin-left:-1px"
    title = inline(stepped.what(step), 100)
    return f'<span style="{place};background-color:{tone(step)}" title="{title}"></span>'


def _named(replay: Replay) -> Iterator[Step]:
    """Every step where there is room for all names, else some that stand evenly apart."""
    last = len(replay) - 1
    count = min(last, _NAMES)
    yield from (replay[round(at * last / count)] for at in range(count + 1)) if count else replay[:1]


def _name(step: Step, at: float, apart: float) -> str:
    """A name below its mark, no wider than the room it has; the outermost stay inside."""
    wide = max(apart, 100 / (_NAMES + 1)) * 0.96
    side, shift = ("left", 0) if step.index == 0 else ("right", 100) if at >= 99.9 else ("center", 50)
    place = f"position:absolute;left:{at:.2f}%;top:13px;max-width:{wide:.2f}%;transform:translateX(-{shift}%)"
    cut = f"overflow:hidden;text-overflow:ellipsis;white-space:nowrap;text-align:{side};{QUIET}"
    return f'<span style="{place};{cut}">{inline(stepped.mark(step), 40)}</span>'


# -- the state by then ---------------------------------------------------------------------------


def state(found: Step, *, live: bool = False) -> str:
    """The progress, the graph, the timeline and the table of a step's board.

    live: in a page that lets drawings stand in it, which then have its colours.
    """
    board = found.board
    rows = window(board)
    rest = len(board.rows) - len(rows)
    more = f'<div style="{QUIET};font-size:12px">and {rest:,} more</div>' if rest else ""
    drawn = _drawings(board, found.span_ms, live) if len(board.rows) > 1 else ""
    return plain(f"{board_head(board, board.last)}{drawn}{table(rows, board.last)}{more}")


def _drawings(board: Board, span: int, live: bool) -> str:
    """The graph, and a timeline that always takes the room of all its bars: nothing jumps while it plays."""
    graph, time = _graph(board, live), ""
    if len(board.rows) <= SMALL:
        room = f"min-height:{18 * (len(board.rows) + 1)}px;max-width:100%"
        time = f'<div style="{room}">{timeline_html(board, board.last, span)}</div>'
    style = "display:flex;flex-wrap:wrap;align-items:flex-start;gap:8px 28px;padding:4px 0 8px"
    return f'<div style="{style}">{graph}{time}</div>'


def _graph(board: Board, live: bool) -> str:
    """As it is where a page lets it stand, else as an image; left out where it is too large for a step."""
    drawn = Graph(board)
    svg = drawn.svg(PAGE if live else INK)
    if len(svg) > _DRAWN:
        return ""
    style = "max-width:100%;margin:0;flex:none"
    if not live:
        return image(svg, f"graph: {drawn.text()}", style)
    return f'<div style="{style};overflow:auto">{svg}</div>'


# -- one output ----------------------------------------------------------------------------------


def known(step: Step, name: str | None) -> str:
    """What is known of one name at a step: its output, its failure, or why there is none."""
    if name is None:
        return _of_run(step)
    for outputs in (step.outputs, step.within):
        if name in outputs:
            return tree.html(outputs[name])
    if name == step.task and step.drawn == "failed":
        return tree.html(step.error or "it failed, and the journal does not say how")
    state = step.drawn if name == step.task else "not settled yet"
    return plain(f'<div style="{QUIET}">no output: {state}</div>')


def _of_run(step: Step) -> str:
    """What the run itself says: what it returned, what it asks."""
    if step.returned is not None:
        return tree.html(step.returned)
    if step.kind == "workflow_paused":
        asked = "\n".join(f"◇ {prompt.key} · {prompt.message}" for prompt in step.board.prompts)
        return plain(f'<div style="white-space:pre-wrap">{block(asked)}</div>')
    return ""


# -- what a saved notebook keeps -------------------------------------------------------------------


def still(replay: Replay, classes: str = "") -> str:
    """The run as it ended, its steps folded, how to step through it. classes: of the outermost element."""
    lines = "\n".join(stepped.listing(replay))
    mono = f"{MONO};font-size:11px;line-height:1.45;overflow-x:auto"
    steps = (
        f'<details><summary style="cursor:pointer;{QUIET}">every step</summary>'
        f'<div style="{mono};white-space:pre;padding:4px 0">{block(lines, 30_000)}</div></details>'
    )
    ways = "".join(f"<div>{inline(way, 1200)}</div>" for way in stepped.how(replay))
    rule = f"border-top:1px solid {TRACK};margin-top:6px;padding-top:4px;font-size:12px"
    tail = (
        f'<div style="{rule}">{proofs(replay)}<div style="{QUIET}">to step through it:</div>'
        f'<div style="{mono}">{ways}</div>{steps}</div>'
    )
    last = replay[-1].board
    inner = f"{head(replay)}{html.still(last)}{box(tail, RUN_TONE[last.state], 2)}"
    return f'<div class="{inline(classes)}">{inner}</div>' if classes else f"<div>{inner}</div>"


def mimebundle(replay: Replay, classes: str = "") -> dict[str, str]:
    """`text/html` and `text/plain`, no widget: it reads the same on a page that runs nothing."""
    return {"text/html": still(replay, classes), "text/plain": stepped.still(replay)}
