"""JSON as models write it: what JSON allows, and the slips that leave no doubt about what is meant.

Taken and noted: trailing commas, single or curly quotes, Python's ``True``, ``False``, ``None``, comments, bare keys,
full-width colons and commas, line breaks inside strings, a key twice with the same value. Refused: what is not closed,
``NaN`` and infinities, a key twice with two values, anything deeper than ``DEEPEST``. Nothing is ever evaluated.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

Json = str | int | float | bool | None | Sequence["Json"] | Mapping[str, "Json"]
"""A value as JSON has it; objects are dicts and lists tuples."""

DEEPEST = 40
_MOST_FAILURES = 50

_BLANK = re.compile(r"(?:\s|//[^\n]*|#[^\n]*|/\*.*?\*/)*", re.DOTALL)
_PLAIN_BLANK = re.compile(r"\s*")
_NUMBER = re.compile(r"-?(?:0|[1-9]\d{0,300})(?:\.\d{1,300})?(?:[eE][+-]?\d{1,3})?(?![\w.])", re.ASCII)
_WORD = re.compile(r"-?[^\W\d]\w*")
_WORDS: Mapping[str, bool | None] = {"true": True, "false": False, "null": None}
_PYTHON: Mapping[str, bool | None] = {"True": True, "False": False, "None": None}
_QUOTES = {'"': '"', "'": "'", "“": "”", "‘": "’", "「": "」"}
_PIECE = {end: re.compile(rf"[^{end}\\]*") for end in _QUOTES.values()}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "/": "/", "\\": "\\"}
_HEX = re.compile(r"[0-9a-fA-F]{4}")


class LooseError(ValueError):
    """What stands at ``place`` is no JSON; ``ended``: the text stopped before the value did."""

    def __init__(self, message: str, *, place: int, ended: bool = False) -> None:
        super().__init__(message)
        self.place = place
        self.ended = ended


@dataclass(frozen=True, slots=True)
class Found:
    """A value found in a text at ``text[start:end]``; ``slips`` are those that were read over, each once."""

    value: Json
    start: int
    end: int
    slips: tuple[str, ...] = ()


def find_values(text: str, *, kind: Literal["object", "list"] = "object") -> tuple[Found, ...]:
    """Every outermost JSON object, or list, in a text, in order; braces of prose are passed over.

    Raises:
        LooseError: one that had clearly begun is broken, or not closed before the text ends.
    """
    opening = "{" if kind == "object" else "["
    found: list[Found] = []
    place, failures = text.find(opening), 0
    while place >= 0 and failures < _MOST_FAILURES:
        reader = _Reader(text, place)
        try:
            value = reader.value(0)
        except LooseError as error:
            if reader.begun:
                raise LooseError(
                    f"the {kind} at character {place} is no JSON: {error}", place=error.place, ended=error.ended
                ) from error
            failures += 1
            place = text.find(opening, place + 1)
            continue
        found.append(Found(value, place, reader.at, tuple(reader.slips)))
        place = text.find(opening, reader.at)
    return tuple(found)


@dataclass(slots=True)
class _Reader:
    """Reads one value from ``text`` at ``at``; ``begun`` once a first key or element was read."""

    text: str
    at: int
    begun: bool = False
    after_comma: bool = False
    slips: dict[str, None] = field(default_factory=dict)

    def value(self, depth: int) -> Json:
        """The value that begins here."""
        if depth > DEEPEST:
            raise self.error(f"it is nested more than {DEEPEST} deep")
        self.blank()
        self.after_comma = False
        mark = self.text[self.at : self.at + 1]
        if mark == "{":
            return self.object(depth)
        if mark == "[":
            return self.list(depth)
        if mark in _QUOTES and mark:
            return self.string()
        return self.scalar()

    def object(self, depth: int) -> dict[str, Json]:
        """``{...}``."""
        self.at += 1
        read: dict[str, Json] = {}
        while not self.closed("}"):
            key = self.key()
            self.blank()
            if not self.take(":", "："):
                raise self.error("a colon is missing after a key")
            self.begun = True
            value = self.value(depth + 1)
            if key in read:
                if read[key] != value:
                    raise self.error(f"the key '{key}' stands there twice, with different values")
                self.note("a key twice with the same value")
            read[key] = value
            self.comma("}")
        return read

    def list(self, depth: int) -> tuple[Json, ...]:
        """``[...]``."""
        self.at += 1
        read: list[Json] = []
        while not self.closed("]"):
            read.append(self.value(depth + 1))
            self.begun = self.begun or not isinstance(read[-1], int | float | str)
            self.comma("]")
        return tuple(read)

    def closed(self, mark: str) -> bool:
        """Whether the object or list ends here."""
        self.blank()
        if not self.take(mark):
            return False
        if self.after_comma:
            self.note("a trailing comma")
        return True

    def comma(self, closing: str) -> None:
        """Take the comma between two items; none is needed before the end."""
        self.blank()
        self.after_comma = self.take(",", "，")
        if not self.after_comma and not self.text.startswith(closing, self.at):
            raise self.error("a comma is missing")

    def key(self) -> str:
        """A key in quotes, or a bare word."""
        if self.text[self.at : self.at + 1] in _QUOTES:
            return self.string()
        found = _WORD.match(self.text, self.at)
        if found is None:
            raise self.error("a key is missing")
        self.at = found.end()
        self.note("a key without quotes")
        return found.group()

    def string(self) -> str:
        """A string in any of the quotes."""
        opening = self.text[self.at]
        closing = _QUOTES[opening]
        if opening != '"':
            self.note("other quotes than JSON's")
        self.at += 1
        pieces: list[str] = []
        while True:
            found = _PIECE[closing].match(self.text, self.at)
            piece = found.group() if found else ""
            if any(character < " " for character in piece):
                self.note("control characters inside a string")
            pieces.append(piece)
            self.at += len(piece)
            if self.at >= len(self.text):
                raise self.error("a string is not closed")
            self.at += 1
            if self.text[self.at - 1] == closing:
                return _paired("".join(pieces))
            pieces.append(self.escape())

    def escape(self) -> str:
        """What an escape stands for; the backslash is taken."""
        mark = self.text[self.at : self.at + 1]
        if not mark:
            raise self.error("a string is not closed")
        self.at += 1
        if mark == "u":
            found = _HEX.match(self.text, self.at)
            if found is None:
                raise self.error("an escape \\u has no four hexadecimal digits")
            self.at = found.end()
            return chr(int(found.group(), 16))
        if mark not in _ESCAPES and mark != '"':
            self.note("an escape that JSON does not know")
        return _ESCAPES.get(mark, mark)

    def scalar(self) -> Json:
        """A number or one of the few words."""
        number = _NUMBER.match(self.text, self.at)
        if number is not None:
            self.at = number.end()
            written = number.group()
            if not any(mark in written for mark in ".eE"):
                return int(written)
            if abs(float(written)) == float("inf"):
                raise self.error(f"{written} is no finite number")
            return float(written)
        word = _WORD.match(self.text, self.at)
        name = word.group() if word else ""
        if name not in _WORDS and name not in _PYTHON:
            raise self.error(f"'{name}' is no value of JSON" if name else "a value is missing")
        self.at += len(name)
        if name in _PYTHON:
            self.note("Python's names for true, false and null")
            return _PYTHON[name]
        return _WORDS[name]

    def blank(self) -> None:
        """Pass over white space and comments."""
        plain = _PLAIN_BLANK.match(self.text, self.at)
        found = _BLANK.match(self.text, self.at)
        end = found.end() if found else self.at
        if plain and plain.end() < end:
            self.note("comments")
        self.at = end

    def take(self, mark: str, wide: str = "") -> bool:
        """Take one mark, or its full-width form, if it stands here."""
        here = self.text[self.at : self.at + 1]
        if not here or here not in (mark, wide):
            return False
        if here != mark:
            self.note("full-width punctuation")
        self.at += 1
        return True

    def note(self, slip: str) -> None:
        self.slips[slip] = None

    def error(self, message: str) -> LooseError:
        return LooseError(message, place=self.at, ended=self.at >= len(self.text))


def _paired(text: str) -> str:
    """Escaped surrogate pairs as the characters they stand for; a lone half as the replacement character."""
    if not any("\ud800" <= character <= "\udfff" for character in text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
