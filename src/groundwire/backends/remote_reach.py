"""Whether a server can be reached at all, known before an engine is loaded and within a bounded time."""

from __future__ import annotations

import socket
import threading
import time


def numbers_of(host: str, port: int, *, seconds: float) -> tuple[str, ...]:
    """The numeric addresses of a name, in the resolver's order.

    The system's resolver knows no time-out: when it takes longer, it is left behind in a thread of its own.

    Raises:
        TimeoutError: it took longer than ``seconds``.
        OSError: the name is not known (``socket.gaierror``).
    """
    found: list[tuple[str, ...] | OSError] = []

    def resolve() -> None:
        try:
            each = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except OSError as error:
            found.append(error)
        else:
            found.append(tuple(dict.fromkeys(str(address[4][0]) for address in each)))

    thread = threading.Thread(target=resolve, name=f"resolve {host}", daemon=True)
    thread.start()
    thread.join(max(seconds, 0))
    if not found:
        raise TimeoutError(f"the name {host} was not resolved within {seconds:.1f} seconds")
    if isinstance(found[0], OSError):
        raise found[0]
    return found[0]


def require_listening(host: str, port: int, *, seconds: float) -> None:
    """Open a connection and close it again.

    Raises:
        TimeoutError: nothing answered within ``seconds``.
        OSError: the name is not known, or nothing listens.
    """
    ends = time.monotonic() + seconds
    failed: OSError = TimeoutError(f"no connection to {host}:{port} within {seconds:g} seconds")
    for number in numbers_of(host, port, seconds=seconds):
        left = ends - time.monotonic()
        if left <= 0:
            break
        try:
            socket.create_connection((number, port), timeout=left).close()
        except TimeoutError:
            continue
        except OSError as error:
            failed = error
        else:
            return
    raise failed
