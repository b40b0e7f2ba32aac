"""What a server's words are read as; the faults themselves are played in test_remote_models.py."""

import socket
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire.backends import remote_faults as faults
from groundwire.core.errors import ModelBusy, ModelRefused
from groundwire.core.secrets import Secret, hide

KEY = Secret("sk-test-CANARY")
SERVER = faults.Server("http:x", "http://host/v1", "m", "KEY", lambda text: hide(text, [KEY]))
NO_KEY = faults.Server("http:x", "http://host/v1", "m", "", lambda text: text)
DATE = "Mon, 30 Nov 2026 20:00:00 GMT"


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "3"}, 3.0),
        ({"retry-after": " 2.5 "}, 2.5),
        ({"retry-after": "0"}, 0.0),
        ({"retry-after": "-4"}, 0.0),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "later"}, None),
        ({"retry-after": ""}, None),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after-ms": "x", "retry-after": "9"}, 9.0),
        ({"retry-after": "Mon, 30 Nov 2026 20:01:30 GMT", "date": DATE}, 90.0),
        ({"retry-after": "Mon, 30 Nov 2026 21:01:30 +0100", "date": DATE}, 90.0),
        ({"retry-after": "Mon, 30 Nov 2026 20:01:30 -0000", "date": DATE}, 90.0),
        ({"retry-after": "Mon, 30 Nov 2026 19:00:00 GMT", "date": DATE}, 0.0),
    ],
)
def test_how_long_to_wait_is_read_from_the_headers(headers: dict[str, str], seconds: float | None) -> None:
    assert faults.retry_after(headers) == seconds


def test_a_date_without_the_servers_clock_is_compared_with_ours() -> None:
    at = format_datetime(datetime.now(UTC) + timedelta(seconds=60), usegmt=True)

    found = faults.retry_after({"retry-after": at})

    assert found is not None
    assert 50 < found <= 61


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ('{"error": {"message": "bad"}}', "bad"),
        ('{"error": {"type": "overloaded_error"}}', "overloaded_error"),
        ('{"error": {"code": 7}}', "7"),
        ('{"error": {}}', ""),
        ('{"error": "bad"}', "bad"),
        ('{"object": "error", "message": "bad", "code": 400}', "bad"),
        ('{"message": "bad"}', "bad"),
        ('{"detail": "Not Found"}', "Not Found"),
        ('{"detail": [{"loc": ["body"], "msg": "bad"}]}', '[{"loc": ["body"], "msg": "bad"}]'),
        ('{"other": 1}', '{"other": 1}'),
        ("[1, 2]", "[1, 2]"),
        ("", ""),
        ("plain words", "plain words"),
        ("<html><style>b{}</style><script>x < 1</script><h1>Bad\n Gateway</h1></html>", "Bad Gateway"),
        ("[" * 100_000, "[" * 299 + "…"),
        ("x" * 5000, "x" * 299 + "…"),
        ("a\x00b\x07c\u202ed\u200be\tf\r\ng", "abcde f g"),
        ("\x1b[31mred\x1b[0m \x1b]0;title\x07 \x1b]8;;http://x\x1b\\link\x1bM end", "red link end"),
    ],
)
def test_a_reason_is_one_short_clean_line(body: str, reason: str) -> None:
    assert faults.reason_of(body, SERVER) == reason


@given(st.text(max_size=400), st.text(max_size=100))
def test_no_text_of_a_server_brings_the_key_or_control_characters(before: str, after: str) -> None:
    shown = faults.reason_of(before + KEY.reveal() + after, SERVER)

    assert KEY.reveal() not in shown
    assert len(shown) <= faults.MOST_REASON
    assert shown.isprintable() or not shown


@pytest.mark.parametrize(
    ("error", "kind", "status"),
    [
        ({"code": 429}, ModelBusy, 429),
        ({"code": "503"}, ModelBusy, 503),
        ({"status": 529}, ModelBusy, 529),
        ({"message": "whatever"}, ModelBusy, 500),
        ({"type": "rate_limit_error"}, ModelBusy, 429),
        ({"type": "overloaded_error"}, ModelBusy, 503),
        ({"message": "Rate limit reached"}, ModelBusy, 429),
        ({"code": "insufficient_quota"}, ModelRefused, 429),
        ({"type": "authentication_error"}, ModelRefused, 401),
        ({"code": "invalid_api_key"}, ModelRefused, 401),
        ({"type": "permission_error"}, ModelRefused, 403),
        ({"code": "model_not_found"}, ModelRefused, 404),
        ({"type": "BadRequestError", "code": 400}, ModelRefused, 400),
        ({"type": "BadRequestError"}, ModelRefused, 400),
        ({"code": 200, "type": "invalid_request_error"}, ModelRefused, 400),
        ({"code": "²", "type": "invalid_request_error"}, ModelRefused, 400),
    ],
)
def test_an_error_inside_a_good_answer_is_read_as_the_error_it_is(
    error: dict[str, object], kind: type[ModelBusy | ModelRefused], status: int
) -> None:
    fault = faults.of_error(error, SERVER)

    assert isinstance(fault, kind)
    assert fault.status == status
    assert "HTTP 200 with an error in it from http://host/v1" in str(fault)


def test_a_server_that_wants_a_key_where_the_profile_names_none_says_where_to_name_it() -> None:
    fault = faults.of_answer(faults.Answer(401, {}, ""), NO_KEY)

    assert "name its environment variable as key_variable" in str(fault)


def chained(error: Exception, cause: BaseException) -> Exception:
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "said", "connected"),
    [
        (chained(OSError("x"), socket.gaierror(-2, "unknown")), "the name of the host is not known here", False),
        (chained(OSError("x"), ConnectionRefusedError(111, "refused")), "nothing listens there", False),
        (TimeoutError("no connection to host:80 within 0.9 seconds"), "within 0.9 seconds. Is it up", False),
        (OSError(101, "Network is unreachable"), "Network is unreachable. Is it up", False),
        (OSError(113, "No route to host"), "No route to host. Is it up", False),
        (type("ConnectError", (Exception,), {})("all attempts failed"), "all attempts failed. Is it up", False),
        (type("ConnectTimeout", (Exception,), {})(""), "no connection. Is it up", False),
        (type("ReadTimeout", (Exception,), {})(""), "no whole reply within 1 seconds", True),
        (ConnectionResetError(), "the connection broke off (ConnectionResetError)", True),
        (OSError(32, "Broken pipe"), "the connection broke off", True),
    ],
)
def test_a_failed_connection_says_what_failed_and_whether_there_was_one(
    error: Exception, said: str, connected: bool
) -> None:
    fault = faults.of_connection(error, SERVER, timeout_seconds=1)

    assert isinstance(fault, ModelBusy)
    assert said in str(fault)
    assert fault.connected is connected


def test_causes_that_go_in_a_circle_are_read_once() -> None:
    first, second = OSError("first"), OSError("second")
    first.__cause__, second.__cause__ = second, first

    assert "second" in str(faults.of_connection(first, SERVER, timeout_seconds=1))


@pytest.mark.parametrize(
    ("text", "is_it"),
    [
        ("This model's maximum context length is 8192 tokens", True),
        ("the request exceeds the available context size", True),
        ("prompt is too long: 9000 tokens", True),
        ("context_length_exceeded", True),
        ("top_logprobs exceeds the maximum of 5", False),
        ("response_format is not supported", False),
    ],
)
def test_an_overflow_is_known_by_its_words(text: str, *, is_it: bool) -> None:
    assert faults.is_overflow(text) is is_it
