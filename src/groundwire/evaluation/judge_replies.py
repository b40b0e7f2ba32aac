"""Replies of models that judge: read a number by its expectation, mend what ended early, and look over a whole run."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from groundwire.core.expectation import expected_value
from groundwire.core.language import Reply
from groundwire.core.ratings import off_scale
from groundwire.core.replies import Reading, declines
from groundwire.core.types import Judgement
from groundwire.evaluation.rubrics import ANSWER_CORRECTNESS_GRADED

STOP = '"reason"'
"""Ends a reply where its reason would begin: the number stands before it."""

ALTERNATIVES = 20
"""Of every token, asked for where an expectation is wanted."""


def expectation_of(reply: Reply, name: str, *, low: float, high: float) -> Reading[float]:
    """The expectation of the number that follows a name in a reply with log-probabilities."""
    label = re.search(rf'"?{name}"?\s*[:：]', "".join(token.text for token in reply.tokens))
    one = expected_value(reply.tokens, low=low, high=high, after=label.group() if label else f'"{name}":')
    if one.value is not None:
        return Reading(one.value, "read", "", reply.text)
    return Reading(None, "abstained" if declines(reply.text) else one.outcome, f"{name}: {one.reason}", reply.text)


def closed(reply: Reply) -> Reply:
    """A reply that ended where its reason begins, with the end that it would have had."""
    text = reply.text.rstrip()
    ended = reply.finish == "stop" and text.endswith(",") and text.rfind("{") > text.rfind("}")
    return replace(reply, text=f'{text} {STOP}: ""}}') if ended else reply


def scale_note(rows: Sequence[Judgement]) -> str:
    """One sentence on values that look as if they were meant on another scale than 0 to 100; empty where none do.

    Counted are those that were refused as shares of 1 and those that were taken but stand apart at the bottom.
    """
    own = [row for row in rows if row.rubric != ANSWER_CORRECTNESS_GRADED.name]
    values = [(row, value) for row in own for name, value in row.parts if name.startswith("reading_")]
    found = [values[place][0] for place in off_scale([value for _, value in values])]
    shares = [row for row in own if "looks like a share" in row.reason]
    if not found and not shares:
        return ""
    asked = len(values) + sum(int(value) for row in own for name, value in row.parts if name == "unread")
    named = ", ".join(dict.fromkeys(f"{row.item_id} ({row.rubric})" for row in (*shares, *found)))
    return (
        f"{len(found) + len(shares)} of {asked} values look as if they were meant on another scale than 0 to 100:"
        f" {len(shares)} shares of 1, which are not taken, and {len(found)} low ones, which are; look at {named[:300]}"
    )


@dataclass(frozen=True, slots=True)
class Places:
    """A rubric's mean value by its place in the reply, from 1; ``spread`` is the largest mean less the smallest."""

    rubric: str
    means: tuple[tuple[int, float, int], ...]

    @property
    def spread(self) -> float:
        """0 to 100; 0 with one place."""
        found = [mean for _, mean, _ in self.means]
        return max(found) - min(found)


def places(rows: Sequence[Judgement]) -> tuple[Places, ...]:
    """How far the place of a rubric in the reply moves its values: (place, mean, n) for each that occurred."""
    found: dict[str, dict[int, list[float]]] = {}
    for row in rows:
        parts = dict(row.parts)
        for name, value in row.parts:
            place = parts.get(f"place_{name.removeprefix('reading_')}")
            if name.startswith("reading_") and place is not None and row.rubric != ANSWER_CORRECTNESS_GRADED.name:
                found.setdefault(row.rubric, {}).setdefault(int(place), []).append(value)
    return tuple(
        Places(rubric, tuple((place, fmean(values), len(values)) for place, values in sorted(by.items())))
        for rubric, by in found.items()
    )
