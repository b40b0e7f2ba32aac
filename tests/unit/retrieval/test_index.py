"""The life of an archive: adding, adding again, editing, crashing, moving, snapshots."""

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundwire.backends.hash_embedder import HashEmbedder
from groundwire.backends.memory_store import MemoryStore
from groundwire.core.errors import ArchiveError, MissingExtra
from groundwire.core.folding import folder
from groundwire.core.types import Document, Filter, Hit, Sentence
from groundwire.retrieval.corpus import split_document
from groundwire.retrieval.index import AddReport, Archive
from groundwire.retrieval.manifest import Manifest
from groundwire.retrieval.readers import read_documents
from groundwire.retrieval.search import SearchSettings

EMBEDDER = HashEmbedder(32)
MANIFEST = Manifest(EMBEDDER.id, 32)


def new_archive(store: MemoryStore | None = None, **manifest: object) -> Archive:
    return Archive(store or MemoryStore(64), EMBEDDER, manifest=replace(MANIFEST, **manifest), name="stories.archive")


def state(archive: Archive) -> dict[str, object]:
    """All that a search can find, with its vectors as the dot products with a few fixed queries."""
    store = archive.store
    revisions = dict(store.revisions())
    found = [
        {match.sentence.id: match.value for match in store.dense(query, k=10_000, where=NO_FILTER)} for query in QUERIES
    ]
    return {"revisions": revisions, "texts": {i: d.text for i, d in store.documents(revisions).items()}, "found": found}


QUERIES = np.random.default_rng(0).normal(size=(2, 64)).astype(np.float32)
NO_FILTER = Filter()


def texts(archive: Archive) -> list[str]:
    return sorted(document.text for document in archive.store.documents(archive.store.revisions()).values())


def assert_counts(report: AddReport) -> None:
    assert report.documents == report.added + report.updated + report.unchanged + len(report.empty)


def test_adding_again_changes_nothing_and_embeds_nothing() -> None:
    archive = new_archive()
    documents = [Document("a", "One. Two."), Document("b", "Three.")]

    first, second = archive.add(documents), archive.add(documents)

    assert first == AddReport(documents=2, added=2, sentences=3, encoder_tokens=first.encoder_tokens)
    assert first.encoder_tokens > 0
    assert second == AddReport(documents=2, unchanged=2)
    assert archive.counts().documents == 2
    assert archive.counts().sentences == 3


def test_an_edited_document_takes_the_place_of_the_old_one() -> None:
    archive = new_archive()
    archive.add([Document("a", "One. Two."), Document("b", "Three.")])

    report = archive.add([Document("a", "One. Four. Five."), Document("b", "Three.")])

    assert (report.updated, report.unchanged, report.removed) == (1, 1, 0)
    assert texts(archive) == ["One. Four. Five.", "Three."]
    assert archive.counts().sentences == 4


def test_a_changed_title_alone_is_an_update() -> None:
    archive = new_archive()
    archive.add([Document("a", "One.")])

    assert archive.add([Document("a", "One.", title="New")]).updated == 1
    assert archive.store.documents(["a"])["a"].title == "New"


@pytest.mark.parametrize("size", [1, 2, 4000])
def test_of_an_id_twice_in_one_add_the_later_counts(size: int) -> None:
    archive = new_archive()

    report = archive.add(
        [Document("a", "Old one."), Document("a", "New."), Document("a", "New.")], commit_sentences=size
    )

    assert (report.added, report.updated, report.unchanged) == (1, 1, 1)
    assert_counts(report)
    assert texts(archive) == ["New."]


@pytest.mark.parametrize("size", [1, 4000])
def test_a_document_that_goes_and_comes_back_in_one_add_is_there(size: int) -> None:
    archive = new_archive()
    archive.add([Document("a", "Old.")])

    report = archive.add([Document("a", "New."), Document("a", "Old.")], commit_sentences=size)

    assert report.updated == 2
    assert texts(archive) == ["Old."]


def test_documents_without_a_sentence_are_listed_and_counted() -> None:
    archive = new_archive()

    report = archive.add([Document("a", " \n "), Document("b", "One."), Document("c", "")])

    assert report.empty == ("a", "c")
    assert_counts(report)
    assert archive.counts().documents == 1


@pytest.mark.parametrize("size", [1, 4000])
def test_a_document_edited_to_nothing_leaves_the_archive(size: int) -> None:
    archive = new_archive()
    archive.add([Document("a", "One."), Document("b", "Two."), Document("c", "Three.")])

    report = archive.add(
        [Document("a", "  "), Document("b", "Changed."), Document("b", ""), Document("c", ""), Document("c", "Back.")],
        commit_sentences=size,
    )

    assert (report.removed, report.empty) == (2, ("a", "b", "c"))
    assert_counts(report)
    assert texts(archive) == ["Back."]


def version(text: str, origin: str) -> Document:
    """A document of a single-file format: its id is its content."""
    return Document(f"h-{text}", text, origin=origin)


def test_a_file_that_is_read_again_replaces_what_it_held() -> None:
    archive = new_archive()
    archive.add([version("Old.", "/s/a.md"), version("Other.", "/s/b.md")])

    report = archive.add([version("New.", "/s/a.md"), version("Other.", "/s/b.md")])

    assert (report.added, report.unchanged, report.removed) == (1, 1, 1)
    assert texts(archive) == ["New.", "Other."]


def test_rows_of_a_larger_file_are_not_replaced_by_one_another() -> None:
    archive = new_archive()
    archive.add([Document("a", "One.", origin="/s/x.jsonl:1"), Document("b", "Two.", origin="/s/x.json[0]")])

    report = archive.add(
        [Document("c", "Three.", origin="/s/x.jsonl:1"), Document("d", "Four.", origin="/s/x.json[0]")]
    )

    assert report.removed == 0
    assert len(texts(archive)) == 4


def test_documents_without_an_origin_replace_nothing() -> None:
    archive = new_archive()
    archive.add([Document("a", "One.")])

    assert archive.add([Document("b", "Two.")]).removed == 0


def test_a_file_whose_new_version_is_empty_leaves_nothing_behind() -> None:
    archive = new_archive()
    archive.add([version("Old.", "/s/a.md")])

    report = archive.add([version(" ", "/s/a.md")])

    assert (report.removed, len(report.empty)) == (1, 1)
    assert texts(archive) == []


class PowerFailureError(Exception):
    """The machine stopped."""


class Failing(MemoryStore):
    """Stops at the n-th call that changes it."""

    left = 10_000

    def _count(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise PowerFailureError

    def put(self, *arguments: object, **options: object) -> None:
        self._count()
        super().put(*arguments, **options)

    def remove(self, document_ids: Sequence[str]) -> int:
        self._count()
        return super().remove(document_ids)

    def set_origins(self, origins: Mapping[str, str]) -> None:
        self._count()
        super().set_origins(origins)

    def finish(self) -> None:
        self._count()
        super().finish()


@pytest.mark.parametrize("calls", range(8))
def test_killed_anywhere_and_run_again_it_ends_as_if_never_killed(calls: int) -> None:
    before = [
        version("Old.", "/s/a.md"),
        version("Kept. Long.", "/s/b.md"),
        Document("r", "Row.", origin="/s/x.jsonl:1"),
    ]
    after = [
        version("New.", "/s/a.md"),
        version("Kept. Long.", "/s/b.md"),
        Document("r", "Edited.", origin="/s/x.jsonl:1"),
    ]
    whole = new_archive()
    whole.add(before)
    whole.add(after)
    store = Failing(64)
    archive = new_archive(store)
    archive.add(before)

    store.left = calls
    try:
        archive.add(after, commit_sentences=1)
    except PowerFailureError:
        store.left = 10_000
        archive.add(after, commit_sentences=1)

    assert state(archive) == state(whole)


def write(folder: Path, **files: str) -> None:
    for name, text in files.items():
        (folder / f"{name}.md").write_text(text, encoding="utf-8")


def test_what_a_second_file_still_holds_survives_the_edits_of_the_first(tmp_path: Path) -> None:
    archive = new_archive()
    same, folder = "The wall held. Water rose.", str(tmp_path)
    write(tmp_path, a=same, b=same)
    assert archive.add(read_documents(folder)).added == 1  # the reader reports b.md as repeated

    write(tmp_path, a="The wall broke.")
    report = archive.add(read_documents(folder))
    assert (report.added, report.unchanged, report.removed) == (1, 1, 0)
    assert texts(archive) == ["The wall broke.", same]

    write(tmp_path, a="The wall was rebuilt.")
    archive.add(read_documents(str(tmp_path / "a.md")))
    assert texts(archive) == ["The wall held. Water rose.", "The wall was rebuilt."]

    write(tmp_path, b="It is dry.")
    archive.add(read_documents(folder))
    assert texts(archive) == ["It is dry.", "The wall was rebuilt."]


def test_content_that_moved_to_a_file_read_earlier_survives_too(tmp_path: Path) -> None:
    archive = new_archive()
    write(tmp_path, b="One.")
    archive.add(read_documents(str(tmp_path)))

    write(tmp_path, a="One.", b="Two.")
    archive.add(read_documents(str(tmp_path)))
    write(tmp_path, b="Three.")
    archive.add(read_documents(str(tmp_path / "b.md")))

    assert texts(archive) == ["One.", "Three."]


def test_two_files_of_the_same_content_are_written_once_and_stay_where_they_are() -> None:
    store = Failing(64)
    archive = new_archive(store)
    both = [version("Same.", "/s/a.md"), version("Same.", "/s/b.md")]
    archive.add(both)
    assert store.origins() == {"h-Same.": "/s/a.md\n/s/b.md"}

    for _ in range(2):
        store.left = 2  # remove and finish; a put or new origins would stop the machine
        assert archive.add(both).unchanged == 2

    assert store.origins() == {"h-Same.": "/s/a.md\n/s/b.md"}


def origins(archive: Archive) -> dict[str, list[str]]:
    """Text of each document -> the names of the files and rows that hold it."""
    found = archive.store.documents(archive.store.revisions()).values()
    return {one.text: [Path(line).name for line in one.origin.split("\n")] for one in found}


def test_a_copy_that_was_added_later_keeps_what_the_first_file_gives_up(tmp_path: Path) -> None:
    archive = new_archive()
    write(tmp_path, a="Same.")
    archive.add(read_documents(tmp_path / "a.md"))
    write(tmp_path, b="Same.")
    assert archive.add(read_documents(tmp_path / "b.md")).unchanged == 1
    assert origins(archive) == {"Same.": ["a.md", "b.md"]}

    write(tmp_path, a="Other.")
    assert archive.add(read_documents(tmp_path / "a.md")).removed == 0
    assert origins(archive) == {"Same.": ["b.md"], "Other.": ["a.md"]}

    write(tmp_path, b="Third.")
    assert archive.add(read_documents(tmp_path / "b.md")).removed == 1
    assert origins(archive) == {"Other.": ["a.md"], "Third.": ["b.md"]}


@pytest.mark.parametrize("moved_first", [True, False])
def test_a_file_that_was_renamed_and_then_edited_replaces_what_it_held(tmp_path: Path, moved_first: bool) -> None:
    archive = new_archive()
    write(tmp_path, old="The toll is 12.")
    archive.add(read_documents(tmp_path))
    (tmp_path / "old.md").rename(tmp_path / "new.md")
    if moved_first:
        assert archive.add(read_documents(tmp_path)).unchanged == 1
        assert origins(archive) == {"The toll is 12.": ["new.md"]}

    write(tmp_path, new="The toll is 15.")
    archive.add(read_documents(tmp_path))

    # renamed and edited at once, nothing tells that the two belong together: `groundwire remove --missing` does it
    assert set(texts(archive)) - {"The toll is 15."} == (set() if moved_first else {"The toll is 12."})


def test_two_files_that_swap_their_contents_swap_their_documents(tmp_path: Path) -> None:
    archive = new_archive()
    write(tmp_path, a="Rain fell.", b="Sun shone.")
    archive.add(read_documents(tmp_path))

    write(tmp_path, a="Sun shone.", b="Rain fell.")
    assert archive.add(read_documents(tmp_path)).unchanged == 2

    assert origins(archive) == {"Rain fell.": ["b.md"], "Sun shone.": ["a.md"]}


def test_a_file_that_was_emptied_takes_its_document_along(tmp_path: Path) -> None:
    archive = new_archive()
    write(tmp_path, a="Rain fell.", b="Rain fell.", c="Sun shone.")
    archive.add(read_documents(tmp_path))

    write(tmp_path, a="", c=" \n")
    reading = read_documents(tmp_path)
    report = archive.add(reading)

    assert (report.removed, dict(reading.report.reasons)) == (1, {"empty": 2})
    assert origins(archive) == {"Rain fell.": ["b.md"]}


def test_a_file_that_cannot_be_read_any_more_keeps_its_document(tmp_path: Path) -> None:
    archive = new_archive()
    write(tmp_path, a="Rain fell.")
    archive.add(read_documents(tmp_path))

    (tmp_path / "a.md").write_bytes(b"\x7fELF\x02\x01\x01\x00\x00")
    report = archive.add(read_documents(tmp_path))

    assert report.removed == 0
    assert texts(archive) == ["Rain fell."]


def test_a_file_of_one_object_that_becomes_many_rows_leaves_the_object_behind(tmp_path: Path) -> None:
    archive, file = new_archive(), tmp_path / "s.json"
    file.write_text('{"text": "One."}')
    archive.add(read_documents(file))

    file.write_text('[{"text": "Two."}, {"text": "Three."}]')
    assert archive.add(read_documents(file)).removed == 1

    assert texts(archive) == ["Three.", "Two."]


def test_a_row_that_holds_what_a_file_held_keeps_it(tmp_path: Path) -> None:
    archive, file = new_archive(), tmp_path / "a.md"
    write(tmp_path, a="Same.")
    archive.add([version("Same.", str(file))])
    archive.add([version("Same.", "/s/x.jsonl:1"), version("Same.", "/s/x.jsonl:2")])
    archive.add([version("Same.", "/s/y.jsonl:7")])
    assert {*origins(archive)["Same."]} == {"a.md", "x.jsonl:1"}

    assert archive.add([version("Other.", str(file))]).removed == 0
    assert origins(archive) == {"Same.": ["x.jsonl:1"], "Other.": ["a.md"]}


def test_documents_are_removed_by_their_ids() -> None:
    archive = new_archive()
    archive.add([Document("a", "One. Two."), Document("b", "Three."), Document("c", "Four.")])

    assert archive.remove(iter(["a", "c", "a", "none"])) == 2
    assert archive.remove(["a"]) == 0
    assert archive.remove([]) == 0
    assert texts(archive) == ["Three."]
    assert {hit.sentence.document_id for hit in archive.search("one two three four")} == {"b"}


def test_documents_of_which_no_file_is_left_are_missing(tmp_path: Path) -> None:
    archive = new_archive()
    write(tmp_path, a="One.", b="Two.", c="Two.", d="Three.")
    (tmp_path / "x.jsonl").write_text('{"id": "x", "text": "Row."}')
    archive.add([*read_documents(tmp_path), Document("p", "From Python.")])
    archive.add(read_documents(tmp_path))
    for name in ("a.md", "b.md", "x.jsonl"):
        (tmp_path / name).unlink()

    missing = archive.missing()

    assert [Path(origin).name for origin in missing.values()] == ["a.md"]
    assert archive.remove(missing) == 1
    assert archive.missing() == {}
    assert texts(archive) == ["From Python.", "Row.", "Three.", "Two."]


def test_a_document_met_without_a_file_stays_when_its_file_is_edited() -> None:
    archive = new_archive()
    archive.add([version("Same.", "/s/a.md")])

    assert archive.add([version("Other.", "/s/a.md"), version("Same.", "")]).removed == 0
    assert archive.store.origins() == {"h-Other.": "/s/a.md"}


def test_documents_copied_from_another_archive_keep_all_their_files(tmp_path: Path) -> None:
    first, second = new_archive(), new_archive()
    write(tmp_path, a="Same.", b="Same.")
    first.add(read_documents(tmp_path))
    second.add(first.store.documents(first.store.revisions()).values())

    write(tmp_path, a="Other.")
    second.add(read_documents(tmp_path / "a.md"))

    assert origins(second) == {"Same.": ["b.md"], "Other.": ["a.md"]}


@pytest.mark.parametrize("calls", range(9))
def test_killed_while_files_change_hands_and_run_again_it_ends_the_same(tmp_path: Path, calls: int) -> None:
    def run(archive: Archive) -> None:
        archive.add(read_documents(tmp_path), commit_sentences=1)

    whole, store = new_archive(), Failing(64)
    archive = new_archive(store)
    write(tmp_path, a="One.", b="Two.", c="Two.", d="Three.", e="Four.")
    run(whole)
    run(archive)
    write(tmp_path, a="Two.", b="Five.", d="", f="Three.", g="Six.", h="Six.")
    (tmp_path / "e.md").rename(tmp_path / "i.md")
    run(whole)

    store.left = calls
    try:
        run(archive)
    except PowerFailureError:
        store.left = 10_000
        run(archive)

    assert origins(archive) == origins(whole)
    assert state(archive) == state(whole)
    assert origins(whole) == {
        "Two.": ["a.md", "c.md"], "Three.": ["f.md"], "Four.": ["i.md"], "Five.": ["b.md"], "Six.": ["g.md", "h.md"],
    }  # fmt: skip


DOCUMENTS = st.lists(
    st.builds(
        Document,
        id=st.sampled_from("abcd"),
        text=st.sampled_from(["", " ", "One.", "One. Two. Three.", "One.\n\nTwo.", "港口淹水。抽水站故障。"]),
        origin=st.sampled_from(["", "/s/a.md", "/s/b.md", "/s/x.jsonl:1"]),
    ),
    max_size=8,
)


@settings(max_examples=60, deadline=None)
@given(DOCUMENTS, DOCUMENTS, st.integers(1, 5))
def test_the_archive_is_the_same_for_any_size_of_commit(first: list[Document], then: list[Document], size: int) -> None:
    small, large = new_archive(), new_archive()

    for documents in (first, then):
        reports = [small.add(documents, commit_sentences=size), large.add(documents)]
        for report in reports:
            assert_counts(report)
        assert reports[0].removed == reports[1].removed
        assert reports[0].empty == reports[1].empty

    assert state(small) == state(large)
    assert set(small.store.revisions()) >= {d.id for d in then if d.text.strip()} - {
        d.id for d in then if not d.text.strip()
    }


@pytest.mark.parametrize(("context", "tokens"), [("passage", 2), ("exact", 3)])
def test_the_context_of_the_manifest_is_what_a_sentence_remembers(context: str, tokens: int) -> None:
    text = "The harbour flooded. The pumps failed at night. Nobody slept there."
    archive = new_archive(context=context)

    report = archive.add([Document("a", text), Document("b", "Alone.")])

    passage, sentences = split_document(Document("a", text))[0], archive.sentences(["a"])["a"]
    rest = " ".join(one.text for one in passage.sentences[1:]) if context == "exact" else text
    expected = np.hstack([EMBEDDER.embed([sentences[0].text])[0], EMBEDDER.embed([rest])[0]])
    query = QUERIES[0]
    (match,) = archive.store.dense(query, k=1, where=NO_FILTER, among=[sentences[0].id])
    assert match.value == pytest.approx(float(query @ expected), abs=5e-3)
    alone = new_archive().add([Document("b", "Alone.")]).encoder_tokens
    sizes = new_archive().add([Document("a", text)]).encoder_tokens / 2
    assert report.encoder_tokens == tokens * sizes + alone


def test_progress_is_told_after_every_commit() -> None:
    told: list[tuple[int, int | None, str]] = []

    new_archive().add(
        (Document(str(number), "One. Two.") for number in range(3)),
        progress=lambda *what: told.append(what),
        commit_sentences=2,
    )

    assert told == [(1, None, "2 sentences"), (2, None, "4 sentences"), (3, None, "6 sentences")]


def test_documents_are_taken_one_at_a_time() -> None:
    store = MemoryStore(64)

    def documents() -> Iterator[Document]:
        yield Document("a", "One.")
        yield Document("b", "Two.")
        assert "a" in store.revisions()
        yield Document("c", "Three.")

    new_archive(store).add(documents(), commit_sentences=1)


def test_a_commit_of_no_sentence_is_refused() -> None:
    with pytest.raises(ValueError, match="commit_sentences is 0"):
        new_archive().add([], commit_sentences=0)


@pytest.mark.parametrize("embedder", [HashEmbedder(16), type("Other", (), {"id": "local:e5-small", "dimension": 32})()])
def test_an_embedder_that_does_not_fit_is_refused_with_both_names(embedder: HashEmbedder) -> None:
    with pytest.raises(ArchiveError, match=r"stories\.archive holds vectors of 'hash:32' \(32 .*") as caught:
        Archive(MemoryStore(64), embedder, manifest=MANIFEST, name="stories.archive")

    assert f"'{embedder.id}' ({embedder.dimension})" in str(caught.value)


def test_a_store_of_another_size_is_refused() -> None:
    with pytest.raises(ArchiveError, match="vectors of 32 numbers, its manifest asks for 64"):
        Archive(MemoryStore(32), EMBEDDER, manifest=MANIFEST)


def test_an_archive_of_another_splitter_is_searched_but_not_added_to() -> None:
    archive = new_archive(splitter="sentencex+0")

    assert archive.search("harbour") == ()
    with pytest.raises(
        ArchiveError, match=r"'sentencex\+0', this groundwire uses 'sentencex\+.*groundwire rebuild NEW"
    ):
        archive.add([Document("a", "One.")])


def test_a_closed_archive_has_given_back_its_memory() -> None:
    archive = new_archive()
    archive.add([Document("a", "One.")])

    archive.close()

    assert archive.counts().documents == 0


# Life: snapshots, compacting, what is read only


def test_a_snapshot_of_an_archive_answers_as_it_did_and_is_read_only() -> None:
    archive = new_archive()
    archive.add([Document("a", "The river rose."), Document("b", "The bank closed.")])

    taken = archive.snapshot("before")
    archive.add([Document("a", "The river fell."), Document("c", "Rain came.")])
    archive.remove(["b"])
    archive.compact()

    past = archive.at("before")
    assert (taken.documents, taken.sentences) == (2, 2)
    assert dict(archive.snapshots()) == {"before": taken}
    assert texts(past) == ["The bank closed.", "The river rose."]
    assert past.search("bank", k=1)[0].sentence.text == "The bank closed."
    assert past.name == "stories.archive@before"
    assert texts(archive) == ["Rain came.", "The river fell."]
    for write in (lambda: past.add([Document("d", "New.")]), lambda: past.remove(["a"]), past.compact):
        with pytest.raises(ArchiveError, match=r"stories\.archive@before is the snapshot 'before' and stays as it is"):
            write()
    past.close()
    archive.forget_snapshot("before")
    assert archive.snapshots() == {}
    with pytest.raises(ArchiveError, match="no snapshot 'before'"):
        archive.at("before")


def test_the_state_of_the_store_is_part_of_what_an_archive_can_say() -> None:
    archive = new_archive()
    archive.add([Document("a", "One.")])

    facts = archive.facts()

    assert (facts["folding"], facts["passage_words"], facts["snapshots"], facts["vector_index"]) == ("", 1, 0, "none")
    assert facts["bytes"] > 64 * 2


class Passing:
    """A store of somebody else's that keeps no snapshots: everything but what makes one last."""

    def __init__(self, inner: MemoryStore) -> None:
        self.inner = inner

    def __getattr__(self, name: str) -> object:
        if name in ("compact", "snapshot", "snapshots", "forget_snapshot", "at", "facts"):
            raise AttributeError(name)
        return getattr(self.inner, name)


def test_a_store_without_snapshots_is_as_good_as_before_and_says_what_it_cannot_do() -> None:
    archive = Archive(Passing(MemoryStore(64)), EMBEDDER, manifest=MANIFEST)
    archive.add([Document("a", "One.")])

    assert (archive.snapshots(), archive.facts()) == ({}, {})
    for act in (archive.compact, lambda: archive.snapshot("x"), lambda: archive.forget_snapshot("x")):
        with pytest.raises(ArchiveError, match="the store of the archive keeps no snapshots and is not compacted"):
            act()
    with pytest.raises(ArchiveError, match="keeps no snapshots"):
        archive.at("x")
    past = Archive(Passing(MemoryStore(64)), EMBEDDER, manifest=MANIFEST, name="a@x", pinned="x")
    with pytest.raises(ArchiveError, match="a@x is a snapshot: it has none of its own"):
        past.at("y")


def test_words_that_cannot_be_folded_here_are_refused_before_anything_is_embedded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "opencc", None)
    folder.cache_clear()
    archive = new_archive(MemoryStore(64, folding="opencc:t2s"), folding="opencc:t2s")

    with pytest.raises(MissingExtra, match=r"folding words with 'opencc:t2s' needs the extra 'zh'"):
        archive.add(iter([Document("a", "One.")]))
    with pytest.raises(MissingExtra, match="zh"):
        archive.search("one", settings=SearchSettings(mode="lexical"))
    assert archive.search("one", settings=SearchSettings(mode="dense")) == ()


class Restless(MemoryStore):
    """A writer puts another version of document ``a`` between the reading of documents and that of sentences."""

    def __init__(self, *versions: str) -> None:
        super().__init__(64)
        self.waiting = list(versions)

    def sentences(self, document_ids: Iterable[str]) -> Mapping[str, tuple[Sentence, ...]]:
        if self.waiting:
            text = self.waiting.pop(0)
            self.remove(["a"]) if text == "" else new_archive(self).add([Document("a", text)])
        return super().sentences(document_ids)


def hits_of(archive: Archive) -> tuple[Hit, ...]:
    return archive.search("rain snow fog", k=9, settings=SearchSettings(mode="lexical"))


def test_a_source_is_of_one_version_beside_a_writer_and_only_words_that_still_stand_are_hits() -> None:
    archive = new_archive(Restless())
    archive.add([Document("a", "Rain fell. Snow came."), Document("b", "Fog rose.")])
    hits = hits_of(archive)
    archive.store.waiting = ["Rain fell. Thick snow came.", "Rain fell. Sleet came."]

    sources = {source.document.id: source for source in archive.documents(hits)}

    assert sources["a"].document.text == "Rain fell. Sleet came."
    assert [sentence.text for sentence in sources["a"].sentences] == ["Rain fell.", "Sleet came."]
    assert [hit.sentence.text for hit in sources["a"].hits] == ["Rain fell."]
    assert [hit.sentence.text for hit in sources["b"].hits] == ["Fog rose."]


@pytest.mark.parametrize("versions", [("No word is as it was.",), ("Another text.", ""), ("",)])
def test_a_document_without_a_hit_that_still_stands_is_left_out(versions: tuple[str, ...]) -> None:
    archive = new_archive(Restless())
    archive.add([Document("a", "Rain fell. Snow came."), Document("b", "Fog rose.")])
    hits = hits_of(archive)
    archive.store.waiting = list(versions)

    assert [source.document.id for source in archive.documents(hits)] == ["b"]


def test_sentences_that_never_fit_their_document_are_an_error() -> None:
    archive = new_archive(Restless())
    archive.add([Document("a", "Rain fell.")])
    hits = hits_of(archive)
    archive.store.waiting = [f"Rain fell {'again ' * n}." for n in range(1, 99)]

    with pytest.raises(
        ArchiveError, match=r"sentences of document 'a' in stories\.archive do not fit its text, read 10"
    ):
        archive.documents(hits)
