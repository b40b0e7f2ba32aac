"""Result files of every kind become items and judgements; what has no value is unscored, and nothing is dropped."""

import json
import math
import random
from dataclasses import asdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire.core.errors import UnreadableInput, UsageError
from groundwire.core.types import Item, Judgement
from groundwire.evaluation.importers import Reading, ResultFile, number_in, read_results


def read(content: object, **how: object) -> ResultFile:
    text = content if isinstance(content, str) else json.dumps(content)
    return read_results(text.encode(), name="f", how=Reading(**{"system": "a", **how}))


def values(found: ResultFile) -> dict[tuple[str, str], float | None]:
    return {(one.item_id, one.rubric): one.value for one in found.judgements}


def test_answers_of_our_own_need_no_values() -> None:
    row = {"id": "q1", "question": "Who?", "answer": "She.", "contexts": ["c"], "reference": "r", "system": "b"}
    found = read(json.dumps(row) + "\n")

    assert (found.kind, found.items, found.judgements) == ("items", (Item("q1", "Who?", ("c",), "She.", "r", "b"),), ())
    assert (found.rows, found.rejects, found.unnamed) == (1, (), frozenset())


RAGAS_CSV = (
    ",user_input,retrieved_contexts,response,reference,faithfulness,answer_relevancy\n"
    "0,Who?,\"['one', 'two']\",She.,She did.,0.83,0.9\n"
    "1,When?,[],Today.,Yesterday.,,nan\n"
)


def test_ragas_as_pandas_writes_it_is_joined_by_question_and_its_gaps_are_unscored() -> None:
    found = read(RAGAS_CSV)

    assert found.kind == "RAGAS"
    assert found.items == (
        Item("Who?", "Who?", ("one", "two"), "She.", "She did.", "a"),
        Item("When?", "When?", (), "Today.", "Yesterday.", "a"),
    )
    assert values(found) == {
        ("Who?", "faithfulness"): 0.83, ("Who?", "answer_relevancy"): 0.9,
        ("When?", "faithfulness"): None, ("When?", "answer_relevancy"): None,
    }  # fmt: skip
    assert {one.outcome for one in found.judgements if one.value is None} == {"unreadable"}
    assert {one.reason for one in found.judgements if one.value is None} == {"the file has no value"}
    assert {one.judge for one in found.judgements} == {"RAGAS"}
    assert found.notes == (
        "values were taken from: faithfulness, answer_relevancy",
        "rows without an id are joined by their question: 2",
    )


def test_older_names_of_ragas_are_read_too() -> None:
    row = {"question": "q", "contexts": ["c"], "answer": "a", "ground_truths": ["r"], "faithfulness": 1}
    found = read(json.dumps(row) + "\n" + json.dumps({**row, "question": "p", "faithfulness": math.nan}))

    assert (found.kind, [item.reference for item in found.items]) == ("RAGAS", ["r", "r"])
    assert values(found) == {("q", "faithfulness"): 1, ("p", "faithfulness"): None}


def test_deepeval_gives_judge_reason_and_error_of_each_metric() -> None:
    def case(question: str, *metrics: dict) -> dict:
        return {"name": "test_case_0", "input": question, "actualOutput": "a", "tokenCost": 0.1, "metricsData": metrics}

    cases = [
        case("q", {"name": "Bias", "score": 0.5, "reason": "so", "evaluationModel": "m1"}),
        case("p", {"name": "Bias", "score": None, "error": "timed out", "evaluationModel": "m1"}),
        case("o"),
    ]
    found = read({"testCases": cases})

    assert [(one.item_id, one.value, one.judge, one.reason) for one in found.judgements] == [
        ("q", 0.5, "DeepEval, m1", "so"),
        ("p", None, "DeepEval, m1", "timed out"),
        ("o", None, "DeepEval", "the file has no value"),
    ]
    assert found.costs[("a", "q")] == {"cost": 0.1}


def test_ragchecker_is_read_per_query_on_its_own_scale() -> None:
    results = [
        {"query_id": str(n), "query": "q", "gt_answer": "g", "response": "r",
         "retrieved_context": [{"doc_id": "d", "text": "t"}], "metrics": {"precision": n / 4, "hallucination": 0.0}}
        for n in range(3)
    ]  # fmt: skip
    found = read({"results": results, "metrics": {"overall_metrics": {"precision": 25.0}}})

    assert found.items[1] == Item("1", "q", ("t",), "r", "g", "a")
    assert values(found)["2", "precision"] == 0.5
    assert len(found.judgements) == 6


def test_our_own_judgements_come_back_as_they_were_saved() -> None:
    saved = (
        Judgement("q1", "b", "r", 61.5, "recovered", "v1", "told", (("terms", 0.5),)),
        Judgement("q2", "b", "r", None, "abstained", "v1", "a refusal"),
    )
    found = read("".join(json.dumps(asdict(one)) + "\n" for one in saved))

    assert (found.kind, found.judgements) == ("judgements", saved)


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"outcome": "perhaps"}, "the outcome is 'perhaps', none of: read"),
        ({"value": "high"}, "the value is 'high', neither a number nor null"),
        ({"item_id": ""}, "there is no item_id or no rubric"),
        ({"rubric": None}, "there is no item_id or no rubric"),
        ({"rubric": "\ud800"}, "half a surrogate pair at character 0 of rubric"),
    ],
)
def test_a_judgement_that_is_none_is_rejected_with_its_line(changed: dict, why: str) -> None:
    row = {"item_id": "q", "system": "", "rubric": "r", "value": 1, "outcome": "read", "judge": None, "parts": None}
    found = read(json.dumps(row) + "\n" + json.dumps({**row, **changed}) + "\nbroken\n")

    assert [(reject.line, reject.reason.startswith(why)) for reject in found.rejects] == [(2, True), (3, False)]
    assert (found.judgements[0].system, found.judgements[0].judge, found.rows) == ("a", "as given", 3)


def test_a_judgement_read_without_a_value_is_unscored() -> None:
    row = {"item_id": "q", "rubric": "r", "outcome": "read", "parts": [["x", "no"], ["y"], ["z", 1]]}
    found = read(json.dumps({**row, "value": math.nan}) + "\n" + json.dumps({**row, "value": None}))

    assert {(one.value, one.outcome) for one in found.judgements} == {(None, "unreadable")}
    assert found.judgements[0].parts == (("z", 1.0),)


def test_only_columns_of_numbers_are_measures_and_what_is_none_among_them_is_unscored() -> None:
    rows = [
        {"id": str(n), "f1": 0.5, "correct": n == 1, "note": "text", "grade": 4, "tokens": 20, "Unnamed: 0": 1, "": 1}
        for n in range(4)
    ]  # fmt: skip
    rows[3] |= {"grade": "refused", "f1": "Infinity", "correct": "False"}
    found = read(rows)

    assert found.notes == ("values were taken from: f1, correct, grade",)
    assert values(found)["1", "correct"] == 1.0
    assert values(found)["3", "correct"] == 0.0
    assert values(found)["3", "f1"] is None
    unread = next(one for one in found.judgements if one.item_id == "3" and one.rubric == "grade")
    assert (unread.value, unread.reason) == (None, "no number: 'refused'")
    assert found.costs["a", "2"] == {"tokens": 20}


def test_a_measure_that_is_asked_for_is_read_whatever_it_holds() -> None:
    rows = [{"id": "1", "grade": "85%", "tokens": 20, "f1": 1}]
    assert values(read(rows, measures=("grade", "tokens", "em"))) == {("1", "grade"): 85, ("1", "tokens"): 20}
    result = {"query_id": "0", "query": "q", "gt_answer": "g", "response": "r", "metrics": {"f1": 1, "recall": 0.5}}
    assert values(read({"results": [result]}, measures=("recall",))) == {("0", "recall"): 0.5}
    own = {"item_id": "q", "system": "b", "rubric": "r", "value": 1, "outcome": "read", "judge": "v1"}
    assert read(json.dumps(own) + "\n" + json.dumps(own), measures=("s",)).judgements == ()


def test_rows_may_say_who_judged_and_to_which_group_an_item_belongs() -> None:
    rows = [{"id": "1", "f1": 1, "judge": "v2", "document": "d"}, {"id": "1", "f1": 1, "document": "e"}]
    found = read(rows, cluster="document")

    assert [one.judge for one in found.judgements] == ["v2", "as given"]
    assert found.clusters == {"1": {"d", "e"}}


def test_fields_under_names_of_their_own_are_mapped_and_a_name_that_is_not_there_is_passed_over() -> None:
    rows = [{"nr": "7", "frage": "Wer?", "text": "Sie.", "score": 3, "wer": "b"}]
    mapping = {"id": "nr", "question": "frage", "answer": "text", "system": "wer", "contexts": "fundstellen"}
    found = read(rows, mapping=mapping)

    assert found.items == (Item("7", "Wer?", (), "Sie.", None, "b"),)
    assert (found.kind, found.names) == ("items", ("nr", "frage", "text", "score", "wer"))
    assert values(found) == {("7", "score"): 3}
    with pytest.raises(UsageError, match="items have no field 'titel'"):
        read(rows, mapping={"titel": "x"})


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ({"f1": 1}, "neither an id nor a question"),
        ({"id": "1", "question": "q", "answer": ["a"], "f1": 1}, "the answer is a list, not a text"),
        ({"id": "\ud800", "f1": 1}, "half a surrogate pair at character 0 of id"),
        ({"id": "1", "system": "\ud800", "f1": 1}, "half a surrogate pair at character 0 of system"),
        ({"question": "q", "answer": "a", "system": "x", "model": "y", "f1": 1}, "both hold the system and differ"),
    ],
)
def test_a_row_that_cannot_be_joined_is_rejected(row: dict, why: str) -> None:
    found = read([{"id": "0", "f1": 0}, row])
    assert (found.rejects[0].line, why in found.rejects[0].reason, found.rows) == (2, True, 2)


def test_bytes_that_are_no_text_are_refused_by_name() -> None:
    with pytest.raises(UnreadableInput, match=r"f\.bin could not be read"):
        read_results(bytes(range(256)) * 8, name="f.bin")


def test_runs_and_qrels_of_trec_are_told_from_tables() -> None:
    assert read("q Q0 d 1 2.5 tag\n").rankings == {("tag", "q"): ("d",)}
    assert read("q 0 d 1\n").grades == {"q": {"d": 1}}


def test_the_dearer_of_two_prices_of_one_answer_is_kept_whatever_the_order() -> None:
    rows = [{"id": "1", "f1": 1, "cost": 2}, {"id": "1", "f1": 1, "cost": 3}]
    assert read(rows).costs == read(rows[::-1]).costs == {("a", "1"): {"cost": 3}}


@pytest.mark.parametrize(
    ("cells", "wanted", "said"),
    [
        (["0,62", "0,5", "1"], [0.62, 0.5, 1], "f1: the comma is read as a decimal point"),
        (["0,625", "0,580"], [0.625, 0.58], "f1: the comma is read as a decimal point"),
        (["62,5 %", "70%", ""], [62.5, 70, None], "f1: in per cent, the comma is read as a decimal point"),
        (["62%", "70%", "NaN"], [62, 70, None], "f1: in per cent"),
        (["1,250", "2,500"], [], ""),  # thousands or decimals? nobody can tell
        (["1,5", "two", "three"], [], ""),
        (["62%", "0.5"], [None, 0.5], ""),
    ],
)
def test_numbers_as_others_write_them_are_read_by_the_column_or_not_at_all(
    cells: list[str], wanted: list[float | None], said: str
) -> None:
    found = read("id;f1\n" + "".join(f"q{n};{cell}\n" for n, cell in enumerate(cells)), measures=("f1",))

    assert list(values(found).values()) == (wanted or [None] * len(cells))
    assert [note for note in found.notes if note.startswith("f1")] == ([said] if said else [])


def test_answers_keep_their_commas_and_costs_lose_theirs() -> None:
    found = read("id;question;answer;cost;wert\n1;Wie viel?;3,5;0,25;4,5\n2;Und?;1,5;0,5;5,5\n")

    assert [item.answer for item in found.items] == ["3,5", "1,5"]
    assert found.costs["a", "1"] == {"cost": 0.25}
    assert values(found) == {("1", "wert"): 4.5, ("2", "wert"): 5.5}
    mapped = read("id;question;out\n1;Wie viel?;3,5\n", mapping={"answer": "out"})
    assert [item.answer for item in mapped.items] == ["3,5"]


def test_ids_that_a_table_took_for_numbers_are_whole_again() -> None:
    assert sorted(values(read([{"id": 12.0, "f1": 1}, {"id": 7.0, "f1": 0}]))) == [("12", "f1"), ("7", "f1")]
    assert read("id,f1\n3.0,1\n").notes == ("values were taken from: f1", "id: 12.0 is read as the id 12")
    assert sorted(values(read([{"id": "1.0", "f1": 1}, {"id": "1.1", "f1": 0}]))) == [("1.0", "f1"), ("1.1", "f1")]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"PK\x03\x04\x00", "f is a workbook"), (b"PAR1\x15", "f is a Parquet file; save it as JSON Lines or CSV"),
        (b"%PDF-1.7", "f is a PDF"), (b"", "f is empty"), (b"\xef\xbb\xbf \n", "f is empty; it should have one JSON"),
    ],
)  # fmt: skip
def test_what_is_no_text_or_empty_is_refused_with_what_to_do(data: bytes, said: str) -> None:
    with pytest.raises(UnreadableInput, match=said):
        read_results(data, name="f")


@pytest.mark.parametrize(
    ("written", "number"),
    [("0.85", 0.85), (" 7 ", 7), ("1e-3", 0.001), (".5", 0.5), ("-2", -2), (True, 1), ("true", 1), (3, 3), (0.5, 0.5),
     ("1_000", None), ("８５", None), ("nan", None), ("1e999", None), ("85%", None), ("", None), (None, None),
     ([], None)],
)  # fmt: skip
def test_numbers_are_read_as_they_are_written(written: object, number: float | None) -> None:
    assert number_in(written) == number


cells = st.sampled_from(["0.5", "1", "", "nan", "error", "0.25"])


@given(st.lists(st.tuples(st.integers(0, 9), cells), min_size=1, max_size=20), st.integers(0, 999))
def test_every_row_of_a_table_is_a_judgement_whatever_the_order(rows: list[tuple[int, str]], seed: int) -> None:
    lines = [f"q{item},{cell}" for item, cell in rows]
    mixed = lines.copy()
    random.Random(seed).shuffle(mixed)  # noqa: S311 - no secret
    one, other = (read("id,f1\n" + "\n".join(order) + "\n", measures=("f1",)) for order in (lines, mixed))

    assert sorted(map(repr, one.judgements)) == sorted(map(repr, other.judgements))
    assert len(one.judgements) + len(one.rejects) == one.rows == len(rows)
