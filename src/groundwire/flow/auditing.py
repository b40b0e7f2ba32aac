"""Audit a judge: have it judge answers with known properties, and say what its values can be trusted for."""

from __future__ import annotations

import json
import math
import random
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from dataclasses import fields as dataclass_fields
from importlib.resources import files
from pathlib import Path
from typing import Protocol

from groundwire.core.errors import UsageError
from groundwire.core.language import LanguageModel
from groundwire.core.ports import Progress
from groundwire.core.types import Item, Judgement
from groundwire.evaluation.audit import AuditItem, AuditPlan, Judge, Probe, audit_items, left_out, plain, variants
from groundwire.evaluation.audit_figures import Figure, Values, beware, figures
from groundwire.evaluation.items import read_items
from groundwire.evaluation.judge import BuiltinJudge
from groundwire.evaluation.model_judge import JudgeSettings, ModelJudge, calls, correctness, model_judge
from groundwire.evaluation.people import JudgeAgreement, judge_agreement
from groundwire.evaluation.rubrics import ANSWER_CORRECTNESS, Rubric
from groundwire.evaluation.sheets import PREFERENCE, Label
from groundwire.flow.judging import JudgePlan, judge_rubrics
from groundwire.flow.runs import Recording

SAMPLE = "audit.jsonl"


@dataclass(frozen=True, slots=True)
class Spent:
    """What judging comes to where each answer is judged alone, whoever paid for the replies.

    Attributes:
        answers: that took the judge something; a model is not asked about a refusal that is known as one.
        requests: about all of them, those that asked once more included.
        input_tokens: of these requests.
        output_tokens: of their replies.
        seconds: of the calls when they were made; of the built-in judge its own.
    """

    answers: int = 0
    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    seconds: float = 0.0

    @property
    def per_answer(self) -> Mapping[str, float]:
        """Requests, tokens and seconds of one answer; nan where there was none."""
        counted = {name: value for name, value in asdict(self).items() if name != "answers"}
        return {name: value / self.answers if self.answers else math.nan for name, value in counted.items()}


class AuditedJudge(Judge, Protocol):
    """A judge that says what it is, what it cannot be asked, what it had to give up, and what it has spent."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What must stand beside its values."""

    def fingerprint(self, rubrics: Sequence[Rubric]) -> str:
        """Of its values under these rubrics, as it gives them to one try."""

    def cannot(self) -> Mapping[Probe, str]:
        """Probes that would show nothing of it, with the reason."""

    def spent(self) -> Spent:
        """Everything since it was made."""


class BuiltIn:
    """The built-in judge as it is audited: every try judges anew."""

    name = "builtin"
    notes: tuple[str, ...] = ()

    def __init__(self, judge: BuiltinJudge) -> None:
        """Audit this one."""
        self._judge = judge
        self._seconds, self._answers = 0.0, 0

    def fingerprint(self, rubrics: Sequence[Rubric]) -> str:  # noqa: ARG002  the same for all
        """That of the judge."""
        return self._judge.fingerprint

    def cannot(self) -> Mapping[Probe, str]:
        """It writes no reply."""
        return {"places": "this judge gives its values in no order"}

    def judge(
        self, items: Sequence[Item], *, rubrics: Sequence[Rubric], tries: int = 1
    ) -> tuple[tuple[Judgement, ...], ...]:
        """Judge all items, as often as asked."""
        before = time.perf_counter()
        found = tuple(self._judge.judge(items, rubrics=rubrics) for _ in range(tries))
        self._seconds += time.perf_counter() - before
        self._answers += len(items) * tries
        return found

    def spent(self) -> Spent:
        """No requests; the seconds that it took."""
        return Spent(self._answers, seconds=self._seconds)


class ByModel:
    """A language model as it is audited: tries are readings with the following seeds, and rubrics in another order."""

    def __init__(
        self,
        model: LanguageModel,
        *,
        recording: Recording,
        settings: JudgeSettings,
        progress: Progress | None = None,
    ) -> None:
        """Audit a model that judges in this way, in a run."""
        self.name = model.id
        self.notes: tuple[str, ...] = ()
        self._settings = replace(settings, repeats=1)
        self._model, self._recording, self._progress = model, recording, progress
        self._asked: list[list[str]] = []

    def fingerprint(self, rubrics: Sequence[Rubric]) -> str:
        """That of ``judge --model`` with these settings: what is found out is true of such values.

        Raises:
            ModelError: the model cannot be asked what it can do.
        """
        return self._judge(self._settings, rubrics).fingerprint

    def _judge(self, settings: JudgeSettings, rubrics: Sequence[Rubric]) -> ModelJudge:
        able = self._recording.capabilities(self._model)
        return model_judge(self._model.id, capabilities=able, settings=settings, rubrics=rubrics)

    def cannot(self) -> Mapping[Probe, str]:
        """What the mode, the order or the temperature leaves no room for."""
        how = self._settings
        drawn = how.mode == "shared" and how.shuffled
        reasons: dict[Probe, str] = {}
        if not drawn:
            reasons["places"] = "the rubrics are asked for one by one, or in one order"
        if not drawn and how.heat == 0:
            reasons["repeats"] = "at temperature 0 and in one order every try is the same request"
        return reasons

    def judge(
        self, items: Sequence[Item], *, rubrics: Sequence[Rubric], tries: int = 1
    ) -> tuple[tuple[Judgement, ...], ...]:
        """Judge all items; the readings of several tries are taken apart again.

        Raises:
            UsageError: several tries would all be the same reply.
            ModelError, BudgetReached, CannotDo: as ``traffic.ask``.
        """
        settings = replace(self._settings, repeats=tries, temperature=self._settings.heat)
        rows, notes = judge_rubrics(
            items,
            model=self._model,
            recording=self._recording,
            plan=JudgePlan(settings, tuple(rubrics)),
            progress=self._progress,
        )
        self.notes = tuple(dict.fromkeys((*self.notes, *filter(None, notes))))
        self._count(items, self._judge(settings, rubrics))
        known = {(item.system, item.id): item for item in items}
        wanted = {rubric.name for rubric in rubrics}
        kept = [row for row in rows if row.rubric in wanted]
        return tuple(
            tuple(_try(row, known[row.system, row.item_id], number=number, mode=settings.mode) for row in kept)
            for number in range(1, tries + 1)
        )

    def _count(self, items: Sequence[Item], judge: ModelJudge) -> None:
        """Keep which requests each answer took, a try each."""
        for item in items:
            by_try: dict[int, list[str]] = {}
            for call in calls(judge, item):
                by_try.setdefault(call.repeat, []).append(call.request.key(self._model.id))
            self._asked += by_try.values()

    def spent(self) -> Spent:
        """What the answers take: a request that two of them share counts for both, one about an unread reply once."""
        ledger, run = self._recording.ledger, self._recording.run
        first = [key for keys in self._asked for key in keys]
        known = set(first)
        every = first + [use.key for use in ledger.uses(run) if use.key not in known]
        replies = ledger.replies(set(every), used_by=run)
        held = [replies[key] for key in every if key in replies]
        return Spent(
            answers=len(self._asked),
            requests=len(every),
            input_tokens=sum(one.reply.usage.input_tokens for one in held),
            output_tokens=sum(one.reply.usage.output_tokens for one in held),
            seconds=math.fsum(one.seconds for one in held),
        )


def _try(row: Judgement, item: Item, *, number: int, mode: str) -> Judgement:
    """One reading out of a judgement of several."""
    parts = dict(row.parts)
    reading = parts.get(f"reading_{number}")
    own = tuple((name, value) for name, value in row.parts if name in (f"reading_{number}", f"place_{number}"))
    if reading is None:
        outcome = row.outcome if row.value is None else "unreadable"
        return replace(row, value=None, outcome=outcome, parts=own)
    value = reading
    if row.rubric == ANSWER_CORRECTNESS.name:
        value = correctness(item, reading)["paper_value" if mode == "paper" else "graded_value"]
    return replace(row, value=round(value, 4), parts=own)


@dataclass(frozen=True, slots=True)
class Audit:
    """What was found out about a judge.

    Attributes:
        judge: its name.
        fingerprint: of its values; see there.
        source: where the items are from.
        items: how many.
        answers: that were judged, every variant and try counted.
        figures: probe by probe, figure by figure, rubric by rubric.
        people: agreement with people, where labels were given.
        spent: what they came to; ``spent.per_answer`` is for one.
        beware: what to be careful with, in words.
        notes: probes that were left out, and what else must be known of judge and items.
        plan: what was measured, with the seed.
    """

    judge: str
    fingerprint: str
    source: str
    items: int
    answers: int
    figures: tuple[Figure, ...]
    people: tuple[JudgeAgreement, ...]
    spent: Spent
    beware: tuple[str, ...]
    notes: tuple[str, ...]
    plan: AuditPlan

    def facts(self) -> dict[str, object]:
        """Everything as plain values, for JSON; nan where nothing could be measured."""
        plan = self.plan
        how = {"probes": plan.probes, "repeats": plan.repeats, "rubrics": [rubric.name for rubric in plan.rubrics],
               "level": plan.level, "resamples": plan.resamples, "seed": plan.seed}  # fmt: skip
        fields = {field.name: getattr(self, field.name) for field in dataclass_fields(self)}
        many = {name: [asdict(one) for one in fields[name]] for name in ("figures", "people")}
        return fields | many | {"spent": asdict(self.spent), "per_answer": self.spent.per_answer, "plan": how}


@dataclass(frozen=True, slots=True)
class AuditSource:
    """The items of an audit; ``labelled`` are those that people may have labelled, ``notes`` what was left out."""

    name: str
    items: tuple[AuditItem, ...]
    labelled: tuple[Item, ...] = ()
    notes: tuple[str, ...] = ()


def sample_items() -> AuditSource:
    """The items that come with groundwire: 24 of our own, English and Traditional Chinese."""
    lines = files("groundwire.sample").joinpath(SAMPLE).read_text(encoding="utf-8").splitlines()
    found = []
    for row in map(json.loads, lines):
        item = Item(row["id"], row["question"], tuple(row["contexts"]), row["answer"], row["reference"])
        found.append(AuditItem(item, row["wrong"], row["filler"]))
    return AuditSource("sample:audit", tuple(found))


def items_of(path: Path, *, mapping: Mapping[str, str] | None = None) -> AuditSource:
    """Items of a file, as ``judge`` reads them; their answers are taken for right.

    Raises:
        UsageError: fewer than 2 can be audited.
        UnreadableInput: the file cannot be read.
    """
    reading = read_items(path, mapping=mapping)
    notes = [f"row {reject.line} rejected: {reject.reason}" for reject in reading.rejects]
    items = audit_items(reading.items)
    left = len(reading.items) - len(items)
    if left:
        notes.append(f"{left} items were left out: no answer, a refusal, or a further answer to the same question")
    notes.append(
        "the answers are taken for right, wrong ones are those to other questions, filler repeats the question"
    )
    return AuditSource(path.name, items, reading.items, tuple(notes))


def drawn(source: AuditSource, n: int, *, seed: int) -> AuditSource:
    """Some of the items, at random; all where there are no more.

    Raises:
        UsageError: fewer than 2 are asked for.
    """
    if n < 2:
        raise UsageError(f"{n} items were asked for; an audit takes 2 or more")
    if n >= len(source.items):
        return source
    kept = random.Random(seed).sample(range(len(source.items)), n)  # noqa: S311  nothing is secret here
    return replace(source, items=tuple(source.items[place] for place in sorted(kept)))


def audit(
    judge: AuditedJudge, source: AuditSource, *, plan: AuditPlan | None = None, labels: Sequence[Label] = ()
) -> Audit:
    """Have a judge judge variants of answers, and read off how far it can be trusted.

    Probes that this judge, these items or these rubrics cannot be asked for are left out; ``notes`` say so.

    Args:
        judge: ``BuiltIn`` or ``ByModel``.
        source: 2 items or more.
        plan: what is measured.
        labels: of people on ``source.labelled``, or preferences; agreement with them is measured too.

    Raises:
        UsageError: no probe is left, or labels were given for items that are not there, or for other rubrics.
        ModelError, BudgetReached, CannotDo: as ``traffic.ask``.
    """
    asked, without = _possible(judge, source, plan or AuditPlan())
    labelled = _labelled(source, labels, plan=asked) if labels else _Labelled((), ())
    right = plain(source.items)
    several = {"repeats", "places"} & set(asked.probes)
    tries = judge.judge(right, rubrics=asked.rubrics, tries=asked.repeats if several else 1)
    changed = variants(source.items, plan=asked)
    (rows,) = judge.judge(changed, rubrics=asked.rubrics) if changed else ((),)
    people: tuple[JudgeAgreement, ...] = ()
    if labels:
        (judged,) = judge.judge(labelled.items, rubrics=labelled.rubrics)
        beside = judge_agreement(labels, judged, level=asked.level, seed=asked.seed)
        people = tuple(replace(one, powered=()) for one in beside)
    found = figures(Values(rows, tries), source.items, plan=asked)
    return Audit(
        judge=judge.name,
        fingerprint=judge.fingerprint(asked.rubrics),
        source=source.name,
        items=len(source.items),
        answers=len(right) * len(tries) + len(changed) + len(labelled.items),
        figures=found,
        people=people,
        spent=judge.spent(),
        beware=beware(found),
        notes=(*without, *source.notes, *judge.notes),
        plan=asked,
    )


def _possible(judge: AuditedJudge, source: AuditSource, plan: AuditPlan, /) -> tuple[AuditPlan, tuple[str, ...]]:
    """The plan without what cannot be asked for, and what is left out in words."""
    reasons = {**left_out(source.items, plan=plan), **judge.cannot()}
    without = tuple(f"{probe}: left out, {reasons[probe]}" for probe in plan.probes if probe in reasons)
    probes = tuple(probe for probe in plan.probes if probe not in reasons)
    if not probes:
        raise UsageError(f"no probe is left. {'; '.join(without)}")
    return replace(plan, probes=probes), without


@dataclass(frozen=True, slots=True)
class _Labelled:
    """What people labelled, and the rubrics that a judge is held against."""

    items: tuple[Item, ...]
    rubrics: tuple[Rubric, ...]


def _labelled(source: AuditSource, labels: Sequence[Label], *, plan: AuditPlan) -> _Labelled:
    """Found before anything is paid for; a preference is held against the differences under every rubric."""
    named = {label.rubric for label in labels}
    rubrics = tuple(rubric for rubric in plan.rubrics if rubric.name in named or PREFERENCE in named)
    if not rubrics:
        ours = ", ".join(rubric.name for rubric in plan.rubrics)
        raise UsageError(f"the labels are of {', '.join(sorted(named))}, and the audit of {ours}")
    wanted = {(label.item_id, system) for label in labels for system in label.systems}
    items = tuple(item for item in source.labelled if (item.id, item.system) in wanted)
    absent = sorted(wanted - {(item.id, item.system) for item in items})
    if absent:
        item, system = absent[0]
        raise UsageError(
            f"{len(absent)} of {len(wanted)} labelled texts are not among the items, such as that of system '{system}'"
            f" for item '{item}'. Give the items that the sheet was made of"
        )
    return _Labelled(items, rubrics)
