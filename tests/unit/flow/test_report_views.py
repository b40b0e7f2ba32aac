"""The verdict in words, in both languages."""

import math
import re
from dataclasses import replace

import numpy as np
import pytest

from groundwire.core.types import Judgement
from groundwire.evaluation.compare import compare
from groundwire.evaluation.comparisons import MeasureComparison, Options
from groundwire.flow.report_views import LANGUAGES, Facts, measure_view, report_words, summary, verdict


def measure(*means: float, spread: float = 1.0, margins: tuple = (), n: int = 40) -> MeasureComparison:
    rng = np.random.default_rng(0)
    found = [
        Judgement(f"q{i}", f"<{name}>", "f1", float(mean + rng.normal(0, spread)), "read", "j")
        for name, mean in zip("abcdef", means, strict=False) for i in range(n)
    ]  # fmt: skip
    return compare(found, options=Options(permutations=500, resamples=200, margins=margins)).measures[0]


@pytest.mark.parametrize(
    ("means", "margins", "en", "zh"),
    [
        ((60, 50), (), "<b>a is better", "<b>a 較優"),
        ((50, 50), (), "undecided", "未分高下"),
        ((50, 50), (("", 5.0),), "the two are equivalent", "兩者相當"),
        ((60, 50, 40), (), "a leads: better than 2 of 2 others; 3 of 3 pairs told apart", "a 領先：優於其他 2 個"),
        ((50, 50, 50), (), "told apart from none of 2 others; 0 of 3 pairs", "與其他 2 個系統都未分高下"),
    ],
)
def test_the_summary_says_who_is_best(means: tuple, margins: tuple, en: str, zh: str) -> None:
    found = measure(*means, margins=margins)
    for language, expected in (("en", en), ("zh-TW", zh)):
        said = re.sub(r"<bdi>&lt;|&gt;</bdi>", "", summary(found, words=report_words(language)))
        assert expected.removeprefix("<b>") in said


def test_names_are_escaped_and_isolated_in_verdicts() -> None:
    found = measure(60, 50).pairs[0]
    said = verdict(found, words=report_words("en"))
    assert said.startswith("<bdi>&lt;a&gt;</bdi> is better than <bdi>&lt;b&gt;</bdi>: +")
    assert "p = .002, 40 items" in said


def test_an_undecided_pair_says_how_many_more_items_would_decide() -> None:
    found = measure(50.5, 50, spread=4).pairs[0]
    assert found.decision == "undecided"
    assert f"about {found.more:,} more items would decide" in verdict(found, words=report_words("en"))
    assert f"再加約 {found.more:,} 題" in verdict(found, words=report_words("zh-TW"))


def test_one_more_item_is_one() -> None:
    found = replace(measure(50.5, 50, spread=4).pairs[0], more=1)
    assert "about 1 more item would decide" in verdict(found, words=report_words("en"))
    assert "再加約 1 題" in verdict(found, words=report_words("zh-TW"))


def test_a_view_without_a_table_has_pairs_but_no_items_and_unknown_figures_are_dashes() -> None:
    view = measure_view(measure(60, 50), Facts(1, None, "", lower=False, figures=()), words=report_words("en"))
    assert not view.valued
    assert view.pairs[0].gaps == ()
    assert view.pairs[0].cells[-1].shown == "–"
    assert view.standings[0].cells[0].order
    assert not math.isnan(float(view.standings[0].cells[0].order))


def test_every_word_is_there_in_both_languages_with_the_same_fields() -> None:
    english, chinese = (report_words(language) for language in LANGUAGES)
    for key, words in english.items():
        assert words, key
        assert chinese[key], key
        assert sorted(re.findall(r"{\w+}", words)) == sorted(re.findall(r"{\w+}", chinese[key])), key
