"""Turns the weights of a small BERT-like encoder into an int8 ONNX graph with token outputs, once.

Weights become int8 with one scale a channel. Activations become uint8 with one scale *a token*, so that a text's
vector does not depend on the texts it shares a batch with; the usual dynamic quantisation has one scale a batch.
Only operators of standard ONNX are used.
"""

from __future__ import annotations

import hashlib
import json
import logging
import struct
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groundwire.backends.encoder_weights import Checkpoint, Q4File, Shape, ZippedBert
from groundwire.backends.model_files import SCRATCH, Model
from groundwire.core.errors import MissingExtra, ModelError
from groundwire.core.ports import Matrix, Progress, Vector

BUILDER = 1
"""Counts up whenever the same weights would give other vectors; models of another builder are built anew."""

_log = logging.getLogger(__name__)
_ROWS = 8192
_MASKED = -10_000.0


def prepare(model: Model, source: Path, *, progress: Progress) -> Path:
    """The folder with the built encoder beside its weights; builds it when there is none or an outdated one.

    Args:
        model: its catalogue entry.
        source: its file, as pulled.
        progress: told after every layer.

    Returns:
        The folder with ``model.onnx``, ``tokenizer.json`` and ``meta.json``; the last is written last.

    Raises:
        MissingExtra: onnx or tokenizers is not installed.
        ModelError: the weights cannot be read.
    """
    folder = source.parent
    meta = folder / "meta.json"
    if meta.is_file():
        flaw = _flaw(meta, model)
        if flaw is None:
            return folder
        _log.warning("%s is outdated or damaged (%s); building it anew", folder, flaw)
    build(model, source, progress=progress)
    return folder


def _flaw(meta: Path, model: Model) -> str | None:
    """Why what was built cannot be used; None when it can."""
    try:
        known = json.loads(meta.read_text(encoding="utf-8"))
    except ValueError:
        return "meta.json cannot be read"
    if known.get("builder") != BUILDER:
        return f"built by builder {known.get('builder')}, this is builder {BUILDER}"
    if known.get("source_sha256") != model.sha256:
        return "built from other weights"
    for name in ("model.onnx", "tokenizer.json"):
        file = meta.parent / name
        if not file.is_file() or file.stat().st_size != known.get("bytes", {}).get(name):
            return f"{name} does not have the size that meta.json says"
    return None


def build(model: Model, source: Path, *, progress: Progress) -> None:
    """Write ``model.onnx``, ``tokenizer.json`` and ``meta.json`` beside the weights, each all or nothing."""
    try:
        import onnx
        import tokenizers
    except ImportError as problem:
        raise MissingExtra(f"building the encoder '{model.name}'", extra="local") from problem
    try:
        checkpoint: Checkpoint = ZippedBert(source) if zipfile.is_zipfile(source) else Q4File(source)
        graph = EncoderGraph(checkpoint.shape).of(checkpoint, progress=progress)
        tokenizer = checkpoint.tokenizer()
    except (struct.error, KeyError, ValueError, json.JSONDecodeError) as problem:
        raise ModelError(f"{source} cannot be read as an encoder: {problem!r}. Pull it again.") from problem
    meta: dict[str, Any] = {
        "name": model.name,
        "builder": BUILDER,
        "source_file": source.name,
        "source_sha256": model.sha256,
        "dimension": checkpoint.shape.hidden,
        "max_tokens": checkpoint.max_tokens,
        "query_prefix": model.query_prefix,
        "passage_prefix": model.passage_prefix,
        "onnx": onnx.__version__,
        "tokenizers": tokenizers.__version__,
    }
    encoded = graph.SerializeToString()
    files = {"model.onnx": encoded, "tokenizer.json": tokenizer.encode()}
    meta["model_sha256"] = hashlib.sha256(encoded).hexdigest()
    meta["bytes"] = {name: len(content) for name, content in files.items()}
    files["meta.json"] = json.dumps(meta, indent=2).encode()
    with tempfile.TemporaryDirectory(prefix=SCRATCH, dir=source.parent.parent) as scratch:
        for name, content in files.items():  # meta.json last: it says that the others are whole
            (Path(scratch) / name).write_bytes(content)
            (Path(scratch) / name).replace(source.parent / name)


def quantise_rows(matrix: Matrix) -> tuple[NDArray[np.int8], Vector]:
    """int8 rows and one scale a row (0 for a row of zeros); ``rows * scales[:, None]`` is near the matrix."""
    scales = np.abs(matrix).max(axis=1).astype(np.float32) / np.float32(127)
    safe = np.where(scales > 0, scales, 1)
    return np.rint(matrix / safe[:, None]).astype(np.int8), scales


def _word_rows(checkpoint: Checkpoint) -> tuple[NDArray[np.int8], Vector]:
    """The word vectors as int8, some thousand rows at a time: as float32 they would take three times the file."""
    shape = checkpoint.shape
    rows = np.empty((shape.vocabulary, shape.hidden), np.int8)
    scales = np.empty(shape.vocabulary, np.float32)
    for first in range(0, shape.vocabulary, _ROWS):
        last = min(first + _ROWS, shape.vocabulary)
        some = checkpoint.tensor("emb.word", last - first, shape.hidden, first=first)
        rows[first:last], scales[first:last] = quantise_rows(some)
    return rows, scales


class EncoderGraph:
    """Collects the nodes and constants of one encoder; node names are their outputs."""

    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def of(self, checkpoint: Checkpoint, *, progress: Progress) -> Any:  # noqa: ANN401 - onnx has no types
        """The whole model: token ids and mask, (batch, tokens), to token vectors, (batch, tokens, hidden)."""
        from onnx import TensorProto, helper

        shape = self.shape
        self._common()
        flow = self._embeddings(checkpoint)
        for layer in range(shape.layers):
            progress(layer, shape.layers, "converting layers")
            flow = self._layer(checkpoint, f"l{layer}", flow)
        progress(shape.layers, shape.layers, "converting layers")
        self._node("Identity", [flow], "last_hidden_state")
        axes = ["batch", "tokens"]
        inputs = [
            helper.make_tensor_value_info(name, TensorProto.INT64, axes) for name in ("input_ids", "attention_mask")
        ]
        output = helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, [*axes, shape.hidden])
        graph = helper.make_graph(self.nodes, "encoder", inputs, [output], self.constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)

    def _constant(self, name: str, value: NDArray[Any]) -> str:
        from onnx import numpy_helper

        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def _node(self, operator: str, inputs: list[str], output: str, attributes: Mapping[str, Any] | None = None) -> str:
        from onnx import helper

        self.nodes.append(helper.make_node(operator, inputs, [output], name=output, **dict(attributes or {})))
        return output

    def _common(self) -> None:
        shape = self.shape
        head = shape.hidden // shape.heads
        for name, number in (
            ("one", 1),
            ("masked", _MASKED),
            ("softening", head**-0.5),
            ("step", 1 / 127),
            ("middle", 128),
        ):
            self._constant(name, np.array(number, np.float32))
        self._constant("tiny", np.array(1e-12, np.float32))
        self._constant("zero_point", np.array(128, np.uint8))
        self._constant("first", np.array([0], np.int64))
        self._constant("last_axis", np.array([-1], np.int64))
        self._constant("head_axes", np.array([1, 2], np.int64))
        self._constant("by_head", np.array([0, 0, shape.heads, head], np.int64))
        self._constant("joined", np.array([0, 0, shape.hidden], np.int64))

    def _embeddings(self, checkpoint: Checkpoint) -> str:
        from onnx import TensorProto

        shape = self.shape
        rows, scales = _word_rows(checkpoint)
        self._constant("word", rows)
        self._constant("word_scale", scales[:, None])
        places = checkpoint.tensor("emb.pos", shape.positions, shape.hidden)
        self._constant("places", places + checkpoint.tensor("emb.type", shape.token_types, shape.hidden)[0])
        self._node("Gather", ["word", "input_ids"], "word_rows")
        self._node("Gather", ["word_scale", "input_ids"], "word_scales")
        self._node("Cast", ["word_rows"], "word_numbers", {"to": TensorProto.FLOAT})
        self._node("Mul", ["word_numbers", "word_scales"], "words")
        # Shape and Slice, not Shape, Gather and Range: onnxruntime's optimiser breaks the latter.
        self._node("Shape", ["input_ids"], "length", {"start": 1, "end": 2})
        self._node("Slice", ["places", "first", "length", "first"], "own_places")
        self._node("Add", ["words", "own_places"], "embedded")
        self._node("Cast", ["attention_mask"], "mask_numbers", {"to": TensorProto.FLOAT})
        self._node("Unsqueeze", ["mask_numbers", "head_axes"], "mask_heads")
        self._node("Sub", ["one", "mask_heads"], "padding")
        self._node("Mul", ["padding", "masked"], "mask")
        return self._normalise(checkpoint, "emb.ln", "embedded", "x")

    def _normalise(self, checkpoint: Checkpoint, name: str, flow: str, output: str) -> str:
        size = self.shape.hidden
        weight, bias = (self._constant(f"{name}.{each}", checkpoint.tensor(f"{name}.{each}", size)) for each in "wb")
        return self._node(
            "LayerNormalization", [flow, weight, bias], output, {"axis": -1, "epsilon": self.shape.epsilon}
        )

    def _quantise(self, flow: str) -> str:
        """Turn each token's numbers into uint8 around 128, with a scale of its own (``flow.scale``)."""
        from onnx import TensorProto

        self._node("Abs", [flow], f"{flow}.size")
        self._node("ReduceMax", [f"{flow}.size", "last_axis"], f"{flow}.most", {"keepdims": 1})
        self._node("Mul", [f"{flow}.most", "step"], f"{flow}.steps")
        self._node("Max", [f"{flow}.steps", "tiny"], f"{flow}.scale")
        self._node("Div", [flow, f"{flow}.scale"], f"{flow}.ratio")
        self._node("Round", [f"{flow}.ratio"], f"{flow}.whole")
        self._node("Add", [f"{flow}.whole", "middle"], f"{flow}.shifted")
        return self._node("Cast", [f"{flow}.shifted"], f"{flow}.int8", {"to": TensorProto.UINT8})

    def _linear(self, flow: str, weight: Matrix, bias: Vector, output: str) -> str:
        from onnx import TensorProto

        rows, scales = quantise_rows(weight)
        self._constant(f"{output}.w", rows.T)
        self._constant(f"{output}.s", scales)
        self._constant(f"{output}.b", bias)
        self._node("MatMulInteger", [f"{flow}.int8", f"{output}.w", "zero_point"], f"{output}.sums")
        self._node("Cast", [f"{output}.sums"], f"{output}.numbers", {"to": TensorProto.FLOAT})
        self._node("Mul", [f"{output}.numbers", f"{flow}.scale"], f"{output}.rows")
        self._node("Mul", [f"{output}.rows", f"{output}.s"], f"{output}.product")
        return self._node("Add", [f"{output}.product", f"{output}.b"], output)

    def _layer(self, checkpoint: Checkpoint, layer: str, flow: str) -> str:
        hidden, wide = self.shape.hidden, self.shape.feed_forward
        mixed = self._attention(checkpoint, layer, flow)
        self._node("Add", [mixed, flow], f"{layer}.sum")
        middle = self._normalise(checkpoint, f"{layer}.aln", f"{layer}.sum", f"{layer}.middle")
        self._quantise(middle)
        widened = checkpoint.tensor(f"{layer}.fi.w", wide, hidden)
        self._linear(middle, widened, checkpoint.tensor(f"{layer}.fi.b", wide), f"{layer}.wide")
        self._node("Gelu", [f"{layer}.wide"], f"{layer}.active")
        self._quantise(f"{layer}.active")
        narrowed = checkpoint.tensor(f"{layer}.fo.w", hidden, wide)
        self._linear(f"{layer}.active", narrowed, checkpoint.tensor(f"{layer}.fo.b", hidden), f"{layer}.narrow")
        self._node("Add", [f"{layer}.narrow", middle], f"{layer}.sum2")
        return self._normalise(checkpoint, f"{layer}.oln", f"{layer}.sum2", f"{layer}.x")

    def _attention(self, checkpoint: Checkpoint, layer: str, flow: str) -> str:
        hidden = self.shape.hidden
        self._quantise(flow)
        weight = np.vstack([checkpoint.tensor(f"{layer}.{each}.w", hidden, hidden) for each in "qkv"])
        bias = np.concatenate([checkpoint.tensor(f"{layer}.{each}.b", hidden) for each in "qkv"])
        joint = self._linear(flow, weight, bias, f"{layer}.qkv")
        self._split(joint, [f"{layer}.{each}" for each in "qkv"])
        for each, order in (("q", [0, 2, 1, 3]), ("k", [0, 2, 3, 1]), ("v", [0, 2, 1, 3])):
            self._node("Reshape", [f"{layer}.{each}", "by_head"], f"{layer}.{each}.heads")
            self._node("Transpose", [f"{layer}.{each}.heads"], f"{layer}.{each}.turned", {"perm": order})
        self._node("MatMul", [f"{layer}.q.turned", f"{layer}.k.turned"], f"{layer}.match")
        self._node("Mul", [f"{layer}.match", "softening"], f"{layer}.soft")
        self._node("Add", [f"{layer}.soft", "mask"], f"{layer}.seen")
        self._node("Softmax", [f"{layer}.seen"], f"{layer}.share", {"axis": -1})
        self._node("MatMul", [f"{layer}.share", f"{layer}.v.turned"], f"{layer}.mix")
        self._node("Transpose", [f"{layer}.mix"], f"{layer}.mix.turned", {"perm": [0, 2, 1, 3]})
        mixed = self._node("Reshape", [f"{layer}.mix.turned", "joined"], f"{layer}.mixed")
        self._quantise(mixed)
        out = checkpoint.tensor(f"{layer}.ao.w", hidden, hidden)
        return self._linear(mixed, out, checkpoint.tensor(f"{layer}.ao.b", hidden), f"{layer}.attended")

    def _split(self, flow: str, outputs: list[str]) -> None:
        from onnx import helper

        self.nodes.append(helper.make_node("Split", [flow], outputs, name=f"{flow}.split", axis=-1, num_outputs=3))
