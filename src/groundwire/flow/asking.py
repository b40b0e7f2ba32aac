"""How a run asks its models: the ledger, limits and budget that all steps share, and what a model is found to do.

A model that finds that out by calls of its own hands them over, and they are billed like any other.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Protocol, runtime_checkable

from groundwire.backends.remote_faults import is_overflow
from groundwire.core.errors import ModelBusy, ModelRefused
from groundwire.core.language import Capabilities, LanguageModel, Reply, Request
from groundwire.core.secrets import hide
from groundwire.flow.ledger import AskMode, Ledger
from groundwire.flow.pace import Limits, ThreadWorkers, Workers, wait_seconds
from groundwire.flow.plan import Account, Amount, Price, TooLong
from groundwire.flow.records import Sent

_log = logging.getLogger(__name__)
_NO_KEY = "0" * 8
_LEASE_SECONDS = 60
_REQUEST_TOO_LARGE = 413


@runtime_checkable
class Probing(Protocol):
    """A model that has to be asked what it can do."""

    def take_probes(self) -> tuple[tuple[Request, Reply, float], ...]:
        """The calls that this took, each with its seconds; each is handed over once."""


@dataclass(frozen=True, slots=True)
class Call:
    """A call that came back: its number, and what the model returned or raised after how many seconds."""

    number: int
    reply: Reply | None
    error: BaseException | None
    seconds: float


def _thread_workers() -> Workers[Call]:
    return ThreadWorkers[Call]()


@dataclass(frozen=True, slots=True)
class Asking:
    """How a run asks: what all its steps share.

    Attributes:
        ledger: where calls are written down.
        run: the id that they are written down under.
        limits: of traffic.
        account: the budget, and what is spent of it.
        mode: see ``AskMode``.
        replay_of: the run whose replies a replay takes; empty: any of the ledger.
        prices: of models, by id.
        began: when the deadline's time began, by the clock of the workers.
        heard: ids of the models that were heard of in this run, were it to say that they are busy.
        workers: makes what calls run in; other than threads for tests.
    """

    ledger: Ledger
    run: str
    limits: Limits = field(default_factory=Limits)
    account: Account = field(default_factory=Account)
    mode: AskMode = "resume"
    replay_of: str = ""
    prices: Mapping[str, Price] = field(default_factory=dict)
    began: float = field(default_factory=time.monotonic)
    heard: set[str] = field(default_factory=set)
    workers: Callable[[], Workers[Call]] = _thread_workers


def capabilities(model: LanguageModel, *, asking: Asking) -> Capabilities:
    """What a model can do; one that is busy when it is asked for that is asked again later, as calls are.

    Raises:
        ModelBusy: it was busy at every attempt, the next would be after the deadline, or it cannot be reached.
        ModelRefused: it refuses for good.
    """
    workers, limits, attempt = asking.workers(), asking.limits, 0
    deadline = asking.began + (limits.deadline_seconds or float("inf"))
    while True:
        attempt += 1
        try:
            found = model.capabilities()
        except ModelBusy as error:
            wait = max(wait_seconds(limits, key=_NO_KEY, attempt=attempt), error.retry_after or 0.0)
            if not error.connected or attempt >= limits.attempts or workers.now() + wait >= deadline:
                raise
            _log.info("'%s' is busy, it is asked again in %.1f seconds: %s", model.id, wait, hide(str(error)))
        else:
            return found
        finally:
            _bill_probes(model, asking)
        workers.wait(wait)  # nothing is under way: it only passes the time


def _bill_probes(model: LanguageModel, asking: Asking) -> None:
    """Write down the calls by which a model was found out; a run that replays or goes on does not need them."""
    if not isinstance(model, Probing):
        return
    price, reading = asking.prices.get(model.id), 0
    for request, reply, seconds in model.take_probes():
        number = None
        while number is None:  # equal requests are calls of their own here, also after a second try
            told = replace(request, reading=reading, purpose="probing")
            claim = asking.ledger.claim(
                told, model=model.id, run=asking.run, lease_seconds=_LEASE_SECONDS, mode="fresh"
            )
            number, reading = claim.call if isinstance(claim, Sent) else None, reading + 1
        cost = price.of(reply.usage) if price else None
        asking.ledger.answered(number, reply, seconds=seconds, cost=cost)
        tokens = reply.usage.input_tokens + reply.usage.output_tokens
        asking.account.settle(Amount(), spent=Amount(1, tokens, cost.amount if cost else Amount().money))


def is_too_long(error: BaseException) -> bool:
    """Whether a model refused a call because it is longer than its context."""
    return isinstance(error, ModelRefused) and (error.status == _REQUEST_TOO_LARGE or is_overflow(str(error)))


def too_long_in_words(found: TooLong) -> str:
    """Why a request that does not fit was not sent."""
    return (
        f"about {found.input_tokens:,} tokens and up to {found.max_tokens:,} for the reply are more than the"
        f" {found.context_tokens:,} of the model's context; nothing was sent"
    )
