"""Which items a report holds in full, and what stands in each: question, answers, contexts, reference, judgements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from groundwire.core.types import Item, Judgement
from groundwire.evaluation.joins import Joined
from groundwire.flow.comparing import Compared

TOP = 5
"""Items a pair and measure that are shown as those on which the two differ most."""

MOST_ITEMS = 400
MOST_BYTES = 3_000_000
"""Of texts in a report, so that a browser on a phone opens it."""


@dataclass(frozen=True, slots=True)
class Gap:
    """An item on which two systems differ, with both values."""

    item: str
    one: float
    other: float


@dataclass(frozen=True, slots=True)
class AnswerView:
    """What a system answered, and the judgements of it; no answer where files hold only values."""

    system: str
    item: Item | None
    judgements: tuple[Judgement, ...]


@dataclass(frozen=True, slots=True)
class ItemView:
    """An item in full; ``contexts`` where all systems were given the same ones."""

    id: str
    anchor: str
    question: str
    reference: str | None
    contexts: tuple[str, ...]
    shared: bool
    answers: tuple[AnswerView, ...]


@dataclass(frozen=True, slots=True)
class Chosen:
    """The items of a report, by id, out of ``total``."""

    views: tuple[ItemView, ...]
    anchors: Mapping[str, str]
    total: int


def widest_gaps(table: Joined, *, one: str, other: str) -> tuple[Gap, ...]:
    """The items on which two systems differ most, at most ``TOP``, the widest first, then by id; none that tie."""
    first, second = (table.values[:, table.systems.index(name)] for name in (one, other))
    apart = np.abs(first - second)
    order = np.argsort(-apart, kind="stable")[:TOP]
    return tuple(Gap(table.items[row], float(first[row]), float(second[row])) for row in order if apart[row] > 0)


def choose_items(compared: Compared, wanted: Sequence[str], *, seed: int) -> Chosen:
    """The wanted items, then others at random, as far as ``MOST_ITEMS`` and ``MOST_BYTES`` go; all where they fit.

    Args:
        compared: holds the texts.
        wanted: ids, the most wanted first.
        seed: of the order of the others.
    """
    every = sorted({item.id for item in compared.items} | {one.item_id for one in compared.judgements})
    rest = sorted(set(every) - set(wanted))
    drawn = [rest[place] for place in np.random.default_rng(seed).permutation(len(rest))]
    candidates = list(dict.fromkeys([*wanted, *drawn]))[:MOST_ITEMS]
    held = _by_item(compared, candidates)
    kept, spent = [], 0
    for item in candidates:
        size = _bytes(*held[item])
        if spent + size <= MOST_BYTES:
            kept.append(item)
            spent += size
    anchors = {item: f"i{place}" for place, item in enumerate(sorted(kept), start=1)}
    return Chosen(tuple(_view(item, anchors[item], *held[item]) for item in anchors), anchors, len(every))


_Held = tuple[list[Item], list[Judgement]]


def _by_item(compared: Compared, wanted: Sequence[str]) -> dict[str, _Held]:
    held: dict[str, _Held] = {item: ([], []) for item in wanted}
    for item in compared.items:
        if item.id in held:
            held[item.id][0].append(item)
    for one in compared.judgements:
        if one.item_id in held:
            held[one.item_id][1].append(one)
    return held


def _bytes(items: Sequence[Item], judgements: Sequence[Judgement]) -> int:
    """About what an item takes in the file: texts, and the markup around each value and part."""
    contexts = {text for item in items for text in item.contexts}
    texts = [*contexts, *(item.answer for item in items), *(one.reason for one in judgements)]
    around = sum(120 + 40 * len(one.parts) for one in judgements)
    return sum(len(text.encode("utf-8", "surrogatepass")) + 20 for text in texts) + around + 300


def _view(identity: str, anchor: str, items: Sequence[Item], judgements: Sequence[Judgement]) -> ItemView:
    by_system = {item.system: item for item in items}
    systems = sorted(by_system.keys() | {one.system for one in judgements})
    contexts = {item.contexts for item in items}
    first = items[0] if items else None
    return ItemView(
        id=identity,
        anchor=anchor,
        question=first.question if first else "",
        reference=next((item.reference for item in items if item.reference), None),
        contexts=first.contexts if first and len(contexts) == 1 else (),
        shared=len(contexts) == 1,
        answers=tuple(
            AnswerView(name, by_system.get(name), tuple(one for one in judgements if one.system == name))
            for name in systems
        ),
    )
