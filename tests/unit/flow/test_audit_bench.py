"""The audit of the built-in judge: its tables in the docs are those of the results, and these are of this judge."""

import json
from pathlib import Path

import pytest

import bench_audit
from groundwire.evaluation.judge import BuiltinJudge
from groundwire.flow.auditing import sample_items

ROOT = Path(__file__).resolve().parents[3]
FOUND = json.loads((ROOT / "benchmarks" / "results" / "audit.json").read_text("utf-8"))["figures"]
PAGE = (ROOT / "docs" / "method" / "ccrs.md").read_text("utf-8")


def rounded(text: str) -> object:
    """What JSON holds; another processor may differ in the last digits."""
    return json.loads(text, parse_float=lambda number: round(float(number), 6))


def test_the_tables_of_the_docs_are_those_of_the_results() -> None:
    for line in (*bench_audit.probe_table(FOUND), *bench_audit.padding_table(FOUND["padding"])):
        assert line in PAGE


def test_the_results_are_of_the_judge_as_it_is() -> None:
    assert FOUND["judge"] == BuiltinJudge().fingerprint


def test_what_was_measured_is_measured_again() -> None:
    again = json.dumps(bench_audit.results(BuiltinJudge()) | {"seconds_per_answer": 0})

    assert rounded(again) == rounded(json.dumps(FOUND | {"seconds_per_answer": 0}))


def test_four_kinds_of_filler_differ_in_filler_alone() -> None:
    kinds = bench_audit.fillers(sample_items().items)

    assert len(kinds) == 4
    for items in kinds.values():
        assert [one.item for one in items] == [one.item for one in sample_items().items]
    assert len({items[0].filler for items in kinds.values()}) == 4


def test_a_run_is_kept_and_printed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    kept: dict[str, object] = {}
    monkeypatch.setattr(bench_audit, "results", lambda _: FOUND)
    monkeypatch.setattr(bench_audit, "save_result", lambda name, found, **more: kept.update({name: found, **more}))
    for words in ([], ["--embedder", "hash:8"]):
        monkeypatch.setattr("sys.argv", ["bench_audit.py", *words])
        bench_audit.main()

    assert kept == {"audit": FOUND, "audit-hash-8": FOUND, "seed": 0}
    assert "| filler behind the answer |" in capsys.readouterr().out
