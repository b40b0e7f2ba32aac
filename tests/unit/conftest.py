"""Fixtures of the unit tests."""

import pytest
from tiny_encoder import TinyEncoder, write_tiny_encoder


@pytest.fixture(scope="session")
def tiny_encoder(tmp_path_factory: pytest.TempPathFactory) -> TinyEncoder:
    """A tiny encoder with random weights, as both of the files that the builder reads."""
    pytest.importorskip("tokenizers", reason="the extra 'local' is not installed")
    pytest.importorskip("onnxruntime", reason="the extra 'local' is not installed")
    return write_tiny_encoder(tmp_path_factory.mktemp("tiny"))
