"""Read what a model replied, or refuse: an object, verdicts by number; and ask once more where it could not be read.

A value is only taken where the reply leaves no doubt about it. The reply is always kept. Ratings are in ``ratings.py``,
citations of closed ids in ``cited_ids.py``, expectations over tokens in ``expectation.py``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Generic, Literal, TypeVar

from groundwire.core import prompts
from groundwire.core.errors import UsageError
from groundwire.core.language import Message, Reply, Request
from groundwire.core.loose_json import Found, Json, LooseError, find_values
from groundwire.core.numerals import flatten
from groundwire.core.schemas import Fault, Schema, faults
from groundwire.core.types import Outcome

T = TypeVar("T")
U = TypeVar("U")

_THOUGHT = re.compile(r"<(think|thinking|thought|reasoning)>.*?</\1>", re.DOTALL | re.IGNORECASE)
_THOUGHT_END = re.compile(r"\A.*</(?:think|thinking|thought|reasoning)>", re.DOTALL | re.IGNORECASE)
_THOUGHT_OPEN = re.compile(r"<(?:think|thinking|thought|reasoning)>.*\Z", re.DOTALL | re.IGNORECASE)
_DRAFT = re.compile(r"\b(?:draft|first attempt|preliminary|initial|tentative)\b|初稿|草稿|初步|暂定", re.IGNORECASE)
FINAL = re.compile(
    r"\b(?:final|finally|corrected|revised|correction|on reflection)\b|最[终后]|修正|更正", re.IGNORECASE
)
_REFUSAL = re.compile(
    r"\b(?:i(?:'m| am) (?:sorry|unable|not able)|i (?:can(?:no|')t|could(?: not|n't)|won't|will not|must decline"
    r"|do(?: not|n't) have (?:enough|sufficient|any|access)|am not comfortable|apologi[sz]e)|as an ai\b"
    r"|(?:it is|it's) (?:not possible|impossible) to|(?:cannot|can't|can not) (?:be (?:rated|scored|judged|determined"
    r"|assessed|answered)|(?:rate|score|judge|assess|answer|determine|provide|comply|assist|help))"
    r"|unable to (?:rate|score|judge|assess|answer|determine|provide|comply|assist)|(?:insufficient|not enough)"
    r" (?:information|evidence|context)|no (?:rating|score) (?:can|could|is) )"
    r"|抱歉|对不起|很遗憾|[无沒没未][法能](?:为|对|给|提|回|作|判|评|打|满|协|确|进|处)|不能(?:为|给|评|打|提|回)"
    r"|不便|[资信][料息讯]不足|作为(?:一[个名位])?(?:ai|人工智|语言模型)|拒绝(?:评|回|提)",
    re.IGNORECASE,
)
_LINE = re.compile(
    r"^[\s>*_`#-]{0,8}[\[【(（]?\s*(?:(?:claim|item|statement|no\.?|number|主张|陈述|项目|第)\s*)?(?P<number>\d{1,4})\s*[\]】)）]?"
    r"\s*[项条句]?[*_`]{0,3}\s*[.．。:：、,\-–—)）=|]?(?:>|\s)*(?P<rest>.*)$",
    re.IGNORECASE,
)
_DECORATION = " \t\"'*_`“”「」[]()（）【】"


@dataclass(frozen=True)  # with slots, Python 3.11 cannot call ``Reading[float](...)``
class Reading(Generic[T]):
    """What was read out of a reply.

    ``value`` is None unless ``outcome`` is ``read`` or ``recovered``; ``reason`` says how a value was recovered, or why
    there is none; ``text`` is the reply as it came.
    """

    value: T | None
    outcome: Outcome
    reason: str = ""
    text: str = ""

    def without_value(self: Reading[T], outcome: Outcome, reason: str) -> Reading[T]:
        """The same reply, not read after all."""
        return Reading(None, outcome, reason, self.text)


@dataclass(frozen=True, slots=True)
class Verdicts:
    """A verdict for every number from 1, each with its own outcome; ``strays`` are numbers that were not asked for."""

    readings: tuple[Reading[str], ...]
    strays: tuple[int, ...] = ()

    @property
    def missing(self) -> tuple[int, ...]:
        """The numbers without a verdict, to be asked for once more and then counted."""
        return tuple(number for number, found in enumerate(self.readings, 1) if found.value is None)


def spoken(reply: Reply) -> tuple[str, str]:
    """A reply without what the model thought aloud, and how that was told apart ("" where nothing was)."""
    text = _THOUGHT.sub("", reply.text) if "</" in reply.text else reply.text  # else every opening is looked past
    text = _THOUGHT_END.sub("", text)
    text = _THOUGHT_OPEN.sub("", text)
    return text.strip().removeprefix("\ufeff"), "" if text == reply.text else "what was thought aloud was left out"


def stopped(reply: Reply, *, text: str) -> tuple[Outcome, str] | None:
    """Why there is nothing to read, if that shows without reading: refused, cut or empty."""
    if reply.finish == "refused":
        return "abstained", "the model or its server declined to answer"
    if reply.finish == "length":
        return "truncated", "the reply reached its limit of tokens and was cut"
    if not text:
        return "unreadable", "the reply is empty" if not reply.text.strip() else "the reply holds only thoughts"
    return None


def declines(text: str) -> bool:
    """Whether a text says that it will not or cannot answer, in English or Chinese; common forms are known, not all."""
    return _REFUSAL.search(flatten(text).replace("’", "'")) is not None


def read_object(reply: Reply, schema: Schema) -> Reading[Json]:
    """Read the one JSON object (or list, where the schema's type is ``array``) of a reply.

    Slips that leave no doubt are read over and named (``recovered``): code fences, words around the object, trailing
    commas, other quotes, comments, a number in quotes. Of several objects the last is taken where the words say that
    it is the final one, or that an earlier one was a draft.

    Args:
        reply: what the model said.
        schema: what the object must follow; see ``schemas``.

    Returns:
        The value, objects as dicts and lists as tuples. ``out_of_range`` where only the size of a number is wrong.

    Raises:
        UsageError: the schema uses a keyword that is not known.
    """
    text, thought = spoken(reply)
    halted = stopped(reply, text=text)
    if halted is not None:
        return Reading(None, *halted, reply.text)
    kind: Literal["object", "list"] = "list" if schema.get("type") == "array" else "object"
    try:
        found = find_values(text, kind=kind)
    except LooseError as error:
        return Reading(None, "unreadable", str(error), reply.text)
    if not found:
        outcome: Outcome = "abstained" if declines(text) else "unreadable"
        return Reading(None, outcome, f"the reply holds no JSON {kind}", reply.text)
    chosen, how = final_of(found, text)
    if chosen is None:
        return Reading(
            None, "unreadable", f"the reply holds {len(found)} different {kind}s, none marked final", reply.text
        )
    value, coerced = _coerced(chosen.value, schema)
    wrong = faults(value, schema)
    if wrong:
        return Reading(None, _outcome_of(wrong), "; ".join(map(str, wrong[:5])), reply.text)
    around = "" if text == text[chosen.start : chosen.end] or how else "text around the JSON"
    notes = [note for note in (thought, how, around, *chosen.slips, *coerced) if note]
    return Reading(value, "recovered" if notes else "read", "; ".join(notes), reply.text)


def _outcome_of(wrong: Sequence[Fault]) -> Outcome:
    return "out_of_range" if all(fault.range for fault in wrong) else "unreadable"


def final_of(found: Sequence[Found], text: str) -> tuple[Found | None, str]:
    """The value that counts among those found in a text, and how it was chosen; None where nothing tells."""
    last = found[-1]
    if len(found) == 1:
        return last, ""
    if all(each.value == last.value for each in found):
        return last, f"the same value {len(found)} times"
    ends = [0, *(each.end for each in found)]
    told = [flatten(text[end : each.end]) for end, each in zip(ends, found, strict=False)]
    after = flatten(text[last.end :])
    finals = [number for number, words in enumerate(told) if FINAL.search(words)]
    drafts = [number for number, words in enumerate(told) if _DRAFT.search(words)]
    if finals == [len(found) - 1] or (
        not finals and drafts == list(range(len(found) - 1)) and not _DRAFT.search(after)
    ):
        return last, f"the last of {len(found)} values, which the words mark as final"
    return None, ""


def _coerced(value: Json, schema: Schema) -> tuple[Json, list[str]]:
    """A value with its numbers taken out of quotes where the schema wants numbers, and what was changed."""
    if isinstance(value, str) and schema.get("type") in ("number", "integer"):
        if re.fullmatch(r"\s*-?\d{1,9}(?:\.\d{1,9})?\s*", flatten(value)):
            number = float(flatten(value))
            return (int(number) if number.is_integer() else number), ["a number in quotes"]
        return value, []
    notes: list[str] = []
    if isinstance(value, Mapping):
        properties = schema.get("properties")
        changed: dict[str, Json] = {}
        for name, item in value.items():
            inner = properties.get(name) if isinstance(properties, Mapping) else None
            changed[name], more = _coerced(item, inner) if isinstance(inner, Mapping) else (item, [])
            notes += more
        return changed, notes[:1]
    items = schema.get("items")
    if isinstance(value, tuple) and isinstance(items, Mapping):
        pairs = [_coerced(item, items) for item in value]
        return tuple(item for item, _ in pairs), [note for _, more in pairs for note in more][:1]
    return value, notes


def read_verdicts(reply: Reply, *, count: int, allowed: Sequence[str]) -> Verdicts:
    """Read verdicts by their numbers, never by their position.

    Taken are JSON (objects with ``number`` and ``verdict`` in a list, or an object from numbers to verdicts) and lines
    that begin with a number. A verdict must be one of the allowed words as it stands: ``not supported`` never counts
    as ``supported``. Two different verdicts for a number leave it without one. Of a reply that was cut, whole lines
    are kept, and what is missing is ``truncated``.

    Args:
        reply: what the model said.
        count: how many were asked for, numbered from 1.
        allowed: the words, in lower case with underscores.

    Raises:
        UsageError: nothing was asked for, or no word is allowed.
    """
    if count < 1 or not allowed:
        raise UsageError(f"{count} verdicts out of {len(allowed)} words were asked for; ask for 1 or more of each")
    text, thought = spoken(reply)
    cut = reply.finish == "length"
    if cut:
        text = text.rpartition("\n")[0]
    declined = reply.finish == "refused" or declines(text)
    pairs, notes, problem = _pairs(text)
    if problem and cut:
        problem = "the reply reached its limit of tokens and was cut"
    how = "; ".join(note for note in (thought, *notes) if note)
    readings: list[Reading[str]] = []
    for number in range(1, count + 1):
        given = [word for at, word in pairs if at == number]
        if given:
            readings.append(_verdict(given, allowed=allowed, how=how, text=reply.text))
        elif cut:
            readings.append(Reading(None, "truncated", f"the reply was cut before a verdict for {number}", reply.text))
        else:
            outcome: Outcome = "abstained" if declined and not pairs else "unreadable"
            readings.append(Reading(None, outcome, problem or f"the reply has no verdict for {number}", reply.text))
    strays = tuple(sorted({at for at, _ in pairs if not 1 <= at <= count}))
    return Verdicts(tuple(readings), strays)


def _verdict(given: Sequence[str], *, allowed: Sequence[str], how: str, text: str) -> Reading[str]:
    words = {_allowed_word(word, allowed) for word in given}
    if len(words) > 1:
        return Reading(None, "unreadable", f"different verdicts for one number: {', '.join(given)[:80]}", text)
    (word,) = words
    if word is None:
        return Reading(None, "unreadable", f"'{given[0][:40]}' is none of {', '.join(allowed)}", text)
    notes = [note for note in (how, "the same verdict twice" if len(given) > 1 else "") if note]
    return Reading(word, "recovered" if notes else "read", "; ".join(notes), text)


def _allowed_word(given: str, allowed: Sequence[str]) -> str | None:
    """The allowed word that a verdict is; a reason may follow it after a mark or a bracket."""
    folded = re.sub(r"[\s_-]+", "_", flatten(given).strip(_DECORATION).casefold()).strip("_")
    for word in sorted(allowed, key=lambda each: (-len(each), each)):
        if folded.startswith(word) and re.match(r"(?:\Z|[^\w/|]|_?[^\w/|]|_[—–:(（])", folded[len(word) :]):
            rest = folded[len(word) :]
            others = [
                each for each in allowed if re.match(rf"\W*(?:or|/|\||或)\W*_?{re.escape(each)}", rest.strip("_"))
            ]
            return None if others else word
    return None


def _pairs(text: str) -> tuple[list[tuple[int, str]], list[str], str]:
    """Numbers with what was said of each, what was read over, and why there is nothing."""
    try:
        found = find_values(text) if re.match(r"\W*\{", text) and not re.match(r"\W*\[", text) else ()
        listed = () if found else find_values(text, kind="list")
    except LooseError as error:
        return [], [], str(error)
    values = [each for each in (*found, *listed) if _entries(each.value)]
    if values:
        slips = dict.fromkeys(slip for each in values for slip in each.slips)
        return [entry for each in values for entry in _entries(each.value)], list(slips), ""
    lines = [_LINE.match(line) for line in flatten(text).splitlines()]
    pairs = [(int(line["number"]), line["rest"]) for line in lines if line and line["rest"].strip()]
    return pairs, [], "" if pairs else "the reply holds no numbered verdicts"


def _entries(value: Json) -> list[tuple[int, str]]:
    """The pairs of number and verdict in a value of JSON."""
    if isinstance(value, tuple):
        return [entry for item in value for entry in _entries(item)]
    if not isinstance(value, Mapping):
        return []
    number = next((value[key] for key in ("number", "id", "claim", "n") if key in value), None)
    verdict = next((value[key] for key in ("verdict", "label", "support") if key in value), None)
    at = _whole(number)
    if at is not None and isinstance(verdict, str):
        return [(at, verdict)]
    entries: list[tuple[int, str]] = []
    for key, item in value.items():
        at = _whole(key)
        if at is not None and isinstance(item, str):
            entries.append((at, item))
        elif at is not None and isinstance(item, Mapping) and isinstance(item.get("verdict"), str):
            entries.append((at, str(item["verdict"])))
        elif isinstance(item, tuple):
            entries += _entries(item)
    return entries


def _whole(value: Json) -> int | None:
    if isinstance(value, str):
        return int(value) if re.fullmatch(r"\d{1,4}", flatten(value)) else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def repair_request(
    request: Request, reading: Reading[U], *, language: str = "en", folder: Path | None = None
) -> Request:
    """The one further call for a reply that could not be read: the model sees its reply, as data, and what is wrong.

    The words go to the end of the last turn of the user, so that turns go on alternating; the schema and every limit
    stay. What cannot be read after that is unscored.

    Args:
        request: the call whose reply could not be read.
        reading: what came of it.
        language: of the prompt file ``repair``.
        folder: of the user's own prompts.

    Raises:
        UsageError: the reading has a value, or the request no turn of the user.
    """
    if reading.value is not None:
        raise UsageError(f"the reply was {reading.outcome}: there is nothing to repair")
    places = [place for place, message in enumerate(request.messages) if message.speaker == "user"]
    if not places:
        raise UsageError("the request has no turn of the user that a repair could go on from")
    prompt = prompts.load("repair", language, folder=folder)
    shown = reading.text if len(reading.text) <= 4000 else f"{reading.text[:4000]} […]"
    rendered = prompts.render(prompt, {"reply": shown, "problem": reading.reason or reading.outcome})
    last = request.messages[places[-1]]
    merged = Message("user", f"{last.text}\n\n{rendered.messages[-1].text}")
    return replace(
        request,
        messages=(*request.messages[: places[-1]], merged),
        prompt=f"{request.prompt}+{rendered.fingerprint}",
    )
