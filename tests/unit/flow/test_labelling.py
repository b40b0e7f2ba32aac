"""Sheets as files, answers read back, labels beside a judge."""

import csv
import io
import json
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from groundwire.core.errors import UnreadableInput, UsageError
from groundwire.core.types import Item, Judgement
from groundwire.evaluation.sheets import SheetPlan
from groundwire.flow.labelling import (
    Made,
    agree,
    make_sheets,
    read_judgements,
    read_key,
    read_labels,
    read_sheets,
)


def items(count: int = 8, *, answer: str = "The river rose [1].") -> tuple[Item, ...]:
    return tuple(
        Item(f"t{n}", "Flood", ("A source.",), f"{answer} {n}", None, system) for n in range(count) for system in "ab"
    )


def make(folder: Path, name: str = "sheet.csv", *, form: str = "scorerag", annotators: int = 1, n: int = 8) -> Made:
    plan = SheetPlan(n, annotators=annotators)
    return make_sheets(items(), form=form, out=folder / name, plan=plan)


def fill(path: Path, value: object, *, delimiter: str = ",", encoding: str = "utf-8-sig") -> Path:
    """The sheet as somebody saves it after filling it in; ``value`` is a text, or a function of the row."""
    rows = list(csv.reader(io.StringIO(path.read_text(encoding="utf-8-sig"), newline="")))
    head, guide, *tasks = rows
    at = {name: place for place, name in enumerate(head)}
    for row in tasks:
        for name in head[head.index("reference") + 1 : -1]:
            row[at[name]] = value(row[at["id"]]) if callable(value) else str(value)
    with path.open("w", encoding=encoding, newline="") as handle:
        csv.writer(handle, delimiter=delimiter).writerows([head, guide, *tasks, [""] * len(head)])
    return path


def test_a_sheet_and_its_key_are_written_and_the_key_reads_back(tmp_path: Path) -> None:
    made = make(tmp_path / "new")

    assert [path.name for path in made.sheets] == ["sheet.csv"]
    assert made.key_file.name == "sheet.key.json"
    assert read_key(made.key_file) == made.key
    assert made.notes == ("drawn at random: 8 of 8 items, seed 0",)


def test_several_annotators_get_a_file_each(tmp_path: Path) -> None:
    made = make(tmp_path, "sheet.html", annotators=2)

    assert [path.name for path in made.sheets] == ["sheet.1.html", "sheet.2.html"]
    assert made.sheets[0].read_text() != made.sheets[1].read_text()


def test_no_sheet_is_written_over(tmp_path: Path) -> None:
    made = make(tmp_path)
    filled = fill(made.sheets[0], "4").read_bytes()

    with pytest.raises(UsageError, match=r"sheet.csv is already there, and may hold answers"):
        make(tmp_path)
    assert made.sheets[0].read_bytes() == filled


def test_another_kind_of_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"ends in none of \.csv, \.html"):
        make(tmp_path, "sheet.pdf")


def test_the_language_is_that_of_the_texts_or_as_asked(tmp_path: Path) -> None:
    chinese = items(2, answer="河水週五上漲3.2公尺，臺南開設收容中心。")
    plan = SheetPlan(2)

    for name, given, language, expected in (
        ("a", chinese, "", "zh-TW"), ("b", items(2), "", "en"), ("c", items(2), "zh-CN", "zh-CN"),
        ("d", items(2, answer="12"), "", "en"),
    ):  # fmt: skip
        made = make_sheets(given, form="scorerag", out=tmp_path / f"{name}.html", plan=plan, language=language)
        assert f'<html lang="{expected}">' in made.sheets[0].read_text(encoding="utf-8")


def test_marks_can_be_left_out(tmp_path: Path) -> None:
    with_marks = make(tmp_path, "a.csv").sheets[0].read_text(encoding="utf-8")
    without = make_sheets(items(), form="scorerag", out=tmp_path / "b.csv", plan=SheetPlan(), without_marks=True)

    assert "The river rose [1]." in with_marks
    assert "The river rose." in without.sheets[0].read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("delimiter", "encoding"), [(",", "utf-8"), (";", "utf-8-sig"), ("\t", "utf-16"), (",", "cp1252")]
)
def test_a_filled_in_table_is_read_however_a_spreadsheet_saved_it(
    tmp_path: Path, delimiter: str, encoding: str
) -> None:
    made = make(tmp_path)
    fill(made.sheets[0], "4", delimiter=delimiter, encoding=encoding)

    found = read_sheets(made.sheets, key_file=made.key_file)
    assert {label.value for label in found.labels} == {75}
    assert len(found.labels) == 4 * len(made.key.tasks)
    assert found.notes == ()


def test_an_empty_sheet_is_all_unscored(tmp_path: Path) -> None:
    made = make(tmp_path)

    found = read_sheets(made.sheets, key_file=made.key_file)
    assert {(label.value, label.outcome) for label in found.labels} == {(None, "abstained")}


def test_what_the_page_saved_is_read_too_and_a_missing_annotator_is_named(tmp_path: Path) -> None:
    made = make(tmp_path, "sheet.html", form="preference", annotators=2)
    answers = [{"id": task.id, "values": {"preference": "left"}, "comment": ""} for task in made.key.of(1)]
    saved = tmp_path / "answers.json"
    held = {"schema": "groundwire.answers/1", "sheet": made.key.sheet, "annotator": 1, "answers": answers}
    saved.write_text(json.dumps(held), encoding="utf-8")

    found = read_sheets([saved], key_file=made.key_file)
    assert {label.value for label in found.labels} == {0, 100}
    assert found.notes == ("no sheet of annotator 2 was read",)


@pytest.mark.parametrize(
    ("content", "match"),
    [
        ("name,coherence\nx,4\n", "has no column 'id'"),
        ("", "has no column 'id'"),
        ('{"schema": "other/1", "sheet": "", "annotator": 1, "answers": []}', "has the schema 'other/1'"),
        ('{"answers": []}', "is no answers at 'schema'"),
        ("{", "is no answers"),
        ('{"schema": "groundwire.answers/1", "sheet": "", "annotator": 1, "answers": [], "more": 1}', "more"),
    ],
)
def test_files_that_are_no_sheet_are_refused(tmp_path: Path, content: str, match: str) -> None:
    made = make(tmp_path)
    (tmp_path / "x.csv").write_text(content, encoding="utf-8")

    with pytest.raises(UnreadableInput, match=match):
        read_sheets([tmp_path / "x.csv"], key_file=made.key_file)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UnreadableInput, match=r"gone.json cannot be read: No such file"):
        read_key(tmp_path / "gone.json")


def test_a_key_of_another_version_is_refused(tmp_path: Path) -> None:
    made = make(tmp_path)
    (tmp_path / "old.json").write_text(json.dumps(asdict(replace(made.key, schema="groundwire.sheet/0"))))

    with pytest.raises(UnreadableInput, match=r"has the schema 'groundwire\.sheet/0'"):
        read_key(tmp_path / "old.json")


def test_labels_and_judgements_come_back_as_they_were_written(tmp_path: Path) -> None:
    made = make(tmp_path)
    fill(made.sheets[0], "4")
    found = read_sheets(made.sheets, key_file=made.key_file)
    found.save(tmp_path / "labels.jsonl")
    row = Judgement("t0", "a", "scorerag_accuracy", None, "unreadable", "j", "why", (("words", 3.0),))
    (tmp_path / "rows.jsonl").write_text(json.dumps(asdict(row)) + "\n\n", encoding="utf-8")

    assert read_labels(tmp_path / "labels.jsonl") == found.labels
    assert read_judgements(tmp_path / "rows.jsonl") == (row,)


@pytest.mark.parametrize(
    ("line", "match"),
    [
        ('{"item_id": "t0"}', "record 2 is no judgement at 'system'"),
        ("nonsense", "record 2 is no judgement"),
        ('{"item_id": "t", "system": "a", "rubric": "r", "value": "4", "outcome": "read", "judge": "j"}', "'value'"),
        (
            '{"item_id": "t", "system": "a", "rubric": "r", "value": 4, "outcome": "read", "judge": "j", "odd": 1}',
            "has 'odd', which is not known here",
        ),
    ],
)
def test_a_line_that_is_no_judgement_is_named(tmp_path: Path, line: str, match: str) -> None:
    good = '{"item_id": "t", "system": "a", "rubric": "r", "value": 4, "outcome": "read", "judge": "j"}'
    (tmp_path / "rows.jsonl").write_text(f"{good}\n{line}\n", encoding="utf-8")

    with pytest.raises(UnreadableInput, match=match):
        read_judgements(tmp_path / "rows.jsonl")


def test_labels_stand_beside_a_judge_with_how_they_were_drawn(tmp_path: Path) -> None:
    made = make(tmp_path, n=4)
    levels = {task.id: str(1 + (int(task.item_id[1:]) * 3 + (task.systems == ("a",))) % 5) for task in made.key.tasks}
    fill(made.sheets[0], levels.get)
    labels = read_sheets(made.sheets, key_file=made.key_file).labels
    rows = [
        Judgement(f"t{n}", system, "scorerag_accuracy", float((n * 3 + (system == "a")) % 5 * 20), "read", "j")
        for n in range(8)
        for system in "ab"
    ]

    found = agree(labels, rows, seed=1)
    (rubric,) = found.rubrics
    assert [one.value for one in rubric.correlations] == pytest.approx([1, 1, 1])
    assert rubric.powered[0].found is not None
    assert (rubric.powered[0].found.labels, rubric.powered[0].found.judged) == (4, 4)
    assert found.notes == ("drawn at random: 4 of 8 items, seed 0",)
    doubtful = agree([*labels[:-1], replace(labels[-1], draw="by hand")], rows)
    assert "some labels were not drawn at random" in doubtful.notes[1]
