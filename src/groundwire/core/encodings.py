"""Bytes to text: find the encoding, decode strictly, say which one it was.

The order is: a byte order mark, UTF-16 by its NUL bytes, UTF-8, what the file declares, then the encodings of Western,
Chinese, Japanese and Korean text by how usual the decoded characters are, then charset-normalizer for the rest.
UTF-8 comes before a declaration because other text of more than a few characters is never valid UTF-8 by accident,
while wrong declarations are common. Nothing is ever decoded with ``ignore`` or ``replace``.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import BinaryIO

from groundwire.core.errors import UnreadableInput

HEAD_BYTES = 1 << 16
"""How much of a file is looked at for marks, NUL bytes and binary formats."""
SAMPLE_BYTES = 1 << 18
"""How much of a file is weighed to tell legacy encodings apart; the text itself is then decoded in whole."""

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_MAGIC = (
    (b"%PDF-", "a PDF file"),
    (b"PK\x03\x04", "a ZIP archive (docx, xlsx, epub and odt are such archives)"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"BZh", "a bzip2 archive"),
    (b"\xfd7zXZ\x00", "an xz archive"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"(\xb5/\xfd", "a zstd archive"),
    (b"\x89PNG\r\n", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF87a", "a GIF image"),
    (b"GIF89a", "a GIF image"),
    (b"RIFF", "a RIFF file (WebP, WAV or AVI)"),
    (b"SQLite format 3\x00", "an SQLite database"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Office file (doc, xls, ppt)"),
    (b"{\\rtf", "an RTF file"),
    (b"PAR1", "a Parquet file"),
    (b"\x7fELF", "a program"),
)
_NUL_SHARE = 0.01

# The names that pages use, as the encoding that browsers and Windows mean by them (WHATWG Encoding, names table).
_MEANT = {
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "big5": "cp950",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
}

# The most frequent characters of each script; frequency is a fact of the language, the selection is ours.
_USUAL_TRADITIONAL = (
    "的是不一在有人了我這個們中大來上國和地到他時要就出會可也你對生能而子那得於著下自之年過發後作里用道行所然家種事成方多"
    "經麼去法學如都同現當沒動面起看定天分還進好小部其些主樣理心她本前開但因只從想實日軍者意無力它與長把機十民第公此已工"
    "使情明性知全三又關點正業外將兩高間由問很最重並物手應戰向頭文體政美相見被利什二等產或新己制身果加西斯月話合回特代內"
    "信表化老給世位次度門任常先海通教兒原東聲提立及比員解水名真論處走義各入幾口認條平系氣題活爾更別打女變四神總何電數安少報"
    "以為年市區府部長院員總統警民黨案，。、「」；：？！（）《》"
)
_USUAL_SIMPLIFIED = (
    "的是不一在有人了我这个们中大来上国和地到他时要就出会可也你对生能而子那得于着下自之年过发后作里用道行所然家种事成方多"
    "经么去法学如都同现当没动面起看定天分还进好小部其些主样理心她本前开但因只从想实日军者意无力它与长把机十民第公此已工"
    "使情明性知全三又关点正业外将两高间由问很最重并物手应战向头文体政美相见被利什二等产或新己制身果加西斯月话合回特代内"
    "信表化老给世位次度门任常先海通教儿原东声提立及比员解水名真论处走义各入几口认条平系气题活尔更别打女变四神总何电数安少报"
    "以为年市区府部长院员总统警民党案，。、“”；：？！（）《》"
)
_USUAL_HANGUL = (
    "이다는에의을가고하지로은를도한서기사자인나리어해시라들있그정수대과일아부전성것게으만여제보상장주스소원적등비국구"
    "유화공조면신동마위경되할였했요바교세생관용당모개실안습니까년월중연무방선명문학회양거오저말없던려드진된"
)
_WESTERN_LETTERS = frozenset("éèêëàâäáãåçñóòôöõúùûüíìîïæøßœÉÈÊËÀÂÄÁÃÅÇÑÓÒÔÖÕÚÙÛÜÍÌÎÏÆØŒ")
_WESTERN = _WESTERN_LETTERS | frozenset("’‘“”„–—…•€£°«»¡¿·®©™§´ªº½\xa0")


@dataclass(frozen=True, slots=True)
class Decoded:
    """Text without its byte order mark, and the name of the encoding it was in (as Python spells it)."""

    text: str
    encoding: str


@dataclass(frozen=True, slots=True)
class _Script:
    """How to recognise text of one script: its usual characters, and the byte rows of its common ones."""

    codec: str
    usual: frozenset[str]
    table: str
    leads: tuple[int, ...]


_KANA = frozenset(chr(point) for point in (*range(0x3041, 0x3094), *range(0x30A1, 0x30F7))) | frozenset("。、「」ー・")
_SCRIPTS = (
    _Script("cp950", frozenset(_USUAL_TRADITIONAL), "big5", tuple(range(0xA4, 0xC7))),
    _Script("gb18030", frozenset(_USUAL_SIMPLIFIED), "gb2312", tuple(range(0xB0, 0xD8))),
    _Script("big5hkscs", frozenset(_USUAL_TRADITIONAL), "big5", tuple(range(0xA4, 0xC7))),
    _Script("cp932", _KANA, "euc_jp", (0xA4, 0xA5, *range(0xB0, 0xD0))),
    _Script("euc_jp", _KANA, "euc_jp", (0xA4, 0xA5, *range(0xB0, 0xD0))),
    _Script("cp949", frozenset(_USUAL_HANGUL), "euc_kr", tuple(range(0xB0, 0xC9))),
    _Script("utf-16-le", frozenset(_USUAL_TRADITIONAL + _USUAL_SIMPLIFIED), "gb2312", tuple(range(0xB0, 0xD8))),
    _Script("utf-16-be", frozenset(_USUAL_TRADITIONAL + _USUAL_SIMPLIFIED), "gb2312", tuple(range(0xB0, 0xD8))),
)
_PLAUSIBLE = 0.5
_SURE = 0.8
"""From here on the reading as Chinese, Japanese or Korean beats one as Western text that would do as well."""
_ENOUGH_BYTES = 10
"""With fewer bytes beyond ASCII, telling single-byte encodings apart is a guess, so the file is refused."""
_SINGLE_BYTE = (
    "cp1251", "koi8_r", "cp1253", "cp1255", "cp1256", "cp1250", "cp1254", "cp1257", "cp1258", "cp874",
    "iso8859_2", "iso8859_5", "iso8859_6", "iso8859_7", "iso8859_8", "iso8859_15", "mac_cyrillic", "cp866",
)  # fmt: skip
_SEQUENCE = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")
_HIGH = re.compile(rb"[\x80-\xff]+")


def name_binary(head: bytes) -> str:
    """What a file that is no text is, in words, from its first bytes; ``""`` for text."""
    for magic, name in _MAGIC:
        if head.startswith(magic):
            return name
    nuls = head.count(0)
    if nuls > len(head) * _NUL_SHARE and not _marked(head):
        return f"binary data ({nuls} of the first {len(head)} bytes are NUL)"
    return ""


def decode(data: bytes, *, declared: str = "") -> Decoded:
    """Decode a whole file strictly.

    Args:
        data: the bytes as they are in the file.
        declared: the encoding that the file says it is in, under any common name; a wrong or unknown one is ignored.

    Raises:
        UnreadableInput: no encoding fits; the message says what was wrong with the bytes.
    """
    found = _marked(data[:HEAD_BYTES])
    try:
        return Decoded(data.decode(found or "utf-8"), found or "utf-8")
    except UnicodeDecodeError as error:
        if found:
            raise UnreadableInput(f"cannot be decoded: begins as {found}, but {_where(error)}") from error
        where = _where(error)
    sample = _sample(data)
    if _nearly_utf8(sample):
        raise UnreadableInput(f"cannot be decoded: damaged UTF-8, {where}")
    for name in (_meant(declared), *_guesses(sample)):
        text = _strict(data, name) if name else None
        if text is not None:
            return Decoded(text, name)
    raise UnreadableInput(f"cannot be decoded: neither UTF-8 ({where}) nor any other known encoding fits")


def find_line_encoding(handle: BinaryIO) -> str:
    """The encoding of a file that is read line by line, so that one damaged line does not decide for the others.

    Reads the file once and rewinds it. UTF-8 stays the answer while at least half of the lines with other characters
    than ASCII are valid UTF-8, and also when nothing else fits: the lines that fail are then refused one by one.
    """
    handle.seek(0)
    found = _marked(handle.read(HEAD_BYTES))
    if not found:
        handle.seek(0)
        found = _vote(handle)
    handle.seek(0)
    return found


def _vote(lines: Iterable[bytes]) -> str:
    sound = broken = 0
    sample = bytearray()
    for line in lines:
        if line.isascii():
            continue
        try:
            line.decode("utf-8")
        except UnicodeDecodeError:
            broken += 1
            if len(sample) < SAMPLE_BYTES:
                sample += line[:SAMPLE_BYTES]
        else:
            sound += 1
    if sound >= broken or _nearly_utf8(bytes(sample)):
        return "utf-8"
    return next(iter(_guesses(bytes(sample))), "utf-8")


def _sample(data: bytes) -> bytes:
    """What decides: from the first byte beyond ASCII on, at an even place so that UTF-16 stays in step."""
    found = _HIGH.search(data)
    start = found.start() & ~1 if found else 0
    return data[start : start + SAMPLE_BYTES]


def _where(error: UnicodeDecodeError) -> str:
    return f"byte 0x{error.object[error.start]:02x} at position {error.start}: {error.reason}"


def _marked(head: bytes) -> str:
    """The encoding that a byte order mark, or the NUL bytes of UTF-16 without one, give away."""
    for mark, name in _MARKS:
        if head.startswith(mark):
            return name
    return _utf16_without_mark(head) if 0 in head else ""


def _utf16_without_mark(head: bytes) -> str:
    """UTF-16 by its NUL bytes, or ``""``: Latin characters have one on the same side each, Chinese ones hardly any."""
    nuls = {"utf-16-be": head[0::2].count(0), "utf-16-le": head[1::2].count(0)}
    likely, other = sorted(nuls, key=lambda name: (-nuls[name], name))
    if nuls[likely] >= 0.2 * len(head) and nuls[other] <= 0.1 * nuls[likely]:
        return "" if _CONTROL.search(_begun(head, likely)) else likely
    values = {script.codec: _plausibility(head, script) for script in _SCRIPTS if script.codec in nuls}
    best = max(values, key=lambda name: values[name])
    return best if values[best] >= _PLAUSIBLE else ""


def _meant(declared: str) -> str:
    try:
        name = codecs.lookup(declared.strip()).name if declared.strip().isascii() else ""
    except (LookupError, ValueError):
        return ""
    return _MEANT.get(name, name)


def _begun(sample: bytes, name: str) -> str:
    """The sample as text, though its last character may be cut; empty when it does not decode."""
    try:
        return codecs.getincrementaldecoder(name)().decode(sample)
    except UnicodeDecodeError:
        return ""


def _strict(data: bytes, name: str) -> str | None:
    try:
        text = data.decode(name)
    except (UnicodeError, LookupError):  # LookupError: a codec that is not text to text, such as "hex"
        return None
    return text


def _guesses(sample: bytes) -> tuple[str, ...]:
    """The encodings that decode the sample into usual characters, the most plausible first."""
    values = sorted(((_plausibility(sample, script), script.codec) for script in _SCRIPTS), key=lambda pair: -pair[0])
    western = ("cp1252",) if _looks_western(sample) else ()
    sure = tuple(codec for value, codec in values if value >= _SURE)
    likely = tuple(codec for value, codec in values if _PLAUSIBLE <= value < _SURE)
    return (*sure, *western, *likely) or _from_library(sample)


def _nearly_utf8(data: bytes) -> bool:
    """True for UTF-8 with some damage, which a Chinese codec would otherwise decode into nonsense."""
    high = sum(len(run) for run in _HIGH.findall(data))
    valid = sum(len(run) for run in _SEQUENCE.findall(data))
    return valid >= 6 and valid >= 0.75 * high


def _looks_western(sample: bytes) -> bool:
    text = _begun(sample, "cp1252")
    other = [char for char in text if char > "\x7f"]
    usual = sum(char in _WESTERN for char in other)
    letters = sum(char in _WESTERN_LETTERS for char in other)
    side_by_side = sum(a in _WESTERN_LETTERS and b in _WESTERN_LETTERS for a, b in pairwise(text))
    return bool(other) and usual >= 0.9 * len(other) and side_by_side <= 1 + 0.15 * letters


@cache
def _common(table: str, leads: tuple[int, ...]) -> frozenset[str]:
    """The characters of the rows that a standard gives to common characters."""
    pairs = (bytes((lead, trail)) for lead in leads for trail in (*range(0x40, 0x7F), *range(0xA1, 0xFF)))
    return frozenset(text for text in (_strict(pair, table) for pair in pairs) if text and len(text) == 1)


def _plausibility(sample: bytes, script: _Script) -> float:
    """From 0 to 1.5: the share of usual characters among those beyond ASCII, plus half the share of common ones."""
    other = [char for char in _begun(sample, script.codec) if char > "\x7f"]
    if not other:
        return 0.0
    common = _common(script.table, script.leads)
    usual = sum(char in script.usual for char in other)
    return (usual + 0.5 * sum(char in common for char in other)) / len(other)


def _from_library(sample: bytes) -> tuple[str, ...]:
    if sum(len(run) for run in _HIGH.findall(sample)) < _ENOUGH_BYTES:
        return ()
    from charset_normalizer import from_bytes

    best = from_bytes(sample, cp_isolation=list(_SINGLE_BYTE), preemptive_behaviour=False).best()
    return () if best is None else (best.encoding,)
