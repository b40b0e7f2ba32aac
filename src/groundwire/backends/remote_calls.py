"""One exchange with an OpenAI-compatible server: where it is, what is sent, what comes back, which fault it was."""

from __future__ import annotations

import json
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from groundwire.backends import remote_faults as faults
from groundwire.backends.remote_profile import Profile
from groundwire.backends.remote_reach import require_listening
from groundwire.backends.remote_replies import (
    Assembly,
    Json,
    chunk_of,
    events,
    reply_of,
    tokens_read,
    usage_of,
    usage_so_far,
)
from groundwire.core.errors import MissingExtra, ModelBusy, ModelError, ModelRefused, UsageError
from groundwire.core.language import Message, Reply, Request, Usage
from groundwire.core.secrets import Secret, hide

if TYPE_CHECKING:
    import openai

_T = TypeVar("_T")

MOST_BYTES = 32 * 1024 * 1024
"""The largest answer that is read."""
_AGENT = "groundwire"
_FOLLOW_SCHEMA = "Reply with one JSON object and nothing else. It must follow this JSON Schema:"


@dataclass(frozen=True, slots=True)
class Manner:
    """How a request is put to a server that may not take everything.

    Attributes:
        schema: ``native``: as a JSON Schema; ``object``: JSON is demanded, the schema stands in the prompt; ``prompt``:
            it only stands in the prompt.
        stream: piece by piece.
        system: the server takes a system's turn; else it is put before the user's first.
        continuing: fields by which this server goes on with an assistant's last turn.
    """

    schema: Literal["native", "object", "prompt"] = "native"
    stream: bool = False
    system: bool = True
    continuing: Mapping[str, object] = field(default_factory=dict)


class Caller:
    """Makes calls to the host of a profile, from any number of threads; opened at the first call."""

    def __init__(self, name: str, profile: Profile, *, key: Secret | None) -> None:
        """Name the model for messages; nothing is opened yet."""
        secrets = () if key is None else (key,)
        self.profile = profile
        self.server = faults.Server(
            name, profile.base_url, profile.model, profile.key_variable, lambda text: hide(text, secrets)
        )
        self._key = key
        self._opening = threading.Lock()
        self._opened: openai.OpenAI | None = None
        self._nobody: tuple[float, ModelError] | None = None
        self._closing: weakref.finalize[..., Caller] | None = None

    def ask(self, address: str, body: Json | None = None, *, timeout_seconds: float) -> Json:
        """One exchange beside the chat: GET, or POST where there is a body; ``address`` is whole or under base_url.

        Raises:
            ModelBusy, ModelRefused: as the answer says; also where it holds no JSON object.
        """
        client = self.open()

        def call() -> Json:
            import httpx2

            options: Any = {"timeout": httpx2.Timeout(timeout_seconds)}
            if body is None:
                answer = client.get(address, cast_to=httpx2.Response, options=options)
            else:
                answer = client.post(address, cast_to=httpx2.Response, body=body, options=options)
            return self._object(answer.text, answer.headers.get("content-type", ""))

        return self._exchange(call, timeout_seconds=timeout_seconds)

    def chat(
        self, body: Mapping[str, object], *, timeout_seconds: float, on_text: Callable[[str], None] | None = None
    ) -> Json:
        """The body of a chat completion; with ``on_text`` it is asked for piece by piece.

        Raises:
            ModelBusy, ModelRefused: as the answer says, or the connection; what the server took for what came is in it.
        """
        client = self.open()
        came: list[bytes] = []

        def call() -> Json:
            import httpx2

            rest = {name: value for name, value in body.items() if name not in ("model", "messages")}
            if on_text is not None:
                rest |= {"stream": True, "stream_options": {"include_usage": True}}
            messages: Any = body["messages"]
            with client.chat.completions.with_streaming_response.create(
                model=str(body["model"]), messages=messages, extra_body=rest, timeout=httpx2.Timeout(timeout_seconds)
            ) as answer:
                kind = answer.headers.get("content-type", "")
                parts = _kept(answer.iter_bytes(), came)
                if on_text is not None and "event-stream" in kind:
                    return self._assembled(parts, on_text)
                return self._object(b"".join(parts).decode("utf-8", "replace"), kind)

        try:
            return self._exchange(call, timeout_seconds=timeout_seconds)
        except ModelBusy as fault:
            fault.spent = usage_so_far(b"".join(came).decode("utf-8", "replace"))
            raise
        finally:
            came.clear()  # a traceback may show what a frame holds, and a server may send a key back

    def _assembled(self, parts: Any, on_text: Callable[[str], None]) -> Json:  # noqa: ANN401 - the engine's iterator
        assembly = Assembly(on_text)
        for event in events(parts):
            if event.strip() == "[DONE]":
                break
            chunk = chunk_of(event)
            self._raise_error_in(chunk)
            assembly.add(chunk)
        return assembly.body()

    def _object(self, text: str, kind: str) -> Json:
        """An answer with status 200 as JSON."""
        found = faults.parsed(text)
        if isinstance(found, dict):
            self._raise_error_in(found)
            return found
        if not text.strip():
            raise ModelBusy("the answer is empty")
        if "json" in kind or text.lstrip().startswith(("{", "[")):
            raise ModelBusy(f"the answer is no whole JSON object: it was cut, or garbled, after {len(text)} characters")
        said = faults.reason_of(text, self.server)
        raise ModelRefused(
            f"{self.profile.base_url} answers with {faults.clean(kind, self.server) or 'a text'}, not with JSON: {said}"
            f" - correct base_url: most end in /v1",
            status=200,
        )

    def _raise_error_in(self, found: Json) -> None:
        error = faults.error_in(found)
        if error is None:
            error = next((e for c in found.get("choices") or () if isinstance(e := c.get("error"), dict)), None)
        if error is not None:
            raise faults.of_error(error, self.server)

    def _exchange(self, call: Callable[[], _T], *, timeout_seconds: float) -> _T:
        """Make a call; a fault leaves without the engine's error, whose request and answer may hold a key."""
        import httpcore2
        import httpx2
        import openai

        failures = (
            openai.OpenAIError, httpx2.HTTPError, httpx2.StreamError, httpcore2.TimeoutException, OSError,
            httpcore2.NetworkError, httpcore2.ProtocolError, httpcore2.UnsupportedProtocol, ModelError,
        )  # fmt: skip
        try:
            return call()
        except failures as error:
            fault = self._fault(error, timeout_seconds)
        raise fault

    def _fault(self, error: Exception, timeout_seconds: float) -> ModelError:
        import openai

        if isinstance(error, openai.APIStatusError):
            headers = {name.lower(): value for name, value in error.response.headers.items()}
            return faults.of_answer(faults.Answer(error.status_code, headers, error.response.text), self.server)
        if isinstance(error, ModelError):
            return _named(error, self.server.id)
        return faults.of_connection(error, self.server, timeout_seconds=timeout_seconds)

    def open(self) -> openai.OpenAI:
        """The engine, loaded at the first call.

        Raises:
            ModelBusy: nothing is there to be called.
            ModelRefused: the key is missing that the profile wants.
            MissingExtra: the extra 'remote' is not installed.
        """
        if self.profile.key_variable and self._key is None:
            raise ModelRefused(
                f"{self.server.id} needs a key for {self.profile.base_url}: set the environment variable "
                f"{self.profile.key_variable}, or leave key_variable out of the profile"
            )
        came = time.monotonic()
        with self._opening:
            if self._opened is None:
                self._require_listening(came)
                self._opened = self._open()
                self._closing = weakref.finalize(self, self._opened.close)  # for a model that is just dropped
            return self._opened

    def close(self) -> None:
        """Close the connections; the next call opens them anew."""
        with self._opening:
            if self._closing is not None:
                self._closing()
                self._opened = self._closing = None

    def _require_listening(self, came: float) -> None:
        """Say that nothing is there before the engine is loaded, which takes longer than finding out.

        Who came while another was finding out is told the same: they would wait one after the other.
        """
        host, port = self.profile.address
        seconds = self.profile.connect_seconds
        if self._nobody is not None and came <= self._nobody[0]:
            raise _named(self._nobody[1], self.server.id)
        try:
            require_listening(host, port, seconds=seconds)
        except OSError as error:
            fault = faults.of_connection(error, self.server, timeout_seconds=seconds)
        else:
            return
        self._nobody = (time.monotonic(), fault)
        raise _named(fault, self.server.id)

    def _open(self) -> openai.OpenAI:
        try:
            from groundwire.backends import remote_wire
        except ImportError as error:
            raise MissingExtra(f"'{self.server.id}'", extra="remote") from error
        profile = self.profile
        limits = remote_wire.Limits(profile.connect_seconds, MOST_BYTES, profile.max_concurrency)
        wire = remote_wire.Wire(profile.base_url, key=self._key, agent=_AGENT, limits=limits)
        return remote_wire.open_client(profile.base_url, wire, key=self._key)


def once(
    caller: Caller,
    request: Request,
    *,
    manner: Manner,
    deadline: float,
    on_text: Callable[[str], None] | None = None,
) -> Reply:
    """Put a request in a manner, once; ``deadline`` is on the monotonic clock.

    Raises:
        ModelBusy, ModelRefused: as the answer says, or the connection.
    """
    body = body_of(request, caller.profile, manner=manner)
    caller.open()
    left = deadline - time.monotonic()
    if left <= 0:
        raise ModelBusy(f"{caller.server.id}: no time was left for a call")
    told: list[str] = []

    def tell(piece: str) -> None:
        told.append(piece)
        if on_text is not None:
            on_text(piece)

    try:
        answer = caller.chat(body, timeout_seconds=left, on_text=tell if manner.stream else None)
    except ModelBusy as fault:
        fault.spent = _spent(fault, request)
        raise
    try:
        reply = reply_of(answer, request)
    except ModelBusy as error:
        named = _named(error, caller.server.id)
        named.spent = usage_of(answer, request)
        raise named from None
    if not told and reply.text:
        tell(reply.text)
    return reply


def body_of(request: Request, profile: Profile, *, manner: Manner) -> dict[str, object]:
    """The fields of a chat completion.

    Raises:
        UsageError: a text holds half a character (a lone surrogate), or the schema is no JSON.
    """
    messages = request.messages if manner.system else _without_system(request.messages)
    if request.schema and manner.schema != "native":
        messages = _with_schema(messages, request.schema)
    body: dict[str, object] = {
        "model": profile.model,
        "messages": [{"role": one.speaker, "content": _whole(one.text)} for one in messages],
        profile.max_tokens_field: request.max_tokens,
        "temperature": request.temperature,
    }
    if request.seed is not None:
        body["seed"] = request.seed
    if request.stop:
        body["stop"] = list(request.stop)
    if request.top_logprobs:
        body |= {"logprobs": True, "top_logprobs": request.top_logprobs}
    if request.schema and manner.schema == "native":
        wanted = {"name": "reply", "schema": _schema(request.schema)}
        body["response_format"] = {"type": "json_schema", "json_schema": wanted}
    elif request.schema and manner.schema == "object":
        body["response_format"] = {"type": "json_object"}
    if messages[-1].speaker == "assistant":
        body |= manner.continuing
    body |= profile.more_fields()
    return {name: value for name, value in body.items() if value is not None}


def _without_system(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    told = "\n\n".join(one.text for one in messages if one.speaker == "system")
    rest = [one for one in messages if one.speaker != "system"]
    if not told:
        return messages
    if rest and rest[0].speaker == "user":
        return (replace(rest[0], text=f"{told}\n\n{rest[0].text}"), *rest[1:])
    return (Message("user", told), *rest)


def _with_schema(messages: tuple[Message, ...], schema: str) -> tuple[Message, ...]:
    """The messages with the schema at the end of the user's last turn."""
    at = max((place for place, one in enumerate(messages) if one.speaker == "user"), default=None)
    if at is None:
        return (*messages, Message("user", f"{_FOLLOW_SCHEMA}\n{schema}"))
    asked = replace(messages[at], text=f"{messages[at].text}\n\n{_FOLLOW_SCHEMA}\n{schema}")
    return (*messages[:at], asked, *messages[at + 1 :])


def _whole(text: str) -> str:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise UsageError(f"a message holds half a character at place {error.start}; it cannot be sent") from None
    return text


def _schema(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError as error:
        raise UsageError(f"the schema of a request is no JSON: {error}") from None


def _kept(parts: Iterator[bytes], came: list[bytes]) -> Iterator[bytes]:
    """Parts as they come, each kept as well."""
    for part in parts:
        came.append(part)
        yield part


def _spent(fault: ModelBusy, request: Request) -> Usage | None:
    """What a call took that broke off: a server that did not turn it down has read the request, and may bill it."""
    spent = fault.spent or Usage(0, 0, estimated=True)
    if not fault.connected or (fault.status and spent.estimated and not spent.output_tokens):
        return None
    return replace(spent, input_tokens=tokens_read(request)) if spent.estimated else spent


def _named(error: ModelError, name: str) -> ModelError:
    """The same fault with the model's name before it, and nothing behind it."""
    said = str(error) if str(error).startswith(f"{name}: ") else f"{name}: {error}"
    if isinstance(error, ModelBusy):
        return ModelBusy(said, retry_after=error.retry_after, connected=error.connected, status=error.status)
    return ModelRefused(said, status=error.status if isinstance(error, ModelRefused) else 0)
