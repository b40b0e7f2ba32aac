"""How likely a server's model holds a given reply, token by token, where the server is vLLM or llama.cpp.

vLLM reads conversation and reply in one call and says how likely each token was. llama.cpp is made to say every token
of the reply after a prompt that it keeps, and reports the probability that the token had before it was forced.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from typing import Any

from groundwire.backends.remote_calls import Caller
from groundwire.backends.remote_replies import Json, cached_in
from groundwire.core.errors import ModelBusy, ModelRefused
from groundwire.core.language import Message, Reply, ReplyToken, Request, Usage

_FORCED = 1000.0
"""Added to a token's logit so that it comes next."""
_LISTED = 512
"""How many likeliest tokens are looked through first for one that llama.cpp does not report when it is said."""


def given_reply(caller: Caller, request: Request, *, family: str, deadline: float) -> Reply:
    """The ``given`` text of a request as its reply, with the natural log-probability of each of its tokens.

    Args:
        caller: the way to the server.
        request: one with ``given``.
        family: of the server: ``vllm`` or ``llama.cpp``.
        deadline: of all calls together, on the monotonic clock.

    Raises:
        ModelBusy, ModelRefused: as the server's answers say; also where they do not hold what was asked.
    """
    ask = _Asking(caller, deadline)
    try:
        if family == "vllm":
            return _at_once(ask, request)
        return _one_by_one(ask, request)
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        said = f"{type(error).__name__}: {error}"
    raise ModelRefused(f"{caller.server.id}: the server did not say how likely the tokens of a text are ({said})")


class _Asking:
    """Calls that share a deadline."""

    def __init__(self, caller: Caller, deadline: float) -> None:
        self.caller = caller
        self._deadline = deadline

    def __call__(self, path: str, body: Json | None) -> Json:
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise ModelBusy(f"{self.caller.server.id}: the time is over, and not every token is known yet")
        return self.caller.ask(path, body, timeout_seconds=left)


def _turns(messages: Sequence[Message]) -> list[dict[str, str]]:
    return [{"role": one.speaker, "content": one.text} for one in messages]


def _at_once(ask: _Asking, request: Request) -> Reply:
    profile = ask.caller.profile
    before: dict[str, object] = {"model": profile.model, "messages": _turns(request.messages)}
    prefix = int(ask(f"{profile.root}/tokenize", {**before, "add_generation_prompt": True})["count"])
    answer = ask(
        "chat/completions",
        {
            "model": profile.model,
            "messages": [*_turns(request.messages), {"role": "assistant", "content": request.given}],
            "add_generation_prompt": False,
            "continue_final_message": True,
            "max_tokens": 1,
            "temperature": 0,
            "prompt_logprobs": 0,
        },
    )
    places: Sequence[Mapping[str, Any]] = answer["prompt_logprobs"][prefix:]
    tokens = tuple(_token(next(iter(place.values()), None)) for place in places)
    if not tokens:
        raise ValueError("no token of the text has a log-probability")
    usage = Usage(prefix, len(tokens), min(prefix, cached_in(answer.get("usage"))))
    return Reply(request.given, "stop", usage, tokens, model=str(answer.get("model") or ""))


def _token(one: Any) -> ReplyToken:  # noqa: ANN401 - whatever the JSON holds
    logprob = float(one["logprob"])
    if math.isnan(logprob):
        raise ValueError("a log-probability is not a number")
    return ReplyToken(str(one["decoded_token"]), min(0.0, logprob))


def _one_by_one(ask: _Asking, request: Request) -> Reply:
    root = ask.caller.profile.root
    prompt = ask(f"{root}/apply-template", {"messages": _turns(request.messages)})["prompt"]
    so_far = [number for number, _ in _tokens(ask, prompt, special=True)]
    read, tokens, kept = len(so_far), [], []
    for number, piece in _tokens(ask, request.given, special=False):
        logprob, cached = _logprob(ask, number, so_far)
        tokens.append(ReplyToken(piece, logprob))
        kept.append(cached)
        so_far.append(number)
    # Only at the first token: what the later ones find read, this very call has read.
    return Reply(request.given, "stop", Usage(read, len(tokens), kept[0] if kept else 0), tuple(tokens))


def _logprob(ask: _Asking, number: int, before: Sequence[int]) -> tuple[float, int]:
    """The natural log-probability of a token after others, and how many of those had been read before.

    One that ends inside a character is not reported when it is said: it is looked for among the likeliest ones of its
    place, wider and wider, while a plain letter is said.
    """
    kept: int | None = None
    for listed in (1, _LISTED, 0):
        forced = number if listed == 1 else _tokens(ask, "a", special=False)[0][0]
        body = {
            "prompt": list(before), "n_predict": 1, "temperature": 0, "cache_prompt": True,
            "n_probs": listed or _vocabulary(ask), "logit_bias": [[forced, _FORCED]],
        }  # fmt: skip
        answer = ask(f"{ask.caller.profile.root}/completion", body)
        kept = int((answer.get("timings") or {}).get("cache_n", 0)) if kept is None else kept
        for place in answer.get("completion_probabilities") or ():
            for one in (place, *place["top_logprobs"]):
                if one["id"] == number:
                    return min(0.0, float(one["logprob"])), kept
    raise ValueError(f"token {number} is not among those of its place")


def _vocabulary(ask: _Asking) -> int:
    return int(ask("models", None)["data"][0]["meta"]["n_vocab"])


def _tokens(ask: _Asking, text: str, *, special: bool) -> list[tuple[int, str]]:
    body = {"content": text, "add_special": special, "parse_special": special, "with_pieces": True}
    found = ask(f"{ask.caller.profile.root}/tokenize", body)["tokens"]
    return [(int(one["id"]), str(one["piece"])) for one in found]
