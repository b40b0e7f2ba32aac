"""Ratings that orders inside a source cannot raise: what a source is without them, and the lower of the two ratings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from groundwire.core.types import ScoredSource, Sentence, Source
from groundwire.writing.orders import is_order
from groundwire.writing.quotable import hidden_spans


@dataclass(frozen=True, slots=True)
class Obeyed:
    """A source with orders to a model in it: the first of them, and its ratings with and without them."""

    source: Source
    order: str
    with_orders: float | None
    without: float | None

    def __str__(self) -> str:
        """A line for an editor; the order itself is not repeated where others might obey it."""
        told = " and ".join(
            f"{'unscored' if one is None else f'{one:g}'} {name} them"
            for name, one in (("with", self.with_orders), ("without", self.without))
        )
        return f"{self.source.document.name}: gives orders to a model; rated {told}, the lower counts"


def without_orders(source: Source) -> tuple[Source, str] | None:
    """A source without the sentences, title and hidden parts that give orders to a model, and the first such order.

    The text keeps its length, so that offsets stay right: what is taken out becomes spaces. None where there is none.
    """
    text = source.document.text
    hidden = [span for span in hidden_spans(text) if is_order(text[span[0] : span[1]])]
    orders = {one for one in _sentences(source) if is_order(one.text) or any(_meets(one, span) for span in hidden)}
    titled = is_order(source.document.title)
    if not orders and not hidden and not titled:
        return None
    spans = [*hidden, *((one.start, one.end) for one in orders)]
    cleaned = replace(
        source,
        document=replace(source.document, text=_blanked(text, spans), title="" if titled else source.document.title),
        hits=tuple(hit for hit in source.hits if hit.sentence not in orders),
        sentences=tuple(one for one in source.sentences if one not in orders),
    )
    first = source.document.title if titled else min((text[start:end] for start, end in spans), key=text.find)
    return cleaned, first


def lower(
    scored: Sequence[ScoredSource], cleaned: Mapping[str, ScoredSource], *, orders: Mapping[str, str]
) -> tuple[tuple[ScoredSource, ...], tuple[Obeyed, ...]]:
    """The ratings where orders could raise none, and what orders there were.

    Args:
        scored: as they came.
        cleaned: of those with orders in them, by document id, the rating without.
        orders: the first order of each, by document id.
    """
    found, told = [], []
    for one in scored:
        other = cleaned.get(one.source.document.id)
        if other is None:
            found.append(one)
            continue
        obeyed = Obeyed(one.source, orders[one.source.document.id], one.relevance, other.relevance)
        told.append(obeyed)
        less = min((one, other), key=lambda each: -1.0 if each.relevance is None else each.relevance)
        note = f"{less.reason}; {_worded(obeyed)}"
        found.append(replace(less, source=one.source, reason=note))
    return tuple(found), tuple(told)


def _worded(obeyed: Obeyed) -> str:
    values = ["unscored" if one is None else f"{one:g}" for one in (obeyed.with_orders, obeyed.without)]
    return f"with the orders in its text {values[0]}, without {values[1]}: the lower counts"


def _sentences(source: Source) -> tuple[Sentence, ...]:
    return (*source.sentences, *(hit.sentence for hit in source.hits))


def _meets(sentence: Sentence, span: tuple[int, int]) -> bool:
    return sentence.start < span[1] and span[0] < sentence.end


def _blanked(text: str, spans: Sequence[tuple[int, int]]) -> str:
    characters = list(text)
    for start, end in spans:
        characters[start:end] = " " * (end - start)
    return "".join(characters)
