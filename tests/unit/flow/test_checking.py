"""A written article, checked by gates and, where they cannot tell, by a model."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date

import pytest

from groundwire.core.errors import UsageError
from groundwire.core.language import Request
from groundwire.core.types import Article, Citation, Claim, Document
from groundwire.flow.checking import check_article
from groundwire.flow.ledger import Ledger
from groundwire.flow.manifests import find_run
from groundwire.flow.pace import Limits
from groundwire.flow.runs import How, Recording, recorded
from groundwire.flow.settings import Loaded, Settings
from groundwire.testing import ScriptedModel
from groundwire.writing.model_check import CheckSettings

A = Document("a", "The river rose by 3 metres on Monday. Officials opened two shelters.", published=date(2024, 5, 6))
B = Document("b", "The council approved a budget of 5 million dollars for repairs.")
DOCUMENTS = {"a": A, "b": B}
OPEN = tuple(f"Officials opened two shelters to house {people}." for people in ("families", "coast", "pensioners"))


def article(*texts: str, cited: str = "a", as_of: date | None = None) -> Article:
    claims = tuple(Claim(f"c{number}", text, (Citation(1, cited),)) for number, text in enumerate(texts, 1))
    return Article("Flood", Claim("c0", "Flood"), claims, (), (), as_of=as_of)


@contextmanager
def run(ledger: Ledger) -> Iterator[Recording]:
    how = How(limits=Limits(first_wait_seconds=0.001, attempts=2, at_first=1, at_once=1))
    with recorded(ledger, command=["write"], settings=Loaded(Settings(), {}), how=how) as recording:
        yield recording


@pytest.fixture
def ledger() -> Iterator[Ledger]:
    with Ledger(":memory:") as opened:
        yield opened


def listed(*words: str) -> str:
    return json.dumps({"verdicts": [{"number": at, "verdict": word} for at, word in enumerate(words, 1)]})


def test_without_a_model_the_gates_decide_and_the_rest_is_unsettled() -> None:
    found = check_article(article("Officials opened two shelters.", OPEN[0]), DOCUMENTS)
    assert [one.support for one in found.verdicts] == ["background", "supported", "partly"]
    assert (found.unsettled, found.asked, found.unread, found.quality.recall) == (1, 0, 0, 1.0)


def test_a_model_without_a_run_is_refused() -> None:
    with pytest.raises(UsageError, match="no run is given"):
        check_article(article(OPEN[0]), DOCUMENTS, model=ScriptedModel([]))


def test_a_batch_settles_what_the_gates_leave_open_and_nothing_else(ledger: Ledger) -> None:
    model = ScriptedModel([listed("supported", "not_found", "contradicted")])
    written = article("Officials opened five shelters.", *OPEN, "Officials opened two shelters.")
    with run(ledger) as recording:
        found = check_article(written, DOCUMENTS, recording=recording, model=model)
    assert [one.support for one in found.verdicts[1:]] == [
        "contradicted", "supported", "partly", "contradicted", "supported"
    ]  # fmt: skip
    assert [one.judged_by for one in found.verdicts[1:]] == ["gates", *[model.id] * 3, "gates"]
    assert (found.asked, found.unread, found.unsettled) == (3, 0, 0)
    assert list(find_run(ledger, "last").manifest.prompts) == ["verify.en"]


@pytest.mark.parametrize(
    ("replies", "supports", "unread"),
    [
        ([listed("supported"), listed("not_found", "supported")], ["supported", "partly", "supported"], 0),
        ([listed("supported"), ""], ["supported", "partly", "partly"], 2),
        (["", ""], ["partly"] * 3, 3),
        (["", listed("supported", "supported", "supported")], ["supported"] * 3, 0),
        ([listed(*["supported"] * 6)], ["supported"] * 3, 0),
    ],
)
def test_missing_verdicts_are_asked_for_once_more_then_counted_and_never_supported(
    ledger: Ledger, replies: list[str], supports: list[str], unread: int
) -> None:
    model = ScriptedModel(replies)
    with run(ledger) as recording:
        found = check_article(article(*OPEN), DOCUMENTS, recording=recording, model=model)
    assert [one.support for one in found.verdicts[1:]] == supports
    assert (found.unread, found.unsettled) == (unread, unread)
    assert len(model.requests) == len(replies)


def test_asked_one_by_one_each_claim_has_its_own_call(ledger: Ledger) -> None:
    def script(request: Request) -> str:
        return '{"verdict": "supported"}' if "coast" in request.messages[-1].text else '{"verdict": "not_found"}'

    model = ScriptedModel(script)
    with run(ledger) as recording:
        found = check_article(
            article(*OPEN), DOCUMENTS, recording=recording, model=model, how=CheckSettings(batch=1)
        )  # fmt: skip
    assert [one.support for one in found.verdicts[1:]] == ["partly", "supported", "partly"]
    assert len(model.requests) == 3


def test_nothing_to_ask_makes_no_call(ledger: Ledger) -> None:
    model = ScriptedModel([])
    with run(ledger) as recording:
        found = check_article(article("Officials opened two shelters."), DOCUMENTS, recording=recording, model=model)
    assert (found.asked, model.requests) == (0, ())


def test_the_day_of_the_article_reaches_its_dates_and_an_embargo() -> None:
    text = "The river rose by 3 metres on Monday."
    assert check_article(article(text), DOCUMENTS).verdicts[1].support == "supported"
    early = check_article(article(text, as_of=date(2024, 5, 5)), DOCUMENTS).verdicts[1]
    assert (early.support, "after the article's own date" in early.reason) == ("partly", True)
    stale = Document("a", "Yesterday the river rose by 3 metres.", published=date(2024, 5, 6))
    same = "The river rose by 3 metres yesterday in town."
    assert check_article(article(same), {"a": stale}).verdicts[1].support == "supported"
    assert check_article(article(same, as_of=date(2024, 6, 6)), {"a": stale}).verdicts[1].support == "contradicted"


def test_a_source_at_hand_that_is_not_cited_is_named_where_it_carries_the_claim() -> None:
    text = "The council approved a budget of 5 million dollars for repairs."
    found = check_article(article(text), {"a": A}, others=[B]).verdicts[1]
    assert (found.support, "'b' at 0-63, which is not cited, says it" in found.reason) == ("not_found", True)
