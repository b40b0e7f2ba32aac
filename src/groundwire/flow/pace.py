"""How fast calls are sent, when they stop for a while, and the threads they run in.

The rules are small machines without a clock of their own: they are told what happened and when.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

import numpy as np

from groundwire.core.errors import UsageError

Done = TypeVar("Done")


@dataclass(frozen=True, slots=True)
class Limits:
    """How a run may call a model.

    Attributes:
        at_first: calls in flight at the beginning; grows by 1 with each window of successes, halves when it is busy.
        at_once: the most calls in flight; 1 and up.
        attempts: how often one request is tried before it counts as failed; 1 and up.
        timeout_seconds: of one call.
        deadline_seconds: of the whole run; None: none.
        first_wait_seconds: the most that is waited after a first failure; doubles with each further one.
        longest_wait_seconds: where the doubling ends. What a server asks for (Retry-After) is waited in full.
        failures_in_a_row: so many, over all calls, and sending pauses; then one call is tried, and the run goes on
            or stops with it.
        pause_seconds: how long that is.
        grace_seconds: a call that does not come back this long after its time-out counts as failed.
        seed: of the waits.
    """

    at_first: int = 2
    at_once: int = 8
    attempts: int = 6
    timeout_seconds: float = 120.0
    deadline_seconds: float | None = None
    first_wait_seconds: float = 1.0
    longest_wait_seconds: float = 60.0
    failures_in_a_row: int = 10
    pause_seconds: float = 30.0
    grace_seconds: float = 5.0
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("at_first", "at_once", "attempts", "failures_in_a_row"):
            if getattr(self, name) < 1:
                raise UsageError(f"{name} is {getattr(self, name)}; it must be 1 or more")
        for name in ("timeout_seconds", "deadline_seconds"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise UsageError(f"{name} is {value}; it must be above 0")


class Pace:
    """How many calls may be in flight, and until when none may be sent (additive increase, halving)."""

    def __init__(self, limits: Limits) -> None:
        """Start at ``at_first``."""
        self.at_once = min(limits.at_first, limits.at_once)
        self.held_until = float("-inf")
        self._most = limits.at_once
        self._successes = 0
        self._halved = float("-inf")

    def succeeded(self) -> None:
        """A call was answered; a whole window of answers allows one more at once."""
        self._successes += 1
        if self._successes >= self.at_once:
            self._successes = 0
            self.at_once = min(self.at_once + 1, self._most)

    def was_busy(self, *, sent: float, now: float, retry_after: float | None) -> None:
        """A call found the model busy; calls sent before the last halving tell nothing new."""
        self._successes = 0
        if sent >= self._halved:
            self.at_once = max(1, self.at_once // 2)
            self._halved = now
        if retry_after is not None:
            self.held_until = max(self.held_until, now + retry_after)


class Breaker:
    """Pauses all sending after many failures in a row; then one call decides."""

    def __init__(self, limits: Limits) -> None:
        """Start closed: everything goes."""
        self.open_until: float | None = None
        self.given_up = False
        self._probing = False
        self._in_a_row = 0
        self._most = limits.failures_in_a_row
        self._pause = limits.pause_seconds

    def allows(self, *, now: float, in_flight: int) -> bool:
        """Whether a call may be sent; after a pause only one, when nothing else is under way."""
        if self.open_until is None:
            return True
        if now < self.open_until or in_flight:
            return False
        self._probing = True
        return True

    def succeeded(self) -> None:
        """A call was answered: everything goes."""
        self.open_until, self._probing, self._in_a_row = None, False, 0

    def failed(self, *, now: float) -> None:
        """A call failed that may work later."""
        self._in_a_row += 1
        if self._probing:
            self.given_up = True
        elif self.open_until is None and self._in_a_row >= self._most:
            self.open_until = now + self._pause

    @property
    def in_a_row(self) -> int:
        """How many calls have failed since the last answer."""
        return self._in_a_row


def wait_seconds(limits: Limits, *, key: str, attempt: int) -> float:
    """How long to wait after the n-th failure (from 1) of a request: anything up to the doubled wait, evenly.

    The same seed, key and attempt give the same wait, whatever else happens.
    """
    longest = min(limits.longest_wait_seconds, limits.first_wait_seconds * 2.0 ** min(attempt - 1, 64))
    return float(np.random.default_rng([limits.seed, int(key[:8], 16), attempt]).uniform(0, longest))


class Workers(Protocol[Done]):
    """Where calls run and how time passes; one for each batch."""

    def now(self) -> float:
        """Seconds, from any beginning, never falling."""

    def start(self, work: Callable[[], Done]) -> None:
        """Begin a piece of work; it never raises."""

    def wait(self, seconds: float) -> Done | None:
        """What some finished piece of work gave, waited for this long at most; None: none finished."""


class ThreadWorkers(Generic[Done]):
    """A thread for each call that is under way, and the real clock.

    The threads do not keep the process from ending: a call that hangs must not.
    """

    def __init__(self) -> None:
        """Nothing is under way."""
        self._finished: queue.SimpleQueue[Done] = queue.SimpleQueue()

    def now(self) -> float:
        """The monotonic clock."""
        return time.monotonic()

    def start(self, work: Callable[[], Done]) -> None:
        """Begin a piece of work in a thread of its own."""
        threading.Thread(target=lambda: self._finished.put(work()), name="groundwire-call", daemon=True).start()

    def wait(self, seconds: float) -> Done | None:
        """What some finished piece of work gave, waited for this long at most."""
        try:
            return self._finished.get(timeout=max(0.0, seconds))
        except queue.Empty:
            return None
