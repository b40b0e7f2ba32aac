"""Ways to search, run over labelled questions on one archive: a value for each question, way and measure."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import nan
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from groundwire.core.errors import NothingFound, UsageError
from groundwire.core.ports import Progress, TokenCounter
from groundwire.core.text import count_tokens
from groundwire.core.types import Evidence, Gold, Hit, Passage, Question, Sentence
from groundwire.evaluation.evidence import answer_in_context
from groundwire.evaluation.measures import ndcg_at_k, recall_at_k, reciprocal_rank
from groundwire.evaluation.questions import Unscored
from groundwire.flow.remembering import remembering
from groundwire.flow.searches import pack_hits
from groundwire.flow.settings import Settings
from groundwire.retrieval.index import Archive, encoder_tokens
from groundwire.retrieval.search import PRESETS, SearchSettings

Kind = Literal[
    "recall", "ndcg", "reciprocal_rank", "answer_in_context", "gold_in_context", "evidence_tokens", "evidence_sentences"
]
DEPTH = 100
"""Hits a way may rank and pack, unless it says otherwise; as many as ``hybrid`` has candidates."""
_OF_RANKING = ("recall", "ndcg")
_OF_EVIDENCE = ("answer_in_context", "gold_in_context", "evidence_tokens", "evidence_sentences")
_NEEDS_PLACES = ("recall", "ndcg", "reciprocal_rank", "gold_in_context")
_WRITTEN = re.compile(r"(?P<kind>[a-z_]+)(?:@(?P<at>[1-9]\d{0,8}))?")
_BATCH = 500
_WARM_UP = 3


@dataclass(frozen=True, slots=True)
class Measure:
    """What is computed for a question; ``at`` is the k of a ranking, or the budget of the evidence in tokens.

    ``recall@k``: share of the gold sentences among the first k hits. ``ndcg@k``: binary. ``reciprocal_rank``: of the
    first gold sentence. ``answer_in_context@budget``: 1 where the evidence covers a gold place or holds an answer.
    ``gold_in_context@budget``: share of the gold places that it covers. ``evidence_tokens`` and ``evidence_sentences``:
    how large it is. Measures of the evidence without a budget take that of the way.
    """

    kind: Kind
    at: int | None = None

    @property
    def name(self) -> str:
        """As it is written: ``recall@5``."""
        return self.kind if self.at is None else f"{self.kind}@{self.at}"


def measure(name: str) -> Measure:
    """The measure that is written so.

    Raises:
        UsageError: there is none.
    """
    found = _WRITTEN.fullmatch(name)
    for kind in get_args(Kind):
        if found and found["kind"] == kind:
            at = int(found["at"]) if found["at"] else None
            if (at is None and kind in _OF_RANKING) or (at is not None and kind == "reciprocal_rank"):
                break
            return Measure(kind, at)
    raise UsageError(
        f"no measure is named '{name}'; there are recall@K, ndcg@K, reciprocal_rank, and of evidence under a budget of "
        f"tokens: {', '.join(f'{kind}@BUDGET' for kind in _OF_EVIDENCE)}"
    )


@dataclass(frozen=True, slots=True)
class Way:
    """A way to search and pack, with a name; ``k`` hits are ranked, and packed under ``budget_tokens``."""

    name: str
    search: SearchSettings
    k: int = DEPTH
    budget_tokens: int = 1200


@dataclass(frozen=True, slots=True)
class Placed:
    """A question whose gold was found in an archive: ``places`` are the ids of the sentences that each runs over."""

    question: Question
    places: tuple[frozenset[str], ...]
    cluster: str

    @property
    def sentences(self) -> frozenset[str]:
        """The ids of all wanted sentences; none where there are only answers."""
        return frozenset[str]().union(*self.places)


@dataclass(frozen=True, slots=True)
class Outcomes:
    """``values[question, way, measure]``; nan where the measure is undefined for the question (places are missing).

    ``tokenizer`` names what counted the tokens of the evidence; empty where none was packed.
    """

    placed: tuple[Placed, ...]
    ways: tuple[Way, ...]
    measures: tuple[Measure, ...]
    values: NDArray[np.float64]
    tokenizer: str = ""

    def of(self, way: int, measure: int) -> list[float | None]:
        """One value a question, None where there is none."""
        return [None if np.isnan(value) else float(value) for value in self.values[:, way, measure]]

    def rows(self) -> list[dict[str, object]]:
        """A row a question and way, with everything needed to compute the tables again."""
        return [
            {
                "question": placed.question.id,
                "cluster": placed.cluster,
                "way": way.name,
                "values": {each.name: self.of(column, place)[number] for place, each in enumerate(self.measures)},
            }
            for number, placed in enumerate(self.placed)
            for column, way in enumerate(self.ways)
        ]


@dataclass(frozen=True, slots=True)
class Latency:
    """Milliseconds a query took without any memory, over ``n`` queries after a warm-up; CPU time is of all threads."""

    way: str
    n: int
    p50_milliseconds: float
    p95_milliseconds: float
    cpu_milliseconds: float


def preset_ways(names: Sequence[str] = tuple(PRESETS), *, k: int = DEPTH) -> tuple[Way, ...]:
    """Presets as ways, and ``default`` for the settings that apply where none are given.

    Raises:
        UsageError: there is no such preset.
    """
    known = {str(name): settings for name, settings in PRESETS.items()} | {"default": SearchSettings()}
    if lost := [name for name in names if name not in known]:
        raise UsageError(f"no preset is named '{lost[0]}'; there are {', '.join(known)}")
    return tuple(Way(name, known[name], k) for name in dict.fromkeys(names))


def place_questions(archive: Archive, questions: Sequence[Question]) -> tuple[tuple[Placed, ...], tuple[Unscored, ...]]:
    """Find the gold of every question among the sentences of the archive; what cannot be found is unscored."""
    names = sorted({name for question in questions for name in _documents_of(question)})
    held: dict[str, tuple[Sentence, ...]] = {}
    for start in range(0, len(names), _BATCH):
        held |= archive.sentences(names[start : start + _BATCH])
    placed: list[Placed] = []
    unscored: list[Unscored] = []
    for question in questions:
        try:
            placed.append(_placed(question, held))
        except _NotFound as lost:
            unscored.append(Unscored(question.id, str(lost)))
    return tuple(placed), tuple(unscored)


class _NotFound(Exception):  # noqa: N818 - an outcome rather than a fault
    """The gold is not among the sentences; the message says why."""


def _documents_of(question: Question) -> list[str]:
    """The documents that hold the gold; the id of a sentence begins with that of its document."""
    return [gold.document_id for gold in question.gold] + [name.rpartition("@")[0] for name in question.sentence_ids]


def _placed(question: Question, held: Mapping[str, Sequence[Sentence]]) -> Placed:
    if not (question.gold or question.sentence_ids or question.answers):
        raise _NotFound("it has no gold: no place, no sentence and no answer")
    documents = _documents_of(question)
    if lost := [name for name in documents if name not in held]:
        raise _NotFound(f"the document '{lost[0]}' is not in the archive")
    places = [place for gold in question.gold for place in _sentences_of(gold, held[gold.document_id])]
    for name in question.sentence_ids:
        if all(one.id != name for one in held[name.rpartition("@")[0]]):
            raise _NotFound(f"the sentence '{name}' is not in the archive")
        places.append(frozenset([name]))
    return Placed(question, tuple(dict.fromkeys(places)), question.cluster or (documents or [question.id])[0])


def _sentences_of(gold: Gold, sentences: Sequence[Sentence]) -> list[frozenset[str]]:
    """The sentences that a place runs over; of a whole document each sentence is a place."""
    if gold.start is None or gold.end is None:
        return [frozenset([one.id]) for one in sentences]
    over = frozenset(one.id for one in sentences if one.start < gold.end and one.end > gold.start)
    if not over:
        raise _NotFound(f"no sentence of '{gold.document_id}' stands at {gold.start} to {gold.end}")
    return [over]


def require_scored(scored: int, unscored: Sequence[Unscored], *, asked: int) -> None:
    """Stop where nothing can be scored.

    Raises:
        NothingFound: no question can; its ``searched`` lists them with the reasons.
    """
    if not scored:
        lines = tuple(f"{one.question_id}: {one.reason}" for one in unscored)
        raise NothingFound(f"none of {asked} questions can be scored on this archive", searched=lines)


def without_value(placed: Sequence[Placed], measures: Sequence[Measure]) -> tuple[Unscored, ...]:
    """Questions that have answers only, where one of the measures needs places."""
    needing = [each.name for each in measures if each.kind in _NEEDS_PLACES]
    reason = f"it has answers only, {', '.join(needing)} needs places or sentences"
    return tuple(Unscored(one.question.id, reason) for one in placed if needing and not one.places)


def outcomes(
    archive: Archive,
    placed: Sequence[Placed],
    *,
    ways: Sequence[Way],
    measures: Sequence[Measure],
    settings: Settings,
    progress: Progress | None = None,
) -> Outcomes:
    """Search every question in every way, and measure what comes out.

    Args:
        archive: searched through its own ``search``; answers are remembered while one question is asked.
        placed: questions with gold.
        ways: how to search.
        measures: what to compute.
        settings: how evidence is packed (``pack``).
        progress: is told after every question.
    """
    cached, store = remembering(archive)
    if any(way.search.mode != "lexical" or way.search.shape == "sifted" for way in ways):
        cached.embedder.embed([one.question.text for one in placed], role="query")
    values = np.full((len(placed), len(ways), len(measures)), nan)
    tokenizer = ""
    for row, one in enumerate(placed):
        store.forget()
        found: dict[tuple[SearchSettings, int], tuple[Hit, ...]] = {}
        for column, way in enumerate(ways):
            if (way.search, way.k) not in found:
                found[way.search, way.k] = cached.search(one.question.text, k=way.k, settings=way.search)
            asked = _Asked(cached, one, way=way, hits=found[way.search, way.k], settings=settings)
            values[row, column] = [asked.value(each) for each in measures]
            tokenizer = tokenizer or asked.tokenizer
        if progress is not None:
            progress(row + 1, len(placed), "questions")
    return Outcomes(tuple(placed), tuple(ways), tuple(measures), values, tokenizer)


class _Asked:
    """A question with the hits of one way; its evidence is packed once a budget, when a measure first needs it."""

    def __init__(self, archive: Archive, placed: Placed, *, way: Way, hits: Sequence[Hit], settings: Settings) -> None:
        self._archive = archive
        self._placed = placed
        self._wanted = placed.sentences
        self._way = way
        self._hits = hits
        self._ranked = [hit.sentence.id for hit in hits]
        self._settings = settings
        self._packed: dict[int, Evidence] = {}

    def value(self, measure: Measure) -> float:
        """The value, or nan where the measure needs places and the question has none."""
        if measure.kind in _NEEDS_PLACES and not self._wanted:
            return nan
        if measure.kind == "reciprocal_rank":
            return reciprocal_rank(self._ranked, self._wanted)
        if measure.kind in _OF_RANKING and measure.at is not None:
            if measure.kind == "recall":
                return recall_at_k(self._ranked, self._wanted, k=measure.at)
            return ndcg_at_k(self._ranked, dict.fromkeys(self._wanted, 1.0), k=measure.at)
        return self._of_evidence(measure.kind, self._evidence(measure.at or self._way.budget_tokens))

    @property
    def tokenizer(self) -> str:
        """What counted the tokens of the evidence that was packed; empty where none was."""
        return next((evidence.tokenizer for evidence in self._packed.values()), "")

    def _of_evidence(self, kind: Kind, evidence: Evidence) -> float:
        if kind == "evidence_tokens":
            return evidence.tokens
        if kind == "evidence_sentences":
            return len(evidence.hits)
        held = {hit.sentence.id for hit in evidence.hits}
        covered = [place <= held for place in self._placed.places]
        if kind == "gold_in_context":
            return sum(covered) / len(covered)
        answers = self._placed.question.answers
        return float(any(covered) or (bool(answers) and answer_in_context(evidence, answers) == 1))

    def _evidence(self, budget: int) -> Evidence:
        if budget not in self._packed:
            search = self._settings.search.model_copy(update={"budget_tokens": budget})
            self._packed[budget] = pack_hits(
                self._archive, self._hits, settings=self._settings.model_copy(update={"search": search})
            )
        return self._packed[budget]


def latencies(
    archive: Archive, questions: Sequence[str], *, ways: Sequence[Way], progress: Progress | None = None
) -> tuple[Latency, ...]:
    """Time every way on the questions, in turn, with nothing remembered; the first queries only warm up."""
    for query in questions[:_WARM_UP]:
        for way in ways:
            archive.search(query, k=way.k, settings=way.search)
    taken = np.zeros((len(questions), len(ways), 2))
    for row, query in enumerate(questions):
        for column, way in enumerate(ways):
            wall, cpu = time.perf_counter(), time.process_time()
            archive.search(query, k=way.k, settings=way.search)
            taken[row, column] = time.perf_counter() - wall, time.process_time() - cpu
        if progress is not None:
            progress(row + 1, len(questions), "timing")
    found = []
    for column, way in enumerate(ways if questions else ()):
        wall_p50, wall_p95 = np.quantile(taken[:, column, 0], [0.5, 0.95]) * 1000
        cpu_mean = taken[:, column, 1].mean() * 1000
        found.append(Latency(way.name, len(questions), float(wall_p50), float(wall_p95), float(cpu_mean)))
    return tuple(found)


def index_tokens(archive: Archive) -> int:
    """Estimate of the tokens that the embedder read to make the archive, all its documents added once."""
    names = sorted(archive.store.revisions())
    total = 0
    for start in range(0, len(names), _BATCH):
        for name, own in archive.sentences(names[start : start + _BATCH]).items():
            numbers = dict.fromkeys(one.passage for one in own)
            passages = [Passage(name, number, tuple(one for one in own if one.passage == number)) for number in numbers]
            total += encoder_tokens(passages, archive.manifest.context)
    return total


def query_tokens(archive: Archive, questions: Sequence[str]) -> tuple[float, str]:
    """Mean tokens of a query, and the name of what counted; a way that searches by words alone spends none of them."""
    counter = archive.embedder if isinstance(archive.embedder, TokenCounter) else None
    count = count_tokens if counter is None else counter.count_tokens
    sizes = [count(query) for query in questions]
    return (sum(sizes) / len(sizes) if sizes else nan), ("estimate" if counter is None else archive.embedder.id)
