from __future__ import annotations

from email.message import EmailMessage
from pathlib import Path

import numpy as np
import pytest

from groundwire.core.errors import UnreadableInput
from groundwire.core.sentences import split_sentences
from groundwire.retrieval.formats import Refused, Row
from groundwire.retrieval.mail import read_mail, read_text
from groundwire.retrieval.readers import read_documents

BODY = "The council met on Monday and\nvoted to rebuild the bridge.\n\n> Was it not\n> too dear?\n\nIt was not.\n"


def message(body: str = BODY, *, subtype: str = "plain") -> EmailMessage:
    mail = EmailMessage()
    mail["Subject"] = "橋 and road"
    mail["From"] = '"Wu, Ann" <ann@post.example>'
    mail["Date"] = "Mon, 06 May 2024 10:00:00 +0800"
    mail.set_content(body, subtype=subtype)
    return mail


def read(data: bytes) -> Row:
    row = read_mail(data)
    assert isinstance(row, Row), row
    return row


def test_a_message_becomes_a_document(tmp_path: Path) -> None:
    path = tmp_path / "a.eml"
    path.write_bytes(bytes(message()))
    (document,) = read_documents(tmp_path)

    assert (document.title, document.source, str(document.published)) == ("橋 and road", "Wu, Ann", "2024-05-06")
    assert document.text == BODY
    assert document.origin == str(path)
    assert document.notes == ("lines quoted from other mail (>), kept: 2",)


def test_hard_wraps_are_kept_and_do_not_end_a_sentence() -> None:
    text = str(read(bytes(message())).values["text"])
    spans = split_sentences(text, language="en")

    assert text[spans[0].start : spans[0].end] == "The council met on Monday and\nvoted to rebuild the bridge."


def test_plain_text_comes_before_html_unless_it_is_blank() -> None:
    both, stub = message(), message(" \n")
    for mail in (both, stub):
        mail.add_alternative("<p>From <b>HTML</b>.</p><p style='display:none'>Preview</p>", subtype="html")

    assert read(bytes(both)).values["text"] == BODY
    pytest.importorskip("trafilatura")
    row = read(bytes(stub))
    assert row.values["text"] == "From HTML."
    assert row.notes == ("text: from the HTML of the message, for want of plain text", "hidden elements left out: 1")


def test_html_alone_is_read_without_its_markup() -> None:
    pytest.importorskip("trafilatura")
    row = read(bytes(message("<html><head><title>x</title></head><body><p>Words.</p></body></html>", subtype="html")))

    assert row.values["text"] == "Words."
    assert row.notes == ("text: from the HTML of the message, for want of plain text",)


def test_attachments_are_named_and_not_read() -> None:
    mail = message()
    for number in range(21):
        mail.add_attachment(b"x", maintype="application", subtype="pdf", filename=f"報告{number}.pdf")
    mail.add_attachment(message("inner"))
    row = read(bytes(mail))

    assert row.values["text"] == BODY
    assert row.notes[0] == "attachment not read: 報告0.pdf (application/pdf)"
    assert row.notes[20] == "attachments not read: 22 in all"
    assert "inner" not in str(row)


def test_a_message_without_a_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.eml").write_bytes(
        b"Subject: x\nContent-Type: image/png\nContent-Transfer-Encoding: base64\n\naGVs\n"
    )
    (tmp_path / "b.eml").write_bytes(b"")
    reading = read_documents(tmp_path)

    assert list(reading) == []
    assert [reject.kind for reject in reading.report.rejects] == ["no_text", "empty"]


@pytest.mark.parametrize("data", [b"no header here\nat all", b"\n\nbody", b": x\n\nbody"])
def test_what_has_no_headers_is_refused(data: bytes) -> None:
    result = read_mail(data)

    assert isinstance(result, Refused)
    assert (result.kind, result.reason) == ("bad_mail", "no mail header stands at the beginning")


WORDS = "行政院長星期一在立法院表示，政府將在明年完成。"


@pytest.mark.parametrize(
    ("declared", "encoding"), [("big5", "big5"), ("utf-8", "big5"), ("no-such-set", "big5"), ("us-ascii", "utf-8")]
)
def test_text_is_decoded_by_what_it_is(declared: str, encoding: str) -> None:
    head = f"Subject: 洪水來了新聞快報\nContent-Type: text/plain; charset={declared}\n\n"
    row = read((head + WORDS).encode(encoding))

    assert row.values["text"] == WORDS
    assert row.values["title"] == "洪水來了新聞快報"
    assert row.notes == (() if encoding == "utf-8" else ("encoding: cp950",))


def test_a_text_that_cannot_be_decoded_is_refused_by_name(tmp_path: Path) -> None:
    data = b"Subject: x\n\n" + "新聞".encode() + b"\xe6\x96" + "新聞".encode()
    (tmp_path / "a.eml").write_bytes(data)
    reading = read_documents(tmp_path)

    assert list(reading) == []
    assert [reject.kind for reject in reading.report.rejects] == ["undecodable"]
    with pytest.raises(UnreadableInput):
        read_mail(data)


def test_a_header_that_cannot_be_decoded_is_shown_by_its_bytes() -> None:
    assert read(b"Subject: a \xff\xe6\x96 b\n\nWords.").values["title"] == "a \\udcff\\udce6\\udc96 b"


@pytest.mark.parametrize(
    ("sender", "source"),
    [("Ann Wu <a@b.example>", "Ann Wu"), ("<a@b.example>", "a@b.example"), ("a@b.example", "a@b.example")],
)
def test_the_sender_is_the_source(sender: str, source: str) -> None:
    assert read(f"From: {sender}\n\nWords.".encode()).values["source"] == source


def test_random_damage_never_escapes() -> None:
    pytest.importorskip("trafilatura")
    mail = message()
    mail.add_alternative("<p>HTML</p>", subtype="html")
    mail.add_attachment(b"x", maintype="application", subtype="pdf", filename="報告.pdf")
    sound, chance = bytes(mail), np.random.default_rng(1)
    signs = np.frombuffer(b'<>"=?;:\r\n(),@[]\\ \x00\xff', dtype=np.uint8)
    read_whole = 0
    for _ in range(200):
        data = bytearray(sound)
        for _ in range(chance.integers(1, 9)):
            place = int(chance.integers(min(len(data), 900)))
            data[place : place + int(chance.integers(0, 20))] = chance.choice(signs, 3).tobytes()
        try:
            read_whole += isinstance(read_mail(bytes(data)), Row)
        except UnreadableInput:
            continue
    assert 0 < read_whole < 200


def test_what_the_parser_fails_on_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise LookupError

    monkeypatch.setattr("email.message.EmailMessage.get_body", fail)
    result = read_mail(bytes(message()))

    assert isinstance(result, Refused)
    assert result.reason == "is no mail that can be read: LookupError"


HEADERS = "From: Ann Wu <a@b.example>\nSubject: Flood\n relief\nDate: 6 May 2024\n"


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_mail_headers_of_a_text_are_read_and_stay_in_it(tmp_path: Path, end: str) -> None:
    text = (HEADERS + "\nThe council met.\n").replace("\n", end)
    path = tmp_path / "a.txt"
    path.write_bytes(text.encode())
    (document,) = read_documents(path)

    assert document.text == text
    assert (document.title, document.source, str(document.published)) == ("Flood relief", "Ann Wu", "2024-05-06")
    assert document.notes == ("from the mail headers at the beginning: published, source, title",)


def test_sent_stands_for_date() -> None:
    assert read_text("Subject: x\nSent: 6 May 2024\n\nWords.").values["published"] == "6 May 2024"


@pytest.mark.parametrize(
    "text",
    [
        "Subject: one header only\n\nWords.",
        "Note: a\nOther: b\n\nWords.",
        "From: a\nSubject: b\nand no blank line follows",
        "Words.\n" + HEADERS + "\nWords.",
        "a" * 100_000 + ":\n",
        "From: x\n" * 5000,
    ],
)
def test_other_texts_are_no_mail(text: str) -> None:
    row = read_text(text)

    assert row.values["text"] == text
    assert row.notes == ()
    assert "source" not in row.values
