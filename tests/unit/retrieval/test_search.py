"""Search against values computed here from the same vectors and the same words."""

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from functools import lru_cache
from typing import get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundwire.backends.hash_embedder import HashEmbedder
from groundwire.backends.memory_store import MemoryStore
from groundwire.core.errors import UsageError
from groundwire.core.types import Document, Filter, Hit, Match, Preset, Sentence
from groundwire.retrieval.index import Archive
from groundwire.retrieval.manifest import Manifest
from groundwire.retrieval.search import PRESETS, SearchSettings, preset

TEXTS = (
    "The typhoon flooded the harbour. The pumps failed at night. Mayor Lin opened three schools.",
    "Oyster farmers lost their rafts. The bank cut its rate.\n\nThe harbour wall will be rebuilt.",
    "Pumps from Valdane arrived.",
    "颱風淹沒了港口。抽水站在夜間故障。市長開放三所學校。",
    "The flood came at night. The flood came at night. Nobody slept.",
    "Nothing about water here. A choir sang in the old town hall.",
)


def archive_of(texts: Sequence[str], *, dimension: int = 64) -> Archive:
    embedder = HashEmbedder(dimension)
    archive = Archive(MemoryStore(2 * dimension), embedder, manifest=Manifest(embedder.id, dimension))
    archive.add(
        Document(f"d{number}", text, source=f"outlet {number % 2}", published=date(2024, 1, 1 + number), language="en")
        for number, text in enumerate(texts)
    )
    return archive


@lru_cache
def similarities(archive: Archive, query: str, weight: float) -> dict[str, float]:
    """The weighted cosine of every sentence, from the embedder alone."""
    embed = archive.embedder.embed
    vector = embed([query], role="query")[0].astype(np.float64)
    values = {}
    for sentences in archive.sentences(archive.store.revisions()).values():
        for sentence in sentences:
            passage = [one.text for one in sentences if one.passage == sentence.passage]
            core, context = embed([sentence.text, " ".join(passage)]).astype(np.float16).astype(np.float64)
            values[sentence.id] = float(vector @ (weight * core + (1 - weight) * context))
    return values


def bm25_values(archive: Archive, query: str) -> dict[str, float]:
    found = archive.store.lexical(query, k=10_000, where=Filter())
    return dict.fromkeys(all_ids(archive), 0.0) | {match.sentence.id: match.value for match in found}


def all_ids(archive: Archive) -> list[str]:
    return [one.id for group in archive.sentences(archive.store.revisions()).values() for one in group]


def ids(hits: Sequence[Hit]) -> list[str]:
    return [hit.sentence.id for hit in hits]


def assert_order(hits: Sequence[Hit]) -> None:
    assert [hit.rank for hit in hits] == list(range(1, len(hits) + 1))
    assert ids(hits) == [hit.sentence.id for hit in sorted(hits, key=lambda hit: (-hit.strength, hit.sentence.id))]


@pytest.mark.parametrize("weight", [0.0, 0.3, 0.6, 1.0])
@pytest.mark.parametrize("query", ["pumps failed in the flood", "颱風 港口", "choir"])
def test_dense_search_ranks_by_the_weighted_cosine(query: str, weight: float) -> None:
    archive = ARCHIVE
    truth = similarities(archive, query, weight)

    hits = archive.search(query, k=5, settings=SearchSettings(mode="dense", sentence_weight=weight))

    assert len(hits) == 5
    assert_order(hits)
    assert [hit.similarity for hit in hits] == pytest.approx([truth[name] for name in ids(hits)], abs=1e-3)
    assert hits[-1].similarity >= max(value for name, value in truth.items() if name not in ids(hits)) - 1e-3
    assert all(hit.bm25 is None and hit.strength == hit.similarity for hit in hits)


def test_lexical_search_ranks_by_bm25_and_finds_only_what_holds_a_word() -> None:
    archive = ARCHIVE
    truth = bm25_values(archive, "pumps at night")

    hits = archive.search("pumps at night", k=50, settings=SearchSettings(mode="lexical"))

    assert_order(hits)
    assert set(ids(hits)) == {name for name, value in truth.items() if value > 0}
    assert all(re.search("pumps|at|night", hit.sentence.text, re.IGNORECASE) for hit in hits)
    assert [hit.bm25 for hit in hits] == pytest.approx([truth[name] for name in ids(hits)], abs=1e-6)
    assert all(hit.similarity is None for hit in hits)
    assert archive.search("zebra", settings=SearchSettings(mode="lexical")) == ()


@pytest.mark.parametrize("fusion", ["zscore", "rrf"])
@pytest.mark.parametrize("lexical_weight", [0.0, 0.5, 3.0])
def test_hybrid_search_mixes_the_true_values_of_both_sides(fusion: str, lexical_weight: float) -> None:
    archive, query = ARCHIVE, "the flood and the failed pumps"
    dense, lexical = similarities(archive, query, 0.6), bm25_values(archive, query)
    options = SearchSettings(fusion=fusion, lexical_weight=lexical_weight, candidates=1000)

    hits = archive.search(query, k=100, settings=options)

    names = sorted(dense)
    sides = [np.array([round(side[name], 6) for name in names]) for side in (dense, lexical)]
    if fusion == "zscore":
        parts = [(side - side.mean()) / side.std() for side in sides]
    else:
        parts = [np.array([1 / (61 + sum(other > value for other in side)) for value in side]) for side in sides]
    expected = dict(zip(names, (parts[0] + lexical_weight * parts[1]) / (1 + lexical_weight), strict=True))
    assert_order(hits)
    assert sorted(ids(hits)) == names
    tolerance = 0.02 if fusion == "zscore" else 3e-4  # float16 vectors may swap neighbours
    assert [hit.strength for hit in hits] == pytest.approx([expected[name] for name in ids(hits)], abs=tolerance)


@settings(max_examples=30, deadline=None)
@given(
    st.sampled_from(["pumps", "the harbour at night", "港口", "choir sang rafts"]),
    st.integers(1, 30),
    st.integers(1, 6),
)
def test_a_candidate_of_one_side_gets_its_true_value_of_the_other(query: str, k: int, candidates: int) -> None:
    archive = ARCHIVE
    dense, lexical = similarities(archive, query, 0.6), bm25_values(archive, query)

    hits = archive.search(query, k=k, settings=SearchSettings(candidates=candidates))

    assert_order(hits)
    assert 1 <= len(hits) <= k
    assert [hit.similarity for hit in hits] == pytest.approx([dense[name] for name in ids(hits)], abs=1e-3)
    assert [hit.bm25 for hit in hits] == pytest.approx([lexical[name] for name in ids(hits)], abs=1e-5)


ARCHIVE = archive_of(TEXTS)


def test_more_hits_than_sentences_gives_every_sentence_once() -> None:
    for mode in ("dense", "hybrid"):
        hits = ARCHIVE.search("harbour", k=500, settings=SearchSettings(mode=mode))
        assert sorted(ids(hits)) == sorted(all_ids(ARCHIVE))


@pytest.mark.parametrize("mode", ["dense", "lexical", "hybrid"])
def test_an_empty_archive_finds_nothing(mode: str) -> None:
    assert archive_of(()).search("harbour", settings=SearchSettings(mode=mode)) == ()


@pytest.mark.parametrize("fusion", ["zscore", "rrf"])
def test_one_candidate_and_equal_candidates_give_no_division_by_zero(fusion: str) -> None:
    options = SearchSettings(fusion=fusion)

    (alone,) = archive_of(["The harbour wall."]).search("harbour", settings=options)
    twins = archive_of(["The harbour wall.", "The harbour wall.", "The harbour wall."]).search(
        "harbour", settings=options
    )

    assert alone.strength == (0.0 if fusion == "zscore" else 1 / 61)
    assert len({hit.strength for hit in twins}) == 1
    assert ids(twins) == sorted(ids(twins))


@pytest.mark.parametrize("mode", ["dense", "lexical", "hybrid"])
@pytest.mark.parametrize(
    ("where", "allowed"),
    [
        (Filter(sources=("outlet 1",)), {"d1", "d3", "d5"}),
        (Filter(published_from=date(2024, 1, 5)), {"d4", "d5"}),
        (Filter(published_to=date(2024, 1, 1)), {"d0"}),
        (Filter(languages=("zh-TW",)), set()),
    ],
)
def test_a_filter_holds_in_every_mode(mode: str, where: Filter, allowed: set[str]) -> None:
    hits = ARCHIVE.search("the harbour at night", k=50, settings=SearchSettings(mode=mode, where=where, candidates=1))

    assert {hit.sentence.document_id for hit in hits} <= allowed
    assert bool(hits) == bool(allowed)


@pytest.mark.parametrize("context", ["passage", "exact"])
@pytest.mark.parametrize("weight", [0.0, 0.2, 0.5, 0.8, 1.0])
def test_a_one_sentence_passage_is_found_at_every_weight(weight: float, context: str) -> None:
    embedder = HashEmbedder(256)
    archive = Archive(MemoryStore(512), embedder, manifest=Manifest(embedder.id, 256, context=context))
    archive.add(
        [Document("lone", "Skaters cross the frozen canal."), *(Document(f"d{i}", t) for i, t in enumerate(TEXTS))]
    )

    best = archive.search(
        "Skaters cross the frozen canal.", k=1, settings=SearchSettings(mode="dense", sentence_weight=weight)
    )[0]

    assert best.sentence.document_id == "lone"
    assert best.similarity == pytest.approx(1, abs=2e-3)


class Forgetful(MemoryStore):
    """Loses d2 after the words proposed it and before its similarity is asked, as when another process removes it."""

    def dense(self, *arguments: object, **options: object) -> tuple[Match, ...]:
        found = super().dense(*arguments, **{**options, "k": 50})
        return tuple(match for match in found if match.sentence.document_id != "d2")[: options["k"]]

    def lexical(self, *arguments: object, **options: object) -> tuple[Match, ...]:
        found = super().lexical(*arguments, **options)
        self.remove(["d2"])
        return found


def test_a_sentence_removed_during_the_search_is_passed_over() -> None:
    embedder = HashEmbedder(64)
    store = Forgetful(128)
    archive = Archive(store, embedder, manifest=Manifest(embedder.id, 64))
    archive.add(Document(f"d{number}", text) for number, text in enumerate(TEXTS))
    (proposed,) = MemoryStore.lexical(store, "Valdane", k=5, where=Filter())

    hits = archive.search("Valdane", k=1, settings=SearchSettings(candidates=1))

    assert proposed.sentence.document_id == "d2"
    assert [hit.sentence.document_id for hit in hits] != ["d2"]
    assert len(hits) == 1


class Rounding(MemoryStore):
    """An engine whose equal sums differ in the last bits."""

    def dense(self, *arguments: object, **options: object) -> tuple[Match, ...]:
        found = super().dense(*arguments, **options)
        return tuple(Match(match.sentence, match.value + 1e-9 * place) for place, match in enumerate(found))


def test_what_an_engine_rounds_differently_is_still_a_tie_settled_by_id() -> None:
    embedder = HashEmbedder(64)
    archive = Archive(Rounding(128), embedder, manifest=Manifest(embedder.id, 64))
    archive.add(Document(name, "The harbour wall.") for name in "cab")

    hits = archive.search("harbour", settings=SearchSettings(mode="dense"))

    assert [hit.sentence.document_id for hit in hits] == ["a", "b", "c"]


@pytest.mark.parametrize("query", ["", " ", "\n\t\u3000"])
def test_a_blank_query_is_refused(query: str) -> None:
    with pytest.raises(UsageError, match="blank"):
        ARCHIVE.search(query)


def test_a_query_of_signs_only_gives_an_answer_without_a_fault() -> None:
    assert len(ARCHIVE.search("???", k=3)) == 3
    assert ARCHIVE.search("???", settings=SearchSettings(mode="lexical")) == ()


def test_fewer_than_one_hit_is_refused() -> None:
    with pytest.raises(UsageError, match="k is 0"):
        ARCHIVE.search("harbour", k=0)


@pytest.mark.parametrize(
    ("option", "named"),
    [
        ({"sentence_weight": -0.1}, "sentence_weight is -0.1"),
        ({"sentence_weight": float("nan")}, "sentence_weight is nan"),
        ({"lexical_weight": -1.0}, "lexical_weight is -1"),
        ({"lexical_weight": float("nan")}, "lexical_weight is nan"),
        ({"lexical_weight": float("inf")}, "lexical_weight is inf"),
        ({"candidates": 0}, "candidates is 0; it must be 1 or more"),
        ({"neighbours": -1}, "neighbours is -1; it must be 0 or more"),
        ({"passages": 0}, "passages is 0"),
        ({"threshold": float("nan")}, "threshold is nan; it must be a finite number"),
        ({"diversity": 1.1}, "diversity is 1.1; it runs from 0 to 1"),
        ({"shape": "window"}, "shape is 'window'; it can be sentences, passages, windows, sifted, diverse"),
        ({"mode": "hybird"}, "mode is 'hybird'; it can be dense, lexical, hybrid"),
        ({"fusion": "sum"}, "fusion is 'sum'; it can be zscore, rrf"),
    ],
)
def test_a_setting_out_of_range_is_refused_by_name(option: dict[str, object], named: str) -> None:
    with pytest.raises(UsageError, match=re.escape(named)):
        SearchSettings(**option)


def test_the_documents_of_hits_come_in_the_order_of_their_best_hit_with_all_their_sentences() -> None:
    hits = ARCHIVE.search("pumps failed", k=6, settings=SearchSettings(mode="dense"))

    sources = ARCHIVE.documents(hits)

    assert [source.document.id for source in sources] == list(dict.fromkeys(hit.sentence.document_id for hit in hits))
    assert [hit for source in sources for hit in source.hits] == sorted(
        hits, key=lambda hit: [source.document.id for source in sources].index(hit.sentence.document_id)
    )
    assert all(source.sentences == ARCHIVE.sentences([source.document.id])[source.document.id] for source in sources)
    assert {source.embedder for source in sources} == {"hash:64"}


def test_hits_of_a_document_that_is_gone_give_no_source() -> None:
    gone = Hit(Sentence("x", "gone", 0, 0, 1, "a"), 1, 1.0)

    assert ARCHIVE.documents([gone]) == ()


def place(archive: Archive, name: str) -> tuple[str, int]:
    (found,) = [
        one for group in archive.sentences(archive.store.revisions()).values() for one in group if one.id == name
    ]
    return found.document_id, found.passage


def ranked_by(values: dict[str, float]) -> list[str]:
    return sorted(values, key=lambda name: (-round(values[name], 3), name))


def test_the_preset_passages_ranks_by_the_vector_of_the_passage_and_gives_whole_passages() -> None:
    query, archive = "the harbour at night", small_passages()
    own = similarities(archive, query, 0.0)

    hits = archive.search(query, k=100, settings=PRESETS["passages"])

    order = list(dict.fromkeys(place(archive, name) for name in ids(hits)))
    assert order == list(dict.fromkeys(place(archive, name) for name in ranked_by(own)))
    assert sorted(ids(hits)) == sorted(all_ids(archive))
    for passage in order:
        starts = [hit.sentence.start for hit in hits if (hit.sentence.document_id, hit.sentence.passage) == passage]
        assert starts == sorted(starts)
    assert [hit.rank for hit in hits] == list(range(1, len(hits) + 1))
    assert [hit.similarity for hit in hits] == pytest.approx([own[name] for name in ids(hits)], abs=1e-3)
    assert ids(archive.search(query, k=4, settings=PRESETS["passages"])) == ids(hits)[:4]


@pytest.mark.parametrize(("name", "weight"), [("sentences", 1.0), ("pareto", 0.8)])
def test_the_presets_of_single_sentences_are_dense_at_their_weight(name: str, weight: float) -> None:
    truth = similarities(ARCHIVE, "pumps failed", weight)

    hits = ARCHIVE.search("pumps failed", k=4, settings=preset(name))

    assert [hit.strength for hit in hits] == pytest.approx(sorted(truth.values(), reverse=True)[:4], abs=1e-3)


def test_the_preset_window_puts_neighbours_around_every_hit() -> None:
    hits = ARCHIVE.search("opened three schools", k=3, settings=PRESETS["window"])

    assert [hit.sentence.text for hit in hits] == list(re.findall(r"[A-Z][^.]*\.", TEXTS[0]))
    assert hits[0].similarity != hits[2].similarity
    assert hits[0].strength == hits[2].strength == hits[2].similarity


def test_the_preset_dslr_keeps_the_nearest_sentences_of_the_best_passages_in_order() -> None:
    query, archive = "the flood at night", small_passages()
    own = similarities(archive, query, 1.0)
    passages = list(dict.fromkeys(place(archive, name) for name in ranked_by(similarities(archive, query, 0.0))))[:4]
    options = replace(PRESETS["dslr"], passages=4, candidates=1)

    hits = archive.search(query, k=100, settings=options)

    read = [name for name in all_ids(archive) if place(archive, name) in passages]
    mean = np.mean([own[name] for name in read])
    assert set(ids(hits)) == {name for name in read if own[name] >= mean}
    assert [place(archive, name) for name in ids(hits)] == sorted(
        [place(archive, name) for name in ids(hits)], key=passages.index
    )
    assert [hit.similarity for hit in hits] == pytest.approx([own[name] for name in ids(hits)], abs=1e-3)


def test_the_preset_mmr_takes_a_repeated_sentence_last() -> None:
    query = "The flood came at night."

    near = ARCHIVE.search(query, k=3, settings=PRESETS["sentences"])
    spread = ARCHIVE.search(query, k=3, settings=replace(PRESETS["mmr"], diversity=0.6))

    assert [hit.sentence.text for hit in near[:2]] == [query, query]
    assert spread[0].sentence == near[0].sentence
    assert query not in [hit.sentence.text for hit in spread[1:]]
    assert len(spread) == 3


@pytest.mark.parametrize("shape", ["passages", "windows", "sifted", "diverse"])
@pytest.mark.parametrize("mode", ["dense", "lexical", "hybrid"])
def test_every_shape_goes_with_every_mode_and_says_the_values_that_were_asked(shape: str, mode: str) -> None:
    where = Filter(sources=("outlet 0",))
    hits = ARCHIVE.search("pumps at night", k=5, settings=SearchSettings(mode=mode, shape=shape, where=where))

    assert 1 <= len(hits) <= 5
    assert len(set(ids(hits))) == len(hits)
    assert {hit.sentence.document_id for hit in hits} <= {"d0", "d2", "d4"}
    assert all((hit.bm25 is None) == (mode == "dense") for hit in hits)
    assert all((hit.similarity is None) == (mode == "lexical" and shape != "sifted") for hit in hits)
    strengths = [hit.strength for hit in hits]
    assert strengths == sorted(strengths, reverse=True)


@pytest.mark.parametrize("shape", ["passages", "windows", "sifted", "diverse"])
@pytest.mark.parametrize("mode", ["dense", "lexical", "hybrid"])
def test_a_shape_of_nothing_is_nothing(shape: str, mode: str) -> None:
    assert archive_of(()).search("harbour", settings=SearchSettings(mode=mode, shape=shape)) == ()


def test_a_preset_is_had_by_name_and_an_unknown_one_is_refused() -> None:
    assert {name: preset(name) for name in PRESETS} == PRESETS
    assert list(PRESETS) == list(get_args(Preset))
    with pytest.raises(UsageError, match=r"no preset is named 'bset'; there are passages, sentences, .* best"):
        preset("bset")


@lru_cache
def small_passages() -> Archive:
    embedder = HashEmbedder(64)
    archive = Archive(MemoryStore(128), embedder, manifest=Manifest(embedder.id, 64, passage_tokens=16))
    archive.add(Document(f"d{number}", text) for number, text in enumerate(TEXTS))
    return archive
