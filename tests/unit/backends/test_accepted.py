"""What every store accepts, and what it says when it does not."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire.backends.accepted import new_snapshot_name, no_passage_words, require_snapshot
from groundwire.core.errors import ArchiveError, UsageError
from groundwire.core.ports import Snapshot

TAKEN = {"a": Snapshot("a", datetime(2024, 5, 6, 7, 8, tzinfo=UTC), 1, 2)}


@pytest.mark.parametrize("name", ["b", "A", "2024-05-06", "v1.2_final-3", "x" * 100])
def test_a_plain_name_can_name_a_snapshot(name: str) -> None:
    assert new_snapshot_name(name, TAKEN) == name


@pytest.mark.parametrize(
    "name",
    [
        "",
        ".",
        "..",
        "a..b",
        ".a",
        "-a",
        "_a",
        "a b",
        "a/b",
        "a\\b",
        "a\n",
        "a:b",
        "main",
        "a.lock",
        "é",
        "台南",
        "x" * 101,
    ],
)
def test_what_could_be_a_path_or_is_the_engines_own_cannot(name: str) -> None:
    with pytest.raises(UsageError, match="cannot name a snapshot: up to 100 letters"):
        new_snapshot_name(name, {})


@given(name=st.text(max_size=20))
def test_a_name_that_is_taken_on_is_a_file_name_without_surprises(name: str) -> None:
    try:
        new_snapshot_name(name, {})
    except UsageError:
        return
    assert name.isascii()
    assert name[0].isalnum()
    assert name.replace("-", "").replace("_", "").replace(".", "").isalnum()


def test_a_taken_name_is_refused_with_when_it_was_taken() -> None:
    with pytest.raises(UsageError, match=r"there is a snapshot 'a' already, of 2024-05-06 07:08 UTC"):
        new_snapshot_name("a", TAKEN)


def test_a_snapshot_that_is_not_there_is_refused_with_those_that_are() -> None:
    require_snapshot("a", TAKEN)
    with pytest.raises(ArchiveError, match="there is no snapshot 'b'; there is 'a'"):
        require_snapshot("b", TAKEN)
    with pytest.raises(ArchiveError, match="there is none at all"):
        require_snapshot("b", {})


def test_missing_words_of_passages_say_what_to_do() -> None:
    said = str(no_passage_words("stories.archive"))
    assert "leave search.passage_words at 0" in said
    assert "index.passage_words = true" in said
