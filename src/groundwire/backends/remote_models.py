"""Language models behind an OpenAI-compatible endpoint: vLLM, Ollama, llama.cpp, LM Studio, a cloud.

Nothing leaves for another host than the one in the profile's ``base_url``: no redirect is followed, and a proxy of the
environment is not used. Nothing of the environment is sent along, and nothing is repeated.
"""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Literal

from groundwire.backends.remote_calls import Caller, Manner, once
from groundwire.backends.remote_faults import is_overflow
from groundwire.backends.remote_given import given_reply
from groundwire.backends.remote_probe import UNSUITED, Surroundings, probe, surroundings
from groundwire.backends.remote_profile import Profile
from groundwire.core.errors import ModelRefused, UsageError
from groundwire.core.language import Capabilities, Reply, Request
from groundwire.core.secrets import Secret

__all__ = ["Profile", "RemoteModel"]

_SCHEMAS: tuple[Literal["native", "object", "prompt"], ...] = ("native", "object", "prompt")

_log = logging.getLogger(__name__)


class RemoteModel:
    """A model of a profile; safe to call from several threads, also inside a running event loop.

    What the server does not take is done otherwise where that is possible, and said (a warning in the log, a line in
    ``notes``): a schema is put into the prompt, a stream becomes a whole reply, a system's turn part of the user's
    first. Whether a reply follows its schema is for its reader to check, whoever promised it.
    """

    def __init__(
        self, name: str, profile: Profile, *, key: Secret | None = None, capabilities: Capabilities | None = None
    ) -> None:
        """Name a model; nothing is called yet.

        Args:
            name: what it is called in ids: ``http:NAME``.
            profile: where it is.
            key: None where the server wants none, or none was found: a profile that wants one is then refused at the
                first call, before anything is sent.
            capabilities: what an earlier probe found; None: it is probed when it is asked for.
        """
        self.id = f"http:{name}"
        self.profile = profile
        self._caller = Caller(self.id, profile, key=key)
        self._capabilities = capabilities
        self._probes: list[tuple[Request, Reply, float]] = []
        self._around: Surroundings | None = None
        self._probing, self._looking = threading.Lock(), threading.Lock()
        self._schema = 0
        self._streams = True
        self._notes: dict[str, str] = {}
        if key is not None and profile.base_url.startswith("http://") and not profile.is_local:
            self._note("key", f"the key goes unencrypted to {profile.base_url}; https would hide it")

    @property
    def notes(self) -> tuple[str, ...]:
        """What this model was found to do otherwise than asked, a sentence each."""
        return tuple(self._notes.values())

    def capabilities(self) -> Capabilities:
        """What the model can do: what was handed over, or else probed once, with three or four short calls.

        Raises:
            ModelBusy, ModelRefused: the model does not answer.
            MissingExtra: the extra 'remote' is not installed.
        """
        with self._probing:
            if self._capabilities is None:
                self._capabilities = probe(
                    self._caller, told=lambda request, reply, seconds: self._probes.append((request, reply, seconds))
                )
            return self._capabilities

    def take_probes(self) -> tuple[tuple[Request, Reply, float], ...]:
        """The calls that ``capabilities`` made and that were answered, with their seconds; each is handed over once."""
        with self._probing:
            taken, self._probes = tuple(self._probes), []
        return taken

    def reply(self, request: Request, *, timeout_seconds: float, on_text: Callable[[str], None] | None = None) -> Reply:
        """Make one call, once.

        A server that turns down a schema or a stream is asked again without, in the same time; it took no tokens. Where
        a stream closes a thought that it never opened, the thought was told as text, but is not in the reply.

        Args:
            request: what is asked.
            timeout_seconds: how long the whole call may take, from connecting to the last byte; loading the engine at
                the first call, about a second, comes on top.
            on_text: told every piece of the reply as it comes; the whole at once where the server does not stream.

        Raises:
            ModelBusy: it may work later.
            ModelRefused: it will never work like this; also without the key that the profile wants.
            UsageError: the request makes no sense, or wants what a probe found missing.
            MissingExtra: the extra 'remote' is not installed.
        """
        self._check(request, timeout_seconds)
        self._caller.open()
        deadline = time.monotonic() + timeout_seconds
        if request.given:
            return self._given(request, deadline=deadline, on_text=on_text)
        refused: ModelRefused | None = None
        for manner in self._manners(request, deadline=deadline, told=on_text is not None):
            try:
                reply = once(self._caller, request, manner=manner, deadline=deadline, on_text=on_text)
            except ModelRefused as error:
                if error.status not in UNSUITED or is_overflow(str(error)):
                    raise
                refused = refused or error
                continue
            self._remember(manner, request, told=on_text is not None)
            if request.top_logprobs and not reply.tokens:
                self._note("logprobs", "log-probabilities were asked for, but the server gave none")
            return reply
        assert refused is not None  # noqa: S101 - there is always one manner, and it replied or was refused
        raise refused

    def close(self) -> None:
        """Close the connections; the next call opens them anew."""
        self._caller.close()

    def _check(self, request: Request, timeout_seconds: float) -> None:
        if not 0 < timeout_seconds < math.inf:
            raise UsageError(f"timeout_seconds is {timeout_seconds}; it must be above 0 and finite")
        if not request.messages or request.max_tokens < 1:
            raise UsageError(
                f"a request needs a message and max_tokens of 1 or more; this one has {len(request.messages)} "
                f"and {request.max_tokens}"
            )
        can = self._capabilities
        if can is None:
            return
        if request.top_logprobs > can.logprobs:
            raise UsageError(
                f"{request.top_logprobs} alternatives of every token are asked for; {self.id} gives {can.logprobs}"
            )
        if request.given and not can.likelihood:
            raise UsageError(f"the likelihood of a given text is asked for; {self.id} does not offer it")

    def _given(self, request: Request, *, deadline: float, on_text: Callable[[str], None] | None) -> Reply:
        family = self._surroundings(deadline).family
        if family not in ("vllm", "llama.cpp"):
            raise UsageError(f"the likelihood of a given text is asked for; the server of {self.id} does not offer it")
        reply = given_reply(self._caller, request, family=family, deadline=deadline)
        if on_text is not None:
            on_text(reply.text)
        return reply

    def _surroundings(self, deadline: float) -> Surroundings:
        with self._looking:
            if self._around is None:
                self._around = surroundings(self._caller, deadline=deadline)
            return self._around

    def _manners(self, request: Request, *, deadline: float, told: bool) -> Iterator[Manner]:
        """How the request may be put, the best first; what was turned down before is not tried again."""
        can = self._capabilities
        system = can is None or can.system
        if not system and any(one.speaker == "system" for one in request.messages):
            self._note("system", "the model takes no system's turn; it is put before the user's first")
        base = Manner(system=system)
        if request.messages[-1:] and request.messages[-1].speaker == "assistant":
            base = replace(base, continuing=self._surroundings(deadline).continuing)
        first = max(self._schema, 1 if can is not None and not can.schema else 0)
        streams = (True, False) if told and self._streams and (can is None or can.streaming) else (False,)
        for schema in _SCHEMAS[first:] if request.schema else _SCHEMAS[:1]:
            for stream in streams:
                yield replace(base, schema=schema, stream=stream)

    def _remember(self, manner: Manner, request: Request, *, told: bool) -> None:
        if request.schema and manner.schema != "native":
            self._schema = _SCHEMAS.index(manner.schema)
            self._note("schema", "the server takes no JSON Schema; the schema stands in the prompt instead")
        if told and not manner.stream:
            self._streams = False
            self._note("stream", "the server does not stream; replies come whole")

    def _note(self, about: str, sentence: str) -> None:
        if about not in self._notes:
            self._notes[about] = sentence
            _log.warning("%s: %s", self.id, sentence)
