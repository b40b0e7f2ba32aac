"""Sources by the nearest chunks: whole documents, real sentences, and vectors that are made once."""

import sqlite3
from contextlib import closing
from datetime import date
from pathlib import Path

import pytest

from groundwire.backends.hash_embedder import HashEmbedder
from groundwire.core.errors import ArchiveError, UsageError
from groundwire.core.types import Document, Filter
from groundwire.flow.archives import open_archive
from groundwire.flow.chunked import FILE, chunk_sources
from groundwire.retrieval.chunks import split_chunks

FLOOD = Document(
    "flood", "The river flood reached the lower town. Boats came on Monday. The mayor asked for pumps.",
    published=date(2024, 5, 6), language="en",
)  # fmt: skip
CAKE = Document(
    "cake", "Cakes are baked with butter. Sugar makes them sweet.", published=date(2024, 5, 7), language="en"
)
LONG = Document(
    "long", ("Nothing much happened that day. " * 40) + "The river flood reached the bridge.", language="en"
)


@pytest.mark.parametrize("place", ["memory:", "disk"])
def test_documents_come_in_the_order_of_their_best_chunk_with_their_sentences(place: str, tmp_path: Path) -> None:
    if place == "disk":
        pytest.importorskip("lancedb", reason="the extra 'archive' is not installed")
    with closing(
        open_archive(place if place == "memory:" else str(tmp_path / "a.archive"), embedder="hash:256", create=True)
    ) as made:
        made.add([FLOOD, CAKE, LONG])
        found = chunk_sources(made, "river flood lower town", k=3)

    assert found[0].document == FLOOD
    assert [hit.sentence.text for hit in found[0].hits] == [
        "The river flood reached the lower town.", "Boats came on Monday.", "The mayor asked for pumps.",
    ]  # fmt: skip
    assert len({hit.similarity for hit in found[0].hits}) == 1
    ranks = sorted(hit.rank for source in found for hit in source.hits)
    assert ranks == list(range(1, len(ranks) + 1))
    assert [max(h.strength for h in one.hits) for one in found] == sorted(
        (max(h.strength for h in one.hits) for one in found), reverse=True
    )


def test_the_similarity_is_the_cosine_of_the_chunk() -> None:
    embedder = HashEmbedder(256)
    made = open_archive("memory:", embedder="hash:256")
    made.add([LONG])
    (found,) = chunk_sources(made, "river flood bridge", k=1)

    query = embedder.embed(["river flood bridge"], role="query")[0]
    texts = [LONG.text[span.start : span.end] for span in split_chunks(LONG.text)]
    best = max(float(vector @ query) for vector in embedder.embed(texts, role="passage"))
    assert found.hits[0].similarity == pytest.approx(best, abs=2e-3)  # kept in half precision


def test_vectors_are_made_once_and_again_only_for_what_is_new_or_changed(tmp_path: Path) -> None:
    pytest.importorskip("lancedb", reason="the extra 'archive' is not installed")
    told: list[tuple[int, int | None]] = []

    def search(*documents: Document, remove: str = "") -> list[str]:
        told.clear()
        with closing(open_archive(str(tmp_path / "a.archive"), embedder="hash:256", create=True)) as made:
            if documents:
                made.add(documents)
            if remove:
                made.remove([remove])
            found = chunk_sources(made, "river flood", k=9, progress=lambda done, total, _: told.append((done, total)))
            return [one.document.id for one in found]

    assert set(search(FLOOD, CAKE)) == {"flood", "cake"}
    assert told == [(2, 2)]
    search()
    assert told == []
    search(LONG)
    assert told == [(1, 1)]
    changed = Document("cake", "The river flood spoiled the cakes.", language="en")
    assert search(changed)[0] in ("cake", "flood")
    assert told == [(1, 1)]
    assert "flood" not in search(remove="flood")
    with closing(sqlite3.connect(tmp_path / "a.archive" / FILE)) as kept:
        assert sorted(row[0] for row in kept.execute("select document from chunks")) == ["cake", "long"]


def test_a_filter_is_honoured() -> None:
    made = open_archive("memory:", embedder="hash:256")
    made.add([FLOOD, CAKE])
    found = chunk_sources(made, "river flood", k=5, where=Filter(published_from=date(2024, 5, 7)))
    assert [one.document.id for one in found] == ["cake"]


def test_a_filter_that_lets_nothing_through_gives_no_sources() -> None:
    made = open_archive("memory:", embedder="hash:256")
    made.add([FLOOD])
    assert chunk_sources(made, "river flood", k=5, where=Filter(languages=("zh-TW",))) == ()


def test_a_snapshot_is_searched_as_it_was_and_drops_nothing_that_the_archive_needs(tmp_path: Path) -> None:
    pytest.importorskip("lancedb", reason="the extra 'archive' is not installed")
    place, told = str(tmp_path / "a.archive"), []
    with closing(open_archive(place, embedder="hash:256", create=True)) as made:
        made.add([FLOOD])
        made.snapshot("then")
        made.add([Document("flood", "Cakes are baked with butter.", language="en"), CAKE])
        now = chunk_sources(made, "river flood", k=5)
        with closing(made.at("then")) as pinned:
            then = chunk_sources(pinned, "river flood", k=5)
        chunk_sources(made, "river flood", k=5, progress=lambda done, total, _: told.append((done, total)))

    assert {one.document.id: one.document.text for one in then} == {"flood": FLOOD.text}
    assert {one.document.id for one in now} == {"flood", "cake"}
    assert FLOOD.text not in {one.document.text for one in now}
    assert told == []


def test_equal_chunks_come_in_the_order_of_their_documents() -> None:
    made = open_archive("memory:", embedder="hash:256")
    made.add([Document(name, "The river flood reached the town.") for name in "dbca"])
    assert [one.document.id for one in chunk_sources(made, "river flood", k=3)] == ["a", "b", "c"]


def test_an_archive_without_documents_has_no_sources() -> None:
    assert chunk_sources(open_archive("memory:", embedder="hash:256"), "river", k=5) == ()


def test_wrong_requests_and_a_broken_file_are_refused_with_what_to_do(tmp_path: Path) -> None:
    pytest.importorskip("lancedb", reason="the extra 'archive' is not installed")
    with closing(open_archive(str(tmp_path / "a.archive"), embedder="hash:256", create=True)) as made:
        made.add([FLOOD])
        with pytest.raises(UsageError, match="blank"):
            chunk_sources(made, " ", k=5)
        with pytest.raises(UsageError, match="k is 0"):
            chunk_sources(made, "river", k=0)
        (tmp_path / "a.archive" / FILE).write_bytes(b"this is no database at all, not even a short one")
        with pytest.raises(ArchiveError, match="delete the file"):
            chunk_sources(made, "river", k=5)
