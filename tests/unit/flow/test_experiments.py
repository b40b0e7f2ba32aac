"""Questions by systems: what is read, what each system makes of it, and what stands in the files."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from decimal import Decimal
from pathlib import Path

import pytest

from groundwire.core.errors import SettingError, UsageError
from groundwire.core.types import Document
from groundwire.evaluation.items import read_items
from groundwire.flow.archives import open_archive
from groundwire.flow.experiments import AskedOfAll, read_asked, run_systems, systems_models
from groundwire.flow.ledger import Ledger
from groundwire.flow.pace import Limits
from groundwire.flow.plan import Price
from groundwire.flow.results import read_result_files
from groundwire.flow.runs import How, recorded
from groundwire.flow.settings import Loaded, Settings, load, system_settings
from groundwire.flow.settings_file import systems_of
from groundwire.flow.sourcing import Assistant
from groundwire.retrieval.index import Archive
from groundwire.testing import ScriptedModel

TEXT = "The harbour of Port Ellery was flooded on Monday night. In Port Ellery 4,200 homes had no power."
QUESTIONS = (
    AskedOfAll("q1", "How many homes in Port Ellery had no power?", "4,200", "a"),
    AskedOfAll("q2", "Who painted the Sistine Chapel in Rome?"),
)
SYSTEMS = {
    "words": {"search": {"mode": "lexical", "budget_tokens": 60}},
    "model": {"search": {"preset": "passages"}, "answer": {"model": "scripted:test", "form": "short"}},
}


@pytest.fixture
def archive() -> Archive:
    made = open_archive("memory:", embedder="hash:64")
    made.add([Document("first", TEXT, language="en")])
    return made


def settings(**systems: object) -> Settings:
    return Settings.model_validate({"systems": systems or SYSTEMS, "search": {"k": 20}})


@contextmanager
def asking(
    model: ScriptedModel, prices: Mapping[str, Price] | None = None
) -> Iterator[Callable[[str], AbstractContextManager[Assistant]]]:
    how = How(limits=Limits(at_first=1, at_once=1), prices=prices or {})
    with Ledger(":memory:") as ledger, recorded(
        ledger, command=["run"], settings=Loaded(Settings(), {}), how=how
    ) as recording:  # fmt: skip

        @contextmanager
        def ask(name: str) -> Iterator[Assistant]:
            assert name == "scripted:test"
            yield Assistant(model, recording)

        yield ask


def test_every_system_answers_every_question_in_order(archive: Archive, tmp_path: Path) -> None:
    model = ScriptedModel(["4,200 [S1.2]", "The archive does not say."])
    price = {"scripted:test": Price(Decimal(1), Decimal(2))}
    with asking(model, price) as ask:
        done = run_systems(archive, QUESTIONS, settings=settings(), folder=tmp_path / "out", ask=ask)

    assert [each.system for each in done] == ["words", "model"]
    assert [(each.count("abstained"), each.unscored) for each in done] == [(1, 0), (1, 0)]
    by_model = [json.loads(line) for line in (tmp_path / "out" / "model.jsonl").read_text("utf-8").splitlines()]
    assert [(row["id"], row["answer"], row["reference"]) for row in by_model] == [
        ("q1", "4,200", "4,200"),
        ("q2", "The archive does not say.", None),
    ]
    first = by_model[0]
    assert first["tokens"] == first["input_tokens"] + first["output_tokens"] > 0
    assert first["cost"] == pytest.approx((first["input_tokens"] + 2 * first["output_tokens"]) / 1e6)
    assert (first["cluster"], "cluster" in by_model[1]) == ("a", False)
    start, end = first["citations"][0][1:]
    assert "4,200" in TEXT[start:end]
    assert "seconds" in first
    by_words = [json.loads(line) for line in (tmp_path / "out" / "words.jsonl").read_text("utf-8").splitlines()]
    assert "tokens" not in by_words[0]
    assert by_words[0]["support"] == ["supported"]


def test_compare_and_judge_read_what_is_written(archive: Archive, tmp_path: Path) -> None:
    with asking(ScriptedModel(["4,200 [S1.2]", "The archive does not say."])) as ask:
        done = run_systems(archive, QUESTIONS, settings=settings(), folder=tmp_path, ask=ask)

    for each in done:
        reading = read_items(each.file)
        assert (len(reading.items), reading.rejects) == (2, ())
        assert {item.system for item in reading.items} == {each.system}
    results = read_result_files([each.file for each in done])
    assert results


def test_a_reply_that_cannot_be_read_is_counted(archive: Archive, tmp_path: Path) -> None:
    with asking(ScriptedModel(["", "[S1.1]"])) as ask:
        (done,) = run_systems(archive, QUESTIONS, settings=settings(model=SYSTEMS["model"]), folder=tmp_path, ask=ask)
    assert done.unscored == 2


def test_a_table_of_a_system_beats_the_settings_of_all() -> None:
    found = Settings.model_validate(
        {
            "search": {"preset": "passages", "budget_tokens": 300},
            "systems": {"one": {}, "two": {"search": {"preset": "best"}}, "three": {"search": {"mode": "dense"}}},
        }
    )
    one, two, three = (system_settings(found, name).search for name in ("one", "two", "three"))

    assert one == found.search
    alone = Settings.model_validate({"search": {"preset": "best", "budget_tokens": 300}}).search
    assert two == alone
    assert (three.mode, three.shape) == ("dense", found.search.shape)


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"search": {"mode": "psychic"}}, r"systems\.one\.search\.mode is 'psychic'"),
        ({"answer": {"modle": "x"}}, r"systems\.one\.answer\.modle"),
        ({"pack": {"headers": "perhaps"}}, r"systems\.one\.pack\.headers"),
    ],
)
def test_a_table_that_sets_what_there_is_not_is_refused_before_anything_is_asked(
    archive: Archive, tmp_path: Path, table: object, words: str
) -> None:
    with pytest.raises(SettingError, match=words):
        run_systems(archive, QUESTIONS, settings=settings(fine={}, one=table), folder=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_bad_use_is_refused(archive: Archive, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"\[systems\.best\]"):
        run_systems(archive, QUESTIONS, settings=Settings(), folder=tmp_path)
    with pytest.raises(UsageError, match="no questions"):
        run_systems(archive, (), settings=settings(one={}), folder=tmp_path)
    with pytest.raises(UsageError, match="scripted:test"):
        run_systems(archive, QUESTIONS, settings=settings(), folder=tmp_path)
    with pytest.raises(UsageError, match=r"'\.\./x' cannot name a file"):
        run_systems(archive, QUESTIONS, settings=settings(**{"../x": {}}), folder=tmp_path)
    with pytest.raises(SettingError, match="have: words, model"):
        system_settings(settings(), "other")
    assert systems_models(settings()) == ("scripted:test",)


def test_questions_are_read_and_what_is_unfit_is_named(tmp_path: Path) -> None:
    rows = [
        {"id": "a", "question": "Who?", "answers": ["Anna", "A. Reed"], "article": "x"},
        {"question": "When?", "reference": "Monday"},
        {"id": "a", "question": "Again?"},
        {"id": "b", "question": " "},
        {"id": "c", "question": ["no"]},
        {"id": "d", "question": "What?", "answers": []},
    ]
    file = tmp_path / "questions.jsonl"
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")

    found = read_asked(file)

    assert found.questions == (
        AskedOfAll("a", "Who?", "Anna", "x"),
        AskedOfAll("q2", "When?", "Monday"),
        AskedOfAll("d", "What?"),
    )
    assert [(reject.line, reject.reason) for reject in found.rejects] == [
        (3, "the id 'a' was already read on line 1"),
        (4, "there is no question; it stands under one of: question, query, user_input, input"),
        (5, "the question is a list, not a text"),
    ]
    assert found.rows == 6


def test_systems_are_read_from_the_settings_of_a_folder_or_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "groundwire.toml"
    file.write_text('[systems.best]\nsearch.preset = "best"\n[systems.plain.pack]\nheaders = true\n', encoding="utf-8")

    loaded = load(folder=tmp_path, environment={}, flags={}).settings

    assert list(loaded.systems) == ["best", "plain"]
    assert loaded == load(folder=tmp_path / "x", environment={}, flags={"systems": systems_of(file)}).settings
    assert system_settings(loaded, "plain").pack.headers


@pytest.mark.parametrize("text", ["[search]\nk = 3\n", "[systems\n", "systems = 3\n"])
def test_a_file_without_systems_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "other.toml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(SettingError, match=r"other\.toml"):
        systems_of(file)
    with pytest.raises(SettingError, match=r"absent\.toml"):
        systems_of(tmp_path / "absent.toml")
