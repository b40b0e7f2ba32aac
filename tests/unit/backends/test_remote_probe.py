"""What a probe finds, and what it costs."""

import time
from collections.abc import Mapping
from dataclasses import replace

import pytest

import stub_server as stub
from stub_server import StubServer

pytest.importorskip("openai", reason="the extra 'remote' is not installed")

from groundwire.backends.remote_calls import Caller
from groundwire.backends.remote_models import RemoteModel
from groundwire.backends.remote_probe import Surroundings, surroundings
from groundwire.backends.remote_profile import Profile
from groundwire.core.errors import ModelBusy, ModelRefused
from groundwire.core.language import Capabilities


def model_of(server: StubServer, **more: object) -> RemoteModel:
    return RemoteModel("stub", replace(Profile(server.base_url, "m"), **more))  # type: ignore[arg-type]


def test_a_server_that_can_everything_is_found_to(caplog: pytest.LogCaptureFixture) -> None:
    with StubServer([stub.obliging], paths=stub.VLLM) as server:
        model = model_of(server)
        found = [model.capabilities(), model.capabilities()]
        billed = model.take_probes()

    assert found == [Capabilities(4096, schema=True, logprobs=4, likelihood=True, streaming=True)] * 2
    assert len(server.calls) == 4, "three short calls and one for likelihoods, once"
    assert [bool(request.given) for request, _, _ in billed] == [False, False, False, True]
    assert all(reply.usage.input_tokens > 0 and seconds > 0 for _, reply, seconds in billed)
    assert model.take_probes() == (), "each is handed over once"
    assert all(call.body["max_tokens"] <= 64 for call in server.calls)
    assert caplog.messages == []


def poor(body: stub.Body) -> stub.Step:
    """Knows messages and nothing else, and not the system's."""
    for name in ("response_format", "logprobs", "stream"):
        if name in body:
            return stub.status(400, f"{name} is not supported")
    if body["messages"][0]["role"] == "system":
        return stub.status(400, "System role not supported")
    return stub.ok()


def test_a_server_that_can_nothing_is_found_to() -> None:
    with StubServer([poor]) as server:
        model = model_of(server, context_tokens=2048)
        assert model.capabilities() == Capabilities(2048, system=False)
        assert model.capabilities() is model.capabilities()


def few(body: stub.Body) -> stub.Step:
    """Gives five alternatives at most, takes a schema without a word and ignores it, thinks aloud, streams not."""
    if body.get("top_logprobs", 0) > 5:
        return stub.status(400, "top_logprobs must be at most 5")
    if "top_logprobs" in body:
        return stub.ok_with_logprobs([("<think>", -0.1, [("a", -1.0)] * 5)])
    return stub.status(422, "no stream") if body.get("stream") else stub.ok("<think>well</think>yes")


def test_limits_and_empty_promises_are_found() -> None:
    with StubServer([few]) as server:
        found = model_of(server).capabilities()
        asked = [call.body["max_tokens"] for call in server.calls]

    assert found == Capabilities(None, logprobs=5, thinking=True)
    assert asked[:2] == [16, 16]
    assert asked[2] > 16, "a model that thinks gets the room for it"


@pytest.mark.parametrize(("step", "kind"), [(stub.status(401), ModelRefused), (stub.status(503), ModelBusy)])
def test_a_model_that_does_not_answer_is_not_guessed_at(step: stub.Step, kind: type[Exception]) -> None:
    with StubServer([step, stub.obliging]) as server:
        model = model_of(server)
        with pytest.raises(kind):
            model.capabilities()
        assert len(server.calls) == 1
        assert model.take_probes() == ()
        assert model.capabilities().schema, "the next try finds it"


def test_a_model_that_turns_everything_down_says_why() -> None:
    with StubServer([stub.status(400, "no such luck")]) as server, pytest.raises(ModelRefused, match="no such luck"):
        model_of(server).capabilities()

    assert len(server.calls) == 6


def test_a_fault_in_the_middle_is_not_taken_for_an_inability() -> None:
    with StubServer([stub.obliging, stub.status(403)]) as server, pytest.raises(ModelRefused, match="403"):
        model_of(server).capabilities()


def look(paths: Mapping[str, object]) -> Surroundings:
    with StubServer(paths=paths) as server:
        caller = Caller("http:stub", Profile(server.base_url, "m"), key=None)
        found = surroundings(caller, deadline=time.monotonic() + 5)
        caller.close()
    return found


OLLAMA = stub.OLLAMA
SHOWN = {"model_info": {"qwen2.context_length": 32768}}


@pytest.mark.parametrize(
    ("paths", "family", "context"),
    [
        (stub.VLLM, "vllm", 4096),
        (stub.LLAMA, "llama.cpp", 2048),
        ({**stub.LLAMA, "/props": {"default_generation_settings": {}}}, "llama.cpp", None),
        (OLLAMA, "ollama", 8192),
        ({**OLLAMA, "/api/ps": {"models": []}}, "ollama", 4096),
        ({"/api/show": {**SHOWN, "parameters": 'stop "<|im_end|>"\nnum_ctx    16384'}}, "ollama", 16384),
        ({"/api/show": {**SHOWN, "parameters": "num_ctx many"}}, "ollama", 4096),
        ({"/api/show": {"model_info": {"x.context_length": 2048, "y.context_length": None}}}, "ollama", 2048),
        ({"/v1/models": {"data": [{"id": "m", "context_length": 131072}, {"id": "n"}]}}, "", 131072),
        ({"/v1/models": {"data": [{"id": "only", "max_context_length": 500}]}}, "", 500),
        ({"/v1/models": {"data": [{"id": "a", "context_length": 5}, {"id": "b"}]}}, "", None),
        ({"/v1/models": {"data": [{"id": "m", "context_window": True, "max_context_length": -1}]}}, "", None),
        ({"/v1/models": {"data": None}}, "", None),
        ({"/v1/models": stub.page(200)}, "", None),
        ({"/v1/models": stub.status(500)}, "", None),
        ({}, "", None),
    ],
)
def test_the_family_and_the_context_are_what_the_server_tells(
    paths: Mapping[str, object], family: str, context: int | None
) -> None:
    found = look(paths)

    assert (found.family, found.context_tokens) == (family, context)


def test_likelihoods_are_offered_only_where_they_came() -> None:
    for paths, claimed in (
        (stub.LLAMA, True),
        ({**stub.LLAMA, "/completion": stub.status(404)}, False),
        ({**stub.VLLM, "/tokenize": {"count": 5}}, True),
        ({**stub.VLLM, "/tokenize": {"error": "disabled"}}, None),
        (stub.OLLAMA, False),
    ):
        with StubServer([stub.obliging], paths=paths) as server:
            model = model_of(server)
            if claimed is None:
                with pytest.raises(ModelBusy, match="disabled"):
                    model.capabilities()
            else:
                assert model.capabilities().likelihood is claimed
