"""Where a remote model is and what it costs, as settings name it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

from groundwire.backends.remote_faults import parsed
from groundwire.core.errors import SettingError


@dataclass(frozen=True, slots=True)
class Profile:
    """An endpoint and a model behind it, as settings name them.

    Attributes:
        base_url: of the OpenAI-compatible interface; mostly ends in ``/v1``. It may hold no user, password or query.
        model: the name that the server knows.
        key_variable: the environment variable that holds the key; empty: the server wants none.
        context_tokens: how much the model can hold, where its server does not tell; None: unknown.
        input_price: for a million tokens read, in ``currency``; None: unknown.
        output_price: for a million tokens written.
        currency: of the prices.
        max_concurrency: calls at once, 1 and up; also how many idle connections are kept.
        timeout_seconds: of a whole call.
        connect_seconds: until the connection stands, the name's resolution included. Short, so that a server that is
            not there is said at once; raise it for one that is far away.
        max_tokens_field: the name of the request's field for the length of the reply.
        extra: more fields of the request, as a JSON object; null leaves one of ours out.
    """

    base_url: str
    model: str
    key_variable: str = ""
    context_tokens: int | None = None
    input_price: float | None = None
    output_price: float | None = None
    currency: str = "USD"
    max_concurrency: int = 4
    timeout_seconds: float = 120.0
    connect_seconds: float = 0.9
    max_tokens_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    extra: str = ""

    def __post_init__(self) -> None:
        """Check the fields.

        Raises:
            SettingError: one of them cannot be used; the message names it.
        """
        _check_url(self.base_url)
        if not self.model:
            raise SettingError("model is empty; name the model as the server knows it")
        for name in ("context_tokens", "max_concurrency"):
            number = getattr(self, name)
            if number is not None and number < 1:
                raise SettingError(f"{name} is {number}; it must be 1 or more")
        for name in ("timeout_seconds", "connect_seconds", "input_price", "output_price"):
            number = getattr(self, name)
            least = 0 if name.endswith("price") else math.nextafter(0, 1)
            if number is not None and not least <= number < math.inf:
                raise SettingError(f"{name} is {number}; it must be {'0 or more' if least == 0 else 'above 0'}")
        self.more_fields()

    def more_fields(self) -> dict[str, object]:
        """``extra`` as an object; empty where there is none."""
        return _fields(self.extra)

    @property
    def address(self) -> tuple[str, int]:
        """Host and port of ``base_url``."""
        parts = urlsplit(self.base_url)
        return parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)

    @property
    def is_local(self) -> bool:
        """Whether ``base_url`` names this machine."""
        host, _ = self.address
        return host in ("localhost", "::1") or host.startswith("127.") or host.endswith(".localhost")

    @property
    def root(self) -> str:
        """``base_url`` without its ``/v1``: what a server offers beside the common interface lies there."""
        return self.base_url.rstrip("/").removesuffix("/v1")


def _fields(extra: str) -> dict[str, object]:
    found = parsed(extra or "{}")
    if not isinstance(found, dict):
        raise SettingError(f"extra must be a JSON object of request fields, got {extra[:60]!r}")
    kept = sorted({"messages", "model", "stream", "stream_options"} & found.keys())
    if kept:
        raise SettingError(f"extra sets {', '.join(kept)}; groundwire sets these itself")
    return found


def _check_url(url: str) -> None:
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        usable = False
    if not usable:
        raise SettingError(
            f"base_url is {url.rpartition('@')[2]!r}; it must be an address such as http://localhost:8000/v1"
        )
    if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
        raise SettingError("base_url holds a user, password or query; keys come from the environment (key_variable)")
