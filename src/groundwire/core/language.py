"""What groundwire asks of a language model: one call in, one reply out, and what a model can do.

Everything that decides a reply stands in its ``Request``, so its hash is what the ledger finds a reply by. A model
makes one call at a time and raises at the first fault; waiting, repeating and counting are the business of whoever
calls.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Literal, Protocol

Speaker = Literal["system", "user", "assistant"]
Finish = Literal["stop", "length", "refused", "other"]


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation."""

    speaker: Speaker
    text: str


@dataclass(frozen=True, slots=True)
class Request:
    """One call.

    Attributes:
        messages: the turns, the system's first if there is one; an assistant's last turn is one that the model is to
            go on with.
        max_tokens: of the reply; 1 and up.
        temperature: 0 takes the likeliest token.
        seed: for models that take one; None: not said.
        schema: a JSON Schema as JSON text that the reply must follow; empty: free text.
        top_logprobs: how many alternatives of every token are asked for; 0: none and no log-probabilities.
        stop: texts that end the reply.
        given: a text to be taken as the reply, of which only the log-probabilities are asked, token by token; nothing
            is made up. Empty: the model replies itself.
        reading: which of several readings of the same words this is, from 0.
        prompt: the fingerprint of the prompt that the messages were made from.
        purpose: what the call is for (``rating``), for bills and plans; it does not decide the reply.
    """

    messages: tuple[Message, ...]
    max_tokens: int
    temperature: float = 0.0
    seed: int | None = None
    schema: str = ""
    top_logprobs: int = 0
    stop: tuple[str, ...] = ()
    given: str = ""
    reading: int = 0
    prompt: str = ""
    purpose: str = field(default="", compare=False)

    def key(self, model: str) -> str:
        """The hash under which the reply of this model is kept: 64 hexadecimal digits."""
        content = asdict(self)
        del content["purpose"]
        text = json.dumps({"model": model, **content}, ensure_ascii=False, sort_keys=True)
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True)
class TokenChoice:
    """A token that could have stood in a place, and its natural log-probability (0 and below)."""

    text: str
    logprob: float


@dataclass(frozen=True, slots=True)
class ReplyToken:
    """A token of a reply; ``alternatives`` are the likeliest ones for its place, itself mostly among them."""

    text: str
    logprob: float
    alternatives: tuple[TokenChoice, ...] = ()


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of a call as the model's server counted them; ``estimated`` where it did not say."""

    input_tokens: int
    output_tokens: int
    cached_tokens: int = 0
    estimated: bool = False


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back.

    ``text`` is without what the model thought aloud, which is in ``thinking``. ``tokens`` are those of the whole reply
    where they were asked for and given. ``model`` is the name that the server gave itself.
    """

    text: str
    finish: Finish
    usage: Usage
    tokens: tuple[ReplyToken, ...] = ()
    thinking: str = ""
    model: str = ""


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a model was found to do; what is missing is said aloud where it is wanted.

    ``context_tokens`` is None where nobody told. ``logprobs``: the most alternatives of a token that it gives, 0: no
    log-probabilities. ``likelihood``: the log-probabilities of a ``given`` reply. ``thinking``: it thinks aloud first.
    """

    context_tokens: int | None = None
    schema: bool = False
    logprobs: int = 0
    likelihood: bool = False
    system: bool = True
    thinking: bool = False
    streaming: bool = False


class LanguageModel(Protocol):
    """Answers requests, one at a time; safe to call from several threads.

    ``id`` names backend and model (``http:llama-3.3-70b``, ``llama:smollm2-135m``): replies of different ids are never
    mixed. ``groundwire.testing.check_language_model`` holds an implementation to the promises made here.
    """

    @property
    def id(self) -> str:
        """The name under which the registry finds this model."""

    def capabilities(self) -> Capabilities:
        """What the model can do; probed once, then remembered."""

    def reply(self, request: Request, *, timeout_seconds: float, on_text: Callable[[str], None] | None = None) -> Reply:
        """Make one call, once.

        Args:
            request: what is asked; one that wants what the model cannot do is refused.
            timeout_seconds: how long the whole call may take; above 0.
            on_text: told every piece of the reply as it comes, where the model streams, else the whole at once.

        Raises:
            ModelBusy: it may work later (429, 5xx, a lost connection, a time-out); says how long to wait if told.
            ModelRefused: it will never work like this (401, 404, a request too long); nothing is tried again.
            UsageError: the request wants what the model cannot do.
        """
