from __future__ import annotations

import io
import logging
import re
import sys
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundwire.core.errors import MissingExtra
from groundwire.retrieval.formats import Refused, Row
from groundwire.retrieval.printed import read_printed
from groundwire.retrieval.readers import read_documents

pypdf = pytest.importorskip("pypdf")

Text = tuple[int, int, str]
LATIN = "/Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding"
CHINESE = (
    "/Type /Font /Subtype /Type0 /BaseFont /MSung /Encoding /UniCNS-UTF16-H /DescendantFonts [<< /Type /Font"
    " /Subtype /CIDFontType0 /BaseFont /MSung /CIDSystemInfo << /Registry (Adobe) /Ordering (CNS1) /Supplement 0 >>"
    " /FontDescriptor << /Type /FontDescriptor /FontName /MSung /Flags 4 >> /DW 1000 >>]"
)
LEFT = [
    "The council of Tainan met on Monday and voted to re-",
    "build the bridge that the flood had taken away in the",
    "spring. Engineers expect the work to last until the",
    "winter, and the city has set aside forty million.",
]
LEFT_READ = (
    "The council of Tainan met on Monday and voted to rebuild the bridge that the flood had taken away in the spring."
    " Engineers expect the work to last until the winter, and the city has set aside forty million."
)
RIGHT = [
    "Nobody was hurt when the river rose, officials said",
    "on Sunday, though eleven houses in the old quarter",
    "had to be left. Another architect will lead the works",
    "on the new bridge, which is to be a little wider.",
]
RIGHT_READ = " ".join(RIGHT)


def literal(text: str) -> bytes:
    raw = text.encode("cp1252").replace(b"\\", b"\\\\").replace(b"(", b"\\(").replace(b")", b"\\)")
    return b"(" + raw + b")"


def utf16(text: str) -> bytes:
    return b"<" + text.encode("utf-16-be").hex().encode() + b">"


def drawn(texts: Sequence[Text], encode: Callable[[str], bytes] = literal) -> bytes:
    return b"\n".join(b"BT /F1 10 Tf 1 0 0 1 %d %d Tm %s Tj ET" % (x, y, encode(text)) for x, y, text in texts)


def pdf(*contents: bytes, info: str = "", font: str = LATIN, filters: str = "", resources: str = "") -> bytes:
    """A PDF of hand-written pages; the only fonts are ones that every reader has."""
    objects = [b"<< /Type /Catalog /Pages 2 0 R >>", b"", f"<< {font} >>".encode(), f"<< {info} >>".encode("latin-1")]
    kids = []
    for content in contents:
        stream = f"<< /Length {len(content)} {filters} >>\nstream\n".encode() + content + b"\nendstream"
        number = len(objects) + 1
        page = (
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {number} 0 R"
            f" /Resources << /Font << /F1 3 0 R >> {resources} >> >>"
        )
        objects += [stream, page.encode()]
        kids.append(f"{number + 1} 0 R")
    objects[1] = f"<< /Type /Pages /Kids [{' '.join(kids)}] /Count {len(kids)} >>".encode()
    out, offsets = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, start=1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    size, place = len(objects) + 1, len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n%strailer\n" % (size, table)
    return out + b"<< /Size %d /Root 1 0 R /Info 4 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (size, place)


def column(lines: Sequence[str], *, x: int = 72, top: int = 720, step: int = 14) -> list[Text]:
    return [(x, top - step * number, line) for number, line in enumerate(lines) if line]


def beside(left: Sequence[str], right: Sequence[str], *, apart: int = 0) -> list[Text]:
    """Two columns, drawn row by row."""
    pairs = zip(column(left), column(right, x=330, top=720 - apart), strict=True)
    return [text for pair in pairs for text in pair]


def read(data: bytes) -> Row:
    row = read_printed(data)
    assert isinstance(row, Row), row
    return row


def text_of(*pages: Sequence[Text]) -> str:
    return str(read(pdf(*(drawn(page) for page in pages))).values["text"])


def refused(data: bytes) -> Refused:
    result = read_printed(data)
    assert isinstance(result, Refused), result
    return result


@pytest.mark.parametrize(
    "page",
    [
        column(LEFT) + column(RIGHT, x=330),
        column(RIGHT, x=330) + column(LEFT),
        beside(LEFT, RIGHT),
        beside(LEFT, RIGHT, apart=5),
    ],
    ids=["column by column", "right column first", "row by row", "rows at other heights"],
)
def test_two_columns_are_read_one_after_the_other_however_they_are_drawn(page: list[Text]) -> None:
    assert text_of(page) == f"{LEFT_READ}\n\n{RIGHT_READ}"


def test_three_columns_are_read_from_the_left() -> None:
    parts = [["one two three four", "five six seven eig", "nine ten eleven tw"], ["beta gamma delta e"] * 3]
    third = ["red green and blue", "white and black do", "not belong to them"]
    page = [item for n, side in enumerate((*parts, third)) for item in column(side, x=40 + 180 * n)]

    assert text_of(page).split("\n\n")[0] == " ".join((*parts[0], *parts[1], *third))


def test_what_runs_over_both_columns_stands_before_and_after_them() -> None:
    title, below = (
        "A title that stands across both of the columns",
        "And a line below that runs over the whole page, " * 2,
    )
    page = [(170, 750, title), *beside(LEFT, RIGHT), (72, 640, below)]

    assert text_of(page) == f"{title}\n\n{LEFT_READ}\n\n{RIGHT_READ}\n\n{below.strip()}"


def test_a_table_is_not_taken_for_columns_and_its_rows_stay_apart() -> None:
    rows = [("Taipei", "2.5"), ("Tainan", "1.9"), ("Hsinchu", "0.4"), ("Chiayi", "0.3")]
    page = [
        item for n, (city, count) in enumerate(rows) for item in ((72, 700 - 14 * n, city), (330, 700 - 14 * n, count))
    ]

    assert text_of(page) == "Taipei 2.5\n\nTainan 1.9\n\nHsinchu 0.4\n\nChiayi 0.3"


def footed(
    *bodies: Sequence[str], foot: Callable[[int], str], head: Callable[[int], str] = lambda _: ""
) -> list[list[Text]]:
    return [
        [*column([head(n)], top=760), *column(body), *column([foot(n)], top=40)]
        for n, body in enumerate(bodies, start=1)
    ]


SPLIT = (
    [*LEFT[:3], "winter, and the city has set aside"],
    ["forty million dollars for it, the mayor said on Friday,", "though some of the members of the council"],
    ["were against it."],
)
SPLIT_READ = (
    f"{LEFT_READ[:-15]} forty million dollars for it, the mayor said on Friday, though some of the members"
    " of the council were against it."
)


@pytest.mark.parametrize(
    ("head", "foot", "taken"),
    [
        (lambda _: "", lambda n: f"Tainan Post, 6 May 2024 - page {n} of 3", 3),
        (lambda _: "The Tainan Post", lambda n: str(n + 40), 6),
        (lambda _: "", lambda n: f"- {n} -", 3),
        (lambda n: "The Tainan Post" if n > 1 else "", lambda _: "All rights reserved", 5),
        (lambda n: "The Tainan Post" if n % 2 else "", lambda _: "", 2),
    ],
    ids=["footer with number", "header and bare number", "number in dashes", "none on the first page", "right pages"],
)
def test_running_lines_do_not_stand_in_mid_sentence(
    head: Callable[[int], str], foot: Callable[[int], str], taken: int
) -> None:
    row = read(pdf(*(drawn(page) for page in footed(*SPLIT, head=head, foot=foot))))

    assert row.values["text"] == SPLIT_READ
    assert any(note.startswith(f"running lines taken out: {taken} (") for note in row.notes)


def test_a_running_line_is_taken_out_of_columns() -> None:
    pages = [[*beside(*sides), (300, 30, f"{n}")] for n, sides in enumerate(((LEFT, RIGHT), (RIGHT, LEFT)), start=7)]

    assert text_of(*pages) == "\n\n".join((LEFT_READ, RIGHT_READ, RIGHT_READ, LEFT_READ))


def test_numbers_that_do_not_count_pages_stay() -> None:
    pages = footed(*SPLIT, foot=lambda n: ("17", "4", "88")[n - 1])
    text = text_of(*pages)

    assert set(re.findall(r"\d+", text)) == {"17", "4", "88"}


def test_lines_that_differ_in_more_than_the_number_of_the_page_stay() -> None:
    pages = footed(*SPLIT, foot=lambda n: f"There were {(17, 4, 88)[n - 1]} votes for it.")
    assert text_of(*pages).count("votes for it.") == 3


def test_a_scanned_page_between_does_not_keep_page_numbers_from_counting() -> None:
    pages = footed(*SPLIT, foot=str)
    data = pdf(
        drawn(pages[0]), b"", drawn([*column(SPLIT[1]), (72, 40, "3")]), b"", drawn([*column(SPLIT[2]), (72, 40, "5")])
    )

    assert read(data).values["text"] == SPLIT_READ


def test_what_stands_on_one_page_only_stays() -> None:
    assert text_of(footed(LEFT, foot=lambda _: "Page 1")[0]).endswith("Page 1")


def test_pages_that_are_all_alike_are_kept() -> None:
    assert text_of(*[column(["The same words."])] * 3).count("The same words.") == 3


@pytest.mark.parametrize(
    ("above", "below", "joined"),
    [
        ("the work of the govern-", "ment goes on", "the work of the government goes on"),
        ("the work of the high-", "way office", "the work of the highway office"),
        ("it was a well-", "known story", "it was a well-known story"),
        ("companies of a state-", "owned kind", "companies of a state-owned kind"),
        ("a firm that is China-", "based", "a firm that is China-based"),
        ("a so-called out-of-", "date rule", "a so-called out-of-date rule"),
        ("in the years 2019-", "2024 it fell", "in the years 2019-2024 it fell"),
        ("signed by the NATO-", "Russia council", "signed by the NATO-Russia council"),
        ("the Inter-", "national was sung; international", "the International was sung; international"),
        ("a rope-", "maker, that is a rope-maker", "a rope-maker, that is a rope-maker"),
        ("the sun -", "and the moon", "the sun - and the moon"),
        ("the sun—", "and the moon", "the sun—and the moon"),
        ("soft hyp\xad", "Hen at the end", "soft hypHen at the end"),
        ("an efﬁcient of-".replace("ﬁ", "fi"), "fice", "an efficient office"),
    ],
)
def test_a_hyphen_at_a_line_end_goes_only_where_the_word_was_cut(above: str, below: str, joined: str) -> None:
    assert text_of(column([above, below])) == joined


def test_lines_become_paragraphs() -> None:
    page = [
        *column(["Flood relief"], top=760),
        *column(LEFT[1:], top=720),
        *column(["with the others."], top=720 - 14 * 3),
        *column(RIGHT, top=720 - 14 * 4, x=86)[:1],
        *column(["", *RIGHT[1:]], top=720 - 14 * 4),
        *column(["1. The first of two points that were made about the thing", "2. The second."], top=720 - 14 * 8),
        *column(
            ["Notes", "And so it was, as they say in the old quarter of the town", "• One", "• Two"], top=720 - 14 * 10
        ),
    ]

    assert text_of(page).split("\n\n") == [
        "Flood relief",
        " ".join([*LEFT[1:], "with the others."]),
        RIGHT_READ,
        "1. The first of two points that were made about the thing 2. The second.",
        "Notes",
        "And so it was, as they say in the old quarter of the town",
        "• One",
        "• Two",
    ]


def test_double_spaced_lines_are_one_paragraph() -> None:
    assert text_of(column(LEFT, step=30)) == LEFT_READ


ZH = [
    "行政院長星期一在立法院表示，政府將撥出四億元重建這座",
    "橋，工程預計明年春天完成。市長說，今年夏天以前會先修",
    "好堤防，讓居民安心。專家認為印度的年度GDP成長",
    "6.7%的目標不會受影響。",
]


@pytest.mark.parametrize("each", [False, True], ids=["a line at once", "each character by itself"])
def test_chinese_lines_are_joined_without_a_space(*, each: bool) -> None:
    page = column(ZH)
    if each:
        page = [(72 + 10 * n, y, char) for _, y, line in page for n, char in enumerate(line)]

    assert read(pdf(drawn(page, utf16), font=CHINESE)).values["text"] == "".join(ZH)


def test_chinese_columns_are_read_one_after_the_other() -> None:
    page = [item for pair in zip(column(ZH[:3], x=40), column(ZH[:3], x=330), strict=True) for item in pair]

    assert read(pdf(drawn(page, utf16), font=CHINESE)).values["text"] == "".join(ZH[:3] * 2)


def test_pages_without_text_are_named() -> None:
    row = read(pdf(drawn(column(LEFT)), b"", drawn(column(RIGHT)), b"", b"", drawn(column(LEFT))))

    assert row.notes[0] == "pages without text (scanned, or blank): 2, 4-5"


def test_a_scanned_document_is_refused_as_such() -> None:
    result = refused(pdf(b"q 100 0 0 100 0 0 cm Q", b""))

    assert (result.kind, result.reason) == (
        "scanned",
        "holds no text on its pages (2): they are scanned or blank; recognise the text first (OCR)",
    )


def test_turned_text_is_read_in_the_order_of_drawing() -> None:
    turned = b"BT /F1 10 Tf 0 1 -1 0 100 100 Tm (A margin that is turned) Tj ET"
    row = read(pdf(turned))

    assert row.values["text"] == "A margin that is turned"
    assert "pages read in the order in which they are drawn: 1" in row.notes


def test_fonts_without_meaning_are_refused() -> None:
    result = refused(pdf(drawn([(72, 700, "\ue000\ue001\ue002\ue003 ab")], utf16), font=CHINESE))

    assert result.kind == "bad_pdf"
    assert "4 of 7 are unknown" in result.reason


def test_a_font_that_draws_characters_which_do_not_exist_is_refused() -> None:
    words = "\u0378 wrong map from glyphs to characters" + " makes letters" * 3
    result = refused(pdf(drawn([(72, 700, words), (72, 680, "\u0379 and more")], utf16), font=CHINESE))

    assert result.kind == "bad_pdf"
    assert "(2 of " in result.reason


@pytest.mark.parametrize(
    ("title", "taken"),
    [
        ("Flood relief in Tainan", True),
        ("Documents of the council", True),
        ("Microsoft Word - flood final.docx", False),
        ("Untitled", False),
        ("untitled-3", False),
        ("PowerPoint Presentation", False),
        ("flood_v3.indd", False),
        ("Annual report.pdf", False),
        ("C:\\\\Users\\\\x", False),
        ("12-05", False),
        ("3F2504E0-4F89-11D3-9A0C", False),
        ("", False),
    ],
)
def test_only_a_real_title_is_taken_from_the_metadata(title: str, *, taken: bool) -> None:
    row = read(pdf(drawn(column(LEFT)), info=f"/Title ({title})"))

    assert row.values.get("title") == (title if taken else None)


def test_a_short_first_line_is_the_title_where_the_metadata_have_none() -> None:
    row = read(pdf(drawn([(72, 760, "Bridge to be rebuilt"), *column(LEFT)]), info="/Title (Untitled)"))

    assert row.values["title"] == "Bridge to be rebuilt"
    assert "title: the first line of the text" in row.notes


@pytest.mark.parametrize(
    ("date", "taken"),
    [
        ("D:20240506101500+08'00'", "2024-05-06"),
        ("D:19700101000000Z", None),
        ("D:19010506000000Z", None),
        ("yesterday", None),
    ],
)
def test_only_a_real_date_is_taken_from_the_metadata(date: str, taken: str | None) -> None:
    row = read(pdf(drawn(column(LEFT)), info=f"/CreationDate ({date})"))

    assert row.values.get("published") == taken
    assert any(note.startswith("date: when the PDF was made") for note in row.notes) == (taken is not None)


@pytest.mark.parametrize(("name", "field"), [("title", "title"), ("creation_date", "published")])
def test_metadata_that_cannot_be_read_are_left_out(name: str, field: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: object) -> None:
        raise KeyError(name)

    data = pdf(drawn(column(LEFT)), info="/Title (Flood relief) /CreationDate (D:20240506101500Z)")
    monkeypatch.setattr(f"pypdf.DocumentInformation.{name}", property(fail))

    assert set(read(data).values) == {"title", "published", "text"} - {field}


def locked(user_password: str) -> bytes:
    writer, out = pypdf.PdfWriter(clone_from=io.BytesIO(pdf(drawn(column(LEFT))))), io.BytesIO()
    writer.encrypt(user_password, "owner", algorithm="RC4-128")
    writer.write(out)
    return out.getvalue()


def test_a_locked_pdf_is_refused_and_one_that_opens_without_a_password_is_read() -> None:
    result = refused(locked("secret"))

    assert (result.kind, result.reason) == (
        "encrypted",
        "is encrypted and opens with a password only; save a copy without one",
    )
    assert read(locked("")).values["text"] == LEFT_READ


def test_what_needs_another_package_to_open_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise pypdf.errors.DependencyError("cryptography>=3.1 is required for AES algorithm")

    monkeypatch.setattr("pypdf.PdfReader.decrypt", fail)

    assert refused(locked("")).kind == "encrypted"


SOUND = pdf(drawn(column(LEFT)), drawn(beside(LEFT, RIGHT)), info="/Title (Flood)")
LOOP = "/XObject << /X 5 0 R >>"


@pytest.mark.parametrize(
    "data",
    [
        b"%PDF-1.7 \x00\x01",
        b"no PDF at all",
        SOUND[: len(SOUND) // 2],
        SOUND.replace(b"/Kids [6 0 R 8 0 R]", b"/Kids [2 0 R 2 0 R]"),
        SOUND.replace(b"/Kids [6 0 R 8 0 R]", b"/Kids [null 42]    "),
        SOUND.replace(b"startxref\n", b"startxref\n9"),
        pdf(
            b"/X Do",
            filters="/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /X 5 0 R >> >>",
            resources=LOOP,
        ),
    ],
    ids=["cut at once", "other bytes", "half", "pages in a ring", "no pages", "wrong place", "a form in itself"],
)
def test_damaged_files_are_refused_with_a_reason_or_read(data: bytes) -> None:
    result = read_printed(data)

    assert isinstance(result, Row) or (result.kind in ("bad_pdf", "scanned") and result.reason)


def test_random_damage_never_escapes() -> None:
    chance = np.random.default_rng(1)
    for _ in range(150):
        data = bytearray(SOUND)
        for _ in range(chance.choice((1, 2, 8))):
            place = int(chance.integers(len(data)))
            if chance.random() < 0.5:
                data[place] = int(chance.integers(256))
            else:
                del data[place : place + int(chance.integers(1, 60))]
        assert isinstance(read_printed(bytes(data)), Row | Refused)


def test_a_page_that_would_swell_is_refused() -> None:
    bomb = zlib.compress(zlib.compress(bytes(120_000_000), 9), 9)
    result = refused(pdf(bomb, filters="/Filter [/FlateDecode /FlateDecode]"))

    assert result.kind in ("bad_pdf", "scanned")


def test_a_page_that_fails_is_named_and_the_others_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    real = pypdf.PageObject.extract_text

    def fail(page: object, *args: object, **kwargs: object) -> str:
        if page.page_number == 1:  # type: ignore[attr-defined]
            raise ZeroDivisionError
        return str(real(page, *args, **kwargs))

    monkeypatch.setattr("pypdf.PageObject.extract_text", fail)
    row = read(pdf(drawn(column(LEFT)), drawn(column(RIGHT))))

    assert row.values["text"] == LEFT_READ
    assert row.notes[0] == "pages without text (scanned, or blank): 2; pypdf fails with ZeroDivisionError"


def test_what_pypdf_says_is_noted_and_kept_from_the_terminal(capfd: pytest.CaptureFixture[str]) -> None:
    handlers = list(logging.getLogger("pypdf").handlers)
    row = read(SOUND.replace(b"startxref\n", b"startxref\n9"))

    assert any(note.startswith("pypdf remarked: ") for note in row.notes)
    assert capfd.readouterr() == ("", "")
    assert logging.getLogger("pypdf").handlers == handlers


def test_a_folder_of_pdfs_is_read_and_what_is_none_is_refused_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, data in (("a.pdf", SOUND), ("b.pdf", b"no PDF"), ("c.pdf", b""), ("d", pdf(drawn(column(RIGHT))))):
        (tmp_path / name).write_bytes(data)
    reading = read_documents(tmp_path / "d", *sorted(tmp_path.glob("*.pdf")))
    right, flood = reading

    assert (right.text, flood.title, flood.origin) == (RIGHT_READ, "Flood", str(tmp_path / "a.pdf"))
    assert flood.notes == ("hyphens at line ends: 2 taken out, 0 kept",)
    assert [(Path(reject.file).name, reject.kind) for reject in reading.report.rejects] == [
        ("b.pdf", "bad_pdf"),
        ("c.pdf", "empty"),
    ]
    assert dict(reading.report.encodings)[str(tmp_path / "a.pdf")] == "pdf"
    monkeypatch.setitem(sys.modules, "pypdf", None)
    assert list(reading) == []
    assert [reject.kind for reject in reading.report.rejects] == ["missing_extra"] * 3 + ["empty"]


# At most 44 characters a line, so that the columns do not lie on top of one another.
WORDS = st.lists(st.lists(st.text("abcdefgh", min_size=1, max_size=8), min_size=1, max_size=5), min_size=1, max_size=8)


@given(left=WORDS, right=WORDS, apart=st.sampled_from([0, 5]))
@settings(max_examples=60, deadline=None)
def test_no_word_is_lost_or_made(left: list[list[str]], right: list[list[str]], apart: int) -> None:
    sides = [" ".join(words) for words in left], [" ".join(words) for words in right]
    found = text_of(column(sides[0]) + column(sides[1], x=330, top=720 - apart)).split()

    assert sorted(found) == sorted(word for side in sides for line in side for word in line.split())


def test_names_the_extra_that_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pypdf", None)

    with pytest.raises(MissingExtra, match=r"groundwire\[read\]"):
        read_printed(SOUND)
