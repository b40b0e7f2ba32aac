"""What a server and its model can do, found by a few short calls."""

from __future__ import annotations

import itertools
import json
import logging
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from groundwire.backends.remote_calls import Caller, Manner, once
from groundwire.backends.remote_faults import parsed
from groundwire.backends.remote_given import given_reply
from groundwire.core.errors import ModelBusy, ModelRefused
from groundwire.core.language import Capabilities, Message, Reply, Request

UNSUITED = frozenset({400, 415, 422, 501})
"""The statuses with which servers turn down a field that they do not know."""
_CONTEXT_NAMES = ("max_model_len", "context_length", "context_window", "max_context_length")
_CONTINUING: Mapping[str, Mapping[str, object]] = {
    "vllm": {"add_generation_prompt": False, "continue_final_message": True}
}
_OLLAMA_DEFAULT = 4096
"""What Ollama holds of a model that names no length itself; what is longer it cuts without a word."""
_ALTERNATIVES = (20, 5, 0)
_TOKENS = 16
_TOKENS_OF_THINKERS = 512
_ASKED = (Message("system", "You answer with one word."), Message("user", "Is water wet? Answer yes or no."))
_SCHEMA = json.dumps(
    {
        "type": "object",
        "properties": {"answer": {"type": "string", "enum": ["yes", "no"]}},
        "required": ["answer"],
        "additionalProperties": False,
    }
)

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a server tells about itself at no price.

    Attributes:
        family: ``vllm``, ``llama.cpp``, ``ollama``; empty: another.
        context_tokens: what it holds of this model; None: it does not say.
    """

    family: str = ""
    context_tokens: int | None = None

    @property
    def continuing(self) -> Mapping[str, object]:
        """Fields by which this server goes on with an assistant's last turn."""
        return _CONTINUING.get(self.family, {})


def surroundings(caller: Caller, *, deadline: float) -> Surroundings:
    """Look at the server's lists; one that has none is of no known family."""
    asked = caller.profile.model
    listed = _entry(_told(caller, "models", deadline=deadline), asked)
    context = next((size for size in map(_size, map(listed.get, _CONTEXT_NAMES)) if size), None)
    if "max_model_len" in listed or listed.get("owned_by") == "vllm":
        return Surroundings("vllm", context)
    root = caller.profile.root
    props = _told(caller, f"{root}/props", deadline=deadline).get("default_generation_settings")
    if isinstance(props, dict):
        return Surroundings("llama.cpp", _size(props.get("n_ctx")) or context)
    shown = _told(caller, f"{root}/api/show", deadline=deadline, body={"model": asked})
    if "model_info" in shown:
        loaded = _entry(_told(caller, f"{root}/api/ps", deadline=deadline), asked)
        return Surroundings("ollama", _size(loaded.get("context_length")) or _of_ollama(shown))
    return Surroundings("", context)


Told = Callable[[Request, Reply, float], None]
"""Takes a call that was answered, and its seconds."""


@dataclass(frozen=True, slots=True)
class _Probing:
    """Asks, and tells of what was answered: it is paid for."""

    caller: Caller
    deadline: float
    told: Told

    def once(self, request: Request, *, manner: Manner, on_text: Callable[[str], None] | None = None) -> Reply:
        began = time.monotonic()
        reply = once(self.caller, request, manner=manner, deadline=self.deadline, on_text=on_text)
        self.told(request, reply, time.monotonic() - began)
        return reply

    def given(self, request: Request, *, family: str) -> Reply:
        began = time.monotonic()
        reply = given_reply(self.caller, request, family=family, deadline=self.deadline)
        self.told(request, reply, time.monotonic() - began)
        return reply


def probe(caller: Caller, *, told: Told) -> Capabilities:
    """Find what a model can do: three short calls, a fourth where likelihoods may be had, and looks that cost nothing.

    Args:
        caller: of the server.
        told: every call that was answered, as soon as it was, for the bill.

    Raises:
        ModelBusy, ModelRefused: the model does not answer the plainest call.
    """
    asking = _Probing(caller, time.monotonic() + caller.profile.timeout_seconds, told)
    manner, first = _first(asking)
    tokens = _TOKENS_OF_THINKERS if first.thinking else _TOKENS
    plain = Request(_ASKED, tokens)
    around = surroundings(caller, deadline=asking.deadline)
    schema = _try(lambda: asking.once(replace(plain, schema=_SCHEMA, max_tokens=4 * tokens), manner=manner))
    pieces: list[str] = []
    streamed = _try(lambda: asking.once(plain, manner=replace(manner, stream=True), on_text=pieces.append))
    return Capabilities(
        context_tokens=around.context_tokens or caller.profile.context_tokens,
        schema=schema is not None and _follows(schema.text),
        logprobs=max((len(token.alternatives) for token in first.tokens), default=0),
        likelihood=_has_likelihood(asking, around, manner=manner),
        system=manner.system,
        thinking=any(reply is not None and bool(reply.thinking) for reply in (first, schema, streamed)),
        streaming=streamed is not None,
    )


def _first(asking: _Probing) -> tuple[Manner, Reply]:
    """The plainest call, with as much beside it as the server takes."""
    for manner, request in _attempts():
        try:
            return manner, asking.once(request, manner=manner)
        except ModelRefused as error:
            if error.status not in UNSUITED:
                raise
            refused = error
    raise refused


def _attempts() -> Iterator[tuple[Manner, Request]]:
    for system in (True, False):
        for count in _ALTERNATIVES:
            yield Manner(system=system), Request(_ASKED, _TOKENS, top_logprobs=count)


def _try(call: Callable[[], Reply]) -> Reply | None:
    """A reply; None where the server turns this kind of request down."""
    try:
        return call()
    except ModelRefused as error:
        if error.status not in UNSUITED:
            raise
        _log.info("not offered: %s", error)
        return None


def _follows(text: str) -> bool:
    found = parsed(text)
    return isinstance(found, dict) and found.keys() == {"answer"} and found["answer"] in ("yes", "no")


def _has_likelihood(asking: _Probing, around: Surroundings, *, manner: Manner) -> bool:
    if around.family not in ("vllm", "llama.cpp"):
        return False
    messages = _ASKED if manner.system else _ASKED[1:]
    try:
        reply = asking.given(Request(messages, _TOKENS, given="yes"), family=around.family)
    except ModelRefused as error:
        _log.info("no likelihoods: %s", error)
        return False
    return bool(reply.tokens)


def _told(
    caller: Caller, address: str, *, deadline: float, body: Mapping[str, object] | None = None
) -> Mapping[str, Any]:
    """What a list of the server says; nothing where it has none."""
    try:
        return caller.ask(address, body, timeout_seconds=max(deadline - time.monotonic(), 0.001))
    except (ModelRefused, ModelBusy) as error:
        _log.info("nothing told: %s", error)
        return {}


def _entry(lists: Mapping[str, Any], model: str) -> Mapping[str, Any]:
    """The entry of a model in a list, or the only one there is."""
    entries = [one for one in lists.get("data") or lists.get("models") or () if isinstance(one, dict)]
    named = [one for one in entries if model in (one.get("id"), one.get("model"), one.get("name"))]
    found = named or (entries if len(entries) == 1 else [])
    return found[0] if found else {}


def _of_ollama(shown: Mapping[str, Any]) -> int:
    words = str(shown.get("parameters") or "").split()
    set_to = next((value for name, value in itertools.pairwise(words) if name == "num_ctx"), "")
    if set_to.isdigit():
        return int(set_to)
    told = [_size(value) for name, value in dict(shown["model_info"]).items() if name.endswith(".context_length")]
    return min([_OLLAMA_DEFAULT, *(size for size in told if size)])


def _size(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None
