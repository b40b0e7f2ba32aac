"""Wire copy: which documents are versions of one story, how many sources are independent, and whose numbers differ.

A version may have another headline, by-line or beginning, a tail that was cut, new numbers, or Traditional characters
for Simplified ones. What an outlet prints with everything (a notice, a paragraph about itself) makes no two texts
versions. Translations and texts that tell the same in other words are not found.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from groundwire.core.numerals import flatten
from groundwire.core.quantities import find_quantities
from groundwire.core.sentences import split_sentences
from groundwire.core.text import content_words, words
from groundwire.core.types import Document, Span

_RUN_WORDS = 4
_SAME_STORY = 0.5
"""The share of the shorter text's runs of words that two versions of one story have in common, at least."""
_FEWEST_RUNS = 8
_FEWEST_WORDS = 12
"""With fewer different words than this outside of what they share, two texts are not called unrelated."""
_UNRELATED = 0.12
"""Below this share of common words outside of what they share, two texts are about different things."""
_SAME_SENTENCE = 0.75
"""The share of all words, numbers apart, that two versions of one sentence have in common, at least."""
_FEWEST_NUMBERS = 3
_SAME_NUMBERS = 1 / 3
"""Below this share of common numbers, of three or more, two texts fill one form (a daily bulletin) with other facts."""
_COLUMNS = 1 << 14
_DATELINE = re.compile(
    r"\s*(?:[（(【［\[][^）)】］\]]{1,40}[）)】］\]]\s*|[A-Z]{3,}[A-Za-z ,./()\d]{0,60}\s(?:--?|—|–)\s)*"
)
"""Place, day and agency before the first words, which a version may have or not."""
_DIGITS = re.compile(r"\d+(?:[.,:/-]\d+)*")
_Runs = NDArray[np.int64]
_NOTHING: _Runs = np.empty(0, np.int64)


@dataclass(frozen=True, slots=True)
class Difference:
    """A sentence of one version whose numbers are not those of most versions that have it.

    ``numbers`` are the differing ones as written there, ``others`` what stands at their places in ``shared_by``
    versions. Where no reading is in the majority, each version that has one of the most frequent differs from the next.
    """

    document_id: str
    span: Span
    text: str
    numbers: tuple[str, ...]
    others: tuple[str, ...]
    shared_by: int


@dataclass(frozen=True, slots=True)
class Cluster:
    """The versions of one story in order of their ids, or one document alone; ``differences`` stand out among them."""

    document_ids: tuple[str, ...]
    differences: tuple[Difference, ...] = ()


@dataclass(frozen=True, slots=True)
class Copies:
    """Clusters in order of their first ids; every document is in one."""

    clusters: tuple[Cluster, ...]

    @property
    def independent(self) -> int:
        """How many sources are left when versions of one story count once."""
        return len(self.clusters)

    @property
    def standing_out(self) -> tuple[str, ...]:
        """The ids of the documents whose numbers differ from those of their other versions."""
        return tuple(dict.fromkeys(one.document_id for each in self.clusters for one in each.differences))


def find_copies(documents: Mapping[str, Document]) -> Copies:
    """Group documents into versions of one story, and name the numbers in which versions differ.

    Args:
        documents: by id; some hundreds, such as what a search found. Every two are compared.
    """
    groups: dict[str, list[str]] = {}
    for name, story in stories(documents).items():
        groups.setdefault(story, []).append(name)
    clusters = (
        Cluster(tuple(names), tuple(_differences([documents[name] for name in names]))) for names in groups.values()
    )
    return Copies(tuple(clusters))


def stories(documents: Mapping[str, Document]) -> dict[str, str]:
    """Which documents are versions of one story, as id -> the smallest id among its versions, in order of ids.

    Two are where at least half of the shorter text's runs of four words, numbers apart, stand in the other; versions of
    versions count. Texts that have nearly none of their numbers in common are bulletins of one form and no versions.
    Runs that two texts share which are otherwise about different things are left out of account, and a text that holds
    two different stories is a version of neither.
    """
    names = sorted(documents)
    known: dict[tuple[str, ...], int] = {}
    texts = [_Text(words(flatten(documents[name].text)), known) for name in names]
    first = list(range(len(names)))
    for one, other in _linked(texts):
        kept, gone = sorted((first[one], first[other]))
        first = [kept if number == gone else number for number in first]
    return {name: names[number] for name, number in zip(names, first, strict=True)}


def _masked(terms: Iterable[str]) -> tuple[str, ...]:
    """The words of a text, every number the same."""
    return tuple("0" if term[0].isdigit() else term for term in terms)


class _Text:
    """The words of a text, its runs of four by number, its numbers, and which words tell what it is about."""

    def __init__(self, written: Sequence[str], known: dict[tuple[str, ...], int]) -> None:
        self.numbers = Counter(term for term in written if term[0].isdigit())
        self.terms = terms = _masked(written)
        runs = zip(*(terms[start:] for start in range(_RUN_WORDS)), strict=False)
        self.runs = np.array([known.setdefault(run, len(known)) for run in runs], dtype=np.int64)
        self.telling = frozenset(term for term in content_words(" ".join(terms)) if len(term) > 3 or term > "\x7f")

    def beside(self, shared: _Runs) -> _Beside:
        """What the text says outside of the shared runs."""
        inside = np.zeros(len(self.terms), dtype=bool)
        for at in np.flatnonzero(np.isin(self.runs, shared)):
            inside[at : at + _RUN_WORDS] = True
        found: tuple[set[str], set[str]] = (set(), set())
        for term, is_inside in zip(self.terms, inside.tolist(), strict=True):
            found[not is_inside].add(term)
        ends = not inside.all() and float(np.flatnonzero(inside).mean()) > float(np.flatnonzero(~inside).max())
        return _Beside(self.telling & found[0], self.telling & found[1], ends)


@dataclass(frozen=True, slots=True)
class _Beside:
    """Telling words of what a text shares with another and of its rest; ``ends``: the text ends with what it shares."""

    shared: frozenset[str]
    rest: frozenset[str]
    ends: bool


def _linked(texts: Sequence[_Text]) -> list[tuple[int, int]]:
    """The pairs that are versions of each other."""
    sets = _without_boilerplate(texts)
    common = _common(sets)
    links = [
        (one, other)
        for one, other in np.argwhere(np.triu(common, 1) >= _FEWEST_RUNS).tolist()
        if common[one, other] >= _SAME_STORY * min(len(sets[one]), len(sets[other]))
        and not _fill_one_form(texts[one].numbers, texts[other].numbers)
    ]
    digests = set(_digests(links, texts, common=common, sizes=[len(own) for own in sets]))
    return [(one, other) for one, other in links if one not in digests and other not in digests]


def _without_boilerplate(texts: Sequence[_Text]) -> list[_Runs]:
    """The different runs of each text that are not shared by texts about different things.

    What two texts share is boilerplate where both end with it, or where a third text shares it that has nothing to do
    with them either. A version with a cut tail and a notice of its own looks like that beside the full one, but only
    there. What is found is left out before other pairs are looked at, so that a notice below every text costs a few
    pairs and not all.
    """
    sets = [np.unique(text.runs) for text in texts]
    looked_at = np.zeros((len(texts), len(texts)), dtype=bool)
    apart: list[dict[int, _Runs]] = [{} for _ in texts]
    waiting = np.argwhere(np.triu(_common(sets) >= _FEWEST_RUNS, 1))
    while len(waiting):
        for one, other in waiting.tolist():
            looked_at[one, other] = True
            shared = np.intersect1d(sets[one], sets[other], assume_unique=True)
            found = _boilerplate(one, other, shared=shared, texts=texts, apart=apart)
            if len(found):
                sets = [own[~np.isin(own, found)] for own in sets]
                break
        waiting = np.argwhere(np.triu((_common(sets) >= _FEWEST_RUNS) & ~looked_at, 1))
    return sets


def _boilerplate(
    one: int, other: int, *, shared: _Runs, texts: Sequence[_Text], apart: Sequence[dict[int, _Runs]]
) -> _Runs:
    """The runs that two texts share and that are boilerplate; ``apart`` keeps those that a third text must confirm."""
    mine, theirs = texts[one].beside(shared), texts[other].beside(shared)
    if not _are_unrelated(mine.rest, theirs.rest):
        return _NOTHING
    if mine.ends and theirs.ends:
        return shared
    if not (_are_unrelated(mine.shared, mine.rest) and _are_unrelated(theirs.shared, theirs.rest)):
        return _NOTHING
    apart[one][other] = apart[other][one] = shared
    thirds = sorted(apart[one].keys() & apart[other].keys())
    in_three = [np.intersect1d(apart[one][third], apart[other][third], assume_unique=True) for third in thirds]
    return np.intersect1d(shared, np.concatenate([_NOTHING, *in_three]))


def _common(sets: Sequence[_Runs]) -> _Runs:
    """How many runs each two texts have in common, shape (n, n)."""
    counts = np.zeros((len(sets), len(sets)), dtype=np.int64)
    everything, inverse, held = np.unique(np.concatenate([_NOTHING, *sets]), return_inverse=True, return_counts=True)
    column = np.cumsum(held > 1) - 1
    owner = np.repeat(np.arange(len(sets)), [len(own) for own in sets])
    several = held[inverse] > 1
    rows, columns = owner[several], column[inverse[several]]
    for start in range(0, int((held > 1).sum()) if len(everything) else 0, _COLUMNS):
        here = (columns >= start) & (columns < start + _COLUMNS)
        has = np.zeros((len(sets), _COLUMNS), dtype=np.float32)  # sums of 0 and 1 are exact
        has[rows[here], columns[here] - start] = 1
        counts += (has @ has.T).astype(np.int64)
    return counts


def _are_unrelated(one: frozenset[str], other: frozenset[str]) -> bool:
    fewest = min(len(one), len(other))
    return fewest >= _FEWEST_WORDS and len(one & other) < _UNRELATED * fewest


def _fill_one_form(one: Counter[str], other: Counter[str]) -> bool:
    fewest = min(one.total(), other.total())
    return fewest >= _FEWEST_NUMBERS and (one & other).total() < _SAME_NUMBERS * fewest


def _digests(
    links: Sequence[tuple[int, int]], texts: Sequence[_Text], *, common: _Runs, sizes: Sequence[int]
) -> Iterator[int]:
    """The texts that hold two smaller ones which are about different things."""
    holds: dict[int, list[int]] = {}
    for pair in links:
        small, large = sorted(pair, key=lambda number: sizes[number])
        holds.setdefault(large, []).append(small)
    for large, held in holds.items():
        if any(
            common[one, other] < _FEWEST_RUNS and _are_unrelated(texts[one].telling, texts[other].telling)
            for one, other in combinations(held, 2)
        ):
            yield large


# --- numbers that differ ----------------------------------------------------------------------------------------------

_Value = tuple[Fraction, Fraction | None, str, str] | str


@dataclass(frozen=True, slots=True)
class _Counted:
    """A sentence with numbers: ``frame`` are its words with all of them made the same."""

    document_id: str
    span: Span
    text: str
    frame: tuple[str, ...]
    values: tuple[_Value, ...]
    written: tuple[str, ...]


def _differences(versions: Sequence[Document]) -> Iterator[Difference]:
    if len(versions) < 2:
        return
    for group in _aligned([tuple(_counted(document)) for document in versions]):
        usual, *others = Counter(one.values for one in group).most_common()
        is_tied = bool(others) and others[0][1] == usual[1]
        for one in group:
            values, count = others[0] if is_tied and one.values == usual[0] else usual
            if one.values != values:
                yield _difference(one, next(each for each in group if each.values == values), shared_by=count)


def _difference(one: _Counted, other: _Counted, *, shared_by: int) -> Difference:
    places = [at for at, (mine, theirs) in enumerate(zip(one.values, other.values, strict=True)) if mine != theirs]
    numbers, others = (tuple(each.written[at] for at in places) for each in (one, other))
    return Difference(one.document_id, one.span, one.text, numbers, others, shared_by)


def _counted(document: Document) -> Iterator[_Counted]:
    for span in split_sentences(document.text, language=document.language):
        whole = document.text[span.start : span.end]
        text = whole[_DATELINE.match(whole).end() :]  # type: ignore[union-attr]  # it may match nothing at all
        numbers = sorted(_numbers(text), key=lambda number: number[0].start)
        if numbers:
            edges = [0, *(edge for place, _ in numbers for edge in (place.start, place.end)), len(text)]
            frame = " 0 ".join(text[start:end] for start, end in zip(edges[::2], edges[1::2], strict=True))
            written = tuple(text[place.start : place.end] for place, _ in numbers)
            values = tuple(value for _, value in numbers)
            yield _Counted(document.id, span, whole, _masked(words(flatten(frame))), values, written)


def _numbers(text: str) -> Iterator[tuple[Span, _Value]]:
    """Quantities with their values, and the digits that are none (dates, names of models) as they are written."""
    rest = flatten(text)
    for found in find_quantities(text):
        rest = rest[: found.span.start] + "\0" * (found.span.end - found.span.start) + rest[found.span.end :]
        if not found.weak:
            yield found.span, (found.value, found.high, found.kind, found.unit)
    for digits in _DIGITS.finditer(rest):
        yield Span(*digits.span()), digits.group()


def _aligned(versions: Sequence[Sequence[_Counted]]) -> Iterator[list[_Counted]]:
    """The same sentence in all versions that have it, at most once for each of them."""
    groups: list[list[_Counted]] = []
    places: dict[tuple[tuple[str, ...], int, int], int] = {}
    for version in versions:
        met: Counter[tuple[tuple[str, ...], int]] = Counter()
        keyed = []
        for one in version:
            kind = (one.frame, len(one.values))
            keyed.append(((*kind, met[kind]), one))
            met[kind] += 1
        taken = {places[key] for key, _ in keyed if key in places}
        for key, one in keyed:
            if key not in places:
                places[key] = _place(one, groups, taken=taken)
            if places[key] == len(groups):
                groups.append([])
            groups[places[key]].append(one)
            taken.add(places[key])
    yield from groups


def _place(one: _Counted, groups: Sequence[Sequence[_Counted]], *, taken: set[int]) -> int:
    """Which group has the same sentence in other words than these, or where a new one goes."""
    free = (at for at in range(len(groups)) if at not in taken and _is_same(one, groups[at][0]))
    return next(free, len(groups))


def _is_same(one: _Counted, other: _Counted) -> bool:
    if len(one.values) != len(other.values):
        return False
    mine, theirs = Counter(one.frame), Counter(other.frame)
    return (mine & theirs).total() >= _SAME_SENTENCE * (mine | theirs).total()
