"""What calls will come to before they are made, and the budget that stops them.

Input tokens of a plan are estimates; what a budget reserves for a call before it is sent is a bound instead: no
tokenizer that works on bytes makes more tokens than a text has bytes. So a budget is never exceeded by calls whose
server keeps to ``max_tokens``, but for what calls took that broke off: that is often only estimated.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from groundwire.core.errors import UsageError
from groundwire.core.language import Capabilities, LanguageModel, Request, Usage
from groundwire.core.text import count_tokens
from groundwire.flow.ledger import AskMode, Ledger
from groundwire.flow.records import Cost

_MILLION = Decimal(1_000_000)
_MESSAGE_TOKENS = 8  # what a template puts around a message, and around all of them
_MOST_MESSAGE_TOKENS = 32
_NAMED = 5


@dataclass(frozen=True, slots=True)
class Price:
    """What a million tokens of a model cost; ``cached_per_million`` None: as other input."""

    input_per_million: Decimal
    output_per_million: Decimal
    cached_per_million: Decimal | None = None
    currency: str = "USD"

    def of(self, usage: Usage) -> Cost:
        """What a call cost; cached tokens are among the input tokens."""
        cached = min(usage.cached_tokens, usage.input_tokens)
        cached_price = self.input_per_million if self.cached_per_million is None else self.cached_per_million
        millionths = (
            (usage.input_tokens - cached) * self.input_per_million
            + cached * cached_price
            + usage.output_tokens * self.output_per_million
        )
        return Cost(millionths / _MILLION, self.currency)


@dataclass(frozen=True, slots=True)
class Budget:
    """The most that a run may spend; None: no limit. Replies from the ledger cost nothing.

    Attributes:
        money: in the currency of the model's price.
        tokens: input and output together.
        calls: every attempt counts.
    """

    money: Decimal | None = None
    tokens: int | None = None
    calls: int | None = None

    def __post_init__(self) -> None:
        for name, value in (("money", self.money), ("tokens", self.tokens), ("calls", self.calls)):
            if value is not None and not value >= 0:
                raise UsageError(f"the budget of {name} is {value}; it must be 0 or more")


@dataclass(frozen=True, slots=True)
class Amount:
    """Calls, tokens and money: reserved or spent."""

    calls: int = 0
    tokens: int = 0
    money: Decimal = Decimal(0)

    def plus(self, other: Amount, *, times: int = 1) -> Amount:
        """Both together, the other so many times."""
        return Amount(
            self.calls + times * other.calls,
            self.tokens + times * other.tokens,
            self.money + times * other.money,
        )


class Account:
    """What a run has spent and reserved of its budget; safe to use from several threads."""

    def __init__(self, budget: Budget | None = None) -> None:
        """Open an account; None: without limit."""
        self.budget = budget or Budget()
        self.spent = Amount()
        self._reserved = Amount()
        self._currency = ""
        self._lock = threading.Lock()

    def require_price(self, model: str, price: Price | None) -> None:
        """Refuse a budget of money for calls whose price is not known, or is in another currency.

        Raises:
            UsageError: it is so.
        """
        if self.budget.money is None:
            return
        if price is None:
            raise UsageError(
                f"the budget is {self.budget.money} in money, but no price is known for '{model}'. Set its prices, or"
                " give the budget in tokens (--budget-tokens) or calls (--budget-calls)"
            )
        with self._lock:
            self._currency = self._currency or price.currency
        if price.currency != self._currency:
            raise UsageError(
                f"the budget is counted in {self._currency}, but '{model}' is priced in {price.currency}; run them"
                " under budgets of their own"
            )

    def reserve(self, amount: Amount) -> bool:
        """Set an amount aside for a call that is about to be sent; False, and nothing done, where it is not there."""
        with self._lock:
            then = self.spent.plus(self._reserved).plus(amount)
            if self._shortages(then):
                return False
            self._reserved = self._reserved.plus(amount)
        return True

    def settle(self, reserved: Amount, *, spent: Amount) -> None:
        """Replace what was set aside for a call by what it came to."""
        with self._lock:
            self._reserved = self._reserved.plus(reserved, times=-1)
            self.spent = self.spent.plus(spent)

    def shortage(self, amount: Amount) -> str:
        """Why a call that may come to this amount cannot be sent."""
        with self._lock:
            short = self._shortages(self.spent.plus(amount))
        return "; ".join(short) or "the budget is reserved for calls that are not back yet"

    def _shortages(self, then: Amount) -> list[str]:
        kinds = (
            ("calls", self.budget.calls, self.spent.calls, then.calls),
            ("tokens", self.budget.tokens, self.spent.tokens, then.tokens),
            (self._currency or "money", self.budget.money, self.spent.money, then.money),
        )
        return [
            f"the budget is {limit} {name}, {spent} are spent, and the next call may bring it to {after}"
            for name, limit, spent, after in kinds
            if limit is not None and after > limit
        ]


@dataclass(frozen=True, slots=True)
class TooLong:
    """A request that does not fit.

    Its place in the order of asking, from 0; its tokens, estimated; those that its reply may take; and how many the
    model's context holds.
    """

    place: int
    input_tokens: int
    max_tokens: int
    context_tokens: int

    def __str__(self) -> str:
        return (
            f"request {self.place + 1} has about {self.input_tokens} tokens and asks for up to {self.max_tokens} more;"
            f" the model's context holds {self.context_tokens}"
        )


@dataclass(frozen=True, slots=True)
class Plan:
    """What asking these requests would come to.

    Attributes:
        model: its id.
        requests: how many are asked.
        repeated: how many of them are the same as an earlier one, and asked once.
        recorded: how many replies the ledger holds.
        calls: how many are to be made.
        input_tokens: of those calls, estimated.
        output_tokens: of those calls, at most.
        money: of those tokens; None: no price is known.
        seconds: of those calls one after another, by the past calls of that model for the same purpose; None: there
            are none.
        past_calls: how many those were.
        too_long: calls that exceed the model's context, where its size is known.
    """

    model: str
    requests: int
    repeated: int
    recorded: int
    calls: int
    input_tokens: int
    output_tokens: int
    money: Cost | None
    seconds: float | None
    past_calls: int
    too_long: tuple[TooLong, ...]

    def lines(self) -> tuple[str, ...]:
        """The plan in words."""
        money = f"up to {_rounded(self.money)}" if self.money else f"no price known for '{self.model}'"
        if self.seconds is None:
            time = f"unknown, no past call of '{self.model}' for this"
        else:
            time = f"about {self.seconds:.0f} seconds one after another, by {self.past_calls} past calls"
        known = f"{self.repeated} of them repeated, {self.recorded} in the ledger"
        return (
            f"{self.model}: {self.requests} requests, {known}, {self.calls} calls to make",
            f"tokens: about {self.input_tokens} in, at most {self.output_tokens} out",
            f"money: {money}",
            f"time: {time}",
            *(str(each) for each in self.too_long),
        )


def plan(
    requests: Sequence[Request],
    *,
    model: LanguageModel,
    ledger: Ledger,
    price: Price | None = None,
    mode: AskMode = "resume",
    capabilities: Capabilities | None = None,
) -> Plan:
    """What asking would come to; nothing is sent.

    Args:
        requests: in the order of asking.
        model: who would be asked.
        ledger: whose replies need no call.
        price: of the model, where it is known.
        mode: ``fresh`` plans as if the ledger were empty.
        capabilities: of the model, where they are known; None: whether requests fit is left open.
    """
    places: dict[str, int] = {}
    for place, request in enumerate(requests):
        places.setdefault(request.key(model.id), place)
    recorded = ledger.replies(places) if mode != "fresh" else {}
    calls = [place for key, place in places.items() if key not in recorded]
    made = [requests[place] for place in calls]
    usage = Usage(sum(input_tokens(each) for each in made), sum(each.max_tokens for each in made))
    seconds, past = _expected_seconds(made, model=model.id, ledger=ledger)
    return Plan(
        model=model.id,
        requests=len(requests),
        repeated=len(requests) - len(places),
        recorded=len(recorded),
        calls=len(calls),
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        money=price.of(usage) if price else None,
        seconds=seconds,
        past_calls=past,
        too_long=too_long({place: requests[place] for place in calls}, capabilities or Capabilities()),
    )


def too_long(requests: Mapping[int, Request], capabilities: Capabilities) -> tuple[TooLong, ...]:
    """Those of the requests, by place, that exceed the model's context; none where nobody told its size."""
    context = capabilities.context_tokens
    if context is None:
        return ()
    counted = ((place, input_tokens(request), request.max_tokens) for place, request in requests.items())
    return tuple(TooLong(place, tokens, most, context) for place, tokens, most in counted if tokens + most > context)


def require_room(requests: Mapping[int, Request], *, model: LanguageModel) -> None:
    """Refuse requests, by place, that exceed the model's context, before anything is sent.

    Raises:
        UsageError: there are such; the first few are named.
    """
    found = too_long(requests, model.capabilities())
    if found:
        named = "; ".join(str(each) for each in found[:_NAMED])
        more = f"; and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
        raise UsageError(
            f"{len(found)} of {len(requests)} requests to '{model.id}' do not fit, nothing was sent: {named}{more}."
            " Give less evidence, or a model with a longer context"
        )


def input_tokens(request: Request) -> int:
    """Estimate of the tokens that a request is read as; see ``core.text.count_tokens``."""
    texts = _texts(request)
    return sum(count_tokens(text) for text in texts) + _MESSAGE_TOKENS * (1 + len(texts))


def most(request: Request, price: Price | None) -> Amount:
    """The most that one call can come to: as many input tokens as it has bytes, the whole of ``max_tokens`` out."""
    texts = _texts(request)
    read = sum(len(text.encode("utf-8", "surrogatepass")) for text in texts) + _MOST_MESSAGE_TOKENS * (1 + len(texts))
    usage = Usage(read, request.max_tokens)
    money = Decimal(0)
    if price:
        dearest = max(price.input_per_million, price.cached_per_million or price.input_per_million)
        money = Price(dearest, price.output_per_million).of(usage).amount
    return Amount(calls=1, tokens=read + request.max_tokens, money=money)


def _texts(request: Request) -> list[str]:
    """All that a model reads of a request."""
    return [*(message.text for message in request.messages), *filter(None, (request.schema, request.given))]


def _expected_seconds(calls: Sequence[Request], *, model: str, ledger: Ledger) -> tuple[float | None, int]:
    """Seconds one after another and the past calls that say so; None where a purpose has none."""
    total, past = 0.0, 0
    for purpose, count in Counter(call.purpose for call in calls).items():
        made, seconds = ledger.past_seconds(model, purpose)
        if not made:
            return None, 0
        total, past = total + count * seconds, past + made
    return total, past


def _rounded(cost: Cost) -> str:
    """Money with as many places as it takes to see something."""
    places = "0.01" if cost.amount >= 1 or cost.amount == 0 else "0.000001"
    return f"{cost.amount.quantize(Decimal(places))} {cost.currency}"
