"""Passages and sentences: in order, complete, with offsets and ids that survive."""

from dataclasses import replace
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire.core.sentences import split_sentences
from groundwire.core.text import count_tokens
from groundwire.core.types import Document, Sentence
from groundwire.retrieval.corpus import PASSAGE_TOKENS, revision, split_document

TEXTS = st.text(
    st.sampled_from("aB 1.。！?\n\r\t「」“”\u3000\u2029中文é😀-，") | st.characters(exclude_categories=["Cs"]),
    max_size=200,
)


def sentences(document: Document, **options: int) -> list[Sentence]:
    return [sentence for passage in split_document(document, **options) for sentence in passage.sentences]


@given(TEXTS, st.integers(1, 60))
def test_sentences_lie_at_their_offsets_in_order_and_passages_hold_all_of_them(text: str, size: int) -> None:
    document = Document("d", text)

    passages = split_document(document, passage_tokens=size)

    found = [sentence for passage in passages for sentence in passage.sentences]
    assert [(one.start, one.end) for one in found] == [(span.start, span.end) for span in split_sentences(text)]
    assert all(text[one.start : one.end] == one.text for one in found)
    assert len({one.id for one in found}) == len(found)
    assert [passage.number for passage in passages] == list(range(len(passages)))
    assert all(one.passage == passage.number for passage in passages for one in passage.sentences)
    assert all(passage.sentences and passage.document_id == "d" for passage in passages)


@given(TEXTS, st.integers(1, 60))
def test_a_passage_is_within_its_size_or_a_single_sentence(text: str, size: int) -> None:
    for passage in split_document(Document("d", text), passage_tokens=size):
        tokens = sum(count_tokens(sentence.text) for sentence in passage.sentences)
        assert tokens <= size or len(passage.sentences) == 1


def test_a_sentence_that_stands_three_times_has_three_ids_and_three_offsets() -> None:
    text = "The wall held. Water rose.\n\nThe wall held.\n\nLater, again: no. The wall held."

    repeated = [one for one in sentences(Document("d", text)) if one.text == "The wall held."]

    assert len({one.id for one in repeated}) == 3
    assert [one.start for one in repeated] == [0, 28, len(text) - 14]


def test_the_same_document_gives_the_same_ids_again_and_another_document_others() -> None:
    one = Document("d", "The wall held. Water rose.", origin="a.md")
    moved = replace(one, origin="b.md", notes=("encoding: big5",))

    assert sentences(one) == sentences(moved)
    assert not {s.id for s in sentences(one)} & {s.id for s in sentences(replace(one, id="e"))}


def test_the_id_of_a_sentence_changes_with_its_words() -> None:
    assert sentences(Document("d", "It rose."))[0].id != sentences(Document("d", "It fell."))[0].id


@pytest.mark.parametrize("text", ["", " ", "\n\n \t\r\n", "\u3000"])
def test_white_space_has_no_passage(text: str) -> None:
    assert split_document(Document("d", text)) == ()


@pytest.mark.parametrize("text", ["a", "。", "中", "😀", "😀😀😀"])
def test_a_text_of_one_sign_is_one_passage(text: str) -> None:
    assert [one.text for one in sentences(Document("d", text))] == [text]


@pytest.mark.parametrize("gap", ["\n\n", "\r\n\r\n", "\n \t\n", "\r\n  \r\n", "\r\r", "\u2029"])
def test_a_blank_line_parts_paragraphs_whatever_the_line_ends(gap: str) -> None:
    first = "One two three. Four five six."
    text = f"{first}{gap}Seven eight nine. Ten eleven twelve."
    size = count_tokens("One two three.") + count_tokens("Four five six.") + 1

    passages = split_document(Document("d", text), passage_tokens=size)

    assert ["|".join(one.text for one in passage.sentences) for passage in passages] == [
        "One two three.|Four five six.",
        "Seven eight nine.|Ten eleven twelve.",
    ]


def test_paragraphs_share_a_passage_while_they_fit_and_are_not_torn_to_fill_one() -> None:
    paragraph = "Rain fell in the north. The river rose by a metre."
    tokens = sum(count_tokens(one) for one in ("Rain fell in the north.", "The river rose by a metre."))

    passages = split_document(Document("d", "\n\n".join([paragraph] * 5)), passage_tokens=2 * tokens + tokens // 2)

    assert [len(passage.sentences) for passage in passages] == [4, 4, 2]


def test_a_long_paragraph_is_divided_between_sentences_and_the_next_one_joins_its_end() -> None:
    sentence = "Rain fell in the north today."
    size = count_tokens(sentence)
    text = " ".join([sentence] * 5) + "\n\n" + sentence

    passages = split_document(Document("d", text), passage_tokens=2 * size)

    assert [len(passage.sentences) for passage in passages] == [2, 2, 2]


@pytest.mark.parametrize("run", ["x" * 100_000, "這是一段沒有標點的訪談" * 9_000])
def test_a_text_without_a_sentence_end_is_cut_into_many_sentences(run: str) -> None:
    found = sentences(Document("d", run))

    assert "".join(one.text for one in found) == run
    assert max(len(one.text) for one in found) <= 1000


def test_a_passage_of_less_than_one_token_is_refused() -> None:
    with pytest.raises(ValueError, match="passage_tokens is 0"):
        split_document(Document("d", "a"), passage_tokens=0)
    assert PASSAGE_TOKENS == 200


VISIBLE = Document("d", "Text.", "Title", date(2024, 10, 8), "Northline", "https://a.example/1", "en")


@pytest.mark.parametrize(
    "change",
    [
        {"text": "Text!"},
        {"title": "Other"},
        {"published": date(2024, 10, 9)},
        {"published": None},
        {"source": "Southline"},
        {"url": ""},
        {"language": "en-GB"},
        {"title": "", "source": "TitleNorthline"},
    ],
)
def test_a_revision_changes_with_all_that_can_be_seen(change: dict[str, object]) -> None:
    assert revision(replace(VISIBLE, **change)) != revision(VISIBLE)


def test_a_revision_does_not_change_with_where_a_document_was_read() -> None:
    assert revision(replace(VISIBLE, origin="x.jsonl:3", notes=("a",))) == revision(VISIBLE)
