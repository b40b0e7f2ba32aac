"""The life of an archive on disk, held against one in memory: hundreds of random changes, and the same all the way.

``GROUNDWIRE_SOAK`` sets how many operations are tried (150), ``GROUNDWIRE_SOAK_SEED`` where they begin (1).
"""

import os
import random
from collections.abc import Callable
from contextlib import suppress
from datetime import date, timedelta
from pathlib import Path

import pytest

from groundwire.core.errors import ArchiveError
from groundwire.core.types import Document, Filter, Hit
from groundwire.flow.archives import open_archive, opened
from groundwire.flow.rebuild import rebuild
from groundwire.retrieval.index import Archive
from groundwire.retrieval.readers import read_documents
from groundwire.retrieval.search import SearchSettings

pytest.importorskip("lancedb", reason="the extra 'archive' is not installed")

OPERATIONS = int(os.environ.get("GROUNDWIRE_SOAK", "150"))
SEED = int(os.environ.get("GROUNDWIRE_SOAK_SEED", "1"))
EMBEDDER = "hash:32"
# No word is a form of another, and none has an ending that a stemmer takes off: both engines count the same words.
WORDS = (
    "zolka", "brin", "dovak", "frumt", "gilpo", "hantu", "jarvo", "kelmot", "lunto", "mordak", "nipko", "ostag",
)  # fmt: skip
ALL = 1000
"""More than there are sentences."""
OUTLETS = ("Gazette", 'O\'Hara "Post"', "中央社")
LANGUAGES = ("en", "zh-TW", "")
CLOSE = 2e-3
"""Vectors are float16, and engines add up in another order: what is closer than this is a tie."""


class Killed(BaseException):
    """Stands for the end of the process."""


class Soak:
    """One archive on disk and one in memory, which get the same operations."""

    def __init__(self, folder: Path, random_: random.Random) -> None:
        self.random = random_
        self.path = folder / "soak.archive"
        self.files = folder / "files"
        self.files.mkdir()
        self.disk = open_archive(self.path, embedder=EMBEDDER)
        self.memory = open_archive("memory:", embedder=EMBEDDER)
        self.counted = 0
        self.done: dict[str, int] = {}

    def run(self, operations: int) -> None:
        kinds: dict[Callable[[], None], int] = {
            self.add_new: 5, self.add_again: 3, self.edit: 4, self.remove: 3, self.write_file: 3, self.edit_file: 2,
            self.move_file: 2, self.delete_file: 2, self.take_snapshot: 2, self.forget_snapshot: 1,
            self.look_at_snapshot: 2, self.compact: 1, self.reopen: 2, self.kill_while_adding: 4, self.search: 8,
            self.rebuild: 1,
        }  # fmt: skip
        for number in range(operations):
            kind = self.random.choices(list(kinds), list(kinds.values()))[0]
            self.done[kind.__name__] = self.done.get(kind.__name__, 0) + 1
            kind()
            if number % 4 == 0 or kind not in (self.search, self.reopen):
                same_contents(self.disk, self.memory, f"after operation {number}, {kind.__name__} (seed {SEED})")
        assert self.done.keys() == {kind.__name__ for kind in kinds} or operations < 150

    def close(self) -> None:
        self.disk.close()

    def both(self, do: Callable[[Archive], object]) -> None:
        results = [do(self.disk), do(self.memory)]
        assert results[0] == results[1]

    def document(self, name: str) -> Document:
        length = self.random.randint(0, 6)
        lines = (" ".join(self.random.choices(WORDS, k=self.random.randint(1, 7))).capitalize() for _ in range(length))
        return Document(
            name,
            self.random.choice((" ", "\n\n")).join(f"{line}." for line in lines) or " ",
            title=self.random.choice(WORDS),
            published=self.random.choice((None, date(2024, 5, 1) + timedelta(self.random.randint(0, 9)))),
            source=self.random.choice(OUTLETS),
            language=self.random.choice(LANGUAGES),
        )

    def name(self) -> str:
        return self.random.choice(sorted(self.memory.store.revisions()) or ["nobody"])

    def add_new(self) -> None:
        names = [f"d'{self.counted + number:04}" for number in range(self.random.randint(1, 3))]
        self.counted += len(names)
        documents = [self.document(name) for name in names]
        self.both(lambda archive: archive.add(documents))

    def add_again(self) -> None:
        held = list(self.memory.store.documents([self.name(), self.name()]).values())
        self.both(lambda archive: archive.add(held))

    def edit(self) -> None:
        documents = [self.document(self.name()), self.document(f"new {self.counted}"), self.document(self.name())]
        size = self.random.choice((4, 1000))
        self.both(lambda archive: archive.add(documents, commit_sentences=size))

    def remove(self) -> None:
        names = [self.name(), "nobody", self.name()]
        self.both(lambda archive: archive.remove(names))

    def take_snapshot(self) -> None:
        name = f"s{self.counted}"
        if name not in self.memory.snapshots():
            disk, memory = (archive.snapshot(name) for archive in (self.disk, self.memory))
            assert (disk.documents, disk.sentences) == (memory.documents, memory.sentences)

    def forget_snapshot(self) -> None:
        if names := list(self.memory.snapshots()):
            name = self.random.choice(names)
            self.both(lambda archive: archive.forget_snapshot(name))

    def look_at_snapshot(self) -> None:
        if names := list(self.memory.snapshots()):
            name = self.random.choice(names)
            then, now = self.disk.at(name), self.memory.at(name)
            same_contents(then, now, f"snapshot {name}")
            same_hits(then, now, self.query(), SearchSettings(mode="dense", where=self.where()))
            with pytest.raises(ArchiveError):
                then.remove(["nobody"])
            then.close()

    def compact(self) -> None:
        """By words the ranks are compared now, and in a new archive: in between the engine counts removed words."""
        self.both(Archive.compact)
        self.same_hits_by_words(self.disk)

    def same_hits_by_words(self, disk: Archive) -> None:
        for mode, passage_words in (("lexical", 0.0), ("hybrid", 0.0), ("lexical", 0.5), ("hybrid", 0.5)):
            settings = SearchSettings(mode=mode, passage_words=passage_words, where=self.where(), candidates=ALL)
            same_hits(disk, self.memory, self.query(), settings)

    def reopen(self) -> None:
        self.disk.close()
        self.disk = open_archive(self.path)

    def write_file(self) -> None:
        self.counted += 1
        (self.files / f"f{self.counted:04}.txt").write_text(self.document("").text, "utf-8")
        self.add_files()

    def edit_file(self) -> None:
        if path := self.file():
            path.write_text(self.document("").text, "utf-8")
            self.add_files()

    def move_file(self) -> None:
        if path := self.file():
            path.rename(path.with_name(f"moved {path.name}"[-40:]))
            self.add_files()

    def delete_file(self) -> None:
        if path := self.file():
            path.unlink()
            gone = sorted(self.memory.missing())
            self.both(lambda archive: archive.remove(archive.missing()))
            assert gone or not self.memory.missing()

    def file(self) -> Path | None:
        return self.random.choice(sorted(self.files.iterdir()) or [None])

    def add_files(self) -> None:
        self.both(lambda archive: archive.add(read_documents(self.files)))

    def kill_while_adding(self) -> None:
        """The archive on disk is left at some point of an ``add``, opened again, and given the same once more."""
        documents = [self.document(self.name()) for _ in range(2)]
        documents += [self.document(f"k{self.counted}.{number}") for number in range(3)]
        before = {name: found.text for name, found in self.disk.store.documents(self.disk.store.revisions()).items()}
        step = self.random.choice(("put", "finish", "remove", "set_origins"))
        after = self.random.randint(0, 2)
        kill_at(self.disk, step, after=after)
        with suppress(Killed):
            self.disk.add(documents, commit_sentences=1)
        self.disk = open_archive(self.path)  # the old one was not closed: its process is gone
        self.whole_or_not_at_all({*before.items(), *((document.id, document.text) for document in documents)})
        self.disk.add(documents)
        self.memory.add(documents)

    def whole_or_not_at_all(self, versions: set[tuple[str, str]]) -> None:
        ids = list(self.disk.store.revisions())
        for name, found in self.disk.store.documents(ids).items():
            assert (name, found.text) in versions
            sentences = self.disk.sentences([name])[name]
            assert all(sentence.text == found.text[sentence.start : sentence.end] for sentence in sentences)
            assert sentences

    def query(self) -> str:
        return " ".join(self.random.sample(WORDS, self.random.randint(1, 3)))

    def where(self) -> Filter:
        return self.random.choice(
            (
                Filter(),
                Filter(published_from=date(2024, 5, 3), published_to=date(2024, 5, 7)),
                Filter(sources=OUTLETS[1:]),
                Filter(languages=("en", ""), published_from=date(2024, 5, 2)),
            )
        )

    def search(self) -> None:
        """By meaning the ranks are the same at any time; by words the same sentences are found."""
        query, where = self.query(), self.where()
        same_hits(self.disk, self.memory, query, SearchSettings(mode="dense", where=where))
        found = [
            {hit.sentence.id for hit in archive.search(query, k=ALL, settings=by_words(where))}
            for archive in (self.disk, self.memory)
        ]
        assert found[0] == found[1]

    def rebuild(self) -> None:
        new = self.path.with_name(f"rebuilt {self.done['rebuild']}.archive")
        self.disk.close()
        report = rebuild(self.path, new)
        self.disk = open_archive(self.path)
        assert report.added == self.memory.counts().documents
        with opened(open_archive(new)) as rebuilt:
            same_contents(rebuilt, self.memory, "rebuilt", snapshots=False)
            self.same_hits_by_words(rebuilt)


def by_words(where: Filter) -> SearchSettings:
    return SearchSettings(mode="lexical", where=where, candidates=ALL)


def kill_at(archive: Archive, step: str, *, after: int) -> None:
    """Let the process "die" when the store is asked for the ``after``-th of these steps; a put dies when it is done."""
    real = getattr(archive.store, step)
    calls = 0

    def dying(*values: object, **named: object) -> object:
        nonlocal calls
        calls += 1
        if step == "put":
            real(*values, **named)
        if calls > after:
            raise Killed
        return real(*values, **named) if step != "put" else None

    setattr(archive.store, step, dying)


def same_contents(disk: Archive, memory: Archive, when: str, *, snapshots: bool = True) -> None:
    ids = list(memory.store.revisions())
    assert dict(disk.store.revisions()) == dict(memory.store.revisions()), when
    assert disk.counts() == memory.counts(), when
    assert dict(disk.store.documents(ids)) == dict(memory.store.documents(ids)), when
    assert disk.sentences(ids) == memory.sentences(ids), when
    assert not snapshots or list(disk.snapshots()) == list(memory.snapshots()), when


def same_hits(disk: Archive, memory: Archive, query: str, settings: SearchSettings) -> None:
    """The same sentences with the same values in the same order, up to what ties within ``CLOSE``."""
    everything = memory.counts().sentences
    expected = {hit.sentence.id: hit for hit in memory.search(query, k=max(1, everything), settings=settings)}
    found = disk.search(query, k=10, settings=settings)
    ranked = list(expected.values())[:10]
    what = f"{query!r} with {settings}"
    assert len(found) == len(ranked), what
    for hit, at_rank in zip(found, ranked, strict=True):
        same = expected[hit.sentence.id]
        assert hit.sentence == same.sentence
        assert_close(hit, same, what)
        assert same.strength == pytest.approx(at_rank.strength, abs=CLOSE), f"rank {hit.rank} of {what}"


def assert_close(hit: Hit, same: Hit, what: str) -> None:
    for name in ("strength", "similarity", "bm25"):
        value, expected = getattr(hit, name), getattr(same, name)
        assert (value is None) == (expected is None), what
        if value is not None:
            assert value == pytest.approx(expected, abs=CLOSE), f"{name} of {hit.sentence.id} for {what}"


def test_hundreds_of_random_changes_leave_the_archive_as_one_in_memory(tmp_path: Path) -> None:
    soak = Soak(tmp_path, random.Random(SEED))  # noqa: S311 - nothing secret
    soak.run(OPERATIONS)
    soak.close()
