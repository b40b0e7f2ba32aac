"""A server that answers as OpenAI-compatible ones do, well or badly, as a script tells it to; state in this process.

    with StubServer([ok("yes"), status(429, headers={"Retry-After": "2"}), hang()]) as server:
        ...  # server.base_url, server.calls

Each call to ``/v1/chat/completions`` plays the next step of the script; the last one is played for ever. A step may
also be a function from the call's body to a step. Other paths answer from ``paths`` (a JSON object, or a step), else
404. Nothing is random, and no clock but the one that hanging needs.
"""

from __future__ import annotations

import gzip
import json
import re
import shutil
import socket
import ssl
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any

import pytest

CHAT = "/v1/chat/completions"
Body = Mapping[str, Any]


@dataclass(frozen=True)
class Step:
    """One answer.

    ``hold_seconds`` pass before anything is sent; then a byte of the body comes every ``drip_seconds`` (0: all at
    once); ``drip_headers``: those come so, too. ``cut_after``: bytes of the body after which the connection is closed
    although more were promised. ``reset``: the connection is reset before any answer.
    """

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    hold_seconds: float = 0.0
    drip_seconds: float = 0.0
    drip_headers: bool = False
    cut_after: int | None = None
    reset: bool = False
    length: bool = True


@dataclass(frozen=True)
class Call:
    """What the server was sent."""

    path: str
    headers: Mapping[str, str]
    body: Any


Scripted = Step | Callable[[Any], Step]


def completion(
    text: str | None = "yes", *, finish: str | None = "stop", message: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """The body of a chat completion, as an object that may be changed."""
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "stub-model",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": text, **(message or {})},
                "finish_reason": finish,
                "logprobs": None,
            }
        ],
        "usage": {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10},
    }


def as_json(content: object, *, status: int = 200, headers: Mapping[str, str] | None = None) -> Step:
    """A JSON answer."""
    body = json.dumps(content, ensure_ascii=False).encode()
    return Step(status, {"Content-Type": "application/json", **(headers or {})}, body)


def ok(text: str | None = "yes", *, finish: str | None = "stop", message: Mapping[str, Any] | None = None) -> Step:
    """A plain reply; an empty one is ``ok("")`` or ``ok(None)``, a cut one ``ok("ye", finish="length")``."""
    return as_json(completion(text, finish=finish, message=message))


def ok_with_logprobs(tokens: Sequence[tuple[str, float, Sequence[tuple[str, float]]]]) -> Step:
    """A reply of these tokens: text, log-probability and alternatives of each."""
    body = completion("".join(text for text, _, _ in tokens))
    body["choices"][0]["logprobs"] = {
        "content": [
            {
                "token": text,
                "logprob": value,
                "bytes": list(text.encode()),
                "top_logprobs": [{"token": other, "logprob": chance} for other, chance in others],
            }
            for text, value, others in tokens
        ]
    }
    return as_json(body)


def tool_call() -> Step:
    """A reply that calls a tool instead of saying anything."""
    call = {"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    return ok(None, finish="tool_calls", message={"tool_calls": [call]})


def chunks(pieces: Sequence[str], *, finish: str | None = "stop", usage: bool = True) -> list[dict[str, Any]]:
    """The pieces of a stream: the role, each text, the end and the count of tokens (one a piece)."""

    def chunk(delta: Mapping[str, Any], end: str | None = None) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "finish_reason": end, "logprobs": None}
        return {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "stub-model",
                "choices": [choice]}  # fmt: skip

    made = [chunk({"role": "assistant", "content": ""}), *(chunk({"content": piece}) for piece in pieces)]
    if finish is not None:
        made.append(chunk({}, finish))
    if usage:
        counted = {"prompt_tokens": 7, "completion_tokens": len(pieces)}
        made.append({**chunk({}), "choices": [], "usage": counted})
    return made


def stream(parts: Sequence[Any], *, done: bool = True, ids: Sequence[str] = ()) -> Step:
    """Server-sent events of these chunks; ``ids`` names them."""
    named = [f"id: {name}\n" for name in ids] or [""] * len(parts)
    lines = [f"{name}data: {json.dumps(part)}\n\n" for name, part in zip(named, parts, strict=True)]
    body = ": keep-alive\n\n" + "".join(lines) + ("data: [DONE]\n\n" if done else "")
    return Step(200, {"Content-Type": "text/event-stream"}, body.encode(), length=False)


def streamed(*pieces: str) -> Step:
    """A whole stream."""
    return stream(chunks(pieces))


def duplicate_chunk(*pieces: str, at: int) -> Step:
    """A stream in which a piece comes twice."""
    made = chunks(pieces)
    return stream([*made[: at + 2], made[at + 1], *made[at + 2 :]])


def cut_stream(*pieces: str) -> Step:
    """A stream that ends after its pieces, before its end."""
    return stream(chunks(pieces, finish=None, usage=False), done=False)


def status(code: int, message: str = "the stub says no", *, headers: Mapping[str, str] | None = None) -> Step:
    """A refusal in the usual form."""
    return as_json({"error": {"message": message, "type": "stub_error", "code": None}}, status=code, headers=headers)


def page(code: int = 502, html: str = "<html><head><title>Bad Gateway</title></head><body>nginx</body></html>") -> Step:
    """A page of HTML."""
    return Step(code, {"Content-Type": "text/html"}, html.encode())


def overflow() -> Step:
    """The refusal of a request that is longer than the context."""
    return status(400, "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens.")


def error_in_200(message: str = "upstream failed", *, code: object = 502) -> Step:
    """An error that pretends to be a reply."""
    return as_json({"error": {"message": message, "code": code}})


def hang(seconds: float = 30.0) -> Step:
    """Nothing for a long time."""
    return replace(ok(), hold_seconds=seconds)


def drip(step: Step | None = None, *, seconds: float = 0.05, headers: bool = False) -> Step:
    """An answer that comes a byte at a time."""
    return replace(step or ok(), drip_seconds=seconds, drip_headers=headers)


def cut_json(after: int = 40) -> Step:
    """A body that ends in the middle, its length said to be so."""
    whole = ok()
    return replace(whole, body=whole.body[:after])


def cut_connection(after: int = 40) -> Step:
    """A body that ends before the length that was promised."""
    return replace(ok(), cut_after=after)


def wrong_type(step: Step | None = None, kind: str = "text/plain") -> Step:
    """A good body under another type."""
    found = step or ok()
    return replace(found, headers={**found.headers, "Content-Type": kind})


def redirect(location: str, code: int = 307) -> Step:
    """Go elsewhere."""
    return Step(code, {"Location": location}, b"")


def reset() -> Step:
    """The connection is reset."""
    return Step(reset=True)


def gzip_garbage() -> Step:
    """A body that says it is packed, and is not."""
    return Step(200, {"Content-Type": "application/json", "Content-Encoding": "gzip"}, b"\x1f\x8bthis is no gzip")


def gzipped() -> Step:
    """A body that is packed although nobody asked for it."""
    whole = ok()
    return replace(whole, headers={**whole.headers, "Content-Encoding": "gzip"}, body=gzip.compress(whole.body))


def large(size: int) -> Step:
    """A reply of so many characters."""
    return ok("x" * size)


def obliging(body: Body) -> Step:
    """What a small model would reply that answers "yes" to everything, counts when asked to, and takes every field."""
    if "prompt_logprobs" in body:
        return as_json({**completion(""), "prompt_logprobs": prompt_logprobs(body)})
    words = ["one", " two", " three", " four", " five"] if "Count" in str(body["messages"]) else ["yes"]
    if "response_format" in body:
        words = ['{"answer"', ': "', "yes", '"}']
    finish = "length" if len(words) > body["max_tokens"] else "stop"
    words = words[: body["max_tokens"]]
    if body.get("stream"):
        return stream(chunks(words, finish=finish))
    others = [("yes", -0.1), ("no", -3.0), (" Yes", -4.0), ("No", -5.0)][: body.get("top_logprobs", 0)]
    answer = json.loads((ok_with_logprobs([(word, -0.1, others) for word in words]) if others else ok()).body)
    answer["choices"][0] |= {"finish_reason": finish}
    answer["choices"][0]["message"]["content"] = "".join(words)
    return as_json(answer)


PREFIX_TOKENS = 5
"""How many tokens the stub takes every conversation for, before the reply."""


def prompt_logprobs(body: Body) -> list[Any]:
    """vLLM's list for a conversation: one token a word of its last turn, each with the log-probability -1.5."""
    words = pieces_of(body["messages"][-1]["content"])
    before = [None, *({"1": {"logprob": -9.0, "rank": 1, "decoded_token": "?"}} for _ in range(PREFIX_TOKENS - 1))]
    return [*before, *({"7": {"logprob": -1.5, "rank": 2, "decoded_token": word}} for word in words)]


def pieces_of(text: str) -> list[str]:
    """Words with the white space before them."""
    return re.findall(r"\s*\S+", text)


VLLM: Mapping[str, object] = {
    "/v1/models": {"data": [{"id": "m", "owned_by": "vllm", "max_model_len": 4096}]},
    "/tokenize": {"count": PREFIX_TOKENS, "max_model_len": 4096, "tokens": [1] * PREFIX_TOKENS},
}
"""What vLLM offers beside the chat."""


def _llama_completion(body: Body) -> Step:
    forced = body["logit_bias"][0][0]
    place = {"id": forced, "token": "?", "logprob": -forced / 10, "top_logprobs": []}
    return as_json({"content": "?", "completion_probabilities": [place]})


def _llama_tokens(body: Body) -> Step:
    return as_json({"tokens": [{"id": len(word), "piece": word} for word in pieces_of(body["content"])]})


LLAMA: Mapping[str, object] = {
    "/v1/models": {"data": [{"id": "m", "owned_by": "llamacpp", "meta": {"n_ctx_train": 32768}}]},
    "/props": {"default_generation_settings": {"n_ctx": 2048}},
    "/apply-template": lambda body: as_json({"prompt": " ".join(one["content"] for one in body["messages"])}),
    "/tokenize": _llama_tokens,
    "/completion": _llama_completion,
}
"""What llama.cpp offers beside the chat: a token a word, its number its length, its log-probability a tenth of that."""
OLLAMA: Mapping[str, object] = {
    "/v1/models": {"data": [{"id": "m", "owned_by": "library"}, {"id": "other", "owned_by": "library"}]},
    "/api/show": {"model_info": {"general.architecture": "qwen2", "qwen2.context_length": 32768}, "parameters": ""},
    "/api/ps": {"models": [{"name": "m", "model": "m", "context_length": 8192}]},
}
"""What Ollama offers beside the chat."""


class StubServer:
    """The server; a context manager. ``calls`` are those to the chat, ``others`` those to other paths."""

    def __init__(
        self,
        script: Sequence[Scripted] = (),
        *,
        paths: Mapping[str, object] | None = None,
        certificate: Path | None = None,
        port: int = 0,
    ) -> None:
        self.script = list(script) or [ok()]
        self.paths = dict(paths or {})
        self.calls: list[Call] = []
        self.others: list[Call] = []
        self.released = threading.Event()
        self._lock = threading.Lock()
        self._server = _Server(("127.0.0.1", port), self._handler())
        self._scheme = "http"
        if certificate is not None:
            self._scheme = "https"
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            self._server.socket = context.wrap_socket(
                self._server.socket, server_side=True, do_handshake_on_connect=False
            )
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.005}, daemon=True)

    @property
    def port(self) -> int:
        """The port it listens at, on 127.0.0.1."""
        return int(self._server.server_address[1])

    @property
    def root(self) -> str:
        """Its address."""
        return f"{self._scheme}://127.0.0.1:{self.port}"

    @property
    def base_url(self) -> str:
        """The address of the interface."""
        return f"{self.root}/v1"

    def __enter__(self) -> StubServer:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.released.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(timeout=5)
        if error is None and self._server.failed:
            raise self._server.failed[0]

    def step_for(self, call: Call) -> Step:
        """Note a call and choose its answer."""
        with self._lock:
            if call.path == CHAT:
                place = min(len(self.calls), len(self.script) - 1)
                self.calls.append(call)
                found: object = self.script[place]
            else:
                self.others.append(call)
                found = self.paths.get(call.path, status(404, "no such path"))
        if callable(found):
            found = found(call.body)
        return found if isinstance(found, Step) else as_json(found)

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        stub = self

        class Bound(_Handler):
            server_of = stub

        return Bound


class _Server(ThreadingHTTPServer):
    """A server that keeps the errors of scripts, and is used to callers who leave."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 64  # a caller whose connection has to wait for its turn tries again after a second

    def __init__(self, address: tuple[str, int], handler: type[BaseHTTPRequestHandler]) -> None:
        self.failed: list[Exception] = []
        super().__init__(address, handler)

    def handle_error(self, request: object, client_address: object) -> None:  # noqa: ARG002 - as the base has it
        error = sys.exc_info()[1]
        if isinstance(error, Exception) and not isinstance(error, OSError):
            self.failed.append(error)


class _Handler(BaseHTTPRequestHandler):
    """Plays one step a request."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server_of: StubServer

    def do_GET(self) -> None:
        self._answer(None)

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        read = self.rfile.read(length)
        if len(read) < length:
            self.close_connection = True  # the caller has gone before it had said all
            return
        self._answer(json.loads(read or b"null"))

    def _answer(self, body: object) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        step = self.server_of.step_for(Call(self.path, headers, body))
        try:
            self._play(step)
        except OSError:
            self.close_connection = True  # the caller has gone

    def _play(self, step: Step) -> None:
        if step.hold_seconds and self.server_of.released.wait(step.hold_seconds):
            raise ConnectionAbortedError
        if step.reset:
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()
            raise ConnectionAbortedError
        self._send_headers(step)
        body = step.body[: step.cut_after]
        if step.drip_seconds:
            self._slowly(body, step.drip_seconds)
        else:
            self.wfile.write(body)
        if step.cut_after is not None:
            self.close_connection = True

    def _send_headers(self, step: Step) -> None:
        self.send_response_only(step.status)
        for name, value in step.headers.items():
            self.send_header(name, value)
        if step.length:
            self.send_header("Content-Length", str(len(step.body)))
        else:
            self.send_header("Connection", "close")
            self.close_connection = True
        if step.drip_headers:
            self.flush_headers()
            self._slowly(b"X-Slow: " + b"x" * 4000 + b"\r\n", step.drip_seconds)
        self.end_headers()

    def _slowly(self, content: bytes, seconds: float) -> None:
        for place in range(len(content)):
            self.wfile.write(content[place : place + 1])
            self.wfile.flush()
            if self.server_of.released.wait(seconds):
                raise ConnectionAbortedError

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing: a test reads ``calls``."""


def certificate(folder: Path) -> Path:
    """A certificate for 127.0.0.1 that nobody vouches for, with its key, made by openssl; skips where there is none."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("openssl is not installed")
    key, made, both = folder / "key.pem", folder / "certificate.pem", folder / "both.pem"
    subprocess.run(
        [openssl, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
         "-keyout", key, "-out", made, "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"],
        check=True, capture_output=True,
    )  # fmt: skip
    both.write_bytes(key.read_bytes() + made.read_bytes())
    return both


def wait_until(true: Callable[[], bool], *, seconds: float = 5.0) -> None:
    """Wait for something that another thread does."""
    ends = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < ends, "it did not happen in time"
        time.sleep(0.005)
