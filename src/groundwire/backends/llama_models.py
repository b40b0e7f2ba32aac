"""A language model in a GGUF file, run in this process by llama.cpp.

The engine is started at the first call, answers on a port of the loopback interface that it chooses itself and that
only a random key opens, and reads a prompt that begins like the last one from where the two differ. One thread unless
told otherwise: its workers wait by spinning, and on a busy machine two of them are many times slower than one.
"""

from __future__ import annotations

import json
import secrets
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any

from groundwire.core.errors import MissingExtra, ModelBusy, ModelError, ModelRefused, UsageError
from groundwire.core.language import (
    Capabilities,
    Finish,
    Message,
    Reply,
    ReplyToken,
    Request,
    TokenChoice,
    Usage,
)

CONTEXT_TOKENS = 8192
"""How much the engine is asked to hold, unless the model was trained on less."""
_MOST_LOGPROBS = 100
_FORCED = 1000.0
"""What is added to a token's logit so that it comes next; the log-probability that is read is the one before."""
_LISTED = 512
"""How many likeliest tokens are looked through first for one that ends inside a character."""
_MAGIC = b"GGUF"
_FINISHES: Mapping[str, Finish] = {"stop": "stop", "length": "length", "content_filter": "refused"}


class LlamaModel:
    """Replies, replies after a schema, log-probabilities and likelihoods from one GGUF file; one call at a time."""

    def __init__(self, file: Path, *, name: str, threads: int = 1, context_tokens: int = CONTEXT_TOKENS) -> None:
        """Name a file; the engine starts when it is first needed.

        Args:
            file: the model.
            name: what it is called in ids: ``llama:NAME``.
            threads: of the engine; 1 and up.
            context_tokens: how many tokens of prompt and reply it holds, at most what the model was trained on.

        Raises:
            UsageError: threads or context_tokens is below 1.
            ModelError: the file is not there or is no GGUF file.
        """
        if threads < 1 or context_tokens < 1:
            raise UsageError(f"threads is {threads} and context_tokens {context_tokens}; both must be 1 or more")
        _require_gguf(file)
        self.id = f"llama:{name}"
        self._file, self._threads, self._context = file, threads, context_tokens
        self._starting = threading.Lock()
        self._engine: Any = None
        self._key = secrets.token_hex(16)

    def capabilities(self) -> Capabilities:
        """What the engine says of the model.

        Raises:
            MissingExtra, ModelError: the engine is not installed, or cannot read the file.
        """
        deadline = time.monotonic() + 60
        meta = self._meta(deadline=deadline)
        template = self._ask("GET", "/props", None, deadline=deadline)
        return Capabilities(
            context_tokens=min(meta["n_ctx"], meta["n_ctx_train"]),
            schema=True,
            logprobs=_MOST_LOGPROBS,
            likelihood=True,
            system=bool(template["chat_template_caps"]["supports_system_role"]),
            thinking="<think>" in template["chat_template"],
        )

    def reply(self, request: Request, *, timeout_seconds: float, on_text: Callable[[str], None] | None = None) -> Reply:
        """Make one call; ``on_text`` is told the whole reply at once.

        Raises:
            ModelBusy: it took longer than ``timeout_seconds``; the engine was told to stop.
            ModelRefused: the request is longer than the context.
            UsageError: more than 100 alternatives a token are asked for.
            MissingExtra, ModelError: the engine is not installed, or cannot read the file.
        """
        if request.top_logprobs > _MOST_LOGPROBS:
            raise UsageError(
                f"{request.top_logprobs} alternatives a token are asked for; {self.id} gives {_MOST_LOGPROBS}"
            )
        self._started()
        deadline = time.monotonic() + timeout_seconds
        if request.given:
            reply = self._given(request.given, request.messages, deadline=deadline)
        else:
            reply = _reply(self._ask("POST", "/v1/chat/completions", _body(request), deadline=deadline), self.id)
        if on_text is not None:
            on_text(reply.text)
        return reply

    def close(self) -> None:
        """Stop the engine and give back its memory; the next call starts it again."""
        with self._starting:
            self._engine = None

    def _given(self, text: str, messages: Sequence[Message], *, deadline: float) -> Reply:
        """The text as the reply to these messages, with the exact log-probability of each of its tokens."""
        prompt = self._ask("POST", "/apply-template", {"messages": _turns(messages)}, deadline=deadline)["prompt"]
        before = self._tokens(prompt, special=True, deadline=deadline)
        wanted = self._tokens(text, special=False, deadline=deadline)
        so_far = [token for token, _ in before]
        tokens, kept = [], []
        for token, piece in wanted:
            logprob, cached = self._logprob(token, so_far, deadline=deadline)
            tokens.append(ReplyToken(piece, logprob))
            kept.append(cached)
            so_far.append(token)
        # Only at the first token: what the later ones find read, this very call has read.
        usage = Usage(len(so_far) - 1, len(wanted), kept[0] if kept else 0)
        return Reply(text, "stop", usage, tuple(tokens), model=self.id)

    def _logprob(self, token: int, before: Sequence[int], *, deadline: float) -> tuple[float, int]:
        """The natural log-probability of a token after others, and how many of those had been read before.

        The engine reports no token that ends inside a character. Such a one is looked for among the likeliest ones of
        its place instead, wider and wider, while a plain letter is made to come next.
        """
        kept: int | None = None
        for listed in (1, _LISTED, self._vocabulary(deadline=deadline)):
            forced = token if listed == 1 else self._tokens("a", special=False, deadline=deadline)[0][0]
            body = {
                "prompt": list(before), "n_predict": 1, "temperature": 0, "cache_prompt": True,
                "n_probs": listed, "logit_bias": [[forced, _FORCED]],
            }  # fmt: skip
            answer = self._ask("POST", "/completion", body, deadline=deadline)
            kept = _kept(answer) if kept is None else kept
            for place in answer.get("completion_probabilities", ()):
                for given in (place, *place["top_logprobs"]):
                    if given["id"] == token:
                        return float(given["logprob"]), kept
        raise ModelError(f"{self.id} did not say how likely token {token} is")

    def _vocabulary(self, *, deadline: float) -> int:
        return int(self._meta(deadline=deadline)["n_vocab"])

    def _meta(self, *, deadline: float) -> Mapping[str, Any]:
        meta: Mapping[str, Any] = self._ask("GET", "/v1/models", None, deadline=deadline)["data"][0]["meta"]
        return meta

    def _tokens(self, text: str, *, special: bool, deadline: float) -> list[tuple[int, str]]:
        """The numbers and texts of a text's tokens; one that ends inside a character has its bytes' numbers."""
        body = {"content": text, "add_special": special, "parse_special": special, "with_pieces": True}
        found = self._ask("POST", "/tokenize", body, deadline=deadline)["tokens"]
        return [(one["id"], one["piece"] if isinstance(one["piece"], str) else str(one["piece"])) for one in found]

    def _ask(self, method: str, path: str, body: Mapping[str, object] | None, *, deadline: float) -> Any:  # noqa: ANN401 - JSON, or an object of the engine
        """One exchange with the engine; leaving early makes it stop."""
        host, _, port = self._started().listening_address.rpartition("//")[2].rpartition(":")
        left = deadline - time.monotonic()
        if left <= 0:
            raise ModelBusy(f"{self.id} did not finish in time")
        connection = HTTPConnection(host, int(port), timeout=left)
        try:
            headers = {"Content-Type": "application/json", "Authorization": f"Bearer {self._key}"}
            connection.request(method, path, None if body is None else json.dumps(body), headers)
            answer = connection.getresponse()
            found = json.loads(answer.read())
        except TimeoutError as error:
            raise ModelBusy(f"{self.id} did not finish in time") from error
        except (OSError, HTTPException, ValueError) as error:
            raise ModelBusy(f"{self.id} broke off its answer: {error}") from error
        finally:
            connection.close()
        if answer.status != 200:
            raise ModelRefused(_refusal(self.id, found), status=answer.status)
        return found

    def _started(self) -> Any:  # noqa: ANN401 - JSON, or an object of the engine
        with self._starting:
            if self._engine is None:
                self._engine = _start(self._file, self._threads, context=self._context, name=self.id, key=self._key)
            return self._engine


def _require_gguf(file: Path) -> None:
    if not file.is_file():
        raise ModelError(f"{file} is not there. 'groundwire models list' says what can be had")
    with file.open("rb") as read:
        if read.read(len(_MAGIC)) != _MAGIC:
            raise ModelError(f"{file} is no GGUF file; llama.cpp reads only those")


def _start(file: Path, threads: int, *, context: int, name: str, key: str) -> Any:  # noqa: ANN401 - JSON, or an object of the engine
    try:
        import xllamacpp
    except ImportError as error:
        raise MissingExtra(f"'{name}'", extra="local") from error
    wanted = xllamacpp.CommonParams()
    wanted.model.path = str(file)
    wanted.model_alias = {name}
    wanted.n_ctx, wanted.n_parallel = context, 1
    wanted.cpuparams.n_threads = wanted.cpuparams_batch.n_threads = threads
    wanted.api_keys = [key]
    wanted.hostnames = ["127.0.0.1"]
    wanted.ui = wanted.warmup = wanted.endpoint_slots = wanted.endpoint_props = False
    wanted.verbosity = 0
    try:
        return xllamacpp.Server(wanted)
    except (RuntimeError, ValueError) as error:
        raise ModelError(f"llama.cpp cannot load {file.name}: {error}. Pull the model again") from error


def _turns(messages: Sequence[Message]) -> list[dict[str, str]]:
    return [{"role": one.speaker, "content": one.text} for one in messages]


def _body(request: Request) -> dict[str, object]:
    body: dict[str, object] = {
        "messages": _turns(request.messages), "max_tokens": request.max_tokens,
        "temperature": request.temperature, "cache_prompt": True,
    }  # fmt: skip
    if request.seed is not None:
        body["seed"] = request.seed
    if request.stop:
        body["stop"] = list(request.stop)
    if request.top_logprobs:
        body |= {"logprobs": True, "top_logprobs": request.top_logprobs}
    if request.schema:
        wanted = {"name": "reply", "schema": json.loads(request.schema)}
        body["response_format"] = {"type": "json_schema", "json_schema": wanted}
    return body


def _reply(found: Mapping[str, Any], name: str) -> Reply:
    choice, usage = found["choices"][0], found["usage"]
    message = choice["message"]
    cached = (usage.get("prompt_tokens_details") or {}).get("cached_tokens", 0)
    return Reply(
        text=message.get("content") or "",
        finish=_FINISHES.get(choice["finish_reason"], "other"),
        usage=Usage(usage["prompt_tokens"], usage["completion_tokens"], cached),
        tokens=tuple(map(_token, (choice.get("logprobs") or {}).get("content") or ())),
        thinking=message.get("reasoning_content") or "",
        model=name,
    )


def _kept(answer: Mapping[str, Any]) -> int:
    """How many tokens of a prompt the engine did not have to read again."""
    return int((answer.get("timings") or {}).get("cache_n", 0))


def _token(given: Mapping[str, Any]) -> ReplyToken:
    others = tuple(TokenChoice(other["token"], float(other["logprob"])) for other in given["top_logprobs"])
    return ReplyToken(given["token"], float(given["logprob"]), others)


def _refusal(name: str, found: object) -> str:
    error = found.get("error") if isinstance(found, dict) else None
    said = error.get("message") if isinstance(error, dict) else found
    return f"{name} refused the request: {said}"
