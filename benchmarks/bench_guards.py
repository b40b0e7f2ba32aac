"""How many seeded errors the gates catch, and how often they object to clean sentences.

Run: python benchmarks/bench_guards.py [--shared FOLDER] [--each 400]

Clean claims are sentences of news articles, as they stand and lightly rewritten (attribution added, numbers and marks
written another way). Each error changes one thing in one sentence. An error counts as caught when the verdict is not
``supported``; a clean claim counts as a false alarm when it is not. Every claim is checked twice, citing the exact
sentence and citing the whole document. Intervals are Wilson's at 95 %.

Documents are divided in two by a hash of their id, translations of one document together: the gates for names,
speakers, directions, negations and subjects were developed on the half ``develop`` only; ``scored`` is the other.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import re
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from groundwire.core.mentions import find_dates, find_quotations
from groundwire.core.quantities import Quantity, find_quantities
from groundwire.core.types import Article, Citation, Claim, Document, Span
from groundwire.writing.verify import split_document, verify
from record import save_result
from seeded_errors import TURNED, reworded, subject_swapped

ROOT = Path(__file__).resolve().parents[1]
SEED = 20240506
SWAPS = {
    "million": "billion",
    "billion": "million",
    "萬": "億",
    "億": "萬",
    "万": "亿",
    "亿": "万",
    "thousand": "million",
}
ENGLISH_WORDS = ("harbour", "violin", "quarterly", "seldom", "orchard", "gladly", "granite", "borrow")
NUMBER_WORDS = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
CHINESE_DIGITS = "二三四五六七八九"


@dataclass(frozen=True)
class Clean:
    """A sentence with its document; ``language`` as the data set says."""

    document: Document
    span: Span
    language: str

    @property
    def text(self) -> str:
        """The sentence."""
        return self.document.text[self.span.start : self.span.end]

    @property
    def half(self) -> str:
        """The half of the documents it belongs to."""
        name = re.sub(r"-(?:en|zh-TW|zh-CN)$", "", self.document.id)
        return ("develop", "scored")[hashlib.sha256(name.encode()).digest()[0] % 2]


def load(shared: Path | None) -> list[Clean]:
    """The sentences of the sample archive and, where there, of the shared news sets."""
    found = [*_sample(ROOT / "src" / "groundwire" / "sample" / "stories.jsonl")]
    if shared is not None:
        found += _ntrex(shared / "data" / "news-ntrex" / "articles.jsonl")
        found += _wikinews(shared / "data" / "news-wikinews" / "articles.jsonl")
    return found


def _rows(path: Path) -> Iterator[dict[str, object]]:
    with path.open(encoding="utf-8") as lines:
        yield from (json.loads(line) for line in lines)


def _sample(path: Path) -> Iterator[Clean]:
    for row in _rows(path):
        published = (
            date.fromisoformat(str(row["date"])) if re.fullmatch(r"\d{4}-\d\d-\d\d", str(row.get("date"))) else None
        )
        document = Document(
            str(row["id"]), str(row["text"]), published=published, language=str(row.get("language", ""))
        )
        yield from (Clean(document, span, document.language or "sample") for span in split_document(document))


def _joined(
    identity: str, sentences: list[str], *, language: str, joiner: str, published: date | None
) -> Iterator[Clean]:
    document = Document(identity, joiner.join(sentences), published=published, language=language)
    at = 0
    for sentence in sentences:
        yield Clean(document, Span(at, at + len(sentence)), language)
        at += len(sentence) + len(joiner)


def _ntrex(path: Path) -> Iterator[Clean]:
    for row in _rows(path):
        for language in ("en", "zh-TW", "zh-CN"):
            sentences = row["sentences"][language]  # type: ignore[index]
            joiner = " " if language == "en" else ""
            yield from _joined(
                f"{row['doc_id']}-{language}", sentences, language=language, joiner=joiner, published=None
            )


def _wikinews(path: Path) -> Iterator[Clean]:
    for row in _rows(path):
        sentences = [sentence for paragraph in row["paragraphs"] for sentence in paragraph]  # type: ignore[attr-defined]
        published = date.fromisoformat(str(row["date"]))
        yield from _joined(str(row["doc_id"]), sentences, language="en", joiner=" ", published=published)


def _spliced(text: str, span: Span, new: str) -> str:
    return text[: span.start] + new + text[span.end :]


def _figures(text: str) -> list[Quantity]:
    return [q for q in find_quantities(text) if not q.weak]


def quote_changed(text: str, rng: random.Random) -> str | None:
    """One word (or two Chinese characters) inside a quotation of three words or more becomes another."""
    quotations = [q for q in find_quotations(text) if len(re.findall(r"[A-Za-z]{2,}|[\u4e00-\u9fff]", q.text)) >= 3]
    if not quotations:
        return None
    quotation = rng.choice(quotations)
    found = rng.choice(list(re.finditer(r"[A-Za-z]{2,}|[\u4e00-\u9fff]{1,2}", quotation.text)))
    new = rng.choice(ENGLISH_WORDS) if found.group().isascii() else rng.choice(["晚餐", "鋼琴", "河岸", "借用"])
    start = quotation.span.start
    return _spliced(text, Span(start + found.start(), start + found.end()), new)


def number_changed(text: str, rng: random.Random) -> str | None:
    """One number becomes another of the same form."""
    figures = _figures(text)
    if not figures:
        return None
    figure = rng.choice(figures)
    found = re.search(r"\d+", figure.text)
    if found:
        digits = found.group()
        new = str(rng.choice([n for n in range(1, 10) if str(n) != digits[0]])) + digits[1:]
        span = Span(figure.span.start + found.start(), figure.span.start + found.end())
        return _spliced(text, span, new)
    for words in (NUMBER_WORDS, CHINESE_DIGITS):
        pattern = r"\b(?:" + "|".join(words) + r")\b" if words is NUMBER_WORDS else f"[{words}]"
        if found := re.search(pattern, figure.text, re.IGNORECASE):
            new = rng.choice([word for word in words if word != found.group().lower()])
            return _spliced(text, Span(figure.span.start + found.start(), figure.span.start + found.end()), new)
    return None


def unit_changed(text: str, rng: random.Random) -> str | None:
    """A scale, a currency, per cent against points, or what is counted becomes another."""
    options = []
    for figure in _figures(text):
        for old, new in SWAPS.items():
            if old in figure.text and figure.text.count(old) == 1:
                options.append(_spliced(text, figure.span, figure.text.replace(old, new)))
        if figure.kind == "percent" and figure.text.endswith(("%", "％", "percent", "per cent")):
            points = "個百分點" if re.search(r"[\u4e00-\u9fff]", text) else " percentage points"
            options.append(_spliced(text, figure.span, re.sub(r"\s*(?:%|％|per ?cent)$", points, figure.text)))
        if figure.kind == "money" and figure.text.startswith(("$", "£", "€")):
            options.append(
                _spliced(text, figure.span, {"$": "€", "£": "$", "€": "£"}[figure.text[0]] + figure.text[1:])
            )
        if figure.unit == "person" and text[figure.span.end :].startswith((" people", "人")):
            length = len(" people") if text[figure.span.end] == " " else 1
            new = " buildings" if length > 1 else "棟房屋"
            options.append(_spliced(text, Span(figure.span.end, figure.span.end + length), new))
    return rng.choice(options) if options else None


def year_changed(text: str, rng: random.Random) -> str | None:
    """A year written with four digits moves by one to nine years."""
    years = [
        m
        for m in find_dates(text)
        if m.absolute and m.granularity != "decade" and re.search(r"(?<!\d)[12]\d{3}(?!\d)", m.text)
    ]
    if not years:
        return None
    mention = rng.choice(years)
    found = re.search(r"(?<!\d)[12]\d{3}(?!\d)", mention.text)
    assert found is not None
    new = str(int(found.group()) + rng.choice([-9, -5, -3, -2, -1, 1, 2, 3, 5, 9]))
    return _spliced(text, Span(mention.span.start + found.start(), mention.span.start + found.end()), new)


ERRORS: dict[str, Callable[[str, random.Random], str | None]] = {
    "quote": quote_changed, "number": number_changed, "unit": unit_changed, "year": year_changed,
}  # fmt: skip


def rewritten(text: str) -> str:
    """The same statement written a little differently: marks, number forms, an attribution."""
    if re.search(r"[\u4e00-\u9fff]", text):
        changed = text.rstrip("。").replace("%", "％").replace("「", "“").replace("」", "”")
        return f"據報導，{changed}。" if changed.count("“") == changed.count("”") else f"據報導，{text}"
    changed = re.sub(r"(\d)%", r"\1 percent", text.rstrip("."))
    changed = re.sub(r"\b(\d{1,3}),(\d{3})\b", r"\1\2", changed)
    return f"{changed}, according to the report."


REWRITES: dict[str, Callable[[str, random.Random], str | None]] = {
    "clean": lambda text, _: text,
    "rewritten": lambda text, _: rewritten(text),
    "reworded": lambda text, rng: reworded(text, "", rng),
}
KINDS = (*REWRITES, *ERRORS, *TURNED, "subject", "wrong source")


def seeded(kind: str, item: Clean, rng: random.Random, *, beside: list[str]) -> str | None:
    """The claim of a kind made of a clean sentence; None where the sentence has nothing of the kind.

    Args:
        kind: one of ``KINDS``.
        item: the clean sentence.
        rng: chooses.
        beside: the sentences of its document.
    """
    if kind == "wrong source":
        return item.text
    if kind == "subject":
        return subject_swapped(item.text, item.document.text, rng, sentences=beside)
    if kind in TURNED:
        return TURNED[kind](item.text, item.document.text, rng)
    return (REWRITES | ERRORS)[kind](item.text, rng)


@dataclass(frozen=True)
class Outcome:
    """One claim checked: whether it came out as supported."""

    kind: str
    group: str
    cited: str
    supported: bool
    claim: str
    reason: str


def check(
    claim: str,
    clean: Clean,
    *,
    kind: str,
    documents: dict[str, Document],
    spans: dict[str, tuple[Span, ...]],
    cite: Clean | None = None,
) -> Iterator[Outcome]:
    """The claim's verdicts, citing the exact sentence and the whole document."""
    target = cite or clean
    exact = Citation(1, target.document.id, target.span.start, target.span.end, target.text)
    for cited, citation in (("sentence", exact), ("document", Citation(1, target.document.id))):
        article = Article("", Claim("c1", claim, (citation,)), (), (), ())
        verdict = verify(article, documents, sentences=lambda document: spans[document.id])[0]
        yield Outcome(kind, clean.language, cited, verdict.support == "supported", claim, verdict.reason)


def run(clean: list[Clean], *, each: int, seed: int = SEED, kinds: tuple[str, ...] = KINDS) -> list[Outcome]:
    """Clean claims and seeded errors, at most ``each`` of a kind and language, twice as many clean ones."""
    rng = random.Random(seed)  # noqa: S311 - an experiment, not a secret
    usable = [c for c in clean if len(c.text) > 20]
    rng.shuffle(usable)
    found: defaultdict[str, list[Span]] = defaultdict(list)  # the data's own: its headlines end without a stop
    for item in clean:
        found[item.document.id].append(item.span)
    spans = {key: tuple(own) for key, own in found.items()}
    counts: defaultdict[tuple[str, str], int] = defaultdict(int)
    outcomes: list[Outcome] = []
    for number, item in enumerate(usable):
        own = {item.document.id: item.document}
        other = usable[(number + 1) % len(usable)]
        for kind in kinds:
            if counts[kind, item.language] >= each * (2 if kind in REWRITES else 1):
                continue
            cite = other if kind == "wrong source" else None
            text = item.document.text
            beside = [text[span.start : span.end] for span in spans[item.document.id]]
            claim = seeded(kind, item, rng, beside=beside)
            apart = cite is None or (cite.document.id != item.document.id and cite.language == item.language)
            if claim is None or not apart or (kind not in ("clean", "wrong source") and claim == item.text):
                continue
            counts[kind, item.language] += 1
            documents = own | ({cite.document.id: cite.document} if cite else {})
            outcomes += check(claim, item, kind=kind, documents=documents, spans=spans, cite=cite)
    return outcomes


def wilson(hits: int, n: int) -> tuple[float, float]:
    """Wilson's interval at 95 % for a share; (0, 1) without data."""
    if not n:
        return 0.0, 1.0
    z, share = 1.959964, hits / n
    middle, half = share + z * z / (2 * n), z * (share * (1 - share) / n + z * z / (4 * n * n)) ** 0.5
    return max(0.0, (middle - half) / (1 + z * z / n)), min(1.0, (middle + half) / (1 + z * z / n))


def table(outcomes: list[Outcome]) -> list[dict[str, object]]:
    """A row for each kind, language and way of citing: share not supported, with its interval."""
    rows: defaultdict[tuple[str, str, str], list[bool]] = defaultdict(list)
    for outcome in outcomes:
        for group in (outcome.group, "all"):
            rows[outcome.kind, group, outcome.cited].append(not outcome.supported)
    return [
        {"kind": kind, "language": group, "cited": cited, "n": len(flags), "not_supported": sum(flags) / len(flags),
         "interval": wilson(sum(flags), len(flags))}
        for (kind, group, cited), flags in sorted(rows.items())
    ]  # fmt: skip


def main() -> None:
    """Measure, print and write the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shared", type=Path, default=os.environ.get("GROUNDWIRE_SHARED") or ROOT.parent / "shared")
    parser.add_argument("--each", type=int, default=400)
    parser.add_argument("--half", choices=("develop", "scored", "both"), default="scored")
    parser.add_argument("--kinds", default="", help="only these kinds, parted by commas; nothing is saved")
    parser.add_argument("--show", default="", help="print this many wrong outcomes of a kind, as KIND:COUNT")
    options = parser.parse_args()
    shared = Path(options.shared) if Path(options.shared).is_dir() else None
    began = time.perf_counter()
    clean = [item for item in load(shared) if options.half in ("both", item.half)]
    kinds = tuple(options.kinds.split(",")) if options.kinds else KINDS
    outcomes = run(clean, each=options.each, kinds=kinds)
    rows = table(outcomes)
    for row in rows:
        low, high = row["interval"]  # type: ignore[misc]
        named = f"{row['kind']:13}{row['language']:8}{row['cited']:10} n {row['n']:5}"
        print(f"{named}  not supported {row['not_supported']:.3f} [{low:.3f}, {high:.3f}]")
    if options.show:
        kind, count = options.show.split(":")
        wrong = [o for o in outcomes if o.kind == kind and o.supported != (kind in REWRITES)]
        for outcome in wrong[: int(count)]:
            print(f"- {outcome.group} {outcome.cited}: {outcome.claim}\n    {outcome.reason}")
    seconds = round(time.perf_counter() - began, 1)
    if not options.kinds and options.half == "scored":
        documents = len({item.document.id for item in clean})
        figures = {"each": options.each, "half": options.half, "documents": documents, "seconds": seconds, "rows": rows}
        save_result("guards", figures, seed=SEED)


if __name__ == "__main__":
    main()
