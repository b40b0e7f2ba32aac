"""Real processes, a server and a ledger file: killed, interrupted, run twice at once, replayed without network."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from groundwire.core.errors import CannotDo, ModelBusy
from groundwire.core.language import Capabilities, Message, Request
from groundwire.core.secrets import Secret
from groundwire.flow.answers import RunGaveUp, RunRefused
from groundwire.flow.ledger import Ledger
from groundwire.flow.manifests import RunState, find_run, first_difference, runs_of
from groundwire.flow.pace import Limits
from groundwire.flow.traffic import Asking, ask
from stub_server import (
    Step,
    StubServer,
    as_json,
    cut_connection,
    cut_json,
    error_in_200,
    gzip_garbage,
    hang,
    ok,
    page,
    reset,
    status,
    wait_until,
    wrong_type,
)

pytest.importorskip("openai", reason="the extra 'remote' is not installed")
import asking_child
from groundwire.backends.remote_models import Profile, RemoteModel

COUNT = 200
AT_ONCE = 4
NOWHERE = "http://127.0.0.1:9/v1"


def answer(body: Any) -> Step:  # noqa: ANN401 - whatever JSON was sent
    question = body["messages"][-1]["content"]
    return Step(**{**vars(ok(f"reply to {question}")), "hold_seconds": 0.02})


def child(folder: Path, *, url: str, out: str, count: int = COUNT) -> subprocess.Popen[str]:
    words = [url, str(folder / "ledger"), str(folder / out), str(count)]
    return subprocess.Popen(
        [sys.executable, asking_child.__file__, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def finished(process: subprocess.Popen[str]) -> None:
    _, error = process.communicate(timeout=120)
    assert process.returncode == 0, error


def asked(server: StubServer) -> Counter[str]:
    return Counter(call.body["messages"][-1]["content"] for call in server.calls)


def test_killed_at_60_percent_and_run_again_nothing_but_what_was_under_way_is_paid_twice(tmp_path: Path) -> None:
    file, out = tmp_path / "ledger", tmp_path / "out"
    with StubServer([answer]) as server:
        killed = child(tmp_path, url=server.base_url, out="out")
        wait_until(lambda: len(server.calls) >= 0.6 * COUNT, seconds=60)
        killed.send_signal(signal.SIGKILL)
        killed.communicate()
        assert not out.exists()
        sent = len(server.calls)
        with pytest.raises(CannotDo, match="a replay makes no calls"):
            asking_child.work(server.base_url, file=file, out=out, count=COUNT, replay="last")
        assert len(server.calls) == sent < COUNT

        finished(child(tmp_path, url=server.base_url, out="out"))
        counts = asked(server)
        asking_child.work(server.base_url, file=tmp_path / "other", out=tmp_path / "whole", count=COUNT)

    with Ledger(file) as ledger:
        states = [run.state for run in runs_of(ledger)]
        under_way = ledger.bill(runs_of(ledger)[0].manifest.id).unanswered
        bill = ledger.bill()
    assert len(counts) == COUNT
    assert 0 <= sum(times - 1 for times in counts.values()) <= under_way <= AT_ONCE
    assert (bill.answered, bill.failed, bill.unanswered) == (COUNT, 0, under_way)
    assert states == [RunState.KILLED, RunState.DONE]
    assert out.read_bytes() == (tmp_path / "whole").read_bytes()


def test_what_the_ledger_has_needs_no_network(tmp_path: Path) -> None:
    file = tmp_path / "ledger"
    with StubServer([answer]) as server:
        asking_child.work(server.base_url, file=file, out=tmp_path / "out", count=30)
    assert asking_child.work(NOWHERE, file=file, out=tmp_path / "replayed", count=30, replay="last") == ()
    asking_child.work(NOWHERE, file=file, out=tmp_path / "again", count=30)
    assert (tmp_path / "out").read_bytes() == (tmp_path / "replayed").read_bytes() == (tmp_path / "again").read_bytes()
    with Ledger(file) as ledger:
        first, second = (run.manifest for run in runs_of(ledger))
        assert first_difference(ledger, first=first, second=second) is None
        assert ledger.bill(second.id).answered == 0


def test_an_interrupt_keeps_all_that_was_paid_for(tmp_path: Path) -> None:
    with StubServer([answer]) as server:
        interrupted = child(tmp_path, url=server.base_url, out="out")
        wait_until(lambda: len(server.calls) >= 50, seconds=60)
        interrupted.send_signal(signal.SIGINT)
        _, error = interrupted.communicate(timeout=60)
        assert "KeyboardInterrupt" in error
        with Ledger(tmp_path / "ledger") as ledger:
            bill = ledger.bill()
            assert find_run(ledger, "last").state == RunState.INTERRUPTED
        assert bill.answered == len(server.calls) < COUNT
        assert bill.unanswered == 0


def test_two_processes_on_one_ledger_pay_once(tmp_path: Path) -> None:
    with StubServer([answer]) as server:
        both = [child(tmp_path, url=server.base_url, out=name, count=60) for name in ("one", "two")]
        for process in both:
            finished(process)
        assert set(asked(server).values()) == {1}
        assert len(server.calls) == 60
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def model_at(server: StubServer, *, key: Secret | None = None) -> RemoteModel:
    profile = Profile(server.base_url, "stub-model", key_variable="STUB_KEY" if key else "")
    return RemoteModel("stub", profile, key=key, capabilities=Capabilities())


def some(count: int) -> list[Request]:
    return [Request((Message("user", f"question {number}"),), 20) for number in range(count)]


def test_a_bad_endpoint_is_borne(tmp_path: Path) -> None:
    faults = [status(429, headers={"Retry-After": "1"}), status(500), hang(), cut_json(), status(503)]
    limits = Limits(at_once=2, first_wait_seconds=0.01, timeout_seconds=2)
    began = time.monotonic()
    with StubServer([*faults, answer]) as server, Ledger(tmp_path / "ledger") as ledger:
        answers = ask(some(12), model=model_at(server), asking=Asking(ledger, "run", limits=limits))
        bill = ledger.bill()
    assert [found.reply and found.reply.text for found in answers] == [f"reply to question {n}" for n in range(12)]
    assert (bill.answered, bill.failed, bill.unanswered) == (12, 5, 0)
    assert 1 < time.monotonic() - began < 30


def test_a_wrong_key_stops_at_once_and_is_nowhere_in_the_ledger(tmp_path: Path) -> None:
    key = Secret("sk-test-CANARY")
    refusal = status(401, "Incorrect API key provided: sk-test-CANARY.")
    with StubServer([refusal]) as server, Ledger(tmp_path / "ledger") as ledger:
        how = Asking(ledger, "run", limits=Limits(at_first=2))
        with pytest.raises(RunRefused, match="401") as raised:
            ask(some(50), model=model_at(server, key=key), asking=how)
        assert server.calls[0].headers["authorization"] == "Bearer sk-test-CANARY"
        assert len(server.calls) <= 2
        assert "CANARY" not in str(raised.value) + repr(raised.value.answers)
        for path in tmp_path.iterdir():
            assert b"CANARY" not in path.read_bytes(), path
    assert [found.failure is not None for found in raised.value.answers] == [True] * 50
    assert os.listdir(tmp_path) == ["ledger"]  # noqa: PTH208 - the write-ahead log is folded in when it is closed


PASSING = {
    "429, seconds": status(429, headers={"Retry-After": "0.2"}),
    "429, a date": status(
        429, headers={"Retry-After": "Mon, 30 Nov 2026 20:00:01 GMT", "Date": "Mon, 30 Nov 2026 20:00:00 GMT"}
    ),
    "502, a page of a proxy": page(502),
    "503, a page of a proxy": page(503, "<html><body>Service Unavailable</body></html>"),
    "504": status(504),
    "an error in a good answer": error_in_200(),
    "cut JSON": cut_json(),
    "cut connection": cut_connection(),
    "reset": reset(),
    "no choices": as_json({"choices": []}),
    "no message": as_json({"choices": [{"finish_reason": "stop"}]}),
    "empty body": Step(200, {"Content-Type": "application/json"}),
    "a list in place of an object": as_json([1]),
    "packed, and it is not": gzip_garbage(),
}


@pytest.mark.parametrize("name", PASSING)
def test_a_fault_in_the_middle_costs_one_attempt_and_no_answer(name: str, tmp_path: Path) -> None:
    limits = Limits(at_first=1, at_once=2, first_wait_seconds=0.01, timeout_seconds=2)
    with StubServer([answer, PASSING[name], answer]) as server, Ledger(tmp_path / "ledger") as ledger:
        answers = ask(some(4), model=model_at(server), asking=Asking(ledger, "run", limits=limits))
        bill = ledger.bill()

    assert [found.reply and found.reply.text for found in answers] == [f"reply to question {n}" for n in range(4)]
    assert (bill.answered, bill.failed, bill.unanswered) == (4, 1, 0)
    assert len(server.calls) == 5


@pytest.mark.parametrize(
    ("made", "text", "finish", "estimated"),
    [
        (ok("", finish="length"), "", "length", False),
        (ok(None), "", "stop", False),
        (ok("half a wo", finish="length"), "half a wo", "length", False),
        (ok(None, finish="content_filter"), "", "refused", False),
        (ok("<think>40?</think>８５分"), "８５分", "stop", False),
        (
            as_json({"choices": [{"message": {"content": "no count"}, "finish_reason": "stop"}]}),
            "no count",
            "stop",
            True,
        ),
        (wrong_type(ok("as text")), "as text", "stop", False),
    ],
)
def test_what_a_server_replies_is_kept_as_it_is_and_paid_for_once(
    made: Step, text: str, finish: str, estimated: bool, tmp_path: Path
) -> None:
    with StubServer([made]) as server, Ledger(tmp_path / "ledger") as ledger:
        for run in ("first", "second"):
            (found,) = ask(some(1), model=model_at(server), asking=Asking(ledger, run))
            assert found.reply is not None
            assert (found.reply.text, found.reply.finish, found.reply.usage.estimated) == (text, finish, estimated)

    assert len(server.calls) == 1


@pytest.mark.parametrize(
    ("stop", "said"),
    [
        (status(401, "Incorrect API key provided"), "401"),
        (status(404, "no such model"), "404"),
        (page(200, "<html><title>Log in to the network</title></html>"), "not with JSON"),
    ],
)
def test_a_refusal_in_the_middle_keeps_what_was_answered_and_the_rest_is_asked_later(
    stop: Step, said: str, tmp_path: Path
) -> None:
    limits = Limits(at_first=1, at_once=1)
    with StubServer([*[answer] * 5, stop, answer]) as server, Ledger(tmp_path / "ledger") as ledger:
        with pytest.raises(RunRefused, match=said) as raised:
            ask(some(9), model=model_at(server), asking=Asking(ledger, "first", limits=limits))
        kept = [found.reply is not None for found in raised.value.answers]
        answers = ask(some(9), model=model_at(server), asking=Asking(ledger, "second", limits=limits))

    assert kept == [True] * 5 + [False] * 4
    assert "5 of 9 requests are answered and kept" in str(raised.value)
    assert [found.recorded for found in answers] == kept
    assert len(server.calls) == 10


def test_a_server_that_restarts_in_the_middle_is_waited_for(tmp_path: Path) -> None:
    limits = Limits(at_first=1, at_once=1, first_wait_seconds=0.2, timeout_seconds=5)
    with Ledger(tmp_path / "ledger") as ledger:
        how = Asking(ledger, "run", limits=limits)
        with StubServer([answer]) as server:
            port, model = server.port, model_at(server)
            assert ask(some(2), model=model, asking=how)[1].reply is not None
        model.close()
        done = threading.Event()

        def come_back() -> None:
            done.wait(0.5)
            with StubServer([answer], port=port):
                done.wait(30)

        later = threading.Thread(target=come_back)
        later.start()
        try:
            answers = ask(some(4), model=model, asking=how)
        finally:
            done.set()
            later.join()
        bill = ledger.bill()

    assert [found.reply is not None for found in answers] == [True] * 4
    assert bill.answered == 4
    assert bill.failed >= 1
    assert bill.estimated_tokens == 0, "nothing was sent to a server that was not there"


UNREACHABLE = {
    "refused": (NOWHERE, "nothing listens there. Start the server"),
    "no such name": ("http://no-such-host.invalid/v1", "Correct base_url, or join its network|was not resolved"),
    "silent": ("", "no connection to 127.0.0.1:[0-9]+ within 0.5 seconds. Is it up, and is there a network?"),
}


@contextmanager
def silent() -> Iterator[str]:
    """An address where nobody refuses and nobody answers: more want to come in than may wait."""
    with ExitStack() as opened:
        listener = opened.enter_context(socket.socket())
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        for _ in range(4):
            waiting = opened.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(listener.getsockname())
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/v1"


@pytest.mark.parametrize("name", UNREACHABLE)
@pytest.mark.parametrize("known", [True, False])
def test_a_server_that_is_not_there_ends_a_run_in_under_a_second(name: str, known: bool, tmp_path: Path) -> None:
    url, said = UNREACHABLE[name]
    with silent() as nobody, Ledger(tmp_path / "ledger") as ledger:
        profile = Profile(url or nobody, "m", connect_seconds=0.5)
        model = RemoteModel("far", profile, capabilities=Capabilities() if known else None)
        began = time.monotonic()
        with pytest.raises(ModelBusy, match=said.replace("?", "[?]")) as raised:
            ask(some(50), model=model, asking=Asking(ledger, "run"))
        assert time.monotonic() - began < 1

    assert not raised.value.connected or isinstance(raised.value, RunGaveUp)
