"""Whether a sentence ends at a stop: not behind an abbreviation, inside a name, or where a quotation reads on."""

from __future__ import annotations

import re
from dataclasses import dataclass

from groundwire.core.abbreviations import (
    AFTER_CLOCK,
    ALSO_WORDS,
    ALWAYS_OPEN,
    BEFORE_DATES,
    DATED,
    DETERMINERS,
    NUMBERED,
    OPENING_WORDS,
    PLAIN_SUBJECTS,
    SHORT,
    TITLES,
)

_HAN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
_TITLE_BRACKETS = "《〈【"
_CONTINUING = frozenset(",;:，、；：)）]】」』”»。！？!?")
_HEAD = re.compile(r"[^\s、，；：。！？(（\[\"“‘「『]{1,24}\Z")
_ENGLISH_WORD = re.compile(r"[A-Za-z]+")
_LAST_WORD = re.compile(r"(?<![A-Za-z])([A-Za-z]+)\s\Z")
_ADDRESS = re.compile(r"https?:|www\.")
_LIST_NUMBER = re.compile(r"(?:\d{1,3}|[A-Za-z]|[ivxIVX]{1,4})")
_LIKE_AN_ABBREVIATION = re.compile(r"\w*\.[\w.]*|[^\W\d_]|[IVX]+|[^\W\d_aeiouyAEIOUY]{2,5}")
_SPEECH = re.compile(
    r"(?!(?:He|She|They|We|It|The|An?|No|Nobody|Everyone|Everybody|Someone|Somebody)\s)(?:[A-Z][\w.'’-]{0,30}\s+){1,4}"
    r"(?:said|says|asked|asks|added|told|wrote|reported|replied|shouted|cried|yelled|exclaimed|tweeted|wondered|joked|answered)\b"
)
_SPEECH_CHINESE = re.compile(
    r"[^，。！？；：、「」“”\s]{0,10}?"
    r"(?:說|说|表示|問|问|答|喊|叫|指出|強調|强调|坦言|直言|回應|回应|稱|称|道)(?:道|著|着|了)?(?P<after>[，：。！？]|$)"
)
_AFTER_ANY_QUOTE = frozenset("的等之聲声とっはがをにのもで")


@dataclass(frozen=True, slots=True)
class Cut:
    """A place where a sentence may end: ``text[mark]`` is its stop, ``after`` its end, ``following`` the next start.

    ``begin`` is where the sentence starts; ``opener`` is where the quotation or bracket opens that closes between the
    stop and ``after``, or -1.
    """

    text: str
    begin: int
    mark: int
    after: int
    following: int
    opener: int

    @property
    def head(self) -> str:
        """The word before the stop, without opening marks; at most 24 characters are looked at."""
        found = _HEAD.search(self.text, max(self.begin, self.mark - 24), self.mark)
        return found.group() if found else ""

    @property
    def word_before(self) -> str:
        """The English word before the head in small letters, or nothing."""
        end = self.mark - len(self.head)
        found = _LAST_WORD.search(self.text, max(self.begin, end - 12), end)
        return found[1].lower() if found else ""

    @property
    def next_word(self) -> str:
        """The English word that follows, or nothing."""
        found = _ENGLISH_WORD.match(self.text, self.following, self.following + 20)
        return found.group() if found else ""


def ends(cut: Cut) -> bool:
    """Whether a sentence ends at a place that sentencex proposed."""
    if cut.text[cut.following] in _CONTINUING:
        return False
    if cut.opener >= 0:
        return _frame_ends(cut)
    stop = cut.text[cut.mark]
    if stop in ".．":
        return _full_stop_ends(cut)
    return stop not in "!?" or _call_ends(cut)


def _call_ends(cut: Cut) -> bool:
    """Whether ``!`` or ``?`` ends a sentence rather than a title or a name ("Help! was released", "Yahoo!奇摩")."""
    head, following = cut.head, cut.text[cut.following]
    is_latin = head[-1:].isascii()
    if cut.following == cut.after:
        return head.isalpha() and not following.islower() and not (is_latin and _HAN.match(following))
    if not (is_latin and following.islower()) or _ADDRESS.match(cut.text, cut.following):
        return True
    return cut.text[cut.begin].islower() or cut.next_word[1:2].isupper()


def _full_stop_ends(cut: Cut) -> bool:
    """Whether a full stop outside of quotations ends a sentence rather than an abbreviation or a list number."""
    if cut.following == cut.after:
        return _unspaced_stop_ends(cut)
    head, following = cut.head, cut.text[cut.following]
    if _LIST_NUMBER.fullmatch(head) and _begins_item(cut):
        return False
    if following.islower():
        return head.lower() not in SHORT and _LIKE_AN_ABBREVIATION.fullmatch(head) is None
    if head[:1].isupper() and head.capitalize() in TITLES:
        return cut.next_word in PLAIN_SUBJECTS and cut.word_before in DETERMINERS
    if following.isdigit():
        return head.lower() not in NUMBERED | DATED | ALWAYS_OPEN
    return _abbreviation_ends(cut)


def _abbreviation_ends(cut: Cut) -> bool:
    """Whether a sentence ends at a full stop behind a word, which may be an abbreviation, and before another."""
    head, word = cut.head, cut.next_word
    known = head.lower()
    if known in ALSO_WORDS and head.islower():
        return True
    if known in DATED and cut.word_before in BEFORE_DATES:
        return word.lower() not in DATED | AFTER_CLOCK
    if known in ("a.m", "p.m"):
        return word.lower() not in AFTER_CLOCK
    if known in SHORT or (len(head) == 1 and head.isupper()):
        may_open = not word or word in OPENING_WORDS
        return known in ("etc", "al") or (may_open and known not in ALWAYS_OPEN)
    return not ("." in head.rstrip(".") and word in ("First", "Second"))


def _begins_item(cut: Cut) -> bool:
    """Whether nothing but a list number stands between the start of the sentence or of an item in it, and the stop."""
    before = cut.text[max(cut.begin, cut.mark - 8) : cut.mark - len(cut.head)].rstrip()
    if before in ("", "(", "（"):
        return True
    return (cut.head == "1" and before[-1] in ":：") or (cut.head.isdigit() and before[-1] in ";；")


def _unspaced_stop_ends(cut: Cut) -> bool:
    """Whether a full stop without white space behind it ends a sentence: not in names, numbers and addresses."""
    head = cut.head
    if _HAN.match(cut.text[cut.following]):
        return not head or not (head[-1].isascii() and head[-1].isalnum())
    return head.isalpha() and head.islower() and len(head) > 1 and cut.next_word in OPENING_WORDS


def _frame_ends(cut: Cut) -> bool:
    """Whether a sentence ends behind the mark that closes a quotation or bracket."""
    opening, following = cut.text[cut.opener], cut.text[cut.following]
    if opening in _TITLE_BRACKETS or following.islower() or following in "—–":
        return False
    if opening in "(（":
        return cut.opener == cut.begin
    is_question = cut.text[cut.mark] in "!?！？"
    if not _HAN.match(following):
        return not (is_question and _SPEECH.match(cut.text, cut.following))
    if following in _AFTER_ANY_QUOTE:
        return False
    speech = _SPEECH_CHINESE.match(cut.text, cut.following, cut.following + 20)
    if speech and speech["after"] not in ("：" if is_question else "，："):
        return False
    if cut.opener == cut.begin or cut.text[cut.opener - 1] in "：:，,、。！？」』”） ":
        return True
    return not is_question and following not in "後后並并時时然就便而"
