"""The same text has the same identity in every process, whatever surrounds it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.doors import environment

TEXT = """\
nika: hashed
model: mock/echo
permits: {exec: ["echo"]}
inputs:
  deep: {type: {map: {array: integer}}, default: {zeta: [3, 1, 2], "ä€🦋": [9007199254740993], alpha: []}}
  ratio: {type: number, default: 0.1}
const:
  big: 1e21
  small: 1.0
  tags: ["naïve", "🦋", "\\u2028", "a\\tb"]
secrets:
  token: {source: env, key: HASHED_TOKEN, egress: [{to: exec}, {to: infer}]}
tasks:
  one:
    exec:
      command: ["echo", "${{ inputs.deep }}", "${{ const.tags }}"]
      env: {Z: "1", A: "2", M: "${{ secrets.token }}"}
  two:
    after: {one: success}
    with:
      {z: "${{ tasks.one.output }}", a: "${{ inputs.ratio }}", m: "${{ const.big }}", s: "${{ const.small }}"}
    when: ${{ with.a < 1.0 && with.m > 0.0 }}
    retry: {max_attempts: 2, jitter: false, backoff_ms: 5}
    on_error: {recover: {z: 1, a: [null, 2.5]}}
    extract: {z: ".", a: "."}
    infer: {prompt: "${{ with.z }} ${{ with.m }} ${{ with.s }}", temperature: 0.30}
  three:
    for_each: {items: "${{ const.tags }}", max_parallel: 2}
    invoke:
      {tool: "nika:log", args: {message: "${{ item }} ${{ index }}", data: {z: "${{ inputs.ratio }}", a: 1}}}
"""

PROGRAM = """\
import json, sys
import nika_nb
run = nika_nb.run(sys.stdin.buffer.read().decode("utf-8"))
assert run.state == "completed", run
keys = ("def_hash", "input_hash", "definition_parts", "input_parts")
found = []
for line in run.trace.read_bytes().splitlines():
    frame = json.loads(line)
    fields = {pair["key"]: pair["value"] for pair in frame["fields"]}
    if "def_hash" in fields:
        found.append([fields["task"], fields.get("item"), *(fields.get(key) for key in keys)])
    if frame["kind"] == "workflow_started":
        found.append([fields["semantic_hash"], fields["workflow_sha256"]])
print(json.dumps(sorted(found, key=str)))
"""


def hashes(cwd: Path, **env: str) -> str:
    cwd.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        input=TEXT.encode("utf-8"),
        cwd=cwd,
        env=environment(HASHED_TOKEN="t0k3n-for-hashing", **env),
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


def test_no_surrounding_changes_an_identity(tmp_path: Path) -> None:
    """Hash seed, folder, time zone, locale, encoding, terminal and the order of the environment."""
    first = hashes(tmp_path / "a", PYTHONHASHSEED="0")
    assert len(json.loads(first)) == 1 + 3 + 4
    surroundings = [
        {"PYTHONHASHSEED": "1", "TZ": "Pacific/Kiritimati"},
        {"PYTHONHASHSEED": "4294967295", "LC_ALL": "C", "LANG": "C"},
        {
            "PYTHONHASHSEED": "random",
            "LC_ALL": "tr_TR.UTF-8",
            "LC_NUMERIC": "de_DE.UTF-8",
            "TZ": "Asia/Kathmandu",
        },
        {"PYTHONHASHSEED": "random", "PYTHONIOENCODING": "latin-1", "COLUMNS": "20", "TERM": "dumb"},
        {"PYTHONHASHSEED": "random", "HOME": str(tmp_path), "USER": "somebody", "PYTHONOPTIMIZE": "2"},
    ]
    for number, env in enumerate(surroundings):
        said = hashes(tmp_path / f"somewhere else {number}" / "ünder", **env)
        assert json.loads(said) == json.loads(first), env
