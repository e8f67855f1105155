"""A real HTTP server on this machine: each path answers what the test wrote, and what came in is kept."""

from __future__ import annotations

import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


@dataclass(frozen=True)
class Seen:
    """One request as it arrived; header names in lower case."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


@dataclass
class Server:
    port: int
    routes: dict[str, Callable[[Handler], None]] = field(default_factory=dict)
    seen: list[Seen] = field(default_factory=list)

    def url(self, path: str = "/", host: str = "127.0.0.1", scheme: str = "http") -> str:
        return f"{scheme}://{host}:{self.port}{path}"

    def answer(self, path: str, body: bytes | str = b"", status: int = 200, **headers: str) -> str:
        """Let a path answer this. Its URL."""
        data = body.encode() if isinstance(body, str) else body
        self.routes[path] = lambda handler: handler.say(status, data, headers)
        return self.url(path)

    def move(self, path: str, location: str, status: int = 302) -> str:
        return self.answer(path, status=status, location=location)


class Handler(BaseHTTPRequestHandler):
    """Keeps the request, then lets the route answer."""

    protocol_version = "HTTP/1.1"
    owner: Server

    def handle_one_request(self) -> None:
        try:
            super().handle_one_request()
        except ConnectionError:
            self.close_connection = True

    def _any(self) -> None:
        length = int(self.headers.get("content-length") or 0)
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.owner.seen.append(Seen(self.command, self.path, headers, self.rfile.read(length)))
        route = self.owner.routes.get(self.path.partition("?")[0])
        if route is None:
            self.say(404, b"there is nothing here", {})
        else:
            route(self)

    do_GET = do_POST = do_PUT = do_DELETE = do_PATCH = do_HEAD = _any

    def say(self, status: int, body: bytes, headers: Mapping[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def serving(certificate: Path | None = None) -> Iterator[Server]:
    """A server on a free port of 127.0.0.1, with TLS where a certificate (and its key) is given."""
    handler: type[Handler] = type("OwnHandler", (Handler,), {})
    listener = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    listener.daemon_threads = True
    handler.owner = Server(listener.server_address[1])
    if certificate is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        listener.socket = context.wrap_socket(listener.socket, server_side=True)
    thread = threading.Thread(target=listener.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield handler.owner
    finally:
        listener.shutdown()
        thread.join()
        listener.server_close()


def make_certificate(folder: Path, name: str) -> Path:
    """A self-signed certificate for one name, with its key, in one file."""
    made = folder / f"{name}.pem"
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]
    command += ["-nodes", "-days", "2", "-subj", f"/CN={name}", "-addext", f"subjectAltName=DNS:{name}"]
    subprocess.run(
        [*command, "-keyout", folder / "key", "-out", folder / "cert"], check=True, capture_output=True
    )
    made.write_bytes((folder / "cert").read_bytes() + (folder / "key").read_bytes())
    return made
