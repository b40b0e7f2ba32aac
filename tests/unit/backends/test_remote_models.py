"""A remote model against a server that plays every fault."""

import asyncio
import gc
import json
import logging
import socket
import subprocess
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace

import pytest

import stub_server as stub
from stub_server import StubServer

pytest.importorskip("openai", reason="the extra 'remote' is not installed")

from groundwire.backends.remote_models import Profile, RemoteModel
from groundwire.core.errors import MissingExtra, ModelBusy, ModelError, ModelRefused, UsageError
from groundwire.core.language import Capabilities, Message, Reply, Request, TokenChoice, Usage
from groundwire.core.secrets import Secret

CANARY = "sk-test-CANARY"
ASKED = Request((Message("system", "Be brief."), Message("user", "Is water wet?")), 20)
SCHEMA = '{"type": "object"}'


def model_of(server: StubServer, *, key: bool = False, can: Capabilities | None = None, **more: object) -> RemoteModel:
    profile = Profile(server.base_url, "m", key_variable="STUB_KEY" if key else "")
    secret = Secret(CANARY) if key else None
    return RemoteModel("stub", replace(profile, **more), key=secret, capabilities=can)  # type: ignore[arg-type]


def ask(server: StubServer, request: Request = ASKED, *, seconds: float = 5.0) -> Reply:
    return model_of(server).reply(request, timeout_seconds=seconds)


def fault_of(step: stub.Scripted, *, seconds: float = 5.0) -> ModelError:
    with StubServer([step]) as server, pytest.raises(ModelError) as caught:
        model_of(server, key=True).reply(ASKED, timeout_seconds=seconds)
    assert len(server.calls) <= 1, "one reply is one call"
    return caught.value


BUSY: dict[str, tuple[stub.Step, float | None, str]] = {
    "429, seconds": (stub.status(429, headers={"Retry-After": "7"}), 7.0, "HTTP 429"),
    "429, a date": (
        stub.status(
            429, headers={"Retry-After": "Mon, 30 Nov 2026 20:00:09 GMT", "Date": "Mon, 30 Nov 2026 20:00:00 GMT"}
        ),
        9.0,
        "HTTP 429",
    ),
    "429, milliseconds": (stub.status(429, headers={"retry-after-ms": "250"}), 0.25, "HTTP 429"),
    "429, unreadable": (stub.status(429, headers={"Retry-After": "soon"}), None, "HTTP 429"),
    "503, seconds": (stub.status(503, headers={"Retry-After": "1"}), 1.0, "HTTP 503"),
    "408": (stub.status(408), None, "HTTP 408"),
    "409": (stub.status(409), None, "HTTP 409"),
    "425": (stub.status(425), None, "HTTP 425"),
    "500": (stub.status(500), None, "the stub says no"),
    "502, a page": (stub.page(502), None, "Bad Gateway nginx"),
    "504": (stub.status(504), None, "HTTP 504"),
    "529": (stub.status(529), None, "HTTP 529"),
    "cut JSON": (stub.cut_json(), None, "no whole JSON"),
    "cut connection": (stub.cut_connection(), None, "broke off"),
    "reset": (stub.reset(), None, "broke off"),
    "gzip garbage": (stub.gzip_garbage(), None, "broke off"),
    "empty body": (stub.Step(200, {"Content-Type": "application/json"}), None, "the answer is empty"),
    "no choices": (stub.as_json({"choices": []}), None, "'choices' is empty"),
    "no message": (stub.as_json({"choices": [{}]}), None, "no message"),
    "a list": (stub.as_json([1]), None, "no whole JSON object"),
    "error in 200": (stub.error_in_200(), None, "HTTP 200 with an error in it"),
    "error in 200, a word": (stub.error_in_200(code="rate_limit_exceeded"), None, "upstream failed"),
    "error in 200, no code": (stub.error_in_200(code=None), None, "upstream failed"),
    "error in a choice": (
        stub.as_json({"choices": [{"error": {"code": 502, "message": "provider died"}, "message": {}}]}),
        None,
        "provider died",
    ),
    "error as a text": (stub.as_json({"error": "model is loading"}), None, "model is loading"),
}


@pytest.mark.parametrize("case", BUSY)
def test_a_fault_that_may_pass_is_busy_and_says_how_long_to_wait(case: str) -> None:
    step, wait, said = BUSY[case]

    fault = fault_of(step)

    assert isinstance(fault, ModelBusy), fault
    assert fault.retry_after == wait
    assert said in str(fault)
    assert str(fault).startswith("http:stub: ")


REFUSED: dict[str, tuple[stub.Step, int, str]] = {
    "400": (stub.status(400), 400, "see 'extra' in the profile"),
    "400, overflow": (stub.overflow(), 400, "The request is too long"),
    "400, other field": (
        stub.status(400, "Unsupported parameter: use 'max_completion_tokens' instead"),
        400,
        "Set max_tokens_field",
    ),
    "401": (stub.status(401), 401, "Check the key in the environment variable STUB_KEY"),
    "402": (stub.status(402), 402, "out of credit"),
    "403": (stub.status(403), 403, "STUB_KEY"),
    "404": (stub.status(404), 404, "has the model 'm'"),
    "405": (stub.status(405), 405, "HTTP 405"),
    "413": (stub.status(413), 413, "too long"),
    "422": (stub.as_json({"detail": [{"loc": ["body", "seed"], "msg": "bad seed"}]}, status=422), 422, "bad seed"),
    "429, unpaid": (
        stub.as_json({"error": {"message": "no quota", "code": "insufficient_quota"}}, status=429),
        429,
        "out of credit",
    ),
    "501": (stub.status(501), 501, "HTTP 501"),
    "redirect": (stub.redirect(f"http://elsewhere.example/{CANARY}"), 307, "A redirect is not followed"),
    "redirect, permanent": (stub.redirect("/v2/chat/completions", 308), 308, "A redirect is not followed"),
    "200, a page": (stub.page(200), 200, "not with JSON: Bad Gateway nginx"),
    "200, text": (stub.Step(200, {}, b"hello"), 200, "answers with a text, not with JSON: hello"),
    "200, error 401": (stub.error_in_200("bad key", code=401), 401, "STUB_KEY"),
    "200, error of a kind": (stub.error_in_200("no", code="invalid_request_error"), 400, "HTTP 200 with an error"),
    "200, overflow": (stub.error_in_200("too big", code="context_length_exceeded"), 400, "too long"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_fault_that_never_passes_is_refused_with_what_to_do(case: str) -> None:
    step, status, said = REFUSED[case]

    fault = fault_of(step)

    assert isinstance(fault, ModelRefused), fault
    assert fault.status == status
    assert said in str(fault)
    assert "\n" not in str(fault)


def test_an_answer_that_is_beyond_all_measure_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("groundwire.backends.remote_calls.MOST_BYTES", 100_000)

    with StubServer([stub.large(99_000), stub.large(200_000)]) as server:
        model = model_of(server)
        assert len(model.reply(ASKED, timeout_seconds=5).text) == 99_000
        with pytest.raises(ModelRefused, match=r"larger than 100,000 bytes"):
            model.reply(ASKED, timeout_seconds=5)


@pytest.mark.parametrize(
    "step",
    [
        stub.hang(),
        stub.drip(),
        stub.drip(headers=True),
        stub.drip(stub.streamed("a", "b")),
        replace(stub.drip(stub.status(500)), drip_seconds=0.05),
    ],
    ids=["hang", "drip", "headers drip", "stream drips", "error drips"],
)
def test_the_whole_call_ends_in_its_time_however_the_bytes_come(step: stub.Step) -> None:
    with StubServer([stub.ok(), step]) as server:
        model = model_of(server)
        model.reply(ASKED, timeout_seconds=5)
        begun = time.monotonic()
        with pytest.raises(ModelBusy, match=r"no whole reply within 0\.3 seconds"):
            model.reply(ASKED, timeout_seconds=0.3, on_text=lambda _: None)
        assert 0.25 < time.monotonic() - begun < 1.0


PLAIN: dict[str, tuple[stub.Step, Reply]] = {
    "text": (stub.ok("是的。"), Reply("是的。", "stop", Usage(7, 3), model="stub-model")),
    "cut at max_tokens": (stub.ok("ye", finish="length"), Reply("ye", "length", Usage(7, 3), model="stub-model")),
    "filtered": (stub.ok("", finish="content_filter"), Reply("", "refused", Usage(7, 3), model="stub-model")),
    "refused in words": (
        stub.ok(None, message={"refusal": "I cannot."}), Reply("I cannot.", "refused", Usage(7, 3), model="stub-model"),
    ),
    "empty": (stub.ok(""), Reply("", "stop", Usage(7, 3), model="stub-model")),
    "no content": (stub.ok(None), Reply("", "stop", Usage(7, 3), model="stub-model")),
    "a tool call": (stub.tool_call(), Reply("", "other", Usage(7, 3), model="stub-model")),
    "no end": (stub.ok("x", finish=None), Reply("x", "other", Usage(7, 3), model="stub-model")),
    "another type": (stub.wrong_type(), Reply("yes", "stop", Usage(7, 3), model="stub-model")),
    "packed": (stub.gzipped(), Reply("yes", "stop", Usage(7, 3), model="stub-model")),
    "thought": (
        stub.ok("<think>hm\n1</think>\n\n85"), Reply("85", "stop", Usage(7, 3), thinking="hm\n1", model="stub-model"),
    ),
    "thought beside": (
        stub.ok("85", message={"reasoning_content": "hm"}),
        Reply("85", "stop", Usage(7, 3), thinking="hm", model="stub-model"),
    ),
    "drips in time": (
        stub.drip(seconds=0.0005), Reply("yes", "stop", Usage(7, 3), model="stub-model"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", PLAIN)
def test_a_reply_is_read(case: str) -> None:
    step, wanted = PLAIN[case]

    with StubServer([step]) as server:
        assert ask(server) == wanted


def test_what_is_sent_is_the_request_and_nothing_of_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("OPENAI_API_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_ADMIN_KEY"):
        monkeypatch.setenv(variable, "from-environment")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Custom: from-environment\nAuthorization: Bearer from-environment")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://from-environment.example/v1")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    request = replace(ASKED, seed=3, stop=("\n",), schema=SCHEMA, top_logprobs=2, temperature=0.5)

    with StubServer() as server:
        model_of(server, key=True, extra='{"top_p": 0.9, "seed": null}').reply(request, timeout_seconds=5)

    (call,) = server.calls
    assert call.body == {
        "model": "m",
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Is water wet?"}],
        "max_tokens": 20,
        "temperature": 0.5,
        "stop": ["\n"],
        "logprobs": True,
        "top_logprobs": 2,
        "response_format": {"type": "json_schema", "json_schema": {"name": "reply", "schema": {"type": "object"}}},
        "top_p": 0.9,
    }
    assert call.headers["authorization"] == f"Bearer {CANARY}"
    assert call.headers.keys() == {
        "host", "accept", "content-type", "content-length", "user-agent", "accept-encoding", "authorization",
    }  # fmt: skip
    assert "from-environment" not in str(call)


def test_without_a_key_no_authorisation_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "from-environment")

    with StubServer() as server:
        ask(server)

    assert "authorization" not in server.calls[0].headers


def test_the_field_for_the_length_can_be_named() -> None:
    with StubServer() as server:
        model_of(server, max_tokens_field="max_completion_tokens").reply(ASKED, timeout_seconds=5)

    assert server.calls[0].body["max_completion_tokens"] == 20
    assert "max_tokens" not in server.calls[0].body


# Streams


def told_by(step: stub.Scripted, request: Request = ASKED) -> tuple[Reply, list[str]]:
    pieces: list[str] = []
    with StubServer([step]) as server:
        reply = model_of(server).reply(request, timeout_seconds=5, on_text=pieces.append)
    assert server.calls[0].body["stream"] is True
    return reply, pieces


def test_a_stream_is_told_piece_by_piece_and_read_as_a_whole() -> None:
    reply, pieces = told_by(stub.streamed("Wat", "er is", " wet."))

    assert pieces == ["Wat", "er is", " wet."]
    assert reply == Reply("Water is wet.", "stop", Usage(7, 3), model="stub-model")


def test_the_first_piece_is_told_before_the_last_has_come() -> None:
    begun, seen = time.monotonic(), []
    slow = replace(stub.streamed("one", "two", "three"), drip_seconds=0.0003)

    with StubServer([slow]) as server:
        model_of(server).reply(ASKED, timeout_seconds=10, on_text=lambda _: seen.append(time.monotonic() - begun))

    assert len(seen) == 3
    assert seen[2] - seen[0] > 0.05


def test_a_server_that_answers_whole_though_asked_for_pieces_is_read() -> None:
    assert told_by(stub.ok("whole"))[1] == ["whole"]


def test_a_token_that_comes_twice_is_no_repeated_piece() -> None:
    assert told_by(stub.streamed("1", "0", "0"))[0].text == "100"


def test_a_piece_with_the_same_event_id_is_taken_once() -> None:
    made = stub.chunks(["1", "0", "0"])
    twice = stub.stream([*made[:3], made[2], *made[3:]], ids=["a", "b", "c", "c", "d", "e", "f"])

    assert told_by(twice)[0].text == "100"


@pytest.mark.parametrize(
    ("step", "said"),
    [
        (stub.cut_stream("Wat", "er"), "cut after 2 pieces"),
        (stub.stream([]), "cut after 0 pieces"),
        (stub.duplicate_chunk("Wat", "er", at=0), "repeated itself: 3 pieces came for 2 tokens"),
        (stub.stream([*stub.chunks(["a"])[:2], {"error": {"code": 503, "message": "overloaded"}}]), "overloaded"),
        (stub.stream([*stub.chunks(["a"])[:2], {**stub.chunks(["b"])[1], "id": "another"}]), "two replies"),
        (stub.Step(200, {"Content-Type": "text/event-stream"}, b'data: {"choices": [{"del'), "no JSON"),
        (stub.Step(200, {"Content-Type": "text/event-stream"}, b"data: [1]\n\n"), "no JSON object"),
        (replace(stub.streamed("a", "b"), length=True, cut_after=300), "broke off"),
    ],
)
def test_a_broken_stream_is_busy_and_never_half_a_reply(step: stub.Step, said: str) -> None:
    with StubServer([step]) as server, pytest.raises(ModelBusy, match=said):
        model_of(server).reply(ASKED, timeout_seconds=5, on_text=lambda _: None)


def test_an_error_of_who_listens_is_not_swallowed_and_the_next_call_works() -> None:
    def fails(piece: str) -> None:
        raise KeyError(piece)

    with StubServer([stub.streamed("a", "b"), stub.ok()]) as server:
        model = model_of(server)
        with pytest.raises(KeyError, match="a"):
            model.reply(ASKED, timeout_seconds=5, on_text=fails)
        assert model.reply(ASKED, timeout_seconds=5).text == "yes"


# Log-probabilities


def test_log_probabilities_come_with_their_alternatives() -> None:
    step = stub.ok_with_logprobs([("8", -0.1, [("8", -0.1), ("9", -2.5)]), ("5", 1e-9, [])])

    with StubServer([step]) as server:
        reply = ask(server, replace(ASKED, top_logprobs=2))

    assert [token.text for token in reply.tokens] == ["8", "5"]
    assert reply.tokens[0].alternatives == (TokenChoice("8", -0.1), TokenChoice("9", -2.5))
    assert reply.tokens[1].logprob == 0.0


def test_missing_log_probabilities_are_said_once(caplog: pytest.LogCaptureFixture) -> None:
    with StubServer() as server:
        model = model_of(server)
        replies = [model.reply(replace(ASKED, top_logprobs=2), timeout_seconds=5) for _ in range(2)]

    assert [reply.tokens for reply in replies] == [(), ()]
    assert caplog.messages == ["http:stub: log-probabilities were asked for, but the server gave none"]
    assert model.notes == ("log-probabilities were asked for, but the server gave none",)


# What a server does not take


def taking(*, schema: tuple[str, ...] = ("json_schema", "json_object"), streams: bool = True) -> stub.Scripted:
    """A server that turns down what it does not know with a 400."""

    def answer(body: stub.Body) -> stub.Step:
        wanted = body.get("response_format", {}).get("type")
        if wanted is not None and wanted not in schema:
            return stub.status(400, f"response_format {wanted} is not supported")
        if body.get("stream") and not streams:
            return stub.status(422, "stream is not supported")
        return stub.streamed('{"a"', ":1}") if body.get("stream") else stub.ok('{"a":1}')

    return answer


@pytest.mark.parametrize("streams", [True, False])
@pytest.mark.parametrize(
    ("schema", "calls", "kind"),
    [(("json_schema",), 1, "json_schema"), (("json_object",), 2, "json_object"), ((), 3, None)],
)
def test_a_schema_that_is_turned_down_goes_into_the_prompt_aloud(
    schema: tuple[str, ...], calls: int, kind: str | None, *, streams: bool, caplog: pytest.LogCaptureFixture
) -> None:
    pieces: list[str] = []

    with StubServer([taking(schema=schema, streams=streams)]) as server:
        model = model_of(server)
        for _ in range(2):
            reply = model.reply(replace(ASKED, schema=SCHEMA), timeout_seconds=5, on_text=pieces.append)

    assert reply.text == '{"a":1}'
    assert "".join(pieces) == '{"a":1}' * 2
    assert len(server.calls) == 2 * calls - streams + 1, "what was turned down is not tried again"
    last = server.calls[-1].body
    assert last.get("response_format", {}).get("type") == kind
    told = any("does not stream" in note for note in model.notes)
    assert told is not streams
    in_prompt = SCHEMA in last["messages"][-1]["content"]
    assert in_prompt is (kind != "json_schema")
    assert in_prompt is any("takes no JSON Schema" in note for note in model.notes)
    assert len(caplog.messages) == len(model.notes)


def test_a_refusal_that_no_manner_helps_is_the_first_one() -> None:
    with StubServer([stub.status(400, "first"), stub.status(400, "later")]) as server:
        model = model_of(server)
        with pytest.raises(ModelRefused, match="first"):
            model.reply(replace(ASKED, schema=SCHEMA), timeout_seconds=5)

    assert len(server.calls) == 3
    assert model.notes == ()


def test_a_request_that_is_too_long_is_not_put_otherwise() -> None:
    with StubServer([stub.overflow()]) as server, pytest.raises(ModelRefused, match="too long"):
        ask(server, replace(ASKED, schema=SCHEMA))

    assert len(server.calls) == 1


def test_a_busy_server_is_not_asked_otherwise() -> None:
    with StubServer([stub.status(503)]) as server, pytest.raises(ModelBusy):
        ask(server, replace(ASKED, schema=SCHEMA))

    assert len(server.calls) == 1


def test_a_model_without_a_systems_turn_gets_it_before_the_users_first() -> None:
    with StubServer() as server:
        model = model_of(server, can=Capabilities(system=False))
        model.reply(ASKED, timeout_seconds=5)

    assert server.calls[0].body["messages"] == [{"role": "user", "content": "Be brief.\n\nIs water wet?"}]
    assert model.notes == ("the model takes no system's turn; it is put before the user's first",)


@pytest.mark.parametrize(
    ("can", "request_", "said"),
    [
        (Capabilities(logprobs=5), replace(ASKED, top_logprobs=6), "6 alternatives of every token are asked for"),
        (Capabilities(), replace(ASKED, given="wet"), "the likelihood of a given text"),
        (None, replace(ASKED, messages=()), "needs a message"),
        (None, replace(ASKED, max_tokens=0), "needs a message"),
        (None, replace(ASKED, schema="{"), "the schema of a request is no JSON"),
        (None, replace(ASKED, messages=(Message("user", "half \ud83d"),)), "half a character at place 5"),
    ],
)
def test_a_request_that_cannot_be_made_is_refused_before_anything_is_sent(
    can: Capabilities | None, request_: Request, said: str
) -> None:
    with StubServer() as server:
        with pytest.raises(UsageError, match=said):
            model_of(server, can=can).reply(request_, timeout_seconds=5)
        assert server.calls == []


@pytest.mark.parametrize("seconds", [0, -1, float("inf"), float("nan")])
def test_a_call_needs_a_time(seconds: float) -> None:
    with StubServer() as server, pytest.raises(UsageError, match="timeout_seconds is"):
        ask(server, seconds=seconds)


def test_a_likelihood_is_refused_where_the_server_is_of_no_known_kind() -> None:
    with StubServer() as server, pytest.raises(UsageError, match="does not offer it"):
        ask(server, replace(ASKED, given="wet"))


def test_given_texts_come_back_with_their_log_probabilities() -> None:
    pieces: list[str] = []
    with StubServer([stub.obliging], paths=stub.VLLM) as server:
        reply = model_of(server).reply(replace(ASKED, given="it is wet"), timeout_seconds=5, on_text=pieces.append)

    assert reply.text == "it is wet"
    assert pieces == ["it is wet"]
    assert [token.logprob for token in reply.tokens] == [-1.5] * 3


def test_a_server_is_looked_at_once() -> None:
    with StubServer([stub.obliging], paths=stub.VLLM) as server:
        model = model_of(server)
        for _ in range(2):
            model.reply(replace(ASKED, given="wet"), timeout_seconds=5)

    assert [call.path for call in server.others] == ["/v1/models", "/tokenize", "/tokenize"]


def test_the_last_turn_of_an_assistant_is_gone_on_with_where_the_server_can() -> None:
    going_on = replace(ASKED, messages=(*ASKED.messages, Message("assistant", "Water is")))
    with StubServer([stub.obliging], paths=stub.VLLM) as server:
        ask(server, going_on)
    with StubServer([stub.obliging]) as other:
        ask(other, going_on)

    assert server.calls[0].body["continue_final_message"] is True
    assert server.calls[0].body["add_generation_prompt"] is False
    assert "continue_final_message" not in other.calls[0].body


# Secrets


@pytest.fixture
def everything_said(caplog: pytest.LogCaptureFixture) -> Iterator[Callable[[], str]]:
    caplog.set_level(logging.DEBUG)
    for engine in ("openai", "httpx2", "httpcore2", "groundwire"):
        caplog.set_level(logging.DEBUG, logger=engine)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        yield (
            lambda: (
                caplog.text
                + "".join(str(warning.message) for warning in warned)
                + str([(record.msg, record.args, record.exc_text) for record in caplog.records])
            )
        )


LEAKS: dict[str, stub.Step] = {
    "401 with the key": stub.status(401, f"Incorrect API key provided: {CANARY}. Find yours at https://example.com"),
    "401 with the key in a header": stub.status(401, "no", headers={"X-Echo": f"Bearer {CANARY}"}),
    "500 with the key": stub.Step(500, {}, f"panic: auth=Bearer {CANARY} at line 1".encode()),
    "redirect with the key": stub.redirect(f"https://elsewhere.example/?key={CANARY}"),
    "error in 200 with the key": stub.error_in_200(f"key {CANARY}", code=401),
    "page with the key": stub.page(200, f"<html>{CANARY}</html>"),
    "escapes around the key": stub.status(400, f"\x1b[31m{CANARY[:7]}\x1b[0m{CANARY[7:]}\x1b]0;title\x07 \u202eend"),
    "the key at the cut": stub.status(400, "x" * 290 + " " + CANARY),
    "type with the key": stub.Step(200, {"Content-Type": f"text/{CANARY}"}, b"hello"),
    "cut connection": stub.cut_connection(),
    "reset": stub.reset(),
}  # fmt: skip


@pytest.mark.parametrize("case", LEAKS)
def test_the_key_is_in_nothing_that_is_raised_shown_or_logged(case: str, everything_said: Callable[[], str]) -> None:
    with StubServer([LEAKS[case]]) as server:
        model = model_of(server, key=True)
        with pytest.raises(ModelError) as caught:
            model.reply(ASKED, timeout_seconds=5)
    assert server.calls[0].headers["authorization"] == f"Bearer {CANARY}", "the key was used"

    fault = caught.value
    shown = traceback.TracebackException.from_exception(fault, capture_locals=True)
    said = "\n".join([str(fault), repr(fault), *shown.format(), repr(model), repr(vars(model)), everything_said()])

    assert CANARY not in said
    assert "CANARY" not in str(fault)
    assert fault.__cause__ is None
    assert fault.__context__ is None
    assert not any(ord(char) < 32 or char in "\u202e\x9b" for char in str(fault))


def test_the_engines_log_at_all_so_that_hiding_is_tested(everything_said: Callable[[], str]) -> None:
    fault_of(LEAKS["401 with the key in a header"])

    assert "X-Echo" in everything_said()
    assert "***" in everything_said()


def test_a_key_that_goes_unencrypted_to_another_machine_is_said(caplog: pytest.LogCaptureFixture) -> None:
    key = Secret(CANARY)
    for base_url, warned in (
        ("http://192.0.2.1/v1", 1),
        ("https://192.0.2.1/v1", 0),
        ("http://localhost/v1", 0),
        ("http://[::1]:8080/v1", 0),
    ):
        caplog.clear()
        RemoteModel("x", Profile(base_url, "m"), key=key)
        assert len(caplog.messages) == warned, base_url


# No key, no network, no other host


def test_a_profile_that_wants_a_key_is_refused_at_once_without_one() -> None:
    with StubServer() as server:
        model = RemoteModel("stub", Profile(server.base_url, "m", key_variable="STUB_KEY"))
        begun = time.monotonic()
        with pytest.raises(ModelRefused, match="set the environment variable STUB_KEY"):
            model.reply(ASKED, timeout_seconds=60)
        with pytest.raises(ModelRefused, match="STUB_KEY"):
            model.capabilities()
        assert time.monotonic() - begun < 0.5
    assert server.calls == server.others == []


def test_a_server_that_is_not_there_is_said_in_under_a_second_in_a_new_process() -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))  # bound, but nothing listens
        script = (
            "import sys, time\n"
            "from groundwire.backends.remote_models import Profile, RemoteModel\n"
            "from groundwire.core.errors import ModelBusy\n"
            "from groundwire.core.language import Message, Request\n"
            f"model = RemoteModel('x', Profile('http://127.0.0.1:{held.getsockname()[1]}/v1', 'm'))\n"
            "begun = time.monotonic()\n"
            "try:\n"
            "    model.reply(Request((Message('user', 'hi'),), 5), timeout_seconds=60)\n"
            "except ModelBusy as error:\n"
            "    print(time.monotonic() - begun, 'openai' in sys.modules, error)\n"
        )
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)

    seconds, loaded, *said = done.stdout.split()
    assert float(seconds) < 1
    assert loaded == "False"
    assert "nothing listens there. Start the server" in " ".join(said)


def test_without_a_network_the_reason_is_the_name(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_network(*_: object, **__: object) -> None:
        raise socket.gaierror(-3, "Temporary failure in name resolution")

    monkeypatch.setattr(socket, "getaddrinfo", no_network)
    begun = time.monotonic()

    with pytest.raises(ModelBusy, match="the name of the host is not known here"):
        RemoteModel("x", Profile("https://models.example/v1", "m")).reply(ASKED, timeout_seconds=60)
    assert time.monotonic() - begun < 1


def test_a_resolver_that_hangs_is_left_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    released = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: released.wait(30) and [])
    begun = time.monotonic()

    with pytest.raises(ModelBusy, match=r"the name models\.example was not resolved within 0\.9 seconds"):
        RemoteModel("x", Profile("https://models.example/v1", "m")).reply(ASKED, timeout_seconds=60)
    assert time.monotonic() - begun < 1.5
    released.set()


@pytest.mark.parametrize(
    "step",
    [stub.redirect("http://198.51.100.7/v1/chat/completions"), stub.redirect("http://other.example/"), stub.ok()],
)
def test_no_other_host_is_called_whatever_the_server_says(step: stub.Step, monkeypatch: pytest.MonkeyPatch) -> None:
    connect, resolve, elsewhere = socket.socket.connect, socket.getaddrinfo, []

    def guarded(self: socket.socket, address: tuple[str, int]) -> None:
        if address != ("127.0.0.1", server.port):
            elsewhere.append(address)
            raise OSError("blocked")
        connect(self, address)

    def guarded_names(host: str, *rest: object, **named: object) -> object:
        if host != "127.0.0.1":
            elsewhere.append((host, 0))
            raise socket.gaierror(-2, "blocked")
        return resolve(host, *rest, **named)  # type: ignore[arg-type]

    for variable in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "all_proxy"):
        monkeypatch.setenv(variable, "http://198.51.100.9:3128")
    with StubServer([step], paths=stub.LLAMA) as server:
        monkeypatch.setattr(socket.socket, "connect", guarded)
        monkeypatch.setattr(socket, "getaddrinfo", guarded_names)
        model = model_of(server, key=True)
        if step.status == 200:
            model.capabilities()
            assert model.reply(ASKED, timeout_seconds=5).text == "yes"
        else:
            with pytest.raises(ModelRefused, match="redirect"):
                model.reply(ASKED, timeout_seconds=5)

    assert elsewhere == []


def test_a_certificate_that_does_not_fit_is_refused_with_what_to_do() -> None:
    with StubServer() as server:  # speaks no TLS at all
        model = RemoteModel("x", Profile(server.base_url.replace("http:", "https:"), "m"))
        with pytest.raises(ModelRefused, match="no safe connection") as caught:
            model.reply(ASKED, timeout_seconds=5)

    assert "SSL_CERT_FILE" in str(caught.value)
    assert caught.value.status == 0


# Callers


def test_many_threads_share_a_model_and_each_gets_its_own_reply() -> None:
    def echo(body: stub.Body) -> stub.Step:
        return replace(stub.ok(body["messages"][-1]["content"]), hold_seconds=0.05)

    got: dict[int, str] = {}
    with StubServer([echo]) as server:
        model = model_of(server)

        def work(number: int) -> None:
            asked = replace(ASKED, messages=(Message("user", f"number {number}"),))
            got[number] = model.reply(asked, timeout_seconds=10).text

        threads = [threading.Thread(target=work, args=(number,)) for number in range(12)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    assert got == {number: f"number {number}" for number in range(12)}


def test_a_time_out_of_one_thread_is_not_that_of_another() -> None:
    def slow(body: stub.Body) -> stub.Step:
        hurried = body["messages"][-1]["content"] == "hurry"
        return stub.hang() if hurried else replace(stub.ok(), hold_seconds=0.6)

    with StubServer([slow]) as server:
        model = model_of(server)
        patient: list[Reply] = []
        thread = threading.Thread(target=lambda: patient.append(model.reply(ASKED, timeout_seconds=10)))
        thread.start()
        with pytest.raises(ModelBusy):
            model.reply(replace(ASKED, messages=(Message("user", "hurry"),)), timeout_seconds=0.2)
        thread.join()

    assert patient[0].text == "yes"


def test_a_call_works_inside_a_running_event_loop() -> None:
    async def cell() -> Reply:
        return ask(server)

    with StubServer() as server:
        assert asyncio.run(cell()).text == "yes"


@pytest.mark.asyncio
async def test_a_call_works_inside_the_loop_of_a_test() -> None:
    with StubServer() as server:
        assert ask(server).text == "yes"
        assert asyncio.get_running_loop().is_running()


def test_a_call_works_inside_uvloop() -> None:
    uvloop = pytest.importorskip("uvloop")

    async def cell() -> Reply:
        assert type(asyncio.get_running_loop()).__module__.startswith("uvloop")
        return ask(server)

    with StubServer() as server, asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        assert runner.run(cell()).text == "yes"


def test_connections_are_kept_and_a_dropped_one_is_opened_anew() -> None:
    with StubServer([stub.ok(), stub.ok(), stub.status(500), stub.ok()]) as server:
        model = model_of(server)
        replies = [model.reply(ASKED, timeout_seconds=5).text for _ in range(2)]
        with pytest.raises(ModelBusy):
            model.reply(ASKED, timeout_seconds=5)
        replies.append(model.reply(ASKED, timeout_seconds=5).text)

    assert replies == ["yes"] * 3


def test_nothing_is_left_open() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with StubServer([stub.cut_stream("a"), stub.status(500), stub.ok()]) as server:
            model = model_of(server)
            for listens in (lambda _: None, None, None):
                with suppress(ModelBusy):
                    model.reply(ASKED, timeout_seconds=5, on_text=listens)
            del model
            gc.collect()


def test_a_closed_model_opens_again() -> None:
    with StubServer() as server:
        model = model_of(server)
        model.close()
        for _ in range(2):
            assert model.reply(ASKED, timeout_seconds=5).text == "yes"
            model.close()


def test_loading_the_module_loads_no_engine() -> None:
    script = "import sys, groundwire.backends.remote_models; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()

    assert not {"openai", "httpx2", "httpcore2", "pydantic"} & set(loaded)


def test_an_engine_that_cannot_be_loaded_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr("groundwire.backends.remote_wire", raising=False)
    monkeypatch.setitem(sys.modules, "groundwire.backends.remote_wire", None)

    with StubServer() as server, pytest.raises(MissingExtra, match="'http:stub' needs the extra 'remote'"):
        ask(server)


def test_a_missing_engine_is_named_with_its_extra() -> None:
    script = (
        "import sys, json\n"
        "sys.modules['openai'] = None\n"
        "from groundwire.backends.remote_models import Profile, RemoteModel\n"
        "from groundwire.core.errors import MissingExtra\n"
        "from groundwire.core.language import Message, Request\n"
        "try:\n"
        "    model = RemoteModel('x', Profile(sys.argv[1], 'm'))\n"
        "    model.reply(Request((Message('user', 'hi'),), 5), timeout_seconds=5)\n"
        "except MissingExtra as error:\n"
        "    print(json.dumps([error.extra, str(error)]))\n"
    )
    with StubServer() as server:
        done = subprocess.run(
            [sys.executable, "-c", script, server.base_url], capture_output=True, text=True, check=True
        )

    extra, said = json.loads(done.stdout)
    assert extra == "remote"
    assert "'http:x' needs the extra 'remote'" in said


READ = len(("Be", "brief", ".", "Is", "water", "wet", "?"))
REPEATED = stub.duplicate_chunk("Wat", "er", at=0)
SPENT: dict[str, tuple[stub.Step, Usage | None]] = {
    "turned down: 429": (stub.status(429), None),
    "turned down: 503": (stub.status(503), None),
    "turned down: a page of a proxy": (stub.page(502), None),
    "turned down in a good answer": (stub.error_in_200(), None),
    "cut JSON": (stub.cut_json(150), Usage(READ, 0, estimated=True)),
    "cut JSON, after the text": (replace(stub.ok("one two three four"), cut_after=200), Usage(READ, 5, estimated=True)),
    "cut stream": (stub.cut_stream("one", " two"), Usage(READ, 2, estimated=True)),
    "cut stream that was counted": (
        stub.stream([*stub.chunks(["one", " two"], finish=None), {"choices": [{"delta": {}}]}], done=False),
        Usage(7, 2),
    ),
    "repeated stream": (REPEATED, Usage(7, 2)),
    "no choices": (stub.as_json({**stub.completion(), "choices": []}), Usage(7, 3)),
    "no choices, no count": (stub.as_json({"choices": []}), Usage(READ, 0, estimated=True)),
    "nothing within the time": (stub.hang(), Usage(READ, 0, estimated=True)),
    "reset before any answer": (stub.reset(), Usage(READ, 0, estimated=True)),
    "an empty body": (stub.Step(200, {"Content-Type": "application/json"}), Usage(READ, 0, estimated=True)),
}


@pytest.mark.parametrize("case", SPENT)
def test_a_call_that_failed_says_what_it_took_all_the_same(case: str) -> None:
    step, wanted = SPENT[case]
    told: list[str] = []
    with StubServer([step]) as server, pytest.raises(ModelBusy) as caught:
        model_of(server).reply(
            ASKED, timeout_seconds=1.0, on_text=told.append if "event-stream" in str(step.headers) else None
        )

    assert caught.value.spent == wanted


def test_a_call_that_was_never_sent_took_nothing() -> None:
    profile = Profile("http://127.0.0.1:9/v1", "m")
    with pytest.raises(ModelBusy, match="nothing listens there") as caught:
        RemoteModel("x", profile).reply(ASKED, timeout_seconds=5)

    assert (caught.value.spent, caught.value.connected, caught.value.status) == (None, False, 0)


def test_who_waits_for_a_server_that_is_not_there_waits_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def nobody(host: str, port: int, *, seconds: float) -> None:
        time.sleep(seconds)
        raise TimeoutError(f"no connection to {host}:{port} within {seconds:g} seconds")

    monkeypatch.setattr("groundwire.backends.remote_calls.require_listening", nobody)
    model = RemoteModel("x", Profile("http://192.0.2.1/v1", "m", connect_seconds=0.4))
    faults: list[BaseException] = []

    def call() -> None:
        try:
            model.reply(ASKED, timeout_seconds=5)
        except ModelBusy as error:
            faults.append(error)

    threads = [threading.Thread(target=call) for _ in range(6)]
    began = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert time.monotonic() - began < 6 * 0.4 / 2
    assert [str(fault) for fault in faults] == [str(faults[0])] * 6
    assert len(set(map(id, faults))) == 6, "each has a fault of its own"
    call()
    assert time.monotonic() - began > 2 * 0.4, "who comes later looks again"


class Raw:
    """A server of bytes: does something with each connection, and counts them."""

    def __init__(self, play: Callable[[socket.socket], None]) -> None:
        self.connections = 0
        self._play = play
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._thread = threading.Thread(target=self._serve, daemon=True)

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self._listener.getsockname()[1]}"

    def __enter__(self) -> "Raw":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join(timeout=5)

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                self.connections += 1
                with connection, suppress(OSError):
                    self._play(connection)


def hang_up(connection: socket.socket) -> None:
    connection.recv(4096)


def reset_at_once(connection: socket.socket) -> None:
    connection.recv(1)


def speak_plainly(connection: socket.socket) -> None:
    connection.recv(1024)
    connection.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")


@pytest.mark.parametrize(
    ("play", "kind", "said"),
    [
        (reset_at_once, ModelBusy, "Is it up, and is there a network?"),
        (hang_up, ModelBusy, "Is it up, and is there a network?"),
        (speak_plainly, ModelRefused, "Correct http or https in base_url"),
    ],
)
def test_a_handshake_that_is_hung_up_on_may_pass_and_one_with_who_speaks_otherwise_never(
    play: Callable[[socket.socket], None], kind: type[ModelError], said: str
) -> None:
    with Raw(play) as server, pytest.raises(kind, match=said.replace("?", "[?]")) as caught:
        RemoteModel("x", Profile(f"https://{server.address}/v1", "m")).reply(ASKED, timeout_seconds=5)

    assert caught.value.spent is None
    assert getattr(caught.value, "connected", False) is False
