"""How often a small model answers right from what a way to search packs: presets under budgets, question by question.

Usage: python benchmarks/bench_answers.py [--model llama:qwen2.5-coder-1.5b] [--questions 100]
           [--report | --extract | --threshold]

Natural Questions (QED and NQ-open) and HotpotQA, each with its own passages as the archive; questions drawn with the
seed, half from each set, dealt in turn. Accuracy is that of ParetoRAG's tables: the answer stands in the reply, after
normalising. EM and token F1 are those of SQuAD, the best over the known answers. A reply that says that the archive
does not say is a wrong one, and is counted. Tokens are those of the packed evidence (estimate) and of the whole call.

Every call is kept in a ledger in the user's cache: the script can be stopped, and goes on where it was.

``--extract`` answers all questions without a model, by sentences of the evidence. ``--threshold`` chooses how much of a
question a sentence must hold for that, on one half of the articles of SQuAD 2.0, and says on the other half how often
it then abstains where the archive holds an answer, where people wrote the question so that it holds none, and on
questions of the other sets.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import fmean

from groundwire.backends.memory_store import MemoryStore
from groundwire.core.cited_ids import read_citations
from groundwire.core.language import LanguageModel, Request
from groundwire.core.types import Document, Evidence, Interval
from groundwire.evaluation.measures import exact_match, is_refusal, normalise_answer, normalised_match, token_f1
from groundwire.evaluation.stats import bootstrap_interval, paired_difference
from groundwire.flow.ledger import Ledger
from groundwire.flow.pace import Limits
from groundwire.flow.registry import LazyEmbedder
from groundwire.flow.registry import model as model_named
from groundwire.flow.runs import How, Recording, recorded
from groundwire.flow.searches import pack_hits, search_settings
from groundwire.flow.settings import Loaded, Settings
from groundwire.retrieval.index import Archive
from groundwire.retrieval.manifest import Manifest
from groundwire.writing.answers import (
    AnswerSettings,
    by_rank,
    covered,
    extract_answer,
    holds,
    question_asked,
    wanted_by,
)
from question_sets import CACHE, CachedEmbedder, rows
from record import save_result

SEED = 5
MODEL = "llama:qwen2.5-coder-1.5b"
PRESETS, BUDGETS = ("passages", "pareto", "best"), (300, 600)
AGAINST = "passages"
MOST_TOKENS = 24
MEASURES = ("accuracy", "em", "f1", "abstained", "evidence_tokens", "input_tokens")
LEDGER = CACHE.with_name("answers.ledger")


@dataclass(frozen=True)
class Asked:
    """A question of a set with the answers that are right; ``cluster`` is what an interval is drawn by."""

    folder: str
    id: str
    text: str
    answers: tuple[str, ...]
    cluster: str


@dataclass(frozen=True)
class Cell:
    """One way to search under one budget."""

    preset: str
    budget: int

    @property
    def name(self) -> str:
        return f"{self.preset} {self.budget}"


CELLS = tuple(Cell(preset, budget) for budget in BUDGETS for preset in PRESETS)


def questions(most: int) -> list[Asked]:
    """So many questions, half from each set, drawn with the seed and dealt in turn."""
    drawn = []
    for found in (list(_nq()), list(_hotpot())):
        rng = random.Random(SEED)  # noqa: S311 - an experiment, not a secret
        drawn.append(rng.sample(found, min(most // 2, len(found))))
    return [one for pair in zip(*drawn, strict=True) for one in pair]


def _nq() -> Iterator[Asked]:
    for file in ("questions_qed.jsonl", "questions_nqopen.jsonl"):
        for row in rows("qa-nq", file):
            if row["answerable"] and row["answers"]:
                name = f"{file[10:-6]}:{row['qid']}"
                yield Asked("qa-nq", name, row["question"], tuple(row["answers"]), row["gold"][0]["pid"])


def _hotpot() -> Iterator[Asked]:
    for row in rows("qa-hotpot", "questions.jsonl"):
        if row["sentence_gold"] and row["answer"]:
            yield Asked("qa-hotpot", row["qid"], row["question"], (row["answer"],), row["gold"][0]["pid"])


def archive(folder: str) -> Archive:
    """The passages of a set."""
    embedder = CachedEmbedder(LazyEmbedder("local:e5-small", dimension=384))
    made = Archive(
        MemoryStore(768, passage_words=True), embedder, manifest=Manifest("local:e5-small", 384), name=folder
    )
    made.add(
        Document(row["pid"], row["text"], title=(row.get("title") or "").replace("_", " "), language="en")
        for row in rows(folder, "passages.jsonl")
        if row["text"].strip()
    )
    return made


def evidence(found: Archive, text: str, *, cell: Cell) -> Evidence:
    """What the cell packs for a question."""
    settings = Settings.model_validate({"search": {"preset": cell.preset, "k": 100, "budget_tokens": cell.budget}})
    hits = found.search(text, k=100, settings=search_settings(settings.search))
    return pack_hits(found, hits, settings=settings)


def request(asked: Asked, packed: Evidence) -> tuple[Request, tuple[str, ...]]:
    """What the model is asked, and the ids that it may cite."""
    made = question_asked(asked.text, packed, settings=AnswerSettings("short", language="en"))
    return made.request, tuple(made.ids)


@contextmanager
def asking(model: str) -> Iterator[tuple[Recording, LanguageModel]]:
    """A run of the benchmark's ledger, one call at a time."""
    LEDGER.parent.mkdir(parents=True, exist_ok=True)
    how = How(limits=Limits(at_first=1, at_once=1, timeout_seconds=1200))
    with (
        Ledger(LEDGER) as ledger,
        recorded(ledger, command=["bench_answers"], settings=Loaded(Settings(), {}), how=how) as recording,
    ):
        made = recording.model(model, lambda: model_named(model, profiles={}, environment={}))
        yield recording, made


def measured(asked: Asked, packed: Evidence, *, text: str, tokens: int) -> dict[str, float]:
    """The measures of one reply."""
    said = text.strip()
    abstained = is_refusal(said)
    held = f" {normalise_answer(said)} "
    return {
        "accuracy": float(not abstained and any(f" {normalise_answer(one)} " in held for one in asked.answers)),
        "em": max(max(exact_match(said, one), normalised_match(said, one)) for one in asked.answers),
        "f1": max(token_f1(said, one) for one in asked.answers),
        "abstained": float(abstained),
        "evidence_tokens": float(packed.tokens),
        "input_tokens": float(tokens),
    }


def answered(asked: Sequence[Asked], model: str, *, only_kept: bool) -> list[dict[str, dict[str, float]]]:
    """For every question the measures by cell; with ``only_kept`` up to the first that is not in the ledger."""
    archives = {folder: archive(folder) for folder in dict.fromkeys(one.folder for one in asked)}
    done = []
    with asking(model) as (recording, made):
        for number, one in enumerate(asked, 1):
            packed = [evidence(archives[one.folder], one.text, cell=cell) for cell in CELLS]
            wanted = [request(one, each) for each in packed]
            keys = [each.key(made.id) for each, _ in wanted]
            if only_kept and len(recording.ledger.replies(keys)) < len(set(keys)):
                break
            answers = recording.ask([each for each, _ in wanted], model=made)
            row = {}
            for cell, each, (_, known), answer in zip(CELLS, packed, wanted, answers, strict=True):
                assert answer.reply is not None
                said = read_citations(answer.reply.text, known=known).words
                row[cell.name] = measured(one, each, text=said, tokens=answer.reply.usage.input_tokens)
            done.append(row)
            print(number, one.folder, one.text, file=sys.stderr, flush=True)
    return done


def extracted(asked: Sequence[Asked]) -> list[dict[str, dict[str, float]]]:
    """For every question the measures by cell of the answer without a model."""
    archives = {folder: archive(folder) for folder in dict.fromkeys(one.folder for one in asked)}
    done = []
    for one in asked:
        row = {}
        for cell in CELLS:
            packed = evidence(archives[one.folder], one.text, cell=cell)
            said = extract_answer(one.text, packed)
            row[cell.name] = measured(one, packed, text=said.text, tokens=0)
        done.append(row)
    return done


def squad() -> Iterator[tuple[Asked, bool]]:
    """Questions of SQuAD 2.0 with whether the archive answers them; ``cluster`` is the article."""
    for row in rows("qa-squad", "questions.jsonl"):
        pid = row["gold"][0]["pid"]
        yield Asked("qa-squad", row["qid"], row["question"], tuple(row["answers"]), pid.split(":")[1]), True
    for row in rows("qa-squad", "unanswerable.jsonl"):
        yield Asked("qa-squad", row["qid"], row["question"], (), row["nearest_pid"].split(":")[1]), False


def best_covered(one: Asked, packed: Evidence) -> float:
    """The largest share of the question's words in a sentence that holds what it asks for."""
    kind = wanted_by(one.text)
    fit = [hit for hit in by_rank(packed) if holds(hit.sentence.text, one.text, kind=kind)]
    return max((covered(one.text, hit.sentence.text) for hit in fit), default=0.0)


def thresholds(most: int) -> dict[str, object]:
    """The threshold that tells best on the even articles, and what it does on the odd ones."""
    rng = random.Random(SEED)  # noqa: S311 - an experiment, not a secret
    everything = list(squad())
    drawn = [
        one for answerable in (True, False) for one in rng.sample([e for e in everything if e[1] is answerable], most)
    ]
    found = archive("qa-squad")
    cell = Cell("best", 600)
    values = [(one, answerable, best_covered(one, evidence(found, one.text, cell=cell))) for one, answerable in drawn]
    place = {name: number for number, name in enumerate(sorted({one.cluster for one, _, _ in values}))}
    chosen_on = [each for each in values if place[each[0].cluster] % 2 == 0]
    scored_on = [each for each in values if place[each[0].cluster] % 2]
    foreign = questions(most // 2)
    curve = {step / 20: _told_apart(chosen_on, step / 20) for step in range(21)}
    least = max(curve, key=lambda at: (round(curve[at], 9), -at))
    return {
        "chosen": least,
        "balanced accuracy by threshold, even articles": {str(at): round(value, 4) for at, value in curve.items()},
        "balanced accuracy, odd articles": round(_told_apart(scored_on, least), 4),
        "abstained, odd articles": {
            ("answerable" if answerable else "unanswerable"): _rounded(
                bootstrap_interval(
                    [float(value < least) for _, of, value in scored_on if of is answerable],
                    clusters=[one.cluster for one, of, _ in scored_on if of is answerable],
                    seed=SEED,
                )
            )
            for answerable in (True, False)
        },
        "abstained, questions of other sets": _rounded(
            bootstrap_interval(
                [float(best_covered(one, evidence(found, one.text, cell=cell)) < least) for one in foreign],
                clusters=[one.cluster for one in foreign],
                seed=SEED,
            )
        ),
        "articles": len(place),
    }


def _told_apart(values: Sequence[tuple[Asked, bool, float]], least: float) -> float:
    """The mean of two shares: answerable questions answered, unanswerable ones not."""
    return fmean(
        fmean(float((value >= least) is of) for _, of, value in values if of is kind) for kind in (True, False)
    )


def figures(
    asked: Sequence[Asked], done: Sequence[Mapping[str, Mapping[str, float]]], *, by: str = MODEL
) -> dict[str, object]:
    """Means and paired differences to the passages under the same budget, for both sets and together."""
    found: dict[str, object] = {"questions": len(done), "model": by}
    groups = {"both": None, "qa-nq": "qa-nq", "qa-hotpot": "qa-hotpot"}
    for name, folder in groups.items():
        chosen = [(one, row) for one, row in zip(asked, done, strict=False) if folder in (None, one.folder)]
        clusters = [one.cluster for one, _ in chosen]
        of = {cell.name: {m: [row[cell.name][m] for _, row in chosen] for m in MEASURES} for cell in CELLS}
        found[name] = {
            "means": {
                cell: {m: _rounded(bootstrap_interval(one, clusters=clusters, seed=SEED)) for m, one in values.items()}
                for cell, values in of.items()
            },
            f"differences to {AGAINST}": {
                cell.name: {
                    m: _rounded(
                        paired_difference(
                            of[cell.name][m], of[f"{AGAINST} {cell.budget}"][m], clusters=clusters, seed=SEED
                        )
                    )
                    for m in ("accuracy", "em", "f1", "abstained")
                }
                for cell in CELLS
                if cell.preset != AGAINST
            },
        }  # fmt: skip
    return found


def _rounded(found: Interval) -> dict[str, float]:
    return {"value": round(found.mean, 4), "low": round(found.low, 4), "high": round(found.high, 4), "n": found.n}


def report(found: Mapping[str, object]) -> str:
    """The figures as tables in Markdown."""
    lines = []
    for name in ("both", "qa-nq", "qa-hotpot"):
        part = found[name]
        heads = "| way and budget | accuracy | EM | F1 | abstained | evidence tokens | input tokens |"
        lines += ["", f"{name}:", "", heads, "| --- | --- | --- | --- | --- | --- | --- |"]
        for cell, values in part["means"].items():  # type: ignore[index]
            shares = [f"{_points(values[m])}" for m in ("accuracy", "em", "f1")]
            rest = [f"{values['abstained']['value']:.0%}", *(f"{values[m]['value']:,.0f}" for m in MEASURES[4:])]
            lines.append("| " + " | ".join([cell, *shares, *rest]) + " |")
        lines += ["", f"| minus {AGAINST} | accuracy | F1 |", "| --- | --- | --- |"]
        for cell, values in part[f"differences to {AGAINST}"].items():  # type: ignore[index]
            lines.append(f"| {cell} | {_points(values['accuracy'], sign='+')} | {_points(values['f1'], sign='+')} |")
    return "\n".join(lines)


def _points(value: Mapping[str, float], sign: str = "") -> str:
    return f"{100 * value['value']:{sign}.1f} [{100 * value['low']:{sign}.1f}, {100 * value['high']:{sign}.1f}]"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default=MODEL)
    parser.add_argument("--questions", type=int, default=100)
    parser.add_argument("--report", action="store_true", help="ask nothing new: figures of what the ledger has")
    parser.add_argument("--extract", action="store_true", help="answer without a model")
    parser.add_argument("--threshold", action="store_true", help="choose how much of a question a sentence must hold")
    arguments = parser.parse_args()
    if arguments.threshold:
        chosen = thresholds(arguments.questions)
        save_result("answers_threshold", chosen, seed=SEED)
        print(json.dumps(chosen, indent=1))
        return
    asked = questions(arguments.questions)
    if arguments.extract:
        found = figures(asked, extracted(asked), by="builtin")
        save_result("answers_extractive", found, seed=SEED)
        print(report(found))
        return
    done = answered(asked, arguments.model, only_kept=arguments.report)
    found = figures(asked, done, by=arguments.model)
    save_result("answers", found, seed=SEED)
    print(
        json.dumps({"accuracy of all": round(fmean(row["best 600"]["accuracy"] for row in done), 3)}), file=sys.stderr
    )
    print(report(found))


if __name__ == "__main__":
    main()
