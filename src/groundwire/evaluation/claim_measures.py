"""Measures on single claims, as RAGChecker defines them, with any extractor and checker; and one without a model.

An answer and a reference are taken apart into claims, and every claim is held against reference or answer and against
each context. What was not decided stays open: a measure that hangs on an open verdict is unscored, and so is every
measure of claims that are not there, so that faithfulness, hallucination and self-knowledge add to 1 or have no value.

Source: RAGChecker (arXiv:2408.08067). Where it takes 0 for want of claims, there is no value here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from groundwire.core.sentences import split_sentences
from groundwire.core.types import Item, Judgement, Outcome
from groundwire.evaluation import measures

Truth = bool | None
"""Whether a text entails a claim; None where no verdict could be read."""

CLAIM_MEASURES = (
    "precision",
    "recall",
    "f1",
    "claim_recall",
    "context_precision",
    "context_utilization",
    "noise_sensitivity_in_relevant",
    "noise_sensitivity_in_irrelevant",
    "hallucination",
    "self_knowledge",
    "faithfulness",
)
"""The names that RAGChecker's own files have, so that its values can be set beside ours."""

BUILTIN = "RAGChecker, computed by groundwire/1: claims builtin sentences, checked builtin words"
"""Fingerprint of the extractor and checker that need no model.

It begins as those of RAGChecker's files do, by which ``compare`` knows the measures of which less is better.
"""

_ALL = frozenset({"answer", "reference text", "reference", "contexts"})
_NEEDS: Mapping[str, frozenset[str]] = {
    "precision": frozenset({"answer", "reference text"}),
    "recall": frozenset({"answer text", "reference"}),
    "f1": frozenset({"answer", "answer text", "reference", "reference text"}),
    "claim_recall": frozenset({"reference", "contexts"}),
    "context_precision": frozenset({"reference", "contexts"}),
    "context_utilization": frozenset({"answer text", "reference", "contexts"}),
    "noise_sensitivity_in_relevant": _ALL,
    "noise_sensitivity_in_irrelevant": _ALL,
    "hallucination": frozenset({"answer", "reference text", "contexts"}),
    "self_knowledge": frozenset({"answer", "reference text", "contexts"}),
    "faithfulness": frozenset({"answer", "contexts"}),
}
"""What each measure cannot do without: claims of a text (``answer``) or the text itself (``answer text``)."""

_HELD = 0.75  # the share of a claim's words that two neighbouring sentences must hold


@dataclass(frozen=True, slots=True)
class Claims:
    """The claims of a text, or the reason why there are none to be had."""

    found: tuple[str, ...] = ()
    outcome: Outcome = "read"
    reason: str = ""

    @property
    def usable(self) -> bool:
        """Whether the text was read and claims something."""
        return bool(self.found) and self.outcome in ("read", "recovered")


@dataclass(frozen=True, slots=True)
class ClaimTable:
    """One item's claims, and what entails them.

    Attributes:
        item: whose.
        answer: claims of the answer.
        reference: claims of the reference.
        answer_by_reference: whether the reference entails each claim of the answer.
        answer_by_context: for each context, the same of the context.
        reference_by_answer: whether the answer entails each claim of the reference.
        reference_by_context: for each context, the same of the context.
        notes: what went wrong on the way.
    """

    item: Item
    answer: Claims
    reference: Claims
    answer_by_reference: tuple[Truth, ...] = ()
    answer_by_context: tuple[tuple[Truth, ...], ...] = ()
    reference_by_answer: tuple[Truth, ...] = ()
    reference_by_context: tuple[tuple[Truth, ...], ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def missing(self) -> int:
        """Verdicts that were asked for and could not be read."""
        rows = (self.answer_by_reference, self.reference_by_answer, *self.answer_by_context, *self.reference_by_context)
        return sum(truth is None for row in rows for truth in row)


def contexts_of(item: Item) -> tuple[str, ...]:
    """The contexts that hold something."""
    return tuple(context for context in item.contexts if context.strip())


def any_of(truths: Iterable[Truth]) -> Truth:
    """Whether one of them is true; open where none is and one is open."""
    known = list(truths)
    return True if True in known else None if None in known else False


def both(one: Truth, other: Truth) -> Truth:
    """Whether both are true; open where one is open and none is false."""
    return False if one is False or other is False else None if one is None or other is None else True


def denied(truth: Truth) -> Truth:
    """The opposite; what is open stays open."""
    return None if truth is None else not truth


def share(truths: Sequence[Truth]) -> float | None:
    """The share that is true, 0 to 1; None where there is nothing, or one is open."""
    return None if not truths or None in truths else fmean(map(bool, truths))


def values(table: ClaimTable) -> dict[str, float | None]:
    """Every measure of an item, 0 to 1, or None where it cannot be told."""
    found: dict[str, float | None] = dict.fromkeys(CLAIM_MEASURES)
    right = table.answer_by_reference
    precision, recall = share(right), share(table.reference_by_answer)
    found |= {"precision": precision, "recall": recall, "f1": _f1(precision, recall)}
    if table.answer_by_context and table.answer.usable:
        found |= _of_answer(table)
    if table.reference_by_context and table.reference.usable:
        found |= _of_contexts(table)
    return found


def _f1(precision: float | None, recall: float | None) -> float | None:
    if precision is None or recall is None:
        return None
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def _of_answer(table: ClaimTable) -> dict[str, float | None]:
    """What becomes of the answer's claims in the contexts."""
    carried = [any_of(column) for column in zip(*table.answer_by_context, strict=True)]
    found = {"faithfulness": share(carried)}
    right = table.answer_by_reference
    if not right:
        return found
    loose = [denied(truth) for truth in carried]
    wrong = [denied(truth) for truth in right]
    found["hallucination"] = share([both(a, b) for a, b in zip(wrong, loose, strict=True)])
    found["self_knowledge"] = share([both(a, b) for a, b in zip(right, loose, strict=True)])
    if not table.reference.usable:  # then nothing tells which context is relevant
        return found
    relevant = [any_of(row) for row in table.reference_by_context]
    rows = list(zip(table.answer_by_context, relevant, strict=True))
    for_claims = range(len(wrong))
    good = [any_of(both(row[place], use) for row, use in rows) for place in for_claims]
    bad = [any_of(both(row[place], denied(use)) for row, use in rows) for place in for_claims]
    found["noise_sensitivity_in_relevant"] = share([both(a, b) for a, b in zip(wrong, good, strict=True)])
    only = [both(a, denied(b)) for a, b in zip(bad, good, strict=True)]
    found["noise_sensitivity_in_irrelevant"] = share([both(a, b) for a, b in zip(wrong, only, strict=True)])
    return found


def _of_contexts(table: ClaimTable) -> dict[str, float | None]:
    """How much of the reference the contexts hold, and how much of that the answer takes over."""
    held = [any_of(column) for column in zip(*table.reference_by_context, strict=True)]
    found = {
        "claim_recall": share(held),
        "context_precision": share([any_of(row) for row in table.reference_by_context]),
    }
    if table.reference_by_answer and None not in held:
        used = [truth for truth, there in zip(table.reference_by_answer, held, strict=True) if there]
        found["context_utilization"] = share(used)
    return found


def claim_judgements(table: ClaimTable, *, judge: str, names: Sequence[str] = CLAIM_MEASURES) -> tuple[Judgement, ...]:
    """A judgement a measure, 0 to 100; parts count claims, contexts and verdicts that are missing.

    Args:
        table: of one item.
        judge: fingerprint of extractor and checker.
        names: the measures that are wanted.
    """
    found = values(table)
    parts: tuple[tuple[str, float], ...] = (
        ("answer_claims", float(len(table.answer.found))),
        ("reference_claims", float(len(table.reference.found))),
        ("contexts", float(len(contexts_of(table.item)))),
        ("missing", float(table.missing)),
    )
    rows = []
    for name in names:
        value = found[name]
        outcome, reason = _why(table, name) if value is None else ("read", "; ".join(table.notes))
        told = parts
        if outcome == "abstained":
            known = table.item.reference is not None and not measures.holds_no_answer(table.item.reference)
            told = (("answerable", float(known)), *parts)
        rows.append(
            Judgement(table.item.id, table.item.system, name, None if value is None else round(100 * value, 6), outcome,
                      judge, reason, told)
        )  # fmt: skip
    return tuple(rows)


def _why(table: ClaimTable, name: str) -> tuple[Outcome, str]:
    """Why a measure has no value."""
    item, needs = table.item, _NEEDS[name]
    if needs & {"answer", "answer text"} and not asks_answer(item):
        return (
            ("abstained", "the answer is a refusal") if item.answer.strip() else ("unreadable", "the answer is empty")
        )
    for what, claims in (("answer", table.answer), ("reference", table.reference)):
        if what in needs and not claims.usable:
            outcome: Outcome = "unreadable" if claims.outcome in ("read", "recovered") else claims.outcome
            return outcome, claims.reason or f"the {what} claims nothing"
    if "reference text" in needs and not (item.reference or "").strip():
        return "unreadable", "there is no reference"
    if "contexts" in needs and not contexts_of(item):
        return "unreadable", "there are no contexts"
    if table.missing:
        about = "; ".join(table.notes)
        return "unreadable", f"{table.missing} verdicts are missing" + (f": {about}" if about else "")
    return "unreadable", "the contexts hold no claim of the reference"


def asks_answer(item: Item) -> bool:
    """Whether there is an answer to hold claims against: text that is no refusal."""
    return bool(item.answer.strip()) and not measures.is_refusal(item.answer)


def claims_without_model(text: str) -> Claims:
    """The sentences of a text that say something, as claims."""
    sentences = [text[span.start : span.end].strip() for span in split_sentences(text)]
    return Claims(tuple(dict.fromkeys(sentence for sentence in sentences if measures.terms(sentence))))


def entails_without_model(text: str, claim: str) -> bool:
    """Whether two neighbouring sentences of a text hold three quarters of a claim's words, and the text its numbers.

    All numbers and quotations must be there, and yes must not meet no. Words of another script are never held.
    """
    for agreement in (measures.number_agreement(claim, text), measures.quotation_agreement(claim, text)):
        if agreement is not None and agreement < 1:
            return False
    wanted = frozenset(measures.terms(claim))
    sentences = [text[span.start : span.end] for span in split_sentences(text)]
    windows = [" ".join(sentences[place : place + 2]) for place in range(len(sentences))]
    best = max(windows, key=lambda window: measures.coverage(wanted, frozenset(measures.terms(window))), default="")
    said, told = measures.polarity(claim), measures.polarity(best)
    if said is not None and told is not None and said != told:
        return False
    return bool(wanted) and measures.coverage(wanted, frozenset(measures.terms(best))) >= _HELD


def table_without_model(item: Item) -> ClaimTable:
    """An item's claims and what entails them, by sentences and words alone."""
    asks = asks_answer(item)
    answer = claims_without_model(item.answer) if asks else Claims()
    reference_text = (item.reference or "").strip()
    reference = claims_without_model(reference_text)
    contexts = contexts_of(item)
    return ClaimTable(
        item,
        answer,
        reference,
        answer_by_reference=_row(reference_text, answer.found) if reference_text else (),
        answer_by_context=tuple(_row(context, answer.found) for context in contexts),
        reference_by_answer=_row(item.answer, reference.found) if asks else (),
        reference_by_context=tuple(_row(context, reference.found) for context in contexts),
    )


def _row(text: str, claims: Sequence[str]) -> tuple[Truth, ...]:
    return tuple(entails_without_model(text, claim) for claim in claims)
