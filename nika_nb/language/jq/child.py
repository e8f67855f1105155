"""The evaluator: a small program of its own that answers jq requests until its input ends.

Run as `python -I -S child.py <parent pid> <folder that holds jaq> <seconds> <bytes of memory>
<bytes of output> <number of values>`. A frame is a kind (one byte), a length (eight bytes,
big-endian) and a body. It says `h` once it is ready. A request is two frames: `p` with the
program and `i` with the input as JSON. The answer is one frame:

    v  the values, as JSON, one a line        e  the program's own error
    c  the program does not compile           m  not enough memory
    s  the values are too many bytes          n  the values are too many

It may be killed at any time, and a program may crash it: whoever asks must live with that. When
its parent is gone it ends: with its input while it waits, by its alarm while it computes.
"""

import contextlib
import os
import select
import signal
import struct
import sys
from functools import lru_cache

HEADER = struct.Struct(">cQ")
POLL_SECONDS = 5.0
GRACE_SECONDS = 1.0  # a slow evaluation is ended by the parent; the alarm is for when that is gone
BYTES_PER_SECOND = 16 << 20  # what moving and reading the input may take on top
REPORT_LENGTH = 1 << 16  # of an error, which may quote a value of any size


def allowance(seconds: float, length: int) -> float:
    """The seconds granted to a program over an input of so many bytes."""
    return seconds + length / BYTES_PER_SECOND


def limit(memory: int) -> None:
    """Bound the address space, where the system can, and leave no core dumps."""
    import resource

    for which, most in ((resource.RLIMIT_AS, memory), (resource.RLIMIT_CORE, 0)):
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(which, (most, most))


def wait(parent: int) -> None:
    """Return when a request arrives. A changed parent counts as none: a forked copy may hold the pipe."""
    while not select.select([0], [], [], POLL_SECONDS)[0]:
        if os.getppid() != parent:
            sys.exit(0)


def receive() -> bytes:
    """The body of the next frame; exits at the end of the input."""
    head = sys.stdin.buffer.read(HEADER.size)
    if len(head) < HEADER.size:
        sys.exit(0)
    length = HEADER.unpack(head)[1]
    body = sys.stdin.buffer.read(length)
    return body if len(body) == length else sys.exit(0)


def send(kind: bytes, body: bytes = b"") -> None:
    sys.stdout.buffer.write(HEADER.pack(kind, len(body)))
    sys.stdout.buffer.write(body)
    sys.stdout.buffer.flush()


def serve(parent: int, seconds: float, size: int, count: int) -> None:
    import jaq

    compiled = lru_cache(maxsize=256)(jaq.compile)

    def answer(program: str, value: bytes) -> tuple[bytes, bytes]:
        try:
            body = compiled(program).text(value, text=True).encode("utf-8")
        except jaq.CompileError as error:
            return b"c", str(error)[:REPORT_LENGTH].encode("utf-8")
        except jaq.JaqError as error:
            return b"e", str(error)[:REPORT_LENGTH].encode("utf-8")
        except MemoryError:
            return b"m", b""
        if len(body) > size:
            return b"s", b""
        return (b"n", b"") if body.count(b"\n") >= count else (b"v", body)

    send(b"h")
    while True:
        wait(parent)
        program, value = receive().decode("utf-8"), receive()
        signal.setitimer(signal.ITIMER_REAL, allowance(seconds, len(value)) + GRACE_SECONDS)
        reply = answer(program, value)
        signal.setitimer(signal.ITIMER_REAL, 0)
        send(*reply)


if __name__ == "__main__":
    sys.path.append(sys.argv[2])
    limit(int(sys.argv[4]))
    serve(int(sys.argv[1]), float(sys.argv[3]), int(sys.argv[5]), int(sys.argv[6]))
