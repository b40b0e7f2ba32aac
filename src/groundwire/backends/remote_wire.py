"""The way to one server and to no other: who is called, what is sent along, and for how long the whole call may take.

Imported when a remote model makes its first call: it needs the extra ``remote``.
"""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import httpcore2
import httpx2
import openai

from groundwire.backends.remote_reach import numbers_of
from groundwire.core.errors import ModelRefused
from groundwire.core.secrets import Secret, hide

if TYPE_CHECKING:
    from ssl import SSLContext

_SENT = ("host", "accept", "content-type", "content-length", "transfer-encoding")
"""The headers that leave: the engine's own would name this machine, and it takes others from the environment."""
_ENGINES = ("openai", "httpx2", "httpcore2")
_DOTTED = tuple(f"{name}." for name in _ENGINES)


@dataclass(frozen=True, slots=True)
class Limits:
    """Of a call: seconds until the connection stands, bytes of an answer, idle connections that are kept."""

    connect_seconds: float
    most_bytes: int
    connections: int


class _Clock(threading.local):
    """When the call of this thread must be over, on the monotonic clock."""

    deadline = math.inf

    def left(self, error: type[Exception]) -> float:
        seconds = self.deadline - time.monotonic()
        if seconds <= 0:
            raise error("the time of the whole call is over")
        return seconds


class _TimedStream(httpcore2.NetworkStream):
    """A connection on which nothing lasts longer than the call: a byte now and then does not extend it."""

    def __init__(self, stream: httpcore2.NetworkStream, clock: _Clock) -> None:
        self._stream = stream
        self._clock = clock

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        del timeout
        return self._stream.read(max_bytes, self._clock.left(httpcore2.ReadTimeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        del timeout
        self._stream.write(buffer, self._clock.left(httpcore2.WriteTimeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.NetworkStream:
        del timeout
        left = self._clock.left(httpcore2.ConnectTimeout)
        return _TimedStream(self._stream.start_tls(ssl_context, server_hostname, left), self._clock)

    def get_extra_info(self, info: str) -> Any:  # noqa: ANN401 - as the engine has it
        return self._stream.get_extra_info(info)


class _OneHost(httpcore2.NetworkBackend):
    """Opens connections to the host of an address; names are resolved in the time that connecting may take."""

    def __init__(self, base_url: str, clock: _Clock, *, connect_seconds: float) -> None:
        url = httpx2.URL(base_url)
        self._address = (url.raw_host.decode("ascii"), url.port or (443 if url.scheme == "https" else 80))
        self._clock = clock
        self._seconds = connect_seconds
        self._plain = httpcore2.SyncBackend()

    def connect_tcp(  # type: ignore[override]  # the pool names its arguments, and we take no more than two without
        self,
        host: str,
        port: int,
        *,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.NetworkStream:
        """Connect, trying each number that the name has.

        Raises:
            ModelRefused: it is another address.
            ConnectError, ConnectTimeout: none could be reached, or none in time.
        """
        del timeout
        if (host, port) != self._address:
            allowed = ":".join(map(str, self._address))
            raise ModelRefused(f"a call to {host}:{port} was stopped: only {allowed} may be called")
        ends = time.monotonic() + min(self._seconds, self._clock.left(httpcore2.ConnectTimeout))
        failed: Exception = httpcore2.ConnectTimeout(f"no connection to {host}:{port} within {self._seconds:g} seconds")
        for number in _numbers_of(host, port, seconds=ends - time.monotonic()):
            left = ends - time.monotonic()
            if left <= 0:
                break
            try:
                stream = self._plain.connect_tcp(number, port, left, local_address, socket_options)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                failed = error
                continue
            return _TimedStream(stream, self._clock)
        raise failed


def _numbers_of(host: str, port: int, *, seconds: float) -> tuple[str, ...]:
    try:
        return numbers_of(host, port, seconds=seconds)
    except TimeoutError as error:
        raise httpcore2.ConnectTimeout(str(error)) from error
    except OSError as error:
        raise httpcore2.ConnectError(str(error)) from error


class Wire(httpx2.BaseTransport):
    """A transport of the HTTP engine: one address, no proxy, no redirects, few headers, one deadline, bounded answers.

    The key is put on here and nowhere else, so what the engines keep, raise or log of a request is without it.
    """

    def __init__(self, base_url: str, *, key: Secret | None, agent: str, limits: Limits) -> None:
        """Where calls go, the key that goes along, what the program calls itself, and the limits of a call."""
        self._clock = _Clock()
        self._most_bytes = limits.most_bytes
        self._headers = [(b"User-Agent", agent.encode("ascii"))]
        self._key = key
        self._pool = httpcore2.ConnectionPool(
            ssl_context=httpx2.create_ssl_context() if base_url.startswith("https:") else None,
            max_connections=None,
            max_keepalive_connections=limits.connections,
            keepalive_expiry=30.0,
            network_backend=_OneHost(base_url, self._clock, connect_seconds=limits.connect_seconds),
        )

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Make one request; the read time-out of the request is that of the whole call."""
        self._clock.deadline = time.monotonic() + float(request.extensions["timeout"]["read"])
        sent = [(name, value) for name, value in request.headers.raw if name.decode("latin-1").lower() in _SENT]
        # A compressed answer could not be bounded before it is unpacked.
        sent += [*self._headers, (b"Accept-Encoding", b"identity")]
        if self._key is not None:
            sent.append((b"Authorization", f"Bearer {self._key.reveal()}".encode("ascii")))
        url = request.url
        address = httpcore2.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path)
        answer = self._pool.handle_request(
            httpcore2.Request(request.method, address, headers=sent, content=request.stream)
        )
        return httpx2.Response(
            answer.status, headers=answer.headers, stream=_Bounded(answer, self._most_bytes), request=request
        )

    def close(self) -> None:
        """Close the connections."""
        self._pool.close()


class _Bounded(httpx2.SyncByteStream):
    """The body of an answer, which is given up when it grows beyond all measure."""

    def __init__(self, answer: httpcore2.Response, most_bytes: int) -> None:
        self._answer = answer
        self._most_bytes = most_bytes

    def __iter__(self) -> Iterator[bytes]:
        total = 0
        for part in self._answer.iter_stream():
            total += len(part)
            if total > self._most_bytes:
                raise ModelRefused(f"the answer is larger than {self._most_bytes:,} bytes; it was not read further")
            yield part

    def close(self) -> None:
        self._answer.close()


def open_client(base_url: str, wire: Wire, *, key: Secret | None) -> openai.OpenAI:
    """A client that takes nothing from the environment, repeats nothing and follows no redirect."""
    for name in [*_ENGINES, *(name for name in logging.root.manager.loggerDict if name.startswith(_DOTTED))]:
        _keep_out_of(logging.getLogger(name), key)
    return openai.OpenAI(
        base_url=base_url,
        api_key="unused",  # the wire puts the key on, if there is one
        admin_api_key="",
        organization="",
        project="",
        webhook_secret="",
        max_retries=0,
        http_client=httpx2.Client(transport=wire, trust_env=False, follow_redirects=False),
    )


class _Hidden(logging.Filter):
    """Takes a key out of what the engines log: at level DEBUG they print headers of answers, and errors with them."""

    def __init__(self) -> None:
        super().__init__()
        self.secrets: set[Secret] = set()

    def filter(self, record: logging.LogRecord) -> bool:
        said = record.getMessage()
        clean = hide(said, self.secrets)
        if clean != said:
            record.msg, record.args = clean, ()
        if record.exc_info:
            told = logging.Formatter().formatException(record.exc_info)
            if hide(told, self.secrets) != told:
                record.exc_info, record.exc_text = None, hide(told, self.secrets)
        return True


_HIDDEN = _Hidden()


def _keep_out_of(logger: logging.Logger, key: Secret | None) -> None:
    logger.addFilter(_HIDDEN)  # a second time changes nothing
    if key is not None:
        _HIDDEN.secrets.add(key)
