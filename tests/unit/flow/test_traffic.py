"""Traffic: order, retries, stops, budgets and replays, in virtual time; and once with real threads in event loops."""

import asyncio
import contextlib
import threading
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundwire.core.answers import Answer, Failure, FailureKind
from groundwire.core.errors import ModelBusy, ModelRefused, UsageError
from groundwire.core.language import Capabilities, Usage
from groundwire.flow.answers import ReplayLacks, RunGaveUp, RunOverBudget, RunRefused
from groundwire.flow.ledger import Ledger
from groundwire.flow.pace import Limits
from groundwire.flow.plan import Account, Amount, Budget, Price, input_tokens, most
from groundwire.flow.records import Claim, Cost
from groundwire.flow.traffic import Asking, Call, ask
from simulated import Fake, Simulated, busy, reply, request, requests

Work = Callable[[], tuple[Answer, ...]]


@pytest.fixture
def ledger() -> Iterator[Ledger]:
    with Ledger(":memory:") as opened:
        yield opened


def asking(ledger: Ledger, world: Simulated, **more: Any) -> Asking:  # noqa: ANN401 - the fields of Asking
    return Asking(ledger, more.pop("run", "run-1"), began=0.0, workers=lambda: world, **more)


def texts(answers: Sequence[Answer]) -> list[str | None]:
    return [answer.reply and answer.reply.text for answer in answers]


def states(ledger: Ledger) -> tuple[int, int, int]:
    bill = ledger.bill()
    return bill.answered, bill.failed, bill.unanswered


# Order and repetition


@given(delays=st.lists(st.floats(0.001, 5), min_size=1, max_size=25), at_once=st.integers(1, 8), data=st.data())
@settings(max_examples=25, deadline=None)
def test_answers_come_in_the_order_of_the_requests_whatever_each_takes(
    delays: list[float], at_once: int, data: st.DataObject
) -> None:
    numbers = data.draw(st.lists(st.integers(0, len(delays) - 1), min_size=1, max_size=30))
    asked = [request(f"question {number}") for number in numbers]
    world = Simulated()
    model = Fake(world, seconds=lambda one: delays[int(one.messages[0].text.split()[-1])])
    with Ledger(":memory:") as ledger:
        answers = ask(asked, model=model, asking=asking(ledger, world, limits=Limits(at_once=at_once)))

    assert texts(answers) == [str(number) for number in numbers]
    assert [answer.request for answer in answers] == asked
    assert len(model.calls) == len(set(numbers))
    assert world.most_in_flight <= at_once


def test_equal_requests_are_asked_once_and_readings_are_not_equal(ledger: Ledger) -> None:
    world = Simulated()
    model = Fake(world)
    answers = ask(
        [request("a 1"), request("a 1", purpose="other"), request("a 1", reading=1), request("a 1")],
        model=model,
        asking=asking(ledger, world),
    )
    assert texts(answers) == ["1"] * 4
    assert len(model.calls) == 2
    assert len(ledger.uses("run-1")) == 4
    assert all(use.reply for use in ledger.uses("run-1"))


def test_nothing_to_ask_is_fine(ledger: Ledger) -> None:
    assert ask([], model=Fake(), asking=asking(ledger, Simulated())) == ()


def test_progress_counts_what_the_ledger_had(ledger: Ledger) -> None:
    told = []
    world = Simulated()
    ask(requests(2), model=Fake(world), asking=asking(ledger, world))
    ask(
        requests(4),
        model=Fake(world),
        asking=asking(ledger, world, run="run-2"),
        progress=lambda *words: told.append(words),
    )
    assert told == [(2, 4, "fake:one"), (3, 4, "fake:one"), (4, 4, "fake:one")]


def test_progress_tells_of_a_wait(ledger: Ledger) -> None:
    told = []
    world = Simulated()
    model = Fake(world, script={"question 0": [busy(retry_after=90), "yes"]})
    ask(requests(1), model=model, asking=asking(ledger, world), progress=lambda *words: told.append(words))
    assert told == [(0, 1, "fake:one"), (0, 1, "fake:one, trying again in 90 s"), (1, 1, "fake:one")]


# Faults that pass (CASES D1)


@pytest.mark.parametrize(
    ("faults", "at_least"),
    [
        ([busy("429", retry_after=20)], 20),
        ([busy("429", retry_after=3), busy("429", retry_after=4)], 7),
        ([busy("500")], 0),
        ([busy("no answer within 120 seconds")], 0),
        ([busy("the reply broke off"), busy("reset"), busy("500"), busy("502"), busy("503")], 0),
    ],
)
def test_a_fault_that_passes_is_waited_out(ledger: Ledger, faults: list[ModelBusy], at_least: float) -> None:
    world = Simulated()
    model = Fake(world, script={"question 1": [*faults, "yes"]})
    answers = ask(requests(3), model=model, asking=asking(ledger, world))

    assert texts(answers) == ["0", "yes", "2"]
    assert answers[1].attempts == len(faults) + 1
    assert world.time >= at_least
    assert states(ledger) == (3, len(faults), 0)


def test_while_the_server_asked_to_wait_nothing_is_sent(ledger: Ledger) -> None:
    world = Simulated()
    model = Fake(world, script={"question 0": [busy(retry_after=50), "yes"]})
    ask(requests(30), model=model, asking=asking(ledger, world))
    assert not [at for at, _, _ in model.calls if 0.02 < at < 50]


def test_a_request_that_fails_at_every_attempt_is_a_failure_and_the_others_are_not(ledger: Ledger) -> None:
    world = Simulated()
    model = Fake(world, script={"question 1": [busy("sk-test-CANARY is over its limit")] * 9})
    answers = ask(requests(3), model=model, asking=asking(ledger, world, limits=Limits(attempts=3)))

    assert texts(answers) == ["0", None, "2"]
    assert answers[1].failure == Failure(FailureKind.BUSY, "*** is over its limit")
    assert answers[1].attempts == 3

    replayed = ask(
        requests(3), model=Fake(), asking=asking(ledger, world, mode="replay", replay_of="run-1", run="none")
    )
    assert replayed == answers


def test_calls_grow_by_one_a_window_and_halve_when_the_model_is_busy(ledger: Ledger) -> None:
    world = Simulated()
    model = Fake(world, seconds=lambda _: 1.0)
    ask(requests(60), model=model, asking=asking(ledger, world, limits=Limits(at_first=1, at_once=6)))
    starts = [at for at, _, _ in model.calls]
    per_second = [sum(int(at) == second for at in starts) for second in range(int(starts[-1]) + 1)]
    assert per_second[:6] == [1, 2, 3, 4, 5, 6]
    assert max(per_second) == 6


# Ends


def test_a_refusal_stops_at_once_and_what_was_under_way_is_kept(ledger: Ledger) -> None:
    world = Simulated()
    seconds = {"question 0": 5.0, "question 1": 1.0}
    model = Fake(
        world,
        script={"question 1": [ModelRefused("401: the key is not accepted", status=401)]},
        seconds=lambda one: seconds.get(one.messages[0].text, 9.0),
    )
    with pytest.raises(RunRefused, match=r"401: the key is not accepted\. 1 of 40 requests are answered") as raised:
        ask(requests(40), model=model, asking=asking(ledger, world, limits=Limits(at_first=2)))

    assert len(model.calls) == 2
    assert raised.value.status == 401
    assert texts(raised.value.answers) == ["0", *[None] * 39]
    assert {answer.failure.kind for answer in raised.value.answers[1:]} == {FailureKind.STOPPED}
    assert states(ledger) == (1, 1, 0)

    again = ask(requests(40), model=Fake(world), asking=asking(ledger, world, run="run-2"))
    assert texts(again) == [str(number) for number in range(40)]
    assert again[0].recorded


@pytest.mark.parametrize("error", [UsageError("no schemas here"), ValueError("a fault of ours"), SystemExit(4)])
def test_any_other_error_is_raised_as_it_is_after_the_calls_under_way(ledger: Ledger, error: BaseException) -> None:
    world = Simulated()
    model = Fake(world, script={"question 0": [error]}, seconds=lambda _: 1.0)
    with pytest.raises(type(error), match=str(error)):
        ask(requests(5), model=model, asking=asking(ledger, world))
    assert states(ledger) == (1, 1, 0)


def test_a_server_that_is_down_is_left_alone_for_a_while_then_tried_once_then_given_up(ledger: Ledger) -> None:
    world = Simulated()
    model = Fake(world, script={"*": [busy("connection refused")]})
    limits = Limits(failures_in_a_row=5, pause_seconds=30, first_wait_seconds=0.1)
    with pytest.raises(
        RunGaveUp, match="6 calls in a row failed, the last after a pause: connection refused"
    ) as raised:
        ask(requests(50), model=model, asking=asking(ledger, world, limits=limits))

    times = [at for at, _, _ in model.calls]
    assert len(times) == 6
    assert times[5] - times[4] >= 30
    assert texts(raised.value.answers) == [None] * 50


def test_a_server_that_cannot_be_reached_and_was_never_heard_of_ends_the_run_at_once(ledger: Ledger) -> None:
    world = Simulated()
    nobody = ModelBusy("nothing listens there. Start the server", connected=False)
    model = Fake(world, script={"*": [nobody]})
    with pytest.raises(RunGaveUp, match=r"nothing listens there\. Start the server") as raised:
        ask(requests(50), model=model, asking=asking(ledger, world, limits=Limits(at_first=1)))

    assert (len(model.calls), world.now() < 1) == (1, True)
    assert texts(raised.value.answers) == [None] * 50


@pytest.mark.parametrize("before", [[], [busy("503")]])
def test_a_server_that_was_heard_of_in_this_run_may_be_away_for_a_while(ledger: Ledger, before: list[object]) -> None:
    world = Simulated()
    away = ModelBusy("nothing listens there", connected=False)
    how = asking(ledger, world, limits=Limits(at_first=1, at_once=1, first_wait_seconds=0.1))
    assert texts(ask([request("a 1")], model=Fake(world, script={"*": [*before, "yes"]}), asking=how)) == ["yes"]

    model = Fake(world, script={"*": [away, away, "back"]})
    assert texts(ask([request("b 2")], model=model, asking=how)) == ["back"]
    assert len(model.calls) == 3


@pytest.mark.parametrize(("at_first", "faults"), [(1, 5), (8, 8)])
def test_after_a_pause_one_call_that_succeeds_opens_the_way_again(ledger: Ledger, at_first: int, faults: int) -> None:
    world = Simulated()
    model = Fake(world, script={"*": [busy("down")] * faults + ["yes"]})
    limits = Limits(failures_in_a_row=5, pause_seconds=30, first_wait_seconds=0.1, at_first=at_first)
    answers = ask(requests(50), model=model, asking=asking(ledger, world, limits=limits))
    assert texts(answers) == ["yes"] * 50
    assert [at > 30 for at, _, _ in model.calls] == [False] * faults + [True] * 50


def test_the_deadline_ends_a_run_and_no_call_is_given_more_time_than_is_left(ledger: Ledger) -> None:
    world = Simulated()
    model = Fake(world, seconds=lambda _: 4.0)
    limits = Limits(at_first=1, at_once=1, deadline_seconds=10)
    with pytest.raises(RunGaveUp, match="the deadline of 10 seconds has come") as raised:
        ask(requests(9), model=model, asking=asking(ledger, world, limits=limits))
    assert [timeout for _, _, timeout in model.calls] == [10, 6, 2]
    assert texts(raised.value.answers)[:4] == ["0", "1", "2", None]


def test_at_the_deadline_the_calls_under_way_come_back(ledger: Ledger) -> None:
    world = Simulated()
    model = Fake(world, seconds=lambda one: 14.0 if "1" in one.messages[0].text else 6.0)
    with pytest.raises(RunGaveUp, match="has come") as raised:
        ask(requests(9), model=model, asking=asking(ledger, world, limits=Limits(at_once=2, deadline_seconds=12)))
    assert texts(raised.value.answers) == ["0", "1", "2", *[None] * 6]


def test_a_wait_that_ends_after_the_deadline_is_not_waited(ledger: Ledger) -> None:
    world = Simulated()
    model = Fake(world, script={"question 0": [busy(retry_after=3600)]})
    with pytest.raises(RunGaveUp, match="comes before the 3600 seconds to wait are over"):
        ask(requests(1), model=model, asking=asking(ledger, world, limits=Limits(deadline_seconds=60)))
    assert world.time < 1


def test_an_interrupt_lets_the_calls_under_way_come_back(ledger: Ledger) -> None:
    world = Simulated()
    world.interrupt_at = [3]
    model = Fake(world, seconds=lambda _: 2.0)
    with pytest.raises(KeyboardInterrupt):
        ask(requests(20), model=model, asking=asking(ledger, world, limits=Limits(at_first=4)))
    assert states(ledger) == (len(model.calls), 0, 0)
    assert len(model.calls) < 20


def test_an_interrupt_while_a_reply_is_written_down_does_not_lose_it() -> None:
    class Interrupted(Ledger):
        times = 0

        def answered(self, *words: Any, **named: Any) -> None:  # noqa: ANN401 - as its parent
            self.times += 1
            if self.times == 3:
                raise KeyboardInterrupt
            super().answered(*words, **named)

    with Interrupted(":memory:") as interrupted:
        with pytest.raises(KeyboardInterrupt):
            ask(requests(20), model=Fake(), asking=asking(interrupted, Simulated()))
        assert states(interrupted)[1:] == (0, 0)
        assert 3 <= states(interrupted)[0] < 20


def test_an_interrupt_between_writing_a_call_down_and_sending_it_leaves_no_call() -> None:
    class Interrupted(Ledger):
        def claim(self, *words: Any, **more: Any) -> Claim:  # noqa: ANN401 - handed on
            claimed = super().claim(*words, **more)
            if self.bill().unanswered == 2:
                raise KeyboardInterrupt
            return claimed

    world = Simulated()
    with Interrupted(":memory:") as ledger:
        with pytest.raises(KeyboardInterrupt):
            ask(requests(9), model=Fake(world), asking=asking(ledger, world, limits=Limits(at_first=4)))
        assert states(ledger) == (1, 0, 0), "one was sent and came back, the other never left"


def test_a_second_interrupt_leaves_them_and_the_ledger_says_so(ledger: Ledger) -> None:
    world = Simulated()
    world.interrupt_at = [3, 4]
    model = Fake(world, seconds=lambda _: 20.0)
    with pytest.raises(KeyboardInterrupt):
        ask(requests(20), model=model, asking=asking(ledger, world, limits=Limits(at_first=4)))
    assert states(ledger) == (0, 0, 4)


def test_a_call_that_hangs_beyond_its_time_out_is_given_up_and_made_again(ledger: Ledger) -> None:
    world = Simulated()
    model = Fake(world, seconds=lambda _: 1e9 if len(model.calls) == 1 else 1.0)
    limits = Limits(timeout_seconds=10, grace_seconds=5)
    answers = ask(requests(3), model=model, asking=asking(ledger, world, limits=limits))

    assert texts(answers) == ["0", "1", "2"]
    assert answers[0].attempts == 2
    assert 15 < world.time < 60
    assert states(ledger) == (3, 1, 0)


def test_a_late_reply_saves_the_second_call(ledger: Ledger) -> None:
    world = Simulated()
    seconds = {"question 0": 20.0, "question 1": 30.0}
    model = Fake(world, seconds=lambda one: seconds[one.messages[0].text])
    limits = Limits(timeout_seconds=10, grace_seconds=5, first_wait_seconds=1000, longest_wait_seconds=1000)
    how = asking(ledger, world, limits=limits, prices={"fake:one": Price(Decimal(1), Decimal(1))})
    answers = ask(requests(1), model=model, asking=how)
    assert texts(answers) == ["0"]
    assert how.account.spent == Amount(1, 10, Decimal("0.00001"))
    assert len(model.calls) == 1
    assert answers[0].recorded


# Several who ask the same


def test_a_call_that_somebody_else_makes_is_waited_for(tmp_path: Path) -> None:
    world = Simulated()
    model = Fake(world)
    one = request("question 0")
    with Ledger(tmp_path / "ledger") as ledger, Ledger(tmp_path / "ledger") as other:
        claim = other.claim(one, model=model.id, run="theirs", lease_seconds=100)
        looks = []

        class Watched(Simulated):
            def wait(self, seconds: float) -> Call | None:
                looks.append(seconds)
                if len(looks) == 3:
                    other.answered(claim.call, reply("theirs"), seconds=1)
                return super().wait(seconds)

        answers = ask([one], model=model, asking=asking(ledger, Watched()))
        assert texts(answers) == ["theirs"]
        assert not model.calls
        assert ledger.uses("run-1")[0].reply


# Fresh and replay


def test_a_fresh_run_pays_again_and_a_replay_takes_what_its_run_took(ledger: Ledger) -> None:
    world = Simulated()
    first = ask(requests(2), model=Fake(world, script={"*": ["old"]}), asking=asking(ledger, world, run="a"))
    fresh = ask(
        requests(2), model=Fake(world, script={"*": ["new"]}), asking=asking(ledger, world, run="b", mode="fresh")
    )
    later = ask(requests(2), model=Fake(world), asking=asking(ledger, world, run="c"))
    assert (texts(first), texts(fresh), texts(later)) == (["old"] * 2, ["new"] * 2, ["new"] * 2)
    for run, then in (("a", first), ("b", fresh)):
        again = ask(requests(2), model=Fake(), asking=asking(ledger, world, run="x", mode="replay", replay_of=run))
        assert again == then


def test_a_replay_makes_no_call_and_says_what_is_missing(ledger: Ledger) -> None:
    world = Simulated()
    model = Fake(world)
    ask(requests(2), model=model, asking=asking(ledger, world))
    calls = len(model.calls)
    with pytest.raises(ReplayLacks, match=r"2 of 4 requests to 'fake:one'.*beginning 'question 2'") as raised:
        ask(requests(4), model=model, asking=asking(ledger, world, mode="replay"))
    assert len(model.calls) == calls
    assert texts(raised.value.answers) == ["0", "1", None, None]
    assert raised.value.answers[3].failure.kind == FailureKind.NOT_RECORDED


# Budgets


@given(
    sizes=st.lists(st.tuples(st.integers(0, 200), st.integers(1, 50), st.integers(0, 100)), min_size=1, max_size=20),
    tokens=st.integers(0, 4000),
    money=st.decimals("0", "0.02", places=5),
    at_once=st.integers(1, 8),
)
@settings(max_examples=25, deadline=None)
def test_a_budget_is_never_exceeded(
    sizes: list[tuple[int, int, int]],
    tokens: int,
    money: Decimal,
    at_once: int,
) -> None:
    world = Simulated()
    price = Price(Decimal("2.5"), Decimal("10"))
    asked = [
        request("x" * length + f" {place}", max_tokens=longest) for place, (length, longest, _) in enumerate(sizes)
    ]
    used = {  # anything up to what a server may count: a token a byte, and all of max_tokens
        one.messages[0].text: (len(one.messages[0].text) * part // 100, longest * part // 100)
        for one, (_, longest, part) in zip(asked, sizes, strict=True)
    }
    model = Fake(world, script={text: [reply("y", tokens=spent)] for text, spent in used.items()})
    account = Account(Budget(money=money, tokens=tokens))
    with Ledger(":memory:") as ledger:
        how = asking(ledger, world, account=account, prices={model.id: price}, limits=Limits(at_first=at_once))
        done = False
        with contextlib.suppress(RunOverBudget):
            done = all(answer.reply for answer in ask(asked, model=model, asking=how))
        if not done:
            with pytest.raises(RunOverBudget) as over:  # nothing more goes in, whatever is left
                ask(asked, model=model, asking=how)
            first = next(answer.request for answer in over.value.answers if answer.reply is None)
            then = account.spent.plus(most(first, price))
            assert then.tokens > tokens or then.money > money
            assert sum(answer.reply is not None for answer in over.value.answers) == ledger.bill().answered
        bill = ledger.bill()
    assert account.spent.tokens == bill.input_tokens + bill.output_tokens <= tokens
    assert account.spent.money == sum((cost.amount for cost in bill.money), Decimal(0)) <= money


def test_a_budget_of_calls_counts_every_attempt(ledger: Ledger) -> None:
    world = Simulated()
    model = Fake(world, script={"question 0": [busy(), busy(), "yes"]})
    how = asking(ledger, world, account=Account(Budget(calls=4)), limits=Limits(at_once=1, at_first=1))
    with pytest.raises(RunOverBudget, match="the budget is 4 calls, 4 are spent, and the next call may bring it to 5"):
        ask(requests(9), model=model, asking=how)
    assert len(model.calls) == 4


def test_a_budget_of_money_needs_a_price_before_anything_is_sent(ledger: Ledger) -> None:
    world = Simulated()
    model = Fake(world)
    with pytest.raises(UsageError, match="no price is known for 'fake:one'"):
        ask(requests(2), model=model, asking=asking(ledger, world, account=Account(Budget(money=Decimal(1)))))
    assert not model.calls


def test_requests_that_do_not_fit_are_named_before_anything_is_sent(ledger: Ledger) -> None:
    world = Simulated()
    model = Fake(world, context=8000)
    evidence = request("A passage of evidence about the flood relief. " * 9000, max_tokens=500)
    with pytest.raises(UsageError, match=r"1 of 3 requests to 'fake:one' do not fit, nothing was sent: request 2 has"):
        ask([request("a 1"), evidence, request("a 2")], model=model, asking=asking(ledger, world))
    assert not model.calls


# Real threads


def in_asyncio(work: Work) -> tuple[Answer, ...]:
    async def main() -> tuple[Answer, ...]:
        return work()

    return asyncio.run(main())


def in_uvloop(work: Work) -> tuple[Answer, ...]:
    uvloop = pytest.importorskip("uvloop")

    async def main() -> tuple[Answer, ...]:
        return work()

    return uvloop.run(main())


@pytest.mark.parametrize("around", [lambda work: work(), in_asyncio, in_uvloop], ids=["script", "asyncio", "uvloop"])
def test_it_works_the_same_inside_a_running_event_loop(
    ledger: Ledger, around: Callable[[Work], tuple[Answer, ...]]
) -> None:
    ways_in = threading.active_count()
    answers = around(lambda: ask(requests(12), model=Fake(), asking=Asking(ledger, "run-1")))
    assert texts(answers) == [str(number) for number in range(12)]
    assert threading.active_count() <= ways_in + 1


def test_two_threads_ask_the_same_at_once_and_pay_once(ledger: Ledger) -> None:
    model = Fake()
    found = {}

    def work(run: str) -> None:
        found[run] = ask(requests(20), model=model, asking=Asking(ledger, run))

    threads = [threading.Thread(target=work, args=(run,)) for run in ("a", "b")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert texts(found["a"]) == texts(found["b"]) == [str(number) for number in range(20)]
    assert len(model.calls) == 20


class Crowded(Fake):
    """Says what it can do after some faults."""

    def __init__(self, world: Simulated, *faults: Exception) -> None:
        super().__init__(world)
        self.faults = list(faults)
        self.looks: list[float] = []

    def capabilities(self) -> Capabilities:
        self.looks.append(self._world.now() if self._world else 0.0)
        if self.faults:
            raise self.faults.pop(0)
        return Capabilities(context_tokens=100)


def test_a_model_that_is_busy_at_first_sight_is_looked_at_again_after_what_it_asks_for(ledger: Ledger) -> None:
    world = Simulated()
    model = Crowded(world, busy("429", retry_after=7), busy("503"))

    assert texts(ask([request("question 1")], model=model, asking=asking(ledger, world))) == ["1"]

    assert model.looks[0] == 0
    assert model.looks[1] >= 7
    assert model.looks[2] > model.looks[1]


@pytest.mark.parametrize(
    ("fault", "looks", "limits"),
    [
        (ModelBusy("nothing listens", connected=False), 1, Limits()),
        (ModelRefused("401", status=401), 1, Limits()),
        (busy("503"), 3, Limits(attempts=3)),
        (busy("429", retry_after=100), 1, Limits(deadline_seconds=60)),
    ],
)
def test_at_first_sight_a_model_is_given_up_as_soon_as_waiting_does_not_help(
    ledger: Ledger, fault: Exception, looks: int, limits: Limits
) -> None:
    world = Simulated()
    model = Crowded(world, *[fault] * 9)

    with pytest.raises(type(fault), match=str(fault)):
        ask(requests(3), model=model, asking=asking(ledger, world, limits=limits))

    assert (len(model.looks), model.calls) == (looks, [])


# What failed calls take


def cut(usage: Usage) -> ModelBusy:
    fault = busy("the stream was cut")
    fault.spent = usage
    return fault


def test_what_a_failed_call_took_is_billed_and_counts_for_the_budget(ledger: Ledger) -> None:
    world = Simulated()
    model = Fake(world, script={"question 0": [cut(Usage(40, 10)), cut(Usage(30, 0, estimated=True)), "yes"]})
    prices = {"fake:one": Price(Decimal(1_000_000), Decimal(2_000_000))}
    how = asking(ledger, world, prices=prices)

    assert texts(ask(requests(1), model=model, asking=how)) == ["yes"]

    bill = ledger.bill()
    assert (bill.answered, bill.failed, bill.input_tokens, bill.output_tokens) == (1, 2, 77, 13)
    assert bill.estimated_tokens == 30
    assert bill.money == (Cost(Decimal(103), "USD"),)
    assert how.account.spent == Amount(3, 90, Decimal(103))


def test_calls_that_break_off_again_and_again_end_at_the_budget(ledger: Ledger) -> None:
    world = Simulated()
    model = Fake(world, script={"*": [cut(Usage(50, 50))]})
    how = asking(ledger, world, account=Account(Budget(tokens=300)), limits=Limits(at_first=1, at_once=1))

    with pytest.raises(RunOverBudget):
        ask(requests(30), model=model, asking=how)

    assert how.account.spent.tokens <= 300
    assert len(model.calls) <= 3


def test_a_call_that_hangs_is_estimated_until_its_reply_comes_after_all(ledger: Ledger) -> None:
    world = Simulated()
    model = Fake(world, seconds=lambda _: 1e9 if len(model.calls) == 1 else 1.0)
    how = asking(ledger, world, limits=Limits(timeout_seconds=10, grace_seconds=5))

    ask(requests(1), model=model, asking=how)

    guess = input_tokens(request("question 0"))
    assert ledger.bill().estimated_tokens == guess > 0
    assert how.account.spent == Amount(2, 10 + guess)
