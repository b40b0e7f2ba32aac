"""Hits -> the evidence that fits a budget of tokens."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import fsum

from groundwire.core.errors import UsageError
from groundwire.core.text import count_tokens, normalise, words
from groundwire.core.types import Document, Dropped, Evidence, Hit, Sentence
from groundwire.retrieval.copies import stories

ENOUGH_SENTENCES = 8
"""How many sentences of the hits' mean length a budget must hold before neighbours are taken in."""


@dataclass(frozen=True, slots=True)
class PackSettings:
    """How to pack; by default hits are taken as they come.

    Attributes:
        neighbours: sentences on either side of a hit that are taken in with it, where the budget holds at least 8
            sentences of the hits' mean length; 0 and up.
        headers: whether a document's title and date head its sentences, and are paid for.
        near_duplicates: drop a sentence whose words overlap by at least this share (Jaccard, above 0 to 1) with those
            of one that was taken, and both hold the same numbers; None: only where all words are the same.
        per_source: sentences of one outlet before others are looked at first; None: no limit.
        per_story: the same for documents that are versions of one story, whatever their outlet; None: no limit.
        tokenizer: the name of what counts the tokens, noted in the evidence.

    Raises:
        UsageError: a value is out of its range.
    """

    neighbours: int = 0
    headers: bool = False
    near_duplicates: float | None = None
    per_source: int | None = None
    per_story: int | None = None
    tokenizer: str = "estimate"

    def __post_init__(self) -> None:
        if self.neighbours < 0:
            raise UsageError(f"neighbours is {self.neighbours}; it must be 0 or more")
        if self.near_duplicates is not None and not 0 < self.near_duplicates <= 1:
            raise UsageError(f"near_duplicates is {self.near_duplicates}; it runs from above 0 to 1")
        for name, cap in (("per_source", self.per_source), ("per_story", self.per_story)):
            if cap is not None and cap < 1:
                raise UsageError(f"{name} is {cap}; it must be 1 or more")


AS_FOUND = PackSettings()


def pack(
    hits: Sequence[Hit],
    *,
    budget_tokens: int,
    count: Callable[[str], int] = count_tokens,
    settings: PackSettings = AS_FOUND,
    documents: Mapping[str, Document] | None = None,
    sentences: Mapping[str, Sequence[Sentence]] | None = None,
) -> Evidence:
    """Keep the best hits under a budget: skip what does not fit and go on with the next.

    Documents stand in the order of their best hit, and inside a document the source order is restored. A sentence
    whose words were already taken is dropped. A cap of a source or story only puts a hit back: when all others had
    their turn, it is taken if there is room. Every dropped hit has its reason. A neighbour has rank and strength of
    the hit that it came with, and no values of its own.

    Args:
        hits: best first.
        budget_tokens: the most tokens that the kept sentences and headers may have together; 1 and up.
        count: counts the tokens of a text; the built-in estimate unless another is given.
        settings: what else is done.
        documents: of the hits, by id; for headers and caps. One that is missing has no header and counts by itself.
        sentences: all of the hits' documents, in source order, by document id; for neighbours.

    Raises:
        UsageError: the budget is below 1.
    """
    if budget_tokens < 1:
        raise UsageError(f"budget_tokens is {budget_tokens}; it must be 1 or more")
    box = _Box(budget_tokens, count, settings=settings, documents=documents or {})
    around = _neighbours(hits, sentences or {}, box=box) if settings.neighbours and hits else {}
    waiting: list[tuple[Hit, str]] = []
    for hit in hits:
        capped = "" if box.is_double(hit) else box.capped(hit)
        if capped:
            waiting.append((hit, capped))
        else:
            box.offer(hit, around=around.get(hit.sentence.id, ()))
    for hit, capped in waiting:
        box.offer(hit, around=around.get(hit.sentence.id, ()), after=f"{capped}; then ")
    return box.evidence()


def header_of(document: Document) -> str:
    """The line that heads a document's sentences: title and date, as far as it has them."""
    day = f"({document.published.isoformat()})" if document.published else ""
    return " ".join(part for part in (document.title, day) if part)


class _Box:
    """What was taken so far, what was dropped, and the room that is left."""

    def __init__(
        self,
        budget: int,
        count: Callable[[str], int],
        *,
        settings: PackSettings,
        documents: Mapping[str, Document],
    ) -> None:
        self.count = count
        self.budget = self.left = budget
        self.neighbours = settings.neighbours
        self._settings = settings
        self._documents = documents
        self._stories = stories(documents) if settings.per_story else {}
        self._kept: dict[str, Hit] = {}
        self._came_along: set[str] = set()
        self._dropped: list[Dropped] = []
        self._ranks: dict[str, int] = {}
        self._headers: dict[str, str] = {}
        self._taken: Counter[tuple[str, str]] = Counter()

    def offer(self, hit: Hit, *, around: Sequence[Sentence], after: str = "") -> None:
        """Take a hit and what of its neighbours fits, or drop it with the reason."""
        if hit.sentence.id in self._came_along:  # it came as a neighbour and is now there in its own right
            self._came_along.remove(hit.sentence.id)
            self._kept[hit.sentence.id] = hit
        elif (reason := self._double(hit)) or (reason := self._too_long(hit, after)):
            self._dropped.append(Dropped(hit, reason))
            return
        else:
            self._take(hit)
        for sentence in around:
            beside = Hit(sentence, hit.rank, hit.strength)
            if not self.is_double(beside) and self._cost(beside) <= self.left:
                self._take(beside)
                self._came_along.add(sentence.id)

    def is_double(self, hit: Hit) -> bool:
        """Whether the sentence, or one with the same words, is there already."""
        return hit.sentence.id in self._kept or bool(self._double(hit))

    def capped(self, hit: Hit) -> str:
        """Which cap the hit is above, or nothing."""
        for (kind, name), cap in self._groups(hit):
            if cap is not None and self._taken[kind, name] >= cap:
                return f"the cap of {cap} for the {kind} '{name}' was reached"
        return ""

    def evidence(self) -> Evidence:
        """What is in the box."""
        kept = _in_source_order(list(self._kept.values()))
        order = dict.fromkeys(hit.sentence.document_id for hit in kept)
        headers = tuple((name, self._headers[name]) for name in order if self._headers.get(name))
        used = self.budget - self.left
        return Evidence(kept, used, self.budget, tuple(self._dropped), headers, self._settings.tokenizer)

    def _take(self, hit: Hit) -> None:
        self.left -= self._cost(hit)
        self._kept[hit.sentence.id] = hit
        self._ranks.setdefault(normalise(hit.sentence.text), hit.rank)
        self._headers.setdefault(hit.sentence.document_id, self._header(hit))
        self._taken.update(group for group, _ in self._groups(hit))

    def _cost(self, hit: Hit) -> int:
        new = hit.sentence.document_id not in self._headers
        header = self._header(hit) if new else ""
        return self.count(hit.sentence.text) + (self.count(header) if header else 0)

    def _header(self, hit: Hit) -> str:
        document = self._documents.get(hit.sentence.document_id)
        return header_of(document) if self._settings.headers and document is not None else ""

    def _too_long(self, hit: Hit, after: str) -> str:
        size = self._cost(hit)
        return f"{after}{size} tokens do not fit into the {self.left} left of {self.budget}" if size > self.left else ""

    def _double(self, hit: Hit) -> str:
        text = normalise(hit.sentence.text)
        if text in self._ranks:
            return f"same words as the hit of rank {self._ranks[text]}"
        if self._settings.near_duplicates is not None:
            own = frozenset(words(text))
            for other, rank in self._ranks.items():
                overlap = _overlap(own, frozenset(words(other)))
                if overlap >= self._settings.near_duplicates:
                    return f"nearly the same words as the hit of rank {rank} (overlap {overlap:.2f}, same numbers)"
        return ""

    def _groups(self, hit: Hit) -> Iterator[tuple[tuple[str, str], int | None]]:
        """The source and the story that a hit counts for, with their caps."""
        name = hit.sentence.document_id
        document = self._documents.get(name)
        yield ("source", (document.source if document else "") or name), self._settings.per_source
        yield ("story", self._stories.get(name, name)), self._settings.per_story


def _overlap(own: frozenset[str], other: frozenset[str]) -> float:
    """Shared words over all words of two sentences; 0 where their numbers differ, or neither has a word."""
    numbers = ({word for word in either if word[0].isdigit()} for either in (own, other))
    if next(numbers) != next(numbers) or not own:
        return 0.0
    return len(own & other) / len(own | other)


def _neighbours(
    hits: Sequence[Hit], sentences: Mapping[str, Sequence[Sentence]], *, box: _Box
) -> dict[str, tuple[Sentence, ...]]:
    """The neighbours of every hit, nearest first; none where the budget holds too few sentences of mean length."""
    mean = fsum(box.count(hit.sentence.text) for hit in hits) / len(hits)
    if box.budget < ENOUGH_SENTENCES * mean:
        return {}
    found = {}
    for hit in hits:
        own = sentences.get(hit.sentence.document_id, ())
        place = next((place for place, one in enumerate(own) if one.id == hit.sentence.id), None)
        if place is not None:
            steps = range(1, box.neighbours + 1)
            beside = (at for step in steps for at in (place - step, place + step))
            found[hit.sentence.id] = tuple(own[at] for at in beside if 0 <= at < len(own))
    return found


def _in_source_order(hits: Sequence[Hit]) -> tuple[Hit, ...]:
    place: dict[str, int] = {}
    for hit in hits:
        place.setdefault(hit.sentence.document_id, len(place))
    return tuple(sorted(hits, key=lambda hit: (place[hit.sentence.document_id], hit.sentence.start)))
