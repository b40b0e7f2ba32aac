"""What settings say of models becomes limits, prices and models."""

from decimal import Decimal

from groundwire.core.language import Capabilities
from groundwire.flow.ledger import Ledger
from groundwire.flow.model_settings import limits_of, model_of, prices_of
from groundwire.flow.pace import Limits
from groundwire.flow.plan import Price
from groundwire.flow.runs import recorded
from groundwire.flow.settings import Loaded, ModelOptions, Settings, TrafficOptions
from groundwire.testing import ScriptedModel


def options(**more: object) -> ModelOptions:
    return ModelOptions.model_validate({"base_url": "http://127.0.0.1:1/v1", "model": "m", **more})


SETTINGS = Settings(
    models={
        "a": options(max_concurrency=3, timeout_seconds=50, input_price=0.15, output_price=0.6, currency="EUR"),
        "b": options(max_concurrency=16, input_price=1),
    },
    traffic=TrafficOptions(at_first=4, at_once=8, attempts=2, deadline_seconds=9, seed=5),
)


def test_limits_are_those_of_traffic_and_of_the_models_that_are_asked() -> None:
    assert limits_of(SETTINGS, ["http:b"]) == Limits(
        at_first=4, at_once=8, attempts=2, timeout_seconds=120, deadline_seconds=9, seed=5
    )
    both = limits_of(SETTINGS, ["http:a", "http:b"])
    assert (both.at_first, both.at_once, both.timeout_seconds) == (3, 3, 50)


def test_a_local_model_is_asked_one_call_at_a_time() -> None:
    found = limits_of(Settings(), ["llama:smollm2-135m"])

    assert (found.at_first, found.at_once, found.timeout_seconds) == (1, 1, 600)


def test_prices_are_exact_and_only_of_models_that_have_both() -> None:
    assert prices_of(SETTINGS) == {"http:a": Price(Decimal("0.15"), Decimal("0.6"), currency="EUR")}


def test_what_the_ledger_knows_of_an_endpoint_is_not_asked_again() -> None:
    able = Capabilities(context_tokens=77, schema=True)
    with Ledger(":memory:") as ledger:
        with recorded(ledger, command=["x"], settings=Loaded(SETTINGS, {})) as recording:
            recording.capabilities(ScriptedModel([], name="x", capabilities=able))
            recording._models["http:a"] = recording._models.pop("scripted:x")
        found = model_of("http:a", settings=SETTINGS, environment={}, ledger=ledger)

    assert found.capabilities() == able
