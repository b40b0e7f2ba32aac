"""Entries of a feed (RSS, RDF, Atom, CDF) to rows, from text alone: nothing is ever fetched.

What stands before the outermost element is left out, the document type above all: without its entities there are none
that fetch something or grow. ``feedparser`` gets a stream, which it takes for neither an address nor a file's name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from hashlib import sha256
from io import BytesIO

from groundwire.core.errors import MissingExtra
from groundwire.retrieval.fields import LONGEST_ID
from groundwire.retrieval.formats import Found, Refused, Row, excerpt
from groundwire.retrieval.pages import read_fragment, read_page

_FEEDS = ("rss", "rdf", "feed", "channel")
# Atomic, so that a file of nothing but comments does not take for ever.
_BEFORE_ROOT = re.compile(
    r"\A(?>\s+|<\?.*?\?>|<!--.*?-->|<!DOCTYPE[^>\[]*(?:\[.*?\]\s*)?>)*+", re.DOTALL | re.IGNORECASE
)
_NAME = re.compile(r"<(?P<name>[A-Za-z_][\w.:-]*)")
_DATES = ("published", "updated", "created")
_READ_TYPES = ("", "application/xhtml+xml", "application/xml")


def read_feed(text: str) -> Iterator[Found]:
    """A row for each entry of a feed; XHTML under the name of a feed is read as a page, other XML is refused.

    The text of an entry is its full content, or else its summary, which the row's notes say. Markup is read as in
    ``pages.read_fragment``. A feed that is not well formed is read as far as possible, which the notes say as well.

    Raises:
        MissingExtra: feedparser or trafilatura is not installed.
    """
    before = _BEFORE_ROOT.match(text)
    root = _NAME.match(text, before.end() if before else 0)
    if root is None:
        yield Refused("bad_feed", "no XML element stands where a feed begins", None, excerpt(text))
        return
    name = root["name"].rpartition(":")[2].lower()
    if name == "html":
        yield read_page(text)
    elif name in _FEEDS:
        yield from _read_entries(text[root.start() :])
    else:
        reason = f"is XML, but no feed: its outermost element is <{excerpt(root['name'])}>; RSS, RDF and Atom are read"
        yield Refused("no_reader", reason)


def _read_entries(text: str) -> Iterator[Found]:
    try:
        import feedparser
    except ImportError as error:
        raise MissingExtra("Reading feeds", extra="read") from error
    data = b'<?xml version="1.0" encoding="utf-8"?>' + text.encode("utf-8")
    try:
        found = feedparser.parse(BytesIO(data), sanitize_html=False, resolve_relative_uris=False)
    except (AssertionError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
        reason = f"feedparser could not read the feed: {type(error).__name__}"
        yield Refused("bad_feed", reason, None, excerpt(text))
        return
    broken = excerpt(str(found.get("bozo_exception"))) if found["bozo"] else ""
    notes = (f"the feed is not well formed, read as far as possible: {broken}",) if broken else ()
    for index, entry in enumerate(found["entries"]):
        yield _as_row(entry, feed=found["feed"], place=f"[{index}]", notes=notes)
    if not found["entries"]:
        reason = "the feed holds no entries" + (f"; it is not well formed: {broken}" if broken else "")
        yield Refused("bad_feed" if broken else "empty", reason, None, excerpt(text))


def _as_row(entry: Mapping[str, object], *, feed: Mapping[str, object], place: str, notes: tuple[str, ...]) -> Row:
    remarks = list(notes)
    text, language = _find_text(entry, remarks)
    origin = entry.get("source")
    source = _line(origin, "title") if isinstance(origin, Mapping) else ""
    values = {
        "id": _find_id(entry, remarks),
        "title": _line(entry, "title"),
        "text": text,
        "published": _find_date(entry, remarks),
        "source": source or _line(feed, "title"),
        "url": _value(entry, "link"),
        "language": language or _value(feed, "language"),
    }
    return Row(values, place=place, named=True, notes=tuple(remarks))


def _value(holder: Mapping[str, object], name: str) -> str:
    # dict.get passes by feedparser's own look-up, which answers for one name with the value of another.
    value = dict.get(holder, name) if isinstance(holder, dict) else None
    return value.strip() if isinstance(value, str) else ""


def _find_text(entry: Mapping[str, object], remarks: list[str]) -> tuple[str, str]:
    """The text of an entry and the language it is marked with."""
    contents = entry.get("content")
    for part in contents if isinstance(contents, list) else []:
        text = _visible(part, remarks)
        if text:
            return text, _value(part, "language")
    summary = entry.get("summary_detail")
    text = _visible(summary, remarks) if isinstance(summary, Mapping) else ""
    if text and isinstance(summary, Mapping):
        remarks.append("text: the summary, for want of full content in the feed")
        return text, _value(summary, "language")
    return "", ""


def _visible(part: Mapping[str, object], remarks: list[str]) -> str:
    """The text of a content or summary without markup; empty for pictures and other data."""
    kind, value = _value(part, "type").lower(), _value(part, "value")
    if kind == "text/plain":
        return value
    if not kind.startswith("text/") and kind not in _READ_TYPES:
        remarks.append(f"content left out: it is {excerpt(kind)}")
        return ""
    text, hidden = read_fragment(value)
    if hidden:
        remarks.append(f"hidden elements left out: {hidden}")
    return text


def _line(holder: Mapping[str, object], name: str) -> str:
    value, detail = _value(holder, name), holder.get(f"{name}_detail")
    marked = isinstance(detail, Mapping) and _value(detail, "type") != "text/plain"
    return read_fragment(value)[0] if marked and ("<" in value or "&" in value) else value


def _find_id(entry: Mapping[str, object], remarks: list[str]) -> str:
    identity = _value(entry, "id")
    if len(identity) <= LONGEST_ID:
        return identity
    remarks.append(f"id: a hash of the entry's own, which has {len(identity)} characters")
    return sha256(identity.encode("utf-8")).hexdigest()[:16]


def _find_date(entry: Mapping[str, object], remarks: list[str]) -> str:
    name = next((name for name in _DATES if _value(entry, name)), "published")
    if name != "published":
        remarks.append(f"date: from the entry's '{name}', for want of 'published'")
    return _value(entry, name)
