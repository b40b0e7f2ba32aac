"""Which sentences of a document may stand in an article: not its furniture, and not orders to a machine.

A story often ends in links to other stories or in somebody else's reference list, has by-lines and headings that are
no sentences, and some texts carry orders meant for a language model. All stay in the archive, untouched and
searchable; none is ever quoted. The lists below name what such text looks like in English and Chinese; they cannot
name everything, so what stands beside an order in its paragraph is left out with it. They hold common forms of orders,
not all: the guarantee that no order is obeyed is that the built-in writer obeys nothing and only quotes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from groundwire.core.numerals import flatten
from groundwire.core.types import Sentence
from groundwire.writing.notices import is_notice
from groundwire.writing.orders import is_order
from groundwire.writing.reasons import note

BESIDE_AN_ORDER = 2
"""This many sentences before and after an order, in the same paragraph, are left out with it."""

# A heading of furniture is made of these words only: one that points elsewhere and one that says what is there.
_POINTING_WORDS = (
    "related more other top latest trending popular recommended sponsored promoted suggested featured similar "
    "further next previous also around most editor's editors' external keep don't about what elsewhere must our "
    "your partner best up"
)
_POINTED_AT_WORDS = (
    "stories articles story article news coverage content contents links link reading posts post videos video "
    "headlines web picks read reads see like enjoy author authors us miss now reports topics partners newsletter "
    "newsletters up"
)
_BETWEEN_WORDS = (
    "the a an and or on in of for from by to this that you we i may might will be people others are is them it "
    "here interested want today week with"
)
_POINTING, _POINTED_AT, _BETWEEN = (
    frozenset(listed.split()) for listed in (_POINTING_WORDS, _POINTED_AT_WORDS, _BETWEEN_WORDS)
)
_ALONE = re.compile(
    r"references?(?: list)?|bibliography|works cited|citations|footnotes|end ?notes|sources|sponsored|advertisements?"
    r"|related|recommended(?: for you)?|promoted|trending|comments|share this.{0,20}"
    r"|(?:next|previous|last) (?:up|page|post)|in other news|more (?:from|on|in)\b.{0,40}|in case you missed it"
    r"|(?:参考|资料|引用)(?:资料|文献|书目|来源)|[注註]释|广告|赞助(?:内容|商)?|[上下][一1][篇则页](?:文章|新闻|报[道导])?"
)
_ZH_HEADING = re.compile(
    r"(?:延伸|相关|更多|其[他它]|热门|猜|你|您|可能|也|还|会|想|最新|最多|人气|编辑|精选|大家|网友|别人|人|都|在|正在|同场"
    r"|关于|排行|(?P<what>阅读|加映|喜欢|新闻|报[道导]|文章|链接|内容|感兴趣|看更多|[看读][了过]?"
    r"|推荐|作者|影片|视频|话题|焦点|连结|榜))+"
)
_PASSING = re.compile(
    r"(?:also )?read (?:more|next|also|on)|also read|see also|most (?:read|popular)|more (?:from|on|in)\b.{0,40}"
    r"|related|recommended|what to read next|more like this|keep reading|don't miss|in other news"
)
_DRESSED = " \t\r\n#>*_-=~◎●▲▼◆■※►▶▪•·»›→【〔[(（《】〕])）》:：|｜0123456789"
_MORE = (
    r"(?:(?:also )?read(?: more| next| also| on)|also read|see also|related(?: \w+)?|recommended|延伸阅读|推荐阅读|同场"
    r"加映|相关(?:阅读|新闻|报[道导])|看更多|更多(?:新闻|报[道导])|猜你喜欢)"
)
_SIGHTS = r"(?:read|more|watch|listen|photos?|videos?|gallery|in pictures|don't miss)"
_LINK_LINE = re.compile(
    rf"[\s#>*_◎●▲▼◆■※▪•-]*(?:[►▶»›→]\s*(?![^»]*«)"
    rf"|[【\[(（〔]?(?:{_MORE}|{_SIGHTS})[*_】\])）〕]*(?:\s*[:：|｜►▶→]|(?<=[】〕\]])))",
    re.IGNORECASE,
)
_INLINE_LINK = re.compile(
    rf"(?<=[.!?。！？…])\s?[\s>*_◎●▲▼◆■※►▶(\[【（]{{0,4}}{_MORE}[*_】\])）]*\s?[:：].*", re.IGNORECASE
)
_HEADING_CHARACTERS = 60
_ENDED = re.compile(r"[.!?。！？…][\s\"'”’」』）)\]】》]*(?:\[\d{1,3}\])*$")
_HIDDEN = re.compile(
    r"<!--.*?(?:--!?>|\Z)|&lt;!--.*?(?:--!?&gt;|\n[^\S\n]*\r?\n|\Z)|```.*?(?:```|\n[^\S\n]*\r?\n|\Z)|~~~.*?(?:~~~|\n[^\S\n]*\r?\n|\Z)"
    r"|<(script|style|template|noscript|iframe|svg)\b.*?(?:</\1\s*>|\Z)|<(?:img|meta|input|link|embed)\b[^<>]*>"
    r"|<(\w{1,20})\b[^<>]{0,400}(?:\bhidden\b|display\s*:\s*none|visibility\s*:\s*hidden|opacity\s*:\s*0\b"
    r"|font-size\s*:\s*[01](?:px|pt)?\b|[^-]color\s*:\s*(?:white|transparent|#fff(?:fff)?\b))[^<>]*>.*?(?:</\2\s*>|\Z)"
    r"|!\[[^\]\n]{0,300}\]\([^)\n]{0,300}\)|^\[[^\]\n]{0,300}\]:[^\n]*|\]\([^()\n]{0,300}?\s[\"'(][^\n]{0,300}?[\"')]\s?\)"
    # what follows a line that pretends to close the text, up to the next blank line
    r"|^[^\S\n]*(?:</?(?:sources?|documents?|context|evidence|passages?|article|text|data|user|input)>|\"{3}|'{3}"
    r"|[=\-*#_~]{3,}[ \t]?(?:end|begin|start|stop)\b[^\n]{0,60})[^\S\n]*\r?\n(?:[^\n]*\S[^\n]*(?:\n|\Z))*",
    re.DOTALL | re.IGNORECASE | re.MULTILINE,
)


def quotable(text: str, sentences: Sequence[Sentence]) -> tuple[tuple[Sentence, ...], tuple[str, ...]]:
    """Divide the sentences of a document.

    Args:
        text: the document's text.
        sentences: sentences of this document, in source order.

    Returns:
        The sentences that may be quoted, in source order, and a note for each kind that may not.
    """
    hidden = _covered(text, hidden_spans(text))
    furniture = _covered(text, _furniture(text))
    orders = _orders(text, sentences)
    kept: list[Sentence] = []
    counts = dict.fromkeys(
        (
            "left_furniture",
            "left_hidden",
            "left_orders",
            "left_beside",
            "left_headings",
        ),
        0,
    )
    for place, sentence in enumerate(sentences):
        if any(furniture[sentence.start : sentence.end]):
            counts["left_furniture"] += 1
        elif any(hidden[sentence.start : sentence.end]):
            counts["left_hidden"] += 1
        elif place in orders:
            counts["left_orders" if is_order(sentence.text) else "left_beside"] += 1
        elif not _ENDED.search(sentence.text) or is_notice(sentence.text):
            counts["left_headings"] += 1
        else:
            kept.append(sentence)
    return tuple(kept), tuple(note(kind, count) for kind, count in counts.items() if count)


def hidden_spans(text: str) -> Iterator[tuple[int, int]]:
    """Offsets of what a reader of the page would not see: comments, scripts, white text, what follows a fake fence."""
    return (found.span() for found in _HIDDEN.finditer(text))


def _covered(text: str, spans: Iterable[tuple[int, int]]) -> bytearray:
    """For each character whether a span holds it."""
    covered = bytearray(len(text))
    for start, end in spans:
        covered[start:end] = b"\1" * (end - start)
    return covered


def _orders(text: str, sentences: Sequence[Sentence]) -> set[int]:
    """Places of the orders and of what stands beside them in the same paragraph."""
    found = set()
    for place, sentence in enumerate(sentences):
        if not is_order(sentence.text):
            continue
        for near in range(max(0, place - BESIDE_AN_ORDER), min(len(sentences), place + BESIDE_AN_ORDER + 1)):
            first, last = sorted((sentence, sentences[near]), key=lambda one: one.start)
            if near == place or not any(mark in text[first.end : last.start] for mark in "\r\n"):
                found.add(near)
    return found


def _furniture(text: str) -> Iterator[tuple[int, int]]:
    """Spans of link lines, of link boxes inside the story, and of all that follows the heading of a tail.

    Links to other stories and references end the story wherever their heading stands after its first sentence.
    "Read more" and the like also stand inside stories: in the first third they are a box, up to the next line that is
    a sentence.
    """
    offset, box, begun = 0, False, False
    for line in text.splitlines(keepends=True):
        start, offset = offset, offset + len(line)
        content = flatten(line.replace("’", "'"))
        ended = _ENDED.search(content.rstrip()) is not None
        bare = content.strip(_DRESSED).lower()
        heading = len(content.strip()) < _HEADING_CHARACTERS
        passing = heading and _PASSING.fullmatch(bare) is not None
        late = passing and start >= len(text) / 3
        if begun and (late or (heading and not passing and _heads_a_tail(bare))):
            yield start, len(text)
            return
        box = passing or (box and not ended)
        if box or _LINK_LINE.match(content):
            yield start, offset
        elif inline := _INLINE_LINK.search(content):
            yield start + inline.start(), offset
        begun = begun or ended


def _heads_a_tail(heading: str) -> bool:
    """Whether a heading names other stories, references or the like; it is in lower case and simplified."""
    if _ALONE.fullmatch(heading):
        return True
    chinese = _ZH_HEADING.fullmatch(heading)
    if chinese is not None:
        return chinese["what"] is not None
    others = [word for word in heading.split() if word not in _BETWEEN]
    pointing, pointed_at = _POINTING.intersection(others), _POINTED_AT.intersection(others)
    return bool(pointed_at) and len(pointing | pointed_at) > 1 and set(others) <= pointing | pointed_at
