"""The one place that calls models: requests in, answers out, in the same order, each paid for once.

``ask`` is synchronous and made of plain threads, so it behaves the same in a script, a notebook and inside a running
event loop. All bookkeeping happens in the thread that asked; the others only wait for the model.

What ends a run early (a refusal, a spent budget, a server that is down, a deadline, Ctrl-C) lets the calls that are
under way come back, writes them down, and is raised with the answers so far. Running the same again pays only for
what is missing.
"""

from __future__ import annotations

import heapq
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from groundwire.core.answers import Answer, Failure, FailureKind
from groundwire.core.errors import BudgetReached, ModelBusy, ModelError
from groundwire.core.language import LanguageModel, Reply, Request, Usage
from groundwire.core.ports import Progress
from groundwire.core.secrets import hide
from groundwire.flow.answers import ReplayLacks, answer_from, ended, failure_from_text
from groundwire.flow.asking import Asking, Call, capabilities, is_too_long, too_long_in_words
from groundwire.flow.pace import Breaker, Pace, wait_seconds
from groundwire.flow.plan import Amount, input_tokens, most, require_room, too_long
from groundwire.flow.records import Cost, Recorded, Taken

__all__ = ["Asking", "Call", "ask", "capabilities"]

_log = logging.getLogger(__name__)
_LOOK_AGAIN_SECONDS = 0.5
_LONGEST_NAP_SECONDS = 1.0


def ask(
    requests: Sequence[Request],
    *,
    model: LanguageModel,
    asking: Asking,
    progress: Progress | None = None,
    only_fitting: bool = False,
) -> tuple[Answer, ...]:
    """Get the replies to requests, from the ledger or from the model.

    Equal requests are asked once. A call that fails in a way that may pass is tried again, after a wait that doubles,
    is drawn at random from a seed, and is no shorter than what the server asked for; but a model that was never heard
    of in this run and cannot be reached at all ends it at once. As many calls are in flight as the model was seen to
    bear.

    Args:
        requests: what is asked; none is fine.
        model: who is asked.
        asking: the run's ledger, limits and budget.
        progress: told how many of the different requests are done.
        only_fitting: a request that is too long for the model has a failure for an answer, and the others are asked.

    Returns:
        One answer a request, in the same order: its reply, or why there is none after all attempts.

    Raises:
        UsageError: without ``only_fitting``, a request does not fit into the model's context (nothing was sent); a
            request wants what the model cannot do, or the budget is in money and no price is known.
        RunRefused: the model refused a call for good (a wrong key, say); no further call was sent.
        RunOverBudget: the next call might exceed the budget.
        RunGaveUp: the model failed many times in a row and again after a pause, cannot be reached, or the deadline
            came.
        ReplayLacks: a replay, and the ledger does not have all replies.
        CannotDo: the ledger cannot be used.
    """
    batch = _Batch(requests, model=model, asking=asking, progress=progress, only_fitting=only_fitting)
    return batch.replay() if asking.mode == "replay" else batch.run()


@dataclass(slots=True, eq=False)
class _Job:
    """One of the different requests of a batch, while it has no answer."""

    key: str
    request: Request
    place: int
    attempts: int = 0


@dataclass(frozen=True, slots=True)
class _Flight:
    """A call under way: what was set aside for it, when it was sent, and when it counts as hanging."""

    job: _Job
    reserved: Amount
    sent: float
    due: float


class _Batch:
    """One ``ask`` from beginning to end."""

    def __init__(
        self,
        requests: Sequence[Request],
        *,
        model: LanguageModel,
        asking: Asking,
        progress: Progress | None,
        only_fitting: bool,
    ) -> None:
        self._requests = tuple(requests)
        self._only_fitting = only_fitting
        self._keys = tuple(request.key(model.id) for request in self._requests)
        self._model = model
        self._asking = asking
        self._limits = asking.limits
        self._price = asking.prices.get(model.id)
        self._progress = progress
        self._workers = asking.workers()
        self._pace = Pace(asking.limits)
        self._breaker = Breaker(asking.limits)
        self._deadline = asking.began + (asking.limits.deadline_seconds or float("inf"))
        self._waiting: list[tuple[float, int, _Job]] = []  # a heap: by the time it may be sent, then by place
        self._flying: dict[int, _Flight] = {}
        self._given_up: dict[int, Amount] = {}
        self._arrived: Call | None = None
        self._answers: dict[str, Answer] = {}
        self._stop: BaseException | None = None
        self._different: dict[str, int] = {}
        for place, key in enumerate(self._keys):
            self._different.setdefault(key, place)

    def run(self) -> tuple[Answer, ...]:
        """Ask all, and give the answers in order or raise what ended the run."""
        self._take_from_ledger()
        if self._waiting:
            self._asking.account.require_price(self._model.id, self._price)
            capabilities(self._model, asking=self._asking)
            self._make_room()
        try:
            self._loop()
        except KeyboardInterrupt as interrupt:
            self._stop = interrupt
            _log.warning("stopping once %d calls under way are back; interrupt again to leave them", len(self._flying))
            self._loop()
            self._asking.ledger.never_sent(self._asking.run, set(self._different) - set(self._answers))
        if self._stop is not None:
            rest = Failure(FailureKind.STOPPED, str(self._stop) or "interrupted")
            raise ended(self._stop, answers=self._in_order(rest))
        return self._in_order()

    def replay(self) -> tuple[Answer, ...]:
        """Answers from the ledger alone, failures of the run that is replayed among them."""
        ledger, run = self._asking.ledger, self._asking.replay_of
        found = ledger.replies(self._different, used_by=run)
        failed = ledger.failures(run)
        for key, place in self._different.items():
            request = self._requests[place]
            if key in found:
                self._answers[key] = answer_from(request, found[key])
            elif key in failed:
                failure = failure_from_text(failed[key], where=str(ledger.path))
                self._answers[key] = Answer(request, failure=failure)
        missing = [self._requests[place] for key, place in self._different.items() if key not in self._answers]
        if missing:
            raise ReplayLacks(
                f"{len(missing)} of {len(self._different)} requests to '{self._model.id}' have no reply in"
                f" {ledger.path}{f' from the run {run}' if run else ''}, and a replay makes no calls; the first is"
                f" {_named(missing[0])}",
                answers=self._in_order(Failure(FailureKind.NOT_RECORDED, "a replay makes no calls")),
            )
        return self._in_order()

    def _take_from_ledger(self) -> None:
        ledger, run = self._asking.ledger, self._asking.run
        ledger.begin(zip(self._requests, self._keys, strict=True), model=self._model.id, run=run)
        found = ledger.replies(self._different, made_by=run if self._asking.mode == "fresh" else "")
        ledger.use(run, {key: recorded.call for key, recorded in found.items()})
        now = self._workers.now()
        for key, place in self._different.items():
            if key in found:
                self._answers[key] = answer_from(self._requests[place], found[key])
            else:
                self._put(_Job(key, self._requests[place], place), at=now)
        self._tell()

    def _make_room(self) -> None:
        """Refuse what does not fit into the model's context, or leave it out."""
        requests = {job.place: job.request for _, _, job in self._waiting}
        if not self._only_fitting:
            require_room(requests, model=self._model)
            return
        long = {each.place: each for each in too_long(requests, self._model.capabilities())}
        jobs = [job for _, _, job in self._waiting if job.place in long]
        self._waiting = [entry for entry in self._waiting if entry[2].place not in long]
        heapq.heapify(self._waiting)
        for job in jobs:
            self._leave_out(job, too_long_in_words(long[job.place]))
        if jobs:
            first = too_long_in_words(long[jobs[0].place])
            _log.warning(
                "%d of %d requests to '%s' have no answer: %s", len(jobs), len(requests), self._model.id, first
            )

    def _leave_out(self, job: _Job, reason: str) -> None:
        self._settle(job, Answer(job.request, failure=Failure(FailureKind.TOO_LONG, reason), attempts=job.attempts))

    def _loop(self) -> None:
        """Send and receive until everything has an answer, or until what is under way is back after a stop."""
        while self._arrived or self._flying or (self._waiting and self._stop is None):
            if self._arrived is None:
                nap = self._send()
                self._arrived = self._workers.wait(nap)
            self._receive(self._arrived)
            self._arrived = None  # only now: an interrupt in between must not lose what was paid for
            self._give_up_hanging()

    # Sending

    def _send(self) -> float:
        """Send what may be sent now; returns for how many seconds nothing but an answer can change that."""
        while (at := self._next_time(now := self._workers.now())) <= now and self._send_first(now):
            pass
        times = [flight.due for flight in self._flying.values()]
        if at > now and self._stop is None:
            times.append(at)
        return min(_LONGEST_NAP_SECONDS, max(0.0, min(times, default=now) - now))

    def _next_time(self, now: float) -> float:
        """When the next call may be sent; never, until something comes back, is infinite."""
        if self._stop is not None or not self._waiting or len(self._flying) >= self._pace.at_once:
            return float("inf")
        at = max(now, self._waiting[0][0], self._pace.held_until, self._breaker.open_until or now)
        if at >= self._deadline:
            if not self._flying:
                self._stop = ModelBusy(self._late(at - now))
            return float("inf")
        if at <= now and not self._breaker.allows(now=now, in_flight=len(self._flying)):
            return float("inf")
        return at

    def _send_first(self, now: float) -> bool:
        """Send the first job; False where its cost has to wait for those that are under way, or ends the run."""
        _, _, job = self._waiting[0]
        account, asking = self._asking.account, self._asking
        reserved = most(job.request, self._price)
        if not account.reserve(reserved):
            if not self._flying:
                self._stop = BudgetReached(account.shortage(reserved))
            return False
        timeout = min(self._limits.timeout_seconds, self._deadline - now)
        lease = timeout + self._limits.grace_seconds
        claim = asking.ledger.claim(
            job.request, model=self._model.id, run=asking.run, lease_seconds=lease, mode=asking.mode
        )
        heapq.heappop(self._waiting)
        if isinstance(claim, Recorded | Taken):
            account.settle(reserved, spent=Amount())
            if isinstance(claim, Recorded):
                self._settle(job, answer_from(job.request, claim))
            else:
                self._put(job, at=now + _LOOK_AGAIN_SECONDS)
            return True
        job.attempts += 1
        self._flying[claim.call] = _Flight(job, reserved, sent=now, due=now + lease)
        self._workers.start(partial(self._call, claim.call, job.request, timeout))
        return True

    def _call(self, number: int, request: Request, timeout: float) -> Call:
        """Make a call; runs in a thread of its own, so whatever happens is carried home."""
        began = self._workers.now()
        try:
            reply = self._model.reply(request, timeout_seconds=timeout)
        except BaseException as error:  # noqa: BLE001 - raised again in the thread that asked
            return Call(number, None, error, self._workers.now() - began)
        return Call(number, reply, None, self._workers.now() - began)

    # Receiving

    def _receive(self, call: Call | None) -> None:
        """Write down what came back."""
        if call is None:
            return
        if not isinstance(call.error, ModelBusy) or call.error.connected:
            self._asking.heard.add(self._model.id)
        if call.reply is not None:
            self._keep(call.number, call.reply, seconds=call.seconds, flight=self._flying.get(call.number))
        flight = self._flying.pop(call.number, None)
        if call.error is not None and flight is not None:
            self._lose(call.number, call.error, seconds=call.seconds, flight=flight)

    def _give_up_hanging(self) -> None:
        """Count calls as failed that are not back long after their time-out; should they come, they are kept."""
        now = self._workers.now()
        for number, flight in [each for each in self._flying.items() if each[1].due <= now]:
            seconds = now - flight.sent
            error = ModelBusy(f"no answer and no error for {seconds:.0f} seconds, which is beyond the time-out")
            error.spent = Usage(input_tokens(flight.job.request), 0, estimated=True)
            self._given_up[number] = self._came_to(error.spent)[1]
            del self._flying[number]
            self._lose(number, error, seconds=seconds, flight=flight)

    def _keep(self, number: int, reply: Reply, *, seconds: float, flight: _Flight | None) -> None:
        cost, spent = self._came_to(reply.usage)
        self._asking.ledger.answered(number, reply, seconds=seconds, cost=cost)
        spent = spent.plus(self._given_up.pop(number, Amount()), times=-1)
        self._asking.account.settle(flight.reserved if flight else Amount(), spent=spent)
        if flight is None:  # given up before; whoever still waits for it finds it in the ledger
            return
        self._pace.succeeded()
        self._breaker.succeeded()
        self._settle(flight.job, Answer(flight.job.request, reply, attempts=flight.job.attempts, seconds=seconds))

    def _came_to(self, usage: Usage) -> tuple[Cost | None, Amount]:
        """What a call cost, and all that it came to."""
        cost = self._price.of(usage) if self._price else None
        tokens = usage.input_tokens + usage.output_tokens
        return cost, Amount(1, tokens, cost.amount if cost else Amount().money)

    def _lose(self, number: int, error: BaseException, *, seconds: float, flight: _Flight) -> None:
        """A call failed: try again, give the request up, or stop."""
        reason = hide(str(error)) or type(error).__name__
        usage = (error.spent if isinstance(error, ModelError) else None) or Usage(0, 0)
        cost, spent = self._came_to(usage)
        self._asking.ledger.failed(number, reason, seconds=seconds, usage=usage, cost=cost)
        self._asking.account.settle(flight.reserved, spent=spent)
        if self._only_fitting and is_too_long(error):
            self._leave_out(flight.job, reason)
            return
        if not isinstance(error, ModelBusy):
            self._stop = self._stop or error
            return
        if not error.connected and self._model.id not in self._asking.heard:
            self._stop = self._stop or error  # nobody has been there in this run: waiting would not bring anybody
            return
        job, now = flight.job, self._workers.now()
        self._pace.was_busy(sent=flight.sent, now=now, retry_after=error.retry_after)
        self._breaker.failed(now=now)
        if self._breaker.given_up and self._stop is None:
            self._stop = ModelBusy(f"{self._breaker.in_a_row} calls in a row failed, the last after a pause: {reason}")
        if job.attempts >= self._limits.attempts:
            failure = Failure(FailureKind.BUSY, reason)
            self._settle(job, Answer(job.request, failure=failure, attempts=job.attempts, seconds=seconds))
            return
        wait = max(wait_seconds(self._limits, key=job.key, attempt=job.attempts), error.retry_after or 0.0)
        _log.info("attempt %d of a call failed, the next is in %.1f seconds: %s", job.attempts, wait, reason)
        self._put(job, at=now + wait)
        self._tell(f", trying again in {wait:.0f} s")

    def _put(self, job: _Job, *, at: float) -> None:
        heapq.heappush(self._waiting, (at, job.place, job))

    def _settle(self, job: _Job, answer: Answer) -> None:
        self._answers[job.key] = answer
        if answer.failure is not None:
            self._asking.ledger.fail(self._asking.run, {job.key: answer.failure.as_text()})
        self._tell()

    def _tell(self, more: str = "") -> None:
        if self._progress is not None:
            self._progress(len(self._answers), len(self._different), self._model.id + more)

    def _in_order(self, rest: Failure | None = None) -> tuple[Answer, ...]:
        """The answers in order of the requests; ``rest`` for those that have none."""
        pairs = zip(self._requests, self._keys, strict=True)
        return tuple(self._answers.get(key) or Answer(request, failure=rest) for request, key in pairs)

    def _late(self, seconds: float) -> str:
        told = f"the deadline of {self._limits.deadline_seconds:g} seconds"
        return f"{told} comes before the {seconds:.0f} seconds to wait are over" if seconds > 0 else f"{told} has come"


def _named(request: Request) -> str:
    """A request in a few words."""
    opening = " ".join(request.messages[-1].text.split())[:60] if request.messages else ""
    return f"for {request.purpose or 'no named purpose'}, beginning {opening!r}"
