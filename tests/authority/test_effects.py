"""What an action may do is read from the action as written."""

from __future__ import annotations

from nika_nb.authority.effects import Effect, described, effects, host_of
from nika_nb.errors import Source
from nika_nb.language import load
from nika_nb.language.model import Action


def action(text: str) -> Action:
    """The action of a one-task workflow."""
    workflow = load(Source(f"nika: w\ntasks:\n  t:\n    {text}\n")).workflow
    assert workflow is not None
    return workflow.tasks["t"].action


def kinds(text: str) -> list[tuple[str, str | None, bool]]:
    return [(found.kind, found.target, found.dynamic) for found in effects(action(text))]


def test_programs_and_lines() -> None:
    """An argv is its command; what a template may decide is the program alone."""
    assert kinds('exec: { command: ["git", "push"] }') == [("exec", "git push", False)]
    assert kinds('exec: { command: ["git", "${{ inputs.x }}"] }') == [("exec", "git ${{ inputs.x }}", False)]
    assert kinds('exec: { command: ["${{ inputs.x }}", "a"] }') == [("exec", "${{ inputs.x }} a", True)]
    assert kinds('exec: { shell: "a | b" }') == [("shell", "a | b", False)]


def test_a_model_call_alone_has_none() -> None:
    """A model call computes; an image it looks at is read or fetched."""
    assert kinds("infer: { prompt: hi }") == []
    looking = "infer: { prompt: hi, vision: [{ source: file, path: a.png }] }"
    assert kinds(looking) == [("read", "a.png", False)]


def test_tools_and_their_targets() -> None:
    """A tool that reaches out has itself and its targets; one that computes has none."""
    assert kinds("invoke: { tool: 'nika:jq', args: { input: 1, expression: '.' } }") == []
    assert kinds("invoke: { tool: 'nika:read', args: { path: a } }") == [
        ("tool", "nika:read", False),
        ("read", "a", False),
    ]
    assert kinds("invoke: { tool: 'nika:write', args: { path: '${{ inputs.p }}', content: x } }") == [
        ("tool", "nika:write", False),
        ("write", "${{ inputs.p }}", True),
    ]
    assert kinds("invoke: { tool: 'nika:fetch', args: { url: 'https://API.example.com:8443/x' } }") == [
        ("tool", "nika:fetch", False),
        ("net", "api.example.com", False),
    ]
    assert kinds("invoke: { tool: 'nika:edit', args: { path: a, find: x, replace: y } }")[1:] == [
        ("read", "a", False),
        ("write", "a", False),
    ]
    assert kinds("invoke: { tool: 'nika:decide', args: { bundle: b.json, evidence: {} } }") == [
        ("read", "b.json", False)
    ]
    assert kinds("invoke: { tool: 'nika:decide', args: { bundle: {}, evidence: {} } }") == []
    assert kinds("invoke: { tool: 'mcp:db/query' }") == [("tool", "mcp:db/query", False)]


def test_targets_inside_lists() -> None:
    """Every element of a list argument is a target of its own, with its place."""
    found = effects(
        action(
            "invoke: { tool: 'nika:fetch', args: { url: 'https://a.b', method: POST, "
            "multipart: [{ name: x, path: p }, { name: y, value: z }] } }"
        )
    )
    assert Effect("read", "p", False, ("args", "multipart", "0", "path")) in found


def test_an_agent_has_the_effects_of_its_tools_and_skills() -> None:
    """Its whitelist and the skill files it reads."""
    text = "agent: { prompt: hi, tools: ['nika:done', 'nika:read', '!nika:write'], skills: [s/SKILL.md] }"
    assert kinds(text) == [("tool", "nika:read", False), ("read", "s/SKILL.md", False)]


def test_hosts_of_urls() -> None:
    """A host is known unless a template may decide it."""
    assert host_of("https://api.example.com/${{ inputs.x }}") == ("api.example.com", False)
    assert host_of("https://${{ inputs.host }}/x") == (None, True)
    assert host_of("https://api.${{ inputs.x }}.com/") == (None, True)
    assert host_of("${{ inputs.url }}") == (None, True)
    assert host_of("not a url") == (None, False)


def test_described_for_people() -> None:
    """Short lines, each once."""
    push = action('exec: { command: ["git", "push"] }')
    assert described([push, push]) == ("exec · git push",)
