"""Ask a language model about the claims that the gates cannot settle, and read what it says.

Settled are ``supported``, ``background`` and ``contradicted`` verdicts, and claims whose citation itself failed: a
model cannot overturn a number, quotation, date, name, direction or negation that speaks against a claim. What is left
is ``partly`` and ``not_found``: words that are not all there, a paraphrase, another language. Its ``supported`` counts
as such only where all that failed is the wording, or a number that was worked out from two of the source.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from pathlib import Path

from groundwire.core import prompts
from groundwire.core.answers import Answer
from groundwire.core.errors import UsageError
from groundwire.core.expectation import expected_choice
from groundwire.core.language import Capabilities, Reply, Request
from groundwire.core.prompts import Material
from groundwire.core.replies import Reading, read_object, read_verdicts, repair_request
from groundwire.core.text import count_tokens, detect_language
from groundwire.core.types import Check, Citation, Claim, Document, Verdict
from groundwire.writing.guards import Excerpt, coverage, telling_words
from groundwire.writing.reasons import read_reason
from groundwire.writing.verify import Opened, split_document

WORDS = ("supported", "contradicted", "not_found")
_WORKED_OUT = ("sum", "difference", "ratio", "change")
_TOKENS_A_VERDICT, _TOKENS_AROUND, _THINKING_TOKENS = 40, 64, 2048
_MORE = 0.2  # how much more of a claim's words another document must hold to be shown in place of the cited


@dataclass(frozen=True, slots=True)
class CheckSettings:
    """How a model is asked.

    Attributes:
        batch: claims a call; 1 asks about each by itself.
        evidence_tokens: of evidence in a call, shared evenly by its claims; 1 and up.
        recheck_below: ``supported`` claims of which a smaller share of words stands in the source are asked about as
            well, and stay as they are unless the model finds otherwise; from 0 (none) to 1.
        prompts: a folder with prompts of the user's own.

    Raises:
        UsageError: a number is out of range.
    """

    batch: int = 8
    evidence_tokens: int = 1600
    recheck_below: float = 0.0
    prompts: Path | None = None

    def __post_init__(self) -> None:
        if self.batch < 1 or self.evidence_tokens < 1 or not 0 <= self.recheck_below <= 1:
            raise UsageError(
                f"batch is {self.batch}, evidence_tokens {self.evidence_tokens} and recheck_below"
                f" {self.recheck_below}; the first two must be 1 or more, the last from 0 to 1"
            )


@dataclass(frozen=True, slots=True)
class Doubt:
    """A claim to be asked about: ``place`` among the verdicts, the sentences shown, and whether they are cited."""

    place: int
    verdict: Verdict
    shown: tuple[Excerpt, ...]
    cited: bool


@dataclass(frozen=True, slots=True)
class Batch:
    """Claims that one request asks about, numbered from 1 in this order; ``single``: each claim has its own request."""

    doubts: tuple[Doubt, ...]
    request: Request
    single: bool


def is_settled(verdict: Verdict, *, recheck_below: float = 0.0) -> bool:
    """Whether the gates have the last word on a claim."""
    if verdict.support in ("background", "contradicted"):
        return True
    if verdict.support == "supported":
        return not _share(verdict) < recheck_below
    failed = [check for check in verdict.checks if check.kind == "citation" and not check.passed]
    return any(check.item and not is_remark(check) for check in failed)


def is_remark(check: Check) -> bool:
    """Whether a check only says where else a claim is carried."""
    return read_reason(check.reason).kind in ("said_outside", "said_uncited")


def _share(verdict: Verdict) -> float:
    """The share of a claim's words that the gates found; 1 where they did not count."""
    found = (read_reason(check.reason) for check in verdict.checks if check.kind == "wording")
    return min((int(one.values[0].rstrip("%")) / 100 for one in found if one.kind == "share"), default=1.0)


def doubts(
    verdicts: Sequence[Verdict], documents: Mapping[str, Document], *, settings: CheckSettings
) -> tuple[Doubt, ...]:
    """The claims to ask about, with the sentences that are to be shown.

    Shown are the cited sentences, or the best ones of a document that is cited as a whole (its beginning where it is
    in another language); another place only where that holds a fifth more of the claim's words, or nothing is cited. A
    claim for which there is nothing to show is not asked about.
    """
    opened = {key: Opened(document, split_document) for key, document in documents.items()}
    each = [
        doubt(verdict, opened, place=place, tokens=max(1, settings.evidence_tokens // settings.batch))
        for place, verdict in enumerate(verdicts)
        if not is_settled(verdict, recheck_below=settings.recheck_below)
    ]
    return tuple(one for one in each if one is not None)


def doubt(verdict: Verdict, opened: Mapping[str, Opened], *, place: int, tokens: int) -> Doubt | None:
    """A claim with the sentences to be shown, of so many tokens; None where there is nothing to show."""
    own = tuple(_within(_cited(verdict, opened), tokens))
    other = () if verdict.support == "supported" else tuple(_within(_elsewhere(verdict.claim, opened, own), tokens))
    wider = _held(verdict.claim, other) >= _held(verdict.claim, own) + _MORE
    shown = other if other and (wider or not own) else own
    return Doubt(place, verdict, shown, cited=shown is own) if shown else None


def _held(claim: Claim, shown: Iterable[Excerpt]) -> float:
    return coverage(telling_words(claim.text), frozenset().union(*(telling_words(one.text) for one in shown)))


def _cited(verdict: Verdict, opened: Mapping[str, Opened]) -> Iterator[Excerpt]:
    """Whole sentences of what a claim cites, the likeliest documents first."""
    exact = [one for one in verdict.claim.citations if one.start is not None and one.document_id in opened]
    for citation in exact:
        document = opened[citation.document_id]
        start, end = citation.start or 0, citation.end or 0
        source = document.title if citation.part == "title" else document.sentences
        yield from (one for one in source if one.span.start < end and start < one.span.end)
    whole = {one.document_id for one in verdict.claim.citations if one.start is None} & opened.keys()
    bests = [_best(verdict.claim, opened[key]) for key in sorted(whole)]
    for best in sorted(bests, key=lambda best: -_held(verdict.claim, best)):
        yield from best


def _best(claim: Claim, document: Opened) -> tuple[Excerpt, ...]:
    """The sentences of a document that are most like a claim; its first ones where words cannot tell."""
    best = document.best(claim.text)
    foreign = detect_language(claim.text)[:2] != detect_language(document.document.text)[:2]
    return tuple(dict.fromkeys((*best, *document.sentences[:5]))) if foreign or not best else best


def _elsewhere(claim: Claim, opened: Mapping[str, Opened], own: Sequence[Excerpt]) -> tuple[Excerpt, ...]:
    """The best sentences that are not cited, of the document that holds most of a claim's words."""
    bests = [[one for one in opened[key].best(claim.text) if one not in own] for key in sorted(opened)]
    return tuple(max(bests, key=lambda best: _held(claim, best), default=())) if telling_words(claim.text) else ()


def _within(excerpts: Iterable[Excerpt], tokens: int) -> Iterator[Excerpt]:
    """As many as fit, one at least."""
    spent = 0
    for number, excerpt in enumerate(dict.fromkeys(excerpts)):
        spent += count_tokens(excerpt.text)
        if number and spent > tokens:
            return
        yield excerpt


def batches(found: Sequence[Doubt], *, settings: CheckSettings, capabilities: Capabilities) -> tuple[Batch, ...]:
    """The requests that ask about these claims, in order."""
    size = settings.batch
    runs = [tuple(found[at : at + size]) for at in range(0, len(found), size)]
    return tuple(Batch(run, _request(run, settings=settings, capabilities=capabilities), size == 1) for run in runs)


def _request(run: Sequence[Doubt], *, settings: CheckSettings, capabilities: Capabilities) -> Request:
    single = settings.batch == 1
    language = language_of(run)
    prompt = prompts.load("entail" if single else "verify", language, folder=settings.prompts)
    if single:
        values: Mapping[str, prompts.Value] = {
            "claim": Material(run[0].verdict.claim.text), "evidence": Material(told(run[0].shown))
        }  # fmt: skip
    else:
        values = {
            "claims": Material(
                prompts.id_lines((f"{number}.", doubt.verdict.claim.text) for number, doubt in enumerate(run, 1))
            ),
            "evidence": [
                Material(told(doubt.shown), f"evidence for claim {number}") for number, doubt in enumerate(run, 1)
            ],
        }
    rendered = prompts.render(prompt, values, system=capabilities.system)
    tokens = _TOKENS_AROUND + _TOKENS_A_VERDICT * len(run) + (_THINKING_TOKENS if capabilities.thinking else 0)
    return Request(
        rendered.messages, tokens, schema=prompt.schema if capabilities.schema else "",
        top_logprobs=min(20, capabilities.logprobs) if single else 0, prompt=rendered.fingerprint, purpose="checking",
    )  # fmt: skip


def language_of(run: Sequence[Doubt]) -> str:
    """The language in which claims are asked about: that of the claims."""
    return prompts.nearest_language(detect_language(" ".join(doubt.verdict.claim.text for doubt in run)))


def told(shown: Sequence[Excerpt]) -> str:
    """Sentences in source order under title and date of their document; what lies between is marked."""
    lines: list[str] = []
    before: Excerpt | None = None
    for one in sorted(shown, key=lambda e: (e.document.id, e.part, e.span.start)):
        if before is None or before.document.id != one.document.id:
            published = one.document.published.isoformat() if one.document.published else ""
            lines += [*([""] if lines else []), *filter(None, (one.document.title, published))]
        elif before.part == one.part and one.document.text[before.span.end : one.span.start].strip():
            lines.append("[…]")
        lines.append(one.text)
        before = one
    return "\n".join(lines)


def read(batch: Batch, answer: Answer) -> tuple[Reading[str], ...]:
    """The word for each claim of a batch; unread where there is none, or two."""
    if answer.reply is None:
        why = answer.failure.reason if answer.failure else "none came"
        return tuple(Reading[str](None, "unreadable", f"no reply: {why}") for _ in batch.doubts)
    if not batch.single:
        return read_verdicts(answer.reply, count=len(batch.doubts), allowed=WORDS).readings
    found = read_object(answer.reply, json.loads(prompts.load("entail", "en").schema))
    value = str(found.value["verdict"]) if isinstance(found.value, Mapping) else None
    return (Reading(value, found.outcome, found.reason, found.text),)


def again(
    batch: Batch, readings: Sequence[Reading[str]], *, settings: CheckSettings, capabilities: Capabilities
) -> Batch | None:
    """The one further call about what has no word: its claims alone, or the model's reply with what is wrong with it.

    None where every claim has a word, or no reply came at all.
    """
    missing = tuple(d for d, reading in zip(batch.doubts, readings, strict=True) if reading.value is None)
    lost = [reading for reading in readings if reading.value is None]
    if not missing or all(reading.reason.startswith("no reply: ") for reading in lost):
        return None
    if len(missing) < len(batch.doubts):
        return Batch(missing, _request(missing, settings=settings, capabilities=capabilities), batch.single)
    language = language_of(batch.doubts)
    repair = repair_request(batch.request, lost[0], language=language, folder=settings.prompts)
    return Batch(missing, repair, batch.single)


def judged(doubt: Doubt, reading: Reading[str], *, model: str) -> Verdict:
    """The verdict on a claim once the model has spoken, with the sentences it was shown as evidence."""
    before = doubt.verdict
    if reading.value is None:
        reason = f"undecided: {model} gave no verdict that could be read ({reading.outcome})"
        return _with(before, Check("wording", before.claim.text, passed=False, reason=reason), reason)
    shown = _citations(doubt)
    if reading.value == "contradicted":
        reason = f"{model} finds that the words it was shown say otherwise"
        found = replace(before, support="contradicted", evidence=shown)
    elif reading.value == "not_found":
        reason = f"{model} does not find all of it in the words it was shown"
        found = replace(before, support="partly" if before.support == "supported" else before.support)
    elif not doubt.cited:
        first = max(doubt.shown, key=lambda one: _held(before.claim, (one,)))
        reason = f"{model} finds it in {first.document.id!r} at {first.span.start}-{first.span.end}, which is not cited"
        found = replace(before, support="partly", evidence=shown)
    elif any(_holds_back(check) for check in before.checks):
        reason = f"{model} finds it in the words it was shown, but not every check passes"
        found = replace(before, support="partly", evidence=shown)
    else:
        reason = f"{model} finds all of it in the words it was shown"
        check = Check("wording", before.claim.text, passed=True, reason=reason)
        return replace(before, support="supported", reason=reason, evidence=shown, judged_by=model,
                       checks=(*before.checks, check))  # fmt: skip
    check = Check("wording", before.claim.text, passed=False, reason=reason)
    return replace(_with(found, check, reason), judged_by=model)


def _with(verdict: Verdict, check: Check, reason: str) -> Verdict:
    return replace(verdict, reason=f"{verdict.reason}; {reason}", checks=(*verdict.checks, check))


def _holds_back(check: Check) -> bool:
    """Whether a failed check stands in the way of ``supported`` whatever a model says."""
    if check.passed or check.kind == "wording" or is_remark(check):
        return False
    return not (check.kind == "number" and read_reason(check.reason).kind in _WORKED_OUT)


def _citations(doubt: Doubt) -> tuple[Citation, ...]:
    """The sentences shown, under the number by which the claim cites their document; 0 where it does not."""
    numbers = {citation.document_id: citation.number for citation in reversed(doubt.verdict.claim.citations)}
    return tuple(
        Citation(
            numbers.get(e.document.id, 0), e.document.id, start=e.span.start, end=e.span.end, text=e.text, part=e.part
        )
        for e in doubt.shown
    )


def probability(reply: Reply) -> float | None:
    """The probability of ``supported`` in a reply about one claim, 0 to 1; None where the tokens do not tell."""
    passed = ""

    def before_the_word(text: str) -> bool:
        nonlocal passed
        passed += text
        return re.search(r"verdict\W*:", passed) is None

    skipped = sum(1 for _ in takewhile(before_the_word, (token.text for token in reply.tokens)))
    found = expected_choice(reply.tokens[skipped + 1 :], choices={word: float(word == "supported") for word in WORDS})
    return found.value
