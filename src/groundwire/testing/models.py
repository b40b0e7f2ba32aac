"""A language model that replies what a test tells it to, and the check that holds any model to the port."""

from __future__ import annotations

import asyncio
import json
import math
import re
import threading
import time
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from typing import get_args

from groundwire.core.errors import GroundwireError, ModelBusy, UsageError
from groundwire.core.language import (
    Capabilities,
    Finish,
    LanguageModel,
    Message,
    Reply,
    ReplyToken,
    Request,
    TokenChoice,
    Usage,
)
from groundwire.core.text import count_tokens

Answer = str | Reply | GroundwireError
"""What a script holds for a request: the text, the whole reply, or a fault to raise."""
Script = Sequence[Answer] | Mapping[str, Answer] | Callable[[Request], Answer]
Likelihoods = Callable[[Request], Sequence[tuple[str, float]]]
"""The tokens of a ``given`` text and their natural log-probabilities."""

EVERYTHING = Capabilities(
    context_tokens=8192, schema=True, logprobs=20, likelihood=True, system=True, thinking=False, streaming=True
)
_PIECE = re.compile(r"\s*\S+|\s+\Z")


class ScriptedModel:
    """Replies by a script, keeps what it was asked, and holds the promises of the port; for tests.

    A text longer than ``max_tokens`` is cut and ends with ``length``. Log-probabilities of a text are those of a model
    that is sure of it: 0, and each token its own only alternative; a ``Reply`` in the script brings others.
    """

    def __init__(
        self,
        script: Script,
        *,
        name: str = "test",
        capabilities: Capabilities = EVERYTHING,
        likelihoods: Likelihoods | None = None,
    ) -> None:
        """Write the script.

        Args:
            script: answers in the order of the calls; or by a text that the request's messages hold, of which exactly
                one must fit; or from a function of the request, which may also raise.
            name: what it is called in ids: ``scripted:NAME``.
            capabilities: what it can do; the rest is refused.
            likelihoods: of ``given`` texts; None: each word has the log-probability -1.
        """
        self.id = f"scripted:{name}"
        self._script = script
        self._capabilities = capabilities
        self._likelihoods = likelihoods or _even
        self._requests: list[Request] = []
        self._writing = threading.Lock()

    @property
    def requests(self) -> tuple[Request, ...]:
        """Every request, in the order in which they came; those that were refused or failed are among them."""
        return tuple(self._requests)

    def capabilities(self) -> Capabilities:
        """As they were set."""
        return self._capabilities

    def reply(self, request: Request, *, timeout_seconds: float, on_text: Callable[[str], None] | None = None) -> Reply:
        """Answer by the script.

        Raises:
            GroundwireError: the script holds it.
            UsageError: the request wants what the capabilities lack.
            AssertionError: the script has no answer, or more than one.
        """
        with self._writing:
            place = len(self._requests)
            self._requests.append(request)
        self._refuse(request, timeout_seconds)
        if request.given:
            tokens = tuple(ReplyToken(text, logprob) for text, logprob in self._likelihoods(request))
            found: Answer = Reply(request.given, "stop", _count(request, request.given), tokens, model=self.id)
        else:
            found = self._answer(request, place)
        if isinstance(found, GroundwireError):
            raise found
        reply = self._spoken(found, request) if isinstance(found, str) else found
        if on_text is not None:
            for piece in _PIECE.findall(reply.text) if self._capabilities.streaming else [reply.text]:
                on_text(piece)
        return reply

    def _refuse(self, request: Request, timeout_seconds: float) -> None:
        can = self._capabilities
        if timeout_seconds <= 0 or request.max_tokens < 1 or not request.messages:
            raise UsageError(
                f"a call needs messages, time and tokens; it has {len(request.messages)}, {timeout_seconds} seconds "
                f"and {request.max_tokens}"
            )
        if request.top_logprobs > can.logprobs:
            raise UsageError(f"{request.top_logprobs} alternatives are asked for; {self.id} gives {can.logprobs}")
        if request.given and not can.likelihood:
            raise UsageError(f"{self.id} does not give the likelihood of a text")

    def _answer(self, request: Request, place: int) -> Answer:
        if callable(self._script):
            return self._script(request)
        if isinstance(self._script, Mapping):
            said = "\n".join(message.text for message in request.messages)
            fitting = [key for key in self._script if key in said]
            if len(fitting) != 1:
                raise AssertionError(f"{len(fitting)} keys of the script fit {said[-200:]!r}: {fitting}")
            return self._script[fitting[0]]
        if place >= len(self._script):
            raise AssertionError(f"the script has {len(self._script)} answers, this is call {place + 1}")
        return self._script[place]

    def _spoken(self, text: str, request: Request) -> Reply:
        whole = text
        text = text[
            : bisect_right(range(1, len(text) + 1), request.max_tokens, key=lambda end: count_tokens(text[:end]))
        ]
        sure = [TokenChoice(piece, 0.0) for piece in _PIECE.findall(text)] if request.top_logprobs else []
        tokens = tuple(ReplyToken(one.text, one.logprob, (one,)) for one in sure)
        return Reply(text, "stop" if text == whole else "length", _count(request, text), tokens, model=self.id)


def _even(request: Request) -> Sequence[tuple[str, float]]:
    return [(piece, -1.0) for piece in _PIECE.findall(request.given)]


def _count(request: Request, text: str) -> Usage:
    return Usage(sum(count_tokens(message.text) for message in request.messages), count_tokens(text))


_SCHEMA = json.dumps(
    {
        "type": "object",
        "properties": {"answer": {"type": "string", "enum": ["yes", "no"]}},
        "required": ["answer"],
        "additionalProperties": False,
    }
)
_PLAIN = Request((Message("user", "Is water wet? Answer with the one word yes or no."),), 64)
_LONG = Request((Message("user", "Count from one to fifty in words, all numbers in one line."),), 4)


def check_language_model(model: LanguageModel, *, timeout_seconds: float = 120.0) -> None:
    """Hold a language model to what the port promises, by about a dozen short calls.

    Id and capabilities, the same each time; a plain reply with its usage; what is told piece by piece is the reply;
    ``max_tokens`` is kept and said; a system's turn, a schema, log-probabilities and given texts work where they are
    claimed, and log-probabilities and given texts are refused where they are not; two threads at once; a running event
    loop; a time-out that cannot be kept.

    Args:
        model: the model; its replies to "yes or no" questions may be any text.
        timeout_seconds: of each call.

    Raises:
        AssertionError: a promise is broken.
    """
    asking = _Asking(model, timeout_seconds)
    _check_names(model)
    _check_plain(asking)
    _check_length(asking)
    _check_system(asking)
    _check_schema(asking)
    _check_logprobs(asking)
    _check_given(asking)
    _check_callers(asking)
    _check_hurry(asking)


class _Asking:
    """A model and the time that a call may take."""

    def __init__(self, model: LanguageModel, seconds: float) -> None:
        self.model = model
        self.can = model.capabilities()
        self.seconds = seconds
        self.plain = replace(_PLAIN, max_tokens=512) if self.can.thinking else _PLAIN

    def __call__(self, request: Request) -> Reply:
        reply = self.model.reply(request, timeout_seconds=self.seconds)
        _check_reply(reply)
        return reply

    def refuses(self, request: Request, what: str) -> None:
        try:
            self.model.reply(request, timeout_seconds=self.seconds)
        except UsageError:
            return
        raise AssertionError(f"a request for {what} must raise UsageError: the capabilities do not claim it")


def _check_reply(reply: Reply) -> None:
    _require(isinstance(reply.text, str), f"a reply's text must be a string, got {reply.text!r}")
    _require(reply.finish in get_args(Finish), f"finish must be one of {get_args(Finish)}, got {reply.finish!r}")
    usage = reply.usage
    counts = (usage.input_tokens, usage.output_tokens, usage.cached_tokens)
    _require(all(isinstance(count, int) and count >= 0 for count in counts), f"usage must be counts, got {counts}")
    _require(usage.input_tokens > 0, "usage must count the tokens that were read")


def _check_names(model: LanguageModel) -> None:
    kind, colon, _ = model.id.partition(":")
    _require(bool(kind and colon), f"an id is 'KIND:NAME', got {model.id!r}")
    first, second = model.capabilities(), model.capabilities()
    _require(first == second, f"capabilities must not change, got {first}, then {second}")
    _require(first.logprobs >= 0, f"logprobs counts alternatives, got {first.logprobs}")
    context = first.context_tokens
    _require(context is None or context > 0, f"context_tokens must be above 0 or None, got {context}")


def _check_plain(asking: _Asking) -> None:
    reply = asking(asking.plain)
    _require(bool(reply.text.strip()), f"a plain question must be answered, got {reply}")
    _require(reply.tokens == (), "no log-probabilities were asked for, but tokens came")
    pieces: list[str] = []
    told = asking.model.reply(asking.plain, timeout_seconds=asking.seconds, on_text=pieces.append)
    _require("".join(pieces) == told.text, f"what was told is not the reply: {pieces} against {told.text!r}")


def _check_length(asking: _Asking) -> None:
    reply = asking(_LONG)
    _require(reply.finish == "length", f"a reply cut at {_LONG.max_tokens} tokens must end with 'length', got {reply}")
    made = reply.usage.output_tokens
    _require(made <= _LONG.max_tokens, f"max_tokens is {_LONG.max_tokens}, but {made} were written")


def _check_system(asking: _Asking) -> None:
    _require(bool(asking(_with_system(asking.plain)).text.strip()), "a request with a system's turn must be answered")


def _with_system(request: Request) -> Request:
    return replace(request, messages=(Message("system", "You answer with one word."), *request.messages))


def _check_schema(asking: _Asking) -> None:
    if not asking.can.schema:
        return
    text = asking(replace(asking.plain, schema=_SCHEMA)).text
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    follows = isinstance(found, dict) and found.keys() == {"answer"} and found["answer"] in ("yes", "no")
    _require(follows, f"a reply must follow its schema, got {text!r}")


def _check_logprobs(asking: _Asking) -> None:
    most = asking.can.logprobs
    asking.refuses(replace(asking.plain, top_logprobs=most + 1), f"{most + 1} alternatives")
    if most == 0:
        return
    wanted = min(most, 3)
    reply = asking(replace(asking.plain, top_logprobs=wanted))
    _require(bool(reply.tokens), "log-probabilities were asked for and are claimed, but no token came")
    for token in reply.tokens:
        values = [choice.logprob for choice in token.alternatives]
        _require(token.logprob <= 0 and all(value <= 0 for value in values), f"a log-probability is above 0: {token}")
        _require(len(values) <= wanted, f"{wanted} alternatives were asked for, got {token}")
        total = math.fsum(map(math.exp, values))
        _require(total <= 1.001, f"the alternatives' probabilities add up to {total}: {token}")
    _require(reply.text.strip() in "".join(token.text for token in reply.tokens), "the tokens do not hold the text")


def _check_given(asking: _Asking) -> None:
    wanted = replace(asking.plain, given="yes, it is")
    if not asking.can.likelihood:
        asking.refuses(wanted, "the likelihood of a given text")
        return
    reply, again = asking(wanted), asking(wanted)
    _require(reply.text == wanted.given, f"a given text must come back as it is, got {reply.text!r}")
    joined = "".join(token.text for token in reply.tokens)
    _require(joined == wanted.given, f"the tokens of the given text must join to it, got {joined!r}")
    sums = [math.fsum(token.logprob for token in one.tokens) for one in (reply, again)]
    _require(sums[0] < 0 and math.isfinite(sums[0]), f"the text's log-probability must be below 0, got {sums[0]}")
    _require(math.isclose(*sums, rel_tol=0.01, abs_tol=0.01), f"the same text was as likely as {sums}")


def _check_callers(asking: _Asking) -> None:
    with ThreadPoolExecutor(2) as pool:
        replies = list(pool.map(asking, [asking.plain, asking.plain]))
    _require(all(reply.text.strip() for reply in replies), "two threads at once must both be answered")

    async def inside() -> Reply:
        return asking(asking.plain)

    _require(bool(asyncio.run(inside()).text.strip()), "a call inside a running event loop must be answered")


def _check_hurry(asking: _Asking) -> None:
    begun = time.monotonic()
    with suppress(ModelBusy):
        asking.model.reply(asking.plain, timeout_seconds=0.001)
    seconds = time.monotonic() - begun
    _require(seconds < 10, f"a call that may take a millisecond took {seconds:.1f} seconds")


def _require(kept: bool, message: str) -> None:  # noqa: FBT001 (an assertion: the condition is the point)
    if not kept:
        raise AssertionError(message)
