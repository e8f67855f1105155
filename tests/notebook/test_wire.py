"""What a panel sends to a page, counted in a real kernel: few messages, few bytes, only what changed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from tests.kernels import Cell, Page

PER_SECOND = 5  # messages
BYTES = 200_000  # a second
WINDOW = 0.95  # seconds: what is five times a second may fall six times into a whole one
LIVE = ("comm_open", "comm_msg", "comm_close", "display_data", "update_display_data")


@dataclass(frozen=True)
class Sent:
    """A message as it went over the wire: when by the kernel's clock, its kind, its bytes, what it says."""

    at: float
    kind: str
    size: int
    text: str


class Wire(Page):
    """A page that notes what it is sent."""

    sent: list[Sent] = []  # noqa: RUF012 - a new one for each cell

    def _see(self, message: dict[str, Any]) -> None:
        kind, text = message["header"]["msg_type"], json.dumps(message["content"], ensure_ascii=False)
        if kind in LIVE:
            self.sent.append(Sent(message["header"]["date"].timestamp(), kind, len(text.encode()), text))
        super()._see(message)

    def watched(self, code: str) -> tuple[Cell, list[Sent]]:
        """A cell run to its end, and what was sent for it."""
        self.sent = []
        cell = self.run(code)
        assert not cell.error, cell.error
        return cell, list(self.sent)


@pytest.fixture(scope="module")
def wire(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Wire]:
    found = Wire(tmp_path_factory.mktemp("wire"))
    try:
        found.run("%load_ext nika_nb")
        yield found
    finally:
        found.close()


def live(sent: list[Sent]) -> list[Sent]:
    """What was sent between the first sight of a panel and its end, which begins with its row buttons."""
    first = max(at for at, one in enumerate(sent) if one.kind == "display_data")
    rest = sent[first + 1 :]
    return rest[: next(at for at, one in enumerate(rest) if one.kind == "comm_open")]


def windows(sent: list[Sent]) -> Iterator[list[Sent]]:
    """What falls into a second, from each message on."""
    for first in sent:
        yield [one for one in sent if first.at <= one.at < first.at + WINDOW]


TASKS = "\n".join(f'  t{at}: {{ infer: {{ prompt: "p{at}" }} }}' for at in range(1000))
LARGE = f"""%%nika --vars many
nika: large
model: mock/echo
inputs: {{ rows: {{ type: {{ array: integer }} }} }}
tasks:
{TASKS}
  fan:
    for_each: {{ items: "${{{{ inputs.rows }}}}" }}
    infer: {{ prompt: "item ${{{{ item }}}}" }}
"""


def test_a_thousand_tasks_and_ten_thousand_items(wire: Wire) -> None:
    """At most five messages and 200 kB a second from the first sight on; the whole table comes once, at the
    end, and each display has its last word there.
    """
    wire.run("many = {'rows': list(range(10_000))}")
    cell, sent = wire.watched(LARGE)
    going = live(sent)
    assert len(going) >= 5, "it lived"
    pieces = [one for one in going if '"value"' in one.text or one.kind == "update_display_data"]
    assert max(len(found) for found in windows(pieces)) <= PER_SECOND
    assert len(going) - len(pieces) <= 12, "a view that is new is put in its place, once"
    assert max(sum(one.size for one in found) for found in windows(going)) <= BYTES
    assert not any("t0</td>" in one.text and "t999</td>" in one.text for one in going)
    assert "1,001/1,001 done" in cell.page
    assert "t999" in cell.page


def test_a_run_that_waits_costs_next_to_nothing(wire: Wire) -> None:
    """While nothing happens but time, the head, the running row and the picture are sent once a second."""
    text = 'nika: waits\npermits: {exec: [sleep]}\ntasks: { t: { exec: { command: [sleep, "2.5"] } } }\n'
    _, sent = wire.watched(f"%%nika\n{text}")
    going = live(sent)
    assert len(going) <= 3 * 4
    assert sum(one.size for one in going) <= 3 * 20_000
