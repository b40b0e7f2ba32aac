"""ParetoRAG and its rivals on public question sets: equal budgets, paired intervals, settings chosen elsewhere.

Run, one set after another, then all together:
    python benchmarks/bench_search.py measure qa-xquad-en [--contexts passage,exact,pooled_rest,pooled] [--most 800]
    python benchmarks/bench_search.py report
    python benchmarks/bench_search.py tables    (writes those of docs/method/paretorag.md anew from the results)

``measure`` makes an archive of the set (vectors are kept in the cache folder, so that a text is encoded once), asks a
sample of its questions in every way, and keeps the value of every question in the cache folder. ``report`` makes the
tables: every mean with a bootstrap interval over articles, every difference paired by question. Three kinds of choice
are told apart: settings with a name (fixed beforehand), settings chosen by nested cross-validation on the other
articles of the same set, and settings chosen on the other sets.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from groundwire.core.ports import Matrix
from groundwire.core.types import Context, Interval
from groundwire.evaluation.stats import bootstrap_interval, paired_difference
from groundwire.evaluation.tune import TuneSettings, best_setting, tune
from groundwire.flow.archives import Making, open_archive, opened
from groundwire.flow.registry import LazyEmbedder
from groundwire.flow.searching import Way, index_tokens, measure, outcomes, place_questions, preset_ways, query_tokens
from groundwire.flow.settings import Settings
from groundwire.retrieval.index import Archive
from groundwire.retrieval.search import SearchSettings
from question_sets import CACHE, SETS, CachedEmbedder, QuestionSet, load
from record import RESULTS, save_result

KEPT = CACHE.parent / "bench_search"
SEED = 20261130
BUDGETS = (300, 600, 1200)
WEIGHTS = (0.0, 0.2, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
MEASURES = (
    "recall@1", "recall@5", "recall@30", "ndcg@10", "reciprocal_rank",
    *(f"{kind}@{budget}" for budget in BUDGETS for kind in ("answer_in_context", "gold_in_context", "evidence_tokens")),
)  # fmt: skip
OBJECTIVES = ("recall@5", "answer_in_context@300")
COMPARED = ("dense 0.5", "dense 0.8", "dense 1.0", "default")
"""What contexts are compared in."""
KIN = ({"qa-xquad-en", "qa-xquad-zh", "qa-squad", "pooled-wikipedia"}, {"qa-nq", "pooled-wikipedia"},
       {"qa-hotpot", "pooled-wikipedia"})  # fmt: skip
"""Sets that share documents: none of them has a say in what is chosen for another of its kind."""


def ways() -> tuple[Way, ...]:
    """Everything that is tried: the presets, the default, the curve over the weight, and the grid of mixes."""
    dense = [Way(f"dense {weight}", SearchSettings(mode="dense", sentence_weight=weight)) for weight in WEIGHTS]
    mixed = [
        Way(
            f"hybrid {weight} words {lexical} passage words {share}",
            SearchSettings(sentence_weight=weight, lexical_weight=lexical, passage_words=share),
        )
        for weight in (0.4, 0.6, 0.8, 1.0)
        for lexical in (0.25, 0.5, 1.0)
        for share in (0.0, 0.5)
    ]
    by_words = [
        Way(f"lexical passage words {share}", SearchSettings(mode="lexical", passage_words=share))
        for share in (0.0, 0.5)
    ]
    reciprocal = [Way("hybrid rrf", SearchSettings(fusion="rrf"))]
    return (*preset_ways(), *preset_ways(["default"]), *dense, *mixed, *by_words, *reciprocal)


def sampled(found: QuestionSet, most: int) -> list:
    """At most this many questions, spread over the articles, drawn with the seed; from pooled sets in equal parts."""
    rng = np.random.default_rng(SEED)
    questions = [found.questions[place] for place in rng.permutation(len(found.questions))]
    if found.name != "pooled-wikipedia":
        return questions[:most]
    parts: dict[str, list] = {}
    for one in questions:
        parts.setdefault(one.gold[0].document_id.partition(":")[0], []).append(one)
    return [one for own in parts.values() for one in own[: most // len(parts)]]


def run(name: str, *, contexts: Sequence[Context], most: int, threads: int) -> None:
    """Measure one set and keep the values."""
    found = load(name)
    questions = sampled(found, most)
    for context in contexts:
        embedder = CachedEmbedder(LazyEmbedder("local:e5-small", dimension=384, threads=threads))
        making = Making(context=context)
        with (
            tempfile.TemporaryDirectory() as folder,
            opened(open_archive(Path(folder) / "set.archive", embedder=embedder, making=making)) as archive,
        ):
            started = time.process_time()
            archive.add(found.documents)
            print(f"{name} {context}: {archive.counts()} in {time.process_time() - started:.0f} s CPU", flush=True)
            _measure(archive, found, questions, context=context)


def _measure(archive: Archive, found: QuestionSet, questions: Sequence, *, context: str) -> None:
    placed, unscored = place_questions(archive, questions)
    tried = ways() if context == "passage" else tuple(way for way in ways() if way.name in COMPARED)
    started = time.process_time()
    got = outcomes(archive, placed, ways=tried, measures=[measure(one) for one in MEASURES], settings=Settings())
    print(f"  {len(placed)} questions x {len(tried)} ways in {time.process_time() - started:.0f} s CPU", flush=True)
    counts = archive.counts()
    facts = {
        "set": found.name, "context": context, "documents": counts.documents, "sentences": counts.sentences,
        "questions": len(placed), "of": len(found.questions), "left_out": found.left_out,
        "unscored": [(one.question_id, one.reason) for one in unscored],
        "clusters": [one.cluster for one in placed], "ways": [way.name for way in tried],
        "index_tokens": index_tokens(archive),
        "query_tokens": query_tokens(archive, [one.question.text for one in placed])[0], "tokenizer": got.tokenizer,
    }  # fmt: skip
    KEPT.mkdir(parents=True, exist_ok=True)
    np.save(KEPT / f"{found.name}.{context}.npy", got.values)
    (KEPT / f"{found.name}.{context}.json").write_text(json.dumps(facts, ensure_ascii=False))


class Kept:
    """What ``measure`` kept of one set and context."""

    def __init__(self, name: str, context: str) -> None:
        self.values = np.load(KEPT / f"{name}.{context}.npy")
        self.facts = json.loads((KEPT / f"{name}.{context}.json").read_text())
        self.clusters: list[str] = self.facts["clusters"]
        self.ways: list[str] = self.facts["ways"]

    def column(self, way: str, measured: str) -> list[float]:
        return self.values[:, self.ways.index(way), MEASURES.index(measured)].tolist()

    def mean(self, values: Sequence[float]) -> dict[str, object]:
        return plain(bootstrap_interval(values, clusters=self.clusters, seed=SEED))

    def difference(self, values: Sequence[float], others: Sequence[float]) -> dict[str, object]:
        return plain(paired_difference(values, others, clusters=self.clusters, seed=SEED))

    def table(self, measured: str, names: Iterable[str]) -> Matrix:
        return np.stack([self.column(name, measured) for name in names], axis=1)


def plain(interval: Interval) -> dict[str, object]:
    """Mean and interval, rounded for reading; n and what is unscored stand with the set."""
    return {
        "mean": round(interval.mean, 4), "low": round(interval.low, 4), "high": round(interval.high, 4),
    }  # fmt: skip


NAMED = ("passages", "sentences", "pareto", "window", "dslr", "mmr", "default", "best")


def _of_set(name: str) -> dict[str, object]:
    kept = Kept(name, "passage")
    measured = [one for one in MEASURES if not one.startswith("evidence_tokens")]
    presets = {
        way: {
            **{one: kept.mean(kept.column(way, one)) for one in MEASURES},
            "against passages": {
                one: kept.difference(kept.column(way, one), kept.column("passages", one)) for one in measured
            },
        }
        for way in NAMED
    }
    curve = {
        str(weight): {
            **{
                one: kept.mean(kept.column(f"dense {weight}", one)) for one in ("recall@1", "recall@5", *OBJECTIVES[1:])
            },
            "recall@5 against 1.0": kept.difference(
                kept.column(f"dense {weight}", "recall@5"), kept.column("dense 1.0", "recall@5")
            ),
        }
        for weight in WEIGHTS
    }
    facts = {key: value for key, value in kept.facts.items() if key not in ("clusters", "ways")}
    facts |= {"articles": len(set(kept.clusters)), "unscored": len(kept.facts["unscored"])}
    return {
        **facts,
        "presets": presets,
        "weight": curve,
        "chosen on the other articles": {objective: _nested(kept, objective) for objective in OBJECTIVES},
        "weight chosen on the other articles": _nested(kept, "recall@5", only="dense"),
    }


def grid(kept: Kept, only: str = "") -> list[str]:
    """The ways that a choice is made among, the plainest first."""
    return [way for way in kept.ways if way.startswith(only or ("dense", "lexical", "hybrid"))]


def _nested(kept: Kept, objective: str, *, only: str = "") -> dict[str, object]:
    names = grid(kept, only)
    baselines = {name: np.array(kept.column(name, objective)) for name in NAMED}
    baselines |= {"sentence alone (dense 1.0)": np.array(kept.column("dense 1.0", objective))}
    found = tune(
        kept.table(objective, names),
        clusters=kept.clusters,
        costs=list(range(len(names))),
        baselines=baselines,
        how=TuneSettings(seed=SEED),
    )
    return {
        "held_out": plain(found.held_out),
        "picks": {names[place]: count for place, count in found.pick_counts()},
        "chosen": names[found.chosen],
        "minus": {name: plain(each) for name, each in found.differences},
        "also on held-out": {
            other: kept.mean(
                kept.table(other, names)[
                    np.arange(len(kept.clusters)), np.array(found.picks)[list(found.fold_of)]
                ].tolist()
            )
            for other in ("recall@1", "recall@5", "answer_in_context@300")
        },
    }


def _across(names: Sequence[str]) -> dict[str, object]:
    """For every set the way with the largest mean over the sets that share no document with it."""
    found = {}
    for name in names:
        strangers = [one for one in names if one != name and not any({one, name} <= kin for kin in KIN)]
        kept = Kept(name, "passage")
        candidates = grid(kept)
        for objective in OBJECTIVES:
            means = [Kept(one, "passage").table(objective, candidates).mean(axis=0) for one in strangers]
            chosen = candidates[best_setting(np.stack(means), costs=list(range(len(candidates))))]
            values = kept.column(chosen, objective)
            found.setdefault(name, {})[objective] = {
                "chosen": chosen,
                "on": strangers,
                "mean": kept.mean(values),
                "minus": {
                    other: kept.difference(values, kept.column(other, objective))
                    for other in ("passages", "sentences", "pareto", "default", "best")
                },
            }
    return found


def _contexts(names: Sequence[str]) -> dict[str, object]:
    """``exact`` against the cheaper contexts, at 0.8, 0.5 and in the default mix."""
    found = {}
    for name in names:
        held = {one.name.split(".")[1]: Kept(name, one.name.split(".")[1]) for one in KEPT.glob(f"{name}.*.npy")}
        if "exact" not in held:
            continue
        exact = held["exact"]
        found[name] = {
            context: {
                "index_tokens": kept.facts["index_tokens"],
                **{
                    f"{way}, {one}": {
                        **kept.mean(kept.column(way, one)),
                        "minus exact 0.8": kept.difference(kept.column(way, one), exact.column("dense 0.8", one)),
                    }
                    for way in COMPARED
                    for one in ("recall@1", "recall@5", "answer_in_context@300")
                },
            }
            for context, kept in sorted(held.items())
        }
    return found


def report() -> None:
    """Make the tables from what was kept."""
    names = [name for name in SETS if (KEPT / f"{name}.passage.npy").is_file()]
    figures = {
        "embedder": "local:e5-small", "resamples": 10_000, "level": 0.95,
        "sets": {name: _of_set(name) for name in names},
        "chosen on the other sets": _across(names),
        "contexts": _contexts(names),
    }  # fmt: skip
    save_result("search", figures, seed=SEED)


PAGE = RESULTS.parents[1] / "docs" / "method" / "paretorag.md"


def tables(figures: Mapping[str, Any]) -> dict[str, list[str]]:
    """The tables of the page, by name."""
    sets = figures["sets"]
    return {
        "sets": [
            "| set | documents | sentences | questions (articles) | left out |",
            "| --- | ---: | ---: | ---: | ---: |",
            *(
                f"| {name} | {one['documents']:,} | {one['sentences']:,} | {one['questions']:,} of {one['of']:,} "
                f"({one['articles']}) | {one['left_out']:,} without certain gold, {one['unscored']} unscored |"
                for name, one in sets.items()
            ),
        ],
        **{f"answer in context {budget}": _answer_table(sets, budget) for budget in BUDGETS},
        "recall": _recall_table(sets),
        "weight": _weight_table(sets),
        "tokens": _token_table(sets),
        "chosen": _chosen_table(figures),
        "contexts": _context_table(figures["contexts"]),
    }


def _row(*cells: object) -> str:
    return f"| {' | '.join(map(str, cells))} |"


def _heads(*names: str) -> list[str]:
    return [_row(*names), _row("---", *["---:"] * (len(names) - 1))]


def _short(value: float) -> str:
    return f"{value:.3f}".replace("0.", ".", 1)


def _with(cell: Mapping[str, Any]) -> str:
    return f"{_short(cell['mean'])} [{_short(cell['low'])}, {_short(cell['high'])}]"


def _signed(cell: Mapping[str, Any]) -> str:
    """A difference; in bold where its interval does not hold 0."""
    mean, low, high = (f"{cell[name]:+.3f}".replace("0.", ".", 1) for name in ("mean", "low", "high"))
    text = f"{mean} [{low}, {high}]"
    return text if cell["low"] <= 0 <= cell["high"] else f"**{text}**"


def _answer_table(sets: Mapping[str, Any], budget: int) -> list[str]:
    measured = f"answer_in_context@{budget}"
    lines = _heads("set", "passages", *(f"{way} − passages" for way in NAMED[1:]))
    for name, one in sets.items():
        others = (_signed(one["presets"][way]["against passages"][measured]) for way in NAMED[1:])
        lines.append(_row(name, _with(one["presets"]["passages"][measured]), *others))
    return lines


def _recall_table(sets: Mapping[str, Any]) -> list[str]:
    lines = _heads("set", *(f"{way} R@1 / R@5" for way in ("sentences", "pareto", "default", "best")))
    for name, one in sets.items():
        cells = (
            f"{_short(one['presets'][way]['recall@1']['mean'])} / {_with(one['presets'][way]['recall@5'])}"
            for way in ("sentences", "pareto", "default", "best")
        )
        lines.append(_row(name, *cells))
    return lines


def _weight_table(sets: Mapping[str, Any]) -> list[str]:
    lines = _heads("set", *map(str, WEIGHTS), "0.8 − 1.0", "0.5 − 1.0")
    for name, one in sets.items():
        curve = one["weight"]
        points = (_short(curve[str(weight)]["recall@5"]["mean"]) for weight in WEIGHTS)
        ends = (_signed(curve[weight]["recall@5 against 1.0"]) for weight in ("0.8", "0.5"))
        lines.append(_row(name, *points, *ends))
    return lines


def _token_table(sets: Mapping[str, Any]) -> list[str]:
    lines = _heads(
        "set", *(f"{way} {budget}" for budget in BUDGETS for way in ("passages", "pareto", "best")), "encoder, index"
    )
    for name, one in sets.items():
        spent = (
            f"{one['presets'][way][f'evidence_tokens@{budget}']['mean']:.0f}"
            for budget in BUDGETS
            for way in ("passages", "pareto", "best")
        )
        lines.append(_row(name, *spent, f"{one['index_tokens']:,}"))
    return lines


def _chosen_table(figures: Mapping[str, Any]) -> list[str]:
    lines = _heads(
        "set", "chosen on", "setting (folds)", "held out", "− pareto", "− default", "− best", "− sentence alone"
    )
    for name, one in figures["sets"].items():
        for label, found in (
            ("weight alone", one["weight chosen on the other articles"]),
            ("other articles", one["chosen on the other articles"]["recall@5"]),
        ):
            picks = ", ".join(f"{way} ({count})" for way, count in found["picks"].items())
            minus = (_signed(found["minus"][other]) for other in ("pareto", "default", "best", "sentences"))
            lines.append(_row(name, label, picks, _with(found["held_out"]), *minus))
        across = figures["chosen on the other sets"][name]["recall@5"]
        minus = (_signed(across["minus"][other]) for other in ("pareto", "default", "best", "sentences"))
        lines.append(_row(name, "other sets", across["chosen"], _with(across["mean"]), *minus))
    return lines


def _context_table(contexts: Mapping[str, Any]) -> list[str]:
    lines = _heads("set", "context", "encoder's tokens", *(f"{way}: R@5 (− exact 0.8)" for way in COMPARED))
    for name, held in contexts.items():
        for context, one in held.items():
            cells = (
                f"{_short(one[f'{way}, recall@5']['mean'])} ({_signed(one[f'{way}, recall@5']['minus exact 0.8'])})"
                for way in COMPARED
            )
            lines.append(_row(name, context, f"{one['index_tokens']:,}", *cells))
    return lines


def written(page: str, figures: Mapping[str, Any]) -> str:
    """The page with every table between ``<!-- table NAME -->`` and ``<!-- end -->`` made anew."""
    for name, lines in tables(figures).items():
        head, mark, rest = page.partition(f"<!-- table {name} -->\n")
        if mark:
            page = f"{head}{mark}{chr(10).join(lines)}\n{rest[rest.index('<!-- end -->') :]}"
    return page


def main() -> None:
    """Measure a set, report on all, or write the tables of the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    measuring = commands.add_parser("measure")
    measuring.add_argument("names", nargs="+", choices=list(SETS))
    measuring.add_argument("--contexts", default="passage")
    measuring.add_argument("--most", type=int, default=600)
    measuring.add_argument("--threads", type=int, default=1)
    commands.add_parser("report")
    commands.add_parser("tables")
    arguments = parser.parse_args()
    if arguments.command == "report":
        report()
        return
    if arguments.command == "tables":
        figures = json.loads((RESULTS / "search.json").read_text(encoding="utf-8"))["figures"]
        PAGE.write_text(written(PAGE.read_text(encoding="utf-8"), figures), encoding="utf-8")
        return
    for name in arguments.names:
        run(name, contexts=arguments.contexts.split(","), most=arguments.most, threads=arguments.threads)


if __name__ == "__main__":
    sys.exit(main())
