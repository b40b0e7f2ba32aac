"""What a model is found to do, and that the calls this takes are billed; requests that are too long for a model."""

from collections.abc import Iterator
from decimal import Decimal

import pytest

from groundwire.core.answers import FailureKind
from groundwire.core.errors import ModelBusy, ModelRefused
from groundwire.core.language import Capabilities, Reply, Request
from groundwire.flow.answers import RunRefused
from groundwire.flow.asking import Asking, capabilities
from groundwire.flow.ledger import Ledger
from groundwire.flow.pace import Limits
from groundwire.flow.plan import Account, Amount, Price
from groundwire.flow.traffic import ask
from simulated import Fake, Simulated, reply, request, requests

PRICE = Price(input_per_million=Decimal(1_000_000), output_per_million=Decimal(2_000_000), currency="USD")


@pytest.fixture
def ledger() -> Iterator[Ledger]:
    with Ledger(":memory:") as opened:
        yield opened


class Probed(Fake):
    """Asks twice the same and once more to find out what it can do; the first time it is busy after one call."""

    def __init__(self, world: Simulated, *, busy: int = 0) -> None:
        super().__init__(world)
        self._busy = busy
        self._probes: list[tuple[Request, Reply, float]] = []

    def capabilities(self) -> Capabilities:
        self._probes.append((request("Is water wet?"), reply("yes", tokens=(20, 1)), 0.5))
        if self._busy:
            self._busy -= 1
            raise ModelBusy("503")
        self._probes += [(request("Is water wet?"), reply("yes", tokens=(20, 1)), 0.5),
                         (request("In JSON?"), reply("{}", tokens=(30, 2)), 0.25)]  # fmt: skip
        return Capabilities(schema=True)

    def take_probes(self) -> tuple[tuple[Request, Reply, float], ...]:
        taken, self._probes = tuple(self._probes), []
        return taken


@pytest.mark.parametrize("busy", [0, 2])
def test_the_calls_by_which_a_model_is_found_out_are_billed_once(ledger: Ledger, busy: int) -> None:
    world = Simulated()
    account = Account()
    how = Asking(ledger, "run-1", account=account, prices={"fake:one": PRICE}, began=0.0, workers=lambda: world)
    assert capabilities(Probed(world, busy=busy), asking=how).schema

    bill = ledger.bill("run-1")
    assert (bill.answered, bill.failed, bill.unanswered) == (3 + busy, 0, 0)
    assert (bill.input_tokens, bill.output_tokens) == (70 + 20 * busy, 4 + busy)
    assert bill.seconds == 1.25 + 0.5 * busy
    assert [(cost.amount, cost.currency) for cost in bill.money] == [(Decimal(78 + 22 * busy), "USD")]
    assert account.spent == Amount(3 + busy, 74 + 21 * busy, Decimal(78 + 22 * busy))
    assert ledger.uses("run-1") == ()  # a run that goes on from here makes no such calls, and is the same run
    assert ledger.past_seconds("fake:one", "probing")[0] == 3 + busy


def test_probes_of_a_model_that_gives_up_are_billed_too(ledger: Ledger) -> None:
    world = Simulated()
    how = Asking(ledger, "run-1", limits=Limits(attempts=2), began=0.0, workers=lambda: world)
    with pytest.raises(ModelBusy):
        capabilities(Probed(world, busy=5), asking=how)
    assert ledger.bill().answered == 2
    assert ledger.bill().money == ()


def test_a_model_that_needs_no_probe_costs_nothing(ledger: Ledger) -> None:
    world = Simulated()
    assert capabilities(Fake(world, context=99), asking=Asking(ledger, "r")) == Capabilities(context_tokens=99)
    assert ledger.bill().answered == 0


def test_a_request_that_does_not_fit_has_no_answer_and_the_others_are_asked(
    ledger: Ledger, caplog: pytest.LogCaptureFixture
) -> None:
    world = Simulated()
    model = Fake(world, context=100)
    asked = [request("short 1"), request("word " * 200), request("short 3")]
    found = ask(asked, model=model, asking=Asking(ledger, "run-1", workers=lambda: world), only_fitting=True)

    assert [answer.reply is not None for answer in found] == [True, False, True]
    failure = found[1].failure
    assert failure is not None
    assert failure.kind == FailureKind.TOO_LONG
    assert failure.reason.endswith("and up to 10 for the reply are more than the 100 of the model's context; nothing "
                                   "was sent")  # fmt: skip
    assert "1 of 3 requests to 'fake:one' have no answer: about" in caplog.text
    assert len(model.calls) == 2
    replayed = ask(asked, model=model, asking=Asking(ledger, "run-2", mode="replay", replay_of="run-1"))
    assert replayed == found
    again = ask(asked, model=model, asking=Asking(ledger, "run-3", workers=lambda: world), only_fitting=True)
    assert again == found
    assert len(model.calls) == 2


TOO_LONG = "HTTP 400: This model's maximum context length is 8192 tokens"


@pytest.mark.parametrize("error", [ModelRefused(TOO_LONG, status=400), ModelRefused("HTTP 413: no", status=413)])
def test_what_a_server_finds_too_long_is_left_out_too(ledger: Ledger, error: ModelRefused) -> None:
    def model() -> Fake:
        return Fake(world, script={"question 1": [error]})

    world = Simulated()
    how = Asking(ledger, "run-1", limits=Limits(at_first=1, at_once=1), began=0.0, workers=lambda: world)
    found = ask(requests(4), model=model(), asking=how, only_fitting=True)

    assert [answer.failure and answer.failure.kind for answer in found] == [None, FailureKind.TOO_LONG, None, None]
    assert (ledger.bill().answered, ledger.bill().failed) == (3, 1)
    with Ledger(":memory:") as other, pytest.raises(RunRefused):
        ask(requests(4), model=model(), asking=Asking(other, "run-1", began=0.0, workers=lambda: world))


def test_another_refusal_ends_the_run_all_the_same(ledger: Ledger) -> None:
    world = Simulated()
    model = Fake(world, script={"question 1": [ModelRefused("HTTP 401: no key", status=401)]})
    with pytest.raises(RunRefused, match="401"):
        ask(requests(4), model=model, asking=Asking(ledger, "r", began=0.0, workers=lambda: world), only_fitting=True)
