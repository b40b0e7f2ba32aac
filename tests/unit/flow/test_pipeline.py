"""Searching and packing as the settings say."""

from datetime import date

import pytest

from groundwire.backends.hash_embedder import HashEmbedder
from groundwire.core.types import Document
from groundwire.flow.archives import open_archive
from groundwire.flow.pipeline import find_evidence
from groundwire.flow.settings import PackOptions, SearchOptions, Settings
from groundwire.retrieval.index import Archive

STORY = (
    "The river rose by 3 metres on Monday night. The old bridge in the harbour district was closed to all traffic. "
    "Two hundred people spent the night in schools. The mayor asked for more pumps and boats on the river."
)


class CountingEmbedder(HashEmbedder):
    """Counts every word as one token."""

    def count_tokens(self, text: str) -> int:
        return len(text.split())


def archive(embedder: HashEmbedder | None = None) -> Archive:
    made = open_archive("memory:", embedder=embedder or HashEmbedder(64))
    made.add(
        [
            Document("a", STORY, title="Flood", source="CNA", published=date(2024, 5, 6)),
            Document("b", f"From our agency. {STORY}", title="River", source="BBC"),
            Document("c", "A choir sang by the river at night. Nobody else came.", source="CNA"),
        ]
    )
    return made


def settings(pack: PackOptions | None = None, *, budget: int = 60, **search: object) -> Settings:
    return Settings(search=SearchOptions(budget_tokens=budget, **search), pack=pack or PackOptions())


def test_evidence_is_packed_as_it_was_unless_settings_say_otherwise() -> None:
    evidence = find_evidence(archive(), "river at night", settings=settings())

    assert (evidence.tokenizer, evidence.headers, evidence.budget) == ("estimate", (), 60)
    assert 0 < evidence.tokens <= 60
    assert {one.reason[:10] for one in evidence.dropped} <= {"same words", *(f"{n} tokens d"[:10] for n in range(99))}


def test_the_embedders_own_tokens_count_where_it_counts_them_and_the_evidence_says_who_counted() -> None:
    options = PackOptions(tokenizer="embedder", headers=True)

    counted = find_evidence(archive(CountingEmbedder(64)), "river at night", settings=settings(options))
    estimated = find_evidence(archive(), "river at night", settings=settings(options))

    heads = [text for _, text in counted.headers]
    assert counted.tokens == sum(len(text.split()) for text in [*heads, *(one.sentence.text for one in counted.hits)])
    assert set(heads) <= {"Flood (2024-05-06)", "River"}
    assert heads
    assert (counted.tokenizer, estimated.tokenizer) == ("hash:64", "estimate")


def test_neighbours_and_caps_find_their_documents_and_sentences() -> None:
    held = archive()
    near = find_evidence(held, "pumps", settings=settings(PackOptions(neighbours=1), budget=400, k=1))
    capped = find_evidence(held, "river at night", settings=settings(PackOptions(per_story=1, per_source=1), budget=30))

    assert [one.rank for one in near.hits] == [1, 1]
    assert near.hits[0].sentence.text == "Two hundred people spent the night in schools."
    assert any("the cap of 1" in one.reason for one in capped.dropped)


@pytest.mark.parametrize("preset", ["passages", "window", "best"])
def test_a_preset_in_the_settings_is_what_is_searched_with(preset: str) -> None:
    held = archive()

    evidence = find_evidence(held, "river at night", settings=settings(preset=preset, budget=999))

    found = {one.sentence.id for one in evidence.hits} | {one.hit.sentence.id for one in evidence.dropped}
    assert found == {one.id for own in held.sentences(["a", "b", "c"]).values() for one in own}
