"""Runs: taken down, found, replayed, and compared down to the first step that differs."""

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from groundwire.core.answers import Answer, FailureKind
from groundwire.core.errors import CannotDo, NothingFound, SettingError, UnreadableInput, UsageError
from groundwire.core.language import Capabilities, Request
from groundwire.flow.answers import failure_from_text
from groundwire.flow.ledger import Ledger
from groundwire.flow.manifests import (
    Manifest,
    RunState,
    find_run,
    first_difference,
    known_capabilities,
    new_run_id,
    old_runs,
    provenance,
    runs_of,
)
from groundwire.flow.pace import Limits
from groundwire.flow.runs import How, PlanOnly, Recording, ReplayDiffers, recorded
from groundwire.flow.settings import Loaded, Settings
from simulated import Fake, busy, request, requests

QUICK = How(limits=Limits(first_wait_seconds=0.001, attempts=2))
PATIENT = Limits(first_wait_seconds=0.001, attempts=5)


@pytest.fixture
def ledger() -> Iterator[Ledger]:
    with Ledger(":memory:") as opened:
        yield opened


def make(
    ledger: Ledger,
    asked: tuple[Request, ...] = requests(2),
    *,
    model: Fake | None = None,
    settings: Settings | None = None,
    how: How = QUICK,
    replay_of: str = "",
    seed: int = 7,
    source: bytes = b"rows",
    prompt: str = "p1",
    out: bytes = b"article",
) -> tuple[Recording, tuple[Answer, ...]]:
    then = find_run(ledger, replay_of).manifest if replay_of else None
    loaded = Loaded(settings or Settings(), {"embedder": "flag"})
    with recorded(
        ledger, command=["write", "sk-test-CANARY"], settings=loaded, folder="/f", how=how, replay_of=then
    ) as recording:
        recording.input("rows.jsonl", source)
        recording.seed("draws", seed)
        recording.prompt("rating", prompt)
        found = recording.model("fake:one", lambda: model or Fake(context=900))
        answers = recording.ask(asked, model=found)
        recording.output("article.md", out)
    return recording, answers


def test_a_run_takes_down_what_it_was_given_and_made(ledger: Ledger) -> None:
    make(ledger)
    run = find_run(ledger, "last")
    manifest = run.manifest
    assert run.state == RunState.DONE
    assert manifest.command == ("write", "***")
    assert manifest.folder == "/f"
    assert manifest.seeds == {"draws": "7"}
    assert manifest.prompts == {"rating": "p1"}
    assert set(manifest.inputs) == {"rows.jsonl"}
    assert set(manifest.outputs) == {"article.md"}
    assert manifest.capabilities("fake:one") == Capabilities(context_tokens=900)
    assert manifest.loaded() == Loaded(Settings(), {"embedder": "flag"})
    assert set(manifest.versions) == {"groundwire", "python"}
    assert manifest.started <= manifest.ended
    assert known_capabilities(ledger, "fake:one") == Capabilities(context_tokens=900)
    assert known_capabilities(ledger, "fake:two") is None


@pytest.mark.parametrize(
    ("error", "state", "reason"),
    [
        (CannotDo("no"), RunState.STOPPED, "CannotDo: no"),
        (NothingFound("no"), RunState.STOPPED, "NothingFound: no"),
        (ValueError("the key is sk-test-CANARY"), RunState.STOPPED, "ValueError: the key is ***"),
        (KeyboardInterrupt(), RunState.INTERRUPTED, "KeyboardInterrupt: "),
        (SystemExit(1), RunState.DONE, ""),
        (SystemExit(3), RunState.STOPPED, "SystemExit: 3"),
    ],
)
def test_how_a_run_ended_is_taken_down(ledger: Ledger, error: BaseException, state: RunState, reason: str) -> None:
    with pytest.raises(type(error)), recorded(ledger, command=[], settings=Loaded(Settings(), {})):
        raise error
    run = find_run(ledger, "last")
    assert (run.state, run.manifest.reason) == (state, reason)


def test_a_run_whose_process_is_gone_was_killed(ledger: Ledger) -> None:
    make(ledger)
    manifest = find_run(ledger, "last").manifest
    ledger.holder = ledger.holder.rsplit(" ", 2)[0] + " 999999999 x"
    ledger.put_run(manifest.id, manifest.as_text(), state="running")
    assert find_run(ledger, "last").state == RunState.KILLED


def test_a_replay_is_the_same_makes_no_call_and_writes_nothing(ledger: Ledger) -> None:
    model = Fake(script={"question 1": [busy("down")] * 9}, context=900)
    first, answers = make(ledger, model=model)
    before = provenance(ledger, find_run(ledger, "last").manifest)

    def never() -> Fake:
        raise AssertionError("a replay needs no model")

    then = find_run(ledger, "last").manifest
    with recorded(ledger, command=["x"], settings=Loaded(Settings(), {}), replay_of=then) as replayed:
        model_then = replayed.model("fake:one", never)
        assert replayed.ask(requests(2), model=model_then) == answers
        replayed.output("article.md", b"article")
        assert replayed.differences == ()
        assert replayed.provenance() == before == first.provenance()
        replayed.output("article.md", b"another")
        assert replayed.differences == ("article.md",)
        assert model_then.capabilities() == Capabilities(context_tokens=900)
        with pytest.raises(CannotDo, match="'fake:one' was asked for 'rating'"):
            model_then.reply(request(), timeout_seconds=1)
        with pytest.raises(ReplayDiffers, match="did not use the model 'fake:two'"):
            replayed.model("fake:two", never)
    assert answers[1].failure.kind == FailureKind.BUSY
    assert len(runs_of(ledger)) == 1


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"source": b"other rows"}, r"the input 'rows.jsonl' is \w{12}, but the run \S+ was \w{12}"),
        ({"seed": 8}, "the seed 'draws' is 8, but the run .* was 7"),
        ({"prompt": "p2"}, "the prompt 'rating' is p2"),
        ({"settings": Settings(threads=3)}, "the setting threads is 3, but the run .* was made with 1"),
        ({"asked": requests(3)}, "1 of 3 requests .* have no reply"),
    ],
)
def test_a_replay_of_something_else_is_refused(ledger: Ledger, change: dict[str, object], said: str) -> None:
    make(ledger)
    with pytest.raises(CannotDo, match=said):
        make(ledger, replay_of="last", **change)  # type: ignore[arg-type]


def test_a_replay_refuses_an_input_that_its_run_did_not_have(ledger: Ledger) -> None:
    make(ledger)
    then = find_run(ledger, "last").manifest
    with (
        pytest.raises(ReplayDiffers, match="did not have it"),
        recorded(ledger, command=[], settings=Loaded(Settings(), {}), replay_of=then) as replayed,
    ):
        replayed.input("new.jsonl", b"")


def test_the_same_run_without_network_has_the_same_provenance(ledger: Ledger) -> None:
    class Offline(Fake):
        def capabilities(self) -> Capabilities:
            raise AssertionError("nothing is to be sent")

    first, answers = make(ledger)
    second, again = make(ledger, model=Offline())
    assert again == answers
    assert first.provenance() == second.provenance()
    assert "20" not in {key[:2] for key in json.loads(first.provenance())}  # no id, no time
    assert set(json.loads(first.provenance())) == {
        "format", "command", "versions", "settings", "models", "prompts", "seeds", "inputs", "calls",
    }  # fmt: skip


def test_a_dry_run_plans_the_first_calls_and_leaves_no_run(ledger: Ledger) -> None:
    model = Fake(context=900)
    with pytest.raises(PlanOnly, match="2 calls to make") as planned:
        make(ledger, model=model, how=How(dry_run=True))
    assert [one.calls for one in planned.value.plans] == [2]
    assert not model.calls
    assert runs_of(ledger) == ()
    make(ledger, model=model)
    _, answers = make(ledger, model=model, how=How(dry_run=True))
    assert all(answer.recorded for answer in answers)
    assert len(runs_of(ledger)) == 1
    long = (request("word " * 900),)
    with pytest.raises(PlanOnly, match="the model's context holds 900"):
        make(ledger, long, model=model, how=How(dry_run=True))


# Finding


def test_ids_sort_by_time_and_are_not_given_twice() -> None:
    start = datetime(2026, 1, 31, 23, 59, 59, 990_000, UTC)
    ids = [new_run_id(start + timedelta(milliseconds=each)) for each in range(30)]
    assert ids == sorted(ids)
    assert ids[0].startswith("20260131-235959-990-")
    assert len({new_run_id(start) for _ in range(20)}) == 20


def test_a_run_is_found_by_the_beginning_of_its_id(ledger: Ledger) -> None:
    make(ledger)
    make(ledger)
    first, second = (run.manifest.id for run in runs_of(ledger))
    assert find_run(ledger, second).manifest.id == find_run(ledger, "last").manifest.id == second
    assert find_run(ledger, first[:-1]).manifest.id == first
    with pytest.raises(UsageError, match=r"2 runs of .* begin with '20'"):
        find_run(ledger, "20")
    with pytest.raises(UsageError, match="has no run 'x'; 'groundwire runs list' lists all 2"):
        find_run(ledger, "x")


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": 2}', '{"format": 1, "command": [], "unheard": 1}'])
def test_a_manifest_that_cannot_be_read_is_refused_by_name(ledger: Ledger, text: str) -> None:
    ledger.put_run("run-9", text, state="done")
    with pytest.raises(UnreadableInput, match="the manifest of the run run-9 is not as this groundwire writes it"):
        find_run(ledger, "run-9")


@pytest.mark.parametrize("text", ["no JSON", "[]", '{"kind": "bored", "reason": ""}', '{"kind": "busy"}'])
def test_a_failure_that_cannot_be_read_is_refused(text: str) -> None:
    with pytest.raises(UnreadableInput, match="a failure in the ledger is not as groundwire wrote it"):
        failure_from_text(text, where="the ledger")


def test_a_manifest_comes_back_as_it_was(ledger: Ledger) -> None:
    make(ledger)
    manifest = find_run(ledger, "last").manifest
    assert Manifest.from_text(manifest.as_text(), where="x") == manifest
    with pytest.raises(UnreadableInput, match="what this groundwire does not know"):
        replace(manifest, models={"m": {"telepathy": True}}).capabilities("m")
    with pytest.raises(SettingError, match="colour"):
        replace(manifest, settings={"colour": 1}).loaded()


# Comparing


@pytest.mark.parametrize(
    ("change", "step", "name", "values"),
    [
        ({}, None, "", ("", "")),
        ({"settings": Settings(threads=3), "seed": 8}, "settings", "threads", ("1", "3")),
        ({"source": b"other"}, "inputs", "rows.jsonl", None),
        ({"seed": 8, "prompt": "p2"}, "seeds", "draws", ("7", "8")),
        ({"prompt": "p2", "out": b"y"}, "prompts", "rating", ("p1", "p2")),
        ({"model": Fake(context=901), "asked": requests(3)}, "models", "fake:one.context_tokens", ("900", "901")),
        ({"asked": requests(3), "out": b"y"}, "request", "number 3, rating", None),
        ({"asked": requests(1)}, "request", "number 2, rating", None),
        ({"asked": (request("question 0"), request("question 1", max_tokens=11))}, "request",
         "number 2, rating, max_tokens", ("10", "11")),
        ({"asked": (request("question 0"), request("question 7"))}, "request", "number 2, rating, messages", None),
        ({"how": How(mode="fresh"), "model": Fake(script={"*": ["no"]}, context=900)}, "reply",
         "number 1, rating", None),
        ({"out": b"another"}, "outputs", "article.md", None),
    ],
)  # fmt: skip
def test_the_first_step_that_differs_is_named(
    ledger: Ledger, change: dict[str, object], step: str | None, name: str, values: tuple[str, str] | None
) -> None:
    make(ledger)
    make(ledger, **change)  # type: ignore[arg-type]
    first, second = (run.manifest for run in runs_of(ledger))
    found = first_difference(ledger, first=first, second=second)
    assert (found.step if found else None) == step
    if found:
        assert found.name == name
        assert str(found).startswith(f"{step}: {name}: ")
        assert found.first != found.second
        assert values in (None, (found.first, found.second))


def test_a_reply_differs_from_a_failure_and_long_texts_are_shown_where_they_part(ledger: Ledger) -> None:
    long = "same " * 60
    fresh = replace(QUICK, mode="fresh")
    make(ledger, requests(1), model=Fake(script={"question 0": [long + "yes, it is so"]}))
    make(ledger, requests(1), model=Fake(script={"question 0": [long + "no"]}), how=fresh)
    make(ledger, requests(1), model=Fake(script={"question 0": [busy("down")] * 3}), how=fresh)
    first, second, third = (run.manifest for run in runs_of(ledger))
    texts = first_difference(ledger, first=first, second=second)
    assert texts is not None
    assert texts.first.startswith("…same")
    assert "yes, it is so" in texts.first
    failure = first_difference(ledger, first=first, second=replace(third, models=first.models))
    assert failure is not None
    assert (failure.step, "busy" in failure.second) == ("reply", True)


def test_ledgers_of_the_default_place_are_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with Ledger("groundwire.ledger") as ledger:
        make(ledger)
    with Ledger("groundwire.ledger", create=False) as ledger:
        assert find_run(ledger, "last").state == RunState.DONE


def test_old_runs_are_those_that_are_over_and_that_all_measures_name(ledger: Ledger) -> None:
    days = {"20260101": "done", "20260110": "stopped", "20260120": "running", "20260131": "done"}
    make(ledger)
    (made,) = runs_of(ledger)
    for day, state in days.items():
        at = f"{day[:4]}-{day[4:6]}-{day[6:]}T12:00:00.000+00:00"
        ended = "" if state == "running" else at
        manifest = replace(made.manifest, id=day, started=at, ended=ended)
        ledger.put_run(day, manifest.as_text(), state=state)
    gone = replace(made.manifest, id="20260105", started="2026-01-05T12:00:00.000+00:00", ended="")
    ours, ledger.holder = ledger.holder, ledger.holder.rsplit(" ", 2)[0] + " 999999999 x"
    ledger.put_run("20260105", gone.as_text(), state="running")
    ledger.holder = ours
    now = datetime(2026, 2, 1, 12, tzinfo=UTC)

    def old(**measures: int) -> list[str]:
        return [run.manifest.id for run in old_runs(ledger, now=now, **measures) if run.manifest.id in {*days, gone.id}]

    assert old(older_than_days=0) == ["20260101", "20260105", "20260110", "20260131"], "one is under way"
    assert old(older_than_days=22) == ["20260101", "20260105", "20260110"]
    assert old(older_than_days=23) == ["20260101", "20260105"], "killed runs count from their beginning"
    assert old(keep=2) == ["20260101", "20260105", "20260110"]
    assert old(keep=0) == ["20260101", "20260105", "20260110", "20260131"]
    assert old(keep=99) == []
    assert old(keep=5, older_than_days=20) == ["20260101"]


def test_a_model_that_is_busy_when_it_is_asked_what_it_can_do_is_asked_again(ledger: Ledger) -> None:
    class Crowded(Fake):
        tries = 0

        def capabilities(self) -> Capabilities:
            self.tries += 1
            if self.tries < 3:
                raise busy("429")
            return Capabilities(schema=True)

    model = Crowded()
    with recorded(ledger, command=[], settings=Loaded(Settings(), {}), how=replace(QUICK, limits=PATIENT)) as recording:
        asked = recording.model("fake:one", lambda: model)
        assert recording.capabilities(asked).schema
    assert model.tries == 3
