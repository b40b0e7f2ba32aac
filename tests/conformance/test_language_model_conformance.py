"""Every way to a model keeps the promises of the port."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

import stub_server as stub
from groundwire.backends import model_files
from groundwire.backends.llama_models import LlamaModel
from groundwire.backends.remote_models import Profile, RemoteModel
from groundwire.core.errors import ModelRefused
from groundwire.core.language import Message, Request
from groundwire.core.secrets import Secret
from groundwire.testing.models import check_language_model
from stub_server import StubServer

ASKED = Request((Message("user", "Is water wet?"),), 5)


@pytest.mark.parametrize(
    "paths", [stub.VLLM, stub.LLAMA, stub.OLLAMA, {}], ids=["vllm", "llama.cpp", "ollama", "other"]
)
def test_a_remote_model_keeps_its_promises(paths: Mapping[str, object]) -> None:
    pytest.importorskip("openai", reason="the extra 'remote' is not installed")

    with StubServer([stub.obliging], paths=paths) as server:
        check_language_model(RemoteModel("stub", Profile(server.base_url, "m")), timeout_seconds=10)


@pytest.fixture(scope="module")
def smallest() -> Path:
    """The smallest real model, if it is in the model folder: tests fetch nothing."""
    pytest.importorskip("xllamacpp", reason="the extra 'local' is not installed")
    here = {each.model.name: each.path for each in model_files.available()}
    found = here["smollm2-135m"]
    if found is None:
        pytest.skip("smollm2-135m is not in the model folder; run: groundwire models pull smollm2-135m")
    return found


@pytest.fixture(scope="module")
def served(smallest: Path) -> Iterator[str]:
    """The address of a real llama.cpp server with the smallest model, which wants a key."""
    import xllamacpp

    wanted = xllamacpp.CommonParams()
    wanted.model.path = str(smallest)
    wanted.n_ctx, wanted.n_parallel = 2048, 1
    wanted.cpuparams.n_threads = wanted.cpuparams_batch.n_threads = 1
    wanted.hostnames, wanted.api_keys = ["127.0.0.1"], ["sk-test-CANARY"]
    wanted.verbosity = 0
    server = xllamacpp.Server(wanted)
    yield f"{server.listening_address}/v1"
    del server


def remote(base_url: str, key: str = "sk-test-CANARY") -> RemoteModel:
    return RemoteModel("real", Profile(base_url, "m", key_variable="KEY"), key=Secret(key))


@pytest.mark.integration
def test_a_real_server_keeps_its_promises_and_is_found_out(served: str) -> None:
    pytest.importorskip("openai", reason="the extra 'remote' is not installed")
    model = remote(served)

    check_language_model(model)

    can = model.capabilities()
    assert (can.context_tokens, can.schema, can.logprobs, can.likelihood, can.streaming) == (2048, True, 20, True, True)
    assert model.notes == ()


@pytest.mark.integration
def test_a_real_servers_refusals_are_read(served: str) -> None:
    pytest.importorskip("openai", reason="the extra 'remote' is not installed")

    with pytest.raises(ModelRefused, match="Check the key in the environment variable KEY") as caught:
        remote(served, "sk-test-ANOTHER").reply(ASKED, timeout_seconds=30)
    assert caught.value.status == 401
    long = Request((Message("user", "word " * 4000),), 5)
    with pytest.raises(ModelRefused, match="The request is too long for the model") as caught:
        remote(served).reply(long, timeout_seconds=30)
    assert caught.value.status == 400


@pytest.mark.integration
def test_a_forced_likelihood_of_a_real_server_is_that_of_its_free_reply(served: str) -> None:
    pytest.importorskip("openai", reason="the extra 'remote' is not installed")
    model = remote(served)

    free = model.reply(Request(ASKED.messages, 5, top_logprobs=1), timeout_seconds=60)
    forced = model.reply(Request(ASKED.messages, 5, given=free.text), timeout_seconds=60)
    rare = model.reply(Request(ASKED.messages, 5, given="水災"), timeout_seconds=60)

    assert [token.text for token in forced.tokens] == [token.text for token in free.tokens]
    assert [token.logprob for token in forced.tokens] == pytest.approx([one.logprob for one in free.tokens], abs=0.01)
    assert sum(token.logprob for token in rare.tokens) < sum(token.logprob for token in forced.tokens)


@pytest.mark.integration
def test_a_model_in_this_process_keeps_its_promises(smallest: Path) -> None:
    model = LlamaModel(smallest, name="smollm2-135m")

    check_language_model(model)

    model.close()
