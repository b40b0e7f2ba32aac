"""The way to one host; what a whole call meets is in test_remote_models.py."""

import logging
import socket
import time

import pytest

import stub_server as stub
from stub_server import StubServer

pytest.importorskip("openai", reason="the extra 'remote' is not installed")

import httpcore2
import httpx2

from groundwire.backends import remote_wire
from groundwire.backends.remote_wire import Limits, Wire, open_client
from groundwire.core.errors import ModelRefused
from groundwire.core.secrets import Secret

LIMITS = Limits(connect_seconds=0.5, most_bytes=1000, connections=2)


def get(wire: Wire, url: str, *, seconds: float = 5.0) -> httpx2.Response:
    with httpx2.Client(transport=wire, trust_env=False, timeout=seconds) as client:
        return client.get(url)


@pytest.mark.parametrize("url", ["http://localhost:{}/", "http://127.0.0.1:1/", "https://127.0.0.1:{}/"])
def test_another_host_port_or_scheme_is_not_called(url: str) -> None:
    with StubServer(paths={"/": {}}) as server:
        wire = Wire(server.base_url, key=None, agent="test", limits=LIMITS)
        if url.startswith("https"):
            with pytest.raises((httpcore2.ConnectError, OSError)):
                get(wire, url.format(server.port))
        else:
            with pytest.raises(ModelRefused, match=rf"only 127\.0\.0\.1:{server.port} may be called"):
                get(wire, url.format(server.port))
    assert server.others == []


@pytest.mark.parametrize(
    ("base_url", "host", "port"),
    [
        ("https://models.example/v1", "models.example", 443),
        ("http://Models.Example/v1", "models.example", 80),
        ("http://münchen.example:8/v1", "xn--mnchen-3ya.example", 8),
        ("http://[::1]:9/v1", "::1", 9),
    ],
)
def test_the_host_of_an_address_is_called_as_the_engine_writes_it(
    base_url: str, host: str, port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str, int]] = []

    def unknown(name: str, number: int, *, seconds: float) -> tuple[str, ...]:
        asked.append((name, number))
        raise socket.gaierror(-2, f"unknown, {seconds:.0f}")

    monkeypatch.setattr(remote_wire, "numbers_of", unknown)

    with pytest.raises(httpcore2.ConnectError, match="unknown"):
        get(Wire(base_url, key=None, agent="test", limits=LIMITS), base_url)
    assert asked == [(host, port)]


def test_the_next_number_of_a_name_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote_wire, "numbers_of", lambda *_, **__: ("127.0.0.2", "127.0.0.1"))

    with StubServer(paths={"/": {"a": 1}}) as server:
        assert get(Wire(server.root, key=None, agent="test", limits=LIMITS), server.root).json() == {"a": 1}


def test_where_no_number_answers_the_last_reason_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote_wire, "numbers_of", lambda *_, **__: ("127.0.0.2", "127.0.0.3"))

    with StubServer() as server, pytest.raises(httpcore2.ConnectError, match="refused"):
        get(Wire(server.root, key=None, agent="test", limits=LIMITS), server.root)


def test_connecting_ends_in_its_own_time(monkeypatch: pytest.MonkeyPatch) -> None:
    def slow(*_: object, seconds: float) -> tuple[str, ...]:
        time.sleep(seconds)
        return ("127.0.0.1",)

    monkeypatch.setattr(remote_wire, "numbers_of", slow)

    with StubServer() as server:
        with pytest.raises(httpcore2.ConnectTimeout, match=rf"no connection to 127.0.0.1:{server.port} within 0\.5"):
            get(Wire(server.root, key=None, agent="test", limits=LIMITS), server.root)
        assert server.others == []


def test_a_slow_resolver_is_a_time_out_of_connecting(monkeypatch: pytest.MonkeyPatch) -> None:
    def slow(*_: object, seconds: float) -> tuple[str, ...]:
        raise TimeoutError(f"not resolved within {seconds:.1f}")

    monkeypatch.setattr(remote_wire, "numbers_of", slow)

    with pytest.raises(httpcore2.ConnectTimeout, match=r"not resolved within 0\.5"):
        get(Wire("http://host", key=None, agent="test", limits=LIMITS), "http://host")


def test_the_key_stands_in_the_header_alone() -> None:
    key = Secret("sk-test-CANARY")
    with StubServer(paths={"/": {}}) as server:
        answer = get(Wire(server.root, key=key, agent="test/1", limits=LIMITS), server.root)

    assert server.others[0].headers["authorization"] == "Bearer sk-test-CANARY"
    assert server.others[0].headers["user-agent"] == "test/1"
    assert "authorization" not in answer.request.headers
    assert "CANARY" not in repr(answer.request.headers)


def test_a_client_holds_no_key_and_repeats_nothing() -> None:
    with StubServer([stub.status(500), stub.ok()]) as server:
        wire = Wire(server.base_url, key=Secret("sk-test-CANARY"), agent="test", limits=LIMITS)
        with open_client(server.base_url, wire, key=Secret("sk-test-CANARY")) as client:
            assert client.max_retries == 0
            assert "CANARY" not in client.api_key
            assert client.organization == client.project == ""


def test_a_key_in_an_error_that_an_engine_logs_is_hidden(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    log = logging.getLogger("openai._base_client")
    with StubServer() as server:
        wire = Wire(server.base_url, key=Secret("sk-test-CANARY"), agent="test", limits=LIMITS)
        open_client(server.base_url, wire, key=Secret("sk-test-CANARY")).close()
    for text in ("Location: https://x/?key=sk-test-CANARY", "nothing in it"):
        try:
            raise ValueError(text)
        except ValueError:
            log.debug("sk-test-CANARY in %s", "sk-test-CANARY", exc_info=True)

    assert "CANARY" not in caplog.text
    assert "*** in ***" in caplog.text
    assert "ValueError: Location: https://x/?key=***" in caplog.text
    assert "ValueError: nothing in it" in caplog.text


def test_an_encrypted_call_is_read_and_a_certificate_of_nobody_is_not_trusted(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    certificate = stub.certificate(tmp_path_factory.mktemp("certificate"))
    with StubServer(paths={"/": {"a": 1}}, certificate=certificate) as server:
        with pytest.raises(httpcore2.ConnectError, match=r"(?i)certificate"):
            get(Wire(server.root, key=None, agent="test", limits=LIMITS), server.root)
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        assert get(Wire(server.root, key=None, agent="test", limits=LIMITS), server.root).json() == {"a": 1}
