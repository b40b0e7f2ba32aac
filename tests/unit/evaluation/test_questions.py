"""Reading labelled questions: every row is a question, unscored, or a reject, and says why."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire.core.errors import UnreadableInput, UsageError
from groundwire.core.types import Gold, Question
from groundwire.evaluation.questions import QuestionReading, read_questions

TEXTS = {"a": "The river rose. The river fell. 颱風來了。", "b": "Rain fell."}


def reading_of(*rows: Mapping[str, object], mapping: Mapping[str, str] | None = None) -> QuestionReading:
    return read_questions([json.dumps(row) for row in rows], texts=TEXTS.get, mapping=mapping)


def asked(**fields: object) -> Mapping[str, object]:
    return {"id": "q", "question": "What?", **fields}


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"gold": [{"document": "a", "start": 0, "end": 15}]}, Question("q", "What?", (Gold("a", 0, 15),))),
        ({"gold": [{"pid": "a", "start": 0, "end": 15, "text": "The river rose."}], "cluster": "c"},
         Question("q", "What?", (Gold("a", 0, 15),), cluster="c")),
        ({"gold": [{"doc": "a", "text": " river fell "}]}, Question("q", "What?", (Gold("a", 20, 30),))),
        ({"gold": [{"document_id": "a", "text": "颱風來了"}]}, Question("q", "What?", (Gold("a", 32, 36),))),
        ({"gold": ["b"]}, Question("q", "What?", (Gold("b"),))),
        ({"gold": [{"document": "b"}]}, Question("q", "What?", (Gold("b"),))),
        ({"answer": "3.5", "reference": "3.5"}, Question("q", "What?", answers=("3.5",))),
        ({"answers": ["rose", "rose", "fell", "?!", ""]}, Question("q", "What?", answers=("rose", "fell"))),
        ({"gold": None, "sentence_ids": ["a@0-15.0"]}, Question("q", "What?", sentence_ids=("a@0-15.0",))),
    ],
)  # fmt: skip
def test_gold_is_a_place_a_text_a_document_a_sentence_or_an_answer(
    fields: Mapping[str, object], expected: Question
) -> None:
    assert reading_of(asked(**fields)) == QuestionReading((expected,), (), (), 1)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({}, "it has no gold"),
        ({"gold": [], "answer": "—"}, "it has no gold"),
        ({"gold": [{"document": "z", "start": 0, "end": 1}]}, "'z' is not in the archive"),
        ({"gold": [{"document": "a", "start": 0, "end": 99}]}, "has 37 characters, its gold ends at 99"),
        ({"gold": [{"document": "a", "start": 0, "end": 5, "text": "river"}]}, "other words from 0 to 5"),
        ({"gold": [{"document": "a", "text": "snow"}]}, "does not hold its gold text"),
        ({"gold": [{"document": "a", "text": "The river"}]}, "more than once; give start and end"),
    ],
)
def test_a_question_whose_gold_is_nowhere_is_unscored_and_named(fields: Mapping[str, object], said: str) -> None:
    reading = reading_of(asked(**fields))

    assert (reading.questions, reading.rejects, reading.rows) == ((), (), 1)
    assert reading.unscored[0].question_id == "q"
    assert said in reading.unscored[0].reason


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"question": "What?"}, "there is no id"),
        ({"id": " ", "question": "What?"}, "there is no id"),
        ({"id": "q"}, "there is no question"),
        ({"id": "q", "question": ["What?"]}, "the question is a list, not a text"),
        (asked(gold="a"), "the gold is a text, not a list"),
        (asked(gold=[True]), "gold 1 is true or false"),
        (asked(gold=[{"start": 1, "end": 2}]), "gold 1 has no document"),
        (asked(gold=[{"document": "a", "start": 1}]), "a start alone"),
        (asked(gold=[{"document": "a", "end": 1}]), "an end alone"),
        (asked(gold=[{"document": "a", "start": 2, "end": 2}]), "runs from 2 to 2"),
        (asked(gold=[{"document": "a", "start": -1, "end": 2}]), "start is -1, not a whole number"),
        (asked(gold=[{"document": "a", "start": 1.5, "end": 2}]), "start is 1.5, not a whole number"),
        (asked(gold=[{"document": "a", "start": [], "end": 2}]), "start is a list, not a whole number"),
        (asked(answers=[[]]), "entry 1 of answers is a list"),
        (asked(answer="one", reference="two"), "'answer' and 'reference' both hold the answers and differ"),
        (asked(answer="\ud800"), "half a surrogate pair"),
    ],
)
def test_a_row_that_cannot_be_read_is_a_reject_with_its_line(row: Mapping[str, object], said: str) -> None:
    reading = read_questions(["", json.dumps(row)], texts=TEXTS.get)

    assert (reading.questions, reading.unscored, reading.rows) == ((), (), 1)
    assert reading.rejects[0].line == 2
    assert said in reading.rejects[0].reason


def test_the_second_row_of_an_id_is_a_reject() -> None:
    reading = reading_of(asked(gold=["a"]), asked(gold=["b"]))

    assert [one.gold for one in reading.questions] == [(Gold("a"),)]
    assert [(one.line, one.reason) for one in reading.rejects] == [(2, "the id 'q' was already read on line 1")]


def test_fields_are_mapped(tmp_path: Path) -> None:
    path = tmp_path / "questions.jsonl"
    path.write_text(
        '{"n": 7, "ask": "What?", "where": [{"document": "a", "start": 0, "end": 3}], "story": "s"}', "utf-8"
    )

    reading = read_questions(
        path, texts=TEXTS.get, mapping={"id": "n", "question": "ask", "gold": "where", "cluster": "story"}
    )

    assert reading.questions == (Question("7", "What?", (Gold("a", 0, 3),), cluster="s"),)


def test_a_mapping_must_name_what_there_is(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="questions have no field 'context'; map one of: id, question, gold"):
        reading_of(asked(), mapping={"context": "x"})
    with pytest.raises(UsageError, match="no row has 'spans' \\(gold\\)"):
        reading_of(asked(answer="yes"), mapping={"gold": "spans"})
    with pytest.raises(UnreadableInput, match="is not there"):
        read_questions(tmp_path / "none.jsonl", texts=TEXTS.get)


@given(st.lists(st.one_of(st.text(max_size=20), st.binary(max_size=20), st.builds(
    lambda name, gold: json.dumps({"id": name, "question": "What?", "gold": gold}),
    st.sampled_from("pqr"),
    st.lists(st.one_of(st.sampled_from(["a", "z"]), st.none(), st.dictionaries(
        st.sampled_from(["document", "start", "end", "text"]),
        st.one_of(st.integers(-2, 40), st.sampled_from(["a", "b", "river"]), st.none()),
    )), max_size=2),
)), max_size=6))  # fmt: skip
def test_every_row_is_accounted_for_whatever_it_holds(lines: list[str | bytes]) -> None:
    reading = read_questions(lines, texts=TEXTS.get)

    assert reading.rows == len(reading.questions) + len(reading.unscored) + len(reading.rejects)
    for question in reading.questions:
        assert question.gold or question.answers or question.sentence_ids
        for gold in question.gold:
            assert gold.start is None or 0 <= gold.start < (gold.end or 0) <= len(TEXTS[gold.document_id])
