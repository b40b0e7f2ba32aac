"""What comes of asking a model: an answer for each request, a reply or the reason why there is none."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from enum import StrEnum

from groundwire.core.language import Reply, Request


class FailureKind(StrEnum):
    """Why a request has no reply.

    ``busy``: the model failed at every attempt. ``too_long``: it is longer than the model's context. ``stopped``: the
    run ended before its turn came. ``not_recorded``: a replay found no reply in the ledger.
    """

    BUSY = "busy"
    TOO_LONG = "too_long"
    STOPPED = "stopped"
    NOT_RECORDED = "not_recorded"


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a request has no reply: the kind, and the reason in words."""

    kind: FailureKind
    reason: str

    def as_text(self) -> str:
        """As the JSON that the ledger keeps."""
        return json.dumps(asdict(self))


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of one request: a reply or a failure, never both.

    How it was got (attempts made now, seconds of the call, whether the ledger had it) differs between a run and its
    replay: it does not count when answers are compared, and belongs on stderr.
    """

    request: Request
    reply: Reply | None = None
    failure: Failure | None = None
    attempts: int = field(default=0, compare=False)
    seconds: float = field(default=0.0, compare=False)
    recorded: bool = field(default=False, compare=False)
