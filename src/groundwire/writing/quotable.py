"""Which sentences of a document may stand in an article: not its furniture, and not orders to a machine.

A story often ends in links to other stories or in somebody else's reference list, and some texts carry orders meant
for a language model. Both stay in the archive, untouched and searchable; neither is ever quoted.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from groundwire.core.text import normalise
from groundwire.core.types import Sentence

_TAIL_WORDS = (
    r"related (?:stories|articles|news|coverage|content|links|reading)",
    r"read (?:more|next|also)|more (?:from|on this)\b.*|see also|further reading|most read",
    r"you (?:may|might) also like|recommended(?: for you)?|references|bibliography",
    r"延伸閱讀|延伸阅读|[相关關]{2}(?:新聞|報導|文章|連結|新闻|报道|链接)|更多(?:新聞|報導|新闻|报道)",
    r"推薦閱讀|推荐阅读|參考(?:資料|文獻)|参考(?:资料|文献)|你可能(?:也|還|还)?(?:會|会)?(?:喜歡|喜欢|想看)",
)
_TAIL_HEADING = re.compile(
    r"^[\s#>*_\-=~◎●▲▼◆■※【〔\[(（]*(?:" + "|".join(_TAIL_WORDS) + r")[\s:：】〕\])）*_\-=~]*$", re.IGNORECASE
)
_HIDDEN = re.compile(r"<!--.*?(?:-->|\Z)|```.*?(?:```|\Z)|<script\b.*?(?:</script>|\Z)", re.DOTALL | re.IGNORECASE)
# An order stands where an imperative can stand: "the mayor told people not to ignore the instructions" is news.
_IMPERATIVE = r"(?:^|[^\w\s]\s*|\b(?:please|you (?:must|should|will)|and|then|now)\s+)"
_TO_A_MODEL = r"(?:ai|a\.i\.|language model|large language model|llm|chatbot|assistant)\b"
_ORDERS = (
    _IMPERATIVE + r"(?:ignore|disregard|forget|override)\b.{0,60}"
    r"\b(?:instructions?|prompts?|rules?|guidelines?|policy|policies|context|directions?|above|previous|prior)\b",
    _IMPERATIVE
    + r"(?:rate|score|rank|grade|mark)\s+(?:this|it|the|my)\b.{0,60}\b(?:100|one hundred|highest|maximum|top)\b",
    _IMPERATIVE + r"(?:give|assign)\b.{0,40}\b(?:rating|score|mark)\b.{0,20}\b(?:100|one hundred|highest|maximum)\b",
    _IMPERATIVE
    + r"(?:cite|quote|use|mention|reference)\s+(?:only|just|solely|exclusively|nothing but)\s+(?:this|me|us|the)\b",
    _IMPERATIVE + r"(?:repeat|print|output|include|insert|write)\b.{0,40}\b(?:code ?word|password|canary|verbatim)\b",
    _IMPERATIVE + r"(?:respond|reply|answer|output)\s+(?:only\s+|solely\s+)?(?:with|in|as)\s+(?:json|xml|yaml)\b",
    r"\b(?:as an?|you are an?|attention,?|dear|note to(?: the| any)?)\s+" + _TO_A_MODEL,
    r"\bsystem (?:prompt|message|override)\b|\bnew instructions?\s*:|\bend of (?:sources?|documents?|context)\b",
    r"(?:忽略|無視|无视|忘記|忘记|不要理會).{0,20}(?:指令|指示|提示|規則|规则|以上|先前)",
    r"(?:評|评|打|給|给).{0,12}(?:100|一百|滿|满)\s*分|只(?:能|可|要|需)?(?:引用|引述).{0,6}(?:本文|這|这|此|我)",
    r"(?:你|您)是.{0,8}(?:語言模型|语言模型|人工智慧|人工智能|ai)|(?:系統|系统)(?:提示|指令)",
)
_ORDER = re.compile("|".join(f"(?:{pattern})" for pattern in _ORDERS))


def quotable(text: str, sentences: Sequence[Sentence]) -> tuple[tuple[Sentence, ...], tuple[str, ...]]:
    """Divide the sentences of a document.

    Args:
        text: the document's text.
        sentences: sentences of this document, in source order.

    Returns:
        The sentences that may be quoted, in source order, and a note for each kind that may not.
    """
    hidden = [(found.start(), found.end()) for found in _HIDDEN.finditer(text)]
    tail = _tail_start(text)
    kept: list[Sentence] = []
    counts = {"furniture after the story's end": 0, "hidden markup": 0, "orders to a model": 0}
    for sentence in sentences:
        if sentence.start >= tail:
            counts["furniture after the story's end"] += 1
        elif any(sentence.start < end and start < sentence.end for start, end in hidden):
            counts["hidden markup"] += 1
        elif is_order(sentence.text):
            counts["orders to a model"] += 1
        else:
            kept.append(sentence)
    return tuple(kept), tuple(f"{count} sentence(s) left out: {kind}" for kind, count in counts.items() if count)


def is_order(text: str) -> bool:
    """Whether a sentence gives orders to a language model instead of telling the reader something."""
    return _ORDER.search(normalise(text)) is not None


def _tail_start(text: str) -> int:
    """Where the furniture begins: the first tail heading on a line of its own in the second half of the text."""
    place = len(text)
    offset = 0
    for line in text.splitlines(keepends=True):
        if offset >= len(text) / 3 and len(line) < 60 and _TAIL_HEADING.match(line.strip()):
            return min(place, offset)
        offset += len(line)
    return place
