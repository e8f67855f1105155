"""`nika:validate`: what does not fit is reported; only a schema that is none fails."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.tools.using import fault, use
from tests.verbs.calls import Recorder

ORDERS = {
    "type": "array",
    "items": {
        "type": "object",
        "required": ["id"],
        "properties": {"currency": {"enum": ["EUR", "USD"]}, "a/b~c": {"type": "integer"}},
    },
}


def test_valid_data(recorder: Recorder) -> None:
    """No errors; the schema may be an object, true, or a text in JSON or YAML."""
    data = [{"id": 1, "currency": "EUR"}]
    for schema in (ORDERS, True, json.dumps(ORDERS), "type: array\nminItems: 1\n"):
        assert use(recorder, "nika:validate", data=data, schema=schema) == {"valid": True, "errors": []}


def test_invalid_data_is_a_report(recorder: Recorder) -> None:
    """Every error with its message, its place in the data and the rule in the schema, as pointers."""
    found = use(
        recorder, "nika:validate", data=[{"id": 1, "currency": "CHF", "a/b~c": "x"}, {}], schema=ORDERS
    )
    assert found["valid"] is False
    errors = sorted(found["errors"], key=lambda error: str(error["path"]))
    assert [(error["path"], error["schema_path"]) for error in errors] == [
        ("/0/a~1b~0c", "/items/properties/a~1b~0c/type"),
        ("/0/currency", "/items/properties/currency/enum"),
        ("/1", "/items/required"),
    ]
    assert errors[2]["message"] == '"id" is a required property'
    assert use(recorder, "nika:validate", data=1, schema=False)["valid"] is False


def test_messages_are_short(recorder: Recorder) -> None:
    """A message does not repeat a whole document."""
    found = use(recorder, "nika:validate", data="x" * 100_000, schema={"type": "integer"})
    assert len(found["errors"][0]["message"]) == 500


def test_yaml_data(recorder: Recorder) -> None:
    """`format: yaml` parses the text first, by the core schema: `no` is a text, and 017 a number."""
    schema = {"properties": {"country": {"type": "string"}, "n": {"const": 17}}, "required": ["n"]}
    assert use(recorder, "nika:validate", data="country: no\nn: 017\n", schema=schema, format="yaml")["valid"]
    assert not use(recorder, "nika:validate", data="n: 1", schema=schema, format="yaml")["valid"]
    assert use(recorder, "nika:validate", data="n: [", schema={"type": "string"})["valid"]


BAD: list[tuple[dict[str, Any], str, str]] = [
    ({"schema": {"type": "nope"}}, "NIKA-BUILTIN-VALIDATE-001", '"nope" is not valid'),
    ({"schema": {"pattern": "("}}, "NIKA-BUILTIN-VALIDATE-001", "not a valid JSON Schema"),
    ({"schema": {"$ref": "#/nowhere"}}, "NIKA-BUILTIN-VALIDATE-001", "does not exist"),
    ({"schema": 3}, "NIKA-BUILTIN-VALIDATE-001", "not integer"),
    ({"schema": None}, "NIKA-BUILTIN-VALIDATE-001", "not null"),
    ({"schema": "[1]"}, "NIKA-BUILTIN-VALIDATE-001", "not array"),
    ({"schema": "type: ["}, "NIKA-BUILTIN-VALIDATE-001", "neither JSON nor YAML: line 2"),
    ({"format": "yaml", "data": "a: ["}, "NIKA-BUILTIN-VALIDATE-002", "`data:` is not YAML: line 2"),
    ({"format": "yaml", "data": {"a": 1}}, "NIKA-BUILTIN-VALIDATE-002", "`data:` is object"),
    ({"format": "yml"}, "NIKA-BUILTIN-001", "did you mean `yaml`?"),
    ({"data": b"ab"}, "NIKA-BUILTIN-001", "`data:` is not a JSON value"),
]


@pytest.mark.parametrize(("arguments", "code", "sentence"), BAD, ids=[case[2] for case in BAD])
def test_what_fails(recorder: Recorder, arguments: dict[str, Any], code: str, sentence: str) -> None:
    """A schema that is none, and data that is not what its format says."""
    found = fault(recorder, "nika:validate", **({"data": 1, "schema": True} | arguments))
    assert found.code == code
    assert sentence in found.message


def test_a_schema_reaches_nothing(recorder: Recorder, tmp_path: Path) -> None:
    """A reference out of the schema is refused: no file is read and no host is asked."""
    (tmp_path / "other.json").write_text('{"type": "integer"}')
    for uri, why in [
        (f"file://{tmp_path}/other.json", "may not refer to"),
        ("http://127.0.0.1:9/x.json", "may not refer to"),
        ("./other.json", "No base URI"),
    ]:
        found = fault(recorder, "nika:validate", data=1, schema={"$ref": uri})
        assert found.code == "NIKA-BUILTIN-VALIDATE-001"
        assert why in found.message


def test_a_pattern_cannot_hang(recorder: Recorder) -> None:
    """A pattern that backtracks without end elsewhere is answered at once."""
    found = use(recorder, "nika:validate", data="a" * 5000 + "!", schema={"pattern": "^(a+)+$"})
    assert found["valid"] is False
