"""An open question as HTML and as text: what is asked, what hangs on it, and the line that answers it."""

from __future__ import annotations

from collections.abc import Sequence

from nika_nb.board.clean import block, clean, inline, one_line
from nika_nb.board.style import COLOUR, MONO, QUIET, box
from nika_nb.engine.contract import Prompt

HOW = "To answer in another way:"
DEAD = "If the buttons do nothing, the kernel that drew them is gone: type the line above."


def mimebundle(prompt: Prompt, run_id: str, lines: Sequence[str]) -> dict[str, str]:
    """The still of an open prompt. `lines` are the exact lines that answer it, best first."""
    return {
        "text/html": question_html(prompt, run_id, lines),
        "text/plain": question_text(prompt, run_id, lines),
    }


def answered(prompt: Prompt, said: str) -> dict[str, str]:
    """What stands in the question's place once it is answered; `said` is a short sentence."""
    sign = f'<span style="color:{COLOUR["paused"]}">◆</span> <b>{inline(prompt.key)}</b>'
    inner = f'{sign} · {inline(prompt.message)} <span style="{QUIET}">→ {inline(said)}</span>'
    text = f"  ◆ {one_line(prompt.key)} · {one_line(prompt.message)}  → {one_line(said)}"
    return {"text/html": box(inner, COLOUR["paused"], 2), "text/plain": text}


def example(prompt: Prompt) -> str:
    """An answer that the prompt would take, to be replaced by the reader's own."""
    if prompt.mode == "choice" and prompt.choices:
        return prompt.choices[0]
    return "yes" if prompt.mode == "confirm" else "your answer"


def question_text(prompt: Prompt, run_id: str, lines: Sequence[str]) -> str:
    message = clean(prompt.message).strip().replace("\n", "\n       ")
    facts = [
        f"{name}: {' · '.join(one_line(word) for word in words)}" for name, words in _facts(prompt, run_id)
    ]
    body = [*facts, *(f"answer: {one_line(line, 1000)}" for line in lines)]
    return "\n".join([f"  ◇ {one_line(prompt.key)} · {message}", *(f"     {line}" for line in body)])


def asked(prompt: Prompt) -> tuple[str, str]:
    """(what a terminal shows, the sign behind which the answer is typed)."""
    facts = [fact for fact in _facts(prompt, "") if fact[0] not in ("choices", "default")]
    lines = [f"     {name}: {' · '.join(one_line(word) for word in words)}" for name, words in facts]
    lines.append(f"◇ {one_line(prompt.key)} · {clean(prompt.message).strip()}")
    if prompt.mode == "confirm":
        sign = "[Y/n]" if prompt.has_default and prompt.default is True else "[y/N]"
        return "\n".join(lines), f"  {sign} "
    lines += [f"  {number}) {one_line(choice)}" for number, choice in enumerate(prompt.choices, 1)]
    default = f" [{one_line(str(prompt.default))}]" if prompt.has_default else ""
    return "\n".join(lines), f"\n>{default} "


def question_html(prompt: Prompt, run_id: str, lines: Sequence[str]) -> str:
    title = f'<span style="color:{COLOUR["paused"]};font-weight:600">◇ {inline(prompt.key)}</span>'
    large = "font-size:14px;font-weight:600;white-space:pre-wrap;padding:2px 0 6px 0"
    asked = f'<div style="{large}">{block(prompt.message.strip())}</div>'
    facts = "".join(_fact(name, words) for name, words in _facts(prompt, run_id))
    code = "".join(_line(line) for line in lines)
    how = f'<div style="{QUIET};font-size:12px;padding-top:6px">{HOW}</div>{code}' if lines else ""
    dead = f'<div style="{QUIET};font-size:12px">{DEAD}</div>' if lines else ""
    waits = f'<span style="{QUIET}"> waits for an answer</span>'
    plain = "table-layout:auto;width:auto;border-collapse:collapse;margin:0;border:0"
    table = f'<table style="{plain}">{facts}</table>'
    return box(f"<div>{title}{waits}</div>{asked}{table}{how}{dead}", COLOUR["paused"])


def _facts(prompt: Prompt, run_id: str) -> list[tuple[str, Sequence[str]]]:
    facts: list[tuple[str, Sequence[str]]] = []
    if prompt.mode == "choice":
        facts.append(("choices", prompt.choices))
    if prompt.has_default:
        facts.append(("default", [str(prompt.default)]))
    facts.append(("waiting for it", prompt.gates or ["no other task"]))
    if prompt.effects:
        facts.append(("they may", prompt.effects))
    if run_id:
        facts.append(("run", [run_id]))
    return facts


def _fact(name: str, words: Sequence[str]) -> str:
    cell = "text-align:left;vertical-align:top;padding:0 14px 0 0;border:0;font-size:12px"
    said = " · ".join(inline(word) for word in words)
    return (
        f'<tr style="background:none"><td style="{cell};{QUIET};white-space:nowrap">{inline(name)}</td>'
        f'<td style="{cell};{MONO};overflow-wrap:anywhere">{said}</td></tr>'
    )


def _line(line: str) -> str:
    return (
        f'<div style="{MONO};font-size:12px;white-space:pre-wrap;overflow-wrap:anywhere">{block(line)}</div>'
    )
