from __future__ import annotations

import codecs
import io
import os
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundwire.core.encodings import decode, find_line_encoding, name_binary
from groundwire.core.errors import UnreadableInput

SHARED = Path(os.environ.get("GROUNDWIRE_SHARED") or Path(__file__).resolve().parents[3].parent / "shared")
ENCODINGS = SHARED / "data" / "messy" / "encodings"

TRADITIONAL = "立法院今天三讀通過預算案，總統府表示尊重。"
SIMPLIFIED = "国家统计局今天公布数据，经济增长百分之五。"
JAPANESE = "政府は今日、新しい経済対策を発表しました。"
KOREAN = "정부는 오늘 새로운 경제 대책을 발표했습니다."
WESTERN = "The mayor’s “café” budget – €5m – was naïve, señor Núñez said…"


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (TRADITIONAL, "cp950"),
        (SIMPLIFIED, "gb18030"),
        (JAPANESE, "cp932"),
        (JAPANESE, "euc_jp"),
        (KOREAN, "cp949"),
        (WESTERN, "cp1252"),
        (TRADITIONAL, "utf-16-le"),
        (SIMPLIFIED, "utf-16-be"),
        (TRADITIONAL + "共一萬元，共一百人。\nid,a", "utf-16-le"),
        (WESTERN, "utf-16-le"),
        (WESTERN, "utf-16-be"),
        (WESTERN, "utf-8"),
        ("Власти города сообщили, что паводок отступает, а дороги снова открыты.", "cp1251"),
        ("Οι αρχές της πόλης ανακοίνωσαν ότι οι δρόμοι άνοιξαν ξανά σήμερα.", "cp1253"),
    ],
)
def test_finds_the_encoding_of_a_single_sentence(text: str, encoding: str) -> None:
    found = decode(text.encode(encoding))

    assert (found.text, found.encoding) == (text, encoding)


def test_finds_a_hong_kong_character_that_plain_big5_lacks() -> None:
    text = TRADITIONAL + "佢哋喺度。"

    assert decode(text.encode("big5hkscs")).text == text


@pytest.mark.parametrize(
    ("mark", "encoding"),
    [(codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"),
     (codecs.BOM_UTF32_LE, "utf-32-le"), (codecs.BOM_UTF32_BE, "utf-32-be")],
)  # fmt: skip
def test_a_mark_decides_and_is_dropped(mark: bytes, encoding: str) -> None:
    assert decode(mark + TRADITIONAL.encode(encoding)).text == TRADITIONAL


def test_broken_bytes_behind_a_mark_are_refused() -> None:
    with pytest.raises(UnreadableInput, match="begins as utf-16"):
        decode(codecs.BOM_UTF16_LE + b"a\x00b")


def test_a_few_broken_bytes_in_utf8_are_refused_and_not_read_as_chinese() -> None:
    data = TRADITIONAL.encode() + b"\xe6\x96" + TRADITIONAL.encode()

    with pytest.raises(UnreadableInput, match="damaged UTF-8, byte 0xe6 at position 63"):
        decode(data, declared="iso-8859-1")


def test_bytes_that_nothing_fits_are_refused() -> None:
    with pytest.raises(UnreadableInput, match="nor any other known encoding"):
        decode(b"a\xff\xfeb\xff\x81")
    with pytest.raises(UnreadableInput, match="nor any other known encoding"):
        decode(bytes(range(0x81, 0x100)) * 3)


@pytest.mark.parametrize("declared", ["big5", " Big5 ", "big5-hkscs"])
def test_a_declaration_settles_what_is_too_short_to_tell(declared: str) -> None:
    assert decode("蕘".encode("cp950"), declared=declared).text == "蕘"


@pytest.mark.parametrize("declared", ["no-such-code", "", "utf-8", "ascii\0", "ｕｔｆ", "hex", "shift_jis"])
def test_a_declaration_that_is_wrong_is_passed_over(declared: str) -> None:
    assert decode(SIMPLIFIED.encode("gb18030"), declared=declared).text == SIMPLIFIED


def test_utf8_wins_over_a_declaration() -> None:
    assert decode("naïve".encode(), declared="iso-8859-1").text == "naïve"


@settings(deadline=None)
@given(st.text(st.characters(exclude_characters="\0", codec="utf-8")))
def test_utf8_comes_back(text: str) -> None:
    assert decode(text.encode("utf-8")).text == text.removeprefix("\ufeff")


@settings(deadline=None)
@given(st.text().filter(lambda text: not text.startswith("\0")))  # a mark and a NUL are the mark of UTF-32
def test_marked_utf16_comes_back(text: str) -> None:
    assert decode(text.encode("utf-16")).text == text


@settings(deadline=None)
@given(st.binary(max_size=400))
def test_any_bytes_are_decoded_strictly_or_refused(data: bytes) -> None:
    try:
        found = decode(data)
    except UnreadableInput:
        return
    assert data.decode(found.encoding) == found.text
    assert find_line_encoding(io.BytesIO(data))


@pytest.mark.parametrize(
    ("head", "named"),
    [
        (b"%PDF-1.7\n", "PDF"),
        (b"PK\x03\x04\x14", "ZIP"),
        (b"\x89PNG\r\n\x1a\n", "PNG"),
        (b"SQLite format 3\x00", "SQLite"),
        (b"abc\x00de\x00f", "binary data (2 of the first 8 bytes are NUL)"),
        (b"plain text", ""),
        (b"", ""),
        ("一字".encode("utf-16"), ""),
        (b"a\x00b\x00c\x00", ""),
        (b"\x00\x01\x02\x03\x00", "binary data (2 of the first 5 bytes are NUL)"),
        ("不是一萬元。".encode("utf-16-be"), ""),
        (b"x" * 1000 + b"\x00", ""),
    ],
)
def test_names_what_is_no_text(head: bytes, named: str) -> None:
    assert named in name_binary(head)
    assert bool(named) == bool(name_binary(head))


@pytest.mark.parametrize(
    ("lines", "encoding"),
    [
        ([b"plain", b"ascii"], "utf-8"),
        ([TRADITIONAL.encode(), TRADITIONAL.encode("cp950"), SIMPLIFIED.encode()], "utf-8"),
        ([b"{}", TRADITIONAL.encode("cp950")], "cp950"),
        ([b"{}", TRADITIONAL.encode() + b"\xe6"], "utf-8"),
        ([b"{}", b"\xff\xfe\xff\x81"], "utf-8"),
        ([TRADITIONAL.encode("cp950")] * 7_000, "cp950"),
    ],
)
def test_one_damaged_line_does_not_decide_for_the_others(lines: list[bytes], encoding: str) -> None:
    handle = io.BytesIO(b"\n".join(lines))

    assert find_line_encoding(handle) == encoding
    assert handle.tell() == 0


def test_a_marked_file_of_lines_is_known_by_its_mark() -> None:
    assert find_line_encoding(io.BytesIO("{}\n".encode("utf-16"))) == "utf-16"


@pytest.mark.skipif(not ENCODINGS.is_dir(), reason="needs the shared data")
def test_real_files_are_decoded_into_the_text_that_their_folder_says() -> None:
    same = {"Big5": "cp950", "GB2312": "gb18030", "SHIFT_JIS": "cp932", "EUC-KR": "cp949"}
    right, wrong = [], []
    for path in sorted(ENCODINGS.glob("[!cm]*/*")):
        truth = same.get(path.parent.name, path.parent.name)
        data = path.read_bytes()
        try:
            matches = decode(data).text == data.decode(truth)
        except (UnreadableInput, LookupError):
            matches = False
        (right if matches else wrong).append(path.name)

    assert wrong == ["_ude_euc-tw1.txt"]  # Python has no codec for EUC-TW
    assert len(right) >= 31


@pytest.mark.skipif(not ENCODINGS.is_dir(), reason="needs the shared data")
def test_short_news_in_chinese_is_told_apart() -> None:
    path = SHARED / "data" / "news-ntrex" / "articles.jsonl"
    titles = re.findall(r'"zh-TW":\["([^"]{20,})"', path.read_text(encoding="utf-8").replace('": [', '":['))
    encodable = [title for title in titles if title.encode("cp950", "ignore").decode("cp950") == title]
    right = sum(decode(title.encode("cp950")).text == title for title in encodable)

    assert len(encodable) > 20
    assert right >= 0.97 * len(encodable)
