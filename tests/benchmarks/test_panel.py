"""What a panel costs: the same run with and without, in the same kernel, one after the other in turn."""

from __future__ import annotations

from pathlib import Path

from tests.kernels import kernel

ROUNDS = 5
MOST = 1.3  # times the processor time of the same run with --quiet

TOOK = """
import time
def took(line):
    begun = time.process_time()
    get_ipython().run_cell_magic("nika", f"--no-gc {line}", text)
    return time.process_time() - begun
"""


def test_a_panel_over_a_thousand_tasks(folder: Path) -> None:
    """The least of several rounds, interleaved: its widgets, its paints and its still of a thousand rows."""
    tasks = "\n".join(f'  t{at}: {{ infer: {{ prompt: "p{at}" }} }}' for at in range(1000))
    text = f"nika: wide\nmodel: mock/echo\ntasks:\n{tasks}\n"
    with kernel(folder) as page:
        page.run(f"text = {text!r}\n{TOOK}")
        page.run(f"quiet, panel = zip(*[(took('--quiet'), took('')) for _ in range({ROUNDS})])")
        ratio = float(page.run("print(min(panel) / min(quiet))").text)
    assert ratio <= MOST
