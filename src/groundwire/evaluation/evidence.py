"""Whether packed evidence holds what a question needs; no model is asked."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from groundwire.core.types import Evidence, Gold, Sentence
from groundwire.evaluation.measures import answer_tokens

_GAP = 2
"""White space between two sentences that a place may run across, in characters."""


def answer_in_context(evidence: Evidence, gold: Collection[str | Gold]) -> float:
    """1 where the evidence holds at least one of the gold answers or places, else 0.

    Args:
        evidence: what was packed; the order of its hits does not matter.
        gold: an answer's words, which must stand in the sentences of one document token by token, compared as
            ``measures.answer_tokens`` does; or a place (document and offsets in its text), which its sentences must
            cover, white space of up to 2 characters between two of them apart.

    Raises:
        ValueError: there is no gold, an answer has no token, or a place has no offsets.
    """
    _require_gold(gold)
    held = _held(evidence)
    texts = [_spaced(" ".join(one.text for one in own)) for own in held.values()]
    # all are looked at, so that gold that cannot be looked for is refused whatever stands before it
    found = [_has_answer(one, texts) if isinstance(one, str) else _covers(held, one) for one in gold]
    return float(any(found))


def gold_in_context(evidence: Evidence, gold: Collection[Gold]) -> float:
    """Share of the gold places that the sentences of the evidence cover, 0 to 1; see ``answer_in_context``.

    Raises:
        ValueError: there is no gold, or a place has no offsets.
    """
    _require_gold(gold)
    held = _held(evidence)
    return sum(_covers(held, place) for place in gold) / len(gold)


def _require_gold(gold: Collection[object]) -> None:
    if not gold:
        raise ValueError("there is no gold answer, so the measure is undefined; leave this question out and count it")


def _held(evidence: Evidence) -> dict[str, list[Sentence]]:
    """The sentences of the evidence in source order, by document id."""
    held: dict[str, list[Sentence]] = {}
    for hit in evidence.hits:
        held.setdefault(hit.sentence.document_id, []).append(hit.sentence)
    return {name: sorted(own, key=lambda one: one.start) for name, own in held.items()}


def _has_answer(answer: str, texts: Iterable[str]) -> bool:
    if not answer_tokens(answer):
        raise ValueError(f"the gold answer {answer!r} has no word or number to look for")
    return any(_spaced(answer) in text for text in texts)


def _spaced(text: str) -> str:
    """The tokens of a text with a space around each, so that only whole tokens are found in it."""
    return f" {' '.join(answer_tokens(text))} "


def _covers(held: Mapping[str, Collection[Sentence]], place: Gold) -> bool:
    if place.start is None or place.end is None or place.start >= place.end:
        raise ValueError(f"the gold place in {place.document_id!r} runs from {place.start} to {place.end}")
    reached = place.start
    for sentence in held.get(place.document_id, ()):
        if sentence.start > reached + (_GAP if reached > place.start else 0):
            break
        reached = max(reached, sentence.end)
    return reached >= place.end
