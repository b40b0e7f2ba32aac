"""Versions of one story: how ``search``, ``copies`` and ``write`` show them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from groundwire.cli.main import run

pytest.importorskip("lancedb", reason="the extra 'archive' is not installed")

STORY = (
    "At least 12 people were killed when the Tsengwen river broke its banks near Tainan on Monday night, rescue "
    "workers said. Soldiers carried families from their roofs with boats, and 3,400 homes were without power by dawn."
)
OWN = "Residents of Annan waited on their roofs for hours before boats came, four of them told this newspaper."
Ended = tuple[int, str, str]
Command = Callable[..., Ended]


@pytest.fixture
def groundwire(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Run ``groundwire ARGS`` beside an archive of three versions and one story of its own: status, stdout, stderr."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GROUNDWIRE_EMBEDDER", "hash:64")

    def call(*words: str) -> Ended:
        monkeypatch.setattr("sys.argv", ["groundwire", *words])
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            run()
        printed = capsys.readouterr()
        return int(ended.value.code or 0), printed.out, printed.err

    texts = {"a": STORY, "b": STORY.replace("12", "15"), "c": "By Jane Roe.\n\n" + STORY, "own": OWN}
    rows = [{"id": name, "title": f"Flood in Tainan {name}", "text": text} for name, text in texts.items()]
    Path("stories.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    assert call("add", "stories.jsonl")[0] == 0
    return call


def test_search_marks_hits_that_are_versions_of_one_story(groundwire: Command) -> None:
    status, out, err = groundwire("search", "roofs boats", "-k", "9")

    heads = [line for line in out.splitlines() if line.startswith("     ")]
    assert status == 0
    assert all(line.endswith("  story A") == (not line.startswith("     Flood in Tainan own")) for line in heads)
    assert "4 documents, 2 independent" in err


def test_search_gives_the_mark_as_a_field(groundwire: Command) -> None:
    _, out, _ = groundwire("search", "roofs boats", "-k", "9", "--json")

    marks = {row["sentence"]["document_id"]: row["story"] for row in json.loads(out)}
    assert marks == {"a": "A", "b": "A", "c": "A", "own": None}


def test_search_says_nothing_where_all_is_independent(groundwire: Command) -> None:
    _, out, err = groundwire("search", "newspaper residents", "-k", "1", "--mode", "lexical")

    assert "story" not in out + err


def test_copies_lists_the_versions_and_both_numbers(groundwire: Command) -> None:
    status, out, err = groundwire("copies")

    assert status == 0
    assert out.splitlines()[:2] == ["story A: 3 versions", "  a  Flood in Tainan a"]
    assert "    b has 15, 2 of its other versions 12: At least 15 people" in out
    assert err == "4 documents compared, 2 independent; stories in versions: 1\n"


def test_copies_of_a_query_as_json_hold_no_texts(groundwire: Command) -> None:
    status, out, _ = groundwire("copies", "soldiers", "-k", "3", "--json")

    found = json.loads(out)
    assert (status, found["independent"], found["stories"][0]["mark"]) == (0, 1, "A")
    assert "Soldiers" not in out


def test_copies_exits_with_1_where_there_are_none(groundwire: Command) -> None:
    assert groundwire("remove", "a", "b")[0] == 0

    status, out, err = groundwire("copies")

    assert (status, out) == (1, "")
    assert "2 documents compared, 2 independent" in err


def test_an_article_counts_independent_sources_and_names_the_number_that_stands_out(groundwire: Command) -> None:
    status, out, err = groundwire(
        "write", "Flood in Tainan roofs boats", "-o", "flood.json", "-o", "flood.html", "--json"
    )

    assert status == 0, err
    made = json.loads(out)
    sources = {row["document_id"]: row["number"] for row in made["article"]["sources"]}
    independent = 1 + ("own" in sources)
    (story,) = made["independence"]["stories"]
    assert (made["independence"]["independent"], story["documents"]) == (independent, ["a", "b", "c"])
    assert [(one["document_id"], one["numbers"], one["others"]) for one in story["differences"]] == [
        ("b", ["15"], ["12"])
    ]
    assert any("15 here, 12 in 2 of its other versions" in note for note in made["article"]["notes"])
    assert f"{len(sources)} sources, {independent} independent" in Path("flood.html").read_text("utf-8")
    assert groundwire("verify", "flood.json")[0] == 0
