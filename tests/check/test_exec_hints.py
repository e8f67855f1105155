"""What a newcomer writes under `exec:`, and that following what is said of it once is enough."""

from __future__ import annotations

import pytest

import nika_nb

# (what is written, a part of what is said, what is written after it was followed)
STEPS = [
    (
        'tasks: { a: { exec: { command: "ls | wc -l" } } }',
        'write `shell: "ls | wc -l"`; a line of the shell needs `permits: { exec: true }`',
        'permits: { exec: true }\ntasks: { a: { exec: { shell: "ls | wc -l" } } }',
    ),
    (
        'permits: { exec: ["ls", "wc"] }\ntasks: { a: { exec: { shell: "ls | wc -l" } } }',
        "for a line of the shell declare `exec: true` under permits",
        'permits: { exec: true }\ntasks: { a: { exec: { shell: "ls | wc -l" } } }',
    ),
    (
        'permits: { exec: ["sh"] }\ntasks: { a: { exec: { shell: "ls -l" } } }',
        "one program without a shell is written `command: [program, argument]`",
        'permits: { exec: ["ls"] }\ntasks: { a: { exec: { command: ["ls", "-l"] } } }',
    ),
    (
        'permits: { exec: ["ls"] }\ntasks: { a: { exec: { command: "ls -l \'a b\'" } } }',
        'write `command: ["ls", "-l", "a b"]`',
        'permits: { exec: ["ls"] }\ntasks: { a: { exec: { command: ["ls", "-l", "a b"] } } }',
    ),
    (
        'permits: { exec: ["ls"] }\ntasks: { a: { exec: "ls -l" } }',
        'write `exec: { command: ["ls", "-l"] }`',
        'permits: { exec: ["ls"] }\ntasks: { a: { exec: { command: ["ls", "-l"] } } }',
    ),
    (
        'permits: { exec: ["ls"] }\ntasks: { a: { exec: ["ls", "-l"] } }',
        'write `exec: { command: ["ls", "-l"] }`',
        'permits: { exec: ["ls"] }\ntasks: { a: { exec: { command: ["ls", "-l"] } } }',
    ),
    (
        'permits: { exec: ["ls"] }\ntasks: { a: { exec: { command: ["ls -l"] } } }',
        'words of their own: `command: ["ls", "-l"]`',
        'permits: { exec: ["ls"] }\ntasks: { a: { exec: { command: ["ls", "-l"] } } }',
    ),
    (
        'permits: { exec: ["git"] }\ntasks: { a: { exec: { command: ["ls -l"] } } }',
        'words of their own: `command: ["ls", "-l"]`, and add "ls" to permits.exec',
        'permits: { exec: ["git", "ls"] }\ntasks: { a: { exec: { command: ["ls", "-l"] } } }',
    ),
    (
        'tasks: { a: { exec: { command: ["ls -l"] } } }',
        'exec: ["ls"]\nand a program and its arguments are words of their own: `command: ["ls", "-l"]`',
        'permits: { exec: ["ls"] }\ntasks: { a: { exec: { command: ["ls", "-l"] } } }',
    ),
    (
        'permits: { exec: "true" }\ntasks: { a: { exec: { shell: "ls | wc" } } }',
        "write `exec: true`",
        'permits: { exec: true }\ntasks: { a: { exec: { shell: "ls | wc" } } }',
    ),
    (
        'permits: { exec: ls }\ntasks: { a: { exec: { command: ["ls"] } } }',
        'write `exec: ["ls"]`',
        'permits: { exec: ["ls"] }\ntasks: { a: { exec: { command: ["ls"] } } }',
    ),
    (
        'permits: { exec: ["*"] }\ntasks: { a: { exec: { command: ["ls"] } } }',
        "`exec: true` admits any program",
        'permits: { exec: true }\ntasks: { a: { exec: { command: ["ls"] } } }',
    ),
    (
        'permits: { shell: true }\ntasks: { a: { exec: { shell: "ls | wc" } } }',
        "a line of the shell is permitted by `exec: true`",
        'permits: { exec: true }\ntasks: { a: { exec: { shell: "ls | wc" } } }',
    ),
    (
        'permits: { exec: true }\ntasks: { a: { exec: { command: "ls *.md", shell: true } } }',
        'keep one: `shell: "ls *.md"`',
        'permits: { exec: true }\ntasks: { a: { exec: { shell: "ls *.md" } } }',
    ),
    (
        'inputs: { at: { type: string, default: "." } }\npermits: { exec: ["ls"] }\n'
        'tasks: { a: { exec: { command: "ls -l ${{ inputs.at }}" } } }',
        'write `command: ["ls", "-l", "${{ inputs.at }}"]`',
        'inputs: { at: { type: string, default: "." } }\npermits: { exec: ["ls"] }\n'
        'tasks: { a: { exec: { command: ["ls", "-l", "${{ inputs.at }}"] } } }',
    ),
]


@pytest.mark.parametrize(("before", "said", "after"), STEPS, ids=[after for _, _, after in STEPS])
def test_what_is_said_leads_to_a_workflow_that_passes(before: str, said: str, after: str) -> None:
    """One step, no circle: the hint names the form and the permit that this form needs."""
    report = nika_nb.check(f"nika: s\n{before}\n")
    assert not report.ok
    assert said in report.render()
    assert nika_nb.check(f"nika: s\n{after}\n").ok


def test_no_default_helps_a_line_of_the_shell() -> None:
    """Whatever an input holds, the shell is what is refused."""
    report = nika_nb.check(
        'nika: s\ninputs: { at: { type: string, default: "." } }\npermits: { exec: ["ls"] }\n'
        'tasks: { a: { exec: { shell: "ls ${{ inputs.at }}" } } }\n'
    )
    assert "another default" not in report.render()
    assert "declare `exec: true`" in report.render()
