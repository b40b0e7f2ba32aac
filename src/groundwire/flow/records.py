"""What the ledger keeps, and how: requests and replies as JSON text and back.

A text that cannot be read back is refused, not guessed.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from decimal import Decimal
from enum import StrEnum

from groundwire.core.errors import UnreadableInput
from groundwire.core.language import Reply, ReplyToken, Request, TokenChoice, Usage


class CallState(StrEnum):
    """Where a call stands; ``lost``: sent, never answered, and made again since."""

    SENT = "sent"
    ANSWERED = "answered"
    FAILED = "failed"
    LOST = "lost"


@dataclass(frozen=True, slots=True)
class Cost:
    """An amount of money; exact."""

    amount: Decimal
    currency: str


@dataclass(frozen=True, slots=True)
class Recorded:
    """A reply of the ledger, the number of its call, and how many seconds that took."""

    call: int
    reply: Reply
    seconds: float


@dataclass(frozen=True, slots=True)
class Sent:
    """The call is ours to make, under this number."""

    call: int


@dataclass(frozen=True, slots=True)
class Taken:
    """Somebody else is making this call right now."""


Claim = Recorded | Sent | Taken


@dataclass(frozen=True, slots=True)
class Bill:
    """What calls came to: how many were answered, failed, or sent and never answered; tokens, seconds and money."""

    answered: int = 0
    failed: int = 0
    unanswered: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    seconds: float = 0.0
    money: tuple[Cost, ...] = ()


@dataclass(frozen=True, slots=True)
class Use:
    """One request of a run, by its place in the order of asking, with what came of it.

    ``reply`` and ``request`` are the JSON that the ledger holds, ``reply`` None where there is none; ``failure`` is
    JSON too, empty where nothing failed.
    """

    place: int
    key: str
    model: str
    purpose: str
    request: str
    reply: str | None
    failure: str


@dataclass(frozen=True, slots=True)
class RunRow:
    """A run as the ledger holds it; ``alive`` is False where its process is known to be gone."""

    id: str
    state: str
    manifest: str
    alive: bool


def request_as_text(request: Request) -> str:
    """A request as JSON; any text survives, also half a surrogate pair or a NUL. ``purpose`` is left out."""
    content = asdict(request)
    del content["purpose"]
    return json.dumps(content)


def reply_as_text(reply: Reply) -> str:
    """A reply as JSON, whole; its tokens are lists of text, log-probability and alternatives, for they are many."""
    content = {
        "text": reply.text,
        "finish": reply.finish,
        "usage": asdict(reply.usage),
        "thinking": reply.thinking,
        "model": reply.model,
        "tokens": [
            [token.text, token.logprob, [[choice.text, choice.logprob] for choice in token.alternatives]]
            for token in reply.tokens
        ],
    }
    return json.dumps(content)


def reply_from_text(text: str | None, *, where: str) -> Reply:
    """The reply that ``reply_as_text`` wrote.

    Args:
        text: what the ledger holds.
        where: what to call it in an error.

    Raises:
        UnreadableInput: it is not such a text; it was changed by other hands or damaged.
    """
    try:
        content = json.loads(text or "")
        tokens = tuple(
            ReplyToken(word, logprob, tuple(TokenChoice(other, value) for other, value in alternatives))
            for word, logprob, alternatives in content["tokens"]
        )
        return Reply(
            text=content["text"],
            finish=content["finish"],
            usage=Usage(**content["usage"]),
            tokens=tokens,
            thinking=content["thinking"],
            model=content["model"],
        )
    except (ValueError, KeyError, TypeError) as error:
        raise UnreadableInput(
            f"the reply of {where} is not as groundwire wrote it ({error}); restore the ledger"
        ) from error
