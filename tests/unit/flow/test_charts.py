"""Curves: the same file for the same numbers, and nothing told by colour alone."""

from __future__ import annotations

import re
import struct
import sys
from dataclasses import replace
from math import nan
from pathlib import Path
from xml.etree import ElementTree

import pytest

from groundwire.core.errors import MissingExtra, UsageError
from groundwire.core.types import Interval
from groundwire.evaluation.tune import Tuned
from groundwire.flow.charts import require_chart, save_curves
from groundwire.flow.searching import Way
from groundwire.flow.tuning import Curve, TuneReport
from groundwire.retrieval.search import SearchSettings


def around(mean: float, reach: float = 0.05) -> Interval:
    return Interval(mean, mean - reach, mean + reach, 30, 0, 0.95, 0)


TUNED = Tuned(0, (around(0.6),), (), (0, 0), (0, 1), (0.5, 0.7), around(0.6), (("default", around(0.0)),), 2)
CURVES = tuple(
    Curve(name, tuple((tenth / 10, around(0.5 + shift + tenth / 50)) for tenth in range(0, 11, 2)))
    for shift, name in enumerate(("dense", "hybrid", "dense, windows"))
)
REPORT = TuneReport(
    "ndcg@10", (Way("one", SearchSettings()),), TUNED, "sentence_weight", CURVES, (), 30, ("sentence_weight",), 0
)


def test_the_same_numbers_give_the_same_file_with_its_words_as_text(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="the extra 'plot' is not installed")
    one, two = tmp_path / "one.svg", tmp_path / "two.SVG"
    save_curves(REPORT, one)
    save_curves(REPORT, two)

    text = one.read_text("utf-8")
    assert text == two.read_text("utf-8")
    words = " ".join(ElementTree.fromstring(text).itertext())  # noqa: S314 - our own file
    for expected in ("sentence_weight", "mean of 30 questions", "95% intervals", "dense", "hybrid", "dense, windows"):
        assert expected in words
    assert "dc:date" not in text
    sizes = [float(size) for size in re.findall(r"font-size: ([\d.]+)px", text)]
    assert min(sizes) >= 12


def test_lines_differ_in_dashes_and_markers(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="the extra 'plot' is not installed")
    path = tmp_path / "one.svg"
    save_curves(REPORT, path)

    text = path.read_text("utf-8")
    dashes = set(re.findall(r"stroke-dasharray: ([^;\"]+)", text))
    assert len(dashes) >= 2  # and the first line is solid
    markers = set(re.findall(r'<path id="m\w+" d="([^"]+)"', text))
    assert len(markers) >= 3


def test_a_picture_is_800_pixels_wide(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="the extra 'plot' is not installed")
    path = tmp_path / "one.png"
    without = Curve("lexical", ((0.0, Interval(0.5, nan, nan, 1, 0, 0.95, 0)), (1.0, around(0.5))))
    save_curves(replace(REPORT, curves=(without,)), path)

    assert struct.unpack(">II", path.read_bytes()[16:24]) == (800, 500)


def test_what_cannot_be_drawn_is_refused_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match=r"its name must end in \.svg or \.png"):
        require_chart(tmp_path / "curve.pdf")
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtra, match="pip install 'groundwire\\[plot\\]'"):
        require_chart(tmp_path / "curve.svg")


def test_a_report_without_a_curve_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="the extra 'plot' is not installed")
    with pytest.raises(UsageError, match="no setting that is a number"):
        save_curves(replace(REPORT, curves=()), tmp_path / "curve.svg")
