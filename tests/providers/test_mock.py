"""The mock provider answers the same every time, in the shape that was asked for, at no cost."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from nika_nb.catalog.prices import Price
from nika_nb.catalog.providers import MOCKED, PROVIDERS
from nika_nb.errors import Fault
from nika_nb.providers.base import ChatReply, ChatRequest, Message, ToolCall, ToolSpec
from nika_nb.providers.mock import CALLS, Mock
from nika_nb.providers.registry import MAKERS
from nika_nb.providers.rehearsal import prices
from nika_nb.providers.sample import smallest


def chat(prompt: str = "hi", said: list[str] | None = None, **fields: Any) -> ChatReply:
    request = ChatRequest(**{"model": "echo", "messages": (Message("user", prompt),), **fields})
    return asyncio.run(Mock().chat(request, [].append if said is None else said.append))


@pytest.fixture
def configure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Writes what the mock is to answer, and where that stands into the environment."""

    def write(**forms: Any) -> None:
        (tmp_path / "mock.json").write_text(json.dumps(forms))
        monkeypatch.setenv("NIKA_NB_MOCK", str(tmp_path / "mock.json"))

    return write


def test_every_provider_that_is_made_is_a_known_one() -> None:
    """The prefixes that are served are prefixes of the language."""
    assert set(MAKERS) <= set(PROVIDERS)


def test_echo() -> None:
    """The prompt comes back under the model's name, in one piece."""
    said: list[str] = []
    assert chat("pure compute · no effects", said).text == "mock(echo) · pure compute · no effects"
    assert chat("a\nb", said, model="mock-deterministic").text == "mock(mock-deterministic) · a\nb"
    assert said == []


def test_echo_of_a_conversation() -> None:
    """What comes back is what the conversation began with."""
    messages = (Message("user", "first"), Message("assistant", "x"), Message("user", "again"))
    assert chat(messages=messages).text == "mock(echo) · first"


def test_usage() -> None:
    """Tokens count the same every time, and every message and the system prompt count."""
    reply = chat("12345678", system="1234")
    assert (reply.input_tokens, reply.output_tokens, reply.cost_usd) == (3, 6, None)
    assert reply == chat("12345678", system="1234")
    longer = chat(messages=(Message("user", "12345678"), Message("assistant", "1234")))
    assert longer.input_tokens == 3


def test_the_model_that_fails(configure: Any) -> None:
    """One model exists to fail: by itself, or as it is told to."""
    with pytest.raises(Fault) as caught:
        chat(model="mock-error")
    assert (caught.value.code, caught.value.transient) == ("NIKA-INFER-001", None)
    configure(error={"code": "NIKA-TIMEOUT-001", "message": "too slow", "transient": False})
    with pytest.raises(Fault) as caught:
        chat(model="mock-error")
    failed = caught.value
    assert (failed.code, failed.message, failed.transient) == ("NIKA-TIMEOUT-001", "too slow", False)


def test_the_model_that_streams(configure: Any) -> None:
    """It says its text piece by piece; what it says whole is the same."""
    said: list[str] = []
    assert chat("a b", said, model="mock-streaming").text == "".join(said) == "mock(mock-streaming) · a b"
    assert len(said) == 4
    configure(streaming=["one, ", "two"])
    said.clear()
    assert chat("a b", said, model="mock-streaming").text == "one, two"
    assert said == ["one, ", "two"]
    configure(streaming="three four")
    said.clear()
    assert chat("a b", said, model="mock-streaming").text == "three four"
    assert said == ["three ", "four"]


def test_the_model_that_answers_in_json(configure: Any) -> None:
    """The shape is the configured one, else the one that was asked for, else an empty object."""
    asked = {"type": "object", "required": ["a"], "properties": {"a": {"type": "string"}}}
    assert chat(model="mock-json").text == "{}"
    assert chat(model="mock-json", schema=asked).text == '{"a":""}'
    configure(json={"type": "array", "minItems": 1, "items": {"const": 7}})
    assert chat(model="mock-json", schema=asked).text == "[7]"


@pytest.mark.parametrize("content", [None, "{", "[]"])
def test_a_configuration_that_cannot_be_read(
    content: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A missing or broken file fails by name, whatever model asks."""
    if content is not None:
        (tmp_path / "mock.json").write_text(content)
    monkeypatch.setenv("NIKA_NB_MOCK", str(tmp_path / "mock.json"))
    for model in ("mock-json", "echo"):
        with pytest.raises(Fault, match=r"NIKA_NB_MOCK=.*mock.json cannot be used"):
            chat(model=model)


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ({"error": "boom"}, "`error` is how `mock/mock-error` fails: {code, message, transient}"),
        ({"error": {"status": 429}}, "`error` is how"),
        ({"error": {"transient": "no"}}, "`error` is how"),
        ({"streaming": 3}, "`streaming` is what"),
        ({"streaming": ["a", 1]}, "`streaming` is what"),
        ({"json": "object"}, "`json` is the JSON Schema"),
        ({"prces": {}}, "there is no `prces`; did you mean `prices`?"),
        ({"temperature": 1}, "there is no `temperature`; there are `error`, `streaming`"),
    ],
)
def test_a_form_that_nobody_can_read_is_named(written: Any, told: str, configure: Any) -> None:
    """Whichever model is asked: what was meant for another one is not passed over in silence."""
    configure(**written)
    with pytest.raises(Fault) as caught:
        chat()
    assert told in caught.value.message


def test_a_form_that_is_null_says_nothing(configure: Any) -> None:
    configure(**dict.fromkeys(MOCKED))
    assert chat(model="mock-json").text == "{}"


def test_a_price_is_made_up_where_one_is_given(configure: Any) -> None:
    """A priced model bills every call by its tokens; the others cost nothing, as ever."""
    configure(prices={"echo": {"input": 3, "output": 15}})
    reply = chat("12345678")
    assert (reply.input_tokens, reply.output_tokens) == (2, 6)
    assert reply.cost_usd == pytest.approx((2 * 3 + 6 * 15) / 1e6)
    assert chat(model="mock-deterministic").cost_usd is None
    assert prices()["mock/echo"] == Price(3, 15)


@pytest.mark.parametrize(
    "written",
    [
        [],
        {"echo": 3},
        {"echo": {"input": 3}},
        {"echo": {"input": 3, "output": 1, "cached": 2}},
        {"echo": {"input": "3", "output": 15}},
        {"echo": {"input": True, "output": 15}},
        {"echo": {"input": -1, "output": 15}},
        {"echo": {"input": 1e999, "output": 15}},
    ],
)
def test_a_price_that_is_none(written: Any, configure: Any) -> None:
    """It is refused at the first call, and never taken for nothing."""
    configure(prices=written)
    with pytest.raises(Fault, match=r"NIKA_NB_MOCK=.* cannot be used"):
        chat()


def test_a_reply_takes_its_time(configure: Any) -> None:
    """As long as it is told to: a slow model can be rehearsed, with a timeout around it."""
    configure(delay_ms=60_000)
    request = ChatRequest("echo", (Message("user", "hi"),))
    with pytest.raises(TimeoutError):
        asyncio.run(asyncio.wait_for(Mock().chat(request, print), 0.05))
    configure(delay_ms=0.5)
    assert chat().text == "mock(echo) · hi"


@pytest.mark.parametrize("written", [-1, "5", True, [], 1e999])
def test_a_time_that_is_none(written: Any, configure: Any) -> None:
    """It is refused at the first call."""
    configure(delay_ms=written)
    with pytest.raises(Fault, match=r"NIKA_NB_MOCK=.* cannot be used"):
        chat()


# -- with tools ------------------------------------------------------------------------------------

LEAST = {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer", "minimum": 2}}}
TOOLS = (ToolSpec("nika:first", "", LEAST), ToolSpec("nika:second", "", {"type": "object"}))


def after(turns: int, **fields: Any) -> ChatReply:
    """The mock's reply after so many turns with calls."""
    messages = [Message("user", "hi")]
    for turn in range(turns):
        made = ToolCall(f"call-{turn + 1}", "nika:first", {"n": 2})
        messages += [Message("assistant", "", calls=(made,)), Message("tool", "ok", answers=made.id)]
    return chat(messages=tuple(messages), tools=TOOLS, **fields)


def test_with_tools_it_calls_the_first() -> None:
    """It calls the first tool it is granted with the smallest arguments that fit, and speaks beside it."""
    reply = after(0)
    assert reply.calls == (ToolCall("call-1", "nika:first", {"n": 2}),)
    assert reply.text == "mock(echo) · hi"
    assert after(1).calls[0].id == "call-2"


def test_then_it_answers() -> None:
    """After two turns it answers: a budget of two is used up, the usual one of ten is not."""
    assert CALLS == 2
    assert (after(2).calls, after(2).text) == ((), "mock(echo) · hi")


def test_a_shape_is_for_the_answer_only() -> None:
    """While it calls tools it says what it always says; its answer has the shape."""
    assert after(1, schema=LEAST).text == "mock(echo) · hi"
    assert after(2, schema=LEAST).text == '{"n":2}'


SHAPES: list[tuple[str, dict[str, Any], Any]] = [
    ("a string", {"type": "string"}, ""),
    ("a long string", {"type": "string", "minLength": 3}, "xxx"),
    ("a boolean", {"type": "boolean"}, False),
    ("null", {"type": "null"}, None),
    ("an integer", {"type": "integer"}, 0),
    ("an integer from", {"type": "integer", "minimum": 3}, 3),
    ("an integer above", {"type": "integer", "exclusiveMinimum": 0}, 1),
    ("an integer up to", {"type": "integer", "maximum": -3}, -3),
    ("an integer up to more than zero", {"type": "integer", "maximum": 5}, 0),
    ("an integer below more than zero", {"type": "integer", "exclusiveMaximum": 5}, 0),
    ("an integer from less than zero", {"type": "integer", "minimum": -5}, 0),
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


def test_a_model_that_mock_does_not_have() -> None:
    """One whose name only the run knows: it fails with what was meant, and no try of it would go well."""
    with pytest.raises(Fault, match="there is no mock model `mock/ehco`; did you mean `mock/echo`") as told:
        chat(model="ehco")
    assert (told.value.code, told.value.transient) == ("NIKA-INFER-001", False)


def test_a_price_of_a_model_that_mock_does_not_have(configure: Any) -> None:
    """It would never be paid: a slip of the pen."""
    configure(prices={"ehco": {"input": 1, "output": 2}})
    with pytest.raises(Fault, match="`prices` is what the mock models cost, by name"):
        prices()
