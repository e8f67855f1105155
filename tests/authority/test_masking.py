"""Secrets are blotted out in every common form, nested, and fast."""

from __future__ import annotations

import base64
import json
import re
import shlex
import textwrap
from collections.abc import Callable
from html import escape
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nika_nb.authority.masking import MASK, Masker

SECRET = 's3cr€t/+key"?x=1\\'


def masker(*values: str) -> Masker:
    made = Masker()
    for number, value in enumerate(values):
        made.add(f"secret{number}", value)
    return made


FORMS = {
    "as it is": SECRET,
    "in JSON": json.dumps(SECRET),
    "in JSON without ASCII escapes": json.dumps(SECRET, ensure_ascii=False),
    "in JSON with escaped slashes": json.dumps(SECRET, ensure_ascii=False).replace("/", "\\/"),
    "percent-encoded": quote(SECRET),
    "percent-encoded whole": quote(SECRET, safe=""),
    "percent-encoded in lower case": re.sub("%..", lambda found: found[0].lower(), quote(SECRET, safe="")),
    "in a form": quote_plus(SECRET),
    "in hexadecimal": SECRET.encode().hex(),
    "in upper hexadecimal": SECRET.encode().hex().upper(),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS.keys())
def test_every_form_is_masked(form: str) -> None:
    """Each form is found inside other text, and only the form is replaced."""
    text = f"before {form.strip(chr(34))} after"
    assert masker(SECRET).found(text)
    assert masker(SECRET).mask(text) == f"before {MASK} after"


ENCODERS = st.sampled_from([base64.b64encode, base64.urlsafe_b64encode])


@given(st.binary(max_size=7), st.binary(max_size=7), ENCODERS)
def test_base64_in_every_alignment(before: bytes, after: bytes, encode: Callable[[bytes], bytes]) -> None:
    """Wherever the secret stands in the encoded bytes, it is found."""
    text = encode(before + SECRET.encode() + after).decode()
    assert masker(SECRET).found(text)
    assert MASK in masker(SECRET).mask(text)


def test_nested_values() -> None:
    """Lists, objects, their keys, numbers and bytes are masked alike; the rest stays what it is."""
    value = {
        "a": ["x hunter22 y", {"hunter22": 1}],
        "n": 12345678,
        "f": 1.5,
        "b": b"\xff hunter22",
        "t": True,
    }
    masked = masker("hunter22", "12345678").mask(value)
    assert masked == {
        "a": [f"x {MASK} y", {MASK: 1}],
        "n": MASK,
        "f": 1.5,
        "b": b"\xff " + MASK.encode(),
        "t": True,
    }
    assert masker("hunter22").found(value)
    assert not masker("absent-value").found(value)


def test_the_lines_of_a_long_secret() -> None:
    """Each line of a key is masked by itself, blank and tiny lines are not."""
    key = "-----BEGIN KEY-----\nMIIEabcdef\nxy\n\n  indented99\n-----END KEY-----\n"
    known = masker(key)
    assert known.mask("> MIIEabcdef\r\n> indented99") == f"> {MASK}\r\n> {MASK}"
    assert known.mask("xy") == "xy"
    assert known.mask(key) == MASK


def test_a_value_with_a_newline_at_its_end() -> None:
    """A program that trims the value still says the secret."""
    assert masker("hunter22\n").mask("hunter22!") == f"{MASK}!"


def test_short_and_empty_values() -> None:
    """An empty value masks nothing; a very short one only as it is."""
    assert masker("", "  ").mask("anything at all") == "anything at all"
    assert masker("abc").mask("abc YWJj 616263") == f"{MASK} YWJj 616263"


def test_the_longest_form_wins() -> None:
    """When one secret begins another, the longer is replaced whole."""
    assert masker("hunter", "hunter22").mask("hunter22 hunter") == f"{MASK} {MASK}"


def test_nothing_known_changes_nothing() -> None:
    """Without secrets the very same value comes back."""
    value = {"a": [1, "x"]}
    assert Masker().mask(value) is value
    assert not Masker().found(value)


def test_long_texts_with_many_secrets() -> None:
    """Fifty megabytes are searched for a key of fifty lines without trouble."""
    key = "\n".join(f"{number:04d}line-of-a-long-key" for number in range(50))
    known = masker(key, "hunter22")
    assert known.mask("x" * (50 << 20) + "hunter22").endswith(MASK)


DEEPER = {
    "JSON in JSON": json.dumps(json.dumps({"k": SECRET})),
    "JSON in JSON in JSON": json.dumps(json.dumps(json.dumps([SECRET]), ensure_ascii=False)),
    "escaped slashes in JSON": json.dumps(json.dumps(SECRET).replace("/", "\\/")),
    "Python": repr({"k": SECRET, "b": SECRET.encode(), "a": ascii(SECRET)}),
    "HTML": escape(SECRET),
    "base64 in lines": base64.encodebytes(b"x" * 50 + SECRET.encode() + b"y" * 50).decode(),
    "base64 in lines in JSON": json.dumps(json.dumps(base64.encodebytes(SECRET.encode() * 9).decode())),
    "a hex dump": SECRET.encode().hex(" ", 2),
}


ODD = 'it\'s a "pä55\\w0rd" & more'
QUOTINGS = {
    "for a shell": shlex.quote(ODD),
    "as bash tells a command": "'" + ODD.replace("'", "'\\''") + "'",
    "character by character": re.sub(r"(\W)", r"\\\1", ODD),
    "in a table": ODD.replace('"', '""'),
    "in a query": ODD.replace("'", "''"),
    "in XML": escape(ODD, quote=False).replace("'", "&apos;").replace('"', "&quot;"),
    "on a page of Go": escape(ODD, quote=False).replace("'", "&#39;").replace('"', "&#34;"),
    "in a table, for a shell": shlex.quote(ODD.replace('"', '""')),
}


@pytest.mark.parametrize("text", QUOTINGS.values(), ids=QUOTINGS.keys())
def test_however_its_quotes_are_written(text: str) -> None:
    """A shell, a table, a query and a page each write a quote in a way of their own."""
    known = masker(ODD)
    assert known.found(text)
    assert "pä55" not in known.mask(text)


@pytest.mark.parametrize("width", [7, 40, 79])
def test_a_long_value_that_is_broken_over_lines(width: int) -> None:
    """A terminal breaks a token where its line ends, and YAML a sentence between two words."""
    token, sentence = "eyJhbGciOiJIUzI1NiJ9." * 9, "correct horse battery staple " * 9 + "end"
    lines = "\n".join(token[at : at + width] for at in range(0, len(token), width))
    assert masker(token).mask(f"token {lines} given") == f"token {MASK} given"
    assert masker(token).mask(json.dumps(lines)) == f'"{MASK}"'
    assert "horse" not in masker(sentence).mask(textwrap.fill(sentence, width, initial_indent="  "))


def test_a_short_value_is_not_put_together_from_lines() -> None:
    """Words of two lines are no secret, nor are quoted ones beside each other."""
    assert masker("username12").mask("user\nname12 'user''name12'") == "user\nname12 'user''name12'"


@pytest.mark.parametrize("text", DEEPER.values(), ids=DEEPER.keys())
def test_what_came_apart_is_found(text: str) -> None:
    """Escaped as often as one likes, broken over lines, dumped in groups."""
    known = masker(SECRET)
    assert known.found(text)
    masked = known.mask(text)
    assert MASK in masked
    for part in ('€t/+key"?x', "x=1", "82ac", base64.b64encode(SECRET.encode())[4:16].decode()):
        assert part not in masked


def test_what_gives_a_secret_away() -> None:
    """A long one wherever it stands, a short one only by itself: it stands in many a word by chance."""
    known = masker("app", "hunter22")
    assert known.reveals({"k": ["x hunter22 y"]})
    assert known.reveals(["app"])
    assert not known.reveals(["./app", "application", 1, None])
    assert known.found("application")


def test_in_data_a_short_secret_is_a_word() -> None:
    """What others go on to work with is not torn up for a few letters."""
    known = masker("x").inside
    known.add("user", "app")
    known.add("key", "hunter22")
    assert known.mask("application of app, (app) xhunter22x") == f"application of {MASK}, ({MASK}) x{MASK}x"


@pytest.mark.parametrize(
    "between",
    [
        *("\0", "\x1b[1m", "\N{ZERO WIDTH SPACE}", "\x07\x08", "\N{RIGHT-TO-LEFT MARK}", "\x1b]0;title\x07"),
        *("\x1b]8;;http://x\x1b\\", "\x1bM", "\udc80", "\N{TAG LATIN CAPITAL LETTER A}"),
    ],
)
def test_what_a_display_would_put_together_again_is_masked(between: str) -> None:
    """Signs that nobody sees do not hide a secret from the mask: shown, it would stand there whole."""
    apart = between.join("hunter22-very-secret")
    known = masker("hunter22-very-secret")
    assert known.mask(f"a {apart} b") == f"a {MASK} b"
    assert known.found(apart)
    assert known.mask(between.join("harmless")) == between.join("harmless")
