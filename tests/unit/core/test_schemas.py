"""The part of JSON Schema that replies are checked with."""

import pytest

from groundwire.core.errors import UsageError
from groundwire.core.loose_json import Json
from groundwire.core.schemas import faults


@pytest.mark.parametrize(
    ("value", "schema", "expected"),
    [
        (85, {"type": "integer"}, ""),
        (85.0, {"type": "integer"}, ""),
        (85.5, {"type": "integer"}, "the reply is 85.5, not integer"),
        (True, {"type": "integer"}, "the reply is True, not integer"),
        (True, {"type": "boolean"}, ""),
        (None, {"type": ["integer", "null"]}, ""),
        ("x", {"type": ["integer", "null"]}, "the reply is 'x', not integer or null"),
        ("x", {"type": "unheard-of"}, "the reply is 'x', not unheard-of"),
        ("x" * 50, {"type": "null"}, "the reply is a long text, not null"),
        ({}, {"type": "array"}, "the reply is an object, not array"),
        ((), {"type": "object"}, "the reply is a list, not object"),
        (101, {"maximum": 100}, "the reply is 101, above 100"),
        (-1, {"minimum": 0}, "the reply is -1, below 0"),
        (50, {"minimum": 0, "maximum": 100}, ""),
        ("a", {"enum": ["a", "b"]}, ""),
        ("c", {"enum": ["a", "b"]}, "the reply is 'c', not one of a, b"),
        (True, {"enum": [1]}, "the reply is True, not one of 1"),
        (" ", {"type": "string", "minLength": 1}, "the reply is too short a text"),
        ("a", {"type": "string", "minLength": 1, "title": "t", "description": "d"}, ""),
        ({"a": 1}, {"required": ["a", "b"]}, "the reply lacks 'b'"),
        ({"a": 1, "b": 2}, {"properties": {"a": {}}, "additionalProperties": False},
         "the reply has 'b', which was not asked for"),
        ({"a": 1, "b": 2}, {"properties": {"a": {"type": "string"}}}, "'a' is 1, not string"),
        ((1, "x"), {"items": {"type": "integer"}}, "item 2 of the reply is 'x', not integer"),
        ((1,), {"minItems": 2}, "the reply has 1 items, not 2 to 1"),
        ((1, 2), {"maxItems": 1}, "the reply has 2 items, not 0 to 1"),
        (None, {}, ""),
    ],
)  # fmt: skip
def test_a_fault_says_where_and_what(value: Json, schema: dict[str, Json], expected: str) -> None:
    assert "; ".join(map(str, faults(value, schema))) == expected


def test_only_a_number_of_the_wrong_size_counts_as_out_of_range() -> None:
    (size,) = faults(101, {"type": "integer", "maximum": 100})
    (kind,) = faults("101", {"type": "integer", "maximum": 100})

    assert (size.range, kind.range) == (True, False)


def test_a_keyword_that_is_not_read_is_refused_rather_than_passed_over() -> None:
    with pytest.raises(UsageError, match="'pattern'"):
        faults("x", {"type": "string", "pattern": "y"})
