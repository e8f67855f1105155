"""An untrusted word that would start a program fails its task at run time, and the program never starts."""

from __future__ import annotations

from pathlib import Path

import pytest

import nika_nb
from tests.doors import newest, of

WORKFLOW = """\
nika: w
permits: {{ exec: [python3, sh, env, "{more}"] }}
inputs: {{ a: {{ type: string }} }}
tasks:
  t: {{ exec: {{ command: {command} }} }}
outputs: {{ said: "${{{{ tasks.t.output }}}}" }}
"""
A = '"${{ inputs.a }}"'
ESCAPES = [
    (f"[python3, {A}]", "-cimport os; os.system('touch pwned')", "-c"),
    (f"[sh, {A}, 'touch pwned']", "-ec", "-c"),
    ('[sh, -c, "echo ${{ inputs.a }}"]', "x; touch pwned", "-c"),
    (f"[sh, -ec, {A}]", "touch pwned", "-c"),
    (f"[env, {A}, pwned]", "touch", "touch"),
    (f"[env, sh, {A}, 'touch pwned']", "-ec", "-c"),
]


@pytest.mark.parametrize(("command", "given", "token"), ESCAPES)
def test_no_untrusted_word_starts_a_program(folder: Path, command: str, given: str, token: str) -> None:
    """Fused into the flag, behind a written one, in its text, through a carrier."""
    run = nika_nb.run(WORKFLOW.format(command=command, more="none"), vars={"a": given})
    assert run.state == "failed"
    (failed,) = of(newest(folder), "task_failed")
    assert "NIKA-SEC-004" in str(failed)
    assert f"`{token}` makes a program run another one" in str(failed)
    assert not (folder / "pwned").exists()


@pytest.mark.parametrize(("command", "given", "token"), ESCAPES)
def test_what_the_list_names_is_meant(folder: Path, command: str, given: str, token: str) -> None:
    """The same words run where `permits.exec` lists what they do."""
    run = nika_nb.run(WORKFLOW.format(command=command, more=token), vars={"a": given})
    assert run.state == "completed"
    assert (folder / "pwned").exists()


def test_data_of_a_shell_line_stays_data(folder: Path) -> None:
    """What stands behind the line is its arguments, whatever it looks like."""
    command = '[sh, -c, \'printf %s "$1"\', sh, "${{ inputs.a }}"]'
    run = nika_nb.run(WORKFLOW.format(command=command, more="none"), vars={"a": "-ec"})
    assert run.outputs == {"said": "-ec"}
