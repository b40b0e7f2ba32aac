"""Hold a store that lasts to what the port promises: snapshots that stay, tidying up that loses nothing."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial

from groundwire.core.errors import ArchiveError, UsageError
from groundwire.core.ports import LastingStore, Snapshot, VectorStore
from groundwire.core.types import Document, Match
from groundwire.testing.filings import dense, filing, lexical, newsroom, put, refused, require, same
from groundwire.testing.stores import check_holds

_NO_NAMES = ("", " ", ".", "..", "a/b", "../a", "a\\b", "a b", "a\n", ".hidden", "C:", "a*", "台南", "x" * 300)
_TEXTS = {"folding", "vector_index"}
_NUMBERS = {"passage_words", "versions", "snapshots", "unindexed"}

MakeLastingStore = Callable[[], LastingStore]


def check_lasting_store(make_store: MakeLastingStore) -> None:
    """Hold a store to what ``LastingStore`` promises beyond ``VectorStore``, on small made-up archives.

    Snapshots answer as the store did, whatever is put, replaced, removed, given another origin, finished and compacted
    later; they are read only; they are listed, counted, dated and forgotten; names that are none are refused;
    ``compact`` at any time, and ``facts``.

    Args:
        make_store: makes a new, empty store at each call, always of the same dimension (4 or more).

    Raises:
        AssertionError: a promise is broken.
    """
    for check in (_check_names, _check_staying, _check_read_only, _check_several, _check_compact, _check_facts):
        with closing(make_store()) as store:
            check(store)


def _answers(store: VectorStore) -> list[tuple[Match, ...]]:
    return [dense(store), *(lexical(store, query) for query in ("flood water", "淹水", "read below"))]


def _check_names(store: LastingStore) -> None:
    for name in _NO_NAMES:
        refused(partial(store.snapshot, name), UsageError, what=f"snapshot({name!r})")
    same(dict(store.snapshots()), {}, "snapshots() after names that are none")
    for name in ("a", "2024-05-06.before_import", "A"):
        store.snapshot(name)
        refused(partial(store.snapshot, name), UsageError, what=f"snapshot({name!r}) a second time")
    same(list(store.snapshots()), sorted(["a", "2024-05-06.before_import", "A"]), "the names of snapshots()")
    for act in (store.forget_snapshot, store.at):
        refused(partial(act, "none"), ArchiveError, what=f"{act.__name__}() of a snapshot that is not there")


def _check_staying(store: LastingStore) -> None:
    room = newsroom(store.dimension)
    put(store, room)
    began = datetime.now(tz=UTC) - timedelta(seconds=1)
    taken = store.snapshot("before")
    same(taken, Snapshot("before", taken.when, len(room), sum(len(one.sentences) for one in room)), "snapshot()")
    same(dict(store.snapshots()), {"before": taken}, "snapshots()")
    require(began <= taken.when <= datetime.now(tz=UTC) + timedelta(seconds=1), f"when is {taken.when}, taken just now")
    then = _answers(store)
    edited = filing(replace(room[0].document, title="Edited"), ("Only water stayed.",), dimension=store.dimension)
    added = filing(Document("new", "", origin="n"), ("Flood water rose.", "淹水"), dimension=store.dimension)
    for change in (
        lambda: put(store, [edited, added]),
        lambda: store.set_origins({"storm": "/other"}),
        lambda: store.remove(["rates", "bread"]),
        store.finish,
        store.compact,
    ):
        change()
        with closing(store.at("before")) as past:
            check_holds(past, room)
            same(_answers(past), then, "what a snapshot answers after the store was changed")
    moved = replace(room[1], document=replace(room[1].document, origin="/other"))
    check_holds(store, [edited, moved, added])


def _check_read_only(store: LastingStore) -> None:
    room = newsroom(store.dimension)
    put(store, room[:3])
    store.snapshot("before")
    past = store.at("before")
    refused(lambda: put(past, room[3:]), ArchiveError, what="put() to a snapshot")
    refused(lambda: past.remove(["flood"]), ArchiveError, what="remove() from a snapshot")
    refused(lambda: past.set_origins({"flood": "/x"}), ArchiveError, what="set_origins() of a snapshot")
    past.finish()
    check_holds(past, room[:3])
    past.close()
    check_holds(store, room[:3])


def _check_several(store: LastingStore) -> None:
    room = newsroom(store.dimension)
    store.snapshot("empty")
    put(store, room[:2])
    store.snapshot("two")
    store.remove(["flood"])
    put(store, room[2:])
    store.snapshot("three")
    store.remove([one.document.id for one in room])
    held = {"empty": (), "two": room[:2], "three": room[1:]}
    for gone in ("two", "empty", "three"):
        store.compact()
        same(list(store.snapshots()), sorted(held), "the names of snapshots()")
        for name, filings in held.items():
            with closing(store.at(name)) as past:
                check_holds(past, filings)
            same(store.snapshots()[name].documents, len(filings), f"the documents of snapshot {name!r}")
        store.forget_snapshot(gone)
        del held[gone]
        refused(partial(store.at, gone), ArchiveError, what="at() a snapshot that was forgotten")
    store.snapshot("two")
    with closing(store.at("two")) as past:
        check_holds(past, ())


def _check_compact(store: LastingStore) -> None:
    room = newsroom(store.dimension)
    store.compact()
    put(store, room[:2])
    store.compact()
    put(store, room)
    store.remove(["bread"])
    before = _answers(store)
    for _ in range(2):
        store.compact()
        check_holds(store, room[:3])
        for now, then in zip(_answers(store), before, strict=True):
            same([match.sentence for match in now], [match.sentence for match in then], "what is found after compact()")
    put(store, room[3:])
    check_holds(store, room)


def _check_facts(store: LastingStore) -> None:
    put(store, newsroom(store.dimension))
    store.snapshot("one")
    store.compact()
    facts = store.facts()
    for names, kind in ((_TEXTS, str), (_NUMBERS, int)):
        for name in names:
            require(isinstance(facts.get(name), kind), f"facts() must have {name!r}, {kind.__name__}, got {facts}")
    same((facts["snapshots"], facts["unindexed"]), (1, 0), "the counts of facts() after snapshot() and compact()")
    require(isinstance(facts.get("bytes", 1), int) and facts.get("bytes", 1) != 0, f"bytes is {facts.get('bytes')}")
