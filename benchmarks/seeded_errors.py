"""Errors that are put into clean sentences of news, one a sentence; each takes the sentence and its document.

The words and names here are the benchmark's own: they overlap with the word lists of the gates only as far as any two
lists of common words do. A name, speaker or subject is swapped for another of the same document.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from functools import lru_cache

from groundwire.core.mentions import find_quotations
from groundwire.core.numerals import flatten
from groundwire.core.quotations import unclosed_marks

Seed = Callable[[str, str, random.Random], str | None]
_HAN = r"\u3400-\u9fff"


def _listed(terms: str) -> tuple[str, ...]:
    """Words written as running text."""
    return tuple(terms.split())


def _pairs(terms: str) -> tuple[tuple[str, str], ...]:
    """Pairs of words written as running text, the two parted by a stroke."""
    return tuple((a, b) for a, _, b in (pair.partition("/") for pair in terms.split()))


_NOT_A_NAME = frozenset(
    _listed(
        "January February March April May June July August September October November December Monday Tuesday "
        "Wednesday Thursday Friday Saturday Sunday I Mr Mrs Ms Dr The A An In On At It He She They We But And If As "
        "This That Prime Minister President Senator Judge King Queen Prince Sir Lord God English French German "
        "Chinese British American"
    )
)
INVENTED = ("Marlow Trevanion", "Ostrava Kline", "Berenike", "Halvorsen", "Port Adaline", "Quentin Abara", "Zellweg")
INVENTED_CHINESE = _listed("柯恩斯坦 瓦爾登堡 梁振邦 奧斯維爾 聖阿德蓮 貝倫尼克 霍弗森 歐陽敏德")
CHINESE_NAMES = _listed(
    "美國 英國 法國 德國 中國 日本 韓國 俄羅斯 印度 印尼 澳洲 加拿大 墨西哥 巴西 西班牙 義大利 意大利 "
    "希臘 荷蘭 瑞士 瑞典 挪威 丹麥 波蘭 奧地利 土耳其 以色列 伊朗 伊拉克 敘利亞 埃及 南非 烏克蘭 愛爾蘭 "
    "蘇格蘭 威爾斯 英格蘭 歐盟 歐洲 亞洲 非洲 台灣 臺灣 香港 北京 上海 台北 東京 紐約 洛杉磯 舊金山 "
    "芝加哥 波士頓 阿拉斯加 賓州 德州 加州 佛羅里達 愛荷華 倫敦 巴黎 柏林 羅馬 馬德里 莫斯科 曼徹斯特 "
    "利物浦 格拉斯哥 愛丁堡 蘇黎世 川普 特朗普 普丁 普京 歐巴馬 梅伊 馬克龍 馬克宏 卡瓦諾 福特 臉書 谷歌 "
    "亞馬遜 微軟 蘋果 特斯拉 推特 曼聯 切爾西 兵工廠 阿森納 皇馬 巴塞隆納 哈佛 耶魯 聯合國 北約 白宮 "
    "國會 參議院 眾議院 共和黨 民主黨 保守黨 工黨"
)
DIRECTIONS = (
    ("rose", "fell"), ("risen", "fallen"), ("rise", "fall"), ("rising", "falling"), ("increased", "decreased"),
    ("increase", "decrease"), ("increasing", "decreasing"), ("grew", "shrank"), ("growth", "decline"),
    ("grow", "shrink"), ("growing", "shrinking"), ("gained", "lost"), ("climbed", "dropped"), ("higher", "lower"),
    ("more", "fewer"), ("most", "least"), ("up", "down"), ("won", "lost"), ("win", "lose"), ("winning", "losing"),
    ("victory", "defeat"), ("raised", "cut"), ("raise", "cut"), ("before", "after"), ("support", "oppose"),
    ("supported", "opposed"), ("accepted", "rejected"), ("allowed", "banned"), ("above", "below"),
    ("opened", "closed"), ("began", "ended"), ("start", "end"), ("started", "ended"), ("bought", "sold"),
    ("buy", "sell"), ("joined", "left"), ("largest", "smallest"), ("strong", "weak"), ("first", "last"),
)  # fmt: skip
DIRECTIONS_CHINESE = _pairs(
    "上升/下降 增加/減少 增长/下降 增長/下降 成長/衰退 上漲/下跌 提高/降低 提升/下降 更多/更少 最多/最少 "
    "最高/最低 最大/最小 更高/更低 高於/低於 超過/不到 贏得/輸掉 獲勝/落敗 勝利/失敗 擊敗/敗給 支持/反對 "
    "之前/之後 開始/結束 允許/禁止 接受/拒絕 承認/否認 加入/退出 出售/購買 成功/失敗 大多數/少數 "
    "擴大/縮小 通過/否決"
)
WORD_FOR_WORD = (
    ("said", "stated"), ("but", "yet"), ("big", "large"), ("show", "indicate"), ("shows", "indicates"),
    ("help", "assist"),
    ("about", "around"), ("while", "whereas"), ("because", "since"), ("also", "too"), ("many", "numerous"),
    ("however", "though"), ("began", "started"), ("car", "vehicle"), ("company", "firm"), ("children", "kids"),
    ("must", "has to"), ("get", "obtain"), ("told", "informed"), ("killed", "slain"), ("police", "officers"),
    ("including", "among them"), ("last", "past"), ("currently", "now"), ("need", "require"), ("try", "attempt"),
    ("problem", "issue"), ("important", "key"), ("quickly", "fast"), ("often", "frequently"),
)  # fmt: skip
WORD_FOR_WORD_CHINESE = _pairs(
    "表示/指出 說/稱 但/不過 因為/由於 目前/現在 開始/著手 許多/很多 幫助/協助 認為/相信 必須/需要 "
    "以及/和 如果/若 已經/業已 警方/警察 公司/企業 重要/關鍵 問題/議題 可能/或許 因此/所以 進行/展開 "
    "雖然/儘管 並/且 非常/十分 希望/盼望"
)


def is_chinese(text: str) -> bool:
    """Whether a text has Chinese characters."""
    return re.search(f"[{_HAN}]", text) is not None


def in_script(listed: str, text: str) -> str:
    """A listed Traditional word in the script of a text: Simplified where the text has no Traditional character."""
    han = "".join(re.findall(f"[{_HAN}]", text))
    return flatten(listed) if flatten(han) == han else listed


def _spliced(text: str, start: int, end: int, new: str) -> str:
    return text[:start] + new + text[end:]


def _outside(text: str, start: int) -> bool:
    return not any(q.outer.start <= start < q.outer.end for q in find_quotations(text))


# --- names ------------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=512)
def names_of(text: str) -> tuple[tuple[int, int, str], ...]:
    """Names inside sentences: runs of capitals behind a small letter or comma; listed names in Chinese."""
    if is_chinese(text):
        pattern = "|".join(re.escape(in_script(name, text)) for name in sorted(CHINESE_NAMES, key=len, reverse=True))
        found = re.finditer(pattern, text)
    else:
        found = re.finditer(r"(?<=[a-z,] )[A-Z][a-z]{2,}(?: [A-Z][a-z]{2,}){0,2}(?=[\s,.])", text)
    return tuple((*m.span(), m.group()) for m in found if not set(m.group().split()) & _NOT_A_NAME)


def name_swapped(text: str, document: str, rng: random.Random) -> str | None:
    """A name becomes another of the document that the sentence does not have."""
    found = names_of(text)
    pool = sorted(
        {name for *_, name in names_of(document) if not set(name.split()) & set(text.split()) and name not in text}
    )
    if not found or not pool:
        return None
    start, end, old = rng.choice(found)
    others = [name for name in pool if not set(name) <= set(old) and not (name in old or old in name)]
    return _spliced(text, start, end, rng.choice(others)) if others else None


def name_invented(text: str, document: str, rng: random.Random) -> str | None:
    """A name becomes one that stands nowhere."""
    found = names_of(text)
    if not found:
        return None
    start, end, _ = rng.choice(found)
    new = rng.choice(INVENTED_CHINESE if is_chinese(text) else INVENTED)
    return None if new in document else _spliced(text, start, end, in_script(new, text))


_SPOKE = r"(?:said|added|told|says|wrote|explained|insisted|argued|replied)"
_SPEAKER = re.compile(
    rf"(?P<a>[A-Z][a-z]+(?: [A-Z][a-z]+){{0,2}}) {_SPOKE}\b|\b{_SPOKE} (?P<b>[A-Z][a-z]+(?: [A-Z][a-z]+){{0,2}})"
)
_SPEAKER_CHINESE = re.compile(
    rf"(?:(?<=[，。」”])|^)(?P<a>[{_HAN}·．‧]{{2,9}}?)(?:表示|指出|說|说|補充|补充|告訴|告诉|認為|认为|寫道|写道)"
)


@lru_cache(maxsize=512)
def speakers_of(text: str) -> tuple[tuple[int, int, str], ...]:
    """Whoever stands beside a verb of saying, outside of quotations."""
    pattern = _SPEAKER_CHINESE if is_chinese(text) else _SPEAKER
    found = []
    for match in pattern.finditer(text):
        group = match.lastgroup or "a"
        name = match.group(group)
        if not set(name.split()) & _NOT_A_NAME and not re.match("[他她它我你您這这該该其並并也還还]", name):
            found.append((*match.span(group), name))
    return tuple(found)


def speaker_swapped(text: str, document: str, rng: random.Random) -> str | None:
    """The speaker of a quotation becomes another speaker (or, in English, name) of the document."""
    found = [s for s in speakers_of(text) if _outside(text, s[0])]
    if not found or not any(len(q.text) > 12 for q in find_quotations(text)):
        return None
    start, end, old = rng.choice(found)
    named = () if is_chinese(text) else names_of(document)
    pool = sorted({name for *_, name in (*speakers_of(document), *named) if name not in text})
    others = [name for name in pool if not set(name.split()) & set(old.split()) and not (name in old or old in name)]
    return _spliced(text, start, end, rng.choice(others)) if others else None


# --- directions and negations -----------------------------------------------------------------------------------------


def direction_flipped(text: str, document: str, rng: random.Random) -> str | None:
    """One word with a direction becomes its opposite."""
    del document
    options = []
    pairs = DIRECTIONS_CHINESE if is_chinese(text) else DIRECTIONS
    for pair in pairs:
        for old, new in (pair, pair[::-1]):
            old, new = (in_script(old, text), in_script(new, text)) if is_chinese(text) else (old, new)  # noqa: PLW2901
            pattern = re.escape(old) if is_chinese(text) else rf"\b{old}\b"
            if old in ("up", "down"):
                pattern = rf"\b{old}(?= (?:by )?[\d$£€])"
            options += [_spliced(text, *m.span(), new) for m in re.finditer(pattern, text)]
    return rng.choice(options) if options else None


_DROPPED = re.compile(
    r"\b(?:did|does|do) not (?=[a-z])|\b(?<=is|as|re|ll|ld|an|ve|ad|ed)( not)(?= )|n['’]t\b|\bnever |\bno (?=[a-z]{4})"
)
_DROPPED_CHINESE = re.compile(
    r"[並并]?[沒没]有|[並并]?未(?![來来])|[並并]?不(?=[會会能是想願愿要再曾])|否認|否认|從未|从未"
)
_ADDED = re.compile(r"\b(?:is|was|are|were|will|would|can|could|has|have|had|should|may)\b(?! not|n['’]t)(?= [a-z])")
_ADDED_CHINESE = re.compile(
    r"(?<![不沒没未還还只也都])(?:(?=[會会能將将](?:[{_HAN}]))|(?=是(?!否))|(?=有(?:[{_HAN}]{2})))".replace(
        "{_HAN}", _HAN
    )
)


def negation_dropped(text: str, document: str, rng: random.Random) -> str | None:
    """A negation goes."""
    del document
    pattern = _DROPPED_CHINESE if is_chinese(text) else _DROPPED
    found = list(pattern.finditer(text))
    if not found:
        return None
    match = rng.choice(found)
    changed = _spliced(text, *match.span(), "")
    if match.group().startswith(("n'", "n’")):
        changed = re.sub(r"\bca\b", "can", re.sub(r"\bwo\b", "will", changed))
    return re.sub(r"  +", " ", changed)


def negation_added(text: str, document: str, rng: random.Random) -> str | None:
    """A negation comes."""
    del document
    if is_chinese(text):
        found = list(_ADDED_CHINESE.finditer(text))
        if not found:
            return None
        at = rng.choice(found).start()
        none = "沒" if in_script("說", text) == "說" else "没"
        return _spliced(text, at, at, none if text[at] == "有" else "不")
    found = list(_ADDED.finditer(text))
    return _spliced(text, (end := rng.choice(found).end()), end, " not") if found else None


# --- subjects ---------------------------------------------------------------------------------------------------------

_OPENING = re.compile(
    r"^(?P<np>(?:The|A|An|Some|Many|Most|Several|Two|Three|His|Her|Their|Its|Our)?\s?(?:[A-Za-z-]+ ){0,2}[A-Za-z-]+) "
    r"(?:is|was|are|were|has|have|had|will|would|can|could|may|said|says|told)\b"
)
_OPENING_CHINESE = re.compile(
    rf"^(?P<np>[{_HAN}]{{2,7}}?)(?:表示|指出|宣布|將|将|會會|會|会|已|正在|被|是|在|說|说|也|則|则)"
)
_NUMBERED = re.compile(r"(?:\d%|percent|per cent) of (?:the |all |its |their )?(?P<np>[a-z]+(?: [a-z]+s)?)\b")
_NUMBERED_CHINESE = re.compile(rf"(?:%|％|成)的(?P<np>[{_HAN}]{{2,3}})")
_PRONOUNS = re.compile(
    r"(?:He|She|It|They|We|I|You|This|That|There|What|Who|These|Those|Here|One|If|When|As|But|And|So|Not|How|Why|In|On|At|For)\b"
    r"|[他她它我你您這这那此有但而如當当在從从對对因根據据就]"
)


@lru_cache(maxsize=512)
def subject_of(text: str) -> tuple[int, int] | None:
    """Where the subject stands that a sentence opens with, if it is no pronoun."""
    found = (_OPENING_CHINESE if is_chinese(text) else _OPENING).match(text)
    return None if found is None or _PRONOUNS.match(found["np"]) else found.span("np")


def subject_swapped(text: str, document: str, rng: random.Random, *, sentences: Sequence[str] = ()) -> str | None:
    """What a percentage is of, or the subject of the sentence, becomes another of the document."""
    del document
    subjects = [s[slice(*subject_of(s))] for s in sentences if subject_of(s) is not None and s != text]
    counted = (_NUMBERED_CHINESE if is_chinese(text) else _NUMBERED).search(text)
    places = [counted.span("np")] if counted else []
    places += [place] if (place := subject_of(text)) else []
    if not places:
        return None
    start, end = rng.choice(places)
    old = set(text[start:end].lower().split()) if not is_chinese(text) else set(text[start:end])
    other = [
        s for s in subjects if not (set(s.lower().split()) if not is_chinese(text) else set(s)) & (old - {"the", "a"})
    ]
    if not other:
        return None
    new = rng.choice(sorted(other))
    return _spliced(text, start, end, new if not start else new[0].lower() + new[1:])


# --- clean ------------------------------------------------------------------------------------------------------------


def reworded(text: str, document: str, rng: random.Random) -> str | None:
    """One or two words become others of the same meaning; not where a quotation goes on in the next sentence."""
    del document
    if unclosed_marks(text):
        return None
    pairs = WORD_FOR_WORD_CHINESE if is_chinese(text) else WORD_FOR_WORD
    options = []
    for old, new in pairs:
        a, b = (in_script(old, text), in_script(new, text)) if is_chinese(text) else (old, new)
        pattern = re.escape(a) if is_chinese(text) else rf"\b{a}\b"
        options += [(m.span(), b) for m in re.finditer(pattern, text) if _outside(text, m.start())]
    if not options:
        return None
    chosen = sorted(rng.sample(options, min(2, len(options))), reverse=True)
    for number, ((start, end), new) in enumerate(chosen):
        if not number or end <= chosen[number - 1][0][0]:
            text = _spliced(text, start, end, new)
    return text


TURNED: dict[str, Seed] = {
    "name swapped": name_swapped, "name invented": name_invented, "speaker": speaker_swapped,
    "direction": direction_flipped, "negation dropped": negation_dropped, "negation added": negation_added,
}  # fmt: skip
