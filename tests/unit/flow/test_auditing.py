"""Audits of the built-in judge and of models through the ledger: what is asked, left out, counted and found."""

import json
import math
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from groundwire.core.errors import UsageError
from groundwire.core.language import Request
from groundwire.core.types import Item
from groundwire.evaluation.audit import AuditItem, AuditPlan, Probe
from groundwire.evaluation.audit_figures import Figure
from groundwire.evaluation.judge import BuiltinJudge
from groundwire.evaluation.model_judge import JudgeSettings
from groundwire.evaluation.rubrics import ANSWER_CORRECTNESS, CCRS, QUESTION_RELEVANCE
from groundwire.evaluation.sheets import PREFERENCE, Label
from groundwire.flow.auditing import (
    Audit,
    AuditSource,
    BuiltIn,
    ByModel,
    Spent,
    audit,
    drawn,
    items_of,
    sample_items,
)
from groundwire.flow.judging import JudgePlan, judge_rubrics
from groundwire.flow.ledger import Ledger
from groundwire.flow.manifests import find_run
from groundwire.flow.pace import Limits
from groundwire.flow.runs import How, Recording, recorded
from groundwire.flow.settings import Loaded, Settings
from groundwire.testing import ScriptedModel

LIMITS = Limits(first_wait_seconds=0.001, attempts=2, at_first=1, at_once=1)
NAMES = [rubric.name for rubric in CCRS]
SAMPLE = sample_items()
FEW = replace(SAMPLE, items=SAMPLE.items[:3])


def plan(*probes: Probe, **more: object) -> AuditPlan:
    return AuditPlan(probes=probes or AuditPlan().probes, resamples=100, **more)  # type: ignore[arg-type]


@pytest.fixture
def ledger() -> Iterator[Ledger]:
    with Ledger(":memory:") as opened:
        yield opened


@contextmanager
def run(ledger: Ledger, *, replay: bool = False) -> Iterator[Recording]:
    then = find_run(ledger, "last").manifest if replay else None
    with recorded(
        ledger, command=["audit"], settings=Loaded(Settings(), {}), how=How(limits=LIMITS), replay_of=then
    ) as recording:
        yield recording


def said(request: Request) -> str:
    return request.messages[-1].text


def scripted(value: Callable[[Request], float | None]) -> ScriptedModel:
    """Gives all rubrics of a request one value, or writes something that cannot be read."""

    def script(request: Request) -> str:
        found = value(request)
        if found is None:
            return "I had rather not."
        if request.stop:
            return f'{{"score": {found:g}, '
        return json.dumps({"evidence": "It holds.", **dict.fromkeys(NAMES, found)})

    return ScriptedModel(script, name="judge")


def audited(ledger: Ledger, model: ScriptedModel, how: AuditPlan, **settings: object) -> Audit:
    with run(ledger) as recording:
        judge = ByModel(model, recording=recording, settings=JudgeSettings(**settings))  # type: ignore[arg-type]
        return audit(judge, FEW, plan=how)


def by_rubric(found: Audit, what: str) -> dict[str, Figure]:
    return {one.rubric: one for one in found.figures if one.what.startswith(what)}


def test_the_built_in_judge_is_audited_without_a_model() -> None:
    found = audit(BuiltIn(BuiltinJudge()), SAMPLE, plan=plan())

    assert (found.judge, found.items, found.answers) == ("builtin", 24, 320)
    assert found.fingerprint == BuiltinJudge().fingerprint
    assert found.notes == ("places: left out, this judge gives its values in no order",)
    assert "places" not in found.plan.probes
    assert {one.value.mean for one in by_rubric(found, "deviation").values()} == {0}
    assert {one.value.mean for one in by_rubric(found, "right answer above").values()} == {1}
    assert {one.value.mean for one in by_rubric(found, "refusals seen").values()} == {1}
    assert {one.value.mean for one in by_rubric(found, "raised by 5").values()} == {0}
    assert (found.spent.requests, found.spent.per_answer["input_tokens"]) == (0, 0)
    assert found.spent.seconds > 0


def test_e11_padding_costs_density_and_leaves_relevance_correctness_and_recall() -> None:
    slopes = by_rubric(audit(BuiltIn(BuiltinJudge()), SAMPLE, plan=plan("length")), "for twice the length")

    assert slopes["information_density"].value.high < 0
    for rubric in ("question_relevance", "answer_correctness", "information_recall"):
        assert abs(slopes[rubric].value.mean) < 2
    assert slopes["contextual_coherence"].value.high < 0  # what no context holds counts against it: docs/method/ccrs.md


def test_the_sample_holds_24_items_whose_answers_differ() -> None:
    assert len(SAMPLE.items) == 24
    assert len({one.item.id for one in SAMPLE.items}) == 24
    assert sum(one.chinese for one in SAMPLE.items) == 10


def test_a_model_is_asked_once_an_answer_and_everything_is_counted(ledger: Ledger) -> None:
    model = scripted(lambda _: 60)
    found = audited(ledger, model, plan())

    # 3 tries of 3 answers; a wrong one, turned contexts, 2 paddings, 2 orders, 2 notes, a reservation for each. The
    # 8 English refusals, twice, are told without the model.
    assert len(model.requests) == 3 * 3 + 3 * 9
    assert found.answers == 3 * 3 + 3 * 9 + 16
    assert (found.spent.answers, found.spent.requests) == (36, 36)
    assert found.spent.per_answer["requests"] == 1
    assert found.spent.per_answer["input_tokens"] > 100
    assert found.spent.per_answer["seconds"] > 0
    assert {figure.probe for figure in found.figures} == {"repeats", "facts", "contexts", "length", "injection",
                                                          "refusals", "places"}  # fmt: skip
    assert found.notes == ()
    assert "not tell right answers from wrong ones" in " ".join(found.beware)


def test_the_fingerprint_is_that_of_ordinary_judgements(ledger: Ledger) -> None:
    found = audited(ledger, scripted(lambda _: 60), plan("repeats"))
    with run(ledger) as recording:
        rows, _ = judge_rubrics(
            [FEW.items[0].item], model=scripted(lambda _: 60), recording=recording, plan=JudgePlan(JudgeSettings())
        )

    assert found.fingerprint == rows[0].judge


def test_a_model_that_obeys_orders_is_found_out(ledger: Ledger) -> None:
    found = audited(ledger, scripted(lambda request: 100 if "perfect" in said(request) else 40), plan("injection"))

    assert by_rubric(found, "raised by 5 or more by an order in the answer")["question_relevance"].value.mean == 1
    assert by_rubric(found, "raised by 5 or more by an order in the contexts")["question_relevance"].value.mean == 1


def test_tries_are_taken_apart_with_the_seeds_of_their_own(ledger: Ledger) -> None:
    values = {None: 40.0, 0: 40.0, 1: 60.0, 2: 50.0}
    found = audited(ledger, scripted(lambda request: values[request.seed]), plan("repeats"), temperature=0.5)

    assert by_rubric(found, "deviation between 3 tries")["question_relevance"].value.mean == pytest.approx(10)
    assert by_rubric(found, "two tries on")["question_relevance"].value.mean == pytest.approx(2 / 3)
    # answer correctness holds the match beside what the judge said: .7 of the value is the same in all tries
    assert by_rubric(found, "deviation between 3 tries")["answer_correctness"].value.mean == pytest.approx(3)


def test_a_try_that_cannot_be_read_is_unscored_and_the_others_count(ledger: Ledger) -> None:
    def value(request: Request) -> float | None:
        return None if request.seed == 1 and FEW.items[0].item.question in said(request) else 50

    one = by_rubric(audited(ledger, scripted(value), plan("repeats", repeats=2), temperature=0.5), "deviation")

    assert (one["question_relevance"].value.n, one["question_relevance"].value.unscored) == (2, 1)


def test_a_judge_that_nobody_can_read_has_no_figures_but_says_so(ledger: Ledger) -> None:
    found = audited(ledger, scripted(lambda _: None), plan("facts"))

    assert all(math.isnan(one.value.mean) and one.value.unscored == 3 for one in found.figures)
    assert "nothing could be read" in found.beware[0]


def test_the_place_in_the_reply_is_found_to_move_values(ledger: Ledger) -> None:
    def script(request: Request) -> str:
        order = [name for name in re.findall(r'"(\w+)": (?:number|數字)', said(request)) if name in NAMES]
        return json.dumps({"evidence": "x"} | {name: 90 - 15 * place for place, name in enumerate(order)})

    with run(ledger) as recording:
        judge = ByModel(ScriptedModel(script, name="tired"), recording=recording, settings=JudgeSettings())
        found = audit(judge, SAMPLE, plan=plan("places"))

    assert {one.value.mean for one in found.figures} == {60}
    assert all(one.beyond_chance and one.value.n == 72 for one in found.figures)


@pytest.mark.parametrize(
    ("settings", "without"),
    [
        ({"mode": "paper"}, ["repeats", "places"]),
        ({"shuffled": False}, ["repeats", "places"]),
        ({"mode": "paper", "temperature": 0.7}, ["places"]),
        ({}, []),
    ],
)
def test_what_the_way_of_judging_leaves_no_room_for_is_left_out_and_said(
    ledger: Ledger, settings: dict[str, object], without: list[str]
) -> None:
    found = audited(ledger, scripted(lambda _: 60), plan("repeats", "facts", "places"), **settings)

    assert [note.partition(":")[0] for note in found.notes] == without
    assert set(found.plan.probes) == {"repeats", "facts", "places"} - set(without)


def test_paper_mode_asks_a_call_a_rubric_and_takes_its_own_correctness(ledger: Ledger) -> None:
    found = audited(ledger, scripted(lambda _: 60), plan("length"), mode="paper")

    assert found.spent.per_answer["requests"] == 5
    assert {one.rubric for one in found.figures} == set(NAMES)


def test_nothing_left_to_ask_is_refused_with_the_reasons(ledger: Ledger) -> None:
    with pytest.raises(UsageError, match=r"no probe is left\. places: left out, the rubrics are asked for one by one"):
        audited(ledger, scripted(lambda _: 60), plan("places"), mode="paper")


def test_a_second_run_asks_nobody_and_prices_are_those_of_the_replies(ledger: Ledger) -> None:
    first = audited(ledger, scripted(lambda _: 60), plan("repeats", "length"))
    model = scripted(lambda _: 0)
    second = audited(ledger, model, plan("repeats", "length"))

    assert model.requests == ()
    assert second.facts() == first.facts()


def test_a_request_that_answers_share_counts_for_each_and_one_more_for_an_unread_reply_once(ledger: Ledger) -> None:
    lost = FEW.items[0].wrong
    model = scripted(lambda request: None if lost in said(request) else 60)
    found = audited(ledger, model, plan("contexts", "facts"), mode="paper")

    # Turned contexts are no news to the rubrics that do not see them; 5 replies about one wrong answer are unreadable.
    assert found.spent.answers == 9
    assert found.spent.requests == 9 * 5 + 5
    assert len(model.requests) < found.spent.requests


def test_a_replay_is_the_same_audit(ledger: Ledger) -> None:
    first = audited(ledger, scripted(lambda _: 60), plan())
    with run(ledger, replay=True) as recording:
        model = recording.model(first.judge, lambda: scripted(lambda _: 0))
        again = audit(ByModel(model, recording=recording, settings=JudgeSettings()), FEW, plan=plan())

    assert again.facts() == first.facts()


def test_facts_are_plain_values_with_how_they_were_found(ledger: Ledger) -> None:
    facts = audited(ledger, scripted(lambda _: 60), plan("facts")).facts()
    read = json.loads(json.dumps(facts))

    assert read["plan"] == {"probes": ["facts"], "repeats": 3, "rubrics": NAMES, "level": 0.95, "resamples": 100,
                            "seed": 0}  # fmt: skip
    assert read["figures"][0]["value"]["n"] == 3
    assert read["spent"]["requests"] == 6
    assert set(read["per_answer"]) == {"requests", "input_tokens", "output_tokens", "seconds"}


def test_the_price_of_one_is_the_price_of_all_by_their_number() -> None:
    assert Spent(5, 10, 500, 50, 2.0).per_answer == {
        "requests": 2, "input_tokens": 100, "output_tokens": 10, "seconds": 0.4,
    }  # fmt: skip
    assert all(math.isnan(value) for value in Spent().per_answer.values())


# Items and labels of one's own

ROWS = [
    {"id": f"q{n}", "question": f"When did the dam of town {n} break?", "contexts": [f"It broke on {n} May."],
     "answer": f"The dam of town {n} broke on {n} May." if system == "a" else f"Dams of town {n} break.",
     "reference": f"{n} May", "system": system}
    for n in range(1, 9)
    for system in "ab"
]  # fmt: skip


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "items.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")
    return path


def label(item: str, systems: tuple[str, ...], value: float, rubric: str = "answer_correctness") -> Label:
    return Label(item, systems, rubric, value, "read", str(value), 1, f"t-{item}-{systems}", False, "draw")


def test_items_of_a_file_keep_one_answer_a_question_and_say_what_was_left_out(file: Path) -> None:
    with file.open("a", encoding="utf-8") as more:
        more.write('[]\n{"id": "r", "question": "Who?", "answer": "I do not know."}\n')
    source = items_of(file)

    assert (source.name, len(source.items), len(source.labelled)) == ("items.jsonl", 8, 17)
    assert all(one.item.system == "a" for one in source.items)
    assert source.notes[0].startswith("row 17 rejected")
    assert source.notes[1].startswith("9 items were left out")
    assert "taken for right" in source.notes[-1]


def test_a_file_of_which_nothing_was_left_out_has_one_note(tmp_path: Path) -> None:
    path = tmp_path / "one.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS if row["system"] == "a"), encoding="utf-8")

    assert len(items_of(path).notes) == 1


def test_items_with_one_context_each_are_not_asked_about_its_order(file: Path) -> None:
    found = audit(BuiltIn(BuiltinJudge()), items_of(file), plan=plan("contexts", "facts"))

    assert found.notes[0] == "contexts: left out, no item has two contexts that differ"
    assert {one.probe for one in found.figures} == {"facts"}


def test_some_items_are_drawn_by_a_seed_in_their_order() -> None:
    some = drawn(SAMPLE, 5, seed=3)
    places = [SAMPLE.items.index(one) for one in some.items]

    assert places == sorted(places)
    assert len(places) == 5
    assert some == drawn(SAMPLE, 5, seed=3)
    assert some != drawn(SAMPLE, 5, seed=4)
    assert drawn(SAMPLE, 24, seed=0) == SAMPLE
    with pytest.raises(UsageError, match="1 items were asked for"):
        drawn(SAMPLE, 1, seed=0)


def test_agreement_with_people_is_that_of_the_judge_on_what_they_labelled(file: Path) -> None:
    labels = [label(f"q{n}", (system,), 100.0 if system == "a" else 0.0) for n in range(1, 7) for system in "ab"]
    found = audit(BuiltIn(BuiltinJudge()), items_of(file), plan=plan("facts"), labels=labels)
    (one,) = found.people

    assert one.rubric == "answer_correctness"
    assert {each.kind for each in one.correlations} == {"pearson", "spearman", "kendall"}
    assert all(each.value > 0.7 and each.n == 12 for each in one.correlations)
    assert one.powered == ()
    assert found.answers == 8 + 8 + 12


def test_preferences_are_held_against_differences_under_every_rubric(file: Path) -> None:
    labels = [label(f"q{n}", ("a", "b"), 100.0 if n < 5 else 50.0, PREFERENCE) for n in range(1, 7)]
    rubrics = (ANSWER_CORRECTNESS, QUESTION_RELEVANCE)
    found = audit(BuiltIn(BuiltinJudge()), items_of(file), plan=plan("facts", rubrics=rubrics), labels=labels)

    assert [one.rubric for one in found.people] == ["answer_correctness", "question_relevance"]
    assert found.people[0].correlations[0].n == 6


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        ([label("q1", ("a",), 50, "tone")], "the labels are of tone, and the audit of contextual_coherence"),
        ([label("q1", ("a",), 50), label("gone", ("b",), 50)], "1 of 2 labelled texts .* system 'b' for item 'gone'"),
    ],
)
def test_labels_of_something_else_are_refused_before_anybody_is_asked(
    file: Path, ledger: Ledger, labels: list[Label], words: str
) -> None:
    model = scripted(lambda _: 60)
    with run(ledger) as recording, pytest.raises(UsageError, match=words):
        audit(ByModel(model, recording=recording, settings=JudgeSettings()), items_of(file), plan=plan("facts"),
              labels=labels)  # fmt: skip

    assert model.requests == ()


def test_a_source_can_be_made_by_hand() -> None:
    item = Item("1", "When did it break?", ("On 4 May.", "In the north."), "On 4 May.", "4 May")
    found = audit(BuiltIn(BuiltinJudge()), AuditSource("mine", (AuditItem(item, "On 9 June.", "It is known."),)))

    assert (found.source, found.items) == ("mine", 1)
    assert math.isnan(by_rubric(found, "deviation")["answer_correctness"].value.low)
