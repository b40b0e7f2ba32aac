"""What the ledger keeps, and how: requests and replies as JSON text and back.

A text that cannot be read back is refused, not guessed.
"""

from __future__ import annotations

import json
import os
import platform
from dataclasses import asdict, dataclass
from decimal import Decimal
from enum import StrEnum

from groundwire.core.errors import UnreadableInput
from groundwire.core.language import Reply, ReplyToken, Request, TokenChoice, Usage

FORMAT = 1
"""Of a ledger file."""
APPLICATION = 0x67774C31
"""By which SQLite's file says that it is a ledger."""
TABLES = """
CREATE TABLE runs (id TEXT PRIMARY KEY, state TEXT NOT NULL, holder TEXT NOT NULL, manifest TEXT NOT NULL);
CREATE TABLE requests (key TEXT PRIMARY KEY, request TEXT NOT NULL);
CREATE TABLE calls (
    id INTEGER PRIMARY KEY AUTOINCREMENT, run TEXT NOT NULL, key TEXT NOT NULL, model TEXT NOT NULL,
    purpose TEXT NOT NULL, state TEXT NOT NULL, holder TEXT NOT NULL, lease REAL NOT NULL, sent REAL NOT NULL,
    seconds REAL NOT NULL DEFAULT 0, reply TEXT, finish TEXT, input_tokens INTEGER NOT NULL DEFAULT 0,
    output_tokens INTEGER NOT NULL DEFAULT 0, cached_tokens INTEGER NOT NULL DEFAULT 0,
    estimated INTEGER NOT NULL DEFAULT 0, money TEXT, currency TEXT, error TEXT NOT NULL DEFAULT '');
CREATE TABLE uses (
    run TEXT NOT NULL, place INTEGER NOT NULL, key TEXT NOT NULL, model TEXT NOT NULL, purpose TEXT NOT NULL,
    call INTEGER, failure TEXT NOT NULL DEFAULT '', PRIMARY KEY (run, place));
CREATE INDEX calls_by_key ON calls (key, state);
CREATE INDEX calls_by_run ON calls (run);
CREATE INDEX calls_by_model ON calls (model, state);
CREATE INDEX uses_by_key ON uses (run, key);
"""
_UNNEEDED = """DELETE FROM calls WHERE (run IN (SELECT id FROM going) OR run NOT IN (SELECT id FROM runs))
AND id NOT IN (SELECT call FROM uses WHERE run NOT IN (SELECT id FROM going) AND call IS NOT NULL)
AND key NOT IN (SELECT key FROM uses WHERE run NOT IN (SELECT id FROM going) AND call IS NULL AND failure = '')"""
PRUNING = (
    _UNNEEDED,
    "DELETE FROM uses WHERE run IN (SELECT id FROM going)",
    "DELETE FROM runs WHERE id IN (SELECT id FROM going)",
    "DELETE FROM requests WHERE key NOT IN (SELECT key FROM calls) AND key NOT IN (SELECT key FROM uses)",
    "DROP TABLE going",
)
"""What drops the runs of the table ``going``; no reply goes that a run which stays has taken, or is about to take."""


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
    """What calls came to: how many were answered, failed, or sent and never answered; tokens, seconds and money.

    ``estimated_tokens`` are those of the input and output tokens that no server counted. What calls took that failed is
    among them where it is known.
    """

    answered: int = 0
    failed: int = 0
    unanswered: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    estimated_tokens: int = 0
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


@dataclass(frozen=True, slots=True)
class Pruned:
    """What goes, or would go, with runs that are dropped.

    Attributes:
        runs: their ids, the oldest first.
        calls: that go with them, answered or not.
        kept_calls: of these runs or of such that went before, that stay: a run that stays works with their replies.
        requests: that nobody asks any more.
        freed_bytes: by which the file became smaller; 0 in a dry run.
    """

    runs: tuple[str, ...]
    calls: int = 0
    kept_calls: int = 0
    requests: int = 0
    freed_bytes: int = 0


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


def storable(text: str) -> str:
    """A text without halves of surrogate pairs, which SQLite does not store."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def is_gone(holder: str) -> bool:
    """Whether the process that left this mark is known to have ended: it ran on this machine, and is no more."""
    host, pid, _ = holder.rsplit(" ", 2)
    if os.name != "posix" or host != (platform.node() or "-"):  # elsewhere asking would end the process
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False
