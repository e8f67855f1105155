"""The console on a terminal: what settled stays, what runs is painted over, nothing is left behind."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from nika_nb.cli.region import fit, width
from tests.cli.terminals import Sitting
from tests.doors import nika, program

ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")

SLOW = """\
nika: slow
permits: {exec: ["./slow"]}
tasks:
  first_of_them: {exec: {command: ["./slow", "one"]}}
  日本語のタスク名ではない: {exec: {command: ["./slow", "two"]}}
  third: {after: {first_of_them: success}, exec: {command: ["./slow", "three"]}}
""".replace("日本語のタスク名ではない", "second_with_a_rather_long_name_that_is_cut")

WIDE = """\
nika: wide
permits: {exec: ["./slow"]}
tasks:
""" + "".join(f'  t{number}: {{exec: {{command: ["./slow", "x"]}}}}\n' for number in range(20))


@pytest.fixture
def slow(folder: Path) -> Path:
    """A program that says hostile things while it works."""
    said = 'printf "%s 進捗 \\033[2J\\033]0;owned\\007 \\r日本語日本語日本語日本語日本語日本語\\n" "$1"'
    program(folder, "slow", f"{said}; sleep 0.3; {said}; sleep 0.3")
    (folder / "slow.nika.yaml").write_text(SLOW, encoding="utf-8")
    (folder / "wide.nika.yaml").write_text(WIDE, encoding="utf-8")
    return folder


def steady(text: str) -> list[str]:
    """The lines without what differs from run to run."""
    text = re.sub(r"[0-9.]+(ms|s)\b", "TIME", text)
    text = re.sub(r"trace: \S+|chain [0-9a-f]+", "TRACE", text)
    text = re.sub(r"(?m)[ ─]+$", "", text.replace(" ∥", ""))
    return sorted(line for line in text.splitlines() if line.strip())


def unwrapped(sitting: Sitting, columns: int) -> str:
    """The screen with the lines joined that it had to break."""
    text = ""
    for line in sitting.screen.lines:
        text += line if width(line) >= columns - 1 else f"{line}\n"
    return text


@pytest.mark.parametrize("columns", [100, 40, 17])
def test_what_stays_is_what_a_pipe_gets(slow: Path, columns: int) -> None:
    """Whatever the width: no half-painted row, no spinner, no lost line."""
    piped = nika("run", "slow.nika.yaml", cwd=slow)
    sitting = Sitting("run", "slow.nika.yaml", cwd=slow, columns=columns)
    assert sitting.end() == 0
    assert "\x1b[?2026h" in sitting.said
    assert not set("◐◓◑◒") & set(sitting.screen.text)
    if columns == 100:
        assert steady(unwrapped(sitting, columns)) == steady(piped.err + piped.out.decode())
    assert sitting.screen.text.count("✔") == 3
    assert "\x1b" not in piped.err


def test_what_runs_is_shown_while_it_runs(slow: Path) -> None:
    """The spinner, the last line that the program said, and the meter."""
    sitting = Sitting("run", "slow.nika.yaml", cwd=slow, columns=100)
    sitting.expect("→ ")
    sitting.expect("── 0/3 done")
    assert sitting.end() == 0
    painted = ANSI.sub("", sitting.said)
    assert re.search("[◐◓◑◒] +first_of_them +exec · slow", painted)
    assert "日本語日本語" in painted


def test_a_task_cannot_paint(slow: Path) -> None:
    """Its control characters are gone; the only sequences are our own."""
    sitting = Sitting("run", "slow.nika.yaml", cwd=slow, columns=100)
    assert sitting.end() == 0
    assert set(re.findall(r"\x1b\[\??[0-9]*([A-Za-z])", sitting.said)) <= set("AJhl")
    assert "\x1b]" not in sitting.said
    assert "\a" not in sitting.said


def test_a_low_terminal_shows_a_window(slow: Path) -> None:
    """More runs than there is room for: a part of it, and how much more there is."""
    sitting = Sitting("run", "wide.nika.yaml", cwd=slow, columns=60, rows=10)
    sitting.expect("… and 14 more")
    assert sitting.end() == 0
    assert sitting.screen.text.count("✔") == 20
    regions = sitting.said.split("\x1b[?2026h")
    highest = max((int(up) for region in regions for up in re.findall(r"\x1b\[([0-9]+)A", region)), default=0)
    assert 0 < highest <= 8


def test_a_terminal_that_changes_its_width(slow: Path) -> None:
    """No line that stays is painted over, whatever is done to the window."""
    sitting = Sitting("run", "slow.nika.yaml", cwd=slow, columns=100)
    sitting.expect("→ ")
    sitting.resize(30, 12)
    sitting.expect("2/3 done")
    sitting.resize(120, 40)
    assert sitting.end() == 0
    assert sitting.screen.text.count("✔") == 3


@pytest.mark.parametrize("env", [{"TERM": "dumb"}, {"TERM": ""}, {"PYTHONIOENCODING": "latin-1"}])
def test_a_terminal_that_cannot_paint_gets_lines(slow: Path, env: dict[str, str]) -> None:
    """No sequence reaches a terminal that does not know them, or whose letters are other ones."""
    sitting = Sitting("run", "slow.nika.yaml", cwd=slow, **env)
    assert sitting.end() == 0
    assert "\x1b" not in sitting.said
    assert "3/3 done" in sitting.said


def test_quiet_is_quiet_on_a_terminal(slow: Path) -> None:
    """Only the outputs."""
    sitting = Sitting("run", "slow.nika.yaml", "--quiet", cwd=slow)
    assert sitting.end() == 0
    assert sitting.said.strip() == "{}"


@pytest.mark.parametrize(
    ("line", "columns", "fits"),
    [
        ("plain", 10, "plain"),
        ("plain", 5, "plain"),
        ("plain", 4, "pla…"),
        ("日本語", 6, "日本語"),
        ("日本語", 5, "日本…"),
        ("日本語", 4, "日…"),
        ("e\u0301e\u0301e\u0301", 3, "e\u0301e\u0301e\u0301"),
        ("x", 0, ""),
        ("xy", 1, "…"),
    ],
)
def test_lines_are_cut_by_columns(line: str, columns: int, fits: str) -> None:
    """Wide signs take two columns, combining ones none."""
    assert fit(line, columns) == fits
    assert width(fits) <= max(columns, 0)
