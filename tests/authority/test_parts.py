"""A secret that is an address, JSON or a file of settings: what is taken out of it is a secret as well."""

from __future__ import annotations

import json
from base64 import b64encode

import pytest

from nika_nb.authority.masking import MASK, Masker
from nika_nb.authority.parts import parts

PEM = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkq\nBKcwggSjAgEAAoIB\n-----END PRIVATE KEY-----\n"
ACCOUNT = {
    "type": "service_account",
    "project_id": "weather-1234",
    "private_key": PEM,
    "client": {"client_secret": "GOCSPX-abcdef"},
    "token_uri": "https://oauth2.example.com/token",
}

CASES = {
    "a hook": (
        "https://Hooks.example.com/services/T0AB12CD3/XXtokenXX?sig=q%2Bw1e2r3t4",
        ["T0AB12CD3", "services/T0AB12CD3/XXtokenXX", "XXtokenXX", "sig=q%2Bw1e2r3t4", "q+w1e2r3t4"],
    ),
    "a database": ("postgres://admin:Pa55%21word@db.example.com/prod", ["Pa55%21word", "Pa55!word"]),
    "a token as the user": ("https://ghp_0123456789@example.com/a.git", ["ghp_0123456789"]),
    "an account": (json.dumps(ACCOUNT, indent=2), ["MIIEvQIBADANBgkq", "BKcwggSjAgEAAoIB", "GOCSPX-abcdef"]),
    "settings": (
        "[default]\naws_secret_access_key = wJalrXUtnFEMI\nexport API_TOKEN='tok-123456'\nzone = eu-west-11",
        ["wJalrXUtnFEMI", "tok-123456"],
    ),
    "a name and a password": ("admin:correct-horse", ["correct-horse"]),
    "a header": ("Bearer abcdef123456", ["abcdef123456"]),
    "line ends that are written": (PEM.replace("\n", "\\n"), ["MIIEvQIBADANBgkq"]),
    "text in base64": (b64encode(b"admin:correct-horse").decode(), ["admin:correct-horse", "correct-horse"]),
}


@pytest.mark.parametrize(("value", "wanted"), CASES.values(), ids=CASES.keys())
def test_what_is_taken_out_of_it_is_masked(value: str, wanted: list[str]) -> None:
    """By itself, as a program or a server says it again."""
    known = Masker()
    known.add("it", value)
    for part in wanted:
        assert known.mask(f"<{part}>") == f"<{MASK}>"
        assert known.reveals(part)


@pytest.mark.parametrize(
    "text",
    [
        *("service_account", "weather-1234", "https://oauth2.example.com/token", "eu-west-11"),
        *("https://hooks.example.com/services", "db.example.com", "admin", "postgres://"),
    ],
)
def test_what_is_no_credential_stays(text: str) -> None:
    """Else the results of half the tasks that use it could be neither read nor recalled."""
    known = Masker()
    for value, _ in CASES.values():
        known.add("it", value)
    assert known.mask(text) == text


@pytest.mark.parametrize(
    "value",
    [
        "",
        "hunter22",
        "a:b",
        "https://example.com/v1/chat/completions",
        "https://[",
        "{",
        '{"key": 1}',
        "[" * 9999,
    ],
)
def test_most_values_have_no_parts(value: str) -> None:
    """Nothing that is short, and nothing that stands in many a text."""
    assert list(parts(value)) == []


def test_a_host_is_written_in_lower_case() -> None:
    """A secret that is part of a host is told as the address says it."""
    known = Masker()
    known.add("tenant", "Tenant-7f3A")
    assert known.mask("https://tenant-7f3a.example.com") == f"https://{MASK}.example.com"
