from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from groundwire.backends import lance_reader, lance_rows, lance_store, lance_tables
from groundwire.backends.lance_rows import Layout, rows_to_write
from groundwire.backends.lance_store import LanceStore
from groundwire.backends.memory_store import MemoryStore
from groundwire.core.errors import ArchiveError, MissingExtra
from groundwire.core.folding import folder
from groundwire.core.types import Document, Filter, Sentence, Unit
from groundwire.testing import Filing, check_holds, filing, put

if TYPE_CHECKING:
    from lancedb.table import Table

pytest.importorskip("lancedb", reason="the extra 'archive' is not installed")

EVERYTHING = Filter()
AXIS = np.eye(16, dtype=np.float32)[0]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "archive"


@pytest.fixture
def store(path: Path) -> Iterator[LanceStore]:
    with closing(LanceStore(path, dimension=16)) as made:
        yield made


def news(name: str, *texts: str, seed: int = 0) -> Filing:
    return filing(Document(name, "", source="CNA"), texts, dimension=16, seed=seed)


def tables_of(path: Path) -> tuple[Table, Table]:
    return lance_tables.open_tables(str(path), layout=Layout(16))


def commit_documents_only(path: Path, one: Filing) -> None:
    """What a writer leaves that was killed between its two commits."""
    halves = one.vectors.astype(np.float16)
    about, _ = rows_to_write([one.document], one.sentences, vectors=halves, revisions=[one.revision], layout=Layout(16))
    tables_of(path)[0].add(about)


# Opening


def test_importing_the_module_does_not_load_the_engine() -> None:
    script = "import sys, groundwire.backends.lance_store; print('lancedb' in sys.modules, 'pyarrow' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


def test_a_missing_engine_is_named_with_its_extra(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "lancedb", None)
    with pytest.raises(MissingExtra, match=r"groundwire\[archive\]"):
        LanceStore(path, dimension=16)


def test_what_was_put_is_there_after_opening_again(store: LanceStore, path: Path) -> None:
    filings = [news("a", "One.", "Two."), news("b", "Three.")]
    put(store, filings)
    store.close()
    with closing(LanceStore(path, dimension=16)) as again:
        check_holds(again, filings)


def test_another_dimension_is_refused_even_where_both_fill_up_to_the_same_width(path: Path) -> None:
    LanceStore(path, dimension=16).close()
    for dimension in (15, 32):
        with pytest.raises(ArchiveError, match=f"holds vectors of 16 numbers, but {dimension} were asked for"):
            LanceStore(path, dimension=dimension)


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"dimension": 0}, "got dimension 0"),
        ({"dimension": 16, "keep_versions_for": timedelta(0)}, "must be longer than 0"),
    ],
)
def test_a_setting_that_makes_no_sense_is_refused(path: Path, how: dict[str, int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        LanceStore(path, **how)


def test_a_file_in_the_place_of_an_archive_is_refused(path: Path) -> None:
    path.write_text("not an archive")
    with pytest.raises(ArchiveError, match="cannot be opened as an archive"):
        LanceStore(path, dimension=16)


def test_a_broken_table_is_refused(store: LanceStore, path: Path) -> None:
    put(store, [news("a", "One.")])
    for manifest in (path / "sentences.lance" / "_versions").iterdir():
        manifest.write_bytes(b"broken")
    with pytest.raises(ArchiveError, match="cannot be opened as an archive"):
        LanceStore(path, dimension=16)


def test_sentences_without_a_documents_table_are_refused(store: LanceStore, path: Path) -> None:
    store.close()
    (path / "documents.lance").rename(path / "lost.lance")
    with pytest.raises(ArchiveError, match="sentences but no documents"):
        LanceStore(path, dimension=16)


def test_documents_without_a_sentences_table_are_refused(store: LanceStore, path: Path) -> None:
    put(store, [news("a", "Flood.")])
    store.close()
    (path / "sentences.lance").rename(path / "lost.lance")
    with pytest.raises(ArchiveError, match="documents but no sentences"):
        LanceStore(path, dimension=16)


def test_a_start_that_was_cut_off_is_completed(store: LanceStore, path: Path) -> None:
    put(store, [news("a", "Flood.")])
    tables_of(path)[1].drop_index("text_idx")
    with closing(LanceStore(path, dimension=16)) as again:
        assert len(again.lexical("flood", k=3, where=EVERYTHING)) == 1
    tables_of(path)[1].drop_index("text_idx")
    assert lance_tables.tail_length(store._open()[1]) == 1


def test_a_closed_store_says_so(store: LanceStore) -> None:
    store.close()
    with pytest.raises(ArchiveError, match="was closed"):
        store.counts()


def test_a_store_is_not_used_across_a_fork(store: LanceStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getpid", lambda: -1)
    with pytest.raises(ArchiveError, match="spawn"):
        store.counts()


# Commits


def test_a_document_is_replaced_in_one_commit_on_the_sentences(store: LanceStore, path: Path) -> None:
    put(store, [news("a", "One.", "Two."), news("b", "Three.", "Four.", "Five.")])
    before = tables_of(path)[1].version
    put(store, [news("a", "Six.", seed=1)])
    assert tables_of(path)[1].version == before + 1


def moved(one: Filing, origin: str) -> Filing:
    return replace(one, document=replace(one.document, origin=origin))


def test_other_origins_are_one_commit_on_the_documents_and_none_on_the_sentences(store: LanceStore, path: Path) -> None:
    first, second = moved(news("a", "One.", "Two."), "/a.txt"), news("b", "Three.")
    put(store, [first, second])
    before = [table.version for table in tables_of(path)]

    store.set_origins({"a": "/a.txt\n/c.txt", "b": "/b.txt", "none": "/d.txt"})
    store.set_origins({})
    store.set_origins({"none": "/d.txt"})

    assert [table.version for table in tables_of(path)] == [before[0] + 1, before[1]]
    check_holds(store, [moved(first, "/a.txt\n/c.txt"), moved(second, "/b.txt")])
    put(store, [second])
    store.finish()
    check_holds(store, [moved(first, "/a.txt\n/c.txt"), second])


def test_a_new_document_whose_sentences_are_not_there_is_not_there(store: LanceStore, path: Path) -> None:
    whole, half = news("whole", "One.", "Two."), news("half", "Three.")
    put(store, [whole])
    commit_documents_only(path, half)

    check_holds(store, [whole])
    assert store.documents(["half"]) == {}
    assert store.sentences(["half"]) == {}
    put(store, [half])
    check_holds(store, [whole, half])


def test_a_replacement_whose_sentences_are_not_there_leaves_the_old_document(store: LanceStore, path: Path) -> None:
    old, new = news("a", "One.", "Two."), news("a", "Three.", seed=1)
    put(store, [old])
    commit_documents_only(path, new)
    commit_documents_only(path, news("a", seed=2))

    check_holds(store, [old])
    store.finish()
    check_holds(store, [old])
    assert tables_of(path)[0].count_rows() == 1
    put(store, [new])
    check_holds(store, [new])


def test_a_replacement_that_was_cut_off_does_not_get_in_the_way_of_other_origins(store: LanceStore, path: Path) -> None:
    old = news("a", "One.", "Two.")
    put(store, [old])
    commit_documents_only(path, moved(news("a", "Three.", seed=1), "/new.txt"))

    store.set_origins({"a": "/a.txt"})

    for _ in range(2):
        check_holds(store, [moved(old, "/a.txt")])
        store.finish()


def test_an_empty_document_stays_until_the_sentences_of_its_successor_are_there(store: LanceStore, path: Path) -> None:
    empty = news("a")
    put(store, [empty])
    commit_documents_only(path, news("a", "One.", seed=1))
    check_holds(store, [empty])


def test_sentences_without_a_document_are_ignored_and_then_removed(store: LanceStore, path: Path) -> None:
    kept = news("b", "Two.")
    put(store, [news("a", "One."), kept])
    tables_of(path)[0].delete("id = 'a'")

    assert list(store.revisions()) == ["b"]
    store.finish()
    check_holds(store, [kept])


def test_a_writer_notices_what_another_wrote_before_it(store: LanceStore, path: Path) -> None:
    put(store, [news("a", "One.")])
    with closing(LanceStore(path, dimension=16)) as other:
        put(other, [news("b", "Two.")])
        put(store, [news("b", "Three.", seed=1), news("c", "Four.")])
        for one in (store, other):
            check_holds(one, [news("a", "One."), news("b", "Three.", seed=1), news("c", "Four.")])


# Searching


def test_filters_take_names_that_would_break_a_query_language(store: LanceStore) -> None:
    nasty = 'O\'Brien "x" \\ % ; -- 台南'
    put(store, [filing(Document("a", "", source=nasty), ("One.",), dimension=16), news("b", "Two.")])
    found = store.dense(AXIS, k=9, where=Filter(sources=(nasty,)))
    assert [match.sentence.document_id for match in found] == ["a"]


def test_a_single_character_is_found_where_it_is_a_word(store: LanceStore) -> None:
    put(store, [news("a", "水 很 冷"), news("b", "台南市區淹水")])
    found = store.lexical("水", k=9, where=EVERYTHING)
    assert [match.sentence.document_id for match in found] == ["a"]
    assert [match.sentence.document_id for match in store.lexical("淹水", k=9, where=EVERYTHING)] == ["b"]


def test_common_english_words_and_short_names_are_found(store: LanceStore) -> None:
    put(store, [news(word, f"{word} here") for word in ("war", "man", "dogs", "AI", "us", "the", "who")])
    for word in ("war", "man", "dog", "AI", "us", "the", "who"):
        found = store.lexical(word, k=1, where=EVERYTHING)
        assert [match.sentence.text for match in found] == [f"{'dogs' if word == 'dog' else word} here"]


def test_more_ties_than_can_be_settled_still_give_k_sentences(
    store: LanceStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lance_reader, "_WIDEST_TIE", 20)
    own = news("a", *(["Rain."] * 400))
    put(store, [replace(own, vectors=np.tile(AXIS, (400, 1)))])
    for found in (store.dense(AXIS, k=5, where=EVERYTHING), store.lexical("rain", k=5, where=EVERYTHING)):
        assert len(found) == 5
        assert [match.sentence.id for match in found] == sorted(match.sentence.id for match in found)


def many(rows: int) -> Filing:
    """One document of many short sentences with clustered vectors."""
    rng = np.random.default_rng(0)
    sentences = tuple(Sentence(f"s{n:06}", "many", n, n, n + 1, f"w{n % 50}") for n in range(rows))
    vectors = rng.standard_normal((40, 16))[rng.integers(0, 40, rows)] + 0.5 * rng.standard_normal((rows, 16))
    vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    return Filing(Document("many", "x" * rows, published=date(2024, 5, 6)), sentences, vectors, "r")


def test_vectors_are_indexed_from_ten_thousand_sentences_on_and_nothing_is_missed(
    store: LanceStore, path: Path
) -> None:
    own = many(9_999)
    put(store, [own])
    store.finish()
    assert lance_tables.index_of(tables_of(path)[1], "vector") is None

    rare = filing(Document("rare", "", source="rare"), ("One.", "Two."), dimension=16)
    put(store, [rare])
    store.finish()

    index = lance_tables.index_of(tables_of(path)[1], "vector")
    assert index is not None
    assert index.index_details["compression"] == {"type": "rq", "num_bits": 5, "rotation_type": "fast"}
    queries = own.vectors[:20] + 0.02
    exact = np.argsort(-(own.vectors.astype(np.float16).astype(np.float32) @ queries.T), axis=0)[:30].T
    recall = []
    for query, best in zip(queries, exact, strict=True):
        found = {match.sentence.id for match in store.dense(query, k=30, where=EVERYTHING)}
        recall.append(len(found & {own.sentences[row].id for row in best}) / 30)
    assert np.mean(recall) >= 0.97
    narrow = store.dense(queries[0], k=5, where=Filter(sources=("rare",)))
    assert {match.sentence.document_id for match in narrow} == {"rare"}
    assert len(narrow) == 2
    farthest = own.sentences[int(np.argmin(own.vectors @ queries[0]))].id
    assert [one.sentence.id for one in store.dense(queries[0], k=5, where=EVERYTHING, among=[farthest])] == [farthest]


def test_a_large_archive_is_probed_deeper(store: LanceStore, monkeypatch: pytest.MonkeyPatch) -> None:
    put(store, [news("a", "One.")])
    monkeypatch.setattr(lance_reader, "_MANY_ROWS", 1)
    assert len(store.dense(AXIS, k=1, where=EVERYTHING)) == 1


def test_a_vector_index_of_many_parts_is_built_anew(
    store: LanceStore, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lance_tables, "EXACT_BELOW", 300)
    monkeypatch.setattr(lance_tables, "_MOST_SEGMENTS", 1)
    put(store, [many(400)])
    store.finish()
    put(store, [news("a", "One.")])
    store.finish()
    index = lance_tables.index_of(tables_of(path)[1], "vector")
    assert index is not None
    assert (index.num_segments, index.num_unindexed_rows) == (1, 0)


# Folding and cleaning


def test_a_long_tail_is_folded_while_writing(store: LanceStore, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(store, [many(100)])
    assert lance_tables.tail_length(tables_of(path)[1]) == 0
    put(store, [news("a", "One.")])
    assert lance_tables.tail_length(tables_of(path)[1]) == 1
    monkeypatch.setattr(lance_store, "_LONGEST_TAIL", 1)
    monkeypatch.setattr(lance_store, "_FOLD_SHARE", 1e9)
    put(store, [news("b", "Two.")])
    assert lance_tables.tail_length(tables_of(path)[1]) == 0


def test_a_fast_writer_spends_little_of_its_time_on_folding(
    store: LanceStore, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lance_store, "_FOLD_SHARE", 1e-9)
    put(store, [many(100)])
    put(store, [news("a", *("One.",) * 200)])
    assert lance_tables.tail_length(tables_of(path)[1]) == 200
    store.finish()
    assert lance_tables.tail_length(tables_of(path)[1]) == 0


def test_finish_with_nothing_new_commits_nothing(store: LanceStore, path: Path) -> None:
    put(store, [news("a", "One.")])
    store.finish()
    before = [table.version for table in tables_of(path)]
    store.finish()
    with closing(LanceStore(path, dimension=16)) as again:
        again.finish()
    assert [table.version for table in tables_of(path)] == before


def size(path: Path) -> int:
    return sum(one.stat().st_size for one in path.rglob("*") if one.is_file())


def test_versions_older_than_their_time_are_cleaned_and_younger_ones_kept(tmp_path: Path) -> None:
    sizes = {}
    for kept, age in (("hour", timedelta(hours=1)), ("moment", timedelta(milliseconds=1))):
        with closing(LanceStore(tmp_path / kept, dimension=16, keep_versions_for=age)) as store:
            for seed in range(10):
                put(store, [replace(many(300), vectors=np.roll(many(300).vectors, seed))])
            time.sleep(0.01)
            store.finish()
            check_holds(store, [replace(many(300), vectors=np.roll(many(300).vectors, 9))])
        sizes[kept] = size(tmp_path / kept)
        versions = len(tables_of(tmp_path / kept)[1].list_versions())
        assert versions < 4 if kept == "moment" else versions > 10
    assert sizes["moment"] < sizes["hour"] / 3


def test_a_tagged_version_is_never_cleaned(path: Path) -> None:
    with closing(LanceStore(path, dimension=16, keep_versions_for=timedelta(milliseconds=1))) as store:
        put(store, [news("a", "One.")])
        texts = tables_of(path)[1]
        texts.tags.create("keep", texts.version)
        for seed in range(3):
            put(store, [news("a", "Two.", "Three.", seed=seed)])
            time.sleep(0.01)
            store.finish()
        check_holds(store, [news("a", "Two.", "Three.", seed=2)])
        texts.checkout("keep")
        assert texts.count_rows() == 1


# Layout


def test_an_archive_keeps_the_layout_it_was_made_with_whatever_it_is_opened_with(path: Path) -> None:
    LanceStore(path, dimension=16, folding="characters", passage_words=False).close()

    with closing(LanceStore(path, dimension=16)) as store:
        put(store, [news("a", "臺灣經濟", "Rain.")])
        store.finish()
        assert [one.sentence.text for one in store.lexical("台湾", k=3, where=EVERYTHING)] == ["臺灣經濟"]
        assert (store.facts()["folding"], store.facts()["passage_words"]) == ("characters", 0)
        with pytest.raises(ArchiveError, match="made without the words of passages"):
            store.lexical("rain", k=3, where=EVERYTHING, unit="passage")
    columns = tables_of(path)[1].schema.names
    assert ("folded" in columns, "passage_text" in columns) == (True, False)


def test_an_archive_of_an_older_format_goes_on_without_the_newer_columns(path: Path) -> None:
    LanceStore(path, dimension=16).close()
    tables_of(path)[1].drop_columns(["passage_text"])

    with closing(LanceStore(path, dimension=16, folding="characters")) as store:
        put(store, [news("a", "臺灣經濟", "Rain.")])
        store.compact()
        store.snapshot("one")
        check_holds(store.at("one"), [news("a", "臺灣經濟", "Rain.")])
        assert store.lexical("台湾", k=3, where=EVERYTHING) == ()
        assert len(store.lexical("臺灣", k=3, where=EVERYTHING)) == 1
        assert (store.facts()["folding"], store.facts()["passage_words"]) == ("", 0)


def test_words_that_cannot_be_folded_here_are_not_written_and_not_searched_but_vectors_are(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "opencc", None)
    folder.cache_clear()
    with closing(LanceStore(path, dimension=16, folding="opencc:t2s")) as store:
        with pytest.raises(MissingExtra, match="needs the extra 'zh'"):
            put(store, [news("a", "One.")])
        with pytest.raises(MissingExtra, match="needs the extra 'zh'"):
            store.lexical("one", k=1, where=EVERYTHING)
        check_holds(store, [])
        assert store.dense(AXIS, k=1, where=EVERYTHING) == ()


# Snapshots and compacting


def test_a_snapshot_of_one_version_does_not_keep_those_after_it(path: Path) -> None:
    rows = many(2_000)
    with closing(LanceStore(path, dimension=16)) as store:
        put(store, [rows])
        store.snapshot("one")
        store.compact()
        alone = store.facts()
        for seed in range(1, 6):
            put(store, [replace(rows, vectors=np.roll(rows.vectors, seed, axis=0))])
            store.finish()
        grown = store.facts()
        store.compact()
        after = store.facts()
        check_holds(store.at("one"), [rows])
        store.forget_snapshot("one")
        store.compact()
        last = store.facts()
    assert grown["versions"] > 10
    assert (alone["versions"], after["versions"], last["versions"]) == (2, 2, 1)
    assert after["bytes"] < 2.2 * alone["bytes"] < grown["bytes"]
    assert last["bytes"] < 1.3 * alone["bytes"]


def test_compacting_joins_the_parts_of_the_vector_index(store: LanceStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lance_tables, "EXACT_BELOW", 300)
    put(store, [many(400)])
    store.finish()
    put(store, [news("a", "One.")])
    store.finish()
    assert (store.facts()["vector_index"], store.facts()["vector_parts"]) == ("IvfRq", 2)

    store.snapshot("one")
    store.compact()

    assert (store.facts()["vector_parts"], store.facts()["unindexed"]) == (1, 0)
    past = store.at("one")
    query = many(400).vectors[7]
    assert past.dense(query, k=1, where=EVERYTHING) == store.dense(query, k=1, where=EVERYTHING)


def test_compacting_removes_what_a_killed_writer_left(store: LanceStore, path: Path) -> None:
    whole = news("whole", "One.", "Two.")
    put(store, [whole])
    commit_documents_only(path, news("half", "Three."))

    store.compact()

    check_holds(store, [whole])
    assert tables_of(path)[0].count_rows() == 1


def test_a_snapshot_that_was_cut_off_is_not_there_and_can_be_made_again(store: LanceStore, path: Path) -> None:
    put(store, [news("a", "One.")])
    tables_of(path)[0].branches.create("half")
    store.remove(["a"])
    put(store, [news("b", "Two.")])

    assert store.snapshots() == {}
    with pytest.raises(ArchiveError, match="no snapshot 'half'"):
        store.at("half")
    store.snapshot("half")
    check_holds(store.at("half"), [news("b", "Two.")])


def test_compacting_drops_what_is_left_of_a_snapshot_that_was_cut_off(store: LanceStore, path: Path) -> None:
    put(store, [news("a", "One.")])
    store.snapshot("whole")
    for table, name in zip(tables_of(path), ("made", "forgotten"), strict=True):
        table.branches.create(name)

    store.compact()

    assert [sorted(table.branches.list()) for table in tables_of(path)] == [["whole"], ["whole"]]
    check_holds(store.at("whole"), [news("a", "One.")])


def test_a_snapshot_whose_place_is_taken_on_disk_says_so(store: LanceStore, path: Path) -> None:
    put(store, [news("a", "One.")])
    tables_of(path)[0].branches.create("half")
    (path / "documents.lance" / "_refs" / "branches" / "half.json").unlink()

    with pytest.raises(ArchiveError, match=r"the snapshot 'half' cannot be made .* take another name"):
        store.snapshot("half")
    store.snapshot("other")


def test_another_process_sees_a_snapshot_and_reads_it_while_the_archive_is_compacted(
    store: LanceStore, path: Path
) -> None:
    put(store, [news("a", "One.")])
    store.snapshot("one")
    with closing(LanceStore(path, dimension=16)) as other:
        past = other.at("one")
        put(store, [news("a", "Two.", seed=1)])
        store.compact()
        check_holds(past, [news("a", "One.")])
        check_holds(other, [news("a", "Two.", seed=1)])
        assert other.snapshots() == store.snapshots()


def test_the_bytes_of_an_archive_are_those_of_its_files_on_this_machine(store: LanceStore, path: Path) -> None:
    put(store, [news("a", "One.")])
    assert store.facts()["bytes"] == size(path)
    assert lance_tables.size_on_disk("s3://bucket/stories.archive") is None


def test_a_file_that_goes_while_it_is_counted_is_not_counted(path: Path) -> None:
    path.mkdir()
    (path / "gone").symlink_to(path / "nothing")
    (path / "there").write_bytes(b"four")
    assert lance_tables.size_on_disk(str(path)) == 4


def test_the_facts_of_an_archive_elsewhere_have_no_bytes(store: LanceStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lance_tables, "size_on_disk", lambda path: None if path else 0)
    assert "bytes" not in store.facts()


# Kill and concurrency

WRITER = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from test_lance_store import LanceStore, plan, put
store = LanceStore(sys.argv[1], dimension=16)
print("open", flush=True)
for filings in plan():
    put(store, filings)
    print("put", flush=True)
store.finish()
"""


def plan() -> list[list[Filing]]:
    """Batches of new documents, each followed by one that replaces half of them and a later edit of all."""
    batches = []
    for number in range(6):
        names = [f"{number}-{one}" for one in range(40)]
        batches.append([news(name, "One here.", "Two here.", "Three.") for name in names])
        batches.append([news(name, f"Edited {name}.", "Then more.", seed=1) for name in names[::2]])
    return batches


def start_writer(path: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", WRITER, str(path), str(Path(__file__).parent)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def check_whole(store: LanceStore, known: dict[str, list[Filing]]) -> None:
    """Each document that is there is one of its versions, with all of that version's sentences."""
    revisions = store.revisions()
    documents, sentences = store.documents(revisions), store.sentences(revisions)
    for name, own in sentences.items():
        assert own in [one.sentences for one in known[name]]
    for name, document in documents.items():
        assert document in [one.document for one in known[name]]


def test_a_writer_killed_three_times_and_started_again_leaves_what_an_unkilled_one_leaves(tmp_path: Path) -> None:
    known: dict[str, list[Filing]] = {}
    with closing(MemoryStore(16)) as reference:
        for filings in plan():
            put(reference, filings)
            for one in filings:
                known.setdefault(one.document.id, []).append(one)
        for puts_before, seconds in ((0, 0.004), (3, 0.012), (6, 0.02)):
            with start_writer(tmp_path / "killed") as writer:
                assert writer.stdout is not None
                for _ in range(1 + puts_before):
                    writer.stdout.readline()
                time.sleep(seconds)
                writer.send_signal(signal.SIGKILL)
            with closing(LanceStore(tmp_path / "killed", dimension=16)) as store:
                check_whole(store, known)
                assert store.counts().documents >= 40 * (puts_before > 0)
        reader = LanceStore(tmp_path / "killed", dimension=16)
        with start_writer(tmp_path / "killed") as writer, closing(reader):
            while writer.poll() is None:
                check_whole(reader, known)
        assert writer.returncode == 0
        with closing(LanceStore(tmp_path / "killed", dimension=16)) as store:
            names = list(reference.revisions())
            assert dict(store.revisions()) == dict(reference.revisions())
            assert dict(store.documents(names)) == dict(reference.documents(names))
            assert dict(store.sentences(names)) == dict(reference.sentences(names))
            assert store.counts() == reference.counts()
            values = [[match.value for match in one.dense(AXIS, k=999, where=EVERYTHING)] for one in (store, reference)]
            np.testing.assert_allclose(*values, atol=1e-3)


# What was met lately


def both(path: Path, filings: list[Filing]) -> tuple[LanceStore, MemoryStore]:
    stores = LanceStore(path, dimension=16), MemoryStore(16)
    for one in stores:
        put(one, filings)
        one.finish()
    return stores


def rainy(count: int, *, times: int = 1) -> Filing:
    return news("rain", *[text for n in range(count) for text in (f"Rain fell {'again ' * (n % 3)}.", "B.")] * times)


def test_dense_values_are_those_of_the_reference_to_the_last_bit_however_a_sentence_is_found(path: Path) -> None:
    disk, memory = both(path, [many(300)])
    query = np.random.default_rng(5).standard_normal(16).astype(np.float32)
    names = [sentence.id for sentence in many(300).sentences]
    for _ in range(2):  # looked for, then read by their place
        found = disk.dense(query, k=300, where=EVERYTHING, among=names)
        assert found == memory.dense(query, k=300, where=EVERYTHING)
    assert disk.dense(query, k=300, where=EVERYTHING) == found
    assert disk.dense(query, k=9, where=Filter(published_from=date(2024, 5, 6)), among=names[:9]) == memory.dense(
        query, k=9, where=EVERYTHING, among=names[:9]
    )
    disk.close()


@pytest.mark.parametrize("change", ["compact", "remove", "replace", "nothing"])
@pytest.mark.parametrize("noticed", [True, False])
def test_what_another_process_changes_between_two_questions_is_noticed(
    path: Path, monkeypatch: pytest.MonkeyPatch, change: str, noticed: bool
) -> None:
    """``noticed`` false: the change comes after the version was looked at and before the rows are read."""
    first, second = news("a", "Rain fell.", "Snow came."), news("b", "Rain again.", "Fog rose.")
    disk, memory = both(path, [first, second])
    put(disk, [second])  # leaves a hole, so that folding moves rows
    disk.finish()
    disk.dense(AXIS, k=9, where=EVERYTHING)
    disk.lexical("rain", k=9, where=EVERYTHING)
    if not noticed:
        disk._lately()
        monkeypatch.setattr(disk, "_lately", lambda: disk._seen)

    with closing(LanceStore(path, dimension=16)) as other:
        if change == "remove":
            other.remove(["b"])
            memory.remove(["b"])
        elif change == "replace":
            edited = news("b", "Rain ceased", "Fog rose.", seed=3)
            put(other, [edited])
            put(memory, [edited])
        if change != "nothing":
            other.compact()

    names = [sentence.id for one in (first, second) for sentence in one.sentences]
    assert disk.dense(AXIS, k=9, where=EVERYTHING, among=names) == memory.dense(
        AXIS, k=9, where=EVERYTHING, among=names
    )
    for unit in ("sentence", "passage") if noticed else ("sentence",):
        found = disk.lexical("rain", k=9, where=EVERYTHING, among=names, unit=unit)
        expected = memory.lexical("rain", k=9, where=EVERYTHING, among=names, unit=unit)
        assert [match.sentence for match in found] == [match.sentence for match in expected]
        if change in ("compact", "remove"):  # then nothing that was removed is counted
            assert [match.value for match in found] == pytest.approx([match.value for match in expected], abs=1e-5)
    disk.close()


def test_no_more_sentences_are_remembered_than_the_limit_and_answers_stay_the_same(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lance_rows, "_MOST_SEEN", 10)
    disk, memory = both(path, [rainy(20)])
    names = [sentence.id for sentence in rainy(20).sentences]
    for some in (names[:6], names[4:12], names, names[:3]):
        disk.lexical("rain", k=4, where=EVERYTHING)
        found = disk.dense(AXIS, k=40, where=EVERYTHING, among=some)
        assert found == memory.dense(AXIS, k=40, where=EVERYTHING, among=some)
        assert len(disk._seen.numbers(names)) <= 10
    disk.close()


@pytest.mark.parametrize("where", [EVERYTHING, Filter(sources=("CNA",)), Filter(sources=("BBC",))])
def test_one_passage_is_found_among_many_of_its_document(path: Path, where: Filter) -> None:
    disk, memory = both(path, [rainy(60), news("other", "Rain.", "Rain and rain.")])
    names = [sentence.id for sentence in rainy(60).sentences]
    for among in (names[5:6], [names[119], names[0]], [*names[7:9], "none"], ["none"]):
        for k in (1, 99):
            found = disk.lexical("rain", k=k, where=where, among=among, unit="passage")
            expected = memory.lexical("rain", k=k, where=where, among=among, unit="passage")
            assert [match.sentence.id for match in found] == [match.sentence.id for match in expected]
    disk.close()


def test_compacting_makes_bm25_forget_what_was_removed(path: Path) -> None:
    texts = [f"Rain {'fell ' * (n % 4)}on {'hills' if n % 3 else 'towns'}." for n in range(120)]
    disk, memory = both(path, [news(f"d{n}", *texts[n : n + 4]) for n in range(0, 120, 4)])
    for one in (disk, memory):
        one.remove(["d0"])
        one.finish()

    def values(store: LanceStore | MemoryStore, unit: Unit) -> dict[str, float]:
        return {match.sentence.id: match.value for match in store.lexical("towns", k=99, where=EVERYTHING, unit=unit)}

    assert values(disk, "sentence") != pytest.approx(values(memory, "sentence"), abs=1e-5)
    disk.compact()
    for unit in ("sentence", "passage"):
        assert values(disk, unit) == pytest.approx(values(memory, unit), abs=1e-5)
    disk.close()


def test_every_document_is_read_once_without_those_that_are_not_there(store: LanceStore, path: Path) -> None:
    filings = [news(f"d{n:04}", "One.", "Two.") for n in range(1_200)]
    put(store, [*filings, news("gone", "Three.")])
    store.remove(["gone"])
    commit_documents_only(path, news("half", "Four."))

    read = list(store.every_document())

    assert sorted(read, key=lambda document: document.id) == [one.document for one in filings]
