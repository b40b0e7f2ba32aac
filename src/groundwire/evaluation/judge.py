"""The built-in judge: five rubrics from words, numbers, quotations and, with an embedder, from meaning.

No value depends on another item of the run. The formulas, where their constants come from and how far the values agree
with people stand in ``docs/method/ccrs.md``.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Literal

import numpy as np

from groundwire.core.errors import UsageError
from groundwire.core.ports import Embedder, Progress, Role, Vector
from groundwire.core.sentences import split_sentences
from groundwire.core.types import Item, Judgement, Outcome
from groundwire.evaluation import measures
from groundwire.evaluation.rubrics import CCRS, CHOSEN, Need, Parts, Rubric, match_parts, score

VERSION = 4
"""Goes up when a formula changes, so that old and new values are never compared."""

_BLOCK = 64
"""Items whose texts are embedded together."""

_READINGS = 5_000
"""Read texts that are kept, at most, besides those of one block: 130 MB for passages of 1,300 characters."""

_COMPARES = frozenset({"terms", "echo", "fresh", "meaning"})
"""Parts that compare two texts, or a text with itself; without any of them there is no value."""

_RELATED = (
    ("The river flooded the town on Monday.", "On Monday the town was under water from the river."),
    ("Interest rates rose by half a point.", "The central bank lifted rates by 0.5 points."),
    ("She won the prize for chemistry.", "The chemistry prize went to her."),
    ("颱風造成台南大淹水。", "台南因為颱風嚴重積水。"),
)
"""Pairs that say the same; shifted by one they say different things. They place an embedder's scale."""


@dataclass(frozen=True, slots=True)
class _Reading:
    """A text with its sentences that hold terms; ``pairs`` are neighbouring terms inside a sentence.

    ``script`` is Chinese (or Japanese), other, or empty where the text holds nothing but numbers.
    """

    text: str
    sentences: tuple[str, ...]
    by_sentence: tuple[tuple[str, ...], ...]
    distinct: frozenset[str]
    pairs: frozenset[tuple[str, str]]
    script: Literal["chinese", "other", ""]

    def shares_script(self, other: _Reading) -> bool:
        """Whether words of both texts can meet."""
        return not self.script or not other.script or self.script == other.script


def _read(text: str) -> _Reading:
    sentences = [text[span.start : span.end] for span in split_sentences(text)]
    cut = [(sentence, measures.terms(sentence)) for sentence in sentences]
    if not any(found for _, found in cut):  # 'The Who' holds function words only, and is an answer
        cut = [(sentence, measures.answer_tokens(sentence)) for sentence in sentences]
    kept = [(sentence, found) for sentence, found in cut if found]
    everything = [term for _, found in kept for term in found]
    return _Reading(
        text=text,
        sentences=tuple(sentence for sentence, _ in kept),
        by_sentence=tuple(found for _, found in kept),
        distinct=frozenset(everything),
        pairs=frozenset(pair for _, found in kept for pair in pairwise(found)),
        script=_script(everything),
    )


def _script(terms: Sequence[str]) -> Literal["chinese", "other", ""]:
    named = [term[0] > "\u2e80" for term in terms if not term[0].isdecimal()]
    if not named:
        return ""
    return "chinese" if 2 * sum(named) > len(named) else "other"


@dataclass(frozen=True, slots=True)
class _Case:
    """One item, read; blank contexts are left out. ``refuses`` says whether the answer is a refusal."""

    item: Item
    question: _Reading
    answer: _Reading
    contexts: tuple[_Reading, ...]
    reference: _Reading
    refuses: bool

    def texts(self, needs: Collection[Need]) -> Iterable[tuple[Role, str]]:
        """What an embedder has to see for rubrics with these needs, with its role."""
        readings = {"answer": (self.answer,), "contexts": self.contexts, "reference": (self.reference,)}
        for need in needs:
            if need == "question":
                yield "query", self.item.question
            else:
                yield from (("passage", one) for reading in readings[need] for one in reading.sentences)


def _case(item: Item, readings: dict[str, _Reading]) -> _Case:
    """Read an item; texts that were read before, like contexts that systems share, are not read again."""

    def read(text: str) -> _Reading:
        if text not in readings:
            readings[text] = _read(text)
        return readings[text]

    return _Case(
        item=item,
        question=read(item.question),
        answer=read(item.answer),
        contexts=tuple(read(context) for context in item.contexts if context.strip()),
        reference=read(item.reference or ""),
        refuses=measures.is_refusal(item.answer),
    )


class _Meaning:
    """Cosines of one embedder, put on 0 to 1 by what it gives to pairs that do and do not say the same."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        left = embedder.embed([one for one, _ in _RELATED])
        right = embedder.embed([other for _, other in _RELATED])
        cosines = np.asarray(left, dtype=np.float64) @ np.asarray(right, dtype=np.float64).T
        same = np.eye(len(_RELATED), dtype=bool)
        self._low, self._high = float(cosines[~same].mean()), float(cosines[same].mean())
        if self._high - self._low < 0.01:
            raise UsageError(
                f"'{embedder.id}' gives pairs that say the same {self._high:.3f} and others {self._low:.3f}, so its "
                "values tell nothing. Judge with another embedder, or with none."
            )
        self._known: dict[tuple[Role, str], Vector] = {}

    def learn(self, cases: Sequence[_Case], needs: Collection[Need]) -> None:
        """Embed every needed text of these cases once, and forget those of the cases before."""
        self._known = {}
        wanted = dict.fromkeys(pair for case in cases for pair in case.texts(needs))
        for role in ("query", "passage"):
            texts = [text for kind, text in wanted if kind == role]
            for text, vector in zip(texts, self._embedder.embed(texts, role=role), strict=True):
                self._known[role, text] = vector

    def best(self, wanted: Sequence[str], by: Sequence[str], *, role: Role = "passage") -> float:
        """Mean over the wanted texts of the similarity to the nearest sentence that may hold it, 0 to 1."""
        left = np.array([self._known[role, text] for text in wanted], dtype=np.float64)
        right = np.array([self._known["passage", text] for text in by], dtype=np.float64)
        nearest = (left @ right.T).max(axis=1)
        return float(np.clip((nearest - self._low) / (self._high - self._low), 0, 1).mean())


def _held(claimed: _Reading, by: Sequence[_Reading], *, known: frozenset[str], meaning: _Meaning | None) -> Parts:
    """How much of a text is held by others, leaving out what the question had said.

    Returns:
        ``terms``: share of the new terms; ``sentences``: the same in the best two neighbouring sentences for each
        sentence of ours; ``phrases``: share of the neighbouring pairs; ``numbers`` and ``quotations``: share of those;
        ``meaning``: by the embedder. Left out: what the text has none of, and words across scripts.
    """
    parts: Parts = {}
    alike = [reading for reading in by if reading.shares_script(claimed)]
    if alike:
        parts |= _held_words(claimed, alike, known=known)
    evidence = "\n".join(reading.text for reading in by)
    for name, share in (
        ("numbers", measures.number_agreement(claimed.text, evidence)),
        ("quotations", measures.quotation_agreement(claimed.text, evidence)),
    ):
        if share is not None:
            parts[name] = share
    sentences = [sentence for reading in by for sentence in reading.sentences]
    if meaning is not None and sentences:
        parts["meaning"] = meaning.best(claimed.sentences, sentences)
    return parts


def _held_words(claimed: _Reading, by: Sequence[_Reading], *, known: frozenset[str]) -> Parts:
    new = claimed.distinct - known or claimed.distinct
    parts = {"terms": measures.coverage(new, frozenset[str]().union(*(reading.distinct for reading in by)))}
    windows = [
        frozenset(one) | frozenset(other) for reading in by for one, other in pairwise((*reading.by_sentence, ()))
    ]
    met: set[str] = set()
    held = weight = 0.0
    for found in map(frozenset, claimed.by_sentence):
        fresh = len((found & new) - met)
        met |= found
        held += fresh * max((len(found & window) for window in windows), default=0) / len(found)
        weight += fresh
    parts["sentences"] = held / weight
    if claimed.pairs:
        parts["phrases"] = measures.coverage(
            claimed.pairs, frozenset[tuple[str, str]]().union(*(reading.pairs for reading in by))
        )
    return parts


def _coherence(case: _Case, meaning: _Meaning | None) -> Parts:
    return _held(case.answer, case.contexts, known=case.question.distinct, meaning=meaning)


def _recall(case: _Case, meaning: _Meaning | None) -> Parts:
    return _held(case.reference, (case.answer,), known=case.question.distinct, meaning=meaning)


def _relevance(case: _Case, meaning: _Meaning | None) -> Parts:
    answer, question = case.answer, case.question
    parts: Parts = {}
    if question.distinct and question.shares_script(answer):
        telling = [found for found in answer.by_sentence if len(set(found) - question.distinct) > 1]
        first = (telling or answer.by_sentence)[0]  # the first only: what stands behind it cannot lift the value
        parts["echo"] = measures.coverage(question.distinct, first)
    fits = measures.answer_fits(case.item.question, case.item.answer)
    if fits is not None:
        parts["fit"] = fits
    parts["answering"] = 1 - measures.evading_share(answer.sentences)
    if meaning is not None:
        parts["meaning"] = max(meaning.best([case.item.question], [one], role="query") for one in answer.sentences)
    return parts


def _size(text: str, terms: Sequence[str]) -> int:
    """How many terms a text has with generic ones, such as "topic", included."""
    return max(len(terms), len(measures.terms(text, generic=True)))


def _density(case: _Case, meaning: _Meaning | None) -> Parts:  # noqa: ARG001  one signature for all rubrics
    """Shares of all terms, generic ones included, that are new, and known to a source; no repeats; no empty sentences.

    A sentence is empty when it holds a stock phrase or nothing that the question and the sentences before did not say.
    """
    answer, met = case.answer, set(case.question.distinct)
    full = 0
    for sentence, found in zip(answer.sentences, answer.by_sentence, strict=True):
        if not met.issuperset(found) and not measures.filler_share(sentence):
            full += _size(sentence, found)
        met.update(found)
    every = max(full, _size(answer.text, [term for found in answer.by_sentence for term in found]))
    fresh = answer.distinct - case.question.distinct
    parts = {"fresh": len(fresh) / every}
    told = [reading for reading in (*case.contexts, case.reference) if reading.distinct]
    if any(reading.shares_script(answer) for reading in told):
        known = frozenset[str]().union(*(reading.distinct for reading in told))
        parts["grounded"] = len(fresh & known) / every
    pairs = sum(len(found) - 1 for found in answer.by_sentence)
    if pairs:
        parts["unrepeated"] = len(answer.pairs) / pairs
    parts["plain"] = full / every
    return parts


def _correctness(case: _Case, meaning: _Meaning | None) -> Parts:
    answer, reference = case.item.answer, case.item.reference or ""
    parts = _recall(case, meaning)
    return parts | match_parts(answer, reference)


_FEATURES = {
    "contextual_coherence": _coherence,
    "question_relevance": _relevance,
    "information_density": _density,
    "answer_correctness": _correctness,
    "information_recall": _recall,
}


class BuiltinJudge:
    """Judges without a language model; deterministic, each item on its own.

    ``fingerprint`` names version, embedder and parameters: values of different fingerprints are not comparable.
    """

    def __init__(self, embedder: Embedder | None = None) -> None:
        self._meaning = None if embedder is None else _Meaning(embedder)
        told = json.dumps([asdict(CHOSEN), _RELATED], sort_keys=True)
        digest = hashlib.sha256(told.encode()).hexdigest()[:12]
        self.fingerprint = f"builtin/{VERSION}/{'lexical' if embedder is None else embedder.id}/{digest}"

    def judge(
        self, items: Sequence[Item], *, rubrics: Sequence[Rubric] = CCRS, progress: Progress | None = None
    ) -> tuple[Judgement, ...]:
        """Judge every item under every rubric.

        Args:
            items: each (system, id) once, as ``read_items`` leaves them.
            rubrics: of CCRS.
            progress: told after each block of items.

        Returns:
            len(items) x len(rubrics) judgements, by item, then rubric, in the order given. A value is None with outcome
            ``abstained`` for a refusal (the part ``answerable`` is 1 where the reference shows that there was an
            answer, else 0), and with ``unreadable`` where a field is missing or nothing can be compared.

        Raises:
            UsageError: a rubric is not one of CCRS.
        """
        unknown = [rubric.name for rubric in rubrics if rubric.name not in _FEATURES]
        if unknown:
            raise UsageError(f"the built-in judge knows no {', '.join(unknown)}; it knows {', '.join(_FEATURES)}.")
        judged: list[Judgement] = []
        readings: dict[str, _Reading] = {}
        needs = dict.fromkeys(need for rubric in rubrics for need in rubric.needs)
        for start in range(0, len(items), _BLOCK):
            if len(readings) > _READINGS:
                readings.clear()
            cases = [_case(item, readings) for item in items[start : start + _BLOCK]]
            if self._meaning is not None:
                self._meaning.learn(cases, needs)
            judged.extend(self._judge_one(case, rubric) for case in cases for rubric in rubrics)
            if progress is not None:
                progress(min(start + _BLOCK, len(items)), len(items), "judging")
        return tuple(judged)

    def _judge_one(self, case: _Case, rubric: Rubric) -> Judgement:
        parts: Parts = {}
        value = None
        outcome, reason = _without_value(case, rubric)
        if outcome == "abstained":
            parts = {"answerable": float(_answerable(case.item.reference))}
        elif outcome == "read":
            parts = _FEATURES[rubric.name](case, self._meaning)
            if _COMPARES.isdisjoint(parts):
                outcome, reason = "unreadable", "the texts are in different scripts, and there is no embedder"
            else:
                parts |= score(rubric.name, parts)
                value = parts.pop("value")
        return Judgement(
            item_id=case.item.id,
            system=case.item.system,
            rubric=rubric.name,
            value=value,
            outcome=outcome,
            judge=self.fingerprint,
            reason=reason,
            parts=tuple((name, round(share, 6)) for name, share in parts.items()),
        )


def _without_value(case: _Case, rubric: Rubric) -> tuple[Outcome, str]:
    """Why an item gets no value under a rubric, or ``read`` and no reason."""
    if not case.item.answer.strip():
        return "unreadable", "the answer is empty"
    if case.refuses:
        known = _answerable(case.item.reference)
        return "abstained", f"the answer is a refusal, and the reference holds {'an' if known else 'no'} answer"
    held = {
        "question": bool(case.question.distinct),
        "contexts": any(context.distinct for context in case.contexts),
        "answer": bool(case.answer.distinct),
        "reference": bool(case.reference.distinct),
    }
    lacking = [need for need in rubric.needs if not held[need]]
    return ("unreadable", f"no words in: {', '.join(lacking)}") if lacking else ("read", "")


def _answerable(reference: str | None) -> bool:
    return reference is not None and not measures.holds_no_answer(reference)
