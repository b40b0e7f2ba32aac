"""``groundwire audit`` of the built-in judge and of a scripted model installed as a plug-in."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result
from rich.cells import cell_len

from groundwire.cli import audit as audit_module
from groundwire.cli.audit import audit
from groundwire.cli.main import main as real
from groundwire.cli.runs import runs
from groundwire.core.errors import UsageError
from groundwire.evaluation import audit as variants
from groundwire.evaluation.audit import PROBES
from groundwire.evaluation.rubrics import CCRS

PLUGIN = """
import json
from groundwire.testing import ScriptedModel
asked = []
def make(rest):
    def script(request):
        asked.append(request)
        said = request.messages[-1].text
        if rest == "broken":
            return "I had rather not."
        value = 95 if "perfect" in said else 60
        if request.stop:
            return '{{"score": %d, ' % value
        return json.dumps({{"evidence": "x", **dict.fromkeys({names}, value)}})
    return ScriptedModel(script, name=rest)
"""


@click.group()
def main() -> None:
    """The commands under test, joined as in the real one."""


for command in (audit, runs):
    main.add_command(command)


@pytest.fixture(autouse=True)
def _somewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, plug_in: Callable[[str, str], None]) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GROUNDWIRE_JUDGE_RESAMPLES", "100")
    rows = [
        {"id": f"q{n}", "question": f"When did dam {n} break?", "contexts": [f"Dam {n} broke on {n} May.", "Rain."],
         "answer": f"Dam {n} broke on {n} May." if system == "a" else f"On {n} June.", "reference": f"{n} May",
         "system": system}
        for n in range(1, 7)
        for system in "ab"
    ]  # fmt: skip
    Path("items.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    labels = [
        {"item_id": row["id"], "systems": [row["system"]], "rubric": "answer_correctness",
         "value": 100.0 if row["system"] == "a" else 0.0, "outcome": "read", "given": "x", "annotator": 1,
         "task": str(n), "repeat": False, "draw": "draw"}
        for n, row in enumerate(rows)
    ]  # fmt: skip
    Path("labels.jsonl").write_text("".join(json.dumps(row) + "\n" for row in labels), encoding="utf-8")
    plug_in("auditing_models", PLUGIN.format(names=[rubric.name for rubric in CCRS]))


def call(monkeypatch: pytest.MonkeyPatch, *words: str) -> Result:
    monkeypatch.setattr(sys, "argv", ["groundwire", *words])
    return CliRunner().invoke(main, words)


def asked() -> int:
    return len(sys.modules["auditing_models"].asked)


def test_the_command_knows_the_probes_and_is_among_the_commands() -> None:
    assert tuple(audit_module._PROBES) == PROBES
    assert real.commands["audit"] is audit


def test_the_built_in_judge_in_one_table_of_100_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    done = call(monkeypatch, "audit", "builtin", "-o", "out/audit.json")

    assert done.exit_code == 0, done.output
    assert all(cell_len(line) <= 100 for line in done.stdout.splitlines())
    assert "repeats: deviation between 3 tries, points" in done.stdout
    assert "320 answers were judged" in done.stdout
    assert "beware: contextual_coherence: twice the length gives -" in done.stdout
    assert "places: left out, this judge gives its values in no order" in done.stderr
    assert "24 items (sample:audit); 95% intervals" in done.stderr
    assert json.loads(Path("out/audit.json").read_text("utf-8"))["items"] == 24


def test_json_holds_everything_and_no_nan(monkeypatch: pytest.MonkeyPatch) -> None:
    done = call(monkeypatch, "audit", "builtin", "--probe", "facts", "--rubric", "answer_correctness", "-n", "4",
                "--json", "--seed", "7")  # fmt: skip
    facts = json.loads(done.stdout, parse_constant=pytest.fail)

    assert (facts["items"], facts["plan"]["seed"], facts["plan"]["probes"]) == (4, 7, ["facts"])
    assert [one["value"]["n"] for one in facts["figures"]] == [4, 4]


def test_a_model_is_audited_through_the_ledger_and_the_audit_can_be_replayed(monkeypatch: pytest.MonkeyPatch) -> None:
    done = call(monkeypatch, "audit", "scripted:one", "-n", "3", "-o", "audit.json")
    before, calls = Path("audit.json").read_bytes(), asked()
    again = call(monkeypatch, "runs", "replay", "last")

    assert done.exit_code == 0, done.output
    assert calls == 36
    assert "an answer takes 1.00 requests" in done.stdout
    assert "beware: question_relevance: an order in the answer less a note there: +35.0" in done.stdout
    assert "places: spread of the means by the rubric's place in the reply, points" in done.stdout
    assert again.exit_code == 0, again.output
    assert "the same as" in again.output
    assert (Path("audit.json").read_bytes(), asked()) == (before, calls)


def test_paper_mode_at_temperature_0_leaves_repeats_out_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    done = call(monkeypatch, "audit", "scripted:one", "-n", "2", "--mode", "paper", "--probe", "repeats", "--probe",
                "facts")  # fmt: skip

    assert done.exit_code == 0, done.output
    assert "an answer takes 5.00 requests" in done.stdout
    assert "repeats: left out, at temperature 0 and in one order every try is the same request" in done.stderr


def test_a_judge_that_cannot_be_read_has_dashes_for_values(monkeypatch: pytest.MonkeyPatch) -> None:
    done = call(
        monkeypatch, "audit", "scripted:broken", "-n", "2", "--probe", "facts", "--rubric", "answer_correctness"
    )

    assert done.exit_code == 0, done.output
    assert "  answer_correctness  –      0  2" in done.stdout
    assert "nothing could be read" in done.stdout


def test_own_items_with_labels_show_the_agreement_with_people(monkeypatch: pytest.MonkeyPatch) -> None:
    done = call(monkeypatch, "audit", "builtin", "--items", "items.jsonl", "--labels", "labels.jsonl", "--map",
                "answer=answer", "--probe", "facts")  # fmt: skip

    assert done.exit_code == 0, done.output
    assert "people: correlation with them under answer_correctness" in done.stdout
    assert "n 12, 0 unscored" in done.stdout
    assert "6 items were left out" in done.stderr


def test_labels_that_do_not_vary_have_a_correlation_without_an_interval(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [json.loads(line) | {"value": 100.0} for line in Path("labels.jsonl").read_text("utf-8").splitlines()]
    Path("labels.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    done = call(
        monkeypatch, "audit", "builtin", "--items", "items.jsonl", "--labels", "labels.jsonl", "--probe", "facts"
    )

    assert done.exit_code == 0, done.output
    assert "  pearson     –, n 12, 0 unscored" in done.stdout


def test_inputs_of_a_model_s_audit_are_taken_down(monkeypatch: pytest.MonkeyPatch) -> None:
    call(monkeypatch, "audit", "scripted:one", "--items", "items.jsonl", "--labels", "labels.jsonl", "--probe", "facts")
    shown = call(monkeypatch, "runs", "show", "last").stdout
    Path("labels.jsonl").write_text("", encoding="utf-8")
    again = call(monkeypatch, "runs", "replay", "last")

    assert "inputs     items" in shown
    assert "inputs     labels" in shown
    assert again.exit_code != 0
    assert "labels" in str(again.exception)


def test_a_dry_run_sends_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    done = call(monkeypatch, "audit", "scripted:one", "-n", "2", "--dry-run")

    assert done.exit_code == 0, done.output
    assert asked() == 0


def test_a_refusal_that_is_not_seen_is_shown_in_its_words(monkeypatch: pytest.MonkeyPatch) -> None:
    unseen = {False: ("The dam broke on 4 May.", "I don't know."), True: ("不知道。",)}
    monkeypatch.setattr(variants, "_REFUSALS", unseen)
    done = call(monkeypatch, "audit", "builtin", "--probe", "refusals")

    assert done.exit_code == 0, done.output
    assert done.stdout.count("    not seen: The dam broke on 4 May.") == 2
    assert "beware: refusals: only 67% of the refusals seen as such where there is none" in done.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["scripted:one", "--embedder", "hash:8"], "--embedder is of the built-in judge"),
        (["builtin", "--expected"], "are of models"),
        (["builtin", "--temperature", "0"], "are of models"),
        (["builtin", "--mode", "shared"], "are of models"),
        (["builtin", "--fixed-order"], "are of models"),
        (["builtin", "--labels", "labels.jsonl"], "give these with --items"),
        (["builtin", "--repeats", "1"], "2 repeats"),
    ],
)
def test_what_does_not_go_together_is_refused(monkeypatch: pytest.MonkeyPatch, words: list[str], said: str) -> None:
    done = call(monkeypatch, "audit", *words)

    assert isinstance(done.exception, UsageError)
    assert said in str(done.exception)


def test_the_built_in_judge_takes_an_embedder(monkeypatch: pytest.MonkeyPatch) -> None:
    done = call(monkeypatch, "audit", "builtin", "--embedder", "hash:64", "-n", "2", "--probe", "facts", "--json")

    assert done.exit_code == 0, done.output
    assert "hash:64" in json.loads(done.stdout)["fingerprint"]
