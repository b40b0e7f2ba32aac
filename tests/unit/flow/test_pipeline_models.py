"""Articles with a scripted model: every preset from the archive to the checked article, and what an editor is told."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path

import pytest

from groundwire.core.errors import NothingFound, UsageError
from groundwire.core.language import Capabilities, Request
from groundwire.core.types import Document
from groundwire.flow.archives import open_archive
from groundwire.flow.exports import export
from groundwire.flow.ledger import Ledger
from groundwire.flow.manifests import find_run
from groundwire.flow.pace import Limits
from groundwire.flow.pipeline import Written, write_article
from groundwire.flow.runs import How, recorded
from groundwire.flow.settings import Loaded, Settings
from groundwire.flow.sourcing import Assistant
from groundwire.retrieval.index import Archive
from groundwire.testing import ScriptedModel

FIRST = Document(
    "first",
    "The harbour of Port Ellery was flooded on Monday night. The water stood 2 metres high in Dock Street. "
    "Flood relief reached 300 homes by Tuesday.",
    title="Harbour under water",
    source="Bay Post",
    published=date(2024, 5, 7),
    language="en",
)
SECOND = Document(
    "second",
    "Flood relief in Port Ellery reached 500 homes by Tuesday, the council said. The harbour of Port Ellery stays "
    "closed. The mayor asked for 20 more boats.",
    title="Harbour of Port Ellery closed",
    source="Ellery Times",
    published=date(2024, 5, 8),
    language="en",
)
TOPIC = "Flood relief in the harbour of Port Ellery"
MARKDOWN = Capabilities(context_tokens=8192, logprobs=20)
ID = re.compile(r"^(S\d+\.\d+) (.*)$", re.MULTILINE)


def obliging(request: Request) -> str:
    """A model that rates 80, repeats the first fact that it was given with its id, and adds one of its own."""
    text = request.messages[-1].text
    ids = ID.findall(text)
    if request.purpose.startswith("rating"):
        return "80" if "consistency" not in text else '{"relevance": 80, "consistency": 80, '
    if request.purpose.startswith("brief"):
        return f"{ids[0][1]} [{ids[0][0]}]" if ids else "The harbour of Port Ellery was flooded on Monday night."
    if request.purpose.startswith(("check", "verif")):
        numbers = re.findall(r"^(\d+)[.:)]? ", text, re.MULTILINE)
        return json.dumps({"verdicts": [{"number": int(one), "verdict": "supported"} for one in numbers or ["1"]]})
    mark = f" [{ids[0][0]}]" if ids else ""
    words = ids[0][1] if ids else "The harbour of Port Ellery was flooded."
    return f"# Harbour flooded{mark}\n\n{words.rstrip('.')}{mark}.\n\n## Relief\n\nHundreds of homes got help.\n"


@pytest.fixture
def archive() -> Archive:
    made = open_archive("memory:", embedder="hash:128")
    made.add([FIRST, SECOND])
    return made


@contextmanager
def helping(model: ScriptedModel, ledger: Ledger) -> Iterator[Assistant]:
    how = How(limits=Limits(first_wait_seconds=0.001, attempts=2, at_first=1, at_once=1))
    with recorded(ledger, command=["write"], settings=Loaded(Settings(), {}), how=how) as recording:
        yield Assistant(model, recording)


@pytest.fixture
def ledger() -> Iterator[Ledger]:
    with Ledger(":memory:") as made:
        yield made


def settings(**options: object) -> Settings:
    return Settings.model_validate({"write": {"model": "scripted:test", "best_at_least": 10, **options}})


def written(archive: Archive, ledger: Ledger, **options: object) -> tuple[Written, ScriptedModel]:
    model = ScriptedModel(obliging, capabilities=MARKDOWN)
    with helping(model, ledger) as assistant:
        return write_article(archive, TOPIC, settings=settings(**options), assistant=assistant), model


PURPOSES = {
    "best": {"rating", "brief", "writing"},
    "scorerag": {"rating", "brief", "writing"},
    "plain": {"writing"},
    "zero-shot": {"writing"},
}


@pytest.mark.parametrize("preset", PURPOSES)
def test_a_preset_asks_for_what_belongs_to_it(archive: Archive, ledger: Ledger, preset: str) -> None:
    found, model = written(archive, ledger, preset=preset, language="en", check="gates")

    kinds = {request.purpose.split()[0] for request in model.requests}
    assert kinds == PURPOSES[preset]
    assert found.article.writer == "scripted:test"
    assert len(found.verdicts) == len(found.article.claims)
    assert {source.document_id for source in found.article.sources} <= {"first", "second"}


def test_scorerag_rates_three_times_from_one_number_and_briefs_by_band(archive: Archive, ledger: Ledger) -> None:
    found, model = written(archive, ledger, preset="scorerag", language="en")

    ratings = [request for request in model.requests if request.purpose.startswith("rating")]
    assert len(ratings) == 6  # three readings of two articles
    assert {request.reading for request in ratings} == {0, 1, 2}
    assert {source.band for source in found.scored} == {"high"}
    assert any(name.startswith("rating-scorerag") for name in find_run(ledger, "last").manifest.prompts)


def test_zero_shot_looks_at_no_source(archive: Archive, ledger: Ledger) -> None:
    found, _ = written(archive, ledger, preset="zero-shot")
    assert (found.scored, found.article.sources) == ((), ())
    assert {verdict.support for verdict in found.verdicts} <= {"not_found", "background"}


def test_plain_has_the_sources_of_the_search_unrated(archive: Archive, ledger: Ledger) -> None:
    found, _ = written(archive, ledger, preset="plain")
    assert [brief.relevance for brief in found.briefs] == [None, None]
    assert all(source.relevance is None for source in found.article.sources)


def test_without_a_model_the_settings_that_ask_for_one_are_refused(archive: Archive) -> None:
    for option in ({"rater": "expected"}, {"briefs": "facts"}, {"check": "model"}, {"preset": "best"}):
        with pytest.raises(UsageError, match="--model"):
            write_article(archive, TOPIC, settings=Settings.model_validate({"write": option}))


def test_what_no_source_says_is_repaired_on_request_and_shown(archive: Archive, ledger: Ledger) -> None:
    before, _ = written(archive, ledger)
    after, _ = written(archive, ledger, repair=True)

    assert any(verdict.support == "not_found" for verdict in before.verdicts)
    assert {verdict.support for verdict in after.verdicts} <= {"supported", "background"}
    assert any(repair.before.text == "Hundreds of homes got help." for repair in after.findings.repairs)


def test_a_model_settles_what_the_gates_leave_open(archive: Archive, ledger: Ledger) -> None:
    found, _ = written(archive, ledger, check="model")
    assert found.findings.quality is not None
    assert all(verdict.judged_by in ("gates", "scripted:test") for verdict in found.verdicts)


def test_the_editor_is_told_of_conflicts_premise_and_what_is_not_cited(archive: Archive, ledger: Ledger) -> None:
    model = ScriptedModel(obliging, capabilities=MARKDOWN)
    with helping(model, ledger) as assistant:
        found = write_article(
            archive, "Flood relief in the harbour of Port Ellery in 2019", settings=settings(), assistant=assistant
        )

    assert {statement.value for discord in found.findings.discords for statement in discord.statements} == {300, 500}
    assert [note.item for note in found.findings.premise] == ["2019"]
    assert found.findings.uncited
    for kind in (".md", ".json", ".html"):
        assert "2019" in export(archive, found, kind=kind, settings=Settings())


def test_a_source_dated_after_the_article_is_not_used(archive: Archive, ledger: Ledger) -> None:
    found, _ = written(archive, ledger, as_of="2024-05-07")
    assert {source.source.document.id for source in found.scored} == {"first"}
    assert found.article.as_of == date(2024, 5, 7)
    assert any("after the article's day 2024-05-07" in note for note in found.article.notes)


def test_only_so_many_sources_are_rated_by_a_model_and_the_rest_is_counted(archive: Archive, ledger: Ledger) -> None:
    found, model = written(archive, ledger, rater="expected", candidates=1)
    assert len(found.scored) == 1
    assert sum(request.purpose.startswith("rating") for request in model.requests) == 1
    assert any("1 more were not" in note for note in found.article.notes)


def test_an_outline_and_house_rules_reach_the_model_and_are_checked(
    archive: Archive, ledger: Ledger, tmp_path: Path
) -> None:
    (tmp_path / "outline.md").write_text("## What happened\n\n## Relief\n", "utf-8")
    (tmp_path / "rules.toml").write_text('[avoid]\nhundreds = "give the number"\n', "utf-8")
    found, model = written(
        archive, ledger, outline=str(tmp_path / "outline.md"), house_rules=str(tmp_path / "rules.toml")
    )

    asked = model.requests[-1].messages[-1].text
    assert "What happened" in asked
    assert "hundreds" in asked
    items = {finding.item.casefold() for finding in found.findings.style}
    assert {"hundreds", "what happened"} <= items


def test_nothing_in_the_archive_on_a_topic_is_refused_before_a_model_is_asked(archive: Archive, ledger: Ledger) -> None:
    model = ScriptedModel(obliging, capabilities=MARKDOWN)
    with helping(model, ledger) as assistant, pytest.raises(NothingFound):
        write_article(
            archive, "Quarterly earnings of Zypher Robotics", settings=settings(best_at_least=60), assistant=assistant
        )
    assert model.requests == ()
