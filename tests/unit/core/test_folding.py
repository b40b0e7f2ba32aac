"""Folding Chinese words: both scripts give one text, nothing else changes, and what is missing is named."""

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire.core.errors import ArchiveError, MissingExtra
from groundwire.core.folding import DEFAULT, FOLDINGS, Folding, folder

PAIRS = [
    ("臺灣的經濟發展", "台湾的经济发展"),
    ("颱風造成嚴重淹水", "台风造成严重淹水"),
    ("頭髮與發展", "头发与发展"),
    ("乾燥的後面", "干燥的后面"),
]
with_opencc = pytest.mark.parametrize("folding", [folding for folding in FOLDINGS if folding])


@with_opencc
@pytest.mark.parametrize(("traditional", "simplified"), PAIRS)
def test_both_scripts_give_the_same_text(folding: Folding, traditional: str, simplified: str) -> None:
    if folding != DEFAULT:
        pytest.importorskip("opencc", reason="the extra 'zh' is not installed")
    fold = folder(folding)
    assert fold(traditional) == fold(simplified) == simplified


def test_words_that_only_one_side_uses_need_the_phrases_of_opencc() -> None:
    pytest.importorskip("opencc", reason="the extra 'zh' is not installed")
    assert folder("opencc:tw2sp")("軟體和網路") == "软件和网络"
    assert folder(DEFAULT)("軟體和網路") == "软体和网路"


def test_no_folding_leaves_a_text_as_it_is() -> None:
    assert folder("")("臺灣") == "臺灣"


@with_opencc
@given(text=st.text(st.characters(max_codepoint=127)))
def test_a_text_without_chinese_is_untouched(folding: Folding, text: str) -> None:
    if folding != DEFAULT:
        pytest.importorskip("opencc", reason="the extra 'zh' is not installed")
    assert folder(folding)(text) is text


@given(text=st.text())
def test_to_fold_twice_changes_nothing_more_and_keeps_every_character_in_its_place(text: str) -> None:
    once = folder(DEFAULT)(text)
    assert folder(DEFAULT)(once) == once
    assert len(once) == len(text)


def test_an_unknown_folding_is_refused_with_those_there_are() -> None:
    with pytest.raises(ArchiveError, match=r"no folding is named 'opencc:x'; there are '', 'characters', 'opencc:t2s'"):
        folder("opencc:x")


def test_a_missing_opencc_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opencc", None)
    folder.cache_clear()
    with pytest.raises(MissingExtra, match=r"folding words with 'opencc:tw2sp' needs the extra 'zh'"):
        folder("opencc:tw2sp")
    assert folder(DEFAULT)("經濟") == "经济"
