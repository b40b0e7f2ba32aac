from __future__ import annotations

import pytest

from groundwire.core.errors import UsageError
from groundwire.core.types import Document
from groundwire.flow import versions
from groundwire.flow.archives import open_archive, opened
from groundwire.flow.settings import Settings
from groundwire.flow.versions import archive_copies, story_marks
from groundwire.retrieval.index import Archive

STORY = (
    "At least 12 people were killed when the Tsengwen river broke its banks near Tainan on Monday night, rescue "
    "workers said. Soldiers carried families from their roofs with boats, and 3,400 homes were without power by dawn."
)
STRIKE = (
    "Dock workers in Rotterdam began a strike over pensions on Tuesday, halting cranes at the largest port of "
    "Europe. The union FNV said that 85 percent of its members had voted for a stoppage of two days."
)
TEXTS = {
    "a": STORY,
    "b": "By Jane Roe.\n\n" + STORY.replace("12", "15"),
    "c": "Live.\n\n" + STORY,
    "d": STRIKE,
    "e": "LONDON (Agency) - " + STRIKE,
    "f": "The museum of clocks reopens in spring.",
}
DOCUMENTS = {name: Document(name, text) for name, text in TEXTS.items()}


@pytest.fixture
def archive() -> Archive:
    made = open_archive("memory:", embedder="hash:64")
    made.add(DOCUMENTS.values())
    return made


def test_the_stories_of_an_archive_are_listed_with_the_numbers_in_which_they_differ(archive: Archive) -> None:
    with opened(archive):
        found = archive_copies(archive, " ", settings=Settings())

    assert (found.compared, found.independent) == (6, 3)
    assert [(story.mark, [one.id for one in story.documents]) for story in found.stories] == [
        ("A", ["a", "b", "c"]),
        ("B", ["d", "e"]),
    ]
    (difference,) = found.stories[0].differences
    assert (difference.document_id, difference.numbers, difference.others) == ("b", ("15",), ("12",))
    assert STORY not in str(found.rows())
    assert found.rows()["independent"] == 3


def test_with_a_query_only_what_is_found_is_compared(archive: Archive) -> None:
    how = Settings.model_validate({"search": {"k": 2, "mode": "lexical"}})

    with opened(archive):
        found = archive_copies(archive, "strike Rotterdam pensions", settings=how)

    assert (found.compared, [one.id for one in found.stories[0].documents]) == (2, ["d", "e"])


def test_too_many_documents_are_refused_with_what_to_do(archive: Archive, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(versions, "MOST_LISTED", 5)

    with opened(archive), pytest.raises(UsageError, match=r"6 documents would be compared.*up to 5 are\. Give a query"):
        archive_copies(archive, "", settings=Settings())


def test_marks_are_letters_in_order_of_rank_and_documents_alone_have_none() -> None:
    assert story_marks(["d", "f", "a", "b", "d", "e"], DOCUMENTS) == {"d": "A", "e": "A", "a": "B", "b": "B"}
    assert story_marks([], DOCUMENTS) == {}


def test_only_the_first_are_marked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(versions, "MOST_MARKED", 2)

    assert story_marks(["d", "e", "a", "b"], DOCUMENTS) == {"d": "A", "e": "A"}


def test_there_are_letters_for_any_number_of_stories() -> None:
    topics = [f"{''.join(chr(97 + (place * 7 + at * 5) % 26) for at in range(9))}{place}" for place in range(28)]
    texts = {}
    for place, topic in enumerate(topics):
        text = " ".join(f"{topic}{word}" for word in range(30))
        texts |= {f"{place:02}x": text, f"{place:02}y": text + " end"}

    marks = story_marks(list(texts), {name: Document(name, text) for name, text in texts.items()})

    assert (marks["00x"], marks["25y"], marks["26x"], marks["27y"]) == ("A", "Z", "AA", "AB")
