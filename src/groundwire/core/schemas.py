"""Check a value against the part of JSON Schema that our replies need.

Known: ``type``, ``properties``, ``required``, ``additionalProperties`` (true or false), ``enum``, ``minimum``,
``maximum``, ``items``, ``minItems``, ``maxItems``, ``minLength``; ``title`` and ``description`` say nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from groundwire.core.errors import UsageError
from groundwire.core.loose_json import Json

Schema = Mapping[str, Json]

_KNOWN = frozenset(
    (
        "type", "properties", "required", "additionalProperties", "enum", "minimum", "maximum", "items", "minItems",
        "maxItems", "minLength", "title", "description",
    )
)  # fmt: skip
_KINDS: Mapping[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (tuple,),
    "string": (str,),
    "number": (int, float),
    "integer": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
}


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with a value; ``range``: it is a number, but a too small or too large one."""

    where: str
    what: str
    range: bool = False

    def __str__(self) -> str:
        return f"{self.where} {self.what}"


def faults(value: Json, schema: Schema, *, where: str = "the reply") -> tuple[Fault, ...]:
    """What in a value does not follow a schema, in the order of the schema; nothing where all is well.

    Raises:
        UsageError: the schema uses a keyword that is not known here.
    """
    unknown = sorted(set(schema) - _KNOWN)
    if unknown:
        raise UsageError(
            f"the schema has '{unknown[0]}', which is not read here; known are {', '.join(sorted(_KNOWN))}"
        )
    return tuple(_faults(value, schema, where))


def _faults(value: Json, schema: Schema, where: str) -> Iterator[Fault]:
    kinds = schema.get("type")
    kinds = (kinds,) if isinstance(kinds, str) else kinds
    if isinstance(kinds, Sequence) and not any(_is(value, str(kind)) for kind in kinds):
        yield Fault(where, f"is {_named(value)}, not {' or '.join(map(str, kinds))}")
        return
    choices = schema.get("enum")
    if isinstance(choices, Sequence) and not any(value == each and type(value) is type(each) for each in choices):
        yield Fault(where, f"is {_named(value)}, not one of {', '.join(map(str, choices))}")
    if isinstance(value, int | float) and not isinstance(value, bool):
        yield from _number_faults(value, schema, where)
    elif isinstance(value, str):
        if len(value.strip()) < _count(schema, "minLength", 0):
            yield Fault(where, "is too short a text")
    elif isinstance(value, Mapping):
        yield from _object_faults(value, schema, where)
    elif isinstance(value, Sequence):
        yield from _list_faults(value, schema, where)


def _is(value: Json, kind: str) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    if kind == "integer" and isinstance(value, float):
        return value.is_integer()
    return isinstance(value, _KINDS.get(kind, ()))


def _number_faults(value: float, schema: Schema, where: str) -> Iterator[Fault]:
    least, most = schema.get("minimum"), schema.get("maximum")
    if isinstance(least, int | float) and value < least:
        yield Fault(where, f"is {value}, below {least}", range=True)
    if isinstance(most, int | float) and value > most:
        yield Fault(where, f"is {value}, above {most}", range=True)


def _object_faults(value: Mapping[str, Json], schema: Schema, where: str) -> Iterator[Fault]:
    properties = cast("Mapping[str, Schema]", schema.get("properties") or {})
    for name in cast("Sequence[str]", schema.get("required") or ()):
        if name not in value:
            yield Fault(where, f"lacks '{name}'")
    for name, item in value.items():
        if name in properties:
            yield from faults(item, properties[name], where=f"'{name}'")
        elif schema.get("additionalProperties") is False:
            yield Fault(where, f"has '{name}', which was not asked for")


def _list_faults(value: Sequence[Json], schema: Schema, where: str) -> Iterator[Fault]:
    least, most = _count(schema, "minItems", 0), _count(schema, "maxItems", len(value))
    if not least <= len(value) <= most:
        yield Fault(where, f"has {len(value)} items, not {least} to {most}")
    items = cast("Schema | None", schema.get("items"))
    if items is not None:
        for number, item in enumerate(value, 1):
            yield from faults(item, items, where=f"item {number} of {where}")


def _count(schema: Schema, name: str, default: int) -> int:
    found = schema.get(name, default)
    return found if isinstance(found, int) else default


def _named(value: Json) -> str:
    """A value in a message: its kind where it is large."""
    if isinstance(value, Mapping):
        return "an object"
    if isinstance(value, str):
        return f"'{value}'" if len(value) <= 40 else "a long text"
    if isinstance(value, Sequence):
        return "a list"
    return str(value)
