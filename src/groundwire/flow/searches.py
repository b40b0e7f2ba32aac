"""Search and pack as the settings say."""

from __future__ import annotations

from collections.abc import Sequence

from groundwire.core.ports import TokenCounter
from groundwire.core.text import count_tokens
from groundwire.core.types import Evidence, Filter, Hit
from groundwire.flow.settings import SearchOptions, Settings
from groundwire.retrieval.index import Archive
from groundwire.retrieval.pack import PackSettings, pack
from groundwire.retrieval.search import SearchSettings


def search_settings(options: SearchOptions, where: Filter | None = None) -> SearchSettings:
    """The part of the settings that says how to search."""
    return SearchSettings(
        mode=options.mode,
        sentence_weight=options.sentence_weight,
        fusion=options.fusion,
        lexical_weight=options.lexical_weight,
        candidates=options.candidates,
        shape=options.shape,
        neighbours=options.neighbours,
        passages=options.passages,
        threshold=options.threshold,
        diversity=options.diversity,
        passage_words=options.passage_words,
        phrases=options.phrases,
        where=where or Filter(),
    )


def pack_hits(archive: Archive, hits: Sequence[Hit], *, settings: Settings) -> Evidence:
    """Pack hits as the settings say; where the embedder does not count tokens they are estimated, and it says so."""
    how = settings.pack
    counter = archive.embedder if how.tokenizer == "embedder" and isinstance(archive.embedder, TokenCounter) else None
    names = list(dict.fromkeys(hit.sentence.document_id for hit in hits))
    about = how.headers or how.per_source or how.per_story
    return pack(
        hits,
        budget_tokens=settings.search.budget_tokens,
        count=count_tokens if counter is None else counter.count_tokens,
        settings=PackSettings(
            neighbours=how.neighbours,
            headers=how.headers,
            near_duplicates=how.near_duplicates,
            per_source=how.per_source,
            per_story=how.per_story,
            tokenizer="estimate" if counter is None else archive.embedder.id,
        ),
        documents=archive.store.documents(names) if about else None,
        sentences=archive.sentences(names) if how.neighbours else None,
    )
