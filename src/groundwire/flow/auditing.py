"""Audit a judge: have it judge answers with known properties, and say what its values can be trusted for."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import Protocol

from groundwire.core.errors import UsageError
from groundwire.core.language import LanguageModel
from groundwire.core.ports import Progress
from groundwire.core.types import Item, Judgement
from groundwire.evaluation.audit import AuditItem, AuditPlan, Judge, audit_items, plain, variants
from groundwire.evaluation.audit_figures import Figure, Values, beware, figures
from groundwire.evaluation.items import read_items
from groundwire.evaluation.judge import BuiltinJudge
from groundwire.evaluation.model_judge import JudgeSettings, correctness
from groundwire.evaluation.people import JudgeAgreement, judge_agreement
from groundwire.evaluation.rubrics import ANSWER_CORRECTNESS, Rubric
from groundwire.evaluation.sheets import Label
from groundwire.flow.judging import JudgePlan, judge_rubrics
from groundwire.flow.runs import Recording

SAMPLE = "audit.jsonl"


@dataclass(frozen=True, slots=True)
class Spent:
    """What judging came to: calls that were made, and of those tokens and seconds. 0 calls: nobody was asked.

    A reply that the ledger had is no call.
    """

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    seconds: float = 0.0


class AuditedJudge(Judge, Protocol):
    """A judge that says what it is, what it had to give up, and what it has spent."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What must stand beside its values."""

    def spent(self) -> Spent:
        """Everything since it was made."""


class BuiltIn:
    """The built-in judge as it is audited: every try judges anew."""

    name = "builtin"
    notes: tuple[str, ...] = ()

    def __init__(self, judge: BuiltinJudge) -> None:
        """Audit this one."""
        self._judge = judge
        self._seconds = 0.0

    def judge(
        self, items: Sequence[Item], *, rubrics: Sequence[Rubric], tries: int = 1
    ) -> tuple[tuple[Judgement, ...], ...]:
        """Judge all items, as often as asked."""
        before = time.perf_counter()
        found = tuple(self._judge.judge(items, rubrics=rubrics) for _ in range(tries))
        self._seconds += time.perf_counter() - before
        return found

    def spent(self) -> Spent:
        """No calls; the seconds that it took."""
        return Spent(seconds=self._seconds)


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
        self._model, self._recording, self._settings, self._progress = model, recording, settings, progress

    def judge(
        self, items: Sequence[Item], *, rubrics: Sequence[Rubric], tries: int = 1
    ) -> tuple[tuple[Judgement, ...], ...]:
        """Judge all items; the readings of several tries are taken apart again.

        Raises:
            UsageError: several tries would all be the same reply.
            ModelError, BudgetReached, CannotDo: as ``traffic.ask``.
        """
        heat = self._settings.heat
        settings = replace(self._settings, repeats=tries, temperature=heat)
        rows, notes = judge_rubrics(
            items,
            model=self._model,
            recording=self._recording,
            plan=JudgePlan(settings, tuple(rubrics)),
            progress=self._progress,
        )
        self.notes = tuple(dict.fromkeys((*self.notes, *filter(None, notes))))
        known = {(item.system, item.id): item for item in items}
        wanted = {rubric.name for rubric in rubrics}
        kept = [row for row in rows if row.rubric in wanted]
        return tuple(
            tuple(_try(row, known[row.system, row.item_id], number=number, mode=settings.mode) for row in kept)
            for number in range(1, tries + 1)
        )

    def spent(self) -> Spent:
        """What the run's calls came to, those that failed included."""
        bill = self._recording.ledger.bill(self._recording.run)
        return Spent(bill.answered + bill.failed, bill.input_tokens, bill.output_tokens, bill.seconds)


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
        judge: its name, and the fingerprint of its values.
        fingerprint: see there.
        source: where the items are from.
        items: how many.
        answers: that were judged, every variant and try counted.
        figures: probe by probe, then rubric by rubric.
        people: agreement with people, where labels were given.
        spent: calls, tokens and seconds of all answers together.
        beware: what to be careful with, in words.
        notes: of the judge, and of items that were left out.
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
        """Everything as plain values, for JSON."""
        plan = self.plan
        how = {"probes": plan.probes, "repeats": plan.repeats, "rubrics": [rubric.name for rubric in plan.rubrics],
               "level": plan.level, "resamples": plan.resamples, "seed": plan.seed}  # fmt: skip
        fields = asdict(self)
        return fields | {"plan": how, "per_answer": self.per_answer}

    @property
    def per_answer(self) -> Mapping[str, float]:
        """Calls, tokens and seconds an answer, all answers counted that were judged."""
        return {name: value / self.answers for name, value in asdict(self.spent).items()}


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
    """Items of a file, as ``judge`` reads them.

    Raises:
        UsageError: fewer than 2 can be audited.
        UnreadableInput: the file cannot be read.
    """
    reading = read_items(path, mapping=mapping)
    notes = [f"row {reject.line} rejected: {reject.reason}" for reject in reading.rejects]
    items = audit_items(reading.items)
    left = len(reading.items) - len(items)
    if left:
        notes.append(f"{left} items without an answer, or with a refusal, were left out")
    notes.append("wrong answers are those of other items, and filler repeats the question")
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

    Args:
        judge: ``BuiltIn`` or ``ByModel``.
        source: 2 items or more.
        plan: what is measured.
        labels: of people on ``source.labelled``; agreement with them is measured too.

    Raises:
        UsageError: labels were given for items that are not there, or share no rubric with the plan.
        ModelError, BudgetReached, CannotDo: as ``traffic.ask``.
    """
    how = plan or AuditPlan()
    right = plain(source.items)
    tries = judge.judge(right, rubrics=how.rubrics, tries=how.repeats if "repeats" in how.probes else 1)
    changed = variants(source.items, plan=how)
    (rows,) = judge.judge(changed, rubrics=how.rubrics) if changed else ((),)
    people, labelled = _beside_people(judge, source, labels=labels, plan=how) if labels else ((), 0)
    found = figures(Values(rows, tries), source.items, plan=how)
    return Audit(
        judge=judge.name,
        fingerprint=tries[0][0].judge,
        source=source.name,
        items=len(source.items),
        answers=len(right) * len(tries) + len(changed) + labelled,
        figures=found,
        people=people,
        spent=judge.spent(),
        beware=beware(found),
        notes=(*source.notes, *judge.notes),
        plan=how,
    )


def _beside_people(
    judge: Judge, source: AuditSource, *, labels: Sequence[Label], plan: AuditPlan
) -> tuple[tuple[JudgeAgreement, ...], int]:
    """Agreement under the rubrics that people labelled by, and how many answers were judged for it."""
    rubrics = [rubric for rubric in plan.rubrics if any(label.rubric == rubric.name for label in labels)]
    wanted = {(label.item_id, system) for label in labels for system in label.systems}
    items = [item for item in source.labelled if (item.id, item.system) in wanted]
    absent = wanted - {(item.id, item.system) for item in items}
    if absent or not rubrics:
        what = (
            f"{len(absent)} labelled texts are not among the items, as {min(absent)}" if absent else "no rubric of the"
        )
        raise UsageError(
            what if absent else f"{what} labels is one of {', '.join(rubric.name for rubric in plan.rubrics)}"
        )
    (rows,) = judge.judge(items, rubrics=rubrics)
    return judge_agreement(labels, rows, level=plan.level, seed=plan.seed), len(items)
