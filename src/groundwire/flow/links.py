"""Addresses that may become links, and links that open a page at the words cited (text fragments)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from urllib.parse import quote

MARK = ":~:"
"""What parts the fragment of an address from its text directives (WICG, Scroll to Text Fragment)."""

_LINK = re.compile(r"https?://[^\s<>\"'`\\\x00-\x20\x7f-\x9f\u202a-\u202e\u2066-\u2069]+", re.IGNORECASE)
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_DENSE = re.compile(r"[\u2026\u3000-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef]")
_WHOLE, _WORDS, _DIRECTIVES = 60, 5, 4
"""Up to so many characters are named whole, else the first and last so many words; so many places in one link."""
_CLAUSE = "，、；：。！？…,;:.!?」』”）"
_OPENING = re.compile(rf".{{5,40}}?[{_CLAUSE}]+")
_CLOSING = re.compile(rf"(?<=[{_CLAUSE}])[^{_CLAUSE}][^{_CLAUSE}]{{4,40}}[{_CLAUSE}]*$")


def is_dense(character: str) -> bool:
    """Whether a character is Chinese or Japanese, which is set without spaces; False for the empty string."""
    return _DENSE.match(character) is not None


def is_link(url: str) -> bool:
    """Whether a URL may become a link: http or https, and no character that could end it early."""
    return _LINK.fullmatch(url) is not None


def mend_surrogates(text: str) -> str:
    """The text with every lone surrogate, which UTF-8 cannot hold, as U+FFFD."""
    return _SURROGATE.sub("\ufffd", text)


def link_to(url: str, cited: Sequence[str], *, before: str = "") -> str:
    """The address with a text fragment for the words cited, or nothing where it may not become a link.

    Args:
        url: the address of the source, with a fragment of its own or without.
        cited: the words to open at, at most the first four; none: the address alone.
        before: what stands right before the (only) words, where the page holds them more than once.
    """
    if not is_link(url):
        return ""
    prefix = _prefix(before)
    start = f"{_percent(prefix)}-," if prefix else ""
    named = [words for words in cited if words.strip()][:_DIRECTIVES]
    if not named or MARK in url:
        return url
    directives = "&".join(f"text={start}{_fragment(words)}" for words in named)
    return f"{url}{'' if '#' in url else '#'}{MARK}{directives}"


def without_fragment(link: str) -> str:
    """The address that ``link_to`` made the link from."""
    return link.partition(MARK)[0].removesuffix("#") if MARK in link else link


def _fragment(cited: str) -> str:
    """``start`` or ``start,end`` of a text directive.

    A browser looks for one range inside one block and at the edges of words, so words of several lines are named by
    where they begin and end, and Chinese is cut behind a punctuation mark only.
    """
    lines = [" ".join(line.split()) for line in cited.splitlines() if line.strip()]
    first, last = lines[0], lines[-1]
    if len(lines) == 1 and len(first) <= _WHOLE:
        return _percent(first)
    start, end = _start(first), _end(last)
    if len(lines) == 1 and len(start) + len(end) >= len(first):
        return _percent(first)
    return f"{_percent(start)},{_percent(end)}"


def _start(line: str) -> str:
    words = line.split(" ")
    if len(words) >= 2 * _WORDS:
        return " ".join(words[:_WORDS])
    found = _OPENING.match(line) if _DENSE.search(line) else None
    return found[0] if found else line


def _end(line: str) -> str:
    words = line.split(" ")
    if len(words) >= 2 * _WORDS:
        return " ".join(words[-_WORDS:])
    found = _CLOSING.search(line) if _DENSE.search(line) else None
    return found[0] if found else line


def _prefix(before: str) -> str:
    """A few words of the same line, of Chinese the last clause."""
    line = before.rstrip().rpartition("\n")[2].removeprefix("…")
    if not is_dense(line[-1:]):
        return " ".join(line.split()[-3:])
    found = _CLOSING.search(line)
    return found[0] if found else line if len(line) <= _WHOLE else ""


def _percent(text: str) -> str:
    return quote(mend_surrogates(text), safe="").replace("-", "%2D")
