"""Sentences of a model's reply, each with the ids that it names: out of running text with markers, and out of JSON.

A small model drops citations unless it is forced to give them, so one that can follow a schema is asked for a list of
sentences, the ids first and only out of those that it was given.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from groundwire.core.cited_ids import Marker, read_citations
from groundwire.core.loose_json import Json
from groundwire.core.sentences import split_sentences

MOST_IDS = 3
"""So many ids a sentence may name under a schema."""

_WORD = re.compile(r"\w")
_STRING = re.compile(r'"(?P<text>(?:[^"\\]|\\.)*)(?:"(?P<key>\s*:)?|\\?\Z)', re.DOTALL)


@dataclass(frozen=True, slots=True)
class CitedSentence:
    """A sentence without its markers; ``ids`` were given to the model, ``unknown`` were not; each once, in order.

    ``text`` is empty where a stretch holds markers only.
    """

    text: str
    ids: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()


def sentences_of_text(text: str, *, known: Collection[str]) -> tuple[CitedSentence, ...]:
    """The sentences of running text; a marker behind a sentence's stop, or beginning the text, is that sentence's."""
    cited = read_citations(text, known=known)
    spans = [span for span in split_sentences(cited.words) if _WORD.search(cited.words[span.start : span.end])]
    if not spans:
        return (_sentence("", cited.markers),) if cited.markers else ()
    starts = [span.start for span in spans]
    owned: list[list[Marker]] = [[] for _ in spans]
    for marker in cited.markers:
        owned[_owner(starts, marker.place, words=cited.words)].append(marker)
    pairs = zip(spans, owned, strict=True)
    return tuple(_sentence(cited.words[span.start : span.end], markers) for span, markers in pairs)


def sentence_of_json(text: str, given: Sequence[str], *, known: Collection[str]) -> CitedSentence:
    """A sentence that came with a list of ids; ids inside its text count as well."""
    cited = read_citations(text, known=known)
    listed = [(each, read_citations(f"[{each}]", known=known).markers) for each in given]
    strange = tuple(each for each, markers in listed if not any(marker.ids for marker in markers))
    markers = (*(marker for _, found in listed for marker in found if marker.ids), *cited.markers)
    words = cited.words if _WORD.search(cited.words) else ""
    found = _sentence(words, markers)
    return CitedSentence(found.text, found.ids, tuple(dict.fromkeys((*strange, *found.unknown))))


def sentence_schema(ids: Sequence[str] = ()) -> dict[str, Json]:
    """The JSON Schema of a sentence with the ids that it rests on, the ids first; without ids: any texts."""
    one: dict[str, Json] = {"type": "string", "enum": list(ids)} if ids else {"type": "string"}
    listed: dict[str, Json] = {"type": "array", "items": one}
    if ids:
        listed |= {"minItems": 1, "maxItems": MOST_IDS}
    properties: dict[str, Json] = {"ids": listed, "text": {"type": "string"}}
    return {"type": "object", "properties": properties, "required": ["ids", "text"], "additionalProperties": False}


def items_of_json(value: Json, *, known: Collection[str]) -> Iterator[CitedSentence]:
    """The sentences of a list that follows ``sentence_schema``; those without words and ids are passed over.

    A text of several sentences becomes several, each with all its ids.
    """
    for item in value if isinstance(value, Sequence) and not isinstance(value, str) else ():
        if isinstance(item, Mapping):
            ids = item["ids"]
            listed = [ids] if isinstance(ids, str) or not isinstance(ids, Sequence) else ids
            given = [str(each) for each in listed]
            found = sentence_of_json(str(item["text"]), given, known=known)
            spans = split_sentences(found.text)
            if len(spans) > 1:
                yield from (replace(found, text=found.text[span.start : span.end]) for span in spans)
            elif found.text or found.ids or found.unknown:
                yield found


def closed(text: str) -> tuple[str, str] | None:
    """JSON that was cut, closed behind its last whole object, and what was cut off after that.

    Returns:
        The two texts, whose words together are all words of the text; None where nothing whole stands in it.
    """
    stack: list[str] = []
    best: tuple[int, str] | None = None
    quoted = escaped = False
    for place, character in enumerate(text):
        if quoted:
            quoted, escaped = escaped or character != '"', not escaped and character == "\\"
        elif character == '"':
            quoted = True
        elif character in "{[":
            stack.append("}" if character == "{" else "]")
        elif stack and character == stack[-1]:
            stack.pop()
            if character == "}":
                best = (place + 1, "".join(reversed(stack)))
    if best is None:
        return None
    return text[: best[0]] + best[1], text[best[0] :]


def texts_of_json(rest: str) -> str:
    """The words of the strings in a piece of JSON, without its keys and marks; the last may be unfinished."""
    found = [match["text"] for match in _STRING.finditer(rest) if not match["key"]]
    return " ".join(filter(None, (_unescaped(each) for each in found)))


def _unescaped(text: str) -> str:
    try:
        return " ".join(str(json.loads(f'"{text}"', strict=False)).split())
    except json.JSONDecodeError:  # cut inside an escape
        return text


def _owner(starts: Sequence[int], place: int, *, words: str) -> int:
    """Which sentence a marker belongs to."""
    for number in reversed(range(len(starts))):
        begins_line = words[:place].endswith("\n") and not words[place : starts[number]].strip()
        if starts[number] < place or begins_line:
            return number
    return 0


def _sentence(words: str, markers: Sequence[Marker]) -> CitedSentence:
    ids = dict.fromkeys(each for marker in markers for each in marker.ids)
    unknown = dict.fromkeys(each for marker in markers for each in marker.unknown)
    return CitedSentence(" ".join(words.split()), tuple(ids), tuple(unknown))
