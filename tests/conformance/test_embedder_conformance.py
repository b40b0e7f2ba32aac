from pathlib import Path

import numpy as np
import pytest

from groundwire.backends.model_files import available
from groundwire.core.ports import Embedder
from groundwire.flow import registry
from groundwire.testing import check_embedder


def local(name: str) -> Embedder:
    """A local embedder, if its model is in the model folder: tests fetch nothing."""
    here: dict[str, Path | None] = {each.model.name: each.path for each in available()}
    if here[name] is None:
        pytest.skip(f"{name} is not in the model folder; run: groundwire models pull {name}")
    return registry.embedder(f"local:{name}")


@pytest.mark.parametrize("dimension", [8, 256])
def test_the_hash_embedder_keeps_its_promises(dimension: int) -> None:
    check_embedder(registry.embedder(f"hash:{dimension}"))


@pytest.mark.integration
@pytest.mark.parametrize("name", ["e5-small", "minilm"])
def test_a_local_embedder_keeps_its_promises(name: str) -> None:
    check_embedder(local(name))


@pytest.mark.integration
def test_e5_finds_the_same_meaning_in_two_languages() -> None:
    embedder = local("e5-small")
    texts = ["颱風造成台南嚴重淹水。", "The central bank left its interest rate unchanged.", "台積電公布第三季營收。"]
    queries = ["Which city was flooded by the typhoon?", "中央銀行的利率決定", "TSMC revenue in the third quarter"]

    similarities = embedder.embed(queries, role="query") @ embedder.embed(texts).T

    assert similarities.argmax(axis=1).tolist() == [0, 1, 2]


@pytest.mark.integration
@pytest.mark.parametrize("name", ["e5-small", "minilm"])
def test_a_real_encoder_gives_a_row_whatever_its_neighbours_are(name: str) -> None:
    embedder = local(name)
    texts = ["A short one.", "一個短句。", "", "Longer, with numbers like 3.5 % and names such as Wu. " * 8, "x"] * 3

    together = embedder.embed(texts)
    alone = np.vstack([embedder.embed([text]) for text in texts])

    assert (together * alone).sum(axis=1).min() > 1 - 1e-5
