"""Reasons in the language of the page."""

import tomllib
from importlib.resources import files

import pytest
import test_verify

from groundwire.core.types import Check, Claim, Verdict
from groundwire.writing.reasons import Reason, read_reason, worded, worded_check, worded_verdict

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
