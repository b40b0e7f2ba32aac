"""What a server's refusal or silence means: whether it may work later, what the server said, and what to do."""

from __future__ import annotations

import errno
import json
import math
import re
import socket
import ssl
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from groundwire.core.errors import ModelBusy, ModelError, ModelRefused

MOST_REASON = 300
"""Characters of a server's own words that a message shows."""
_LATER = frozenset({408, 409, 423, 425, 429, 500, 502, 503, 504, 506, 507, 508, 509, 529})
_SERVER_FAULTS = range(500, 600)
_HUNG_UP = (ssl.SSLEOFError, ssl.SSLZeroReturnError)
"""As a server does that is starting or stopping, whatever its certificate is."""
_NO_WAY = frozenset({errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ENETDOWN, errno.EHOSTDOWN, errno.EADDRNOTAVAIL})
_NEVER = frozenset({501, 505})
_UNPAID = ("insufficient_quota", "billing", "credit_balance", "payment")
_OVERFLOW = re.compile(
    r"context[ _-]?(?:length|size|window)|maximum context|too many (?:input )?tokens|max_model_len"
    r"|(?:prompt|input|request) is too long",
    re.IGNORECASE,
)
_BY_WORD = (
    ("rate_limit", 429), ("too_many", 429), ("quota", 429), ("overloaded", 503), ("unavailable", 503), ("timeout", 504),
    ("authentication", 401), ("api_key", 401), ("permission", 403), ("not_found", 404), ("context_length", 400),
    ("content_policy", 400), ("invalid", 400), ("bad_request", 400), ("badrequest", 400),
)  # fmt: skip
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|.)?", re.DOTALL)
_TAGS = re.compile(r"<(?:script|style)\b.*?</(?:script|style)\s*>|<[^>]*>", re.DOTALL | re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Server:
    """Who was called, for messages.

    Attributes:
        id: of the model, as the registry knows it.
        base_url: as the profile has it.
        model: the name the server was asked for.
        key_variable: the environment variable of the key; empty: none is used.
        hide: takes the key out of a text.
    """

    id: str
    base_url: str
    model: str
    key_variable: str
    hide: Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Answer:
    """What came instead of a reply: the status, the headers (names in lower case) and the body."""

    status: int
    headers: Mapping[str, str]
    body: str


def of_answer(answer: Answer, server: Server) -> ModelError:
    """The fault that an answer with a status other than 200 stands for."""
    error = error_in(parsed(answer.body)) or {}
    words = f"{error.get('type', '')} {error.get('code', '')}".lower()
    reason = reason_of(answer.body, server)
    said = f"{server.id}: HTTP {answer.status} from {server.base_url}" + (f": {reason}" if reason else "")
    if _is_passing(answer.status) and not any(word in words for word in _UNPAID):
        return ModelBusy(said, retry_after=retry_after(answer.headers), status=answer.status)
    return ModelRefused(f"{said.rstrip('.')}. {_advice(answer, reason, server)}", status=answer.status)


def of_error(error: Mapping[str, object], server: Server) -> ModelError:
    """The fault that an error inside an answer with status 200 stands for; one that says nothing may pass."""
    status = next((code for code in (error.get("code"), error.get("status")) if _is_status(code)), None)
    if status is None:
        words = f"{error.get('type', '')} {error.get('code', '')} {error.get('message', '')}".lower().replace(" ", "_")
        status = next((status for word, status in _BY_WORD if word in words), 500)
    fault = of_answer(Answer(int(str(status)), {}, json.dumps({"error": dict(error)})), server)
    said = str(fault).replace(f"HTTP {status} from", "HTTP 200 with an error in it from", 1)
    return (
        ModelBusy(said, status=fault.status)
        if isinstance(fault, ModelBusy)
        else ModelRefused(said, status=int(str(status)))
    )


def of_connection(error: BaseException, server: Server, *, timeout_seconds: float) -> ModelError:
    """The fault that a failed or broken connection stands for."""
    causes = tuple(_causes(error))
    for cause in causes:
        if isinstance(cause, ssl.SSLError) and not isinstance(cause, _HUNG_UP):
            return ModelRefused(
                f"{server.id}: no safe connection to {server.base_url}: {clean(str(cause), server)}. Correct http or "
                f"https in base_url, or name the authority's certificate in the environment variable SSL_CERT_FILE"
            )
    here = f"{server.id}: {server.base_url}"
    if any(isinstance(cause, socket.gaierror) for cause in causes):
        said = f"{here}: the name of the host is not known here. Correct base_url, or join its network"
        return ModelBusy(said, connected=False)
    if any(isinstance(cause, ConnectionRefusedError) for cause in causes):
        return ModelBusy(f"{here}: nothing listens there. Start the server, or correct base_url", connected=False)
    kinds = {type(cause).__name__ for cause in causes}
    if kinds & {"ReadTimeout", "WriteTimeout"}:
        return ModelBusy(f"{here}: no whole reply within {timeout_seconds:.3g} seconds; a longer time-out may help")
    if any(isinstance(cause, TimeoutError) for cause in causes) or kinds & {"ConnectTimeout", "ConnectError"}:
        said = f"{here}: {clean(str(causes[-1]), server) or 'no connection'}. Is it up, and is there a network?"
        return ModelBusy(said, connected=False)
    if any(isinstance(cause, OSError) and cause.errno in _NO_WAY for cause in causes):
        said = f"{here}: {clean(str(causes[-1]), server)}. Is it up, and is there a network?"
        return ModelBusy(said, connected=False)
    return ModelBusy(f"{here}: the connection broke off ({clean(str(causes[-1]), server) or type(error).__name__})")


def is_overflow(text: str) -> bool:
    """Whether a server's words, or a message with them, say that a request is longer than the model can hold."""
    return _OVERFLOW.search(text) is not None


def error_in(body: object) -> Mapping[str, object] | None:
    """The error that a JSON body reports, in any of the usual forms; None where it reports none."""
    if not isinstance(body, dict):
        return None
    error = body.get("error")
    if isinstance(error, dict):
        return error
    if isinstance(error, str) and error:
        return {"message": error}
    if body.get("object") == "error" or ("message" in body and "choices" not in body):
        return body
    detail = body.get("detail")
    return {"message": detail if isinstance(detail, str) else json.dumps(detail)} if detail else None


def parsed(body: str) -> object:
    """A body as JSON; None where it is none."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def reason_of(body: str, server: Server) -> str:
    """What the server said, as one short line without key, escapes, markup and control characters."""
    found = parsed(body)
    error = error_in(found)
    if error is not None:
        return clean(str(error.get("message") or error.get("type") or error.get("code") or ""), server)
    return clean(body if isinstance(found, dict) else _TAGS.sub(" ", body), server)


def clean(text: str, server: Server) -> str:
    """One short line of somebody else's text, safe for a terminal and a log; the key is hidden before it is cut."""
    text = _ESCAPES.sub("", text[: 100 * MOST_REASON])
    text = "".join(" " if char.isspace() else char for char in text if char.isspace() or _is_shown(char))
    text = " ".join(server.hide(text).split())
    return text if len(text) <= MOST_REASON else text[: MOST_REASON - 1] + "…"


def retry_after(headers: Mapping[str, str]) -> float | None:
    """How many seconds the server asks to wait: from ``retry-after-ms`` or ``Retry-After``, seconds or a date.

    A date is compared with the server's own clock where the answer has it. None where nothing readable is said.
    """
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "")) / unit
        except ValueError:
            continue
        if math.isfinite(seconds):
            return max(0.0, seconds)
    at = _date(headers.get("retry-after", ""))
    now = _date(headers.get("date", "")) or datetime.now(UTC)
    return None if at is None else max(0.0, (at - now).total_seconds())


def _date(text: str) -> datetime | None:
    try:
        found = parsedate_to_datetime(text)
    except ValueError:
        return None
    return found.replace(tzinfo=UTC) if found.tzinfo is None else found


def _is_passing(status: int) -> bool:
    return status in _LATER or (status in _SERVER_FAULTS and status not in _NEVER)


def _is_status(code: object) -> bool:
    return str(code).isascii() and str(code).isdigit() and 400 <= int(str(code)) <= 599


def _is_shown(char: str) -> bool:
    return unicodedata.category(char) not in ("Cc", "Cf", "Co", "Cs", "Cn")


def _advice(answer: Answer, reason: str, server: Server) -> str:
    status = answer.status
    if 300 <= status < 400:
        return "A redirect is not followed: the key would go along. Correct base_url"
    if status in (401, 403):
        if not server.key_variable:
            return "It wants a key: name its environment variable as key_variable in the profile"
        return f"Check the key in the environment variable {server.key_variable}, and what it may be used for"
    if status in (402, 429):
        return "The account is out of credit: waiting does not help"
    if status == 413 or is_overflow(f"{reason} {answer.body[:2000]}"):
        return "The request is too long for the model: ask for fewer sources or tokens, or take a longer context"
    if status == 404:
        return f"Check that the server has the model '{server.model}' and that base_url is right (most end in /v1)"
    if "max_completion_tokens" in answer.body:
        return "Set max_tokens_field to 'max_completion_tokens' in the profile"
    return "The request does not suit this server: see 'extra' in the profile for fields to add or leave out"


def _causes(error: BaseException) -> Iterator[BaseException]:
    """The error and what caused it, outermost first."""
    seen: set[int] = set()
    found: BaseException | None = error
    while found is not None and id(found) not in seen:
        seen.add(id(found))
        yield found
        found = found.__cause__ or found.__context__
