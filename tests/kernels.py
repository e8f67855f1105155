"""A real kernel, and what a page in front of it would show: outputs, their updates, widgets to click."""

from __future__ import annotations

import json
import os
import queue
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nbformat
import pytest
from jupyter_client.manager import KernelManager

from tests.doors import PATIENCE, environment

VIEW = "application/vnd.jupyter.widget-view+json"
# Two tasks, each at work until a file is there: `go`, then `end`.
WAITS = """%%nika {line}
nika: waits
permits: {{exec: ["./until"]}}
tasks:
  first: {{ exec: {{ command: ["./until", "go"] }} }}
  second: {{ after: {{ first: success }}, exec: {{ command: ["./until", "end"] }} }}
"""


@dataclass
class Cell:
    """One executed cell: its outputs as they stand now, displays and streams, updates applied."""

    code: str
    outputs: list[dict[str, Any]] = field(default_factory=list)
    reply: dict[str, Any] = field(default_factory=dict)
    idle: bool = False  # everything that it showed has come

    @property
    def ended(self) -> bool:
        return bool(self.reply) and self.idle

    @property
    def text(self) -> str:
        """What a reader without HTML sees."""
        return "\n".join(filter(None, map(_plain, self.outputs)))

    @property
    def page(self) -> str:
        """The HTML of its displays."""
        return "\n".join(str(output.get("data", {}).get("text/html", "")) for output in self.outputs)

    @property
    def error(self) -> str:
        """The traceback as it is shown; empty where it went well."""
        return "\n".join(line for output in self.outputs for line in output.get("traceback", []))

    @property
    def at_rest(self) -> bool:
        """No run is shown at work, and no question waits; below a still may stand its row buttons."""
        return "how the run stood when the page was last told" not in self.text and "◇" not in self.text

    @property
    def keys(self) -> list[set[str]]:
        """The mime types of each display."""
        return [set(output["data"]) for output in self.outputs if "data" in output]


def _plain(output: dict[str, Any]) -> str:
    return str(output.get("text") or output.get("data", {}).get("text/plain", ""))


class Page:
    """A kernel in a folder and the page in front of it. Nothing is drawn; everything is kept."""

    def __init__(self, folder: Path, **env: str) -> None:
        self.folder = folder
        self.cells: list[Cell] = []
        self.widgets: dict[str, dict[str, Any]] = {}
        self.asked_for_input = 0
        self.echoes = True  # it keeps linked widgets equal, as pages do
        self.withheld: list[tuple[str, dict[str, Any]]] = []  # what a page tells only after a click
        self._places: dict[str, dict[str, Any]] = {}
        self._owners: dict[str, Cell] = {}
        self._manager = KernelManager()
        self._manager.start_kernel(cwd=str(folder), env=environment(**env))
        self._client = self._manager.blocking_client()
        self._client.start_channels()
        self._client.wait_for_ready(timeout=60)

    @property
    def pid(self) -> int:
        return int(self._manager.provisioner.pid)  # type: ignore[union-attr]

    # -- cells -----------------------------------------------------------------------------

    def run(self, code: str, *, stdin: bool = True, cell_id: str | None = None) -> Cell:
        """Executes a cell to its end."""
        cell = self.start(code, stdin=stdin, cell_id=cell_id)
        self.until(lambda: cell.ended)
        return cell

    def start(self, code: str, *, stdin: bool = True, cell_id: str | None = None) -> Cell:
        """Sends a cell and does not wait for it. stdin: whether this page would ask for input. cell_id: of a
        notebook, which clears what the cell has shown before.
        """
        cell = Cell(code)
        self.cells.append(cell)
        asked = {"code": code, "silent": False, "store_history": True, "user_expressions": {}}
        message = self._client.session.msg("execute_request", asked | {"allow_stdin": stdin})
        message["metadata"] = {"cellId": cell_id} if cell_id else {}
        self._owners[message["header"]["msg_id"]] = cell
        self._client.shell_channel.send(message)
        return cell

    def until(self, found: Callable[[], Any], seconds: float = PATIENCE) -> Any:
        """Takes in messages until something has come about; returns it."""
        deadline = time.monotonic() + seconds
        while not (value := found()):
            if time.monotonic() > deadline:
                shown = "\n".join(f"{cell.text}{cell.error}" for cell in self.cells)
                pytest.fail(f"never came about:\n{shown[-3000:]}")
            self._take_in()
        return value

    def complete(self, marked: str) -> dict[str, Any]:
        """The reply to Tab at the mark `¦`."""
        code, cursor = marked.replace("¦", ""), marked.index("¦")
        return self._reply(self._client.complete(code, cursor))

    def inspect(self, marked: str) -> dict[str, Any]:
        """The reply to Shift+Tab at the mark `¦`."""
        code, cursor = marked.replace("¦", ""), marked.index("¦")
        return self._reply(self._client.inspect(code, cursor))

    def _reply(self, request: str) -> dict[str, Any]:
        while True:
            message = self._client.get_shell_msg(timeout=PATIENCE)
            if message["parent_header"].get("msg_id") == request:
                content: dict[str, Any] = message["content"]
                return content
            self._see(message)

    def interrupt(self) -> None:
        self._manager.interrupt_kernel()

    def kill(self) -> None:
        """The kernel dies as by a power cut, and nothing is said to it before."""
        os.kill(self.pid, signal.SIGKILL)
        self._manager.provisioner.process.wait(30)  # type: ignore[union-attr]

    def shut_down(self) -> None:
        """The kernel is asked to end, as a page does that closes it."""
        self._manager.shutdown_kernel()

    def close(self) -> None:
        self._client.stop_channels()
        self._manager.shutdown_kernel(now=True)

    # -- widgets ---------------------------------------------------------------------------

    def shown(self, cell: Cell, kind: str) -> list[str]:
        """The ids of the widgets of a kind that stand in a cell's outputs, from top to bottom."""
        roots = [
            output["data"][VIEW]["model_id"] for output in cell.outputs if VIEW in output.get("data", {})
        ]
        return [one for root in roots for one in self._below(root) if self._kind(one) == kind]

    def button(self, cell: Cell, label: str, at: int = 0) -> str:
        """The id of a button by what stands on it."""
        found = [one for one in self.shown(cell, "Button") if self.widgets[one]["description"] == label]
        return found[at]

    def click(self, widget: str) -> None:
        self._say(widget, {"method": "custom", "content": {"event": "click"}})

    def load_anew(self) -> None:
        """A page is loaded that asks for every widget there is, as the slow way round does."""
        for widget in list(self.widgets):
            self._say(widget, {"method": "request_state"})

    def put(self, widget: str, **state: Any) -> None:
        """What a person types or chooses."""
        self.widgets[widget] |= state
        self._say(widget, {"method": "update", "state": state, "buffer_paths": []})

    def told(self, cell: Cell) -> str:
        """The HTML of the widgets in a cell."""
        return "\n".join(str(self.widgets[one]["value"]) for one in self.shown(cell, "HTML"))

    def _kind(self, widget: str) -> str:
        return str(self.widgets[widget]["_model_name"]).removesuffix("Model")

    def _below(self, widget: str) -> Iterator[str]:
        if widget in self.widgets:
            yield widget
            for child in self.widgets[widget].get("children", ()):
                yield from self._below(child.removeprefix("IPY_MODEL_"))

    def _say(self, widget: str, data: dict[str, Any]) -> None:
        content = {"comm_id": widget, "data": data}
        self._client.shell_channel.send(self._client.session.msg("comm_msg", content))

    def _linked(self, widget: str, state: dict[str, Any]) -> None:
        """What a page does by itself: a linked number follows the other one."""
        for link in list(self.widgets.values()):
            if link.get("_model_name") != "DirectionalLinkModel" or not state:
                continue
            (source, name), (target, other) = link["source"], link["target"]
            if source == f"IPY_MODEL_{widget}" and name in state and self.echoes:
                for held, late in self.withheld:
                    self.put(held, **late)
                self.withheld.clear()
                self.put(target.removeprefix("IPY_MODEL_"), **{other: state[name]})

    # -- messages --------------------------------------------------------------------------

    def _take_in(self) -> None:
        for channel, wait in ((self._client.iopub_channel, 0.05), (self._client.shell_channel, 0.0)):
            try:
                self._see(channel.get_msg(timeout=wait))
            except queue.Empty:
                continue
        self._see_input()

    def _see_input(self) -> None:
        try:
            self._client.stdin_channel.get_msg(timeout=0)
            self.asked_for_input += 1
        except queue.Empty:
            pass

    def _see(self, message: dict[str, Any]) -> None:
        kind, content = message["header"]["msg_type"], message["content"]
        cell = self._owners.get(message["parent_header"].get("msg_id", ""))
        if kind == "execute_reply" and cell is not None:
            cell.reply = content
        elif kind == "comm_close":
            self.widgets.pop(content["comm_id"], None)
        elif kind in ("comm_open", "comm_msg"):
            state = content["data"].get("state", {})
            self.widgets.setdefault(content["comm_id"], {}).update(state)
            self._linked(content["comm_id"], state)
        elif kind == "update_display_data":
            place = self._places.get(content["transient"].get("display_id", ""))
            if place is not None:
                place["data"] = content["data"]
        elif kind == "status" and cell is not None:
            cell.idle = cell.idle or content["execution_state"] == "idle"
        elif cell is not None and kind in ("stream", "display_data", "execute_result", "error"):
            self._show(cell, kind, content)

    def _show(self, cell: Cell, kind: str, content: dict[str, Any]) -> None:
        output = {"output_type": kind} | {
            key: content[key]
            for key in ("data", "metadata", "name", "text", "ename", "evalue", "traceback", "execution_count")
            if key in content
        }
        cell.outputs.append(output)
        place = content.get("transient", {}).get("display_id")
        if place:
            self._places[place] = output

    # -- the saved notebook ----------------------------------------------------------------

    def saved(self, path: Path) -> Path:
        """The notebook as a page saves it: the outputs as they stand, no state of widgets."""
        cells = [
            nbformat.v4.new_code_cell(  # type: ignore[no-untyped-call]
                cell.code, outputs=[nbformat.from_dict(json.loads(json.dumps(one))) for one in cell.outputs]
            )
            for cell in self.cells
        ]
        nbformat.write(nbformat.v4.new_notebook(cells=cells), str(path))  # type: ignore[no-untyped-call]
        return path


def pids(page: Page) -> list[int]:
    """What the programs of a folder wrote down of themselves, each as it began."""
    path = page.folder / "pids"
    return [int(word) for word in path.read_text().split()] if path.exists() else []


@contextmanager
def kernel(folder: Path, **env: str) -> Iterator[Page]:
    """A kernel with the extension loaded; it is gone afterwards, whatever became of it."""
    page = Page(folder, **env)
    try:
        page.run("%load_ext nika_nb")
        yield page
    finally:
        page.close()
