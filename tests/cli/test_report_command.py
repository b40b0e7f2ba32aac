"""``groundwire report``: two files in, one page out."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from groundwire.cli.main import main
from groundwire.core.errors import UsageError


@pytest.fixture(autouse=True)
def _somewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GROUNDWIRE_JUDGE_RESAMPLES", "100")
    for name, right in (("new", 20), ("old", 4)):
        rows = [
            {"id": f"q{n}", "question": f"What happened on day {n}?", "reference": f"The river rose by {n} metres.",
             "contexts": [f"The river rose by {n} metres."],
             "answer": f"The river rose by {n} metres." if n < right else "A lion sleeps in a tree."}
            for n in range(20)
        ]  # fmt: skip
        Path(f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def call(*words: str) -> Result:
    return CliRunner().invoke(main, ["report", *words, "--permutations", "200"])


def test_two_files_of_answers_give_one_page() -> None:
    done = call("new.jsonl", "old.jsonl", "-o", "out/report.html", "--date", "1 December 2026")

    assert done.exit_code == 0, done.output
    assert done.stdout == ""
    page = Path("out/report.html").read_text(encoding="utf-8")
    assert f"wrote out/report.html ({len(page.encode()):,} bytes)" in done.stderr
    assert "answer_correctness" in page
    assert "1 December 2026" in page
    assert "builtin/" in page


def test_the_values_go_beside_it_and_are_linked_from_where_the_page_is() -> None:
    done = call("new.jsonl", "old.jsonl", "-o", "out/report.html", "--values", "values/all.jsonl", "--adjust", "holm",
                "--measure", "answer_correctness", "--margin", "3", "--language", "zh-TW")  # fmt: skip

    assert done.exit_code == 0, done.output
    page = Path("out/report.html").read_text(encoding="utf-8")
    assert 'href="../values/all.jsonl"' in page
    assert "Holm" in page
    assert "±3" in page
    assert '<html lang="zh-TW">' in page
    assert len(Path("values/all.jsonl").read_text(encoding="utf-8").splitlines()) == 40


def test_rows_that_were_rejected_are_a_1_and_one_system_is_refused() -> None:
    with Path("new.jsonl").open("a", encoding="utf-8") as file:
        file.write("not json\n")
    done = call("new.jsonl", "old.jsonl", "-o", "report.html", "--map", "answer=answer")
    assert done.exit_code == 1
    assert "row 21 rejected: not JSON" in done.stderr
    assert Path("report.html").is_file()

    failed = call("old.jsonl", "-o", "none.html")
    assert isinstance(failed.exception, UsageError)
    assert not Path("none.html").exists()
