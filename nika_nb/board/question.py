"""Open questions as HTML and as text: what is asked, what hangs on it, and the line that answers it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from shlex import quote

from nika_nb.board.clean import block, clean, inline, one_line
from nika_nb.board.style import COLOUR, MONO, QUIET, TRACK, box
from nika_nb.engine.contract import Prompt
from nika_nb.values import plural

DEAD = "Run one of these lines in a cell, or %nika inbox for buttons."
SILENT = "If the buttons do nothing, their kernel is gone: %nika inbox brings new ones."
UNFOLDED = 3  # questions of one run whose facts are shown without a click
MOST = 100  # questions of one run that are told
_WORDS = 30  # choices, tasks, effects of one question that are told
_WORD = 400  # characters of one of them: of an effect that is all of it

_EFFECTS = {
    "exec": "run",
    "shell": "run in a shell:",
    "read": "read",
    "write": "write",
    "net": "reach",
    "tool": "use",
    "workflow": "call",
}


@dataclass(frozen=True, slots=True)
class Asked:
    """One question of a run, as a page shows it.

    answer, decline: the exact lines that do it without a form, where there are any; of a confirmation the
    second one says no. said: what became of the question, empty while it waits.
    """

    prompt: Prompt
    answer: str = ""
    decline: str = ""
    said: str = ""

    @classmethod
    def in_cell(cls, prompt: Prompt, trace: str) -> Asked:
        """One that waits, with the lines that answer it in a cell. trace: how these name it."""
        name, would = quote(trace), example(prompt)
        answer = f"%nika answer {name} {prompt.key}={quote(would)}" if would else ""
        no, none = f"%nika answer {name} {prompt.key}=no", f"%nika decline {name} {prompt.key}"
        return cls(prompt, answer, no if prompt.mode == "confirm" else none)


def mimebundle(
    asked: Sequence[Asked], run_id: str, heading: str = "", *, brief: bool = False
) -> dict[str, str]:
    """The still of a run's questions. heading: which run that is, where no panel stands above.

    brief: what hangs on a question is folded.
    """
    return {
        "text/html": questions_html(asked, run_id, heading, brief=brief),
        "text/plain": questions_text(asked, run_id, heading),
    }


def example(prompt: Prompt) -> str:
    """An answer that the prompt would take, to be replaced by the reader's own.

    Empty where there is none that could be typed: of very long or unseen choices.
    """
    if prompt.mode == "choice":
        return next((choice for choice in prompt.choices if choice and one_line(choice) == choice), "")
    return "yes" if prompt.mode == "confirm" else "your answer"


def asked(prompt: Prompt) -> tuple[str, str]:
    """(what a terminal shows, the sign behind which the answer is typed)."""
    facts = [fact for fact in _facts(prompt) if fact[0] not in ("choices", "default")]
    lines = [f"     {name}: {' · '.join(one_line(word, _WORD) for word in words)}" for name, words in facts]
    lines.append(f"◇ {one_line(prompt.key)} · {clean(prompt.message).strip()}")
    if prompt.mode == "confirm":
        sign = "[Y/n]" if prompt.has_default and prompt.default is True else "[y/N]"
        return "\n".join(lines), f"  {sign} "
    lines += [f"  {number}) {one_line(choice)}" for number, choice in enumerate(prompt.choices, 1)]
    default = f" [{one_line(str(prompt.default))}]" if prompt.has_default else ""
    return "\n".join(lines), f"\n>{default} "


# -- text ------------------------------------------------------------------------------------


def questions_text(asked: Sequence[Asked], run_id: str, heading: str = "") -> str:
    waiting = sum(not one.said for one in asked)
    lines = [f"  {one_line(heading)}"] if heading else []
    lines += [f"  {_counted(waiting, run_id)}"] if waiting > 1 else []
    for one in asked[:MOST]:
        lines += [answered_text(one)] if one.said else _open_text(one, run_id if waiting == 1 else "")
    return "\n".join([*lines, *(f"  {rest}" for rest in _rest(asked))])


def answered_text(one: Asked) -> str:
    """An answered question as one line."""
    return f"  ◆ {one_line(one.prompt.key)} · {one_line(one.prompt.message)}  → {one_line(one.said)}"


def _open_text(one: Asked, run_id: str) -> list[str]:
    message = clean(one.prompt.message).strip().replace("\n", "\n       ")
    facts = [
        (name, " · ".join(one_line(word, _WORD) for word in words)) for name, words in _facts(one.prompt)
    ]
    facts += [("run", one_line(run_id))] if run_id else []
    facts += [(name, one_line(line, 1000)) for name, line in _lines(one)]
    head = f"  ◇ {one_line(one.prompt.key)} · {message}"
    return [head, *(f"     {name}: {said}" for name, said in facts)]


def _counted(waiting: int, run_id: str) -> str:
    said = f"{plural(waiting, 'question')} wait for an answer"
    return f"{said} · run {one_line(run_id)}" if run_id else said


def _rest(asked: Sequence[Asked]) -> list[str]:
    return [f"and {len(asked) - MOST:,} more"] if len(asked) > MOST else []


# -- HTML ------------------------------------------------------------------------------------


def questions_html(asked: Sequence[Asked], run_id: str, heading: str = "", *, brief: bool = False) -> str:
    waiting = sum(not one.said for one in asked)
    alone, folded = waiting == 1, brief or waiting > UNFOLDED
    parts = [_top_html(waiting, run_id, heading)]
    for one in asked[:MOST]:
        parts.append(answered_html(one) if one.said else _open_html(one, alone, folded, run_id))
    parts += [f'<div style="{QUIET};font-size:12px">{rest}</div>' for rest in _rest(asked)]
    if any(one.answer for one in asked if not one.said):
        parts.append(f'<div style="{QUIET};font-size:12px;padding-top:4px">{DEAD}</div>')
    return box("".join(parts), COLOUR["paused"], 6 if waiting else 2)


def _top_html(waiting: int, run_id: str, heading: str) -> str:
    look = f"border-top:1px solid {TRACK};padding-top:6px;font-weight:600"
    top = f'<div style="{look}">{inline(heading)}</div>' if heading else ""
    return top + (f'<div style="{QUIET}">{inline(_counted(waiting, run_id))}</div>' if waiting > 1 else "")


def above_forms(waiting: int, run_id: str, heading: str = "") -> str:
    """What stands above the forms of a run: which run that is, and how many wait; often nothing."""
    top = _top_html(waiting, run_id, heading)
    return box(top, COLOUR["paused"], 2) if top else ""


def below_forms(left: int, *, alone: bool) -> str:
    """What stands below them: how many questions have none yet; of a run that stands alone, not in a list,
    what to do when the kernel has gone and the page cannot tell. Often nothing.
    """
    lines = [f"{plural(left, 'more question')} will stand here as these are answered."] if left else []
    lines += [SILENT] if alone else []
    drawn = "".join(f'<div style="{QUIET};font-size:12px">{line}</div>' for line in lines)
    return box(drawn, COLOUR["paused"], 4) if lines else ""


def above_form(prompt: Prompt, *, alone: bool, folded: bool) -> str:
    """What stands above the fields and buttons of a form: what is asked, and what hangs on it."""
    return _open_html(Asked(prompt), alone, folded, in_form=True)


def answered_html(one: Asked) -> str:
    """An answered question as one line, to stand in a piece that has an edge."""
    said = f'<span style="{QUIET}">→ {inline(one.said)}</span>'
    return f"<div>{named(one.prompt, '◆')} · {inline(one.prompt.message)} {said}</div>"


def named(prompt: Prompt, sign: str = "◇") -> str:
    """What answers call a question, behind its sign."""
    return f'<span style="color:{COLOUR["paused"]}">{sign}</span> <b>{inline(prompt.key)}</b>'


def _open_html(one: Asked, alone: bool, folded: bool, run_id: str = "", *, in_form: bool = False) -> str:
    waits = f'<span style="{QUIET}"> waits for an answer</span>' if alone else ""
    size = "font-size:14px" if alone else "font-size:13px"
    large = f"{size};font-weight:600;white-space:pre-wrap;padding:2px 0 4px 0"
    question = f'<div style="{large}">{block(one.prompt.message.strip())}</div>'
    facts = _table(one, run_id if alone else "", in_form)
    if folded:
        summary = f'<summary style="cursor:pointer;font-size:12px;{QUIET}">what hangs on it</summary>'
        facts = f"<details>{summary}{facts}</details>"
    gap = "" if alone else "padding-top:6px"
    return f'<div style="{gap}"><div>{named(one.prompt)}{waits}</div>{question}{facts}</div>'


def _table(one: Asked, run_id: str, in_form: bool) -> str:
    """in_form: without what its fields show."""
    shown = ("choices", "default") if in_form and one.prompt.mode != "confirm" else ()
    told = [fact for fact in _facts(one.prompt) if fact[0] not in shown]
    facts = [(name, " · ".join(inline(word, _WORD) for word in words)) for name, words in told]
    facts += [("run", inline(run_id))] if run_id else []
    facts += [(name, inline(line, 1000)) for name, line in _lines(one)]
    plain = "table-layout:auto;width:auto;border-collapse:collapse;margin:0;border:0"
    return f'<table style="{plain}">{"".join(_row(name, said) for name, said in facts)}</table>'


def _row(name: str, said: str) -> str:
    """said: HTML."""
    cell = "text-align:left;vertical-align:top;padding:1px 14px 1px 0;border:0;font-size:12px;line-height:1.4"
    return (
        f'<tr style="background:none"><td style="{cell};{QUIET};white-space:nowrap">{inline(name)}</td>'
        f'<td style="{cell};{MONO};overflow-wrap:anywhere">{said}</td></tr>'
    )


# -- facts -----------------------------------------------------------------------------------


def _lines(one: Asked) -> list[tuple[str, str]]:
    """The lines that do without a form, each with what it does."""
    no = "to say no" if one.prompt.mode == "confirm" else "to decline"
    named = [("to answer", one.answer), (no, one.decline)]
    return [(name, line) for name, line in named if line]


def _facts(prompt: Prompt) -> list[tuple[str, list[str]]]:
    facts: list[tuple[str, list[str]]] = []
    if prompt.mode == "choice":
        facts.append(("choices", _bounded(prompt.choices)))
    if prompt.has_default:
        facts.append(("default", [str(prompt.default)]))
    facts.append(("waiting for it", _bounded(_gates(prompt)) or ["no other task"]))
    if prompt.effects:
        facts.append(("they may", _bounded(tuple(map(_may, prompt.effects)))))
    return facts


def _gates(prompt: Prompt) -> tuple[str, ...]:
    """The tasks that wait, each with its own gate."""
    conditions = prompt.conditions or ("",) * len(prompt.gates)
    pairs = zip(prompt.gates, conditions, strict=False)
    return tuple(f"{one_line(task)} ({one_line(gate)})" if gate else task for task, gate in pairs)


def _may(effect: str) -> str:
    """`exec · gzip -9 x` as people say it."""
    kind, _, target = effect.partition(" · ")
    word = _EFFECTS.get(kind)
    return f"{word} {target or 'what the run decides'}" if word else effect


def _bounded(words: Sequence[str]) -> list[str]:
    left = len(words) - _WORDS
    return [*words[:_WORDS], *([f"and {left:,} more"] if left > 0 else [])]
