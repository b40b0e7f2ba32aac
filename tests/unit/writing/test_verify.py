"""Verdicts on the claims of an article."""

import os
from datetime import date
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bench_guards
from groundwire.core.types import Article, Citation, Claim, Document, Section, Span, Verdict
from groundwire.writing.cuts import is_verbatim, part_gate
from groundwire.writing.guards import FOREIGN
from groundwire.writing.verify import split_document, verify

ROOT = Path(__file__).resolve().parents[3]
SHARED = Path(os.environ.get("GROUNDWIRE_SHARED") or ROOT.parent / "shared")
PUBLISHED = date(2022, 9, 5)

ENGLISH = (
    "India's economy grew 6.7% in 2021, the ministry said on May 6. "
    "About 60% of Indians, or 3,482,000 people, got NT$500 million. "
    'The mayor said: "We lost the game. We will be back." '
    "Twelve people died when two ferries collided off Keelung in June 2021. "
    "Exports rose 5 percentage points."
)
TAIWAN = (
    "印度經濟去年成長6.7%，財政部5月6日表示。約六成民眾、348萬2,000人領到5億元補助。"
    "市長說：「我們輸了這場比賽。我們會再回來。」2021年6月兩艘渡輪在基隆外海相撞，12人死亡。出口增加5個百分點。"
)
CHINA = (
    "印度经济去年增长6.7%，财政部5月6日表示。约六成民众、348万2,000人领到5亿元补助。"
    "市长说：“我们输了这场比赛。我们会再回来。”2021年6月两艘渡轮在基隆外海相撞，12人死亡。出口增加5个百分点。"
)


def article(*claims: Claim, topic: str = "Relief", headline: str = "Relief") -> Article:
    return Article(topic, Claim("c0", headline), claims[:1], (Section("More", claims[1:]),), ())


def verdict(
    claim: str, source: str, *, citation: Citation | None = None, written: date | None = None, **others: str
) -> Verdict:
    documents = {"a": Document("a", source, published=PUBLISHED)} | {
        key: Document(key, text) for key, text in others.items()
    }
    cited = citation or Citation(1, "a", 0, len(source), source)
    return verify(article(Claim("c1", claim, (cited,))), documents, written=written)[1]


ROWS = [
    # C3 numbers, units, scales, years
    (ENGLISH, "The economy of India grew 6.7 percent in 2021.", "supported"),
    (ENGLISH, "India's economy grew 7.6% in 2021.", "contradicted"),
    (ENGLISH, "India's economy grew 6.7 percentage points in 2021.", "contradicted"),
    (ENGLISH, "India's economy grew 6.7% in 2020.", "contradicted"),
    (ENGLISH, "About 3.5 million people got NT$500 million.", "supported"),
    (ENGLISH, "More than 3.4 million people got NT$500 million.", "supported"),
    (ENGLISH, "More than 3.5 million people got NT$500 million.", "contradicted"),
    (ENGLISH, "Some 60% of Indians got NT$500 billion.", "contradicted"),
    (ENGLISH, "Some 60% of Indians got US$500 million.", "contradicted"),
    (ENGLISH, "12 people died when two ferries collided off Keelung.", "supported"),
    (ENGLISH, "12 buildings died when two ferries collided off Keelung.", "contradicted"),
    (ENGLISH, "Exports rose 5%.", "contradicted"),
    (TAIWAN, "348萬人領到5億元補助，約六成民眾受惠。", "contradicted"),
    (TAIWAN, "約350萬人領到5億元補助。", "supported"),
    (TAIWAN, "348萬2,000人領到5萬元補助。", "contradicted"),
    (TAIWAN, "348萬2,000人領到500 million元補助。", "supported"),
    (TAIWAN, "出口增加5%。", "contradicted"),
    (TAIWAN, "2022年6月兩艘渡輪在基隆外海相撞，十二人死亡。", "contradicted"),
    (TAIWAN, "2021年6月兩艘渡輪在基隆外海相撞，十二人死亡。", "supported"),
    (TAIWAN, "兩艘渡輪在基隆外海相撞，12棟房屋死亡。", "contradicted"),
    (CHINA, "约350万人领到5亿元补助。", "supported"),
    (CHINA, "348万2,000人领到5万元补助。", "contradicted"),
    (CHINA, "出口增加5%。", "contradicted"),
    (CHINA, "两艘渡轮在基隆外海相撞，13人死亡。", "contradicted"),
    (CHINA, "約六成民眾領到5億元補助。", "supported"),
    # C2 quotations
    (ENGLISH, "“We lost the game,” the mayor said.", "supported"),
    (ENGLISH, "“We won the game,” the mayor said.", "contradicted"),
    (ENGLISH, "The mayor said: “We lost … We will be back.”", "supported"),
    (TAIWAN, "市長說：「我們輸了這場比賽。」", "supported"),
    (TAIWAN, "市長說：「我們贏了這場比賽。」", "contradicted"),
    (CHINA, "市長說：「我們輸了這場比賽。」", "supported"),
    (CHINA, "市长说：“我们赢了这场比赛。”", "contradicted"),
    # C4 dates
    (ENGLISH, "India's economy grew 6.7% in Q4 2023.", "contradicted"),
    (ENGLISH, "The ministry said on May 6, 2022 that India's economy grew 6.7%.", "supported"),
    (ENGLISH, "The ministry said on May 7 that India's economy grew 6.7%.", "contradicted"),
    (ENGLISH, "Two ferries collided off Keelung on 3 June 2021.", "partly"),
    (TAIWAN, "印度經濟2021年成長6.7%。", "supported"),
    (TAIWAN, "印度經濟2020年成長6.7%。", "contradicted"),
    (CHINA, "印度经济2023年第四季增长6.7%。", "contradicted"),
    # neither
    (ENGLISH, "Cats like fish.", "not_found"),
    (TAIWAN, "貓喜歡魚。", "not_found"),
]


@pytest.mark.parametrize("whole", [False, True], ids=["cited words", "whole document"])
@pytest.mark.parametrize(("source", "claim", "support"), ROWS)
def test_a_claim_gets_the_verdict_of_its_row(source: str, claim: str, support: str, whole: bool) -> None:
    found = verdict(claim, source, citation=Citation(1, "a") if whole else None)
    assert found.support == support, found.reason
    assert found.reason


def test_verdicts_come_in_reading_order_with_exact_evidence() -> None:
    document = Document("a", ENGLISH, published=PUBLISHED)
    claims = (
        Claim("c1", "Exports rose 5 percentage points.", (Citation(4, "a"),)),
        Claim("c2", "Cats.", (Citation(4, "a"),)),
    )
    found = verify(article(*claims), {"a": document})
    assert [v.claim.id for v in found] == ["c0", "c1", "c2"]
    (carried,) = found[1].evidence
    assert ENGLISH[carried.start : carried.end] == carried.text == "Exports rose 5 percentage points."
    assert (carried.number, found[2].evidence, found[1].reason) == (4, (), "word for word in the source")


def test_the_second_of_two_equal_sentences_stays_the_one_that_is_cited() -> None:
    text = "Rain fell. The dam held. Rain fell."
    found = verdict("Rain fell.", text, citation=Citation(1, "a", 25, 35, "Rain fell.", sentence_id="s3"))
    assert [(c.start, c.end, c.sentence_id) for c in found.evidence] == [(25, 35, "s3")]


def test_a_source_that_moved_changed_or_went_is_said() -> None:
    moved = verdict("Rain fell.", "New top. Rain fell.", citation=Citation(1, "a", 0, 10, "Rain fell."))
    changed = verdict("Rain fell.", "Rain fell all day long.", citation=Citation(1, "a", 0, 10, "Rain fell."))
    edited = verdict("The old dam held.", "The old dam broke.", citation=Citation(1, "a", 0, 17, "The old dam held."))
    gone = verdict("Rain fell.", "x", citation=Citation(1, "z", 0, 10, "Rain fell."))
    empty = verdict("Rain fell.", "", citation=Citation(1, "a"))
    assert (moved.support, "source changed" in moved.reason) == ("supported", True)
    assert (changed.support, edited.support, gone.support, empty.support) == (
        "partly",
        "partly",
        "not_found",
        "not_found",
    )
    assert "source changed" in edited.reason
    assert "not in the archive" in gone.reason


def test_a_title_can_be_cited() -> None:
    documents = {"a": Document("a", "Text.", title="Dam holds in storm")}
    claim = Claim(
        "c1",
        "Dam holds in storm",
        (Citation(1, "a", 0, 18, "Dam holds in storm", part="title"), Citation(1, "a", part="title")),
    )
    assert verify(article(claim), documents)[1].support == "supported"


def test_a_claim_without_citations_is_background_only_when_it_claims_nothing() -> None:
    claims = (
        Claim("c1", "Flood relief in Tainan"),
        Claim("c2", "The bridge fell."),
        Claim("c3", "12"),
        Claim("c4", "…"),
    )
    found = verify(article(*claims, topic="Flood relief, Tainan", headline="Flood relief, 2 cases"), {})
    assert [v.support for v in found] == ["not_found", "background", "not_found", "not_found", "background"]
    assert verify(article(topic="Relief of 1999", headline="Relief of 1999"), {})[0].support == "background"


def test_the_right_words_cited_to_the_wrong_source_name_the_right_one() -> None:
    found = verdict(
        "The old lighthouse keeper retired at noon.", "Cats like fish.", b="The old lighthouse keeper retired at noon."
    )
    quote = verdict('"The pumps failed at noon," he said.', "Cats like fish.", b='"The pumps failed at noon," he said.')
    assert (found.support, quote.support) == ("not_found", "not_found")
    assert "'b' at 0-42, which is not cited" in found.reason
    assert "'b' at 1-25, which is not cited" in quote.reason
    assert verdict("Quite another thing.", "Cats like fish.", b="Dogs bark.").support == "not_found"


def test_what_crosses_languages_is_never_more_than_partly_unless_labelled() -> None:
    numbers = verdict("市府編列NT$500 million補助六成居民", ENGLISH)
    words = verdict("市府編列補助", ENGLISH)
    labelled = verdict("The mayor said (translated): 「我們輸了這場比賽」", ENGLISH)
    assert (numbers.support, words.support, labelled.support) == ("partly", "not_found", "supported")


def test_a_long_quotation_carries_an_otherwise_free_sentence_in_part() -> None:
    source = 'He stood there. "We have never seen water rise this fast," he said.'
    quote = '"We have never seen water rise this fast"'
    rest = ": veteran engineers, tired, soaked and furious, recalled horrors, broken pumps, empty shelves, mud, storms"
    assert verdict(quote + rest, source).support == "partly"
    assert verdict(rest, source).support == "not_found"


def test_an_article_of_today_does_not_say_yesterday_for_its_source() -> None:
    source = "Officials said that growth slowed. They spoke yesterday of rates."
    old = verdict("Officials spoke yesterday of rates and growth.", source, written=date(2024, 1, 1))
    assert (old.support, "means 2022-09-04" in old.reason) == ("contradicted", True)
    assert verdict("Officials spoke yesterday of rates and growth.", source, written=PUBLISHED).support == "supported"


def test_whole_sentences_are_verbatim_and_pieces_are_not() -> None:
    documents = {"a": Document("a", "He denied that rain fell. The dam held.")}
    found = verify(article(Claim("c1", "The dam held", (Citation(1, "a"),))), documents)
    assert found[1].reason == "word for word in the source"
    excerpts = found[1].evidence
    assert excerpts[0].text == "The dam held."
    assert not is_verbatim(".", ())
    assert not is_verbatim("The dam held.", ("", "The dam held up well.", "The dam", "held in May"))


def test_own_sentences_can_be_given() -> None:
    document = Document("a", "Rain fell | The dam held")
    spans = (Span(0, 9), Span(12, 24))
    (_, found) = verify(
        article(Claim("c1", "The dam held.", (Citation(1, "a"),))), {"a": document}, sentences=lambda _: spans
    )
    assert [(c.start, c.end) for c in found.evidence] == [(12, 24)]


@settings(max_examples=60)
@given(
    st.text(max_size=80), st.text(max_size=150), st.text(max_size=20),
    st.none() | st.integers(-3, 200), st.none() | st.integers(-3, 200), st.none() | st.dates(),
)  # fmt: skip
def test_no_article_makes_verify_raise(
    claim: str, source: str, kept: str, start: int | None, end: int | None, written: date | None
) -> None:
    documents = {"a": Document("a", source, published=written), "b": Document("b", claim)}
    claims = (
        Claim("c1", claim, (Citation(1, "a", start, end, kept), Citation(2, "a"), Citation(3, "z"))),
        Claim("c2", claim),
    )
    found = verify(article(*claims, topic=claim), documents, written=written)
    assert [v.claim.id for v in found] == ["c0", "c1", "c2"]
    assert all(v.reason and (source[c.start : c.end] == c.text) for v in found for c in v.evidence)


def test_a_long_document_is_read_once_for_many_claims() -> None:
    line = "On day {0} the harbour office counted {0} ships and {1} crates from the north. "
    text = "".join(line.format(n, 7 * n) for n in range(1000))
    said = "That day the harbour office counted {0} ships and {1} crates from the north."
    claims = tuple(Claim(f"c{n}", said.format(n, 7 * n), (Citation(1, "a"),)) for n in range(100, 120))
    split: list[str] = []

    def sentences(document: Document) -> tuple[Span, ...]:
        split.append(document.id)
        return split_document(document)

    found = verify(article(*claims), {"a": Document("a", text)}, sentences=sentences)
    assert split == ["a"]
    assert [v.support for v in found[1:]] == ["supported"] * 20


# --- what looks like the words of the source and is not


MINISTER = (
    'The minister told parliament on Tuesday: "I did not know about the payments, and I will not resign. My staff '
    'never told me." The opposition leader said: "He should resign today."'
)
MINISTER_CHINESE = "部長說：「我不知道這筆款項，我也不會辭職。」"
FLOOD = 'The mayor said: "We lost a lot of houses in the flood. Nobody was left behind."'
GAME = "The mayor said: “We lost the game. We will be back.”"

WRONG = [
    # a stop inside a number, a clock time or an abbreviation ends no sentence
    ("GDP rose 3.", "GDP rose 3.5% in May."),
    ("GDP rose 3", "GDP rose 3... in May."),
    ("Exports fell to 2.", "Exports fell to 2.7 billion dollars."),
    ("5% of voters left.", "Only 3.5% of voters left."),
    ("5%的選民離開。", "只有3.5%的選民離開。"),
    ("5%的选民离开。", "只有3.5%的选民离开。"),
    ("失業率升至3。", "失業率升至3.8%。"),
    ("30 people died in the fire.", "At 12:30 people died in the fire."),
    ("25% last year.", "It grew 10.25% last year."),
    ("troops left the hall.", "Critics of the U.S. troops left the hall."),
    ("Wu stole the money.", "Nobody says that Mr. Wu stole the money."),
    ("Lee resigned in May.", "It is not true that Gov. Lee resigned in May."),
    ("10 denied it.", "No. 10 denied it."),
    # a question, what follows a colon and what is quoted are no statements
    ("The mayor stole the money.", "The mayor stole the money? Never."),
    ("The mayor stole the money?", "The mayor stole the money. He left."),
    ("The mayor stole all of the money.", "Who says that the mayor stole all of the money? Nobody."),
    ("The mayor stole the money.", "He denied it: the mayor stole the money."),
    ("The mayor stole the money.", 'He said the claim "the mayor stole the money" was false.'),
    ("The mayor stole the money.", '"The mayor stole the money." Nobody believed that.'),
    ("市長偷錢。", "市長偷錢？沒有。"),
    ("市长偷钱。", "市长偷钱？没有。"),
    ("橋倒了。", "他否認：「橋倒了。」"),
    ("桥倒了。", "他否认：“桥倒了。”"),
    ("市長說「我們輸了」。", "市長說「我們輸了」是假的。"),
    # an ellipsis that turns a quotation round or joins two speakers
    ('"I did … know about the payments."', MINISTER),
    ('"I did (...) know about the payments."', MINISTER),
    ('"I will [...] resign."', MINISTER),
    ('"My staff … told me."', MINISTER),
    ('"I did not know about the payments … He should resign today."', MINISTER),
    ('"My staff never told me … He should resign today."', MINISTER),
    ('"parliament on Tuesday … I did not know about the payments"', MINISTER),
    ('"We lost … The game was won."', '"We lost," said Wu, while Lin said, "The game was won."'),
    ('"We lost … and Lin won."', 'He said "We lost” and then, and Lin won."'),
    ("「我……知道這筆款項」", MINISTER_CHINESE),
    ("「我也……會辭職」", MINISTER_CHINESE),
    ("“我……知道这笔款项”", MINISTER_CHINESE),
    # a bracket that puts something in
    ('"[I knew about the bribes but] I did not know about the payments."', MINISTER),
    ('"I did not know about the [stolen] payments."', MINISTER),
    ('"I did [always] know about the payments."', MINISTER),
    ('"[Always] did not know about the payments."', MINISTER),
    ('"We lost [no] houses in the flood."', FLOOD),
    ('"We [won] a lot of houses in the flood."', FLOOD),
    ('"We lost a lot of houses [never] in the flood."', FLOOD),
    ("「我的幕僚[一直]告訴我」", "部長說：「我的幕僚告訴我。」"),
    ("「我不知道這筆[賄賂]款項」", MINISTER_CHINESE),
    ("「我不知道這筆〔賄賂〕款項」", MINISTER_CHINESE),
    ("“我不知道这笔[贿赂]款项”", "部长说：“我不知道这笔款项。”"),
    # a fragment that leaves its negation behind
    ('The minister said he did "know about the payments".', MINISTER),
    ('The minister told parliament on Tuesday "I did".', MINISTER),
    ("部長說：「知道這筆款項」。", MINISTER_CHINESE),
    ("部長說：「我也」辭職。", MINISTER_CHINESE),
    ("市長表示：「有人被丟下」", "市長表示：「沒有人被丟下。」"),
    ("市长表示：“有人被丢下”", "市长表示：“没有人被丢下。”"),
    # a mark without partner
    ('The mayor said: “We won the game"', GAME),
    ('The mayor said: "We won the game”', GAME),
    ("The mayor said: “We won the game", GAME),
    ("The mayor said: ``We won the game''", GAME),
    ("The mayor said: &quot;We won the game&quot;", GAME),
    ("The mayor said: ”We won the game”", GAME),
    ("The mayor said: ‹We won the game‚", GAME),
    ("The mayor said: ｢We won the game", GAME),
    ("市長說：「我們贏了比賽", "市長說：「我們輸了比賽。」"),
    # another address
    ("See https://city.gov/b.", "See https://city.gov/a for the report."),
    ("The report is on city.gov/fake now.", "The report is on city.gov/report now."),
    ("The report is on city.gov/fake now.", "The report is on paper now."),
    ("Write to press@evil.gov now.", "Write to press@city.gov now."),
    ("The study is doi 10.1000/abc today.", "The study is doi 10.1000/xyz today."),
    ("報告在https://zh.example.org/wiki/高雄", "報告在https://zh.example.org/wiki/台北"),
]


@pytest.mark.parametrize("whole", [False, True], ids=["cited words", "whole document"])
@pytest.mark.parametrize(("claim", "source"), WRONG)
def test_words_of_the_source_that_say_something_else_are_not_supported(claim: str, source: str, whole: bool) -> None:
    found = verdict(claim, source, citation=Citation(1, "a") if whole else None)
    assert found.support != "supported"
    assert found.reason


@pytest.mark.parametrize(
    ("claimed", "named"),
    [
        ("CI-612", "CI-611"), ("Boeing 777", "Boeing 737"), ("F-35", "F-16"), ("A350", "A380"), ("4G", "5G"),
        ("G7", "G20"), ("COVID-21", "COVID-19"), ("H.R. 2", "H.R. 1"), ("case No. 54", "case No. 45"),
        ("I-59", "I-95"), ("room B21", "room B12"), ("Airbus A350", "airport"), ("H1N1", "H5N1"),
    ],
)  # fmt: skip
def test_a_name_with_another_number_is_another_name(claimed: str, named: str) -> None:
    for line, source in (
        ("Officials spoke about the {} on the ground.", "Officials spoke at length about the {} on the ground."),
        ("官員昨天談到{}的安全。", "官員昨天在會中談到{}的安全。"),
        ("官员昨天谈到{}的安全。", "官员昨天在会中谈到{}的安全。"),
    ):
        assert verdict(line.format(claimed), source.format(named)).support != "supported"
        assert verdict(line.format(named), source.format(named)).support == "supported"


RIGHT = [
    ("The dam held!", "The dam held."),
    ("The dam held", "Rain fell. The dam held. All slept."),
    ("Rain fell. The dam held.", "Rain fell. The dam held. All slept."),
    ("The dam held.", "TAIPEI, May 6 (Reuters) - The dam held."),
    ("水庫安全。", "（中央社台北1日電）水庫安全。"),
    ("水库安全。", "（新华社北京1日电）水库安全。"),
    ("The mayor asked whether the dam will hold.", "Will the dam hold, the mayor asked?"),
    ('The minister said: "I did not know about the payments."', MINISTER),
    ('"I did not know about the payments … My staff never told me."', MINISTER),
    ('"I will not resign."', MINISTER),
    ('The minister said he "did not know about the payments".', MINISTER),
    ('The minister did not "know about the payments".', MINISTER),
    ('"[The minister] did not know about the payments."', MINISTER),
    ('"I did not know [sic] about the payments."', MINISTER),
    ('"I [do] not know about the payments."', MINISTER),
    ('"We lost a lot of [homes] in the flood."', FLOOD),
    ('"We lost [...] houses in the flood."', FLOOD),
    ('"Nobody was left behind [...]."', FLOOD),
    ('"We lost a lot of house[s] in the flood."', FLOOD.replace("houses", "house")),
    ('"We lost the game [Taipei Cup]."', "Taipei Cup: “We lost the game,” he said."),
    ('"We lost … and we will be back."', '"We lost," he said, "and we will be back."'),
    ('"I did not know about the payments and I will not resign."', MINISTER),
    ("市長說：「我們輸了這場比賽。」", "市長說：「我們輸了這場比賽。我們會再回來。」"),
    ("「我們（……）會再回來」", "市長說：「我們輸了這場比賽。我們會再回來。」"),
    ("「他[市長]會再回來」", "市長說：「他會再回來。」"),
    ("The mayor said 6' 2\" was tall.", "The mayor said that 6' 2\" was tall."),
    ("See city.gov for the report.", "See https://www.city.gov/a for the long report."),
    ("The 12-year-old left by the top-10 list.", "A 12-year-old left it by the top ten list."),
]


@pytest.mark.parametrize(("claim", "source"), RIGHT)
def test_whole_sentences_and_fair_quotations_stay_supported(claim: str, source: str) -> None:
    found = verdict(claim, source)
    assert found.support == "supported", found.reason


def test_a_sentence_taken_whole_keeps_the_marks_of_its_source() -> None:
    source = "“We lost the game. We will be back.\n\n“Nobody slept.”"
    assert verdict("“We lost the game. We will be back.", source).reason == "word for word in the source"
    assert verdict("It said: “We lost the game. We will be back.", source).support == "supported"
    title = Document("a", "Text.", title="Dam holds? Never")
    claim = Claim("c1", "Dam holds", (Citation(1, "a", 0, 16, "Dam holds? Never", part="title"),))
    assert verify(article(claim), {"a": title})[1].support == "partly"


def test_a_part_is_a_part_wherever_its_words_stand_and_a_name_of_the_source_may_be_put_in() -> None:
    assert verdict("art fell.", "The party art fell. The art fell hard.").support == "partly"
    assert verdict("The dam held.", "The dam held… The rain went on.").support == "partly"
    assert part_gate("art.", ["party"]) == ()
    (found,) = part_gate("The dam held.", ["The dam held…"])
    assert "breaks off" in found.check.reason
    assert part_gate('"The dam held."', ['He said: "The dam held. It rained."']) == ()


def test_a_quotation_that_drops_a_comma_passes_with_a_remark() -> None:
    found = verdict('"I did not know about the payments and I will not resign."', MINISTER)
    assert [c.reason for c in found.checks if c.kind == "quotation"] == ["but for a comma"]


def test_a_name_elsewhere_in_the_document_does_not_carry_the_claim() -> None:
    text = "Officials spoke about the F-16 jets. The F-35 stayed at home."
    found = verdict("Officials spoke about the F-35 jets.", text, citation=Citation(1, "a", 0, 36, text[:36]))
    assert (found.support, "not in the cited words" in found.reason) == ("partly", True)


# --- seeded errors


@pytest.mark.parametrize("shared", [False, True], ids=["sample archive", "shared news"])
def test_seeded_errors_are_caught_and_clean_sentences_pass(shared: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if shared and not (SHARED / "data" / "news-ntrex").is_dir():
        pytest.skip("the shared news sets are not here")
    clean = bench_guards.load(SHARED if shared else None)
    spans: dict[str, list[Span]] = {}  # those of the data: its headlines are joined to the text without a stop
    for item in clean:
        spans.setdefault(item.document.id, []).append(item.span)
    monkeypatch.setattr(bench_guards, "verify", partial(verify, sentences=lambda document: tuple(spans[document.id])))
    rows = bench_guards.table(bench_guards.run(clean, each=8 if shared else 15, seed=7))
    rates = {(row["kind"], row["cited"]): row["not_supported"] for row in rows if row["language"] == "all"}
    for cited in ("sentence", "document"):
        assert rates["clean", cited] <= 0.05
        assert rates["rewritten", cited] <= 0.05
        assert rates["quote", cited] >= 0.95
        assert rates["number", cited] >= 0.9
        assert rates["unit", cited] >= 0.9
        assert rates["year", cited] >= 0.9
        assert rates["wrong source", cited] >= 0.95


@pytest.mark.parametrize(
    ("title", "text", "headline"),
    [
        ("港灣區淹水　市府啟動補助", "市長週一宣布方案。住戶可領取款項。", "港灣區淹水 市府啟動補助"),
        ("Fine’s Harbour reopens", "The ferry sailed at nine. Crowds cheered.", "Fine's Harbour reopens"),
    ],
)
def test_a_headline_that_is_a_sources_title_is_found_without_offsets(title: str, text: str, headline: str) -> None:
    document = Document("d", text, title=title)
    claim = Claim("c1", headline, (Citation(1, "d"),))

    (verdict,) = verify(Article("topic", claim, (), (), ()), {"d": document})

    assert verdict.support == "supported"
    assert verdict.evidence[0].part == "title"


@pytest.mark.parametrize(
    ("claim", "source", "kind"),
    [
        ("Export orders fell 5% in May, officials said.", "Export orders rose 5% in May, officials said.", "direction"),
        ("The mayor said she would resign in May.", "The mayor said she would not resign in May.", "negation"),
        ("The prize in May went to Ann Marlow.", "The prize in May went to Jo Halvor.", "name"),
        ('"We lost the whole harvest," Jo Halvor said.', '"We lost the whole harvest," Ann Marlow said.', "speaker"),
        ("About 60% of the world can read now.", "About 60% of Indians can read now.", "subject"),
        ("五月出口訂單減少5%，財政部表示。", "五月出口訂單增加5%，財政部表示。", "direction"),
        ("市長沒有參加今天的港灣會議。", "市長參加了今天的港灣會議。", "negation"),
    ],
)  # fmt: skip
def test_a_statement_turned_round_is_contradicted_and_says_by_what(claim: str, source: str, kind: str) -> None:
    found = verdict(claim, source)
    assert found.support == "contradicted", found.reason
    assert kind in {check.kind for check in found.checks if not check.passed}


def test_a_number_that_was_computed_is_said_to_be_so() -> None:
    found = verdict("In all 15 people died in the flood.", "In all 12 people died in the flood, 3 people in the fire.")
    assert found.support == "partly"
    assert "computed: the sum of '12' and '3'" in found.reason


def test_a_source_that_is_dated_after_the_article_is_not_used_in_silence() -> None:
    found = verdict("Rain fell.", "Rain fell.", written=date(2022, 9, 1))
    assert (found.support, "after the article's own date" in found.reason) == ("partly", True)
    assert verdict("Rain fell.", "Rain fell.", written=date(2022, 9, 6)).support == "supported"


def test_words_outside_the_cited_ones_are_named_with_their_place() -> None:
    text = "Cats like fish very much. The old lighthouse keeper retired at noon."
    found = verdict("The old lighthouse keeper retired at noon.", text, citation=Citation(1, "a", 0, 25, text[:25]))
    assert found.support == "not_found"
    assert "'a' at 26-68, outside the cited words" in found.reason


@pytest.mark.parametrize(
    ("claim", "source", "other", "support"),
    [
        ("Exports rose 5 percentage points.", "Exports rose 7 percentage points.", ENGLISH, "contradicted"),
        ("Twelve people died when two ferries collided off Keelung in June 2021.",
         "Two ferries collided off Keelung in June 2021 when people died.", ENGLISH, "partly"),
        ("Exports rose 5 percentage points.", "The weather was fine.", ENGLISH, "not_found"),
        ("出口增加5個百分點。", "出口增加7個百分點。", TAIWAN, "contradicted"),
        ("出口增加5個百分點。", "天氣很好。", TAIWAN, "not_found"),
        ("出口增加5个百分点。", "出口增加7个百分点。", CHINA, "contradicted"),
    ],
)  # fmt: skip
def test_a_claim_that_another_source_carries_says_where_whatever_failed(
    claim: str, source: str, other: str, support: str
) -> None:
    found = verdict(claim, source, citation=Citation(1, "a"), b=other)
    place = other.index(claim.rstrip(".。").split("。")[0][:4])
    assert found.support == support
    assert f"'b' at {place}-" in found.reason
    assert "which is not cited" in found.reason
    assert verdict(claim, source, citation=Citation(1, "a")).reason != found.reason


def test_the_right_fact_outside_the_cited_words_is_said_where_another_number_is_cited() -> None:
    text = "Exports rose 7 percentage points in May. Later it says this. Exports rose 5 percentage points in June."
    found = verdict("Exports rose 5 percentage points in June.", text, citation=Citation(1, "a", 0, 40, text[:40]))
    assert found.support == "contradicted"
    assert "'a' at 61-102, outside the cited words, says it" in found.reason


def test_a_claim_without_citation_says_which_source_carries_it() -> None:
    documents = {"b": Document("b", ENGLISH)}
    found = verify(article(Claim("c1", "Exports rose 5 percentage points.")), documents)[1]
    assert found.support == "not_found"
    assert found.reason.startswith("cites nothing; 'b' at ")


@pytest.mark.parametrize(("claim", "source"), [("出口大增。", "Cats sleep."), ("Cats sleep.", "出口大增。")])
def test_nothing_alike_in_another_language_is_no_proof_of_absence(claim: str, source: str) -> None:
    found = verdict(claim, source, citation=Citation(1, "a"))
    assert (found.support, found.checks[-1].reason) == ("not_found", FOREIGN)
