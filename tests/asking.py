"""A helper program that answers a line of JSON with a line of JSON: started once, asked often."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

from tests.doors import ROOT, environment


class Asked:
    """A module of the tests as a program of its own, seen from the asking side."""

    def __init__(self, module: str) -> None:
        self._served = subprocess.Popen(
            [sys.executable, "-m", module],
            cwd=ROOT,
            env=environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        assert self._served.stdin is not None
        assert self._served.stdout is not None
        self._served.stdin.write(json.dumps(request) + "\n")
        self._served.stdin.flush()
        answer: dict[str, Any] = json.loads(self._served.stdout.readline())
        return answer

    def close(self) -> None:
        assert self._served.stdin is not None
        self._served.stdin.close()
        self._served.wait(30)
