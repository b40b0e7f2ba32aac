"""The command line: what it prints where, and the exit statuses."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

import pytest

from groundwire.cli.main import run

pytest.importorskip("lancedb", reason="the extra 'archive' is not installed")

SAMPLE = Path(str(files("groundwire.sample"))) / "stories.jsonl"
TOPIC = "Typhoon Corva floods Wangchao"


@dataclass(frozen=True)
class Done:
    status: int
    out: str
    err: str


Command = Callable[..., Done]


@pytest.fixture
def groundwire(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Run ``groundwire ARGS`` in an empty folder, with the hash embedder unless told otherwise."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GROUNDWIRE_EMBEDDER", "hash:64")

    def call(*words: str | Path) -> Done:
        monkeypatch.setattr("sys.argv", ["groundwire", *map(str, words)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            run()
        printed = capsys.readouterr()
        return Done(int(ended.value.code or 0), printed.out, printed.err)

    return call


@pytest.fixture
def archive(groundwire: Command) -> str:
    """An archive of the sample's stories."""
    assert groundwire("add", SAMPLE, "--archive", "sample.archive").status == 0
    return "sample.archive"


def test_help_names_every_command(groundwire: Command) -> None:
    done = groundwire("--help")

    assert done.status == 0
    for name in ("add", "remove", "search", "write", "verify", "judge", "show", "models", "doctor", "demo"):
        assert f"\n  {name} " in done.out


def test_the_version_is_that_of_the_package(groundwire: Command) -> None:
    from groundwire import __version__

    assert __version__ in groundwire("--version").out


def test_adding_again_changes_nothing(groundwire: Command, archive: str) -> None:
    again = groundwire("add", SAMPLE, "-a", archive, "--json")

    assert again.status == 0
    assert "0 new, 0 changed, 40 unchanged" in again.err
    assert json.loads(again.out)["archive"]["unchanged"] == 40


def test_rejected_rows_are_listed_and_the_exit_status_says_so(groundwire: Command) -> None:
    Path("rows.jsonl").write_text('{"text": "The river rose by two metres."}\n{"title": "no text"}\n{"text": ', "utf-8")

    done = groundwire("add", "rows.jsonl", "missing.txt", "-a", "a.archive", "--rejects", "out/rejects.jsonl")

    assert done.status == 1
    rejected = [json.loads(line) for line in Path("out/rejects.jsonl").read_text("utf-8").splitlines()]
    assert [(Path(row["file"]).name, row["line"]) for row in rejected] == [
        ("missing.txt", None),
        ("rows.jsonl", 2),
        ("rows.jsonl", 3),
    ]
    assert all(row["reason"] for row in rejected)
    assert "1 documents, 0 repeated, 3 rejected" in done.err


def test_a_rejects_file_of_an_earlier_run_goes_when_nothing_is_rejected(groundwire: Command) -> None:
    Path("a.txt").write_text("The river rose.", "utf-8")
    Path("old.jsonl").write_text("{}\n", "utf-8")

    assert groundwire("add", "a.txt", "-a", "a.archive", "--rejects", "old.jsonl").status == 0
    assert not Path("old.jsonl").exists()


def test_fields_can_be_mapped(groundwire: Command) -> None:
    Path("rows.jsonl").write_text('{"news": "The river rose by two metres.", "head": "Flood"}\n', "utf-8")

    done = groundwire("add", "rows.jsonl", "--map", "text=news,title=head", "-a", "a.archive")

    assert done.status == 0
    assert "text from 'news'" in done.err


@pytest.mark.parametrize("mode", ["dense", "lexical", "hybrid"])
def test_search_finds_sentences_with_their_places(groundwire: Command, archive: str, mode: str) -> None:
    done = groundwire(
        "search", "How many people did Typhoon Corva kill?", "-a", archive, "--mode", mode, "-k", "3", "--json"
    )

    hits = json.loads(done.out)
    assert done.status == 0
    assert [hit["rank"] for hit in hits] == [1, 2, 3]
    assert any("Corva" in hit["sentence"]["text"] for hit in hits)


@pytest.mark.parametrize("preset", ["passages", "sentences", "pareto", "window", "dslr", "mmr", "best"])
def test_search_takes_a_preset_by_name(groundwire: Command, archive: str, preset: str) -> None:
    done = groundwire("search", "How many people did Typhoon Corva kill?", "-a", archive, "--preset", preset, "--json")

    found = json.loads(done.out)
    assert done.status == 0
    assert len(found) == 30
    assert (found[0]["bm25"] is not None) == (preset == "best")


def test_a_mode_beside_a_preset_wins(groundwire: Command, archive: str) -> None:
    done = groundwire("search", "Corva", "-a", archive, "--preset", "window", "--mode", "lexical", "-k", "3", "--json")

    assert [hit["similarity"] for hit in json.loads(done.out)] == [None] * 3


def test_search_prints_lines_for_people(groundwire: Command, archive: str) -> None:
    done = groundwire("search", "Corva", "-a", archive, "-k", "1", "--mode", "lexical")

    first, second = done.out.splitlines()
    assert first.startswith("  1  ")
    assert "bm25" in second


def test_search_respects_its_filters(groundwire: Command, archive: str) -> None:
    done = groundwire("search", "鐘", "-a", archive, "--language", "zh-TW", "--since", "1900-01-01", "--json")

    found = {hit["sentence"]["document_id"] for hit in json.loads(done.out)}
    languages = {row["id"]: row["language"] for row in map(json.loads, SAMPLE.read_text("utf-8").splitlines())}
    assert found
    assert {languages[name] for name in found} == {"zh-TW"}


def test_search_packs_under_a_budget(groundwire: Command, archive: str) -> None:
    done = groundwire("search", "Corva", "-a", archive, "--pack", "60", "--json")

    packed = json.loads(done.out)
    assert 0 < packed["tokens"] <= packed["budget"] == 60
    assert all(item["reason"] for item in packed["dropped"])
    assert "of 60 tokens" in groundwire("search", "Corva", "-a", archive, "--pack", "60").err


def test_search_packs_with_headers_and_says_what_was_left_out(groundwire: Command, archive: str) -> None:
    Path("groundwire.toml").write_text("[pack]\nheaders = true\nper_story = 1\n", "utf-8")

    done = groundwire("search", "Corva", "-a", archive, "--pack", "60")

    assert done.status == 0
    assert re.search(r"^# .+ \(\d{4}-\d\d-\d\d\)$", done.out, re.MULTILINE)
    assert "of 60 tokens (estimate)" in done.err
    assert re.search(r"left out, rank \d+: .*\d+ tokens do not fit", done.err)


def test_search_holds_to_phrases(groundwire: Command, archive: str) -> None:
    done = groundwire("search", 'where did "Typhoon Corva" land', "-a", archive, "--phrases", "--json")
    without = groundwire("search", 'where did "Corva typhoon" land', "-a", archive, "--phrases")

    assert done.status == 0
    assert all("typhoon corva" in hit["sentence"]["text"].lower() for hit in json.loads(done.out))
    assert without.status == 1


def test_search_that_finds_nothing_exits_with_1(groundwire: Command, archive: str) -> None:
    done = groundwire("search", "river", "-a", archive, "--source", "No Such Paper")

    assert done.status == 1
    assert "nothing found" in done.err


def test_write_prints_markdown_whose_claims_are_all_supported(groundwire: Command, archive: str) -> None:
    done = groundwire("write", TOPIC, "-a", archive)

    assert done.status == 0, done.err
    assert done.out.startswith("# ")
    assert "\n## Sources\n" in done.out
    assert "claims supported" in done.err


@pytest.mark.parametrize("topic", [TOPIC, "瀾福宮古鐘歸還"])
def test_write_saves_every_export_and_verify_reads_them_back(groundwire: Command, archive: str, topic: str) -> None:
    done = groundwire("write", topic, "-a", archive, "-o", "x/a.md", "-o", "x/a.html", "-o", "x/a.json")

    assert done.status == 0
    assert done.out == ""
    assert Path("x/a.html").read_text("utf-8").startswith("<!doctype html>")
    for name in ("x/a.md", "x/a.json"):
        checked = groundwire("verify", name, "-a", archive, "--json")
        assert checked.status == 0, checked.out
        assert {verdict["support"] for verdict in json.loads(checked.out)} == {"supported"}


def test_verify_finds_a_number_that_was_changed_by_hand(groundwire: Command, archive: str) -> None:
    groundwire("write", TOPIC, "-a", archive, "-o", "a.md")
    text = Path("a.md").read_text("utf-8")
    body, sources = text.split("\n## Sources\n")
    number = re.search(r"(?<= )\d{2,3}(?= (?:people|millimetres|centimetres|homes|kilometres))", body)
    assert number is not None
    changed = str(int(number[0]) + 111)
    edited = body[: number.start()] + changed + body[number.end() :]
    Path("a.md").write_text(f"{edited}\n## Sources\n{sources}", "utf-8")

    done = groundwire("verify", "a.md", "-a", archive)

    assert done.status == 1
    assert changed in done.out
    assert done.out.count("contradicted ") == 1


def test_write_refuses_with_what_was_searched_when_there_is_nothing(groundwire: Command, archive: str) -> None:
    done = groundwire("write", "Quantum chromodynamics lattice simulations", "-a", archive, "-o", "none.md")

    assert done.status == 1
    assert "no article was written" in done.err
    assert "searched: archive sample.archive: 40 documents" in done.err
    assert not Path("none.md").exists()


def test_write_can_add_files_first(groundwire: Command) -> None:
    done = groundwire("write", TOPIC, "--from", SAMPLE, "-a", "new.archive", "--json")

    assert done.status == 0, done.err
    assert json.loads(done.out)["schema"] == "groundwire.article/1"


def test_judge_prints_the_five_rubrics_with_intervals(groundwire: Command) -> None:
    answers = ("It rose by two metres.", "It rose by nine metres.", "The archive does not say.")
    rows = [
        {
            "id": str(number),
            "question": "How far did the river rise?",
            "contexts": ["The river rose by two metres on Monday."],
            "answer": answer,
            "reference": "two metres",
        }
        for number, answer in enumerate(answers)
    ]
    Path("items.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")

    done = groundwire("judge", "items.jsonl", "--embedder", "hash:64", "-o", "judgements.jsonl")

    assert done.status == 0, done.err
    assert len(Path("judgements.jsonl").read_text("utf-8").splitlines()) == 15
    assert "answer_correctness" in done.out
    assert "abstained 1" in done.out
    assert "bootstrap" in done.err


def test_judge_rejects_a_row_aloud(groundwire: Command) -> None:
    Path("items.jsonl").write_text('{"id": "1", "question": "q", "answer": "a", "contexts": ["c"]}\n[]\n', "utf-8")

    done = groundwire("judge", "items.jsonl", "--embedder", "hash:64", "--rubric", "question_relevance", "--json")

    assert done.status == 1
    assert "row 2 rejected" in done.err
    assert len(json.loads(done.out)) == 1


def test_show_tells_of_archive_settings_and_document(groundwire: Command, archive: str) -> None:
    assert "documents: 40" in groundwire("show", "-a", archive).out
    document = groundwire("show", "typhoon-wire-01", "-a", archive)
    assert "Typhoon Corva kills 12" in document.out
    assert json.loads(groundwire("show", "typhoon-wire-01", "-a", archive, "--json").out)["sentences"][0]["start"] == 0
    assert "environment" in groundwire("show", "settings").out
    missing = groundwire("show", "no-such-id", "-a", archive)
    assert missing.status == 1
    assert "no document 'no-such-id'" in missing.err


def test_models_lists_what_can_be_had(groundwire: Command) -> None:
    listed = groundwire("models", "list")

    assert "e5-small" in listed.out
    assert "MIT" in listed.out
    assert groundwire("models", "path").out.strip()
    assert "Did you mean 'e5-small'" in groundwire("models", "pull", "e5-smal").err


def test_doctor_tries_the_store_and_the_embedder(groundwire: Command) -> None:
    done = groundwire("doctor")

    assert done.status == 0
    assert "a sentence was written, indexed and found again" in done.out
    assert "hash:64: 64 numbers" in done.out


def test_demo_writes_and_checks_both_languages(groundwire: Command) -> None:
    done = groundwire("demo", "shown")

    assert done.status == 0, done.err
    for name in ("typhoon", "temple-bell"):
        assert Path(f"shown/{name}.html").exists()
    assert done.out.count("file://") == 2


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (["search", " ", "-a", "ARCHIVE"], 2, "the query is blank"),
        (["search", "x", "-a", "ARCHIVE", "-k", "0"], 2, "search.k is 0 (flag)"),
        (["search", "x", "-a", "ARCHIVE", "--sentence-weight", "1.5"], 2, "search.sentence_weight is 1.5"),
        (["search", "x", "-a", "ARCHIVE", "--since", "May"], 2, "--since"),
        (["search", "x", "-a", "none.archive"], 3, "there is no archive at none.archive"),
        (["search", "x", "--archiv", "y"], 2, "--archive"),
        (["serch", "x"], 2, "search"),
        (["write", " ", "-a", "ARCHIVE"], 2, "blank"),
        (["write", "x", "-a", "ARCHIVE", "-o", "a.odt"], 2, "ends in none of"),
        (["verify", "missing.md", "-a", "ARCHIVE"], 3, "missing.md cannot be read"),
        (["judge", "missing.jsonl"], 3, "missing.jsonl"),
        (["judge", "items.jsonl", "--rubric", "charm"], 2, "charm"),
        (["judge", "items.jsonl", "--map", "answer"], 2, "ours=theirs"),
        (["add", "x.jsonl", "--map", "txet=a", "-a", "new.archive"], 2, "text"),
        (["add", "x.jsonl", "--embedder", "hash:32", "-a", "ARCHIVE"], 3, "hash:64"),
        (["add", "x.jsonl", "--context", "exact", "-a", "ARCHIVE"], 3, "context"),
        (["models", "pull", "nothing-like-it"], 2, "There are"),
        (["add"], 2, "PATHS"),
        (["add", "nowhere/", "n*.txt", "-a", "new.archive"], 2, "there is nothing at 'nowhere/', 'n*.txt'"),
        (["write", "x", "--from", "nowhere", "-a", "new.archive"], 2, "there is nothing at 'nowhere'"),
        (["search", "x", "-a", "ARCHIVE", "--since", "2024-02-01", "--until", "2024-01-01"], 2, "is the later one"),
        (["verify", "a.html", "-a", "ARCHIVE"], 2, "is for readers"),
        (["judge", "items.jsonl", "--embedder", "local:e6"], 2, "Did you mean"),
        (["search", "\udcef\udcbc", "-a", "ARCHIVE"], 2, "PYTHONUTF8=1"),
    ],
)
def test_wrong_requests_get_one_clear_line_and_no_traceback(
    groundwire: Command, archive: str, words: list[str], status: int, said: str
) -> None:
    Path("items.jsonl").write_text('{"id": "1", "question": "q", "answer": "a"}\n', "utf-8")
    Path("x.jsonl").write_text('{"text": "The river rose."}\n', "utf-8")

    done = groundwire(*[archive if word == "ARCHIVE" else word for word in words])

    assert done.status == status, done.err
    assert said in done.err
    assert "Traceback" not in done.err
    assert done.out == ""


def test_an_unknown_setting_in_the_file_is_named(groundwire: Command) -> None:
    Path("groundwire.toml").write_text("[search]\nmoed = 'dense'\n", "utf-8")

    done = groundwire("show", "settings")

    assert done.status == 2
    assert "'search.mode'" in done.err


def test_a_path_that_is_not_there_makes_no_archive(groundwire: Command) -> None:
    groundwire("add", "nowhere", "-a", "new.archive")

    assert not Path("new.archive").exists()


def test_the_report_of_an_add_can_be_had_as_json_with_rejects_too(groundwire: Command) -> None:
    Path("rows.jsonl").write_text('{"text": "The river rose."}\n[]\n', "utf-8")

    done = groundwire("add", "rows.jsonl", "-a", "a.archive", "--json")

    assert done.status == 1
    assert json.loads(done.out)["rejects"].endswith("rejects.jsonl")
    assert "rows.jsonl:2: " in done.err


def test_a_search_that_finds_nothing_says_what_the_filters_could_have_asked_for(
    groundwire: Command, archive: str
) -> None:
    outlet = groundwire("search", "river", "-a", archive, "--source", "northline press agency")
    language = groundwire("search", "river", "-a", archive, "--language", "fr")
    day = groundwire("search", "river", "-a", archive, "--until", "1990-01-01")

    assert "'Northline Press Agency'" in outlet.err
    assert "languages: 'en', 'zh-TW'" in language.err
    assert "days: 202" in day.err


def test_a_language_without_a_region_means_all_its_regions(groundwire: Command, archive: str) -> None:
    assert groundwire("search", "鐘", "-a", archive, "--language", "ZH").status == 0


def test_show_lists_the_documents(groundwire: Command, archive: str) -> None:
    listed = json.loads(groundwire("show", "documents", "-a", archive, "--json").out)

    assert len(listed) == 40
    assert {"id", "published", "source", "language", "title"} == set(listed[0])
    assert "typhoon-wire-01" in groundwire("show", "documents", "-a", archive).out


def command_in(folder: Path, words: list[str], **environment: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "groundwire", *words],
        cwd=folder, env={**os.environ, **environment}, capture_output=True, check=False, timeout=120,
    )  # fmt: skip


def test_a_console_that_cannot_hold_a_character_gets_its_escape(archive: str) -> None:
    done = command_in(Path.cwd(), ["search", "鐘", "-a", archive, "--mode", "lexical"], PYTHONIOENCODING="cp1252")

    assert done.returncode == 0, done.stderr
    assert b"\\u" in done.stdout
    assert b"Traceback" not in done.stderr


def test_a_reader_that_has_seen_enough_is_no_error(archive: str) -> None:
    script = f"{sys.executable} -m groundwire show documents -a {archive} | head -1; echo ${{PIPESTATUS[0]}}"

    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False, timeout=120)

    assert done.stdout.splitlines()[-1] == "0", done.stderr
    assert "Traceback" not in done.stderr


def test_checking_and_searching_by_words_need_no_model(groundwire: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    groundwire("add", SAMPLE, "-a", "a.archive")
    groundwire("write", TOPIC, "-a", "a.archive", "-o", "a.md")
    manifest = Path("a.archive/manifest.json")
    manifest.write_text(manifest.read_text("utf-8").replace("hash:64", "local:minilm"), "utf-8")
    monkeypatch.delenv("GROUNDWIRE_EMBEDDER")
    monkeypatch.setenv("GROUNDWIRE_MODELS", "nowhere")

    assert groundwire("verify", "a.md", "-a", "a.archive").status == 0
    assert groundwire("search", "Corva", "--mode", "lexical", "-a", "a.archive").status == 0
    dense = groundwire("search", "Corva", "--mode", "dense", "-a", "a.archive")
    assert dense.status == 3
    assert "groundwire models pull minilm" in dense.err


def test_a_damaged_archive_is_named_without_a_traceback(groundwire: Command, archive: str) -> None:
    for file in Path(archive).glob("documents.lance/data/*"):
        file.write_bytes(b"junk" * 100)

    done = groundwire("show", "typhoon-wire-01", "-a", archive)

    assert done.status == 3
    assert "sample.archive" in done.err
    assert "Traceback" not in done.err


def test_documents_are_removed_by_id_and_what_is_not_there_is_said(groundwire: Command, archive: str) -> None:
    done = groundwire("remove", "typhoon-wire-01", "nobody", "-a", archive, "--json")

    assert done.status == 0
    assert "typhoon-wire-01: " in done.err
    assert "not in the archive: nobody" in done.err
    assert "1 documents removed, 1 not in the archive" in done.err
    assert json.loads(done.out)["documents"][0][0] == "typhoon-wire-01"
    assert groundwire("show", "typhoon-wire-01", "-a", archive).status == 1
    assert groundwire("remove", "typhoon-wire-01", "-a", archive).status == 1
    assert "1 new, 0 changed, 39 unchanged" in groundwire("add", SAMPLE, "-a", archive).err


def test_documents_whose_files_are_gone_are_removed_together(groundwire: Command) -> None:
    Path("stories").mkdir()
    for name in ("a", "b", "c"):
        Path(f"stories/{name}.txt").write_text(f"The river {name} rose.", "utf-8")
    Path("stories/d.txt").write_text("The river a rose.", "utf-8")
    assert groundwire("add", "stories", "-a", "a.archive").status == 0
    assert groundwire("remove", "--missing", "-a", "a.archive").status == 1
    for name in ("a", "b"):
        Path(f"stories/{name}.txt").unlink()

    done = groundwire("remove", "--missing", "-a", "a.archive")

    assert done.status == 0
    assert "b.txt" in done.err
    assert "a.txt" not in done.err  # d.txt holds the same
    assert "1 documents removed" in done.err
    assert "documents: 2" in groundwire("show", "-a", "a.archive").out.replace("  ", " ")


def test_removing_nothing_is_wrong_usage(groundwire: Command, archive: str) -> None:
    done = groundwire("remove", "-a", archive)

    assert done.status == 2
    assert "give ids of documents" in done.err
    assert groundwire("remove", "x", "-a", "none.archive").status == 3


def test_articles_and_archives_of_groundwire_are_no_sources(groundwire: Command, archive: str) -> None:
    Path("out").mkdir()
    for topic, name in ((TOPIC, "en"), ("颱風柯法 望潮", "zh")):
        names = [f"out/{name}{suffix}" for suffix in (".md", ".html", ".json")]
        groundwire("write", topic, "-a", archive, *[word for path in names for word in ("-o", path)])
    assert len(list(Path("out").iterdir())) == 6

    done = groundwire("add", ".", "-a", "other.archive", "--rejects", "rejects.jsonl")

    assert done.status == 1
    assert "rejected, own_export: 6" in done.err
    rows = [json.loads(line) for line in Path("rejects.jsonl").read_text("utf-8").splitlines()]
    assert {row["reason"] for row in rows if row["kind"] == "own_export"} == {
        "an article written by groundwire is no source"
    }
    assert sorted(Path(row["file"]).name for row in rows if row["kind"] == "skipped") == ["other.archive", archive]


def test_an_archive_that_another_process_writes_to_is_named(
    groundwire: Command, archive: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from groundwire.retrieval import files as module

    monkeypatch.setattr(module.only_writer.__wrapped__, "__kwdefaults__", {"wait_seconds": 0.1})
    with module.only_writer(Path(archive)):
        adding, removing = groundwire("add", SAMPLE, "-a", archive), groundwire("remove", "x", "-a", archive)
        reading = groundwire("show", "typhoon-wire-01", "-a", archive)

    assert (adding.status, removing.status, reading.status) == (3, 3, 0)
    assert f"another process is writing to {archive}" in adding.err
    assert f"another process is writing to {archive}" in removing.err
