from __future__ import annotations

import json
import os
import re
import string
from collections import Counter
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire.evaluation import measures

SHARED = Path(os.environ.get("GROUNDWIRE_SHARED", Path(__file__).resolve().parents[3].parent / "shared"))
short_texts = st.text(alphabet="abc 年月日.A", max_size=30)


@pytest.mark.parametrize(
    ("text", "normalised", "tokens"),
    [
        ("The  Dam, an old one!", "dam old one", ("dam", "old", "one")),
        ("Don't panic", "dont panic", ("dont", "panic")),
        ("２０２１年５月", "2021年5月", ("2021", "年", "5", "月")),
        ("台北的「天氣」。", "台北的天氣", ("台", "北", "的", "天", "氣")),
        ("GDP成長6.7%", "gdp成長67", ("gdp", "成", "長", "67")),
        ("theatre anthem", "theatre anthem", ("theatre", "anthem")),
        ("The", "", ()),
        ("", "", ()),
    ],
)
def test_normalises_answers_and_cuts_chinese_by_characters(text: str, normalised: str, tokens: tuple[str, ...]) -> None:
    assert measures.normalise_answer(text) == normalised
    assert measures.answer_tokens(text) == tokens


@pytest.mark.parametrize(
    ("answer", "reference", "exact", "normalised", "f1", "recall", "rouge"),
    [
        ("Paris", "Paris", 1, 1, 1, 1, 1),
        (" Paris\n", "Paris", 1, 1, 1, 1, 1),
        ("the Paris.", "Paris", 0, 1, 1, 1, 1),
        ("in Paris, France", "Paris", 0, 0, 2 / 4, 1, 1),
        ("Lyon", "Paris", 0, 0, 0, 0, 0),
        ("b a", "x y", 0, 0, 0, 0, 0),
        ("red blue red", "red red green", 0, 0, 4 / 6, 2 / 3, 2 / 3),
        ("c b d", "b c d", 0, 0, 1, 1, 2 / 3),
        ("2021年5月4日", "2021年5月", 0, 0, 8 / 10, 1, 1),
        ("臺北市政府", "台北市", 0, 0, 4 / 8, 2 / 3, 2 / 3),
        ("", "", 1, 1, 1, 1, 1),
        ("", "Paris", 0, 0, 0, 0, 0),
        ("Paris", "", 0, 0, 0, 1, 1),
    ],
)
def test_match_and_overlap_have_the_values_counted_by_hand(
    answer: str, reference: str, exact: float, normalised: float, f1: float, recall: float, rouge: float
) -> None:
    assert measures.exact_match(answer, reference) == exact
    assert measures.normalised_match(answer, reference) == normalised
    assert measures.token_f1(answer, reference) == pytest.approx(f1)
    assert measures.token_recall(answer, reference) == pytest.approx(recall)
    assert measures.rouge_l_recall(answer, reference) == pytest.approx(rouge)


def plain_lcs(one: tuple[str, ...], other: tuple[str, ...]) -> int:
    row = [0] * (len(other) + 1)
    for mine in one:
        before = row
        row = [0]
        for place, theirs in enumerate(other, start=1):
            row.append(before[place - 1] + 1 if mine == theirs else max(before[place], row[-1]))
    return row[-1]


@given(short_texts, short_texts)
def test_the_longest_common_subsequence_is_that_of_the_textbook_table(answer: str, reference: str) -> None:
    wanted = measures.answer_tokens(reference)
    expected = plain_lcs(measures.answer_tokens(answer), wanted) / len(wanted) if wanted else 1.0

    assert measures.rouge_l_recall(answer, reference) == pytest.approx(expected)


@given(short_texts, short_texts)
def test_overlap_is_symmetric_bounded_and_full_for_equal_texts(one: str, other: str) -> None:
    assert measures.token_f1(one, other) == measures.token_f1(other, one)
    assert 0 <= measures.token_f1(one, other) <= 1
    assert measures.rouge_l_recall(one, other) <= measures.token_recall(one, other) <= 1
    assert measures.token_f1(one, one) == measures.normalised_match(one, one) == 1


def squad_rule(text: str) -> list[str]:
    """SQuAD's published rule, written down anew: lower, drop ASCII punctuation, drop articles, split."""
    bare = text.lower().translate(str.maketrans("", "", string.punctuation))
    return re.sub(r"\b(a|an|the)\b", " ", bare).split()


@pytest.mark.skipif(not (SHARED / "data").is_dir(), reason="the shared data is not here")
def test_agrees_with_the_rule_of_squad_on_real_answers_of_five_systems() -> None:
    golds = {}
    with (SHARED / "data/qa-squad/questions.jsonl").open(encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            golds[row["qid"]] = row["answers"]
    compared = 0
    with (SHARED / "data/sys-squad/predictions_v1.jsonl").open(encoding="utf-8") as lines:
        for row in [json.loads(line) for line in lines][:400]:
            for answer in row["predictions"].values():
                for gold in golds.get(row["qid"], []):
                    if answer is None or not (answer + gold).isascii():
                        continue
                    mine, theirs = squad_rule(answer), squad_rule(gold)
                    shared = sum((Counter(mine) & Counter(theirs)).values())
                    f1 = 2 * shared / (len(mine) + len(theirs)) if mine and theirs else float(mine == theirs)
                    assert measures.token_f1(answer, gold) == pytest.approx(f1)
                    assert measures.normalised_match(answer, gold) == float(mine == theirs)
                    compared += 1
    assert compared > 3_000


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("The dam's walls were not the cities' boss.", ("dam", "wall", "not", "city", "boss")),
        ("It rose 3.5% to 1,200 units", ("rose", "3.5", "1,200", "unit")),
        ("台南的水災", ("台南", "水災")),
        ("台南水災", ("台南", "南水", "水災")),
        ("雨", ("雨",)),
        ("GDP成長", ("gdp", "成長")),
        ("Ｔａｉｎａｎ", ("tainan",)),
        ("the of and", ()),
        ("", ()),
    ],
)
def test_terms_are_words_that_say_something(text: str, found: tuple[str, ...]) -> None:
    assert measures.terms(text) == found


def test_coverage_counts_distinct_terms_and_wants_nothing_of_nothing() -> None:
    assert measures.coverage(["a", "a", "b"], ["a", "c"]) == 0.5
    assert measures.coverage([], ["a"]) == 1.0
    assert measures.coverage(["a"], []) == 0.0


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("5 億元", ["500000000"]),
        ("500 million dollars", ["500000000"]),
        ("3.38 trillion, 3.72兆", ["3380000000000", "3720000000000"]),
        ("於２０２４年花了1,234.50元", ["2024", "1234.5"]),
        ("12萬人", ["120000"]),
        ("1,2345", ["1", "2345"]),
        ("A4 paper, v1.2", []),
        ("up 6.7%.", ["6.7"]),
        ("3 thousandths", ["3"]),
        ("two of them", []),
        ("100 and 100.0", ["100"]),
    ],
)
def test_reads_numbers_by_value(text: str, values: list[str]) -> None:
    assert measures.numbers(text) == {Decimal(value) for value in values}


@pytest.mark.parametrize(
    ("answer", "evidence", "share"),
    [
        ("It cost 500 million in 2022.", "花費5億元，在2022年", 1.0),
        ("It cost 3 and 4.", "It cost three.", 0.5),
        ("It cost 7.", "nothing", 0.0),
        ("It cost much.", "It cost 7.", None),
    ],
)
def test_numbers_agree_by_value_not_by_letters(answer: str, evidence: str, share: float | None) -> None:
    assert measures.number_agreement(answer, evidence) == share


@pytest.mark.parametrize(
    ("answer", "evidence", "share"),
    [
        ("He said “we lost”.", 'Wu: "We  lost," he added', 1.0),
        ("他說「情況很好」。", "專家說：『情況很好』", 1.0),
        ('He said "we won" and "we lost".', "we lost", 0.5),
        ("He said they lost.", "we lost", None),
        ("『好極了』", "很好", 0.0),
    ],
)
def test_quotations_are_looked_up_word_for_word(answer: str, evidence: str, share: float | None) -> None:
    assert measures.quotation_agreement(answer, evidence) == share


@pytest.mark.parametrize(
    "text",
    [
        "The archive does not say.",
        "I'm sorry, but I don't have enough information to answer this.",
        "The provided documents do not contain any mention of it. Please consult an expert.",
        "There is no information about the opening act in the context.",
        "However, there is no mention of it.",
        "Unknown.",
        "The answer cannot be found in the passages.",
        "No relevant information was found.",
        "Unfortunately, I cannot determine this from the sources.",
        "N/A",
        "資料中沒有提到。",
        "文件并未说明原因。",
        "很抱歉，我無法回答這個問題。",
        "不知道",
        "查無相關資料。",
        "没有足够的信息。",
        "Not enough information.",
        "Insufficient information.",
        "Cannot be determined.",
        "Unable to determine.",
        "No relevant documents were found.",
        "It is not stated in the article.",
        "The sources are silent on this.",
        "None of the sources say.",
        "I'm not sure.",
        "It isn't mentioned.",
        "Sorry, I can't help with that.",
        "未提及。",
        "資料不足。",
        "资料不足。",
        "無法確定。",
        "无法回答。",
        "文中未提。",
        "没有提到。",
        "The answer is unknown.",
        "That information isn't provided.",
        "This cannot be answered from the passages.",
        "I could not find anything about that.",
        "No answer found.",
        "Not specified in the text.",
        "Unclear from the context.",
        "There isn't enough information to answer.",
        "There are no sources on this.",
        "No information available.",
        "No details are given.",
        "The article makes no mention of it.",
        "The report doesn’t specify the date.",
        "It's not clear from the documents.",
        "It is impossible to say.",
        "I have no idea.",
        "We cannot say.",
        "Based on the provided context, I cannot answer the question.",
        "The question can't be answered with the information given.",
        "Nothing was found.",
        "Nothing in the sources mentions this.",
        "No source mentions it.",
        "Neither of the articles says so.",
        "The text doesn't tell us.",
        "I am unable to answer.",
        "I'm unable to verify this.",
        "I don’t know.",
        "I do not have access to that information.",
        '"I don\'t know."',
        "Unanswerable",
        "不詳",
        "不清楚。",
        "不得而知。",
        "無從得知。",
        "根據資料，無法回答。",
        "根据提供的资料，无法回答该问题。",
        "抱歉，我不知道。",
        "沒有足夠的資訊。",
        "找不到答案。",
        "查無資料",
        "文件中沒有相關內容。",
        "這個問題無法回答。",
        "資料庫中沒有相關記錄。",
        "文章没有说明原因。",
        "来源不足以回答。",
        "信息不足，无法判断。",
        "未找到相关资料。",
        "答案不明。",
        "The documents provided contain no information about it.",
        "The context has no details on this.",
        "The context does not provide an answer.",
        "Data not available.",
        "It was not reported.",
        "It has not been disclosed.",
        "This detail is not given in the sources.",
    ],
)
def test_sees_a_refusal(text: str) -> None:
    assert measures.is_refusal(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Sorry.",
        "The dam broke on 4 May.",
        "The documents do not say when, but the dam broke in spring.",
        "The similar series are A and B but the document does not state that those are rivals.",
        "The documents do not give a date. The dam broke in spring.",
        "Although the documents do not mention the year, it was spring.",
        "There is no evidence that the drug causes harm.",
        "No.",
        "He could not find the key.",
        "It is unknown territory for him, and he likes it.",
        "資料沒有提到時間，但是水壩在春天崩塌。",
        "水壩沒有崩塌。",
        "沒有。",
        "部長無法回答問題。",
        "部长无法回答问题。",
        "Information is not available to the public under the law.",
        'He said: "I don\'t know."',
        "他說：「我不知道。」",
        "The minister cannot answer the question.",
        "市長未提及此事。",
        "The mayor could not say when.",
        "She said that she did not know.",
        "No documents were signed.",
        "No data was lost.",
        "The bank had insufficient funds.",
        "The report was not published until May.",
        "The source code was not available online.",
        "He is not sure of winning.",
        "The suspect was not found.",
        "The court could not determine the cause.",
        "None of the players scored.",
        "No information was leaked.",
        "It is not known for its beaches.",
        "It was not given to him.",
        "警方找不到嫌犯。",
        "法官表示無法判斷。",
        "公司沒有說明。",
        "旅客不知道班機延誤。",
        "Unknown Pleasures",
        "None of the above",
        "No",
        "The unknown soldier",
        "It was not found guilty.",
        "水庫水量不足。",
        "人手不足。",
    ],
)
def test_does_not_take_an_answer_for_a_refusal(text: str) -> None:
    assert not measures.is_refusal(text)


@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        *(
            (text, True)
            for text in ("null", "無", "无", "-", "—", "None", "N/A", "n/a", "nil", "NaN", "", " ", "[]", "<none>")
        ),
        *((text, True) for text in ("沒有答案", "No answer.", "The text does not say.", "Unknown")),
        *((text, False) for text in ("Paris", "0", "No", "無人", "None of them", "Nancy", "National Party")),
    ],
)
def test_sees_that_a_reference_holds_no_answer(reference: str, expected: bool) -> None:
    assert measures.holds_no_answer(reference) is expected


def test_counts_evading_sentences() -> None:
    assert measures.evading_share(["The text does not say.", "It rained."]) == 0.5
    assert measures.evading_share([]) == 0.0


def test_counts_the_characters_of_stock_phrases() -> None:
    assert measures.filler_share("Overall, it rained") == pytest.approx(7 / 18)
    assert measures.filler_share("總而言之，下雨") == pytest.approx(4 / 7)
    assert measures.filler_share("It rained.") == 0.0
    assert measures.filler_share("") == 0.0


@pytest.mark.parametrize(
    ("text", "yes"),
    [("Yes, it did.", True), ("No.", False), ("是的", True), ("不是", False), ("Notably", None), ("It did", None)],
)
def test_reads_yes_and_no_at_the_beginning(text: str, yes: bool | None) -> None:
    assert measures.polarity(text) is yes


RANKED = ["d1", "d2", "d3", "d4", "d5"]


@pytest.mark.parametrize(
    ("relevant", "k", "precision", "recall", "reciprocal"),
    [
        ({"d1"}, 1, 1.0, 1.0, 1.0),
        ({"d3", "d5"}, 3, 1 / 3, 0.5, 1 / 3),
        ({"d3", "d5"}, 10, 0.2, 1.0, 1 / 3),
        ({"d9"}, 5, 0.0, 0.0, 0.0),
        ({"d2", "d9"}, 2, 0.5, 0.5, 0.5),
    ],
)
def test_rankings_have_the_values_counted_by_hand(
    relevant: set[str], k: int, precision: float, recall: float, reciprocal: float
) -> None:
    assert measures.precision_at_k(RANKED, relevant, k=k) == pytest.approx(precision)
    assert measures.recall_at_k(RANKED, relevant, k=k) == pytest.approx(recall)
    assert measures.reciprocal_rank(RANKED, relevant) == pytest.approx(reciprocal)


def test_ndcg_has_the_value_of_the_textbook_example() -> None:
    # Six documents with grades 3 2 3 0 1 2: discounted gain 6.861, best order 7.141 (linear gains).
    grades = dict(zip("abcdef", [3, 2, 3, 0, 1, 2], strict=True))

    assert measures.ndcg_at_k("abcdef", grades, k=6) == pytest.approx(0.961, abs=5e-4)


def test_ndcg_with_exponential_gains_is_as_counted_by_hand() -> None:
    found = measures.ndcg_at_k(["a", "x", "b"], {"a": 1, "b": 2}, k=3, gain="exponential")

    assert found == pytest.approx((1 + 3 / 2) / (3 + 1 / 1.584962500721156))


@pytest.mark.skipif(not (SHARED / "data").is_dir(), reason="the shared data is not here")
def test_agrees_with_trec_eval_on_its_own_test_run() -> None:
    folder = SHARED / "data/sys-trec-eval"
    grades: dict[str, dict[str, float]] = {}
    for line in (folder / "qrels.test").read_text().splitlines():
        topic, _, name, grade = line.split()
        grades.setdefault(topic, {})[name] = max(0.0, float(grade))
    run: dict[str, list[tuple[float, str]]] = {}
    for line in (folder / "results.test").read_text().splitlines():
        topic, _, name, _, value, _ = line.split()
        run.setdefault(topic, []).append((float(value), name))
    expected = {}
    for line in (folder / "out.test.aq").read_text().splitlines():
        measure, topic, value = line.split()
        expected[measure, topic] = value

    for topic, found in run.items():
        ranked = [name for _, name in sorted(found, reverse=True)]
        relevant = {name for name, grade in grades[topic].items() if grade > 0}
        for k in (5, 10, 100):
            assert f"{measures.precision_at_k(ranked, relevant, k=k):.4f}" == expected[f"P_{k}", topic]
            assert f"{measures.recall_at_k(ranked, relevant, k=k):.4f}" == expected[f"recall_{k}", topic]
            assert f"{measures.ndcg_at_k(ranked, grades[topic], k=k):.4f}" == expected[f"ndcg_cut_{k}", topic]
        assert f"{measures.reciprocal_rank(ranked, relevant):.4f}" == expected["recip_rank", topic]


def test_refuses_a_ranking_that_makes_no_sense() -> None:
    with pytest.raises(ValueError, match="k is 0"):
        measures.recall_at_k(RANKED, {"d1"}, k=0)
    with pytest.raises(ValueError, match="nothing is relevant"):
        measures.reciprocal_rank(RANKED, set())
    with pytest.raises(ValueError, match="nothing is relevant"):
        measures.ndcg_at_k(RANKED, {"d1": 0.0}, k=3)
    with pytest.raises(ValueError, match="ranked more than once: d1"):
        measures.precision_at_k(["d1", "d1"], {"d1"}, k=3)
    with pytest.raises(ValueError, match="they are not for d1, d2"):
        measures.ndcg_at_k(RANKED, {"d2": float("nan"), "d1": -1.0, "d3": 1.0}, k=3)


@given(st.permutations(list("abcdef")), st.dictionaries(st.sampled_from("abcdef"), st.integers(0, 3), min_size=1))
def test_no_order_beats_the_best_one(ranked: list[str], grades: dict[str, float]) -> None:
    if not any(grades.values()):
        return
    best = sorted(ranked, key=lambda name: -grades.get(name, 0))

    assert measures.ndcg_at_k(best, grades, k=4) == pytest.approx(1.0)
    assert 0 <= measures.ndcg_at_k(ranked, grades, k=4) <= 1 + 1e-12
