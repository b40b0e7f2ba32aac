"""Bands, curves, coverage and the order of ties."""

import itertools
import json
import math
from collections.abc import Sequence
from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire.core.errors import UsageError
from groundwire.core.types import Document, Hit, ScoredSource, Sentence, Source
from groundwire.writing.reasons import read_reason, worded
from groundwire.writing.score import (
    BANDS,
    KEEP_AT_LEAST,
    Calibration,
    band_of,
    calibrations,
    coverage,
    crosses_scripts,
    features,
    in_order,
    keep,
    score,
    ties,
)

HOW = "in the order of their strongest evidence, then of their ids:"
WORDS = Calibration("", False, 0.6, intercept=-4.0, similarity=0.0, coverage=8.0)
NEAR = Calibration("near", False, 0.6, intercept=-20.0, similarity=25.0, coverage=2.0)
FAR = Calibration("near", True, 0.6, intercept=-10.0, similarity=20.0, coverage=0.0)
CURVES = {(curve.embedder, curve.across): curve for curve in (WORDS, NEAR, FAR)}


def source(
    name: str,
    text: str = "The harbour flooded.",
    *,
    similarity: Sequence[float | None] = (None,),
    strength: float = 1.0,
    title: str = "",
    embedder: str = "",
) -> Source:
    hits = tuple(
        Hit(Sentence(f"{name}@{place}", name, 0, 0, len(text), text), place + 1, strength - place, similarity=value)
        for place, value in enumerate(similarity)
    )
    return Source(Document(name, text, title=title), hits, tuple(hit.sentence for hit in hits), embedder)


def scored(relevance: float | None) -> ScoredSource:
    return ScoredSource(source("d"), relevance, (), band_of(relevance), "")


@pytest.mark.parametrize(
    ("relevance", "band"),
    [
        (100, "high"), (70.1, "high"), (70, "middle"), (50.1, "middle"), (50, "low"), (30.1, "low"), (30, "trace"),
        (20, "trace"), (19.9, None), (0, None), (None, None),
    ],
)  # fmt: skip
def test_a_border_belongs_to_the_lower_band_and_20_is_kept(relevance: float | None, band: str | None) -> None:
    assert band_of(relevance) == band


def test_the_borders_are_those_of_the_paper() -> None:
    assert BANDS == (70, 50, 30)
    assert KEEP_AT_LEAST == 20


def test_keep_passes_over_what_is_unscored_or_below() -> None:
    kept = keep([scored(value) for value in (90, None, 20, 19.9, 0)])

    assert [item.relevance for item in kept] == [90, 20]


@pytest.mark.parametrize(
    ("at_least", "bands"), [(5, ["high", "trace", "trace"]), (60, ["high"]), (0, ["high"] + ["trace"] * 3)]
)
def test_another_threshold_gives_every_kept_source_a_band(at_least: float, bands: list[str]) -> None:
    kept = keep([scored(value) for value in (90, 25, 10, 1)], at_least=at_least)

    assert [item.band for item in kept] == bands


def test_the_rating_is_the_logistic_curve_of_its_features() -> None:
    hits = source("a", similarity=(0.9, 0.8, 0.7, 0.1), embedder="near")

    (rated,) = score("harbour flood tower", [hits], curves=CURVES)

    value = -20 + 25 * (0.9 + 0.8 + 0.7) / 3 + 2 * 1 / 3
    assert rated.relevance == pytest.approx(100 / (1 + math.exp(-value)), abs=0.051)
    assert rated.readings == (rated.relevance,)
    assert rated.band == band_of(rated.relevance)
    assert rated.reason == "33% of the topic's words, similarity 0.800"


def test_the_nearest_sentences_count_wherever_they_stand_and_missing_ones_do_not_pull_down() -> None:
    mixed = source("a", similarity=(None, -0.5, 0.2, 0.9, None, 0.4))

    assert features("harbour", mixed) == (pytest.approx((0.9 + 0.4 + 0.2) / 3), 1.0)
    assert features("harbour", source("a", similarity=(-0.5, None)))[0] == -0.5


@pytest.mark.parametrize("embedder", ["", "near", "unheard-of"])
def test_without_similarities_or_curve_the_words_alone_are_rated_and_the_reason_says_so(embedder: str) -> None:
    values = (0.9,) if embedder == "unheard-of" else (None,)

    (rated,) = score("harbour flooded", [source("a", similarity=values, embedder=embedder)], curves=CURVES)

    assert rated.relevance == pytest.approx(100 / (1 + math.exp(-4)), abs=0.051)
    assert rated.reason == "100% of the topic's words (rated by words alone)"


def test_a_source_without_hits_is_rated_by_its_title() -> None:
    (rated,) = score("harbour", [Source(Document("a", "Text.", title="The harbour"), ())], curves=CURVES)

    assert rated.relevance == pytest.approx(98.2, abs=0.05)


def test_each_source_is_rated_by_the_curve_of_its_embedder() -> None:
    sources = [source("a", similarity=(0.9,), embedder="near"), source("b", similarity=(0.9,), embedder="other")]

    reasons = {item.source.document.id: item.reason for item in score("harbour", sources, curves=CURVES)}

    assert "similarity 0.900" in reasons["a"]
    assert "words alone" in reasons["b"]


def test_a_source_in_another_script_has_a_curve_of_its_own() -> None:
    chinese = source("zh", "港口淹水，水深兩公尺。", similarity=(0.6,), embedder="near")

    (rated,) = score("harbour flooded", [chinese], curves=CURVES)
    (without,) = score("harbour flooded", [chinese], curves={("", False): WORDS, ("near", False): NEAR})

    assert rated.relevance == pytest.approx(100 / (1 + math.exp(-2)), abs=0.051)
    assert rated.reason == "0% of the topic's words, similarity 0.600, in another script"
    assert without.reason.endswith("(rated by words alone)")


@pytest.mark.parametrize(
    ("topic", "text", "crosses"),
    [
        ("Harbour flood", "The harbour flooded.", False),
        ("港口淹水", "The harbour flooded.", True),
        ("Harbour flood", "港口淹水。", True),
        ("AI 淹水預警", "市府啟用 AI 系統。", False),
        ("港が浸水", "港口淹水。", False),
        ("Inondation du port", "The harbour flooded.", False),
        ("2024", "港口淹水。", True),
    ],
)
def test_scripts_are_told_apart(topic: str, text: str, crosses: bool) -> None:
    assert crosses_scripts(topic, Document("d", text)) == crosses


@pytest.mark.parametrize("intercept", [-1e6, 1e6])
def test_a_steep_curve_ends_at_0_or_100(intercept: float) -> None:
    (rated,) = score("harbour", [source("a")], curves={("", False): Calibration("", False, 0.6, intercept, 0.0, 1.0)})

    assert rated.relevance == (0 if intercept < 0 else 100)


@pytest.mark.parametrize("topic", ["", "  ", "\n\u3000"])
def test_a_blank_topic_is_refused(topic: str) -> None:
    with pytest.raises(UsageError, match="topic is blank"):
        score(topic, [source("a")])


def test_no_source_gives_no_rating() -> None:
    assert score("harbour", [], curves=CURVES) == ()


EIGHT = [("d", 3.0), ("b", 3.0), ("g", 2.0), ("a", 1.0), ("h", 1.0), ("c", 1.0), ("f", 0.5), ("e", -1.0)]


@given(st.permutations(EIGHT))
def test_ties_are_broken_by_the_best_hit_and_then_by_id_whatever_the_order_of_input(
    order: list[tuple[str, float]],
) -> None:
    sources = [source(name, strength=strength) for name, strength in order]

    rated = score("harbour flooded", sources, curves=CURVES)

    assert len({item.relevance for item in rated}) == 1
    assert [item.source.document.id for item in rated] == ["b", "d", "g", "a", "c", "h", "f", "e"]


def test_relevance_goes_before_strength_and_a_source_without_hits_is_last_of_its_equals() -> None:
    sources = [
        Source(Document("bare", "Text.", title="harbour flooded"), ()),
        source("weak", strength=0.1),
        source("partly", "The harbour.", strength=9.0),
    ]

    for order in itertools.permutations(sources):
        rated = score("harbour flooded", order, curves=CURVES)
        assert [item.source.document.id for item in rated] == ["weak", "bare", "partly"]


@pytest.mark.parametrize(
    ("topic", "texts", "share"),
    [
        ("flood harbour", ["The flood came."], 0.5),
        ("The flood of the harbour", ["FLOOD", "harbour!"], 1.0),
        ("flood flood", ["flood"], 1.0),
        ("flood", [], 0.0),
        ("flood", ["", "drought"], 0.0),
        ("the who", ["Who was it?"], 0.5),
        ("???", ["anything"], 0.0),
        ("颱風淹水", ["颱風來了，街道淹水。"], 2 / 3),
    ],
)
def test_coverage_is_the_share_of_the_topics_content_words(topic: str, texts: list[str], share: float) -> None:
    assert coverage(topic, texts) == pytest.approx(share)


def test_the_stored_curves_are_complete_and_rise_with_their_features() -> None:
    stored = json.loads(files("groundwire.writing").joinpath("calibration.json").read_text(encoding="utf-8"))
    curves = calibrations()

    assert len(curves) == len(stored["curves"])
    assert curves["", False].similarity == 0
    for (embedder, across), curve in curves.items():
        assert (curve.embedder, curve.across) == (embedder, across)
        assert curve.coverage >= 0
        assert curve.similarity >= 0
        if embedder:
            assert curve.similarity > 0


def test_bands_are_those_that_were_given() -> None:
    assert [band_of(value, bands=(80, 60, 40)) for value in (81, 80, 60, 40, 20)] == [
        "high", "middle", "low", "trace", "trace",
    ]  # fmt: skip
    kept = keep([scored_at(75)], bands=(80, 60, 40))
    assert [source.band for source in kept] == ["middle"]


def test_ties_are_explained_by_the_strength_of_the_evidence() -> None:
    found = ties([scored_at(90, "a", 0.9), scored_at(90, "b", 0.8), scored_at(70, "c", 0.7), scored_at(None, "d", 0.6)])
    assert found == ("all rated 90, in the order of their strongest evidence, then of their ids: a (0.900), b (0.800)",)


def test_the_tie_of_eight_sources_is_the_same_in_any_order_and_worded_in_chinese() -> None:
    ratings = [90, 90, 90, 90, 85, 85, 85, 75]
    eight = [
        scored_at(rating, name, strength)
        for rating, name, strength in zip(ratings, "dbacgfeh", [0.5, 0.5, 0.9, 0.1, 0.7, 0.7, 0.8, 0.2], strict=True)
    ]
    named = "in the order of their strongest evidence, then of their ids"
    for arrived in (eight, eight[::-1], sorted(eight, key=lambda one: hash(one.source.document.id))):
        ordered = in_order(arrived)
        assert [one.source.document.id for one in ordered] == list("abdcefgh")
        assert ties(ordered) == (
            f"all rated 90, {named}: a (0.900), b (0.500), d (0.500), c (0.100)",
            f"all rated 85, {named}: e (0.800), f (0.700), g (0.700)",
        )
    assert worded(read_reason(ties(in_order(eight))[1]), "zh-TW") == (
        "評分同為 85，先依最強的證據、再依編號排序：e (0.800), f (0.700), g (0.700)"
    )


def scored_at(relevance: float | None, name: str = "a", strength: float = 1.0) -> ScoredSource:
    sentence = Sentence(f"{name}#0", name, 0, 0, 4, "Text")
    source = Source(Document(name, "Text"), (Hit(sentence, 1, strength),), (sentence,))
    return ScoredSource(source, relevance, (), band_of(relevance), "")
