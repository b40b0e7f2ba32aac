"""The vector of a sentence that remembers its passage, and the query that weighs the two when it is asked.

A sentence is stored as ``[core ; context]``. The dot product with ``[w q ; (1 - w) q]`` equals that of ``q`` with
``w core + (1 - w) context``, so the weight is chosen at query time and nothing is indexed again.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence

import numpy as np

from groundwire.core.errors import UsageError
from groundwire.core.ports import Embedder, Matrix, TokenEmbedder, TokenVectors, Vector
from groundwire.core.types import Context, Passage

POOLED: tuple[Context, ...] = ("pooled_rest", "pooled")
"""The contexts that are made from the token vectors of one pass over the passage."""

_log = logging.getLogger(__name__)
_PASSES_AT_ONCE = 64
"""Passages whose token vectors are held at once: about 20 MB at 200 tokens of 384 numbers."""


def blend(core: Matrix, context: Matrix, *, sentence_weight: float = 0.8) -> Matrix:
    """Mix each sentence's vector with that of the rest of its passage.

    The rows are not brought back to norm 1: ranking by their dot product is what the paper publishes, and what
    ``weighted_query`` reproduces exactly.

    Args:
        core: unit vectors of the sentences, shape (n, dim).
        context: unit vectors of what stands for the rest of the passage, shape (n, dim).
        sentence_weight: from 0 (passage only) to 1 (sentence only).

    Returns:
        float32, shape (n, dim).

    Raises:
        ValueError: the shapes differ, or the weight is outside 0 to 1.

    Source:
        ParetoRAG (arXiv:2502.08178), which proposes 0.8.
    """
    if core.shape != context.shape:
        raise ValueError(f"core has shape {core.shape}, context {context.shape}; they must be equal")
    weight = _checked(sentence_weight)
    return np.asarray(weight * core + (1 - weight) * context, dtype=np.float32)


def weighted_query(query: Vector, *, sentence_weight: float) -> Vector:
    """The query for stacked vectors: ``[w q ; (1 - w) q]``, float32, shape (2 dim,).

    Raises:
        ValueError: the weight is outside 0 to 1.
    """
    weight = _checked(sentence_weight)
    return np.concatenate([weight * query, (1 - weight) * query]).astype(np.float32)


def stacked_vectors(passages: Sequence[Passage], *, embedder: Embedder, context: Context) -> Matrix:
    """Embed the sentences of passages and what they remember, as rows ``[core ; context]``.

    ``passage``: the vector of the whole passage stands for the rest. ``exact``: the rest of the passage is embedded
    for every sentence, as in the paper. ``pooled_rest``: the mean of the vectors that one pass over the passage gives
    the tokens of the other sentences. ``pooled``: as ``pooled_rest``, and the sentence's own vector is the mean of its
    tokens in that pass, too. Every half has norm 1. A sentence alone in its passage remembers itself; a zero vector
    there would take (1 - w) of its similarity away. Equal texts are embedded once.

    Returns:
        float32, shape (number of sentences, 2 dim), sentences in order.

    Raises:
        UsageError: the context needs the vectors of tokens, which this embedder does not give.
    """
    if context in POOLED:
        cores, contexts = _pooled(passages, embedder=token_embedder(embedder, context=context), context=context)
    else:
        texts = [sentence.text for passage in passages for sentence in passage.sentences]
        both = _embedded([*texts, *(text for passage in passages for text in _contexts(passage, context))], embedder)
        cores, contexts = both[: len(texts)], both[len(texts) :]
    return np.hstack([cores, contexts]).astype(np.float32)


def token_embedder(embedder: Embedder, *, context: Context) -> TokenEmbedder:
    """The embedder, if it gives the vectors of tokens, which this context is made of.

    Raises:
        UsageError: it does not.
    """
    if not isinstance(embedder, TokenEmbedder):
        raise UsageError(
            f"context '{context}' is made from the vectors of tokens, which '{embedder.id}' does not give. "
            "Use context 'passage' or 'exact', or an embedder with token vectors, such as 'local:e5-small'"
        )
    return embedder


def _embedded(texts: Sequence[str], embedder: Embedder) -> Matrix:
    """The vectors of texts, each distinct text embedded once."""
    distinct = {text: row for row, text in enumerate(dict.fromkeys(texts))}
    return embedder.embed(list(distinct), role="passage")[[distinct[text] for text in texts]]


def _contexts(passage: Passage, context: Context) -> list[str]:
    texts = [sentence.text for sentence in passage.sentences]
    if len(texts) == 1:
        return texts
    if context == "passage":
        return [_joined(texts)] * len(texts)
    return [_joined(texts[:place] + texts[place + 1 :]) for place in range(len(texts))]


def _pooled(passages: Sequence[Passage], *, embedder: TokenEmbedder, context: Context) -> tuple[Matrix, Matrix]:
    """Both halves for the contexts that come from one pass over the passage; each of shape (sentences, dim)."""
    texts = [[sentence.text for sentence in passage.sentences] for passage in passages]
    blank = np.zeros((0, embedder.dimension))
    # A sentence encoded alone needs no pass over a passage that holds nothing else.
    read = [own if context == "pooled" or len(own) > 1 else [] for own in texts]
    sums = iter(_token_sums([own for own in read if own], embedder))
    of_passages = [next(sums) if own else np.zeros((1, embedder.dimension)) for own in read]
    flat = [text for own in texts for text in own]
    pooled = np.concatenate([blank, *of_passages])
    rests = np.concatenate([blank, *(each.sum(axis=0) - each for each in of_passages)])
    encoded = _unit(pooled) if context == "pooled" else np.zeros_like(pooled)
    # What no token of the pass belongs to (a sentence of signs that a tokenizer drops) is encoded by itself.
    alone = np.flatnonzero(~encoded.any(axis=1))
    encoded[alone] = _embedded([flat[row] for row in alone], embedder)
    contexts = np.where(rests.any(axis=1, keepdims=True), _unit(rests), encoded)
    return encoded, contexts


def _token_sums(passages: Sequence[Sequence[str]], embedder: TokenEmbedder) -> list[Matrix]:
    """For each passage the sums of the token vectors of its sentences; float64, shape (sentences, dim).

    A passage that is longer than the encoder's window is read in several: each ends with the last sentence that fits
    whole, and the next begins with the one after it. A sentence that is longer by itself loses its end.
    """
    sums: list[Matrix] = [np.zeros((len(texts), embedder.dimension)) for texts in passages]
    waiting = [(number, 0) for number in range(len(passages))]
    while waiting:
        now, waiting = waiting[:_PASSES_AT_ONCE], waiting[_PASSES_AT_ONCE:]
        found = embedder.embed_tokens([_joined(passages[number][first:]) for number, first in now], role="passage")
        for (number, first), tokens in zip(now, found, strict=True):
            read = _sums_of(passages[number][first:], tokens)
            sums[number][first : first + len(read)] = read
            if first + len(read) < len(sums[number]):
                waiting.append((number, first + len(read)))
    return sums


def _sums_of(texts: Sequence[str], tokens: TokenVectors) -> Matrix:
    """The sums of the sentences that this pass over their join has read whole, but at least of the first.

    A token belongs to the sentence that its middle lies in; the space between two sentences goes to the second.
    """
    ends = np.cumsum([len(text) + 1 for text in texts]) - 1
    read = len(ends)
    if not tokens.whole:
        last = tokens.offsets[:, 1].max(initial=0)
        read = int(np.searchsorted(ends, last, side="right"))
        if read == 0:
            _log.warning("a sentence of %d characters is longer than the encoder's window and lost its end", ends[0])
            read = 1
    owners = np.searchsorted(ends, tokens.offsets.mean(axis=1), side="right")
    sums = np.zeros((read, tokens.vectors.shape[1]))
    np.add.at(sums, owners[owners < read], tokens.vectors[owners < read].astype(np.float64))
    return sums


def _unit(rows: Matrix) -> Matrix:
    """Rows of norm 1; zero rows stay."""
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(np.divide(rows, norms, out=np.zeros_like(rows), where=norms > 0))


def _joined(texts: Sequence[str]) -> str:
    return " ".join(texts)


def _checked(weight: float) -> float:
    if not 0 <= weight <= 1:
        raise ValueError(f"sentence_weight is {weight}; it runs from 0 (passage only) to 1 (sentence only)")
    return weight
