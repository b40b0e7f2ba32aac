"""The vector of a sentence that remembers its passage, and the query that weighs the two when it is asked.

A sentence is stored as ``[core ; context]``. The dot product with ``[w q ; (1 - w) q]`` equals that of ``q`` with
``w core + (1 - w) context``, so the weight is chosen at query time and nothing is indexed again.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from groundwire.core.ports import Embedder, Matrix, Vector
from groundwire.core.types import Context, Passage


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
    for every sentence, as in the paper. A sentence alone in its passage remembers itself; a zero vector there would
    take (1 - w) of its similarity away. Equal texts are embedded once.

    Returns:
        float32, shape (number of sentences, 2 dim), sentences in order.
    """
    cores = [sentence.text for passage in passages for sentence in passage.sentences]
    contexts = [text for passage in passages for text in _contexts(passage, context)]
    distinct = {text: row for row, text in enumerate(dict.fromkeys([*cores, *contexts]))}
    vectors = embedder.embed(list(distinct), role="passage")
    rows = [[distinct[text] for text in texts] for texts in (cores, contexts)]
    return np.hstack([vectors[rows[0]], vectors[rows[1]]]).astype(np.float32)


def _contexts(passage: Passage, context: Context) -> list[str]:
    texts = [sentence.text for sentence in passage.sentences]
    if len(texts) == 1:
        return texts
    if context == "passage":
        return [_joined(texts)] * len(texts)
    return [_joined(texts[:place] + texts[place + 1 :]) for place in range(len(texts))]


def _joined(texts: Sequence[str]) -> str:
    return " ".join(texts)


def _checked(weight: float) -> float:
    if not 0 <= weight <= 1:
        raise ValueError(f"sentence_weight is {weight}; it runs from 0 (passage only) to 1 (sentence only)")
    return weight
