"""Ways to search over labelled questions: where the gold is, what is measured, and what is left out by name."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest

from groundwire.backends.hash_embedder import HashEmbedder
from groundwire.backends.memory_store import MemoryStore
from groundwire.core.errors import NothingFound, UsageError
from groundwire.core.ports import Matrix, Role
from groundwire.core.types import Document, Gold, Question
from groundwire.evaluation.evidence import answer_in_context, gold_in_context
from groundwire.evaluation.questions import Unscored
from groundwire.flow.searches import pack_hits
from groundwire.flow.searching import (
    Measure,
    Way,
    index_tokens,
    latencies,
    measure,
    outcomes,
    place_questions,
    preset_ways,
    query_tokens,
    require_scored,
    without_value,
)
from groundwire.flow.settings import PackOptions, SearchOptions, Settings
from groundwire.retrieval.index import Archive, Manifest
from groundwire.retrieval.search import PRESETS, SearchSettings

TEXT = "The river rose by two metres. The mayor left the town. Nobody was hurt in the flood.\n\nThe bridge is closed."
OTHER = "Oysters are cheap this year. The harbour is quiet."
LEXICAL = SearchSettings(mode="lexical")


@pytest.fixture
def archive() -> Archive:
    made = Archive(MemoryStore(128), HashEmbedder(64), manifest=Manifest("hash:64", 64), name="test")
    made.add([Document("a", TEXT, language="en"), Document("b", OTHER, language="en")])
    return made


def place(text: str) -> Gold:
    start = TEXT.index(text)
    return Gold("a", start, start + len(text))


def ids(archive: Archive, *numbers: int) -> frozenset[str]:
    return frozenset(archive.sentences(["a"])["a"][number].id for number in numbers)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("recall@5", Measure("recall", 5)),
        ("ndcg@10", Measure("ndcg", 10)),
        ("reciprocal_rank", Measure("reciprocal_rank")),
        ("answer_in_context", Measure("answer_in_context")),
        ("gold_in_context@300", Measure("gold_in_context", 300)),
        ("evidence_tokens@1200", Measure("evidence_tokens", 1200)),
    ],
)
def test_a_measure_is_read_and_written_alike(name: str, expected: Measure) -> None:
    assert measure(name) == expected
    assert expected.name == name


@pytest.mark.parametrize("name", ["recall", "ndcg", "recall@0", "recall@", "reciprocal_rank@3", "precision@5", ""])
def test_a_measure_that_is_none_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="no measure is named"):
        measure(name)


def test_a_place_becomes_the_sentences_that_it_runs_over(archive: Archive) -> None:
    third = sorted(ids(archive, 2))[0]
    questions = [
        Question("one", "?", (place("two metres"),)),
        Question("several", "?", (place("town. Nobody was"), place("bridge"))),
        Question("across a break", "?", (place("flood.\n\nThe bridge"),)),
        Question("whole", "?", (Gold("b"),), cluster="c"),
        Question("sentence", "?", sentence_ids=(third,)),
        Question("answers", "?", answers=("two",)),
    ]

    placed, unscored = place_questions(archive, questions)

    assert unscored == ()
    assert [one.places for one in placed[:3]] == [
        (ids(archive, 0),),
        (ids(archive, 1, 2), ids(archive, 3)),
        (ids(archive, 2, 3),),
    ]
    assert [len(one) for one in placed[3].places] == [1, 1]
    assert placed[4].places == (frozenset([third]),)
    assert placed[5].places == ()
    assert [one.cluster for one in placed] == ["a", "a", "a", "c", "a", "answers"]
    assert placed[1].sentences == ids(archive, 1, 2, 3)


@pytest.mark.parametrize(
    ("question", "said"),
    [
        (Question("q", "?"), "it has no gold"),
        (Question("q", "?", (Gold("z", 0, 3),)), "the document 'z' is not in the archive"),
        (Question("q", "?", (Gold("a", 0, 3), Gold("z", 0, 3))), "the document 'z' is not in the archive"),
        (Question("q", "?", (Gold("a", 900, 903),)), "no sentence of 'a' stands at 900 to 903"),
        (Question("q", "?", sentence_ids=("a@0-1.ff",)), "the sentence 'a@0-1.ff' is not in the archive"),
        (Question("q", "?", sentence_ids=("odd",)), "the document '' is not in the archive"),
    ],
)
def test_gold_that_is_not_in_the_archive_leaves_the_question_unscored(
    archive: Archive, question: Question, said: str
) -> None:
    placed, unscored = place_questions(archive, [question])

    assert placed == ()
    assert unscored[0].question_id == "q"
    assert said in unscored[0].reason


def test_nothing_to_score_is_an_outcome_with_the_list() -> None:
    require_scored(1, [], asked=1)
    with pytest.raises(NothingFound, match="none of 2 questions") as found:
        require_scored(0, [Unscored("q", "it is gone"), Unscored("r", "it has no gold")], asked=2)
    assert found.value.searched == ("q: it is gone", "r: it has no gold")


def test_measures_of_the_ranking_are_those_of_the_hits(archive: Archive) -> None:
    placed, _ = place_questions(archive, [Question("q", "the river and the bridge", (place("river"), place("bridge")))])
    names = ["recall@1", "recall@2", "recall@4", "ndcg@2", "reciprocal_rank"]
    ways = [Way("words", LEXICAL), Way("one", LEXICAL, k=1), Way("less", LEXICAL, budget_tokens=9)]

    found = outcomes(
        archive, placed, ways=ways, measures=[measure(name) for name in names], settings=Settings(), progress=None
    )

    ranked = [hit.sentence.id for hit in archive.search("the river and the bridge", k=100, settings=LEXICAL)]
    wanted = placed[0].sentences
    places = [rank for rank, name in enumerate(ranked, start=1) if name in wanted]
    gain = sum(1 / math.log2(rank + 1) for rank in places if rank <= 2) / (1 + 1 / math.log2(3))
    expected = [sum(rank <= k for rank in places) / 2 for k in (1, 2, 4)]
    assert found.values[0, 0].tolist() == pytest.approx([*expected, gain, 1 / places[0]])
    assert found.values[0, 1, 2] <= 0.5
    assert found.values[0, 2].tolist() == found.values[0, 0].tolist()
    assert found.tokenizer == ""


@pytest.mark.parametrize("pack", [PackOptions(), PackOptions(headers=True, neighbours=1, per_source=2)])
def test_measures_of_the_evidence_are_those_of_what_the_pipeline_packs(archive: Archive, pack: PackOptions) -> None:
    questions = [
        Question("q", "Was somebody hurt in the flood?", (place("Nobody"), place("bridge")), answers=("quiet",)),
        Question("r", "Which year are oysters cheap?", answers=("this year",)),
    ]
    placed, _ = place_questions(archive, questions)
    kinds = ("answer_in_context", "gold_in_context", "evidence_tokens", "evidence_sentences")
    measures = [measure(f"{kind}@{budget}") for budget in (8, 25) for kind in kinds] + [measure("evidence_tokens")]
    way = Way("words", PRESETS["pareto"], budget_tokens=12)

    found = outcomes(archive, placed, ways=[way], measures=measures, settings=Settings(pack=pack))

    for row, question in enumerate(questions):
        hits = archive.search(question.text, k=100, settings=way.search)
        expected = []
        for budget in (8, 25, 12):
            settings = Settings(pack=pack, search=SearchOptions(budget_tokens=budget))
            evidence = pack_hits(archive, hits, settings=settings)
            gold = [answer_in_context(evidence, [*question.gold, *question.answers])]
            share = gold_in_context(evidence, question.gold) if question.gold else math.nan
            expected += [*gold, share, evidence.tokens, len(evidence.hits)]
        expected = [*expected[:8], expected[10]]
        assert found.values[row, 0].tolist() == pytest.approx(expected, nan_ok=True)
    assert found.of(0, 1)[1] is None
    assert found.tokenizer == "estimate"


def test_questions_with_answers_alone_have_no_value_where_places_are_needed(archive: Archive) -> None:
    placed, _ = place_questions(archive, [Question("q", "two?", answers=("two",)), Question("r", "?", (Gold("b"),))])

    assert without_value(placed, [measure("answer_in_context@9")]) == ()
    (lost,) = without_value(placed, [measure("answer_in_context@9"), measure("recall@5")])
    assert lost == Unscored("q", "it has answers only, recall@5 needs places or sentences")


def test_rows_hold_what_the_tables_are_made_of(archive: Archive) -> None:
    placed, _ = place_questions(
        archive, [Question("q", "river", (place("river"),)), Question("r", "x", answers=("x",))]
    )
    told: list[tuple[int, int | None]] = []

    found = outcomes(
        archive, placed, ways=[Way("words", LEXICAL)], measures=[measure("recall@1"), measure("answer_in_context")],
        settings=Settings(), progress=lambda done, total, _: told.append((done, total)),
    )  # fmt: skip

    assert found.rows() == [
        {"question": "q", "cluster": "a", "way": "words", "values": {"recall@1": 1.0, "answer_in_context": 1.0}},
        {"question": "r", "cluster": "r", "way": "words", "values": {"recall@1": None, "answer_in_context": 0.0}},
    ]
    assert told == [(1, 2), (2, 2)]


def test_presets_are_ways_by_their_names() -> None:
    assert [way.name for way in preset_ways()] == list(PRESETS)
    assert preset_ways(["default", "pareto", "default"], k=7) == (
        Way("default", SearchSettings(), 7),
        Way("pareto", PRESETS["pareto"], 7),
    )
    with pytest.raises(UsageError, match="no preset is named 'worst'; there are passages"):
        preset_ways(["worst"])


def test_every_way_is_timed_on_every_question(archive: Archive) -> None:
    told: list[int] = []
    found = latencies(
        archive,
        ["river", "bridge"],
        ways=preset_ways(["pareto", "best"]),
        progress=lambda done, _, __: told.append(done),
    )

    assert [(one.way, one.n) for one in found] == [("pareto", 2), ("best", 2)]
    assert all(0 < one.p50_milliseconds <= one.p95_milliseconds for one in found)
    assert all(one.cpu_milliseconds >= 0 for one in found)
    assert told == [1, 2]
    assert latencies(archive, [], ways=preset_ways()) == ()


def test_index_tokens_are_those_that_adding_reported() -> None:
    for context in ("passage", "exact"):
        made = Archive(MemoryStore(128), HashEmbedder(64), manifest=Manifest("hash:64", 64, context=context))
        report = made.add([Document("a", TEXT), Document("b", OTHER), Document("c", "One sentence.")])
        assert index_tokens(made) == report.encoder_tokens > 0


def test_query_tokens_say_who_counted(archive: Archive) -> None:
    mean, name = query_tokens(archive, ["one two three", "one"])

    assert name == "estimate"
    assert mean > 1
    assert math.isnan(query_tokens(archive, [])[0])


class Counter64(HashEmbedder):
    def count_tokens(self, text: str) -> int:
        return len(text.split())


def test_query_tokens_are_the_embedders_own_where_it_counts() -> None:
    made = Archive(MemoryStore(128), Counter64(64), manifest=Manifest("hash:64", 64))
    assert query_tokens(made, ["one two three", "one"]) == (2.0, "hash:64")


def test_the_sample_of_passages_groups_sentences() -> None:
    made = Archive(MemoryStore(128), HashEmbedder(64), manifest=Manifest("hash:64", 64, passage_tokens=12))
    report = made.add([Document("a", TEXT)])
    assert len({one.passage for one in made.sentences(["a"])["a"]}) > 1
    assert index_tokens(made) == report.encoder_tokens


def test_words_alone_embed_nothing(archive: Archive) -> None:
    placed, _ = place_questions(archive, [Question("q", "river", (place("river"),))])

    class Refusing(HashEmbedder):
        def embed(self, texts: Sequence[str], *, role: Role = "passage") -> Matrix:
            raise AssertionError(f"nothing is to be embedded, but {len(texts)} texts as {role} were")

    archive.embedder = Refusing(64)
    found = outcomes(archive, placed, ways=[Way("w", LEXICAL)], measures=[measure("recall@1")], settings=Settings())
    assert found.values.tolist() == [[[1.0]]]
