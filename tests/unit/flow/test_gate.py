"""Result files held to conditions: what is read, who judges, what is refused."""

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from groundwire.core.errors import UnreadableInput, UsageError
from groundwire.evaluation.conditions import Condition, GateOptions
from groundwire.flow.gate import GateFiles, gate_files, gate_values, junit
from groundwire.flow.settings import JudgeOptions, Settings

AT_LEAST = Condition("at_least", "f1", 0.5)
BETTER = Condition("better", "f1")
TOLD = ("The river rose by 3 metres.", "The mayor spoke on Monday.", "Rain fell for 5 days.", "The dam held in May.")


@pytest.fixture(autouse=True)
def _somewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def table(file: str, values: list[object], head: str = "id,f1") -> str:
    Path(file).write_text("\n".join([head, *(f"q{n},{value}" for n, value in enumerate(values))]) + "\n")
    return file


def answers(file: str, right: int, **more: object) -> str:
    rows = [
        {"id": f"q{n}", "question": f"What is known of event {n}?", "reference": TOLD[n % 4], "contexts": [TOLD[n % 4]],
         "answer": TOLD[n % 4] if n < right else "A lion sleeps in a tree.", **more}
        for n in range(8)
    ]  # fmt: skip
    Path(file).write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


def gated(*conditions: Condition, settings: Settings | None = None, options: GateOptions | None = None,
          **files: object) -> tuple[str, ...]:  # fmt: skip
    found = gate_files(conditions, files=GateFiles(**files), settings=settings or Settings(), options=options)  # type: ignore[arg-type]
    return found.outcome, *(one.words for one in found.held), *found.notes


def test_values_of_a_file_are_held_to_a_bar_and_the_file_is_named() -> None:
    outcome, words, *notes = gated(AT_LEAST, new=(table("new.csv", [0.8, 0.9, 0.7, 0.8]),))

    assert outcome == "passed"
    assert words.startswith("passed: f1 is at least 0.5: 0.8 [")
    assert notes[0] == "new.csv: table, 4 rows, 0 rejected; new"


def test_answers_without_values_are_judged_by_the_built_in_judge() -> None:
    outcome, words, *notes = gated(
        Condition("better", "answer_correctness"), new=(answers("new.jsonl", 8),), old=(answers("old.jsonl", 1),)
    )
    assert outcome == "passed", words
    assert len(notes) == 2
    alone, *_ = gated(Condition("at_least", "answer_correctness", 60), new=("new.jsonl",))
    assert alone == "passed"


def test_an_embedder_of_the_settings_judges_too() -> None:
    settings = Settings(judge=JudgeOptions(embedder="hash:64"))
    found = gate_files([Condition("at_least", "answer_correctness", 1)],
                       files=GateFiles((answers("new.jsonl", 8),)), settings=settings)  # fmt: skip
    assert "/hash:64/" in found.held[0].judge


def test_an_answer_that_stands_twice_counts_once_where_its_values_agree() -> None:
    file = answers("new.jsonl", 8)
    Path(file).write_text(Path(file).read_text() * 2)
    found = gate_files([Condition("at_least", "answer_correctness", 90)], files=GateFiles((file,)), settings=Settings())
    assert found.held[0].value.n == 8


def test_e8_three_files_are_repeats_of_one_run() -> None:
    files = tuple(table(f"run{n}.csv", [value] * 5) for n, value in enumerate((0.62, 0.58, 0.61)))
    outcome, words, *_ = gated(Condition("at_least", "f1", 0.6), new=files)
    assert outcome == "undecided"
    assert words.startswith("undecided, 304 more runs needed: f1 is at least 0.6: 0.6033 [")


@pytest.mark.parametrize("new", [(), ("a.csv", "a.csv"), ("a.csv", "./a.csv")])
def test_a_file_is_given_once(new: tuple[str, ...]) -> None:
    table("a.csv", [1, 2])
    with pytest.raises(UsageError, match=f"{len(new)} files of new results were given; give at least one"):
        gated(AT_LEAST, new=new)


def test_repeats_that_asked_something_else_are_refused() -> None:
    answers("a.jsonl", 8)
    Path("b.jsonl").write_text(Path("a.jsonl").read_text().replace("event 3", "event 33"))
    with pytest.raises(UsageError, match="another question"):
        gated(Condition("at_least", "answer_correctness", 1), new=("a.jsonl", "b.jsonl"))


def test_of_several_systems_the_named_one_counts() -> None:
    Path("all.csv").write_text("id,system,f1\n" + "".join(f"q{n},b,0.9\nq{n},a,0.{n + 1}\n" for n in range(4)))
    with pytest.raises(UsageError, match=r"all.csv holds the systems 'a', 'b'; name the one that counts as the new"):
        gated(AT_LEAST, new=("all.csv",))
    with pytest.raises(UsageError, match=r"all.csv holds the systems 'a', 'b', and no 'c'"):
        gated(AT_LEAST, new=("all.csv",), system="c")
    outcome, *_ = gated(BETTER, new=("all.csv",), old=("all.csv",), system="b", old_system="a")
    assert outcome == "passed"


def test_a_measure_that_is_not_there_is_named_with_those_that_are() -> None:
    table("new.csv", [1, 2])
    with pytest.raises(UsageError, match=r"new.csv has no precision; its measures are: f1$"):
        gated(Condition("at_least", "precision", 1), new=("new.csv",))
    answers("new.jsonl", 3)
    with pytest.raises(UsageError, match="has no f1; its measures are: contextual_coherence, "):
        gated(AT_LEAST, new=("new.jsonl",))


def test_rejected_rows_are_said_and_count_as_without_a_value() -> None:
    table("new.csv", [0.8, 0.9, 0.7, 0.8])
    Path("new.csv").write_text(Path("new.csv").read_text() + ",0.9\n,0.9\n")
    outcome, words, *notes = gated(AT_LEAST, new=("new.csv",))
    assert outcome == "undecided"
    assert "coverage 67%" in words
    assert notes[0] == "new.csv: table, 6 rows, 2 rejected; new"
    assert notes[1].startswith("  row 6 rejected: ")


def test_trec_runs_are_judged_by_their_qrels() -> None:
    Path("run.txt").write_text("".join(f"q{n} Q0 d{n} 1 9 tag\nq{n} Q0 x 2 8 tag\n" for n in range(40)))
    Path("qrels.txt").write_text("".join(f"q{n} 0 d{n} 1\n" for n in range(40)))
    outcome, words, *_ = gated(Condition("at_least", "recall@1", 0.9), new=("run.txt",), qrels="qrels.txt")
    assert outcome == "passed", words


def test_e7_judges_that_differ_are_refused_between_files() -> None:
    for name, judge in (("new.csv", "v1"), ("old.csv", "v2")):
        Path(name).write_text("id,f1,judge\n" + "".join(f"q{n},0.{n},{judge}\n" for n in range(1, 6)))
    with pytest.raises(UsageError, match="'v1' judged new; 'v2' judged old"):
        gated(BETTER, new=("new.csv",), old=("old.csv",))


def test_a_file_that_is_not_there_says_so() -> None:
    with pytest.raises(UnreadableInput, match=r"none.csv is not there"):
        gated(AT_LEAST, new=("none.csv",))


def test_level_and_groups_come_from_options_and_rows() -> None:
    Path("new.csv").write_text("id,f1,story\n" + "".join(f"q{n},0.{7 - 2 * (n > 2)},s{n // 3}\n" for n in range(6)))
    bar = Condition("at_least", "f1", 0.45)
    strict = gated(bar, new=("new.csv",), cluster="story")
    assert strict[0] == "undecided"
    assert gated(bar, new=("new.csv",))[0] == "passed"
    found = gate_files([bar], files=GateFiles(("new.csv",)), settings=Settings(judge=JudgeOptions(level=0.9)))
    assert found.held[0].value.level == pytest.approx(0.9)


def test_values_at_hand_are_held_by_id_or_by_order() -> None:
    assert gate_values(AT_LEAST, new=[0.8, 0.9, 0.85, None, 0.8]).outcome == "passed"
    by_id = gate_values(BETTER, new={"b": 0.9, "a": 0.8, "c": 0.7}, old={"a": 0.2, "b": 0.31, "c": 0.1})
    assert by_id.outcome == "passed"
    assert by_id.held[0].value.mean == pytest.approx(0.596667, abs=1e-5)
    with pytest.raises(UsageError, match="'f1 is better' compares; give old values as well"):
        gate_values(BETTER, new=[1.0])


def test_junit_has_a_case_a_condition_and_keeps_undecided_apart() -> None:
    conditions = [Condition("at_least", "f1\x00<", bound) for bound in (0.1, 0.6, 0.9)]
    found = gate_values(conditions[1], new=[0.62, 0.58, 0.61])
    suite = ElementTree.fromstring(junit(found))  # noqa: S314  our own text
    assert suite.get("failures") == "1"
    failure = suite.find("testcase/failure")
    assert failure is not None
    assert failure.get("type") == "undecided"
    assert suite[0].get("name") == "f1\ufffd< is at least 0.6"
    passed = ElementTree.fromstring(junit(gate_values(conditions[0], new=[0.62, 0.58, 0.61]), name="x"))  # noqa: S314
    assert (passed.get("failures"), passed.get("name")) == ("0", "x")
    assert passed[0][0].tag == "system-out"
