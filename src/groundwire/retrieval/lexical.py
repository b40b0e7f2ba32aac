"""The words' side of a search: BM25 of sentences and of their passages, and phrases that must occur as they stand."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass

from groundwire.core.ports import VectorStore
from groundwire.core.text import normalise
from groundwire.core.types import Filter, Match, Sentence
from groundwire.retrieval.shapes import VALUE_DECIMALS

EVERYTHING = Filter()
Place = tuple[str, int]
"""A passage: the id of its document and its number."""

_FIRST_LOOK, _LAST_LOOK = 500, 8_000
_QUOTED = re.compile(r'"([^"]+)"|“([^“”]+)”|「([^「」]+)」|『([^『』]+)』|«([^«»]+)»')


@dataclass(frozen=True, slots=True)
class Found:
    """Sentences that one side of a search found, and their values, both by sentence id."""

    sentences: Mapping[str, Sentence]
    values: Mapping[str, float]


def found(matches: Iterable[Match]) -> Found:
    """What a store answered, its values rounded so that ties are ties."""
    matches = tuple(matches)
    return Found(
        {match.sentence.id: match.sentence for match in matches},
        {match.sentence.id: round(match.value, VALUE_DECIMALS) for match in matches},
    )


class Words:
    """The lexical values of one query, each asked of the store once.

    The value of a sentence is ``(1 - passage_words) BM25(sentence) + passage_words BM25(passage)``, 0 where neither
    holds a word of the query.
    """

    def __init__(self, query: str, *, store: VectorStore, passage_words: float) -> None:
        self._query = query
        self._store = store
        self._share = passage_words
        self._of_sentences: dict[str, float] = {}
        self._of_passages: dict[Place, float] = {}

    def proposed(self, k: int, *, where: Filter, also: Mapping[str, Sentence] | None = None) -> Found:
        """The k sentences with the largest value above 0.

        With passages in the mix they are looked for among the k best sentences and the sentences of the k / 4 best
        passages, or of the k best where fewer than k sentences hold a word of the query; the values of ``also`` are
        asked for in the same breath.
        """
        own = found(self._store.lexical(self._query, k=k, where=where))
        self._of_sentences |= own.values
        if self._share == 0:
            return own
        passages = self._store.lexical(
            self._query, k=k if len(own.values) < k else -(-k // 4), where=where, unit="passage"
        )
        self._of_passages |= {place_of(match.sentence): match.value for match in passages}
        places = {place_of(match.sentence) for match in passages}
        candidates = dict(own.sentences) | self._held(places)
        values = self.values(candidates | dict(also or {}))
        best = sorted((name for name in candidates if values[name] > 0), key=lambda name: (-values[name], name))[:k]
        return Found({name: candidates[name] for name in best}, {name: values[name] for name in best})

    def values(self, sentences: Mapping[str, Sentence]) -> dict[str, float]:
        """The value of each of these sentences."""
        if unknown := sorted(sentences.keys() - self._of_sentences.keys()):
            matches = self._store.lexical(self._query, k=len(unknown), where=EVERYTHING, among=unknown)
            self._of_sentences |= dict.fromkeys(unknown, 0.0) | dict(found(matches).values)
        if self._share == 0:
            return {name: self._of_sentences[name] for name in sentences}
        self._ask_passages(sentences.values())
        return {
            name: round(
                (1 - self._share) * self._of_sentences[name] + self._share * self._of_passages[place_of(one)],
                VALUE_DECIMALS,
            )
            for name, one in sentences.items()
        }

    def _ask_passages(self, sentences: Iterable[Sentence]) -> None:
        unknown = {place_of(one): one.id for one in sentences if place_of(one) not in self._of_passages}
        if unknown:
            matches = self._store.lexical(
                self._query, k=len(unknown), where=EVERYTHING, among=sorted(unknown.values()), unit="passage"
            )
            self._of_passages |= {place_of(match.sentence): match.value for match in matches}
            self._of_passages |= dict.fromkeys(unknown.keys() - self._of_passages.keys(), 0.0)

    def _held(self, places: Set[Place]) -> dict[str, Sentence]:
        """The sentences of these passages, by id."""
        names = sorted({document_id for document_id, _ in places})
        held = self._store.sentences(names).values() if names else ()
        return {one.id: one for own in held for one in own if place_of(one) in places}


def phrases(query: str) -> tuple[str, ...]:
    """The parts of a query that stand in quotation marks (not single ones), folded as ``core.text.normalise`` folds."""
    quoted = (normalise("".join(part)) for part in _QUOTED.findall(query))
    return tuple(dict.fromkeys(phrase for phrase in quoted if phrase))


def holds(text: str, wanted: Sequence[str]) -> bool:
    """Whether a text holds every one of these folded phrases, as whole words where their edges are Latin or digits."""
    folded = normalise(text)
    return all(_pattern(phrase).search(folded) for phrase in wanted)


def holding(wanted: Sequence[str], *, store: VectorStore, enough: int, where: Filter) -> dict[str, Sentence]:
    """Sentences that hold every phrase, by id: all, or ``enough`` of those that BM25 ranks first for their words.

    Looked for among the 8,000 best by BM25.
    """
    wide = _FIRST_LOOK
    while True:
        matches = store.lexical(" ".join(wanted), k=wide, where=where)
        good = {match.sentence.id: match.sentence for match in matches if holds(match.sentence.text, wanted)}
        if len(good) >= enough or len(matches) < wide or wide >= _LAST_LOOK:
            return good
        wide *= 4


def _pattern(phrase: str) -> re.Pattern[str]:
    before = r"(?<![0-9a-z])" if re.match("[0-9a-z]", phrase) else ""
    after = r"(?![0-9a-z])" if re.match("[0-9a-z]", phrase[-1]) else ""
    return re.compile(before + re.escape(phrase) + after)


def place_of(sentence: Sentence) -> Place:
    """Which passage of which document a sentence belongs to."""
    return sentence.document_id, sentence.passage
