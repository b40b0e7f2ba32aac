"""A mail message to a row: its body as it was written, subject, date and sender; attachments are named, not read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from email import policy
from email.errors import MessageError
from email.message import EmailMessage, Message
from email.parser import BytesParser

from groundwire.core.encodings import decode
from groundwire.core.errors import UnreadableInput
from groundwire.retrieval.formats import Refused, Row, excerpt, read_plain, storable
from groundwire.retrieval.pages import read_fragment

_UNREMARKABLE = ("utf-8", "utf-8-sig")
_ATTACHMENTS_NAMED = 20
_QUOTED = re.compile(r"^[ \t]*>", re.MULTILINE)
# Two kinds of header at the least: "From: the archive" alone may well begin a story.
_HEADER_BLOCK = re.compile(
    r"\A(?:From [^\r\n]*\r?\n)?"
    r"(?P<lines>(?>[A-Za-z][A-Za-z-]*:[^\r\n]*\r?\n(?>[ \t]+\S[^\r\n]*\r?\n)*){2,60}+)[ \t]*(?:\r?\n|\Z)"
)
_HEADER = re.compile(
    r"^(?P<name>Subject|From|Date|To|Sent):[ \t]*(?P<value>[^\r\n]*(?:\r?\n[ \t]+\S[^\r\n]*)*)",
    re.MULTILINE | re.IGNORECASE,
)
# What the parser of the standard library has been seen to raise on headers that are none.
_BROKEN = (AttributeError, LookupError, MessageError, RecursionError, TypeError, ValueError)


def read_mail(data: bytes) -> Row | Refused:
    """One document: the plain text of a message, or else its HTML as in ``pages.read_fragment``.

    The text is kept as it is sent, quoted lines and line ends included; how many lines are quoted is in the notes, and
    so is every attachment.

    Raises:
        MissingExtra: the message has no plain text, and trafilatura is not installed.
        UnreadableInput: the text cannot be decoded.
    """
    try:
        message = BytesParser(policy=policy.default).parsebytes(data)
        bodies = [message.get_body((kind,)) for kind in ("plain", "html")]
        notes = list(_attachments(message))
    except _BROKEN as error:
        return Refused("bad_mail", f"is no mail that can be read: {type(error).__name__}", None, _shown(data))
    if not message.keys():
        return Refused("bad_mail", "no mail header stands at the beginning", None, _shown(data))
    text = next((text for text in (_decoded(body, notes) for body in bodies) if text.strip()), "")
    quoted = len(_QUOTED.findall(text))
    if quoted:
        notes.append(f"lines quoted from other mail (>), kept: {quoted}")
    values = {
        "title": _header(message, "subject"),
        "text": text,
        "published": _header(message, "date"),
        "source": _sender(_header(message, "from")),
    }
    return Row(values, named=True, notes=tuple(notes))


def read_text(text: str) -> Row:
    """One document: plain text as it is. Mail headers at its beginning give title, date and sender, and stay in it.

    They have to hold two of Subject, From and Date (or Sent), and a blank line has to follow.
    """
    row, headers = read_plain(text), _read_headers(text)
    if not headers:
        return row
    notes = (f"from the mail headers at the beginning: {', '.join(sorted(headers))}",)
    return Row({**row.values, **headers}, named=True, notes=notes)


def _read_headers(text: str) -> dict[str, object]:
    block = _HEADER_BLOCK.match(text)
    if not block:
        return {}
    found = {part["name"].lower(): " ".join(part["value"].split()) for part in _HEADER.finditer(block["lines"])}
    sent = found.get("date") or found.get("sent")
    values = {"title": found.get("subject"), "published": sent, "source": _sender(found.get("from", ""))}
    kept: dict[str, object] = {name: value for name, value in values.items() if value}
    return kept if len(kept) >= 2 else {}


def _decoded(body: Message | None, notes: list[str]) -> str:
    """The text of a part, as it is or without its markup; empty where there is no such part."""
    payload = body.get_payload(decode=True) if body is not None else None
    if body is None or not payload:
        return ""
    decoded = decode(payload if isinstance(payload, bytes) else b"", declared=body.get_content_charset() or "")
    if decoded.encoding not in _UNREMARKABLE:
        notes.append(f"encoding: {decoded.encoding}")
    if body.get_content_type() != "text/html":
        return decoded.text
    text, hidden = read_fragment(decoded.text)
    notes.append("text: from the HTML of the message, for want of plain text")
    if hidden:
        notes.append(f"hidden elements left out: {hidden}")
    return text


def _header(message: EmailMessage, name: str) -> str:
    """A header as text on one line. Bytes that no header should hold are decoded like any other text."""
    raw = next((str(value) for key, value in message.raw_items() if key.lower() == name), "")
    try:
        if not storable(raw):
            return " ".join(decode(raw.encode("utf-8", "surrogateescape")).text.split())
        return " ".join(str(message.get(name, "")).split())
    except (*_BROKEN, UnreadableInput):
        return " ".join(raw.encode("ascii", "backslashreplace").decode("ascii").split())


def _sender(value: str) -> str:
    """The name of who sent it, or the address where no name is given."""
    named = re.match(r'\s*"?(?P<name>[^"<]*?)"?\s*<(?P<address>[^>]*)>', value)
    return (named["name"] or named["address"]) if named else value.strip()


def _attachments(message: EmailMessage) -> Iterator[str]:
    found = list(message.iter_attachments()) if message.is_multipart() else []
    for part in found[:_ATTACHMENTS_NAMED]:
        yield f"attachment not read: {excerpt(part.get_filename() or 'without a name')} ({part.get_content_type()})"
    if len(found) > _ATTACHMENTS_NAMED:
        yield f"attachments not read: {len(found)} in all"


def _shown(data: bytes) -> str:
    return excerpt(data[:1000].decode("ascii", "backslashreplace"))
