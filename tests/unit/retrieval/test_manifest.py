"""How an archive was made: saved whole, read back, refused where it is broken or of a later format."""

import json
from pathlib import Path

import pytest

from groundwire.core.errors import ArchiveError
from groundwire.retrieval.manifest import Manifest

MANIFEST = Manifest("hash:32", 32)


def test_a_manifest_comes_back_as_it_was_saved(tmp_path: Path) -> None:
    manifest = Manifest(
        "local:e5-small",
        384,
        context="exact",
        passage_tokens=120,
        splitter="other+2",
        engine="lance 1",
        folding="opencc:t2s",
        passage_words=False,
    )

    manifest.save(tmp_path / "manifest.json")

    assert Manifest.load(tmp_path / "manifest.json") == manifest
    assert [path.name for path in tmp_path.iterdir()] == ["manifest.json"]


def test_a_manifest_without_the_newer_names_has_their_defaults_and_unknown_names_are_passed_over(
    tmp_path: Path,
) -> None:
    (tmp_path / "manifest.json").write_text('{"embedder": "hash:32", "dimension": 32, "colour": "blue"}')

    assert Manifest.load(tmp_path / "manifest.json") == MANIFEST


@pytest.mark.parametrize(
    ("content", "named"),
    [
        ("", "cannot be read"),
        ("{", "cannot be read"),
        ("[1, 2]", "no JSON object"),
        ("null", "no JSON object"),
        ("[" * 100_000, "cannot be read"),
        ('{"dimension": 32}', "'embedder' is missing"),
        ('{"embedder": "hash:32"}', "'dimension' is missing"),
        ('{"embedder": "hash:32", "dimension": "32"}', "'dimension' is '32'"),
        ('{"embedder": "hash:32", "dimension": true}', "'dimension' is True"),
        ('{"embedder": "", "dimension": 32}', "'embedder' is ''"),
        ('{"embedder": "hash:32", "dimension": 32, "context": "pool"}', "'context' is 'pool'"),
        ('{"embedder": "hash:32", "dimension": 32, "context": []}', "'context' is []"),
        ('{"embedder": "hash:32", "dimension": 32, "passage_tokens": 0}', "'passage_tokens' is 0"),
        ('{"embedder": "hash:32", "dimension": 32, "folding": "opencc:x"}', "'folding' is 'opencc:x'"),
        ('{"embedder": "hash:32", "dimension": 32, "passage_words": 1}', "'passage_words' is 1"),
        ('{"embedder": "hash:32", "dimension": 32, "format": "2"}', "'format' is '2'"),
    ],
)
def test_a_broken_manifest_is_refused_with_what_is_wrong(tmp_path: Path, content: str, named: str) -> None:
    path = tmp_path / "manifest.json"
    path.write_text(content)

    with pytest.raises(ArchiveError) as caught:
        Manifest.load(path)

    assert named in str(caught.value)
    assert "build the archive again" in str(caught.value)


def test_a_manifest_that_is_no_text_or_no_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_bytes(b"\xff\xfe\x00{")

    for path in (tmp_path / "manifest.json", tmp_path):
        with pytest.raises(ArchiveError, match="cannot be read"):
            Manifest.load(path)


def test_a_missing_manifest_says_that_there_is_no_archive(tmp_path: Path) -> None:
    with pytest.raises(ArchiveError, match=r"is not an archive: it has no manifest\.json"):
        Manifest.load(tmp_path / "manifest.json")


def test_a_manifest_of_an_older_format_is_read_and_keeps_it(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text('{"embedder": "hash:32", "dimension": 32, "format": 1}')

    first = Manifest.load(tmp_path / "manifest.json")
    (tmp_path / "manifest.json").write_text('{"embedder": "hash:32", "dimension": 32, "format": 2}')
    second = Manifest.load(tmp_path / "manifest.json")

    assert (first.format, first.passage_words, first.folding) == (1, False, "")
    assert (second.format, second.passage_words, second.folding) == (2, True, "")
    assert Manifest("hash:32", 32).format == 3


@pytest.mark.parametrize("content", [{"format": 4, "embedder": "hash:32", "dimension": 32}, {"format": 9}])
def test_a_later_format_asks_for_a_newer_groundwire(tmp_path: Path, content: dict[str, object]) -> None:
    (tmp_path / "manifest.json").write_text(json.dumps(content))

    with pytest.raises(ArchiveError, match="install a newer one"):
        Manifest.load(tmp_path / "manifest.json")
