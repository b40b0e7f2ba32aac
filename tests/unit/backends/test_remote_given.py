"""The log-probabilities of a given reply from servers of the two families that tell them."""

import time
from collections.abc import Mapping

import pytest

import stub_server as stub
from stub_server import StubServer

pytest.importorskip("openai", reason="the extra 'remote' is not installed")

from groundwire.backends.remote_calls import Caller
from groundwire.backends.remote_given import given_reply
from groundwire.backends.remote_profile import Profile
from groundwire.core.errors import ModelBusy, ModelError, ModelRefused
from groundwire.core.language import Message, Reply, ReplyToken, Request, Usage

ASKED = Request((Message("user", "Is water wet?"),), 5, given="yes, it is")


def given_by(family: str, paths: Mapping[str, object], *, script: stub.Scripted = stub.obliging) -> Reply:
    with StubServer([script], paths=paths) as server:
        caller = Caller("http:stub", Profile(server.base_url, "m"), key=None)
        try:
            return given_reply(caller, ASKED, family=family, deadline=time.monotonic() + 5)
        finally:
            caller.close()


def test_vllm_tells_the_tokens_after_the_conversation() -> None:
    reply = given_by("vllm", stub.VLLM)

    tokens = tuple(ReplyToken(text, -1.5) for text in ("yes,", " it", " is"))
    assert reply == Reply("yes, it is", "stop", Usage(stub.PREFIX_TOKENS, 3), tokens, model="stub-model")


def test_llama_cpp_is_made_to_say_each_token() -> None:
    reply = given_by("llama.cpp", stub.LLAMA)

    tokens = (ReplyToken("yes,", -0.4), ReplyToken(" it", -0.3), ReplyToken(" is", -0.3))
    assert reply == Reply("yes, it is", "stop", Usage(3, 3), tokens)


@pytest.mark.parametrize(
    ("family", "cached"),
    [("vllm", 4), ("llama.cpp", 2)],
)
def test_what_the_server_had_read_before_is_counted(family: str, cached: int) -> None:
    def vllm(body: stub.Body) -> stub.Step:
        told = {"prompt_tokens": 9, "completion_tokens": 1, "prompt_tokens_details": {"cached_tokens": 4}}
        places = stub.prompt_logprobs(body)
        return stub.as_json({**stub.completion(""), "prompt_logprobs": places, "usage": told})

    def llama(body: stub.Body) -> stub.Step:
        place = {"id": body["logit_bias"][0][0], "token": "?", "logprob": -1, "top_logprobs": []}
        kept = {"cache_n": len(body["prompt"]) - 1}
        return stub.as_json({"completion_probabilities": [place], "timings": kept})

    if family == "vllm":
        reply = given_by("vllm", stub.VLLM, script=vllm)
    else:
        reply = given_by("llama.cpp", {**stub.LLAMA, "/completion": llama})

    assert reply.usage.cached_tokens == cached


def test_llama_cpp_reads_a_token_after_all_those_before_it() -> None:
    with StubServer(paths=stub.LLAMA) as server:
        caller = Caller("http:stub", Profile(server.base_url, "m"), key=None)
        given_reply(caller, ASKED, family="llama.cpp", deadline=time.monotonic() + 5)
        caller.close()

    sent = [call.body for call in server.others if call.path == "/completion"]
    assert [body["prompt"] for body in sent] == [[2, 6, 5], [2, 6, 5, 4], [2, 6, 5, 4, 3]]
    assert [body["logit_bias"] for body in sent] == [[[4, 1000.0]], [[3, 1000.0]], [[3, 1000.0]]]
    assert all(body["n_predict"] == 1 and body["cache_prompt"] for body in sent)


def reporting(least: int) -> stub.Scripted:
    """llama.cpp that says the token 4 only where at least so many are listed, while a letter is said."""

    def answer(body: stub.Body) -> stub.Step:
        forced = body["logit_bias"][0][0]
        if forced == 4:
            return stub.as_json({"content": ""})
        listed = [{"id": 4, "logprob": -7.0}] if body["n_probs"] >= least else []
        return stub.as_json({"completion_probabilities": [{"id": forced, "logprob": -0.3, "top_logprobs": listed}]})

    return answer


MODELS = {"data": [{"id": "m", "meta": {"n_vocab": 49152}}]}


@pytest.mark.parametrize("least", [2, 10_000])
def test_a_token_inside_a_character_is_looked_for_among_the_likeliest_ones(least: int) -> None:
    reply = given_by("llama.cpp", {**stub.LLAMA, "/completion": reporting(least), "/v1/models": MODELS})

    assert [token.logprob for token in reply.tokens] == [-7.0, -0.3, -0.3]


def place(logprob: object) -> dict[str, object]:
    return {"1": {"logprob": logprob, "decoded_token": "yes"}}


@pytest.mark.parametrize(
    ("family", "paths", "prompt_logprobs"),
    [
        ("llama.cpp", {**stub.LLAMA, "/completion": reporting(50_000), "/v1/models": MODELS}, None),
        ("vllm", stub.VLLM, None),
        ("vllm", stub.VLLM, [None] * stub.PREFIX_TOKENS),
        ("vllm", stub.VLLM, [None] * (stub.PREFIX_TOKENS + 1)),
        ("vllm", stub.VLLM, [None] * stub.PREFIX_TOKENS + [{}]),
        ("vllm", stub.VLLM, [None] * stub.PREFIX_TOKENS + [place("low")]),
        ("vllm", stub.VLLM, [None] * stub.PREFIX_TOKENS + [place(float("nan"))]),
        ("vllm", {**stub.VLLM, "/tokenize": {"tokens": []}}, [None]),
        ("llama.cpp", {**stub.LLAMA, "/apply-template": {}}, None),
        ("llama.cpp", {**stub.LLAMA, "/tokenize": {"tokens": None}}, None),
        ("llama.cpp", {**stub.LLAMA, "/completion": {"completion_probabilities": []}}, None),
        (
            "llama.cpp",
            {**stub.LLAMA, "/completion": {"completion_probabilities": [{"id": -1, "top_logprobs": []}]}},
            None,
        ),
    ],
)
def test_an_answer_without_the_tokens_is_refused_and_nothing_is_made_up(
    family: str, paths: Mapping[str, object], prompt_logprobs: object
) -> None:
    script = stub.as_json({**stub.completion(""), "prompt_logprobs": prompt_logprobs})

    with pytest.raises(ModelRefused, match="did not say how likely the tokens of a text are"):
        given_by(family, paths, script=script)


@pytest.mark.parametrize(
    ("family", "paths", "kind"),
    [
        ("vllm", {**stub.VLLM, "/tokenize": stub.status(404)}, ModelRefused),
        ("llama.cpp", {**stub.LLAMA, "/completion": stub.status(503)}, ModelBusy),
    ],
)
def test_a_fault_on_the_way_is_that_fault(family: str, paths: Mapping[str, object], kind: type[ModelError]) -> None:
    with pytest.raises(kind, match="HTTP"):
        given_by(family, paths)


def test_the_time_is_that_of_all_calls_together() -> None:
    prompt = stub.Step(200, {}, b'{"prompt": "x"}', hold_seconds=0.2)
    tokens = stub.Step(200, {}, b'{"tokens": []}', hold_seconds=0.2)
    with StubServer(paths={**stub.LLAMA, "/apply-template": prompt, "/tokenize": tokens}) as server:
        caller = Caller("http:stub", Profile(server.base_url, "m"), key=None)
        caller.open()
        with pytest.raises(ModelBusy, match=r"the time is over|no whole reply"):
            given_reply(caller, ASKED, family="llama.cpp", deadline=time.monotonic() + 0.3)
        with pytest.raises(ModelBusy, match="the time is over"):
            given_reply(caller, ASKED, family="llama.cpp", deadline=time.monotonic())
        caller.close()
