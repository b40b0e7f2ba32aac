"""Writers compared on news-summhay: facts covered, citations that are right, and what an article costs.

Usage: python benchmarks/bench_write.py [--model llama:qwen2.5-coder-1.5b] [--topics 20] [--system NAME]... [--report]

A topic is a subtopic of the data set, with the facts that an article on it should hold and the stories that hold each.
The archive holds all 500 stories. Every system gets the same limits (sources, words). Coverage is the mean over the
facts of how far the article holds them (``fact_coverage.py``, fitted on people's labels of other subtopics). Citation
precision and recall are those of the sentence that holds a fact best, where its coverage is .5 or more: its citations
against the stories that hold the fact; F1 is the mean over covered facts, 0 for a fact whose sentence cites nothing.
Claims supported by our own gates stand beside them (for all systems; the model is not asked). Topics are the unit of
the intervals, and differences are paired.

Every call is kept in a ledger in the user's cache, and every article that is done: the script can be stopped, and goes
on where it was. Seconds are those of one thread on a machine with other work.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from fact_coverage import Coverage, embedder
from groundwire.backends.memory_store import MemoryStore
from groundwire.core.answers import Answer
from groundwire.core.errors import CannotDo, NothingFound
from groundwire.core.language import Request
from groundwire.core.types import Claim, Document, Interval
from groundwire.evaluation.stats import bootstrap_interval, paired_difference
from groundwire.flow.ledger import Ledger
from groundwire.flow.pace import Limits
from groundwire.flow.pipeline import Written, write_article
from groundwire.flow.registry import model as model_named
from groundwire.flow.runs import How, Recording, recorded
from groundwire.flow.settings import Loaded, Settings
from groundwire.flow.sourcing import Assistant
from groundwire.retrieval.index import Archive
from groundwire.retrieval.manifest import Manifest
from question_sets import CACHE, rows
from record import save_result

SEED = 11
MODEL = "llama:qwen2.5-coder-1.5b"
LIMITS: Mapping[str, object] = {
    "max_sources": 4, "candidates": 6, "max_words": 80, "max_tokens": 130, "language": "en", "best_at_least": 0,
}  # fmt: skip
"""The same for all: small, because the model reads 35 tokens a second."""
SYSTEMS: Mapping[str, Mapping[str, object]] = {
    "builtin": {},
    "zero-shot": {"preset": "zero-shot"},
    "plain": {"preset": "plain"},
    "scorerag": {"preset": "scorerag"},
    "best": {"preset": "best", "check": "gates"},
    "best, built-in rater": {"preset": "best", "check": "gates", "rater": "builtin"},
    "best, briefs of sentences": {"preset": "best", "check": "gates", "briefs": "sentences"},
    "best, repaired": {"preset": "best", "check": "gates", "repair": True},
}
MEASURES = ("coverage", "citation_f1", "citation_precision", "citation_recall", "supported", "cited", "words", "calls",
            "input_tokens", "output_tokens", "seconds")  # fmt: skip
SHOWN = ("coverage", "citation_precision", "citation_f1", "joint", "supported", "cited", "words", "calls",
         "input_tokens", "output_tokens", "seconds")  # fmt: skip
COVERED = 0.5
FOLDER = CACHE.with_name("bench_write")


@dataclass(frozen=True)
class Topic:
    id: str
    group: str
    text: str
    facts: tuple[tuple[str, frozenset[str]], ...]


def topics(most: int) -> list[Topic]:
    """So many subtopics, drawn with the seed, alike from every group."""
    groups: dict[str, list[Topic]] = {}
    for row in rows("news-summhay", "queries.jsonl"):
        facts = tuple((each["insight"], frozenset(each["gold_docs"])) for each in row["insights"])
        text = f"{row['topic_title'].partition(':')[0]}: {row['subtopic']}"
        groups.setdefault(row["topic"], []).append(Topic(row["qid"], row["topic"], text, facts))
    rng = random.Random(SEED)  # noqa: S311 - an experiment, not a secret
    for found in groups.values():
        rng.shuffle(found)
    rounds = max(map(len, groups.values()))
    dealt = [found[place] for place in range(rounds) for found in groups.values() if place < len(found)]
    return dealt[:most]


def archive() -> Archive:
    """All stories of the set."""
    made = Archive(MemoryStore(768), embedder(), manifest=Manifest("local:e5-small", 384), name="news-summhay")
    made.add(Document(row["doc_id"], row["text"], language="en") for row in rows("news-summhay", "documents.jsonl"))
    return made


@contextmanager
def asking(model: str) -> Iterator[Assistant]:
    """The model, and a run that takes down what it is asked."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    how = How(limits=Limits(at_first=1, at_once=1, timeout_seconds=1200))
    with (
        Ledger(FOLDER / "ledger") as ledger,
        recorded(ledger, command=["bench_write"], settings=Loaded(Settings(), {}), how=how) as recording,
    ):
        yield Assistant(_model(recording, model), recording)


def _model(recording: Recording, name: str):  # noqa: ANN202 - a LanguageModel
    return recording.model(name, lambda: model_named(name, profiles={}, environment={}))


def settings_of(system: str, model: str) -> Settings:
    options = {**LIMITS, **SYSTEMS[system]}
    if system != "builtin":
        options["model"] = model
    return Settings.model_validate({"write": options, "search": {"preset": "best"}})


class Counted:
    """A run, with a count of what its steps were answered; what the ledger had before counts as well."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self.answers: list[Answer] = []

    def ask(self, requests: Sequence[Request], **how: object) -> tuple[Answer, ...]:
        found = self._recording.ask(requests, **how)  # type: ignore[arg-type]  # passed on as they came
        self.answers += found
        return found

    def __getattr__(self, name: str) -> object:
        return getattr(self._recording, name)

    def spent(self) -> dict[str, float]:
        """Calls, tokens and seconds of the replies."""
        replied = [answer for answer in self.answers if answer.reply is not None]
        usages = [answer.reply.usage for answer in replied if answer.reply is not None]
        return {
            "calls": len(replied),
            "input_tokens": sum(usage.input_tokens for usage in usages),
            "output_tokens": sum(usage.output_tokens for usage in usages),
            "seconds": round(sum(answer.seconds for answer in replied), 1),
        }


def written(found: Archive, topic: Topic, *, system: str, assistant: Assistant) -> dict[str, object]:
    """What a system wrote on a topic, with what it cost."""
    counted = Counted(assistant.recording)
    helped = Assistant(assistant.model, counted)  # type: ignore[arg-type]  # stands in for the run
    made: Written | None = None
    problem = ""
    try:
        settings = settings_of(system, assistant.model.id)
        made = write_article(found, topic.text, settings=settings, assistant=helped)
    except (NothingFound, CannotDo) as error:
        problem = str(error)
    row: dict[str, object] = {"system": system, "topic": topic.id, "problem": problem, **counted.spent()}
    if made is not None:
        row["claims"] = [{"text": claim.text, "documents": _documents(claim)} for claim in made.article.claims]
        row["supports"] = [verdict.support for verdict in made.verdicts]
        row["quality"] = asdict(made.findings.quality) if made.findings.quality else None
        row["notes"] = list(made.article.notes)
    return row


def _documents(claim: Claim) -> list[str]:
    return sorted({citation.document_id for citation in claim.citations})


def measured(row: Mapping[str, Any], topic: Topic, coverage: Coverage) -> dict[str, float | None]:
    """The measures of an article; without one nothing is covered, and what needs an article is unscored."""
    claims = row.get("claims", [])
    lines = [claim["text"] for claim in claims]
    found = [(gold, coverage.of(fact, lines, without=topic.id)) for fact, gold in topic.facts]
    marks = [_citations(claims[one.line]["documents"], gold) for gold, one in found if one.value >= COVERED]
    values: dict[str, float | None] = {"coverage": sum(one.value for _, one in found) / len(found)}
    for place, name in enumerate(("citation_precision", "citation_recall", "citation_f1")):
        values[name] = sum(mark[place] for mark in marks) / len(marks) if marks else None
    values["joint"] = sum(
        one.value * _citations(claims[one.line]["documents"], gold)[2] for gold, one in found if one.line >= 0
    ) / len(found)
    supports = row.get("supports", [])
    checked = [each for each in supports if each != "background"]
    values["supported"] = sum(each == "supported" for each in checked) / len(checked) if checked else None
    values["cited"] = sum(bool(claim["documents"]) for claim in claims) / len(claims) if claims else None
    values["words"] = float(sum(len(line.split()) for line in lines)) if lines else None
    return {**values, **{name: float(row[name]) for name in ("calls", "input_tokens", "output_tokens", "seconds")}}


def _citations(cited: Sequence[str], gold: frozenset[str]) -> tuple[float, float, float]:
    """Precision, recall and F1 of the stories that a sentence cites; all 0 where it cites nothing."""
    right = len(gold & set(cited))
    precision, recall = (right / len(cited) if cited else 0.0), right / len(gold)
    return precision, recall, 2 * precision * recall / (precision + recall) if right else 0.0


def kept(folder: Path) -> dict[tuple[str, str], dict[str, Any]]:
    """The articles that are done, by system and topic."""
    file = folder / "articles.jsonl"
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    return {(row["system"], row["topic"]): row for row in map(json.loads, lines)}


def make(systems: Sequence[str], asked: Sequence[Topic], *, model: str) -> None:
    """Write what is not written yet, topic by topic, so that a stop leaves whole topics."""
    folder = FOLDER / model.replace(":", "-")
    folder.mkdir(parents=True, exist_ok=True)
    done, found = kept(folder), archive()
    with asking(model) as assistant, (folder / "articles.jsonl").open("a", encoding="utf-8") as out:
        for topic in asked:
            for system in systems:
                if (system, topic.id) in done:
                    continue
                began = time.perf_counter()
                row = written(found, topic, system=system, assistant=assistant)
                out.write(json.dumps(row, ensure_ascii=False) + "\n")
                out.flush()
                print(topic.id, system, f"{time.perf_counter() - began:.0f} s", row["problem"], file=sys.stderr)


def figures(systems: Sequence[str], asked: Sequence[Topic], *, model: str, against: str) -> dict[str, object]:
    """Means of all measures, and paired differences to one system, with intervals, on the topics that all have."""
    done, coverage = kept(FOLDER / model.replace(":", "-")), Coverage(embedder())
    shared = [topic for topic in asked if all((system, topic.id) in done for system in systems)]
    table = {system: [measured(done[system, topic.id], topic, coverage) for topic in shared] for system in systems}
    names = (*MEASURES, "joint")
    return {
        "topics": len(shared),
        "model": model,
        "limits": dict(LIMITS),
        "systems": {
            system: {name: _rounded(bootstrap_interval([row[name] for row in found], seed=SEED)) for name in names}
            for system, found in table.items()
        },
        f"differences to {against}": {
            system: {
                name: _rounded(
                    paired_difference([row[name] for row in found], [row[name] for row in table[against]], seed=SEED)
                )
                for name in names
            }
            for system, found in table.items()
            if system != against
        },
        "without an article": {
            system: sum(bool(done[system, topic.id]["problem"]) for topic in shared) for system in systems
        },
    }


def _rounded(found: Interval) -> dict[str, float]:
    return {"value": round(found.mean, 3), "low": round(found.low, 3), "high": round(found.high, 3), "n": found.n,
            "unscored": found.unscored}  # fmt: skip


def report(found: Mapping[str, Any]) -> str:
    """The figures as a table in Markdown."""
    lines = ["| system | " + " | ".join(name.replace("_", " ") for name in SHOWN) + " |",
             "| --- |" + " --- |" * len(SHOWN)]  # fmt: skip
    for system, values in found["systems"].items():
        lines.append(f"| {system} | " + " | ".join(_cell(values[name], name) for name in SHOWN) + " |")
    return "\n".join(lines)


def _cell(value: Mapping[str, float], name: str) -> str:
    if name in ("words", "calls", "input_tokens", "output_tokens", "seconds"):
        return f"{value['value']:,.0f}"
    left = f", {value['unscored']} unscored" if value["unscored"] else ""
    return f"{value['value']:.3f} [{value['low']:.3f}, {value['high']:.3f}]{left}".replace("0.", ".")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default=MODEL)
    parser.add_argument("--topics", type=int, default=20)
    parser.add_argument("--system", action="append", default=[], choices=tuple(SYSTEMS), help="default: the first five")
    parser.add_argument("--against", default="plain")
    parser.add_argument("--report", action="store_true", help="write nothing new: figures of what is there")
    arguments = parser.parse_args()
    systems, asked = arguments.system or tuple(SYSTEMS)[:5], topics(arguments.topics)
    if not arguments.report:
        make(systems, asked, model=arguments.model)
    found = figures(systems, asked, model=arguments.model, against=arguments.against)
    save_result("write", found, seed=SEED)
    print(report(found))


if __name__ == "__main__":
    main()
