"""``groundwire score`` and ``groundwire label`` from files to tables, with a scripted judge installed as a plug-in."""

import csv
import io
import json
import sys
from collections.abc import Callable
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from groundwire.cli.people import label, score
from groundwire.cli.runs import runs
from groundwire.core.errors import UsageError

PLUGIN = """
import json
from groundwire.testing import ScriptedModel
asked = []
def make(rest):
    def script(request):
        asked.append(request)
        said = request.messages[-1].text
        if rest == "mute":
            return "Nice."
        level = 4 if "river rose" in said.partition("Article:")[2] else 2
        return json.dumps({"coherence": level, "accuracy": level, "professionalism": 5, "informativeness": level})
    return ScriptedModel(script, name=rest)
"""
TEXTS = {"plain": "Water came on day {n}.", "best": "The river rose on day {n}. The mayor spoke of repairs."}


@click.group()
def main() -> None:
    """The commands under test, joined as in the real one."""


for command in (score, label, runs):
    main.add_command(command)


@pytest.fixture(autouse=True)
def _somewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, plug_in: Callable[[str, str], None]) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GROUNDWIRE_EMBEDDER", "hash:64")
    monkeypatch.setenv("GROUNDWIRE_JUDGE_RESAMPLES", "200")
    for system, text in TEXTS.items():
        rows = [
            {"id": f"t{n}", "question": "Flood relief", "answer": text.format(n=n), "contexts": ["The river rose."]}
            for n in range(8)
        ]
        Path(f"{system}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    plug_in("scripted_models", PLUGIN)


def call(monkeypatch: pytest.MonkeyPatch, *words: str) -> Result:
    monkeypatch.setattr(sys, "argv", ["groundwire", *words])
    return CliRunner().invoke(main, words)


def calls() -> int:
    return len(sys.modules["scripted_models"].asked) if "scripted_models" in sys.modules else 0


SCORE = ("score", "plain.jsonl", "best.jsonl", "--model", "scripted:judge", "--readings", "2")


def test_systems_are_scored_compared_and_written(monkeypatch: pytest.MonkeyPatch) -> None:
    done = call(monkeypatch, *SCORE, "-o", "rows.jsonl")

    assert done.exit_code == 0, done.output
    assert "scorerag_total: best is better than plain: +45 [45, 45]" in done.stdout
    assert "at equal length: cannot be told, for the lengths do not vary within the systems" in done.stdout
    assert "bootstrap intervals and tests over the topics, seed 0" in done.stderr
    assert "2.30" in done.stdout
    assert "0 of 2" in done.stdout
    assert "16 articles, 0 unscored" in done.stderr
    assert "seed 0" in done.stderr
    assert len(Path("rows.jsonl").read_text().splitlines()) == 16 * 5
    assert calls() == 32


def test_lengths_that_vary_give_the_difference_at_equal_length(monkeypatch: pytest.MonkeyPatch) -> None:
    for system, text in TEXTS.items():
        rows = [
            {"id": f"t{n}", "question": "Flood", "answer": text.format(n=n) + " Rain." * n, "contexts": ["Rain."]}
            for n in range(4)
        ]
        rows[3] |= {"answer": " "} if system == "plain" else {}
        Path(f"{system}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")

    done = call(monkeypatch, *SCORE)
    assert done.exit_code == 1
    assert "1 left out\n  at equal length: +45" in done.stdout


def test_a_judge_of_the_writers_family_is_warned_of(monkeypatch: pytest.MonkeyPatch) -> None:
    row = {"id": "t", "question": "Flood", "answer": "Rain.", "contexts": ["Rain."], "system": "qwen2.5-7b"}
    Path("one.jsonl").write_text(json.dumps(row), encoding="utf-8")

    done = call(monkeypatch, "score", "one.jsonl", "--model", "scripted:qwen3-32b", "--readings", "1")
    assert "warning: 'scripted:qwen3-32b' judges its own family (qwen: system 'qwen2.5-7b'" in done.stderr
    assert "means" not in done.stdout


def test_json_holds_every_value_with_its_interval_and_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    facts = json.loads(call(monkeypatch, *SCORE, "--blind", "--seed", "3", "--json").stdout)

    assert facts["settings"]["blind"] is True
    assert facts["articles"][0]["total"] == pytest.approx(2.3)
    assert {one["interval"]["seed"] for one in facts["summaries"]} == {3}
    assert facts["comparisons"][-1]["pairs"][0]["difference"]["mean"] == pytest.approx(45)


def test_a_dry_run_plans_and_a_replay_writes_the_same_again(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "32 calls to make" in call(monkeypatch, *SCORE, "--dry-run").stdout
    assert calls() == 0
    for system in TEXTS:
        Path(system).mkdir()
        Path(f"{system}.jsonl").rename(f"{system}/items.jsonl")
    folders = ("score", "plain=plain/items.jsonl", "best=best/items.jsonl", *SCORE[3:])
    call(monkeypatch, *folders, "-o", "rows.jsonl")
    before = Path("rows.jsonl").read_bytes()
    Path("rows.jsonl").unlink()

    replayed = call(monkeypatch, "runs", "replay", "last")
    assert replayed.exit_code == 0, replayed.output
    assert Path("rows.jsonl").read_bytes() == before
    assert calls() == 32


def test_a_judge_that_cannot_be_read_leaves_no_value_and_exits_with_1(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("a.txt").write_text("Flood\n\nIt rained.", encoding="utf-8")
    Path("sources").mkdir()
    Path("sources/s.txt").write_text("It rained all day.", encoding="utf-8")

    done = call(monkeypatch, "score", "x=a.txt", "--model", "scripted:mute", "--sources", "sources", "--expected")
    assert done.exit_code == 1
    assert "1 of 1" in done.stdout
    assert "1 articles, 1 unscored" in done.stderr
    assert "asked once more" in done.stderr


def test_an_article_is_scored_on_its_sources_in_an_archive(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("lancedb", reason="the extra 'archive' is not installed")
    from groundwire.cli.main import main as whole

    row = {"id": "river", "title": "River", "text": "The river rose 3.2 metres on Friday."}
    Path("s.jsonl").write_text(json.dumps(row), encoding="utf-8")
    assert CliRunner().invoke(whole, ["add", "s.jsonl", "--archive", "a.archive"]).exit_code == 0
    Path("a.md").write_text("# Flood\n\nThe river rose [1].\n\n## Sources\n\n[1] River. `river`\n", encoding="utf-8")

    done = call(monkeypatch, "score", "a.md", "--model", "scripted:judge", "--archive", "a.archive", "--readings", "1")
    assert done.exit_code == 0, done.output
    assert "The river rose 3.2 metres on Friday." in sys.modules["scripted_models"].asked[0].messages[-1].text


def test_sources_come_from_one_place(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("sources").mkdir()
    done = call(monkeypatch, *SCORE, "--sources", "sources", "--archive", "a.archive")

    assert isinstance(done.exception, UsageError)
    assert "--sources and --archive were both given" in str(done.exception)


def test_rejects_and_notes_of_readers_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("odd.jsonl").write_text('{"id": "1"}\n{"id": "2", "question": "Q", "text": "River."}\n', encoding="utf-8")
    Path("b.md").write_text("# Flood\n\nThe river rose.", encoding="utf-8")

    done = call(monkeypatch, "score", "odd.jsonl", "b.md", "--model", "scripted:judge", "--map", "answer=text")
    assert "row 1 rejected: there is no question" in done.stderr
    assert "It is taken as a text whose first line is its topic." in done.stderr
    assert "no sources were given" in done.stderr


# Labels.


def fill(path: Path, answer: dict[str, str]) -> None:
    rows = list(csv.reader(io.StringIO(path.read_text(encoding="utf-8-sig"), newline="")))
    start = rows[0].index("reference") + 1
    for row in rows[2:]:
        level = answer["best" if "river rose" in row[rows[0].index("answer")] else "plain"]
        row[start:-1] = [level] * (len(row) - start - 1)
    with path.open("w", encoding="utf-8", newline="") as handle:
        csv.writer(handle).writerows(rows)


def test_a_sheet_is_made_filled_in_read_back_and_set_beside_a_judge(monkeypatch: pytest.MonkeyPatch) -> None:
    made = call(
        monkeypatch, "label", "make", "plain.jsonl", "best.jsonl", "-o", "s.csv", "-n", "5", "--annotators", "2"
    )
    assert made.exit_code == 0, made.output
    assert "drawn at random: 5 of 8 items, seed 0" in made.stderr
    assert "keep it from those who label" in made.stderr
    for number, answer in (("1", {"best": "4", "plain": "2"}), ("2", {"best": "5", "plain": "2"})):
        fill(Path(f"s.{number}.csv"), answer)

    read = call(monkeypatch, "label", "read", "s.1.csv", "s.2.csv", "--key", "s.key.json", "-o", "labels.jsonl")
    assert read.exit_code == 0, read.output
    assert "Krippendorff, ordinal" in read.stdout
    assert "kappa of 1 and 2" in read.stdout
    assert "1 with itself: same" in read.stdout
    assert "88 labels, 0 unscored" in read.stderr
    assert "95% bootstrap intervals, seed 0" in read.stderr

    call(monkeypatch, *SCORE, "-o", "rows.jsonl")
    beside = call(monkeypatch, "label", "agree", "labels.jsonl", "rows.jsonl")
    assert beside.exit_code == 0, beside.output
    assert "spearman" in beside.stdout
    assert "best minus plain" in beside.stdout
    assert "drawn at random: 5 of 8 items, seed 0" in beside.stderr
    facts = json.loads(call(monkeypatch, "label", "agree", "labels.jsonl", "rows.jsonl", "--json").stdout)
    assert facts["rubrics"][0]["correlations"][0]["n"] == 10


def test_a_sheet_left_open_exits_with_1_and_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    made = call(monkeypatch, "label", "make", "plain.jsonl", "-o", "s.csv", "--rubric", "information_recall", "--json")
    assert json.loads(made.stdout)["texts"] == 9
    read = call(monkeypatch, "label", "read", "s.csv", "--key", "s.key.json")

    assert read.exit_code == 1
    assert "9 labels, 9 unscored" in read.stderr
    facts = json.loads(call(monkeypatch, "label", "read", "s.csv", "--key", "s.key.json", "--json").stdout)
    assert facts["unscored"] == 9
    assert facts["agreement"][0]["between"]["value"] is None


def test_preferences_have_correlations_and_no_means(monkeypatch: pytest.MonkeyPatch) -> None:
    call(monkeypatch, "label", "make", "plain.jsonl", "best.jsonl", "-o", "p.html", "--rubric", "preference",
         "--annotators", "2", "--repeated", "0")  # fmt: skip
    key = json.loads(Path("p.key.json").read_text(encoding="utf-8"))
    answers = [
        {"id": task["id"], "values": {"preference": "left" if task["systems"][0] == "best" else "tie"}, "comment": ""}
        for task in key["tasks"]
        if task["annotator"] == 1
    ]
    held = {"schema": "groundwire.answers/1", "sheet": key["sheet"], "annotator": 1, "answers": answers}
    Path("a.json").write_text(json.dumps(held), encoding="utf-8")

    read = call(monkeypatch, "label", "read", "a.json", "--key", "p.key.json", "-o", "labels.jsonl")
    assert read.exit_code == 0, read.output
    assert "no sheet of annotator 2 was read" in read.stderr
    call(monkeypatch, *SCORE, "-o", "rows.jsonl")
    beside = call(monkeypatch, "label", "agree", "labels.jsonl", "rows.jsonl")
    assert "people alone" not in beside.stdout
    assert "scorerag_total" in beside.stdout


def test_where_all_items_are_labelled_the_table_says_why_there_is_no_mean(monkeypatch: pytest.MonkeyPatch) -> None:
    call(monkeypatch, "label", "make", "plain.jsonl", "-o", "s.csv")
    fill(Path("s.csv"), {"plain": "3"})
    call(monkeypatch, "label", "read", "s.csv", "--key", "s.key.json", "-o", "labels.jsonl")
    call(monkeypatch, *SCORE, "-o", "rows.jsonl")

    assert "it takes 2 of each" in call(monkeypatch, "label", "agree", "labels.jsonl", "rows.jsonl").stdout


def test_nobody_read_is_an_empty_table(monkeypatch: pytest.MonkeyPatch) -> None:
    call(monkeypatch, "label", "make", "plain.jsonl", "-o", "s.csv")
    Path("none.csv").write_text("id,coherence\n", encoding="utf-8")

    done = call(monkeypatch, "label", "read", "none.csv", "--key", "s.key.json")
    assert done.exit_code == 0
    assert "no sheet of annotator 1 was read" in done.stderr
