"""Questions answered from a small archive, by a scripted model and without one."""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

import groundwire
from groundwire.core.errors import ModelBusy, UsageError
from groundwire.core.language import Capabilities, Request
from groundwire.core.types import Document, Filter
from groundwire.flow.answering import CheckedAnswer, answer, answer_all
from groundwire.flow.archives import open_archive
from groundwire.flow.ledger import Ledger
from groundwire.flow.manifests import find_run
from groundwire.flow.pace import Limits
from groundwire.flow.runs import How, recorded
from groundwire.flow.settings import Loaded, Settings
from groundwire.flow.sourcing import Assistant
from groundwire.retrieval.index import Archive
from groundwire.testing import ScriptedModel

FIRST = Document(
    "first",
    "The harbour of Port Ellery was flooded on Monday night. In Port Ellery 4,200 homes had no power.",
    title="Harbour under water",
    language="en",
)
SECOND = Document("second", "The council of Port Ellery met on Friday. It will meet again.", language="en")
QUESTION = "How many homes in Port Ellery had no power?"
ID = re.compile(r"^(S\d+\.\d+) (.*)$", re.MULTILINE)
Script = Callable[[Request], str]


@pytest.fixture
def archive() -> Archive:
    made = open_archive("memory:", embedder="hash:128")
    made.add([FIRST, SECOND])
    return made


@pytest.fixture
def ledger() -> Iterator[Ledger]:
    with Ledger(":memory:") as made:
        yield made


@contextmanager
def helping(model: ScriptedModel, ledger: Ledger) -> Iterator[Assistant]:
    how = How(limits=Limits(first_wait_seconds=0.001, attempts=1, at_first=1, at_once=1))
    with recorded(ledger, command=["answer"], settings=Loaded(Settings(), {}), how=how) as recording:
        yield Assistant(model, recording)


def settings(**options: object) -> Settings:
    return Settings.model_validate({"answer": {"model": "scripted:test", **options}})


def by_model(archive: Archive, ledger: Ledger, script: Script, question: str = QUESTION) -> CheckedAnswer:
    with helping(ScriptedModel(script), ledger) as assistant:
        return answer(archive, question, settings=settings(), assistant=assistant)


def repeats(request: Request) -> str:
    """Cites the sentence with the homes."""
    found = next(name for name, text in ID.findall(request.messages[-1].text) if "4,200" in text)
    return f"4,200 homes had no power in Port Ellery [{found}]."


def test_a_model_answers_with_citations_that_are_checked(archive: Archive, ledger: Ledger) -> None:
    found = by_model(archive, ledger, repeats)

    assert found.answered.text == "4,200 homes had no power in Port Ellery."
    (citation,) = found.answered.citations
    assert FIRST.text[citation.start : citation.end] == citation.text == "In Port Ellery 4,200 homes had no power."
    assert [verdict.support for verdict in found.verdicts] == ["supported"]
    assert found.supported
    assert [document.id for document in found.documents] == ["first"]
    assert list(find_run(ledger, "last").manifest.prompts) == ["answer.en"]


def test_a_wrong_number_is_an_answer_that_is_not_supported(archive: Archive, ledger: Ledger) -> None:
    found = by_model(archive, ledger, lambda request: repeats(request).replace("4,200", "9,900"))

    assert not found.supported
    assert found.verdicts[0].support != "supported"


def test_a_refusal_of_an_answerable_question_is_an_abstention(archive: Archive, ledger: Ledger) -> None:
    found = by_model(archive, ledger, lambda _: "The archive does not say.")

    assert found.answered.outcome == "abstained"
    assert (found.verdicts, found.supported) == ((), False)


def test_a_model_that_fails_leaves_the_question_unscored(archive: Archive, ledger: Ledger) -> None:
    model = ScriptedModel([ModelBusy("busy"), "The council met [S1.1]."])
    with helping(model, ledger) as assistant:
        found = answer_all(archive, [QUESTION, "Who met on Friday?"], settings=settings(), assistant=assistant)

    assert [each.answered.outcome for each in found] == ["unreadable", "read"]
    assert found[0].answered.text == ""
    assert "busy" in found[0].answered.reason


def test_a_question_that_is_too_long_for_the_model_is_unread_and_the_others_are_answered(
    archive: Archive, ledger: Ledger
) -> None:
    model = ScriptedModel(repeats, capabilities=Capabilities(context_tokens=2000))
    long = f"{QUESTION} {'Please say it. ' * 900}"
    with helping(model, ledger) as assistant:
        lost, found = answer_all(archive, [long, QUESTION], settings=settings(), assistant=assistant)

    assert found.answered.text == "4,200 homes had no power in Port Ellery."
    assert (lost.answered.text, lost.answered.outcome) == ("", "unreadable")
    assert "more than the 2,000 of the model's context; nothing was sent" in lost.answered.reason
    assert len(model.requests) == 1


def test_a_model_without_system_messages_is_asked_without(archive: Archive, ledger: Ledger) -> None:
    model = ScriptedModel(repeats, capabilities=Capabilities(context_tokens=8192, system=False))
    with helping(model, ledger) as assistant:
        answer(archive, QUESTION, settings=settings(), assistant=assistant)

    assert {message.speaker for message in model.requests[0].messages} == {"user"}


def test_where_nothing_is_found_nobody_is_asked(archive: Archive, ledger: Ledger) -> None:
    model = ScriptedModel(repeats)
    with helping(model, ledger) as assistant:
        nowhere = Filter(sources=("nobody",))
        found = answer(archive, QUESTION, settings=settings(), where=nowhere, assistant=assistant)

    assert found.answered.abstained
    assert model.requests == ()


def test_without_a_model_the_answer_is_word_for_word(archive: Archive) -> None:
    found = answer(archive, QUESTION)

    assert found.answered.text == "In Port Ellery 4,200 homes had no power."
    assert (found.supported, found.call) == (True, None)
    assert groundwire.answer is answer


def test_without_a_model_it_abstains_on_what_the_archive_does_not_hold(archive: Archive) -> None:
    assert answer(archive, "Who painted the Sistine Chapel in Rome?").answered.abstained


def test_as_json_every_citation_has_its_place(archive: Archive) -> None:
    data = json.loads(json.dumps(answer(archive, QUESTION).as_data()))

    (citation,) = data["citations"]
    assert (citation["document_id"], citation["title"]) == ("first", "Harbour under water")
    assert FIRST.text[citation["start"] : citation["end"]] == data["answer"]
    assert data["verdicts"][0]["support"] == "supported"
    assert data["evidence"]
    assert not data["abstained"]


def test_bad_use_is_refused(archive: Archive) -> None:
    with pytest.raises(UsageError, match="scripted:test"):
        answer(archive, QUESTION, settings=settings())
    with pytest.raises(UsageError, match="blank"):
        answer(archive, " ")
