"""The corpus and the oracle of ``bench_rivals.py``: what its figures rest on."""

import json
from pathlib import Path

import numpy as np

import bench_rivals
import rivals
from bench_rivals import Piece
from rivals import HALF, Asked, K


def _unit(rng: np.random.Generator, rows: int) -> np.ndarray:
    found = rng.standard_normal((rows, HALF)) + 2.0  # vectors of a real model share a direction, too
    return (found / np.linalg.norm(found, axis=1, keepdims=True)).astype(np.float32)


def _piece(rng: np.random.Generator, number: int, language: str = "en") -> Piece:
    end = {"en": " word here today.", "zh-TW": "台南今天淹水。"}[language]
    passages = tuple(tuple(f"{number} {passage} {place}{end}" for place in range(5)) for passage in range(2))
    return Piece(language, passages, _unit(rng, 10), np.repeat(_unit(rng, 2), 5, axis=0))


def _write(folder: Path, pieces: list[Piece]) -> None:
    rows = [bench_rivals._row(piece, number) for number, piece in enumerate(pieces)]
    (folder / "documents.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    stacked = np.concatenate([np.hstack([piece.cores, piece.contexts]) for piece in pieces])
    (folder / "vectors.f16").write_bytes(stacked.astype(np.float16).tobytes())


def test_sentences_of_a_corpus_stand_where_their_offsets_say_and_keep_their_vectors(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    pieces = [_piece(rng, number, language) for number, language in enumerate(("en", "zh-TW", "en"))]
    _write(tmp_path, pieces)

    found = list(rivals.batches(tmp_path, size=15))

    assert [len(batch.sentences) for batch in found] == [20, 10]
    texts = {document.id: document.text for batch in found for document in batch.documents}
    sentences = [one for batch in found for one in batch.sentences]
    assert [one.text for one in sentences] == [text for piece in pieces for own in piece.passages for text in own]
    assert all(texts[one.document_id][one.start : one.end] == one.text for one in sentences)
    vectors = np.concatenate([batch.vectors for batch in found])
    np.testing.assert_allclose(vectors[:, :HALF], np.concatenate([piece.cores for piece in pieces]), atol=1e-3)


def test_made_vectors_have_norm_one_and_the_mean_and_spread_of_the_real_ones() -> None:
    rng = np.random.default_rng(2)
    real, others = _unit(rng, 4_000), _unit(rng, 4_000)
    mean = np.concatenate([real, others]).mean(axis=0)

    made = bench_rivals._turned(real, others, mean)

    np.testing.assert_allclose(np.linalg.norm(made, axis=1), 1, atol=1e-5)
    assert np.linalg.norm(made.mean(axis=0) - mean) < 0.02
    spread, wanted = (np.linalg.norm(one - one.mean(axis=0), axis=1).mean() for one in (made, real))
    assert abs(spread / wanted - 1) < 0.02


def test_a_made_text_has_the_first_half_of_one_and_the_second_of_the_other() -> None:
    assert bench_rivals._half_of_each("one two three four", "five six seven eight") == "one two seven eight"
    assert bench_rivals._half_of_each("台南今天", "高雄昨日淹水") == "台南日淹水"


def test_real_pieces_come_first_and_made_ones_keep_to_one_language() -> None:
    rng = np.random.default_rng(3)
    real = [_piece(rng, number, language) for number, language in enumerate(("en", "zh-TW", "en", "zh-TW"))]

    source = bench_rivals.more_pieces(real, np.random.default_rng(4))
    found = [next(source) for _ in range(40)]

    assert {id(piece) for piece in found[:4]} == {id(piece) for piece in real}
    assert all(("台" in piece.passages[0][0]) == (piece.language == "zh-TW") for piece in found)


def test_the_exact_best_are_those_of_a_full_sort_and_hold_every_tie(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    _write(tmp_path, [_piece(rng, number) for number in range(12)])
    asked = [Asked("dense", "a question", _unit(rng, 1)[0])]

    best = bench_rivals.exact_best(tmp_path, asked)

    core, context = np.hsplit(rivals.vectors_of(tmp_path).astype(np.float32), 2)
    for weight, (found,) in best.items():
        values = weight * (core @ asked[0].vector) + (1 - weight) * (context @ asked[0].vector)
        assert set(np.argsort(-values)[:K].tolist()) <= found
    assert len(best[1.0][0]) == K
    assert len(best[0.0][0]) % 5 == 0  # whole passages: their sentences tie


def test_chinese_terms_are_single_characters_and_others_whole_words() -> None:
    assert rivals.terms("台南 Flood_2024, U.S.") == ["台", "南", "flood", "2024", "u", "s"]
