"""Raters side by side on labelled pairs, with a scripted model and the ledger."""

import json
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import pytest

from groundwire.core.errors import UsageError
from groundwire.core.language import Capabilities, Request
from groundwire.evaluation.pairs import LabelledPair, read_pairs
from groundwire.flow.ledger import Ledger
from groundwire.flow.pace import Limits
from groundwire.flow.plan import Price
from groundwire.flow.rate_bench import RateBench, bench_rate, sources_of
from groundwire.flow.records import Cost
from groundwire.flow.runs import How, PlanOnly, recorded
from groundwire.flow.settings import JudgeOptions, Loaded, Settings
from groundwire.testing import ScriptedModel

SETTINGS = Settings(embedder="hash:64", judge=JudgeOptions(resamples=100))
LIMITS = Limits(at_first=1, at_once=1)
ROWS = [
    {"topic": "river flood", "article": "The river flood rose on Monday. Boats came.", "relevant": 1},
    {"topic": "river flood", "article": "Cake recipes for spring.", "relevant": 0},
    {"topic": "new bridge", "article": "A new bridge was opened in town.", "relevant": 1},
    {"topic": "new bridge", "article": "The new cat sleeps.", "relevant": 0},
]
VALUES = {"The river": 90, "Cake": 40, "A new bridge": 80, "The new cat": 85}


def pairs() -> tuple[LabelledPair, ...]:
    return read_pairs([json.dumps(row) for row in ROWS], documents=lambda _: None).pairs


def value(request: Request) -> str:
    (found,) = [number for words, number in VALUES.items() if words in request.messages[-1].text]
    return f'{{"relevance": {found}, "consistency": 100, '


@pytest.fixture
def ledger() -> Iterator[Ledger]:
    with Ledger(":memory:") as opened:
        yield opened


def bench(ledger: Ledger, names: tuple[str, ...], *models: ScriptedModel, how: How | None = None) -> RateBench:
    how = how or How(limits=LIMITS, prices={"scripted:test": Price(Decimal(2), Decimal(8))})
    with recorded(ledger, command=["bench"], settings=Loaded(SETTINGS, {}), how=how) as recording:
        return bench_rate(
            pairs(), names=names, models={model.id: model for model in models}, recording=recording, settings=SETTINGS
        )  # type: ignore[arg-type]


def test_each_rater_is_held_against_the_labels_and_against_the_readings(ledger: Ledger) -> None:
    found = bench(ledger, ("builtin", "readings"), ScriptedModel(value))

    builtin, readings = found.raters
    assert (builtin.rater, builtin.model, builtin.spent.calls) == ("builtin", "", 0)
    assert readings.separation.mean == 0.75  # 90 and 80 against 40 and 85
    assert readings.within.mean == 0.5
    assert readings.agreement is None
    assert builtin.agreement is not None
    assert (found.clusters, readings.name, builtin.name) == (2, "readings scripted:test", "builtin")


def test_calls_tokens_and_money_are_counted_also_when_the_ledger_has_them(ledger: Ledger) -> None:
    first = bench(ledger, ("readings",), ScriptedModel(value)).raters[0]
    silent = ScriptedModel([])
    again = bench(ledger, ("readings",), silent).raters[0]

    assert first.spent == again.spent
    assert silent.requests == ()
    assert first.spent.calls == 12
    assert first.spent.money == Cost(
        (Decimal(first.spent.input_tokens) * 2 + Decimal(first.spent.output_tokens) * 8) / 1_000_000, "USD"
    )


def test_repairs_and_unscored_pairs_are_counted(ledger: Ledger) -> None:
    model = ScriptedModel(lambda request: "high" if "Cake" in request.messages[-1].text else value(request))

    found = bench(ledger, ("readings",), model).raters[0]

    assert (found.spent.calls, found.spent.repairs) == (15, 3)
    assert (found.separation.n, found.separation.unscored) == (3, 1)


def test_a_fall_back_keeps_the_name_that_was_asked_for_and_says_what_it_did(ledger: Ledger) -> None:
    found = bench(ledger, ("expected",), ScriptedModel(value, capabilities=Capabilities())).raters[0]

    assert found.rater == "expected"
    assert "no log-probabilities" in found.note


def test_a_model_that_no_rater_wants_is_not_asked(ledger: Ledger) -> None:
    model = ScriptedModel([])

    assert [each.name for each in bench(ledger, ("builtin",), model).raters] == ["builtin"]
    assert model.requests == ()


def test_without_prices_there_is_no_money(ledger: Ledger) -> None:
    assert bench(ledger, ("readings",), ScriptedModel(value), how=How(limits=LIMITS)).raters[0].spent.money is None


def test_a_dry_run_has_a_plan_of_every_model(ledger: Ledger) -> None:
    models = [ScriptedModel([], name=name) for name in ("one", "two")]

    with pytest.raises(PlanOnly) as planned:
        bench(ledger, ("readings",), *models, how=How(dry_run=True))

    assert [(plan.model, plan.calls) for plan in planned.value.plans] == [("scripted:one", 12), ("scripted:two", 12)]


def test_labels_that_are_all_the_same_and_raters_without_a_model_are_refused(ledger: Ledger) -> None:
    with recorded(ledger, command=["bench"], settings=Loaded(SETTINGS, {})) as recording:
        with pytest.raises(UsageError, match="1 pairs have one and the same label"):
            bench_rate(pairs()[:1], names=["builtin"], models={}, recording=recording, settings=SETTINGS)
        with pytest.raises(UsageError, match="readings, yesno ask a model, and none is given"):
            bench_rate(pairs(), names=["readings", "yesno"], models={}, recording=recording, settings=SETTINGS)


def test_rows_and_facts_hold_everything(ledger: Ledger, tmp_path: Path) -> None:
    found = bench(ledger, ("builtin", "readings"), ScriptedModel(value))
    found.save(tmp_path / "rows.jsonl")

    rows = [json.loads(line) for line in (tmp_path / "rows.jsonl").read_text().splitlines()]
    assert [row["rating"] for row in rows if row["rater"] == "readings"] == [90, 40, 80, 85]
    assert rows[-1]["readings"] == [85, 85, 85]
    facts = found.facts()
    assert (facts["pairs"], facts["clusters"], facts["embedder"]) == (4, 2, "hash:64")
    assert [one["rater"] for one in facts["raters"]] == ["builtin", "readings"]


def test_sources_hold_all_sentences_of_the_article_as_hits() -> None:
    found = sources_of(pairs(), settings=SETTINGS)

    assert len(found[0].hits) == 2
    assert {hit.sentence.text for hit in found[0].hits} == {each.text for each in found[0].sentences}
    assert all(hit.similarity is not None for hit in found[0].hits)
