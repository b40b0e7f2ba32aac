"""Compare the raters on labelled pairs of topic and article that nothing was set on (``rating_pairs.py bench``).

Usage: python benchmarks/bench_rate.py [--model llama:qwen2.5-coder-0.5b]... [--rater NAME]... [--ledger FILE]

Every call is kept in a ledger in the user's cache: the script can be stopped, and goes on where it was. The raters of a
model are asked together, in the order of their prompts, and what two prompts begin with is read once. ``expected`` asks
the very words of ``readings`` and finds them read, so that its seconds are those of writing alone: by itself it would
take those of a first reading as well. Seconds are those of one thread on a machine with other work.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from statistics import fmean
from typing import get_args

from groundwire.core.language import LanguageModel
from groundwire.core.types import Interval, RaterName
from groundwire.evaluation.ordering import rank_agreement, separation
from groundwire.evaluation.pairs import LabelledPair, read_pairs
from groundwire.flow.ledger import Ledger
from groundwire.flow.pace import Limits
from groundwire.flow.rate_bench import RateBench, RaterFigures, bench_rate
from groundwire.flow.registry import model as model_named
from groundwire.flow.runs import How, Recording, recorded
from groundwire.flow.settings import Loaded, Settings
from question_sets import CACHE
from rating_pairs import pairs
from record import save_result

MODELS = ("llama:qwen2.5-coder-0.5b", "llama:qwen2.5-coder-1.5b")
LEDGER = CACHE.with_name("rate.ledger")


def labelled(kind: str) -> tuple[LabelledPair, ...]:
    """The pairs of a kind, as ``bench rate`` reads them; grades are clustered by topic."""
    reading = read_pairs([json.dumps(row) for row in pairs(kind)], documents=lambda _: None)
    assert not reading.rejects, reading.rejects
    return reading.pairs


@contextmanager
def asking(ledger: Path) -> Iterator[Recording]:
    """A run of this ledger, one call at a time."""
    ledger.parent.mkdir(parents=True, exist_ok=True)
    limits = Limits(at_first=1, at_once=1, timeout_seconds=600)
    with (
        Ledger(ledger) as opened,
        recorded(opened, command=["bench"], settings=Loaded(Settings(), {}), how=How(limits=limits)) as recording,
    ):
        yield recording


def rounded(found: Interval | None) -> dict[str, float] | None:
    if found is None:
        return None
    return {"value": round(found.mean, 3), "low": round(found.low, 3), "high": round(found.high, 3), "n": found.n}


def of_languages(each: RaterFigures, found: RateBench) -> dict[str, dict[str, float] | None]:
    """The AUC among the pairs of each language."""
    apart = {}
    for language in dict.fromkeys(pair.document.language for pair in found.pairs):
        places = [place for place, pair in enumerate(found.pairs) if pair.document.language == language]
        apart[language] = rounded(
            separation(
                [each.ratings[place].relevance for place in places],
                [found.pairs[place].relevant for place in places],
                clusters=[found.pairs[place].cluster for place in places],
            )
        )
    return apart


def spread(each: RaterFigures) -> dict[str, object]:
    """Where the ratings lie: what a threshold of 20 keeps, and how many different values there are."""
    values = [found.relevance for found in each.ratings if found.relevance is not None]
    return {"different values": len(set(values)), "at least 20": sum(value >= 20 for value in values)}


def of_single_readings(each: RaterFigures, found: RateBench) -> list[dict[str, float] | None] | None:
    """Kendall's tau of every single reading to the mean of the others: how far the readings agree with each other."""
    readings = [one.readings for one in each.ratings]
    most = max(map(len, readings))
    if most < 2:
        return None
    whole = [values if len(values) == most else None for values in readings]
    taus = []
    for place in range(most):
        single = [values[place] if values else None for values in whole]
        others = [fmean(values[:place] + values[place + 1 :]) if values else None for values in whole]
        taus.append(rounded(rank_agreement(single, others, clusters=[pair.cluster for pair in found.pairs])))
    return taus


def row(each: RaterFigures, found: RateBench) -> dict[str, object]:
    spent = {name: value for name, value in asdict(each.spent).items() if name != "money"}
    return {
        "AUC": rounded(each.separation),
        "AUC in a topic": rounded(each.within),
        "tau to readings": rounded(each.agreement),
        "tau of a reading to the others": of_single_readings(each, found),
        **of_languages(each, found),
        "unscored": each.separation.unscored,
        **spread(each),
        **spent,
    }


def asked_model(recording: Recording, name: str) -> LanguageModel:
    """A local model; what the ledger knows of it needs no engine."""
    return recording.model(name, lambda: model_named(name, profiles={}, environment={}))


def run(names: Sequence[RaterName], models: Sequence[str], ledger: Path) -> RateBench:
    with asking(ledger) as recording:
        asked = {name: asked_model(recording, name) for name in models}
        return bench_rate(
            labelled("bench"), names=names, models=asked, recording=recording, settings=Settings(),
            progress=lambda done, total, label: print(done, total, label, file=sys.stderr),
        )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", action="append", default=[], help="repeatable; default: 0.5B and 1.5B")
    parser.add_argument("--rater", action="append", default=[], choices=get_args(RaterName), help="default: all")
    parser.add_argument("--ledger", type=Path, default=LEDGER)
    parser.add_argument("-o", "--out", type=Path, help="every rating as JSONL")
    arguments = parser.parse_args()
    found = run(arguments.rater or get_args(RaterName), arguments.model or MODELS, arguments.ledger)
    if arguments.out:
        found.save(arguments.out)
    seed = found.raters[0].separation.seed
    sets = {"pairs": len(found.pairs), "topics": found.clusters, "seed": seed, "embedder of builtin": found.embedder}
    save_result("rate", {"data": sets, "raters": {each.name: row(each, found) for each in found.raters}}, seed=seed)


if __name__ == "__main__":
    main()
