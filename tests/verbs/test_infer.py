"""`infer`: who answers, what is asked, what a reply has to fit, and what all of it cost."""

from __future__ import annotations

import asyncio
import base64
import os
from pathlib import Path
from typing import Any

import pytest

from nika_nb.engine.contract import Permit, Reply
from nika_nb.errors import Fault
from nika_nb.language.model import Permits
from nika_nb.providers.base import ChatRequest, Message, Picture, Thinking
from nika_nb.verbs.infer import Infer
from nika_nb.verbs.models import Models
from tests.providers.scripted import Line, Scripted, says
from tests.verbs.calls import Recorder, permits

COUNT = {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}


class Asked:
    """One `infer` of a scripted model `x/y`, and everything it left behind."""

    def __init__(self, *lines: Line, base: str = "/", block: Permits | None = None) -> None:
        self.provider = Scripted(*lines)
        self.recorder = Recorder(base)
        self._verb = Infer(Models("x/y", {"x": self.provider, "openai": self.provider}), block)

    def __call__(self, **body: Any) -> Any:
        call = self.recorder.call("infer", {"prompt": "hi", **body})
        return asyncio.run(self._verb.run(call)).output

    def fault(self, **body: Any) -> Fault:
        with pytest.raises(Fault) as caught:
            self(**body)
        return caught.value


def mock(**body: Any) -> tuple[Reply, Recorder]:
    recorder = Recorder("/")
    call = recorder.call("infer", {"prompt": "hi", **body})
    return asyncio.run(Infer(Models("mock/echo")).run(call)), recorder


# -- who answers -----------------------------------------------------------------------------------


def test_the_mock_answers() -> None:
    """The reply is the text; its usage names the whole model and why there is no price."""
    reply, recorder = mock()
    assert reply.output == "mock(echo) · hi"
    assert recorder.processes == [None]
    [usage] = recorder.spent
    assert (usage.model, usage.tokens) == ("mock/echo", 5)
    assert (usage.cost_usd, usage.unpriced) == (None, "mock_provider")


def test_the_tasks_own_model_wins() -> None:
    """A task's model stands before the default."""
    asked = Asked("ok")
    assert asked(model="mock/echo") == "mock(echo) · hi"
    assert not asked.provider.requests


UNKNOWN = [
    ("nobody/gpt", "the provider `nobody` is not built in yet (mock is); try it with the model `mock/echo`"),
    ("gpt", "`gpt` names no provider; write it as `<provider>/gpt`"),
    ("mock/", "`mock/` names no provider"),
    (None, "the task names no model"),
]


@pytest.mark.parametrize(("model", "sentence"), UNKNOWN)
def test_a_model_nobody_serves(model: str | None, sentence: str) -> None:
    """A model that cannot be reached fails with the way out, and is not tried again."""
    recorder = Recorder("/")
    with pytest.raises(Fault) as caught:
        asyncio.run(Infer(Models()).run(recorder.call("infer", {"prompt": "hi", "model": model})))
    assert (caught.value.code, caught.value.transient) == ("NIKA-INFER-001", False)
    assert sentence in caught.value.message
    assert not recorder.processes


# -- what is asked ---------------------------------------------------------------------------------


def test_the_request_carries_the_body() -> None:
    """Everything the author wrote reaches the provider, numbers as numbers."""
    asked = Asked("ok")
    thinking = {"enabled": True, "budget_tokens": 4000}
    asked(model="x/a/b", system="s", temperature="0.3", max_tokens=9, prompt=7, thinking=thinking)
    [request] = asked.provider.requests
    assert request == ChatRequest("a/b", (Message("user", "7"),), "s", 0.3, 9, None, Thinking(4000))


def test_thinking_that_is_turned_off_is_not_asked_for() -> None:
    """`enabled: false` asks for none, whatever its budget."""
    asked = Asked("ok")
    asked(thinking={"enabled": False, "budget_tokens": 4000})
    assert asked.provider.requests[0].thinking is None


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ({"temperature": "3"}, "`temperature:` came out as 3: it is a number from 0 to 2"),
        ({"temperature": "warm"}, "`temperature:` came out as warm"),
        ({"max_tokens": "many"}, "`max_tokens:` came out as many: it is a whole number from 1 on"),
        ({"max_tokens": 0}, "`max_tokens:` came out as 0"),
    ],
)
def test_a_number_that_came_out_wrong(body: dict[str, Any], sentence: str) -> None:
    """What a template made of a number is judged before the model is asked."""
    asked = Asked("ok")
    assert sentence in asked.fault(**body).message
    assert not asked.provider.requests


def test_a_reply_is_shown_as_it_comes() -> None:
    """Those who watch see the text of the model."""
    asked = Asked("so it is")
    asked()
    assert asked.recorder.shown == [("model", "so it is")]


# -- pictures --------------------------------------------------------------------------------------

PNG = b"\x89PNG\r\n\x1a\nrest"
BLOCK = permits(read=["pics/**"], http=["example.com"])


def vision(tmp_path: Path, block: Permits | None = BLOCK) -> Asked:
    (tmp_path / "pics").mkdir()
    return Asked("ok", base=str(tmp_path), block=block)


def test_a_picture_of_a_file_is_read_here(tmp_path: Path) -> None:
    """The bytes travel as base64 with the kind that they are of, whatever the file is called."""
    asked = vision(tmp_path)
    for name, raw in {"a": PNG, "b.png": b"\xff\xd8\xff", "c": b"GIF89a", "d": b"RIFF\0\0\0\0WEBP"}.items():
        (tmp_path / "pics" / name).write_bytes(raw)
    asked(vision=[{"source": "file", "path": f"pics/{name}"} for name in ("a", "b.png", "c", "d")])
    [message] = asked.provider.requests[0].messages
    kinds = [picture.media_type for picture in message.pictures]
    assert kinds == ["image/png", "image/jpeg", "image/gif", "image/webp"]
    assert message.pictures[0] == Picture(data=base64.b64encode(PNG).decode(), media_type="image/png")


def test_a_picture_outside_the_boundary_is_never_read(tmp_path: Path) -> None:
    """permits.fs.read decides about pictures as about every file, links followed."""
    asked = vision(tmp_path)
    (tmp_path / "secret").write_bytes(PNG)
    (tmp_path / "pics" / "link").symlink_to(tmp_path / "secret")
    for path in ("secret", "pics/link", "not-there"):
        assert asked.fault(vision=[{"source": "file", "path": path}]).code == "NIKA-SEC-004"
    assert [decision.allowed for decision in asked.recorder.decisions] == [False] * 3
    assert not asked.provider.requests


def test_what_is_no_picture(tmp_path: Path) -> None:
    """A file that is missing, no picture or none at all fails by name, and nothing is asked."""
    asked = vision(tmp_path)
    (tmp_path / "pics" / "text").write_text("hello")
    os.mkfifo(tmp_path / "pics" / "pipe")
    for path, sentence in {"gone": "is not there", "text": "is no picture", "pipe": "is not there"}.items():
        found = asked.fault(vision=[{"source": "file", "path": f"pics/{path}"}])
        assert (found.code, found.transient) == ("NIKA-INFER-001", False)
        assert sentence in found.message
    assert not asked.provider.requests


def test_an_address_of_a_picture_is_passed_on(tmp_path: Path) -> None:
    """The provider fetches it itself, if permits.net lists its host; the decision is witnessed."""
    asked = vision(tmp_path)
    url = "https://example.com/a.png"
    asked(vision=[{"source": "url", "url": url}])
    assert asked.provider.requests[0].messages[0].pictures == (Picture(url=url),)
    why = "permits.net.http lists the host"
    assert asked.recorder.decisions == [Permit("net", "example.com", True, why)]


@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("https://other.example/a.png", "NIKA-SEC-004"),
        ("http://169.254.169.254/latest", "NIKA-SEC-005"),
        ("http://localhost/a.png", "NIKA-SEC-005"),
        ("file:///etc/passwd", "NIKA-INFER-001"),
        ("data:image/png;base64,AA==", "NIKA-INFER-001"),
    ],
)
def test_an_address_that_is_not_passed_on(tmp_path: Path, url: str, code: str) -> None:
    """Hosts outside the boundary, inner addresses and what is no web address stay here."""
    asked = vision(tmp_path)
    assert asked.fault(vision=[{"source": "url", "url": url}]).code == code
    assert not asked.provider.requests


# -- what a reply has to fit -----------------------------------------------------------------------


def test_a_structured_reply() -> None:
    """With a schema the value comes back, shaped and judged; a code fence around it does no harm."""
    assert Asked('{"n": 5}')(schema=COUNT) == {"n": 5}
    assert Asked('```json\n{"n": 5}\n```')(schema=COUNT) == {"n": 5}
    least = {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer", "minimum": 2}}}
    assert mock(schema=least)[0].output == {"n": 2}


def test_a_misfit_is_given_back() -> None:
    """The model is shown what it said and what is wrong with it, and may try again."""
    asked = Asked("five", '{"n": "5"}', '{"n": 5}')
    assert asked(schema=COUNT) == {"n": 5}
    told = list(asked.provider.requests[-1].messages)
    assert [message.role for message in told] == ["user", "assistant", "user", "assistant", "user"]
    assert [told[1].text, told[3].text] == ["five", '{"n": "5"}']
    assert "it is not JSON" in told[2].text
    assert "(at n)" in told[4].text
    assert all(request.schema == COUNT for request in asked.provider.requests)


def test_repairs_are_bounded_and_paid_for() -> None:
    """After two repairs the task fails; every one of the three calls is counted."""
    asked = Asked(says("{}", tokens=(10, 1)), says("{}", tokens=(20, 1)), says("[]", tokens=(30, 1)))
    found = asked.fault(schema=COUNT)
    assert found.code == "NIKA-INFER-002"
    assert found.details == {"reply": "[]", "repairs": 2}
    assert "(asked 3 times)" in found.message
    assert [usage.input_tokens for usage in asked.recorder.spent] == [10, 20, 30]


def test_a_failed_call_ends_the_repair() -> None:
    """What the provider refuses is not repaired: its own error stands, what was used is counted."""
    asked = Asked("{}", Fault("NIKA-INFER-001", "503", transient=True))
    assert asked.fault(schema=COUNT).message == "503"
    assert len(asked.recorder.spent) == 1


def test_a_schema_reads_nothing_outside_of_itself(tmp_path: Path) -> None:
    """A reference to a file is refused before the model is asked."""
    (tmp_path / "s.json").write_text('{"type": "integer"}')
    asked = Asked("5")
    found = asked.fault(schema={"$ref": (tmp_path / "s.json").as_uri()})
    assert found.code == "NIKA-INFER-002"
    assert "the schema itself cannot be used" in found.message
    assert not asked.provider.requests


# -- what it cost ----------------------------------------------------------------------------------


def test_a_priced_model_costs_what_the_list_says() -> None:
    """Tokens times the list price, per call."""
    asked = Asked(says("ok", tokens=(1_000_000, 100_000)))
    asked(model="openai/gpt-5.2")
    [usage] = asked.recorder.spent
    assert (usage.cost_usd, usage.unpriced) == (1.75 + 1.4, None)


def test_what_the_provider_bills_itself_stands() -> None:
    """A provider's own bill goes before the list."""
    asked = Asked(says("ok", cost=0.5))
    asked(model="openai/gpt-5.2")
    assert asked.recorder.spent[0].cost_usd == 0.5


def test_a_model_without_a_price_costs_nobody_knows_what() -> None:
    """No price, no cost: null and the reason, never a zero."""
    asked = Asked("ok")
    asked(model="openai/house-model")
    [usage] = asked.recorder.spent
    assert (usage.cost_usd, usage.unpriced) == (None, "unknown_model")


def test_a_priced_call_without_usage_is_not_taken() -> None:
    """What cannot be billed fails (NIKA-INFER-003), and is counted as unknown."""
    asked = Asked(says("ok", tokens=(None, None)))
    assert asked.fault(model="openai/gpt-5.2").code == "NIKA-INFER-003"
    [usage] = asked.recorder.spent
    assert (usage.tokens, usage.cost_usd, usage.unpriced) == (None, None, "usage_unreported")


def test_an_unpriced_call_without_usage_is_taken() -> None:
    """Without a price there is nothing to bill: the answer stands, its tokens stay unknown."""
    asked = Asked(says("ok", tokens=(None, None)))
    assert asked() == "ok"
    assert asked.recorder.spent[0].tokens is None


@pytest.mark.parametrize("tokens", [(7, None), (None, 7)])
def test_half_a_usage_is_counted_as_it_is(tokens: tuple[int | None, int | None]) -> None:
    """A provider that tells one of the two numbers: that one is known."""
    asked = Asked(says("ok", tokens=tokens))
    asked()
    assert asked.recorder.spent[0].tokens == 7


@pytest.mark.parametrize("schema", [None, COUNT])
def test_tokens_spent_on_nothing(schema: dict[str, Any] | None) -> None:
    """An empty answer that cost tokens fails at once (NIKA-INFER-004): asking again would cost them again."""
    asked = Asked(says(" \n", tokens=(5, 64)))
    found = asked.fault(schema=schema)
    assert (found.code, found.details) == ("NIKA-INFER-004", {"output_tokens": 64})
    assert len(asked.provider.requests) == 1


def test_an_empty_answer_that_cost_nothing() -> None:
    """A model that was asked for nothing may say nothing."""
    assert Asked(says("", tokens=(5, 0)))() == ""
