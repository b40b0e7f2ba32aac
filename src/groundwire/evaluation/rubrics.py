"""What a judge is asked: the five rubrics of CCRS as data, 0 to 100 each, and how the built-in judge weighs its parts.

Source: CCRS (arXiv:2506.20128); the wording is ours.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from groundwire.core.errors import UsageError
from groundwire.evaluation import measures

Need = Literal["question", "contexts", "answer", "reference"]
Parts = dict[str, float]
"""Features of one item under one rubric, by name; shares run 0 to 1."""


@dataclass(frozen=True, slots=True)
class Rubric:
    """One question to a judge: its name in data, its title in print, what it asks and which fields it compares.

    Values run from ``lowest`` to ``highest``; an item that lacks one of ``needs`` stays unscored.
    """

    name: str
    title: str
    asks: str
    needs: tuple[Need, ...]
    lowest: float = 0.0
    highest: float = 100.0


CONTEXTUAL_COHERENCE = Rubric(
    name="contextual_coherence",
    title="Contextual coherence",
    asks="Does the answer agree with the retrieved contexts and build on them?",
    needs=("answer", "contexts"),
)
QUESTION_RELEVANCE = Rubric(
    name="question_relevance",
    title="Question relevance",
    asks="Does the answer address what was asked?",
    needs=("answer", "question"),
)
INFORMATION_DENSITY = Rubric(
    name="information_density",
    title="Information density",
    asks="Does the answer inform without padding or repeating itself?",
    needs=("answer",),
)
ANSWER_CORRECTNESS = Rubric(
    name="answer_correctness",
    title="Answer correctness",
    asks="Does the answer say what the reference says?",
    needs=("answer", "reference"),
)
INFORMATION_RECALL = Rubric(
    name="information_recall",
    title="Information recall",
    asks="How much of what the reference holds does the answer hold?",
    needs=("answer", "reference"),
)

ANSWER_CORRECTNESS_GRADED = Rubric(
    name="answer_correctness_graded",
    title="Answer correctness, graded match",
    asks="Does the answer say what the reference says, where a partial match counts in part?",
    needs=("answer", "reference"),
)

CCRS = (
    CONTEXTUAL_COHERENCE,
    QUESTION_RELEVANCE,
    INFORMATION_DENSITY,
    ANSWER_CORRECTNESS,
    INFORMATION_RECALL,
)


@dataclass(frozen=True, slots=True)
class Parameters:
    """The constants of the built-in judge; ``CHOSEN`` holds those that were chosen on people's labels.

    ``weights`` of a rubric's parts need not add to 1: those of the parts that are there are scaled to. ``gates`` is the
    share lost when no number, or no quotation, of a text is held. ``match_share`` is the paper's share of the match in
    answer correctness. A reference of up to ``short_tokens`` is a short answer: what else the answer says makes it
    no less right, so term recall has the share ``short_recall`` in the graded match, and ``long_recall`` beyond;
    the rest is token F1.
    """

    weights: Mapping[str, Mapping[str, float]]
    gates: Mapping[str, float]
    match_share: float = 0.7
    short_tokens: int = 10
    short_recall: float = 1.0
    long_recall: float = 0.5


CHOSEN = Parameters(
    weights={
        "contextual_coherence": {"terms": 0.3, "sentences": 0.3, "phrases": 0.4, "meaning": 0.25},
        "question_relevance": {"echo": 0.2, "fit": 0.3, "answering": 0.5, "meaning": 0.05},
        "information_density": {"fresh": 0.25, "grounded": 0.25, "unrepeated": 0.25, "plain": 0.25},
        "answer_correctness": {"sentences": 0.5, "phrases": 0.5, "meaning": 0.05},
        "information_recall": {"terms": 0.7, "sentences": 0.1, "phrases": 0.2, "meaning": 0.25},
    },
    gates={"contextual_coherence": 0.5},
)


def score(rubric: str, parts: Mapping[str, float], *, parameters: Parameters = CHOSEN) -> Parts:
    """What the built-in judge makes of the parts of one item.

    Returns:
        ``value``, 0 to 100, rounded to four places so that a machine's last bits do not show. For answer correctness
        also ``match`` and ``opinion`` (0 to 1), which it mixes, and ``paper_value``, with the exact match of the paper
        in place of the graded one.
    """
    weights = {name: weight for name, weight in parameters.weights[rubric].items() if name in parts}
    opinion = sum(weight * parts[name] for name, weight in weights.items()) / sum(weights.values())
    for name in ("numbers", "quotations"):
        opinion *= 1 - parameters.gates.get(rubric, 0.0) * (1 - parts.get(name, 1.0))
    if rubric != "answer_correctness":
        return {"value": round(100 * opinion, 4)}
    match, share = graded_match(parts, parameters), parameters.match_share
    return {
        "match": match,
        "opinion": opinion,
        "paper_value": 100 * (share * parts["exact_match"] + (1 - share) * opinion),
        "value": round(100 * (share * match + (1 - share) * opinion), 4),
    }


def match_parts(answer: str, reference: str) -> Parts:
    """What a graded match is made of besides ``terms``, the share of the reference's terms that the answer holds."""
    parts = {
        "exact_match": measures.exact_match(answer, reference),
        "normalised_match": measures.normalised_match(answer, reference),
        "token_f1": measures.token_f1(answer, reference),
        "reference_tokens": float(len(measures.answer_tokens(reference))),
    }
    said, wanted = measures.polarity(answer), measures.polarity(reference)
    if said is not None and wanted is not None:
        parts["polarity"] = float(said == wanted)
    return parts


def graded_match(parts: Mapping[str, float], parameters: Parameters = CHOSEN) -> float:
    """Exact, then normalised match, then a mix of term recall and token F1; 0 where yes meets no."""
    if parts["exact_match"] or parts["normalised_match"]:
        return 1.0
    if not parts.get("polarity", 1.0):
        return 0.0
    if "terms" not in parts:  # two scripts: words cannot meet, only meaning can
        return parts["meaning"]
    short = parts["reference_tokens"] <= parameters.short_tokens
    share = parameters.short_recall if short else parameters.long_recall
    return share * parts["terms"] + (1 - share) * parts["token_f1"]


def rubrics_named(names: Iterable[str]) -> tuple[Rubric, ...]:
    """The rubrics of these names, in the order asked.

    Raises:
        UsageError: a name is unknown or stands twice.
    """
    known = {rubric.name: rubric for rubric in CCRS}
    asked = tuple(names)
    unknown = [name for name in asked if name not in known]
    if unknown:
        raise UsageError(f"no rubric is named {', '.join(map(repr, unknown))}. There are: {', '.join(known)}.")
    if len(set(asked)) < len(asked):
        raise UsageError(f"a rubric was asked for twice in: {', '.join(asked)}. Name each once.")
    return tuple(known[name] for name in asked)
