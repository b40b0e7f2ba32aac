"""Items -> judgements -> summaries, with the built-in judge."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from groundwire.core.ports import Progress
from groundwire.core.types import Judgement
from groundwire.evaluation.claim_measures import BUILTIN, claim_judgements, table_without_model
from groundwire.evaluation.items import read_items
from groundwire.evaluation.judge import BuiltinJudge
from groundwire.evaluation.rows import RejectedRow
from groundwire.evaluation.rubrics import CCRS, rubrics_named
from groundwire.evaluation.stats import Summary, summarise
from groundwire.flow.registry import embedder as embedder_named
from groundwire.flow.settings import Settings


@dataclass(frozen=True, slots=True)
class Judged:
    """Judgements of a file's items with their summaries; ``notes`` are for the person who asked."""

    judgements: tuple[Judgement, ...]
    summaries: tuple[Summary, ...]
    rejected: tuple[RejectedRow, ...]
    notes: tuple[str, ...]

    def save(self, path: Path) -> None:
        """Write one JSON object a judgement."""
        rows = (json.dumps(asdict(judgement), ensure_ascii=False) for judgement in self.judgements)
        path.write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")


def judge_file(
    path: Path,
    *,
    settings: Settings,
    rubrics: Sequence[str] = (),
    claims: bool = False,
    progress: Progress | None = None,
) -> Judged:
    """Judge every item of a JSONL file and summarise.

    Args:
        path: see ``groundwire.evaluation.items``.
        settings: ``judge.map`` for field names; ``judge.embedder``, without which words alone are compared; and how
            intervals are drawn.
        rubrics: names; none: all five of CCRS.
        claims: measure on claims as well: sentences, held against texts by their words.
        progress: told how far the judging is.

    Raises:
        UsageError: a rubric or a field is unknown.
        UnreadableInput: the file cannot be read.
        ModelError: the embedder that was asked for is not here.
    """
    chosen = rubrics_named(rubrics) if rubrics else CCRS
    reading = read_items(path, mapping=settings.judge.map or None)
    options = settings.judge
    embedder = embedder_named(options.embedder, threads=settings.threads) if options.embedder else None
    judgements = BuiltinJudge(embedder).judge(reading.items, rubrics=chosen, progress=progress)
    if claims:
        tables = map(table_without_model, reading.items)
        judgements += tuple(row for table in tables for row in claim_judgements(table, judge=BUILTIN))
    summaries = summarise(judgements, level=options.level, resamples=options.resamples, seed=options.seed)
    rejected = [f"row {reject.line} rejected: {reject.reason}" for reject in reading.rejects]
    counts = f"{reading.rows} rows: {len(reading.items)} items, {len(reading.rejects)} rejected"
    return Judged(judgements, summaries, reading.rejects, (*rejected, counts))
