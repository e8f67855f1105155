"""Tab and Shift+Tab in workflow cells: answered by the kernel, so that no front-end needs an extension."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from nika_nb.board.clean import block, clean, inline, one_line
from nika_nb.board.style import MONO, QUIET, plain
from nika_nb.check.editing.complete import Completions, complete
from nika_nb.check.editing.explain import Explanation, explain
from nika_nb.notebook.line_words import cell_words, line_words
from nika_nb.notebook.session import Session
from nika_nb.runs.vocabulary import tool_words

_CELL = re.compile(r"\s*%%nika(?=\s|$)")
_LINE = re.compile(r"\s*%nika ")

Answer = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Asked:
    """A place in a cell that is ours: on its first line or a `%nika` line, else in the workflow below."""

    before: str  # of the line, up to the cursor, the magic left out
    body: str
    offset: int | None  # in the body; None on the line
    cell: bool

    @classmethod
    def at(cls, code: str, cursor: int) -> Asked | None:
        """None in a cell of somebody else's."""
        start = code.rfind("\n", 0, cursor) + 1
        magic = _CELL.match(code)
        if magic is None:
            line = _LINE.match(code[start:cursor])
            return cls(code[start + line.end() : cursor], "", None, cell=False) if line else None
        if cursor < magic.end():
            return None
        end = code.find("\n", magic.end())
        first, below = (len(code), "") if end < 0 else (end, code[end + 1 :])
        if cursor <= first:
            return cls(code[magic.end() : cursor].removeprefix(" "), below, None, cell=True)
        return cls("", below, cursor - first - 1, cell=True)


def completions(code: str, cursor: int, session: Session) -> Completions | None:
    """What may be typed at a place; None in a cell of somebody else's."""
    asked = Asked.at(code, cursor)
    if asked is None:
        return None
    if asked.offset is not None:
        return complete(asked.body, asked.offset, tool_words())
    return cell_words(asked.before, asked.body, session) if asked.cell else line_words(asked.before, session)


def explanation(code: str, cursor: int) -> Explanation | None:
    """What the word at a place of a workflow means."""
    asked = Asked.at(code, cursor)
    if asked is None or asked.offset is None:
        return None
    return explain(asked.body, asked.offset, tool_words())


def install(shell: Any, session: Session) -> None:
    """Answers for workflow cells; every other cell gets the answer that it always got."""
    kernel = getattr(shell, "kernel", None)
    if kernel is None:
        shell.Completer.custom_matchers.append(_matcher(session))
        return
    kernel.do_complete = _completing(kernel.do_complete, session)
    kernel.do_inspect = _inspecting(kernel.do_inspect)


def _completing(otherwise: Answer, session: Session) -> Answer:
    """What a kernel replies to `complete_request`. Never raises for a cell of ours."""

    def do_complete(code: str, cursor_pos: int, *args: Any, **more: Any) -> Any:
        found = completions(code, cursor_pos, session)
        return otherwise(code, cursor_pos, *args, **more) if found is None else _reply(found, cursor_pos)

    return do_complete


def _reply(found: Completions, cursor: int) -> dict[str, Any]:
    start = cursor - len(found.fragment)
    place = {"start": start, "end": cursor}
    typed = [place | {"text": one.text, "type": one.kind, "signature": ""} for one in found.items]
    return {
        "status": "ok",
        "matches": [one.text for one in found.items],
        "cursor_start": start,
        "cursor_end": cursor,
        "metadata": {"_jupyter_types_experimental": typed},
    }


def _inspecting(otherwise: Answer) -> Answer:
    """What a kernel replies to `inspect_request`."""

    def do_inspect(code: str, cursor_pos: int, *args: Any, **more: Any) -> Any:
        if Asked.at(code, cursor_pos) is None:
            return otherwise(code, cursor_pos, *args, **more)
        found = explanation(code, cursor_pos)
        data = {} if found is None else _told(found)
        return {"status": "ok", "found": found is not None, "data": data, "metadata": {}}

    return do_inspect


def _told(found: Explanation) -> dict[str, str]:
    lines = "\n".join(found.lines)
    body = f'<div style="white-space:pre-wrap">{block(lines)}</div>'
    title = f'<b style="{MONO}">{inline(found.title)}</b>'
    return {
        "text/plain": f"{one_line(found.title)}\n{clean(lines)}",
        "text/html": plain(f'{title}<div style="{QUIET}">nika</div>{body}'),
    }


def _matcher(session: Session) -> Any:
    """The same for IPython in a terminal, which has no kernel to reply."""
    from IPython.core.completer import SimpleCompletion, context_matcher

    @context_matcher()  # type: ignore[untyped-decorator]
    def nika(context: Any) -> dict[str, Any]:
        lines = context.full_text.split("\n")
        cursor = sum(len(line) + 1 for line in lines[: context.cursor_line]) + context.cursor_position
        found = completions(context.full_text, cursor, session)
        if found is None:
            return {"completions": []}
        return {
            "completions": [SimpleCompletion(one.text, type=one.kind) for one in found.items],
            "matched_fragment": found.fragment,
            "suppress": True,
            "ordered": True,
        }

    return nika
