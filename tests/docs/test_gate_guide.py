"""The examples of docs/guides/gate.md do what the page says."""

import json
import os
import re
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

GUIDE = (Path(__file__).resolve().parents[2] / "docs" / "guides" / "gate.md").read_text("utf-8")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, right in (("new", 30), ("main", 12)):
        rows = [
            {"id": f"q{n}", "question": f"How far did the river rise on day {n}?", "reference": f"{n + 2} metres",
             "contexts": [f"The river rose by {n + 2} metres."],
             "answer": f"{n + 2} metres" if n < right else "It rained."}
            for n in range(30)
        ]  # fmt: skip
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return tmp_path


def run(words: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    found = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    return subprocess.run(words, cwd=folder, env=found, check=False, capture_output=True, text=True)


def about(text: str) -> str:
    """How many more are needed is an estimate to two digits."""
    return re.sub(r"(\d+)\d more", r"\g<1>_ more", text)


def test_the_example_of_pytest_gives_what_stands_behind_it(folder: Path) -> None:
    code = re.search(r"```python\n(.*?)```", GUIDE, re.DOTALL)
    assert code is not None
    (folder / "test_answers.py").write_text(code[1], encoding="utf-8")
    words = [sys.executable, "-m", "pytest", "-v", "-rs", "-p", "no:cacheprovider", "-o", "addopts="]
    if "groundwire" not in {one.name for one in entry_points(group="pytest11")}:
        words += ["-p", "groundwire.pytest_plugin"]
    done = run(words, folder)
    assert "test_answers.py::test_answers_are_not_worse PASSED" in done.stdout, done.stdout
    skipped = re.search(r"test_exact_matches SKIPPED \((.*)\)", GUIDE)
    assert skipped is not None
    assert f": {about(skipped[1])}\n" in about(done.stdout)


@pytest.mark.parametrize(
    ("items", "status", "said"), [(30, 0, "passed"), (3, 0, "::warning::undecided"), (0, 1, "failed")]
)
def test_the_step_of_continuous_integration_goes_on_fails_or_warns(
    folder: Path, items: int, status: int, said: str
) -> None:
    step = re.search(r"  run: \|\n(.*?)```", GUIDE, re.DOTALL)
    assert step is not None
    answers = folder / "new.jsonl"
    lines = answers.read_text("utf-8").splitlines(keepends=True)
    if not items:
        lines = [re.sub(r'"answer": ".*"', '"answer": "A lion sleeps."', line) for line in lines]
    answers.write_text("".join(lines[: items or None]), encoding="utf-8")
    done = run(["bash", "-e", "-c", "\n".join(line[4:] for line in step[1].splitlines())], folder)

    assert done.returncode == status, done.stdout + done.stderr
    assert said in done.stdout
    assert (folder / "gate.xml").is_file()


def test_the_example_of_three_repeats_says_what_the_page_says(folder: Path) -> None:
    for number, value in enumerate((0.62, 0.58, 0.61), 1):
        (folder / f"run{number}.csv").write_text(f"id,f1\na,{value}\nb,{value}\n", encoding="utf-8")
    files = [f"run{number}.csv" for number in (1, 2, 3)]
    done = run([sys.executable, "-m", "groundwire", "gate", *files, "--at-least", "f1=0.6"], folder)
    assert done.returncode == 4
    assert about(done.stdout.strip()) in about(GUIDE)


def test_the_python_of_the_page_runs(capsys: pytest.CaptureFixture[str]) -> None:
    code = re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL)[1]
    exec(code, {})  # noqa: S102 - our own page
    assert capsys.readouterr().out.strip() == re.findall(r"print\(found.outcome\)  # (\w+)", code)[0]
