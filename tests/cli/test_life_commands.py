"""The commands for the life of an archive: what they print where, and their exit statuses."""

import json
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from shutil import copytree

import pytest

from chroma_folder import Record, cut, write_chroma
from groundwire.cli.main import run
from groundwire.flow.archives import open_archive, opened
from groundwire.retrieval.readers import read_documents

pytest.importorskip("lancedb", reason="the extra 'archive' is not installed")

SAMPLE = Path(str(files("groundwire.sample"))) / "stories.jsonl"
LAST_DAY = "2025-10-06"
Ended = tuple[int, str, str]
Command = Callable[..., Ended]


@pytest.fixture
def groundwire(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]) -> Command:
    """Run ``groundwire ARGS`` in an empty folder with the hash embedder: status, stdout, stderr."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GROUNDWIRE_EMBEDDER", "hash:64")

    def call(*words: str | Path) -> Ended:
        monkeypatch.setattr("sys.argv", ["groundwire", *map(str, words)])
        capfdbinary.readouterr()
        with pytest.raises(SystemExit) as ended:
            run()
        printed = capfdbinary.readouterr()
        return int(ended.value.code or 0), printed.out.decode(), printed.err.decode()

    return call


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An archive of the sample's stories, made once."""
    folder = tmp_path_factory.mktemp("made") / "sample.archive"
    with opened(open_archive(folder, embedder="hash:64")) as archive:
        archive.add(read_documents(SAMPLE))
    return folder


@pytest.fixture
def archive(groundwire: Command, made: Path) -> str:  # noqa: ARG001 - first the folder, then the copy in it
    """A copy of that archive in the current folder."""
    copytree(made, "sample.archive")
    return "sample.archive"


def test_status_says_what_an_archive_is_and_holds(groundwire: Command, archive: str) -> None:
    status, out, _ = groundwire("status", "-a", archive)

    lines = out.splitlines()
    assert status == 0
    for line in ("documents: 40", "embedder: hash:64", "being written: no", f"published to: {LAST_DAY}"):
        assert line in lines
    assert any(line.startswith("languages: en ") and "zh-TW" in line for line in lines)


def test_status_and_show_archive_are_one_truth(groundwire: Command, archive: str) -> None:
    for flags in ((), ("--json",)):
        assert groundwire("status", "-a", archive, *flags) == groundwire("show", "archive", "-a", archive, *flags)


def test_status_as_json_has_facts_and_snapshots(groundwire: Command, archive: str) -> None:
    groundwire("snapshot", "first", "-a", archive)

    status, out, _ = groundwire("status", "-a", archive, "--json")

    facts = json.loads(out)
    assert status == 0
    assert (facts["documents"], facts["being_written"], facts["unindexed"]) == (40, False, 0)
    assert facts["snapshots"]["first"]["documents"] == 40
    assert facts["bytes"] > 10_000


def test_an_export_is_added_to_a_new_archive_with_the_same_sentences(groundwire: Command, archive: str) -> None:
    status, out, err = groundwire("export", "-a", archive, "-o", "out/stories.jsonl")
    assert (status, out) == (0, "")
    assert "40 documents exported" in err

    assert groundwire("add", "out/stories.jsonl", "-a", "again.archive")[0] == 0

    query = ("search", "How many people did Typhoon Corva kill?", "-k", "5", "--json")
    assert groundwire(*query, "-a", archive)[1] == groundwire(*query, "-a", "again.archive")[1]
    first, again = groundwire("export", "-a", archive)[1], groundwire("export", "-a", "again.archive")[1]
    assert first == Path("out/stories.jsonl").read_text("utf-8")
    for one, other in zip(first.splitlines(), again.splitlines(), strict=True):
        assert {**json.loads(one), "origin": ""} == {**json.loads(other), "origin": ""}


def test_an_export_replaces_a_file_only_with_force(groundwire: Command, archive: str) -> None:
    Path("stories.jsonl").write_text("precious", "utf-8")

    status, _, err = groundwire("export", "-a", archive, "-o", "stories.jsonl")
    assert status == 2
    assert "--force" in err
    assert Path("stories.jsonl").read_text("utf-8") == "precious"

    assert groundwire("export", "-a", archive, "-o", "stories.jsonl", "--force")[0] == 0


def test_a_snapshot_answers_as_the_archive_did(groundwire: Command, archive: str) -> None:
    query = ("search", "Typhoon Corva", "-k", "3", "--json", "-a", archive)
    before = groundwire(*query)
    status, out, _ = groundwire("snapshot", "before", "-a", archive)
    assert status == 0
    assert out.startswith("before: ")
    found = {hit["sentence"]["document_id"] for hit in json.loads(before[1])}
    assert groundwire("remove", *found, "-a", archive)[0] == 0
    assert groundwire("compact", "-a", archive)[0] == 0

    assert groundwire(*query)[1] != before[1]
    assert groundwire(*query, "--snapshot", "before") == before
    assert json.loads(groundwire("status", "-a", archive, "--snapshot", "before", "--json")[1])["documents"] == 40
    assert len(groundwire("export", "-a", archive, "--snapshot", "before")[1].splitlines()) == 40
    assert len(groundwire("show", "documents", "-a", archive, "--snapshot", "before")[1].splitlines()) == 41


def test_an_article_is_written_and_verified_from_a_snapshot(groundwire: Command, archive: str) -> None:
    groundwire("snapshot", "s", "-a", archive)
    ids = [json.loads(line)["id"] for line in groundwire("export", "-a", archive)[1].splitlines()]
    groundwire("remove", *ids, "-a", archive)
    topic = "Typhoon Corva floods Wangchao"

    assert groundwire("write", topic, "-a", archive)[0] == 1
    assert groundwire("write", topic, "-a", archive, "--snapshot", "s", "-o", "article.json")[0] == 0
    assert groundwire("verify", "article.json", "-a", archive, "--snapshot", "s")[0] == 0
    assert groundwire("verify", "article.json", "-a", archive)[0] == 1


def test_snapshots_are_listed_and_forgotten(groundwire: Command, archive: str) -> None:
    for name in ("b", "a"):
        assert groundwire("snapshot", name, "-a", archive)[0] == 0

    listed = groundwire("snapshot", "--list", "-a", archive)[1].splitlines()
    assert [line.partition(":")[0] for line in listed] == ["a", "b"]
    status, out, err = groundwire("snapshot", "--forget", "a", "-a", archive)
    assert (status, out) == (0, "")
    assert "'a' is forgotten" in err
    assert [row["name"] for row in json.loads(groundwire("snapshot", "--list", "-a", archive, "--json")[1])] == ["b"]


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        ((), 2, "one of them"),
        (("x", "--list"), 2, "one of them"),
        (("taken",), 2, "taken"),
        (("../x",), 2, "../x"),
        (("--forget", "none"), 3, "none"),
    ],
)
def test_a_wrong_request_for_a_snapshot_is_refused(
    groundwire: Command, archive: str, words: tuple[str, ...], status: int, said: str
) -> None:
    groundwire("snapshot", "taken", "-a", archive)

    found, _, err = groundwire("snapshot", *words, "-a", archive)

    assert found == status
    assert said in err


@pytest.mark.parametrize("command", [("search", "flood"), ("status",), ("export",), ("show", "documents")])
def test_a_snapshot_that_is_not_there_is_named(groundwire: Command, archive: str, command: tuple[str, ...]) -> None:
    status, out, err = groundwire(*command, "-a", archive, "--snapshot", "gone")

    assert (status, out) == (3, "")
    assert "gone" in err


def test_files_are_not_added_to_a_snapshot(groundwire: Command, archive: str) -> None:
    status, _, err = groundwire("write", "x", "-a", archive, "--snapshot", "s", "--from", SAMPLE)

    assert status == 2
    assert "--from" in err


def test_compact_says_what_it_did(groundwire: Command, archive: str) -> None:
    status, out, err = groundwire("compact", "-a", archive, "--json")

    done = json.loads(out)
    assert status == 0
    assert done["bytes_after"] <= done["bytes_before"]
    assert "bytes before" in err


@pytest.mark.parametrize(
    "command", [("status",), ("compact",), ("export",), ("snapshot", "s"), ("rebuild", "new.archive")]
)
def test_there_is_nothing_to_do_without_an_archive(groundwire: Command, command: tuple[str, ...]) -> None:
    status, out, err = groundwire(*command, "-a", "none.archive")

    assert (status, out) == (3, "")
    assert "none.archive" in err
    assert not Path("none.archive").exists()


def test_a_rebuilt_archive_holds_the_same_under_another_embedder(
    groundwire: Command, archive: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = groundwire("export", "-a", archive)[1]

    status, out, err = groundwire("rebuild", "new.archive", "-a", archive, "--embedder", "hash:32", "--json")

    assert status == 0
    assert json.loads(out)["added"] == 40
    assert "new.archive: 40 documents" in err
    assert groundwire("rebuild", "new.archive", "-a", archive)[0] == 3
    monkeypatch.setenv("GROUNDWIRE_EMBEDDER", "hash:32")
    assert groundwire("export", "-a", "new.archive")[1] == before
    assert json.loads(groundwire("status", "-a", "new.archive", "--json")[1])["embedder"] == "hash:32"


def test_a_chroma_folder_is_added_like_any_other(groundwire: Command, tmp_path: Path) -> None:
    stories = [json.loads(line) for line in SAMPLE.read_text("utf-8").splitlines()[:3]]
    records = [
        Record(f"{story['id']}-{number}", piece, {"title": story["title"], "source": story["source"]})
        for story in stories
        for number, piece in enumerate(cut(story["text"]))
    ]
    write_chroma(tmp_path / "db", {"news": records})

    status, _, err = groundwire("add", "db#news", "-a", "a.archive")

    assert status == 0, err
    exported = [json.loads(line) for line in groundwire("export", "-a", "a.archive")[1].splitlines()]
    assert {row["text"] for row in exported} == {story["text"] for story in stories}
    assert groundwire("add", "db", "-a", "a.archive")[0] == 0
    assert "3 unchanged" in groundwire("add", "db", "-a", "a.archive")[2]
