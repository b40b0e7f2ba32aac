"""Real processes, a server and a ledger file: killed, interrupted, run twice at once, replayed without network."""

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from groundwire.core.errors import CannotDo
from groundwire.core.language import Capabilities, Message, Request
from groundwire.core.secrets import Secret
from groundwire.flow.answers import RunRefused
from groundwire.flow.ledger import Ledger
from groundwire.flow.manifests import RunState, find_run, first_difference, runs_of
from groundwire.flow.pace import Limits
from groundwire.flow.traffic import Asking, ask
from stub_server import Step, StubServer, cut_json, hang, ok, status, wait_until

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
