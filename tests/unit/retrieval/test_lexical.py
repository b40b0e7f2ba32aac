"""BM25 of sentences and of their passages, and phrases, against values worked out here."""

import math
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundwire.backends.hash_embedder import HashEmbedder
from groundwire.backends.lance_rows import PASSAGE_TEXT
from groundwire.backends.lance_store import LanceStore
from groundwire.backends.memory_store import MemoryStore
from groundwire.core.errors import ArchiveError
from groundwire.core.ports import VectorStore
from groundwire.core.text import normalise
from groundwire.core.types import Document, Filter, Sentence
from groundwire.retrieval.index import Archive
from groundwire.retrieval.lexical import Words, holding, holds, phrases
from groundwire.retrieval.manifest import Manifest
from groundwire.retrieval.search import PRESETS, SearchSettings
from groundwire.testing import filing, put

EVERYTHING = Filter()
WORDS = ("rain", "wind", "sun", "fog", "snow")


def archive_in(store: VectorStore, texts: Sequence[str], *, passage_tokens: int = 12) -> Archive:
    embedder = HashEmbedder(store.dimension // 2)
    manifest = Manifest(embedder.id, embedder.dimension, passage_tokens=passage_tokens)
    archive = Archive(store, embedder, manifest=manifest)
    archive.add(Document(f"d{number}", text, source=f"outlet {number % 2}") for number, text in enumerate(texts))
    return archive


def lucene(texts: dict[str, str], query: str) -> dict[str, float]:
    """Lucene's BM25 of each text, words between spaces without their full stops."""
    bags = {name: Counter(text.lower().replace(".", "").split()) for name, text in texts.items()}
    mean = sum(bag.total() for bag in bags.values()) / len(bags)
    values = dict.fromkeys(texts, 0.0)
    for word in set(query.split()):
        holders = sum(word in bag for bag in bags.values())
        rarity = math.log(1 + (len(bags) - holders + 0.5) / (holders + 0.5))
        for name, bag in bags.items():
            values[name] += rarity * bag[word] * 2.2 / (bag[word] + 1.2 * (0.25 + 0.75 * bag.total() / mean))
    return values


def sentences_of(archive: Archive) -> dict[str, Sentence]:
    groups = archive.sentences(archive.store.revisions()).values()
    return {one.id: one for group in groups for one in group}


def mixed(archive: Archive, query: str, *, passage_words: float) -> dict[str, float]:
    """Both levels worked out from the texts alone."""
    sentences = sentences_of(archive)
    passages: dict[str, str] = {}
    for one in sentences.values():
        place = f"{one.document_id} {one.passage}"
        passages[place] = f"{passages.get(place, '')} {one.text}".strip()
    own, whole = lucene({name: one.text for name, one in sentences.items()}, query), lucene(passages, query)
    return {
        name: (1 - passage_words) * own[name] + passage_words * whole[f"{one.document_id} {one.passage}"]
        for name, one in sentences.items()
    }


def texts_drawn(seed: int) -> list[str]:
    draw = random.Random(seed)  # noqa: S311 - a test
    return [
        " ".join(
            " ".join(draw.choices(WORDS, k=draw.randint(1, 5))).capitalize() + "." for _ in range(draw.randint(1, 6))
        )
        for _ in range(6)
    ]


@cache
def drawn(seed: int) -> Archive:
    return archive_in(MemoryStore(32), texts_drawn(seed))


class Counting(MemoryStore):
    """Remembers how many sentences it was asked for."""

    def lexical(self, query: str, **options: object) -> tuple[object, ...]:
        self.__dict__.setdefault("asked", []).append(options["k"])
        return super().lexical(query, **options)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 9), st.sampled_from(["rain", "sun fog", "snow wind rain"]), st.sampled_from([0.0, 0.3, 0.5, 1.0]))
def test_the_lexical_value_is_the_mix_of_bm25_of_the_sentence_and_of_its_passage(
    seed: int, query: str, share: float
) -> None:
    archive = drawn(seed)
    truth = mixed(archive, query, passage_words=share)

    hits = archive.search(query, k=1000, settings=SearchSettings(mode="lexical", passage_words=share, candidates=1000))

    assert {hit.sentence.id: hit.bm25 for hit in hits} == pytest.approx(
        {name: value for name, value in truth.items() if value > 0}, abs=1e-5
    )
    assert [(-hit.strength, hit.sentence.id) for hit in hits] == sorted(
        (-hit.strength, hit.sentence.id) for hit in hits
    )


@pytest.mark.parametrize("kind", ["memory", "disk"])
def test_both_stores_count_passages_also_before_they_are_folded(tmp_path: Path, kind: str) -> None:
    if kind == "disk":
        pytest.importorskip("lancedb", reason="the extra 'archive' is not installed")
    store: VectorStore = MemoryStore(32) if kind == "memory" else LanceStore(tmp_path, dimension=32)
    archive = archive_in(store, texts_drawn(99))
    query = "rain fog"

    words = Words(query, store=store, passage_words=0.3)
    assert words.values(sentences_of(archive)) == pytest.approx(mixed(archive, query, passage_words=0.3), abs=1e-4)

    put(store, [filing(Document("new", "", source="tail"), ("Rain fell.", "So it did.", "Fog."), dimension=32)])
    whole = {match.sentence.id: match.value for match in store.lexical(query, k=99, where=EVERYTHING, unit="passage")}
    new = [one.id for one in store.sentences(["new"])["new"]]
    assert set(whole) & set(new) == {new[0], new[2]}
    among = store.lexical(query, k=99, where=EVERYTHING, unit="passage", among=[new[0], new[1]])
    assert {match.sentence.id: match.value for match in among} == {new[0]: pytest.approx(whole[new[0]], rel=1e-4)}
    tail = store.lexical(query, k=99, where=Filter(sources=("tail",)), unit="passage")
    assert {match.sentence.id for match in tail} == {new[0], new[2]}
    store.finish()
    after = {match.sentence.id: match.value for match in store.lexical(query, k=99, where=EVERYTHING, unit="passage")}
    assert set(after) == set(whole)
    store.close()


def test_an_archive_of_format_1_goes_on_as_it_was_and_refuses_the_words_of_passages(tmp_path: Path) -> None:
    lancedb = pytest.importorskip("lancedb", reason="the extra 'archive' is not installed")
    archive_in(LanceStore(tmp_path, dimension=32), texts_drawn(1)).close()
    table = lancedb.connect(str(tmp_path)).open_table("sentences")
    table.drop_columns([PASSAGE_TEXT])

    archive = archive_in(LanceStore(tmp_path, dimension=32), [*texts_drawn(1)[:5], "Hail came late."])

    assert archive.counts().documents == 6
    assert archive.search("hail", k=1)[0].sentence.text == "Hail came late."
    with pytest.raises(
        ArchiveError, match=r"made without the words of passages: leave search\.passage_words at 0, or add"
    ):
        archive.search("hail", settings=PRESETS["best"])
    archive.close()


@pytest.mark.parametrize("k", [1, 3, 8])
def test_what_is_proposed_holds_the_filter_and_the_best_of_what_was_looked_at(k: int) -> None:
    archive = drawn(3)
    where = Filter(sources=("outlet 1",))

    proposal = Words("rain fog", store=archive.store, passage_words=0.5).proposed(k, where=where)

    truth = mixed(archive, "rain fog", passage_words=0.5)
    assert len(proposal.values) == min(k, sum(truth[name] > 0 for name in truth if name[:2] in ("d1", "d3", "d5")))
    assert {one.document_id for one in proposal.sentences.values()} <= {"d1", "d3", "d5"}
    assert proposal.values == pytest.approx({name: truth[name] for name in proposal.values}, abs=1e-5)


def test_hybrid_search_mixes_in_the_words_of_the_passage() -> None:
    archive = drawn(4)
    truth = mixed(archive, "rain fog", passage_words=0.5)

    hits = archive.search("rain fog", k=1000, settings=replace(PRESETS["best"], candidates=5))

    assert len(hits) >= 5
    assert [hit.bm25 for hit in hits] == pytest.approx([truth[hit.sentence.id] for hit in hits], abs=1e-5)


def test_no_sentences_have_no_values() -> None:
    assert Words("rain", store=MemoryStore(4), passage_words=0.5).values({}) == {}


def test_a_passage_that_is_gone_has_no_words() -> None:
    gone = Sentence("x", "gone", 0, 0, 1, "rain")

    assert Words("rain", store=drawn(1).store, passage_words=0.5).values({"x": gone}) == {"x": 0.0}


def test_every_value_is_asked_for_once() -> None:
    store = Counting(64)
    archive = archive_in(store, texts_drawn(5))
    words = Words("rain fog", store=store, passage_words=0.5)

    words.proposed(3, where=EVERYTHING, also=sentences_of(archive))
    before = len(store.asked)
    words.values(sentences_of(archive))

    assert len(store.asked) == before == 4


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ('who said "we lost" twice', ("we lost",)),
        ("“We  LOST” and 'not this' and 「情況很好」 or 『好』 or «a b»", ("we lost", "情況很好", "好", "a b")),
        ('"one" "One"', ("one",)),
        ('5" pipe', ()),
        ('"" " "', ()),
        ("it's the mayor's", ()),
    ],
)
def test_phrases_are_what_stands_between_quotation_marks(query: str, expected: tuple[str, ...]) -> None:
    assert phrases(query) == expected


@pytest.mark.parametrize(
    ("text", "phrase", "expected"),
    [
        ("The river rose.", "river rose", True),
        ("The river, rose.", "river rose", False),
        ("The River\n  ROSE", "the river rose", True),
        ("A party was held.", "art", False),
        ("It rose by 13.5 %.", "3.5", False),
        ("It rose by 3.5%.", "3.5", True),
        ("市長說情況很好。", "情況", True),
        ("they said “fine” — twice", '"fine"', True),
        ("the ﬁne wine", "fine wine", True),
    ],
)
def test_a_phrase_must_stand_there_as_it_is_with_forms_and_case_folded(text: str, phrase: str, expected: bool) -> None:
    assert holds(text, [normalise(phrase)]) is expected


PAPERS = (
    "The river rose by night. We had the night off. By the river we rose.",
    "A river rose by night again and again and again. Rain fell.",
    "市長說情況很好。他說情況不好。",
)


@pytest.mark.parametrize("mode", ["dense", "lexical", "hybrid"])
@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ('when did the "river rose by night"', {"d0", "d1"}),
        ('"river rose" "again and"', {"d1"}),
        ("他說「情況很好」", {"d2"}),
        ('"rose by the night"', set()),
    ],
)
def test_hits_hold_every_phrase_in_every_mode(mode: str, query: str, expected: set[str]) -> None:
    archive = archive_in(MemoryStore(64), PAPERS)

    hits = archive.search(query, settings=SearchSettings(mode=mode, phrases=True))

    assert {hit.sentence.document_id for hit in hits} == expected
    assert all(holds(hit.sentence.text, phrases(query)) for hit in hits)
    assert len(archive.search(query, settings=SearchSettings(mode=mode))) > len(hits)


def test_a_filter_and_a_shape_go_with_phrases() -> None:
    archive = archive_in(MemoryStore(64), PAPERS, passage_tokens=100)
    options = SearchSettings(mode="dense", phrases=True, shape="passages", where=Filter(sources=("outlet 1",)))

    hits = archive.search('"river rose"', settings=options)

    assert [hit.sentence.text for hit in hits] == ["A river rose by night again and again and again.", "Rain fell."]


def test_quotation_marks_mean_nothing_unless_phrases_are_asked_for() -> None:
    archive = archive_in(MemoryStore(64), PAPERS)

    assert len(archive.search('"rose by the night"', k=3)) == 3


def test_a_phrase_that_is_rare_among_its_words_is_looked_for_deeper() -> None:
    store = Counting(4)
    texts = ["b a" for _ in range(2500)]
    put(store, [filing(Document("d", ""), [*texts, "x a b " + "c " * 40], dimension=4)])

    found = holding(("a b",), store=store, enough=1, where=EVERYTHING)

    assert [one.text[:5] for one in found.values()] == ["x a b"]
    assert store.asked == [500, 2000, 8000]
