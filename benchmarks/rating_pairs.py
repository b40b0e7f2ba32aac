"""Build labelled (topic, article) pairs: those that raters are compared on, and those that likelihoods are fitted on.

Usage: python benchmarks/rating_pairs.py bench|fit [-o FILE]

Data are found as in ``question_sets.py``; nothing of them is in the repository. Every topic has one article about it
and one or more hard negatives; all are short (about 100 tokens), so that small models can read them in minutes.

bench, 32 topics: questions of news-rgb (8, English) with a passage that holds the answer and one that a search engine
proposed, which does not; titles of news-wikinews (8, English) with the article's beginning and the beginning of the
other article that shares most words with the title; questions of qa-drcd-zhtw (16, Traditional Chinese) with the
paragraph that answers and another paragraph of the same encyclopedia article. Labels are the sets' own, not ours.

fit: headlines of news-ntrex (8 English, 8 Traditional Chinese) with their story and the one that shares most words;
subtopics of news-summhay (6) with an article that holds their facts, one of the same subject, one of another.
No text is in both.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from groundwire.core.sentences import split_sentences
from groundwire.core.text import count_tokens
from groundwire.writing.score import coverage
from question_sets import rows

SEED = 0
MOST_TOKENS = 100
FULL, SAME_SUBJECT, OTHER = 0.9, 0.45, 0.05  # the scale of fit_rater.py


def cut(text: str, *, language: str, at: int = 0) -> str:
    """Whole sentences of a text, about ``MOST_TOKENS`` long, the one at a character among them."""
    spans = split_sentences(text, language=language)
    first = next(place for place, span in enumerate(spans) if span.end > at)
    last, tokens = first, count_tokens(text[spans[first].start : spans[first].end])
    while last + 1 < len(spans):
        tokens += count_tokens(text[spans[last + 1].start : spans[last + 1].end])
        if tokens > MOST_TOKENS:
            break
        last += 1
    return text[spans[first].start : spans[last].end]


def best_place(topic: str, text: str, *, language: str) -> int:
    """Where the sentence stands that holds most of the topic's words."""
    spans = split_sentences(text, language=language)
    return max(spans, key=lambda span: (coverage(topic, [text[span.start : span.end]]), -span.start)).start


def pair(topic: str, article: str, *, relevant: float, language: str, title: str = "", of: str) -> dict[str, object]:
    return {
        "topic": topic, "article": article, "title": title, "relevant": relevant, "language": language, "set": of,
    }  # fmt: skip


def drawn(found: Sequence[dict], count: int, rng: np.random.Generator) -> list[dict]:
    return [found[place] for place in sorted(rng.choice(len(found), size=count, replace=False))]


def of_rgb(rng: np.random.Generator) -> Iterator[dict[str, object]]:
    usable = [row for row in rows("news-rgb", "questions.jsonl") if row["lang"] == "en" and row["negative"]]
    for row in drawn(usable, 8, rng):
        hardest = max(row["negative"], key=lambda text: coverage(row["question"], [text]))
        yield pair(row["question"], row["positive"][0], relevant=1, language="en", of="news-rgb")
        yield pair(row["question"], hardest, relevant=0, language="en", of="news-rgb")


def of_wikinews(rng: np.random.Generator) -> Iterator[dict[str, object]]:
    texts = {
        row["title"]: " ".join(" ".join(sentences) for sentences in row["paragraphs"])
        for row in rows("news-wikinews", "articles.jsonl")
        if row["kind"] == "news"
    }
    stories = {title: text.removeprefix(title).lstrip() for title, text in texts.items()}
    for row in drawn([{"title": title} for title in sorted(stories)], 8, rng):
        title = row["title"]
        other = max(
            (name for name in sorted(stories) if name != title), key=lambda name: coverage(title, [stories[name]])
        )
        for name, relevant in ((title, 1), (other, 0)):
            yield pair(title, cut(stories[name], language="en"), relevant=relevant, language="en", of="news-wikinews")


def of_drcd(rng: np.random.Generator) -> Iterator[dict[str, object]]:
    passages = {row["pid"]: row for row in rows("qa-drcd-zhtw", "passages.jsonl")}
    of_title: dict[str, list[dict]] = {}
    for passage in passages.values():
        of_title.setdefault(passage["title"], []).append(passage)
    questions: dict[str, tuple[dict, list[str]]] = {}
    for row in rows("qa-drcd-zhtw", "questions.jsonl"):
        gold = row["gold"][0]
        title, answer = passages[gold["pid"]]["title"], gold["spans"][0]
        others = [each["text"] for each in of_title[title] if each["pid"] != gold["pid"]]
        others = [text for text in others if answer["text"] not in text]
        if others and answer["start"] is not None:
            questions.setdefault(title, (row, others))
    for title in (row["title"] for row in drawn([{"title": title} for title in sorted(questions)], 16, rng)):
        row, others = questions[title]
        topic, gold = row["question"], row["gold"][0]
        answer, right = gold["spans"][0], passages[gold["pid"]]["text"]
        wrong = max(others, key=lambda text: (coverage(topic, [text]), text))
        for text, at, relevant in ((right, answer["start"], 1), (wrong, best_place(topic, wrong, language="zh-TW"), 0)):
            yield pair(
                topic, cut(text, language="zh-TW", at=at), relevant=relevant, language="zh-TW", title=title,
                of="qa-drcd-zhtw",
            )  # fmt: skip


def of_ntrex(rng: np.random.Generator) -> Iterator[dict[str, object]]:
    every = list(rows("news-ntrex", "articles.jsonl"))
    chosen = drawn(every, 16, rng)
    for number, row in enumerate(chosen):
        language = "en" if number % 2 else "zh-TW"
        glue = " " if language == "en" else ""
        topic, *body = row["sentences"][language]
        others = [each["sentences"][language][1:] for each in every if each["doc_id"] != row["doc_id"]]
        apart = [text for text in others if coverage(topic, text) <= 0.5]  # more: it may report the same event
        nearest = max(apart, key=lambda text: coverage(topic, text))
        for text, relevant in ((body, FULL), (nearest, OTHER)):
            article = cut(glue.join(text), language=language)
            yield pair(topic, article, relevant=relevant, language=language, of="news-ntrex")


def of_summhay(rng: np.random.Generator) -> Iterator[dict[str, object]]:
    documents = {row["doc_id"]: row for row in rows("news-summhay", "documents.jsonl")}
    for row in drawn(list(rows("news-summhay", "queries.jsonl")), 6, rng):
        topic = f"{row['topic_title'].partition(':')[0]}: {row['subtopic']}"
        full = set(row["relevant_docs"])
        kinds = {
            FULL: sorted(full),
            SAME_SUBJECT: sorted(
                name for name in documents if documents[name]["topic"] == row["topic"] and name not in full
            ),
            OTHER: sorted(name for name in documents if documents[name]["topic"] != row["topic"]),
        }
        for relevant, names in kinds.items():
            text = documents[names[rng.integers(len(names))]]["text"]
            at = best_place(topic, text, language="en")
            yield pair(topic, cut(text, language="en", at=at), relevant=relevant, language="en", of="news-summhay")


SETS = {"bench": (of_rgb, of_wikinews, of_drcd), "fit": (of_ntrex, of_summhay)}


def pairs(kind: str) -> list[dict[str, object]]:
    """All pairs of a kind, with ids."""
    rng = np.random.default_rng(SEED)
    found = [row for part in SETS[kind] for row in part(rng)]
    return [{"id": f"{kind}{number:03}", **row} for number, row in enumerate(found, 1)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kind", choices=sorted(SETS))
    parser.add_argument("-o", "--out", type=Path)
    arguments = parser.parse_args()
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in pairs(arguments.kind))
    if arguments.out:
        arguments.out.write_text(text, encoding="utf-8")
    else:
        sys.stdout.write(text)


if __name__ == "__main__":
    main()
