"""Score a news article by ScoreRAG's four criteria with any judge: what it is asked, and what is made of its replies.

Criteria run 1 to 5 with an anchor for each level and weigh .20, .35, .10 and .35. A criterion is the mean of several
readings, the total their weighted sum. What could not be read is unscored and counted. Marks of citations please
judges whatever stands behind them, so they can be taken out; the length is reported beside every value.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import fmean, stdev
from typing import Literal

from groundwire.core import prompts
from groundwire.core.answers import Answer
from groundwire.core.cited_ids import read_citations
from groundwire.core.errors import UsageError
from groundwire.core.language import Capabilities, Reply, Request
from groundwire.core.prompts import Material
from groundwire.core.ratings import read_ratings
from groundwire.core.replies import Reading, repair_request, spoken, stopped
from groundwire.core.sentences import split_sentences
from groundwire.core.text import count_tokens, detect_language, words
from groundwire.core.types import Item, Judgement, Outcome
from groundwire.evaluation.judge_replies import ALTERNATIVES, STOP, closed, expectation_of
from groundwire.evaluation.measures import is_refusal

How = Literal["readings", "expected"]
Four = tuple[float, ...]
"""The values of the criteria, in the order of ``CRITERIA``."""

PROMPT = "rubric-scorerag"
LOWEST, HIGHEST = 1, 5
TOTAL = "scorerag_total"

_NUMBER_TOKENS = 96
_THINKING_TOKENS = 2048
_AROUND_TOKENS = 900
"""Of the prompt and the reply, kept free of sources where a model says how much it can hold."""

_CITED_LIST = re.compile(
    r"\n[ \t#*_]*(?:sources|references|bibliography|(?:資料|资料|参考|參考)?(?:來源|来源|資料|资料)|参考文献|參考文獻)"
    r"[ \t:：*_]*\n(?:[ \t]*(?:[-*+][ \t]+)?(?:[\[【]?\d{1,3}[\]】.)、．][^\n]*)?(?:\n|\Z))+\Z",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Criterion:
    """One of the four questions, with its share in the total."""

    name: str
    weight: float

    @property
    def rubric(self) -> str:
        """Its name among judgements."""
        return f"scorerag_{self.name}"


CRITERIA = (
    Criterion("coherence", 0.20),
    Criterion("accuracy", 0.35),
    Criterion("professionalism", 0.10),
    Criterion("informativeness", 0.35),
)
"""Source: ScoreRAG (arXiv:2506.03704), its criteria and weights; the words of the anchors are ours."""

RUBRICS = (*(criterion.rubric for criterion in CRITERIA), TOTAL)
_NAMES = tuple(criterion.name for criterion in CRITERIA)


@dataclass(frozen=True, slots=True)
class ScoreSettings:
    """How articles are scored.

    Attributes:
        how: ``readings``: several, at a temperature; ``expected``: one call, the expectation over the tokens that each
            number could have been.
        readings: how often an article is read; 1 and up.
        temperature: of the readings, above 0.
        seed: of the first reading; each further one takes the next.
        source_tokens: how much of all sources together is shown, shared out evenly; 1 and up.
        blind: marks of citations and a list of sources at the end are taken out before the judge sees the article.
        prompts: a folder with prompts of the user's own.

    Raises:
        UsageError: a number is out of range.
    """

    how: How = "readings"
    readings: int = 3
    temperature: float = 0.7
    seed: int = 0
    source_tokens: int = 3000
    blind: bool = False
    prompts: Path | None = None

    def __post_init__(self) -> None:
        if self.readings < 1 or self.source_tokens < 1 or not 0 < self.temperature < math.inf:
            raise UsageError(
                f"readings is {self.readings}, source_tokens {self.source_tokens} and temperature {self.temperature};"
                " the first two must be 1 or more, the last above 0"
            )


@dataclass(frozen=True, slots=True)
class ArticleJudge:
    """A model that scores; ``note`` says what it had to give up, empty where nothing."""

    model: str
    capabilities: Capabilities
    settings: ScoreSettings = ScoreSettings()
    note: str = ""

    @property
    def fingerprint(self) -> str:
        """Names model, prompts and parameters: values of different fingerprints are not comparable."""
        how = {name: value for name, value in asdict(self.settings).items() if name != "prompts"}
        used = [prompts.load(PROMPT, tag, folder=self.settings.prompts).fingerprint for tag in prompts.LANGUAGES]
        digest = hashlib.sha256(json.dumps([how, used], sort_keys=True).encode()).hexdigest()[:12]
        return f"{self.model}/scorerag/{self.settings.how}/{digest}"


@dataclass(frozen=True, slots=True)
class CriterionScore:
    """Mean of the readings of one criterion, 1 to 5, or None; ``spread`` is their standard deviation, from two on."""

    name: str
    value: float | None
    spread: float | None
    readings: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class ArticleScore:
    """What a judge makes of one article.

    Attributes:
        item_id: of the topic; ``system`` wrote the article.
        criteria: in the order of ``CRITERIA``.
        total: weighted sum of the criteria, 1 to 5, or None where one of them is unscored; ``spread`` as there.
        words: of the article as the judge saw it; overlapping pairs of characters where there are no spaces.
        asked: readings that were wanted, ``unread`` of which could not be read, also when asked for once more.
        sources: how many were shown; of ``cut`` of them only the beginning.
        outcome: ``read`` where every reading was; ``reason`` says what was wrong.
    """

    item_id: str
    system: str
    criteria: tuple[CriterionScore, ...]
    total: float | None
    spread: float | None
    words: int
    asked: int
    unread: int
    sources: int
    cut: int
    outcome: Outcome
    reason: str = ""


def article_judge(model: str, *, capabilities: Capabilities, settings: ScoreSettings | None = None) -> ArticleJudge:
    """A judge that the model can be; without log-probabilities ``expected`` becomes ``readings``, and says so."""
    wanted = settings or ScoreSettings()
    if wanted.how == "expected" and not capabilities.logprobs:
        note = f"'{model}' gives no log-probabilities: {wanted.readings} readings an article in place of 'expected'"
        return ArticleJudge(model, capabilities, replace(wanted, how="readings"), note)
    return ArticleJudge(model, capabilities, wanted)


def unmarked(text: str) -> str:
    """A text without marks of citations and without a list of numbered sources at its end; no other word is lost."""
    return read_citations(_CITED_LIST.sub("\n", text).rstrip(), known=()).words


def requests(judge: ArticleJudge, item: Item) -> tuple[Request, ...]:
    """What the judge is asked about one article, none where there is nothing to judge.

    Args:
        judge: who is asked.
        item: ``question`` is the topic, ``answer`` the article, ``contexts`` are the sources.
    """
    if _without_reply(item) is not None:
        return ()
    how, able = judge.settings, judge.capabilities
    shown, _ = shown_sources(judge, item)
    found = prompts.load(PROMPT, _language(item), folder=how.prompts)
    values: dict[str, prompts.Value] = {"topic": item.question, "article": Material(_seen(judge, item))}
    if shown:
        values["sources"] = [Material(text, f"S{number}") for number, text in enumerate(shown, 1)]
    rendered = prompts.render(found, values, system=able.system)
    one = Request(
        rendered.messages,
        _NUMBER_TOKENS + (_THINKING_TOKENS if able.thinking else 0),
        schema=found.schema if able.schema else "",
        stop=(STOP,),
        prompt=rendered.fingerprint,
        purpose="scoring an article",
    )
    if how.how == "expected":
        return (replace(one, top_logprobs=min(ALTERNATIVES, able.logprobs)),)
    return tuple(
        replace(one, temperature=how.temperature, seed=how.seed + number, reading=number)
        for number in range(how.readings)
    )


def shown_sources(judge: ArticleJudge, item: Item) -> tuple[tuple[str, ...], int]:
    """The sources as the judge sees them, and of how many only the beginning; short ones leave room for the others."""
    budget = judge.settings.source_tokens
    holds = judge.capabilities.context_tokens
    if holds is not None:
        budget = min(budget, max(1, holds - _AROUND_TOKENS - count_tokens(item.answer)))
    texts = [text for text in item.contexts if text.strip()]
    most = _even_share([count_tokens(text) for text in texts], budget)
    shown = [text if count_tokens(text) <= most else _beginning(text, most) for text in texts]
    return tuple(shown), sum(one != text for one, text in zip(shown, texts, strict=True))


def read(judge: ArticleJudge, answer: Answer) -> Reading[Four]:
    """The four values of one answer, 1 to 5 each, or none of them."""
    if answer.reply is None:
        return Reading(None, "unreadable", f"no reply: {answer.failure.reason if answer.failure else 'none came'}")
    text, _ = spoken(answer.reply)
    halted = stopped(answer.reply, text=text)
    if halted is not None:
        return Reading(None, *halted, answer.reply.text)
    if judge.settings.how == "expected":
        return _expectations(answer.reply)
    return read_ratings(closed(answer.reply), names=_NAMES, low=LOWEST, high=HIGHEST)


def repair(judge: ArticleJudge, item: Item, /, answer: Answer, *, reading: Reading[Four]) -> Request | None:
    """The one further call for a reply that could not be read; None where there is nothing to repair."""
    if reading.value is not None or answer.reply is None:
        return None
    return repair_request(answer.request, reading, language=_language(item), folder=judge.settings.prompts)


def read_again(judge: ArticleJudge, answer: Answer, *, before: Reading[Four]) -> Reading[Four]:
    """What the further call gave; where that could not be read either, both reasons."""
    found = read(judge, answer)
    if found.value is not None:
        return found
    return found.without_value(found.outcome, f"{before.reason}; asked once more: {found.reason}")


def scored(judge: ArticleJudge, item: Item, /, readings: Sequence[Reading[Four]]) -> ArticleScore:
    """An article with its score; ``readings`` are all that were asked for."""
    values = [reading.value for reading in readings if reading.value is not None]
    missing = [reading for reading in readings if reading.value is None]
    shown, cut = shown_sources(judge, item)
    columns = list(zip(*values, strict=True)) if values else [()] * len(CRITERIA)
    criteria = tuple(
        _criterion(criterion.name, () if criterion.name == "accuracy" and not shown else column)
        for criterion, column in zip(CRITERIA, columns, strict=True)
    )
    totals = [_weighted(four) for four in values] if shown else []
    outcome, reason = _without_reply(item) or _said(readings, missing)
    if values and not shown:
        reason = "; ".join(filter(None, (reason, "no sources were given, so accuracy and the total stay unscored")))
    return ArticleScore(
        item_id=item.id,
        system=item.system,
        criteria=criteria,
        total=fmean(totals) if totals else None,
        spread=stdev(totals) if len(totals) > 1 else None,
        words=len(words(_seen(judge, item))),
        asked=len(readings),
        unread=len(missing),
        sources=len(shown),
        cut=cut,
        outcome=outcome,
        reason=reason,
    )


def judgements(judge: ArticleJudge, score: ArticleScore) -> tuple[Judgement, ...]:
    """A judgement a criterion and one of the total, as ``compare`` takes them: 1 to 5 becomes (value - 1) * 25."""
    rows = [(one.name, one.value, one.spread) for one in score.criteria] + [("total", score.total, score.spread)]
    return tuple(
        Judgement(
            item_id=score.item_id,
            system=score.system,
            rubric=f"scorerag_{name}",
            value=None if value is None else to_hundred(value),
            outcome="unreadable" if value is None and score.outcome in ("read", "recovered") else score.outcome,
            judge=judge.fingerprint,
            reason=score.reason,
            parts=(
                *(() if value is None else (("level", round(value, 6)),)),
                *(() if spread is None else (("spread", round(spread, 6)),)),
                ("readings", float(score.asked - score.unread)),
                ("unread", float(score.unread)),
                ("words", float(score.words)),
            ),
        )
        for name, value, spread in rows
    )


def to_hundred(value: float) -> float:
    """A value from 1 to 5 on the scale of judgements, 0 to 100."""
    return round((value - LOWEST) * 100 / (HIGHEST - LOWEST), 6)


def from_hundred(value: float) -> float:
    """A value of a judgement, 0 to 100, as a level from 1 to 5."""
    return LOWEST + value * (HIGHEST - LOWEST) / 100


def _without_reply(item: Item) -> tuple[Outcome, str] | None:
    """Why there is nothing to ask about an article, if so."""
    if not item.answer.strip():
        return "unreadable", "the article is empty"
    if is_refusal(item.answer):
        return "abstained", "the article is a refusal to write one"
    return None


def _said(readings: Sequence[Reading[Four]], missing: Sequence[Reading[Four]]) -> tuple[Outcome, str]:
    """The outcome of all readings together, and what was wrong with the first that had something wrong."""
    if len(missing) == len(readings):
        return (missing[0].outcome, missing[0].reason) if missing else ("unreadable", "no reading was asked for")
    if missing:
        return "recovered", f"{len(missing)} of {len(readings)} readings unread: {missing[0].reason}"
    mended = [reading.reason for reading in readings if reading.outcome == "recovered"]
    return ("recovered", mended[0]) if mended else ("read", "")


def _criterion(name: str, column: Sequence[float]) -> CriterionScore:
    value = fmean(column) if column else None
    return CriterionScore(name, value, stdev(column) if len(column) > 1 else None, tuple(column))


def _weighted(four: Four) -> float:
    return math.fsum(criterion.weight * value for criterion, value in zip(CRITERIA, four, strict=True))


def _expectations(reply: Reply) -> Reading[Four]:
    """The expectation of each number, in one reply."""
    found: list[float] = []
    for name in _NAMES:
        one = expectation_of(reply, name, low=LOWEST, high=HIGHEST)
        if one.value is None:
            return Reading(None, one.outcome, one.reason, reply.text)
        found.append(one.value)
    return Reading(tuple(found), "read", "", reply.text)


def _seen(judge: ArticleJudge, item: Item) -> str:
    return unmarked(item.answer) if judge.settings.blind else item.answer


def _language(item: Item) -> str:
    return prompts.nearest_language(detect_language(item.answer))


def _even_share(costs: Sequence[int], budget: int) -> float:
    """The most that any of these may take so that all fit the budget: what small ones leave goes to the others."""
    left = float(budget)
    for place, cost in enumerate(sorted(costs)):
        share = left / (len(costs) - place)
        if cost > share:
            return share
        left -= cost
    return math.inf


def _beginning(text: str, most: float) -> str:
    """The first sentences of a text that fit, one at least, and a sign that there is more."""
    end, used = 0, 0
    for span in split_sentences(text):
        cost = count_tokens(text[span.start : span.end])
        if end and used + cost > most:
            break
        end, used = span.end, used + cost
    return f"{text[:end]}\n[…]" if end < len(text.rstrip()) else text
