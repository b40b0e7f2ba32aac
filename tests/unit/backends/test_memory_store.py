import math
from dataclasses import replace

import numpy as np
import pytest

from groundwire.backends.accepted import checked_query, checked_vectors
from groundwire.backends.memory_store import MemoryStore, best_first
from groundwire.core.errors import ArchiveError
from groundwire.core.types import Document, Filter, Match, Sentence
from groundwire.testing import filing, put

EVERYTHING = Filter()


def test_bm25_is_lucenes_formula_worked_out_by_hand() -> None:
    store = MemoryStore(4)
    put(store, [filing(Document("a", ""), ("rain rain sun", "rain", "wind wind wind wind"), dimension=4)])

    found = store.lexical("rain", k=9, where=EVERYTHING)

    idf = math.log(1 + (3 - 2 + 0.5) / (2 + 0.5))
    mean = (3 + 1 + 4) / 3
    twice = idf * 2 * 2.2 / (2 + 1.2 * (1 - 0.75 + 0.75 * 3 / mean))
    once = idf * 1 * 2.2 / (1 + 1.2 * (1 - 0.75 + 0.75 * 1 / mean))
    assert [match.value for match in found] == pytest.approx(sorted([twice, once], reverse=True))


def test_a_filter_does_not_change_bm25_values() -> None:
    store = MemoryStore(4)
    own = filing(Document("a", "", source="x"), ("rain sun", "rain"), dimension=4)
    put(store, [own, filing(Document("b", "", source="y"), ("rain", "wind", "snow"), dimension=4)])

    whole = {match.sentence.id: match.value for match in store.lexical("rain", k=9, where=EVERYTHING)}
    some = store.lexical("rain", k=9, where=Filter(sources=("x",)))

    assert {match.sentence.id: match.value for match in some} == {one.id: whole[one.id] for one in own.sentences}


def test_equal_vectors_tie_exactly_at_every_place_of_the_table() -> None:
    store = MemoryStore(384)
    vector = np.random.default_rng(0).standard_normal((1, 384)) / 20
    named = [filing(Document(f"{number:03}", ""), ("Rain.",), dimension=384) for number in range(101)]
    put(store, [replace(one, vectors=vector) for one in named])

    found = store.dense(vector[0], k=101, where=EVERYTHING)

    assert len({match.value for match in found}) == 1
    assert [match.sentence.document_id for match in found] == [one.document.id for one in named]


def test_a_closed_store_holds_nothing() -> None:
    store = MemoryStore(4)
    put(store, [filing(Document("a", ""), ("rain",), dimension=4)])
    store.close()
    assert store.counts().documents == 0
    assert store.lexical("rain", k=3, where=EVERYTHING) == ()


@pytest.mark.parametrize(
    ("query", "message"),
    [(np.ones(3), "vectors of 4 numbers"), (np.ones((1, 4)), "shape"), (np.full(4, np.inf), "not finite")],
)
def test_a_query_that_does_not_fit_is_refused(query: np.ndarray, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        checked_query(query, dimension=4)


def test_a_negative_k_is_refused() -> None:
    with pytest.raises(ValueError, match="0 or more, got -1"):
        best_first([], k=-1)


def test_the_best_come_first_and_ties_by_id() -> None:
    matches = [Match(Sentence(name, "d", 0, 0, 1, "x"), value) for name, value in [("b", 1), ("a", 1), ("c", 2)]]
    assert [match.sentence.id for match in best_first(matches, k=2)] == ["c", "a"]


def test_a_dimension_below_one_is_refused() -> None:
    with pytest.raises(ValueError, match="got dimension 0"):
        MemoryStore(0)


SENTENCE = Sentence("s", "d", 0, 0, 1, "x")


@pytest.mark.parametrize(
    ("documents", "sentences", "vectors", "revisions", "message"),
    [
        (["d"], [SENTENCE], np.ones((1, 4)), [], "1 documents need as many revisions, got 0"),
        (["d"], [SENTENCE], np.ones((1, 3)), ["r"], r"shape \(1, 4\), got \(1, 3\)"),
        (["d"], [SENTENCE], np.ones((2, 4)), ["r"], r"got \(2, 4\)"),
        (["d", "d"], [SENTENCE], np.ones((1, 4)), ["r", "r"], "document 'd' comes 2 times"),
        (["d"], [SENTENCE, SENTENCE], np.ones((2, 4)), ["r"], "sentence 's' comes 2 times"),
        (["e"], [SENTENCE], np.ones((1, 4)), ["r"], "belong to 'd'"),
        (["d"], [SENTENCE], np.full((1, 4), np.nan), ["r"], "sentence 's' holds a number that float16 cannot hold"),
        (["d"], [SENTENCE], np.full((1, 4), 70000.0), ["r"], "float16"),
        (["d"], [SENTENCE], np.full((1, 4), -np.inf), ["r"], "float16"),
    ],
)
def test_a_put_that_does_not_fit_is_refused(
    documents: list[str], sentences: list[Sentence], vectors: np.ndarray, revisions: list[str], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        checked_vectors(
            [Document(name, "x") for name in documents], sentences, vectors=vectors, revisions=revisions, dimension=4
        )


def test_without_the_words_of_passages_only_sentences_are_searched() -> None:
    store = MemoryStore(4, passage_words=False)
    put(store, [filing(Document("a", ""), ("rain", "sun"), dimension=4)])

    assert len(store.lexical("rain", k=3, where=EVERYTHING)) == 1
    assert store.facts()["passage_words"] == 0
    with pytest.raises(ArchiveError, match=r"made without the words of passages: leave search\.passage_words at 0"):
        store.lexical("rain", k=3, where=EVERYTHING, unit="passage")


def test_a_snapshot_folds_and_counts_as_the_store_does() -> None:
    store = MemoryStore(4, precision="float32", folding="characters", passage_words=False)
    put(store, [filing(Document("a", ""), ("經濟",), dimension=4)])
    store.snapshot("x")

    past = store.at("x")

    assert [match.sentence.text for match in past.lexical("经济", k=3, where=EVERYTHING)] == ["經濟"]
    assert past.vectors(["a:0-2"])["a:0-2"].tolist() == store.vectors(["a:0-2"])["a:0-2"].tolist()
    for act in (past.compact, lambda: past.snapshot("y"), lambda: past.forget_snapshot("x")):
        with pytest.raises(ArchiveError, match="the snapshot 'x' stays as it is"):
            act()
    assert past.snapshots() == {}
