"""JSON as models write it: strict JSON reads as it is, slips are named, doubt is refused."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundwire.core.loose_json import DEEPEST, LooseError, find_values

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=8,
)


def as_tuples(value: object) -> object:
    if isinstance(value, list):
        return tuple(as_tuples(item) for item in value)
    return {key: as_tuples(item) for key, item in value.items()} if isinstance(value, dict) else value


@settings(deadline=None, max_examples=60)
@given(st.dictionaries(st.text(), VALUES, max_size=4), st.booleans(), st.sampled_from([None, 2]))
def test_what_json_allows_reads_as_json_reads_it_without_a_slip(
    value: dict[str, object], plain: bool, indent: int | None
) -> None:
    (found,) = find_values(json.dumps(value, ensure_ascii=plain, indent=indent))

    assert found.value == as_tuples(json.loads(json.dumps(value)))
    assert found.slips == ()


@settings(deadline=None)
@given(st.text(alphabet="{}[]\"':,\\/*# 1aNu\n“”：", max_size=60))
def test_any_text_is_read_or_refused_but_never_breaks(text: str) -> None:
    try:
        found = find_values(text)
    except LooseError as error:
        place = error.place
        assert 0 <= place <= len(text)
    else:
        assert all(text[each.start] == "{" and text[each.end - 1] == "}" for each in found)


@pytest.mark.parametrize(
    ("text", "value", "slips"),
    [
        ('{"a": 1,}', {"a": 1}, ("a trailing comma",)),
        ('{"a": [1, 2,],}', {"a": (1, 2)}, ("a trailing comma",)),
        ("{'a': 'it''}", None, ()),
        ("{'a': 'b'}", {"a": "b"}, ("other quotes than JSON's",)),
        ("{“a”: “b \"c\"”}", {"a": 'b "c"'}, ("other quotes than JSON's",)),
        ('{"a": True, "b": None, "c": False}', {"a": True, "b": None, "c": False},
         ("Python's names for true, false and null",)),
        ('{"a": 1, // one\n "b": 2 /* two */}', {"a": 1, "b": 2}, ("comments",)),
        ('{"a": 1 # one\n}', {"a": 1}, ("comments",)),
        ("{a: 1}", {"a": 1}, ("a key without quotes",)),
        ('{"a"：1，"b"：2}', {"a": 1, "b": 2}, ("full-width punctuation",)),
        ('{"a": "line\nbreak"}', {"a": "line\nbreak"}, ("control characters inside a string",)),
        ('{"a": 1, "a": 1}', {"a": 1}, ("a key twice with the same value",)),
        (r'{"a": "\d \u4e2d \ud83d\ude00 \ud83d"}', {"a": "d 中 😀 \ufffd"}, ("an escape that JSON does not know",)),
        ("{}", {}, ()),
        ('{"a": -1.5e3, "b": 0, "c": {"d": []}}', {"a": -1500.0, "b": 0, "c": {"d": ()}}, ()),
    ],
)  # fmt: skip
def test_a_slip_is_read_over_and_named(text: str, value: object, slips: tuple[str, ...]) -> None:
    if value is None:
        with pytest.raises(LooseError):
            find_values(text)
        return
    (found,) = find_values(f"Here: {text} done")

    assert found.value == value
    assert found.slips == slips
    assert f"Here: {text} done"[found.start : found.end] == text


@pytest.mark.parametrize(
    ("text", "message", "ended"),
    [
        ('{"a": 1', "a comma is missing", True),
        ('{"a": 1, "b', "a string is not closed", True),
        ('{"a": "b\\', "a string is not closed", True),
        ('{"a": 1, "a": 2}', "twice, with different values", False),
        ('{"a": NaN}', "'NaN' is no value of JSON", False),
        ('{"a": -Infinity}', "'-Infinity' is no value of JSON", False),
        ('{"a": 1e999}', "no finite number", False),
        ('{"a": 1, 5: 2}', "a key is missing", False),
        ('{"a": 1, "b" 2}', "a colon is missing", False),
        ('{"a": 1 "b": 2}', "a comma is missing", False),
        ('{"a": }', "a value is missing", False),
        ('{"a": "\\u12"}', "four hexadecimal digits", False),
        ('{"a": __import__("os")}', "'__import__' is no value", False),
        ('{"a": 01}', "a value is missing", False),
        ('{"a":' * (DEEPEST + 2) + "1" + "}" * (DEEPEST + 2), "nested more than", False),
    ],
)
def test_what_leaves_doubt_is_refused_with_its_place(text: str, message: str, ended: bool) -> None:
    with pytest.raises(LooseError, match=message) as caught:
        find_values(text)

    assert caught.value.ended is ended
    assert 0 < caught.value.place <= len(text)


def test_braces_of_prose_are_passed_over_and_every_outermost_value_is_found() -> None:
    found = find_values('use {curly} and {} or { then {"a": {"b": 1}} and {"c": 2}')

    assert [each.value for each in found] == [{}, {"a": {"b": 1}}, {"c": 2}]


def test_lists_are_found_beside_markers_that_look_like_them() -> None:
    found = find_values('See [S3.2] and ["a", {"b": [1]}]', kind="list")

    assert [each.value for each in found] == [("a", {"b": (1,)})]


@pytest.mark.parametrize("text", ["{" * 20_000, "{x" * 20_000, "[" * 20_000, '{"' + "a" * 100_000, "//" * 50_000])
def test_hostile_text_takes_no_time(text: str) -> None:
    for kind in ("object", "list"):
        try:
            assert find_values(text, kind=kind) == ()
        except LooseError as error:
            assert error.place > 0  # noqa: PT017 - either outcome is right, neither may hang
