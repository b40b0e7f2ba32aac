"""The ledger: what is written comes back, claims are honoured while they hold, and damage is said."""

import os
import platform
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundwire.core.errors import CannotDo, UnreadableInput
from groundwire.core.language import Finish, Message, Reply, ReplyToken, Request, TokenChoice, Usage
from groundwire.flow.ledger import Ledger
from groundwire.flow.records import Bill, Cost, Recorded, Sent, Taken, reply_as_text, reply_from_text
from simulated import reply, request

MODEL = "fake:one"
ONE = request("question 1")
KEY = ONE.key(MODEL)
TEXTS = st.text(st.characters(), max_size=30)  # halves of surrogate pairs and NUL among them


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def ledger(tmp_path: Path, clock: Clock) -> Iterator[Ledger]:
    with Ledger(tmp_path / "ledger", clock=clock) as opened:
        yield opened


def send(ledger: Ledger, one: Request = ONE, *, run: str = "run-1", lease: float = 60) -> int:
    claim = ledger.claim(one, model=MODEL, run=run, lease_seconds=lease)
    assert isinstance(claim, Sent), claim
    return claim.call


def execute(path: Path, statement: str, *values: object) -> list[tuple[object, ...]]:
    connection = sqlite3.connect(path)
    with connection:
        rows = connection.execute(statement, values).fetchall()
    connection.close()
    return rows


@given(
    text=TEXTS,
    thinking=TEXTS,
    finish=st.sampled_from(["stop", "length", "refused", "other"]),
    usage=st.builds(Usage, st.integers(0), st.integers(0), st.integers(0), st.booleans()),
    tokens=st.lists(
        st.builds(
            ReplyToken,
            TEXTS,
            st.floats(max_value=0),
            st.lists(st.builds(TokenChoice, TEXTS, st.floats(max_value=0)), max_size=3).map(tuple),
        ),
        max_size=3,
    ).map(tuple),
)
@settings(max_examples=40, deadline=None)
def test_any_reply_comes_back_as_it_was(
    text: str, thinking: str, finish: Finish, usage: Usage, tokens: tuple[ReplyToken, ...]
) -> None:
    given_reply = Reply(text, finish, usage, tokens, thinking, "a name")
    with Ledger(":memory:") as ledger:
        one = Request((Message("user", text),), 5)
        ledger.begin([(one, one.key(MODEL))], model=MODEL, run="run")
        ledger.answered(send(ledger, one), given_reply, seconds=2.5)
        found = ledger.replies([one.key(MODEL)])[one.key(MODEL)]
    assert (found.reply, found.seconds) == (given_reply, 2.5)


@pytest.mark.parametrize("text", [None, "", "{}", "[1]", '{"tokens": [[1]]}', "__import__('os').getcwd()", "1"])
def test_a_text_that_is_no_reply_is_refused_and_not_evaluated(text: str | None) -> None:
    with pytest.raises(UnreadableInput, match="the reply of call 7 is not as groundwire wrote it"):
        reply_from_text(text, where="call 7")


def test_a_reply_that_other_hands_changed_is_refused_by_name(ledger: Ledger) -> None:
    call = send(ledger)
    ledger.answered(call, reply("yes"), seconds=1)
    execute(ledger.path, "UPDATE calls SET reply = 'no'")
    with pytest.raises(UnreadableInput, match=rf"call {call} in .*ledger is not as"):
        ledger.replies([KEY])


def test_a_call_is_written_down_before_it_is_sent(ledger: Ledger) -> None:
    send(ledger)
    rows = execute(ledger.path, "SELECT run, key, model, purpose, state, sent FROM calls")
    assert rows == [("run-1", KEY, MODEL, "rating", "sent", 1000.0)]
    assert "question 1" in str(execute(ledger.path, "SELECT request FROM requests WHERE key = ?", KEY))
    assert ledger.replies([KEY]) == {}


def test_whoever_wants_a_reply_that_is_on_its_way_is_told_so_and_then_gets_it(ledger: Ledger) -> None:
    call = send(ledger)
    with Ledger(ledger.path, clock=lambda: 1001.0) as other:
        assert other.claim(ONE, model=MODEL, run="run-2", lease_seconds=60) == Taken()
        ledger.answered(call, reply("yes"), seconds=1)
        assert other.claim(ONE, model=MODEL, run="run-2", lease_seconds=60) == Recorded(call, reply("yes"), 1)


def test_a_claim_is_void_after_its_lease(ledger: Ledger, clock: Clock) -> None:
    first = send(ledger, lease=60)
    clock.now += 61
    second = send(ledger, run="run-2")
    assert second != first
    assert ledger.bill() == Bill(unanswered=2)
    ledger.answered(first, reply("late"), seconds=99)  # it came after all
    assert ledger.replies([KEY])[KEY].reply == reply("late")


def test_a_claim_of_a_process_that_is_gone_is_void_at_once(ledger: Ledger) -> None:
    script = (
        "import os, signal, sys\nfrom groundwire.flow.ledger import Ledger\n"
        "from groundwire.core.language import Message, Request\n"
        "ledger = Ledger(sys.argv[1], clock=lambda: 1000.0)\n"
        "one = Request((Message('user', 'question 1'),), 10, purpose='rating')\n"
        "print(ledger.claim(one, model='fake:one', run='run-0', lease_seconds=1e9), flush=True)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", script, str(ledger.path)], capture_output=True, text=True, check=False)
    assert done.stdout == "Sent(call=1)\n", done.stderr
    assert send(ledger) == 2
    assert execute(ledger.path, "SELECT state FROM calls ORDER BY id") == [("lost",), ("sent",)]
    assert ledger.bill("run-0") == Bill(unanswered=1)


@pytest.mark.parametrize(
    "holder", [f"elsewhere {os.getpid()} x", f"{platform.node() or '-'} 1 x"], ids=["machine", "user"]
)
def test_a_claim_of_another_machine_or_another_user_holds_for_its_lease(ledger: Ledger, holder: str) -> None:
    send(ledger)
    execute(ledger.path, "UPDATE calls SET holder = ?", holder)
    assert ledger.claim(ONE, model=MODEL, run="run-2", lease_seconds=60) == Taken()


def test_a_process_of_another_user_counts_as_alive(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_pid: int, _signal: int) -> None:
        raise PermissionError

    send(ledger)
    monkeypatch.setattr(os, "kill", refuse)
    assert ledger.claim(ONE, model=MODEL, run="run-2", lease_seconds=60) == Taken()


def test_a_failed_call_may_be_made_again_at_once(ledger: Ledger) -> None:
    ledger.failed(send(ledger), "503 \ud800", seconds=2)
    ledger.answered(send(ledger), reply("yes"), seconds=3)
    assert execute(ledger.path, "SELECT state, error, seconds FROM calls ORDER BY id") == [
        ("failed", "503 \\ud800", 2.0),
        ("answered", "", 3.0),
    ]


def test_replies_are_those_of_the_model_that_was_asked(ledger: Ledger) -> None:
    ledger.answered(send(ledger), reply("yes"), seconds=1)
    assert ledger.replies([ONE.key("fake:two")]) == {}


def test_the_bill_adds_up_by_run_and_over_all(ledger: Ledger) -> None:
    for number, (run, amount) in enumerate([("a", "0.1"), ("a", "0.2"), ("b", "0.3")]):
        used = Reply("x", "stop", Usage(10, 2, 5))
        call = send(ledger, request(f"question {number}"), run=run)
        ledger.answered(call, used, seconds=2, cost=Cost(Decimal(amount), "USD"))
    ledger.answered(send(ledger, request("free"), run="b"), reply("x"), seconds=1)
    assert ledger.bill("a") == Bill(2, 0, 0, 20, 4, 10, 0, 4.0, (Cost(Decimal("0.3"), "USD"),))
    assert ledger.bill().money == (Cost(Decimal("0.6"), "USD"),)
    assert ledger.bill().answered == 4
    assert ledger.past_seconds(MODEL, "rating") == (4, 1.75)
    assert ledger.past_seconds(MODEL, "writing") == (0, 0.0)


def test_what_a_run_asked_is_kept_in_order_with_what_came_of_it(ledger: Ledger) -> None:
    asked = [request(f"question {number}") for number in (1, 2, 1, 3)]
    ledger.begin([(one, one.key(MODEL)) for one in asked], model=MODEL, run="run-1")
    ledger.answered(send(ledger, asked[0]), reply("yes"), seconds=1)
    ledger.fail("run-1", {asked[1].key(MODEL): "why"})
    ledger.begin([(asked[0], KEY)], model=MODEL, run="run-1")
    uses = ledger.uses("run-1")
    assert [(use.place, use.reply is not None, use.failure) for use in uses] == [
        (0, True, ""),
        (1, False, "why"),
        (2, True, ""),
        (3, False, ""),
        (4, False, ""),
    ]
    assert uses[0].reply == reply_as_text(reply("yes"))
    assert ledger.failures("run-1") == {asked[1].key(MODEL): "why"}
    assert ledger.uses("run-2") == ()


# The file


def test_there_must_be_a_ledger_where_none_is_to_be_made(tmp_path: Path) -> None:
    with pytest.raises(CannotDo, match="there is no ledger"):
        Ledger(tmp_path / "absent", create=False)
    assert not list(tmp_path.iterdir())


def test_a_folder_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(CannotDo, match="cannot be used: unable to open"):
        Ledger(tmp_path / "absent" / "ledger")


@pytest.mark.parametrize("content", [b"not a ledger " * 100, b"SQLite format 3\x00" + b"\xff" * 5000])
def test_a_damaged_file_is_refused_and_left_as_it_is(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "ledger"
    path.write_bytes(content)
    with pytest.raises(CannotDo, match="nothing in it was changed"):
        Ledger(path)
    assert path.read_bytes() == content


def test_damage_inside_is_said_when_it_is_met(ledger: Ledger, tmp_path: Path) -> None:
    for number in range(40):
        ledger.answered(send(ledger, request(f"question {number}")), reply("y" * 5000), seconds=1)
    ledger.close()
    content = bytearray(ledger.path.read_bytes())
    content[8192:-4096] = b"\xee" * (len(content) - 8192 - 4096)
    (tmp_path / "broken").write_bytes(content)
    with pytest.raises(CannotDo, match="broken is damaged or no ledger"), Ledger(tmp_path / "broken") as broken:
        broken.replies([request(f"question {number}").key(MODEL) for number in range(40)])
    assert (tmp_path / "broken").read_bytes() == bytes(content)


def test_a_later_format_is_refused_and_left_as_it_is(ledger: Ledger) -> None:
    send(ledger)
    ledger.close()
    execute(ledger.path, "PRAGMA user_version = 2")
    before = ledger.path.read_bytes()
    with pytest.raises(CannotDo, match="is a ledger of format 2, this groundwire reads format 1"):
        Ledger(ledger.path)
    assert ledger.path.read_bytes() == before


def test_a_database_of_something_else_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "bookmarks.db"
    execute(path, "CREATE TABLE bookmarks (name)")
    before = path.read_bytes()
    with pytest.raises(CannotDo, match="is a database of something else"):
        Ledger(path)
    assert path.read_bytes() == before


def test_a_ledger_that_somebody_holds_for_long_is_said(ledger: Ledger) -> None:
    holding = sqlite3.connect(ledger.path, isolation_level=None)
    holding.execute("BEGIN IMMEDIATE")
    ledger._connection.execute("PRAGMA busy_timeout = 10")
    with pytest.raises(CannotDo, match="was held by another process"):
        send(ledger)
    holding.execute("COMMIT")
    holding.close()
    assert send(ledger) == 1


def test_an_error_within_a_change_leaves_nothing_of_it(ledger: Ledger) -> None:
    with pytest.raises(TypeError):
        ledger.begin([(ONE, KEY), ("no request", "key")], model=MODEL, run="run-1")  # type: ignore[list-item]
    assert ledger.uses("run-1") == ()


def test_many_threads_write_into_one_ledger(ledger: Ledger) -> None:
    def work(thread: int) -> None:
        for number in range(10):
            ledger.answered(send(ledger, request(f"question {thread} {number}")), reply("yes"), seconds=1)

    threads = [threading.Thread(target=work, args=(thread,)) for thread in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert ledger.bill().answered == 40


def test_many_openers_of_a_new_file_make_it_once(tmp_path: Path) -> None:
    found, start = [], threading.Barrier(8)

    def work() -> None:
        start.wait()
        with Ledger(tmp_path / "ledger") as opened:
            found.append(opened.bill())

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [Bill()] * 8


def test_a_ledger_that_cannot_be_shared_yet_is_waited_for(ledger: Ledger) -> None:
    ledger.close()
    holding = sqlite3.connect(ledger.path, isolation_level=None, check_same_thread=False)
    holding.execute("PRAGMA journal_mode = DELETE")
    holding.execute("BEGIN IMMEDIATE")
    release = threading.Timer(0.2, lambda: holding.execute("COMMIT"))
    release.start()
    with Ledger(ledger.path) as opened:
        assert opened.bill() == Bill()
    release.join()
    holding.close()


def test_a_ledger_that_is_never_let_go_is_not_waited_for_without_end(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger.close()
    holding = sqlite3.connect(ledger.path, isolation_level=None)
    holding.execute("PRAGMA journal_mode = DELETE")
    holding.execute("BEGIN IMMEDIATE")
    monkeypatch.setattr("groundwire.flow.ledger._WAIT_SECONDS", 0)
    with pytest.raises(CannotDo, match="was held by another process"):
        Ledger(ledger.path)
    holding.close()


def test_runs_are_listed_by_time_and_those_of_dead_processes_are_known(ledger: Ledger) -> None:
    ledger.put_run("2", "{}", state="running")
    ledger.put_run("1", "{}", state="running")
    ledger.put_run("2", '{"a": 1}', state="done")
    execute(ledger.path, "UPDATE runs SET holder = ? WHERE id = '1'", f"{platform.node() or '-'} 999999999 x")
    assert [(row.id, row.state, row.manifest, row.alive) for row in ledger.runs()] == [
        ("1", "running", "{}", False),
        ("2", "done", '{"a": 1}', True),
    ]


def test_what_a_failed_call_took_is_in_the_bill_and_marked_where_it_is_estimated(ledger: Ledger) -> None:
    ledger.answered(send(ledger, request("answered")), reply("x", tokens=(7, 3)), seconds=1)
    counted, estimated, nothing = (send(ledger, request(text)) for text in ("counted", "estimated", "nothing"))
    ledger.failed(counted, "cut", seconds=1, usage=Usage(20, 5, 10), cost=Cost(Decimal("0.5"), "USD"))
    ledger.failed(estimated, "cut", seconds=1, usage=Usage(11, 2, estimated=True))
    ledger.failed(nothing, "503", seconds=1)

    bill = ledger.bill()

    assert (bill.answered, bill.failed) == (1, 3)
    assert (bill.input_tokens, bill.output_tokens, bill.cached_tokens, bill.estimated_tokens) == (38, 10, 10, 13)
    assert bill.money == (Cost(Decimal("0.5"), "USD"),)


def test_a_reply_that_comes_after_all_replaces_the_estimate(ledger: Ledger) -> None:
    late = send(ledger)
    ledger.failed(late, "hangs", seconds=9, usage=Usage(100, 0, estimated=True))
    ledger.answered(late, reply("x", tokens=(7, 3)), seconds=12)

    bill = ledger.bill()

    assert (bill.input_tokens, bill.output_tokens, bill.estimated_tokens) == (7, 3, 0)


def test_claims_that_were_never_sent_are_taken_back_and_no_others(ledger: Ledger) -> None:
    one, other, third = (request(text) for text in ("one", "other", "third"))
    for asked, run in ((one, "run-1"), (other, "run-1"), (third, "run-2")):
        send(ledger, asked, run=run)

    ledger.never_sent("run-1", [one.key(MODEL), third.key(MODEL)])

    assert (ledger.bill("run-1").unanswered, ledger.bill("run-2").unanswered) == (1, 1)


def asked_by(ledger: Ledger, run: str, *texts: str) -> None:
    """A run that asks and is answered, by the ledger where that has the reply; each run is its own process."""
    asked = [request(text) for text in texts]
    ledger.put_run(run, "{}", state="done")
    ledger.begin([(one, one.key(MODEL)) for one in asked], model=MODEL, run=run)
    for one in asked:
        claim = ledger.claim(one, model=MODEL, run=run, lease_seconds=60)
        if isinstance(claim, Sent):
            ledger.answered(claim.call, reply(one.messages[0].text), seconds=1)


def test_pruned_runs_go_with_their_calls_but_no_reply_that_another_run_works_with(ledger: Ledger) -> None:
    asked_by(ledger, "run-1", "a", "b", "c")
    asked_by(ledger, "run-2", "b", "d")
    asked_by(ledger, "run-3", "c", "e")
    ledger.failed(send(ledger, request("failed"), run="run-1"), "503", seconds=1)
    would = ledger.prune(["run-1", "run-2", "run-9"], dry_run=True)
    assert [row.id for row in ledger.runs()] == ["run-1", "run-2", "run-3"]
    assert ledger.bill().answered == 5

    gone = ledger.prune(["run-1", "run-2", "run-9"])

    assert (gone.runs, gone.calls, gone.kept_calls, gone.requests) == (("run-1", "run-2"), 4, 1, 4)
    assert (would.runs, would.calls, would.kept_calls, would.requests) == (("run-1", "run-2"), 4, 1, 4)
    assert [use.reply for use in ledger.uses("run-3")] == [reply_as_text(reply("c")), reply_as_text(reply("e"))]
    assert [row.id for row in ledger.runs()] == ["run-3"]
    assert (ledger.uses("run-1"), ledger.bill("run-2").answered) == ((), 0)
    again = ledger.claim(request("a"), model=MODEL, run="run-4", lease_seconds=60)
    assert isinstance(again, Sent), "what only dropped runs asked is paid for again"
    assert isinstance(ledger.claim(request("c"), model=MODEL, run="run-4", lease_seconds=60), Recorded)


def test_a_reply_that_a_run_has_asked_for_and_not_taken_yet_stays(ledger: Ledger) -> None:
    asked_by(ledger, "run-1", "a", "b")
    ledger.put_run("run-2", "{}", state="running")
    ledger.begin([(request("b"), request("b").key(MODEL))], model=MODEL, run="run-2")

    gone = ledger.prune(["run-1"])

    assert (gone.calls, gone.kept_calls) == (1, 1)
    assert isinstance(ledger.claim(request("b"), model=MODEL, run="run-2", lease_seconds=60), Recorded)


@given(st.lists(st.lists(st.integers(0, 9), max_size=6), min_size=1, max_size=5), st.sets(st.integers(0, 4)))
@settings(max_examples=30, deadline=None)
def test_whatever_is_pruned_the_other_runs_keep_all_their_replies(asked: list[list[int]], dropped: set[int]) -> None:
    with Ledger(":memory:") as ledger:
        for number, questions in enumerate(asked):
            asked_by(ledger, f"run-{number}", *(f"question {question}" for question in questions))
        kept = [f"run-{number}" for number in range(len(asked)) if number not in dropped]
        before = {run: ledger.uses(run) for run in kept}

        ledger.prune(f"run-{number}" for number in dropped)

        assert {run: ledger.uses(run) for run in kept} == before
        assert [row.id for row in ledger.runs()] == kept


def test_a_pruned_file_is_smaller(tmp_path: Path) -> None:
    path = tmp_path / "ledger"
    with Ledger(path) as ledger:
        asked_by(ledger, "run-1", *(f"{number} " + "long " * 400 for number in range(100)))
        asked_by(ledger, "run-2", "short")
    before = path.stat().st_size

    with Ledger(path) as ledger:
        gone = ledger.prune(["run-1"])

    assert gone.freed_bytes > 100_000
    assert path.stat().st_size == before - gone.freed_bytes
    assert b"long long" not in path.read_bytes(), "nothing of what went can be read in the file"


def test_a_file_that_another_process_holds_is_not_pruned(tmp_path: Path) -> None:
    with Ledger(tmp_path / "ledger") as ledger:
        asked_by(ledger, "run-1", "a")
        ledger._connection.execute("PRAGMA busy_timeout = 10")
        other = sqlite3.connect(tmp_path / "ledger", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(CannotDo, match="held by another process"):
            ledger.prune(["run-1"])
        other.execute("ROLLBACK")
        other.close()
        assert ledger.prune(["run-1"]).runs == ("run-1",)
