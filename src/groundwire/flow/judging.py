"""Judge answers with language models through the ledger: rubrics, claims, and several judges together."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import chain
from pathlib import Path

from groundwire.core.answers import Answer
from groundwire.core.errors import UsageError
from groundwire.core.language import LanguageModel, Request
from groundwire.core.ports import Progress
from groundwire.core.prompts import LANGUAGES, load
from groundwire.core.types import Item, Judgement
from groundwire.evaluation import claim_calls, model_judge
from groundwire.evaluation.claim_calls import Check, ClaimJudge
from groundwire.evaluation.claim_measures import Claims, ClaimTable, Truth, asks_answer, claim_judgements, contexts_of
from groundwire.evaluation.comparisons import Options
from groundwire.evaluation.judge_replies import Places, places, scale_note
from groundwire.evaluation.jury import JurorStanding, Turn, Voting, jurors, jury, jury_agreement, turns
from groundwire.evaluation.kinship import families, kinship
from groundwire.evaluation.model_judge import Call, Given, JudgeSettings, ModelJudge
from groundwire.evaluation.rater_agreement import Agreement
from groundwire.evaluation.rubrics import CCRS, Rubric
from groundwire.evaluation.stats import Summary, summarise
from groundwire.flow.runs import Recording

_Row = dict[str, Truth]


@dataclass(frozen=True, slots=True)
class JudgePlan:
    """What is judged, and how.

    Attributes:
        settings: of rubrics; see ``JudgeSettings``.
        rubrics: of CCRS; none: claims alone.
        claims: measure on claims as well.
        batch: claims a call.
        voting: how several judges come to one value.
        options: level, draws and seed of intervals, agreement and comparison.
    """

    settings: JudgeSettings = field(default_factory=JudgeSettings)
    rubrics: tuple[Rubric, ...] = CCRS
    claims: bool = False
    batch: int = 5
    voting: Voting = "median"
    options: Options = field(default_factory=Options)


@dataclass(frozen=True, slots=True)
class ModelJudged:
    """What models made of items.

    Attributes:
        judgements: of the only judge, or of the jury.
        jurors: those of each judge, in the order asked; empty where there was one.
        summaries: of ``judgements``.
        places: judge by judge, how far a rubric's place in the reply moved its values.
        agreement: of the jurors, rubric by rubric.
        standings: each juror beside the others.
        turns: verdicts that would change without a juror.
        notes: what must stand beside the values.
        seed: of intervals and orders.
    """

    judgements: tuple[Judgement, ...]
    jurors: tuple[tuple[Judgement, ...], ...]
    summaries: tuple[Summary, ...]
    places: tuple[tuple[str, tuple[Places, ...]], ...]
    agreement: tuple[tuple[str, Agreement], ...]
    standings: tuple[JurorStanding, ...]
    turns: tuple[Turn, ...]
    notes: tuple[str, ...]
    seed: int

    def save(self, path: Path) -> tuple[Path, ...]:
        """Write a JSON object a judgement, and those of jurors into a file each; returns the files."""
        files = [(path, self.judgements)]
        files += [(path.with_suffix(f".{number}{path.suffix}"), rows) for number, rows in enumerate(self.jurors, 1)]
        for file, rows in files:
            lines = (json.dumps(asdict(row), ensure_ascii=False) for row in rows)
            file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        return tuple(file for file, _ in files)

    def facts(self) -> dict[str, object]:
        """Everything but the judgements, as plain values, for JSON."""
        return {
            "summaries": [asdict(one) for one in self.summaries],
            "places": {
                judge: [{"rubric": one.rubric, "means": one.means, "spread": one.spread} for one in found]
                for judge, found in self.places
            },
            "agreement": {rubric: asdict(found) for rubric, found in self.agreement},
            "jurors": [asdict(one) for one in self.standings],
            "turns": [asdict(one) for one in self.turns],
            "notes": list(self.notes),
            "seed": self.seed,
        }


def judge_by_models(
    items: Sequence[Item],
    *,
    models: Sequence[LanguageModel],
    recording: Recording,
    plan: JudgePlan | None = None,
    extractor: LanguageModel | None = None,
    progress: Progress | None = None,
) -> ModelJudged:
    """Judge items by one model or several; what cannot be read is asked for once more, and is unscored after that.

    Args:
        items: each system and id once.
        models: the judges; several make a jury.
        recording: the run that asks them.
        plan: what is judged, and how.
        extractor: who finds the claims; None: each judge itself.
        progress: told how far it is.

    Raises:
        UsageError: there is no item or no judge, one judge stands twice, or nothing is to be judged.
        ModelError, BudgetReached, CannotDo: as ``traffic.ask``; what was answered is in the ledger.
    """
    how = plan or JudgePlan()
    names = [model.id for model in models]
    if not items or not names or len(set(names)) < len(names) or not (how.rubrics or how.claims):
        raise UsageError(
            f"{len(items)} items, judges {', '.join(names) or 'none'}, {len(how.rubrics)} rubrics: give items, judges"
            " that differ, and rubrics or claims"
        )
    judged: list[tuple[Judgement, ...]] = []
    notes: list[str] = []
    found_places: list[tuple[str, tuple[Places, ...]]] = []
    for model in models:
        rows: tuple[Judgement, ...] = ()
        if how.rubrics:
            rows, about = judge_rubrics(items, model=model, recording=recording, plan=how, progress=progress)
            notes += about
            if how.settings.mode == "shared":
                found_places.append((model.id, places(rows)))
        if how.claims:
            finder = extractor or model
            rows += judge_claims(items, models=(finder, model), recording=recording, plan=how, progress=progress)
        judged.append(rows)
    return _joined(judged, places_=found_places, notes=notes, how=how)


def _joined(
    judged: Sequence[tuple[Judgement, ...]],
    *,
    places_: Sequence[tuple[str, tuple[Places, ...]]],
    notes: Sequence[str],
    how: JudgePlan,
) -> ModelJudged:
    several = len(judged) > 1
    rows = jury(judged, voting=how.voting) if several else judged[0]
    drawn = how.options
    compared = several and len({row.system for row in rows}) > 1
    return ModelJudged(
        judgements=rows,
        jurors=tuple(judged) if several else (),
        summaries=summarise(rows, level=drawn.level, resamples=drawn.resamples, seed=drawn.seed),
        places=tuple(places_),
        agreement=jury_agreement(judged, level=drawn.level, seed=drawn.seed) if several else (),
        standings=jurors(judged) if several else (),
        turns=turns(judged, voting=how.voting, options=drawn) if compared else (),
        notes=tuple(dict.fromkeys(filter(None, notes))),
        seed=how.settings.seed,
    )


def judge_rubrics(
    items: Sequence[Item],
    *,
    model: LanguageModel,
    recording: Recording,
    plan: JudgePlan,
    progress: Progress | None = None,
) -> tuple[tuple[Judgement, ...], tuple[str, ...]]:
    """Judgements of one model by rubrics, by item, then rubric, and what must stand beside them.

    Raises:
        ModelError, BudgetReached, CannotDo: as ``traffic.ask``.
    """
    judge = model_judge.model_judge(
        model.id, capabilities=recording.capabilities(model), settings=plan.settings, rubrics=plan.rubrics
    )
    recording.seed("judging", plan.settings.seed)
    _note_prompts([judge.prompt], plan.settings.prompts, recording=recording)
    wanted = [call for item in items for call in model_judge.calls(judge, item)]
    ask = _asker(model, recording, progress=progress)
    given = _read_twice(judge, wanted, ask=ask)
    by_item: dict[tuple[str, str], list[Given]] = {}
    for call, found in zip(wanted, given, strict=True):
        by_item.setdefault((call.item.system, call.item.id), []).extend(found)
    rows = tuple(
        row
        for item in items
        for row in model_judge.judgements(judge, item, given=by_item.get((item.system, item.id), ()))
    )
    writers = {item.system: item.system for item in items if families(item.system)}
    about = scale_note(rows)
    return rows, (judge.note, *kinship(model.id, writers=writers), about and f"{model.id}: {about}")


def _read_twice(judge: ModelJudge, wanted: Sequence[Call], *, ask: _Ask) -> list[tuple[Given, ...]]:
    """What each call gave, once more asked for where a value could not be read."""
    answers = ask([call.request for call in wanted])
    first = [model_judge.read(judge, call, answer=answers[call.request]) for call in wanted]
    repairs = [
        model_judge.repair(judge, call, answer=answers[call.request], given=given)
        for call, given in zip(wanted, first, strict=True)
    ]
    further = ask([request for request in repairs if request is not None])
    return [
        given if repair is None else model_judge.repaired(given, model_judge.read(judge, call, answer=further[repair]))
        for call, given, repair in zip(wanted, first, repairs, strict=True)
    ]


def judge_claims(
    items: Sequence[Item],
    *,
    models: tuple[LanguageModel, LanguageModel],
    recording: Recording,
    plan: JudgePlan,
    progress: Progress | None = None,
) -> tuple[Judgement, ...]:
    """Measures on claims; ``models`` are who finds claims and who decides what entails them.

    Raises:
        ModelError, BudgetReached, CannotDo: as ``traffic.ask``.
    """
    finder, decider = models
    folder = plan.settings.prompts
    judge = ClaimJudge(
        finder.id, decider.id, recording.capabilities(finder), recording.capabilities(decider), plan.batch, folder
    )
    _note_prompts(claim_calls.PROMPTS, folder, recording=recording)
    texts = [text for item in items for text in _claiming(item)]
    found = _claims(judge, list(dict.fromkeys(texts)), ask=_asker(finder, recording, progress=progress))
    wanted = dict.fromkeys(pair for item in items for pair in _pairs(item, found))
    known = _truths(judge, list(wanted), ask=_asker(decider, recording, progress=progress))
    return tuple(
        row for item in items for row in claim_judgements(_table(item, found, known=known), judge=judge.fingerprint)
    )


def _claiming(item: Item) -> tuple[str, ...]:
    """The texts of an item that are taken apart."""
    answer = (item.answer,) if asks_answer(item) else ()
    return (*answer, *((item.reference,) if item.reference and item.reference.strip() else ()))


def _claims(judge: ClaimJudge, texts: Sequence[str], *, ask: _Ask) -> dict[str, Claims]:
    requests = [claim_calls.extraction(judge, text) for text in texts]
    answers = ask(requests)
    first = [claim_calls.read_claims(answers[request]) for request in requests]
    again = [
        claim_calls.extraction_again(judge, answers[request], reading=reading)
        for request, reading in zip(requests, first, strict=True)
    ]
    further = ask([request for request in again if request is not None])
    found: dict[str, Claims] = {}
    for text, reading, request in zip(texts, first, again, strict=True):
        final = reading if request is None else claim_calls.read_claims(further[request])
        found[text] = claim_calls.claims_of(final)
    return found


def _pairs(item: Item, found: Mapping[str, Claims]) -> list[tuple[str, tuple[str, ...]]]:
    """Texts with the claims that are held against them."""
    answer, reference = _own(item, found)
    pairs = [(context, claims.found) for claims in (answer, reference) for context in contexts_of(item)]
    if item.reference and item.reference.strip():
        pairs.append((item.reference, answer.found))
    if asks_answer(item):
        pairs.append((item.answer, reference.found))
    return [pair for pair in pairs if pair[1]]


def _own(item: Item, found: Mapping[str, Claims]) -> tuple[Claims, Claims]:
    """The claims of answer and reference; a refusal has none, even where it is somebody's reference."""
    answer = found.get(item.answer, Claims()) if asks_answer(item) else Claims()
    return answer, found.get(item.reference or "", Claims())


def _truths(
    judge: ClaimJudge, pairs: Sequence[tuple[str, tuple[str, ...]]], *, ask: _Ask
) -> dict[tuple[str, tuple[str, ...]], _Row]:
    """Whether each text entails each of its claims."""
    made = [claim_calls.checks(judge, text, claims) for text, claims in pairs]
    every = list(chain.from_iterable(made))
    answers = ask([check.request for check in every])
    again: list[Check | None] = []
    rows: list[_Row] = []
    for check in every:
        answer = answers[check.request]
        readings = claim_calls.read_check(check, answer)
        again.append(claim_calls.check_again(judge, check, answer, readings=readings))
        rows.append(claim_calls.truths(check, readings))
    further = ask([check.request for check in again if check is not None])
    for row, once in zip(rows, again, strict=True):
        if once is not None:
            row.update(claim_calls.truths(once, claim_calls.read_check(once, further[once.request])))
    found, left = {}, iter(rows)
    for pair, run in zip(pairs, made, strict=True):
        whole: _Row = {}
        for _ in run:
            whole |= next(left)
        found[pair] = whole
    return found


def _table(item: Item, found: Mapping[str, Claims], *, known: Mapping[tuple[str, tuple[str, ...]], _Row]) -> ClaimTable:
    answer, reference = _own(item, found)

    def row(text: str | None, claims: Claims) -> tuple[Truth, ...]:
        truths = known.get((text or "", claims.found), {})
        return tuple(truths[claim] for claim in claims.found) if truths else ()

    contexts = contexts_of(item)
    return ClaimTable(
        item,
        answer,
        reference,
        answer_by_reference=row(item.reference, answer),
        answer_by_context=tuple(row(context, answer) for context in contexts),
        reference_by_answer=row(item.answer, reference),
        reference_by_context=tuple(row(context, reference) for context in contexts),
    )


_Ask = Callable[[Sequence[Request]], dict[Request, Answer]]


def _asker(model: LanguageModel, recording: Recording, *, progress: Progress | None) -> _Ask:
    """Asks each request once, in the order of their words, so that a common beginning is read once."""

    def ask(requests: Sequence[Request]) -> dict[Request, Answer]:
        once = sorted(dict.fromkeys(requests), key=lambda request: [message.text for message in request.messages])
        if not once:
            return {}
        answers = recording.ask(once, model=model, progress=progress, only_fitting=True)
        return dict(zip(once, answers, strict=True))

    return ask


def _note_prompts(names: Sequence[str], folder: Path | None, *, recording: Recording) -> None:
    for name in names:
        for language in LANGUAGES:
            recording.prompt(f"{name}.{language}", load(name, language, folder=folder).fingerprint)
