"""Sentences: the rows of CASES A1, many like them, and the laws on hostile text."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from groundwire.core.sentences import MAX_SENTENCE_CHARACTERS, split_sentences

HOSTILE = st.text(
    alphabet=st.one_of(
        st.sampled_from(
            list("aZ19 .!?,;:\"'“”‘’「」『』()（）《》。！？；…、，-#*\t\n\r\x0b\x0c\x1c\x85\xa0\u2028\u2029\u3000")
            + list("\u0301\u200b\u200d\ufeff\ufe0f\u3099漢說後か한👩🏽🇹é")
        ),
        st.characters(exclude_categories=["Cs"]),
    ),
    max_size=80,
)
MISLEADING = (
    "Mr. |U.S. |7 p.m. |No. |5 |The |Smith |left. |said |\"|“|”|'|(|)|「|」|\n|後|…|情況很好。|真的嗎？|他說：|... |"
    "\n\n|\r\n|- |1. |example.com/a.b |A.\xa0|？\ufe0f|a run of words that goes on for quite a while "
)
PIECES = st.lists(st.sampled_from(MISLEADING.split("|")), max_size=60).map("".join)


def sentences(text: str, *, language: str = "") -> list[str]:
    return [text[span.start : span.end] for span in split_sentences(text, language=language)]


def check_laws(text: str) -> None:
    spans = split_sentences(text)
    at = 0
    for span in spans:
        sentence = text[span.start : span.end]
        assert at <= span.start < span.end <= len(text)
        assert not text[at : span.start].strip()
        assert sentence == sentence.strip() != ""
        assert len(sentence) <= MAX_SENTENCE_CHARACTERS
        at = span.end
    assert not text[at:].strip()


@given(HOSTILE)
@example("He left.\u200b\u200b Then.")
@example("A。\u0301（")
@example("a\u0301" * 900)
@example("\r\n")
@example("A.\xa0Smith left. B.\u3000C.\u2009D.")
@example("\ud800. \udfff Ab.")
def test_sentences_and_what_lies_between_them_are_the_text(text: str) -> None:
    check_laws(text)


@given(PIECES)
def test_the_laws_hold_for_text_made_of_what_misleads_splitters(text: str) -> None:
    check_laws(text)


@given(HOSTILE, st.integers(1, 60))
def test_the_laws_hold_for_long_runs(text: str, times: int) -> None:
    check_laws(text * times)


CASES_A1 = [
    ("The U.S. Senate passed H.R. 1 on Jan. 6. Sen. Wu said no.", 2),
    ('He said, "We lost. We will be back." Then he left.', 2),
    ("GDP rose 3.5% in Q1. No. 10 denied it.", 2),
    ("Apple Inc. said on Mon. that CEO T. Cook met Gov. J. B. Pritzker. Shares fell.", 2),
    ("RESULTS: wins 3-2. Next: 7 p.m. Sunday. Tickets $5.", 3),
    ("Visit example.com/a.b?x=1. Then call.", 2),
    ("印度GDP成長6.7%。專家說：「情況很好。我們有信心。」他隨後離開。", 3),
    ("（中央社台北1日電）行政院長說……將於5月20日公布。", 1),
    ("Sen. Wu said no. Rep. Li said yes.", 2),
    ("Help! was released in 1965.", 1),
    ("Write to desk@mail.co.uk. He did.", 2),
]


@pytest.mark.parametrize(("text", "count"), CASES_A1)
def test_splits_the_listed_cases(text: str, count: int) -> None:
    assert len(split_sentences(text)) == count


# One row a text; ¶ stands where a sentence ends.
ABBREVIATIONS = """
He left in the U.S. ¶The next day it rained.
The U.N. said so. ¶The U.S. economy grew. ¶In the U.S. Smith won.
In the U.S. ¶A spokesman denied it.
The U.K. and the E.U. agreed. ¶U.S. First Lady Jill Biden came.
He works at Apple Inc. ¶The firm grew.
He paid Smith & Co. ¶The deal closed.
Johnson & Johnson Co. Ltd. Chairman Li spoke.
Dr. Smith, Ph.D. and Prof. Lee, M.D. came. ¶They sat.
Mr. Smith met Sen. Wu. ¶Prof. Li met Gen. Ma and Capt. Oh. ¶He left.
MR. SMITH WON. ¶THE OTHERS LOST.
John Smith Jr. won. ¶Sammy Davis Jr. ¶The end.
George W. Bush met J. K. Rowling. ¶Plan B. ¶Then he left.
St. Louis is in Missouri. ¶He lives on Main St. ¶The house is old.
Ft. Worth is big. ¶Mt. Everest is high.
Ms. A. Lee met Mr. B. Wu, et al. ¶Case closed.
We like fruit, e.g. Apple, i.e. Google vs. Microsoft. ¶Fig. 3 shows it on p. 4.
They sell apples, pears, etc. ¶Prices are low.
In Jan. ¶The weather was bad. ¶In Feb. it got better.
He arrived on Jan. 6, 2021. ¶Mr. Smith left on Dec. 5.
It is on Mon. 5 Jan. and later. ¶Then it ends.
Is it No. 5? ¶No. ¶It is No. 6.
At 7 p.m. ¶The show began. ¶At 7 a.m. Smith left.
It starts at 7 p.m. Eastern. ¶It ends at 9 p.m. on Monday.
The doors close at 10 p.m. ¶Nobody may enter afterwards.
It was 5 ft. 10 in. tall. ¶He was born in Washington D.C. ¶The city is big.
Ms. Smith met Amb. Lee and Dr. The. ¶It was approx. Half past ten.
Sen. Wu said no. ¶Rep. Li said yes. ¶The answer was no. ¶They left. ¶See nos. 3 and 4, tel. 5.
He became a Dr. ¶The title pleased her. ¶He is the Rep. ¶They like him. ¶Dr. He Jiankui left. ¶Dr. Who is on.
He left on Mon. ¶The rest stayed. ¶It fell in Sept. ¶Prices rose in Oct. ¶Nobody knows why.
From Mon. to Fri. it is open. ¶It is shut on Sun. ¶Come early. ¶On Mon. Oct. 5 he left. ¶By 6 a.m. Eastern it was over.
He sat. ¶Nobody spoke of art. ¶Paul hates it. ¶The sun. ¶Critics saw it. ¶On Sat. Sunday was meant.
She has one Ph.D. ¶He has two. ¶Lt. Col. Smith and Brig. Gen. Wu met. ¶They ate.
Govt. sources said approx. half left. ¶The mfg. sector grew.
"""
NUMBERS_AND_NAMES = """
It cost $5. ¶10 people came.
The price rose to 1,200.50. ¶That is high.
Version 2.0.1. ¶Then 3.5. ¶He left.
Contact bob.smith@example.co.uk. ¶Then wait.
See https://example.com/a.b?c=d&e=f#g. ¶It works!
Go to example.com?Query now.
Node.Js is fast.¶He uses it.
He left.¶Then she left.
What?¶No way.
1. First item. ¶2. Second item.
Reasons: 1. First. ¶2. Second.
Help! was released in 1965. ¶Who Wants to Be a Millionaire? returned. ¶He was in Oliver! and Hello, Dolly! before.
what? ¶no way! ¶ok.
Why? ¶http://a.b/c tells. ¶Is it new? ¶iPads are next.
He asked “Why?” ¶Nobody answered. ¶“Why?” Smith answered.
Write to desk@mail.co.uk. ¶Nobody did. ¶Read it at bbc.co.uk. ¶Prices rose. ¶See www.a.com/a. ¶Prices rose.
He said: 1. yes; 2. no. ¶Then he left.
He won 3-2. ¶5 people came.
Shares fell. ¶iPhone sales rose.
i went home. ¶then i slept.
Yahoo! said so.
Well... ¶The end. ¶I am... not sure.
Well… ¶The end. ¶I am… not sure.
Wow!! ¶Really?! ¶Yes.
Great! 😀
?! ... Then he left.
Wow! ... ¶Then he left.
King Charles III. followed her. ¶Apt. 5 is in Bldg. A. ¶They met.
The 6" pipe broke. ¶The 8" pipe held. ¶Then he left.
"""
QUOTATIONS = """
“We lost. We will be back.” ¶Then he left.
“We lost. We will be back,” he said. ¶“No,” she said.
'We lost. We will be back.' ¶Then he left.
He said, ‘We lost. We will be back.’ ¶Then he left.
Don't say 'no.' ¶The workers' rights matter. ¶It's over.
«We lost. We will be back.» ¶Then he left.
He said, "She told me 'We lost. We won.' Then she left." ¶And so.
“Will we win?” Smith asked. ¶“Yes!” I said.
“Will we win?” ¶He asked twice.
“Will we win?” he asked.
She said "Stop!" and left.
"No." ¶He left.
"Go." ¶"No."
"I'm tired. I'm done." — Smith
(It was cold. It was dark.) ¶He left.
He left (it was cold. It was dark) today. ¶Then she left.
He met Tim Cook (of Apple Inc.) Tuesday. ¶Then he left.
He said "We lost. ¶We will be back. ¶Then.
He said "We lost. ¶They left. ¶"No," she said. ¶Then he left.
Is it true?” ¶Nobody knows.
"""
CHINESE = """
他問「你好嗎？」然後離開。¶他看了《你好嗎？》很開心。
「我走了。」他說。
「我走了。」¶他說，天氣很好。
“我走了。我又来了。”他说。¶然后离开。
他说“情况很好。我们有信心。”并表示感谢。¶然后离开。
他擔心「這名稱押韻。」¶對於讀者，我們附上解釋。
他引述『人說：「天下大亂。我們要走。」』後離去。
他說：「真的嗎？太好了！」¶隨即離開。
「你好嗎？」¶「我很好。」
他問：“为什么？”¶我说：“不知道。”
「你好嗎？」他問。¶「我很好。」她說。
「加油！」聲不斷。
（他笑了。他哭了。）¶然後走了。
他走了（他笑了。他哭了。）然後回來。
他表示：「第一，要快。第二，要好。第三，要省。」
這是第一句；這是第二句。
真的嗎？！¶太好了！！！¶走吧。
今天很好.¶明天也好.
今天好!¶明天好?
蘋果（Apple Inc.）表示。¶Apple Inc.表示好。
他本名Puff Daddy、P. Diddy，後來改名。
這是教堂。¶1939年的大火燒毀了它。¶5人受傷。
第1名是3.5分。¶第2名是2.1分。
１．５％的成長。¶很好。
台積電(TSMC)公布財報。¶He said "Fine." ¶他離開。
他說：「我們輸了。¶他們走了。
他走了……她也走了。
他說「不。」就走了。¶她在Yahoo!奇摩工作。¶好棒! ¶iPhone來了。
做法：1. 甲；2. 乙。¶完。
これは本。¶「行く。」と言った。
"""


def rows(table: str) -> list[str]:
    return table.strip().split("\n")


@pytest.mark.parametrize("row", rows(ABBREVIATIONS) + rows(NUMBERS_AND_NAMES) + rows(QUOTATIONS) + rows(CHINESE))
def test_ends_sentences_where_a_reader_does(row: str) -> None:
    assert sentences(row.replace("¶", "")) == [part.strip() for part in row.split("¶")]


LINES = [
    ("Floods hit Tainan\n\nThe river rose.", 2),
    ("Floods hit Tainan\r\n \t\r\nThe river rose.\r\n", 2),
    ("Floods hit Tainan\u2029the river rose", 2),
    ("one page\x0canother page", 2),
    ("Floods hit Tainan\nThe river rose by two metres on Sunday. People left.", 3),
    ("Prime Minister Resigns\nSmith takes over.", 2),
    (
        "Heavy rain floods the south\nResidents of Tainan fled when the river rose by two metres, police said.",
        2,
    ),
    ("The minister said on Monday that the plan\nwill go ahead. He left.", 2),
    ("He met President\nBiden in Paris on Sunday. They talked.", 2),
    ("It was reported by\nThe Times on Sunday.", 1),
    ("It was over,\nThe Times said.", 1),
    ("It was in\r\nthe house.\r\nHe left.", 2),
    ("The toll rose as far as we know to about\n15 people.", 1),
    ("12 34 56\n?? 78", 1),
    ("# Heading\nText here. More.", 3),
    ("Text here\n---\nmore text", 3),
    ("Buy:\n- one. two\n- three\n* four", 5),
    ("We sell:\n1. First item\n2. Second item\n3. Third item", 4),
    ("He said so.\n2) Second item\n(3) Third item", 3),
    ("| a | b |\n| c | d |", 2),
    ("他走了\n一、第一項\n二、第二項", 3),
    ("台南大雨淹水\n台南市政府今天表示，連日大雨造成多處淹水，市府已經開設應變中心，呼籲民眾減少外出活動。", 2),
    ("行政院今天宣布\n新的計畫將於五月上路。", 1),
    ("他說：「情況很好。」\n她說：「不好。」", 2),
    ("他走了……\n她也走了", 2),
    ("第一段\n\u3000\u3000第二段", 2),
    ('He said "We lost. They left.\n\nNew one." And two.', 4),
    ("Quote:\n”\nThen he left.", 1),
]


@pytest.mark.parametrize(("text", "count"), LINES)
def test_lines_end_a_sentence_only_when_they_are_meant_to(text: str, count: int) -> None:
    assert len(split_sentences(text)) == count


@pytest.mark.parametrize("text", ["", " ", "\n\r\n\t\u2029\u3000"])
def test_white_space_holds_no_sentence(text: str) -> None:
    assert split_sentences(text) == ()


@pytest.mark.parametrize("text", ["a", "。", "😀🎉😀", "👩‍👩‍👧", '"', "e\u0301te\u0301", "\u200b"])
def test_a_text_without_an_end_is_one_sentence(text: str) -> None:
    assert sentences(text) == [text]


def test_decomposed_accents_keep_their_offsets() -> None:
    text = "L'e\u0301te\u0301 vient. Puis l'hiver."

    assert sentences(text) == ["L'e\u0301te\u0301 vient.", "Puis l'hiver."]


def test_other_scripts_are_split_as_sentencex_splits_them() -> None:
    assert sentences("यह है। वह है।", language="hi") == ["यह है।", "वह है।"]
    assert sentences("مرحبا؟ نعم.", language="ar") == ["مرحبا؟", "نعم."]


def test_a_repeated_sentence_has_a_span_for_each_place() -> None:
    text = "Rain fell. Wind blew. Rain fell. Sun shone. Rain fell."

    starts = [span.start for span in split_sentences(text) if text[span.start : span.end] == "Rain fell."]

    assert starts == [found.start() for found in re.finditer("Rain fell", text)]


def test_an_interview_without_spaces_is_cut_at_its_clauses() -> None:
    text = "我們今天談到很多事情，" * 10_000

    found = sentences(text)

    assert "".join(found) == text
    assert all(sentence.endswith("，") for sentence in found)
    assert all(len(sentence) > MAX_SENTENCE_CHARACTERS // 2 for sentence in found[:-1])


def test_a_quotation_longer_than_the_limit_is_cut_at_its_sentences() -> None:
    found = sentences("他說：「" + "情況很好，我們有信心。" * 300 + "」")

    assert all(len(sentence) <= MAX_SENTENCE_CHARACTERS for sentence in found)
    assert all(sentence.rstrip("」").endswith("。") for sentence in found)


@pytest.mark.parametrize(
    ("unit", "whole"),
    [
        ("e\u0301", "(?:e\u0301)+"),
        ("👩\u200d👩\u200d👧", "(?:👩\u200d👩\u200d👧)+"),
        ("👍🏽", "(?:👍🏽)+"),
        ("word ", "(?:word ?)+"),
    ],
)
def test_the_limit_cuts_between_characters_and_words(unit: str, whole: str) -> None:
    found = sentences(unit * 999)

    assert len(found) > 1
    assert all(re.fullmatch(whole, sentence) for sentence in found)


def test_a_run_of_marks_alone_is_cut_all_the_same() -> None:
    text = "a" + "\u0301" * 2500 + "🇹🇼" * 1000

    assert "".join(sentences(text)) == text


def test_a_quotation_mark_that_is_never_closed_reaches_no_further_than_its_paragraph() -> None:
    text = 'He said: "It is over. We leave.\n\nRain fell. Wind blew.\n\nShe said: "No. Never." And left.'

    assert sentences(text)[2:4] == ["Rain fell.", "Wind blew."]
