"""Runs and qrels, held against what trec_eval prints."""

import os
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire.core.errors import UsageError
from groundwire.evaluation.trec import (
    average_precision,
    is_measure,
    judge_rankings,
    kind_of_lines,
    read_qrels,
    read_run,
)

SHARED = Path(os.environ.get("GROUNDWIRE_SHARED", Path(__file__).resolve().parents[3].parent / "shared"))
TREC_EVAL = SHARED / "data" / "sys-trec-eval"
PRINTED = {
    "map": "average_precision", "recip_rank": "reciprocal_rank", "P_10": "precision@10", "recall_10": "recall@10",
    "recall_100": "recall@100", "ndcg_cut_10": "ndcg@10",
}  # fmt: skip


@pytest.mark.skipif(not TREC_EVAL.is_dir(), reason="the shared data is not here")
def test_values_are_those_that_trec_eval_prints() -> None:
    run, qrels = (read((TREC_EVAL / name).read_text()) for read, name in
                  ((read_run, "results.test"), (read_qrels, "qrels.test")))  # fmt: skip
    wanted = {
        (query, PRINTED[name]): float(value)
        for name, query, value in map(str.split, (TREC_EVAL / "out.test.aq").read_text().splitlines())
        if name in PRINTED and query != "all"
    }

    found = judge_rankings(run.rankings, qrels.grades, measures=tuple(PRINTED.values()))

    assert run.rejects == qrels.rejects == ()
    assert len(wanted) == 3 * len(PRINTED)
    assert {(one.item_id, one.rubric): one.value for one in found} == pytest.approx(wanted, abs=5e-5)


RUN = "q1 Q0 d1 1 0.9 bm25 and more\nq1 Q0 d2 2 0.8 bm25\n\nq2 Q0 d9 1 3 bm25\n"
QRELS = "q1 0 d2 2\nq1 0 d1 0\nq1 0 d3 1\nq3 0 d1 1\n"


@pytest.mark.parametrize(
    ("text", "kind"),
    [(RUN, "TREC run"), (QRELS, "TREC qrels"), ("id,f1\n1,2\n", None), ("a b c d\n", None), ("", None),
     (RUN + QRELS, None), ("q1 Q0 d1 1 high bm25", None)],
)  # fmt: skip
def test_a_run_and_qrels_are_recognised_by_their_columns(text: str, kind: str | None) -> None:
    assert kind_of_lines(text) == kind


def test_a_query_that_nobody_judged_is_unscored_with_the_reason() -> None:
    found = judge_rankings(read_run(RUN).rankings, read_qrels(QRELS + "q2 0 d9 0\n").grades, measures=["ndcg@10"])
    assert [(one.item_id, one.value, one.reason) for one in found[1:]] == [
        ("q2", None, "no document is relevant to this query")
    ]
    assert "nobody has judged" in judge_rankings({("a", "q9"): ("d",)}, {}, measures=["ndcg@1"])[0].reason
    assert found[0].value == pytest.approx(2 / 1.5849625007211562 / (2 + 1 / 1.5849625007211562))


def test_lines_that_do_not_fit_are_rejected_and_named() -> None:
    run = read_run(RUN + "q1 Q0 d1 3 0.95 bm25\nq1 Q0 d4 4 inf bm25\nq1 d4\n")
    assert run.rankings["bm25", "q1"] == ("d1", "d2")
    assert [(reject.line, reject.reason.split(":")[0]) for reject in run.rejects] == [
        (5, "query q1 ranks document d1 twice"), (6, "the line is not"), (7, "the line is not"),
    ]  # fmt: skip
    assert run.rows == 6

    qrels = read_qrels(QRELS + "q1 0 d2 1\nq1 0 d2 2\nq1 0 d5 -2\nq1 0 d6 0.5\n\n")
    assert qrels.grades["q1"] == {"d1": 0, "d2": 2, "d3": 1, "d5": 0}
    assert [reject.line for reject in qrels.rejects] == [5, 8]
    assert qrels.rows == 8


def test_an_unknown_measure_of_a_ranking_is_refused() -> None:
    assert is_measure("precision@5")
    assert is_measure("reciprocal_rank")
    assert not is_measure("ndcg@0")
    with pytest.raises(UsageError, match="'f1' is no measure of a ranking"):
        judge_rankings({}, {}, measures=["f1"])


def test_average_precision_of_a_ranking_by_hand() -> None:
    assert average_precision(["a", "b", "c", "d"], {"b", "d", "z"}) == pytest.approx((1 / 2 + 2 / 4) / 3)


@given(st.dictionaries(st.integers(0, 30), st.sampled_from([0.0, 0.5, 1.0]), min_size=1), st.integers(0, 1000))
def test_the_order_of_the_lines_is_no_order_of_documents(values: dict[int, float], seed: int) -> None:
    lines = [f"q Q0 d{name:02} {name} {value} t" for name, value in values.items()]
    mixed = lines.copy()
    random.Random(seed).shuffle(mixed)  # noqa: S311 - no secret

    ranked = read_run("\n".join(mixed)).rankings["t", "q"]

    assert ranked == read_run("\n".join(lines)).rankings["t", "q"]
    assert sorted(ranked, key=lambda name: (-values[int(name[1:])], -int(name[1:]))) == list(ranked)
