"""Hits -> the evidence that fits a budget of tokens."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from groundwire.core.errors import UsageError
from groundwire.core.text import count_tokens, normalise
from groundwire.core.types import Dropped, Evidence, Hit


def pack(hits: Sequence[Hit], *, budget_tokens: int, count: Callable[[str], int] = count_tokens) -> Evidence:
    """Keep the best hits under a budget: skip what does not fit and go on with the next.

    Documents stand in the order of their best hit, and inside a document the source order is restored. A sentence
    whose words were already taken is dropped. Every dropped hit has its reason.

    Args:
        hits: best first.
        budget_tokens: the most tokens that the kept sentences may have together; 1 and up.
        count: counts the tokens of a text; the built-in estimate unless another is given.

    Raises:
        UsageError: the budget is below 1.
    """
    if budget_tokens < 1:
        raise UsageError(f"budget_tokens is {budget_tokens}; it must be 1 or more")
    kept: list[Hit] = []
    dropped: list[Dropped] = []
    seen: dict[str, int] = {}
    left = budget_tokens
    for hit in hits:
        words, size = normalise(hit.sentence.text), count(hit.sentence.text)
        if words in seen:
            dropped.append(Dropped(hit, f"same words as the hit of rank {seen[words]}"))
        elif size > left:
            dropped.append(Dropped(hit, f"{size} tokens do not fit into the {left} left of {budget_tokens}"))
        else:
            seen[words] = hit.rank
            kept.append(hit)
            left -= size
    return Evidence(_in_source_order(kept), budget_tokens - left, budget_tokens, tuple(dropped))


def _in_source_order(hits: Sequence[Hit]) -> tuple[Hit, ...]:
    place: dict[str, int] = {}
    for hit in hits:
        place.setdefault(hit.sentence.document_id, len(place))
    return tuple(sorted(hits, key=lambda hit: (place[hit.sentence.document_id], hit.sentence.start)))
