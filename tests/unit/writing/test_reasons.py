"""Reasons in the language of the page."""

import tomllib
from importlib.resources import files

import pytest
import test_verify

from groundwire.core.types import Check, Claim, Verdict
from groundwire.writing.reasons import Reason, note, read_reason, worded, worded_check, worded_note, worded_verdict

TABLE = tomllib.loads((files("groundwire.writing") / "reasons.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("kind", sorted(TABLE))
def test_every_form_is_read_back_and_has_all_values_in_every_language(kind: str) -> None:
    count = TABLE[kind][0].count("{}")
    values = tuple(f"v{number}" for number in range(count))
    english = worded(Reason(kind, values), "en")
    assert read_reason(english) == Reason(kind, values)
    for language in ("zh-TW", "zh-CN"):
        assert all(value in worded(Reason(kind, values), language) for value in values)


@pytest.mark.parametrize(("source", "claim", "support"), test_verify.ROWS)
def test_every_reason_the_gates_give_is_known(source: str, claim: str, support: str) -> None:
    found = test_verify.verdict(claim, source)
    assert all(read_reason(check.reason).kind for check in found.checks if check.reason), support
    assert worded_verdict(found, "en") == found.reason


def test_a_verdict_is_worded_for_a_chinese_page() -> None:
    found = test_verify.verdict("India's economy grew 7.6% in 2021.", test_verify.ENGLISH)
    assert worded_verdict(found, "zh-TW") == "數字「7.6%」：數值不同：來源為 '6.7%'"
    plain = Verdict(Claim("c1", "x"), "supported", "word for word in the source; source changed: moved")
    assert worded_verdict(plain, "zh-CN") == "与来源原文逐字相同"


def test_an_unknown_reason_is_shown_as_it_is() -> None:
    assert worded(read_reason("something new"), "zh-TW") == "something new"
    assert worded_check(Check("date", "May", passed=True), "zh-TW") == ""
    assert worded_check(Check("number", "12", passed=False, reason="only this"), "en") == "number '12': only this"


NOTES = [
    (note("note_uncited", 2, 7), "7 句中有 2 句沒有引註", "7 句中有 2 句没有引注"),
    (
        note("note_candidates", 6, 16),
        "搜尋所得的前 6 個來源已評分，另有 16 個未評分（write.candidates）",
        "搜索所得的前 6 个来源",
    ),
    (
        "Story: of a day: " + note("left_orders", 1),
        "Story: of a day：略去 1 句：給模型的指令",
        "略去 1 句：给模型的指令",
    ),
    (
        "Flood: " + note("brief_none", "unreadable: no words"),
        "Flood：無法讀取模型的摘要（unreadable: no words）",
        "改用来源原句",
    ),
    (note("tied", "72", "A (0.812), B (0.4)"), "評分同為 72，先依最強的證據", "评分同为 72"),
    (note("note_repeated", 2, "It said {} twice."), "文中出現 2 次：It said {} twice.", "It said {} twice."),
    (
        "what nobody has worded: as it stands",
        "what nobody has worded: as it stands",
        "what nobody has worded: as it stands",
    ),
]


@pytest.mark.parametrize(("said", "traditional", "simplified"), NOTES)
def test_a_note_is_worded_in_the_language_of_its_article(said: str, traditional: str, simplified: str) -> None:
    assert worded_note(said, "zh-TW").startswith(traditional)
    assert simplified in worded_note(said, "zh-CN")
    assert worded_note(said, "en") == said
