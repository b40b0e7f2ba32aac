import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire.backends.hash_embedder import HashEmbedder
from groundwire.core.errors import UsageError


def cosine(one: str, other: str) -> float:
    rows = HashEmbedder().embed([one, other])
    return float(rows[0] @ rows[1])


@given(st.lists(st.text(max_size=30), max_size=8), st.sampled_from([1, 2, 256]))
def test_rows_are_unit_vectors_that_do_not_depend_on_their_neighbours(texts: list[str], dimension: int) -> None:
    embedder = HashEmbedder(dimension)

    rows = embedder.embed(texts)

    assert rows.shape == (len(texts), dimension)
    assert rows.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)
    for row, text in zip(rows, texts, strict=True):
        np.testing.assert_array_equal(row, embedder.embed([text])[0])


@pytest.mark.parametrize(
    ("text", "near", "far"),
    [
        ("flood relief in Tainan", "relief after the flood", "a recipe for noodles"),
        ("the elections of 2024", "an election in 2024", "storms over the sea"),
        ("台南水災救援", "救援台南的水災", "今天的食譜"),
        ("GDP rose 3.5 %", "GDP rose 3.5 % last year", "GDP fell 9.1 points"),
    ],
)
def test_texts_that_share_words_are_nearer_than_others(text: str, near: str, far: str) -> None:
    assert cosine(text, near) > cosine(text, far) + 0.1


def test_pairs_of_chinese_characters_count() -> None:
    assert cosine("台灣", "台灣") > cosine("台灣", "灣台") + 0.1


def test_case_width_and_white_space_do_not_matter() -> None:
    assert cosine("Flood  Relief", "ｆｌｏｏｄ relief") == pytest.approx(1, abs=1e-6)


def test_texts_without_anything_to_hash_share_one_vector() -> None:
    assert cosine("", " \n ") == pytest.approx(1)
    assert cosine("", "!?") < 0.9


def test_punctuation_alone_still_has_a_vector_of_its_own() -> None:
    assert cosine("😀😀", "😀") > 0.9
    assert cosine("😀", "…") < 0.9


def test_both_roles_give_the_same_vector() -> None:
    embedder = HashEmbedder(64)

    np.testing.assert_array_equal(embedder.embed(["a b"], role="query"), embedder.embed(["a b"], role="passage"))


def test_the_vectors_are_the_same_in_every_process() -> None:
    code = (
        "from groundwire.backends.hash_embedder import HashEmbedder; "
        "print(HashEmbedder(16).embed(['a cat 台灣']).tobytes().hex())"
    )
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert other.stdout.strip() == HashEmbedder(16).embed(["a cat 台灣"]).tobytes().hex()


def test_it_names_itself_with_its_dimension() -> None:
    assert (HashEmbedder(384).id, HashEmbedder(384).dimension) == ("hash:384", 384)


def test_a_vector_of_no_numbers_is_refused() -> None:
    with pytest.raises(UsageError, match="at least 1"):
        HashEmbedder(0)
