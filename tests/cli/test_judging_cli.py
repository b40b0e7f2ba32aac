"""``groundwire judge`` with the built-in judge and with scripted models installed as a plug-in."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from groundwire.cli.judging import judge
from groundwire.cli.runs import runs
from groundwire.core.errors import UsageError
from groundwire.evaluation.claim_measures import CLAIM_MEASURES
from groundwire.evaluation.rubrics import CCRS

PLUGIN = """
import json
from groundwire.testing import ScriptedModel
asked = []
NAMES = {names}
def make(rest):
    def script(request):
        asked.append(request)
        said = request.messages[-1].text
        if request.purpose == "finding claims":
            return json.dumps({{"claims": ["The river rose."]}})
        if request.purpose == "checking claims":
            return json.dumps({{"verdicts": [{{"number": 1, "verdict": "supported"}}]}})
        value = 100 if rest == "broken" else 60 if "river rose" in said.rpartition("Answer:")[2] else 30
        if request.stop:
            return '{{"score": %d, ' % value
        return json.dumps({{"evidence": "x", **dict.fromkeys(NAMES, value)}})
    return ScriptedModel(script, name=rest)
"""


@click.group()
def main() -> None:
    """The commands under test, joined as in the real one."""


for command in (judge, runs):
    main.add_command(command)


@pytest.fixture(autouse=True)
def _somewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, plug_in: Callable[[str, str], None]) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GROUNDWIRE_JUDGE_RESAMPLES", "200")
    texts = {"a": "Water came on day {n}.", "b": "The river rose on day {n}."}
    rows = [
        {"id": f"q{n}", "question": "What happened?", "answer": text.format(n=n), "contexts": ["The river rose."],
         "reference": "The river rose.", "system": system}
        for n in range(8)
        for system, text in texts.items()
    ]  # fmt: skip
    Path("items.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    plug_in("judging_models", PLUGIN.format(names=[rubric.name for rubric in CCRS]))


def call(monkeypatch: pytest.MonkeyPatch, *words: str) -> Result:
    monkeypatch.setattr(sys, "argv", ["groundwire", *words])
    return CliRunner().invoke(main, words)


def asked() -> int:
    return len(sys.modules["judging_models"].asked)


def test_one_model_judges_in_one_call_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    done = call(monkeypatch, "judge", "items.jsonl", "--model", "scripted:one", "-o", "out/judged.jsonl")

    assert done.exit_code == 0, done.output
    assert asked() == 16
    assert len(Path("out/judged.jsonl").read_text("utf-8").splitlines()) == 80
    assert "means by place in the reply" in done.output
    assert "ccrs-shared" in done.output


def test_paper_mode_has_the_graded_column_and_no_places(monkeypatch: pytest.MonkeyPatch) -> None:
    done = call(monkeypatch, "judge", "items.jsonl", "--model", "scripted:one", "--mode", "paper")

    assert done.exit_code == 0, done.output
    assert asked() == 80
    assert "answer_correctness_graded" in done.output
    assert "means by place" not in done.output


def test_several_models_are_a_jury_that_names_whom_a_verdict_hangs_on(monkeypatch: pytest.MonkeyPatch) -> None:
    words = ["judge", "items.jsonl", "--rubric", "question_relevance", "--vote", "median"]
    done = call(monkeypatch, *words, "--model", "scripted:one", "--model", "scripted:broken", "-o", "j.jsonl")

    assert done.exit_code == 0, done.output
    assert "agreement of the judges" in done.output
    assert "each judge beside the median of the others" in done.output
    assert "without scripted:one/" in done.output
    assert Path("j.2.jsonl").exists()


def test_claims_are_measured_by_a_model_and_an_extractor_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    done = call(monkeypatch, "judge", "items.jsonl", "--model", "scripted:one", "--claims-only", "--extractor",
                "scripted:other", "--json")  # fmt: skip
    facts = json.loads(done.stdout)

    assert done.exit_code == 0, done.output
    assert {row["rubric"] for row in facts["summaries"]} == set(CLAIM_MEASURES)
    assert "claims scripted:other, checked scripted:one" in facts["summaries"][0]["judge"]


def test_the_built_in_judge_measures_claims_without_a_model(monkeypatch: pytest.MonkeyPatch) -> None:
    done = call(monkeypatch, "judge", "items.jsonl", "--claims", "--json")
    rows = json.loads(done.stdout)

    assert done.exit_code == 0, done.output
    assert {row["rubric"] for row in rows} == {*CLAIM_MEASURES, *(rubric.name for rubric in CCRS)}


def test_a_rejected_row_is_told_and_the_status_is_1(monkeypatch: pytest.MonkeyPatch) -> None:
    with Path("items.jsonl").open("a", encoding="utf-8") as file:
        file.write("[]\n")
    done = call(monkeypatch, "judge", "items.jsonl", "--model", "scripted:one", "--fixed-order", "--expected")

    assert done.exit_code == 1
    assert "row 17 rejected" in done.output


def test_a_dry_run_sends_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    done = call(monkeypatch, "judge", "items.jsonl", "--model", "scripted:one", "--dry-run")

    assert done.exit_code == 0, done.output
    assert asked() == 0
    assert "16" in done.output


def test_a_run_can_be_replayed_from_the_ledger(monkeypatch: pytest.MonkeyPatch) -> None:
    call(monkeypatch, "judge", "items.jsonl", "--model", "scripted:one", "-o", "judged.jsonl")
    before, calls = Path("judged.jsonl").read_bytes(), asked()
    done = call(monkeypatch, "runs", "replay", "last")

    assert done.exit_code == 0, done.output
    assert Path("judged.jsonl").read_bytes() == before
    assert asked() == calls


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (["--model", "scripted:one", "--embedder", "hash:64"], "--embedder is of the built-in judge"),
        (["--claims-only"], "--claims-only takes --model"),
        (["--claims-only", "--model", "scripted:one", "--rubric", "question_relevance"], "--claims-only takes --model"),
        (["--model", "scripted:one", "--rubric", "charm"], "charm"),
        (["--model", "scripted:one", "--temperature", "-1"], "temperature"),
        (["--model", "scripted:one", "--model", "scripted:one"], "judges that differ"),
    ],
)
def test_options_that_do_not_go_together_are_refused(
    monkeypatch: pytest.MonkeyPatch, words: list[str], what: str
) -> None:
    done = call(monkeypatch, "judge", "items.jsonl", *words)

    assert isinstance(done.exception, UsageError)
    assert what in str(done.exception)
