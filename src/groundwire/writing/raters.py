"""Rate sources with a language model: what it is asked, and what is made of its replies.

Four raters, each a pure function of topic, source and replies. ``readings`` asks for two numbers several times and
takes the mean (ScoreRAG); ``expected`` asks once and takes the expectation over the tokens that could have come
(G-Eval); ``yesno`` takes the probability of Yes; ``likelihood`` compares how likely the topic is after the source and
after nothing. Numbers are asked for before reasons, and the reply is ended there: a reason made up after a number
explains nothing, and costs most of the tokens.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from statistics import fmean, pstdev
from typing import Literal

from groundwire.core import prompts
from groundwire.core.answers import Answer
from groundwire.core.errors import UsageError
from groundwire.core.expectation import Expectation, expected_choice, expected_value
from groundwire.core.language import Capabilities, Reply, Request
from groundwire.core.prompts import Material
from groundwire.core.ratings import read_rating, read_ratings
from groundwire.core.replies import Reading, declines, spoken, stopped
from groundwire.core.text import count_tokens, detect_language
from groundwire.core.types import Outcome, RaterName, ScoredSource, Sentence, Source
from groundwire.writing.score import band_of

AXES = ("relevance", "consistency")
"""What a source is rated on; the lower of the two counts, for a source of another event is no evidence."""

SUMMARY_CHARACTERS = 500
"""So much of a text stands for the summary that the paper's documents have."""

_STOP = '"reason"'
_WORDS: Mapping[str, float] = {"yes": 100, "no": 0, "是": 100, "否": 0, "不": 0}
_ALTERNATIVES = 20
_NUMBER_TOKENS = 64
_WORD_TOKENS = 4
_THINKING_TOKENS = 2048


@dataclass(frozen=True, slots=True)
class RaterSettings:
    """How models rate.

    Attributes:
        readings: how often ``readings`` asks; 1 and up.
        temperature: of its calls, above 0.
        seed: of the first reading; each further one takes the next.
        evidence_tokens: how much of a source is shown, the best hits first; 1 and up.
        prompts: a folder with prompts of the user's own.
        prompt: ``rating``: two numbers from the evidence, of which the lower counts; ``rating-scorerag``: one number
            from title, date and summary, for ``readings``.

    Raises:
        UsageError: a number is out of range.

    Source:
        Three readings: ScoreRAG (arXiv:2506.03704), which does not tell its temperature. 0.7 is that of
        self-consistency (arXiv:2203.11171).
    """

    readings: int = 3
    temperature: float = 0.7
    seed: int = 0
    evidence_tokens: int = 600
    prompts: Path | None = None
    prompt: Literal["rating", "rating-scorerag"] = "rating"

    def __post_init__(self) -> None:
        if self.readings < 1 or self.evidence_tokens < 1 or not 0 < self.temperature < math.inf:
            raise UsageError(
                f"readings is {self.readings}, evidence_tokens {self.evidence_tokens} and temperature"
                f" {self.temperature}; the first two must be 1 or more, the last above 0"
            )


@dataclass(frozen=True, slots=True)
class Curve:
    """``100 / (1 + exp(-(intercept + slope * PMI)))``: the rating of a likelihood, fitted for one model."""

    model: str
    intercept: float
    slope: float

    def rating(self, information: float) -> float:
        """The rating of a PMI in nats a token, 0 to 100."""
        return 50 * (1 + math.tanh((self.intercept + self.slope * information) / 2))


@dataclass(frozen=True, slots=True)
class Rater:
    """A way to rate with one model; ``note`` says what it had to give up, empty where nothing."""

    name: RaterName
    model: str
    capabilities: Capabilities
    settings: RaterSettings = RaterSettings()
    curve: Curve | None = None
    note: str = ""


def curves() -> Mapping[str, Curve]:
    """The fitted curves of ``likelihood``, by model id (``benchmarks/fit_likelihood.py``)."""
    stored = json.loads(files("groundwire.writing").joinpath("likelihood.json").read_text(encoding="utf-8"))
    return {each["model"]: Curve(**each) for each in stored["curves"]}


def rater(name: RaterName, *, model: str, capabilities: Capabilities, settings: RaterSettings | None = None) -> Rater:
    """A rater that the model can serve; ``expected`` becomes ``readings``, and says so, without log-probabilities.

    Raises:
        UsageError: the model cannot serve it, or its likelihoods have no curve.
    """
    made = Rater(name, model, capabilities, settings or RaterSettings())
    if name == "expected" and not capabilities.logprobs:
        note = (
            f"'{model}' gives no log-probabilities: {made.settings.readings} readings a source in place of 'expected'"
        )
        return replace(made, name="readings", note=note)
    if made.settings.prompt == "rating-scorerag" and made.name != "readings":
        raise UsageError(f"ScoreRAG's prompt asks for readings, and the rater is '{name}'. Rate with 'readings'")
    if name == "yesno" and not capabilities.logprobs:
        raise UsageError(f"'{model}' gives no log-probabilities, which 'yesno' rests on. Rate with 'readings'")
    if name != "likelihood":
        return made
    if not capabilities.likelihood:
        raise UsageError(
            f"'{model}' does not tell how likely a given text is, which 'likelihood' rests on. Rate with 'expected'"
        )
    known = curves()
    if model not in known:
        raise UsageError(
            f"the likelihoods of '{model}' have no curve that makes ratings of them; there are curves for"
            f" {', '.join(sorted(known))}. Rate with 'expected', or fit one with benchmarks/fit_likelihood.py"
        )
    return replace(made, curve=known[model])


def requests(rater: Rater, topic: str, /, source: Source) -> tuple[Request, ...]:
    """What the model is asked about one source, in the order in which ``rated`` wants what was read."""
    made: Mapping[RaterName, Callable[[Rater, str, Source], tuple[Request, ...]]] = {
        "readings": _for_readings, "expected": _for_expected, "yesno": _for_yesno, "likelihood": _for_likelihood,
    }  # fmt: skip
    if rater.name not in made:
        raise UsageError(f"the rater '{rater.name}' asks no model; it is groundwire.writing.score")
    return made[rater.name](rater, topic, source)


def read(rater: Rater, answer: Answer) -> Reading[float]:
    """What one answer says: a rating from 0 to 100, for ``likelihood`` the mean log-probability of the topic."""
    if answer.reply is None:
        return Reading(None, "unreadable", f"no reply: {answer.failure.reason if answer.failure else 'none came'}")
    reply = answer.reply
    if rater.name == "likelihood":
        return _mean_logprob(reply)
    text, _ = spoken(reply)
    if rater.name == "yesno":
        return _told(expected_choice(reply.tokens, choices=_WORDS), reply, "Yes")
    halted = stopped(reply, text=text)
    if halted is not None:
        return Reading(None, *halted, reply.text)
    if rater.settings.prompt == "rating-scorerag":
        return read_rating(reply)
    return _numbers(reply) if rater.name == "readings" else _expectations(reply)


def rated(rater: Rater, source: Source, /, readings: Sequence[Reading[float]]) -> ScoredSource:
    """A source with its rating, or unscored with the reason; ``readings`` in the order of ``requests``."""
    values = tuple(found.value for found in readings if found.value is not None)
    missing = [found for found in readings if found.value is None]
    if not values or (missing and rater.name == "likelihood"):
        why = f"unscored by {rater.name} of {rater.model}: {missing[0].outcome}, {missing[0].reason}"
        return ScoredSource(source, None, (), None, why)
    if rater.curve is not None:
        information = values[0] - values[1]
        reason = f"the topic is {information:+.2f} nats a token likelier after the source, says {rater.model}"
        values = (rater.curve.rating(information),)
    elif rater.name == "readings":
        reason = _of_readings(rater, values, missing)
    else:
        reason = f"{readings[0].reason}, {rater.name} by {rater.model}"
    relevance = round(fmean(values), 1)
    reason = "; ".join(part for part in (reason, rater.note) if part)
    return ScoredSource(source, relevance, tuple(round(value, 1) for value in values), band_of(relevance), reason)


def evidence(source: Source, *, budget_tokens: int) -> Material:
    """What a model sees of a source: title, date, and the sentences that speak for it, in source order.

    The best hits come first into the budget; a source without hits shows its beginning. What was left out between two
    sentences is marked.
    """
    text, chosen = source.document.text, sorted(_fitting(source, budget_tokens), key=lambda each: each.start)
    parts: list[str] = []
    end = None
    for sentence in chosen:
        between = text[end : sentence.start] if end is not None else ""
        if between.strip():
            between = "\n[…]\n"
        parts.append(between + sentence.text)
        end = sentence.end
    head = (source.document.title, source.document.published.isoformat() if source.document.published else "")
    return Material("\n".join([*filter(None, head), "".join(parts) or text]))


def _fitting(source: Source, budget_tokens: int) -> Iterator[Sentence]:
    """The sentences that are shown; one at least, where there is one."""
    left = budget_tokens
    sentences = [hit.sentence for hit in source.hits] or list(source.sentences)
    for place, sentence in enumerate(sentences):
        cost = count_tokens(sentence.text)
        if place and cost > left:
            return
        left -= cost
        yield sentence


def _ask(rater: Rater, topic: str, *, prompt: str, values: Mapping[str, prompts.Value], tokens: int) -> Request:
    language = prompts.nearest_language(detect_language(topic))
    found = prompts.load(prompt, language, folder=rater.settings.prompts)
    rendered = prompts.render(found, values, system=rater.capabilities.system)
    most = _THINKING_TOKENS + tokens if rater.capabilities.thinking else tokens
    schema = found.schema if rater.capabilities.schema else ""
    return Request(
        rendered.messages, most, schema=schema, prompt=rendered.fingerprint, purpose=f"rating by {rater.name}"
    )


def _shown(rater: Rater, source: Source) -> Material:
    return evidence(source, budget_tokens=rater.settings.evidence_tokens)


def summary(source: Source) -> Material:
    """What ScoreRAG shows of a source: title, date and summary, for which the beginning of the text stands here."""
    document = source.document
    day = document.published.isoformat() if document.published else ""
    return Material("\n".join(filter(None, (document.title, day, document.text[:SUMMARY_CHARACTERS].strip()))))


def _for_numbers(rater: Rater, topic: str, source: Source) -> Request:
    if rater.settings.prompt == "rating-scorerag":
        shown: Mapping[str, prompts.Value] = {"topic": topic, "source": summary(source)}
        return _ask(rater, topic, prompt="rating-scorerag", values=shown, tokens=_NUMBER_TOKENS)
    values: Mapping[str, prompts.Value] = {"topic": topic, "source": _shown(rater, source)}
    return replace(_ask(rater, topic, prompt="rating", values=values, tokens=_NUMBER_TOKENS), stop=(_STOP,))


def _for_readings(rater: Rater, topic: str, source: Source) -> tuple[Request, ...]:
    one = _for_numbers(rater, topic, source)
    how = rater.settings
    return tuple(
        replace(one, temperature=how.temperature, seed=how.seed + number, reading=number)
        for number in range(how.readings)
    )


def _for_expected(rater: Rater, topic: str, source: Source) -> tuple[Request, ...]:
    wanted = min(_ALTERNATIVES, rater.capabilities.logprobs)
    return (replace(_for_numbers(rater, topic, source), top_logprobs=wanted),)


def _for_yesno(rater: Rater, topic: str, source: Source) -> tuple[Request, ...]:
    values: Mapping[str, prompts.Value] = {"topic": topic, "source": _shown(rater, source)}
    asked = _ask(rater, topic, prompt="rating-yesno", values=values, tokens=_WORD_TOKENS)
    return (replace(asked, top_logprobs=min(_ALTERNATIVES, rater.capabilities.logprobs)),)


def _for_likelihood(rater: Rater, topic: str, source: Source) -> tuple[Request, ...]:
    def given(article: Material) -> Request:
        asked = _ask(rater, topic, prompt="likelihood", values={"article": article}, tokens=1)
        return replace(asked, max_tokens=1, given=" ".join(topic.split()))

    return given(_shown(rater, source)), given(Material(""))


def _numbers(reply: Reply) -> Reading[float]:
    """The lower of the two numbers of a reply."""
    found = read_ratings(_closed(reply), names=AXES)
    if found.value is None:
        return Reading(None, found.outcome, found.reason, reply.text)
    return Reading(min(found.value), found.outcome, found.reason, reply.text)


def _closed(reply: Reply) -> Reply:
    """A reply that was ended before its reason, with the end that it would have had."""
    text = reply.text.rstrip()
    ended = reply.finish == "stop" and text.endswith(",") and text.rfind("{") > text.rfind("}")
    return replace(reply, text=f'{text} {_STOP}: ""}}') if ended else reply


def _expectations(reply: Reply) -> Reading[float]:
    """The lower of the expectations of the two numbers."""
    text = "".join(token.text for token in reply.tokens)
    found = []
    for name in AXES:
        label = re.search(rf'"?{name}"?\s*[:：]', text)
        one = expected_value(reply.tokens, after=label.group() if label else f'"{name}":')
        if one.value is None:
            return _told(one, reply, name)
        found.append((one.value, one.mass, name))
    return Reading(min(found)[0], "read", ", ".join(_expected(*one) for one in found), reply.text)


def _told(found: Expectation, reply: Reply, name: str) -> Reading[float]:
    """An expectation as a reading."""
    if found.value is None:
        outcome: Outcome = "abstained" if declines(reply.text) else found.outcome
        return Reading(None, outcome, f"{name}: {found.reason}", reply.text)
    return Reading(found.value, "read", _expected(found.value, found.mass, name), reply.text)


def _expected(value: float, mass: float, name: str) -> str:
    return f"{name} {value:.1f} (on {mass:.0%} of the probability)"


def _mean_logprob(reply: Reply) -> Reading[float]:
    values = [token.logprob for token in reply.tokens]
    if not values or not all(map(math.isfinite, values)):
        return Reading(None, "unreadable", "not every token of the topic has a log-probability", reply.text)
    return Reading(fmean(values), "read", "", reply.text)


def _of_readings(rater: Rater, values: Sequence[float], missing: Sequence[Reading[float]]) -> str:
    listed = ", ".join(f"{value:g}" for value in values)
    spread = f"; spread {pstdev(values):.1f}" if len(values) > 1 else ""
    lost = f"; {len(missing)} unreadable ({missing[0].reason})" if missing else ""
    asked = len(values) + len(missing)
    return f"{len(values)} of {asked} readings by {rater.model}: {listed}{spread}{lost}"
