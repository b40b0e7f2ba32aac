"""Numbers in running text, and whether two of them say the same."""

from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundwire.core.agreement import units_agree, values_agree
from groundwire.core.numerals import Taken, flatten, read_chinese, read_english, singular
from groundwire.core.quantities import find_quantities
from groundwire.core.types import Span

Row = tuple[object, str, str]


def rows(text: str) -> list[Row]:
    return [(q.value if q.high is None else (q.value, q.high), q.kind, q.unit) for q in find_quantities(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1,234.5 tonnes", (Fraction("1234.5"), "count", "tonne")),
        ("US$3.5 million", (3_500_000, "money", "USD")),
        ("NT$500 million", (500_000_000, "money", "TWD")),
        ("£1.2m", (1_200_000, "money", "GBP")),
        ("€5bn", (5 * 10**9, "money", "EUR")),
        ("10k", (10_000, "count", "")),
        ("3 million euros", (3_000_000, "money", "EUR")),
        ("5 US dollars", (5, "money", "USD")),
        ("up 3.5-million", (3_500_000, "count", "")),
        ("rose 100m people", (100_000_000, "count", "person")),
        ("a 100m race", (100, "count", "metre")),
        ("2 trillion yuan", (2 * 10**12, "money", "CNY")),
        ("6.7%", (Fraction("6.7"), "percent", "")),
        ("5 per cent", (5, "percent", "")),
        ("5 percentage points", (5, "points", "")),
        ("25 basis points", (Fraction(1, 4), "points", "")),
        ("twelve people", (12, "count", "person")),
        ("twenty-one buildings", (21, "count", "building")),
        ("two hundred and five cars", (205, "count", "vehicle")),
        ("half a million", (500_000, "count", "")),
        ("a dozen firms", (12, "count", "company")),
        ("two-thirds of voters", (Fraction(200, 3), "percent", "")),
        ("a third of voters", (Fraction(100, 3), "percent", "")),
        ("half of voters", (50, "percent", "")),
        ("a 12-year-old boy", (12, "count", "year")),
        ("12 injured people", (12, "count", "person")),
        ("minus 3%", (-3, "percent", "")),
        ("at -5 degrees", (-5, "count", "degree")),
        ("3 to 5 people", ((3, 5), "count", "person")),
        ("3–5%", ((3, 5), "percent", "")),
        ("3% to 5%", ((3, 5), "percent", "")),
        ("$3–5 million", ((3_000_000, 5_000_000), "money", "$")),
        ("between 3 and 5 million", ((3_000_000, 5_000_000), "count", "")),
        ("ranging from 3 to 5%", ((3, 5), "percent", "")),
        ("won 3-2", ((3, 2), "count", "")),
        ("$3 to 5", ((3, 5), "money", "$")),
        ("the 5th", (5, "ordinal", "")),
        ("came fourth", (4, "ordinal", "")),
        ("at 7:30 p.m.", (19 * 60 + 30, "clock", "")),
        ("at 12 a.m.", (0, "clock", "")),
        ("at 21:05", (21 * 60 + 5, "clock", "")),
        ("１２３人", (123, "count", "person")),
        ("3億5,000萬元", (350_000_000, "money", "元")),
        ("新台幣500萬元", (5_000_000, "money", "TWD")),
        ("1.2 萬人", (12_000, "count", "person")),
        ("15萬4,000戶", (154_000, "count", "household")),
        ("1.5兆元", (1_500_000_000_000, "money", "元")),
        ("三百二十一人", (321, "count", "person")),
        ("兩千名學生", (2000, "count", "person")),
        ("两万五千人", (25_000, "count", "person")),
        ("十五個國家", (15, "count", "country")),
        ("三點五億人", (350_000_000, "count", "person")),
        ("百分之六", (6, "percent", "")),
        ("百分之三點八", (Fraction("3.8"), "percent", "")),
        ("百分之百", (100, "percent", "")),
        ("三分之二", (Fraction(200, 3), "percent", "")),
        ("三成", (30, "percent", "")),
        ("三成五", (35, "percent", "")),
        ("半數", (50, "percent", "")),
        ("0.5個百分點", (Fraction(1, 2), "points", "")),
        ("3至5人", ((3, 5), "count", "person")),
        ("零下5度", (-5, "count", "degree")),
        ("第三名", (3, "ordinal", "")),
        ("下午3時30分", (15 * 60 + 30, "clock", "")),
        ("晚上8點半", (20 * 60 + 30, "clock", "")),
        ("30多萬人", (300_000, "count", "person")),
    ],
)
def test_a_quantity_is_read_with_its_value_and_unit(text: str, expected: Row) -> None:
    assert rows(text) == [expected]


@pytest.mark.parametrize(
    "text",
    [
        "COVID-19, F-16, G20, 5G, 4K, A380",
        "https://example.com/12?x=1",
        "mail 7@a.com",
        "萬一 千萬 十分 四川 統一 三四百",
        "May 6, 2024",
        "5月6日",
        "民國113年",
        "H.R. 1",
        "No. 10 denied it",
        "#5",
        "百分之",
        "Room b7",
        "said [1][2, 3].",
        "第三四",
    ],
)
def test_digits_of_names_links_and_dates_are_no_quantities(text: str) -> None:
    assert [q for q in find_quantities(text) if q.kind != "ordinal" or not q.weak] == []


@pytest.mark.parametrize(
    ("text", "bound"),
    [
        ("about 350", "about"),
        ("some 200 men", "about"),
        ("約350萬人", "about"),
        ("100公里左右", "about"),
        ("nearly 50", "near"),
        ("近500人", "near"),
        ("more than 3 million", "over"),
        ("逾500人", "over"),
        ("5,000多人", "over"),
        ("at least 9", "least"),
        ("5%以上", "least"),
        ("40+ cars", "least"),
        ("up to 30", "most"),
        ("60歲以下", "most"),
        ("fewer than 8", "under"),
        ("不到三成", "under"),
        ("最近5年", "exact"),
        ("12 people", "exact"),
    ],
)
def test_a_bound_is_read_from_what_stands_beside_the_number(text: str, bound: str) -> None:
    assert [q.bound for q in find_quantities(text)] == [bound]


def test_the_ends_of_a_change_stay_two_quantities_and_share_their_unit() -> None:
    assert rows("from 3 to 5%") == [(3, "percent", ""), (5, "percent", "")]
    assert rows("12 people and 12 buildings") == [(12, "count", "person"), (12, "count", "building")]
    assert rows("2 and 3 people")[0] == (2, "count", "person")


def test_one_and_first_are_weak() -> None:
    assert all(q.weak for q in find_quantities("one man, 一名男子, the first, a second, 第一"))
    assert not any(q.weak for q in find_quantities("one million, two men, third"))


@pytest.mark.parametrize(
    ("claim", "source", "same"),
    [
        ("500 million", "5億", True),
        ("3億5,000萬", "350 million", True),
        ("5億", "5萬", False),
        ("3.5 million", "3,482,000", False),
        ("about 3.5 million", "3,482,000", True),
        ("about 4 million", "3,482,000", False),
        ("nearly 3.5 million", "3,482,000", True),
        ("nearly 3 million", "3,482,000", False),
        ("more than 3 million", "3,482,000", True),
        ("more than 3.5 million", "3,482,000", False),
        ("more than 3 million", "3 million", False),
        ("more than 3 million", "over 3 million", True),
        ("at least 450", "at least 550", False),
        ("fewer than 500", "450", True),
        ("fewer than 400", "450", False),
        ("nearly 500", "more than 500", False),
        ("at least 5", "5", True),
        ("up to 500", "450", True),
        ("at least 400", "450", True),
        ("逾300萬", "3,482,000", True),
        ("約5%", "5.2%", True),
        ("67%", "two-thirds", True),
        ("60%", "two-thirds", False),
        ("3 to 5", "3–5", True),
        ("3 to 6", "3–5", False),
        ("3 to 5", "4", False),
        ("4", "3 to 5", False),
        ("at least 3", "3 to 5", True),
        ("up to 5", "3 to 5", True),
        ("3", "3-2", True),
        ("5th", "6th", False),
        ("about 5", "-5", False),
    ],
)
def test_values_agree_exactly_unless_the_claim_says_otherwise(claim: str, source: str, same: bool) -> None:
    assert values_agree(find_quantities(claim)[0], find_quantities(source)[0]) is same


@pytest.mark.parametrize(
    ("claim", "source", "same"),
    [
        ("12 people", "12 residents", True),
        ("12 people", "12 buildings", False),
        ("12 schools", "12 hospitals", False),
        ("12 firefighters", "12 people", None),
        ("12 firefighters", "12 officers", None),
        ("12 homes", "12 houses", True),
        ("12 days", "12 weeks", False),
        ("12天", "12 days", True),
        ("12天", "12 weeks", False),
        ("12", "12 people", None),
        ("12 new schools", "12 schools", True),
        ("12名學生", "12棟建築", False),
        ("12座橋", "12棟樓", False),
        ("12座橋", "12條橋樑", True),
        ("12個城市", "12個國家", None),
        ("12個城市", "12個縣市", True),
        ("12個城市", "12個地區", False),
        ("12座橋", "12 bridges", None),
        ("12件", "12人", None),
        ("6%", "6 percentage points", False),
        ("6%", "6 people", False),
        ("$5", "€5", False),
        ("$5", "US$5", True),
        ("NT$5", "5元", True),
        ("$5 million", "5 million", None),
        ("5 million", "$5 million", None),
        ("$5", "5 people", False),
        ("£5", "5 pounds", None),
        ("5%", "$5", False),
        ("7:30", "7:30 p.m.", True),
        ("12 schools", "12間醫院", None),
        ("12個城市", "12 schools", None),
    ],
)
def test_units_agree_disagree_or_stay_open(claim: str, source: str, same: bool | None) -> None:
    assert units_agree(find_quantities(claim)[0], find_quantities(source)[0]) is same


def test_numerals_are_read_or_refused() -> None:
    assert read_chinese("一万亿") == 10**12
    assert read_chinese("二〇二四") == 2024
    assert read_chinese("两万五") == 25_000
    assert read_chinese("三千零五") == 3005
    for broken in ("千万", "三四百", "三三", "百", "点五", "千点五"):
        assert read_chinese(broken) is None
    assert find_quantities("零分之三")[0].kind != "percent"
    assert read_english("two hundred and three thousand") == 203_000


def test_a_stretch_of_text_is_taken_once() -> None:
    taken = Taken([Span(4, 8)])
    assert [taken.add(Span(*pair)) for pair in ((0, 4), (7, 9), (3, 5), (8, 9), (2, 20))] == [
        True,
        False,
        False,
        True,
        False,
    ]


def test_flat_text_keeps_its_offsets() -> None:
    assert flatten("１２億　臺灣") == "12亿 台湾"
    assert [singular(word) for word in ("Cities", "churches", "buses", "glass", "men", "is")] == [
        "city", "church", "buse", "glass", "man", "is",
    ]  # fmt: skip


@given(st.text(max_size=200))
def test_any_text_is_read_without_an_error_and_spans_hold_their_text(text: str) -> None:
    found = find_quantities(text)
    assert all(text[q.span.start : q.span.end] == q.text for q in found)
    assert all(a.span.end <= b.span.start for a, b in pairwise(found))


@given(st.text(alphabet="0123456789.,-–%$€萬億千百十三五成分之點 toandmbk第时年月日個人至", max_size=60))
def test_any_mix_of_number_signs_is_read_without_an_error(text: str) -> None:
    assert all(text[q.span.start : q.span.end] == q.text for q in find_quantities(text))


@pytest.mark.parametrize(
    "text",
    [
        "捐款500\n元",
        "1,200\t元",
        "raised 5\ndollars",
        "5\u2028元",
        "uſ$5",
        "5 dollarſ",
        "5 \u212am",
        pytest.param("9" * 4301, id="4301 digits"),
        pytest.param("一" * 5000, id="5000 numerals"),
        pytest.param("第" + "9" * 5000, id="an ordinal of 5000 digits"),
        pytest.param("1" + ",234" * 3000, id="3000 thousands"),
    ],
)
def test_no_text_is_a_trap(text: str) -> None:
    assert all(text[q.span.start : q.span.end] == q.text for q in find_quantities(text))


@pytest.mark.parametrize(
    "piece", ["萬", "一", "one hundred ", "十萬點", "1:2:", "1 234 ", "1¼", "5-", "1,", "三四", "hundreds of "]
)
def test_a_long_run_is_read_about_as_fast_as_its_pieces(piece: str) -> None:
    """No run is looked at from each of its places: 20,000 characters would take minutes."""
    text = piece * (20_000 // len(piece))
    assert all(text[q.span.start : q.span.end] == q.text for q in find_quantities(text))


@settings(deadline=None)
@given(
    st.text(
        alphabet="9一萬億廿卌第点點成分之比:：¼½ſKİ$₹元块\n\t\u2028 ,.-–'\"上下數幾十百千年月日初底每%‘“”㎡℃",
        max_size=80,
    )
)
def test_any_mix_of_hostile_signs_is_read_without_an_error(text: str) -> None:
    assert all(text[q.span.start : q.span.end] == q.text for q in find_quantities(text))


@settings(deadline=None)
@given(st.integers(min_value=1, max_value=10**15))
def test_an_integer_is_read_back_in_every_writing(number: int) -> None:
    plain = find_quantities(f"about {number:,} tonnes")
    assert [(q.value, q.bound) for q in plain] == [(number, "about")]
    assert [q.value for q in find_quantities(f"{number}萬元")] == [number * 10_000]
