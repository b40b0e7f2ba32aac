"""What ``doctor`` says of language models."""

import time
from pathlib import Path

import pytest

from groundwire.backends import model_files
from groundwire.core.language import Capabilities
from groundwire.flow.ledger import Ledger
from groundwire.flow.model_states import model_states
from groundwire.flow.runs import recorded
from groundwire.flow.settings import Loaded, ModelOptions, Settings
from groundwire.testing import ScriptedModel
from stub_server import StubServer, ok

CANARY = "sk-test-CANARY"


@pytest.fixture(autouse=True)
def _somewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GROUNDWIRE_MODELS", str(tmp_path / "models"))


def loaded(base_url: str, **more: object) -> Loaded:
    options = ModelOptions.model_validate({"base_url": base_url, "model": "m", **more})
    return Loaded(Settings(models={"x": options}), {})


def test_an_endpoint_is_asked_once_and_its_abilities_are_shown_without_its_key() -> None:
    pytest.importorskip("openai", reason="the extra 'remote' is not installed")
    with StubServer([ok("yes")]) as server:
        (row,) = model_states(loaded(server.base_url, key_variable="KEY"), environment={"KEY": CANARY})

    assert row[:2] == ("model", "works")
    assert f"http:x (m at {server.base_url}): context not told" in row[2]
    assert "not: " in row[2]
    assert "(as it was just found)" in row[2]
    assert CANARY not in str(row)


def test_what_the_ledger_knows_is_shown_without_a_call() -> None:
    able = Capabilities(8192, schema=True, logprobs=20, likelihood=True, thinking=True, streaming=True)
    with Ledger("groundwire.ledger") as ledger, recorded(ledger, command=["x"], settings=Loaded(Settings(), {})) as run:
        run.capabilities(ScriptedModel([], name="x", capabilities=able))
        run._models["http:x"] = run._models.pop("scripted:x")
    with StubServer([ok("yes")]) as server:
        (row,) = model_states(loaded(server.base_url), environment={})
        calls = len(server.calls)

    assert calls == 0
    assert row[2].endswith(
        "8,192 tokens of context, replies after a schema, 20 log-probabilities a token, likelihoods, a system's turn,"
        " streaming, thinks aloud (as the ledger knows)"
    )


def test_a_model_that_can_write_text_alone_is_said_to() -> None:
    with Ledger("groundwire.ledger") as ledger, recorded(ledger, command=["x"], settings=Loaded(Settings(), {})) as run:
        run._models["http:x"] = {"system": False}
    with StubServer([ok("yes")]) as server:
        (row,) = model_states(loaded(server.base_url), environment={})

    assert "context not told, text alone; not: replies after a schema, log-probabilities, likelihoods" in row[2]


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({}, "nothing answers at 127.0.0.1:9"),
        ({"key_variable": "KEY"}, "its key is not in the environment; set KEY"),
    ],
)
def test_one_that_does_not_answer_is_named_in_under_a_second(more: dict[str, object], told: str) -> None:
    began = time.monotonic()

    (row,) = model_states(loaded("http://127.0.0.1:9/v1", **more), environment={})

    assert time.monotonic() - began < 1
    assert row[:2] == ("model", "missing")
    assert told in row[2]


def test_a_profile_that_cannot_be_used_is_named() -> None:
    (row,) = model_states(loaded("ftp://127.0.0.1/v1"), environment={})

    assert row[1] == "missing"
    assert "base_url is 'ftp://127.0.0.1/v1'" in row[2]


def test_local_models_that_are_here_are_listed_and_no_others(monkeypatch: pytest.MonkeyPatch) -> None:
    assert list(model_states(Loaded(Settings(), {}), environment={})) == []
    place = model_files.place(model_files.find("smollm2-135m"))
    place.parent.mkdir(parents=True)
    place.write_bytes(b"GGUF")
    monkeypatch.setattr(model_files, "available", lambda: [model_files.Listed(model_files.find("smollm2-135m"), place)])

    ((part, state, about),) = model_states(Loaded(Settings(), {}), environment={})

    assert (part, state) == ("model", "works")
    assert about == "llama:smollm2-135m: here, 0 MB"
