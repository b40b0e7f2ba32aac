"""The benchmark of verification: what its table says, from figures that are known."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

import bench_verify
from bench_verify import Labelled
from groundwire.core.types import Document


def items(count: int) -> list[Labelled]:
    text = Document("d", "The river rose by 3 metres on Monday. Officials opened two shelters.")
    return [
        Labelled("The river rose by 3 metres on Monday." if n % 2 else "Cats sleep.", (text,), bool(n % 2), str(n))
        for n in range(count)
    ]


def test_an_unscored_value_is_left_out_and_counted() -> None:
    sets = {name: items(4) for name in ("one", "two", "three")}
    found = {name: [{"x": float(n % 2), "is supported": float(n % 2)} for n in range(4)] for name in sets}
    found["one"][0]["x"] = math.nan
    scored, said = bench_verify.table(found, sets, names=["x"])[:2]
    assert (scored["n"], scored["unscored"], scored["supported"]) == (3, 1, 2)
    assert (scored["auc"], scored["balanced_accuracy"], scored["threshold"]) == (1.0, 1.0, 1.0)
    assert (said["score"], said["balanced_accuracy"]) == ("verdict is supported", 1.0)


def test_every_claim_is_shown_with_evidence_whether_settled_or_not() -> None:
    shown = bench_verify.doubts(items(2))
    assert [one is not None and one.verdict.support for one in shown] == ["not_found", "supported"]


def test_the_area_counts_ties_half() -> None:
    assert bench_verify.auc(np.array([1.0, 1.0, 0.0]), np.array([True, False, False])) == 0.75


def test_the_report_is_a_table_of_what_was_saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    row = {"set": "WiCE", "score": "llama:qwen2.5-coder-0.5b alone", "n": 9, "supported": 4, "unscored": 1, "auc": 0.5,
           "auc_interval": [0.4, 0.6], "balanced_accuracy": 0.7, "interval": [0.6, 0.8]}  # fmt: skip
    spent = {"m": {"WiCE": {"calls": 4, "seconds": 10.0, "settled": 3, "unread": 1}}}
    (tmp_path / "verify_models.json").write_text(json.dumps({"figures": {"rows": [row], "spent": spent}}))
    monkeypatch.setattr(bench_verify, "RESULTS", tmp_path)
    lines = bench_verify.report().split("\n")
    assert lines[2] == "| WiCE, 9 (4) | 0.5b alone | 0.500 [0.400, 0.600] | 0.700 [0.600, 0.800] | 1 |"
    assert lines[-1] == "m: 4 calls, 2.5 seconds each, 1 unread; the gates had settled 3."
