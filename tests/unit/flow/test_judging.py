"""Judges on models through the ledger: rubrics, claims with their count of calls, juries, replay."""

import json
import math
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from groundwire.core.errors import BudgetReached, UsageError
from groundwire.core.language import Capabilities, Request
from groundwire.core.types import Item
from groundwire.evaluation.claim_measures import CLAIM_MEASURES
from groundwire.evaluation.comparisons import Options
from groundwire.evaluation.model_judge import JudgeSettings
from groundwire.evaluation.rubrics import CCRS
from groundwire.flow.judging import JudgePlan, ModelJudged, judge_by_models
from groundwire.flow.ledger import Ledger
from groundwire.flow.manifests import find_run
from groundwire.flow.pace import Limits
from groundwire.flow.plan import Budget
from groundwire.flow.runs import How, Recording, recorded
from groundwire.flow.settings import Loaded, Settings
from groundwire.testing import ScriptedModel

LIMITS = Limits(first_wait_seconds=0.001, attempts=2, at_first=1, at_once=1)
FEW = Options(resamples=200, permutations=200)
NAMES = [rubric.name for rubric in CCRS]
ITEM = Item("1", "What did the flood do?", tuple(f"context {n}" for n in range(5)), "Long answer.", "Short reference.")
CLAIMS = JudgePlan(rubrics=(), claims=True, options=FEW)


def items(count: int = 4, systems: str = "ab") -> list[Item]:
    return [
        replace(ITEM, id=f"q{n}", system=system, answer=f"Answer {n} of {system}.")
        for n in range(count)
        for system in systems
    ]


@pytest.fixture
def ledger() -> Iterator[Ledger]:
    with Ledger(":memory:") as opened:
        yield opened


@contextmanager
def run(ledger: Ledger, *, replay: bool = False, budget: int | None = None, fresh: bool = False) -> Iterator[Recording]:
    then = find_run(ledger, "last").manifest if replay else None
    how = How(limits=LIMITS, budget=Budget(calls=budget), mode="fresh" if fresh else "resume")
    with recorded(ledger, command=["judge"], settings=Loaded(Settings(), {}), how=how, replay_of=then) as recording:
        yield recording


def said(request: Request) -> str:
    return request.messages[-1].text


def shared(value: float) -> str:
    return json.dumps({"evidence": "It holds.", **dict.fromkeys(NAMES, value)})


def rubric_judge(name: str, gain: float = 0) -> ScriptedModel:
    def script(request: Request) -> str:
        number, system = re.search(r"Answer (\d+) of (\w)", said(request)).groups()  # type: ignore[union-attr]
        return shared(40 + 5 * int(number) + (gain if system == "b" else 0))

    return ScriptedModel(script, name=name)


def claim_model(
    answer: int, reference: int, *, lose: int = 0, words: str = "supported", name: str = "claims"
) -> ScriptedModel:
    """Finds so many claims, and leaves the last ``lose`` of a batch of more than ``lose`` out."""

    def script(request: Request) -> str:
        text = said(request)
        if "claims" in request.purpose and "finding" in request.purpose:
            count, kind = (answer, "said") if "Long answer." in text else (reference, "wanted")
            return json.dumps({"claims": [f"{kind} {number}" for number in range(count)]})
        asked = re.findall(r"^(\d+)\. \w+ \d+$", text, re.MULTILINE)
        told = asked[: len(asked) - lose]
        return json.dumps({"verdicts": [{"number": int(number), "verdict": words} for number in told]})

    return ScriptedModel(script, name=name)


def judged(ledger: Ledger, *models: ScriptedModel, given: list[Item], plan: JudgePlan, **more: bool) -> ModelJudged:
    with run(ledger, **more) as recording:
        return judge_by_models(given, models=models, recording=recording, plan=plan)


@pytest.mark.parametrize(("mode", "calls"), [("paper", 5), ("shared", 1)])
def test_calls_per_answer_by_mode(ledger: Ledger, mode: str, calls: int) -> None:
    def script(request: Request) -> str:
        return '{"score": 70, ' if request.stop else shared(70)

    model = ScriptedModel(script, name="m")
    found = judged(ledger, model, given=[ITEM],
                   plan=JudgePlan(JudgeSettings(mode=mode), options=FEW))  # type: ignore[arg-type]  # fmt: skip

    assert len(model.requests) == calls
    assert [row.value for row in found.judgements if row.rubric == "question_relevance"] == [70]
    assert len(found.judgements) == 5 + (mode == "paper")


@pytest.mark.parametrize(
    ("said_", "wanted", "k"), [(7, 3, 5), (1, 1, 5), (5, 5, 1), (6, 11, 3), (10, 2, 20), (0, 3, 5), (4, 0, 2)]
)
def test_calls_on_claims_are_those_that_ragchecker_makes(ledger: Ledger, said_: int, wanted: int, k: int) -> None:
    model = claim_model(said_, wanted)
    item = replace(ITEM, contexts=tuple(f"context {number}" for number in range(k)))
    judged(ledger, model, given=[item], plan=CLAIMS)

    assert len(model.requests) == 2 + math.ceil(said_ / 5) * (1 + k) + math.ceil(wanted / 5) * (1 + k)


def test_the_identity_holds_through_the_ledger_and_without_claims_nothing_is_scored(ledger: Ledger) -> None:
    rows = {row.rubric: row for row in judged(ledger, claim_model(7, 3), given=[ITEM], plan=CLAIMS).judgements}
    none = judged(ledger, claim_model(0, 3), given=[ITEM], plan=CLAIMS, fresh=True).judgements
    three = ("faithfulness", "hallucination", "self_knowledge")

    assert sum(rows[name].value or 0 for name in three) == pytest.approx(100)
    assert [row.rubric for row in none] == list(CLAIM_MEASURES)
    assert [row.value for row in none if row.rubric in three] == [None] * 3


def test_missing_verdicts_are_asked_for_once_more_and_then_counted(ledger: Ledger) -> None:
    mended = claim_model(4, 0, lose=2)  # of four two come back, and of those two none
    lone = replace(ITEM, contexts=())
    rows = {row.rubric: row for row in judged(ledger, mended, given=[lone], plan=CLAIMS).judgements}

    assert len(mended.requests) == 2 + 1 + 1
    assert rows["precision"].value is None
    assert dict(rows["precision"].parts)["missing"] == 2
    assert "2 verdicts are missing" in rows["precision"].reason


def test_a_verdict_that_comes_at_the_second_call_counts(ledger: Ledger) -> None:
    def script(request: Request) -> str:
        text = said(request)
        if "finding" in request.purpose:
            return '{"claims": ["said 0", "said 1"]}' if "Long answer." in text else '{"claims": []}'
        return '{"verdicts": [{"number": 1, "verdict": "supported"}]}'

    model = ScriptedModel(script, name="slow")
    lone = replace(ITEM, contexts=())
    rows = {row.rubric: row for row in judged(ledger, model, given=[lone], plan=CLAIMS).judgements}

    assert rows["precision"].value == 100
    assert len(model.requests) == 4


def test_an_extraction_that_cannot_be_read_is_asked_for_once_more(ledger: Ledger) -> None:
    model = ScriptedModel(lambda _: "Nice.", name="vague")
    rows = judged(ledger, model, given=[ITEM], plan=CLAIMS).judgements

    assert len(model.requests) == 4
    assert {row.outcome for row in rows} == {"unreadable"}
    assert "no claims could be read" in rows[0].reason


def test_a_refusal_has_no_claims_even_where_it_is_a_reference(ledger: Ledger) -> None:
    refusing = replace(ITEM, answer="The archive does not say.", system="a")
    other = replace(ITEM, reference="The archive does not say.", system="b")
    rows = judged(ledger, claim_model(2, 1), given=[refusing, other], plan=CLAIMS).judgements
    mine = {row.rubric: row for row in rows if row.system == "a"}

    assert (mine["precision"].value, mine["precision"].outcome) == (None, "abstained")
    assert mine["claim_recall"].value == 100


def test_an_answer_without_a_reference_is_held_against_its_contexts_alone(ledger: Ledger) -> None:
    model = claim_model(2, 1)
    rows = judged(ledger, model, given=[replace(ITEM, reference=None)], plan=CLAIMS).judgements

    assert {row.rubric for row in rows if row.value is not None} == {"faithfulness"}
    assert len(model.requests) == 1 + 5


def test_another_model_may_find_the_claims(ledger: Ledger) -> None:
    finder, decider = claim_model(2, 1), claim_model(9, 9, words="not_found", name="other")
    with run(ledger) as recording:
        found = judge_by_models([ITEM], models=[decider], recording=recording, plan=CLAIMS, extractor=finder)

    assert len(finder.requests) == 2
    assert dict(found.judgements[0].parts)["answer_claims"] == 2
    assert found.judgements[0].value == 0


def test_what_cannot_be_read_is_repaired_once(ledger: Ledger) -> None:
    def script(request: Request) -> str:
        return shared(66) if "could not be read" in said(request) else "Nice."

    model = ScriptedModel(script, name="m")
    found = judged(ledger, model, given=[ITEM], plan=JudgePlan(options=FEW))

    assert len(model.requests) == 2
    assert {row.outcome for row in found.judgements} == {"recovered"}
    assert found.judgements[1].value == 66


def test_scale_confusion_is_one_sentence_in_the_notes(ledger: Ledger) -> None:
    def script(request: Request) -> str:
        number = int(re.search(r"Answer (\d+)", said(request))[1])  # type: ignore[index]
        return shared(0.85 if number == 3 else 4 if number == 5 else 70 + number)

    plan = JudgePlan(rubrics=CCRS[1:2], options=FEW)
    found = judged(ledger, ScriptedModel(script, name="m"), given=items(20, "a"), plan=plan)

    assert len([note for note in found.notes if "another scale" in note]) == 1
    assert "q3 (question_relevance), q5 (question_relevance)" in " ".join(found.notes)


def test_a_jury_keeps_every_juror_and_names_the_broken_one(ledger: Ledger) -> None:
    broken = ScriptedModel(lambda _: shared(100), name="broken")
    found = judged(ledger, rubric_judge("one", 9), rubric_judge("two", 9), broken, given=items(8),
                   plan=JudgePlan(rubrics=CCRS[1:2], options=FEW))  # fmt: skip
    of_b = [row.value for row in found.judgements if row.system == "b"]

    assert of_b == [49 + 5 * number for number in range(8)]
    assert len(found.jurors) == 3
    assert found.standings[2].mean == 100
    assert found.agreement[0][0] == "question_relevance"
    assert found.judgements[0].judge.startswith("jury of 3/median/")
    assert len(found.places) == 3
    assert json.loads(json.dumps(found.facts()))["seed"] == 0


def test_jurors_are_written_into_files_of_their_own(ledger: Ledger, tmp_path: Path) -> None:
    found = judged(ledger, rubric_judge("one"), rubric_judge("two"), given=items(2), plan=JudgePlan(options=FEW))
    files = found.save(tmp_path / "out.jsonl")

    assert [file.name for file in files] == ["out.jsonl", "out.1.jsonl", "out.2.jsonl"]
    assert len((tmp_path / "out.2.jsonl").read_text().splitlines()) == 20
    alone = judged(ledger, rubric_judge("one"), given=items(2), plan=JudgePlan(options=FEW))
    assert alone.save(tmp_path / "one.jsonl") == (tmp_path / "one.jsonl",)
    assert alone.agreement == alone.standings == alone.turns == ()


def test_a_run_that_was_stopped_pays_for_nothing_twice_and_ends_the_same(ledger: Ledger) -> None:
    plan = JudgePlan(JudgeSettings(mode="paper"), options=FEW)
    given = items(4)
    whole = Ledger(":memory:")

    def script(request: Request) -> str:
        return f'{{"score": {len(said(request)) % 90}, '

    straight = judged(whole, ScriptedModel(script, name="m"), given=given, plan=plan)
    first, second = ScriptedModel(script, name="m"), ScriptedModel(script, name="m")
    with pytest.raises(BudgetReached):
        judged(ledger, first, given=given, plan=plan, budget=24)  # type: ignore[arg-type]
    resumed = judged(ledger, second, given=given, plan=plan)
    whole.close()

    assert len(first.requests) + len(second.requests) == 5 * 8
    assert resumed == straight


def test_a_replay_needs_no_model(ledger: Ledger) -> None:
    model = rubric_judge("one")
    with run(ledger) as recording:
        asked = recording.model(model.id, lambda: model)
        found = judge_by_models(items(2), models=[asked], recording=recording, plan=JudgePlan(options=FEW))
    with run(ledger, replay=True) as recording:
        asked = recording.model(model.id, lambda: pytest.fail("a replay made a model"))
        again = judge_by_models(items(2), models=[asked], recording=recording, plan=JudgePlan(options=FEW))

    assert again == found
    assert set(find_run(ledger, "last").manifest.prompts) == {
        f"rubrics-ccrs-shared.{tag}" for tag in ("en", "zh-TW", "zh-CN")
    }


@pytest.mark.parametrize(
    ("given", "models", "plan"),
    [
        ([], 1, JudgePlan()),
        ([ITEM], 0, JudgePlan()),
        ([ITEM], 2, JudgePlan()),
        ([ITEM], 1, JudgePlan(rubrics=())),
    ],
)
def test_nothing_to_judge_is_refused(ledger: Ledger, given: list[Item], models: int, plan: JudgePlan) -> None:
    with pytest.raises(UsageError, match="give items, judges that differ"):
        judged(ledger, *[rubric_judge("same") for _ in range(models)], given=given, plan=plan)


def test_verdicts_that_hang_on_a_juror_are_told_where_systems_are_compared(ledger: Ledger) -> None:
    plan = JudgePlan(rubrics=CCRS[1:2], voting="mean", options=FEW)
    found = judged(ledger, rubric_judge("fond", 30), rubric_judge("even", 0), given=items(10), plan=plan)

    assert [(turn.left_out.split("/")[0], turn.before == turn.after) for turn in found.turns] == [
        ("scripted:fond", False)
    ]


@pytest.mark.parametrize("mode", ["paper", "shared"])
def test_an_item_longer_than_the_models_context_is_unscored_with_the_reason_and_the_others_go_on(
    ledger: Ledger, mode: str
) -> None:
    def script(request: Request) -> str:
        return '{"score": 70, ' if request.stop else shared(70)

    able = Capabilities(context_tokens=4096, schema=True)
    model = ScriptedModel(script, name="m", capabilities=able)
    long = replace(ITEM, id="long", contexts=("word " * 5000,))
    plan = JudgePlan(JudgeSettings(mode=mode), options=FEW)  # type: ignore[arg-type]
    found = judged(ledger, model, given=[ITEM, long], plan=plan)

    values = {(row.item_id, row.rubric): row for row in found.judgements}
    unscored = ["contextual_coherence"] if mode == "paper" else NAMES  # the only call of paper mode that has contexts
    assert [name for name in NAMES if values["long", name].value is None] == unscored
    for name in NAMES:
        assert values["1", name].value is not None
        if name in unscored:
            assert values["long", name].outcome == "unreadable"
            assert "more than the 4,096 of the model's context; nothing was sent" in values["long", name].reason
    assert not any("word word" in said(request) for request in model.requests)
    assert judged(ledger, model, given=[ITEM, long], plan=plan, replay=True).judgements == found.judgements


def test_claims_of_a_text_longer_than_the_models_context_are_unscored_with_the_reason(ledger: Ledger) -> None:
    model = claim_model(2, 1)
    small = ScriptedModel(model._script, name="claims", capabilities=Capabilities(context_tokens=2048, schema=True))
    long = replace(ITEM, id="long", answer="Long answer. " + "word " * 3000)
    found = judged(ledger, small, given=[ITEM, long], plan=CLAIMS)

    values = {(row.item_id, row.rubric): row for row in found.judgements}
    assert values["1", "precision"].value == 100
    assert values["long", "precision"].value is None
    assert "nothing was sent" in values["long", "precision"].reason
