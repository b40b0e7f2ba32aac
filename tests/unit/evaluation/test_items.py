from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire.core.errors import UnreadableInput, UsageError
from groundwire.core.types import Item
from groundwire.evaluation.items import ItemReading, read_items
from groundwire.evaluation.rows import RejectedRow


def reading_of(*rows: Mapping[str, object], mapping: Mapping[str, str] | None = None) -> ItemReading:
    return read_items([json.dumps(row) for row in rows], mapping=mapping)


def only_reason(line: str | bytes) -> str:
    reading = read_items([line])
    assert reading.items == ()
    assert reading.rows == 1
    assert [reject.line for reject in reading.rejects] == [1]
    return reading.rejects[0].reason


def test_reads_a_full_row() -> None:
    row = {
        "id": "q1",
        "question": "Who?",
        "contexts": ["One.", "Two."],
        "answer": "She.",
        "reference": "She did.",
        "system": "b",
    }

    assert reading_of(row).items == (Item("q1", "Who?", ("One.", "Two."), "She.", "She did.", "b"),)


@pytest.mark.parametrize(
    "row",
    [
        {"qid": 7, "user_input": "Q", "retrieved_contexts": ["C"], "response": "A", "reference": "R"},
        {"query_id": "7", "query": "Q", "retrieved_context": [{"doc_id": "d", "text": "C"}], "response": "A",
         "gt_answer": "R"},
        {"id": "7", "input": "Q", "retrieval_context": ["C"], "actual_output": "A", "expected_output": "R"},
        {"_id": "7", "question": "Q", "passages": "C", "prediction": "A", "ground_truth": ["R"]},
    ],
)  # fmt: skip
def test_recognises_the_names_that_others_use(row: dict[str, object]) -> None:
    assert reading_of(row).items == (Item("7", "Q", ("C",), "A", "R", ""),)


@pytest.mark.parametrize("answer", [{}, {"answer": None}, {"answer": ""}])
def test_takes_a_missing_answer_as_empty_so_that_it_is_counted_later(answer: dict[str, object]) -> None:
    assert reading_of({"id": "1", "question": "Q", **answer}).items == (Item("1", "Q", (), "", None, ""),)


@pytest.mark.parametrize("contexts", [None, []])
def test_takes_no_contexts_as_none(contexts: object) -> None:
    assert reading_of({"id": "1", "question": "Q", "contexts": contexts}).items[0].contexts == ()


@pytest.mark.parametrize("reference", [None, []])
def test_takes_no_reference_as_none(reference: object) -> None:
    assert reading_of({"id": "1", "question": "Q", "reference": reference}).items[0].reference is None


def test_keeps_numbers_as_they_are_written() -> None:
    reading = read_items(['{"id": 10000000000000000000000001, "question": "Q", "answer": 3.50}'])

    assert reading.items[0].id == "10000000000000000000000001"
    assert reading.items[0].answer == "3.50"


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('{"id": "1", "question": ', "not JSON"),
        ("[1, 2]", "the line holds a list, not an object"),
        ('"text"', "the line holds a text"),
        ("null", "the line holds null"),
        ("true", "the line holds true or false"),
        ('{"question": "Q"}', "there is no id"),
        ('{"id": " ", "question": "Q"}', "there is no id"),
        ('{"id": "1"}', "there is no question"),
        ('{"id": "1", "question": "\\n"}', "there is no question"),
        ('{"id": true, "question": "Q"}', "the id is true or false, not a text"),
        ('{"id": "1", "question": ["Q"]}', "the question is a list, not a text"),
        ('{"id": "1", "question": "Q", "answer": {"a": 1}}', "the answer is an object, not a text"),
        ('{"id": "1", "question": "Q", "answer": NaN}', "NaN is not JSON"),
        ('{"id": "1", "question": "Q", "weight": -Infinity}', "-Infinity is not JSON"),
        ('{"id": "1", "question": "Q", "contexts": {"a": "b"}}', "the contexts are an object, not a list"),
        ('{"id": "1", "question": "Q", "contexts": ["a", null]}', "context 2 is null, not a text"),
        ('{"id": "1", "question": "Q", "contexts": [{"title": "t"}]}', "context 1 has none of the fields: text"),
        ('{"id": "1", "question": "Q", "contexts": [["a"]]}', "context 1 is a list"),
        ('{"id": "1", "question": "Q", "reference": ["a", "b"]}', "there are 2 references"),
        ('{"id": "1", "question": "Q", "query": "P"}', "'question' and 'query' both hold the question and differ"),
        ('{"id": "1", "question": "Q", "question": "P"}', "the name 'question' stands twice"),
        ('{"id": "1", "question": "Q", "answer": "\\ud800"}', "half a surrogate pair at character 0 of answer"),
        ('{"id": "1", "question": "Q\ud800"}', "half a surrogate pair at character 26 of the line"),
        (b'{"id": "1", "question": "caf\xe9"}', "not UTF-8 at byte 28 of the line"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_rejects_a_row_that_cannot_be_an_item_and_says_why(line: str | bytes, reason: str) -> None:
    assert reason in only_reason(line)


def test_two_names_that_agree_are_fine() -> None:
    assert reading_of({"id": "1", "question": "Q", "query": "Q"}).items[0].question == "Q"


def test_rejects_the_second_of_the_same_system_and_id_and_names_the_first() -> None:
    reading = reading_of(
        {"id": "1", "question": "Q", "answer": "A", "system": "a"},
        {"id": "1", "question": "Q", "answer": "B", "system": "a"},
        {"id": "1", "question": "Q", "answer": "C", "system": "b"},
    )

    assert [item.answer for item in reading.items] == ["A", "C"]
    assert reading.rejects == (RejectedRow(2, "the id '1' of system 'a' was already read on line 1"),)


def test_a_reject_does_not_use_up_its_id() -> None:
    reading = reading_of({"id": "1"}, {"id": "1", "question": "Q"}, {"id": "1", "question": "Q"})

    assert len(reading.items) == 1
    assert reading.rejects[1] == RejectedRow(3, "the id '1' was already read on line 2")


def test_a_mapping_comes_before_the_recognised_names() -> None:
    reading = reading_of(
        {"id": "1", "question": "Q", "query": "rewritten", "gold text": "R"},
        {"id": "2", "question": "Q", "query": "rewritten"},
        mapping={"question": "query", "reference": "gold text"},
    )

    assert [(item.question, item.reference) for item in reading.items] == [("rewritten", "R"), ("rewritten", None)]


def test_a_mapping_to_an_unknown_field_is_an_error() -> None:
    with pytest.raises(UsageError, match=r"no field 'gold'; map one of: id, question, contexts"):
        reading_of({"id": "1", "question": "Q"}, mapping={"gold": "g"})


def test_a_mapping_to_a_name_that_no_row_has_is_an_error() -> None:
    with pytest.raises(UsageError, match=r"no row has 'gld' \(reference\); the rows have: id, question"):
        reading_of({"id": "1", "question": "Q"}, mapping={"reference": "gld"})


def test_reads_a_file_with_byte_order_mark_windows_line_ends_and_blank_lines(tmp_path: Path) -> None:
    path = tmp_path / "items.jsonl"
    path.write_bytes(
        '\ufeff{"id": "1", "question": "誰？"}\r\n\r\n{"id": "2"}\r\n{"id": "3", "question": "a\u2028b"}'.encode()
    )

    reading = read_items(path)

    assert [item.question for item in reading.items] == ["誰？", "a\u2028b"]
    assert [reject.line for reject in reading.rejects] == [3]
    assert reading.rows == 3
    assert read_items(str(path)) == reading


def test_an_empty_file_has_no_rows(tmp_path: Path) -> None:
    path = tmp_path / "empty.jsonl"
    path.write_bytes(b"")

    assert read_items(path, mapping={"answer": "a"}) == ItemReading((), (), 0)


def test_a_file_that_is_not_there_or_not_a_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UnreadableInput, match=r"none\.jsonl is not there"):
        read_items(tmp_path / "none.jsonl")
    with pytest.raises(UnreadableInput, match="is a folder"):
        read_items(tmp_path)


def test_a_file_that_cannot_be_opened_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "locked.jsonl"
    path.write_bytes(b"")

    def refuse(_: Path) -> bytes:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", refuse)

    with pytest.raises(UnreadableInput, match=r"locked\.jsonl could not be read: Permission denied"):
        read_items(path)


@given(st.lists(st.one_of(st.text(), st.binary(), st.just('{"id": "1", "question": "Q"}'), st.just(" ")), max_size=8))
def test_every_row_is_an_item_or_a_reject(lines: list[str | bytes]) -> None:
    reading = read_items(lines)

    assert reading.rows == len(reading.items) + len(reading.rejects) == sum(bool(line.strip()) for line in lines)
    assert len({(item.system, item.id) for item in reading.items}) == len(reading.items)


@pytest.mark.parametrize("blank", ["", " \n", [""], ["", "  "], [{"text": ""}]])
def test_contexts_that_are_all_blank_are_none(blank: object) -> None:
    row = {"id": "1", "question": "q", "contexts": blank}
    assert read_items([json.dumps(row)]).items[0].contexts == ()
    assert read_items([json.dumps(row | {"contexts": ["", "c"]})]).items[0].contexts == ("", "c")
