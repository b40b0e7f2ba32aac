"""Presets x budgets on labelled questions: means, paired differences against one of them, latency and tokens spent."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.resources import files
from pathlib import Path

from groundwire.core.errors import UsageError
from groundwire.core.ports import Progress
from groundwire.core.types import Interval, Question
from groundwire.evaluation.questions import QuestionReading, Unscored, read_questions
from groundwire.evaluation.stats import bootstrap_interval, in_words, paired_difference
from groundwire.flow.searching import (
    Latency,
    Measure,
    Outcomes,
    Way,
    index_tokens,
    latencies,
    measure,
    outcomes,
    place_questions,
    preset_ways,
    query_tokens,
    require_scored,
)
from groundwire.flow.settings import Settings
from groundwire.retrieval.index import Archive

SAMPLE = "sample:"
"""Stands for the labelled questions of the sample archive, where a file of questions is asked for."""
BUDGETS = (300, 600, 1200)
_OF_RANKING = ("recall@1", "recall@5", "recall@30", "ndcg@10", "reciprocal_rank")
_OF_BUDGET = ("answer_in_context", "gold_in_context", "evidence_tokens", "evidence_sentences")


@dataclass(frozen=True, slots=True)
class BenchPlan:
    """What to compare.

    Attributes:
        ways: how to search.
        budgets: of the evidence, in tokens.
        against: the name of the way that all others are compared with.
        timed: how many of the questions are timed as well; 0: none.

    Raises:
        UsageError: ``against`` is none of the ways, or a budget or ``timed`` is out of range.
    """

    ways: tuple[Way, ...] = preset_ways()
    budgets: tuple[int, ...] = BUDGETS
    against: str = "passages"
    timed: int = 50

    def __post_init__(self) -> None:
        if self.against not in {way.name for way in self.ways}:
            names = ", ".join(way.name for way in self.ways)
            raise UsageError(f"'{self.against}' is to be compared with, but is not run; there are {names}")
        if not self.budgets or min(self.budgets) < 1:
            raise UsageError(f"the budgets are {self.budgets}; give one or more, each of 1 token or more")
        if self.timed < 0:
            raise UsageError(f"timed is {self.timed}; it must be 0 or more")

    def measures(self) -> tuple[Measure, ...]:
        """Those of the ranking, and those of the evidence under each budget."""
        of_budgets = (f"{kind}@{budget}" for budget in self.budgets for kind in _OF_BUDGET)
        return tuple(measure(name) for name in (*_OF_RANKING, *of_budgets))


@dataclass(frozen=True, slots=True)
class Cell:
    """One way under one measure; ``says`` puts a difference in words and is empty for a mean."""

    way: str
    measure: str
    interval: Interval
    says: str = ""


@dataclass(frozen=True, slots=True)
class SearchBench:
    """Means and differences, with what they rest on.

    Attributes:
        outcomes: every value.
        against: what ``differences`` are to.
        means: of every way and measure.
        differences: of every other way, paired by question.
        latency: of every way, measured in a pass of its own without any memory.
        index_tokens: what the embedder read to make the archive, estimated.
        query_tokens: what it reads for a query, on average; none where a way searches by words alone.
        tokenizer: the name of what counted the tokens of queries; evidence is counted by ``evidence_tokenizer``.
        unscored: questions whose gold is not in the archive.
    """

    outcomes: Outcomes
    against: str
    means: tuple[Cell, ...]
    differences: tuple[Cell, ...]
    latency: tuple[Latency, ...]
    index_tokens: int
    query_tokens: float
    tokenizer: str
    evidence_tokenizer: str
    unscored: tuple[Unscored, ...]
    clusters: int
    resamples: int
    seed: int

    def save(self, path: Path) -> None:
        """Write one JSON object a question and way, from which every table can be computed again."""
        rows = (json.dumps(row, ensure_ascii=False) for row in self.outcomes.rows())
        path.write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")

    def facts(self) -> Mapping[str, object]:
        """All but the single values, as plain data."""
        return {
            "questions": len(self.outcomes.placed),
            "clusters": self.clusters,
            "unscored": [asdict(one) for one in self.unscored],
            "against": self.against,
            "resamples": self.resamples,
            "seed": self.seed,
            "ways": [asdict(way) for way in self.outcomes.ways],
            "means": [asdict(cell) for cell in self.means],
            "differences": [asdict(cell) for cell in self.differences],
            "latency": [asdict(one) for one in self.latency],
            "index_tokens": self.index_tokens,
            "query_tokens": self.query_tokens,
            "tokenizer": self.tokenizer,
            "evidence_tokenizer": self.evidence_tokenizer,
        }


def read_question_file(
    archive: Archive, source: Path | str, *, mapping: Mapping[str, str] | None = None
) -> QuestionReading:
    """The labelled questions of a file, or of the sample (``sample:``); gold texts are looked up in the archive.

    Raises:
        UsageError, UnreadableInput: as ``evaluation.questions.read_questions``.
    """
    known: dict[str, str | None] = {}

    def text_of(name: str) -> str | None:
        if name not in known:
            document = archive.store.documents([name]).get(name)
            known[name] = None if document is None else document.text
        return known[name]

    if str(source) == SAMPLE:
        lines = files("groundwire.sample").joinpath("questions.jsonl").read_bytes().splitlines()
        return read_questions(lines, texts=text_of, mapping=mapping)
    return read_questions(Path(source), texts=text_of, mapping=mapping)


def bench_search(
    archive: Archive,
    questions: Sequence[Question],
    *,
    plan: BenchPlan | None = None,
    settings: Settings,
    progress: Progress | None = None,
) -> SearchBench:
    """Run every way on every question once, and compare.

    Args:
        archive: what is searched.
        questions: with gold; those whose gold is not in the archive are unscored.
        plan: ways, budgets, what to compare with, how many to time.
        settings: how evidence is packed (``pack``) and intervals are drawn (``judge``).
        progress: is told how far it is.

    Raises:
        NothingFound: no question can be scored.
    """
    plan = plan or BenchPlan()
    placed, unscored = place_questions(archive, questions)
    require_scored(len(placed), unscored, asked=len(questions))
    found = outcomes(archive, placed, ways=plan.ways, measures=plan.measures(), settings=settings, progress=progress)
    asked = [one.question.text for one in placed]
    tokens, tokenizer = query_tokens(archive, asked)
    return SearchBench(
        outcomes=found,
        against=plan.against,
        means=_means(found, settings),
        differences=_differences(found, plan.against, settings),
        latency=latencies(archive, _spread(asked, plan.timed), ways=plan.ways, progress=progress),
        index_tokens=index_tokens(archive),
        query_tokens=tokens,
        tokenizer=tokenizer,
        evidence_tokenizer=found.tokenizer,
        unscored=unscored,
        clusters=len({one.cluster for one in placed}),
        resamples=settings.judge.resamples,
        seed=settings.judge.seed,
    )


def _spread(asked: Sequence[str], timed: int) -> list[str]:
    """Up to ``timed`` of the questions, evenly over the list."""
    if timed >= len(asked):
        return list(asked)
    return [asked[place * len(asked) // timed] for place in range(timed)]


def _means(found: Outcomes, settings: Settings) -> tuple[Cell, ...]:
    clusters = [one.cluster for one in found.placed]
    how = settings.judge
    return tuple(
        Cell(
            way.name,
            each.name,
            bootstrap_interval(
                found.of(column, place), clusters=clusters, level=how.level, resamples=how.resamples, seed=how.seed
            ),
        )
        for place, each in enumerate(found.measures)
        for column, way in enumerate(found.ways)
    )


def _differences(found: Outcomes, against: str, settings: Settings) -> tuple[Cell, ...]:
    clusters = [one.cluster for one in found.placed]
    how = settings.judge
    base = [way.name for way in found.ways].index(against)
    cells = []
    for place, each in enumerate(found.measures):
        for column, way in enumerate(found.ways):
            if column != base:
                difference = paired_difference(
                    found.of(column, place),
                    found.of(base, place),
                    clusters=clusters,
                    level=how.level,
                    resamples=how.resamples,
                    seed=how.seed,
                )
                cells.append(Cell(way.name, each.name, difference, in_words(difference, against)))
    return tuple(cells)
