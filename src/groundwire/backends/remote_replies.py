"""A server's JSON as a reply: text apart from thinking, log-probabilities, usage, the end; whole or piece by piece."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeGuard

from groundwire.core.errors import ModelBusy
from groundwire.core.language import Finish, Reply, ReplyToken, Request, TokenChoice, Usage
from groundwire.core.text import count_tokens

Json = Mapping[str, Any]

_FINISHES: Mapping[str, Finish] = {
    "stop": "stop", "eos": "stop", "end_turn": "stop", "stop_sequence": "stop",
    "length": "length", "max_tokens": "length", "model_length": "length",
    "content_filter": "refused", "refusal": "refused",
}  # fmt: skip
_THOUGHT = re.compile(r"(?:\A\s*)?<(think|thinking|thought|reasoning)>(.*?)(?:</\1>\s*|\Z)", re.DOTALL | re.IGNORECASE)
_THOUGHT_END = re.compile(r"</(?:think|thinking|thought|reasoning)>\s*", re.IGNORECASE)
_USAGE = re.compile(r'"usage"\s*:\s*(?=\{)')
_WRITTEN = re.compile(r'"(?:content|reasoning_content|reasoning)"\s*:\s*"((?:[^"\\]|\\u[0-9a-fA-F]{4}|\\["\\/bfnrt])*)')
_TAGS = ("<think>", "<thinking>", "<thought>", "<reasoning>")


def reply_of(body: Json, request: Request) -> Reply:
    """The reply in the body of a chat completion.

    What the model thought is taken out of the text: whole blocks, one that was cut, and, where the opening tag stood
    in the prompt, everything up to the closing one.

    Raises:
        ModelBusy: the body holds no reply.
    """
    choice = _choice(body)
    message = choice.get("message")
    if not isinstance(message, dict):
        raise ModelBusy("the answer holds no message")
    text, thinking = _text_of(message.get("content"))
    refusal = message.get("refusal") or ""
    visible, aloud = split_thinking(text)
    thoughts = [str(message.get(name) or "") for name in ("reasoning_content", "reasoning")]
    thinking = "\n".join(dict.fromkeys(part for part in (*thoughts, thinking, aloud) if part))
    finish = _FINISHES.get(str(choice.get("finish_reason")), "other")
    return Reply(
        text=visible or str(refusal),
        finish="refused" if refusal else finish,
        usage=_usage(body.get("usage"), request, text + thinking),
        tokens=_tokens(choice.get("logprobs")) if request.top_logprobs else (),
        thinking=thinking,
        model=str(body.get("model") or ""),
    )


def split_thinking(text: str) -> tuple[str, str]:
    """A text without what was thought aloud in it, and that; text without such a block comes back as it is."""
    thoughts = [found[2].strip() for found in _THOUGHT.finditer(text)]
    visible = _THOUGHT.sub("", text)
    lone = _THOUGHT_END.search(visible)
    if lone is not None:
        thoughts.insert(0, visible[: lone.start()].strip())
        visible = visible[lone.end() :]
    return visible, "\n".join(filter(None, thoughts))


class Assembly:
    """A stream put together to the body that a whole answer would have had, while its text is told as it comes."""

    def __init__(self, on_text: Callable[[str], None]) -> None:
        """Tell ``on_text`` every piece of text, without what the model thinks."""
        self._on_text = on_text
        self._told = 0
        self._message: dict[str, str] = {}
        self._tokens: list[object] = []
        self._finish: object = None
        self._usage: object = None
        self._names: dict[str, object] = {}
        self._last: Json = {}
        self._pieces = self._repeated = 0

    def add(self, chunk: Json) -> None:
        """Take the next piece.

        Raises:
            ModelBusy: it belongs to another reply.
        """
        if chunk.get("id") and self._names.setdefault("id", chunk["id"]) != chunk["id"]:
            raise ModelBusy("the stream mixes the pieces of two replies")
        self._names.setdefault("model", chunk.get("model"))
        self._usage = chunk.get("usage") or self._usage
        for choice in chunk.get("choices") or ():
            if not choice.get("index"):
                self._add(choice, chunk)

    def _add(self, choice: Json, chunk: Json) -> None:
        delta = choice.get("delta") or {}
        for name in ("content", "reasoning_content", "reasoning", "refusal"):
            if delta.get(name):
                self._message[name] = self._message.get(name, "") + _text_of(delta[name])[0]
        if any(delta.get(name) for name in ("content", "reasoning_content", "reasoning")):
            self._pieces += 1
            self._repeated += chunk == self._last
        self._last = chunk
        self._tokens += (choice.get("logprobs") or {}).get("content") or ()
        self._finish = choice.get("finish_reason") or self._finish
        self._tell(_settled(self._message.get("content", "")))

    def _tell(self, visible: str) -> None:
        if len(visible) > self._told:
            self._on_text(visible[self._told :])
            self._told = len(visible)

    def body(self) -> Json:
        """The whole.

        Raises:
            ModelBusy: the stream ended before its end, or some pieces came twice.
        """
        if self._finish is None:
            raise ModelBusy(f"the stream was cut after {self._pieces} pieces")
        counted = self._usage.get("completion_tokens") if isinstance(self._usage, dict) else None
        # A piece like the one before it is mostly a token that comes twice ("1", "0", "0"): only the count tells.
        if isinstance(counted, int) and 0 < self._pieces - counted <= self._repeated:
            raise ModelBusy(f"the stream repeated itself: {self._pieces} pieces came for {counted} tokens")
        self._tell(split_thinking(self._message.get("content", ""))[0])
        choice = {"message": self._message, "finish_reason": self._finish, "logprobs": {"content": self._tokens}}
        return {"model": self._names.get("model"), "usage": self._usage, "choices": [choice]}


def events(parts: Iterable[bytes]) -> Iterator[str]:
    """The data of server-sent events; comments are passed over, and an event that comes twice with one id is once."""
    data: list[str] = []
    name, before = "", ""
    for line in _lines(parts):
        field, _, value = line.partition(":")
        if field == "data":
            data.append(value.removeprefix(" "))
        elif field == "id":
            name = value.strip()
        elif not line and data:
            if not name or name != before:
                yield "\n".join(data)
            data, name, before = [], "", name
    if data:
        yield "\n".join(data)


def chunk_of(event: str) -> Json:
    """An event's data as JSON.

    Raises:
        ModelBusy: it is none: the stream was cut in the middle of a piece.
    """
    try:
        found = json.loads(event)
    except ValueError as error:
        raise ModelBusy("a piece of the stream is no JSON") from error
    if not isinstance(found, dict):
        raise ModelBusy("a piece of the stream is no JSON object")
    return found


def _lines(parts: Iterable[bytes]) -> Iterator[str]:
    """Lines of UTF-8, split at line feeds alone: a text may hold the other characters that Python takes for ends."""
    rest = b""
    for part in parts:
        *whole, rest = (rest + part).split(b"\n")
        yield from (line.removesuffix(b"\r").decode("utf-8", "replace") for line in whole)
    if rest:
        yield rest.removesuffix(b"\r").decode("utf-8", "replace")


def _settled(text: str) -> str:
    """What of a text in the making can be told: without thoughts, and without a tag that has only begun."""
    last = text.rfind("<")
    if last >= 0:
        begun = any(tag.startswith(text[last:].lower()) for tag in _TAGS)
        text = split_thinking(text[:last] if begun else text)[0]
    return text if text.strip() else ""  # white space before a thought goes with it


def _choice(body: Json) -> Json:
    choices = body.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        raise ModelBusy("the answer holds no reply ('choices' is empty)")
    return choices[0]


def _text_of(content: object) -> tuple[str, str]:
    """Text and thinking of a message's content, which some servers give in parts."""
    if not isinstance(content, list):
        return ("" if content is None else str(content)), ""
    parts = [part for part in content if isinstance(part, dict)]
    text = "".join(str(part.get("text") or "") for part in parts if part.get("type") in ("text", None))
    thoughts = [part.get("thinking") for part in parts if part.get("type") == "thinking"]
    return text, "".join(_text_of(thought)[0] for thought in thoughts)


def usage_so_far(came: str) -> Usage | None:
    """What a server took for an answer of which only this came: as it counted, or else an estimate; None: nothing came.

    An estimate is of the text that came; what the server read is not known from it, and is 0 there.
    """
    for place in _USAGE.finditer(came):
        try:
            counted = _counted(json.JSONDecoder().raw_decode(came, place.end())[0])
        except (ValueError, RecursionError):
            continue
        if counted is not None:
            return counted
    if not came:
        return None
    written = "".join(str(json.loads(f'"{found[1]}"', strict=False)) for found in _WRITTEN.finditer(came))
    return Usage(0, count_tokens(written), estimated=True)


def usage_of(body: Json, request: Request) -> Usage:
    """What a server took for an answer without a reply: as it counted, or what it read, estimated."""
    return _usage(body.get("usage"), request, "")


def tokens_read(request: Request) -> int:
    """An estimate of what a server reads of a request."""
    return sum(count_tokens(message.text) for message in request.messages)


def cached_in(usage: object) -> int:
    """How many tokens the server did not have to read again; 0 where it does not say."""
    details = usage.get("prompt_tokens_details") if isinstance(usage, dict) else None
    cached = details.get("cached_tokens") if isinstance(details, dict) else None
    return cached if _is_count(cached) else 0


def _usage(usage: object, request: Request, written: str) -> Usage:
    """What the server counted, or else an estimate of ours."""
    return _counted(usage) or Usage(tokens_read(request), count_tokens(written), estimated=True)


def _counted(usage: object) -> Usage | None:
    """What the server counted; None where it did not."""
    given = usage if isinstance(usage, dict) else {}
    read, made = given.get("prompt_tokens"), given.get("completion_tokens")
    return Usage(read, made, cached_in(given)) if _is_count(read) and _is_count(made) else None


def _is_count(number: object) -> TypeGuard[int]:
    return isinstance(number, int) and not isinstance(number, bool) and number >= 0


def _tokens(logprobs: object) -> tuple[ReplyToken, ...]:
    """The tokens with their alternatives; none where one of them is unreadable, so that places never shift."""
    content = logprobs.get("content") if isinstance(logprobs, dict) else None
    found = []
    for one in content or ():
        chosen = _token(one)
        if chosen is None:
            return ()
        others = (_token(other) for other in one.get("top_logprobs") or ())
        found.append(ReplyToken(chosen.text, chosen.logprob, tuple(other for other in others if other is not None)))
    return tuple(found)


def _token(one: object) -> TokenChoice | None:
    if not isinstance(one, dict):
        return None
    value = one.get("logprob")
    if isinstance(value, bool) or not isinstance(value, int | float) or math.isnan(value):
        return None
    return TokenChoice(str(one.get("token", "")), min(0.0, float(value)))
