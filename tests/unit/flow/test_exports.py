from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest

from groundwire.core.errors import UnreadableInput, UsageError
from groundwire.core.types import Document
from groundwire.flow.archives import open_archive
from groundwire.flow.exports import export, read_article, save, suffixes_of
from groundwire.flow.findings import Findings
from groundwire.flow.pipeline import Written, write_article
from groundwire.flow.settings import Settings
from groundwire.retrieval.index import Archive

STORY = (
    "The harbour of Port Ellery was flooded on Monday night. The water stood two metres high in Dock Street. "
    "Flood relief reached 300 homes by Tuesday. The mayor thanked the crews and asked for 20 more boats."
)
WHEN = datetime(2026, 11, 30, 18, 5)


@pytest.fixture(scope="module")
def made() -> tuple[Archive, Written]:
    archive = open_archive("memory:", embedder="hash:128")
    archive.add([Document("a", STORY, title="Harbour under water", source="Bay Post", url="https://bay.example/1")])
    return archive, write_article(archive, "Flood in the harbour of Port Ellery", settings=Settings())


@pytest.mark.parametrize("suffix", [".md", ".html", ".json", ".docx"])
def test_every_kind_is_written_whole_and_the_same_each_time(
    made: tuple[Archive, Written], tmp_path: Path, suffix: str
) -> None:
    if suffix == ".docx":
        pytest.importorskip("docx", reason="the extra docx is not installed")
    archive, plain = made
    written = replace(plain, findings=Findings(thin=("only one source",)))

    for name in ("one", "two"):
        save(archive, written, path=tmp_path / name / f"x{suffix}", settings=Settings(), created=WHEN)

    assert (tmp_path / "one" / f"x{suffix}").read_bytes() == (tmp_path / "two" / f"x{suffix}").read_bytes()
    assert [path.name for path in (tmp_path / "one").iterdir()] == [f"x{suffix}"]


@pytest.mark.parametrize("suffix", [".md", ".json"])
def test_what_was_saved_is_read_back(made: tuple[Archive, Written], tmp_path: Path, suffix: str) -> None:
    archive, written = made
    path = tmp_path / f"x{suffix}"

    save(archive, written, path=path, settings=Settings())

    read = read_article(path).article
    assert [claim.text for claim in read.claims] == [claim.text for claim in written.article.claims]
    assert read.sources[0].url == "https://bay.example/1"


@pytest.mark.parametrize("name", ["x.docx", "x.html"])
def test_what_is_for_readers_is_not_read_back(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match="for readers"):
        read_article(tmp_path / name)


def test_a_file_that_is_no_article_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "x.md").write_text("no headline", encoding="utf-8")
    (tmp_path / "x.json").write_text("{", encoding="utf-8")
    (tmp_path / "odd.md").write_bytes(b"\xff\xfea")

    for name, error in (("x.md", UsageError), ("x.json", UnreadableInput), ("odd.md", UnreadableInput)):
        with pytest.raises(error, match=name):
            read_article(tmp_path / name)
    with pytest.raises(UnreadableInput, match=r"absent\.md"):
        read_article(tmp_path / "absent.md")


def test_an_unknown_kind_is_refused_before_anything_is_made(made: tuple[Archive, Written]) -> None:
    with pytest.raises(UsageError, match=r"'x\.pdf' ends in none of"):
        suffixes_of(["a.DOCX", "x.pdf"])
    with pytest.raises(UsageError, match="kinds of text"):
        export(*made, kind=".docx", settings=Settings())
