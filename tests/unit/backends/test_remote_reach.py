import socket
import time
from types import SimpleNamespace

import pytest

from groundwire.backends import remote_reach
from groundwire.backends.remote_reach import numbers_of, require_listening


def names(monkeypatch: pytest.MonkeyPatch, *numbers: str) -> None:
    found = [(0, 0, 0, "", (number, 80)) for number in numbers]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: found)


def connects(monkeypatch: pytest.MonkeyPatch, outcomes: dict[str, Exception | None]) -> list[str]:
    tried: list[str] = []

    def connect(address: tuple[str, int], timeout: float) -> SimpleNamespace:
        tried.append(address[0])
        assert timeout > 0
        outcome = outcomes[address[0]]
        if outcome is not None:
            raise outcome
        return SimpleNamespace(close=lambda: None)

    monkeypatch.setattr(socket, "create_connection", connect)
    return tried


def test_a_name_gives_its_numbers_in_order_and_each_once(monkeypatch: pytest.MonkeyPatch) -> None:
    names(monkeypatch, "192.0.2.2", "192.0.2.1", "192.0.2.2")

    assert numbers_of("host", 80, seconds=1) == ("192.0.2.2", "192.0.2.1")


def test_a_name_that_is_not_known_raises_the_resolvers_error() -> None:
    with pytest.raises(OSError, match=r".") as caught:
        numbers_of("no such host", 80, seconds=5)

    assert isinstance(caught.value, socket.gaierror)


def test_a_resolver_that_takes_too_long_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: time.sleep(0.3) or [])

    with pytest.raises(TimeoutError, match=r"the name host was not resolved within 0\.1 seconds"):
        numbers_of("host", 80, seconds=0.1)


def test_the_second_number_is_tried_when_the_first_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    names(monkeypatch, "a", "b", "c", "d")
    tried = connects(monkeypatch, {"a": TimeoutError(), "b": ConnectionRefusedError(), "c": None, "d": None})

    require_listening("host", 80, seconds=1)

    assert tried == ["a", "b", "c"]


def test_where_no_number_answers_the_last_reason_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    names(monkeypatch, "a", "b")
    connects(monkeypatch, {"a": TimeoutError(), "b": ConnectionRefusedError("refused")})

    with pytest.raises(ConnectionRefusedError, match="refused"):
        require_listening("host", 80, seconds=1)


def test_where_the_time_is_over_no_further_number_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    names(monkeypatch, "a", "b")
    clock = iter([0.0, 0.5, 1.5])
    monkeypatch.setattr(remote_reach.time, "monotonic", lambda: next(clock))
    tried = connects(monkeypatch, {"a": TimeoutError(), "b": None})

    with pytest.raises(TimeoutError, match="no connection to host:80 within 1 seconds"):
        require_listening("host", 80, seconds=1)
    assert tried == ["a"]
