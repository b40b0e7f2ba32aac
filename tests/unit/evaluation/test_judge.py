from __future__ import annotations

import json
import os
import zlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import spearmanr

from groundwire.core.errors import UsageError
from groundwire.core.ports import Matrix, Role
from groundwire.core.types import Item, Judgement
from groundwire.evaluation import judge as judging
from groundwire.evaluation.judge import BuiltinJudge
from groundwire.evaluation.measures import answer_fits, answer_tokens
from groundwire.evaluation.rubrics import CCRS, CHOSEN, Rubric, rubrics_named, score

SHARED = Path(os.environ.get("GROUNDWIRE_SHARED", Path(__file__).resolve().parents[3].parent / "shared"))

DAM = Item(
    id="dam",
    question="When did the Hsinchu dam break?",
    contexts=(
        "The Hsinchu dam broke on 4 May 2021 after a week of rain. It flooded 1,200 homes, the mayor said.",
        "“We had no warning,” said Lin Mei, who lost her house.",
    ),
    answer="The Hsinchu dam broke on 4 May 2021 and flooded 1,200 homes.",
    reference="4 May 2021",
)


class BagEmbedder:
    """Hashed bags of words: the nearest texts share most words. Keeps what it was asked."""

    id = "bag"
    dimension = 512

    def __init__(self) -> None:
        self.asked: list[tuple[Role, str]] = []

    def embed(self, texts: Sequence[str], *, role: Role = "passage") -> Matrix:
        self.asked += [(role, text) for text in texts]
        rows = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for place, text in enumerate(texts):
            for token in answer_tokens(text):
                rows[place, zlib.crc32(token.encode()) % self.dimension] += 1
            rows[place] /= np.linalg.norm(rows[place]) or 1
        return rows


class BlindEmbedder(BagEmbedder):
    """Gives every text the same vector."""

    id = "blind"

    def embed(self, texts: Sequence[str], *, role: Role = "passage") -> Matrix:
        del role
        return np.full((len(texts), self.dimension), self.dimension**-0.5, dtype=np.float32)


def judged(item: Item, rubric: str, embedder: BagEmbedder | None = None) -> Judgement:
    (found,) = BuiltinJudge(embedder).judge([item], rubrics=rubrics_named([rubric]))
    return found


def value(item: Item, rubric: str, embedder: BagEmbedder | None = None) -> float:
    found = judged(item, rubric, embedder).value
    assert found is not None
    return found


def with_answer(answer: str) -> Item:
    return replace(DAM, answer=answer)


def test_judges_by_item_then_rubric_in_the_order_given() -> None:
    items = [replace(DAM, id="b", system="s2"), replace(DAM, id="a", system="s1")]

    found = BuiltinJudge().judge(items, rubrics=rubrics_named(["information_recall", "question_relevance"]))

    assert [(one.item_id, one.system, one.rubric) for one in found] == [
        ("b", "s2", "information_recall"),
        ("b", "s2", "question_relevance"),
        ("a", "s1", "information_recall"),
        ("a", "s1", "question_relevance"),
    ]
    assert {one.outcome for one in found} == {"read"}


def test_no_items_give_no_judgements() -> None:
    assert BuiltinJudge().judge([]) == ()


@pytest.mark.parametrize("embedder", [None, BagEmbedder()])
@pytest.mark.parametrize(
    ("rubric", "better", "worse"),
    [
        ("contextual_coherence", DAM.answer, "The Hsinchu dam broke on 9 June 2019 and flooded 3,400 homes."),
        ("contextual_coherence", DAM.answer, "Engineers blame a crack in the northern wall that nobody repaired."),
        ("contextual_coherence", "Lin Mei said “We had no warning”.", "Lin Mei said “We expected a warning”."),
        ("question_relevance", DAM.answer, "Lin Mei lost her house."),
        ("question_relevance", DAM.answer, "The Hsinchu dam broke. The text does not say when it happened."),
        ("information_density", DAM.answer, f"{DAM.answer} {DAM.answer}"),
        ("information_density", DAM.answer, f"{DAM.answer} It is important to note that this matters to everyone."),
        ("answer_correctness", DAM.answer, "The Hsinchu dam broke on 9 June 2019."),
        ("answer_correctness", "4 May 2021", "On 4 June 2021."),
        ("information_recall", DAM.answer, "The Hsinchu dam broke in May."),
    ],
)
def test_a_better_answer_gets_a_higher_value(
    rubric: str, better: str, worse: str, embedder: BagEmbedder | None
) -> None:
    assert value(with_answer(better), rubric, embedder) > value(with_answer(worse), rubric, embedder) + 2


ZH = Item(
    id="zh",
    question="新竹水壩何時潰堤？",
    contexts=("新竹水壩於2021年5月4日潰堤，淹沒1200戶民宅。市長說：「沒有人收到警告。」",),
    answer="新竹水壩在2021年5月4日潰堤，淹沒1200戶民宅。",
    reference="2021年5月4日",
)


@pytest.mark.parametrize(
    ("rubric", "worse"),
    [
        ("contextual_coherence", "新竹水壩在2019年6月9日潰堤，淹沒3400戶民宅。"),
        ("contextual_coherence", "工程師認為北側牆面早有裂縫，卻無人維修。"),
        ("question_relevance", "市長表示遺憾。"),
        ("information_density", "新竹水壩在2021年5月4日潰堤。新竹水壩在2021年5月4日潰堤。"),
        ("answer_correctness", "新竹水壩在2019年6月9日潰堤。"),
        ("information_recall", "新竹水壩在春天潰堤。"),
    ],
)
def test_a_better_chinese_answer_gets_a_higher_value(rubric: str, worse: str) -> None:
    assert value(ZH, rubric) > value(replace(ZH, answer=worse), rubric) + 2


@pytest.mark.parametrize("answer", ["The archive does not say.", "資料中沒有提到。"])
@pytest.mark.parametrize(
    ("reference", "answerable"),
    [("4 May 2021", 1.0), (None, 0.0), (" ", 0.0), ("The question cannot be answered.", 0.0)],
)
def test_a_refusal_is_abstained_under_every_rubric_and_says_whether_there_was_an_answer(
    answer: str, reference: str | None, answerable: float
) -> None:
    found = BuiltinJudge().judge([replace(DAM, answer=answer, reference=reference)])

    assert len(found) == len(CCRS)
    for one in found:
        assert (one.value, one.outcome) == (None, "abstained")
        assert one.parts == (("answerable", answerable),)
        assert one.reason == f"the answer is a refusal, and the reference holds {'an' if answerable else 'no'} answer"


@pytest.mark.parametrize(
    ("changes", "unscored", "reason"),
    [
        ({"answer": " \n"}, {rubric.name for rubric in CCRS}, "the answer is empty"),
        ({"answer": "😀!"}, {rubric.name for rubric in CCRS}, "no words in: answer"),
        ({"reference": None}, {"answer_correctness", "information_recall"}, "no words in: reference"),
        ({"contexts": ()}, {"contextual_coherence"}, "no words in: contexts"),
        ({"contexts": (" ", "…")}, {"contextual_coherence"}, "no words in: contexts"),
        ({"question": "?"}, {"question_relevance"}, "no words in: question"),
    ],
)
def test_what_is_missing_leaves_its_rubrics_unscored_with_the_reason(
    changes: dict[str, str], unscored: set[str], reason: str
) -> None:
    found = BuiltinJudge().judge([replace(DAM, **changes)])  # type: ignore[arg-type]  # one of several fields

    lacking = [one for one in found if one.value is None]
    assert {one.rubric for one in lacking} == unscored
    assert {(one.outcome, one.reason) for one in lacking} == {("unreadable", reason)}
    assert all(one.outcome == "read" for one in found if one not in lacking)


def test_two_scripts_are_unscored_by_words_and_scored_by_meaning() -> None:
    mixed = replace(ZH, contexts=DAM.contexts, question=DAM.question, reference="Tuesday, 4 May 2021")

    by_words = {one.rubric: one for one in BuiltinJudge().judge([mixed])}
    by_meaning = {one.rubric: one for one in BuiltinJudge(BagEmbedder()).judge([mixed])}

    assert {rubric for rubric, one in by_words.items() if one.value is None} == {
        "contextual_coherence",
        "question_relevance",
        "answer_correctness",
        "information_recall",
    }
    assert by_words["contextual_coherence"].outcome == "unreadable"
    assert "different scripts" in by_words["contextual_coherence"].reason
    assert all(one.outcome == "read" for one in by_meaning.values())
    correctness = dict(by_meaning["answer_correctness"].parts)
    assert correctness["match"] == correctness["meaning"]


def test_contexts_in_another_script_do_not_hide_those_that_can_be_compared() -> None:
    assert value(replace(DAM, contexts=(*ZH.contexts, *DAM.contexts)), "contextual_coherence") == value(
        DAM, "contextual_coherence"
    )


def test_correctness_shows_its_parts_and_what_the_paper_would_give() -> None:
    parts = dict(judged(DAM, "answer_correctness").parts)

    assert (parts["exact_match"], parts["normalised_match"]) == (0.0, 0.0)
    assert parts["token_f1"] == pytest.approx(2 * 3 / (11 + 3), abs=1e-6)
    assert parts["match"] == 1.0  # short reference: all of it is there
    assert parts["paper_value"] == pytest.approx(30 * parts["opinion"])
    assert value(DAM, "answer_correctness") == pytest.approx(70 + 30 * parts["opinion"], abs=1e-3)


@pytest.mark.parametrize("answer", ["4 May 2021", "4 May, 2021."])
def test_a_match_reaches_the_top_of_the_scale(answer: str) -> None:
    assert value(with_answer(answer), "answer_correctness") == 100.0


def test_a_long_reference_needs_precision_too() -> None:
    reference = "The dam broke on 4 May 2021 after a week of heavy rain because its northern wall was cracked."
    right = replace(DAM, reference=reference, answer=reference + " Nobody was hurt.")
    padded = replace(right, answer=reference + " " + " ".join(f"Fact {n} is other." for n in range(40)))

    assert value(right, "answer_correctness") > value(padded, "answer_correctness") + 10


def test_yes_does_not_match_no() -> None:
    asked = replace(DAM, question="Was there a warning?", reference="No, there was no warning.")

    wrong = replace(asked, answer="Yes, there was no lack of warning.")
    right = replace(asked, answer="No, there was none, no warning.")

    assert dict(judged(wrong, "answer_correctness").parts)["match"] == 0.0
    assert value(right, "answer_correctness") > value(wrong, "answer_correctness") + 30


def test_an_answer_of_function_words_only_is_still_an_answer() -> None:
    asked = replace(DAM, question="Which band sang it?", reference="The Who", answer="It was The Who.")

    assert value(asked, "answer_correctness") > 60
    assert value(replace(asked, answer="ABBA"), "answer_correctness") < 10


def test_an_answer_that_only_repeats_the_question_is_compared_as_it_stands() -> None:
    asked = replace(DAM, question="Did the Hsinchu dam break?", answer="The Hsinchu dam did break.")

    assert 0 < value(asked, "contextual_coherence") <= 100
    assert value(asked, "information_density") < value(DAM, "information_density")


def test_padding_lowers_density_and_hardly_anything_else() -> None:
    padding = (
        " It is worth noting that the Hsinchu dam is an interesting topic. Many people care about the Hsinchu dam."
        " Overall, this is important to everyone."
    )
    plain = {one.rubric: one.value for one in BuiltinJudge().judge([DAM])}
    padded = {one.rubric: one.value for one in BuiltinJudge().judge([with_answer(DAM.answer + padding)])}

    moved = {rubric: (padded[rubric] or 0) - (before or 0) for rubric, before in plain.items()}
    assert moved.pop("information_density") < -20
    assert all(abs(change) < 8 for change in moved.values()), moved


@pytest.mark.parametrize("embedder", [None, BagEmbedder()])
def test_a_value_does_not_depend_on_the_other_items(
    embedder: BagEmbedder | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    items = [replace(item, id=f"{item.id}{n}") for n in range(5) for item in (DAM, ZH, with_answer("No idea, sorry."))]
    monkeypatch.setattr(judging, "_BLOCK", 4)
    monkeypatch.setattr(judging, "_READINGS", 3)
    judge = BuiltinJudge(embedder)

    together = judge.judge(items)

    assert together == tuple(one for item in items for one in judge.judge([item]))
    assert set(judge.judge(items[::-1])) == set(together)


def test_tells_its_progress_by_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judging, "_BLOCK", 2)
    told: list[tuple[int, int | None, str]] = []

    BuiltinJudge().judge([DAM] * 5, progress=lambda done, total, label: told.append((done, total, label)))

    assert told == [(2, 5, "judging"), (4, 5, "judging"), (5, 5, "judging")]


def test_embeds_only_what_the_rubrics_need_and_each_text_once() -> None:
    embedder = BagEmbedder()
    judge = BuiltinJudge(embedder)
    embedder.asked.clear()

    judge.judge([DAM, replace(DAM, id="2")], rubrics=rubrics_named(["question_relevance"]))

    assert sorted(embedder.asked) == [("passage", DAM.answer), ("query", DAM.question)]


def test_the_fingerprint_changes_with_embedder_and_parameters(monkeypatch: pytest.MonkeyPatch) -> None:
    lexical, bag = BuiltinJudge().fingerprint, BuiltinJudge(BagEmbedder()).fingerprint
    monkeypatch.setattr(judging, "CHOSEN", replace(CHOSEN, match_share=0.6))
    changed = BuiltinJudge().fingerprint

    assert lexical.startswith("builtin/4/lexical/")
    assert bag.startswith("builtin/4/bag/")
    assert len({lexical, bag, changed}) == 3
    assert judged(DAM, "question_relevance").judge == changed


def test_refuses_an_embedder_that_cannot_tell_texts_apart() -> None:
    with pytest.raises(UsageError, match=r"'blind' gives pairs that say the same 1\.000 and others 1\.000"):
        BuiltinJudge(BlindEmbedder())


def test_refuses_a_rubric_it_does_not_know() -> None:
    other = Rubric(name="charm", title="Charm", asks="Is it charming?", needs=("answer",))

    with pytest.raises(UsageError, match="the built-in judge knows no charm; it knows contextual_coherence"):
        BuiltinJudge().judge([DAM], rubrics=[other])


def test_the_score_is_a_weighted_mean_with_a_gate() -> None:
    parts = {"terms": 0.5, "sentences": 1.0, "phrases": 0.25, "numbers": 0.5}
    parameters = replace(
        CHOSEN,
        weights={**CHOSEN.weights, "contextual_coherence": {"terms": 1.0, "sentences": 1.0, "phrases": 2.0}},
        gates={"contextual_coherence": 0.4},
    )

    found = score("contextual_coherence", parts, parameters=parameters)

    assert found == {"value": pytest.approx(100 * (0.5 + 1.0 + 0.5) / 4 * (1 - 0.4 * 0.5))}


@settings(max_examples=60)
@given(
    *[st.text(alphabet="ab yes no 4 May. 「水壩」壩 “”?\n😀", max_size=40) for _ in range(4)],
    st.sampled_from([None, BagEmbedder()]),
)
def test_every_value_is_between_0_and_100_or_has_a_reason(
    question: str, context: str, answer: str, reference: str, embedder: BagEmbedder | None
) -> None:
    item = Item("1", question, (context, context[::-1]), answer, reference)

    for one in BuiltinJudge(embedder).judge([item]):
        if one.value is None:
            assert one.outcome in ("abstained", "unreadable")
            assert one.reason
        else:
            assert one.outcome == "read"
            assert 0 <= one.value <= 100
            assert not one.reason


@pytest.mark.skipif(not (SHARED / "data").is_dir(), reason="the shared data is not here")
def test_agrees_with_people_on_sets_that_no_constant_was_chosen_on() -> None:
    items, labels = [], []
    with (SHARED / "data/judge-openqa/judgements.jsonl").open(encoding="utf-8") as lines:
        for number, row in enumerate(map(json.loads, lines)):
            if len(row["gold_answers"]) == 1:
                (gold,) = row["gold_answers"]
                items.append(Item(str(number), row["question"], (), row["answer"], gold))
                labels.append(row["human"] == "Yes")

    found = BuiltinJudge().judge(items, rubrics=rubrics_named(["answer_correctness"]))

    kept = [(one.value, label) for one, label in zip(found, labels, strict=True) if one.value is not None]
    assert len(kept) > 300
    assert spearmanr(*zip(*kept, strict=True)).statistic > 0.5


@pytest.mark.parametrize(
    ("question", "answer", "fits"),
    [
        ("How many homes were lost?", "Twelve homes.", 1.0),
        ("How many homes were lost?", "Many homes.", 0.0),
        ("有多少人？", "五人", 1.0),
        ("有多少人？", "很多人", 0.0),
        ("有多少人？", "5人", 1.0),
        ("When did it happen?", "Last spring.", 1.0),
        ("何時發生？", "五月", 1.0),
        ("When did it happen?", "In Tainan.", 0.0),
        ("Who won?", "Marie Curie", 1.0),
        ("Who won?", "marie curie", 1.0),  # a system that writes all in one case shows no names
        ("Who won?", "MARIE CURIE", 1.0),
        ("Who won?", "Émile Zola", 1.0),
        ("Who won?", "in 1998", 1.0),  # any word may be one
        ("Who won?", "1998", 0.0),
        ("Who won?", "the iPhone team", 0.0),
        ("誰贏了？", "居禮夫人", 1.0),
        ("Why did it happen?", "rain", None),
    ],
)
def test_sees_whether_the_kind_of_answer_fits(question: str, answer: str, fits: float | None) -> None:
    assert answer_fits(question, answer) == fits
