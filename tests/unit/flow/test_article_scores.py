"""Articles read from files, scored by a judge through the ledger, and compared."""

import json
import math
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from groundwire.backends.hash_embedder import HashEmbedder
from groundwire.backends.memory_store import MemoryStore
from groundwire.core.errors import UnreadableInput, UsageError
from groundwire.core.language import Capabilities, Request
from groundwire.core.text import words
from groundwire.core.types import Article, Citation, Claim, Document, Item, NumberedSource, Section
from groundwire.evaluation.articles import CRITERIA, ScoreSettings, unmarked
from groundwire.evaluation.comparisons import Options
from groundwire.flow.article_scores import (
    ArticleItems,
    ScoredArticles,
    article_text,
    read_articles,
    read_folder,
    score_articles,
    sources_in,
    sources_of_archive,
)
from groundwire.flow.ledger import Ledger
from groundwire.flow.manifests import find_run
from groundwire.flow.pace import Limits
from groundwire.flow.render import Provenance, render_json, render_markdown
from groundwire.flow.runs import How, Recording, recorded
from groundwire.flow.settings import Loaded, Settings
from groundwire.retrieval.index import Archive
from groundwire.retrieval.manifest import Manifest
from groundwire.testing import ScriptedModel
from groundwire.testing.models import EVERYTHING

QUICK = How(limits=Limits(first_wait_seconds=0.001, attempts=2, at_first=1, at_once=1))
RIVER = Document("river", "The river rose 3.2 metres on Friday.", "River", date(2024, 5, 3), "Tainan Post")
ARTICLE = Article(
    "Flood relief",
    Claim("c1", "Tainan opens centres"),
    (Claim("c2", "The river rose 3.2 metres.", (Citation(1, "river"),)), Claim("c3", "Six centres opened.")),
    (Section("Background", (Claim("c4", "It rained.", (Citation(1, "river"), Citation(1, "river", 0, 4))),)),),
    (NumberedSource(1, "river", "River", "Tainan Post", date(2024, 5, 3)), NumberedSource(2, "gone", "Gone")),
    "en",
    "llama:qwen2.5-coder-1.5b",
)
PROVENANCE = Provenance("0.1", datetime(2026, 1, 1, tzinfo=UTC).isoformat())


def numbers(value: float) -> str:
    return json.dumps({one.name: value for one in CRITERIA})


@contextmanager
def run(ledger: Ledger, *, replay: bool = False) -> Iterator[Recording]:
    then = find_run(ledger, "last").manifest if replay else None
    with recorded(ledger, command=["score"], settings=Loaded(Settings(), {}), how=QUICK, replay_of=then) as recording:
        yield recording


@pytest.fixture
def ledger() -> Iterator[Ledger]:
    with Ledger(":memory:") as opened:
        yield opened


def given(count: int = 6, *, writers: tuple[tuple[str, str], ...] = ()) -> ArticleItems:
    items = tuple(
        Item(f"t{n}", f"Flood {n}", ("The river rose.",), text, None, system)
        for n in range(count)
        for system, text in (
            ("plain", f"Water came on day {n}."),
            ("best", f"The river rose on day {n}. " + "The mayor said that repairs go on. " * (n + 2)),
        )
    )
    return ArticleItems(items, writers)


def scored(ledger: Ledger, model: ScriptedModel, articles: ArticleItems, **how: object) -> ScoredArticles:
    options = Options(permutations=200, resamples=200, seed=how.pop("seed", 0))  # type: ignore[arg-type]
    with run(ledger) as recording:
        return score_articles(
            articles, model=model, recording=recording, settings=ScoreSettings(**how), options=options  # type: ignore[arg-type]
        )  # fmt: skip


def by_length(request: Request) -> str:
    """A judge that likes length and nothing else: half a level for each doubling."""
    article = request.messages[-1].text.partition("Article:")[2].partition("Reply with")[0]
    return numbers(round(1 + math.log2(len(words(article))) / 2, 4))


def test_each_article_is_read_as_often_as_asked_and_systems_are_compared(ledger: Ledger) -> None:
    model = ScriptedModel(lambda request: numbers(4 if "The river rose on" in request.messages[-1].text else 2))
    found = scored(ledger, model, given(), readings=2)

    assert len(model.requests) == 24
    assert [score.total for score in found.scores[:2]] == pytest.approx([2, 4])
    assert found.unscored == 0
    total = next(one for one in found.compared if one.measure == "scorerag_total")
    (pair,) = total.pairs
    assert (pair.one, pair.other, pair.difference.mean) == ("best", "plain", 50)
    assert total.length_slope is not None
    assert len(found.judgements) == 60


def test_a_lead_that_is_length_alone_goes_away_at_equal_length(ledger: Ledger) -> None:
    found = scored(ledger, ScriptedModel(by_length), given(8), readings=1)

    (pair,) = next(one for one in found.compared if one.measure == "scorerag_total").pairs
    assert pair.at_equal_length is not None
    assert pair.difference.mean > 15
    assert abs(pair.at_equal_length.mean) < pair.difference.mean / 2


def test_one_system_is_summarised_and_not_compared(ledger: Ledger) -> None:
    alone = ArticleItems(tuple(item for item in given().items if item.system == "best"))
    found = scored(ledger, ScriptedModel(lambda _: numbers(3)), alone, readings=1)

    assert found.compared == ()
    assert [summary.interval.mean for summary in found.summaries] == [50] * 5


def test_what_cannot_be_read_is_asked_for_once_more_then_unscored_and_counted(ledger: Ledger) -> None:
    def script(request: Request) -> str:
        said = request.messages[-1].text
        if "day 0" in said and "Water came" in said:
            return '{"coherence": 4}'
        if "day 1" in said and "Water came" in said:
            return numbers(3) if "could not be" in said or said.count("coherence") > 2 else "Nice."
        return numbers(4)

    model = ScriptedModel(script)
    found = scored(ledger, model, given(2), readings=1)

    assert len(model.requests) == 4 + 2
    first = found.scores[0]
    assert (first.total, first.unread, first.outcome) == (None, 1, "unreadable")
    assert "asked once more" in first.reason
    assert found.scores[2].total == pytest.approx(3)
    assert found.unscored == 1
    assert {row.value for row in found.judgements if row.item_id == "t0" and row.system == "plain"} == {None}
    assert {one.interval.unscored for one in found.summaries if one.system == "plain"} == {1}


def test_refusals_and_empty_articles_cost_no_call(ledger: Ledger) -> None:
    items = (Item("a", "T", ("s",), "", None, "x"), Item("b", "T", ("s",), "The archive does not say.", None, "x"))
    model = ScriptedModel([])
    found = scored(ledger, model, ArticleItems(items))

    assert model.requests == ()
    assert [score.outcome for score in found.scores] == ["unreadable", "abstained"]


def test_the_same_again_comes_from_the_ledger_and_a_replay_needs_no_model(ledger: Ledger) -> None:
    first = ScriptedModel(lambda _: numbers(4))
    how = ScoreSettings(readings=2)
    with run(ledger) as recording:
        model = recording.model(first.id, lambda: first)
        found = score_articles(given(2), model=model, recording=recording, settings=how)
    with run(ledger, replay=True) as recording:
        model = recording.model(first.id, lambda: pytest.fail("a replay made a model"))
        again = score_articles(given(2), model=model, recording=recording, settings=how)

    assert json.dumps(again.facts()) == json.dumps(found.facts())
    assert len(first.requests) == 8
    assert find_run(ledger, "last").manifest.noted("seeds") == {"article readings": "0"}
    assert "rubric-scorerag.zh-TW" in find_run(ledger, "last").manifest.noted("prompts")


def test_a_judge_of_the_writers_family_and_cut_sources_are_said(ledger: Ledger) -> None:
    long = Item("a", "T", ("The river rose again and again. " * 100,), "The river rose.", None, "best")
    model = ScriptedModel(lambda _: numbers(4), name="qwen2.5-7b")
    found = scored(ledger, model, ArticleItems((long,), (("best", "llama:qwen2.5-coder-1.5b"),)), source_tokens=100)

    assert "judges its own family (qwen" in found.notes[0]
    assert found.notes[1] == "of 1 of 1 sources the judge saw only the beginning"
    assert json.loads(json.dumps(found.facts()))["unscored"] == 0


def test_expected_is_one_call_and_without_log_probabilities_says_what_it_did(ledger: Ledger) -> None:
    one, two = ScriptedModel(lambda _: numbers(4)), ScriptedModel(lambda _: numbers(4), capabilities=Capabilities())
    few = ArticleItems(given().items[:1])

    scored(ledger, one, few, how="expected")
    assert len(one.requests) == 1
    with Ledger(":memory:") as other:
        found = scored(other, two, few, how="expected", readings=2)
    assert len(two.requests) == 2
    assert "gives no log-probabilities" in found.notes[0]
    assert EVERYTHING.logprobs


def test_nothing_to_score_is_refused(ledger: Ledger) -> None:
    with pytest.raises(UsageError, match="there is no article to score"):
        scored(ledger, ScriptedModel([]), ArticleItems(()))


def test_judgements_are_written_one_a_line(ledger: Ledger, tmp_path: Path) -> None:
    found = scored(ledger, ScriptedModel(lambda _: numbers(4)), ArticleItems(given().items[:1]), readings=1)
    found.save(tmp_path / "rows.jsonl")

    rows = [json.loads(line) for line in (tmp_path / "rows.jsonl").read_text().splitlines()]
    assert [row["rubric"] for row in rows][-1] == "scorerag_total"
    assert rows[0]["value"] == 75


# Reading.


def test_an_article_as_text_keeps_its_marks_and_sources_and_loses_them_blind() -> None:
    text = article_text(ARTICLE)

    assert text == (
        "Tainan opens centres\n\nThe river rose 3.2 metres. [1] Six centres opened.\n\nBackground\n\nIt rained. [1]\n\n"
        "Sources\n[1] River, Tainan Post, 2024-05-03\n[2] Gone"
    )
    assert unmarked(text) == (
        "Tainan opens centres\n\nThe river rose 3.2 metres. Six centres opened.\n\nBackground\n\nIt rained."
    )


def test_chinese_sentences_stand_without_spaces() -> None:
    claims = (Claim("c2", "河水上漲。", (Citation(1, "river"),)), Claim("c3", "開設收容中心。"))

    assert (
        article_text(Article("水災", Claim("c1", "臺南水災"), claims, (), ()))
        == "臺南水災\n\n河水上漲。[1]開設收容中心。"
    )


@pytest.mark.parametrize("kind", ["json", "md"])
def test_our_exports_are_read_with_their_writer_and_sources(tmp_path: Path, kind: str) -> None:
    file = tmp_path / f"flood.{kind}"
    render = render_json if kind == "json" else render_markdown
    file.write_text(render(ARTICLE, provenance=PROVENANCE), encoding="utf-8")

    found = read_articles([str(file)], sources=sources_in({"river": RIVER}))
    (item,) = found.items
    assert (item.id, item.system, item.contexts) == ("Flood relief", ARTICLE.writer, (f"River\n{RIVER.text}",))
    assert "The river rose 3.2 metres. [1]" in item.answer
    assert found.writers == ((ARTICLE.writer, ARTICLE.writer),)
    assert found.notes == (f"{file}: 1 of its 2 sources are at hand; it is judged on those",)


def test_anybodys_text_has_its_first_line_as_topic_and_all_sources(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Flood relief\n\nIt rained [1].", encoding="utf-8")
    (tmp_path / "b.md").write_text("# Flood relief\n\nIt rained.", encoding="utf-8")

    found = read_articles([str(tmp_path / name) for name in ("a.txt", "b.md")], sources=sources_in({"river": RIVER}))
    assert [(item.id, item.system, len(item.contexts)) for item in found.items] == [
        ("Flood relief", "a", 1), ("Flood relief", "b", 1),
    ]  # fmt: skip
    assert len(found.notes) == 1
    assert "It is taken as a text whose first line is its topic." in found.notes[0]


def test_systems_are_named_or_are_their_folders(tmp_path: Path) -> None:
    for folder in ("plain", "best"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.txt").write_text("Flood\n\nIt rained.", encoding="utf-8")
    paths = [str(tmp_path / folder / "a.txt") for folder in ("plain", "best")]

    assert [item.system for item in read_articles(paths).items] == ["plain", "best"]
    assert [item.system for item in read_articles([f"x={paths[0]}", f"y={paths[1]}"]).items] == ["x", "y"]
    with pytest.raises(UsageError, match="has two articles on 'Flood'; name the systems"):
        read_articles([f"x={paths[0]}", f"x={paths[1]}"])


def test_rows_are_items_with_their_own_sources_and_known_writers(tmp_path: Path) -> None:
    rows = [
        {"id": "1", "question": "Flood", "answer": "It rained.", "contexts": ["s"], "system": "qwen2.5-7b"},
        {"id": "1", "question": "Flood", "answer": "It rained.", "system": "best"},
        {"id": "2", "question": "Flood", "output": "It rained."},
        {"id": "3"},
    ]
    file = tmp_path / "items.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")

    found = read_articles([str(file)])
    assert [item.system for item in found.items] == ["qwen2.5-7b", "best", "items"]
    assert found.writers == (("qwen2.5-7b", "qwen2.5-7b"),)
    assert [reject.line for reject in found.rejects] == [4]
    with pytest.raises(UsageError, match="the system 'mine' has two articles on '1'"):
        read_articles([f"mine={file}"])
    file.write_text(json.dumps(rows[2]), encoding="utf-8")
    (item,) = read_articles([f"mine={file}"], mapping={"answer": "output"}).items
    assert (item.system, item.answer) == ("mine", "It rained.")


@pytest.mark.parametrize(
    ("name", "content", "error", "match"),
    [
        ("a.txt", "  \n", UsageError, "is empty"),
        ("a.json", "{", UnreadableInput, "not JSON"),
        ("gone.txt", None, UnreadableInput, "cannot be read"),
        ("gone.json", None, UnreadableInput, "cannot be read"),
    ],
)
def test_what_is_no_article_is_refused(
    tmp_path: Path, name: str, content: str | None, error: type[Exception], match: str
) -> None:
    if content is not None:
        (tmp_path / name).write_text(content, encoding="utf-8")
    with pytest.raises(error, match=match):
        read_articles([str(tmp_path / name)])


def test_a_folder_of_sources_is_read_by_id_and_an_empty_one_refused(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "sources").mkdir()
    (tmp_path / "sources" / "river.txt").write_text("The river rose.", encoding="utf-8")

    (document,) = read_folder(tmp_path / "sources").values()
    assert document.text == "The river rose."
    with pytest.raises(UnreadableInput, match="holds no source that can be read"):
        read_folder(tmp_path / "empty")


def test_an_articles_sources_come_first_and_all_where_it_lists_none() -> None:
    other = Document("other", "Other.")

    assert sources_in({"river": RIVER, "other": other})(ARTICLE) == [RIVER]
    assert sources_in({"river": RIVER, "other": other})(None) == [RIVER, other]
    assert sources_in({"other": other})(ARTICLE) == [other]


def test_an_archive_gives_what_an_article_lists_and_nothing_else() -> None:
    archive = Archive(MemoryStore(128), HashEmbedder(64), manifest=Manifest("hash:64", 64))
    archive.add([RIVER])

    assert [one.id for one in sources_of_archive(archive)(ARTICLE)] == ["river"]
    assert sources_of_archive(archive)(None) == []


def test_an_article_longer_than_the_models_context_is_unscored_with_the_reason(ledger: Ledger) -> None:
    model = ScriptedModel(lambda _: numbers(3), capabilities=Capabilities(context_tokens=4000))
    long = Item("long", "Flood", ("The river rose.",), "Water came again. " * 3000, None, "plain")
    found = scored(ledger, model, ArticleItems((*given(2).items, long), ()))

    rows = {(row.item_id, row.system): row for row in found.judgements if row.rubric == "scorerag_total"}
    assert rows["long", "plain"].value is None
    assert "nothing was sent" in rows["long", "plain"].reason
    assert all(row.value is not None for (item, _), row in rows.items() if item != "long")
