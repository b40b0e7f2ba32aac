"""``groundwire tune`` and ``groundwire bench search`` on the sample archive."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

import pytest

from groundwire.cli.main import run
from groundwire.cli.measure import _both, _signed
from groundwire.core.types import Interval

pytest.importorskip("lancedb", reason="the extra 'archive' is not installed")

STORIES = Path(str(files("groundwire.sample"))) / "stories.jsonl"
FEW = ("--over", "sentence_weight=0,0.5,1", "--over", "mode=dense,lexical")


@dataclass(frozen=True)
class Done:
    status: int
    out: str
    err: str


Command = Callable[..., Done]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an archive of the sample's stories."""
    from groundwire.flow.archives import open_archive
    from groundwire.retrieval.readers import read_documents

    made = tmp_path_factory.mktemp("measure")
    archive = open_archive(made / "s.archive", embedder="hash:64")
    archive.add(read_documents(STORIES))
    archive.close()
    return made


@pytest.fixture
def groundwire(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Command:
    """Run ``groundwire ARGS`` in an empty folder, on the archive of the sample, with few draws."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GROUNDWIRE_ARCHIVE", str(folder / "s.archive"))
    monkeypatch.setenv("GROUNDWIRE_JUDGE_RESAMPLES", "100")
    lines = (STORIES.parent / "questions.jsonl").read_text("utf-8").splitlines()
    Path("few.jsonl").write_text("\n".join([*lines[:6], lines[24]]), "utf-8")

    def call(*words: str | Path) -> Done:
        monkeypatch.setattr("sys.argv", ["groundwire", *map(str, words)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            run()
        printed = capsys.readouterr()
        return Done(int(ended.value.code or 0), printed.out, printed.err)

    return call


def test_tune_prints_curve_choice_held_out_and_differences_in_words(groundwire: Command) -> None:
    done = groundwire("tune", "sample:", *FEW)

    assert done.status == 0
    assert "ndcg@10 over sentence_weight: means of all questions" in done.out
    assert [line.split()[:2] for line in done.out.splitlines()[2:5]] == [["dense", x] for x in ("0", "0.5", "1")]
    assert "chosen: mode=" in done.out
    assert "held out: ndcg@10 0." in done.out
    assert "held out minus default: " in done.out
    assert "held out minus pareto: " in done.out
    assert " folds: mode=" in done.out
    assert "40 rows: 37 questions, 3 unscored, 0 rejected" in done.err
    assert "unscored question-25: it has no gold" in done.err
    assert "37 questions in 29 clusters, 3 unscored; 95% intervals by bootstrap over clusters, seed 0" in done.err
    assert not Path("groundwire.toml").exists()


def test_tune_writes_the_choice_and_keeps_the_rest(groundwire: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("groundwire.toml").write_text("# ours\n[search]\nk = 20 # enough\n", "utf-8")
    monkeypatch.setenv("GROUNDWIRE_SEARCH_MODE", "dense")

    done = groundwire("tune", "few.jsonl", *FEW, "--write", "--json")

    chosen = json.loads(done.out)["chosen"]
    text = Path("groundwire.toml").read_text("utf-8")
    assert text.startswith("# ours\n[search]\nk = 20 # enough\n")
    assert tomllib.loads(text)["search"]["mode"] == chosen["mode"]
    assert "wrote to [search] of groundwire.toml: mode = " in done.err
    assert "search.mode is also set in the environment, which beats the file" in done.err
    assert json.loads(done.out)["unscored"][0]["question_id"] == "question-25"


def test_tune_draws_the_curve(groundwire: Command) -> None:
    pytest.importorskip("matplotlib", reason="the extra 'plot' is not installed")

    done = groundwire("tune", "few.jsonl", *FEW, "--plot", "curve.svg", "--seed", "3")

    assert done.status == 0
    assert "drew curve.svg" in done.err
    assert "seed 3" in done.err
    assert "sentence_weight" in Path("curve.svg").read_text("utf-8")


def test_tune_names_the_cheapest_of_those_it_can_hardly_tell_from_the_best(groundwire: Command) -> None:
    done = groundwire("tune", "few.jsonl", "--over", "k=20,30", "--over", "mode=dense")

    assert "chosen: k=20\n" in done.out
    assert "within one standard error, of 1, the cheapest: k=30\n" in done.out


def test_tune_without_a_curve_or_an_alternative_prints_neither(groundwire: Command) -> None:
    done = groundwire("tune", "few.jsonl", "--over", "mode=dense")

    assert done.status == 0
    assert done.out.startswith("chosen: mode=dense\n")
    assert "standard error" not in done.out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--over", "mode"), "'mode' is not SETTING=VALUES"),
        (("--over", "k=1", "--over", "k=2"), "'k=2' is not SETTING=VALUES, each setting once"),
        (("--over", "speed=1"), "'speed' cannot be tuned"),
        (("--measure", "beauty"), "no measure is named 'beauty'"),
        (("--plot", "curve.pdf"), "its name must end in .svg or .png"),
        (("--folds", "1"), "Invalid value for '--folds'"),
        (("--map", "gold"), "is not of the form ours=theirs"),
    ],
)
def test_tune_refuses_what_makes_no_sense(groundwire: Command, words: tuple[str, ...], said: str) -> None:
    done = groundwire("tune", "few.jsonl", *words)

    assert done.status == 2
    assert said in done.err


def test_questions_that_cannot_be_read_or_scored_end_with_their_own_status(groundwire: Command) -> None:
    assert groundwire("tune", "none.jsonl").status == 3
    rows = [{"id": f"q{number}", "question": "?", "gold": [{"document": "z", "text": "x"}]} for number in range(25)]
    lines = [json.dumps(row) for row in rows]
    Path("q.jsonl").write_text("\n".join([*lines, "{"]), "utf-8")

    for words in (("tune", "q.jsonl"), ("bench", "search", "q.jsonl")):
        done = groundwire(*words)
        assert done.status == 1
        assert "row 26 rejected: not JSON" in done.err
        assert "none of 26 questions can be scored" in done.err
        assert "searched: q24: the document 'z' is not in the archive" in done.err


def test_bench_search_prints_presets_by_budgets_and_differences(groundwire: Command) -> None:
    questions = STORIES.parent / "questions.jsonl"
    lost = [json.dumps({"id": f"lost{number}", "question": "?"}) for number in range(20)]
    Path("q.jsonl").write_text("\n".join([*questions.read_text("utf-8").splitlines()[:25], *lost]), "utf-8")

    done = groundwire(
        "bench", "search", "q.jsonl", "--preset", "pareto", "--preset", "passages", "--budget", "100",
        "--budget", "200", "--timed", "1", "-o", "out/values.jsonl",
    )  # fmt: skip

    assert done.status == 0
    assert "preset    recall@1" in done.out
    assert "100     pareto" in done.out
    assert "200     passages" in done.out
    assert "paired differences, minus passages" in done.out
    assert "evidence_tokens@100" not in done.out
    assert "time a query, in a pass of its own" in done.out
    assert "encoder tokens: " in done.err
    assert "evidence counted by estimate" in done.err
    assert "unscored: 1 more, all of them in --json" in done.err
    rows = [json.loads(line) for line in Path("out/values.jsonl").read_text("utf-8").splitlines()]
    assert len(rows) == 2 * 24
    assert "wrote 48 rows to out/values.jsonl" in done.err


def test_bench_search_as_json_and_without_timing(groundwire: Command) -> None:
    words = ("bench", "search", "few.jsonl", "--preset", "best", "--against", "best", "--budget", "100", "--timed", "0")

    facts = json.loads(groundwire(*words, "--json").out)
    assert (facts["questions"], facts["clusters"], len(facts["unscored"]), facts["rejected"]) == (6, 5, 1, [])
    assert facts["latency"] == []
    plain = groundwire(*words)
    assert plain.status == 0
    assert "time a query" not in plain.out
    assert groundwire("bench", "search", "few.jsonl", "--preset", "best").status == 2


def test_without_an_interval_there_is_a_dash() -> None:
    nan = float("nan")
    assert _both(Interval(nan, nan, nan, 0, 3, 0.95, 0)) == "– –"
    assert _both(Interval(0.5, nan, nan, 1, 0, 0.95, 0)) == "0.500 –"
    assert _signed(Interval(nan, nan, nan, 0, 3, 0.95, 0)) == "–"
    assert _signed(Interval(0.5, nan, nan, 1, 0, 0.95, 0)) == "+0.500"
