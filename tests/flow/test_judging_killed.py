"""CASES E9: judging is killed after 600 of 1,000 judgements, and run again.

At most the calls in flight are paid again, and the tables are the same to the byte.
"""

import json
import os
import re
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from groundwire.evaluation.rubrics import CCRS
from groundwire.flow.ledger import Ledger
from groundwire.flow.manifests import RunState, runs_of
from stub_server import Step, StubServer, obliging, ok, wait_until

pytest.importorskip("openai", reason="the extra 'remote' is not installed")

ITEMS, AT_ONCE = 200, 4
JUDGEMENTS = ITEMS * len(CCRS)


def step(body: Any) -> Step:  # noqa: ANN401 - whatever JSON was sent
    """Rates an answer by its number, so that every judgement has a value of its own; probes are obliged."""
    number = re.search(r"The answer numbered (\d+)", json.dumps(body))
    if number is None:
        return obliging(body)
    return Step(**{**vars(ok(json.dumps({"score": int(number[1]) % 101, "reason": "so"}))), "hold_seconds": 0.005})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = [
        {"id": f"q{n}", "system": "ab"[n % 2], "question": f"What was on day {n}?", "reference": f"Rain on day {n}.",
         "contexts": [f"It rained on day {n}."], "answer": f"The answer numbered {n} is rain."}
        for n in range(ITEMS)
    ]  # fmt: skip
    (tmp_path / "items.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return tmp_path


def judging(folder: Path, url: str, *, ledger: str, out: str) -> subprocess.Popen[bytes]:
    (folder / "groundwire.toml").write_text(
        f'[models.stub]\nbase_url = "{url}"\nmodel = "stub-model"\nmax_concurrency = {AT_ONCE}\n', encoding="utf-8"
    )
    words = ["judge", "items.jsonl", "--model", "http:stub", "--mode", "paper", "-o", out, "--ledger", ledger]
    return subprocess.Popen(
        [sys.executable, "-m", "groundwire", *words], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env={**os.environ, "GROUNDWIRE_JUDGE_RESAMPLES": "200"},
    )  # fmt: skip


def finished(process: subprocess.Popen[bytes]) -> bytes:
    out, error = process.communicate(timeout=300)
    assert process.returncode == 0, error.decode()
    return out


def judged(server: StubServer) -> Counter[str]:
    asked = [json.dumps(call.body["messages"]) for call in server.calls]
    return Counter(one for one in asked if "The answer numbered" in one)


def test_killed_after_600_of_1000_judgements_nothing_but_what_was_under_way_is_paid_again(folder: Path) -> None:
    with StubServer([step]) as server:
        killed = judging(folder, server.base_url, ledger="ledger", out="out.jsonl")
        wait_until(lambda: len(server.calls) >= 0.6 * JUDGEMENTS, seconds=120)
        killed.send_signal(signal.SIGKILL)
        killed.communicate()
        assert not (folder / "out.jsonl").exists()
        assert len(server.calls) < JUDGEMENTS
        tables = finished(judging(folder, server.base_url, ledger="ledger", out="out.jsonl"))
        counts = judged(server)

    with StubServer([step]) as server:
        unharmed = finished(judging(folder, server.base_url, ledger="other", out="whole.jsonl"))

    with Ledger(folder / "ledger") as ledger:
        killed_run, second = runs_of(ledger)
        under_way = ledger.bill(killed_run.manifest.id).unanswered
        bill = ledger.bill()
    assert [killed_run.state, second.state] == [RunState.KILLED, RunState.DONE]
    assert len(counts) == JUDGEMENTS
    assert sum(times - 1 for times in counts.values()) <= under_way <= AT_ONCE
    probes = bill.answered - JUDGEMENTS
    assert 3 <= probes <= 4, "what the model can do was found out once, by the killed run, and is in its bill"
    assert tables == unharmed
    assert (folder / "out.jsonl").read_bytes() == (folder / "whole.jsonl").read_bytes()
    assert len((folder / "out.jsonl").read_text(encoding="utf-8").splitlines()) == JUDGEMENTS + ITEMS  # graded as well
