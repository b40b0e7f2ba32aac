"""Judge answers by the five rubrics of CCRS with any language model: what it is asked, and what is made of its replies.

In ``paper`` mode every rubric is a call of its own, and answer correctness is 0.7 x exact match + 0.3 x the judge, as
published. In ``shared`` mode one call notes the evidence once and gives all five values; answer correctness takes a
graded match in the place of the exact one. Refusals are told before anybody is asked; what could not be read is
unscored.

Source: CCRS (arXiv:2506.20128); the prompts are ours.
"""

from __future__ import annotations

import hashlib
import json
import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import fmean, stdev
from typing import Literal

from groundwire.core import prompts
from groundwire.core.answers import Answer
from groundwire.core.errors import UsageError
from groundwire.core.language import Capabilities, Reply, Request
from groundwire.core.prompts import Material, Prompt
from groundwire.core.ratings import read_ratings
from groundwire.core.replies import Reading, repair_request, spoken, stopped
from groundwire.core.text import detect_language
from groundwire.core.types import Item, Judgement, Outcome
from groundwire.evaluation import measures
from groundwire.evaluation.judge_replies import ALTERNATIVES, STOP, closed, expectation_of
from groundwire.evaluation.rubrics import (
    ANSWER_CORRECTNESS,
    ANSWER_CORRECTNESS_GRADED,
    CCRS,
    CHOSEN,
    Parts,
    Rubric,
    graded_match,
    match_parts,
)

Mode = Literal["paper", "shared"]

VERSION = 2
"""Goes up when a formula changes, so that old and new values are never compared."""

_NUMBER_TOKENS, _EVIDENCE_TOKENS, _THINKING_TOKENS = 48, 420, 2048
_SEVERAL_TEMPERATURE = 0.7
_WORDS = {"en": "number", "zh-TW": "數字", "zh-CN": "数字"}


@dataclass(frozen=True, slots=True)
class JudgeSettings:
    """How a model judges.

    Attributes:
        mode: ``paper``: a call a rubric; ``shared``: one call an answer.
        expected: take the expectation over the tokens that each number could have been, where the model tells them.
        repeats: how often each answer is judged; 1 and up.
        temperature: of the replies; None: 0 for one reading, 0.7 for several.
        shuffled: in ``shared`` mode, give the five values in an order drawn for each item and repeat, the same for all
            systems; otherwise always in the order of the paper.
        seed: of the first repeat, each further one taking the next, and of the orders.
        prompts: a folder with prompts of the user's own.

    Raises:
        UsageError: a number is out of range, or several readings are all to be the same.
    """

    mode: Mode = "shared"
    expected: bool = False
    repeats: int = 1
    temperature: float | None = None
    shuffled: bool = True
    seed: int = 0
    prompts: Path | None = None

    def __post_init__(self) -> None:
        if self.repeats < 1 or not 0 <= self.heat < math.inf:
            raise UsageError(
                f"repeats is {self.repeats} and temperature {self.temperature}; take 1 or more repeats at 0 or above"
            )
        if self.repeats > 1 and self.heat == 0 and (self.mode == "paper" or not self.shuffled):
            raise UsageError(
                f"{self.repeats} repeats at temperature 0 would all be the same reply; raise it, or judge once"
            )

    @property
    def heat(self) -> float:
        """The temperature that is used."""
        if self.temperature is not None:
            return self.temperature
        return _SEVERAL_TEMPERATURE if self.repeats > 1 else 0.0


@dataclass(frozen=True, slots=True)
class ModelJudge:
    """A model that judges by these rubrics; ``note`` says what it had to give up, empty where nothing."""

    model: str
    capabilities: Capabilities
    settings: JudgeSettings = JudgeSettings()
    rubrics: tuple[Rubric, ...] = CCRS
    note: str = ""

    @property
    def prompt(self) -> str:
        """The name of its prompt."""
        return f"rubrics-ccrs-{self.settings.mode}"

    @property
    def fingerprint(self) -> str:
        """Names model, mode, prompts and parameters: values of different fingerprints are not comparable."""
        how = {name: value for name, value in asdict(self.settings).items() if name != "prompts"}
        used = [prompts.load(self.prompt, tag, folder=self.settings.prompts).fingerprint for tag in prompts.LANGUAGES]
        together = [rubric.name for rubric in self.rubrics] if self.settings.mode == "shared" else []
        told = json.dumps([VERSION, how, self.settings.heat, used, together, asdict(CHOSEN)], sort_keys=True)
        return f"{self.model}/ccrs-{self.settings.mode}/{hashlib.sha256(told.encode()).hexdigest()[:12]}"


@dataclass(frozen=True, slots=True)
class Call:
    """One request about one item: the rubrics whose values it asks for, in the order of the reply, and its repeat."""

    item: Item
    rubrics: tuple[Rubric, ...]
    repeat: int
    request: Request


@dataclass(frozen=True, slots=True)
class Given:
    """What one call gave for one rubric; ``place``, from 1, is where in the reply the value stood."""

    rubric: Rubric
    repeat: int
    place: int
    reading: Reading[float]


def model_judge(
    model: str,
    *,
    capabilities: Capabilities,
    settings: JudgeSettings | None = None,
    rubrics: Sequence[Rubric] = CCRS,
) -> ModelJudge:
    """A judge that the model can be; without log-probabilities nothing is ``expected``, and it says so."""
    wanted = settings or JudgeSettings()
    if wanted.expected and not capabilities.logprobs:
        note = f"'{model}' gives no log-probabilities: its numbers are read in place of their expectation"
        return ModelJudge(model, capabilities, replace(wanted, expected=False), tuple(rubrics), note)
    return ModelJudge(model, capabilities, wanted, tuple(rubrics))


def calls(judge: ModelJudge, item: Item) -> tuple[Call, ...]:
    """What the judge is asked about one item: nothing where the answer is empty or a refusal."""
    asked = tuple(rubric for rubric in judge.rubrics if without_value(item, rubric) is None)
    if not asked:
        return ()
    found: list[Call] = []
    for repeat in range(judge.settings.repeats):
        if judge.settings.mode == "shared":
            order = ordered(judge, item, repeat=repeat)
            held = tuple(rubric for rubric in order if rubric in asked)
            found.append(Call(item, held, repeat, _shared(judge, item, order=order, held=held, repeat=repeat)))
        else:
            found += [Call(item, (rubric,), repeat, _single(judge, item, rubric=rubric, repeat=repeat))
                      for rubric in asked]  # fmt: skip
    return tuple(found)


def ordered(judge: ModelJudge, item: Item, *, repeat: int) -> tuple[Rubric, ...]:
    """The order in which a reply gives the values; the same for every system's answer to one item."""
    order = list(judge.rubrics)
    if judge.settings.shuffled:
        random.Random(f"{judge.settings.seed}/{repeat}/{item.id}").shuffle(order)  # noqa: S311  nothing is secret here
    return tuple(order)


def _single(judge: ModelJudge, item: Item, *, rubric: Rubric, repeat: int) -> Request:
    prompt = _prompt(judge, item)
    slots = {slot.name for slot in prompt.used(rubric.name)}
    values = {name: value for name, value in _values(item).items() if name in slots}
    rendered = prompts.render(prompt, values, part=rubric.name, system=judge.capabilities.system)
    return replace(_request(judge, rendered, schema=prompt.schema, repeat=repeat), stop=(STOP,))


def _shared(judge: ModelJudge, item: Item, *, order: Sequence[Rubric], held: Sequence[Rubric], repeat: int) -> Request:
    prompt = _prompt(judge, item)
    word = _WORDS[prompt.language]
    told = ", ".join(f'"{rubric.name}": {word if rubric in held else "null"}' for rubric in order)
    values: dict[str, prompts.Value] = {**_values(item), "order": told}
    rendered = prompts.render(prompt, values, system=judge.capabilities.system)
    request = _request(judge, rendered, schema=_schema(order, held), repeat=repeat)
    return replace(request, max_tokens=request.max_tokens + _EVIDENCE_TOKENS)


def _schema(order: Sequence[Rubric], held: Sequence[Rubric]) -> str:
    """The reply's form in the order that was drawn, for models that write along a schema."""
    number = {"type": "integer", "minimum": 0, "maximum": 100}
    properties: dict[str, object] = {"evidence": {"type": "string"}}
    properties |= {rubric.name: number if rubric in held else {"type": "null"} for rubric in order}
    return json.dumps(
        {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}
    )


def _values(item: Item) -> dict[str, prompts.Value]:
    contexts = [context for context in item.contexts if context.strip()]
    values: dict[str, prompts.Value] = {"question": Material(item.question), "answer": Material(item.answer)}
    if contexts:  # in one fence: a code costs a model some 20 tokens
        lines = prompts.id_lines((f"[{number}]", context) for number, context in enumerate(contexts, 1))
        values["contexts"] = Material(lines)
    if item.reference and item.reference.strip():
        values["reference"] = Material(item.reference)
    return values


def _request(judge: ModelJudge, rendered: prompts.Rendered, *, schema: str, repeat: int) -> Request:
    able, how = judge.capabilities, judge.settings
    return Request(
        rendered.messages,
        _NUMBER_TOKENS + (_THINKING_TOKENS if able.thinking else 0),
        temperature=how.heat,
        seed=how.seed + repeat if how.heat else None,
        schema=schema if able.schema else "",
        top_logprobs=min(ALTERNATIVES, able.logprobs) if how.expected else 0,
        reading=repeat,
        prompt=rendered.fingerprint,
        purpose="judging",
    )


def _prompt(judge: ModelJudge, item: Item) -> Prompt:
    return prompts.load(judge.prompt, _language(item), folder=judge.settings.prompts)


def _language(item: Item) -> str:
    return prompts.nearest_language(detect_language(f"{item.question} {item.answer}"))


def read(judge: ModelJudge, call: Call, *, answer: Answer) -> tuple[Given, ...]:
    """The value of each rubric of a call, or why there is none."""
    single = judge.settings.mode == "paper"
    readings = [_reading(judge, "score" if single else rubric.name, answer=answer) for rubric in call.rubrics]
    places = {rubric: place for place, rubric in enumerate(ordered(judge, call.item, repeat=call.repeat), 1)}
    return tuple(
        Given(rubric, call.repeat, 1 if single else places[rubric], reading)
        for rubric, reading in zip(call.rubrics, readings, strict=True)
    )


def _reading(judge: ModelJudge, name: str, *, answer: Answer) -> Reading[float]:
    if answer.reply is None:
        return Reading(None, "unreadable", f"no reply: {answer.failure.reason if answer.failure else 'none came'}")
    reply: Reply = answer.reply
    halted = stopped(reply, text=spoken(reply)[0])
    if halted is not None:
        return Reading(None, *halted, reply.text)
    if judge.settings.expected:
        return expectation_of(reply, name, low=0, high=100)
    found = read_ratings(closed(reply), names=(name,))
    value = None if found.value is None else found.value[0]
    return Reading(value, found.outcome, found.reason, reply.text)


def repair(judge: ModelJudge, call: Call, *, answer: Answer, given: Sequence[Given]) -> Request | None:
    """The one further call where a value could not be read; None where there is nothing to repair."""
    lost = [one.reading for one in given if one.reading.value is None]
    if not lost or answer.reply is None:
        return None
    return repair_request(answer.request, lost[0], language=_language(call.item), folder=judge.settings.prompts)


def repaired(before: Sequence[Given], after: Sequence[Given]) -> tuple[Given, ...]:
    """What was read at once stays; the rest is what the further call gave."""
    return tuple(
        one if one.reading.value is not None else _again(one, two) for one, two in zip(before, after, strict=True)
    )


def _again(before: Given, after: Given) -> Given:
    if after.reading.value is not None:
        why = f"asked once more: {before.reading.reason}"
        return replace(after, reading=replace(after.reading, outcome="recovered", reason=why))
    why = f"{before.reading.reason}; asked once more: {after.reading.reason}"
    return replace(after, reading=after.reading.without_value(after.reading.outcome, why))


def judgements(judge: ModelJudge, item: Item, *, given: Sequence[Given]) -> tuple[Judgement, ...]:
    """A judgement a rubric; in ``paper`` mode answer correctness has a further one with the graded match.

    Parts hold every reading that was read (``reading_1``) with its place in the reply (``place_1``), how many could not
    be read, their spread, and for answer correctness what the judge said (``judge``, 0 to 100) and the matches.
    """
    rows: list[Judgement] = []
    for rubric in judge.rubrics:
        mine = [one for one in given if one.rubric == rubric]
        rows.append(_judgement(judge, item, rubric=rubric, given=mine))
        if rubric == ANSWER_CORRECTNESS and judge.settings.mode == "paper":
            rows.append(_graded(rows[-1]))
    return tuple(rows)


def _judgement(judge: ModelJudge, item: Item, *, rubric: Rubric, given: Sequence[Given]) -> Judgement:
    values = [one.reading.value for one in given if one.reading.value is not None]
    outcome, reason = without_value(item, rubric) or _said(given)
    parts = _kept(given) if given else _answerable(item, outcome)
    value = fmean(values) if values else None
    if value is not None and rubric == ANSWER_CORRECTNESS:
        parts |= correctness(item, value)
        value = parts["paper_value" if judge.settings.mode == "paper" else "graded_value"]
    return Judgement(
        item_id=item.id,
        system=item.system,
        rubric=rubric.name,
        value=None if value is None else round(value, 4),
        outcome=outcome,
        judge=judge.fingerprint,
        reason=reason,
        parts=tuple((name, round(part, 6)) for name, part in parts.items()),
    )


def correctness(item: Item, opinion: float) -> Parts:
    """Answer correctness from a judge's opinion, 0 to 100: as published, and with a graded match, both 0 to 100."""
    reference = item.reference or ""
    parts = match_parts(item.answer, reference)
    wanted, known = frozenset(measures.terms(reference)), frozenset(measures.terms(item.question))
    new = wanted - known or wanted
    parts["terms"] = measures.coverage(new, frozenset(measures.terms(item.answer))) if new else 0.0
    match, share = graded_match(parts), CHOSEN.match_share
    return {
        "judge": opinion,
        "exact_match": parts["exact_match"],
        "match": match,
        "paper_value": 100 * share * parts["exact_match"] + (1 - share) * opinion,
        "graded_value": 100 * share * match + (1 - share) * opinion,
    }


def _graded(row: Judgement) -> Judgement:
    """The same with the graded match in the place of the exact one, as a column of our own."""
    value = dict(row.parts).get("graded_value")
    return replace(row, rubric=ANSWER_CORRECTNESS_GRADED.name, value=None if value is None else round(value, 4))


def _kept(given: Sequence[Given]) -> Parts:
    parts: Parts = {}
    for one in given:
        if one.reading.value is not None:
            parts[f"reading_{one.repeat + 1}"] = one.reading.value
            parts[f"place_{one.repeat + 1}"] = float(one.place)
    values = [one.reading.value for one in given if one.reading.value is not None]
    if len(values) > 1:
        parts["spread"] = stdev(values)
    return parts | {"unread": float(len(given) - len(values))}


def _answerable(item: Item, outcome: Outcome) -> Parts:
    return {"answerable": float(_has_answer(item))} if outcome == "abstained" else {}


def _has_answer(item: Item) -> bool:
    return item.reference is not None and not measures.holds_no_answer(item.reference)


def without_value(item: Item, rubric: Rubric) -> tuple[Outcome, str] | None:
    """Why an item gets no value under a rubric whatever a judge says; None where it can get one."""
    if not item.answer.strip():
        return "unreadable", "the answer is empty"
    if measures.is_refusal(item.answer):
        return (
            "abstained",
            f"the answer is a refusal, and the reference holds {'an' if _has_answer(item) else 'no'} answer",
        )
    held: Mapping[str, bool] = {
        "question": True,
        "answer": True,
        "contexts": any(context.strip() for context in item.contexts),
        "reference": bool(item.reference and item.reference.strip()),
    }
    lacking = [need for need in rubric.needs if not held[need]]
    return ("unreadable", f"no words in: {', '.join(lacking)}") if lacking else None


def _said(given: Sequence[Given]) -> tuple[Outcome, str]:
    """The outcome of all readings together, and what was wrong with the first that had something wrong."""
    missing = [one.reading for one in given if one.reading.value is None]
    if len(missing) == len(given):
        return (missing[0].outcome, missing[0].reason) if missing else ("unreadable", "nothing was asked")
    if missing:
        return "recovered", f"{len(missing)} of {len(given)} readings unread: {missing[0].reason}"
    mended = [one.reading.reason for one in given if one.reading.outcome == "recovered"]
    return ("recovered", mended[0]) if mended else ("read", "")
