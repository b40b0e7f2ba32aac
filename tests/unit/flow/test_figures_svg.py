"""Figures as SVG: well formed, titled, escaped, and in the right places."""

import math
import re
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire.flow import figures_svg as draw

HOSTILE = "</text><script>alert(1)</script>\"'\u202e"
SVG = "{http://www.w3.org/2000/svg}"


def parsed(svg: str) -> ET.Element:
    return ET.fromstring(svg)  # noqa: S314 - what we have just written


def texts(svg: str) -> list[str]:
    return [found.text or "" for found in parsed(svg).iter(f"{SVG}text")]


def every(name: str) -> list[str]:
    return [
        draw.histograms(name, [draw.Spread(name, (1, 0, 3), 0.5, 0.4, 0.6)], span=(0, 1), unit=name, told=name),
        draw.forest(name, [draw.Estimate(name, 1.0, 0.5, 1.5, "told")], margin=2.0, unit=name, told=name),
        draw.heat_map(name, [name] * 2, cells=[[draw.Cell((), math.nan), draw.Cell((name,), 0.5)]] * 2, told=name),
        draw.heat_map(name, [name] * 9, cells=[[draw.Cell((name,), -0.5)] * 9] * 9, told=name),
        draw.curve(name, [(25, 0.5, 0.2, 0.8), (50, 1, 1, 1)], unit=name, told=name),
        draw.density(name, [[1, 0], [2, 3]], spans=((1, 4), (0, 1)), units=(name, name), told=name),
        draw.bars(name, [(name, 1.0, name)], told=name),
    ]


@pytest.mark.parametrize("place", range(7))
def test_every_figure_is_well_formed_titled_and_holds_no_foreign_markup(place: int) -> None:
    found = parsed(every(HOSTILE)[place])

    assert found.get("role") == "img"
    assert found.find(f"{SVG}title") is not None
    assert found.find(f"{SVG}desc") is not None
    assert {element.tag.removeprefix(SVG) for element in found.iter()} <= {
        "svg", "title", "desc", "text", "path", "rect", "circle",
    }  # fmt: skip
    assert "\u202e" not in every(HOSTILE)[place]
    assert "U+202E" in every(HOSTILE)[place]
    assert not any(name in element.attrib for element in found.iter() for name in ("style", "onload", "href"))


def test_bars_of_a_histogram_are_as_high_as_their_counts() -> None:
    svg = draw.histograms("t", [draw.Spread("a", (2, 0, 4), 0.5, 0.4, 0.6)], span=(0, 1), unit="u", told="")

    drawn = next(found.get("d", "") for found in parsed(svg).iter(f"{SVG}path") if found.get("class") == "bars")
    assert re.findall(r"v-([\d.]+)", drawn) == ["14.0", "28.0"]


def test_the_shape_says_how_a_pair_was_decided_and_an_unknown_interval_is_not_drawn() -> None:
    rows = [
        draw.Estimate("told", 1, 0.5, 1.5, "told"),
        draw.Estimate("open", 0, -1, 1, "undecided"),
        draw.Estimate("same", 0, -0.1, 0.1, "equivalent"),
        draw.Estimate("bare", 0.5, math.nan, math.nan, "told"),
        draw.Estimate("none", math.nan, math.nan, math.nan, "told"),
    ]
    found = parsed(draw.forest("t", rows, margin=None, unit="u", told=""))

    kinds = [(e.tag.removeprefix(SVG), e.get("class")) for e in found.iter()]
    assert kinds.count(("rect", "dot")) == 2
    assert kinds.count(("circle", "hollow")) == 1
    assert kinds.count(("path", "dot")) == 1
    assert kinds.count(("path", "line")) == 3
    assert ("rect", "band") not in kinds


def test_differences_of_nothing_still_have_an_axis() -> None:
    assert "0" in texts(draw.forest("t", [draw.Estimate("a", 0, 0, 0, "equivalent")], margin=None, unit="u", told=""))


def test_a_heat_map_is_darker_where_more_and_says_the_sign() -> None:
    cells = [[draw.Cell((), math.nan), draw.Cell(("+2", ".01"), 1.0)], [draw.Cell(("-1", ".5"), -0.5)] * 2]
    found = parsed(draw.heat_map("t", ["a", "b"], cells=cells, told=""))

    squares = [(e.get("class"), e.get("fill-opacity")) for e in found.iter(f"{SVG}rect")]
    assert squares == [("empty", None), ("cell plus", "0.75"), ("cell minus", "0.38"), ("cell minus", "0.38")]
    assert {"+2", ".01", "1 a", "2 b"} <= set(texts(draw.heat_map("t", ["a", "b"], cells=cells, told="")))


def test_close_counts_of_a_curve_share_a_label_and_one_point_is_a_curve() -> None:
    points = [(100.0, 0.1, 0, 0.2), (101.0, 0.2, 0.2, 0.2), (1000.0, 1, 1, 1)]
    assert "101" not in texts(draw.curve("t", points, unit="n", told=""))
    assert "100" in texts(draw.curve("t", points[:1], unit="n", told=""))


def test_empty_cells_of_a_density_are_not_drawn_and_the_axis_doubles() -> None:
    svg = draw.density("t", [[0, 4], [1, 0]], spans=((2, 6), (0, 100)), units=("x", "y"), told="")
    assert [e.get("fill-opacity") for e in parsed(svg).iter(f"{SVG}rect")] == ["1.00", "0.56"]
    assert {"4", "8", "64"} <= set(texts(svg))
    assert parsed(draw.density("t", [[0]], spans=((0, 1), (0, 1)), units=("x", "y"), told="")) is not None


def test_bars_are_to_one_scale_and_an_unknown_value_has_none() -> None:
    svg = draw.bars("t", [("a", 2.0, "2"), ("b", 1.0, "1"), ("c", math.nan, "–")], told="")
    assert [e.get("width") for e in parsed(svg).iter(f"{SVG}rect")] == ["250.0", "125.0", "0.0"]
    assert parsed(draw.bars("t", [], told="")) is not None


def test_long_names_are_cut_and_wide_letters_count_double() -> None:
    name = draw.bars("t", [("x" * 60, 1, ""), ("字" * 60, 1, "")], told="")
    latin, chinese = (one for one in texts(name) if one.endswith("…"))
    assert len(latin) == 47
    assert len(chinese) == 27


@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6))
def test_ticks_are_few_round_and_within(low: float, width: float) -> None:
    found = draw.ticks(low, low + width)
    assert 3 <= len(found) <= 9
    slack = 1e-6 * max(1.0, abs(low), width)
    assert all(low - slack <= tick <= low + width + slack for tick in found)
    assert list(found) == sorted(set(found))
