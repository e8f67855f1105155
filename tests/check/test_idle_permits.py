"""The check warns of an entry of `permits:` that admits nothing, or more than it says."""

from __future__ import annotations

import pytest

import nika_nb

TASK = 'tasks: { t: { invoke: { tool: "nika:log" } } }'


def warnings(permits: str) -> list[tuple[str, str]]:
    found = nika_nb.check(f"nika: a\npermits: {permits}\n{TASK}\n").diagnostics
    assert all((one.code, one.severity) == ("NIKA-SEC-004", "warning") for one in found)
    return [(one.message, one.hint) for one in found]


@pytest.mark.parametrize(
    "host", ["a.com", "A.com.", "ä.com", "localhost", "127.0.0.1", "::1", "[::1]", "a_b.com", "*"]
)
def test_names_of_hosts_are_taken_as_they_are(host: str) -> None:
    """However they are written."""
    assert warnings(f'{{ net: {{ http: ["{host}"] }} }}') == []


@pytest.mark.parametrize(
    ("host", "hint"),
    [
        ("https://a.com", "write `a.com`"),
        ("a.com/v1", "write `a.com`"),
        ("http://localhost:8080", "write `localhost`"),
        ("!a.com", "write a name like `api.example.com`"),
        ("a..com", "write a name like `api.example.com`"),
    ],
)
def test_an_address_is_no_host(host: str, hint: str) -> None:
    """It would never be reached, whatever its author hopes."""
    sentence = f"`{host}` is not the name of a host, and permits nothing"
    assert warnings(f'{{ net: {{ http: ["{host}"] }} }}') == [(sentence, hint)]


@pytest.mark.parametrize("host", ["a.com:80", "a.com:8080", "a.com:x", "a.com:80/v1"])
def test_a_port_narrows_nothing(host: str) -> None:
    """Who writes one has to know that all of them are open."""
    sentence = f"`{host}` permits every port of this host: a port is no part of a permit"
    assert warnings(f'{{ net: {{ http: ["{host}"] }} }}') == [(sentence, "write `a.com`")]


@pytest.mark.parametrize(
    ("tool", "hint"),
    [
        ("nika:reed", "did you mean `nika:read`?"),
        ("read", "did you mean `nika:read`?"),
        ("*", "builtins are `nika:…`, tools of servers `mcp:server/tool`"),
        ("!other:tool", "builtins are `nika:…`, tools of servers `mcp:server/tool`"),
    ],
)
def test_a_tool_that_nothing_is_called(tool: str, hint: str) -> None:
    """A word without its namespace, a slip of the pen, a star that stops at the colon."""
    assert warnings(f'{{ tools: ["{tool}"] }}') == [(f"`{tool}` in `permits.tools` matches no tool", hint)]


@pytest.mark.parametrize("tool", ["nika:*", "!nika:write", "mcp:db/query", "**", "nika:json_*", "nika:uuid"])
def test_patterns_of_tools_are_taken_as_they_are(tool: str) -> None:
    """Builtins that are not part of this version among them."""
    assert warnings(f'{{ tools: ["{tool}"] }}') == []


@pytest.mark.parametrize(
    ("program", "hint"),
    [
        ("*", "write each by its name; `exec: true` admits any program"),
        ("git*", "write each by its name; `exec: true` admits any program"),
        ("!rm", "write each by its name; `exec: true` admits any program"),
        ("git status", "write `git`"),
    ],
)
def test_programs_are_no_patterns_and_no_lines(program: str, hint: str) -> None:
    """They are listed by their names, without arguments."""
    [(sentence, said)] = warnings(f'{{ exec: ["{program}"] }}')
    assert sentence.startswith("`permits.exec` lists programs")
    assert said == hint


def test_names_of_programs_are_taken_as_they_are() -> None:
    """Paths with blanks among them."""
    assert warnings('{ exec: ["git", "./my tools/run", "/bin/[", "python3.11"] }') == []
