"""Plans and budgets: counts, money and time before anything is sent."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire.core.errors import UsageError
from groundwire.core.language import Capabilities, Message, Request, Usage
from groundwire.core.text import count_tokens
from groundwire.flow.ledger import Ledger
from groundwire.flow.plan import Account, Amount, Budget, Plan, Price, input_tokens, most, plan, require_room, too_long
from groundwire.flow.records import Cost
from groundwire.flow.traffic import Asking, ask
from simulated import Fake, Simulated, request, requests

PRICE = Price(Decimal("2.50"), Decimal("10"), Decimal("1.25"), "EUR")


def planned(ledger: Ledger, asked: tuple[Request, ...], **more: object) -> Plan:
    return plan(asked, model=Fake(), ledger=ledger, **more)  # type: ignore[arg-type]


def test_a_plan_counts_calls_tokens_and_money_and_sends_nothing() -> None:
    model = Fake()
    asked = (*requests(4), requests(4)[0])
    with Ledger(":memory:") as ledger:
        found = plan(asked, model=model, ledger=ledger, price=PRICE)
    tokens = sum(input_tokens(one) for one in requests(4))
    money = Cost((Decimal("2.50") * tokens + 10 * 40) / 1_000_000, "EUR")
    assert found == Plan("fake:one", 5, 1, 0, 4, tokens, 40, money, None, 0, ())
    assert not model.calls
    assert found.lines() == (
        "fake:one: 5 requests, 1 of them repeated, 0 in the ledger, 4 calls to make",
        f"tokens: about {tokens} in, at most 40 out",
        f"money: up to {money.amount:.6f} EUR",
        "time: unknown, no past call of 'fake:one' for this",
    )


def test_what_the_ledger_has_is_not_planned_unless_all_is_to_be_made_anew() -> None:
    with Ledger(":memory:") as ledger:
        world = Simulated()
        ask(requests(3), model=Fake(world), asking=Asking(ledger, "run", workers=lambda: world, began=0))
        found, fresh = planned(ledger, requests(5)), planned(ledger, requests(5), mode="fresh")
    assert (found.recorded, found.calls, fresh.recorded, fresh.calls) == (3, 2, 0, 5)
    assert found.past_calls == 3
    assert found.seconds == pytest.approx(0.0)
    assert found.lines()[2:] == (
        "money: no price known for 'fake:one'",
        "time: about 0 seconds one after another, by 3 past calls",
    )


def test_the_time_is_known_by_purpose_only() -> None:
    with Ledger(":memory:") as ledger:
        for number, seconds in enumerate((2.0, 4.0)):
            claim = ledger.claim(requests(2)[number], model="fake:one", run="run", lease_seconds=9)
            ledger.answered(claim.call, _reply(), seconds=seconds)  # type: ignore[union-attr]
        assert planned(ledger, requests(7)).seconds == 5 * 3.0
        assert planned(ledger, (*requests(7), request("x", purpose="writing"))).seconds is None


def _reply():  # noqa: ANN202
    from simulated import reply

    return reply("yes")


def test_nothing_to_ask_is_planned_as_nothing() -> None:
    with Ledger(":memory:") as ledger:
        assert planned(ledger, (), price=PRICE).lines()[1:] == (
            "tokens: about 0 in, at most 0 out",
            "money: up to 0.00 EUR",
            "time: about 0 seconds one after another, by 0 past calls",
        )


def test_forty_passages_of_2000_tokens_do_not_fit_into_8000() -> None:
    passage = "The council approved the flood relief plan on Monday evening. " * 160
    assert count_tokens(passage) > 1800
    whole = Request((Message("system", "Answer."), Message("user", passage * 40)), max_tokens=500)
    short = Request((Message("user", passage * 3),), max_tokens=500)
    with Ledger(":memory:") as ledger:
        found = planned(ledger, (short, whole), capabilities=Capabilities(context_tokens=8000))
        unknown = planned(ledger, (short, whole))
    assert [each.place for each in found.too_long] == [1]
    assert found.lines()[-1] == str(found.too_long[0])
    assert "request 2 has about" in str(found.too_long[0])
    assert unknown.too_long == ()


def test_only_a_few_of_many_that_do_not_fit_are_named() -> None:
    asked = {place: request("word " * 100) for place in range(8)}
    with pytest.raises(UsageError, match=r"8 of 8 requests .*request 5 has.*; and 3 more\. Give less evidence"):
        require_room(asked, model=Fake(context=50))
    require_room(asked, model=Fake(context=5000))
    assert too_long(asked, Capabilities()) == ()


def test_prices_are_exact_and_cached_tokens_are_among_the_input() -> None:
    assert PRICE.of(Usage(1_000_000, 100_000)) == Cost(Decimal("3.50"), "EUR")
    assert PRICE.of(Usage(1_000_000, 0, cached_tokens=400_000)) == Cost(Decimal("2.00"), "EUR")
    assert PRICE.of(Usage(10, 0, cached_tokens=99)) == PRICE.of(Usage(10, 0, cached_tokens=10))
    assert Price(Decimal(1), Decimal(1)).of(Usage(10, 0, cached_tokens=9)) == Cost(Decimal("0.00001"), "USD")


@given(
    texts=st.lists(st.text(max_size=40), max_size=3),
    longest=st.integers(1, 99),
    cached=st.sampled_from([None, "1", "9"]),
)
def test_no_count_of_a_byte_level_tokenizer_is_above_what_is_reserved(
    texts: list[str], longest: int, cached: str | None
) -> None:
    one = Request(tuple(Message("user", text) for text in texts), longest, schema="{}", given="g")
    bytes_read = sum(len(text.encode()) for text in (*texts, "{}", "g"))
    price = Price(Decimal(3), Decimal(5), cached and Decimal(cached))  # type: ignore[arg-type]
    bound = most(one, price)
    assert bound.calls == 1
    assert bound.tokens >= bytes_read + longest
    for hit in (0, bytes_read):
        assert bound.money >= price.of(Usage(bytes_read, longest, cached_tokens=hit)).amount
    assert most(one, None).money == 0


@pytest.mark.parametrize("budget", [{"money": Decimal(-1)}, {"tokens": -1}, {"calls": -5}, {"money": Decimal("NaN")}])
def test_a_budget_below_nothing_is_refused(budget: dict[str, object]) -> None:
    with pytest.raises((UsageError, ArithmeticError)):
        Budget(**budget)  # type: ignore[arg-type]


def test_what_is_reserved_counts_until_it_is_settled() -> None:
    account = Account(Budget(tokens=100))
    assert account.reserve(Amount(1, 60))
    assert not account.reserve(Amount(1, 60))
    assert "reserved for calls that are not back" in account.shortage(Amount(1, 60))
    account.settle(Amount(1, 60), spent=Amount(1, 41))
    assert account.shortage(Amount(1, 60)) == (
        "the budget is 100 tokens, 41 are spent, and the next call may bring it to 101"
    )
    assert account.reserve(Amount(1, 59))
    assert Account().reserve(Amount(10**9, 10**12, Decimal(10**9)))


def test_a_budget_of_money_is_in_one_currency() -> None:
    account = Account(Budget(money=Decimal(1)))
    account.require_price("a", PRICE)
    account.require_price("b", PRICE)
    with pytest.raises(UsageError, match="counted in EUR, but 'c' is priced in USD"):
        account.require_price("c", Price(Decimal(1), Decimal(1)))
    assert "the budget is 1 EUR" in account.shortage(Amount(1, 1, Decimal(2)))
    Account(Budget(tokens=5)).require_price("a", None)
