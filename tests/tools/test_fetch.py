"""`nika:fetch` against a real server: what it returns, what it sends, how it fails, where it never goes."""

from __future__ import annotations

import asyncio
import gzip
import json
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from nika_nb.authority.hosts import read_site
from nika_nb.catalog.codes import category_of
from nika_nb.engine.contract import Reply
from nika_nb.errors import Fault
from nika_nb.language.model import Permits
from nika_nb.tools import web
from nika_nb.tools.base import Asking
from nika_nb.verbs.invoke import Invoke
from tests.tools.server import Handler, Server, make_certificate, serving
from tests.verbs.calls import Recorder, permits

HERE = permits(tools=["nika:fetch"], http=["127.0.0.1"])
BOTH = permits(tools=["nika:fetch"], http=["127.0.0.1", "localhost"])


@pytest.fixture
def recorder(tmp_path: Path) -> Recorder:
    return Recorder(str(tmp_path))


@pytest.fixture(scope="module")
def listener() -> Iterator[Server]:
    with serving() as server:
        yield server


@pytest.fixture
def server(listener: Server) -> Server:
    listener.routes.clear()
    listener.seen.clear()
    return listener


def fetch(recorder: Recorder, url: str, block: Permits | None = HERE, **arguments: Any) -> Any:
    arguments.setdefault("mode", "raw")
    body = {"tool": "nika:fetch", "args": {"url": url, **arguments}}
    reply: Reply = asyncio.run(Invoke(block, Asking()).run(recorder.call("invoke", body)))
    return reply.output


def fault(recorder: Recorder, url: str, block: Permits | None = HERE, **arguments: Any) -> Fault:
    with pytest.raises(Fault) as caught:
        fetch(recorder, url, block, **arguments)
    return caught.value


# what comes back


def test_the_text_of_an_answer(recorder: Recorder, server: Server) -> None:
    """`raw` is the body as UTF-8 text, nothing added and nothing taken away."""
    assert fetch(recorder, server.answer("/a", "é\r\n")) == "é\r\n"
    assert fetch(recorder, server.answer("/empty", status=204)) == ""
    assert fetch(recorder, server.answer("/head", "body"), method="HEAD") == ""


def test_json_through_jq(recorder: Recorder, server: Server) -> None:
    """`jq` is the one value that the program makes of the JSON, big numbers whole."""
    url = server.answer("/users", '\ufeff{"users":[{"email":"a@b"},{"email":"c@d"}],"id":9007199254740993}')
    assert fetch(recorder, url, mode="jq", jq="[.users[].email]") == ["a@b", "c@d"]
    assert fetch(recorder, url, mode="jq", jq=".id") == 9007199254740993
    for program, count in ((".users[]", "2 values"), ("empty", "no value")):
        found = fault(recorder, url, mode="jq", jq=program)
        assert (found.code, found.transient) == ("NIKA-BUILTIN-FETCH-001", False)
        assert count in found.message
    assert fault(recorder, url, mode="jq", jq=".id.x").code == "NIKA-BUILTIN-FETCH-001"


def test_a_program_that_is_none_costs_no_request(recorder: Recorder, server: Server) -> None:
    """What can be refused before the network is."""
    found = fault(recorder, server.answer("/a", "1"), mode="jq", jq=".a |")
    assert found.code == "NIKA-VAR-005"
    assert server.seen == []


UNUSABLE: list[tuple[str, bytes, dict[str, str], dict[str, str], str]] = [
    ("bytes", b"ab\xff", {}, {}, "does not answer in UTF-8 text (byte 2)"),
    ("no json", b"<html>", {}, {"mode": "jq", "jq": "."}, "does not answer in JSON"),
    ("nothing", b"", {}, {"mode": "jq", "jq": "."}, "does not answer in JSON"),
    ("a key twice", b'{"a":1,"a":2}', {}, {"mode": "jq", "jq": "."}, "duplicate key 'a'"),
    ("brotli", b"x", {"content_encoding": "br"}, {}, "packed as `br`, which is not read"),
]


@pytest.mark.parametrize("case", UNUSABLE, ids=[case[0] for case in UNUSABLE])
def test_an_answer_that_cannot_be_used(recorder: Recorder, server: Server, case: Any) -> None:
    """It fails with the reason, and another try would not help."""
    _, body, headers, arguments, sentence = case
    found = fault(recorder, server.answer("/a", body, **headers), **arguments)
    assert (found.code, found.transient) == ("NIKA-BUILTIN-FETCH-001", False), found
    assert sentence in found.message


def test_packed_answers(recorder: Recorder, server: Server) -> None:
    """gzip is asked for and unpacked, in one member or several."""
    packed = gzip.compress(b"first ") + gzip.compress(b"second")
    assert fetch(recorder, server.answer("/a", packed, content_encoding="gzip")) == "first second"
    assert server.seen[0].headers["accept-encoding"] == "gzip"
    broken = fault(recorder, server.answer("/b", packed[:-9], content_encoding="gzip"))
    assert (broken.code, broken.transient) == ("NIKA-BUILTIN-FETCH-001", True)
    assert "damaged: it breaks off" in broken.message
    assert "damaged" in fault(recorder, server.answer("/c", b"plain", content_encoding="gzip")).message


def test_an_answer_has_a_bound(recorder: Recorder, server: Server) -> None:
    """10 MiB are read, one byte more is not, however it is packed or announced."""
    limit = 10 << 20
    assert limit == web.MOST_BYTES
    assert len(fetch(recorder, server.answer("/fits", b"x" * limit))) == limit
    bomb = gzip.compress(b"x" * (limit + 1))
    endless = b"".join([b"8000\r\n" + b"x" * 0x8000 + b"\r\n"] * 400)

    def chunks(handler: Handler) -> None:
        handler.send_response(200)
        handler.send_header("transfer-encoding", "chunked")
        handler.end_headers()
        handler.wfile.write(endless)

    server.routes["/chunks"] = chunks
    for url in (
        server.answer("/large", b"x" * (limit + 1)),
        server.answer("/bomb", bomb, content_encoding="gzip"),
        server.url("/chunks"),
    ):
        found = fault(recorder, url)
        assert (found.code, found.transient) == ("NIKA-BUILTIN-FETCH-001", False)
        assert "more than 10 MiB: ask for less" in found.message


# what is sent


def test_a_request_as_it_arrives(recorder: Recorder, server: Server) -> None:
    """Our usual headers, the author's besides or instead, the query whole and encoded."""
    server.answer("/a%20b", "x")
    headers = {"X-Api-Key": "k1", "X-Count": 3, "Accept": "a/b"}
    fetch(recorder, server.url("/a b?q=ä b&k=%20#part"), headers=headers)
    seen = server.seen[0]
    assert (seen.method, seen.path, seen.body) == ("GET", "/a%20b?q=%C3%A4%20b&k=%20", b"")
    assert seen.headers["host"] == f"127.0.0.1:{server.port}"
    assert seen.headers["user-agent"].startswith("nika-nb/")
    assert (seen.headers["x-api-key"], seen.headers["x-count"], seen.headers["accept"]) == ("k1", "3", "a/b")


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "DELETE", "PATCH"])
def test_every_method_carries_its_body(recorder: Recorder, server: Server, method: str) -> None:
    """The method goes out as written; an object goes as JSON."""
    assert fetch(recorder, server.answer("/a", "done"), method=method, body={"é": [1, None]}) == "done"
    seen = server.seen[0]
    assert (seen.method, json.loads(seen.body)) == (method, {"é": [1, None]})
    assert seen.headers["content-type"] == "application/json"


def test_bodies_that_are_no_objects(recorder: Recorder, server: Server) -> None:
    """Text and bytes go as they are, under the type that the author names."""
    url = server.answer("/a")
    kind = {"Content-Type": "text/csv"}
    fetch(recorder, url, method="POST", body="a,é\n", headers=kind)
    fetch(recorder, url, method="POST", body=b"\xff\0")
    fetch(recorder, url, method="POST", body=3)
    fetch(recorder, url, method="POST", body={"a": 1}, headers={"content-type": "application/vnd.api+json"})
    fetch(recorder, url, method="POST", body=None)
    assert [seen.body for seen in server.seen] == ["a,é\n".encode(), b"\xff\0", b"3", b'{"a":1}', b""]
    kinds = [seen.headers.get("content-type") for seen in server.seen]
    assert kinds == ["text/csv", None, "application/json", "application/vnd.api+json", None]


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"method": "PSOT"}, "did you mean `POST`?"),
    ({"method": "TRACE"}, "no `method: TRACE`"),
    ({"mode": "html"}, "no `mode: html`"),
    ({"mode": 3}, "`mode:` as a string"),
    ({"mode": "jq"}, "`mode: jq` needs `jq:`"),
    ({"jq": "."}, "`mode: raw` takes no `jq:`"),
    ({"selector": "a"}, "`mode: raw` takes no `selector:`"),
    ({"headers": [1]}, "`headers:` is an object, not array"),
    ({"headers": {"a b": "x"}}, "`a b` is not the name of one header"),
    ({"headers": {"a\r\nb": "x"}}, "is not the name of one header"),
    ({"headers": {"A": "1", "a": "2"}}, "is not the name of one header"),
    ({"headers": {"Host": "other.example"}}, "the header `Host` follows from the request"),
    ({"headers": {"Transfer-Encoding": "chunked"}}, "follows from the request"),
    ({"headers": {"x": "hunter22\r\nevil: 1"}}, "the header `x` holds a line break"),
    ({"headers": {"x": "hunter22\0"}}, "the header `x` holds"),
    ({"headers": {"x": ["hunter22"]}}, "the header `x` is text, not array"),
    ({"headers": {"x": None}}, "the header `x` is text, not null"),
    ({"body": {"a": b"x"}}, "`body:` is text, bytes or a JSON value"),
    ({"uri": "x"}, "no argument `uri`; did you mean `url`?"),
]


@pytest.mark.parametrize(("arguments", "sentence"), WRONG, ids=[case[1] for case in WRONG])
def test_bad_arguments(recorder: Recorder, server: Server, arguments: dict[str, Any], sentence: str) -> None:
    """They are named before anything is sent, and a header's value is in no message."""
    found = fault(recorder, server.answer("/a"), **arguments)
    assert found.code == "NIKA-BUILTIN-001"
    assert sentence in found.message
    assert "hunter22" not in found.message
    assert server.seen == []


LATER = [
    ({"mode": "markdown"}, "`mode: markdown` is not part of this version"),
    ({"mode": "feed"}, "`mode: feed` is not part of this version"),
    ({"form": {"a": 1}}, "`form:` of `nika:fetch` is not part of this version"),
    ({"multipart": [{"name": "a", "value": "b"}]}, "`multipart:`"),
    ({"traverse": {"max_pages": 2}}, "`traverse:`"),
]


@pytest.mark.parametrize(("arguments", "sentence"), LATER, ids=[case[1] for case in LATER])
def test_what_is_not_there_yet_says_so(
    recorder: Recorder, server: Server, arguments: dict[str, Any], sentence: str
) -> None:
    """No other result stands in for what was asked for."""
    found = fault(recorder, server.answer("/a"), **arguments)
    assert found.code == "NIKA-IMPL-001"
    assert sentence in found.message
    assert server.seen == []


def test_the_usual_mode_is_not_there_yet(recorder: Recorder, server: Server) -> None:
    """Without a mode a page would be turned into markdown."""
    body = {"tool": "nika:fetch", "args": {"url": server.answer("/a")}}
    with pytest.raises(Fault, match="into markdown, the usual mode, is not part of this version"):
        asyncio.run(Invoke(HERE, Asking()).run(recorder.call("invoke", body)))


# how it fails


@pytest.mark.parametrize(
    ("status", "transient"),
    [
        (400, False),
        (401, False),
        (404, False),
        (408, True),
        (429, True),
        (500, True),
        (503, True),
        (304, False),
    ],
)
def test_a_status_that_is_no_success(
    recorder: Recorder, server: Server, status: int, transient: bool
) -> None:
    """The status and what the server says are told; only some are worth another try."""
    found = fault(
        recorder, server.answer("/a", "" if status == 304 else "no \n such", status) + "?key=hunter22"
    )
    assert (found.code, found.transient) == ("NIKA-BUILTIN-FETCH-001", transient)
    assert category_of(found.code) == "network_error"
    assert found.details == {"host": "127.0.0.1", "status_code": status}
    assert found.message.startswith(f"`{server.url('/a')}` answers {status}")
    assert found.message.endswith(": no such") is (status != 304)
    assert "hunter22" not in found.message


def test_a_server_that_repeats_a_secret(recorder: Recorder, server: Server) -> None:
    """What the author sent in a header is blotted out of what the server says."""
    url = server.answer("/a", "bad token hunter22 in 'Bearer hunter22'", 401)
    found = fault(recorder, url, headers={"authorization": "Bearer hunter22"})
    assert "hunter22" not in f"{found.message}{found.details}"
    assert "bad token ••••••" in found.message


def _closed_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
        return port


def _raw(server: Server, path: str, data: bytes) -> str:
    def answer(handler: Handler) -> None:
        handler.wfile.write(data)
        handler.close_connection = True

    server.routes[path] = answer
    return server.url(path)


def test_a_connection_that_does_not_come_about_or_breaks(recorder: Recorder, server: Server) -> None:
    """Whatever may pass by itself is worth another try, and the sentence says what happened."""
    cases = [
        (f"http://127.0.0.1:{_closed_port()}/", "cannot be reached: connection refused"),
        (_raw(server, "/nothing", b""), "does not answer in HTTP, or stopped in the middle"),
        (_raw(server, "/other", b"SSH-2.0-x\r\n\r\n"), "does not answer in HTTP"),
        (_raw(server, "/half", b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf"), "stopped in the middle"),
        (server.url("/a", scheme="https"), "cannot be reached: "),
    ]
    for url, sentence in cases:
        found = fault(recorder, url)
        assert (found.code, found.transient) == ("NIKA-BUILTIN-FETCH-001", True), found
        assert sentence in found.message


def test_a_server_that_says_nothing(
    recorder: Recorder, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fetch has an end of its own, also where the task names no timeout."""
    monkeypatch.setattr(web, "TOTAL_SECONDS", 0.3)
    release = threading.Event()
    server.routes["/silent"] = lambda handler: handler.say(200 if release.wait(20) else 500, b"", {})
    found = fault(recorder, server.url("/silent"))
    release.set()
    assert (found.code, found.transient) == ("NIKA-BUILTIN-FETCH-001", True)
    assert "was not done after 0.3 s" in found.message


def test_a_cancelled_fetch_hangs_up(recorder: Recorder, server: Server) -> None:
    """The end of a task ends its connection: the server finds nobody there any more."""
    begun, gone = threading.Event(), threading.Event()

    def silent(handler: Handler) -> None:
        begun.set()
        if handler.rfile.read(1) == b"":
            gone.set()
        handler.close_connection = True

    server.routes["/silent"] = silent
    body = {"tool": "nika:fetch", "args": {"url": server.url("/silent"), "mode": "raw"}}

    async def scenario() -> None:
        running = asyncio.create_task(Invoke(HERE, Asking()).run(recorder.call("invoke", body)))
        assert await asyncio.to_thread(begun.wait, 20)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert await asyncio.to_thread(gone.wait, 20)

    asyncio.run(scenario())


# secure lines


def test_a_certificate_nobody_vouches_for(recorder: Recorder, tmp_path: Path) -> None:
    """A self-signed certificate is refused, and another try would not help."""
    with serving(make_certificate(tmp_path, "localhost")) as secure:
        found = fault(recorder, secure.url("/a", "localhost", "https"), BOTH)
        assert (found.code, found.transient) == ("NIKA-BUILTIN-FETCH-001", False)
        assert "its certificate is not trusted" in found.message
        assert secure.seen == []


def test_the_certificate_is_the_names(
    recorder: Recorder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The address is dialed, but the name is asked for and vouched for."""
    certificate = make_certificate(tmp_path, "localhost")
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    with serving(certificate) as secure:
        secure.answer("/a", "safe")
        assert fetch(recorder, secure.url("/a", "localhost", "https"), BOTH) == "safe"
        assert secure.seen[0].headers["host"] == f"localhost:{secure.port}"
        found = fault(recorder, secure.url("/a", "127.0.0.1", "https"), BOTH)
        assert "its certificate is not trusted" in found.message


# where it goes on


def test_redirects_are_followed(recorder: Recorder, server: Server) -> None:
    """The last answer counts, wherever on the permitted hosts it comes from."""
    server.answer("/end", "here")
    server.move("/b", "/end", 308)
    url = server.move("/a", server.url("/b"), 301)
    assert fetch(recorder, url) == "here"
    assert [seen.path for seen in server.seen] == ["/a", "/b", "/end"]
    server.move("/gone", "/nothing")
    assert fault(recorder, server.url("/gone")).details["status_code"] == 404
    server.answer("/nowhere", status=302)
    assert fault(recorder, server.url("/nowhere")).details["status_code"] == 302


MOVES = [
    ("POST", 301, "GET", b""),
    ("POST", 302, "GET", b""),
    ("POST", 303, "GET", b""),
    ("PUT", 303, "GET", b""),
    ("POST", 307, "POST", b"data"),
    ("POST", 308, "POST", b"data"),
    ("PUT", 301, "PUT", b"data"),
]


@pytest.mark.parametrize(("method", "status", "then", "body"), MOVES)
def test_the_method_after_a_redirect(
    recorder: Recorder, server: Server, method: str, status: int, then: str, body: bytes
) -> None:
    """303 asks for the result; 301 and 302 do so after a POST; the others send the same again."""
    server.answer("/end", "x")
    url = server.move("/a", "/end", status)
    fetch(recorder, url, method=method, body="data", headers={"content-type": "text/plain"})
    last = server.seen[-1]
    assert (last.method, last.body) == (then, body)
    assert ("content-type" in last.headers) is (then == method)


def test_circles_end(recorder: Recorder, server: Server) -> None:
    """Ten redirects are followed, the eleventh is not."""
    for number in range(10):
        server.move(f"/{number}", f"/{number + 1}")
    server.answer("/10", "arrived")
    assert fetch(recorder, server.url("/0")) == "arrived"
    server.seen.clear()
    found = fault(recorder, server.move("/circle", "/circle"))
    assert (found.code, found.transient) == ("NIKA-BUILTIN-FETCH-001", False)
    assert "redirect number 11: it leads in circles" in found.message
    assert len(server.seen) == 11


FORBIDDEN = [
    ("http://other.example/x", "NIKA-SEC-004", "permits.net.http does not list it"),
    ("//other.example/x", "NIKA-SEC-004", "other.example"),
    ("http://127.0.0.2/x", "NIKA-SEC-005", "this machine itself"),
    ("http://localhost/x", "NIKA-SEC-005", "this machine itself"),
    ("http://[::1]/x", "NIKA-SEC-005", "this machine itself"),
    ("http://2130706433/x", "NIKA-SEC-005", "this machine itself"),
    ("http://10.0.0.1/x", "NIKA-SEC-005", "private or reserved"),
    ("http://169.254.169.254/latest/meta-data/", "NIKA-SEC-005", "metadata service"),
    ("http://127.0.0.1:6379/x", "NIKA-SEC-005", "behind port 6379 stands a database"),
    ("/model.pkl", "NIKA-SEC-004", "a serialized object that runs code"),
    ("file:///etc/passwd", "NIKA-BUILTIN-FETCH-001", "redirects to what cannot be fetched"),
    ("http://u:hunter22@127.0.0.1/x", "NIKA-BUILTIN-001", "before the host `127.0.0.1` is never sent"),
]


@pytest.mark.parametrize(("location", "code", "sentence"), FORBIDDEN, ids=[case[0] for case in FORBIDDEN])
def test_a_redirect_goes_nowhere_that_a_fetch_may_not(
    recorder: Recorder, server: Server, location: str, code: str, sentence: str
) -> None:
    """Every hop is judged like the first address, and refused before it is dialed."""
    found = fault(recorder, server.move("/a", location))
    assert found.code == code
    assert sentence in found.message
    assert "hunter22" not in found.message
    assert [seen.path for seen in server.seen] == ["/a"]
    if code.startswith("NIKA-SEC"):
        assert not recorder.decisions[-1].allowed


def test_a_secret_stays_with_its_host(recorder: Recorder, server: Server) -> None:
    """Another host, though permitted, sees no header that the author wrote for the first one."""
    server.answer("/end", "x")
    headers = {"authorization": "Bearer hunter22", "x-api-key": "hunter22", "accept": "a/b"}
    fetch(recorder, server.move("/near", "/end"), BOTH, headers=headers)
    assert server.seen[-1].headers["x-api-key"] == "hunter22"
    fetch(recorder, server.move("/far", server.url("/end", "localhost")), BOTH, headers=headers)
    far = server.seen[-1]
    assert far.headers["host"] == f"localhost:{server.port}"
    assert "hunter22" not in str(far)
    assert far.headers["accept"] == "a/b"


def test_a_body_stays_with_its_host(recorder: Recorder, server: Server) -> None:
    """A redirect cannot carry what was sent on to another host."""
    url = server.move("/a", server.url("/end", "localhost"), 307)
    found = fault(recorder, url, BOTH, method="POST", body="data")
    assert (found.code, found.transient) == ("NIKA-BUILTIN-FETCH-001", False)
    assert f"ask `{server.url('/end', 'localhost')}` itself" in found.message
    assert len(server.seen) == 1


def test_a_safer_line_to_the_same_host_is_the_same_host() -> None:
    """From http to https of one host the headers go on; back again they do not."""
    request = web.Request("GET", read_site("http://a.example/"), {"x-api-key": "k"})
    assert web.onward(request, 301, "https://a.example/").headers == {"x-api-key": "k"}
    for location in ("https://b.example/", "https://a.example:8443/", "http://a.example:8080/"):
        assert web.onward(request, 301, location).headers == {}
    secure = web.Request("GET", read_site("https://a.example/"), {"x-api-key": "k"})
    assert web.onward(secure, 301, "http://a.example/").headers == {}


# where it never goes


REFUSED = [
    ("no block", None, "http://127.0.0.1/", "NIKA-SEC-004"),
    ("no tool grant", permits(http=["127.0.0.1"]), "http://127.0.0.1/", "NIKA-SEC-004"),
    ("no host grant", permits(tools=["nika:fetch"]), "https://api.example.com/", "NIKA-SEC-004"),
    ("another host", HERE, "https://api.example.com/", "NIKA-SEC-004"),
    ("a bare star", permits(tools=["nika:fetch"], http=["*"]), "http://127.0.0.1/", "NIKA-SEC-005"),
    ("another name of it", HERE, "http://localhost/", "NIKA-SEC-005"),
    (
        "a family of names",
        permits(tools=["nika:fetch"], http=["a.localhost"]),
        "http://a.localhost/",
        "NIKA-SEC-005",
    ),
    ("a private host", permits(tools=["nika:fetch"], http=["10.0.0.1"]), "http://10.0.0.1/", "NIKA-SEC-005"),
    ("a closed port", HERE, "http://127.0.0.1:22/", "NIKA-SEC-005"),
    ("a host before the host", HERE, "http://127.0.0.1@10.0.0.1/", "NIKA-SEC-005"),
    ("a password", HERE, "http://u:hunter22@127.0.0.1/", "NIKA-BUILTIN-001"),
    ("no address", HERE, "ftp://127.0.0.1/", "NIKA-BUILTIN-001"),
    ("a script", HERE, "http://127.0.0.1/x.SH?y", "NIKA-SEC-004"),
    ("a script in disguise", HERE, "http://127.0.0.1/legacy%252epkl%2e", "NIKA-SEC-004"),
]


@pytest.mark.parametrize(("name", "block", "url", "code"), REFUSED, ids=[case[0] for case in REFUSED])
@pytest.mark.parametrize("mode", ["raw", "markdown"])
def test_the_boundary(
    recorder: Recorder, name: str, block: Permits | None, url: str, code: str, mode: str
) -> None:
    """The address is judged before anything else is, and a refusal is witnessed."""
    found = fault(recorder, url, block, mode=mode)
    assert found.code == code
    assert "hunter22" not in found.message
    if code.startswith("NIKA-SEC"):
        assert not recorder.decisions[-1].allowed


@pytest.mark.parametrize(
    "host", ["127.1", "0x7f.1", "0177.0.0.1", "2130706433", "[::ffff:127.0.0.1]", "127.0.0.1."]
)
def test_other_spellings_of_a_granted_loopback(recorder: Recorder, server: Server, host: str) -> None:
    """Only the host as it is granted is open; a dot at its end is no other host."""
    server.answer("/", "x")
    if host.endswith("."):
        assert fetch(recorder, server.url("/", host)) == "x"
    else:
        assert fault(recorder, server.url("/", host)).code == "NIKA-SEC-005"
        assert server.seen == []


def test_a_lifted_law_opens_itself_alone(recorder: Recorder, server: Server) -> None:
    """The author's door lets the file through, and neither an unlisted host nor an inner one."""
    recorder.lifts = frozenset({"data-as-code"})
    assert fetch(recorder, server.answer("/m.pkl", "x")) == "x"
    assert fault(recorder, "http://api.example.com/m.pkl").code == "NIKA-SEC-004"
    assert fault(recorder, "http://10.0.0.1/m.pkl").code == "NIKA-SEC-005"


def test_what_was_reached_is_witnessed(recorder: Recorder, server: Server) -> None:
    """The journal tells which hosts a task asked, redirects included."""
    server.answer("/end", "x")
    fetch(recorder, server.move("/a", server.url("/end", "localhost")), BOTH)
    assert [(d.plane, d.gate, d.allowed) for d in recorder.decisions] == [
        ("tool", "nika:fetch", True),
        ("net", "127.0.0.1", True),
        ("net", "localhost", True),
    ]


def test_no_proxy_of_the_environment_is_asked(
    recorder: Recorder, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A proxy would look names up behind the boundary's back."""
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{_closed_port()}")
    assert fetch(recorder, server.answer("/a", "direct")) == "direct"
