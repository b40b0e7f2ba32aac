"""A GGUF model in process: against an engine that plays faults, and against the real one with the smallest model."""

import builtins
import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace

import pytest

from groundwire.backends import model_files
from groundwire.backends.llama_models import LlamaModel
from groundwire.core.errors import MissingExtra, ModelBusy, ModelError, ModelRefused, UsageError
from groundwire.core.language import Message, Request

ASKED = (Message("user", "What is the capital of France?"),)
META = {"data": [{"meta": {"n_ctx": 64, "n_ctx_train": 48, "n_vocab": 300}}]}
SCHEMA = json.dumps(
    {
        "type": "object",
        "properties": {"rating": {"type": "integer", "minimum": 0, "maximum": 100}},
        "required": ["rating"],
        "additionalProperties": False,
    }
)

Answers = Mapping[str, Callable[[dict], object]]


@contextmanager
def engine(answers: Answers, tmp_path: Path) -> Iterator[tuple[LlamaModel, list[tuple[str, dict, str]]]]:
    """A model whose engine is a server that answers by path; a status other than 200 is a pair."""
    calls: list[tuple[str, dict, str]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.answer({})

        def do_POST(self) -> None:
            self.answer(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

        def answer(self, body: dict) -> None:
            calls.append((self.path, body, self.headers["Authorization"]))
            found = answers[self.path](body)
            status, found = found if isinstance(found, tuple) else (200, found)
            raw = found if isinstance(found, bytes) else json.dumps(found).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    file = tmp_path / "any.gguf"
    file.write_bytes(b"GGUF....")
    model = LlamaModel(file, name="any")
    model._engine = SimpleNamespace(listening_address=f"http://127.0.0.1:{server.server_port}")
    try:
        yield model, calls
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def chat(**changes: object) -> dict:
    choice = {"finish_reason": "stop", "message": {"role": "assistant", "content": "Paris"}} | changes
    return {"choices": [choice], "usage": {"prompt_tokens": 9, "completion_tokens": 1}}


def tokenised(tokens: list[tuple[int, object]]) -> dict:
    return {"tokens": [{"id": token, "piece": piece} for token, piece in tokens]}


@pytest.mark.parametrize(
    ("changes", "text", "finish"),
    [
        ({}, "Paris", "stop"),
        ({"finish_reason": "length"}, "Paris", "length"),
        ({"finish_reason": "content_filter"}, "Paris", "refused"),
        ({"finish_reason": "tool_calls", "message": {"content": None}}, "", "other"),
        ({"logprobs": None}, "Paris", "stop"),
    ],
)
def test_a_reply_is_read_with_its_end(changes: dict, text: str, finish: str, tmp_path: Path) -> None:
    with engine({"/v1/chat/completions": lambda _: chat(**changes)}, tmp_path) as (model, _):
        said: list[str] = []
        reply = model.reply(Request(ASKED, 5), timeout_seconds=5, on_text=said.append)
    assert (reply.text, reply.finish, reply.model, said) == (text, finish, "llama:any", [text])
    assert (reply.usage.input_tokens, reply.usage.output_tokens, reply.usage.estimated) == (9, 1, False)


def test_what_is_thought_aloud_is_kept_apart(tmp_path: Path) -> None:
    message = {"content": "85", "reasoning_content": "maybe 40"}
    with engine({"/v1/chat/completions": lambda _: chat(message=message)}, tmp_path) as (model, _):
        reply = model.reply(Request(ASKED, 5), timeout_seconds=5)
    assert (reply.text, reply.thinking) == ("85", "maybe 40")


def test_all_that_a_request_says_is_asked_and_only_with_the_key(tmp_path: Path) -> None:
    request = Request(ASKED, 7, temperature=0.5, seed=3, schema=SCHEMA, top_logprobs=2, stop=("\n",))
    with engine({"/v1/chat/completions": lambda _: chat()}, tmp_path) as (model, calls):
        model.reply(request, timeout_seconds=5)
    ((_, body, key),) = calls
    assert key == f"Bearer {model._key}"
    assert len(model._key) == 32
    wanted = {"max_tokens": 7, "temperature": 0.5, "seed": 3, "stop": ["\n"], "logprobs": True, "top_logprobs": 2}
    assert wanted.items() <= body.items()
    assert body["response_format"]["json_schema"]["schema"] == json.loads(SCHEMA)
    assert body["messages"] == [{"role": "user", "content": ASKED[0].text}]


def _slow(_: dict) -> dict:
    time.sleep(0.4)
    return chat()


@pytest.mark.parametrize(
    ("answer", "error", "words"),
    [
        (_slow, ModelBusy, "in time"),
        (lambda _: b"{cut", ModelBusy, "broke off"),
        (lambda _: (400, {"error": {"message": "9031 tokens exceed 8192"}}), ModelRefused, "9031 tokens exceed 8192"),
        (lambda _: (500, ["odd"]), ModelRefused, "odd"),
    ],
)
def test_a_fault_of_the_engine_has_its_kind(
    answer: object, error: type[ModelError], words: str, tmp_path: Path
) -> None:
    with engine({"/v1/chat/completions": answer}, tmp_path) as (model, _), pytest.raises(error, match=words):
        model.reply(Request(ASKED, 5), timeout_seconds=0.2)


def test_a_call_without_time_is_not_made(tmp_path: Path) -> None:
    with engine({}, tmp_path) as (model, calls), pytest.raises(ModelBusy, match="in time"):
        model.reply(Request(ASKED, 5), timeout_seconds=0)
    assert calls == []


def test_the_context_is_the_smaller_of_what_was_asked_and_trained(tmp_path: Path) -> None:
    props = {"chat_template_caps": {"supports_system_role": False}, "chat_template": "… <think> …"}
    with engine({"/v1/models": lambda _: META, "/props": lambda _: props}, tmp_path) as (model, _):
        found = model.capabilities()
    assert (found.context_tokens, found.system, found.thinking, found.likelihood) == (48, False, True, True)


def test_a_token_inside_a_character_is_looked_for_among_the_likeliest(tmp_path: Path) -> None:
    """The text is token 7, of which the engine says nothing when it is forced, and token 8."""
    tokens = {"水": [(7, [230, 176]), (8, [180])], "a": [(1, "a")]}

    def complete(body: dict) -> dict:
        ((forced, _),) = body["logit_bias"]
        if forced == 8:
            return {"completion_probabilities": [{"id": 8, "logprob": -0.5, "top_logprobs": []}]}
        if forced == 7 or body["n_probs"] < 300:
            return {"completion_probabilities": [], "timings": {"cache_n": 1}} if forced == 7 else {}
        others = [{"id": 7, "logprob": -2.0}]
        return {"completion_probabilities": [{"id": 1, "logprob": -9.0, "top_logprobs": others}]}

    answers: Answers = {
        "/apply-template": lambda _: {"prompt": "<user>"},
        "/tokenize": lambda body: tokenised(tokens.get(body["content"], [(5, "<"), (6, "user>")])),
        "/completion": complete,
        "/v1/models": lambda _: META,
    }
    with engine(answers, tmp_path) as (model, _):
        found = model.reply(Request(ASKED, 1, given="水"), timeout_seconds=5)
    assert [(token.text, token.logprob) for token in found.tokens] == [("[230, 176]", -2.0), ("[180]", -0.5)]
    assert (found.text, found.usage.input_tokens, found.usage.output_tokens) == ("水", 3, 2)
    assert found.usage.cached_tokens == 1, "as the first question found, whatever the later ones find"


def test_a_likelihood_that_the_engine_does_not_say_is_an_error(tmp_path: Path) -> None:
    answers: Answers = {
        "/apply-template": lambda _: {"prompt": "<user>"},
        "/tokenize": lambda _: tokenised([(9, "x")]),
        "/completion": lambda _: {"completion_probabilities": [{"id": 1, "logprob": -1.0, "top_logprobs": []}]},
        "/v1/models": lambda _: META,
    }
    with engine(answers, tmp_path) as (model, _), pytest.raises(ModelError, match="how likely token 9 is"):
        model.reply(Request(ASKED, 1, given="x"), timeout_seconds=5)


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"threads": 0}, UsageError, "threads is 0"),
        ({"context_tokens": 0}, UsageError, "context_tokens 0"),
    ],
)
def test_impossible_settings_are_refused(arguments: dict, error: type[Exception], words: str, tmp_path: Path) -> None:
    with pytest.raises(error, match=words):
        LlamaModel(tmp_path / "any.gguf", name="any", **arguments)


@pytest.mark.parametrize(("content", "words"), [(None, "is not there"), (b"PK..", "no GGUF file"), (b"", "no GGUF")])
def test_a_file_of_another_kind_is_refused(content: bytes | None, words: str, tmp_path: Path) -> None:
    file = tmp_path / "any.gguf"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(ModelError, match=words):
        LlamaModel(file, name="any")


def test_more_alternatives_than_there_are_is_refused(tmp_path: Path) -> None:
    with engine({}, tmp_path) as (model, _), pytest.raises(UsageError, match="101 alternatives"):
        model.reply(Request(ASKED, 5, top_logprobs=101), timeout_seconds=5)


def test_without_the_engine_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "any.gguf"
    file.write_bytes(b"GGUF")
    real = builtins.__import__

    def without(name: str, *rest: object) -> object:
        if name == "xllamacpp":
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingExtra, match=r"groundwire\[local\]"):
        LlamaModel(file, name="any").reply(Request(ASKED, 5), timeout_seconds=5)


# --- the real engine, with the smallest model


@pytest.fixture(scope="module")
def smallest() -> Iterator[LlamaModel]:
    model = LlamaModel(model_files.path("smollm2-135m"), name="smollm2-135m")
    yield model
    model.close()


@pytest.mark.integration
def test_the_engine_refuses_a_broken_file(tmp_path: Path) -> None:
    file = tmp_path / "broken.gguf"
    file.write_bytes(b"GGUF" + bytes(200))
    with pytest.raises(ModelError, match=r"cannot load broken\.gguf"):
        LlamaModel(file, name="broken").capabilities()


@pytest.mark.integration
def test_the_real_model_replies_follows_a_schema_and_stops_in_time(smallest: LlamaModel) -> None:
    assert smallest.capabilities().context_tokens == 8192
    reply = smallest.reply(Request(ASKED, 6, top_logprobs=3), timeout_seconds=60)
    assert reply.text == "".join(token.text for token in reply.tokens)
    assert (reply.finish, reply.usage.output_tokens) == ("length", 6)
    bound = smallest.reply(Request(ASKED, 40, schema=SCHEMA, temperature=1.0, seed=1), timeout_seconds=60)
    assert 0 <= json.loads(bound.text)["rating"] <= 100
    with pytest.raises(ModelBusy, match="in time"):
        smallest.reply(Request((Message("user", "Count to ten thousand."),), 4000), timeout_seconds=0.3)
    with pytest.raises(ModelRefused, match="exceeds"):
        smallest.reply(Request((Message("user", "word " * 9000),), 4), timeout_seconds=60)


@pytest.mark.integration
def test_a_forced_likelihood_is_that_of_the_free_reply(smallest: LlamaModel) -> None:
    free = smallest.reply(Request(ASKED, 5, top_logprobs=1), timeout_seconds=60)
    forced, rare = (smallest.reply(Request(ASKED, 1, given=text), timeout_seconds=60) for text in (free.text, "水災"))
    assert [token.text for token in forced.tokens] == [token.text for token in free.tokens]
    assert [token.logprob for token in forced.tokens] == pytest.approx([one.logprob for one in free.tokens], abs=0.01)
    assert sum(token.logprob for token in rare.tokens) < sum(token.logprob for token in forced.tokens)
    assert forced.usage.input_tokens > rare.usage.cached_tokens >= 10, "both begin with the same conversation"
