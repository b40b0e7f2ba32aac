"""``groundwire bench rate`` from a file of pairs to a table, with a scripted model installed as a plug-in."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from groundwire.cli.main import main
from groundwire.core.errors import GroundwireError, UsageError

ROWS = [
    {"topic": "river flood", "article": "The river flood rose on Monday.", "relevant": 1},
    {"topic": "river flood", "article": "Cake recipes for spring.", "relevant": 0},
    {"topic": "new bridge", "article": "A new bridge was opened.", "relevant": 1},
    {"topic": "new bridge", "article": "The cat sleeps.", "relevant": 0},
    {"topic": "new bridge", "relevant": 0},
]
PLUGIN = """
from groundwire.testing import ScriptedModel
asked = []
def make(rest):
    def script(request):
        asked.append(request)
        if rest == "down":
            raise RuntimeError("a replay or a dry run called a model")
        good = any(word in request.messages[-1].text for word in ("flood rose", "opened"))
        return '{"relevance": %d, "consistency": 70, ' % (90 if good else 10)
    return ScriptedModel(script, name=rest)
"""


@pytest.fixture(autouse=True)
def _somewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, plug_in: Callable[[str, str], None]) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GROUNDWIRE_EMBEDDER", "hash:64")
    monkeypatch.setenv("GROUNDWIRE_JUDGE_RESAMPLES", "100")
    (tmp_path / "pairs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    plug_in("scripted_models", PLUGIN)


def call(monkeypatch: pytest.MonkeyPatch, *words: str) -> Result:
    monkeypatch.setattr(sys, "argv", ["groundwire", *words])
    return CliRunner().invoke(main, words)


def asked() -> int:
    return len(sys.modules["scripted_models"].asked) if "scripted_models" in sys.modules else 0


def test_the_builtin_rater_alone_needs_no_model(monkeypatch: pytest.MonkeyPatch) -> None:
    done = call(monkeypatch, "bench", "rate", "pairs.jsonl")

    assert done.exit_code == 0, done.output
    assert "builtin" in done.stdout
    assert "row 5 rejected: give the article's text" in done.stderr
    assert (
        "4 pairs in 2 topics; 95% intervals by bootstrap over them, seed 0; builtin searched with hash:64"
        in done.stderr
    )


def test_a_table_has_every_rater_with_what_it_cost_and_the_ratings_are_written(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    words = ("bench", "rate", "pairs.jsonl", "--model", "scripted:up", "--rater", "builtin", "--rater", "readings")
    done = call(monkeypatch, *words, "-o", "rows.jsonl", "--json")
    again = call(monkeypatch, *words)

    facts = json.loads(done.stdout)
    assert [one["rater"] for one in facts["raters"]] == ["builtin", "readings"]
    assert facts["raters"][1]["separation"]["mean"] == 1
    assert facts["raters"][1]["spent"]["calls"] == 12
    assert facts["rejected"][0]["line"] == 5
    assert len(Path("rows.jsonl").read_text().splitlines()) == 8
    assert "12 calls answered" in done.stderr
    assert "1.000 [1.000, 1.000]" in again.stdout
    assert "calls answered" not in again.stderr
    assert asked() == 12


def test_a_dry_run_plans_and_a_replay_calls_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    words = ("bench", "rate", "pairs.jsonl", "--model", "scripted:up", "--rater", "readings", "-o", "rows.jsonl")
    planned = call(monkeypatch, *words, "--dry-run")
    assert planned.exit_code == 0, planned.output
    assert "12 calls to make" in planned.stdout
    assert asked() == 0

    call(monkeypatch, *words)
    before = Path("rows.jsonl").read_bytes()
    Path("rows.jsonl").unlink()
    replayed = call(monkeypatch, "runs", "replay", "last")

    assert replayed.exit_code == 0, replayed.output
    assert Path("rows.jsonl").read_bytes() == before
    assert asked() == 12


def test_a_budget_stops_and_the_next_run_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    words = ("bench", "rate", "pairs.jsonl", "--model", "scripted:up", "--rater", "readings")
    stopped = call(monkeypatch, *words, "--budget-calls", "5")
    assert isinstance(stopped.exception, GroundwireError)
    assert "5 of 12 requests are answered and kept" in str(stopped.exception)

    assert call(monkeypatch, *words).exit_code == 0
    assert asked() == 12


def test_a_rater_without_a_model_is_refused_with_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    done = call(monkeypatch, "bench", "rate", "pairs.jsonl", "--rater", "yesno")

    assert isinstance(done.exception, UsageError)
    assert "yesno ask a model, and none is given" in str(done.exception)


def test_documents_are_taken_from_an_archive(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("lancedb", reason="the extra 'archive' is not installed")
    Path("stories").mkdir()
    Path("stories/flood.md").write_text("# River flood\n\nThe river flood rose on Monday. Boats came to the harbour.\n")
    call(monkeypatch, "add", "stories")
    listed = json.loads(call(monkeypatch, "show", "documents", "--json").stdout)
    rows = [
        {"topic": "river flood", "document": listed[0]["id"], "relevant": 1},
        {"topic": "river flood", "article": "Cake recipes for spring.", "relevant": 0},
    ]
    Path("pairs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))

    facts = json.loads(call(monkeypatch, "bench", "rate", "pairs.jsonl", "--json").stdout)

    assert (facts["pairs"], facts["rejected"]) == (2, [])
    assert facts["raters"][0]["separation"]["mean"] == 1
