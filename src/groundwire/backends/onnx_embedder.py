"""Sentence vectors from an encoder that ``onnx_build`` has made, on the CPU."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groundwire.core.errors import MissingExtra, ModelError, UnreadableInput, UsageError
from groundwire.core.ports import Matrix, Role, TokenVectors

_log = logging.getLogger(__name__)
_BATCH_TOKENS = 512
"""More in one batch is not faster: 16 sentences of 25 tokens, or 2 passages of 200 (benchmarks/bench_embedder.py)."""


@dataclass(frozen=True, slots=True)
class _Batch:
    """Token ids and mask of texts of similar length, and the numbers of these texts."""

    ids: NDArray[np.int64]
    mask: NDArray[np.int64]
    numbers: tuple[int, ...]


class OnnxEmbedder:
    """An encoder with mean pooling; rows do not depend on their neighbours, as activations are scaled a token each.

    ``truncated`` counts the texts so far that were longer than ``max_tokens`` and lost their end; the first is logged.

    Args:
        folder: holds ``model.onnx``, ``tokenizer.json`` and ``meta.json``.
        threads: of onnxruntime. One is the default: throughput a core is highest, and idle threads do not spin.

    Raises:
        MissingExtra: onnxruntime or tokenizers is not installed.
        ModelError: the folder holds no built encoder.
        UsageError: ``threads`` is below 1.
    """

    def __init__(self, folder: Path, *, threads: int = 1) -> None:
        if threads < 1:
            raise UsageError(f"an embedder needs at least 1 thread, not {threads}.")
        try:
            meta = json.loads((folder / "meta.json").read_text(encoding="utf-8"))
        except FileNotFoundError as problem:
            raise ModelError(f"{folder} holds no built encoder. Run: groundwire models pull {folder.name}") from problem
        self._session = _session(folder / "model.onnx", threads=threads)
        self._tokenizer = _tokenizer(folder / "tokenizer.json", max_tokens=meta["max_tokens"])
        self._prefixes: dict[Role, str] = {"query": meta["query_prefix"], "passage": meta["passage_prefix"]}
        self._name = f"local:{meta['name']}"
        self._dimension = int(meta["dimension"])
        self.revision = f"{meta['builder']}-{meta['source_sha256'][:12]}"
        self.max_tokens = int(meta["max_tokens"])
        self.truncated = 0

    @property
    def id(self) -> str:
        """The name under which the registry finds this embedder."""
        return self._name

    @property
    def dimension(self) -> int:
        """How many numbers a vector has."""
        return self._dimension

    def embed(self, texts: Sequence[str], *, role: Role = "passage") -> Matrix:
        """Embed texts in order; float32, shape (len(texts), dimension), also when there are none.

        A row is the mean of all token vectors, prefix and special tokens included, with norm 1; an empty text has the
        vector of the prefix alone. Texts are cut at ``max_tokens`` tokens.

        Raises:
            UnreadableInput: a text holds half a surrogate pair.
        """
        rows = np.empty((len(texts), self.dimension), np.float32)
        for batch, hidden in self._run(self._encode(texts, role)):
            share = batch.mask[:, :, None] / batch.mask.sum(axis=1)[:, None, None]
            means = (hidden * share).sum(axis=1)
            rows[list(batch.numbers)] = means / np.linalg.norm(means, axis=1, keepdims=True)
        return rows

    def embed_tokens(self, texts: Sequence[str], *, role: Role = "passage") -> tuple[TokenVectors, ...]:
        """The vectors of every text's own tokens, in order, after one pass over the text with its prefix.

        A text that was cut at ``max_tokens`` is not counted in ``truncated``: its vectors say that they are not whole.

        Raises:
            UnreadableInput: a text holds half a surrogate pair.
        """
        encodings = [self._encode_one(self._prefixes[role] + text, number) for number, text in enumerate(texts)]
        prefix = len(self._prefixes[role])
        made: dict[int, TokenVectors] = {}
        for batch, hidden in self._run(encodings):
            for row, number in enumerate(batch.numbers):
                spans = np.array(encodings[number].offsets, np.int64).reshape(-1, 2)
                special = np.array(encodings[number].special_tokens_mask, bool)
                own = ~special & (spans[:, 1] > prefix)
                made[number] = TokenVectors(
                    vectors=hidden[row, : len(spans)][own],
                    offsets=np.maximum(spans[own] - prefix, 0),
                    whole=not encodings[number].overflowing,
                )
        return tuple(made[number] for number in range(len(texts)))

    def count_tokens(self, text: str) -> int:
        """How many tokens the text has by itself, without prefix and special tokens, however long it is.

        Raises:
            UnreadableInput: the text holds half a surrogate pair.
        """
        found = self._encode_one(text, 0)
        return sum(len(part.ids) - sum(part.special_tokens_mask) for part in (found, *found.overflowing))

    def _encode(self, texts: Sequence[str], role: Role) -> list[Any]:
        prefix = self._prefixes[role]
        encodings = [self._encode_one(prefix + text, number) for number, text in enumerate(texts)]
        cut = sum(bool(each.overflowing) for each in encodings)
        if cut and not self.truncated:
            _log.warning("%s read only the first %d tokens of %d text(s)", self.id, self.max_tokens, cut)
        self.truncated += cut
        return encodings

    def _encode_one(self, text: str, number: int) -> Any:  # noqa: ANN401 - no types there
        try:
            return self._tokenizer.encode(text)
        except TypeError as problem:
            broken = [place for place, each in enumerate(text) if "\ud800" <= each <= "\udfff"]
            raise UnreadableInput(f"text {number} holds half a surrogate pair at {broken[:5]}.") from problem

    def _run(self, encodings: Sequence[Any]) -> Iterator[tuple[_Batch, Matrix]]:
        for batch in _batches([each.ids for each in encodings]):
            yield batch, self._session.run(None, {"input_ids": batch.ids, "attention_mask": batch.mask})[0]


def _batches(ids: Sequence[Sequence[int]]) -> Iterator[_Batch]:
    """Batches of at most ``_BATCH_TOKENS`` tokens, padding included, shortest texts first."""
    waiting: list[int] = []
    for number in sorted(range(len(ids)), key=lambda each: len(ids[each])):
        if waiting and (len(waiting) + 1) * len(ids[number]) > _BATCH_TOKENS:
            yield _padded(ids, waiting)
            waiting = []
        waiting.append(number)
    if waiting:
        yield _padded(ids, waiting)


def _padded(ids: Sequence[Sequence[int]], numbers: Sequence[int]) -> _Batch:
    size = (len(numbers), max(len(ids[number]) for number in numbers))
    padded, mask = np.zeros(size, np.int64), np.zeros(size, np.int64)
    for row, number in enumerate(numbers):
        padded[row, : len(ids[number])] = ids[number]
        mask[row, : len(ids[number])] = 1
    return _Batch(ids=padded, mask=mask, numbers=tuple(numbers))


def _session(file: Path, *, threads: int) -> Any:  # noqa: ANN401 - no types there
    try:
        import onnxruntime
    except ImportError as problem:
        raise MissingExtra("a local embedder", extra="local") from problem
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])


def _tokenizer(file: Path, *, max_tokens: int) -> Any:  # noqa: ANN401 - no types there
    try:
        import tokenizers
    except ImportError as problem:
        raise MissingExtra("a local embedder", extra="local") from problem
    made = tokenizers.Tokenizer.from_file(str(file))
    made.no_padding()
    made.enable_truncation(max_tokens)
    made.encode_special_tokens = True  # "</s>" in an article is four characters, not the end of the text
    return made
