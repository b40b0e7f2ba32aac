"""Conformance checks, for our tests and for the authors of other backends.

A check raises AssertionError and says what was expected and what came::

    def test_my_store_keeps_the_promises(tmp_path):
        check_store(lambda: MyStore(tmp_path / uuid4().hex, dimension=16))
"""

from groundwire.testing.embedders import check_embedder
from groundwire.testing.filings import Filing, MakeStore, filing, put
from groundwire.testing.lasting import MakeLastingStore, check_lasting_store
from groundwire.testing.models import EVERYTHING, ScriptedModel, check_language_model
from groundwire.testing.stores import HALF_TOLERANCE, check_folded_store, check_holds, check_store

__all__ = [
    "EVERYTHING",
    "HALF_TOLERANCE",
    "Filing",
    "MakeLastingStore",
    "MakeStore",
    "ScriptedModel",
    "check_embedder",
    "check_folded_store",
    "check_holds",
    "check_language_model",
    "check_lasting_store",
    "check_store",
    "filing",
    "put",
]
