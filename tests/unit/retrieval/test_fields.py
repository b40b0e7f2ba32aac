from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundwire.core.errors import UsageError
from groundwire.retrieval.fields import LONGEST_ID, Made, Reader, check_mapping, content_hash, date_in_address
from groundwire.retrieval.formats import Clash, Refused, Row

PLAIN = Reader(check_mapping(None))


def made(values: dict[str, object], *, reader: Reader = PLAIN, named: bool = False) -> Made:
    result = reader.make(Row(values, 3, ":3", named), origin="/a.jsonl:3")
    assert isinstance(result, Made)
    return result


def refused(values: dict[str, object], *, reader: Reader = PLAIN) -> Refused:
    result = reader.make(Row(values, 3, ":3"), origin="/a.jsonl:3")
    assert isinstance(result, Refused)
    assert result.line == 3
    return result


def test_takes_common_names_in_english_and_chinese() -> None:
    english = made(
        {"News ID": 7, "Headline": "A", "news_content": "B", "Pub-Date": "2024-05-06", "outlet": "C", "lang": "en"}
        | {"link": "https://d.example/e"}
    )
    chinese = made({"標題": "甲", "內文": "乙", "發布日期": "民國113年5月6日", "媒體": "丙"})

    document = english.document
    assert (document.title, document.text, document.source, document.language) == ("A", "B", "C", "en")
    assert (document.published, document.url) == (date(2024, 5, 6), "https://d.example/e")
    assert document.origin == "/a.jsonl:3"
    assert ("title", "Headline") in english.taken
    assert (chinese.document.title, chinese.document.text, chinese.document.source) == ("甲", "乙", "丙")
    assert chinese.document.published == date(2024, 5, 6)
    assert any("民國" in note for note in chinese.document.notes)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"編號": "n-1", "標題": "甲", "來源": "丙", "日期": "2024年5月6日"}, ("n-1", "甲", "丙", date(2024, 5, 6))),
        ({"编号": 7, "题目": "甲", "出处": "丙", "发表日期": "2024/5/6"}, ("7", "甲", "丙", date(2024, 5, 6))),
        ({"id": "a", "source": {"id": None, "name": "Post"}}, ("a", "", "Post", None)),
        ({"id": "a", "source": [{"name": "Post"}]}, ("a", "", "Post", None)),
        ({"id": "a", "publisher": {"@type": "Organization", "name": "Post"}}, ("a", "", "Post", None)),
        ({"id": "a", "source": ["Post"], "title": {"rendered": "T"}}, ("a", "T", "Post", None)),
        ({"_id": {"$oid": "5f"}, "date": {"$date": "2024-05-06T00:00:00Z"}}, ("5f", "", "", date(2024, 5, 6))),
        (
            {"_id": {"$oid": "5f"}, "date": {"$date": {"$numberLong": "1714953600000"}}},
            ("5f", "", "", date(2024, 5, 6)),
        ),
        ({"id": "a", "source": {"名稱": "中央社"}}, ("a", "", "中央社", None)),
        ({"id": "a", "source": {}, "title": []}, ("a", "", "", None)),
    ],
)
def test_fields_under_chinese_names_and_inside_objects_are_found(
    values: dict[str, object], expected: tuple[str, str, str, date | None]
) -> None:
    document = made({"text": "One.", **values}).document

    assert (document.id, document.title, document.source, document.published) == expected


def test_prefers_the_first_common_name_that_holds_something() -> None:
    assert made({"content": "b", "text": "a"}).document.text == "a"
    assert made({"content": "b", "text": ""}).document.text == "b"


def test_a_mapping_names_fields_and_reaches_into_objects_and_lists() -> None:
    mapping = {"text": "body.parts", "title": "meta.heads.0", "source": "a.b", "url": "meta.none.x"}
    reader = Reader(check_mapping(mapping))
    row: dict[str, object] = {
        "text": "not this", "body": {"parts": ["One.", None, "Two."]}, "meta": {"heads": ["T"]}, "a.b": "S"
    }  # fmt: skip
    document = made(row, reader=reader).document

    assert (document.text, document.title, document.source, document.url) == ("One.\nTwo.", "T", "S", "")


def test_a_mapping_leaves_alone_what_a_reader_has_named_itself() -> None:
    reader = Reader(check_mapping({"text": "news_content"}))

    assert made({"text": "a"}, reader=reader, named=True).document.text == "a"


@pytest.mark.parametrize(
    ("mapping", "message"),
    [
        ({"titel": "x"}, "did you mean 'title'"),
        ({"zzz": "x"}, "Its fields are: id, title"),
        ({"text": ""}, "mapping of 'text' is empty"),
    ],
)
def test_a_mapping_of_unknown_fields_is_a_usage_error(mapping: dict[str, str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        check_mapping(mapping)


@pytest.mark.parametrize(
    ("values", "kind", "reason"),
    [
        ({}, "no_text", "the row has no fields"),
        ({"body_html": "x"}, "no_text", "the row has 'body_html'"),
        ({"text": None}, "no_text", "no text"),
        ({"text": " \n\u200b\u3000"}, "no_text", "blank"),
        ({"text": 3}, "no_text", "the text is a number"),
        ({"text": {"a": 1}}, "no_text", "the text is an object"),
        ({"text": ["a", 3]}, "no_text", "a list that holds a number"),
        ({"text": [["a"], [{"b": 1}]]}, "no_text", "a list that holds an object"),
        ({"text": [None]}, "no_text", "blank"),
        ({"text": Clash()}, "no_text", "occurs twice"),
        ({"text": "a\ud800"}, "unstorable", "lone surrogate"),
        ({"text": "a", "id": "x" * (LONGEST_ID + 1)}, "bad_id", "201 characters"),
        ({"text": "a", "id": "a\nb"}, "bad_id", "control characters"),
        ({"text": "a", "id": "\udc80"}, "bad_id", "control characters"),
        ({"text": "a", "id": True}, "bad_id", "a truth value"),
        ({"text": "a", "id": {"x": 1}}, "bad_id", "an object"),
        ({"text": "a", "id": Clash()}, "bad_id", "given twice"),
    ],
)
def test_refuses_rows_with_a_reason(values: dict[str, object], kind: str, reason: str) -> None:
    result = refused(values)

    assert result.kind == kind
    assert reason in result.reason


def test_a_refused_row_says_what_was_asked_for_and_what_is_there() -> None:
    reader = Reader(check_mapping({"text": "story"}))

    assert refused({"body": "a", "k": "b"}, reader=reader).reason == "no text in 'story'; the row has 'body', 'k'"


@pytest.mark.parametrize(
    ("given_id", "kept"), [(7, "7"), (7.0, "7"), (7.5, "7.5"), (" a b ", "a b"), ("新聞-1", "新聞-1"), (0, "0")]
)
def test_keeps_the_id_of_the_user(given_id: object, kept: str) -> None:
    assert made({"text": "a", "id": given_id}).document.id == kept


@pytest.mark.parametrize("given_id", [None, "", "  "])
def test_without_an_id_the_content_gives_one(given_id: object) -> None:
    result = made({"text": "a", "id": given_id})

    assert result.document.id == result.revision == content_hash("", "a", published=None, source="", url="")
    assert len(result.revision) == 16


def test_the_content_hash_sees_every_part() -> None:
    same = {"title": "a", "text": "b", "source": "c", "url": "https://d.example", "date": "2024-05-06"}
    hashes = {made(same | {name: "2024-05-07" if name == "date" else "https://e.example"}).revision for name in same}

    assert len(hashes | {made(same).revision}) == 6


@pytest.mark.parametrize(
    ("text", "joined"),
    [
        (["One.", "Two."], "One.\nTwo."),
        ([["One.", "Two."], ["Three.", None]], "One.\nTwo.\n\nThree."),
        ([["One."], [], "Two.", None, ""], "One.\n\nTwo."),
        ("kept \r\n as  it is ", "kept \r\n as  it is "),
        ("a\0b", "ab"),
    ],
)
def test_texts_are_kept_and_lists_are_joined(text: object, joined: str) -> None:
    assert made({"text": text}).document.text == joined


def test_notes_count_what_a_reader_does_not_see() -> None:
    assert made({"text": "a\u200bb\u202ec\U000e0041d\0"}).document.notes == (
        "invisible or control characters in the text: 3",
        "NUL characters taken out of the text: 1",
    )
    assert made({"text": ["a\0", ["b"]]}).document.notes == ("NUL characters taken out of the text: 1",)


@pytest.mark.parametrize(
    ("value", "state"),
    [
        ("2024-05-06", "read"),
        (None, "missing"),
        ("", "missing"),
        (" ", "missing"),
        ("5/6/2024", "unread"),
        ([1], "unread"),
    ],
)
def test_a_date_that_cannot_be_read_is_counted_and_noted(value: object, state: str) -> None:
    result = made({"text": "a", "date": value})

    assert result.date == state
    assert bool(result.document.notes) == (state == "unread")
    assert (result.document.published is not None) == (state == "read")


@pytest.mark.parametrize(
    ("url", "day"),
    [
        ("https://post.example/2024/05/06/bridge.html", date(2024, 5, 6)),
        ("https://post.example/news/2024-5-6-bridge", date(2024, 5, 6)),
        ("/2024/05/06", date(2024, 5, 6)),
        ("https://post.example/2024/05/bridge", None),
        ("https://post.example/2024/13/06/", None),
        ("https://post.example/2024/05-06/", None),
        ("https://post.example/2024/05/06th/", None),
        ("https://post.example/1824/05/06/", None),
        ("https://post.example/?from=/2024/05/06/", None),
        ("https://post.example#/2024/05/06/", None),
        ("", None),
    ],
)
def test_the_path_of_an_address_may_name_the_day(url: str, day: date | None) -> None:
    assert date_in_address(url) == day


@pytest.mark.parametrize(
    ("published", "day", "notes"),
    [
        ("2024-05-07", date(2024, 5, 7), 0),
        ("", date(2024, 5, 6), 1),
        ("5/6/2024", date(2024, 5, 6), 2),
    ],
)
def test_the_address_dates_only_what_has_no_date_of_its_own(published: str, day: date, notes: int) -> None:
    found = made({"text": "a", "date": published, "url": "https://post.example/2024/05/06/bridge"})

    assert (found.document.published, found.date) == (day, "read")
    assert len(found.document.notes) == notes
    assert ("date: from the address" in found.document.notes) == (notes > 0)


def test_the_order_of_dates_is_used() -> None:
    assert made({"text": "a", "date": "5/6/2024"}, reader=Reader({}, "day")).document.published == date(2024, 6, 5)


@pytest.mark.parametrize(
    ("field", "value", "kept", "noted"),
    [
        ("title", "  a\n\tb\x1b ", "a b", False),
        ("title", 2024, "2024", False),
        ("title", ["a"], "a", False),
        ("title", ["a", "b"], "", True),
        ("source", {"other": 1}, "", True),
        ("title", True, "", True),
        ("title", "\ud800", "", True),
        ("source", Clash(), "", True),
        ("url", "http://a.example/?q=1", "http://a.example/?q=1", False),
        ("url", "www.a.example/b", "www.a.example/b", False),
        ("url", "javascript:alert(1)", "", True),
        ("url", "DATA:text/html,x", "", True),
        ("url", "not an address", "", True),
        ("language", "zh_TW", "zh-TW", False),
        ("language", "zh-Hant-HK", "zh-TW", False),
        ("language", "zh-Hans", "zh-CN", False),
        ("language", "EN-us", "en-US", False),
        ("language", "de", "de", False),
        ("language", "sr-Latn", "sr-Latn", False),
    ],
)
def test_short_fields_are_one_line_or_left_out_aloud(field: str, value: object, kept: str, noted: bool) -> None:
    document = made({"text": "a", field: value}).document

    assert getattr(document, field) == kept
    assert bool(document.notes) == noted


@pytest.mark.parametrize("value", [None, "zh", "<script>"])
def test_without_a_clear_language_the_text_tells(value: object) -> None:
    text = "The council met on Monday and voted to rebuild the bridge that the flood had taken."
    document = made({"text": text, "language": value}).document

    assert document.language == "en"
    assert bool(document.notes) == (value == "<script>")


@settings(deadline=None)
@given(
    st.dictionaries(
        st.sampled_from(["text", "id", "title", "date", "source", "url", "language"]),
        st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.lists(st.text() | st.lists(st.text())),
    )
)
def test_any_row_is_a_document_that_can_be_stored_or_is_refused(values: dict[str, object]) -> None:
    result = PLAIN.make(Row(values, 1), origin="")

    if isinstance(result, Made):
        document = result.document
        assert document.id
        assert document.text.strip()
        "".join((document.id, document.text, document.title, document.source, document.url, *document.notes)).encode()
    else:
        result.reason.encode()
