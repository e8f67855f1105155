"""The mock provider answers the same every time, in the shape that was asked for, at no cost."""

from __future__ import annotations

import asyncio
from typing import Any

import jsonschema_rs
import pytest

from nika_nb.errors import Fault
from nika_nb.providers.base import ChatReply, ChatRequest
from nika_nb.providers.mock import Mock
from nika_nb.providers.sample import smallest


def chat(**fields: Any) -> ChatReply:
    return asyncio.run(Mock().chat(ChatRequest(**{"model": "echo", "prompt": "hi", **fields})))


def test_echo() -> None:
    """The prompt comes back under the model's name."""
    assert chat(prompt="pure compute · no effects").text == "mock(echo) · pure compute · no effects"
    assert chat(model="mock-deterministic", prompt="a\nb").text == "mock(mock-deterministic) · a\nb"


def test_usage() -> None:
    """Tokens count the same every time; the system prompt counts; there is no price, and that is said."""
    reply = chat(prompt="12345678", system="1234")
    assert (reply.input_tokens, reply.output_tokens) == (3, 6)
    assert (reply.cost_usd, reply.unpriced) == (None, "mock_provider")
    assert reply == chat(prompt="12345678", system="1234")


def test_the_model_that_fails() -> None:
    """One model exists to fail."""
    with pytest.raises(Fault) as caught:
        chat(model="mock-error")
    assert caught.value.code == "NIKA-INFER-001"


SHAPES: list[tuple[str, dict[str, Any], Any]] = [
    ("a string", {"type": "string"}, ""),
    ("a long string", {"type": "string", "minLength": 3}, "xxx"),
    ("a boolean", {"type": "boolean"}, False),
    ("null", {"type": "null"}, None),
    ("an integer", {"type": "integer"}, 0),
    ("an integer from", {"type": "integer", "minimum": 3}, 3),
    ("an integer above", {"type": "integer", "exclusiveMinimum": 0}, 1),
    ("an integer up to", {"type": "integer", "maximum": -3}, -3),
    ("an integer below", {"type": "integer", "exclusiveMaximum": 0}, -1),
    ("a multiple", {"type": "integer", "minimum": 10, "multipleOf": 7}, 14),
    ("a number", {"type": "number"}, 0),
    ("a number in a narrow range", {"type": "number", "exclusiveMinimum": 0, "maximum": 1}, 0.5),
    ("a number from", {"type": "number", "minimum": 0.5, "maximum": 0.7}, 0.5),
    ("an enum", {"enum": ["low", "high"]}, "low"),
    ("a constant", {"const": {"a": 1}}, {"a": 1}),
    ("an empty array", {"type": "array", "items": {"type": "string"}}, []),
    ("an array", {"type": "array", "items": {"type": "integer"}, "minItems": 2}, [0, 0]),
    ("a tuple", {"type": "array", "prefixItems": [{"const": 1}], "minItems": 1}, [1]),
    ("a tuple and more", {"type": "array", "prefixItems": [{"const": 1}], "minItems": 2}, [1, None]),
    ("an optional member", {"type": "object", "properties": {"a": {"type": "string"}}}, {}),
    (
        "nested members",
        {
            "type": "object",
            "required": ["a", "b"],
            "properties": {
                "a": {"type": "string"},
                "b": {"type": "object", "required": ["c"], "properties": {"c": {"type": "integer"}}},
                "d": {"type": "string"},
            },
            "additionalProperties": False,
        },
        {"a": "", "b": {"c": 0}},
    ),
    ("a type of several", {"type": ["string", "null"]}, ""),
    ("one of", {"oneOf": [{"type": "integer"}, {"type": "string"}]}, 0),
    ("any of", {"anyOf": [{"type": "array"}, {"type": "string"}]}, []),
    (
        "all of",
        {
            "allOf": [
                {"type": "object", "required": ["a"], "properties": {"a": {"type": "string"}}},
                {"required": ["b"], "properties": {"b": {"type": "integer"}}},
            ]
        },
        {"a": "", "b": 0},
    ),
    ("a reference", {"$ref": "#/$defs/n", "$defs": {"n": {"type": "integer", "minimum": 2}}}, 2),
    ("no type but members", {"required": ["a"], "properties": {"a": {"type": "boolean"}}}, {"a": False}),
]


@pytest.mark.parametrize(("name", "schema", "value"), SHAPES, ids=[case[0] for case in SHAPES])
def test_the_smallest_value_of_a_shape(name: str, schema: dict[str, Any], value: Any) -> None:
    """It is the least that fits, and it does fit."""
    assert smallest(schema) == value
    assert jsonschema_rs.validator_for(schema).is_valid(smallest(schema))


def test_a_shape_that_never_ends() -> None:
    """A schema that needs itself ends anyway."""
    schema = {"type": "object", "required": ["next"], "properties": {"next": {"$ref": "#"}}}
    assert "next" in smallest(schema)
