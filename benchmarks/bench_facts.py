"""Conflicts, updates and equal values across sources, and false premises of topics: what is found, what is alarm.

    python benchmarks/bench_facts.py            # even articles: the half that rules are made on
    python benchmarks/bench_facts.py --held-out # odd articles, and the sets that no rule was made on

Planted: a second report is made of an article. It keeps the first sentence and one sentence with a number, in another
frame, and the number is changed (``conflict``), changed in a report of two days later (``update``), written in another
way (``equal``), turned round (``direction``), or changed along with the year or the names of the sentence
(``other year``, ``other name``: nothing must be said). Natural: all pairs of the articles of a set, where each finding
counts as an alarm, right or not; and translations of one article. Premises: titles against their own article, as they
are and with the year moved by one.
"""

from __future__ import annotations

import argparse
import random
import re
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date, timedelta
from fractions import Fraction
from itertools import combinations

from groundwire.core.quantities import Quantity
from groundwire.core.sentences import split_sentences
from groundwire.core.types import Document
from groundwire.writing.discords import find_discords
from groundwire.writing.facts import read_facts
from groundwire.writing.names import find_names
from groundwire.writing.premise import check_premise
from question_sets import rows
from record import save_result

DAY = date(2023, 8, 15)
_DIGITS = re.compile(r"\d[\d,]*(?:\.\d+)?")
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?=年|[\s,.]|$)")
_DATE = re.compile(r"(\d{4})[-年](\d\d)[-月](\d\d)")
FRAMES = {
    "en": ("{}", "Officials gave these figures at a briefing: {}", "According to a second report, {}"),
    "zh": ("{}", "據另一份報導，{}", "有關單位在記者會上說明：{}"),
}
WORDS = {
    "en": ((" said", " stated"), (" about ", " roughly "), (" more than ", " over "), (" also ", " ")),
    "zh": (("表示", "指出"), ("目前", "現在"), ("超過", "逾"), ("但是", "然而"), ("也", "亦")),
}  # fmt: skip
TURNED = {
    "en": (("rose", "fell"), ("increased", "decreased"), ("grew", "shrank"), ("fell", "rose"), ("up ", "down ")),
    "zh": (("增长", "下降"), ("增加", "減少"), ("上漲", "下跌"), ("成長", "衰退"), ("下降", "上升"), ("上升", "下降")),
}  # fmt: skip
NEAR = {"en": 48, "zh": 16}
"""So near to a number, in characters, a name is replaced."""
QUIET = ("equal", "other year", "other name")


def stories(name: str) -> Iterator[tuple[str, Document]]:
    """The articles of a set with their group: those of one group are about one matter, or may be."""
    if name == "crud":
        for row in rows("news-crud-zh", "articles.jsonl"):
            found = _DATE.search(row["date"] or row["raw"][:20])
            day = date(*map(int, found.groups())) if found else None
            yield row["topic_keyword"] or "random", Document(row["doc_id"], row["raw"], "", day, language="zh-CN")
    elif name == "wikinews":
        for row in rows("news-wikinews", "articles.jsonl"):
            text = "\n".join(" ".join(each) for each in row["paragraphs"][1:])
            yield (
                "wikinews",
                Document(row["doc_id"], text, row["title"], date.fromisoformat(row["date"]), language="en"),
            )
    elif name == "summhay":
        for row in rows("news-summhay", "documents.jsonl"):
            yield row["topic"], Document(row["doc_id"], row["text"], language="en")
    else:
        language = name.removeprefix("ntrex:")
        for row in rows("news-ntrex", "articles.jsonl"):
            title, *text = row["sentences"][language]
            yield (
                "ntrex",
                Document(row["doc_id"], (" " if language == "en" else "").join(text), title, language=language),
            )


def half(documents: Sequence[Document], *, held_out: bool) -> list[Document]:
    """The even articles, or the odd ones."""
    return [document for number, document in enumerate(documents) if number % 2 == held_out]


# --- planted ----------------------------------------------------------------------------------------------------------


def planted(document: Document, kind: str, *, language: str, rng: random.Random) -> tuple[Document, Document] | None:
    """An article and a second report with one number that tells something of the kind; None where there is none."""
    first = replace(document, published=DAY)
    spans = split_sentences(document.text, language=document.language)
    sentences = [document.text[span.start : span.end].strip() for span in spans]
    chosen = [s for s in sentences[1:25] if 25 <= len(s) <= 320 and "\n" not in s]
    rng.shuffle(chosen)
    for sentence in chosen:
        made = changed(sentence, kind, document=first, rng=rng, language=language)
        if made is not None:
            for old, new in WORDS[language]:
                made = made.replace(old, new, 1)
            text = f"{sentences[0]}\n\n{rng.choice(FRAMES[language]).format(made)}"
            later = timedelta(days=2 if kind == "update" else 0)
            return first, Document(document.id + "+", text, document.title, DAY + later, language=document.language)
    return None


def changed(sentence: str, kind: str, *, document: Document, rng: random.Random, language: str) -> str | None:
    """A sentence that was made to tell something of the kind."""
    known = [fact.quantity for fact in read_facts(document) if fact.sentence.strip() == sentence]
    amounts = [q for q in known if _DIGITS.search(q.text) and q.high is None and q.value > 2]
    if not amounts:
        return None
    quantity = rng.choice(amounts)
    if kind == "equal":
        return rewritten(sentence, quantity, language=language)
    if kind == "direction":
        turned = [
            (a, b) for a, b in TURNED[language] if a in sentence[max(0, sentence.find(quantity.text) - 24) :][:48]
        ]
        return sentence.replace(*turned[0], 1) if turned and quantity.kind == "percent" else None
    made = with_number(sentence, quantity, rng=rng)
    if kind == "other year":
        years = [*_YEAR.finditer(sentence)]
        return _YEAR.sub(lambda found: str(int(found[0]) - 1), made) if years and made else None
    if kind == "other name":
        place = sentence.find(quantity.text)
        names = [name for name in find_names(sentence) if abs(name.span.start - place) <= NEAR[language]]
        for name in names:
            made = (made or "").replace(name.text, "Marlow Bay" if language == "en" else "馬洛灣")
        return made if names and made else None
    return made


def with_number(sentence: str, quantity: Quantity, *, rng: random.Random) -> str | None:
    """The sentence with another number in the place of one, between a quarter and three quarters more."""
    found = _DIGITS.search(quantity.text)
    if found is None or sentence.count(quantity.text) != 1:
        return None
    value = Fraction(found[0].replace(",", ""))
    decimals = len(found[0].partition(".")[2])
    more = max(Fraction(1, 10**decimals), value * rng.randint(25, 75) / 100)
    written = f"{float(value + more):,.{decimals}f}" if "," in found[0] else f"{float(value + more):.{decimals}f}"
    return sentence.replace(quantity.text, quantity.text.replace(found[0], written, 1))


def rewritten(sentence: str, quantity: Quantity, *, language: str) -> str | None:
    """The sentence with a number written in another way, exact or rounded to three places."""
    found = _DIGITS.search(quantity.text)
    if quantity.value < 10_000 or quantity.value.denominator != 1 or sentence.count(quantity.text) != 1 or not found:
        return None
    scales = ((10**9, " billion"), (10**6, " million")) if language == "en" else ((10**8, "億"), (10**4, "萬"))
    for scale, word in scales:
        if quantity.value >= scale:
            amount = float(f"{float(quantity.value / scale):.3g}")
            end = re.search(
                r"[\d,.]+(?:\s(?:thousand|million|billion|trillion)|m\b|bn\b)?\s?[多余]?[万萬亿億兆]*", quantity.text
            )
            return (
                sentence.replace(quantity.text, quantity.text.replace(end[0], f"{amount:g}{word}", 1)) if end else None
            )
    return sentence.replace(quantity.text, quantity.text.replace(found[0], str(int(quantity.value)), 1))


def measure_planted(documents: Sequence[Document], *, language: str, seed: int) -> dict[str, object]:
    """How many of each kind were made, and in how many something (of the kind, where it has one) was found."""
    made, found, wrong = Counter[str](), Counter[str](), Counter[str]()
    for kind in ("conflict", "update", "direction", *QUIET):
        rng = random.Random(seed)  # noqa: S311 - draws no secret
        for document in documents:
            pair = planted(document, kind, language=language, rng=rng)
            if pair is not None:
                made[kind] += 1
                kinds = {discord.kind for discord in find_discords(pair)}
                sought = "update" if kind == "update" else "conflict"
                found[kind] += bool(kinds) if kind in QUIET else sought in kinds
                wrong[kind] += 0 if kind in QUIET else bool(kinds - {sought})
    return {
        kind: {"made": made[kind], ("alarms" if kind in QUIET else "found"): found[kind], "wrong kind": wrong[kind]}
        for kind in made
    }


# --- natural ----------------------------------------------------------------------------------------------------------


def measure_natural(name: str, documents: Sequence[tuple[str, Document]], *, most: int) -> list[dict[str, object]]:
    """Findings among the articles of each group of a set."""
    figures = []
    for group in dict.fromkeys(each for each, _ in documents):
        own = [document for each, document in documents if each == group][:most]
        begun = time.process_time()
        discords = find_discords(own)
        for discord in discords:
            said = " | ".join(s.citation.text[:60].replace("\n", " ") for s in discord.statements[:2])
            print(f"  {name} {group}: {discord.kind}: {discord.reason}: {said}")
        figures.append({
            "set": name, "group": group, "documents": len(own), "pairs": len(own) * (len(own) - 1) // 2,
            "alarms": len(discords), "cpu_seconds": round(time.process_time() - begun, 2),
        })  # fmt: skip
    return figures


def measure_translations(one: str, two: str) -> dict[str, object]:
    """Findings between two translations of each article of ntrex, all articles."""
    pairs = list(zip(stories(f"ntrex:{one}"), stories(f"ntrex:{two}"), strict=True))
    found = [find_discords((a, replace(b, id=b.id + "+"))) for (_, a), (_, b) in pairs]
    for discord in (each for several in found for each in several):
        print(f"  {one} {two}: {discord.reason}: " + " | ".join(s.citation.text[:90] for s in discord.statements[:2]))
    return {"set": f"{one} with {two}", "pairs": len(pairs), "alarms": sum(map(len, found))}


# --- premises ---------------------------------------------------------------------------------------------------------


def measure_premises(name: str, documents: Sequence[Document]) -> dict[str, object]:
    """Titles as topics against their own article: alarms as they are; found with a year that is one too late."""
    titled = [document for document in documents if document.title]
    alarms = [notes for document in titled if (notes := check_premise(document.title, [document]))]
    for notes in alarms:
        print(f"  {name} premise: {notes[0].item}: {notes[0].reason}")
    shifted = found = silent = 0
    for document in titled:
        years = {int(year[0]) for year in _YEAR.finditer(document.text)}
        year = (document.published.year if document.published else max(years)) if years or document.published else None
        if year is not None and year in years:
            form = "{} in {}" if document.language == "en" else "{1}年{0}"
            right, late = form.format(document.title, year), form.format(document.title, year + 1)
            silent += not check_premise(right, [document])
            shifted += 1
            found += any(str(year + 1) in note.item for note in check_premise(late, [document]))
    return {
        "set": name, "titles": len(titled), "alarms": len(alarms),
        "with a year": shifted, "right year silent": silent, "late year found": found,
    }  # fmt: skip


def main() -> None:
    """Measure, print and save."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--held-out", action="store_true", help="the odd articles instead of the even ones")
    parser.add_argument("--most", type=int, default=90, help="documents of a group whose pairs are compared")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    sets = {
        name: list(stories(name)) for name in ("ntrex:en", "ntrex:zh-TW", "ntrex:zh-CN", "wikinews", "crud", "summhay")
    }
    report: dict[str, object] = {
        "half": "odd" if given.held_out else "even",
        "planted": {},
        "natural": [],
        "premises": [],
    }
    plants, natural, premises = {}, [], []
    for name, found in sets.items():
        own = half([document for _, document in found], held_out=given.held_out)
        language = "en" if name in ("ntrex:en", "wikinews", "summhay") else "zh"
        plants[name] = measure_planted(own[:200], language=language, seed=given.seed)
        print(name, plants[name])
        kept = {document.id for document in own}
        natural += measure_natural(name, [(g, d) for g, d in found if d.id in kept], most=given.most)
        premises.append(measure_premises(name, own))
        print(natural[-1], premises[-1])
    translations = [measure_translations(*pair) for pair in combinations(("en", "zh-TW", "zh-CN"), 2)]
    print(translations)
    report |= {"planted": plants, "natural": natural, "translations": translations, "premises": premises}
    save_result("facts" if given.held_out else "facts_rules", report, seed=given.seed)


if __name__ == "__main__":
    main()
