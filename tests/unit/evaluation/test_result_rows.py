"""What a file is follows from its content, and every row of it is taken or rejected."""

import json

import pytest

from groundwire.core.errors import UnreadableInput
from groundwire.evaluation.result_rows import Kind, Rows, read_rows

RAGAS_ROW = {"user_input": "Who?", "retrieved_contexts": ["a"], "response": "She.", "reference": "She.", "f": 0.5}


def rows_of(text: str) -> Rows:
    return read_rows(text, name="f.json")


@pytest.mark.parametrize(
    ("content", "kind", "rows"),
    [
        ([RAGAS_ROW], "RAGAS", 1),
        ([{"question": "q", "answer": "a", "contexts": [], "ground_truth": "a"}], "RAGAS", 1),
        ([{"id": "1", "question": "q", "answer": "a", "contexts": []}], "items", 1),
        ([{"id": "1", "f1": 0.5}, {"id": "2", "f1": 1}], "table", 2),
        ({"results": [{"query_id": "1", "query": "q", "gt_answer": "a", "response": "a"}]}, "RAGChecker", 1),
        ({"testCases": [{"input": "q", "actualOutput": "a"}]}, "DeepEval", 1),
        ({"testRunData": {"testCases": [{"input": "q"}]}, "testRunLink": ""}, "DeepEval", 1),
        ({"test_results": [{"input": "q", "actual_output": "a"}], "confident_link": None}, "DeepEval", 1),
        ([{"input": "q", "actual_output": "a", "metrics_data": []}], "DeepEval", 1),
        ({"results": [{"id": "1", "f1": 0.5}]}, "table", 1),
        ({"samples": [RAGAS_ROW, RAGAS_ROW]}, "RAGAS", 2),
        ({"id": "1", "f1": 0.5}, "table", 1),
        ({"user_input": {"0": "q", "1": "r"}, "response": {"0": "a"}, "retrieved_contexts": {"0": []}}, "RAGAS", 2),
        ({"columns": ["id", "f1"], "index": [0], "data": [["1", 0.5]]}, "table", 1),
        ([{"item_id": "1", "rubric": "r", "value": 1, "outcome": "read", "system": "a"}], "judgements", 1),
    ],
)  # fmt: skip
def test_json_is_recognised_by_what_it_holds(content: object, kind: Kind, rows: int) -> None:
    found = rows_of(json.dumps(content))

    assert (found.kind, len(found.taken), found.rejects) == (kind, rows, ())


def test_columns_that_pandas_wrote_become_rows_with_gaps_as_none() -> None:
    found = rows_of(json.dumps({"id": {"0": "a", "1": "b"}, "f1": {"0": 0.5}}))

    assert [row.fields for row in found.taken] == [{"id": "a", "f1": "0.5"}, {"id": "b", "f1": None}]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[]", "holds no rows"),
        ("", "neither JSON, nor a table"),
        ("plain prose without a head", "neither JSON, nor a table"),
        ("id,f1\n", "holds no rows"),
        (",,id,answer,answer\n1,2,3,a,b\n", "has the column 'answer' twice"),
        ('{"columns": ["a", "b"], "data": [[1]]}', "2 columns, but not every row"),
        ('[{"id": "1", "f1": 1}, {"id"', "neither one JSON value nor one JSON object a line; row 1: "),
        ('{"results": [\n{"query_id": "1",\n', "neither one JSON value nor one JSON object a line; row 1: not JSON"),
        ("[1, 2]", "row 1: the row is a text, not an object"),
    ],
)
def test_a_file_without_rows_is_refused_by_name(text: str, why: str) -> None:
    with pytest.raises(UnreadableInput, match=f"f.json.*{why}"):
        rows_of(text)


def test_rows_that_are_no_objects_are_rejected_with_their_numbers() -> None:
    found = rows_of('[{"id": "1", "f1": 1}, 7, [], null]')

    assert len(found.taken) == 1
    assert [(reject.line, reject.reason) for reject in found.rejects] == [
        (2, "the row is a text, not an object"),
        (3, "the row is a list, not an object"),
        (4, "the row is null, not an object"),
    ]


def test_lines_that_are_no_json_are_rejected_and_the_others_go_on() -> None:
    found = rows_of('{"id": "1", "f1": NaN}\n\n{"id": "2", "f1": \n{"id": "3", "f1": 0.85}\n')

    assert [(row.number, row.fields["id"]) for row in found.taken] == [(1, "1"), (4, "3")]
    assert [reject.line for reject in found.rejects] == [3]
    assert "not JSON" in found.rejects[0].reason


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_tables_are_read_with_any_delimiter_and_odd_rows_are_rejected(delimiter: str) -> None:
    lines = ["id,f1,note", '1,0.5,"two', 'lines"', "2,0.6", "", "3,,x", "4,1,x,y"]
    found = rows_of("\n".join(lines).replace(",", delimiter))

    assert [(row.number, row.fields) for row in found.taken] == [
        (3, {"id": "1", "f1": "0.5", "note": "two\nlines"}),
        (6, {"id": "3", "f1": None, "note": "x"}),
    ]
    assert [(reject.line, reject.reason) for reject in found.rejects] == [
        (4, "the row has 2 cells, the head line 3"),
        (7, "the row has 4 cells, the head line 3"),
    ]


def test_a_cell_may_be_longer_than_the_library_of_tables_allows_by_itself() -> None:
    long = "x" * 200_000
    assert rows_of(f"id,note\n1,{long}\n").taken[0].fields["note"] == long


@pytest.mark.parametrize(
    ("cell", "texts"),
    [
        ("['one', \"it's two\"]", ["one", "it's two"]),
        ('["one", "two"]', ["one", "two"]),
        ("['one' 'two'\n 'three']", ["one", "two", "three"]),
        ("[]", []),
        ("[1] Cited, not a list", "[1] Cited, not a list"),
        ("['open", "['open"),
        ("[b'bytes']", "[b'bytes']"),
        ("[f'{1}']", "[f'{1}']"),
        ("[__import__('os')]", "[__import__('os')]"),
    ],
)
def test_a_list_in_a_cell_is_read_by_its_tokens_and_never_run(cell: str, texts: object) -> None:
    row = {"user_input": "q", "retrieved_contexts": cell, "response": "a"}
    assert rows_of(json.dumps([row])).taken[0].fields["retrieved_contexts"] == texts


def test_a_test_case_of_deepeval_keeps_each_metric_with_its_judge_and_reason() -> None:
    case = {
        "name": "test_case_0", "input": "q", "actualOutput": "a", "expectedOutput": "b", "order": 0,
        "retrievalContext": ["got"], "context": ["wanted"], "tokenCost": 0.002, "completionTime": 1.5,
        "metricsData": [
            {"name": "Faithfulness", "score": 0.5, "reason": "half", "evaluationModel": "m1", "error": None},
            {"name": "Faithfulness", "score": 0.7},
            {"name": "Bias", "score": None, "error": "timed out"},
            "broken",
        ],
    }  # fmt: skip
    row = rows_of(json.dumps({"testCases": [case]})).taken[0]

    assert row.fields == {"input": "q", "actual_output": "a", "expected_output": "b", "retrieval_context": ["got"],
                          "cost": "0.002", "seconds": "1.5"}  # fmt: skip
    assert {name: (one.value, one.reason, one.error, one.judge) for name, one in row.given.items()} == {
        "Faithfulness": ("0.5", "half", "", "m1"),
        "Faithfulness (2)": ("0.7", "", "", ""),
        "Bias": (None, "", "timed out", ""),
    }


def test_the_cache_of_deepeval_holds_texts_in_its_keys() -> None:
    key = json.dumps({"input": "q", "actual_output": "a", "expected_output": None, "retrieval_context": ["c"]})
    cached = {"cached_metrics_data": [{"metric_data": {"name": "Bias", "score": 0.1}, "metric_configuration": {}}]}
    found = rows_of(json.dumps({"test_cases_lookup_map": {key: cached, "no json": {}}}))

    assert found.kind == "DeepEval"
    assert found.taken[0].fields["input"] == "q"
    assert found.taken[0].given["Bias"].value == "0.1"
    assert found.taken[1].given == {}
    assert rows_of(json.dumps({"test_cases_lookup_map": {key: None}})).taken[0].given == {}


def test_ragchecker_keeps_its_metrics_apart_from_the_fields() -> None:
    result = {
        "query_id": "0", "query": "q", "gt_answer": "a", "response": "b", "response_claims": [["x"]],
        "retrieved_context": [{"doc_id": "0", "text": "t"}], "metrics": {"f1": 0.25},
    }  # fmt: skip
    row = rows_of(json.dumps({"results": [result], "metrics": {"overall_metrics": {"f1": 25.0}}})).taken[0]

    assert sorted(row.fields) == ["gt_answer", "query", "query_id", "response", "retrieved_context"]
    assert row.given["f1"].value == "0.25"


def test_zeros_that_ragchecker_makes_up_where_there_are_no_claims_are_no_values() -> None:
    def metrics_of(**claims: list) -> dict[str, object]:
        names = ("precision", "recall", "f1", "claim_recall", "noise_sensitivity_in_relevant", "faithfulness", "own")
        result = {"query_id": "0", "query": "q", "gt_answer": "a", "response": "b", "metrics": dict.fromkeys(names, 0)}
        return {
            name: one.value for name, one in rows_of(json.dumps({"results": [result | claims]})).taken[0].given.items()
        }

    assert set(metrics_of(response_claims=[["a", "b", "c"]]).values()) == {"0"}
    silent = metrics_of(response_claims=[])
    assert {name for name, value in silent.items() if value is None} == {
        "precision", "f1", "noise_sensitivity_in_relevant", "faithfulness",
    }  # fmt: skip
    empty = metrics_of(gt_answer_claims=[])
    assert {name for name, value in empty.items() if value is None} == {
        "recall", "f1", "claim_recall", "noise_sensitivity_in_relevant",
    }  # fmt: skip
