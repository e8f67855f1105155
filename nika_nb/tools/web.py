"""One HTTP exchange under the boundary of a workflow: judged hops, bounded answers, failures in our words."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from nika_nb.authority.artifacts import LAW, code_of
from nika_nb.authority.floor import Address
from nika_nb.authority.hosts import Site, judge, judge_addresses, read_site, refusal_code
from nika_nb.authority.masking import Masker
from nika_nb.authority.permits import DENIED_CODE
from nika_nb.engine.contract import Permit
from nika_nb.errors import Fault, hidden
from nika_nb.tools.base import ARGUMENTS_CODE, Use
from nika_nb.tools.inflate import Body, TooLarge

if TYPE_CHECKING:
    from httpcore2 import AsyncConnectionPool, Response

    from nika_nb.tools.dial import Resolve

FAILED_CODE = "NIKA-BUILTIN-FETCH-001"
MOST_BYTES = 10 << 20
MOST_HOPS = 10
TOTAL_SECONDS = 300.0  # where the task has no shorter `timeout:`
_EXCERPT_BYTES, _EXCERPT_LENGTH = 4096, 200
_MOVED = frozenset({301, 302, 303, 307, 308})
# What any host may see of a request that was written for another one.
_HARMLESS = frozenset({"accept", "accept-encoding", "accept-language", "user-agent"})


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked, of whom. Header names are in lower case."""

    method: str
    site: Site
    headers: Mapping[str, str]
    body: bytes | None = None


class Web:
    """Sends requests for one use of a tool. `resolve` looks names up in place of the system."""

    def __init__(self, use: Use, resolve: Resolve | None = None) -> None:
        self._use = use
        self._resolve = resolve

    def enter(self, site: Site, argument: str = "") -> None:
        """Judge an address before anything is sent. argument: of the tool, that names it.

        Raises Fault NIKA-SEC-004/-005 where it must not be reached, NIKA-BUILTIN-001 for a password in it.
        """
        verdict = judge(self._use.permits, site.host, site.port)
        if argument:
            self._use.regate(argument, verdict)
        self._use.obey(verdict, refusal_code(verdict))
        if site.credentials:
            hint = "write it as a header: `headers: { authorization: … }`"
            raise Fault(
                ARGUMENTS_CODE, f"a name or password before the host `{site.host}` is never sent; {hint}"
            )
        kind = code_of(site.target.partition("?")[0])
        if kind and LAW not in self._use.call.lifts:
            self._refuse_code(site, kind)
        elif kind:
            self._use.call.permit(
                Permit("net", str(site), True, f"it is {kind}, and the author lifts the law")
            )

    async def send(self, request: Request) -> bytes:
        """The body of the answer, redirects followed. The caller has entered the request's site.

        Raises Fault NIKA-BUILTIN-FETCH-001 for everything that goes wrong on the way, an answer
        that is no success included, and NIKA-SEC-004/-005 for where it must not go.
        """
        try:
            async with asyncio.timeout(TOTAL_SECONDS):
                return await self._follow(request)
        except TimeoutError:
            what = f"was not done after {TOTAL_SECONDS:g} s"
            raise _failed(request.site, what, transient=True) from None

    async def _follow(self, request: Request) -> bytes:
        from nika_nb.tools.dial import JudgedNetwork, pool, resolve

        async with pool(JudgedNetwork(self._admit, self._resolve or resolve)) as connections:
            for _ in range(MOST_HOPS + 1):
                found = await self._once(connections, request)
                if isinstance(found, bytes):
                    return found
                self.enter(found.site)
                request = found
        raise _failed(
            request.site, f"is redirect number {MOST_HOPS + 1}: it leads in circles", transient=False
        )

    async def _once(self, connections: AsyncConnectionPool, request: Request) -> bytes | Request:
        """The body, or where to ask instead."""
        with _in_our_words(request.site):
            async with connections.stream(
                request.method, _url(request.site), headers=_headers(request), content=request.body
            ) as response:
                headers = {name.lower(): value for name, value in response.headers}
                location = headers.get(b"location", b"").decode("utf-8", "replace")
                if response.status in _MOVED and location:
                    return onward(request, response.status, location)
                coding = headers.get(b"content-encoding", b"").decode("latin-1").strip().lower()
                if not 200 <= response.status < 300:
                    excerpt = await _beginning(response, coding)
                    raise _no_success(request, response.status, excerpt)
                return await _whole(request.site, response, coding)

    def _admit(self, host: str, port: int, addresses: Sequence[Address]) -> None:
        permits = self._use.permits
        for verdict in (judge(permits, host, port), judge_addresses(permits, host, addresses)):
            if not verdict.allowed:
                self._use.obey(verdict, refusal_code(verdict))

    def _refuse_code(self, site: Site, kind: str) -> None:
        why = f"it is {kind}"
        self._use.call.permit(Permit("net", str(site), False, why))
        raise Fault(
            DENIED_CODE,
            f"`{site}` is {kind}: fetching it as data hides that; start a program that fetches it, under "
            f"`permits.exec`; or, if it is only stored, write `lift: [{{ law: {LAW}, because: … }}]`",
            details={"plane": "net", "gate": str(site), "why": why},
        )


def onward(request: Request, status: int, location: str) -> Request:
    """The request that a redirect asks for. Raises Fault where it must not be sent.

    What was written for one host stays there: another one sees neither the author's headers nor a
    body.
    """
    try:
        site = read_site(location, request.site)
    except ValueError as error:
        raise _failed(
            request.site, f"redirects to what cannot be fetched: {error}", transient=False
        ) from None
    found = replace(request, site=site)
    if (status == 303 and request.method != "HEAD") or (status in (301, 302) and request.method == "POST"):
        found = replace(found, method="GET", body=None)
    if not _stays(request.site, site):
        if found.body is not None:
            what = f"redirects a request with a body to another host: ask `{site}` itself"
            raise _failed(request.site, what, transient=False)
        found = replace(
            found, headers={name: text for name, text in found.headers.items() if name in _HARMLESS}
        )
    if found.body is None:
        found = replace(
            found, headers={name: text for name, text in found.headers.items() if name != "content-type"}
        )
    return found


def _stays(here: Site, there: Site) -> bool:
    """The same server, or the same host over a safer line."""
    upgraded = replace(here, scheme="https", port=443) if here.origin[::2] == ("http", 80) else here
    return there.origin in (here.origin, upgraded.origin)


def _url(site: Site) -> Any:
    import httpcore2

    return httpcore2.URL(scheme=site.scheme, host=site.host, port=site.port, target=site.target)


def _headers(request: Request) -> list[tuple[bytes, bytes]]:
    from nika_nb import __version__

    usual = {"accept": "*/*", "accept-encoding": "gzip", "user-agent": f"nika-nb/{__version__}"}
    whole = {"host": request.site.authority} | usual | dict(request.headers)
    return [(name.encode("ascii"), text.encode("utf-8")) for name, text in whole.items()]


async def _whole(site: Site, response: Response, coding: str) -> bytes:
    try:
        body = Body(coding, MOST_BYTES)
    except ValueError:
        raise _failed(
            site, f"answers packed as `{hidden(coding)[:40]}`, which is not read", transient=False
        ) from None
    try:
        async with contextlib.aclosing(response.aiter_stream()) as parts:
            async for data in parts:
                body.feed(data)
        return body.whole()
    except TooLarge:
        what = f"answers with more than {MOST_BYTES >> 20} MiB: ask for less, or let a program store it"
        raise _failed(site, what, transient=False) from None
    except ValueError as error:
        raise _failed(site, f"sends gzip data that is damaged: {error}", transient=True) from None


async def _beginning(response: Response, coding: str) -> str:
    """What a server says about its refusal, as far as it is text."""
    data = b""
    if coding in ("", "identity"):
        async with contextlib.aclosing(response.aiter_stream()) as parts:
            async for part in parts:
                data += part
                if len(data) >= _EXCERPT_BYTES:
                    break
    return " ".join(hidden(data.decode("utf-8", "ignore")).split())


def _no_success(request: Request, status: int, excerpt: str) -> Fault:
    names = {entry.value: entry.phrase for entry in HTTPStatus}
    said = f"answers {status} {names.get(status, '')}".rstrip()
    excerpt = _quiet(request.headers, excerpt)[:_EXCERPT_LENGTH]
    transient = status >= 500 or status in (408, 429)
    return _failed(
        request.site, f"{said}: {excerpt}" if excerpt else said, transient=transient, status_code=status
    )


def _quiet(headers: Mapping[str, str], text: str) -> str:
    """A server may repeat what it was sent: the author's headers are never shown."""
    masker = Masker()
    for name, value in headers.items():
        for part in (value, *value.split()) if name not in _HARMLESS else ():
            if len(part) > 5:
                masker.add(name, part)
    return masker.mask_text(text)


def _failed(site: Site, what: str, *, transient: bool, **details: Any) -> Fault:
    return Fault(FAILED_CODE, f"`{site}` {what}", details={"host": site.host, **details}, transient=transient)


@contextlib.contextmanager
def _in_our_words(site: Site) -> Iterator[None]:
    """What the network does becomes a Fault; the library's own words may hold headers and are not shown."""
    import httpcore2

    try:
        yield
    except httpcore2.TimeoutException:
        raise _failed(site, "cannot be reached: nobody answers there", transient=True) from None
    except httpcore2.ConnectError as error:
        what, transient = _reason(error)
        raise _failed(site, f"cannot be reached: {what}", transient=transient) from None
    except httpcore2.NetworkError:
        raise _failed(site, "broke the connection off", transient=True) from None
    except httpcore2.RemoteProtocolError:
        raise _failed(site, "does not answer in HTTP, or stopped in the middle", transient=True) from None
    except httpcore2.ProtocolError:
        raise _failed(site, "cannot be asked this way", transient=False) from None


def _reason(error: BaseException | None) -> tuple[str, bool]:
    """(why no connection came about, whether that may pass), from the chain of causes."""
    import socket
    import ssl

    said = "the connection was not made"
    while error is not None:
        if isinstance(error, ssl.SSLCertVerificationError):
            return f"its certificate is not trusted ({error.verify_message})", False
        if isinstance(error, socket.gaierror):
            return "its name is not known", True
        if isinstance(error, ssl.SSLError):
            return f"no secure connection ({error.reason})", True
        if isinstance(error, OSError) and error.errno:
            said = os.strerror(error.errno).lower()
        # The pool drops the cause of what it raises, which still is the first argument.
        inner = error.args[0] if error.args and isinstance(error.args[0], BaseException) else None
        error = inner or error.__cause__
    return said, True
