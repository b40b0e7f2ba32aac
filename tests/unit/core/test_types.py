"""What a document is called when people read about it."""

import pytest

from groundwire.core.types import Document


@pytest.mark.parametrize(
    ("title", "origin", "name"),
    [
        ("Flood", "/news/a.txt", "Flood"),
        (" Flood\n relief ", "", "Flood relief"),
        ("", "/news/a.txt", "a.txt"),
        (" \n", "stories.jsonl:12", "stories.jsonl"),
        ("", "/news/2024 may/stories.json[0]", "stories.json"),
        ("", "/news/a.txt\n/news/b.txt", "a.txt"),
        ("", "/news/稿件：一.html", "稿件：一.html"),
        ("", "", "9f3c"),
        ("", "/", "9f3c"),
    ],
)
def test_a_document_is_named_by_its_title_else_by_its_file_else_by_its_id(title: str, origin: str, name: str) -> None:
    assert Document("9f3c", "Rain fell.", title=title, origin=origin).name == name
