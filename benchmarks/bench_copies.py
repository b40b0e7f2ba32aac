"""Versions of one story: which pairs of documents are found, and which changed numbers.

    python benchmarks/bench_copies.py

Articles are shuffled; half of them get one to five versions: another headline, by-line or notice of the outlet, a cut
tail, one number raised, Simplified characters, or several of these. Two documents belong together when they were made
of one article. Articles of the sets may be versions of each other by themselves; where a set is known for that, its
doubtful pairs are printed and counted as wrong all the same. ``bulletins`` are forms filled with other numbers, no two
of which belong together. Headlines, by-lines and notices are not those that the rules were chosen on, and neither are
the sets marked ``held out``.
"""

from __future__ import annotations

import argparse
import random
import re
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import combinations

from groundwire.core.numerals import flatten
from groundwire.core.types import Document
from groundwire.retrieval.copies import Cluster, find_copies
from question_sets import rows
from record import save_result

HEADS = {
    "en": ("What happened and what comes next", "Key points of the day", "In pictures: the aftermath, hour by hour"),
    "zh": ("三分鐘看懂來龍去脈", "最新進展一次看", "現場直擊：各方反應"),
}
BY_LINES = {
    "en": ("Words: Ada Quill in Brussels\n\n", "SINGAPORE, Monday (Northline News) -- ", "Staff and agencies\n\n"),
    "zh": ("（北線社新加坡2日電）", "文／林小青　編輯／周大明\n\n", "【國際中心／綜合報導】"),
}
NOTICES = {
    "en": "Northline is owned by its readers and takes no advertising from parties or governments. A subscription "
    "costs 9 a month and can be ended at any time; schools and libraries read for half of that. Mistakes are mended in "
    "public: write to the desk, or call between 8 and 18 on weekdays. Texts may be quoted with a link, but not whole.",
    "zh": "北線新聞由讀者共同擁有，不接受政黨或政府刊登廣告。每月訂閱費用為90元，可隨時終止，學校與圖書館享半價優惠。"
    "如發現錯誤請來信或於上班日8時至18時來電，我們將公開更正。引用本文請附上連結，請勿全文轉載。",
}
FORMS = {
    "en": "The exchange opened at {} points on {} {} and closed at {}, the bourse said. Turnover came to {} million, "
    "of which banks made up {} percent. {} shares rose and {} fell, while the currency stood at {} to the dollar.",
    "zh": "氣象署表示，{}月{}日{}時{}分發生規模{}地震，震央位於花蓮縣政府東方{}公里，深度{}公里，最大震度{}級，"
    "台鐵列車停駛{}分鐘，目前沒有傷亡報告，民眾不必恐慌，請留意後續訊息。",
}
_NUMBER = re.compile(r"(?<![\d.,])\d{2,3}(?![\d.,年月日/:-])")
_STOPS = {"en": re.compile(r"(?<=[.!?])\s+"), "zh": re.compile(r"(?<=[。！？])")}
_CHANGES = ("head", "by-line", "notice", "cut", "number", "simplified", "several")


@dataclass(frozen=True)
class Figures:
    """Counts over pairs of documents, and over stories of several versions: with one number changed, and without."""

    set: str
    held_out: bool
    documents: int
    stories: int
    clusters: int
    pairs_right: int
    pairs_wrong: int
    pairs_missed: int
    changed: int
    changed_found: int
    unchanged: int
    unchanged_with_difference: int
    cpu_seconds: float


def articles(name: str) -> Iterator[str]:
    """The texts of a set."""
    if name == "summedits":
        yield from (row["text"] for row in rows("judge-summedits", "documents.jsonl"))
    elif name.startswith("rgb"):
        kind = name.partition(":")[2]
        found = [row["positive"] for row in rows("news-rgb", "questions.jsonl") if row["kind"] == kind]
        yield from (
            max((text if isinstance(text, str) else " ".join(text) for text in texts), key=len)
            for texts in found
            if texts
        )
    elif name == "crud":
        yield from (row["raw"] for row in rows("news-crud-zh", "articles.jsonl"))
    elif name == "wikinews":
        for row in rows("news-wikinews", "articles.jsonl"):
            yield "\n\n".join(" ".join(paragraph) for paragraph in row["paragraphs"])
    else:
        language = name.partition(":")[2]
        for row in rows("news-ntrex", "articles.jsonl"):
            yield (" " if language == "en" else "").join(row["sentences"][language])


def version(text: str, change: str, *, language: str, rng: random.Random) -> tuple[str, bool]:
    """A version of a text, and whether a number of it was changed."""
    parts = _STOPS[language].split(text)
    several, changed = change == "several", False
    if several or change == "number":
        early = [place for place, part in enumerate(parts[: max(3, len(parts) // 2)]) if _NUMBER.search(part)]
        for place in rng.sample(early, min(1, len(early))):
            parts[place] = _NUMBER.sub(lambda found: str(int(found[0]) + 6), parts[place], count=1)
            changed = True
    if several or change == "cut":
        parts = parts[: max(3, len(parts) // 2 + 1, int(len(parts) * rng.uniform(0.5, 0.85)))]
    made = (" " if language == "en" else "").join(parts)
    made = flatten(made) if change == "simplified" else made
    made = rng.choice(BY_LINES[language]) + made if several or change == "by-line" else made
    made = f"{rng.choice(HEADS[language])}\n\n{made}" if several or change == "head" else made
    return (f"{made}\n\n{NOTICES[language]}" if several or change == "notice" else made), changed


def measure(name: str, *, most: int, held_out: bool, seed: int) -> Figures:
    """Make versions of the articles of a set, look for them, and count."""
    rng = random.Random(seed)  # noqa: S311 - draws no secret
    language = "zh" if "zh" in name or name == "crud" else "en"
    texts = [text for text in dict.fromkeys(articles(name)) if len(text) > (100 if language == "zh" else 120)]
    rng.shuffle(texts)
    documents: dict[str, Document] = {}
    changed: dict[str, str] = {}
    for number, text in enumerate(texts[:most]):
        story = f"{number:04}"
        documents[story + ":0"] = Document(story + ":0", text)
        for place, change in enumerate(rng.sample(_CHANGES, rng.randint(1, 5)) if number % 2 else ()):
            made, is_changed = version(text, change, language=language, rng=rng)
            documents[f"{story}:{place + 1}"] = Document(f"{story}:{place + 1}", made)
            if is_changed:
                changed[f"{story}:{place + 1}"] = story
    return figures(name, documents, changed, held_out=held_out)


def bulletins(language: str, *, most: int, seed: int) -> Figures:
    """Forms that are filled with other numbers every time; each is a story of its own."""
    rng = random.Random(seed)  # noqa: S311 - draws no secret
    form = FORMS[language]
    filled = [form.format(*(rng.randint(1, 999) for _ in range(form.count("{}")))) for _ in range(most)]
    documents = {f"{number:04}:0": Document(f"{number:04}:0", text) for number, text in enumerate(filled)}
    return figures(f"bulletins:{language}", documents, {}, held_out=False)


def figures(name: str, documents: dict[str, Document], changed: dict[str, str], *, held_out: bool) -> Figures:
    """Look for versions, and count what was found of them."""
    begun = time.process_time()
    copies = find_copies(documents)
    seconds = time.process_time() - begun
    cluster = {each: number for number, found in enumerate(copies.clusters) for each in found.document_ids}
    pairs = [(_story(a) == _story(b), cluster[a] == cluster[b], (a, b)) for a, b in combinations(documents, 2)]
    for same, together, (a, b) in pairs:
        if together and not same and a.endswith(":0") and b.endswith(":0"):
            print(f"  {name}: {documents[a].text[:70]!r} with {documents[b].text[:70]!r}")
    several = [found for found in copies.clusters if len(found.document_ids) > 1]
    plain = [found for found in several if not any(each in changed for each in found.document_ids)]
    return Figures(
        set=name,
        held_out=held_out,
        documents=len(documents),
        stories=len({_story(each) for each in documents}),
        clusters=copies.independent,
        pairs_right=sum(same and together for same, together, _ in pairs),
        pairs_wrong=sum(together and not same for same, together, _ in pairs),
        pairs_missed=sum(same and not together for same, together, _ in pairs),
        changed=len(changed),
        changed_found=sum(each in _named(found) for found in several for each in found.document_ids if each in changed),
        unchanged=len(plain),
        unchanged_with_difference=sum(bool(found.differences) for found in plain),
        cpu_seconds=round(seconds, 2),
    )


def _story(document_id: str) -> str:
    return document_id.partition(":")[0]


def _named(found: Cluster) -> set[str]:
    return {one.document_id for one in found.differences}


def main() -> None:
    """Measure every set and keep the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=20)
    parser.add_argument("--most", type=int, default=120, help="articles of a set")
    options = parser.parse_args()
    held_out = ("summedits", "rgb:en_fact", "rgb:zh_fact", "rgb:zh_int")
    found = []
    for name in (*held_out, "crud", "wikinews", "ntrex:en", "ntrex:zh-TW"):
        found.append(measure(name, most=options.most, held_out=name in held_out, seed=options.seed))
        print(found[-1])
    found += [bulletins(language, most=60, seed=options.seed) for language in FORMS]
    print(*found[-2:], sep="\n")
    save_result("copies", [asdict(each) for each in found], seed=options.seed)


if __name__ == "__main__":
    main()
