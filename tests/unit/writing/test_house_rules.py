"""House rules are read or refused, told to a model, and checked without false alarms."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire.core.errors import SettingError, UnreadableInput
from groundwire.core.types import Article, Claim
from groundwire.writing.house_rules import HouseRules, check_house, read_house_rules, rules_in_words

FILE = """
language = "zh-TW"
dates = "2022年9月5日"
sentence_words = 60
headline_words = 20

[avoid]
"赫然" = "刪去"

[terms]
builtin = "zh-TW"
"視頻" = "影音"

[numerals]
below_ten = "words"
large = "characters"
percent = "sign"
thousands = "comma"

[attribution]
required = true
verbs = ["說", "表示"]
"""
BUILTIN = 'terms.builtin = "zh-TW"'


def rules(text: str, folder: Path) -> HouseRules:
    path = folder / "house.toml"
    path.write_text(text, encoding="utf-8")
    return read_house_rules(path)


def found(text: str, told: HouseRules, language: str = "en") -> list[str]:
    """The items that the body's one claim is found with."""
    article = Article("t", Claim("c1", ""), (Claim("c2", text),), (), (), language)
    return [finding.item for finding in check_house(article, told) if finding.claim_id == "c2"]


def test_a_whole_file_is_read(tmp_path: Path) -> None:
    read = rules(FILE, tmp_path)

    assert (read.language, read.dates, read.sentence_words, read.headline_words) == ("zh-TW", "2022年9月5日", 60, 20)
    assert read.avoid == (("赫然", "刪去"),)
    assert dict(read.terms)["視頻"] == "影音"  # the house's own word stands above the shipped one
    assert dict(read.terms)["軟件"] == "軟體"
    assert len(read.terms) >= 55
    assert (read.below_ten, read.large, read.percent, read.thousands) == ("words", "characters", "sign", "comma")
    assert (read.required, read.verbs) == (True, ("說", "表示"))


def test_an_empty_file_asks_for_nothing(tmp_path: Path) -> None:
    assert rules("", tmp_path) == HouseRules()
    assert rules_in_words(HouseRules(), "en") == ""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("sentence_word = 3", "there is no house rule 'sentence_word'; the nearest is 'sentence_words'"),
        ("zzz = 3", "there is no house rule 'zzz'; there are attribution, avoid"),
        ("[numerals]\nbelowten = 'words'", "'numerals.belowten'; the nearest is 'numerals.below_ten'"),
        ("[attribution]\nneeded = true", "no house rule 'attribution.needed'"),
        ("[numerals]\npercent = '%'", "numerals.percent is '%'; it must be 'sign' or 'word'"),
        ("terms.builtin = 'zh-CN'", "terms.builtin is 'zh-CN'; it must be 'zh-TW'"),
        ("dates = '5/9/2022'", "dates is '5/9/2022'; it must be '5 September 2022' or"),
        ("language = 'fr'", "language is 'fr'"),
        ("sentence_words = 0", "sentence_words is 0; it must be a whole number, 1 or more"),
        ("sentence_words = true", "sentence_words is True"),
        ("headline_words = '9'", "headline_words is '9'"),
        ("avoid = 3", "avoid is 3; it must be a table, under a line [avoid]"),
        ("[avoid]\nvery = 3", "avoid.'very' is 3; it must be words between quotation marks"),
        ("[avoid]\n'' = 'x'", "it must be words"),
        ("attribution.required = 'yes'", "attribution.required is 'yes'; it must be true or false"),
        ("attribution.verbs = 'said'", "attribution.verbs is 'said'; it must be a list of words"),
        ("attribution.verbs = ['']", "it must be a list of words"),
        ("avoid =", "is not readable as TOML"),
    ],
)
def test_what_is_no_rule_is_refused(text: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(SettingError) as caught:
        rules(text, tmp_path)

    assert said in str(caught.value)
    assert "house.toml" in str(caught.value)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "big5.toml").write_bytes("language = '中文'".encode("big5"))

    with pytest.raises(UnreadableInput, match=r"gone\.toml cannot be read"):
        read_house_rules(tmp_path / "gone.toml")
    with pytest.raises(UnreadableInput, match=r"big5\.toml are not UTF-8"):
        read_house_rules(tmp_path / "big5.toml")


@pytest.mark.parametrize(
    ("language", "first", "last"),
    [
        (
            "en",
            "House rules:\n- Write in zh-TW.\n- Do not write '赫然': 刪去.",
            "- Write dates like this: 2022年9月5日.",
        ),
        ("zh-TW", "編輯體例：\n- 以 zh-TW 撰寫。\n- 不要寫「赫然」：刪去。", "- 日期寫法如：2022年9月5日。"),
        ("zh-CN", "编辑体例：\n- 以 zh-TW 撰写。\n- 不要写“赫然”：刪去。", "- 日期写法如：2022年9月5日。"),
    ],
)
def test_every_rule_is_told(language: str, first: str, last: str, tmp_path: Path) -> None:
    told = rules_in_words(rules(FILE, tmp_path), language)

    assert told.startswith(first)
    assert told.endswith(last)
    assert len(told.splitlines()) == 1 + 12
    assert "視頻 → 影音" in told


AVOID = HouseRules(
    avoid=(("in order to", "to"), ("utilise", "use"), ("Internet", "internet"), ("very", "-"), ("赫然", "x"))
)


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("In  order to help, they utilise boats.", ["In  order to", "utilise"]),
        ("They utilised boats, every one, and re-utilise them.", []),
        ("The Internet failed; the internet came back.", ["Internet"]),
        ('He said: "We utilise boats in order to help."', []),
        ("「赫然發現」之後，眾人赫然一驚", ["赫然"]),
        ("very, very wet", ["very", "very"]),
        ("See https://x.org/very/utilise for more", []),
        ("the very's", []),
    ],
)
def test_words_to_avoid_are_found_whole_and_outside_of_quotations(text: str, items: list[str]) -> None:
    assert found(text, AVOID) == items


def test_advice_says_what_to_do() -> None:
    article = Article("t", Claim("c1", "Rain"), (Claim("c2", "They utilise boats."),), (), (), "en")

    (finding,) = check_house(article, AVOID)

    assert (finding.rule, finding.item, finding.advice, finding.claim_id) == ("avoid", "utilise", "use", "c2")


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("這段視頻的信息", ["視頻", "信息"]),
        ("人工智能軟件", ["人工智能", "軟件"]),  # the longer word, once
        ("兩地的交通信息息相關", []),
        ("他相信息事寧人", []),
        ("國內存款增加", []),
        ("觀光盤點", []),
        ("出租車庫的人搭出租車", ["出租車"]),
        ("引導彈性工時", []),
        ("他說：「這段視頻的信息」", []),
        ("影片的資訊", []),
    ],
)
def test_mainland_terms_are_found_and_what_only_looks_so_is_not(text: str, items: list[str], tmp_path: Path) -> None:
    assert found(text, rules(BUILTIN, tmp_path), "zh-TW") == items


def test_the_word_of_taiwan_is_the_advice(tmp_path: Path) -> None:
    article = Article("t", Claim("c1", "軟件"), (), (), (), "zh-TW")

    (finding,) = check_house(article, rules(BUILTIN, tmp_path))

    assert (finding.rule, finding.advice) == ("terms", "改用「軟體」")


@pytest.mark.parametrize(
    ("told", "text", "items"),
    [
        (HouseRules(below_ten="words"), "They saved 3 people and 12 dogs on 5 May 2022.", ["3"]),
        (HouseRules(below_ten="words"), "It cost $3 million, 5 percent more, by 2-1, at 5 p.m., for 4.5 metres.", []),
        (HouseRules(below_ten="words"), "救出3人，3月5日又救出12人，第3名", ["3"]),
        (HouseRules(below_ten="figures"), "They saved three people, twenty-three dogs and one cat.", ["three"]),
        (HouseRules(below_ten="figures"), "救出三人、十三人、第三名、兩個人、三三兩兩、三個月前", ["三", "兩"]),
        (HouseRules(large="characters"), "約50000人、120,000元、2022年、12345號", ["50000", "120,000"]),
        (HouseRules(large="digits"), "約5萬人、1.2億元、5人", ["5萬", "1.2億"]),
        (HouseRules(percent="sign"), "Up 5 percent, five per cent of a percentage.", ["percent", "per cent"]),
        (HouseRules(percent="sign"), "成長百分之五，另有百分之百", ["百分之五", "百分之百"]),
        (HouseRules(percent="word"), "成長 5%、６％，共 5 人", ["5%", "６％"]),
        (HouseRules(thousands="comma"), "12000 people in 2022, 12,000 dogs, room 4000", ["12000"]),
        (HouseRules(thousands="none"), "12,000 people, 12000 dogs, 1, 2 and 3", ["12,000"]),
        (HouseRules(thousands="none", percent="word"), 'He said: "12,000 people, 5%."', []),
    ],
)  # fmt: skip
def test_numbers_are_held_to_the_house(told: HouseRules, text: str, items: list[str]) -> None:
    assert found(text, told) == items


@pytest.mark.parametrize(
    ("form", "text", "items"),
    [
        ("5 September 2022", "On September 5, 2022, and 6 September 2022, in May 2021.", ["September 5, 2022"]),
        ("September 5, 2022", "On September 5, 2022, and 6 September 2022.", ["6 September 2022"]),
        ("2022-09-05", "2022年9月5日、2022-09-05", ["2022年9月5日"]),
        ("2022年9月5日", "民國111年9月5日、2022年9月5日、2022-09-05", ["民國111年9月5日", "2022-09-05"]),
        ("民國111年9月5日", "民國111年9月5日、2022年9月5日", ["2022年9月5日"]),
    ],
)
def test_full_dates_are_held_to_the_form_of_the_house(form: str, text: str, items: list[str], tmp_path: Path) -> None:
    assert found(text, rules(f'dates = "{form}"', tmp_path)) == items


REQUIRED = HouseRules(required=True)


@pytest.mark.parametrize(
    ("told", "text", "items"),
    [
        (REQUIRED, '"We will rebuild the town," Mayor Lin said.', []),
        (REQUIRED, '"We will rebuild the town" was on the wall.', ["We will rebuild the town"]),
        (REQUIRED, 'The "big one" came.', []),  # words in marks, not a quotation
        (REQUIRED, "市長說：「我們一定會重建家園。」", []),
        (REQUIRED, "牆上的「我們一定會重建家園」仍在", ["我們一定會重建家園"]),
        (HouseRules(verbs=("said",)), '"We will rebuild the town," Mayor Lin claimed.', ["claimed"]),
        (HouseRules(verbs=("said",)), '"We will rebuild the town," Mayor Lin Said.', []),
        (HouseRules(verbs=("said",)), 'Mayor Lin: "We will rebuild the town."', []),
        (HouseRules(verbs=("said",)), '"We will rebuild the town" was on the wall.', []),
    ],
)
def test_quotations_are_held_to_the_rules_of_attribution(told: HouseRules, text: str, items: list[str]) -> None:
    assert found(text, told) == items


def test_long_sentences_and_headlines_are_counted_in_words_and_characters() -> None:
    told = HouseRules(sentence_words=5, headline_words=4, language="zh-TW")
    article = Article(
        "t",
        Claim("c1", "台南大水災"),
        (Claim("c2", "One two. One two three four five six."), Claim("c3", "水災來了喔")),
        (),
        (),
        "en",
    )

    assert [(f.rule, f.item, f.advice, f.claim_id) for f in check_house(article, told)] == [
        ("sentence_words", "One two three four five six.", "6 words, where a sentence has at most 5", "c2"),
        ("headline_words", "台南大水災", "5 words, where a headline has at most 4", "c1"),
        ("language", "en", "the house writes in zh-TW", ""),
    ]


@given(st.text(alphabet="ab 5%，。信息視頻12,000 utilise 年", max_size=60))
def test_nothing_is_found_in_a_quotation(text: str) -> None:
    told = HouseRules(
        avoid=AVOID.avoid,
        terms=(("信息", "資訊"),),
        below_ten="words",
        large="digits",
        percent="word",
        thousands="none",
    )

    assert found(f"「{text}」", told) == []
