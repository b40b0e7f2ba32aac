from __future__ import annotations

import csv
import io
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundwire.retrieval.formats import (
    Clash,
    Found,
    Refused,
    Row,
    describe,
    excerpt,
    read_json,
    read_lines,
    read_plain,
    read_table,
    storable,
)

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3),
    max_leaves=5,
)


def kinds(found: list[Found]) -> list[str]:
    return [item.kind if isinstance(item, Refused) else "row" for item in found]


def as_json(text: str) -> list[Found]:
    return list(read_json(text, holds_text=lambda values: "text" in values))


def as_table(text: str) -> list[Found]:
    return list(read_table(io.StringIO(text, newline="")))


def test_lines_are_rows_or_refused_with_their_number() -> None:
    found = list(read_lines(['{"a": 1}\n', " \r\n", "[1]\n", "{cut", '{"b": "\udc80"}\n', "[" * 100_000, '{"c": 2}']))

    assert kinds(found) == ["row", "not_an_object", "bad_json", "undecodable", "bad_json", "row"]
    assert [item.line for item in found] == [1, 3, 4, 5, 6, 7]
    assert isinstance(found[0], Row)
    assert found[0].place == ":1"
    assert isinstance(found[1], Refused)
    assert "name it .json" in found[1].reason
    assert isinstance(found[4], Refused)
    assert found[4].reason == "nested too deeply"


@settings(deadline=None)
@given(st.lists(st.dictionaries(st.text(max_size=4), VALUES, max_size=3), max_size=4))
def test_objects_come_back_from_lines_and_from_an_array(rows: list[dict[str, object]]) -> None:
    lines = list(read_lines(json.dumps(row) for row in rows))
    array = as_json(json.dumps(rows))

    assert [dict(item.values) for item in lines if isinstance(item, Row)] == rows
    assert [dict(item.values) for item in array if isinstance(item, Row)] == rows
    assert [item.place for item in array if isinstance(item, Row)] == [f"[{index}]" for index in range(len(rows))]


@settings(deadline=None)
@given(st.text(max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    found = [*as_json(text), *read_lines(io.StringIO(text)), *as_table(text), read_plain(text)]

    assert all(isinstance(item, Row | Refused) for item in found)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (" \n", []),
        ("[]", []),
        ("[ \n ]", []),
        ('[{"text": "a"}, 3]', ["row", "not_an_object"]),
        ('[{"text": "a"},]', ["row", "bad_json"]),
        ('[{"text": "a"}, {"text": "b', ["row", "bad_json"]),
        ('[{"text": "a"}', ["row", "bad_json"]),
        ('[{"text": "a"} {"text": "b"}]', ["row", "bad_json"]),
        ('[{"text": "a"}] []', ["row", "bad_json"]),
        ("[" * 100_000, ["bad_json"]),
        ('{"a":' * 100_000, ["bad_json"]),
        ('{"text": "a"}', ["row"]),
        ('{"text": "a", "authors": [{"name": "b"}]}', ["row"]),
        ('{"text": "a"}\n{"text": "b"}\n{"te', ["row", "row", "bad_json"]),
        ('"text"', ["not_an_object"]),
        ("null", ["not_an_object"]),
        ("1 2", ["bad_json"]),
        ("{'text': 'a'}", ["bad_json"]),
        ('{"articles": [{"text": "a"}, {"text": "b"}], "count": 2, "tags": ["x"]}', ["row", "row"]),
        ('{"response": {"results": [{"text": "a"}]}}', ["row"]),
        ('{"a": [{"text": "a"}], "b": [{"text": "b"}]}', ["bad_json"]),
        ('{"a": {"b": {"c": {"d": [{"text": "a"}]}}}}', ["row"]),
        ("{}", ["row"]),
    ],
)
def test_json_in_all_its_shapes(text: str, expected: list[str]) -> None:
    assert kinds(as_json(text)) == expected


def test_a_cut_array_says_where_it_was_cut() -> None:
    found = as_json('[\n{"text": "a"},\n{"text": "b"},\n{"text": ')[-1]

    assert isinstance(found, Refused)
    assert found.line == 4
    assert "item 2" in found.reason
    assert "the rest of the file was not read" in found.reason


def test_values_that_json_has_no_word_for() -> None:
    digits = "9" * 5000
    row = as_json(f'[{{"a": NaN, "b": -Infinity, "c": {digits}, "d": 1, "d": 1, "e": 1, "e": 2}}]')[0]

    assert isinstance(row, Row)
    assert row.values == {"a": None, "b": None, "c": digits, "d": 1, "e": Clash()}


def test_a_table_keeps_quotes_and_line_ends_and_its_line_numbers() -> None:
    found = as_table('\r\nid,text\r\n1,"one, ""two""\r\nthree"\r\n\r\n2,b\r\n')

    assert [dict(item.values) for item in found if isinstance(item, Row)] == [
        {"id": "1", "text": 'one, "two"\r\nthree'},
        {"id": "2", "text": "b"},
    ]
    assert [item.line for item in found] == [3, 6]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_found_in_the_header(delimiter: str) -> None:
    found = as_table(f'id{delimiter}"a,b;c|d"{delimiter}text\n1{delimiter}2{delimiter}3\n')

    assert [dict(item.values) for item in found if isinstance(item, Row)] == [{"id": "1", "a,b;c|d": "2", "text": "3"}]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("\n \n", []),
        ("id,text\n", []),
        ("text\nonly one column\n", ["row"]),
        ("id,text\n1\n2,b,c\n3,d\n", ["ragged", "ragged", "row"]),
        ('id,text\n1,"a"b\n2,c\n', ["bad_table", "row"]),
        ('id,text\n1,a\n2,"never closed\n3,c\n', ["row", "bad_table"]),
        ('id,"text\n1,a\n', ["bad_table"]),
        ("id,text\n1,\udce9\n2,b\n", ["undecodable", "row"]),
        ("id,,text\n1,x,a\n", ["row"]),
    ],
)
def test_tables_with_trouble(text: str, expected: list[str]) -> None:
    assert kinds(as_table(text)) == expected


def test_a_table_names_nameless_columns_and_marks_repeated_ones() -> None:
    found = as_table("id,,text,text\n1,x,a,b\n2,y,c,c\n")

    assert isinstance(found[0], Row)
    assert found[0].values == {"id": "1", "column 2": "x", "text": Clash()}
    assert isinstance(found[1], Row)
    assert found[1].values["text"] == "c"


def test_a_field_may_be_longer_than_the_csv_module_expects() -> None:
    before = csv.field_size_limit(131_072)
    try:
        row = as_table(f"text\n{'長' * 200_000}\n")[0]
    finally:
        csv.field_size_limit(before)

    assert isinstance(row, Row)
    assert len(str(row.values["text"])) == 200_000


@settings(deadline=None)
@given(st.lists(st.tuples(st.text(max_size=9), st.text(max_size=9)), max_size=5))
def test_what_the_csv_module_writes_comes_back(rows: list[tuple[str, str]]) -> None:
    out = io.StringIO(newline="")
    csv.writer(out, quoting=csv.QUOTE_ALL).writerows([("id", "text"), *rows])
    found = as_table(out.getvalue())

    kept = [row for row in rows if storable("".join(row))]
    assert [tuple(item.values.values()) for item in found if isinstance(item, Row)] == kept


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("Flood in Tainan\n\nIt rained.", "Flood in Tainan"),
        ("\n  台南淹水 \r\n\r\n下雨了。", "台南淹水"),
        ("It rained.\n\nMore.", None),
        ("下雨了。\n\n更多。", None),
        ("No blank line\nhere", None),
        ("x" * 121 + "\n\nBody", None),
        ("One line", None),
        (" \n\n", None),
    ],
)
def test_a_first_line_like_a_headline_is_the_title_of_plain_text(text: str, title: str | None) -> None:
    row = read_plain(text)

    assert row.values.get("title") == title
    assert row.values["text"] == text


def test_excerpts_are_one_short_line_that_can_be_stored() -> None:
    assert excerpt("a\n\tb\udc80\0" + "c" * 500) == "a b\\udc80\\x00" + "c" * 115


@pytest.mark.parametrize(
    ("value", "words"),
    [(None, "null"), (True, "a truth value"), (1, "a number"), ("", "a string"), ([], "a list"), ({}, "an object"),
     (Clash(), "a Clash")],
)  # fmt: skip
def test_describes_values_in_words(value: object, words: str) -> None:
    assert describe(value) == words
