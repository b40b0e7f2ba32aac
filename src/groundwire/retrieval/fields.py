"""Rows of raw fields to Documents: which field is which, what a value has to look like, what the id is."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from difflib import get_close_matches
from functools import lru_cache
from itertools import islice
from reprlib import repr as shortened
from typing import Literal, get_args

from groundwire.core.dates import DateOrder, read_date
from groundwire.core.errors import UsageError
from groundwire.core.text import detect_language
from groundwire.core.types import Document
from groundwire.retrieval.formats import Clash, Refused, RejectKind, Row, describe, excerpt, storable

Field = Literal["id", "title", "text", "published", "source", "url", "language"]
DateState = Literal["read", "missing", "unread"]
FIELDS: tuple[Field, ...] = get_args(Field)
LONGEST_ID = 200
_ENOUGH_TO_TELL = 1000
"""Characters from which the language is found where the data do not name it."""
_DEEPEST_NAME = 4

COMMON_NAMES: Mapping[Field, tuple[str, ...]] = {
    "id": (
        "id", "doc_id", "document_id", "news_id", "article_id", "guid", "uuid", "_id", "編號", "编号",
        "新聞編號", "新闻编号", "文章編號", "文章编号", "識別碼", "标识符",
    ),
    "title": (
        "title", "headline", "news_title", "heading", "標題", "标题", "新聞標題", "新闻标题", "題目", "题目",
        "主標題", "主标题",
    ),
    "text": (
        "text", "body", "content", "article", "news_content", "article_body", "articlebody", "full_text", "fulltext",
        "body_text", "內容", "内容", "內文", "内文", "正文", "全文", "新聞內容", "新闻内容",
    ),
    "published": (
        "published", "published_at", "publishedat", "publication_date", "pub_date", "pubdate", "date_published",
        "datepublished", "publish_date", "date", "datetime", "created_at", "timestamp", "發布日期", "發佈日期",
        "发布日期", "日期", "發布時間", "发布时间", "發佈時間", "時間", "时间", "刊登日期", "發表日期", "发表日期",
    ),
    "source": (
        "source", "outlet", "publisher", "media", "press", "site", "sitename", "site_name", "source_name", "媒體",
        "媒体", "來源", "来源", "新聞來源", "新闻来源", "出處", "出处",
    ),
    "url": ("url", "link", "permalink", "web_url", "網址", "网址", "連結", "链接"),
    "language": ("language", "lang", "locale", "語言", "语言"),
}  # fmt: skip
"""Names under which a field is recognised without a mapping, the preferred first; case, spaces and hyphens are free."""

_NAMES_INSIDE = (
    "name", "title", "label", "text", "rendered", "value", "#text", "$oid", "$date", "$numberLong", "url",
    "名稱", "名称",
)  # fmt: skip
_LANGUAGES = {"zh-hant": "zh-TW", "zh-hk": "zh-TW", "zh-hans": "zh-CN", "zh-sg": "zh-CN"}
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{1,8})*")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_INVISIBLE = re.compile(
    "[\x01-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e007f]"
)
_DATED_PATH = re.compile(r"/((?:19|20)\d\d)([/-])(\d\d?)\2(\d\d?)(?![\dA-Za-z])")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")


@dataclass(frozen=True, slots=True)
class Made:
    """A document, how its date came out, and which name each of its fields was taken from."""

    document: Document
    date: DateState
    taken: tuple[tuple[Field, str], ...]
    revision: str


@dataclass(frozen=True, slots=True)
class _Bad:
    kind: RejectKind
    reason: str


@dataclass(frozen=True, slots=True)
class Reader:
    """How rows are read: ``mapping`` from fields to names in the data, the order of ambiguous dates."""

    mapping: Mapping[Field, str]
    date_order: DateOrder | None = None

    def holds_text(self, values: Mapping[str, object]) -> bool:
        """Whether an object has a text of its own, so that it is a document and not a wrapper around some."""
        return self._find("text", values, named=False)[1] is not None

    def value(self, field: Field, values: Mapping[str, object]) -> object:
        """The raw value of a field of a document, under its mapped name or a common one; None where there is none."""
        return self._find(field, values, named=False)[1]

    def make(self, row: Row, *, origin: str, notes: tuple[str, ...] = ()) -> Made | Refused:
        """The document of a row, or why there is none.

        Args:
            row: what a format gave.
            origin: where the row stands.
            notes: what was decided for the whole file.
        """
        found = {field: self._find(field, row.values, named=row.named) for field in FIELDS}
        raw = {field: value for field, (_, value) in found.items()}
        text, identity = _as_text(raw["text"]), _as_id(_name_in(raw["id"]))
        if isinstance(text, _Bad):
            return self._refuse(row, text)
        if isinstance(identity, _Bad):
            return self._refuse(row, identity)
        remarks = [*notes, *row.notes, *_remarks(raw["text"], text)]
        title, source = (
            _as_line(raw["title"], "title", remarks=remarks),
            _as_line(raw["source"], "source", remarks=remarks),
        )
        url = _as_url(raw["url"], remarks)
        language = _language_of(row, raw["language"], text=text, remarks=remarks)
        day = _name_in(raw["published"])
        reading = read_date(day, order=self.date_order)
        if reading.reason and not _missing(day):
            remarks.append(f"date: {excerpt(reading.reason)}")
        published = reading.value or (None if row.exported else date_in_address(url))
        if published and not reading.value:
            remarks.append("date: from the address")
        revision = content_hash(title, text, published=published, source=source, url=url)
        document = Document(
            id=identity or revision,
            text=text,
            title=title,
            published=published,
            source=source,
            url=url,
            language=language,
            origin=origin,
            notes=tuple(dict.fromkeys(remarks)),
        )
        taken = tuple((field, name) for field, (name, value) in found.items() if not _empty(value))
        unread: DateState = "missing" if _missing(day) else "unread"
        return Made(document, unread if published is None else "read", taken, revision)

    def _find(self, field: Field, values: Mapping[str, object], *, named: bool) -> tuple[str, object]:
        """The name that a field has in a row, and its value; None where there is none."""
        if not named and field in self.mapping:
            name = self.mapping[field]
            return name, _follow(values, name)
        for name in _recognised(tuple(values))[field]:
            if not _empty(values[name]):
                return name, values[name]
        return "", None

    def _refuse(self, row: Row, bad: _Bad) -> Refused:
        shown = excerpt(", ".join(f"{name}: {shortened(value)}" for name, value in islice(row.values.items(), 8)))
        if bad.kind != "no_text":
            return Refused(bad.kind, bad.reason, row.line, shown)
        wanted = "" if row.named or "text" not in self.mapping else f" in {self.mapping['text']!r}"
        names = ", ".join(repr(excerpt(name)) for name in islice(row.values, 20)) or "no fields"
        return Refused("no_text", f"{bad.reason}{wanted}; the row has {names}", row.line, shown)


def check_mapping(mapping: Mapping[str, str] | None) -> Mapping[Field, str]:
    """The mapping, its fields checked.

    Raises:
        UsageError: a field is no field of a document, or a name is empty.
    """
    checked: dict[Field, str] = {}
    for asked, name in (mapping or {}).items():
        field = next((known for known in FIELDS if known == asked), None)
        if field is None:
            near = get_close_matches(asked, FIELDS, n=1, cutoff=0.5)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise UsageError(f"A document has no field {asked!r}{hint} Its fields are: {', '.join(FIELDS)}.")
        if not name:
            raise UsageError(
                f"The mapping of {field!r} is empty; name a field of the data, such as {field}=news_{field}."
            )
        checked[field] = name
    return checked


def date_in_address(url: str) -> date | None:
    """The day that the path of an address names, as in ``/2024/05/06/`` or ``/2024-05-06-flood``."""
    found = _DATED_PATH.search(re.sub(r"\A[A-Za-z]+://[^/?#]*|[?#].*", "", url))
    return read_date(f"{found[1]}-{found[3]}-{found[4]}").value if found else None


def content_hash(title: str, text: str, *, published: date | None, source: str, url: str) -> str:
    """16 hexadecimal digits that change when any of these changes."""
    parts = json.dumps([title, text, published.isoformat() if published else None, source, url])
    return hashlib.sha256(parts.encode("ascii")).hexdigest()[:16]


@lru_cache(maxsize=256)
def _recognised(names: tuple[str, ...]) -> Mapping[Field, tuple[str, ...]]:
    """For each field, the names of a row that may hold it, the preferred first."""
    known = {_plain(name): name for name in reversed(names)}
    return {field: tuple(known[name] for name in common if name in known) for field, common in COMMON_NAMES.items()}


def _plain(name: str) -> str:
    return re.sub(r"[\s-]+", "_", name.strip().lower())


def _empty(value: object) -> bool:
    return value is None or value in ("", [], {})


def _name_in(value: object) -> object:
    """What an object or a list of one is called, as in ``{"source": {"name": …}}``; anything else as it is."""
    for _ in range(_DEEPEST_NAME):
        if isinstance(value, list) and len(value) == 1:
            value = value[0]
        elif isinstance(value, Mapping):
            value = next((value[key] for key in _NAMES_INSIDE if not _empty(value.get(key))), value)
    return value


def _missing(value: object) -> bool:
    return _empty(value) or (isinstance(value, str) and not value.strip())


def _follow(values: Mapping[str, object], name: str) -> object:
    """The value of a name, or of a dotted path into objects and lists, where the name itself is not there."""
    if name in values:
        return values[name]
    held: object = values
    for step in name.split("."):
        if isinstance(held, Mapping) and step in held:
            held = held[step]
        elif isinstance(held, list) and step.isdecimal() and int(step) < len(held):
            held = held[int(step)]
        else:
            return None
    return held


def _as_text(value: object) -> str | _Bad:
    """The text, or what is wrong with it. A list of sentences is joined by line ends, of paragraphs by blank lines."""
    if _empty(value):
        return _Bad("no_text", "no text")
    if isinstance(value, Clash):
        return _Bad("no_text", "the text occurs twice, with different words")
    parts = list(_parts(value))
    stranger = next((part for part in parts if not isinstance(part, str)), None)
    if stranger is not None:
        holder = "the text is" if stranger is value else "the text is a list that holds"
        return _Bad("no_text", f"{holder} {describe(stranger)}")
    text = _joined(value)
    if not storable(text):
        return _Bad("unstorable", "the text holds a lone surrogate, which is no character")
    text = text.replace("\0", "")
    return text if _INVISIBLE.sub("", text).strip() else _Bad("no_text", "the text is blank")


def _parts(value: object) -> Iterator[object]:
    """What a text is made of: itself, or the items of a list of sentences or of paragraphs; null counts as nothing."""
    if not isinstance(value, list):
        yield value
        return
    for item in value:
        if isinstance(item, list):
            yield from (part for part in item if part is not None)
        elif item is not None:
            yield item


def _joined(value: object) -> str:
    if not isinstance(value, list):
        return str(value)
    nested = any(isinstance(item, list) for item in value)
    lines = (_joined([part for part in item if part is not None]) if isinstance(item, list) else item for item in value)
    return ("\n\n" if nested else "\n").join(line for line in lines if line)


def _remarks(raw: object, text: str) -> Iterator[str]:
    invisible = len(_INVISIBLE.findall(text))
    if invisible:
        yield f"invisible or control characters in the text: {invisible}"
    nuls = sum(part.count("\0") for part in _parts(raw) if isinstance(part, str))
    if nuls:
        yield f"NUL characters taken out of the text: {nuls}"


def _as_id(value: object) -> str | _Bad:
    """The id, ``""`` where none is given, or what is wrong with it."""
    if _missing(value):
        return ""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return _Bad("bad_id", "the id is given twice" if isinstance(value, Clash) else f"the id is {describe(value)}")
    identity = str(int(value) if isinstance(value, float) and value.is_integer() else value).strip()
    if len(identity) > LONGEST_ID:
        return _Bad("bad_id", f"the id has {len(identity)} characters; {LONGEST_ID} are allowed")
    if _CONTROL.search(identity) or not storable(identity):
        return _Bad("bad_id", f"the id holds control characters: {excerpt(ascii(identity))}")
    return identity


def _as_line(value: object, field: str, *, remarks: list[str]) -> str:
    """One line of text with single spaces; a value that is none is left out, aloud."""
    value = _name_in(value)
    if _empty(value):
        return ""
    if isinstance(value, bool) or not isinstance(value, str | int | float) or not storable(str(value)):
        remarks.append(f"{field} left out: it is not text")
        return ""
    return " ".join(_CONTROL.sub(" ", str(value)).split())


def _as_url(value: object, remarks: list[str]) -> str:
    url = _as_line(value, "url", remarks=remarks)
    scheme = _SCHEME.match(url)
    if " " in url or (scheme and scheme.group().lower() not in ("http:", "https:")):
        remarks.append(f"url left out: {excerpt(url)!r} is no web address")
        return ""
    return url


def _language_of(row: Row, value: object, *, text: str, remarks: list[str]) -> str:
    """What a row says, else what the text tells; of a row that groundwire wrote, what stands there."""
    if row.exported and isinstance(value, str | None) and (not value or _LANGUAGE.fullmatch(value)):
        return value or ""
    return _as_language(value, remarks) or detect_language(text[:_ENOUGH_TO_TELL])


def _as_language(value: object, remarks: list[str]) -> str:
    """A BCP 47 tag, for Chinese ``zh-TW`` or ``zh-CN``; empty where the text has to tell."""
    tag = _as_line(value, "language", remarks=remarks).replace("_", "-")
    if tag and not _LANGUAGE.fullmatch(tag):
        remarks.append(f"language left out: {excerpt(tag)!r} is no language tag")
        return ""
    low = tag.lower()
    if low == "zh":
        return ""
    for prefix, meant in _LANGUAGES.items():
        if low.startswith(prefix):
            return meant
    primary, _, region = tag.partition("-")
    return f"{primary.lower()}-{region.upper() if len(region) == 2 else region}" if region else primary.lower()
