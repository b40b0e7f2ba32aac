"""A short answer to a question out of packed evidence: what a model is asked and what its reply says, or no model.

The model sees the packed sentences under closed ids and cites them. Without one, the sentences that answer are taken
out word for word: the best ranked that hold what the question asks for (a number, a date, a name) and enough of its
words. Both may say that the archive does not say.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from groundwire.core import prompts
from groundwire.core.errors import UsageError
from groundwire.core.language import Reply, Request
from groundwire.core.mentions import find_dates
from groundwire.core.prompts import Material
from groundwire.core.quantities import find_quantities
from groundwire.core.replies import declines, spoken, stopped
from groundwire.core.text import content_words, detect_language, normalise, words
from groundwire.core.types import Article, Citation, Claim, Evidence, Hit, NumberedSource, Outcome, Sentence, Span
from groundwire.writing.cited_sentences import sentences_of_text
from groundwire.writing.names import find_names
from groundwire.writing.orders import is_order

Form = Literal["sentences", "short"]
Wanted = Literal["number", "date", "name", ""]

MOST_TOKENS: Mapping[Form, int] = {"sentences": 160, "short": 24}
MOST_SENTENCES = 2
LEAST_COVERAGE = 0.35
"""Chosen on articles of SQuAD 2.0 (``benchmarks/bench_answers.py --threshold``); scored on others of them."""

SAYS_NOTHING: Mapping[str, str] = {
    "en": "The archive does not say.",
    "zh-TW": "資料庫中沒有相關資訊。",
    "zh-CN": "资料库中没有相关信息。",
}
"""An answer that says that there is none, by language."""

_PROMPTS: Mapping[Form, str] = {"sentences": "answer", "short": "answer-short"}
_ASKS: tuple[tuple[Wanted, re.Pattern[str]], ...] = (
    ("date", re.compile(r"\bwhen\b|\b(?:what|which)\s+(?:\w+\s+){0,2}?(?:year|month|day|date|century|decade)\b"
                        r"|何時|何时|[什甚][麼么](?:時候|时候)|[哪那幾几][一]?[年月日天]", re.IGNORECASE)),
    ("number", re.compile(r"\bhow\s+(?:many|much|old|long|far|tall|high|large|big|often|deep|wide|fast)\b"
                          r"|\bwhat\s+(?:\w+\s+){0,2}?(?:percent(?:age)?|number|amount|share|population)\b"
                          r"|多少|[幾几](?!乎)", re.IGNORECASE)),
    ("name", re.compile(r"\b(?:who|whom|whose|where)\b"
                        r"|\b(?:what|which)\s+(?:\w+\s+){0,2}?(?:city|country|state|person|company|team|county|river|name)\b"
                        r"|[谁誰]|哪[裡里位國国家個个座]", re.IGNORECASE)),
)  # fmt: skip
"""What a question asks for, by its words; the first that fits counts."""
_DESCRIBED = re.compile(r"\b[Ww]ho(?:['’]s|\s+(?:is|was|are|were))\s+[A-Z]")
"""Somebody is named and described, so that no further name is wanted."""


@dataclass(frozen=True, slots=True)
class AnswerSettings:
    """How a question is answered.

    Attributes:
        form: ``sentences``, one to three; ``short``: a name, a number, a date, yes or no.
        least_coverage: without a model: the share of the question's words that a sentence must hold, 0 to 1.
        language: of the answer; ``""``: that of the question.
        system: whether the model takes a system message.
        prompts: a folder with prompts of the user's own.

    Raises:
        UsageError: the share is outside 0 to 1.
    """

    form: Form = "sentences"
    least_coverage: float = LEAST_COVERAGE
    language: str = ""
    system: bool = True
    prompts: Path | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.least_coverage <= 1:
            raise UsageError(f"least_coverage is {self.least_coverage}; it is a share, from 0 to 1")


@dataclass(frozen=True, slots=True)
class QuestionAsked:
    """A question as a model gets it; ``ids`` are the sentences that it may cite, ``prompt`` names the file.

    ``notes`` say what was left out of its sources.
    """

    question: str
    request: Request
    ids: Mapping[str, Sentence]
    prompt: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Answered:
    """What came of a question.

    Attributes:
        question: as asked.
        text: the answer without its markers; where it abstained the words that say so; ``""`` where none was read.
        claims: the sentences of the answer with what they cite; none where it abstained or none was read.
        evidence: what it could be answered from.
        outcome: ``read``; ``abstained``: the evidence does not hold the answer; ``truncated``: the reply was
            cut, and what came of it is kept; else why a reply is no answer.
        reason: what it rests on, or what is wrong, in words.
        unknown: ids that the model cited and was not given.
    """

    question: str
    text: str
    claims: tuple[Claim, ...]
    evidence: Evidence
    outcome: Outcome
    reason: str = ""
    unknown: tuple[str, ...] = ()

    @property
    def abstained(self) -> bool:
        """Whether it says that the archive does not say."""
        return self.outcome == "abstained"

    @property
    def citations(self) -> tuple[Citation, ...]:
        """Each place that the answer cites, once, in order."""
        return tuple(dict.fromkeys(citation for claim in self.claims for citation in claim.citations))

    @property
    def article(self) -> Article | None:
        """The answer as an article, so that its claims can be checked like those of any; None without claims."""
        if not self.claims:
            return None
        numbers = {citation.document_id: citation.number for citation in self.citations}
        sources = tuple(NumberedSource(number, name) for name, number in numbers.items())
        return Article(self.question, self.claims[0], self.claims[1:], (), sources)


def question_asked(question: str, evidence: Evidence, *, settings: AnswerSettings | None = None) -> QuestionAsked:
    """What a model is asked.

    Args:
        question: one question.
        evidence: what a search packed; sentences that give orders to a model are left out.
        settings: how it is asked.

    Raises:
        UsageError: the question is blank, or there is no evidence.
    """
    how = settings or AnswerSettings()
    _require(question)
    fit = [hit.sentence for hit in evidence.hits if not is_order(hit.sentence.text)]
    if not fit:
        raise UsageError(f"there is no evidence to answer '{question}' from; search first")
    ids = dict(_numbered(fit))
    language = prompts.nearest_language(how.language or detect_language(question))
    prompt = prompts.load(_PROMPTS[how.form], language, folder=how.prompts)
    sources = Material(prompts.id_lines((name, sentence.text) for name, sentence in ids.items()))
    rendered = prompts.render(prompt, {"question": question, "sources": sources}, system=how.system)
    request = Request(rendered.messages, MOST_TOKENS[how.form], prompt=rendered.fingerprint, purpose="answer")
    left = len(evidence.hits) - len(fit)
    notes = (f"left out: {left} sentences that give orders to a model",) if left else ()
    return QuestionAsked(question, request, ids, f"{_PROMPTS[how.form]}.{language}", (*rendered.notes, *notes))


def read_answer(
    reply: Reply, asked: QuestionAsked, *, evidence: Evidence, refuses: Callable[[str], bool] = declines
) -> Answered:
    """What a reply says; a reply that is empty, cut or refused is none, never an empty answer.

    Args:
        reply: of the model.
        asked: what it was asked.
        evidence: what that was made from.
        refuses: whether a text only says that it cannot answer.
    """
    text, note = spoken(reply)
    wrong = stopped(reply, text=text)
    if wrong is not None and not (wrong[0] == "truncated" and text):
        outcome = "unreadable" if wrong[0] == "abstained" else wrong[0]
        return Answered(asked.question, "", (), evidence, outcome, wrong[1])
    sentences = sentences_of_text(text, known=asked.ids)
    said = " ".join(sentence.text for sentence in sentences if sentence.text)
    unknown = tuple(dict.fromkeys(each for sentence in sentences for each in sentence.unknown))
    if not said:
        return Answered(asked.question, "", (), evidence, "unreadable", "the reply has no words", unknown)
    if refuses(said):
        return Answered(asked.question, said, (), evidence, "abstained", "the model finds no answer there", unknown)
    numbers: dict[str, int] = {}
    claims = tuple(
        Claim(f"c{place}", sentence.text, tuple(_citation(asked.ids[each], numbers) for each in sentence.ids))
        for place, sentence in enumerate((each for each in sentences if each.text), start=1)
    )
    outcome = "truncated" if wrong else "recovered" if note else "read"
    return Answered(asked.question, said, claims, evidence, outcome, wrong[1] if wrong else note, unknown)


def extract_answer(question: str, evidence: Evidence, *, settings: AnswerSettings | None = None) -> Answered:
    """The sentences of the evidence that answer, two at most, or that it does not say.

    Raises:
        UsageError: the question is blank.
    """
    how = settings or AnswerSettings()
    _require(question)
    kind = wanted_by(question)
    fit = [hit for hit in by_rank(evidence) if holds(hit.sentence.text, question, kind=kind)]
    found = [hit for hit in fit if covered(question, hit.sentence.text) >= how.least_coverage]
    what = f"a {kind} and " if kind else ""
    if not found:
        best = max((covered(question, hit.sentence.text) for hit in fit), default=0.0)
        reason = f"no sentence holds {what}{how.least_coverage:.0%} of the question's words; the best has {best:.0%}"
        language = prompts.nearest_language(how.language or detect_language(question))
        return Answered(question, SAYS_NOTHING[language], (), evidence, "abstained", reason)
    chosen = _chosen(question, found)
    numbers: dict[str, int] = {}
    claims = tuple(
        Claim(f"c{place}", " ".join(hit.sentence.text.split()), (_citation(hit.sentence, numbers),))
        for place, hit in enumerate(chosen, start=1)
    )
    share = max(covered(question, hit.sentence.text) for hit in chosen)
    reason = f"word for word from the archive: holds {what}{share:.0%} of the question's words"
    return Answered(question, " ".join(claim.text for claim in claims), claims, evidence, "read", reason)


def wanted_by(question: str) -> Wanted:
    """What a question asks for: a number, a date, a name; ``""`` for anything else."""
    if _DESCRIBED.search(question):
        return ""
    return next((kind for kind, pattern in _ASKS if pattern.search(question)), "")


def holds(text: str, question: str, *, kind: Wanted) -> bool:
    """Whether a text holds something of that kind that the question does not hold itself."""
    if kind == "":
        return True
    if kind == "name":
        known = set(words(question))
        return any(known.isdisjoint(words(name.text)) for name in find_names(text))
    spans_of = _date_spans if kind == "date" else _figure_spans
    asked = {normalise(question[span.start : span.end]) for span in spans_of(question)}
    return any(normalise(text[span.start : span.end]) not in asked for span in spans_of(text))


def covered(question: str, text: str) -> float:
    """The share of the question's distinct content words that a text holds, 0 to 1; 0 for a question without any."""
    wanted = set(content_words(question))
    return len(wanted & set(content_words(text))) / len(wanted) if wanted else 0.0


def by_rank(evidence: Evidence) -> list[Hit]:
    """The hits of the evidence, the best first; sentences that give orders to a model are left out."""
    fit = [hit for hit in evidence.hits if not is_order(hit.sentence.text)]
    return sorted(fit, key=lambda hit: (hit.rank, hit.sentence.id))


def _chosen(question: str, found: Sequence[Hit]) -> list[Hit]:
    """The best sentence, and the next that holds words of the question which the best lacks."""
    wanted, first = set(content_words(question)), found[0]
    lacking = wanted - set(content_words(first.sentence.text))
    more = [hit for hit in found[1:] if lacking & set(content_words(hit.sentence.text))]
    return [first, *more[: MOST_SENTENCES - 1]]


def _date_spans(text: str) -> list[Span]:
    return [found.span for found in find_dates(text)]


def _figure_spans(text: str) -> list[Span]:
    return [found.span for found in find_quantities(text)]


def _require(question: str) -> None:
    if not question.strip():
        raise UsageError("the question is blank; say in a sentence what you want to know")


def _numbered(sentences: Sequence[Sentence]) -> Iterator[tuple[str, Sentence]]:
    """Sentences under ids: documents in the order of their first sentence, sentences as they come."""
    documents: dict[str, int] = {}
    places: dict[str, int] = {}
    for sentence in sentences:
        source = documents.setdefault(sentence.document_id, len(documents) + 1)
        places[sentence.document_id] = place = places.get(sentence.document_id, 0) + 1
        yield f"S{source}.{place}", sentence


def _citation(sentence: Sentence, numbers: dict[str, int]) -> Citation:
    """A citation of a sentence under the number of its document, which is given at first use."""
    number = numbers.setdefault(sentence.document_id, len(numbers) + 1)
    return Citation(number, sentence.document_id, sentence.start, sentence.end, sentence.text, sentence.id)
