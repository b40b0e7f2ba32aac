"""A comparison as JSON, CSV and LaTeX: everything is there, and nothing of the data can do harm."""

import csv
import io
import json
from pathlib import Path

import pytest

from groundwire.evaluation.comparisons import Options
from groundwire.flow.comparing import Compared, ComparePlan, compare_files
from groundwire.flow.comparison_exports import comparison_csv, comparison_json, comparison_latex
from groundwire.flow.settings import JudgeOptions, Settings

TABLE = {"=cmd_1": (0.9, 4), "b & {c}\x07": (0.5, 3), "plain": (0.4, None)}


def table(**options: object) -> Compared:
    for place, (system, (f1, grade)) in enumerate(TABLE.items()):
        rows = [
            {"id": str(n), "system": system, "f1": f1 + n / 400, "steps": (grade or 0) + n % 2,
             "answer": "x " * (n + place * n % 5),
             "question": f"q{n}", "cost": 1}
            for n in range(12)
        ]  # fmt: skip
        for row in rows:
            if grade is None:
                row.pop("steps")
        Path(f"{place}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    wanted = Options(permutations=200, resamples=100, margins=(("f1", 0.2),), **options)
    return compare_files(["0.jsonl", "1.jsonl", "2.jsonl"], settings=Settings(judge=JudgeOptions(resamples=100)),
                         plan=ComparePlan(options=wanted))  # fmt: skip


@pytest.fixture(autouse=True)
def _somewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_json_holds_everything_and_null_for_what_is_no_number() -> None:
    found = table(lower_is_better=frozenset({"steps"}))
    facts = json.loads(comparison_json(found))

    assert list(facts) == ["groundwire", "systems", "verdicts", "measures", "mismatches", "options", "unscored",
                           "costs", "scales", "sources", "notes", "fits"]  # fmt: skip
    f1, steps = facts["measures"]
    assert f1["pairs"][0]["words"] == facts["verdicts"][0] == found.comparison.measures[0].pairs[0].words
    assert (f1["scale"], len(f1["ties"]["rates"]), f1["pairs"][2]["decision"]) == ("0 to 1", 3, "equivalent")
    assert facts["options"]["lower_is_better"] == ["steps"]
    assert facts["options"]["margins"] == [["f1", 0.2]]
    assert len(facts["sources"][0]["sha256"]) == 64
    assert facts["costs"][0] == {"system": "=cmd_1", "what": "cost", "mean": 1.0, "n": 12, "answers": 12}
    assert "'steps' has no values of plain" in facts["notes"]
    assert len(steps["pairs"]) == 1
    nowhere = [pair["tail"] for pair in json.loads(comparison_json(table(adjust="holm")))["measures"][0]["pairs"]]
    assert nowhere == [None] * 3


def test_csv_holds_a_row_a_pair_and_measure_and_no_formula() -> None:
    found = table()
    rows = list(csv.DictReader(io.StringIO(comparison_csv(found))))

    assert [(row["measure"], row["one"], row["other"]) for row in rows] == [
        ("f1", "'=cmd_1", "b & {c}\x07"), ("f1", "'=cmd_1", "plain"), ("f1", "b & {c}\x07", "plain"),
        ("steps", "'=cmd_1", "b & {c}\x07"),
    ]  # fmt: skip
    pair = found.comparison.measures[0].pairs[0]
    assert float(rows[0]["difference"]) == pair.difference.mean == pytest.approx(0.4)
    assert (rows[0]["n"], rows[0]["seed"], rows[0]["margin"]) == ("12", "0", "0.2")
    assert (rows[3]["margin"], rows[3]["at_equal_length"] != "") == ("", True)


def test_what_was_not_measured_is_an_empty_cell() -> None:
    Path("a.csv").write_text("id,f1\n1,1\n2,0\n", encoding="utf-8")
    Path("b.csv").write_text("id,f1\n1,0\n2,0\n", encoding="utf-8")
    found = compare_files(["a.csv", "b.csv"], settings=Settings(), plan=ComparePlan(options=Options(adjust="holm")))
    row = next(csv.DictReader(io.StringIO(comparison_csv(found))))
    assert (row["at_equal_length"], row["p_tail"], row["test"]) == ("", "", "holm")

    Path("b.csv").write_text("id,em\n1,0\n2,0\n", encoding="utf-8")
    nothing = compare_files(["a.csv", "b.csv"], settings=Settings())
    assert comparison_csv(nothing) == "measure\r\n"
    assert r"\begin{tabular}{l}" in comparison_latex(nothing)


def test_latex_has_letters_intervals_and_how_they_came_about_with_everything_escaped() -> None:
    made = comparison_latex(table())

    assert r"System & f1 & steps \\" in made
    first = next(line for line in made.splitlines() if line.startswith("=cmd"))
    assert first.startswith(r"=cmd\_1 & 0.914$^{\mathrm{a}}$ [0.9")
    assert r"b \& \{c\}  & 0.514$^{\mathrm{b}}$" in made
    assert next(line for line in made.splitlines() if line.startswith("plain")).endswith(r"& -- \\")
    assert r"Means with 95\,\% bootstrap intervals (100 resamples, seed 0)" in made
    assert "f1: n = 12, 0 left out, exact randomised Tukey HSD" in made
    assert "two-system randomisation tests adjusted by Holm." in comparison_latex(table(adjust="holm"))
    assert (made.count(r"\begin{"), made.count(r"\end{")) == (2, 2)


def test_decimals_follow_the_scale() -> None:
    for name, value in (("a", 0.25), ("b", 0.5)):
        lines = [f"{n},{value},{8 + value},{80 + value}" for n in range(4)]
        Path(f"{name}.csv").write_text("id,f1,steps,grade\n" + "\n".join(lines) + "\n", encoding="utf-8")
    made = comparison_latex(compare_files(["a.csv", "b.csv"], settings=Settings()))
    row = next(line for line in made.splitlines() if line.startswith("a &"))
    assert [cell.split("$")[0].strip() for cell in row.split("&")[1:]] == ["0.250", "80.2", "8.25"]
