"""The inferred boundary admits what the workflow does, and nothing that was not asked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from nika_nb.check import check, infer_permits
from nika_nb.check.inference import as_block, open_ends
from nika_nb.errors import Source
from nika_nb.language.load import load
from nika_nb.language.model import Workflow


def workflow(tasks: str, more: str = "") -> Workflow:
    found = load(Source(f"nika: w\nmodel: mock/echo\n{more}tasks:\n{tasks}")).workflow
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("tasks", "expected"),
    [
        ("  a: { infer: { prompt: hi } }\n", {}),
        ("  a: { exec: { command: [git, log] } }\n  b: { exec: { command: [git] } }\n", {"exec": ["git"]}),
        ("  a: { exec: { shell: 'a | b' } }\n", {"exec": True}),
        ("  a: { exec: { command: ['${{ inputs.p }}'] } }\n", {"exec": ["make"]}),
        ("  a: { invoke: { tool: 'nika:jq', args: { expression: . } } }\n", {}),
        (
            "  a: { invoke: { tool: 'nika:read', args: { path: './in/${{ inputs.free }}' } } }\n",
            {"fs": {"read": ["./in/**"]}, "tools": ["nika:read"]},
        ),
        (
            "  a: { invoke: { tool: 'nika:read', args: { path: '${{ inputs.free }}' } } }\n",
            {"fs": {"read": ["./**"]}, "tools": ["nika:read"]},
        ),
        (
            "  a: { invoke: { tool: 'nika:fetch', args: { url: 'http://localhost/x' } } }\n",
            {"tools": ["nika:fetch"]},
        ),
        (
            "  a:\n    for_each: { items: ['https://a.example/1', 'https://b.example/2'] }\n"
            "    invoke: { tool: 'nika:fetch', args: { url: '${{ item }}' } }\n",
            {"net": {"http": ["a.example", "b.example"]}, "tools": ["nika:fetch"]},
        ),
        ("  a: { agent: { prompt: hi, tools: ['mcp:db/*', 'nika:jq'] } }\n", {"tools": ["mcp:db/*"]}),
    ],
)
def test_the_boundary_is_what_the_text_requires(tasks: str, expected: object) -> None:
    """Targets are taken as written, inputs by their defaults; loopback is never granted by itself."""
    inputs = "inputs: { p: { type: string, default: make }, free: { type: string } }\n"
    assert infer_permits(workflow(tasks, inputs)) == expected


def test_a_host_that_only_the_run_knows_is_asked_for() -> None:
    """Such a host is not guessed; the hint says whose hosts are missing."""
    text = (
        "nika: w\ninputs: { u: { type: string } }\ntasks:\n"
        "  get: { invoke: { tool: 'nika:fetch', args: { url: '${{ inputs.u }}' } } }\n"
    )
    (error,) = check(Source(text)).errors
    assert error.hint.endswith("and list the hosts that `get` may reach in `net: { http: […] }`")


def test_the_inferred_boundary_checks_clean(conformance: Path) -> None:
    """Taking the boundary of a sound workflow away and pasting the inferred one keeps it sound."""
    for path in sorted((conformance / "examples").glob("*.nika.yaml")):
        source = Source(path.read_text("utf-8"), path.name)
        found = load(source).workflow
        assert found is not None
        if open_ends(found):
            continue
        span = found.spans.get("permits")
        bare = source.text if span is None else source.text[: span.start] + source.text[span.end :]
        pasted = f"{bare}\n{as_block(infer_permits(found))}\n"
        report = check(Source(pasted, path.name), base=path.parent)
        escapes = [error for error in report.errors if error.code in ("NIKA-AUTH-006", "NIKA-SEC-004")]
        assert not escapes, report.render()
