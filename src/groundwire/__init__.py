"""Write from an archive with citations that hold, and prove which retrieval-augmented pipeline is better.

The names here are loaded at first use; ``import groundwire`` itself loads nothing from outside but numpy.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from groundwire.core.types import (
        Article,
        Document,
        Evidence,
        Filter,
        Gold,
        Hit,
        Item,
        Judgement,
        Question,
        Sentence,
        Verdict,
    )
    from groundwire.evaluation.judge import BuiltinJudge
    from groundwire.flow.answering import answer
    from groundwire.flow.archives import Making, open_archive
    from groundwire.flow.checking import verify_article as verify
    from groundwire.flow.pipeline import write_article
    from groundwire.flow.rebuild import rebuild
    from groundwire.flow.registry import embedder, model
    from groundwire.flow.settings import Settings
    from groundwire.retrieval.copies import find_copies
    from groundwire.retrieval.pack import PackSettings, pack
    from groundwire.retrieval.readers import read_documents
    from groundwire.retrieval.search import SearchSettings, preset
    from groundwire.writing.score import keep, score
    from groundwire.writing.summarise import summarise
    from groundwire.writing.write import write

__version__ = "0.1.0"

__all__ = [
    "Article",
    "BuiltinJudge",
    "Document",
    "Evidence",
    "Filter",
    "Gold",
    "Hit",
    "Item",
    "Judgement",
    "Making",
    "PackSettings",
    "Question",
    "SearchSettings",
    "Sentence",
    "Settings",
    "Verdict",
    "answer",
    "embedder",
    "find_copies",
    "keep",
    "model",
    "open_archive",
    "pack",
    "preset",
    "read_documents",
    "rebuild",
    "score",
    "summarise",
    "verify",
    "write",
    "write_article",
]

_HOMES = {
    "Article": "core.types",
    "BuiltinJudge": "evaluation.judge",
    "Document": "core.types",
    "Evidence": "core.types",
    "Filter": "core.types",
    "Gold": "core.types",
    "Hit": "core.types",
    "Item": "core.types",
    "Judgement": "core.types",
    "Making": "flow.archives",
    "PackSettings": "retrieval.pack",
    "Question": "core.types",
    "SearchSettings": "retrieval.search",
    "Sentence": "core.types",
    "Settings": "flow.settings",
    "Verdict": "core.types",
    "answer": "flow.answering",
    "embedder": "flow.registry",
    "find_copies": "retrieval.copies",
    "keep": "writing.score",
    "model": "flow.registry",
    "open_archive": "flow.archives",
    "pack": "retrieval.pack",
    "preset": "retrieval.search",
    "read_documents": "retrieval.readers",
    "rebuild": "flow.rebuild",
    "score": "writing.score",
    "summarise": "writing.summarise",
    "verify": "flow.checking:verify_article",
    "write": "writing.write",
    "write_article": "flow.pipeline",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"groundwire has no '{name}'; it has {', '.join(__all__)}")
    module, _, inner = _HOMES[name].partition(":")
    return getattr(import_module(f"groundwire.{module}"), inner or name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
