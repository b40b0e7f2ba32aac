"""``groundwire compare`` as a new user meets it: two files, no key, no network, the verdict first."""

import json
import math
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from groundwire.cli.compare import compare
from groundwire.cli.report import report
from groundwire.core.errors import UsageError


@click.group()
def main() -> None:
    """The command under test, joined as in the real one."""


main.add_command(compare)


@pytest.fixture(autouse=True)
def _somewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GROUNDWIRE_JUDGE_RESAMPLES", "200")


def call(*words: str) -> Result:
    return CliRunner().invoke(main, ["compare", *words])


def answers(file: str, right: int, *, wordy: int = 1, **more: object) -> str:
    rows = [
        {"id": f"q{n}", "question": f"What happened on day {n}?", "reference": f"The river rose by {n} metres.",
         "contexts": [f"The river rose by {n} metres."], **more,
         "answer": (
             f"The river rose by {n} metres." + " It did." * (n % 3 * wordy) if n < right else "A lion sleeps in trees."
         )}
        for n in range(20)
    ]  # fmt: skip
    return written(file, "".join(json.dumps(row) + "\n" for row in rows))


def table(file: str, values: list[object], head: str = "id,f1") -> str:
    return written(file, "\n".join([head, *(f"q{n},{value}" for n, value in enumerate(values))]) + "\n")


def written(file: str, text: str) -> str:
    Path(file).write_text(text, encoding="utf-8")
    return file


def test_two_files_of_answers_give_a_verdict_first_and_then_what_it_rests_on() -> None:
    done = call(answers("new.jsonl", 20, tokens=300), answers("old.jsonl", 4, tokens=420, cost=0.01))

    assert done.exit_code == 0, done.output
    lines = done.stdout.splitlines()
    assert lines[0] == "contextual_coherence: new is better"
    assert lines[1].startswith("  new is better than old: +")
    assert "p < .001, 20 items" in lines[1]
    assert "answer_correctness  (0 to 100; 20 items; p exact)" in lines
    assert "  system  mean   interval        group  n   unscored  missing  coverage" in lines
    assert any("wins/ties/losses  at equal length" in line and "d_z" in line for line in lines)
    assert "price per answer (means)" in lines
    assert "  new     –     300     20 of 20" in lines
    assert "  old     0.01  420     20 of 20" in lines
    assert not any(line.startswith("  twice the length: ") for line in lines)  # no answer is twice another
    assert max(map(len, lines)) <= 100
    assert "new.jsonl: items, 20 rows, 0 rejected; new" in done.stderr
    assert "judged by: builtin/" in done.stderr
    assert (
        "95% bootstrap intervals of 200 resamples; up to 10000 permutations, p adjusted by tukey; seed 0" in done.stderr
    )


def test_what_does_not_fit_is_named_and_exits_with_1() -> None:
    table("a.csv", [0.5, 0.6, 0.7, 0.8, 0.5, 0.9, 0.3, 0.4])
    table("b.csv", [0.5, 0.6])
    done = call("a.csv", written("b.csv", Path("b.csv").read_text() + "q1,0.9\n,\n,1,2\n"))

    assert done.exit_code == 1
    assert "does not fit" in done.stdout
    assert "  b: missing 6: q2, q3, q4, q5, q6 and 1 more" in done.stdout
    assert "  b: twice and different 1: q1" in done.stdout
    assert "row 5 rejected: there is neither an id nor a question" in done.stderr
    assert "row 6 rejected: the row has 3 cells, the head line 2" in done.stderr
    assert "f1: nothing to compare" in done.stdout
    assert "only 1 of 8 items are scored for all systems" in done.stdout


def test_what_twice_the_length_gives_is_said_where_somebody_wrote_twice_as_much() -> None:
    done = call(answers("new.jsonl", 20, wordy=9), answers("old.jsonl", 20), "--measure", "information_density")

    assert any(line.startswith("  twice the length: ") for line in done.stdout.splitlines()), done.output


def test_mismatches_of_some_measures_are_named_with_them() -> None:
    written("a.jsonl", "".join(json.dumps({"id": f"q{n}", "f1": n / 9, "em": n % 2}) + "\n" for n in range(9)))
    own = {"system": "b", "outcome": "read", "judge": "as given"}
    rows = [{"item_id": f"q{n}", "rubric": rubric, "value": n / 9, **own}
            for n in range(9) for rubric in ("f1", "em") if (n, rubric) != (0, "em")]  # fmt: skip
    written("b.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    done = call("a.jsonl", "b.jsonl")
    assert done.exit_code == 1
    assert "  b (em): missing 1: q0" in done.stdout


def test_what_is_unscored_is_counted_with_its_reason() -> None:
    table("a.csv", [0.5, "", "nan", "refused", 1, 1])
    done = call("a.csv", table("b.csv", [0.5, 0.6, 0.7, 0.8, 0.9, 1]))
    assert done.exit_code == 0
    assert "  a       0.833  [0.500, 1.000]  a      3  3         0        50.0%" in done.stdout
    assert "a: 2 unscored (f1): the file has no value" in done.stderr
    assert "a: 1 unscored (f1): no number: 'refused'" in done.stderr

    many = table("c.csv", [*(f"no {n}" for n in range(14)), *range(15)])
    few = call(many, table("d.csv", [1] * 29)).stderr
    assert few.count("unscored (f1): no number") == 12
    assert "and 2 more reasons; --json lists all" in few


def test_many_rejected_rows_are_counted_and_the_first_are_shown() -> None:
    table("a.csv", [0.5, 0.6, 0.7])
    done = call("a.csv", written("b.csv", "id,f1\nq0,1\nq1,1\nq2,1\n" + "x\n" * 8))
    assert done.stderr.count("rejected: the row has 1 cells") == 5
    assert "  and 3 more; --json lists all" in done.stderr


def test_equivalent_undecided_worse_and_tied_systems_are_told_in_words() -> None:
    base = [40 + n % 20 for n in range(60)]
    files = [table("a.csv", base), table("b.csv", [value + (0.25 if n % 2 else -0.25) for n, value in enumerate(base)]),
             table("c.csv", [value - 9 for value in base])]  # fmt: skip
    done = call(*files, "--margin", "f1=1", "--permutations", "500")
    assert "f1: a leads, better than 1 of 2 others; 2 of 3 pairs told apart" in done.stdout
    assert "a and b are equivalent within 1: +0 [-0.0" in done.stdout
    assert "b is better than c: +9" in done.stdout
    assert "p from 500 permutations" in call(*files, "--permutations", "500", "--margin", "1").stdout

    lower = call("a.csv", "c.csv", "--lower", "f1")
    assert lower.stdout.startswith("f1: c is better\n  a is worse than c: +9")

    tied = call("a.csv", "same=" + table("d.csv", base))
    assert tied.stdout.startswith("f1: undecided\n  undecided between a and same: +0 [0, 0], p = 1.000, 60 items\n")
    assert "ties 100.0% of pairs of values; 0% of pairs of systems told apart" in tied.stdout
    assert tied.exit_code == 0

    three = call("a.csv", "d.csv", "again=" + table("e.csv", base))
    assert three.stdout.startswith("f1: 0 of 3 pairs told apart")


def test_pairing_sees_a_small_gain_under_large_differences_between_items() -> None:
    spread = [50 + 45 * math.sin(7 * n) for n in range(300)]
    table("a.csv", [f"{value:.3f}" for value in spread])
    table("b.csv", [f"{value + 1 + (n % 3 - 1):.3f}" for n, value in enumerate(spread)])
    done = call("a.csv", "b.csv", "--permutations", "999")
    assert done.stdout.startswith("f1: b is better\n  a is worse than b: -1 [-1.")


SAKAI = {
    "A": "7 3 2 6 4 4 0 7 1 3 5 4 0 6 5 3 1 5 2 1",
    "B": "5 1 0 2 4 3 0 5 3 3 4 4 1 4 2 1 1 6 3 2",
    "C": "0 0 2 1 3 3 1 2 4 4 4 3 3 2 2 2 1 5 4 3",
}


def test_tied_grids_from_files_give_the_exact_p_of_the_literature() -> None:
    for name, column in SAKAI.items():
        table(f"{name}.csv", [int(value) / 10 for value in column.split()])
    found = json.loads(call("A.csv", "B.csv", "C.csv", "--json").stdout)["measures"][0]
    assert found["how"] == "exact"
    assert [pair["p"] for pair in found["pairs"]] == pytest.approx([0.303764, 0.106587, 0.891600], abs=5e-7)
    alone = json.loads(call("A.csv", "C.csv", "--json").stdout)["measures"][0]
    assert alone["pairs"][0]["p"] == pytest.approx(0.144608, abs=5e-7)


def test_values_that_look_to_be_on_another_scale_come_before_the_verdict() -> None:
    values = [40 + n % 50 for n in range(200)]
    done = call(table("a.csv", values), table("b.csv", [0.85, 0.9, 4, *values[3:]]))
    assert done.exit_code == 1
    assert done.stdout.startswith("beware: f1: 3 of 400 values (0.85, 0.9, 4) look to be on another scale")


def test_groups_names_of_files_and_holm_are_options() -> None:
    head = "id,f1,article"
    files = [table(f"{name}.csv", [f"{gain + n % 4},{n // 4}" for n in range(16)], head) for name, gain in ("ab", "b5")
             for gain in (ord(gain) % 7,)]  # fmt: skip
    done = call(files[0], "--as", f"new={files[1]}", "--cluster", "article", "--adjust", "holm", "--seed", "3",
                "--level", "0.9", "--tolerance", "0.5")  # fmt: skip
    assert done.exit_code == 0, done.output
    assert "16 items in 4 groups; p adjusted by Holm" in done.stdout
    assert "b.csv: table, 16 rows, 0 rejected; new" in done.stderr
    assert "values were taken from: f1" in done.stderr
    assert (
        "90% bootstrap intervals of 200 resamples; up to 10000 permutations, p adjusted by holm; seed 3" in done.stderr
    )


def test_two_judges_are_refused_or_bridged() -> None:
    both = [f"{50 + n},v1" for n in range(30)] + [f"{40 + n},v2" for n in range(30)]
    lines = [f"q{n % 30},{value}" for n, value in enumerate(both)]
    written("a.csv", "\n".join(["id,f1,judge", *lines]) + "\n")
    written("b.csv", "\n".join(["id,f1,judge", *(line.replace(",5", ",3") for line in lines)]) + "\n")
    refused = call("a.csv", "b.csv")
    assert isinstance(refused.exception, UsageError)
    assert "'f1' was judged by 2 judges" in str(refused.exception)

    bridged = call("a.csv", "b.csv", "--bridge", "v1")
    assert "p bridged between judges" in bridged.stdout
    assert "brought to the scale of 'v1'" in bridged.stdout
    assert "judged by: v1; v2" in bridged.stderr


def test_everything_is_written_and_printed_as_json() -> None:
    files = answers("new.jsonl", 20), answers("old.jsonl", 4)
    done = call(*files, "--json", "-o", "out/all.json", "--csv", "out/pairs.csv", "--latex", "out/table.tex",
                "--measure", "information_recall")  # fmt: skip
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout) == json.loads(Path("out/all.json").read_text())
    assert json.loads(done.stdout)["measures"][0]["pairs"][0]["decision"] == "better"
    assert Path("out/pairs.csv").read_bytes().count(b"\r\n") == 2
    assert r"\toprule" in Path("out/table.tex").read_text()
    assert "wrote out/all.json" in done.stderr


def test_the_page_of_report_is_written_in_the_same_run_and_nothing_is_read_twice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    files, read = (answers("new.jsonl", 20), answers("old.jsonl", 4)), []
    as_it_is = Path.read_bytes
    monkeypatch.setattr(Path, "read_bytes", lambda path: (read.append(path.name), as_it_is(path))[1])
    done = call(*files, "--report", "out/page.html", "--permutations", "200")
    page = Path("out/page.html").read_text(encoding="utf-8")

    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("contextual_coherence: new is better")
    assert "wrote out/page.html" in done.stderr
    assert sorted(name for name in read if name.endswith(".jsonl")) == ["new.jsonl", "old.jsonl"]
    alone = CliRunner().invoke(report, [*files, "-o", "alone.html", "--permutations", "200"])
    assert alone.exit_code == 0, alone.output
    assert page == Path("alone.html").read_text(encoding="utf-8")


def test_the_result_does_not_depend_on_the_order_of_files() -> None:
    files = answers("new.jsonl", 20), answers("old.jsonl", 4)
    assert call(*files).stdout == call(*files[::-1]).stdout


def test_field_names_are_mapped() -> None:
    for name in ("a", "b"):
        rows = [{"nr": n, "frage": f"Was war am Tag {n}?", "text": f"Regen an Tag {n}."} for n in range(5)]
        written(f"{name}.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    done = call("a.jsonl", "b.jsonl", "--map", "id=nr,question=frage,answer=text")
    assert done.exit_code == 0, done.output
    assert "contextual_coherence was left out: no row of a, b has contexts" in done.stderr


def test_long_names_are_cut_unless_they_would_look_the_same() -> None:
    one, other = "a-very-long-name-of-a-system", "another-very-long-name"
    done = call(f"{one}={table('1.csv', [1, 0, 1, 1])}", f"{other}={table('2.csv', [0, 0, 1, 0])}")
    assert "a-very-long-name…" in done.stdout
    same = call(f"{one}-1=1.csv", f"{one}-2=2.csv")
    assert f"  {one}-1  {one}-2  " in same.stdout
    assert "…" not in same.stdout


def test_names_in_the_data_cannot_turn_or_hide_what_a_terminal_shows() -> None:
    rows = [
        {"id": f"q{n}", "system": name, "f1": n % 2, "\ud800": 1}
        for n in range(4)
        for name in ("\x1b[31mred", "b\u202e")
    ]
    done = call(written("a.jsonl", "".join(json.dumps(row) + "\n" for row in rows)), "-o", "all.json", "--csv", "a.csv")
    assert done.exit_code == 0, done.output
    assert "<U+001B>[31mred" in done.stdout
    assert "b<U+202E>" in done.stderr
    assert not {"\x1b", "\u202e", "\ud800"} & set(done.output)
    assert "b\\u202e" in json.dumps(json.loads(Path("all.json").read_text(encoding="utf-8")))


@pytest.mark.parametrize("margin", ["f1=high", "much"])
def test_a_margin_that_is_no_number_is_refused(margin: str) -> None:
    done = call(table("a.csv", [1, 0]), table("b.csv", [0, 0]), "--margin", margin)
    assert isinstance(done.exception, UsageError)
    assert f"--margin '{margin}' is not of the form" in str(done.exception)


def test_a_single_item_leaves_nothing_to_compare() -> None:
    done = call(table("a.csv", [1]), table("b.csv", [0]))
    assert done.stdout.startswith("f1: nothing to compare\n  only 1 of 1 items are scored for all systems")


def test_no_answers_need_no_model_no_key_and_only_numpy_of_the_extras(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("lancedb", "pyarrow", "onnxruntime", "tokenizers", "openai", "xllamacpp", "socket"):
        monkeypatch.setitem(sys.modules, name, None)
    assert call(answers("new.jsonl", 20), answers("old.jsonl", 4)).exit_code == 0
