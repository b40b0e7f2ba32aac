"""Does the topic take something for granted that the sources contradict: a year, a number, a direction, a name?

Each is looked at alone, and one source that confirms it is enough for silence. What no source speaks of is no
contradiction. The notes are shown before an article is drafted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache

from groundwire.core.agreement import units_agree
from groundwire.core.findings import PremiseNote
from groundwire.core.mentions import DateMention, find_dates
from groundwire.core.numerals import flatten
from groundwire.core.quantities import find_quantities
from groundwire.core.sentences import split_sentences
from groundwire.core.types import Citation, Document, Part
from groundwire.writing.discords import values_meet
from groundwire.writing.facts import FEWEST_WORDS, Fact, read_facts, telling_words, turn_of
from groundwire.writing.guards import is_chinese
from groundwire.writing.names import find_names
from groundwire.writing.wordlists import words_of

ABOUT = 0.5
"""Share of the topic's telling words, in a sentence with the title of its source, that makes it one on the topic."""
NEAR = 0.6
"""The same, in the sentence alone, for a direction."""
REACH_YEARS = 5
"""A year of the sources that lies further off is history, not what the topic means."""
CLOSE = 0.75
"""Share of the words around a number, or of those beside a name, that a source must have to contradict it."""
MOST_NAMED = 3
"""So many sources are cited in a note."""


@dataclass(frozen=True, slots=True)
class _Said:
    """A sentence of a source, and how much of the topic's words it has: alone, and with the title of its source."""

    document: Document
    text: str
    start: int
    part: Part
    alone: float
    placed: float

    @property
    def citation(self) -> Citation:
        """Points at the sentence."""
        return Citation(0, self.document.id, self.start, self.start + len(self.text), self.text, part=self.part)


def check_premise(topic: str, sources: Sequence[Document]) -> tuple[PremiseNote, ...]:
    """What the topic says and the sources contradict: its words, what the sources say, and where.

    Args:
        topic: what the article is to be about.
        sources: the best documents for it, best first. One in another language than the topic may confirm a number or
            a year, but contradicts nothing.

    Returns:
        Notes in the order year, number, direction, name; none where any source confirms the topic, or none speaks of
        it.
    """
    said = [one for document in sources for one in _sentences(topic, document)]
    notes = (*_years(topic, said), *_numbers(topic, sources), *_directions(topic, said), *_names(topic, said))
    return tuple(notes)


def _sentences(topic: str, document: Document) -> Iterator[_Said]:
    asked, title = telling_words(topic), telling_words(document.title)
    spans = [(document.title, 0, "title")] if document.title else []
    for text, start, _ in (*spans, *((t, s, "text") for t, s in _split(document))):
        own = telling_words(text)
        alone, placed = (len(asked & words) / len(asked) if asked else 0.0 for words in (own, own | title))
        yield _Said(document, text, start, "title" if text is document.title else "text", alone, placed)


@lru_cache(maxsize=512)
def _split(document: Document) -> tuple[tuple[str, int], ...]:
    spans = split_sentences(document.text, language=document.language)
    return tuple((document.text[span.start : span.end], span.start) for span in spans)


# --- years ------------------------------------------------------------------------------------------------------------


def _years(topic: str, said: Sequence[_Said]) -> Iterator[PremiseNote]:
    for mention in find_dates(topic):
        if not mention.absolute or mention.start is None or mention.end is None:
            continue
        near = [one for one in said if one.placed >= ABOUT / 2]  # a year in a source on something else confirms nothing
        known = [(one, other) for one in near for other in find_dates(one.text, anchor=one.document.published)]
        days = [one.document.published for one in near if one.document.published]
        if any(_overlaps(mention, other) for _, other in known) or any(_within(mention, day) for day in days):
            continue
        counter = [
            (one, other) for one, other in known
            if one.placed >= ABOUT and other.start and other.granularity != "decade"
        ]  # fmt: skip
        years = Counter(other.start.year for _, other in counter if other.start)
        named = [(year, count) for year, count in years.most_common() if abs(year - mention.start.year) <= REACH_YEARS]
        if named:
            year = named[0][0]
            evidence = [one for one, other in counter if other.start and other.start.year == year]
            yield PremiseNote(mention.text, f"no source confirms this date; the sources have {year}", _cited(evidence))


def _overlaps(one: DateMention, two: DateMention) -> bool:
    """Whether two dates may be one; none of two is where one could not be resolved."""
    if two.start is None or two.end is None or one.start is None or one.end is None:
        return False
    return one.start <= two.end and two.start <= one.end


def _within(mention: DateMention, day: date) -> bool:
    return mention.start is not None and mention.end is not None and mention.start <= day <= mention.end


# --- numbers ----------------------------------------------------------------------------------------------------------


def _numbers(topic: str, sources: Sequence[Document]) -> Iterator[PremiseNote]:
    asked = read_facts(Document("", "", topic))
    if not asked:
        return
    known = [fact for document in sources for fact in read_facts(document)]
    amounts = [q for document in sources for text, _ in _split(document) for q in find_quantities(text)]
    amounts += [q for document in sources for q in find_quantities(document.title)]
    for fact in asked:
        if any(q.value == fact.quantity.value and units_agree(fact.quantity, q) is not False for q in amounts):
            continue
        alike = [other for other in known if _same_matter(fact, other)]
        if not alike or any(values_meet(fact, other) for other in alike):
            continue
        values = list(dict.fromkeys(other.statement.written for other in alike))[:MOST_NAMED]
        evidence = tuple(other.statement.citation for other in alike[:MOST_NAMED])
        yield PremiseNote(fact.quantity.text, f"no source has this number; they have {', '.join(values)}", evidence)


def _same_matter(fact: Fact, other: Fact) -> bool:
    """Whether a number of a source is of what a number of the topic is of."""
    if fact.measure != other.measure or fact.sign != other.sign or units_agree(fact.quantity, other.quantity) is False:
        return False
    if fact.chinese != other.chinese:
        return False
    around = other.words | telling_words(other.document.title) | telling_words(other.sentence)
    share = len(fact.words & around) / len(fact.words) if fact.words else 0.0
    if fact.measure:
        named = not fact.names or any(name in flatten(_whole(other.document)).casefold() for name in fact.names)
        return named and share >= ABOUT
    return bool(fact.quantity.unit) and share >= CLOSE


def _whole(document: Document) -> str:
    return f"{document.title} {document.text}"


# --- direction and names ----------------------------------------------------------------------------------------------


def _directions(topic: str, said: Sequence[_Said]) -> Iterator[PremiseNote]:
    word, side = turn_of(topic)
    if not word:
        return
    found = [
        (one, turn_of(one.text)) for one in said if one.alone >= NEAR and is_chinese(one.text) == is_chinese(topic)
    ]
    turned = [(one, other, way) for one, (other, way) in found if other]
    if turned and not any(way == side for _, _, way in turned):
        others = ", ".join(dict.fromkeys(other for _, other, _ in turned[:MOST_NAMED]))
        yield PremiseNote(
            word, f"no source says this; they say the opposite: {others}", _cited([one for one, _, _ in turned])
        )


def _names(topic: str, said: Sequence[_Said]) -> Iterator[PremiseNote]:
    """A name of the topic that no source has, where the sources on the rest of it all have another in its place."""
    own = [one for one in said if is_chinese(one.text) == is_chinese(topic)]
    if not own:
        return
    texts = {one.document.id: flatten(_whole(one.document)).casefold() for one in own}
    asked = telling_words(topic)
    for name in find_names(topic):
        words = [word for word in name.words if word not in words_of("names", "roles") | words_of("names", "titles")]
        rest = asked - telling_words(name.text)
        if not words or len(rest) < FEWEST_WORDS or any(word in text for text in texts.values() for word in words):
            continue
        near = [one for one in own if len(rest & telling_words(one.text)) / len(rest) >= CLOSE]
        others = Counter(other.text for one in near for other in find_names(one.text) if other.text not in topic)
        if near and others:
            other = others.most_common(1)[0][0]
            evidence = [one for one in near if other in one.text]
            yield PremiseNote(name.text, f"no source names this; they name {other}", _cited(evidence))


def _cited(said: Sequence[_Said]) -> tuple[Citation, ...]:
    """The best sentence of each of the first sources."""
    best: dict[str, _Said] = {}
    for one in sorted(said, key=lambda one: -one.placed):
        best.setdefault(one.document.id, one)
    return tuple(one.citation for one in list(best.values())[:MOST_NAMED])
